// Runs the instrument of a page in the page: JupyterLab as files, and Python in WebAssembly, in a frame.
// Only pages that `make gallery` has built load this script, because only they have the app beside them.

(() => {
  const app = new URL("../app/lab/index.html", document.currentScript.src);
  const SAYING = {
    offered: "Python starts in this page, and every control is there. Nothing is installed, and no other server is asked.",
    starting: "Python is starting. The first time, 17 MB are loaded; until then, the recorded states respond.",
    late: "Python has not started yet, which a slow machine or connection can explain. The recorded states still respond.",
    running: "Python runs in this page and computes everything that you see.",
    failed: "Python did not start in this browser. The recorded states still respond.",
  };
  // Milliseconds after which somebody who waits is told so: a Python that fails in its worker tells nobody.
  const LATE = 90000;
  // What part of a window an instrument may fill; the rest is the head of the page, and air.
  const SHARE = 0.85;
  // Of JupyterLab, only what leads down to the instrument is there, and it flows like a page.
  const ALONE = `
    html, body { background: none !important; overflow: visible !important; }
    body { height: var(--room) !important; }
    body > :not(:has(.jp-OutputArea-child), .jp-Dialog), .jp-OutputPrompt,
    .lm-Widget:has(.jp-OutputArea-child) > :not(:has(.jp-OutputArea-child), .jp-OutputArea-child) {
      display: none !important;
    }
    .lm-Widget:has(.jp-OutputArea-child) {
      display: block !important; position: static !important; contain: none !important; overflow: visible !important;
      width: auto !important; height: auto !important; min-width: 0 !important; min-height: 0 !important; max-height: none !important;
      margin: 0 !important; padding: 0 !important; border: 0 !important; background: none !important;
    }
    .jp-OutputArea-output { padding: 2px !important; overflow: visible !important; }
  `;

  const element = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };

  // What a frame has as soon as its own scripts have made it.
  const until = (find) => new Promise((resolve, reject) => {
    const look = () => {
      try {
        const found = find();
        if (found) resolve(found);
        else setTimeout(look, 100);
      } catch (error) {
        reject(error);
      }
    };
    look();
  });

  async function run(name, frame) {
    await new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
    const inside = frame.contentDocument;
    if (!inside?.querySelector("#jupyter-config-data")) throw new Error(`${frame.src} is not there`);
    const jupyter = await until(() => frame.contentWindow.jupyterapp);
    await jupyter.restored;
    inside.head.append(Object.assign(inside.createElement("style"), { textContent: ALONE }));
    // Instruments fit into what scrolls them. The frame does not: it is as high as they are.
    inside.body.classList.add("jp-WindowedPanel-outer");
    const makeRoom = () => inside.body.style.setProperty("--room", `${SHARE * window.innerHeight}px`);
    window.addEventListener("resize", makeRoom);
    makeRoom();

    const follow = () => jupyter.commands.execute("apputils:change-theme", {
      theme: document.documentElement.dataset.theme === "dark" ? "JupyterLab Dark" : "JupyterLab Light",
    });
    await follow();
    new MutationObserver(follow).observe(document.documentElement, { attributeFilter: ["data-theme"] });

    const { console: kernel, sessionContext } = await jupyter.commands.execute("console:create", {
      activate: false, kernelPreference: { name: "python", shouldStart: true },
    });
    await sessionContext.ready;
    await kernel.inject(`from mlsys_widgets import ${name}\n\n${name}()`);
    const shown = await until(() => {
      const error = inside.querySelector('[data-mime-type="application/vnd.jupyter.error"]');
      if (error) throw new Error(error.textContent);
      return inside.querySelector(".mlsys-instrument");
    });
    const output = shown.closest(".jp-OutputArea");
    const fit = () => { frame.style.height = `${Math.ceil(output.getBoundingClientRect().height)}px`; };
    new frame.contentWindow.ResizeObserver(fit).observe(output);
    fit();
  }

  function offer(box) {
    const button = element("button", { type: "button", class: "live-run" }, "Run it here");
    const said = element("p", { class: "live-note", role: "status" }, SAYING.offered);
    box.prepend(element("div", { class: "live-offer" }, button, said));
    button.addEventListener("click", async () => {
      button.disabled = true;
      said.textContent = SAYING.starting;
      const frame = element("iframe", { class: "live-frame", title: box.getAttribute("aria-label"), inert: "", src: app });
      box.append(frame);
      const late = setTimeout(() => { said.textContent = SAYING.late; }, LATE);
      try {
        await run(box.dataset.name, frame);
      } catch (error) {
        console.error(error);
        frame.remove();
        button.disabled = false;
        said.textContent = SAYING.failed;
        return;
      } finally {
        clearTimeout(late);
      }
      button.remove();
      box.classList.add("live-runs");
      frame.inert = false;
      // Whoever reads on meanwhile is not called back.
      if ([document.body, ...box.querySelectorAll("*")].includes(document.activeElement)) frame.focus({ preventScroll: true });
      said.textContent = SAYING.running;
    });
  }

  const all = () => document.querySelectorAll("section.mlsys-live").forEach(offer);
  // A page that is opened from a disk may load no Python.
  if (location.protocol === "file:") return;
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
  else all();
})();
