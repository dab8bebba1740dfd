// The parts of a reveal: what was expected and what happened, the verdict, and numbers in a fold.
import { element } from "./elements";

// One thing that was compared: what it is, and below it the words or the number.
const side = ([label, html, tone, note], name) =>
  element("div", { class: `mlsys-reveal-side ${name}`, style: `--tone: var(--mlsys-${tone})` },
    element("span", { text: label }), element("strong", { html }), ...(note ? [element("small", { text: note })] : []));

export const REVEAL = {
  comparison: (part) => {
    const [mine, ...others] = part.compared;
    const result = part.compared[part.counts];
    const rest = others.filter((row) => row !== result);
    const isNumber = Boolean(part.html);
    return {
      node: element("div", { class: "mlsys-reveal", tabindex: "-1" },
        element("div", { class: "mlsys-reveal-sides" },
          side(mine, "mlsys-reveal-mine"), side(result, isNumber ? "mlsys-reveal-number" : "mlsys-reveal-words")),
        ...(isNumber ? [element("div", { class: "mlsys-reveal-picture", html: part.html })] : []),
        // What is a mark in the picture has its words there; where it comes from is said below.
        ...rest.filter(([, , , note]) => note || !isNumber).map(([label, html, , note]) =>
          element("p", { class: "mlsys-reveal-note", html: `${label}: ${html}` }, note ? ` (${note})` : ""))),
    };
  },
  verdict: (part) => ({
    node: element("div", { class: "mlsys-reveal-verdict", tabindex: "-1" },
      element("p", { class: "mlsys-reveal-lead", html: part.lead }),
      ...part.rest.map((html) => element("p", { html }))),
  }),
  numbersbehind: (part, { unfolded }) => {
    const [first] = part.groups[0];
    const rows = part.groups.flatMap(([heading, lines]) => [
      ...(heading === first ? [] : [element("h4", { text: heading })]),
      element("dl", { class: "mlsys-reveal-rows" }, ...lines.flatMap(([label, value, equation, note]) => [
        element("dt", { text: label }), element("dd", {}, element("strong", { text: value }),
          ...(note || !equation ? [] : [element("span", { class: "mlsys-equation", html: equation })]),
          ...(note ? [element("small", { text: note })] : [])),
      ])),
    ]);
    const fold = element("details", { class: "mlsys-lab-fold mlsys-reveal-behind" },
      element("summary", { text: first, "data-lm-suppress-shortcuts": "true" }), ...rows);
    // It is drawn again with every change, and stays as the student left it.
    fold.open = unfolded.has(part.key);
    fold.addEventListener("toggle", () => (fold.open ? unfolded.add(part.key) : unfolded.delete(part.key)));
    return { node: fold };
  },
};
