// The control panel of an instrument: its controls, its cards, a sentence and a table.
// Values go to the kernel as they change (ipywidgets keeps only the newest while the kernel is
// busy); everything that is shown comes back as one `readout`, formatted there.

const STEPS = 1000;

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") node.textContent = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

// Every widget loads its own copy of this module, so a counter would not be unique.
const unique = (word) => `mlsys-${word}-${Math.random().toString(36).slice(2, 10)}`;

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
function step(spec, value, direction, many) {
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

const BUILD = {
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
    const select = element("select", { id, "aria-describedby": `${id}-help`, "data-lm-suppress-shortcuts": "true" });
    let options = null;
    const fill = (wanted) => {
      const key = JSON.stringify(wanted);
      if (key === options) return;
      options = key;
      select.replaceChildren(...wanted.map(([value, words]) => element("option", { value, text: words })));
    };
    fill(spec.options);
    select.addEventListener("change", () => send(select.value));
    const node = element("div", { class: "mlsys-control" },
      element("label", { for: id, text: spec.label }), select,
      element("p", { class: "mlsys-help", id: `${id}-help`, text: spec.help }));
    return { node, fill, show(_, current) { if (select.value !== current) select.value = current; } };
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
  box.innerHTML = kind in dashes
    ? `<path d="M0 7H20" stroke="${tone}" stroke-width="2.5" stroke-dasharray="${dashes[kind]}"/>`
    : (shapes[kind] ?? shapes.circle);
  box.setAttribute("fill", tone);
  return box;
}

function table({ header, rows }) {
  const head = element("thead", {}, element("tr", {}, ...header.map((text) => element("th", { scope: "col", text }))));
  const body = element("tbody", {}, ...rows.map((row) => element("tr", {},
    ...row.map((text, k) => element(k ? "td" : "th", k ? { text } : { text, scope: "row" })))));
  return [head, body];
}

function render({ model, el }) {
  el.classList.add("mlsys-panel");
  const spec = model.get("spec");
  // Everything sent carries a stamp: the same value sent twice is still two requests.
  const stamp = () => performance.now() + Math.random();
  const sent = {};
  const send = (name) => (value) => {
    sent[name] = stamp();
    model.set("moved", { ...model.get("moved"), [name]: [value, sent[name]] });
    model.save_changes();
  };
  const type = (name) => (text) => {
    model.set("typed", { name, text, stamp: stamp() });
    model.save_changes();
  };
  const command = (name) => () => {
    model.set("command", { name, stamp: stamp() });
    model.save_changes();
  };

  const controls = {};
  const panel = element("div", { class: "mlsys-controls", role: "group", "aria-label": `Controls of ${spec.title}` });
  for (const one of spec.controls) {
    const control = BUILD[one.kind](one, send(one.name), type(one.name));
    if (!control.node.querySelector(".mlsys-error")) {
      const error = element("p", { class: "mlsys-error", role: "alert" });
      control.node.append(error);
      control.complain = (text) => { if (error.textContent !== text) error.textContent = text; };
    }
    controls[one.name] = control;
    panel.append(control.node);
  }

  const reset = element("button", { type: "button", text: "Reset" });
  const copy = element("button", { type: "button", text: "Copy as code" });
  const code = element("p", { class: "mlsys-code", hidden: true, tabindex: "-1" });
  reset.addEventListener("click", () => command(model.get("readout").undo ? "undo" : "reset")());
  copy.addEventListener("click", async () => {
    code.textContent = model.get("readout").code;
    code.hidden = false;
    let copied = true;
    try { await navigator.clipboard.writeText(code.textContent); } catch { copied = false; }
    copy.textContent = copied ? "Copied" : "Select and copy below";
    setTimeout(() => { copy.textContent = "Copy as code"; }, 2000);
  });
  const head = element("div", { class: "mlsys-head" },
    element("h3", { class: "mlsys-title", text: spec.title }),
    element("div", { class: "mlsys-tools" }, reset, copy));

  const legend = element("ul", { class: "mlsys-legend", "aria-label": "Legend" });
  const alert = element("div", { class: "mlsys-alert", role: "alert" });
  const cards = element("div", { class: "mlsys-cards", role: "list" });
  const sentence = element("p", { class: "mlsys-sentence", role: "status", "aria-live": "polite" });
  const data = element("table", { class: "mlsys-table" });
  const extra = element("div", {});
  const numbers = element("details", {}, element("summary", { text: "Numbers as a table" }),
    element("div", { class: "mlsys-scroll", tabindex: "0", role: "region", "aria-label": `Numbers of ${spec.title}` }, data));
  const readout = element("div", { class: "mlsys-readout" }, legend, alert, cards, sentence, extra, numbers, code);
  el.append(head, panel, readout);

  const cells = [];
  let legendKey = "", extraKey = "", tableKey = "";
  const show = () => {
    const now = model.get("readout");
    for (const [name, control] of Object.entries(controls)) {
      if (now.options?.[name]) control.fill?.(now.options[name]);
      control.node.hidden = now.hidden.includes(name);
      // The answer to an earlier move must not undo a later one that is still on its way.
      if (sent[name] && sent[name] !== now.heard[name] && !now.errors[name]) continue;
      delete sent[name];
      control.show(now.shown[name], now.values[name], now.errors[name]);
      control.complain?.(now.errors[name] ?? "");
    }
    while (cells.length > now.cards.length) cells.pop().box.remove();
    now.cards.forEach(([label, value, tone], k) => {
      if (!cells[k]) {
        const term = element("span"), description = element("strong");
        const box = element("div", { class: "mlsys-card", role: "listitem" }, term, description);
        cards.append(box);
        cells.push({ box, term, description });
      }
      const { box, term, description } = cells[k];
      if (term.textContent !== label) term.textContent = label;
      if (description.textContent !== value) description.textContent = value;
      box.style.setProperty("--tone", tone);
    });
    if (sentence.textContent !== now.sentence) sentence.textContent = now.sentence;
    const [words, tone] = now.alert ?? ["", ""];
    if (alert.textContent !== words) alert.textContent = words;
    alert.style.setProperty("--tone", tone);
    const legendNow = JSON.stringify(now.legend);
    if (legendNow !== legendKey) {
      legendKey = legendNow;
      legend.hidden = !now.legend.length;
      legend.replaceChildren(...now.legend.map(([text, color, kind]) =>
        element("li", {}, symbol(color, kind), document.createTextNode(text))));
    }
    if (now.html !== extraKey) { extraKey = now.html; extra.innerHTML = now.html ?? ""; }
    const tableNow = JSON.stringify(now.table);
    if (tableNow !== tableKey) { tableKey = tableNow; data.replaceChildren(...table(now.table)); }
    reset.textContent = now.undo ? "Undo reset" : "Reset";
    if (!code.hidden) code.textContent = now.code;
    describe(el, spec.title, now.sentence);
  };
  // bqplot's plots have no accessible names: give each what a screen reader should say.
  const watch = new MutationObserver(() => describe(el, spec.title, model.get("readout").sentence));
  const attached = () => {
    const board = el.closest(".mlsys-board");
    if (!board) return;
    watch.observe(board, { childList: true, subtree: true });
    describe(el, spec.title, model.get("readout").sentence);
    setTimeout(() => watch.disconnect(), 5000);
  };
  model.on("change:readout", show);
  show();
  requestAnimationFrame(attached);
  return () => { watch.disconnect(); model.off("change:readout", show); };
}

function describe(el, title, sentence) {
  const label = `${title}. ${sentence}`;
  for (const plot of el.closest(".mlsys-board")?.querySelectorAll(".mlsys-plot") ?? []) {
    // bqplot stacks several pictures: the first one is labeled for all of them.
    plot.querySelectorAll("svg").forEach((svg, k) => {
      if (k) svg.setAttribute("aria-hidden", "true");
      else if (svg.getAttribute("aria-label") !== label) {
        svg.setAttribute("role", "img");
        svg.setAttribute("aria-label", label);
      }
    });
  }
}

export default { render };
