"""From the button that measures to the file that is handed in, in a real JupyterLab."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.carried_record import carried
from tests.browser.lab_path import Student
from tests.browser.pages import draw_all, no_serious_violation
from tests.browser.tampering import INTERCEPT, have_a_bad_day, lose_one
from tests.grading.classroom import LAB as DEMO
from tests.grading.classroom import classroom

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
LAB = "lab_11_roofline"
#: Milliseconds that a measurement or a start may take on a busy machine.
MEASURED = 90_000


@pytest.fixture
def student(lab_server, open_notebook, run_all, tmp_path) -> Student:
    """Somebody who has opened Lab 11 and run it."""
    folder = lab_server.folder / tmp_path.name / LAB
    notebook = Path(shutil.copytree(ROOT / "release" / LAB, folder)) / f"{LAB}.ipynb"
    page = open_notebook(notebook)
    draw_all(page)
    run_all(page)
    return Student(page, ROOT / "assignments" / LAB, folder, lab_server.student)


def card_of(student: Student, name: str) -> Locator:
    return student.cell(student.step("card", name).index).locator(".mlsys-lab")


def export(page: Page, lab_server, path: str) -> str:
    """The page that JupyterLab's own export gives."""
    key = {"Authorization": f"token {lab_server.token}"}
    return page.context.request.get(f"{lab_server.url}nbconvert/html/{path}", headers=key).text()


def test_a_lab_is_measured_exported_and_handed_in(student, lab_server, screenshot):
    student.do(student.step("card", "act1_wall"))
    measures(student, screenshot)
    saves_and_exports(student, lab_server)
    hands_in(student, lab_server, screenshot)


def measures(student, screenshot):
    """Canceled once, then taken; the chart follows by itself."""
    page, folder = student.page, student.work
    ids = [cell.id for cell in student.book.cells]
    cell = student.cell(ids.index("instrument_Your-machine-beside-an-H100"))
    chart = cell.locator(".mlsys-sentence")
    expect(chart).to_contain_text("GEMM has an intensity")
    expect(chart).not_to_contain_text("Your machine")
    card = card_of(student, "measurement")
    card.get_by_role("button", name="Measure this machine").click()
    expect(card.get_by_role("progressbar")).to_be_visible()
    screenshot(page, "measuring")
    card.get_by_role("button", name="Cancel").click()
    expect(card.get_by_role("progressbar")).to_have_count(0)
    assert not (folder / "machine.json").exists()
    card.get_by_role("button", name="Measure this machine").click()
    measured = card.get_by_text(re.compile("^Your measurement"))
    again = card.get_by_role("button", name="Try again")
    for _ in range(10):  # a machine that is too busy says so, and is asked once more
        expect(measured.or_(again).first).to_be_visible(timeout=MEASURED)
        if not again.is_visible():
            break
        again.click()
        expect(again).to_be_hidden()
    expect(card).to_contain_text("Your measurement")
    expect(chart).to_contain_text("Your machine, as measured")
    card.scroll_into_view_if_needed()
    screenshot(page, "measured")
    no_serious_violation(page, ".jp-OutputArea-output")
    assert json.loads((folder / "machine.json").read_text())["status"] == "complete"
    kept = Ledger.open(folder / "ledger.jsonl").state().answers["measurement"].value
    assert re.fullmatch("[0-9a-f]{64}", kept["digest"])


def saves_and_exports(student, lab_server):
    """Nothing is run again: what was done is in the file once it is saved, and it wants to be."""
    page = student.page
    path = (student.work / f"{LAB}.ipynb").relative_to(lab_server.folder).as_posix()
    page.wait_for_function("jupyterapp.shell.currentWidget.context.model.dirty")
    expected = ("Sealed:", "Your measurement", "data:image/svg+xml")
    for _ in range(60):  # kernels write down how cards look a moment after they changed
        page.evaluate("jupyterapp.commands.execute('docmanager:save')")
        page.wait_for_function("!jupyterapp.shell.currentWidget.context.model.dirty")
        shown = export(page, lab_server, path)
        missing = [words for words in expected if words not in shown]
        if not missing:
            break
        page.wait_for_timeout(500)
    assert missing == []
    # The server has put the record into the file, and JupyterLab has nothing to ask about that.
    saved = carried(json.loads((student.work / f"{LAB}.ipynb").read_bytes()))
    assert saved == (student.work / "ledger.jsonl").read_bytes()
    expect(page.locator(".jp-Dialog")).to_have_count(0)


