// The parts of a reveal: what was expected and what happened, the verdict, and numbers in a fold.
import { element } from "./elements";

// One thing that was compared: what it is, and below it the words or the number.
const side = ([label, html, tone, note], name = "mlsys-reveal-words") =>
  element("div", { class: `mlsys-reveal-side ${name}`, style: `--tone: var(--mlsys-${tone})` },
    element("span", { text: label }), element("strong", { html }), ...(note ? [element("small", { text: note })] : []));

// A number leads, and its unit follows in smaller letters.
function large([label, html, tone, note]) {
  const [, number, unit] = /^(\S+)(.*)$/.exec(html);
  return side([label, unit ? `${number}<small>${unit}</small>` : number, tone, note], "mlsys-reveal-number");
}

export const REVEAL = {
  comparison: (part) => {
    const [mine, ...others] = part.compared;
    const result = part.compared[part.counts];
    const rest = others.filter((row) => row !== result);
    const isNumber = Boolean(part.html);
    const sides = isNumber ? [side(mine), large(result)]
      : mine[1] === result[1] ? [side(["You predicted, and the answer is", mine[1], ...result.slice(2, 3), mine[3]])]
        : [side(mine), side(result)];
    return {
      node: element("div", { class: "mlsys-reveal", tabindex: "-1" },
        element("div", { class: "mlsys-reveal-sides" }, ...sides),
        ...(isNumber ? [element("div", { class: "mlsys-reveal-picture", html: part.html })] : []),
        // What is a mark in the picture has its words there; where it comes from is said below.
        ...rest.filter(([, , , note]) => note || !isNumber).map(([label, html, , note]) =>
          element("p", { class: "mlsys-reveal-note", html: `${label}: ${html}` }, note ? ` (${note})` : ""))),
    };
  },
  revealverdict: (part) => ({
    node: element("div", { class: "mlsys-reveal-verdict", tabindex: "-1" },
      element("p", { class: "mlsys-reveal-lead", html: part.lead }),
      ...part.rest.map((html) => element("p", { html }))),
  }),
  numbersbehind: (part, { unfolded }) => {
    const [first] = part.groups[0];
    const rows = part.groups.flatMap(([heading, lines]) => [
      ...(heading === first ? [] : [element("h4", { text: heading })]),
      element("ul", { class: "mlsys-reveal-rows" }, ...lines.map(([label, value, equation, note]) =>
        element("li", {}, element("span", { text: label }), element("div", {}, element("strong", { text: value }),
          ...(note || !equation ? [] : [element("span", { class: "mlsys-equation", html: equation })]),
          ...(note ? [element("small", { text: note })] : []))))),
    ]);
    const fold = element("details", { class: "mlsys-lab-fold mlsys-reveal-behind" },
      element("summary", { text: first, "data-lm-suppress-shortcuts": "true" }), ...rows);
    // It is drawn again with every change, and stays as the student left it.
    fold.open = unfolded.has(part.key);
    fold.addEventListener("toggle", () => (fold.open ? unfolded.add(part.key) : unfolded.delete(part.key)));
    return { node: fold };
  },
};
