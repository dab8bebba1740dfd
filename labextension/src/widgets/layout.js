// How an instrument fits on a screen: all plots below each other where the window is high enough for them
// and the readout, and else one at a time, as high as there is room for; buttons choose the plot.
import { element } from "./elements";
import { arrange, isNarrow } from "./plot_words";

// Windows of a notebook that are lower than this many pixels are low: parts stand closer together there.
const LOW = 760;
// No plot is lower than this. A narrow one has its words above each other, and scrolls with its readout anyway;
// a diagram is all words.
const LEAST_HEIGHT = 170, LEAST_NARROW = 260;
// What a cell has above and below its instrument, and the room that an alert may need.
const AROUND = 20, ALERT = 44;
// The upper and the lower edge of the board, and the gaps between its parts.
const EDGES = 40;

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
  const least = (plot) => (!isNarrow(plot) ? LEAST_HEIGHT : plot.classList.contains("mlsys-diagram") ? most() : LEAST_NARROW);
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
    const height = Math.max(least(plot), Math.min(Math.max(most(), beside), left));
    board.style.setProperty("--plot-height", `${Math.floor(height)}px`);
    for (const [each] of pairs) arrange(each);
  };
  // Once nothing has moved for a moment.
  const soon = () => { clearTimeout(timer); timer = setTimeout(fit, 150); };
  const sizes = new ResizeObserver(soon);
  for (const node of [scroller, board, readout]) sizes.observe(node);
  // bqplot draws its axes again some time after a plot has another size, or when it comes into sight.
  const drawn = new MutationObserver(soon);
  // Words of a narrow plot make room for each other again when one of them has moved or is new.
  let frame = 0;
  const moved = new MutationObserver((changes) => {
    // Of all styles, those of handles count: they take their places after a plot has another size.
    const counts = ({ attributeName, target }) => attributeName !== "style" || target.matches(".mlsys-handle");
    if (changes.some(counts)) frame ||= requestAnimationFrame(arrangeNarrow);
  });
  const arrangeNarrow = () => {
    frame = 0;
    for (const [plot] of pairs) if (isNarrow(plot)) arrange(plot);
    moved.takeRecords(); // what this has changed itself
  };

  return {
    // The plots with their legends, as bqplot has put them on the page so far.
    take(found) {
      pairs = found;
      for (const [plot] of pairs) {
        drawn.observe(plot, { subtree: true, attributeFilter: ["width", "viewBox"] });
        moved.observe(plot, { subtree: true, childList: true, attributeFilter: ["transform", "style"] });
      }
      choose(Math.min(chosen, Math.max(0, pairs.length - 1)));
      fit();
    },
    remove() { clearTimeout(timer); cancelAnimationFrame(frame); drawn.disconnect(); moved.disconnect(); sizes.disconnect(); },
  };
}
