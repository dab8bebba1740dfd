// The words of a plot, brought into the room that it has. The kernel places them without knowing how wide a
// window is. Where a plot is wide that is enough; on a phone its margins shrink, ticks are thinned out, and words
// move aside, lose what stands in parentheses, or are left out rather than cut or written over each other.

// An instrument that is narrower than this many pixels is narrow.
const NARROW = 420;
// The least gap between two words, in pixels.
const GAP = 4;

// Words with details that are longer than this part of a narrow plot lose them.
const LONGEST = 0.6;
// How far words move sideways, in pixels, at most.
const ASIDE = 30;

// How far names in a second row are below those in the first, in pixels, at most.
const STEP = 12;

const boxOf = (node) => node.getBoundingClientRect();
const isLevel = (boxes) => boxes.length > 1 && Math.abs(boxes.at(-1).top - boxes[0].top) < 2 * STEP;

// Names below a plot that is too narrow for one row of them.
function stagger(plot) {
  for (const axis of plot.querySelectorAll(".axis")) {
    const words = [...axis.querySelectorAll(".tick text")];
    const boxes = words.map(boxOf).filter((box) => box.width);
    if (!isLevel(boxes)) continue;
    words.forEach((text, k) => text.classList.toggle("mlsys-stepped", k % 2 === 1));
    const touch = boxes.some((box, k) => k && box.left < boxes[k - 1].right + GAP);
    plot.classList.toggle("mlsys-staggered", touch);
  }
}

// The letters in which the name of an axis is written, in pixels, and the smallest that can be read.
const LETTERS = 12, SMALLEST = 9;

// Move a word by as many pixels of the screen, from where it would be by itself.
function move(text, x, y, scale) {
  if (x || y) text.style.setProperty("translate", `${x / scale}px ${y / scale}px`);
}

// How far a box must move to lie between two edges.
const inward = (low, high, from, to) => (low < from ? from - low : Math.min(0, to - high));

// The name of an axis stays inside of a narrow plot: in smaller letters, and moved aside. Beside a narrow plot
// there is no room for one that is written upward: it stands above its axis, right of numbers that are as high.
function keepInside(plot, narrow, scale) {
  const { left, right, top } = boxOf(plot);
  for (const name of plot.querySelectorAll(".axislabel")) {
    for (const property of ["font-size", "translate"]) name.style.removeProperty(property);
    name.classList.remove("mlsys-above");
    const before = boxOf(name);
    const isUpright = before.width < before.height;
    if (isUpright && !narrow) continue;
    name.classList.toggle("mlsys-above", isUpright);
    // A narrow plot reaches beyond what can be seen of it.
    const [from, to] = narrow || [left, right];
    const { width } = boxOf(name);
    if (width > to - from) {
      const fitting = Math.max(SMALLEST, (LETTERS * (to - from)) / width);
      name.style.setProperty("font-size", `${fitting}px`, "important");
    }
    const box = boxOf(name);
    if (isUpright) {
      const numbers = [...name.closest(".axis").querySelectorAll(".tick text")].map(boxOf);
      const beside = numbers.filter((number) => number.width && number.top < top + box.height).map((number) => number.right + GAP);
      const start = Math.min(Math.max(from, ...beside), Math.max(from, to - box.width));
      move(name, start - box.left, top - box.top, scale);
    }
    else move(name, inward(box.left, box.right, from, to), 0, scale);
  }
}

// Let a narrow plot use the room beside its ticks. Returns the edges between which its words can be seen.
function reach(plot, scale) {
  const ticks = [...plot.querySelectorAll(".axis .tick text")].map(boxOf).filter((box) => box.width);
  const area = plot.querySelector(".plotarea_events"), board = boxOf(plot.parentElement);
  if (!area || plot.classList.contains("mlsys-diagram")) return [board.left + GAP, board.right - GAP];
  const beside = ticks.filter((box) => box.right < boxOf(area).left).map((box) => box.left);
  const free = beside.length ? (Math.min(...beside) - boxOf(plot).left) / scale : 0;
  plot.style.setProperty("--mlsys-free", `${Math.max(0, Math.floor(free))}px`);
  return [board.left + GAP, board.right - GAP];
}

