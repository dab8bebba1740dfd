// Words as a reader wants them: times on the clock of the page, and lines that end where one may pause.
import { element } from "./elements";

// Times come as the ledger has them, in UTC, and are shown on the clock of whoever reads them.
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
export function localTime(iso) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const piece = (options) => at.toLocaleDateString("en-US", options);
  const year = at.getFullYear() === new Date().getFullYear() ? "" : ` ${at.getFullYear()}`;
  const clock = [at.getHours(), at.getMinutes()].map((n) => String(n).padStart(2, "0")).join(":");
  const zone = new Intl.DateTimeFormat("en-US", { timeZoneName: "short" }).formatToParts(at)
    .find((part) => part.type === "timeZoneName").value;
  return `${piece({ weekday: "short" })} ${at.getDate()} ${piece({ month: "short" })}${year}, ${clock} ${zone}`;
}
export const inLocalTime = (words) => words.replace(TIME, localTime);
// A line never ends between a number and its unit, or within "4 of 5" or "N = 128". The words stay as they are:
// whoever copies or looks for them finds plain spaces.
const WHOLE = /\d of \d+|\b[A-Za-z] = \d(?:[\d,.]*\d)?|\d (?:[A-Za-zµ×%]{1,8}(?:\/[A-Za-z]+)?)(?![\w-])/;
const AS_READ = new RegExp(`(${TIME.source})|(${WHOLE.source})`, "g");
export function asRead(node) {
  const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    const inside = texts.currentNode.parentElement;
    if (!inside?.closest("textarea, option, svg, math")) found.push(texts.currentNode);
  }
  for (const text of found) {
    const pieces = [];
    let end = 0;
    for (const { 0: words, 1: iso, index } of text.data.matchAll(AS_READ)) {
      pieces.push(text.data.slice(end, index), iso ? element("time", { datetime: iso, text: localTime(iso) })
        : element("bdi", { class: "mlsys-lab-whole", text: words }));
      end = index + words.length;
    }
    if (pieces.length) text.replaceWith(...pieces, text.data.slice(end));
  }
}
