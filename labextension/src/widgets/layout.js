// How an instrument fits on a screen. In a low window it shows one plot at a time, beside its controls
// and as high as there is room for; buttons choose the plot.
import { element } from "./elements";

// Windows of a notebook that are lower than this many pixels are low; no plot is lower than the other.
const LOW = 760, LEAST_HEIGHT = 170;
// What a cell has above and below its instrument.
const AROUND = 20;

// Names below a plot that is too narrow for one row of them.
function stagger(plot) {
  for (const axis of plot.querySelectorAll(".axis")) {
    const words = [...axis.querySelectorAll(".tick text")];
    words.forEach((text, k) => text.classList.toggle("mlsys-stepped", k % 2 === 1));
    const boxes = words.map((text) => text.getBoundingClientRect()).filter((box) => box.width);
    const level = boxes.length > 1 && boxes.at(-1).left > boxes[0].left + 10;
    if (!level) continue;
    const touch = boxes.some((box, k) => k && box.left < boxes[k - 1].right + 4);
    plot.classList.toggle("mlsys-staggered", touch);
  }
}

export function layoutOf(board, strip, tabs, readout, { names, heights }) {
  const scroller = board.closest(".jp-WindowedPanel-outer") ?? document.documentElement;
  let chosen = 0, timer = 0, pairs = [];

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
  const fit = () => {
    const room = scroller.clientHeight;
    const plot = pairs[chosen]?.[0];
    // A plot that is held stays as it is: it would slip out of the hand.
    if (!room || !plot || board.querySelector(".mlsys-held")) return;
    board.classList.toggle("mlsys-compact", room < LOW);
    tabs.hidden = room >= LOW || pairs.length < 2;
    if (room >= LOW) {
      board.style.removeProperty("--plot-height");
      for (const [each] of pairs) each.classList.remove("mlsys-staggered");
      return;
    }
    const edge = board.getBoundingClientRect(), top = plot.getBoundingClientRect().top;
    // A page that is zoomed by a transform has larger pixels than its layout.
    const scale = edge.width / board.offsetWidth || 1;
    const below = edge.bottom - readout.getBoundingClientRect().top;
    const unfolded = [...readout.querySelectorAll("details[open]")]
      .reduce((sum, fold) => sum + fold.offsetHeight - fold.firstChild.offsetHeight, 0);
    const left = room - AROUND - (top - edge.top + below) / scale + unfolded;
    // Beside controls that are higher, it may grow as they do.
    const beside = (strip.getBoundingClientRect().bottom - top) / scale;
    const height = Math.max(LEAST_HEIGHT, Math.min(Math.max(heights[chosen], beside), left));
    board.style.setProperty("--plot-height", `${Math.floor(height)}px`);
    for (const [each] of pairs) stagger(each);
  };
  // Once nothing has moved for a moment.
  const soon = () => { clearTimeout(timer); timer = setTimeout(fit, 150); };
  const sizes = new ResizeObserver(soon);
  for (const node of [scroller, board, readout]) sizes.observe(node);
  // bqplot draws its axes again some time after a plot has another size, or when it comes into sight.
  const drawn = new MutationObserver(() => { if (board.classList.contains("mlsys-compact")) soon(); });

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