// Every second tick of an axis, or every third and so on, until no two touch. Names all stay.
function thin(plot, [from, to], scale) {
  for (const axis of plot.querySelectorAll(".axis")) {
    const words = [...axis.querySelectorAll(".tick text")].filter((text) => boxOf(text).width);
    for (const text of words) {
      text.classList.remove("mlsys-left-out");
      text.style.removeProperty("translate");
      const { left, right } = boxOf(text);
      move(text, inward(left, right, from, to), 0, scale);
    }
    if (!words.every((text) => /^[−-]?[\d.]/.test(text.textContent.trim()))) continue;
    const across = isLevel(words.map(boxOf));
    // Numbers stand in one row, in letters of the usual size.
    if (across) plot.classList.remove("mlsys-staggered");
    const boxes = words.map(boxOf);
    // Ticks go to the right or upward.
    const touch = (a, b) => (across ? b.left < a.right + GAP : b.bottom > a.top);
    let step = 1;
    while (step < words.length && boxes.some((box, k) => k && k % step === 0 && touch(boxes[k - step], box))) step += 1;
    words.forEach((text, k) => text.classList.toggle("mlsys-left-out", k % step > 0));
  }
}

const overlap = (a, b) => a.left < b.right + GAP && b.left < a.right + GAP && a.top < b.bottom - 1 && b.top < a.bottom - 1;
const shifted = ({ left, right, top, bottom }, x, y) => ({ left: left + x, right: right + x, top: top + y, bottom: bottom + y });

// What words say without their details: what stands in parentheses, or after a colon.
const shortened = (words) => words.replace(/ \(.*\)|: .*/, "");
// The whole of words that were shortened.
const WHOLE = new WeakMap();

function restore(text) {
  text.classList.remove("mlsys-left-out");
  text.style.removeProperty("translate");
  const whole = WHOLE.get(text);
  // bqplot may have written other words there since.
  if (whole && text.textContent === shortened(whole)) text.textContent = whole;
  WHOLE.delete(text);
}

function shorten(text) {
  const whole = text.textContent;
  text.textContent = shortened(whole);
  if (text.textContent !== whole) WHOLE.set(text, whole);
}

// Words at marks: each as near as it can be to its place, off those before it, off what can be taken, and off
// symbols where there is room.
function place(plot, to, scale) {
  const drawn = plot.querySelector(".plotarea_events");
  if (!drawn) return;
  const area = boxOf(drawn), left = boxOf(plot).left;
  const grips = [...plot.querySelectorAll(".mlsys-grip")].map(boxOf);
  const symbols = [...plot.querySelectorAll("path.dot")].map(boxOf);
  const placed = [];
  // How far words must move to a free place, if there is one.
  const way = (text, taken) => {
    const box = boxOf(text), high = box.height;
    if (box.width > LONGEST * area.width && !WHOLE.has(text) && shortened(text.textContent) !== text.textContent) return null;
    const down = inward(box.top, box.bottom, area.top, area.bottom);
    const beside = taken.filter((other) => overlap(shifted(box, 0, down), other)).flatMap((other) => [other.right + GAP - box.left, other.left - GAP - box.right]);
    const ways = [0, -1, 1, -2, 2].flatMap((lines) => [0, ...(lines ? [] : beside.filter((x) => Math.abs(x) < ASIDE))]
      .map((x) => [x + inward(box.left + x, box.right + x, area.left + 1, to), down + lines * high]));
    return ways.find((each) => {
      const there = shifted(box, ...each);
      return there.left >= area.left && there.top >= area.top - 1 && there.bottom <= area.bottom + 1
        && !taken.some((other) => overlap(there, other));
    });
  };
  for (const text of plot.querySelectorAll("text.label.element")) {
    restore(text);
    if (!text.textContent.trim() || !boxOf(text).width) continue;
    const x = left + text.parentNode.getCTM().e * scale;
    // What lies beyond the axes is not to be seen, as in a wide plot.
    const isBeyond = x < area.left - GAP || x > area.right + GAP;
    let found = null;
    if (!isBeyond) {
      found = way(text, [...placed, ...grips, ...symbols]) ?? way(text, [...placed, ...grips]);
      if (!found) shorten(text);
      found ??= way(text, [...placed, ...grips]) ?? way(text, placed);
    }
    text.classList.toggle("mlsys-left-out", !found);
    if (!found) continue;
    placed.push(shifted(boxOf(text), ...found));
    move(text, ...found, scale);
  }
}

// Whether a plot is narrow, as it was arranged last.
export const isNarrow = (plot) => plot.classList.contains("mlsys-narrow-plot");

// Bring the words of a plot into the room that it has.
export function arrange(plot) {
  const was = isNarrow(plot);
  const narrow = plot.parentElement.clientWidth < NARROW;
  const scale = boxOf(plot).width / plot.clientWidth || 1;
  plot.classList.toggle("mlsys-narrow-plot", narrow);
  if (was && !narrow) {
    for (const text of plot.querySelectorAll("text.label.element, .tick text")) restore(text);
    plot.style.removeProperty("--mlsys-free");
  }
  const room = narrow && reach(plot, scale);
  stagger(plot);
  keepInside(plot, room, scale);
  if (!narrow) return;
  thin(plot, room, scale);
  place(plot, room[1], scale);
}
