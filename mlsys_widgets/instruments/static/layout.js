// How an instrument fits on a screen. In a low window it shows one plot at a time, beside its controls
// and as high as there is room for; buttons choose the plot.

// Windows of a notebook that are lower than this many pixels are low; no plot is lower than the other.
const LOW = 760, LEAST_HEIGHT = 170;
// What a cell has above and below its instrument.
const AROUND = 20;

function layoutOf(board, tabs, readout, { names, heights }) {
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
    if (room >= LOW) { board.style.removeProperty("--plot-height"); return; }
    const edge = board.getBoundingClientRect(), top = plot.getBoundingClientRect().top;
    // A page that is zoomed by a transform has larger pixels than its layout.
    const scale = edge.width / board.offsetWidth || 1;
    const below = edge.bottom - readout.getBoundingClientRect().top;
    const unfolded = [...readout.querySelectorAll("details[open]")]
      .reduce((sum, fold) => sum + fold.offsetHeight - fold.firstChild.offsetHeight, 0);
    const left = room - AROUND - (top - edge.top + below) / scale + unfolded;
    const height = Math.max(LEAST_HEIGHT, Math.min(heights[chosen], left));
    board.style.setProperty("--plot-height", `${Math.floor(height)}px`);
  };
  // Once nothing has moved for a moment.
  const soon = () => { clearTimeout(timer); timer = setTimeout(fit, 150); };
  const sizes = new ResizeObserver(soon);
  for (const node of [scroller, board, readout]) sizes.observe(node);

  return {
    // The plots with their legends, as bqplot has put them on the page so far.
    take(found) { pairs = found; choose(Math.min(chosen, Math.max(0, pairs.length - 1))); fit(); },
    remove() { clearTimeout(timer); sizes.disconnect(); },
  };
}
