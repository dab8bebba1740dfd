// The card of a lab widget: draws the parts that the kernel describes, and sends what is asked.
// What is entered is kept as a draft until it is saved, so that neither a new view nor a page
// reload loses it. Every action is answered; without an answer the card says so, never "saved".
import { element, unique } from "./elements";

const PATIENCE = 8000; // milliseconds without an answer until the card says what may be wrong
// The sentence of instruments, too.
const NO_KERNEL = "This card has no kernel, so nothing is saved. Press Resume at the top of the lab.";

// Keys that mean something in an input must not move the notebook.
const quiet = { "data-lm-suppress-shortcuts": "true" };

// Times come as the ledger has them, in UTC, and are shown on the clock of whoever reads them.
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
function localTime(iso) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const piece = (options) => at.toLocaleDateString("en-US", options);
  const year = at.getFullYear() === new Date().getFullYear() ? "" : ` ${at.getFullYear()}`;
  const clock = [at.getHours(), at.getMinutes()].map((n) => String(n).padStart(2, "0")).join(":");
  const zone = new Intl.DateTimeFormat("en-US", { timeZoneName: "short" }).formatToParts(at)
    .find((part) => part.type === "timeZoneName").value;
  return `${piece({ weekday: "short" })} ${at.getDate()} ${piece({ month: "short" })}${year}, ${clock} ${zone}`;
}
const inLocalTime = (words) => words.replace(TIME, localTime);
function withLocalTimes(node) {
  const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) if (texts.currentNode.data.search(TIME) >= 0) found.push(texts.currentNode);
  for (const text of found) {
    if (text.parentElement?.closest("textarea, option")) continue;
    const pieces = [];
    let end = 0;
    for (const { 0: iso, index } of text.data.matchAll(TIME)) {
      pieces.push(text.data.slice(end, index), element("time", { datetime: iso, text: localTime(iso) }));
      end = index + iso.length;
    }
    text.replaceWith(...pieces, text.data.slice(end));
  }
  return node;
}

// Drawn, because not every machine has a font with such a sign.
function padlock() {
  const box = element("span", { class: "mlsys-lab-padlock", "aria-hidden": "true" });
  box.innerHTML = '<svg width="13" height="15" viewBox="0 0 13 15"><path d="M3.2 7V4.4a3.3 3.3 0 0 1 6.6 0V7" '
    + 'fill="none" stroke="currentColor" stroke-width="1.7"/><rect x="1" y="6.6" width="11" height="8" rx="1.6" fill="currentColor"/></svg>';
  return box;
}

function radios(part, { draft, keep, ask }, extra) {
  const group = unique("group");
  const chosen = part.disabled ? part.value : draft(part.key, part.value);
  const rows = part.options.map(([key, html]) => {
    const radio = element("input", { type: "radio", name: group, value: key, disabled: part.disabled, ...quiet });
    radio.checked = key === chosen;
    radio.addEventListener("change", () => {
      if (!radio.checked) return;
      if (part.asks) ask(part.asks);
      else keep(part.key, key);
    });
    const letter = part.lettered ? [element("b", { text: key })] : [];
    return element("label", {}, radio, ...letter, element("span", { html }));
  });
  const list = element("div", { class: part.inline ? "mlsys-lab-inline" : "mlsys-lab-options" }, ...rows);
  if (extra) { list.prepend(element("span", { text: extra[0] })); list.append(element("span", { text: extra[1] })); }
  return {
    node: element("fieldset", { class: "mlsys-lab-field" }, 
      element("legend", { html: part.legend, class: part.asks ? "mlsys-lab-unseen" : null }), list),
    value: () => rows.map((row) => row.firstChild).find((radio) => radio.checked)?.value ?? null,
  };
}

