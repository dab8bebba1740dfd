"""What is shown is what the kernel has, or it is covered: a slow page, messages late or lost."""

from __future__ import annotations

import os
import re
import shutil
import signal
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, Page, expect

from mlsys_widgets.files import LEDGER
from mlsys_widgets.ledger import Ledger
from tests.browser.conftest import KERNEL_IS_IDLE, READY, closed, run_cells
from tests.browser.lab_path import Student
from tests.browser.pages import draw_all
from tests.browser.profile import new_window
from tests.browser.tampering import INTERCEPT, slow_down
from tests.made_notebooks import write_notebook
from tests.sampling import takes_everything

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
LAB = "lab_07_kernel_fusion"
COVER = ".mlsys-cover:visible"
#: Cells of the lab without which its break-even timeline does not come up, and those beside it.
FEW = re.compile("setup|show_Context|(card|reveal)_act2_break_even|instrument_Break-even-timeline")

# Everything that covers said, from now on.
LISTEN = """() => {
  window.said = [];
  const look = () => {
    for (const cover of document.querySelectorAll('.mlsys-cover:not([hidden])')) {
      // A covered view has no number that can be read.
      const board = cover.closest('.mlsys-board');
      const read = [...board?.querySelectorAll('.mlsys-card strong, .mlsys-plot text') ?? []]
        .filter(each => getComputedStyle(each).visibility === 'visible').length;
      said.push([cover.textContent, read]);
    }
  };
  new MutationObserver(look).observe(document.body, {
    subtree: true, childList: true, attributeFilter: ['hidden', 'data-covered'],
  });
}"""
RUN = """code => jupyterapp.shell.currentWidget.sessionContext.session.kernel
  .requestExecute({ code, store_history: false }).done.then(reply => reply.content.status)"""
# The next `window.missing` requests for the model of a mark fail, as if it had not come.
LOSE_MODELS = """async count => {
  window.missing = count;
  const [cell] = jupyterapp.shell.currentWidget.content.widgets;
  const renderer = [...cell.outputArea.widgets[0].children()].find(part => part._manager);
  const manager = await renderer._manager.promise;
  const get = manager.get_model;
  manager.get_model = function (id) {
    if (window.missing-- > 0) return Promise.reject(new Error('widget model not found'));
    return get.call(manager, id);
  };
}"""


def written(folder: Path) -> Path:
    """A notebook with a dispatch waterfall."""
    # What is looked at is one of the two large numbers; the others are folded.
    large = "('Utilization', 'Kernels launched')"
    code = f"import mlsys_widgets as mw\nw = mw.DispatchWaterfall(leading={large})\nw"
    return write_notebook(folder / "waterfall.ipynb", code)


@pytest.fixture
def waterfall(open_notebook, run_all, tmp_path) -> Page:
    """A dispatch waterfall on a slow page whose messages can be tampered with."""
    page = open_notebook(written(tmp_path), script=INTERCEPT)
    run_all(page)
    expect(page.locator(".mlsys-plot text", has_text="computing 32.3% of the time")).to_be_visible()
    slow_down(page)
    page.evaluate(LISTEN)
    return page


def launched(page: Page) -> Locator:
    return page.locator(".mlsys-card", has_text="Kernels launched")


def words(page: Page) -> set[str]:
    """What covers said so far; whatever was under them could not be read."""
    said = page.evaluate("said")
    assert {read for _, read in said} <= {0}
    return {sentence for sentence, _ in said}


def test_an_update_that_nobody_asked_for_is_missed_and_fetched(waterfall):
    """As from a context toggle: the kernel changes an instrument, and its message is lost twice."""
    waterfall.evaluate("() => { lost = 0; tamper = () => { if (++lost === 2) tamper = null; }; }")
    assert waterfall.evaluate(RUN, "w.set(kernels=500)") == "ok"
    expect(launched(waterfall)).to_contain_text("500")
    expect(waterfall.locator(COVER)).to_have_count(0)
    assert waterfall.evaluate("lost") == 2
    assert any("out of date" in each for each in words(waterfall))
    # As when a lock opens: a box gets something else to show.
    waterfall.evaluate("() => { tamper = () => { lost += 1; tamper = null; }; }")
    code = "import ipywidgets; w.children = (ipywidgets.HTML('It is open.'),)"
    assert waterfall.evaluate(RUN, code) == "ok"
    expect(waterfall.get_by_text("It is open.")).to_be_visible()
    assert waterfall.evaluate("lost") == 3


