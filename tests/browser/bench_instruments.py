"""What a slider move and a drag cost on the wire and in the browser.

Run by benchmarks/instruments_browser.py. Three instruments are moved by keys, with the math folded
and unfolded, and by hand. Beside them the alternatives, which show the same roofline with one
operation: a Plotly FigureWidget whose traces get new data, and a figure that is rebuilt with every
move, as the labs that inspired ours do.
"""

from __future__ import annotations

import statistics

import pytest
from playwright.sync_api import CDPSession, Page

from tests.made_notebooks import write_notebook

MOVES = 21

#: Our instruments, each with the handle that is dragged.
OURS = {
    "RooflineWidget": ('RooflineWidget(device="h100-sxm")', "GEMM"),
    "DispatchWaterfall": ("DispatchWaterfall()", "end of a launch"),
    "IronLaw": ("IronLaw()", "weights"),
}
PLOTLY = """
import ipywidgets, numpy as np, plotly.graph_objects as go
from mlsys_widgets import physics as ph
h100 = ph.devices["h100-sxm"]
x = np.logspace(-2, 5, 200)
roof = ph.roofline(x, h100.peak("fp16"), h100.bandwidth)
def point(n):
    return ph.roofline(ph.gemm(n, n, n).intensity, h100.peak("fp16"), h100.bandwidth)
def figure(kind, n):
    p = point(n)
    fig = kind()
    fig.add_scatter(x=x.tolist(), y=roof.attainable.tolist(), mode="lines")
    fig.add_scatter(x=[p.ridge, p.ridge], y=[1e9, p.peak], mode="lines")
    fig.add_scatter(x=[p.intensity, p.intensity], y=[1e9, p.attainable], mode="lines+markers")
    fig.update_xaxes(type="log"); fig.update_yaxes(type="log")
    return fig
slider = ipywidgets.IntSlider(value=512, min=1, max=32768, step=163)
text = ipywidgets.HTML()
"""
UPDATED = (
    PLOTLY
    + """
fig = figure(go.FigureWidget, 512)
def moved(change):
    p = point(change["new"])
    with fig.batch_update():
        fig.data[2].x = [float(p.intensity)] * 2
        fig.data[2].y = [1e9, float(p.attainable)]
    text.value = ph.format_quantity(p.mfu, "%")
slider.observe(moved, "value")
ipywidgets.VBox([slider, fig, text])
"""
)
REBUILT = (
    PLOTLY
    + """
out = ipywidgets.Output()
def moved(change):
    p = point(change["new"])
    with out:
        out.clear_output(wait=True)
        display(figure(go.FigureWidget, change["new"]))
    text.value = ph.format_quantity(p.mfu, "%")
slider.observe(moved, "value")
moved({"new": 512})
ipywidgets.VBox([slider, out, text])
"""
)
OUR_SLIDER = "input[type=range]:visible"
NOUI_SLIDER = ".noUi-handle"

# Milliseconds from the next key press, or from the last move of the pointer, until nothing in the
# drawing changes any more.
SETTLE = """(root, event) => new Promise(done => {
  let start = performance.now(), last = start;
  const begin = () => { start = last = performance.now(); };
  document.addEventListener(event, begin, {capture: true});
  const watch = new MutationObserver(() => { last = performance.now(); });
  watch.observe(document.querySelector(root), {subtree: true, attributes: true, childList: true,
                                               characterData: true});
  const end = () => {
    if (performance.now() - start < 450) return setTimeout(end, 50);
    watch.disconnect();
    document.removeEventListener(event, begin, {capture: true});
    done(last - start);
  };
  setTimeout(end, 450);
})"""


@pytest.fixture
def shown(tmp_path, open_notebook, run_all):
    def show(code: str, slider: str) -> Page:
        page = open_notebook(write_notebook(tmp_path / "bench.ipynb", code))
        run_all(page)
        page.wait_for_selector(slider)
        page.wait_for_timeout(2500)
        return page

    return show


