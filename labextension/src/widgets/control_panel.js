// The control panel of an instrument: its controls, its cards, a sentence and a table.
// Values go to the kernel as they change; while it is busy, only the newest waits. Everything that is
// shown comes back as one `readout`: a whole state with its number.
import { asRead } from "./as_read";
import { BUILD, helpByKeyboard } from "./controls";
import { derivation, element, legendOver, showLamps, table } from "./elements";
import { numberTiles } from "./number_tiles";
import { handlesOver } from "./handles";
import { layoutOf } from "./layout";
import { livenessOf } from "./liveness";
import { follow } from "./newest";
import { player } from "./player";
import { clock, stand } from "./standing";

// What is shown of each panel, by its model. A message may be late, lost or out of order: an older
// state than the one on the screen is not shown, and no part of a state is shown without the rest.
const PANELS = new WeakMap();
// Milliseconds until a state that could not be shown is tried again, which doubles up to a limit.
const PAUSE = 250, LONGEST = 30000;
const UNDRAWN = "The newest state of this instrument cannot be drawn yet, because one of its plots is not there."
  + " It is tried again and again. If this stays, press Resume at the top of the lab.";

// A state travels as compressed JSON, beside the numbers of its plots.
async function unpack({ packed, numbers }) {
  const inflate = new DecompressionStream("deflate");
  const writer = inflate.writable.getWriter();
  writer.write(packed);
  writer.close();
  return { ...(await new Response(inflate.readable).json()), numbers };
}

// What the marks of plots were handed last, trait by trait: bqplot draws a mark again for any trait
// that it gets, and of a whole state most is what it was.
const HANDED = new WeakMap();

function whatChanged(target, traits) {
  if (!HANDED.has(target)) HANDED.set(target, {});
  const handed = HANDED.get(target);
  return Object.entries(traits).filter(([name, value]) => {
    const key = value?.value instanceof DataView
      ? `${value.shape}:${new Uint8Array(value.value.buffer)}` : JSON.stringify(value);
    const differs = handed[name] !== key;
    handed[name] = key;
    return differs;
  }).map(([name]) => name);
}

// Whether a state brings what is behind a fold.
function isUnfolded(state, what) {
  return what === "table" ? state.table.header.length > 0 : Boolean(state[what]);
}

// The traits of a mark as bqplot reads them: arrays lie one after the other in one buffer.
function asBqplot(traits, numbers) {
  const array = ([start, ...shape]) => {
    const length = shape.reduce((product, size) => product * size, 1);
    const from = numbers.byteOffset + 4 * start;
    return { value: new DataView(numbers.buffer.slice(from, from + 4 * length)), dtype: "float32", shape, type: null };
  };
  const exact = (list) => ({ value: new DataView(Float64Array.from(list).buffer), dtype: "float64", shape: [list.length], type: null });
  const read = (value) => (value?.span ? array(value.span) : value?.exact ? exact(value.exact) : value);
  return Object.fromEntries(Object.entries(traits).map(([name, value]) => [name, read(value)]));
}

// The marks of all plots, each with its traits as bqplot reads them.
function marksOf(model, { plots, numbers }) {
  const manager = model.widget_manager;
  const ids = model.get("spec").plots;
  return Promise.all(plots.flatMap((plot, p) => plot.map(async ([k, traits]) => {
    const target = await manager.get_model(ids[p][k]);
    const sent = asBqplot(traits, numbers);
    return [target, sent, await target.constructor._deserialize_state({ ...sent }, manager)];
  })));
}

function hand([target, sent, read]) {
  const changed = whatChanged(target, sent);
  if (!changed.length) return;
  try {
    target.set_state(Object.fromEntries(changed.map((name) => [name, read[name]])));
  } catch (problem) {
    HANDED.delete(target);
    throw problem;
  }
}

