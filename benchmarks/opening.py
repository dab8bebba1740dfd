"""How long a lab takes to open: address to Start, reload to the first card, slider key to readout.

Beside each the same in JupyterLab alone: a notebook with one line of text and one widget of
ipywidgets, on a server where our extension is switched off, in turns in the same run. The ratio
says what is ours, the milestones where the time goes. Starting the server is not part of it. Every
address is opened by a browser that has never been there. It ends within five minutes, because no
round begins after three minutes.
"""

from __future__ import annotations

import argparse
import json
import re
import secrets
import shutil
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import findings
import nbformat
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for the server of the browser tests

from tests.browser.conftest import READY, SETTINGS, Lab, running  # noqa: E402

LAB = "lab_01_magnitude"
EXTENSION = "mlsys-widgets-lab"
PRESSES = 21
#: Seconds after which no further round begins; the keys take what is left of five minutes.
ROUNDS_END: Final = 180
#: What happens on the way, in milliseconds since the address was opened. Each is noted in the first
#: frame in which it is true, so none is early and all are late by a frame at most.
WATCH: Final = """(() => {
  const shown = css => [...document.querySelectorAll(css)].some(each => each.checkVisibility());
  const kernel = () => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
  const milestones = {
    'JupyterLab runs': () => window.jupyterapp,
    'page laid out': () => window.jupyterapp?.shell?.currentWidget,
    'text shown': () => shown('.jp-Notebook .jp-RenderedMarkdown'),
    'Start shown': () => shown('.mlsys-Banner .mlsys-Start-button'),
    'kernel answers': () => kernel()?.status === 'idle',
    'first card': () => shown('.mlsys-lab-frame'),
    'first widget': () => shown('.widget-slider'),
  };
  window.reached = {};
  const look = () => {
    for (const [name, isTrue] of Object.entries(milestones)) {
      if (!(name in reached) && isTrue()) reached[name] = performance.now();
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()"""
#: When the last of some files had arrived, how many they were, and how many kilobytes.
LOADED: Final = """pattern => {
  const some = performance.getEntriesByType('resource')
    .filter(each => new RegExp(pattern).test(new URL(each.name).pathname));
  return [Math.max(0, ...some.map(each => each.responseEnd)), some.length,
          some.reduce((all, each) => all + each.decodedBodySize, 0) / 1000];
}"""
FILES: Final = {
    "JupyterLab's files": "^/static/lab/",
    "extensions' files": "^/lab/extensions/",
    "of them ours": f"^/lab/extensions/{EXTENSION}/",
    "settings": "^/lab/api/",
    "notebook read": r"^/api/contents/.*\\.ipynb$",
}
#: Milliseconds from a key on the slider that has the focus until the answer of the kernel is drawn.
ANSWERED: Final = """answer => new Promise(done => {
  let start = 0;
  document.addEventListener('keydown', () => { start = performance.now(); },
                            { capture: true, once: true });
  const watch = new MutationObserver(() => {
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
  });
  watch.observe(document.querySelector(answer),
                { subtree: true, childList: true, characterData: true, attributes: true });
})"""
PLAIN: Final = """import ipywidgets
slider, said = ipywidgets.IntSlider(), ipywidgets.HTML()
said.add_class('said')
slider.observe(lambda change: setattr(said, 'value', str(change['new'])), 'value')
ipywidgets.VBox([slider, said])"""
OURS: Final = "from mlsys_widgets import RooflineWidget\nRooflineWidget(device='h100-sxm')"

Times = dict[str, float]


def notebook(path: Path, code: str) -> None:
    """Write a notebook with a line of text and one cell of code."""
    cells = [nbformat.v4.new_markdown_cell("A notebook."), nbformat.v4.new_code_cell(code)]
    book = nbformat.v4.new_notebook(cells=cells)
    book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(book, path)


@contextmanager
def server(home: Path, *, alone: bool) -> Iterator[Lab]:
    """A JupyterLab with our extension, or without."""
    folder, config = home / "notebooks", home / "config" / "labconfig"
    folder.mkdir(parents=True)
    config.mkdir(parents=True)
    (config / "default_setting_overrides.json").write_text(json.dumps(SETTINGS))
    if alone:
        off = {"disabledExtensions": {EXTENSION: True}}
        (config / "page_config.json").write_text(json.dumps(off))
    root = ["--ServerApp.allow_root=True", f"--ServerApp.root_dir={folder}"]
    with running([sys.executable, "-m", "jupyterlab", *root], home, folder) as lab:
        yield lab


