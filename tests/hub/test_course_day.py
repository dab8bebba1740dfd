"""The day of a course in a real browser on a real hub: two students, an instructor, one lab."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import nbformat
import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import Browser, expect

from mlsys_widgets import labs
from mlsys_widgets.judging import Belief
from tests.browser.lab_path import SOON, Student
from tests.hub.day import LAB, READY, Assignments, BrowserUser, Formgrader, begin, save
from tests.hub.running import Hub

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(1500)]

#: What the instructor gives for the written answer, and says to it.
POINTS, COMMENT = 9.5, "A clear answer. Which number would convince finance?"
#: The question that the second student gets wrong in a way that the lab knows.
ASKED = "launch_budget_us"


def test_a_lab_goes_from_fetching_to_feedback(hub: Hub, browser: Browser) -> None:
    with at_browsers(browser, hub, "cleo", "dan", "teacher") as (cleo, dan, teacher):
        cleo.lands_on("Your labs")
        theirs = Assignments(cleo)
        student = works_through_an_act(cleo, theirs)
        checks_what_is_missing(cleo, student)
        hands_in(cleo, theirs)

        dan.lands_on("Your labs")
        others = Assignments(dan)
        belief = answers_with_a_misconception(dan, others)
        hands_in_from_the_panel(dan, others)

        teacher.lands_in_the_course()
        teacher.opens_jupyterlab()
        formgrader = Formgrader(teacher)
        collects(teacher, formgrader, (cleo, dan))
        grades(teacher, student, cleo, dan, belief.credit)
        grades_what_was_written(teacher, formgrader, cleo)
        returns_feedback(formgrader, (cleo, dan))

        reads_points_and_comment(cleo, theirs)
        reads_what_was_misunderstood(dan, others, belief.says)


@contextmanager
def at_browsers(browser: Browser, hub: Hub, *people: str) -> Iterator[list[BrowserUser]]:
    """All log in at once, and leave a picture of what they saw last."""
    users = [BrowserUser(browser, hub, who) for who in people]
    try:
        for user in users:
            user.log_in()
        yield users
    finally:
        for user in users:
            user.picture("last")
            user.close()


# The students.


def works_through_an_act(user: BrowserUser, listed: Assignments) -> Student:
    user.picture("list")
    folder = listed.fetch()
    assert (folder / "asks.py").owner() == user.name
    assert not (folder / "checks.py").exists()
    listed.open_notebook()
    student = begin(user, folder)
    first = student.step("card", "act1_utilization")
    waterfall = student.step("instrument", "instrument_Dispatch-waterfall")
    locked = student.cell(waterfall.index).locator(".mlsys-locked")
    expect(locked).to_contain_text("Locked until", timeout=SOON)
    user.picture("locked", locked)

    act = student.steps[: student.steps.index(student.step("card", "act2_message"))]
    for step in act:
        student.do(step)
        if step in (first, waterfall):
            user.picture(step.kind, student.cell(step.index))
    # An essay may come from code too; the cell that a person grades follows the ledger.
    student.write_code('lab.answer("reply", "Memory is what waits.")')
    essay = student.cell(student.step("essay", "reply").index + 1)
    expect(essay).to_contain_text("Memory is what waits.", timeout=SOON)
    save(user)
    kept = nbformat.read(folder / f"{LAB}.ipynb", 4)
    outputs = [each for cell in kept.cells for each in cell.get("outputs", ())]
    assert [each for each in outputs if each.output_type == "error"] == []
    assert (folder / "ledger.jsonl").owner() == user.name

    # The Lab panel reads the same ledger through the hub's address.
    panel = user.page.get_by_role("region", name="Lab panel")
    bars = panel.get_by_role("progressbar")
    for act, done in enumerate((r"^(\d+) of \1 ", "^0 of ")):
        expect(bars.nth(act)).to_have_attribute("aria-valuetext", re.compile(done), timeout=SOON)
    expect(panel).to_contain_text(re.compile(r"Saved .*events\."))
    user.picture("light", student.cell(waterfall.index))
    user.menu("Settings", "Theme", "JupyterLab Dark")
    user.page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
    user.picture("dark")
    return student


def checks_what_is_missing(user: BrowserUser, student: Student) -> None:
    """The button in the Lab panel names exactly what is still to be answered."""
    panel = user.page.get_by_role("region", name="Lab panel")
    panel.get_by_role("button", name="Check what is missing").click()
    said = user.page.locator(".jp-Dialog")
    expect(said).to_contain_text("What is missing?", timeout=READY)
    user.picture("missing")
    for item in graded(student).values():
        assert (item.title in said.inner_text()) is (item.act == 2), item.title
    said.get_by_role("button", name="Ok", exact=True).click()


def graded(student: Student) -> dict[str, labs.Item]:
    """What the lab asks for in cells with a check."""
    kinds = (labs.Number, labs.Choice)
    return {name: item for name, item in student.items.items() if isinstance(item, kinds)}


def answers_with_a_misconception(user: BrowserUser, listed: Assignments) -> Belief:
    folder = listed.fetch()
    listed.open_notebook()
    student = begin(user, folder)
    student.do(student.step("card", "act1_utilization"))
    belief = student.checks[ASKED](student.given).beliefs[0]
    student.enter(student.step("answer", ASKED), f"{belief.value:.6g}")
    user.picture("answered")
    save(user)
    return belief


def hands_in(user: BrowserUser, listed: Assignments) -> None:
    listed.submit()
    user.picture("submitted")
    arrived(user)


def hands_in_from_the_panel(user: BrowserUser, listed: Assignments) -> None:
    """The button in the lab, for those who never open nbgrader's list; the list knows of it."""
    panel = user.page.get_by_role("region", name="Lab panel")
    panel.get_by_role("button", name="Hand in…").click()
    dialog = user.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("Something is missing", timeout=READY)
    dialog.get_by_role("button", name="Hand in anyway").click()
    expect(dialog).to_contain_text("Handed in to the course mlsys", timeout=READY)
    user.picture("handed-in")
    dialog.get_by_role("button", name="Close").click()
    arrived(user)
    user.show("Assignments")
    user.page.get_by_title("Refresh assignments list").click()
    expect(listed.row("submitted")).to_be_visible(timeout=READY)