// Show the newest state, whole or not at all. Where a mark is missing or refuses its data, nothing of
// the state is shown: the old one is covered, a sentence says why, and what is newest then is tried
// again after a pause that grows, and with every message that comes before.
async function take(model, panel) {
  clearTimeout(panel.timer);
  const isNewer = ({ number }) => number > (panel.state?.number ?? 0);
  const sent = model.get("readout");
  if (!isNewer(sent)) return;
  try {
    const next = await unpack(sent);
    // The plots were made with the first state; only later ones bring them their data.
    const marks = next.number === panel.first ? [] : await marksOf(model, next);
    if (!isNewer(next)) return;
    marks.forEach(hand);
    panel.state = next;
  } catch (problem) {
    console.error(problem);
    stand(model, "undrawn", UNDRAWN);
    clearTimeout(panel.timer);
    panel.timer = setTimeout(panel.take, panel.pause);
    panel.pause = Math.min(2 * panel.pause, LONGEST);
    return;
  }
  panel.pause = PAUSE;
  stand(model, "undrawn", "");
  panel.isShown();
  panel.begin();
  try { for (const show of panel.views) show(); } catch (problem) { console.error(problem); model.trigger("mlsys:undrawn"); }
}

export function followReadout(model) {
  const panel = { state: null, first: model.get("readout").number, pause: PAUSE, views: new Set(), open: {}, moved: {} };
  PANELS.set(model, panel);
  panel.begun = new Promise((begin) => { panel.begin = begin; });
  panel.take = () => { if (!model._closed) panel.taken = take(model, panel); };
  panel.isShown = follow(model, () => panel.state?.number ?? 0, async () => { await model.state_change; await panel.taken; });
  model.on("change:readout", panel.take);
  panel.take();
}

// How long an answer may take before the state is asked for again, in milliseconds.
const PATIENCE = 3000;
const MOST_REMINDERS = 6;
const WAITING = "Waiting for the kernel’s answer to your last move.";
const silence = (since) => `The kernel has not answered your last move, at ${since}. It may be busy with a cell. If it was`
  + " restarted, press Resume at the top of the lab.";
// How many moves may be on their way. ipywidgets sends a change when the kernel has finished with the
// one before; with a second one under way, the kernel computes while the browser draws.
const MOST_UNDER_WAY = 2;
// How long a hand rests before the film of the new state is made.
const REST = 300;

