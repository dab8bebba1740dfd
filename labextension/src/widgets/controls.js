// The controls of a panel, and how the place of a slider and the value of an input belong together.
import { element, unique } from "./elements";

const STEPS = 1000;

// A slider runs over whole positions; a logarithmic one over powers, after a stop at zero if it has one.
function toValue(spec, position) {
  if (spec.zero && position <= 0) return 0;
  const stop = spec.zero ? 1 : 0;
  const fraction = (position - stop) / (STEPS - stop);
  const value = spec.log
    ? spec.low * (spec.high / spec.low) ** fraction
    : spec.low + (spec.high - spec.low) * fraction;
  if (position <= stop) return spec.low;
  if (position >= STEPS) return spec.high;
  const rounded = Number(value.toPrecision(3));
  const limited = Math.min(spec.high, Math.max(spec.low, rounded));
  return spec.whole ? Math.round(limited) : limited;
}

function toPosition(spec, value) {
  if (spec.zero && value <= 0) return 0;
  const stop = spec.zero ? 1 : 0;
  const fraction = spec.log
    ? Math.log(value / spec.low) / Math.log(spec.high / spec.low)
    : (value - spec.low) / (spec.high - spec.low);
  return Math.round(stop + fraction * (STEPS - stop));
}

// Keyboard steps go to the next value that differs, so that no key press is lost to rounding.
export function step(spec, value, direction, many) {
  let position = toPosition(spec, value);
  let next = value;
  for (let k = 0; k < STEPS && next === value; k++) {
    position += direction * (many ? STEPS / 20 : Math.max(1, STEPS / 200));
    if (position < 0 || position > STEPS) {
      next = toValue(spec, direction < 0 ? 0 : STEPS);
      break;
    }
    next = toValue(spec, position);
  }
  return next;
}

// Whoever comes with the keyboard sees the help until the first key: then it would cover the next control.
export function helpByKeyboard(node) {
  const end = () => node.classList.remove("mlsys-helped");
  node.addEventListener("focusin", ({ target }) =>
    node.classList.toggle("mlsys-helped", target.type !== "text" && target.matches(":focus-visible")));
  for (const name of ["keydown", "input", "pointerdown", "focusout"]) node.addEventListener(name, end);
}

