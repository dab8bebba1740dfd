// Instruments that respond without a kernel: every state was computed before by the instrument
// itself, and a control only chooses which one is shown. States lie in a script of their own,
// because a page that is opened from a disk may not fetch data, and load when somebody wants them.

const mlsysLive = (() => {
  const known = {}, waiting = {};

  // The states of an instrument, loaded once for all places of a page.
  const load = (name, source) => known[name] ?? (known[name] = new Promise((resolve) => {
    waiting[name] = resolve;
    document.head.append(Object.assign(document.createElement("script"), { src: source }));
  }));

  const drawn = (data, place, dark) => data.frames[place]
    .map((part) => (dark && data.dark[part]) || data.parts[part]).join("");

  const element = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };

  function start(box) {
    const inputs = [...box.querySelectorAll("[data-length]")];
    const find = (name) => box.querySelector(`.live-${name}`);
    const words = new Map(inputs.map((input) => [input, JSON.parse(input.dataset.words)]));
    const ready = () => load(box.dataset.name, box.dataset.states);
    let wanted = 0;

    const show = async () => {
      let place = 0;
      for (const input of inputs) {
        place = place * Number(input.dataset.length) + Number(input.value);
        const said = words.get(input)[input.value];
        if (input.type === "range") {
          input.setAttribute("aria-valuetext", said);
          input.closest(".live-control").querySelector("output").textContent = said;
        }
      }
      const mine = ++wanted, data = await ready();
      if (mine !== wanted) return;  // another state was asked for meanwhile
      const state = data.states[place];
      for (const image of box.querySelectorAll("img")) {
        const picture = drawn(data, place, image.classList.contains("only-dark"));
        image.src = `data:image/svg+xml,${encodeURIComponent(picture)}`;
        image.alt = state.sentence;
      }
      find("sentence").textContent = state.sentence;
      find("cards")?.replaceChildren(...state.cards.map(([label, value, color]) => element(
        "div", { style: `--tone: ${color}` }, element("dt", {}, label), element("dd", {}, value),
      )));
      if (find("code")) find("code").textContent = state.code;
      const alert = find("alert");
      if (alert) {
        alert.hidden = !state.alert;
        alert.textContent = state.alert ? state.alert[0] : "";
        alert.style.setProperty("--tone", state.alert ? state.alert[1] : "");
      }
      box.dataset.place = place;
    };

    for (const input of inputs) {
      input.value = input.dataset.start;  // browsers keep what a form held before a reload
      input.addEventListener("input", show);
      for (const early of ["focus", "pointerenter"]) input.addEventListener(early, ready);
    }
    find("controls").hidden = false;
  }

  const all = () => document.querySelectorAll(".mlsys-live").forEach(start);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
  else all();

  return { take: (name, data) => waiting[name](data) };
})();