def test_a_late_update_uncovers_what_it_brings(waterfall):
    # In a second run of its cell, beside the models of the first.
    run_cells(waterfall)
    waterfall.evaluate("() => { tamper = (_, late) => { held = late; tamper = null; }; }")
    assert waterfall.evaluate(RUN, "w.set(kernels=500)") == "ok"
    expect(launched(waterfall)).to_contain_text("500")
    # What is older than the screen changes nothing.
    assert waterfall.evaluate(RUN, "w.set(kernels=600)") == "ok"
    expect(launched(waterfall)).to_contain_text("600")
    waterfall.evaluate("() => held()")
    assert waterfall.evaluate(RUN, "1") == "ok"
    expect(launched(waterfall)).to_contain_text("600")
    expect(waterfall.locator(COVER)).to_have_count(0)


def test_what_happens_while_an_answer_is_on_its_way_is_asked_for_as_well(waterfall):
    """The answer knows nothing of it. A page that is slow to read the answer must ask once more."""
    waterfall.evaluate(
        "() => { late = 0; held = null; answers = (_, go) => { held = go; answers = null; }; }"
    )
    assert waterfall.evaluate(RUN, "1") == "ok"
    waterfall.wait_for_function("() => held")
    waterfall.evaluate("() => { lost = 0; tamper = () => { lost += 1; tamper = null; }; }")
    assert waterfall.evaluate(RUN, "w.set(kernels=500)") == "ok"
    waterfall.evaluate("() => held()")
    expect(launched(waterfall)).to_contain_text("500")
    expect(waterfall.locator(COVER)).to_have_count(0)
    assert waterfall.evaluate("lost") == 1


@pytest.mark.slow
def test_a_missing_plot_covers_the_instrument_until_it_is_there(waterfall):
    waterfall.evaluate(LOSE_MODELS, 40)
    assert waterfall.evaluate(RUN, "w.set(kernels=500)") == "ok"
    expect(waterfall.locator(COVER)).to_contain_text("one of its plots is not there")
    expect(launched(waterfall).locator("strong")).to_be_hidden()
    waterfall.evaluate("missing = 0")
    expect(waterfall.locator(COVER)).to_have_count(0)
    expect(launched(waterfall)).to_contain_text("500")
    expect(launched(waterfall)).to_be_visible()
    assert len(words(waterfall)) == 1


def test_a_move_that_a_busy_kernel_does_not_answer_is_waited_for(waterfall, tmp_path):
    """What is known is said: that there is no answer yet, and not that there is no kernel."""
    told = tmp_path / "process"
    code = f"import os, pathlib; pathlib.Path({str(told)!r}).write_text(str(os.getpid()))"
    assert waterfall.evaluate(RUN, code) == "ok"
    process = int(told.read_text())
    slider = waterfall.locator(".mlsys-controls").get_by_label("Faster GPU", exact=True).first
    before = slider.get_attribute("aria-valuetext")
    # A busy cell does not do: some kernels answer widgets in a thread beside it.
    os.kill(process, signal.SIGSTOP)
    try:
        slider.press("ArrowRight")
        expect(waterfall.locator(COVER)).to_have_text(
            "Waiting for the kernel’s answer to your last move."
        )
        expect(launched(waterfall).locator("strong")).to_be_hidden()
        expect(slider).to_be_enabled()
    finally:
        os.kill(process, signal.SIGCONT)
    expect(waterfall.locator(COVER)).to_have_count(0)
    expect(slider).not_to_have_attribute("aria-valuetext", before)


def test_a_kernel_that_rests_is_not_asked_again(waterfall):
    """A question by the clock would keep servers awake that nobody uses."""
    waterfall.evaluate(
        """() => {
             window.asked = 0;
             const send = WebSocket.prototype.send;
             WebSocket.prototype.send = function (data) {
               const text = typeof data === 'string' ? data : new TextDecoder().decode(data);
               if (text.includes('"have"')) asked += 1;
               send.call(this, data);
             };
           }"""
    )
    assert waterfall.evaluate(RUN, "w.set(kernels=500)") == "ok"
    waterfall.wait_for_function("() => asked === 1")
    # Two more things happen, one after the other; each is followed by one question and no more.
    for count in (2, 3):
        assert waterfall.evaluate(RUN, "1") == "ok"
        waterfall.wait_for_function("count => asked === count", arg=count)


@pytest.mark.slow
def test_notebook_7_knows_the_widgets_before_it_opens_a_notebook(lab_server, browser):
    """A page that is loaded again asks the kernel for all models at once."""
    folder = lab_server.folder / "seven"
    folder.mkdir()
    written(folder)
    page = new_window(browser)
    page.set_default_timeout(READY)
    page.goto(f"{lab_server.url}notebooks/seven/waterfall.ipynb?token={lab_server.token}")
    page.wait_for_function(f"window.jupyterapp?.shell.currentWidget && ({KERNEL_IS_IDLE})()")
    run_cells(page)
    expect(launched(page)).to_be_visible()
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    slow_down(page)
    page.reload()
    expect(launched(page)).to_be_visible(timeout=READY)
    closed(lab_server, page)


