/** Makes room for a lab, and knows whether a page has room for more. */
import { ILabShell } from '@jupyterlab/application';

/** A page less wide than this has no room for a lab and a panel: a small window, or a large zoom. */
const NARROW = '(max-width: 900px)';

/** Whether the page has room for the lab only. */
export function isNarrow(): boolean {
  return window.matchMedia(NARROW).matches;
}

/** Fold the file browser, which is in the way of a lab that was just opened. */
export function makeRoom(shell: ILabShell): void {
  shell.collapseLeft();
}

/** Call when a page becomes narrow, or is no longer. */
export function whenWidthChanges(call: () => void): void {
  window.matchMedia(NARROW).addEventListener('change', call);
}
