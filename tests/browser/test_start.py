"""Start and Resume in a real JupyterLab: one button, whatever became of the kernel."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from mlsys_widgets.ledger import Ledger
from tests.browser.conftest import KERNEL_IS_IDLE, READY, closed
from tests.browser.pages import in_theme, no_serious_violation, settled
from tests.browser.profile import new_window
from tests.made_notebooks import write_notebook
from tests.sampling import sample

pytestmark = pytest.mark.needs("chromium")

LAB = "lab_01_magnitude"
NOTEBOOK = "jupyterapp.shell.currentWidget"
#: Where things are in the notebook that is made below.
SET_UP, FIRST_STEP, INSTRUMENT, SCRATCH, SECOND_STEP, LAST_STEP, GRADED = 1, 2, 3, 4, 6, 9, 10
COUNTS = f"{NOTEBOOK}.content.model.toJSON().cells.map(cell => cell.execution_count ?? null)"


def locked(source: str, **about: object):
    nbgrader = {"locked": True, "grade": False, "solution": False, "schema_version": 3}
    metadata = {
        "editable": False,
        "nbgrader": {**nbgrader, "grade_id": f"cell-{len(source)}"},
        "jupyter": {"source_hidden": True},
    }
    return nbformat.v4.new_code_cell(
        source, metadata={**metadata, **({"mlsys": about} if about else {})}
    )


def long_way():
    return nbformat.v4.new_markdown_cell("\n\n".join(["A long way down."] * 40))


def made(folder: Path, broken: str = "") -> Path:
    """A lab of two acts, with an instrument and what a student tried in a cell of their own."""
    cells = [
        nbformat.v4.new_markdown_cell("# Magnitudes"),
        locked(
            "# Set-up\nimport ipywidgets\nfrom mlsys_widgets import RooflineWidget\n"
            "from mlsys_widgets.ledger import Ledger\n"
            f"lab = Ledger.open('ledger.jsonl', lab={LAB!r}, student='student-01')"
        ),
        locked("ipywidgets.Button(description='Commit')", kind="prediction", id="gap", act=1),
        locked(
            "# Instrument: Roofline\nroof = RooflineWidget()\nroof",
            kind="instrument",
            title="Roofline",
        ),
        nbformat.v4.new_code_cell("1 / 0", metadata={"mlsys": {"kind": "scratch"}}),
        long_way(),
        locked(
            f"ipywidgets.Button(description='Answer'){broken}",
            kind="answer",
            id="term",
            act=2,
            title="Which term?",
        ),
        locked("# Instrument: The same again\nRooflineWidget()", kind="instrument", title="Again"),
        long_way(),
        locked("lab.path.name", kind="answer", id="last", title="The last one", reads=["Roofline"]),
        locked("lab.student", kind="graded"),
        long_way(),
    ]
    about = {"lab": LAB, "title": "Lab 01: Magnitudes", "acts": ["Gaps", "Terms"]}
    return write_notebook(folder / "lab.ipynb", *cells, mlsys=about)


@pytest.fixture
def lab(tmp_path) -> Path:
    return made(tmp_path)


def banner(page: Page) -> Locator:
    return page.get_by_role("region", name="Start or resume the lab")


def button(page: Page, name: str) -> Locator:
    return banner(page).get_by_role("button", name=name, exact=True)


def run_to_end(page: Page, name: str) -> None:
    button(page, name).click()
    expect(banner(page)).to_be_hidden(timeout=READY)


def restart(page: Page) -> None:
    page.evaluate(f"{NOTEBOOK}.sessionContext.restartKernel()")


def comes_to_the_top(page: Page, index: int) -> None:
    """Wait until a cell begins where the notebook does; what is drawn above it pushes it down."""
    settled(page)
    page.wait_for_function(
        f"""index => {{
          const {{ content }} = {NOTEBOOK};
          const frame = content.node.querySelector('.jp-WindowedPanel-outer');
          const top = content.widgets[index].node.getBoundingClientRect().top;
          return Math.abs(top - frame.getBoundingClientRect().top) < 40;
        }}""",
        arg=index,
    )


def cell(page: Page, index: int) -> Locator:
    return page.locator(f".jp-Notebook:visible .jp-Cell[data-windowed-list-index='{index}']")


#: Have the next messages of a kind never leave the page, as around the restart of a kernel.
LOSE = """({ kind, many }) => {
  const send = WebSocket.prototype.send;
  window.lost = 0;
  WebSocket.prototype.send = function (data) {
    const text = typeof data === 'string' ? data : new TextDecoder('latin1').decode(data);
    if (text.includes(kind) && window.lost < many) window.lost += 1;
    else send.call(this, data);
  };
}"""


#: Let nothing leave the page any more through the connection that speaks next.
DEAF = """() => {
  const send = WebSocket.prototype.send;
  let deaf = null;
  window.dropped = 0;
  WebSocket.prototype.send = function (data) {
    deaf ??= this;
    if (this === deaf) window.dropped += 1;
    else send.call(this, data);
  };
}"""


def test_cells_that_never_reach_the_kernel_are_run_again(open_notebook, lab):
    page = open_notebook(lab)
    page.wait_for_function(KERNEL_IS_IDLE)
    page.evaluate(LOSE, {"kind": "execute_request", "many": 3})
    run_to_end(page, "Start")
    assert page.evaluate("lost") == 3
    assert None not in [page.evaluate(COUNTS)[each] for each in (SET_UP, FIRST_STEP, INSTRUMENT)]
    expect(cell(page, FIRST_STEP).get_by_role("button", name="Commit")).to_be_visible()
    # A connection that carries nothing, as after some restarts: another one is made.
    restart(page)
    expect(button(page, "Resume")).to_be_visible()
    page.wait_for_function(KERNEL_IS_IDLE)
    page.evaluate(DEAF)
    run_to_end(page, "Resume")
    assert page.evaluate("dropped") > 3
    assert None not in [page.evaluate(COUNTS)[each] for each in (SET_UP, FIRST_STEP, INSTRUMENT)]


def test_a_page_that_is_never_idle_can_be_started(open_notebook, lab):
    page = open_notebook(lab, "window.requestIdleCallback = () => 0;")
    run_to_end(page, "Start")


@pytest.mark.slow
def test_start_runs_what_is_the_labs_own(open_notebook, lab, screenshot):
    page = open_notebook(lab)
    expect(banner(page)).to_contain_text("Start the lab to see its cards and instruments.")
    side = page.get_by_role("region", name="Lab panel")
    expect(side.get_by_role("button", name="Start", exact=True)).to_be_visible()
    for theme in ("Dark", "Light"):
        in_theme(page, theme)
        screenshot(page, theme.lower())
        no_serious_violation(page, ".mlsys-Banner")

    # By keyboard alone.
    button(page, "Start").focus()
    page.keyboard.press("Enter")
    expect(banner(page)).to_be_hidden(timeout=READY)
    expect(side.get_by_role("button", name="Start", exact=True)).to_have_count(0)
    counts = page.evaluate(COUNTS)
    ran = [index for index, count in enumerate(counts) if count is not None]
    assert ran == [SET_UP, FIRST_STEP, INSTRUMENT, SECOND_STEP, 7, LAST_STEP, GRADED]
    # Nothing was saved yet: the student begins at the top.
    assert page.evaluate(f"{NOTEBOOK}.content.activeCellIndex") == 0
    comes_to_the_top(page, 0)
    expect(cell(page, INSTRUMENT).locator(".mlsys-instrument")).to_be_visible()


@pytest.mark.slow
def test_resume_stays_at_the_next_step(open_notebook, lab, lab_server):
    folder = lab_server.folder / "resumed"
    folder.mkdir()
    notebook = Path(shutil.copy(lab, folder))
    led = Ledger.open(folder / "ledger.jsonl", lab=LAB, student="student-01")
    led.commit_prediction("gap", 9)
    page = open_notebook(notebook)
    expect(banner(page)).to_contain_text("Your work is saved.")
    run_to_end(page, "Resume")
    page.wait_for_function(f"{NOTEBOOK}.content.activeCellIndex === {SECOND_STEP}")
    # The instrument above is drawn after the page came here, and pushes it down.
    expect(page.locator(".mlsys-instrument")).not_to_have_count(0)
    comes_to_the_top(page, SECOND_STEP)

    # Once all is done, the page stays where it is.
    led.record_answer("term", 1)
    led.record_answer("last", 1)
    restart(page)
    run_to_end(page, "Resume")
    comes_to_the_top(page, SECOND_STEP)


def test_a_restart_says_so_and_resume_brings_everything_back(open_notebook, lab, screenshot):
    page = open_notebook(lab)
    run_to_end(page, "Start")
    slider = cell(page, INSTRUMENT).locator("input[type=range]").first
    expect(slider).to_be_visible()
    restart(page)
    expect(banner(page)).to_contain_text("The kernel was restarted. Press Resume.")
    outputs = cell(page, INSTRUMENT).locator(".jp-OutputArea").first
    expect(outputs).to_have_js_property("inert", True)
    slider.evaluate("slider => slider.focus()")
    assert not slider.evaluate("slider => slider === document.activeElement")
    screenshot(page, "restarted")
    expect(page.get_by_text("Loading widget")).to_have_count(0)

    run_to_end(page, "Resume")
    expect(outputs).to_have_js_property("inert", False)
    expect(page.get_by_text("NameError")).to_have_count(0)
    # The new one is alive.
    readout = cell(page, INSTRUMENT).locator(".mlsys-readout")
    before = readout.text_content()
    slider.press("PageUp")
    expect(readout).not_to_have_text(before or "")


@pytest.mark.slow
def test_a_reload_after_start_or_resume_needs_no_button(open_notebook, lab):
    """Nobody saves in between: the lab did when it had run."""
    page = open_notebook(lab)
    run_to_end(page, "Start")
    # Saves follow one another: none takes what another has written for somebody else's.
    page.evaluate(f"Promise.all([1, 2].map(() => {NOTEBOOK}.context.save()))")
    stays_alive(page)
    restart(page)
    run_to_end(page, "Resume")
    stays_alive(page)


def stays_alive(page: Page) -> None:
    """Load the page again, which shows the widgets of its kernel and asks for nothing."""
    page.wait_for_function(f"!{NOTEBOOK}.context.model.dirty")
    counts = page.evaluate(COUNTS)
    page.reload()
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.sessionContext")
    page.wait_for_function(KERNEL_IS_IDLE, timeout=READY)
    expect(cell(page, INSTRUMENT).locator(".mlsys-instrument")).to_be_visible(timeout=READY)
    expect(banner(page)).to_be_hidden()
    assert page.evaluate(COUNTS) == counts


@pytest.mark.slow
def test_a_page_that_was_closed_before_it_was_saved_can_be_started_again(open_notebook, lab):
    page = open_notebook(lab)
    page.route(
        re.compile(r"/api/contents/.*\.ipynb"),
        lambda route: route.abort() if route.request.method == "PUT" else route.continue_(),
    )
    run_to_end(page, "Start")
    page.reload()
    expect(button(page, "Start")).to_be_visible(timeout=READY)
    run_to_end(page, "Start")
    expect(cell(page, INSTRUMENT).locator(".mlsys-instrument")).to_be_visible(timeout=READY)


@pytest.mark.slow
def test_what_was_saved_is_shown_until_the_lab_runs(open_notebook, lab, lab_server, screenshot):
    page = open_notebook(lab)
    run_to_end(page, "Start")
    page.evaluate(
        "async () => { await jupyterapp.commands.execute('docmanager:save');"
        f" await {NOTEBOOK}.sessionContext.shutdown(); }}"
    )
    expect(banner(page)).to_contain_text("The kernel was shut down. Press Resume.")
    page.reload()
    expect(button(page, "Start")).to_be_visible(timeout=READY)
    # The instrument as a picture, and no line that promises a widget.
    expect(cell(page, INSTRUMENT).locator(".mlsys-Saved").first).to_be_visible()
    expect(page.get_by_text("Loading widget").locator("visible=true")).to_have_count(0)
    expect(page.get_by_text("model not found").locator("visible=true")).to_have_count(0)
    screenshot(page, "saved")
    run_to_end(page, "Start")
    expect(page.locator(".mlsys-Saved")).to_have_count(0)
    expect(cell(page, INSTRUMENT).locator("input[type=range]").first).to_be_visible()


@pytest.mark.slow
def test_a_notebook_that_is_closed_while_it_is_saved_is_no_error(open_notebook, lab):
    page = open_notebook(lab)
    held: list[Route] = []
    slow = True
    page.route(
        re.compile(r"/api/contents/.*\.ipynb\?.*hash=1"),
        lambda route: held.append(route) if slow else route.continue_(),
    )
    run_to_end(page, "Start")
    page.evaluate(f"void (window.saved = {NOTEBOOK}.context.save().catch(each => each.message))")
    while not held:  # the save asks first whether somebody else has changed the file
        page.wait_for_timeout(50)
    page.evaluate(f"void {NOTEBOOK}.close()")
    page.get_by_role("dialog").locator("button.jp-mod-warn").click()
    expect(page.locator(".jp-NotebookPanel")).to_have_count(0)
    slow = False
    for route in held:
        route.continue_()
    page.evaluate("saved")
    settled(page)
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_cell_that_fails_is_named_and_stops_nothing(open_notebook, tmp_path, screenshot):
    page = open_notebook(made(tmp_path, broken="\nthis_is_missing"))
    button(page, "Start").click()
    said = banner(page).get_by_role("status")
    expect(said).to_contain_text("1 of 7 cells failed: ipywidgets.Button", timeout=READY)
    expect(said).to_contain_text("Everything else has run.")
    screenshot(page, "failed")
    assert page.evaluate(COUNTS)[GRADED] is not None
    button(page, "Show the first one").click()
    page.wait_for_function(f"{NOTEBOOK}.content.activeCellIndex === {SECOND_STEP}")
    button(page, "Close").click()
    expect(banner(page)).to_be_hidden()


#: What a kernel says about an expression, without a trace in its history.
ASKED = f"""async expression => {{
  const kernel = {NOTEBOOK}.sessionContext.session.kernel;
  const future = kernel.requestExecute({{
    code: '', silent: true, store_history: false, user_expressions: {{ it: expression }}
  }});
  const {{ content }} = await future.done;
  return content.user_expressions.it.data['text/plain'];
}}"""


def test_the_libraries_are_there_before_start_and_nothing_else(open_notebook, lab):
    page = open_notebook(lab)
    expect(button(page, "Start")).to_be_visible(timeout=READY)
    loaded = "'mlsys_widgets.cards' in __import__('sys').modules"
    assert page.evaluate(ASKED, loaded) == "True"
    assert page.evaluate(ASKED, "'lab' in globals() or 'mlsys_widgets' in globals()") == "False"
    assert page.evaluate(ASKED, "len(get_ipython().user_ns['In'])") == "1"  # nothing was typed
    assert set(page.evaluate(COUNTS)) == {None}


@pytest.mark.parametrize("saved", sample([True, False], 1), ids={True: "begun", False: "new"}.get)
def test_the_button_does_not_wait_for_the_server(saved, browser, lab_server, lab):
    folder = lab_server.folder / f"slow-server-{saved}"
    folder.mkdir()
    shutil.copy(lab, folder)
    if saved:
        led = Ledger.open(folder / "ledger.jsonl", lab=LAB, student="student-01")
        led.commit_prediction("gap", 9)
    page = new_window(browser)
    held: list[Route] = []
    slow = True
    page.route(
        re.compile(r"/mlsys/lab\?"),
        lambda route: held.append(route) if slow else route.continue_(),
    )
    page.goto(
        f"{lab_server.url}lab/workspaces/{folder.name}/tree/{folder.name}/lab.ipynb"
        f"?token={lab_server.token}"
    )
    expect(button(page, "Start")).to_be_visible(timeout=READY)
    assert held, "the ledger was not asked for"
    # What the ledger says counts, as soon as it is known.
    slow = False
    for route in held:
        route.continue_()
    expect(button(page, "Resume" if saved else "Start")).to_be_visible(timeout=READY)
    closed(lab_server, page)


@pytest.mark.parametrize("command", sample(["notebook:run-all-cells", "mlsys:start"], 1))
def test_what_is_run_before_the_kernel_is_up_waits_for_it(
    command, browser, lab_server, lab, screenshot
):
    folder = lab_server.folder / f"early-{command.replace(':', '-')}"
    folder.mkdir()
    shutil.copy(lab, folder)
    page = new_window(browser)
    held: list[Route] = []
    page.route(
        re.compile(r"/api/sessions(\?|$)"),
        lambda route: held.append(route) if route.request.method == "POST" else route.continue_(),
    )
    page.goto(
        f"{lab_server.url}lab/workspaces/{folder.name}/tree/{folder.name}/lab.ipynb"
        f"?token={lab_server.token}"
    )
    expect(button(page, "Start")).to_be_visible(timeout=READY)
    while not held:  # the page has asked for a kernel
        page.wait_for_timeout(50)
    page.evaluate(f"void jupyterapp.commands.execute({command!r})")
    settled(page)
    if command == "mlsys:start":
        expect(banner(page)).to_contain_text("Waiting for the kernel…")
        screenshot(page, "waiting")
    held.pop().continue_()
    expected = {SET_UP, FIRST_STEP, INSTRUMENT, SECOND_STEP, LAST_STEP, GRADED}
    page.wait_for_function(
        f"expected => {{ const counts = {COUNTS}; return expected.every(k => counts[k] > 0); }}",
        arg=sorted(expected),
        timeout=READY,
    )
    closed(lab_server, page)


@pytest.mark.slow
def test_notebook_7_starts_a_lab_too(browser, lab_server, lab, screenshot):
    folder = lab_server.folder / "notebook-7-start"
    folder.mkdir()
    shutil.copy(lab, folder)
    page = new_window(browser, 1280, 720)
    page.goto(f"{lab_server.url}notebooks/{folder.name}/lab.ipynb?token={lab_server.token}")
    expect(button(page, "Start")).to_be_visible(timeout=READY)
    screenshot(page, "waiting")
    run_to_end(page, "Start")
    expect(page.locator(".mlsys-instrument").first).to_be_visible()
    expect(page.locator(".jp-Notebook .jp-InputPlaceholder").locator("visible=true")).to_have_count(
        0
    )
    screenshot(page, "started")
    closed(lab_server, page)
