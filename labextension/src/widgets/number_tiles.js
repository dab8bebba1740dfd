// The numbers of an instrument: the two that matter now are large, the others behind a fold.
import { element } from "./elements";

// The instruments whose numbers are all unfolded, by title: as long as the page lives, also for a view
// that is made again.
const UNFOLDED = new Set();
// A value of more letters than this is no number to read from afar.
const LONG = 20;

function tile() {
  const term = element("span"), value = element("strong"), was = element("em");
  const box = element("div", { class: "mlsys-card", role: "listitem" }, term, value, was);
  return {
    box,
    show([label, text, tone, before]) {
      if (term.textContent !== label) term.textContent = label;
      if (value.textContent !== text) value.textContent = text;
      if (was.textContent !== before) was.textContent = before;
      box.classList.toggle("mlsys-long", text.length > LONG);
      box.style.setProperty("--tone", tone);
    },
  };
}

export function numberTiles(title) {
  // Large numbers are read out when they change; the plot has the whole sentence as its name.
  const large = element("div", { class: "mlsys-leading", role: "list", "aria-label": `Main numbers of ${title}`, "aria-live": "polite" });
  const others = element("div", { class: "mlsys-cards", role: "list", "aria-label": `Other numbers of ${title}` });
  const fold = element("details", { class: "mlsys-fold", open: UNFOLDED.has(title) },
    element("summary", { text: "All numbers" }), others);
  fold.addEventListener("toggle", () => { if (fold.open) UNFOLDED.add(title); else UNFOLDED.delete(title); });
  const tiles = [];
  let key = "";
  return {
    large, fold,
    // `leading` are the places of the large ones among the cards.
    show(cards, leading) {
      while (tiles.length < cards.length) tiles.push(tile());
      tiles.length = cards.length;
      cards.forEach((card, k) => tiles[k].show(card));
      const now = `${leading}/${cards.length}`;
      if (now === key) return;
      key = now;
      large.replaceChildren(...leading.map((k) => tiles[k].box));
      others.replaceChildren(...tiles.filter((_, k) => !leading.includes(k)).map(({ box }) => box));
      large.hidden = !large.children.length;
      fold.hidden = !others.children.length;
    },
  };
}