def arrived(user: BrowserUser) -> None:
    """Notebook and ledger are in the exchange as they are at home."""
    (there,) = user.hub.places.exchange.glob(f"mlsys/inbound/{user.name}+{LAB}+*")
    mine = user.hub.places.home(user.name) / LAB
    for name in (f"{LAB}.ipynb", "ledger.jsonl"):
        assert (there / name).read_bytes() == (mine / name).read_bytes()


# The instructor.


def collects(user: BrowserUser, formgrader: Formgrader, class_: tuple[BrowserUser, ...]) -> None:
    user.picture("formgrader")
    said = formgrader.press("collect")
    for each in class_:
        assert f"Collecting submission: {each.name} {LAB}" in said
        assert (user.hub.places.course / "submitted" / each.name / LAB / "ledger.jsonl").exists()
    user.picture("collected")


def grades(
    user: BrowserUser, student: Student, one: BrowserUser, other: BrowserUser, credit: float
) -> None:
    user.menu("File", "New", "Terminal")
    said = user.type_into_terminal(f"mlsys grade {LAB}")
    user.picture("graded")
    assert re.search(r"submissions +2\b", said), said
    assert re.search(r"wait for a person +1 \(written answers\)", said), said
    assert re.search(r"to look at +0\b", said), said
    first = points(user.hub, one.name)
    second = points(user.hub, other.name)
    for name, item in graded(student).items():
        most = first[name][1]
        assert first[name][0] == (most if item.act == 1 else 0), name
        assert second[name][0] == (pytest.approx(credit * most) if name == ASKED else 0), name


def grades_what_was_written(user: BrowserUser, formgrader: Formgrader, writer: BrowserUser) -> None:
    before = points(user.hub, writer.name)
    formgrader.open_submission("Test, Cleo")
    expect(formgrader.frame.locator("body")).to_contain_text("Memory is what waits.", timeout=READY)
    formgrader.grade("reply", POINTS, COMMENT)
    user.picture("by-hand")
    given = {"reply": (POINTS, COMMENT)}
    user.wait(lambda: by_hand(user.hub, writer.name) == given, "points and comment are kept")
    after = points(user.hub, writer.name)
    assert after.pop("reply") == (POINTS, before.pop("reply")[1])
    assert after == before
    formgrader.leave_submission()


def returns_feedback(formgrader: Formgrader, class_: tuple[BrowserUser, ...]) -> None:
    formgrader.go_to("Manage Assignments")
    assert "Successfully generated feedback" in formgrader.press("generate-feedback")
    assert "Successfully released feedback" in formgrader.press("release-feedback")
    formgrader.user.picture("released")
    for each in class_:
        page = formgrader.user.hub.places.course / "feedback" / each.name / LAB / f"{LAB}.html"
        assert page.exists()


# The students again.


def reads_points_and_comment(user: BrowserUser, listed: Assignments) -> None:
    shown = listed.open_feedback()
    earned = points(user.hub, user.name)
    total, most = (sum(column) for column in zip(*earned.values(), strict=True))
    expect(shown.locator("body")).to_contain_text(f"{round(total, 2):g} of {most:g} points")
    expect(shown.get_by_text(COMMENT)).to_be_visible()
    user.picture("feedback")
    user.picture("comment", shown.get_by_text(COMMENT))
    hides_the_tests(user)


def reads_what_was_misunderstood(user: BrowserUser, listed: Assignments, says: str) -> None:
    shown = listed.open_feedback()
    sentence = shown.get_by_text(says)
    expect(sentence).to_be_visible()
    user.picture("misconception", sentence)
    hides_the_tests(user)


def hides_the_tests(user: BrowserUser) -> None:
    """Neither a hidden test nor a key is in what the student has got."""
    home = user.hub.places.home(user.name)
    (page,) = (home / LAB / "feedback").glob(f"*/{LAB}.html")
    assert page.owner() == user.name
    text = page.read_text()
    for word in ("HIDDEN TESTS", "NumberKey", "award(", "Belief("):
        assert word not in text


# What the gradebook holds.


def points(hub: Hub, student: str) -> dict[str, tuple[float, float]]:
    """Points and most points of every graded cell."""
    with Gradebook(f"sqlite:///{hub.places.course / 'gradebook.db'}") as book:
        notebook = book.find_submission_notebook(LAB, LAB, student)
        return {grade.name: (grade.score, grade.max_score) for grade in notebook.grades}


def by_hand(hub: Hub, student: str) -> dict[str, tuple[float, str]]:
    """Points and comments that a person gave."""
    with Gradebook(f"sqlite:///{hub.places.course / 'gradebook.db'}") as book:
        notebook = book.find_submission_notebook(LAB, LAB, student)
        said = {each.name: each.manual_comment for each in notebook.comments}
        return {
            grade.name: (grade.manual_score, said[grade.name])
            for grade in notebook.grades
            if grade.manual_score is not None and not grade.needs_manual_grade
        }
