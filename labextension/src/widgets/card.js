// The card of a lab widget: draws the parts that the kernel describes, and sends what is asked.
// What is entered is a draft until it is recorded (card_boxes.js). Every action is answered; without
// an answer the card says what is known: recorded, not recorded, or not known yet.
import { asRead, inLocalTime, localTime } from "./as_read";
import { element, plain, unique } from "./elements";
import { leadThePage } from "./leading";
import { boxesOf, inWords } from "./open_cards";
import { REVEAL } from "./reveal";
import { wordCounter } from "./word_count";

const TILE = 60; // characters of an option that fits into a tile
const PATIENCE = 8000; // milliseconds without an answer until the ledger is asked
const NO_KERNEL = "This card has no kernel. What you enter is kept, but nothing can be recorded until you"
  + " press Resume at the top of the lab.";

// Keys that mean something in an input must not move the notebook.
const quiet = { "data-lm-suppress-shortcuts": "true" };

// Drawn, because not every machine has a font with such a sign.
function padlock() {
  const box = element("span", { class: "mlsys-lab-padlock", "aria-hidden": "true" });
  box.innerHTML = '<svg width="13" height="15" viewBox="0 0 13 15"><path d="M3.2 7V4.4a3.3 3.3 0 0 1 6.6 0V7" '
    + 'fill="none" stroke="currentColor" stroke-width="1.7"/><rect x="1" y="6.6" width="11" height="8" rx="1.6" fill="currentColor"/></svg>';
  return box;
}

function recordedLine(part, name, ...sign) {
  const answer = element("span", { html: part.html });
  answer.prepend(...sign);
  return element("p", { class: name, tabindex: "-1" }, answer,
    element("time", { datetime: part.time, text: localTime(part.time) }));
}

// A number is put on a scale as well as typed. Nothing is marked until somebody does it.
function numberScale({ scale, legend }, put) {
  const last = scale.length - 1;
  const range = element("input", { type: "range", min: 0, max: last, step: 1, "aria-label": plain(legend), ...quiet });
  // Long labels would run into each other on a phone: its ends have to do.
  const many = scale.every((text) => text.length <= 5) ? 5 : 2;
  const labels = Array.from({ length: many }, (_, k) =>
    element("span", { text: scale[Math.round((k * last) / (many - 1))] }));
  // A click on the middle changes nothing of a range that stands there unseen.
  const choose = () => put(scale[Number(range.value)]);
  range.addEventListener("input", choose);
  range.addEventListener("click", choose);
  return {
    node: element("div", { class: "mlsys-lab-scale" }, range,
      element("div", { class: "mlsys-lab-ticks", "aria-hidden": "true" }, ...labels)),
    mark: (text) => {
      const at = scale.indexOf(text);
      range.classList.toggle("mlsys-lab-unmarked", at < 0);
      range.value = at < 0 ? Math.round(last / 2) : at;
      range.setAttribute("aria-valuetext", at < 0 ? text || "no mark yet" : text);
    },
  };
}

function radios(part, { keep, ask }, extra) {
  const group = unique("group");
  const rows = part.options.map(([key, html], place) => {
    const radio = element("input", { type: "radio", name: group, value: key, disabled: part.disabled, ...quiet });
    radio.addEventListener("change", () => {
      if (!radio.checked) return;
      if (part.asks) ask(part.asks, { [part.key]: key });
      else keep(part.key, key);
    });
    // A letter says where an option stands, not which one it is: the order differs from student to student.
    const letter = part.lettered ? [element("b", { text: String.fromCharCode(65 + place) })] : [];
    return element("label", {}, radio, ...letter, element("span", { html }));
  });
  // Short options stand side by side, so that they are compared at a glance.
  const tiles = part.options.every(([, html]) => plain(html).length <= TILE) ? " mlsys-lab-tiles" : "";
  const list = element("div", { class: part.inline ? "mlsys-lab-inline" : `mlsys-lab-options${tiles}` }, ...rows);
  if (extra) { list.prepend(element("span", { text: extra[0] })); list.append(element("span", { text: extra[1] })); }
  return {
    node: element("fieldset", { class: "mlsys-lab-field" }, 
      element("legend", { html: part.legend, class: part.asks ? "mlsys-lab-unseen" : null }), list),
    fill: (value) => { for (const { firstChild: radio } of rows) radio.checked = radio.value === value; },
  };
}