const BUILD = {
  prose: (part) => {
    const style = part.tone ? `--tone: ${part.tone}` : null;
    const name = `mlsys-lab-prose${part.tone ? " mlsys-lab-edge" : ""}${part.quiet ? " mlsys-lab-quiet" : ""}`;
    return { node: element("div", { class: name, style, html: part.html, tabindex: "-1" }) };
  },
  sealedanswer: (part) => {
    const time = element("time", { datetime: part.time, text: localTime(part.time) });
    return { node: element("p", { class: "mlsys-lab-sealed", tabindex: "-1" },
      padlock(), element("span", { html: part.html }), time) };
  },
  options: (part, tools) => radios(part, tools),
  confidence: (part, tools) => {
    const made = radios({ ...part, inline: true }, tools, part.ends);
    made.node.classList.add("mlsys-lab-confidence");
    return made;
  },
  textbox: (part, { draft, keep, submit }) => {
    const id = unique("entry");
    const box = element("input", { type: "text", id, "aria-describedby": `${id}-hint`, disabled: part.disabled,
      spellcheck: "false", autocomplete: "off", ...quiet });
    box.value = part.disabled ? part.value : draft(part.key, part.value);
    box.addEventListener("input", () => keep(part.key, box.value));
    box.addEventListener("keydown", (event) => event.key === "Enter" && submit());
    return {
      node: element("div", { class: "mlsys-lab-field" }, element("label", { for: id, html: part.legend }), box,
        element("p", { class: "mlsys-lab-hint", id: `${id}-hint`, text: part.hint, hidden: part.disabled })),
      value: () => box.value,
    };
  },
  textarea: (part, { draft, keep }) => {
    const id = unique("area");
    const box = element("textarea", { id, rows: part.rows, "aria-describedby": `${id}-hint`, ...quiet });
    box.value = draft(part.key, part.value);
    box.addEventListener("input", () => keep(part.key, box.value));
    return {
      node: element("div", { class: "mlsys-lab-field" }, element("label", { for: id, html: part.legend }), box,
        element("p", { class: "mlsys-lab-hint", id: `${id}-hint`, text: part.hint })),
      value: () => box.value,
    };
  },
  blanks: (part, { draft, keep }) => {
    const boxes = {};
    const start = draft(part.key, null) ?? {};
    const values = () => Object.fromEntries(Object.entries(boxes).map(([name, box]) => [name, box.value || null]));
    const pieces = part.pieces.map((piece) => {
      if (typeof piece === "string") return element("span", { html: piece });
      const number = Object.keys(boxes).length + 1;
      const box = element("select", { "aria-label": `Gap ${number}`, ...quiet },
        element("option", { value: "", text: "…" }),
        ...piece.options.map(([value, text]) => element("option", { value, text })));
      box.value = start[piece.name] ?? piece.value ?? "";
      box.addEventListener("change", () => keep(part.key, values()));
      boxes[piece.name] = box;
      return box;
    });
    return { node: element("p", { class: "mlsys-lab-blanks" }, ...pieces), value: values };
  },
  checkboxes: (part, { draft, keep }) => {
    const on = draft(part.key, part.value);
    const values = () => rows.map((row) => row.firstChild).filter((box) => box.checked).map((box) => box.value);
    const rows = part.options.map(([key, html, note]) => {
      const box = element("input", { type: "checkbox", value: key, ...quiet });
      box.checked = on.includes(key);
      box.addEventListener("change", () => keep(part.key, values()));
      return element("label", {}, box, element("span", { html }, ...(note ? [element("small", { html: note })] : [])));
    });
    return {
      node: element("fieldset", { class: "mlsys-lab-field" }, element("legend", { html: part.legend }),
        element("div", { class: "mlsys-lab-options" }, ...rows)),
      value: values,
    };
  },
  buttons: (part, { ask }) => ({
    node: element("div", { class: "mlsys-lab-buttons" }, ...part.buttons.map(([action, text], k) => {
      const button = element("button", { type: "button", text, class: k ? null : "mlsys-lab-main", ...quiet });
      button.addEventListener("click", () => ask(action));
      return button;
    })),
  }),
  numbers: (part) => ({
    node: element("div", { class: "mlsys-lab-cards", role: "list", tabindex: "-1" },
      ...part.cards.map(([label, value, tone, note]) =>
        element("div", { class: "mlsys-lab-card", role: "listitem", style: `--tone: ${tone}` },
          element("span", { text: label }), element("strong", { text: value }), element("small", { text: note })))),
  }),
  steps: (part) => ({
    node: element("div", { class: "mlsys-lab-steps" }, ...part.groups.map(([title, done, all, lines]) =>
      element("section", { "aria-label": title },
        element("p", {}, element("strong", { text: title }), element("span", { text: `${done} of ${all}` })),
        element("progress", { max: all || 1, value: done, "aria-label": `Progress of ${title}` }),
        element("ul", {}, ...lines.map(([html, ok, remark]) => element("li", { class: ok ? "mlsys-lab-done" : null },
          element("span", { "aria-hidden": "true", text: ok ? "✓" : "○" }),
          // One word about each line: a remark that is seen is not followed by one that is only said.
          element("span", { html }, remark ? ` (${remark})`
            : element("span", { class: "mlsys-lab-unseen", text: ok ? " (done)" : " (to do)" })))))))),
  }),
  progressbar: (part) => ({
    node: element("div", { class: "mlsys-lab-progress" }, element("p", { text: part.words }),
      element("progress", { max: 1, value: part.share, "aria-label": part.label })),
  }),
  rows: (part) => ({
    node: element("ul", { class: "mlsys-lab-rows" }, ...part.rows.map(([head, html]) =>
      element("li", {}, element("strong", { html: head }), element("span", { html })))),
  }),
  foldedrows: (part, tools) => {
    const { node } = BUILD.rows(part);
    const fold = element("details", { class: "mlsys-lab-fold" }, element("summary", { text: part.heading, ...quiet }), node);
    // It is drawn again with every change, and stays as the student left it.
    fold.open = tools.unfolded.has(part.key);
    fold.addEventListener("toggle", () => (fold.open ? tools.unfolded.add(part.key) : tools.unfolded.delete(part.key)));
    return { node: fold };
  },
  numberedlist: (part) => ({
    node: element("ol", { class: "mlsys-lab-points" }, ...part.points.map(([head, html]) =>
      element("li", {}, ...(head ? [element("strong", { html: head })] : []), element("span", { html })))),
  }),
};