export const BUILD = {
  slider(spec, send, type) {
    const id = unique("slider");
    const range = element("input", {
      type: "range", min: 0, max: STEPS, step: 1, id,
      "aria-describedby": `${id}-help`, "data-lm-suppress-shortcuts": "true",
    });
    const box = element("input", {
      type: "text", "aria-label": `${spec.label}, typed (${spec.allowed})`,
      spellcheck: "false", autocomplete: "off", "data-lm-suppress-shortcuts": "true",
    });
    let value = spec.low;
    range.addEventListener("input", () => {
      value = toValue(spec, Number(range.value));
      send(value);
    });
    range.addEventListener("keydown", (event) => {
      const directions = { ArrowRight: 1, ArrowUp: 1, PageUp: 1, ArrowLeft: -1, ArrowDown: -1, PageDown: -1 };
      if (!(event.key in directions)) return;
      event.preventDefault();
      value = step(spec, value, directions[event.key], event.key.startsWith("Page"));
      range.value = toPosition(spec, value);
      send(value);
    });
    // Enter accepts the value, Escape restores the last one; neither key may reach the notebook.
    let known = "";
    const take = () => { if (box.value !== known) type((known = box.value)); };
    box.addEventListener("change", take);
    box.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") { event.preventDefault(); take(); }
      if (event.key === "Escape") box.value = known = range.getAttribute("aria-valuetext");
    });
    const error = element("p", { class: "mlsys-error", id: `${id}-error`, role: "alert" });
    const node = element("div", { class: "mlsys-control" },
      element("label", { for: id, text: spec.label }),
      element("div", { class: "mlsys-row" }, range, box),
      element("p", { class: "mlsys-help", id: `${id}-help`, text: spec.help }), error);
    return {
      node,
      show(shown, current, message) {
        value = current;
        const position = String(toPosition(spec, current));
        if (range.value !== position) range.value = position;
        range.setAttribute("aria-valuetext", shown);
        if (message) { box.setAttribute("aria-invalid", "true"); box.setAttribute("aria-describedby", error.id); }
        else { box.removeAttribute("aria-invalid"); box.removeAttribute("aria-describedby"); known = shown; if (box.value !== shown) box.value = shown; }
        if (error.textContent !== (message ?? "")) error.textContent = message ?? "";
      },
    };
  },

  menu(spec, send) {
    const id = unique("menu");
    const words = element("span", { class: "mlsys-chosen", "aria-hidden": "true" });
    const write = () => { words.textContent = select.selectedOptions[0]?.textContent ?? ""; };
    const select = element("select", { id, "aria-describedby": `${id}-help`, "data-lm-suppress-shortcuts": "true" });
    let options = null;
    const fill = (wanted) => {
      const key = JSON.stringify(wanted);
      if (key === options) return;
      options = key;
      select.replaceChildren(...wanted.map(([value, text]) => element("option", { value, text })));
    };
    fill(spec.options);
    select.addEventListener("change", () => { write(); send(select.value); });
    const node = element("div", { class: "mlsys-control" },
      element("label", { for: id, text: spec.label }), element("div", { class: "mlsys-menu" }, select, words),
      element("p", { class: "mlsys-help", id: `${id}-help`, text: spec.help }));
    return { node, fill, show(_, current) { if (select.value !== current) select.value = current; write(); } };
  },

  buttons(spec, send) {
    const group = unique("choice");
    const pills = element("div", { class: "mlsys-pills" });
    let options = null;
    const fill = (wanted) => {
      const key = JSON.stringify(wanted);
      if (key === options) return;
      options = key;
      pills.replaceChildren(...wanted.map(([value, words]) => {
        const radio = element("input", { type: "radio", name: group, value, "data-lm-suppress-shortcuts": "true" });
        radio.addEventListener("change", () => radio.checked && send(value));
        return element("label", {}, radio, document.createTextNode(words));
      }));
    };
    fill(spec.options);
    const node = element("fieldset", { class: "mlsys-control", "aria-describedby": `${group}-help` },
      element("legend", { text: spec.label }), pills,
      element("p", { class: "mlsys-help", id: `${group}-help`, text: spec.help }));
    return { node, fill, show(_, current) {
      for (const radio of pills.querySelectorAll("input")) radio.checked = radio.value === current;
    } };
  },

  several(spec, send) {
    const group = unique("several");
    const boxes = spec.options.map(([value, words]) => {
      const box = element("input", { type: "checkbox", value });
      box.addEventListener("change", () => send(boxes.filter((b) => b.box.checked).map((b) => b.box.value)));
      return { box, node: element("label", {}, box, document.createTextNode(words)) };
    });
    const node = element("fieldset", { class: "mlsys-control", "aria-describedby": `${group}-help` },
      element("legend", { text: spec.label }),
      element("div", { class: "mlsys-pills" }, ...boxes.map((b) => b.node)),
      element("p", { class: "mlsys-help", id: `${group}-help`, text: spec.help }));
    return { node, show(_, current) { for (const { box } of boxes) box.checked = current.includes(box.value); } };
  },

  switch(spec, send) {
    const id = unique("switch");
    const box = element("input", { type: "checkbox", id, "aria-describedby": `${id}-help` });
    box.addEventListener("change", () => send(box.checked));
    const node = element("div", { class: "mlsys-control" },
      element("div", { class: "mlsys-pills" }, element("label", { for: id }, box, document.createTextNode(spec.label))),
      element("p", { class: "mlsys-help", id: `${id}-help`, text: spec.help }));
    return { node, show(_, current) { box.checked = current; } };
  },
};