def only_the_name(route: Route) -> None:
    """Answer as for somebody who has done everything and whose name is only a login."""
    outlook = route.fetch().json()
    doubt = {"kind": "name", "words": "You would hand in as root."}
    route.fulfill(json={**outlook, "missing": [doubt]})


def hands_in(student, lab_server, screenshot):
    """What is missing is said first; a name in doubt is no such thing."""
    page, folder = student.page, student.work
    panel = page.get_by_role("region", name="Lab panel")
    dialog = page.get_by_role("dialog")
    page.route("**/mlsys/hand-in?*", only_the_name)
    panel.get_by_role("button", name="Hand in…").click()
    expect(dialog).to_contain_text("Is this your name?")
    expect(dialog).to_contain_text("All steps are done and the ledger is intact.")
    expect(dialog.get_by_role("button", name="Make the file", exact=True)).to_be_visible()
    dialog.get_by_role("button", name="Go back").click()
    page.unroute("**/mlsys/hand-in?*")
    panel.get_by_role("button", name="Hand in…").click()
    expect(dialog).to_contain_text("Something is missing")
    expect(dialog).to_contain_text("to do.")
    expect(dialog).not_to_contain_text("measurement “Measure this machine”")
    screenshot(page, "missing")
    no_serious_violation(page, ".jp-Dialog")
    dialog.get_by_role("button", name="Go back").click()
    assert not list(folder.glob("*.zip"))
    panel.get_by_role("button", name="Hand in…").click()
    dialog.get_by_role("button", name="Make the file anyway").click()
    expect(dialog).to_contain_text("Your file is ready")
    screenshot(page, "ready")
    with page.expect_download() as download:
        dialog.get_by_role("link").click()
    assert download.value.suggested_filename == f"{LAB}-{lab_server.student}.zip"
    with zipfile.ZipFile(download.value.path()) as archive:
        assert {f"{LAB}.ipynb", "ledger.jsonl", "machine.json"} <= set(archive.namelist())
        notebook = archive.read(f"{LAB}.ipynb")
        assert b"Your measurement" in notebook
        assert carried(json.loads(notebook)) == archive.read("ledger.jsonl")
    dialog.get_by_role("button", name="Close").click()


@pytest.mark.slow  # tests/server/test_saved_records.py has the record
def test_somebody_moves_only_the_notebook(lab_server, open_notebook, tmp_path):
    """Saved on one slow machine and opened on another: everything that was recorded is there."""
    course = classroom(tmp_path / "course")
    before, after = (lab_server.folder / tmp_path.name / each / DEMO for each in ("old", "new"))
    course.give(before)
    ledger = Ledger.open(before / "ledger.jsonl", lab=DEMO, student=lab_server.student)
    sealed = ledger.commit_prediction("act1_bound", "A", 3)
    ledger.record_answer("limit", "memory")
    page = open_notebook(before / f"{DEMO}.ipynb", script=INTERCEPT)
    have_a_bad_day(page)
    for _ in range(2):  # the second save finds what the first one has put into the file
        page.evaluate("jupyterapp.commands.execute('notebook:insert-cell-below')")
        page.wait_for_function("jupyterapp.shell.currentWidget.context.model.dirty")
        page.evaluate("jupyterapp.commands.execute('docmanager:save')")
        page.wait_for_function("!jupyterapp.shell.currentWidget.context.model.dirty")
        expect(page.locator(".jp-Dialog")).to_have_count(0)
    course.give(after)
    shutil.copyfile(before / f"{DEMO}.ipynb", after / f"{DEMO}.ipynb")
    page = open_notebook(after / f"{DEMO}.ipynb", script=INTERCEPT)
    have_a_bad_day(page)
    lose_one(page)
    banner = page.get_by_role("region", name="Start or resume the lab")
    banner.get_by_role("button", name=re.compile("^(Start|Resume)$")).click()
    expect(banner).to_be_hidden(timeout=MEASURED)
    assert (after / "ledger.jsonl").read_bytes().startswith((before / "ledger.jsonl").read_bytes())
    welcome = page.locator(".jp-OutputArea-output", has_text="restored from the record")
    expect(welcome.first).to_be_visible(timeout=MEASURED)
    kept = Ledger.open(after / "ledger.jsonl").state()
    assert kept.predictions["act1_bound"] == sealed
    assert kept.answers["limit"].value == "memory"