COUNT = """() => {
  if (window.__wires) return;
  const wires = window.__wires = {bytes: 0, states: 0, requests: 0};
  const text = data => typeof data === 'string' ? data : new TextDecoder('latin1').decode(data);
  const size = data => data.byteLength ?? data.size ?? data.length;
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    wires.bytes += size(data);
    if (text(data).includes('"dragged"')) wires.requests += 1;
    if (!this.__heard) {
      this.__heard = true;
      this.addEventListener('message', event => {
        wires.bytes += size(event.data);
        if (text(event.data).includes('"readout"')) wires.states += 1;
      });
    }
    return send.call(this, data);
  };
}"""


def measure(page: Page, slider: str, root: str) -> tuple[float, float]:
    """Bytes and milliseconds of a move, medians over arrow keys."""
    page.evaluate(COUNT)
    handle = page.locator(slider).first
    handle.focus()
    handle.press("ArrowRight")  # hooks the socket
    page.wait_for_timeout(800)
    sizes, times = [], []
    for _ in range(MOVES):
        before = page.evaluate("window.__wires.bytes")
        page.evaluate(f"window.__settled = ({SETTLE})('{root}', 'keydown'); undefined")
        handle.press("ArrowRight")
        times.append(page.evaluate("window.__settled"))
        sizes.append(page.evaluate("window.__wires.bytes") - before)
    return statistics.median(sizes), statistics.median(times)


def told(name: str, size: float, taken: float) -> str:
    return f"  {name:32} {size / 1e3:7.1f} KB {taken:7.0f} ms"


def code_of(name: str) -> str:
    return f"from mlsys_widgets import {name}\n{OURS[name][0]}"


# Milliseconds from the next key press until the readout is drawn that answers it: the box of the
# slider says the new value when the kernel has answered.
ANSWERED = """board => new Promise(done => {
  let start = 0;
  const begin = () => { start = performance.now(); };
  board.addEventListener('keydown', begin, {capture: true, once: true});
  const range = board.querySelector('input[type=range]:focus');
  const watch = new MutationObserver(() => {
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
  });
  watch.observe(range, {attributeFilter: ['aria-valuetext']});
  setTimeout(() => { watch.disconnect(); done(null); }, 3000);
})"""
#: Presses of a key for each instrument: enough for the slowest in twenty.
PRESSES = 41


def test_key_to_readout(gallery, capsys):
    """Report how long each instrument takes to answer a key, one press at a time."""
    lines = []
    for board in gallery.locator(".mlsys-instrument").all():
        slider = board.locator(OUR_SLIDER).first
        if not slider.count():
            continue
        slider.scroll_into_view_if_needed()
        gallery.wait_for_timeout(500)
        taken = []
        for k in range(PRESSES):
            slider.focus()
            gallery.evaluate(
                f"board => {{ window.__answered = ({ANSWERED})(board); }}", board.element_handle()
            )
            slider.press("ArrowRight" if k % 4 < 2 else "ArrowLeft", no_wait_after=True)
            taken.append(gallery.evaluate("window.__answered"))
        times = sorted(each for each in taken if each is not None)
        median, late = statistics.median(times), times[round(0.95 * (len(times) - 1))]
        title = board.locator(".mlsys-title").inner_text()
        lines.append(f"  {title:32} {median:6.0f} ms {late:6.0f} ms")
    with capsys.disabled():
        print(
            "\nSlider key to readout, median and 95th percentile (goal: 100 ms)", *lines, sep="\n"
        )