function folded(part, node, { unfolded }) {
  const fold = element("details", { class: "mlsys-lab-fold" }, element("summary", { text: part.heading, ...quiet }), node);
  // It is drawn again with every change, and stays as the student left it.
  fold.open = unfolded.has(part.key);
  fold.addEventListener("toggle", () => (fold.open ? unfolded.add(part.key) : unfolded.delete(part.key)));
  return { node: fold };
}

const BUILD = {
  ...REVEAL,
  prose: (part) => {
    const style = part.tone ? `--tone: ${part.tone}` : null;
    const name = `mlsys-lab-prose${part.tone ? " mlsys-lab-edge" : ""}${part.quiet ? " mlsys-lab-quiet" : ""}`;
    return { node: element("div", { class: name, style, html: part.html, tabindex: "-1" }) };
  },
  recordedanswer: (part) => ({ node: recordedLine(part, "mlsys-lab-recorded") }),
  sealedanswer: (part) => ({ node: recordedLine(part, "mlsys-lab-recorded mlsys-lab-sealed", padlock()) }),
  options: (part, tools) => radios(part, tools),
  confidence: (part, tools) => {
    const made = radios({ ...part, inline: true }, tools, part.ends);
    made.node.classList.add("mlsys-lab-confidence");
    return made;
  },
  textbox: (part, { keep, submit }) => {
    const id = unique("entry");
    const box = element("input", { type: "text", id, "aria-describedby": `${id}-hint`, disabled: part.disabled,
      spellcheck: "false", autocomplete: "off", ...quiet });
    box.addEventListener("input", () => keep(part.key, box.value));
    box.addEventListener("keydown", (event) => event.key === "Enter" && submit());
    const scale = part.scale?.length ? numberScale(part, (text) => keep(part.key, text)) : null;
    return {
      node: element("div", { class: "mlsys-lab-field" }, element("label", { for: id, html: part.legend }),
        ...(scale ? [scale.node] : []), box,
        element("p", { class: "mlsys-lab-hint", id: `${id}-hint`, text: part.hint, hidden: part.disabled })),
      fill: (value) => {
        if (box.value !== value) box.value = value;
        scale?.mark(value);
      },
    };
  },
  textarea: (part, { keep }) => {
    const id = unique("area");
    const code = part.code ? { class: "mlsys-lab-code", spellcheck: "false", autocapitalize: "off" } : {};
    const box = element("textarea", { id, rows: part.rows, "aria-describedby": `${id}-hint`, ...code, ...quiet });
    box.addEventListener("input", () => keep(part.key, box.value));
    return {
      node: element("div", { class: "mlsys-lab-field" }, element("label", { for: id, html: part.legend }), box,
        ...wordCounter(part, box),
        element("p", { class: "mlsys-lab-hint", id: `${id}-hint`, text: part.hint })),
      fill: (value) => {
        if (box.value === value) return;
        box.value = value;
        box.dispatchEvent(new Event("filled"));
      },
    };
  },
  blanks: (part, { keep }) => {
    const boxes = {};
    const values = () => Object.fromEntries(Object.entries(boxes).map(([name, box]) => [name, box.value || null]));
    const pieces = part.pieces.map((piece) => {
      if (typeof piece === "string") return element("span", { html: piece });
      const number = Object.keys(boxes).length + 1;
      const box = element("select", { "aria-label": `Gap ${number}`, ...quiet },
        element("option", { value: "", text: "…" }),
        ...piece.options.map(([value, text]) => element("option", { value, text })));
      box.addEventListener("change", () => keep(part.key, values()));
      boxes[piece.name] = box;
      return box;
    });
    return {
      node: element("p", { class: "mlsys-lab-blanks" }, ...pieces),
      fill: (chosen) => { for (const [name, box] of Object.entries(boxes)) box.value = chosen?.[name] ?? ""; },
    };
  },
  checkboxes: (part, { keep }) => {
    const values = () => rows.map((row) => row.firstChild).filter((box) => box.checked).map((box) => box.value);
    const rows = part.options.map(([key, html, note]) => {
      const box = element("input", { type: "checkbox", value: key, ...quiet });
      box.addEventListener("change", () => keep(part.key, values()));
      return element("label", {}, box, element("span", { html }, ...(note ? [element("small", { html: note })] : [])));
    });
    return {
      node: element("fieldset", { class: "mlsys-lab-field" }, element("legend", { html: part.legend }),
        element("div", { class: "mlsys-lab-options" }, ...rows)),
      fill: (on) => { for (const { firstChild: box } of rows) box.checked = on.includes(box.value); },
    };
  },
  buttons: (part, { ask }) => ({
    node: element("div", { class: "mlsys-lab-buttons" }, ...part.buttons.map(([action, text], k) => {
      const main = k ? null : part.leads ? "mlsys-lab-main" : "mlsys-lab-main mlsys-lab-again";
      const button = element("button", { type: "button", text, class: main, ...quiet });
      button.addEventListener("click", () => ask(action));
      return button;
    })),
  }),
  // The Lab panel's extension hears it; where there is none, there is no such button (card.css).
  goon: (part) => {
    const button = element("button", { type: "button", text: part.words,
      class: part.leads ? "mlsys-lab-main" : "mlsys-lab-main mlsys-lab-again", ...quiet });
    button.addEventListener("click", () => button.dispatchEvent(new CustomEvent("mlsys-next", { bubbles: true })));
    return { node: element("div", { class: "mlsys-lab-buttons mlsys-lab-goon" }, button) };
  },
  // It runs once, and waits for whoever wants to see it again; nothing of it moves for those who asked for that.
  moving: (part) => {
    const button = element("button", { type: "button", text: "Play", class: "mlsys-lab-link",
      hidden: window.matchMedia("(prefers-reduced-motion: reduce)").matches, ...quiet });
    const picture = element("div", { html: part.svg });
    const run = () => picture.getAnimations({ subtree: true });
    const say = () => { button.textContent = run().some((each) => each.playState === "running") ? "Pause" : "Play"; };
    button.addEventListener("click", () => {
      const pauses = button.textContent === "Pause";
      for (const each of run()) if (pauses) each.pause(); else each.play();
      say();
    });
    picture.addEventListener("animationstart", say);
    picture.addEventListener("animationend", say);
    return { node: element("figure", { class: "mlsys-lab-moving" }, picture,
      element("figcaption", { text: `${part.words} ` }, button)) };
  },
  actspath: (part) => ({
    node: element("ol", { class: "mlsys-lab-path" }, ...part.points.map(([title, takes], k) =>
      element("li", {}, element("b", { text: `${k + 1}`, "aria-hidden": "true" }),
        element("span", { html: title }, ...(takes ? [element("small", { text: takes })] : []))))),
  }),
  // The Lab panel hears it, and shows these links only where it can do what they promise.
  besidelinks: (part) => ({
    node: element("p", { class: "mlsys-lab-beside" }, element("span", { text: "Show beside this:" }),
      ...part.titles.map((title) => {
        const button = element("button", { type: "button", text: title, ...quiet });
        button.addEventListener("click", () =>
          button.dispatchEvent(new CustomEvent("mlsys-beside", { bubbles: true, detail: title })));
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
  foldedrows: (part, tools) => folded(part, BUILD.rows(part).node, tools),
  foldedprose: (part, tools) => folded(part, BUILD.prose(part).node, tools),
  numberedlist: (part) => ({
    node: element("ol", { class: "mlsys-lab-points" }, ...part.points.map(([head, html]) =>
      element("li", {}, ...(head ? [element("strong", { html: head })] : []), element("span", { html })))),
  }),
};

export function renderCard(model, el) {
  el.classList.add("mlsys-lab-card-root");
  const boxes = boxesOf(model);
  let pending = null, timer = null, hush = null;

  const kind = element("span", { class: "mlsys-lab-kind" });
  const title = element("h3", { class: "mlsys-lab-title", id: unique("title"), tabindex: "-1" });
  const body = element("div", { class: "mlsys-lab-body" });
  const trouble = element("p", { class: "mlsys-lab-trouble", role: "alert" });
  const retry = element("button", { type: "button", text: "Try again", ...quiet });
  const after = element("div", { class: "mlsys-lab-after" }, trouble, retry);
  const unrecorded = element("p", { class: "mlsys-lab-unrecorded", role: "status" });
  const goBack = element("button", { type: "button", text: "Undo my change", ...quiet });
  const draftLine = element("div", { class: "mlsys-lab-draft", hidden: true }, unrecorded, goBack);
  const said = element("div", { class: "mlsys-lab-unseen", role: "status", "aria-live": "polite" });
  const toggle = element("button", { type: "button", class: "mlsys-lab-link", hidden: true, ...quiet });
  const card = element("section", { class: "mlsys-lab-frame", "aria-labelledby": title.id },
    element("div", { class: "mlsys-lab-head" }, kind, title), body, toggle, draftLine, after, said);
  el.append(card);

  const complain = (words, again) => {
    if (trouble.textContent !== inLocalTime(words)) trouble.textContent = inLocalTime(words);
    retry.hidden = !again;
    after.hidden = !words;
  };
  // When something of this card was last recorded, according to the ledger; null where nobody can ask.
  const recordedSince = async (before) => {
    const { recorded } = boxes.store.remote;
    if (!recorded || !boxes.item) return null;
    const time = await recorded(boxes.view.item.names).catch(() => null);
    return time === null ? null : time > before ? time : "";
  };
  const calm = () => { clearTimeout(timer); pending = null; card.removeAttribute("aria-busy"); };
  // An action is not answered: say what the ledger knows about it, and ask again.
  const wonder = async () => {
    const asked = pending;
    const time = await recordedSince(asked.before);
    if (asked !== pending) return;
    if (time) {
      complain(`Recorded ${time}: it is in the ledger. The kernel has not answered yet, so the rest of this`
        + " card may be older.", false);
    } else if (boxes.isLive) {
      complain("Not known yet whether this is recorded: the kernel has not answered. It may be busy with a cell."
        + " What you entered is kept; asking again.", false);
    } else if (time === "") {
      complain("Not recorded: the kernel was lost before it answered, and the ledger does not have it. What you"
        + " entered is kept. Press Resume at the top of the lab, then record it.", false);
    } else {
      complain("The kernel was lost before it answered, so it is not known whether this is recorded. What you"
        + " entered is kept. Press Resume at the top of the lab to see.", false);
    }
    if (time || !boxes.isLive) calm();
    else timer = setTimeout(wonder, PATIENCE);
  };
  const life = () => {
    if (boxes.isLive) return;
    clearTimeout(timer);
    if (pending) void wonder(); else complain(NO_KERNEL, false);
  };
  const ask = async (action, chosen) => {
    if (!boxes.isLive) { complain(NO_KERNEL, false); return; }
    clearTimeout(timer);
    const asked = pending = { before: boxes.view.item?.recorded ?? "" };
    card.setAttribute("aria-busy", "true");
    timer = setTimeout(wonder, PATIENCE);
    await boxes.ask(action, chosen);
    if (asked !== pending) return;
    calm();
    const { trouble: found } = boxes.view;
    complain(found?.words ?? "", found?.retry);
    if (!found && action === boxes.view.item?.record) { opened = false; fold(); }
  };
  retry.addEventListener("click", () => ask("retry"));
  goBack.addEventListener("click", () => {
    for (const part of boxes.unrecorded) boxes.discard(part.key);
    opened = false;
    fold();
  });
  toggle.addEventListener("click", () => {
    opened = !opened;
    fold();
    const box = opened && body.querySelector("input:checked, input:not(:disabled), select, textarea");
    (box && !box.disabled ? box : toggle).focus();
  });
  const tools = {
    ask,
    keep: (key, value) => boxes.keep(key, value),
    submit: () => body.querySelector(".mlsys-lab-main")?.click(),
    unfolded: new Set(),
  };
  // Two windows have typed different things into one box: the student decides.
  const showRival = (part, made) => {
    const rival = made.fill && !part.disabled ? boxes.rival(part.key) : null;
    made.rival?.remove();
    made.rival = null;
    if (!rival) return;
    const choice = (text, draft) => {
      const button = element("button", { type: "button", text, ...quiet });
      button.addEventListener("click", () => boxes.choose(part.key, draft));
      return button;
    };
    made.rival = element("div", { class: "mlsys-lab-rival", role: "status" },
      element("p", { text: `Another window has something else here: “${describe(part, rival.value)}”` }),
      choice("Use that", rival), choice("Keep this", boxes.draft(part.key)));
    made.node.append(made.rival);
  };
  // Bring boxes up to what stands in them, and say whether it is recorded.
  const fill = (only) => {
    for (const part of boxes.view.parts ?? []) {
      const made = parts.get(part.key);
      if (!made?.fill || (only && only !== part.key)) continue;
      made.fill(boxes.value(part));
      made.node.classList.toggle("mlsys-lab-differs", boxes.changed.includes(part));
      showRival(part, made);
    }
    const open = boxes.item && !boxes.view.unsettled ? boxes.unrecorded : [];
    const words = !open.length ? "" : boxes.changed.length
      ? "You changed this, and the change is not recorded yet." : "Kept as a draft. It is not recorded yet.";
    const only_here = words && boxes.store.trouble ? ` So far only this browser has it: ${boxes.store.trouble}` : "";
    if (unrecorded.textContent !== words + only_here) unrecorded.textContent = words + only_here;
    goBack.hidden = !boxes.changed.length;
    draftLine.hidden = !words;
    fold();
  };

  // What is recorded becomes short, until somebody wants to change it. What is entered and not
  // recorded is never out of sight, and a card does not close under somebody's hands.
  let opened = false, recorded = "";
  const fold = () => {
    const { fold: folded, closed, title: called, focus } = boxes.view;
    const entered = boxes.unrecorded.length > 0 || boxes.open.some((part) => boxes.rival(part.key));
    opened = Boolean(folded) && (opened || entered);
    const short = Boolean(folded) && !opened;
    card.dataset.state = closed ? "closed" : !folded ? "open" : short ? "short" : "opened";
    card.classList.toggle("mlsys-lab-entered", entered);
    for (const [key, { node }] of parts) node.hidden = short && !folded.stays.includes(key);
    // Nothing to close while something waits to be recorded: that has a way back of its own.
    toggle.hidden = !folded || (opened && entered);
    const words = short ? folded?.link : "Close";
    if (toggle.textContent !== words) toggle.textContent = words ?? "";
    toggle.setAttribute("aria-label", `${words}: ${plain(called)}`);
    toggle.setAttribute("aria-expanded", String(!short));
    const held = document.activeElement;
    if (body.contains(held) && held.closest("[hidden]")) {
      const target = parts.get(focus)?.node;
      astray = !target || target.hidden;
      (astray ? toggle : target).focus();
    }
    leadThePage(card);
  };

  let parts = new Map();
  let spoken = "", astray = false;
  const show = () => {
    const view = model.get("view");
    if (!view.parts) return;
    kind.textContent = view.kind;
    card.dataset.look = view.look;
    if ((view.item?.recorded ?? "") !== recorded) { recorded = view.item?.recorded ?? ""; opened = false; }
    if (title.innerHTML !== view.title) title.innerHTML = view.title;
    card.style.setProperty("--tone", view.tone);
    const held = card.contains(document.activeElement);
    const now = new Map();
    for (const part of view.parts) {
      const json = JSON.stringify(part);
      const old = parts.get(part.key);
      if (old?.json === json) { now.set(part.key, old); continue; }
      const made = BUILD[part.kind](part, tools);
      asRead(made.node);
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
    fill();
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
    if (astray && [title, toggle].includes(document.activeElement) && target) {
      astray = false;
      (target.querySelector("button, input:checked, input, select, textarea") ?? target).focus();
    }
    name(el, view);
  };
  // bqplot's plots have no names of their own.
  const watch = new MutationObserver(() => name(el, model.get("view")));
  requestAnimationFrame(() => {
    const box = el.closest(".mlsys-lab");
    if (!box) return;
    watch.observe(box, { childList: true, subtree: true });
  });
  model.on("change:view", show);
  model.on("comm_live_update", life);
  boxes.views.add(fill);
  show();
  life();
  return () => {
    for (const one of [timer, hush]) clearTimeout(one);
    watch.disconnect();
    model.off("change:view", show);
    model.off("comm_live_update", life);
    boxes.views.delete(fill);
  };
}

// What another window has in a box, short enough for a line.
function describe(part, value) {
  const words = inWords(part, value);
  return words.length > 200 ? `${words.slice(0, 200)} …` : words;
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
