// A player for films: blocks that move over a stage, with play, pause, step and speed.
// Python says where each block is at which moment; what is between is drawn here.
import { element } from "./elements";

const SPEEDS = [0.25, 0.5, 1, 2, 4];

// How wide words on a block are, in pixels with the space around them.
const INK = document.createElement("canvas").getContext("2d");
function wide(words, font) {
  INK.font = font;
  return words ? INK.measureText(words).width + 6 : 0;
}

// Where a block is at a time: [left, bottom, width, height], or nothing while it is not there.
function placed([, , path, leaves], time) {
  if (time < path[0][0] || (leaves !== null && time >= leaves)) return null;
  const next = path.findIndex(([at]) => at > time);
  if (next < 0) return path[path.length - 1].slice(1);
  const [from, to] = [path[next - 1], path[next]];
  const part = (time - from[0]) / (to[0] - from[0]);
  return from.slice(1).map((value, k) => value + part * (to[k + 1] - value));
}

export function player() {
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  const stage = element("div", { class: "mlsys-stage", role: "img" });
  const caption = element("p", { class: "mlsys-caption", role: "status", "aria-live": "polite" });
  const play = element("button", { type: "button", text: "Play" });
  const backward = element("button", { type: "button", text: "◂ Step", "aria-label": "One step back" });
  const forward = element("button", { type: "button", text: "Step ▸", "aria-label": "One step forward" });
  const speed = element("select", { "aria-label": "Speed", "data-lm-suppress-shortcuts": "true" },
    ...SPEEDS.map((value) => element("option", { value, text: `${value}×`, selected: value === 1 })));
  const scrub = element("input", {
    type: "range", min: 0, max: 1000, step: 1, value: 0, "aria-label": "Time in the film",
    "data-lm-suppress-shortcuts": "true",
  });
  const bar = element("div", { class: "mlsys-transport" }, play, backward, forward, speed, scrub);
  const node = element("div", { class: "mlsys-player" }, bar, stage, caption);

  let film = null, key = "", time = 0, running = 0, last = 0, blocks = [], widths = [], scene = null;

  const draw = () => {
    const room = scene.clientWidth;
    film.actors.forEach((actor, k) => {
      const place = placed(actor, time), block = blocks[k];
      block.style.display = place ? "" : "none";
      if (!place) return;
      const [left, bottom, width, height] = place;
      block.classList.toggle("mlsys-narrow", widths[k] > width * room);
      Object.assign(block.style, {
        left: `${100 * left}%`, bottom: `${100 * bottom}%`, width: `${100 * width}%`, height: `${100 * height}%`,
      });
    });
    scrub.value = String(Math.round((1000 * time) / film.seconds));
    const now = film.moments.filter(([at]) => at <= time + 1e-6).pop() ?? film.moments[0];
    if (caption.textContent !== now[1]) {
      caption.textContent = now[1];
      stage.setAttribute("aria-label", `${film.title}. ${now[1]}`);
      scrub.setAttribute("aria-valuetext", now[1]);
    }
  };
  const stop = () => {
    cancelAnimationFrame(running);
    running = 0;
    play.textContent = "Play";
  };
  const frame = (now) => {
    time = Math.min(film.seconds, time + ((now - last) / 1000) * Number(speed.value));
    last = now;
    draw();
    if (time >= film.seconds || !node.isConnected) stop();
    else running = requestAnimationFrame(frame);
  };
  const jump = (direction) => {
    stop();
    const times = film.moments.map(([at]) => at);
    const next = direction > 0 ? times.find((at) => at > time + 1e-6) : times.filter((at) => at < time - 1e-6).pop();
    time = next ?? (direction > 0 ? film.seconds : 0);
    draw();
  };
  play.addEventListener("click", () => {
    if (running) return stop();
    if (time >= film.seconds) time = 0;
    // Whoever asked for less motion gets the film in steps.
    if (still.matches) return jump(1);
    play.textContent = "Pause";
    last = performance.now();
    running = requestAnimationFrame(frame);
  });
  backward.addEventListener("click", () => jump(-1));
  forward.addEventListener("click", () => jump(1));
  scrub.addEventListener("input", () => { stop(); time = (film.seconds * Number(scrub.value)) / 1000; draw(); });

  new ResizeObserver(() => { if (film) draw(); }).observe(stage);

  return {
    node,
    stop,
    // A stale film is that of an earlier state: it is dimmed until the new one is there.
    show(next, stale) {
      node.classList.toggle("mlsys-stale", stale);
      if (stale) return stop();
      const nextKey = JSON.stringify(next);
      if (nextKey === key) return;
      key = nextKey;
      if (!next) { stop(); film = null; stage.replaceChildren(); return; }
      // A film that changes while it runs goes on at the same part of its time.
      const part = film ? time / film.seconds : 0;
      film = next;
      time = part * film.seconds;
      stage.style.height = `${film.height}px`;
      const rows = film.rows.map(([height, text]) =>
        element("span", { class: "mlsys-row-name", style: `bottom: ${100 * height}%`, text }));
      blocks = film.actors.map(([label, tone]) => element("span", { class: "mlsys-actor", style: `background: ${tone}`, text: label }));
      scene = element("div", { class: "mlsys-scene" }, ...blocks);
      stage.replaceChildren(element("div", { class: "mlsys-rows" }, ...rows), scene);
      const font = `11.5px ${getComputedStyle(stage).fontFamily}`;
      widths = film.actors.map(([label]) => wide(label, font));
      draw();
    },
  };
}
