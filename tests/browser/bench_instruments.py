"""What a slider move costs on the wire and in the browser, side by side with the alternatives.

Run by benchmarks/instruments_browser.py. Every way shows the same roofline with one operation:
our instrument, a Plotly FigureWidget whose traces get new data, and a figure that is rebuilt
with every move, as the labs that inspired ours do.
"""

from __future__ import annotations

import statistics

import nbformat
import pytest
from playwright.sync_api import Page

MOVES = 25

OURS = """
from mlsys_widgets import RooflineWidget
RooflineWidget(device="h100-sxm")
"""
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

# Milliseconds from a key press until nothing in the drawing changes any more.
SETTLE = """root => new Promise(done => {
  const start = performance.now();
  let last = start;
  const watch = new MutationObserver(() => { last = performance.now(); });
  watch.observe(document.querySelector(root), {subtree: true, attributes: true, childList: true,
                                               characterData: true});
  setTimeout(() => { watch.disconnect(); done(last - start); }, 450);
})"""


@pytest.fixture
def shown(tmp_path, open_notebook, run_all):
    def show(code: str, slider: str) -> Page:
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
        book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(book, tmp_path / "bench.ipynb")
        page = open_notebook(tmp_path / "bench.ipynb")
        run_all(page)
        page.wait_for_selector(slider)
        page.wait_for_timeout(2500)
        return page

    return show


COUNT = """() => {
  const wires = window.__wires = {bytes: 0};
  const size = data => data.byteLength ?? data.size ?? data.length;
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    wires.bytes += size(data);
    if (!this.__heard) {
      this.__heard = true;
      this.addEventListener('message', event => { wires.bytes += size(event.data); });
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
        page.evaluate(f"window.__settled = ({SETTLE})('{root}'); undefined")
        handle.press("ArrowRight")
        times.append(page.evaluate("window.__settled"))
        sizes.append(page.evaluate("window.__wires.bytes") - before)
    return statistics.median(sizes), statistics.median(times)


def test_moves(shown, capsys):
    ways = {
        "RooflineWidget": (OURS, OUR_SLIDER, ".mlsys-instrument"),
        "Plotly FigureWidget, updated": (UPDATED, NOUI_SLIDER, ".jp-OutputArea"),
        "Plotly figure, rebuilt": (REBUILT, NOUI_SLIDER, ".jp-OutputArea"),
    }
    found = {}
    for name, (code, slider, root) in ways.items():
        page = shown(code, slider)
        found[name] = measure(page, slider, root)
    ours = found["RooflineWidget"]
    with capsys.disabled():
        print(f"\nOne key press, median of {MOVES} (goals for ours: 6 KB, 50 ms)")
        for name, (size, taken) in found.items():
            print(
                f"  {name:30} {size / 1e3:7.1f} KB {taken:7.0f} ms"
                f"   {size / ours[0]:5.1f}× our bytes, {taken / ours[1]:4.1f}× our time"
            )


def test_a_held_key(shown, capsys):
    """Thirty key presses a second for two seconds; how long after the last is all settled?"""
    page = shown(OURS, OUR_SLIDER)
    handle = page.locator(OUR_SLIDER).first
    handle.focus()
    for _ in range(60):
        handle.press("ArrowRight", no_wait_after=True)
        page.wait_for_timeout(20)
    settled = page.evaluate(f"({SETTLE})('.mlsys-instrument')")
    with capsys.disabled():
        print(f"\nA held arrow key settles {settled:.0f} ms after its release (goal: 150 ms)")
