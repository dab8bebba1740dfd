// How an instrument fits on a screen: all plots below each other where the window is high enough for them
// and the readout, and else one at a time, as high as there is room for; buttons choose the plot.
import { element } from "./elements";

// Windows of a notebook that are lower than this many pixels are low: parts stand closer together there.
const LOW = 760;
// No plot is lower than this.
const LEAST_HEIGHT = 170;
// What a cell has above and below its instrument, and the room that an alert may need.
const AROUND = 20, ALERT = 44;
// The upper and the lower edge of the board, and the gaps between its parts.
const EDGES = 40;

// How far names in a second row are below those in the first, in pixels, at most.
const STEP = 12;

// Names below a plot that is too narrow for one row of them.
function stagger(plot) {
  for (const axis of plot.querySelectorAll(".axis")) {
    const words = [...axis.querySelectorAll(".tick text")];
    const boxes = words.map((text) => text.getBoundingClientRect()).filter((box) => box.width);
    const isLevel = boxes.length > 1 && Math.abs(boxes.at(-1).top - boxes[0].top) < 2 * STEP;
    if (!isLevel) continue;
    words.forEach((text, k) => text.classList.toggle("mlsys-stepped", k % 2 === 1));
    const touch = boxes.some((box, k) => k && box.left < boxes[k - 1].right + 4);
    plot.classList.toggle("mlsys-staggered", touch);
  }
}

// The letters in which the name of an axis is written, in pixels, and the smallest that can be read.
const LETTERS = 12, SMALLEST = 9;

// The name of an axis stays inside of a narrow plot: in smaller letters, and moved aside.
function keepInside(plot) {
  const { left, right } = plot.getBoundingClientRect();
  for (const name of plot.querySelectorAll(".axislabel")) {
    name.style.removeProperty("font-size");
    name.style.removeProperty("translate");
    const { width, height } = name.getBoundingClientRect();
    if (width < height) continue;
    if (width > right - left) {
      const fitting = Math.max(SMALLEST, (LETTERS * (right - left)) / width);
      name.style.setProperty("font-size", `${fitting}px`, "important");
    }
    const box = name.getBoundingClientRect();
    const off = Math.max(0, box.right - right) || Math.min(0, box.left - left);
    if (off) name.style.setProperty("translate", `${-off}px`);
  }
}

// Bring the words around a plot into the room that it has.
function arrange(plot) {
  stagger(plot);
  keepInside(plot);
}

export function layoutOf(board, strip, tabs, readout, { names, heights }) {
  const scroller = board.closest(".jp-WindowedPanel-outer") ?? document.documentElement;
  let chosen = 0, timer = 0, decided = "", pairs = [];

  const choose = (k) => {
    chosen = k;
    [...tabs.children].forEach((button, j) => button.setAttribute("aria-pressed", String(j === k)));
    pairs.forEach(([plot, legend], j) => {
      for (const node of [plot, legend]) node.classList.toggle("mlsys-away", j !== k);
    });
  };
  names.forEach((name, k) => {
    const button = element("button", { type: "button", text: name });
    button.addEventListener("click", () => { choose(k); fit(); });
    tabs.append(button);
  });
  // What is unfolded may reach beyond the window: somebody wanted to see it.
  const readoutHeight = () => readout.offsetHeight - [...readout.querySelectorAll(":scope > details[open]")]
    .reduce((sum, fold) => sum + fold.offsetHeight - fold.firstChild.offsetHeight, 0);
  const most = () => heights[chosen] * (Number(getComputedStyle(board).getPropertyValue("--mlsys-plot-growth")) || 1);
  const hasColumns = () => getComputedStyle(board).gridTemplateColumns.trim().includes(" ");
  // Whether all plots fit. Neither controls nor readout look different then, so that the answer does not
  // depend on the present layout; and it stands until the window changes, whatever a hand moves.
  const decide = (room) => {
    const plots = pairs.reduce((sum, [, legend], k) => sum + heights[k] + legend.offsetHeight, 0);
    const head = board.querySelector(".mlsys-head").offsetHeight + EDGES;
    const alert = readout.querySelector(".mlsys-alert:empty") ? ALERT : 0;
    const right = plots + readoutHeight() + alert, left = strip.offsetHeight;
    const height = head + (hasColumns() ? Math.max(left, right) : left + right);
    board.classList.toggle("mlsys-compact", height > room - AROUND);
  };
  const fit = () => {
    const room = scroller.clientHeight;
    const plot = pairs[chosen]?.[0];
    // A plot that is held stays as it is: it would slip out of the hand.
    if (!room || !plot || !board.offsetWidth || board.querySelector(".mlsys-held")) return;
    board.classList.toggle("mlsys-low", room < LOW);
    const window = [room, board.offsetWidth, pairs.length].join();
    if (window !== decided) decide(room);
    decided = window;
    const isCompact = board.classList.contains("mlsys-compact");
    tabs.hidden = !isCompact || pairs.length < 2;
    if (!isCompact) {
      board.style.removeProperty("--plot-height");
      for (const [each] of pairs) arrange(each);
      return;
    }
    const edge = board.getBoundingClientRect(), top = plot.getBoundingClientRect().top;
    // A page that is zoomed by a transform has larger pixels than its layout.
    const scale = edge.width / board.offsetWidth || 1;
    const above = (top - edge.top) / scale, below = readoutHeight() + EDGES / 2;
    const columns = hasColumns();
    const left = room - AROUND - above - below - (columns ? 0 : strip.offsetHeight);
    // Beside controls that are higher, it may grow as they do.
    const beside = columns ? (strip.getBoundingClientRect().bottom - top) / scale - below : 0;
    const height = Math.max(LEAST_HEIGHT, Math.min(Math.max(most(), beside), left));
    board.style.setProperty("--plot-height", `${Math.floor(height)}px`);
    for (const [each] of pairs) arrange(each);
  };
  // Once nothing has moved for a moment.
  const soon = () => { clearTimeout(timer); timer = setTimeout(fit, 150); };
  const sizes = new ResizeObserver(soon);
  for (const node of [scroller, board, readout]) sizes.observe(node);
  // bqplot draws its axes again some time after a plot has another size, or when it comes into sight.
  const drawn = new MutationObserver(soon);

  return {
    // The plots with their legends, as bqplot has put them on the page so far.
    take(found) {
      pairs = found;
      for (const [plot] of pairs) drawn.observe(plot, { subtree: true, attributeFilter: ["width", "viewBox"] });
      choose(Math.min(chosen, Math.max(0, pairs.length - 1)));
      fit();
    },
    remove() { clearTimeout(timer); drawn.disconnect(); sizes.disconnect(); },
  };
}
