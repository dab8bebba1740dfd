"""The Lab panel in a real JupyterLab: what it shows, what it costs, and what its commands do."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from mlsys_widgets.ledger import Ledger
from tests.browser.pages import in_theme, no_serious_violation, settled
from tests.browser.profile import close_window, new_window
from tests.ledger.making import form_of_lab
from tests.made_notebooks import write_notebook

pytestmark = pytest.mark.needs("chromium")

LAB = "lab_07_kernel_fusion"
SOON = 20_000  # milliseconds; sooner than the panel would ask the server again by itself (25 s)
DESIGN = {
    "context": "cloud",
    "execution_mode": "compiled",
    "fusion_enabled": True,
    "compilation_roi_positive": True,
    "breakeven_inferences": 41_000,
    "kws_utilization_eager_pct": 8.5,
    "kws_utilization_compiled_pct": 71.25,
    "act1_prediction": "C",
    "act1_correct": True,
    "act2_result": 41_000,
    "act2_decision": "compiled",
    "constraint_hit": False,
}


def step(kind: str, name: str, title: str, act: int | None = None, source: str = "pass"):
    about = {"kind": kind, "id": name, "title": title, **({"act": act} if act else {})}
    return nbformat.v4.new_code_cell(source, metadata={"mlsys": about})


@pytest.fixture
def lab(tmp_path) -> Path:
    """A small lab: two acts, six steps, an instrument."""
    cells = [
        nbformat.v4.new_markdown_cell("# Kernel fusion"),
        nbformat.v4.new_code_cell(
            "from mlsys_widgets.ledger import Ledger\n"
            f"led = Ledger.open('ledger.jsonl', lab={LAB!r}, student='student-01')"
        ),
        step(
            "prediction",
            "act1_utilization",
            "How busy is the GPU?",
            1,
            "led.commit_prediction('act1_utilization', 'C', 4, words='about 33%').value",
        ),
        step("instrument", "dispatch", "Dispatch", source="'an instrument'"),
        step("reflection", "act1_why", "Why is it idle?"),
        nbformat.v4.new_markdown_cell("\n\n".join(["A long way down."] * 40)),
        step("prediction", "act2_break_even", "When does compiling pay?", 2),
        step("answer", "act2_result", "The break-even"),
        step("reflection", "act2_when", "When would you not compile?"),
        step("design", LAB, "Eager or compiled?"),
    ]
    about = {
        "lab": LAB,
        "title": "Lab 07: Kernel fusion",
        "acts": ["The dispatch tax", "Does compiling pay?"],
        "design": [[name, field.about] for name, field in form_of_lab(LAB).fields.items()],
    }
    return write_notebook(tmp_path / "lab.ipynb", *cells, mlsys=about)


def test_every_kind_of_step_counts_and_nothing_is_done_too_early(
    open_notebook, steps_of_every_kind, lab_server, screenshot
):
    page = open_notebook(steps_of_every_kind)
    side = panel(page)
    expect(status(page)).to_have_text("Lab: 0 of 6 done, nothing saved yet")
    led = Ledger.open(beside(page, lab_server), lab=LAB, student="student-01")
    led.record_answer("quiz.1", "A")
    begun = side.get_by_role("button", name="Quiz: What do you know? (begun, not finished)")
    expect(begun).to_be_visible(timeout=SOON)
    for name in ("quiz.2", "essay", "myths", "skills", "measurement"):
        led.record_answer(name, "something")
    expect(status(page)).to_have_text(re.compile("Lab: 5 of 6 done, saved"), timeout=SOON)
    expect(side.get_by_text("All steps are done")).to_have_count(0)

    # A design that breaks a promise is not done, and says why.
    led.save_design(DESIGN, form_of_lab())
    led.record_answer("design_misses", ["The latency is 12 ms above the promise."])
    failing = side.get_by_role("button", name="Decide: What you pass on (tried, does not fit yet)")
    expect(failing).to_be_visible(timeout=SOON)
    expect(side).to_contain_text("The latency is 12 ms above the promise.")
    expect(side.get_by_text("All steps are done")).to_have_count(0)
    screenshot(page, "failing")
    side.get_by_role("button", name="Check what is missing").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 step is left:")
    expect(dialog).to_contain_text("Decide: What you pass on (tried, does not fit yet)")
    expect(dialog).to_contain_text("an answer that is recorded is not thereby right")
    screenshot(page, "missing")
    no_serious_violation(page, ".jp-Dialog")
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)

    led.record_answer("design_misses", [])
    expect(side.get_by_text("All steps are done.")).to_be_visible(timeout=SOON)
    expect(status(page)).to_have_text(re.compile("Lab: 6 of 6 done, saved"))


@pytest.mark.parametrize(
    ("lab_name", "student", "says"),
    [
        (LAB, "student-02", "belongs to student-02, and you are student-01 here"),
        ("lab_01_magnitude", "student-01", "belongs to another lab, lab_01_magnitude"),
    ],
)
def test_a_ledger_of_somebody_else_is_never_done(
    lab_name, student, says, open_notebook, steps_of_every_kind, lab_server
):
    page = open_notebook(steps_of_every_kind)
    led = Ledger.open(beside(page, lab_server), lab=lab_name, student=student)
    for name in ("quiz.1", "quiz.2", "essay", "myths", "skills", "measurement", "design"):
        led.record_answer(name, "something")
    side = panel(page)
    expect(side.get_by_role("region", name="Saved")).to_contain_text(says, timeout=SOON)
    expect(status(page)).to_have_text("Lab: see the Lab panel")
    expect(side.get_by_text("All steps are done")).to_have_count(0)
    side.get_by_role("button", name="Check what is missing").click()
    expect(page.get_by_role("dialog")).to_contain_text(says)
    expect(page.get_by_role("dialog")).not_to_contain_text("Every step has something recorded")
    page.keyboard.press("Enter")


@pytest.fixture
def steps_of_every_kind(tmp_path) -> Path:
    """A lab with the kinds of steps that are done in parts, in writing or by a machine."""
    quiz = step("quiz", "quiz", "What do you know?", 1)
    quiz.metadata["mlsys"]["needs"] = ["quiz.1", "quiz.2"]
    design = step("design", "design", "What you pass on")
    cells = [
        quiz,
        step("essay", "essay", "In your own words"),
        step("myths", "myths", "Five myths"),
        step("checklist", "skills", "What you can do"),
        step("measurement", "measurement", "Measure this machine"),
        design,
    ]
    about = {"lab": LAB, "title": "Lab 07: Kernel fusion", "acts": ["The dispatch tax"]}
    return write_notebook(tmp_path / "lab.ipynb", *cells, mlsys=about)


@pytest.fixture
def plain(tmp_path) -> Path:
    """A notebook that is no lab."""
    return write_notebook(tmp_path / "plain.ipynb", "1 + 1")


def panel(page: Page) -> Locator:
    return page.get_by_role("region", name="Lab panel")


def status(page: Page) -> Locator:
    return page.locator(".mlsys-Status button")


def execute(page: Page, command: str) -> None:
    page.evaluate("command => jupyterapp.commands.execute(command)", command)


def close(page: Page) -> None:
    execute(page, "docmanager:save")  # or a question is asked first
    execute(page, "application:close")


@pytest.fixture
def run_lab(run_all, lab_server):
    """Run all cells, one of which commits a prediction."""

    def run(page: Page) -> Path:
        # Cells that are run while the kernel starts may be lost.
        page.wait_for_function(
            "jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'"
        )
        run_all(page)
        ledger = beside(page, lab_server)
        assert ledger.exists()
        return ledger

    return run


def beside(page: Page, lab_server) -> Path:
    """Where the ledger of the open notebook is."""
    path = page.evaluate("jupyterapp.shell.currentWidget.context.path")
    return (lab_server.folder / path).with_name("ledger.jsonl")


def listening(page: Page) -> bool:
    """Whether the panel holds on to any notebook."""
    return page.evaluate(
        "[...jupyterapp.shell.widgets('right')].find(w => w.id === 'mlsys-lab-panel')"
        ".follower.listening !== null"
    )


class Requests:
    """Counts what the panel asks the server."""

    def __init__(self, page: Page) -> None:
        self.urls: list[str] = []
        page.on("request", lambda request: self._note(request.url))

    def _note(self, url: str) -> None:
        if "/mlsys/" in url:
            self.urls.append(url)

    def in_seconds(self, page: Page, seconds: float) -> int:
        before = len(self.urls)
        page.wait_for_timeout(1000 * seconds)
        return len(self.urls) - before


def test_the_panel_follows_what_is_committed(open_notebook, run_lab, lab, screenshot):
    page = open_notebook(lab)
    side = panel(page)
    # The first lab that is ever opened brings the panel along.
    expect(side.get_by_role("heading", name="Lab 07: Kernel fusion")).to_be_visible()
    expect(side.get_by_text("Nothing has been saved yet.")).to_be_visible()
    expect(side.get_by_role("button", name="Next: predict How busy is the GPU?")).to_be_visible()
    expect(status(page)).to_have_text("Lab: 0 of 6 done, nothing saved yet")
    screenshot(page, "begun")

    # From the kernel, as a widget commits.
    ledger = run_lab(page)
    sealed = side.get_by_role("region", name="Sealed predictions")
    expect(sealed).to_contain_text("How busy is the GPU?", timeout=SOON)
    expect(sealed).to_contain_text(re.compile(r"about 33%, confidence 4 of 5, sealed \d\d:\d\d"))
    acts = side.get_by_role("progressbar")
    expect(acts.nth(0)).to_have_attribute("aria-valuetext", "1 of 2 steps done")
    expect(acts.nth(1)).to_have_attribute("aria-valuetext", "0 of 4 steps done")
    expect(side.get_by_role("button", name="Next: reflect Why is it idle?")).to_be_visible()
    expect(status(page)).to_have_text(re.compile(r"Lab: 1 of 6 done, saved \d\d:\d\d"))

    # From elsewhere: another kernel, another page.
    led = Ledger.open(ledger)
    begun = side.get_by_role("button", name="Reflect: Why is it idle? (tried, not right yet)")
    led.record_reflection("act1_why", "B", correct=False)
    expect(begun).to_be_visible(timeout=SOON)
    led.record_reflection("act1_why", "A", correct=True)
    done = side.get_by_role("button", name="Reflect: Why is it idle? (done)")
    expect(done).to_be_visible(timeout=SOON)
    led.record_answer("act2_result", 41_000)
    recorded = side.get_by_role("button", name="Answer: The break-even (recorded)")
    expect(recorded).to_be_visible(timeout=SOON)

    # What was decided in this lab and in the one before it.
    earlier = ledger.parent / "before" / "ledger.jsonl"
    earlier.parent.mkdir()
    Ledger.open(earlier, lab="lab_01_magnitude", student="student-01").record_answer("gap", 9)
    other = earlier.parent.parent / "other" / "ledger.jsonl"
    other.parent.mkdir()
    Ledger.open(other, lab="lab_01_magnitude", student="student-02").record_answer("gap", 9)
    page.wait_for_timeout(5200)  # the outcome of a walk through the folders is kept for 5 s
    led.save_design(DESIGN, form_of_lab())
    designs = side.get_by_role("region", name="Design Ledger")
    paid = designs.locator("dl > div", has_text="Inferences that pay for compiling")
    expect(paid.get_by_role("definition")).to_have_text("41,000")
    sizes = "element => [element.scrollWidth, element.clientWidth]"
    wide, room = designs.evaluate(sizes)
    assert wide <= room
    # Other tests leave ledgers on the same server.
    expect(designs).to_contain_text(re.compile("Lab 01 magnitude.*?no design yet"))
    expect(designs).to_contain_text(re.compile(r"\d+ ledgers? of (an)?other student"))
    expect(side.get_by_role("region", name="Saved").get_by_role("status")).to_contain_text(
        re.compile(r"Saved .*\d\d:\d\d.*, 6 events\.")
    )

    for theme in ("Dark", "Light"):
        in_theme(page, theme)
        screenshot(page, theme.lower())
        found = Axe().run(page, context="#mlsys-lab-panel").response["violations"]
        assert not found, [(each["id"], each["nodes"][0]["html"]) for each in found]


@pytest.mark.slow
def test_a_click_or_enter_goes_to_the_cell(open_notebook, lab):
    page = open_notebook(lab)
    active = "jupyterapp.shell.currentWidget.content.activeCellIndex"
    panel(page).get_by_role("button", name="Decide: Eager or compiled?").click()
    page.wait_for_function(f"{active} === 9")
    expect(page.locator(".jp-Cell.jp-mod-active")).to_be_in_viewport()

    # The same by keyboard alone, from wherever the focus is.
    execute(page, "mlsys:show-panel")
    expect(panel(page).get_by_role("button", name="Start", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    expect(panel(page).get_by_role("button", name="Next: predict")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_function(f"{active} === 2")
    expect(page.locator(".jp-Cell.jp-mod-active")).to_be_in_viewport()
    execute(page, "mlsys:show-panel")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function(f"{active} === 4")


@pytest.mark.slow  # tests/server/test_handlers.py has the sentence
def test_an_edited_ledger_is_named(open_notebook, run_lab, lab, screenshot):
    page = open_notebook(lab)
    ledger = run_lab(page)
    saved = panel(page).get_by_role("region", name="Saved")
    expect(saved.get_by_role("status")).to_contain_text(re.compile(r"^Saved .*\d\d:\d\d"))
    ledger.write_text(ledger.read_text().replace('"value":"C"', '"value":"B"'))
    expect(panel(page).get_by_role("status")).to_contain_text(
        "not intact from event 1 (prediction act1_utilization)", timeout=SOON
    )
    expect(status(page)).to_have_text(re.compile("see the Lab panel"))
    screenshot(page, "edited")


@pytest.mark.slow
def test_what_it_costs(open_notebook, lab, plain, lab_server):
    page = open_notebook(plain)
    requests = Requests(page)
    execute(page, "mlsys:show-panel")
    expect(panel(page).get_by_text("No lab is open.")).to_be_visible()
    expect(status(page)).to_have_count(0)
    assert requests.in_seconds(page, 3) == 0

    # A lab beside it: asked about once, then quiet.
    folder = Path(page.evaluate("jupyterapp.shell.currentWidget.context.path")).parent
    (lab_server.folder / folder / "lab.ipynb").write_bytes(lab.read_bytes())
    page.evaluate(
        "path => jupyterapp.commands.execute('docmanager:open', {path})", f"{folder}/lab.ipynb"
    )
    expect(panel(page).get_by_text("Nothing has been saved yet.")).to_be_visible()
    idle = requests.in_seconds(page, 10)
    print(f"requests of an idle lab in 10 s: {idle}")
    assert idle <= 2
    assert listening(page)

    # Out of sight: the panel closed and the status bar off.
    page.evaluate("jupyterapp.shell.collapseRight()")
    execute(page, "statusbar:toggle")
    settled(page)
    led = Ledger.open(beside(page, lab_server), lab=LAB, student="student-01")
    led.commit_prediction("act1_why", "A")
    assert requests.in_seconds(page, 3) == 0
    execute(page, "statusbar:toggle")
    expect(status(page)).to_contain_text("saved")

    # Back to the notebook that is no lab, and after both are closed.
    close(page)
    expect(status(page)).to_have_count(0)
    assert requests.in_seconds(page, 2) == 0
    close(page)
    page.wait_for_function("jupyterapp.shell.currentWidget?.context === undefined")
    assert not listening(page)
    assert requests.in_seconds(page, 2) == 0


@pytest.mark.slow
def test_the_lab_is_restarted_after_a_question(open_notebook, run_lab, lab, screenshot):
    page = open_notebook(lab)
    ledger = run_lab(page)
    side = panel(page)
    saved = side.get_by_role("region", name="Saved")
    expect(saved.get_by_role("status")).to_contain_text(re.compile(r"^Saved .*\d\d:\d\d"))
    kept = ledger.read_bytes()
    kernel = "jupyterapp.shell.currentWidget.sessionContext.session.kernel"
    dialog = page.get_by_role("dialog")

    side.get_by_role("button", name="Restart the lab…").click()
    expect(dialog).to_contain_text("Restart the lab from the beginning?")
    screenshot(page, "question")
    dialog.get_by_role("button", name="Keep working").click()
    assert ledger.read_bytes() == kept

    side.get_by_role("button", name="Restart the lab…").click()
    dialog.get_by_role("button", name="Restart the lab").click()
    expect(side.get_by_text("Nothing has been saved yet.")).to_be_visible()
    expect(side.get_by_text("1 earlier ledger is kept in the same folder.")).to_be_visible()
    assert not ledger.exists()
    assert ledger.with_name("ledger.jsonl.old-1").read_bytes() == kept
    page.wait_for_function(f"{kernel}.status === 'idle'")
    expect(page.locator(".jp-OutputArea-output")).to_have_count(0)
    expect(side.get_by_role("button", name="Start", exact=True)).to_be_visible()

    run_lab(page)
    expect(saved.get_by_role("status")).to_contain_text("2 events.")


@pytest.mark.slow
def test_the_launcher_opens_a_lab(open_notebook, plain, lab, lab_server, screenshot):
    page = open_notebook(plain)
    # By a name of its own: other tests have left labs on the server.
    folder = Path(page.evaluate("jupyterapp.shell.currentWidget.context.path")).parent
    text = lab.read_text().replace("Lab 07: Kernel fusion", f"Lab in {folder}")
    (lab_server.folder / folder / "one.ipynb").write_text(text)
    page.wait_for_timeout(5200)  # the outcome of a walk through the folders is kept for 5 s
    execute(page, "launcher:create")
    card = page.locator(".jp-LauncherCard").filter(has_text="Open a lab")
    expect(card).to_be_visible()
    screenshot(page, "card")
    card.click()
    choice = page.get_by_role("dialog").locator("select")
    expect(page.locator(".jp-NotebookPanel:visible, .jp-Dialog")).not_to_have_count(0)
    if choice.count():
        choice.select_option(label=f"Lab in {folder} ({folder}/one.ipynb)")
        page.get_by_role("dialog").get_by_role("button", name="Open").click()
    expect(panel(page).get_by_role("heading", name=f"Lab in {folder}")).to_be_visible()


def test_notebook_7_has_panel_and_commands(browser, lab_server, lab, screenshot):
    folder = lab_server.folder / "notebook-7"
    folder.mkdir()
    (folder / "lab.ipynb").write_bytes(lab.read_bytes())
    page = new_window(browser)
    page.goto(f"{lab_server.url}notebooks/notebook-7/lab.ipynb?token={lab_server.token}")
    page.wait_for_function("window.jupyterapp?.commands.hasCommand('mlsys:show-panel')")
    execute(page, "mlsys:show-panel")
    side = panel(page)
    expect(side.get_by_role("heading", name="Lab 07: Kernel fusion")).to_be_visible(timeout=30_000)
    expect(side.get_by_text("Nothing has been saved yet.")).to_be_visible()
    # There, to activate a panel that is in sight is to hide it.
    execute(page, "mlsys:show-panel")
    settled(page)
    expect(side).to_be_visible()
    led = Ledger.open(folder / "ledger.jsonl", lab=LAB, student="student-01")
    led.commit_prediction("act1_utilization", "C", confidence=4)
    expect(side.get_by_text("C, confidence 4 of 5")).to_be_visible(timeout=SOON)
    screenshot(page, "panel")
    close_window(page)
