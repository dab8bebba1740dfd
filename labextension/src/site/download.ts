/** Gives the student a file that was made in this page. */

/** Return an address under which the page has some bytes, as long as it is open. */
export function addressOf(content: string, isBase64: boolean): string {
  const bytes = isBase64 ? Uint8Array.from(atob(content), each => each.charCodeAt(0)) : content;
  return URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
}

/** Have the browser save a file. */
export function download(name: string, address: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}