def opened(browser: Browser, lab: Lab, path: str, until: str) -> tuple[Page, Times]:
    """Open an address in a browser that knows nothing yet, until something is reached."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(READY)
    page = context.new_page()
    page.on("dialog", lambda dialog: dialog.accept())
    page.add_init_script(WATCH)
    # A workspace of its own, or JupyterLab opens the tabs of before as well.
    place = f"lab/workspaces/{secrets.token_hex(4)}/tree/{path}"
    page.goto(f"{lab.url}{place}?token={lab.token}", wait_until="commit")
    return page, times(page, until)


def again(page: Page, until: str) -> Times:
    page.reload(wait_until="commit")
    return times(page, until)


def times(page: Page, until: str) -> Times:
    """Seconds until each milestone."""
    page.wait_for_function(
        "until => window.reached?.[until] && reached['kernel answers']", arg=until
    )
    found = {name: page.evaluate(LOADED, pattern)[0] for name, pattern in FILES.items()}
    return {name: ms / 1000 for name, ms in {**found, **page.evaluate("reached")}.items()}


def closed(page: Page, lab: Lab) -> None:
    """Close a page, and end its kernel."""
    key, sessions = {"Authorization": f"token {lab.token}"}, f"{lab.url}api/sessions"
    request = page.context.request
    for session in request.get(sessions, headers=key).json():
        request.delete(f"{sessions}/{session['id']}", headers=key)
    page.context.close()


def run_and_save(page: Page) -> None:
    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")


def start(page: Page) -> None:
    banner = page.get_by_role("region", name="Start or resume the lab")
    banner.get_by_role("button", name=re.compile("^(Start|Resume)$")).click()
    banner.wait_for(state="hidden")
    # It has saved itself when it is no longer changed.
    page.wait_for_function("!jupyterapp.shell.currentWidget.context.model.dirty")


def keys(page: Page, slider: str, answer: str) -> list[float]:
    """Milliseconds of each press of a key."""
    handle = page.locator(slider).first
    taken = []
    for k in range(PRESSES + 1):
        handle.focus()
        page.evaluate(f"answer => {{ window.answered = ({ANSWERED})(answer); }}", answer)
        handle.press("ArrowRight" if k % 4 < 2 else "ArrowLeft", no_wait_after=True)
        taken.append(page.evaluate("window.answered"))
        page.wait_for_function(
            "() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"
        )
    return taken[1:]  # the first one loads what answers


def our_round(browser: Browser, lab: Lab, k: int) -> dict[str, Times]:
    place = lab.folder / f"round-{k}"
    shutil.copytree(ROOT / "release" / LAB, place)
    path = place.relative_to(lab.folder).as_posix()
    page, first = opened(browser, lab, f"{path}/{LAB}.ipynb", "Start shown")
    start(page)
    second = again(page, "first card")
    closed(page, lab)
    notebook(place / "plain.ipynb", PLAIN)
    page, plain = opened(browser, lab, f"{path}/plain.ipynb", "text shown")
    closed(page, lab)
    return {"a lab": first, "a lab, reloaded": second, "a plain notebook": plain}


def round_alone(browser: Browser, lab: Lab, k: int) -> dict[str, Times]:
    notebook(lab.folder / f"plain-{k}.ipynb", PLAIN)
    page, first = opened(browser, lab, f"plain-{k}.ipynb", "text shown")
    run_and_save(page)
    second = again(page, "first widget")
    closed(page, lab)
    return {"alone": first, "alone, reloaded": second}


def pressed(browser: Browser, lab: Lab, code: str, slider: str, answer: str) -> list[float]:
    notebook(lab.folder / "keys.ipynb", code)
    page, _ = opened(browser, lab, "keys.ipynb", "text shown")
    run_and_save(page)
    page.locator(slider).first.wait_for()
    taken = keys(page, slider, answer)
    closed(page, lab)
    return taken


def middle(rounds: list[dict[str, Times]], which: str) -> Times:
    """The median of each milestone that every round has reached."""
    some = [each[which] for each in rounds]
    shared = set.intersection(*(set(each) for each in some))
    return {name: statistics.median(each[name] for each in some) for name in shared}


def told(words: str, found: Times) -> None:
    print(f"\n{words}")
    before = 0.0
    for name, at in sorted(found.items(), key=lambda each: each[1]):
        if at:
            print(f"  {name:22} {at:6.2f} s  {at - before:+6.2f}")
            before = at


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="at most; the median counts")
    arguments = parser.parse_args()
    under = findings.conditions()
    print(f"The load before it was {under['load_before']}.")
    rounds: list[dict[str, Times]] = []
    begun = time.monotonic()
    with (
        TemporaryDirectory(prefix="mlsys-opening-") as aside,
        server(Path(aside) / "ours", alone=False) as ours,
        server(Path(aside) / "alone", alone=True) as alone,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        # The first visit of a server reads files that the later ones find in memory.
        for lab in (ours, alone):
            notebook(lab.folder / "first.ipynb", PLAIN)
            closed(opened(browser, lab, "first.ipynb", "text shown")[0], lab)
        for k in range(arguments.rounds):
            if rounds and time.monotonic() - begun > ROUNDS_END:
                break
            rounds.append({**our_round(browser, ours, k), **round_alone(browser, alone, k)})
        slider = "input[type=range]"
        key: dict[str, list[float]] = {
            "the roofline": pressed(browser, ours, OURS, slider, ".mlsys-readout"),
            "a slider of ipywidgets": pressed(browser, alone, PLAIN, ".noUi-handle", ".said"),
        }
        browser.close()
    report(rounds, key)


def report(rounds: list[dict[str, Times]], key: dict[str, list[float]]) -> None:
    found: dict[str, Any] = {name: middle(rounds, name) for name in rounds[0]}
    told("JupyterLab alone, a notebook by its address", found["alone"])
    told("JupyterLab with our extension, the same notebook", found["a plain notebook"])
    told("A lab by its address", found["a lab"])
    told("JupyterLab alone, a reload with a living kernel", found["alone, reloaded"])
    told("A lab, a reload with a living kernel", found["a lab, reloaded"])
    print(f"\nMedians of {len(rounds)} rounds; of each line, the time since the line above.")
    for words, ours, theirs in (
        ("Address to Start", found["a lab"]["Start shown"], found["alone"]["text shown"]),
        (
            "Reload to the first card",
            found["a lab, reloaded"]["first card"],
            found["alone, reloaded"]["first widget"],
        ),
    ):
        print(f"{words}: {ours:.2f} s (goal: 3 s), {ours / theirs:.2f}× JupyterLab alone")
    for words, taken in key.items():
        late = sorted(taken)[round(0.95 * (len(taken) - 1))]
        print(
            f"Slider key to readout, {words}: {statistics.median(taken):.0f} ms"
            f" (goal: 100 ms), 95th percentile {late:.0f} ms"
        )


if __name__ == "__main__":
    main()
