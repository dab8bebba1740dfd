"""The way through a lab: what Next leads to, what a card asks first, and what comes along."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, Page, expect

from mlsys_widgets.ledger import Ledger
from tests.browser.pages import draw_all, no_serious_violation
from tests.browser.test_lab_panel import LAB, SOON, beside, panel, status, step
from tests.browser.test_lab_widgets import card
from tests.made_notebooks import write_notebook

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

SETUP = f"""\
from mlsys_widgets import ConfidenceQuiz, ContextToggle, Question, RooflineWidget
from mlsys_widgets.cards.question_card import QuestionCard
from mlsys_widgets.labs import Essay
from mlsys_widgets.ledger import Ledger
led = Ledger.open("ledger.jsonl", lab={LAB!r}, student="student-01")"""
ROOF = "roof = RooflineWidget()\nroof"
CONTEXT = """\
context = ContextToggle({"cloud": "Cloud", "edge": "Edge"}, ledger=led)
context.lead(roof, {"device": {"cloud": "h100-sxm", "edge": "orin-nx"}})
context"""
ESSAY = """\
QuestionCard("why", Essay("Why?", [(2, "names the memory")], title="Why is it slow?",
    at_least=3, at_most=5), ledger=led)"""
QUIZ = """\
ConfidenceQuiz("quiz", [Question("relu", "What limits ReLU?",
    {"m": "memory", "c": "compute"}, right="m", why="Bytes.")], ledger=led, title="One question")"""
#: Not the current widget, which may be a copy of an instrument beside it.
NOTEBOOK = "[...jupyterapp.shell.widgets('main')].find(widget => widget.context)"
DIRTY = f"{NOTEBOOK}.content.model.dirty"
AT_TOP = f"""() => {{
  const frame = document.querySelector('.jp-WindowedPanel-outer').getBoundingClientRect();
  return {NOTEBOOK}.content.widgets.findIndex(
    ({{ node }}) => node.isConnected && node.getBoundingClientRect().bottom > frame.top + 8);
}}"""


def write(path: Path, cells: list[nbformat.NotebookNode]) -> Path:
    about = {"lab": LAB, "title": "Lab 07: Kernel fusion", "acts": ["The dispatch tax"]}
    # As the builder writes them: JupyterLab adds what is missing, and calls that a change.
    return write_notebook(path, *cells, mlsys=about, language_info={"name": "python"})


def instrument(title: str, source: str = "pass", **more: object) -> nbformat.NotebookNode:
    about = {"kind": "instrument", "title": title, **more}
    return nbformat.v4.new_code_cell(source, metadata={"mlsys": about})


def test_next_leads_from_the_prediction_to_the_instrument_the_comparison_and_the_question(
    open_notebook, tmp_path, lab_server
):
    cells = [
        nbformat.v4.new_markdown_cell("# The whole lab"),
        nbformat.v4.new_markdown_cell("## Act 1: A wall"),
        nbformat.v4.new_code_cell("# Message: It is slow"),
        step("prediction", "bound", "Which roof?", 1),
        instrument("Roofline", explores=["bound"]),
        step("compare", "bound", "Which roof?"),
        nbformat.v4.new_markdown_cell("### Your numbers"),
        step("answer", "busy", "How busy is it?"),
    ]
    page = open_notebook(write(tmp_path / "lab.ipynb", cells))
    following = panel(page).get_by_role("region", name="What to do next")
    led = Ledger.open(beside(page, lab_server), lab=LAB, student="student-01")
    led.record_answer("context", "cloud")
    # The cell where Next leads is the first that a student reads before the step.
    for kind, title, cell, write_it in (
        ("predict", "Which roof?", 1, lambda: led.commit_prediction("bound", "m", 3)),
        ("explore", "Roofline", 4, lambda: led.record_answer("explored.bound", True)),
        ("compare", "Which roof?", 5, lambda: led.record_answer("compared.bound", True)),
        ("answer", "How busy is it?", 6, lambda: led.record_answer("busy", 33)),
    ):
        expect(following).to_contain_text(f"Next: {kind}", timeout=SOON)
        expect(following).to_contain_text(title)
        following.get_by_role("button").click()
        page.wait_for_function(
            "index => jupyterapp.shell.currentWidget.content.activeCellIndex === index", arg=cell
        )
        write_it()
    expect(following).to_contain_text("All steps are done", timeout=SOON)
    following.get_by_role("button", name="Hand in the lab…").click()
    expect(page.locator(".jp-Dialog").first).to_be_visible(timeout=SOON)
    page.locator(".jp-Dialog").first.press("Escape")
    # Two steps count; what lies between them is part of the way.
    expect(status(page)).to_contain_text("2 of 2")


def test_next_leads_on_past_what_is_wrong_and_comes_back_to_it(open_notebook, tmp_path, lab_server):
    cells = [
        nbformat.v4.new_markdown_cell("## Act 1: A wall"),
        step("prediction", "bound", "Which roof?", 1),
        instrument("Roofline", explores=["bound"]),
        step("compare", "bound", "Which roof?"),
        *(step("answer", name, f"Question {name}") for name in ("one", "two", "three")),
    ]
    page = open_notebook(write(tmp_path / "lab.ipynb", cells))
    following = panel(page).get_by_role("region", name="What to do next")
    led = Ledger.open(beside(page, lab_server), lab=LAB, student="student-01")

    def answer(name: str, right: bool) -> None:
        led.record_answer(name, len(led.events()))
        led.record_answer(f"judged.{name}", right)

    def leads_to(words: str, *more: str) -> None:
        for each in (words, *more):
            expect(following).to_contain_text(each, timeout=SOON)

    led.commit_prediction("bound", "m", 3)
    leads_to("Next: explore")
    # Compared without exploring: nobody is sent back to explore.
    led.record_answer("compared.bound", True)
    leads_to("Question one")
    answer("one", right=False)
    leads_to("Question two", "One is not right yet; Next comes back to it at the end.")
    answer("two", right=False)
    leads_to("Question three", "2 are not right yet")
    answer("three", right=True)
    # What was tried longest ago comes first, and goes to the end when it is wrong again.
    leads_to("Next: answer again", "Question one")
    answer("one", right=False)
    leads_to("Next: answer again", "Question two")
    answer("two", right=True)
    leads_to("Next: answer again", "Question one")
    answer("one", right=True)
    leads_to("All steps are done")


def test_cards_count_ask_and_bring_along(open_notebook, run_all, tmp_path):
    words = nbformat.v4.new_markdown_cell("\n\n".join(["A long way down."] * 40))
    cells = [
        nbformat.v4.new_code_cell(SETUP),
        instrument("Roofline", ROOF),
        words,
        nbformat.v4.new_code_cell(CONTEXT),
        step("essay", "why", "Why is it slow?", source=ESSAY),
        step("quiz", "quiz", "One question", source=QUIZ),
    ]
    cells[1].metadata["jupyter"] = {"source_hidden": True}
    page = open_notebook(write(tmp_path / "lab.ipynb", cells))
    # Whoever has only opened it has changed nothing.
    page.wait_for_function(
        "jupyterapp.shell.currentWidget.content.model.getMetadata('language_info')?.version"
    )
    assert page.evaluate(DIRTY) is False
    draw_all(page)
    run_all(page)

    _an_essay_counts_its_words(page)
    _a_quiz_asks_before_it_locks(page)
    _a_context_brings_its_instrument(page)
    _a_reload_returns(page)


def _an_essay_counts_its_words(page: Page) -> None:
    essay = card(page, "Why is it slow? (2 points)")
    expect(essay).to_contain_text("names the memory")  # before anything is written
    counter = essay.locator(".mlsys-lab-count")
    box = essay.get_by_role("textbox")
    for text, says in (
        ("", "0 words: too short, at least 3"),
        ("Memory — waits.", "2 words: too short, at least 3"),
        ("Because memory waits.", "3 words: long enough"),
        ("Because all of the memory waits.", "6 words: too long, at most 5"),
        ("Memory waits.", "2 words: too short, at least 3"),
    ):
        box.fill(text)
        expect(counter).to_have_text(says)
    essay.get_by_role("button", name="Record my answer").click()
    expect(essay).to_contain_text("Recorded: 2 words")
    expect(essay).to_contain_text("Too short. That is 2 words; write at least 3.")


def _a_quiz_asks_before_it_locks(page: Page) -> None:
    quiz = card(page, "One question")
    quiz.get_by_role("radio", name="memory").press("Space")
    quiz.get_by_role("radio", name="4").press("Space")
    ask = quiz.get_by_role("button", name="Check my answers")
    ask.focus()
    page.keyboard.press("Enter")
    final = quiz.get_by_text("Lock it in?")
    expect(final).to_be_visible()
    # A second Enter locks nothing; Tab leads to both ways on.
    page.keyboard.press("Enter")
    _tab_to(page, quiz.get_by_role("button", name="Lock it in"))
    _tab_to(page, quiz.get_by_role("button", name="Not yet"))
    page.keyboard.press("Enter")
    expect(final).to_have_count(0)
    expect(quiz.get_by_role("radio", name="memory")).to_be_enabled()
    expect(quiz.get_by_role("radio", name="memory")).to_be_checked()
    quiz.get_by_role("button", name="Check my answers").press("Enter")
    no_serious_violation(page, ".mlsys-lab")
    quiz.get_by_role("button", name="Lock it in").press("Enter")
    expect(quiz).to_contain_text("You got 1 of 1 right")


def _a_context_brings_its_instrument(page: Page) -> None:
    """It is far below its instrument, which comes along with one click."""
    context = card(page, "Where does your system run?")
    page.set_viewport_size({"width": 1800, "height": 900})
    context.get_by_role("button", name="Roofline").click()
    copy = page.locator("#mlsys-instrument-beside")
    expect(copy.get_by_role("heading", name="Roofline")).to_be_visible()
    copy.get_by_label("Device").select_option("a100-sxm")
    expect(context).to_contain_text("Roofline shows something else now")
    context.get_by_role("button", name="Load this context again").click()
    expect(context).not_to_contain_text("shows something else")
    expect(copy.get_by_label("Device")).to_have_value("h100-sxm")


def _a_reload_returns(page: Page) -> None:
    page.evaluate(f"{NOTEBOOK}.context.save()")
    page.wait_for_function(f"!({DIRTY})")
    card(page, "One question").scroll_into_view_if_needed()
    top = f"{NOTEBOOK}.content.widgets[({AT_TOP})()].model.id"
    page.wait_for_function(f"() => Object.values(sessionStorage).includes({top})")
    before = page.evaluate(AT_TOP)
    assert before > 0
    page.reload()
    drawn = f"window.jupyterapp?.shell && {NOTEBOOK}?.content?.widgets?.length"
    page.wait_for_function(f"() => {drawn} && ({AT_TOP})() >= {before}")


def _tab_to(page: Page, button: Locator) -> None:
    page.keyboard.press("Tab")
    expect(button).to_be_focused()
