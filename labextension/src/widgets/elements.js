// Small parts of the page, made once: elements, the signs of a legend, tables.

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name === "html") node.innerHTML = value; // escaped by the kernel
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

// The words of what the kernel wrote as HTML.
export const plain = (html) =>
  Object.assign(document.createElement("template"), { innerHTML: html }).content.textContent;

// A name that nothing else on the page has: labels find their inputs by it, and radio buttons of one
// name are one group.
let serial = 0;
export const unique = (word) => `mlsys-${word}-${++serial}`;

function symbol(tone, kind) {
  const box = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const shapes = {
    circle: '<circle cx="10" cy="7" r="5"/>', square: '<rect x="5.5" y="2.5" width="9" height="9"/>',
    diamond: '<path d="M10 1 16 7 10 13 4 7Z"/>', "triangle-up": '<path d="M10 1 16 12 4 12Z"/>',
    "triangle-down": '<path d="M10 13 16 2 4 2Z"/>', cross: '<path d="M8 2h4v3h3v4h-3v3H8V9H5V5h3Z"/>',
    block: '<rect x="1" y="2" width="18" height="10"/>',
  };
  const dashes = { solid: "", dashed: "6,4", dotted: "2,3", dash_dotted: "6,3,2,3" };
  box.setAttribute("width", 20); box.setAttribute("height", 14); box.setAttribute("aria-hidden", "true");
  box.setAttribute("class", "mlsys-sign");
  if (kind === "none") return box;
  box.innerHTML = kind in dashes
    ? `<path d="M0 7H20" stroke="${tone}" stroke-width="2.5" stroke-dasharray="${dashes[kind]}"/>`
    : (shapes[kind] ?? shapes.circle);
  box.setAttribute("fill", tone);
  return box;
}

export function table({ header, rows }) {
  const head = element("thead", {}, element("tr", {}, ...header.map((text) => element("th", { scope: "col", text }))));
  const body = element("tbody", {}, ...rows.map((row) => element("tr", {},
    ...row.map((text, k) => element(k ? "td" : "th", k
      ? { text, class: text.length < 16 && "mlsys-short" } : { text, scope: "row" })))));
  return [head, body];
}

// The math: the steps of one part, with the one that decides marked; `choose` asks for another part.
export function derivation(math, choose) {
  if (!math) return [];
  const tone = math.tone ? `--tone: ${math.tone}` : null;
  const steps = (list) => element("ol", { class: "mlsys-derivation", style: tone }, ...list.map(([title, equation, decides]) => {
    const shown = element("span", { class: "mlsys-equation" });
    shown.innerHTML = equation;
    return element("li", { class: decides && "mlsys-decides" },
      element("span", { class: "mlsys-about", text: decides ? `${title} (decides now)` : title }), shown);
  }));
  const shown = [steps(math.steps)];
  if (math.titles.length > 1) {
    const parts = math.titles.map((title) => {
      const button = element("button", { type: "button", text: title, "aria-pressed": String(title === math.part) });
      button.addEventListener("click", () => choose(title));
      return button;
    });
    shown.unshift(element("div", { class: "mlsys-parts", role: "group", "aria-label": "Part" }, ...parts));
  }
  if (math.most) shown.push(element("p", { class: "mlsys-most", text: math.most }));
  return shown;
}

// The legend of one plot, right above it.
export function legendOver(plot, title) {
  const list = element("ul", { class: "mlsys-legend", "aria-label": `Legend of ${title}` });
  let key = "";
  plot.before(list);
  return {
    list,
    remove() { list.remove(); },
    show(entries, sentence = "") {
      const next = JSON.stringify([sentence, entries]);
      if (next === key) return;
      key = next;
      list.hidden = !entries.length && !sentence;
      const title = sentence ? [element("li", { class: "mlsys-plot-title", text: sentence })] : [];
      list.replaceChildren(...title, ...entries.map(([text, color, kind]) =>
        element("li", {}, symbol(color, kind), document.createTextNode(text))));
    },
  };
}

// Targets: a sign and words for each, so that nothing depends on color.
export function showLamps(list, lamps) {
  list.hidden = !lamps.length;
  list.replaceChildren(...lamps.map(([sign, name, verdict, tone]) => element("li", { style: `--tone: ${tone}` },
    element("span", { class: "mlsys-lamp", text: sign, role: "img", "aria-label": sign === "✓" ? "kept" : "missed" }),
    element("span", { text: `${name}: ` }), element("strong", { text: verdict }))));
}