export function renderCard(model, el) {
  el.classList.add("mlsys-lab-card-root");
  const drafts = { ...model.get("drafts") };
  let asked = null, timer = null, draftTimer = null, hush = null;

  const kind = element("span", { class: "mlsys-lab-kind" });
  const title = element("h3", { class: "mlsys-lab-title", id: unique("title"), tabindex: "-1" });
  const body = element("div", { class: "mlsys-lab-body" });
  const trouble = element("p", { class: "mlsys-lab-trouble", role: "alert" });
  const retry = element("button", { type: "button", text: "Try again", ...quiet });
  const after = element("div", { class: "mlsys-lab-after" }, trouble, retry);
  const said = element("div", { class: "mlsys-lab-unseen", role: "status", "aria-live": "polite" });
  const card = element("section", { class: "mlsys-lab-frame", "aria-labelledby": title.id },
    element("div", { class: "mlsys-lab-head" }, kind, title), body, after, said);
  el.append(card);

  const sendDrafts = () => {
    clearTimeout(draftTimer);
    draftTimer = null;
    model.set("drafts", { ...drafts });
    model.save_changes();
  };
  const complain = (words, again) => {
    if (trouble.textContent !== inLocalTime(words)) trouble.textContent = inLocalTime(words);
    retry.hidden = !again;
    after.hidden = !words;
  };
  // JupyterLab marks the views of a kernel that was restarted.
  const lost = () => Boolean(el.closest(".jupyter-widgets-disconnected"));
  const life = new MutationObserver(() => {
    if (lost()) { clearTimeout(timer); card.removeAttribute("aria-busy"); complain(NO_KERNEL, false); }
  });
  const ask = (action) => {
    if (draftTimer) sendDrafts();
    const values = {};
    for (const [key, made] of parts) if (made.value) values[key] = made.value();
    asked = performance.now() + Math.random();
    clearTimeout(timer);
    if (lost()) { complain(NO_KERNEL, false); return; }
    card.setAttribute("aria-busy", "true");
    const silent = () => complain("The kernel does not answer, so nothing is saved yet. It may be busy with a"
      + " cell: wait for it. If it was restarted, press Resume at the top of the lab.", false);
    timer = setTimeout(silent, PATIENCE);
    try { model.send({ action, values, stamp: asked }); } catch { silent(); }
  };
  retry.addEventListener("click", () => ask("retry"));
  const tools = {
    ask,
    draft: (key, value) => (key in drafts ? drafts[key] : value),
    keep: (key, value) => {
      drafts[key] = value;
      clearTimeout(draftTimer);
      draftTimer = setTimeout(sendDrafts, 300);
    },
    submit: () => body.querySelector(".mlsys-lab-main")?.click(),
    unfolded: new Set(),
  };

  let parts = new Map();
  let spoken = "", astray = false;
  const show = () => {
    const view = model.get("view");
    if (!view.parts) return;
    kind.textContent = view.kind;
    if (title.innerHTML !== view.title) title.innerHTML = view.title;
    card.style.setProperty("--tone", view.tone);
    const held = card.contains(document.activeElement);
    const now = new Map();
    for (const part of view.parts) {
      const json = JSON.stringify(part);
      const old = parts.get(part.key);
      if (old?.json === json) { now.set(part.key, old); continue; }
      const made = BUILD[part.kind](part, tools);
      withLocalTimes(made.node);
      now.set(part.key, { json, ...made });
    }
    // What stays is not touched, so that it keeps the keyboard.
    for (const [key, made] of parts) if (now.get(key) !== made) made.node.remove();
    parts = now;
    let at = body.firstChild;
    for (const { node } of parts.values()) {
      if (node === at) at = at.nextSibling;
      else body.insertBefore(node, at);
    }
    complain(view.trouble?.words ?? "", view.trouble?.retry);
    // A screen reader says what came of an action, once.
    if (view.said && view.said !== spoken) {
      said.textContent = inLocalTime(view.said);
      clearTimeout(hush);
      hush = setTimeout(() => { said.textContent = ""; }, 15000);
    }
    spoken = view.said;
    // Where the keyboard was is gone: it goes to what came instead, which may come a moment later.
    if (held && !card.contains(document.activeElement)) { astray = true; title.focus({ preventScroll: true }); }
    const target = parts.get(view.focus)?.node;
    if (astray && document.activeElement === title && target) {
      astray = false;
      (target.querySelector("button, input:checked, input, select, textarea") ?? target).focus();
    }
    name(el, view);
  };
  const answered = (message) => {
    if (message?.answered !== asked) return;
    clearTimeout(timer);
    card.removeAttribute("aria-busy");
    complain(model.get("view").trouble?.words ?? "", model.get("view").trouble?.retry);
  };
  const forgotten = () => {
    if (Object.keys(model.get("drafts")).length) return;
    for (const key of Object.keys(drafts)) delete drafts[key];
  };
  // bqplot's plots have no names of their own.
  const watch = new MutationObserver(() => name(el, model.get("view")));
  requestAnimationFrame(() => {
    const box = el.closest(".mlsys-lab");
    if (!box) return;
    watch.observe(box, { childList: true, subtree: true });
    for (const node of [el, el.parentElement, box]) life.observe(node, { attributeFilter: ["class"] });
  });
  model.on("change:view", show);
  model.on("change:drafts", forgotten);
  model.on("msg:custom", answered);
  show();
  return () => {
    for (const one of [timer, draftTimer, hush]) clearTimeout(one);
    watch.disconnect();
    life.disconnect();
    model.off("change:view", show);
    model.off("change:drafts", forgotten);
    model.off("msg:custom", answered);
  };
}

function name(el, view) {
  if (!view.figure) return;
  // A plot is two pictures on top of each other: axes and marks. One name is enough.
  for (const plot of el.closest(".mlsys-lab")?.querySelectorAll(".mlsys-plot") ?? []) {
    const [figure, ...others] = [...plot.querySelectorAll(":scope > svg")].reverse();
    if (!figure || figure.getAttribute("aria-label") === view.figure) continue;
    figure.setAttribute("role", "img");
    figure.setAttribute("aria-label", view.figure);
    for (const other of others) other.setAttribute("aria-hidden", "true");
  }
}
