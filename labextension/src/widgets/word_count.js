// Counts the words of a text while somebody types, and says whether they are too few or too many.

import { element } from "./elements";

// The rule of mlsys_widgets.labs.word_limits: what has a letter or a digit in it is a word.
export function countWords(text) {
  return text.split(/\s+/u).filter((piece) => /[\p{L}\p{N}]/u.test(piece)).length;
}

const words = (count) => `${count} ${count === 1 ? "word" : "words"}`;

function verdict(count, least, most) {
  if (count < least) return ["short", `too short, at least ${least}`];
  if (most !== null && count > most) return ["long", `too long, at most ${most}`];
  return ["fits", "long enough"];
}

// Below a box: how many words it holds. Nothing where any length will do.
export function wordCounter({ at_least: least, at_most: most }, box) {
  if (least <= 1 && most === null) return [];
  const number = element("span");
  // Spoken when it changes, that is, when the text becomes long enough or too long.
  const state = element("span", { "aria-live": "polite" });
  const node = element("p", { class: "mlsys-lab-count" }, number, " ", state);
  const count = () => {
    const many = countWords(box.value);
    const [kind, says] = verdict(many, least, most);
    number.textContent = `${words(many)}:`;
    if (state.textContent !== says) state.textContent = says;
    node.dataset.length = kind;
    // Where nothing has to be written, there is only a limit to warn of.
    node.hidden = least === 0 && kind === "fits";
  };
  // Typed, or filled in from a draft.
  for (const event of ["input", "filled"]) box.addEventListener(event, count);
  count();
  return [node];
}