export async function renderControlPanel(model, el) {
  el.classList.add("mlsys-panel");
  const spec = model.get("spec");
  const panel = PANELS.get(model);
  await panel.begun;
  // Everything sent carries a stamp that only grows, on a page that is loaded again too: the same
  // value sent twice is still two requests.
  let newest = 0;
  const stamp = () => (newest = Math.max(newest + 0.001, Date.now() + Math.random()));
  const sent = {}, asked = {};
  // Commands that are not answered yet: no command may be lost to the one after it.
  let commands = [];
  let reminder = 0, reminders = 0, rest = 0, since = clock();
  const unanswered = () =>
    Object.keys(sent).some((name) => sent[name] !== panel.state.heard[name]) ||
    Object.keys(asked).some((name) => asked[name] !== panel.state.stamps[name]);
  const waits = (name) => sent[name] !== undefined && sent[name] !== panel.state.heard[name];
  // Moves that are under way, and the newest of those that wait until one of them is answered.
  let underWay = [], waiting = {}, said = {};
  const isAnswered = ({ name, stamp }) =>
    stamp <= (name ? panel.state.heard[name] ?? 0 : panel.state.stamps.dragged ?? 0);
  const flush = () => {
    underWay = underWay.filter((move) => !isAnswered(move));
    if (underWay.length >= MOST_UNDER_WAY || !waiting.update) return;
    underWay.push(waiting.move);
    model.send({ update: waiting.update });
    waiting = {};
  };
  const push = (update, move) => {
    said = { ...said, ...update };
    waiting = { update: { ...waiting.update, ...update }, move };
    flush();
    reminders = 0;
    since = clock();
    remind();
  };
  // An answer that is lost would leave the screen behind for good.
  const remind = () => {
    clearTimeout(reminder);
    reminder = setTimeout(() => {
      // The move itself may be lost. One that is heard twice changes nothing.
      const lost = underWay.filter((move) => !isAnswered(move));
      if (lost.length) waiting = { update: said, move: waiting.move ?? lost.at(-1) };
      underWay = [];
      flush();
      if (!el.isConnected || !unanswered()) return;
      const isOver = reminders >= MOST_REMINDERS;
      stand(model, el, isOver ? silence(since) : WAITING, "readout");
      if (isOver) return;
      reminders += 1;
      ask("again");
    }, PATIENCE * 2 ** reminders);
  };
  const send = (name) => (value) => {
    sent[name] = stamp();
    panel.moved = { ...panel.moved, [name]: [value, sent[name]] };
    push({ moved: panel.moved }, { name, stamp: sent[name] });
  };
  // Everything else goes at once, after the moves that wait: the kernel hears things in their order.
  const tell = (update) => {
    if (waiting.move) underWay.push(waiting.move);
    model.send({ update: { ...waiting.update, ...update } });
    waiting = {};
  };
  const type = (name) => (text) => tell({ typed: { name, text, stamp: stamp() } });
  const drag = (handle, control, x, y, held) => {
    asked.dragged = stamp();
    push({ dragged: { handle, control, x, y, held, stamp: asked.dragged } }, { stamp: asked.dragged });
  };
  const ask = (name, more = {}) => {
    asked.command = stamp();
    commands.push({ name, ...more, stamp: asked.command });
    tell({ command: { list: [...commands] } });
    remind();
  };

  const specs = {}, controls = {}, pieces = [], legends = [];
  let board = null, layout = null;
  const strip = element("div", { class: "mlsys-controls", role: "group", "aria-label": `Controls of ${spec.title}` });
  const rare = element("div", { class: "mlsys-controls" });
  const more = element("details", { class: "mlsys-more" }, element("summary", { text: "More" }), rare);
  for (const one of spec.controls) {
    specs[one.name] = one;
    const control = BUILD[one.kind](one, send(one.name), type(one.name));
    if (!control.node.querySelector(".mlsys-error")) {
      const error = element("p", { class: "mlsys-error", role: "alert" });
      control.node.append(error);
      control.complain = (text) => { if (error.textContent !== text) error.textContent = text; };
    }
    helpByKeyboard(control.node);
    controls[one.name] = control;
    (one.rare ? rare : strip).append(control.node);
  }
  if (rare.children.length) strip.append(more);

  const button = (text, then) => {
    const node = element("button", { type: "button", text });
    node.addEventListener("click", then);
    return node;
  };
  const pin = button("Pin", () => ask(panel.state.pinned ? "unpin" : "pin"));
  const reset = button("Reset", () => ask(panel.state.undo ? "undo" : "reset"));
  const code = element("p", { class: "mlsys-code", hidden: true, tabindex: "-1" });
  const copy = button("Copy as code", async () => {
    code.textContent = panel.state.code;
    code.hidden = false;
    let copied = true;
    try { await navigator.clipboard.writeText(code.textContent); } catch { copied = false; }
    copy.textContent = copied ? "Copied" : "Select and copy below";
    setTimeout(() => { copy.textContent = "Copy as code"; }, 2000);
  });
  const notice = element("p", { class: "mlsys-lost", role: "alert", hidden: true });
  const head = element("div", { class: "mlsys-head" },
    element("h3", { class: "mlsys-title", text: spec.title }),
    element("div", { class: "mlsys-tools" }, pin, reset, copy), notice);
  const tabs = element("div", { class: "mlsys-tabs", role: "group", "aria-label": "Plot", hidden: true });

  const alert = element("div", { class: "mlsys-alert", role: "alert" });
  const lamps = element("ul", { class: "mlsys-lamps", "aria-label": `Targets of ${spec.title}` });
  const sentence = element("p", { class: "mlsys-sentence", role: "status", "aria-live": "polite" });
  const data = element("table", { class: "mlsys-table" });
  const extra = element("div", {});
  const folded = (title, ...children) => element("details", { class: "mlsys-fold" }, element("summary", { text: title }), ...children);
  const scroll = (label, ...children) => element("div", { class: "mlsys-scroll", tabindex: "0", role: "region", "aria-label": label }, ...children);
  const hintText = element("p", { class: "mlsys-hint" });
  const hint = folded("What would help?", hintText);
  const mathText = scroll(`The math of ${spec.title}`);
  const math = folded("The math", mathText);
  const film = player();
  const movie = folded("Play it", film.node);
  const tiles = numberTiles(spec.title);
  const numbers = folded("Numbers as a table", scroll(`Numbers of ${spec.title}`, data));
  // What is folded is not computed: the kernel is told what is open.
  // Several views of one instrument are folded each on its own; the kernel hears of the first
  // that opens and of the last that closes.
  const folds = { hint, math, table: numbers, film: movie };
  for (const [what, node] of Object.entries(folds)) {
    const open = (panel.open[what] ??= new Set());
    // A page that is loaded again unfolds what was unfolded.
    node.open = isUnfolded(panel.state, what);
    if (node.open) open.add(node);
    node.addEventListener("toggle", () => {
      const before = open.size;
      if (node.open) open.add(node); else open.delete(node);
      if (Boolean(before) !== Boolean(open.size)) ask("fold", { what, open: node.open });
    });
  }
  movie.addEventListener("toggle", () => { if (!movie.open) film.stop(); });
  movie.hidden = !spec.film;
  math.hidden = !spec.math;
  const readout = element("div", { class: "mlsys-readout" }, tiles.large, lamps, alert, sentence, extra, tiles.fold, hint, movie, math, numbers, code);
  el.append(head, strip, tabs, readout);
  // What only the kernel can do is not offered without one.
  const freeze = (frozen) => {
    for (const node of strip.querySelectorAll("input, select, button")) node.disabled = frozen;
    pin.disabled = reset.disabled = frozen;
    for (const node of Object.values(folds)) node.inert = frozen && !node.open;
    for (const piece of pieces) piece.freeze(frozen);
    (board ?? el).classList.toggle("mlsys-frozen", frozen);
  };
  const liveness = livenessOf(el, notice, freeze);

  let extraKey = "", tableKey = "", mathKey = "", lampsKey = "";
  const show = () => {
    const now = panel.state;
    if (!unanswered()) stand(model, el, "");
    flush();
    commands = commands.filter((command) => command.stamp > (now.stamps.command ?? 0));
    for (const [name, control] of Object.entries(controls)) {
      if (now.options?.[name]) control.fill?.(now.options[name]);
      control.node.hidden = now.hidden.includes(name);
      // The answer to an earlier move must not undo a later one that is still on its way.
      if (waits(name) && !now.errors[name]) continue;
      delete sent[name];
      control.show(now.shown[name], now.values[name], now.errors[name]);
      control.complain?.(now.errors[name] ?? "");
    }
    more.hidden = [...rare.children].every((node) => node.hidden);
    tiles.show(now.cards, now.leading);
    const lampsNow = JSON.stringify(now.lamps);
    if (lampsNow !== lampsKey) { lampsKey = lampsNow; showLamps(lamps, now.lamps); }
    if (sentence.textContent !== now.remark) { sentence.textContent = now.remark; asRead(sentence); }
    const [words, tone] = now.alert ?? ["", ""];
    if (alert.textContent !== words) alert.textContent = words;
    alert.style.setProperty("--tone", tone);
    hint.hidden = !now.hints;
    if (hintText.textContent !== now.hint) hintText.textContent = now.hint;
    if (now.html !== extraKey) { extraKey = now.html; extra.innerHTML = now.html ?? ""; }
    const mathNow = JSON.stringify(now.math);
    if (mathNow !== mathKey) { mathKey = mathNow; const had = mathText.contains(document.activeElement) ? document.activeElement.textContent : null;
      mathText.replaceChildren(...derivation(now.math, (what) => ask("part", { what })));
      // The button that was pressed was drawn again and keeps the focus.
      if (had) [...mathText.querySelectorAll("button")].find((button) => button.textContent === had)?.focus();
    }
    const tableNow = JSON.stringify(now.table);
    if (tableNow !== tableKey) { tableKey = tableNow; data.replaceChildren(...table(now.table)); }
    film.show(now.film, now.stale);
    clearTimeout(rest);
    if (now.stale && movie.open) rest = setTimeout(() => ask("fold", { what: "film", open: true }), REST);
    pin.textContent = now.pinned ? "Unpin" : "Pin";
    pin.title = now.pinned ? "Let the pinned state go" : "Keep this state as a ghost and compare with it";
    reset.textContent = now.undo ? "Undo reset" : "Reset";
    if (!code.hidden) code.textContent = now.code;
    pieces.forEach((piece, k) => piece.show(now.frames[k], now.handles[k], now.values));
    legends.forEach((list, k) => list.show(now.legends[k] ?? [], now.titles[k]));
    describe(el, spec.title, now.sentence);
    clearTimeout(reminder);
    if (unanswered()) remind();
  };

  // Handles and legends belong to the plots, which bqplot puts on the page in its own time.
  const dress = () => {
    const plots = el.closest(".mlsys-board")?.querySelectorAll(":scope > .mlsys-plot") ?? [];
    plots.forEach((plot, k) => {
      if (pieces[k]) return;
      pieces[k] = handlesOver(plot, specs, drag, (control, value) => send(control)(value), waits);
      legends[k] = legendOver(plot, spec.title);
      // Texts call a plot by its name, so it stands there; of one plot there is nothing to tell apart.
      if (spec.plots.length > 1) legends[k].list.dataset.name = spec.names[k];
      pieces[k].show(panel.state.frames[k], panel.state.handles[k], panel.state.values);
      pieces[k].freeze(liveness.gone);
      legends[k].show(panel.state.legends[k] ?? [], panel.state.titles[k]);
    });
    layout.take(pieces.map((piece, k) => [piece.plot, legends[k].list]));
    describe(el, spec.title, panel.state.sentence);
    const drawn = [...plots].filter((plot) => plot.querySelector("svg:not(.mlsys-sign)"));
    if (drawn.length === spec.plots.length) watch.disconnect();
  };
  const watch = new MutationObserver(dress);
  const attached = () => {
    if (board) return;
    board = el.closest(".mlsys-board");
    if (!board) return;
    layout = layoutOf(board, strip, tabs, readout, spec);
    liveness.attach(board);
    watch.observe(board, { childList: true, subtree: true });
    dress();
  };
  // The panel gets a size when it is put on the page, which may be long after it was made.
  const sizes = new ResizeObserver(attached);
  sizes.observe(readout);
  panel.views.add(show);
  // A kernel that is heard of again may have missed what was asked before.
  const heard = (message) => { if (message?.newest && unanswered()) { reminders = 0; remind(); } };
  model.on("msg:custom", heard);
  show();
  requestAnimationFrame(attached);
  return () => {
    watch.disconnect();
    sizes.disconnect();
    layout?.remove();
    liveness.remove();
    clearTimeout(reminder);
    clearTimeout(rest);
    film.stop();
    for (const piece of [...pieces, ...legends]) piece.remove();
    for (const [what, node] of Object.entries(folds)) panel.open[what].delete(node);
    panel.views.delete(show);
    model.off("msg:custom", heard);
    stand(model, el, "");
  };
}

// bqplot's plots have no accessible names: give each what a screen reader should say.
function describe(el, title, sentence) {
  const label = `${title}. ${sentence}`;
  for (const plot of el.closest(".mlsys-board")?.querySelectorAll(".mlsys-plot") ?? []) {
    // bqplot stacks several pictures: the first one is labeled for all of them.
    plot.querySelectorAll(":scope svg:not(.mlsys-sign)").forEach((svg, k) => {
      if (k) svg.setAttribute("aria-hidden", "true");
      else if (svg.getAttribute("aria-label") !== label) {
        svg.setAttribute("role", "img");
        svg.setAttribute("aria-label", label);
      }
    });
  }
}
