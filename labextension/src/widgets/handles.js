// Handles: places of a plot that can be dragged, or focused and moved with the arrow keys.
// A handle lies where the state says, so that picture, slider and handle never disagree.
import { step } from "./controls";
import { element } from "./elements";

const DIRECTIONS = { ArrowRight: 1, ArrowUp: 1, PageUp: 1, ArrowLeft: -1, ArrowDown: -1, PageDown: -1 };

// What a tip must not cover: words of plots, and what is read beside them.
const READ = ".mlsys-plot text, .mlsys-legend li, .mlsys-card, .mlsys-sentence, .mlsys-lamps li";

// A place between the ends of an axis, as a fraction, and back.
function along([low, high, log], value) {
  return log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}

function back([low, high, log], fraction) {
  return log ? low * (high / low) ** fraction : low + (high - low) * fraction;
}

// A number for a screen reader, which knows no exponents.
function plain(value) {
  return value && Math.abs(value) < 1e-6 ? value.toFixed(20).replace(/0+$/, "") : String(value);
}

// An input as a handle moves it: a number of a slider, or one choice of a menu after the other.
function scaleOf(spec) {
  if (spec.kind === "slider") {
    return { low: spec.zero ? 0 : spec.low, high: spec.high, at: (value) => value, next: (value, direction, many) => step(spec, value, direction, many) };
  }
  const keys = spec.options.map(([key]) => key);
  const pick = (k) => keys[Math.min(keys.length - 1, Math.max(0, k))];
  return { low: keys[0], high: keys[keys.length - 1], at: (value) => keys.indexOf(value), next: (value, direction) => pick(keys.indexOf(value) + direction) };
}

