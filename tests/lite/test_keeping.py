"""What was called recorded is in the browser's storage, and gets the points it gets elsewhere."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from mlsys_widgets.authoring.redraw import redraw
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.student_codes import code_of
from mlsys_widgets.grading.gradebook.graded_submission import GradedSubmission
from mlsys_widgets.grading.reading.archives import take_in
from mlsys_widgets.handin.archive import hand_in
from mlsys_widgets.handin.work import find_work
from mlsys_widgets.ledger import Event
from mlsys_widgets.ledger.values import unfrozen
from mlsys_widgets.lite.fetching import SiteParts
from mlsys_widgets.lite.site_build import build_site
from tests.grading.classroom import LAB, classroom, grade
from tests.labs.rehearsal import Workshop, work_through
from tests.lite.conftest import ROOT
from tests.lite.serving import READY, Tab, expose, served

SECRET = "5f0c9a1be2d34c7788aa"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """A small course whose numbers are drawn by code."""
    made = classroom(tmp_path_factory.mktemp("course") / "course")
    settings = made.root / "assignments" / "course.toml"
    before = settings.read_text("utf-8") if settings.is_file() else ""
    settings.write_text(f'student_codes = true\nsecret = "{SECRET}"\n{before}', "utf-8")
    redraw(Course.at(made.root), LAB)
    return made


@pytest.fixture(scope="module")
def folder(fetched: SiteParts, course: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of that course, published as an assignment."""
    made = tmp_path_factory.mktemp("site")
    build_site(Course.at(course.root), made, ROOT / "build" / "lite", way="assignment")
    expose(made)
    return made


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    with served(folder) as address:
        yield address


@pytest.fixture
def code(course: Workshop) -> str:
    return code_of(Course.at(course.root).edition, "ann")


def test_neither_the_secret_nor_a_key_is_published(folder: Path):
    for path in folder.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path
    assert not list((folder / "files").rglob("checks.py"))


def as_code(events: Iterable[Event]) -> Iterator[str]:
    """What somebody recorded, as code that records it again."""
    for event in events:
        given = {n: v for n, v in event.value.items() if n != "value" and v is not None}
        arguments = f"{event.id!r}, {thawed(event.value.get('value'))!r}, **{given!r}"
        match event.kind:
            case "prediction":
                yield f"lab.ledger.commit_prediction({arguments})"
            case "reflection":
                yield f"lab.ledger.record_reflection({arguments})"
            case "answer":
                yield f"lab.ledger.record_answer({arguments})"


def thawed(value: object) -> object:
    return json.loads(json.dumps(unfrozen(value)))


def grade_of(course: Workshop, inbox: Path, place: Path) -> GradedSubmission:
    """Grade what lies in an inbox, in a copy of the course."""
    shutil.copytree(course.root, place)
    assert take_in(Course.at(place), LAB, inbox).students == ["ann"]
    return grade(Workshop(place, LAB))["ann"]


def test_a_lab_is_handed_in_and_gets_the_points_of_the_same_work_on_a_laptop(
    course: Workshop, site: str, context: BrowserContext, code: str, tmp_path: Path
):
    at_home = tmp_path / "laptop" / LAB
    course.give(at_home)
    led = work_through(at_home, "ann", course.course).ledger
    asked = course.asked("ann")
    *right, last = asked.graded
    for name in right:
        led.record_answer(name, asked.keys[name].value)
    led.record_answer(last, 1.0)
    (tmp_path / "native").mkdir()
    hand_in(find_work(at_home), "ann", into=tmp_path / "native")

    tab = Tab(context, site, LAB)
    page = tab.page
    page.locator(".mlsys-Banner .mlsys-Start-button").click()
    page.get_by_label("Name or login").fill("ann")
    page.get_by_role("button", name="That is me").click()
    expect(page.get_by_role("alert")).to_contain_text("That code is not one of 'ann'")
    page.get_by_label("The code that your course gave to you").fill(code)
    page.get_by_role("button", name="That is me").click()
    expect(page.locator(".mlsys-Banner")).to_be_hidden(timeout=READY)
    for line in as_code(led.events()):
        assert tab.run(line) == ("", ""), line
    assert tab.recorded(last) == [1.0]
    panel = page.locator("#mlsys-lab-panel")
    expect(panel.get_by_text("Kept in this browser")).to_be_visible()
    panel.get_by_role("button", name="Hand in…").last.click()
    with page.expect_download() as started:
        page.get_by_role("button", name=re.compile("^Make the file")).click()
    inbox = tmp_path / "inbox"
    started.value.save_as(inbox / started.value.suggested_filename)
    assert started.value.suggested_filename == f"{LAB}-ann.zip"
    page.get_by_role("button", name="Close").last.click()

    here = grade_of(course, inbox, tmp_path / "graded here")
    there = grade_of(course, tmp_path / "native", tmp_path / "graded there")
    assert here.scores == there.scores
    assert here.earned == there.earned
    assert 0 < here.earned < here.most