@pytest.mark.parametrize("name", OURS)
def test_moves_and_drags(shown, capsys, name):
    page = shown(code_of(name), OUR_SLIDER)
    lines = [told(name, *measure(page, OUR_SLIDER, ".mlsys-instrument"))]
    page.get_by_text("The math", exact=True).click()
    page.wait_for_selector(".mlsys-derivation li")
    lines.append(told("  with the math open", *measure(page, OUR_SLIDER, ".mlsys-instrument")))
    lines.append(dragged(page, OURS[name][1]))
    with capsys.disabled():
        print(
            f"\nOne key press, median of {MOVES} (goals: 6 KB, 50 ms, 30 states a second)",
            *lines,
            sep="\n",
        )


# A hand that moves thirty times a second for two seconds. It moves inside of the page: playwright's
# mouse waits for the page after each move, and would be as slow as what it measures. Gives the
# seconds that it took, and how many requests and states there were by then.
DRAG = """([name, x, y]) => new Promise(done => {
  const node = document.querySelector(`.mlsys-handle[data-handle="${name}"]`);
  const start = performance.now();
  let k = 0;
  const move = () => {
    if (k === 60) {
      const {requests, states} = window.__wires;
      return done({seconds: (performance.now() - start) / 1000, requests, states});
    }
    const clientX = x - 60 * Math.abs((k % 20) - 10) / 10 - k / 4;
    const event = {pointerId: 1, clientX, clientY: y, bubbles: true};
    node.dispatchEvent(new PointerEvent('pointermove', event));
    k += 1;
    setTimeout(move, Math.max(0, start + 1000 * k / 30 - performance.now()));
  };
  move();
})"""


def busy(device: CDPSession) -> float:
    """Seconds of CPU time of the page's main thread so far."""
    found = device.send("Performance.getMetrics")["metrics"]
    return next(each["value"] for each in found if each["name"] == "TaskDuration")


def dragged(page: Page, name: str) -> str:
    """Sixty moves of a handle in two seconds: requests, answers, and when all was shown."""
    handle = page.locator(f'.mlsys-handle[data-handle="{name}"]')
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate("Object.assign(window.__wires, {bytes: 0, states: 0, requests: 0})")
    page.evaluate(f"window.__settled = ({SETTLE})('.mlsys-instrument', 'pointermove'); undefined")
    device = page.context.new_cdp_session(page)
    device.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = busy(device)
    found = page.evaluate(DRAG, [name, x, y])
    settled = page.evaluate("window.__settled")
    worked = 1000 * (busy(device) - before)
    page.mouse.up()
    wires = page.evaluate("window.__wires")
    return (
        f"  a drag of 60 moves in {found['seconds']:.1f} s:"
        f" {found['states'] / found['seconds']:.0f} states a second,"
        f" {wires['bytes'] / max(1, wires['states']) / 1e3:.1f} KB and"
        f" {worked / max(1, wires['states']):.0f} ms of the page's CPU time each;"
        f" {found['requests'] - found['states']} behind at the end,"
        f" all shown {settled:.0f} ms after the last move"
    )


def test_alternatives(shown, capsys):
    ways = {
        "Plotly FigureWidget, updated": (UPDATED, NOUI_SLIDER, ".jp-OutputArea"),
        "Plotly figure, rebuilt": (REBUILT, NOUI_SLIDER, ".jp-OutputArea"),
    }
    for name, (code, slider, root) in ways.items():
        page = shown(code, slider)
        found = told(name, *measure(page, slider, root))
        with capsys.disabled():
            print(f"\n{found}")


def test_a_held_key(shown, capsys):
    """Thirty key presses a second for two seconds; how long after the last is all settled?"""
    page = shown(code_of("RooflineWidget"), OUR_SLIDER)
    handle = page.locator(OUR_SLIDER).first
    handle.focus()
    page.evaluate(f"window.__settled = ({SETTLE})('.mlsys-instrument', 'keydown'); undefined")
    for _ in range(60):
        handle.press("ArrowRight", no_wait_after=True)
        page.wait_for_timeout(20)
    settled = page.evaluate("window.__settled")
    with capsys.disabled():
        print(f"\nA held arrow key settles {settled:.0f} ms after its last press (goal: 150 ms)")