// The handles over one plot. `drag(name, control, x, y, held)` asks the kernel; `move(control, value)` too.
// While `waits(control)`, an answer is on its way, and what is shown is older than the last key press.
export function handlesOver(plot, specs, drag, move, waits) {
  const layer = element("div", { class: "mlsys-handles" });
  const handles = new Map();
  let frame = null, wanted = null;
  // Measured when it changes: measuring in the middle of an update makes the browser lay out twice.
  let size = [plot.clientWidth, plot.clientHeight];

  const inside = () => {
    const [top, right, bottom, left] = frame[2];
    return { left, top, width: size[0] - left - right, height: size[1] - top - bottom };
  };
  const place = (handle) => {
    const { left, top, width, height } = inside();
    const across = Math.min(1, Math.max(0, along(frame[0], handle.x)));
    const up = Math.min(1, Math.max(0, along(frame[1], handle.y)));
    handle.node.style.transform = `translate(${left + across * width}px, ${top + (1 - up) * height}px)`;
  };
  // A tip stands beside its handle, inside of its instrument, and off the words that it would cover.
  const placeTip = (handle) => {
    const { node, tip } = handle;
    if (!node.matches(":hover, :focus-visible, .mlsys-held")) return;
    const board = plot.closest(".mlsys-board") ?? plot;
    const edge = board.getBoundingClientRect(), grip = node.getBoundingClientRect();
    // A page that is zoomed by a transform has larger pixels than its layout.
    const scale = plot.getBoundingClientRect().width / plot.clientWidth || 1;
    const width = tip.offsetWidth * scale, height = tip.offsetHeight * scale;
    const words = [...board.querySelectorAll(READ)].map((each) => each.getBoundingClientRect()).filter((box) => box.width);
    const middle = { x: (grip.left + grip.right) / 2, y: (grip.top + grip.bottom) / 2 };
    const inward = (x) => Math.min(Math.max(x, edge.left + 4), edge.right - 4 - width);
    // Above and below, centered or to one side as far as it takes; beside it; and at its corners.
    const shifts = [0.5, 1, 0.75, 0.25, 0].flatMap((part) => [grip.top - height - 2, grip.bottom + 2]
      .map((y) => [inward(middle.x - part * width), y]));
    const places = [
      ...shifts,
      [grip.right + 2, middle.y - height / 2],
      [grip.left - 2 - width, middle.y - height / 2],
      [grip.right + 2, grip.top - height - 2],
      [grip.right + 2, grip.bottom + 2],
    ];
    const outside = ([x]) => x < edge.left || x + width > edge.right;
    const covers = ([x, y]) => words.reduce((area, box) => area
      + Math.max(0, Math.min(x + width, box.right) - Math.max(x, box.left))
      * Math.max(0, Math.min(y + height, box.bottom) - Math.max(y, box.top)), 0);
    // It stays on its side while nothing is there, so that it does not jump from side to side.
    const costs = places.map((each) => (outside(each) ? Infinity : covers(each)));
    if (costs[handle.side] !== 0) handle.side = costs.indexOf(Math.min(...costs));
    const [x, y] = places[handle.side];
    tip.style.left = `${(x - grip.left) / scale}px`;
    tip.style.top = `${(y - grip.top) / scale}px`;
  };
  const pointed = (event) => {
    const box = plot.getBoundingClientRect();
    const { left, top, width, height } = inside();
    // A page that is zoomed by a transform has larger pixels than its layout.
    const scale = box.width / plot.clientWidth || 1;
    const across = ((event.clientX - box.left) / scale - left) / width;
    const up = 1 - ((event.clientY - box.top) / scale - top) / height;
    return [back(frame[0], Math.min(1, Math.max(0, across))), back(frame[1], Math.min(1, Math.max(0, up)))];
  };
  // At most one request for each frame on the screen; the newest place counts.
  const ask = (handle, held) => {
    if (!wanted) requestAnimationFrame(() => { const send = wanted; wanted = null; send(); });
    const [x, y] = handle.pulled;
    wanted = () => drag(handle.name, handle.control, x, y, held);
  };
  const make = (name, control) => {
    const spec = specs[control], scale = scaleOf(spec);
    const node = element("div", {
      class: "mlsys-handle", role: "slider", tabindex: "0", "aria-label": spec.label,
      "aria-valuemin": plain(scale.at(scale.low)), "aria-valuemax": plain(scale.at(scale.high)), "data-handle": name,
      "data-lm-suppress-shortcuts": "true",
    }, element("span", { class: "mlsys-grip" }), element("span", { class: "mlsys-tip", "aria-hidden": "true" }));
    const handle = { name, control, node, scale, tip: node.lastChild };
    node.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.preventDefault();
      node.focus({ preventScroll: true });
      node.setPointerCapture(event.pointerId);
      node.classList.add("mlsys-held");
    });
    node.addEventListener("pointermove", (event) => {
      if (!node.hasPointerCapture(event.pointerId)) return;
      handle.pulled = pointed(event);
      ask(handle, true);
    });
    for (const shown of ["pointerenter", "focus"]) node.addEventListener(shown, () => placeTip(handle));
    // While a handle is held its axes stand still; the kernel hears when it is let go.
    const release = () => {
      node.classList.remove("mlsys-held");
      if (handle.pulled) ask(handle, false);
      handle.pulled = null;
    };
    node.addEventListener("pointerup", release);
    node.addEventListener("pointercancel", release);
    node.addEventListener("keydown", (event) => {
      const direction = DIRECTIONS[event.key];
      if (!direction && event.key !== "Home" && event.key !== "End") return;
      event.preventDefault();
      event.stopPropagation();
      const next = direction
        ? scale.next(handle.value, handle.flip ? -direction : direction, event.key.startsWith("Page"))
        : event.key === "Home" ? scale.low : scale.high;
      handle.value = next;
      move(control, next);
    });
    layer.append(node);
    handles.set(name, handle);
    return handle;
  };
  let tips = 0;
  const arrange = () => {
    if (!frame || !size[0]) return;
    for (const handle of handles.values()) place(handle);
    // With the next frame, when everything has its place.
    tips ||= requestAnimationFrame(() => { tips = 0; for (const handle of handles.values()) placeTip(handle); });
  };
  const sizes = new ResizeObserver(() => { size = [plot.clientWidth, plot.clientHeight]; arrange(); });
  sizes.observe(plot);
  plot.append(layer);

  return {
    plot,
    freeze(frozen) { layer.inert = frozen; },
    show(nextFrame, wantedHandles, values) {
      frame = nextFrame;
      const left = new Set(handles.keys());
      for (const [name, control, x, y, direction, flip, shown] of wantedHandles) {
        const handle = handles.get(name) ?? make(name, control);
        left.delete(name);
        Object.assign(handle, { x, y, flip });
        if (!waits(control)) handle.value = values[control];
        handle.node.dataset.along = direction;
        handle.node.setAttribute("aria-valuenow", plain(handle.scale.at(values[control])));
        handle.node.setAttribute("aria-valuetext", shown);
        const words = `${specs[control].label}: ${shown}`;
        if (handle.tip.textContent !== words) handle.tip.textContent = words;
      }
      for (const name of left) { handles.get(name).node.remove(); handles.delete(name); }
      arrange();
    },
    remove() { sizes.disconnect(); cancelAnimationFrame(tips); layer.remove(); },
  };
}