@pytest.fixture
def lab_07(lab_server, open_notebook) -> tuple[Page, Student]:
    """Lab 07 on a slow page, whose messages are late, before Start."""
    folder = Path(shutil.copytree(ROOT / "release" / LAB, lab_server.folder / "late" / LAB))
    page = open_notebook(folder / f"{LAB}.ipynb", script=INTERCEPT)
    draw_all(page)
    slow_down(page)
    page.evaluate("late = 300")
    yield page, Student(page, ROOT / "assignments" / LAB, folder, lab_server.student)
    shutil.rmtree(folder.parent)


def press(page: Page, name: str) -> None:
    """Press Start or Resume, and wait until everything has run."""
    banner = page.get_by_role("region", name="Start or resume the lab")
    banner.get_by_role("button", name=name, exact=True).click(timeout=READY)
    expect(banner).to_be_hidden(timeout=2 * READY)


def is_complete(page: Page, student: Student) -> None:
    """Every cell that shows a card or an instrument shows it whole."""
    for step in student.steps:
        cell = student.cell(step.index)
        drawn = cell.locator(".mlsys-lab-title, .mlsys-sentence, .mlsys-locked, .mlsys-peek")
        expect(drawn.first).to_be_visible(timeout=READY)
    expect(page.locator(".mlsys-mod-stale, .jupyter-widgets-disconnected:visible")).to_have_count(0)
    expect(page.get_by_text("Error displaying widget")).to_have_count(0)
    expect(page.locator(COVER)).to_have_count(0)


def open_up(student: Student, name: str) -> None:
    """Do everything that a card opens after, then what it asks for."""
    for before in student.items[name].after:
        open_up(student, before)
    if name not in {step.name for step in student.left()}:
        return
    student.do(next(step for step in student.steps if step.name == name))


def timeline_follows(page: Page, student: Student) -> None:
    """Choose a scenario in the break-even timeline, and one in a card, with messages lost."""
    (index,) = (k for k, c in enumerate(student.book.cells) if "BreakEvenTimeline(lock" in c.source)
    cell = student.cell(index)
    sentence, menu = cell.locator(".mlsys-sentence"), cell.get_by_label("Scenario", exact=True)
    expect(menu).to_have_value("resnet50-cloud", timeout=READY)
    for preset, act in (
        ("ci-run", lambda: menu.select_option("ci-run")),
        # Chosen in a card far above; nothing is moved here.
        ("kws-edge", page.get_by_role("radio", name=re.compile("^Edge")).first.click),
    ):
        page.evaluate("() => { lost = false; tamper = () => { lost = true; tamper = null; }; }")
        before = sentence.text_content()
        act()
        expect(menu).to_have_value(preset, timeout=READY)
        expect(sentence).not_to_have_text(before, timeout=READY)
        expect(page.locator(COVER)).to_have_count(0, timeout=READY)
        assert page.evaluate("lost")


def test_what_was_frozen_follows_on_a_bad_day_and_after_a_restart(lab_server, open_notebook):
    """Lab 07 with few cells, whose timeline is open: a slow page, messages late and lost."""
    folder = Path(shutil.copytree(ROOT / "release" / LAB, lab_server.folder / "few" / LAB))
    path = folder / f"{LAB}.ipynb"
    book = nbformat.read(path, 4)
    book.cells = [cell for cell in book.cells if FEW.fullmatch(cell.id)]
    nbformat.write(book, path)
    ledger = Ledger.open(folder / LEDGER, lab=LAB, student=lab_server.student)
    for name in ("act1_utilization", "act2_fusion", "act2_break_even"):
        ledger.commit_prediction(name, "B", 3)
    page = open_notebook(path, script=INTERCEPT)
    draw_all(page)
    slow_down(page)
    page.evaluate("late = 300")
    student = Student(page, ROOT / "assignments" / LAB, folder, lab_server.student)
    press(page, "Resume")
    is_complete(page, student)
    timeline_follows(page, student)
    page.get_by_role("radio", name=re.compile("^Cloud")).first.click()
    expect(page.get_by_label("Scenario", exact=True)).to_have_value("resnet50-cloud")
    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    press(page, "Resume")
    is_complete(page, student)
    timeline_follows(page, student)


@pytest.mark.slow
def test_the_break_even_timeline_follows_on_a_bad_day(lab_07):
    page, student = lab_07
    press(page, "Start")
    open_up(student, "act2_break_even")
    timeline_follows(page, student)


@pytest.mark.slow
def test_every_resume_on_a_bad_day_is_complete(lab_07):
    page, student = lab_07
    press(page, "Start")
    is_complete(page, student)
    for _ in range(5 if takes_everything() else 1):
        page.evaluate("jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
        press(page, "Resume")
        is_complete(page, student)
