"""The site in a real browser: every lab starts, seals, moves and reveals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from mlsys_widgets.authoring.practice_copies import assignment_copies
from mlsys_widgets.authoring.text import TextError
from mlsys_widgets.course.course import Course
from mlsys_widgets.lite.fetching import SiteParts
from mlsys_widgets.lite.site_build import build_site
from tests.browser.lab_path import Step, Student
from tests.browser.pages import draw_all
from tests.grading.classroom import LAB as DEMO
from tests.grading.classroom import classroom
from tests.lite.conftest import ROOT
from tests.lite.serving import Tab, expose, served
from tests.sampling import EXAMPLE, sample

LABS = sorted(path.parent.name for path in ROOT.glob("assignments/*/lab.py"))
#: How many modules Python may have loaded once the cells of a lab have run.
MOST_MODULES = 1000


@pytest.fixture(scope="module")
def folder(fetched: SiteParts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("site")
    build_site(Course.at(ROOT), made, ROOT / "build" / "lite")
    expose(made)
    return made


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    with served(folder) as address:
        yield address


class Walker(Student):
    """A student in a tab of the site."""

    def __init__(self, tab: Tab, folder: Path) -> None:
        # Practice has its checks beside the notebook.
        super().__init__(tab.page, folder, folder, "ann")
        self.tab = tab

    def _explore(self, step: Step, card: Locator) -> None:
        """Have the moves before a comparison made: every lab has others."""
        moves = card.locator(".mlsys-lab-steps li").all_text_contents()
        made = [re.sub(r"^[✓○]| \((done|to do)\)$", "", move) for move in moves]
        assert self.tab.run(f"lab.ledger.record_answer('moves.{step.name}', {made!r})") == ("", "")


@pytest.mark.parametrize("lab", sample([EXAMPLE, *(each for each in LABS if each != EXAMPLE)], 1))
def test_a_lab_reaches_its_first_reveal(site: str, folder: Path, context: BrowserContext, lab: str):
    tab = Tab(context, site, lab)
    tab.start("ann")
    panel = tab.page.locator("#mlsys-lab-panel")
    expect(panel.get_by_role("button", name="Not ann?")).to_be_visible()
    # Practice says of itself that it is, before anything else is in its record.
    assert [event["id"] for event in tab.events()][1:] == ["way"]
    # Each takes a part of the time until the first card; it was 1,200 when nobody looked.
    printed, _ = tab.run("import sys; print(len(sys.modules))")
    assert int(printed) <= MOST_MODULES
    draw_all(tab.page)
    student = Walker(tab, folder / "files" / lab)
    kinds = [step.kind for step in student.steps]
    way = student.steps[: kinds.index("reveal") + 1]
    for step in way:
        if step.kind in ("card", "instrument", "reveal"):
            student.do(step)
    sealed = {event["id"] for event in tab.events() if event["kind"] == "prediction"}
    assert way[-1].name in sealed
    assert "instrument" in kinds[: len(way)]
    assert student.trouble() == []


def test_a_course_with_a_secret_is_published_by_code_or_not_at_all(tmp_path: Path):
    root = classroom(tmp_path / "course").root
    settings = root / "assignments" / "course.toml"
    before = settings.read_text("utf-8") if settings.is_file() else ""
    settings.write_text(f'secret = "5f0c9a1be2d3"\n{before}', "utf-8")
    with pytest.raises(TextError, match="student_codes = true"):
        assignment_copies(Course.at(root), tmp_path / "copies")
    # Built before the course had a secret, or with another: nothing that holds it goes out.
    settings.write_text(f'student_codes = true\nsecret = "5f0c9a1be2d3"\n{before}', "utf-8")
    notebook = root / "release" / DEMO / f"{DEMO}.ipynb"
    text = notebook.read_text("utf-8")
    notebook.write_text(text.replace('"# ', '"# 5f0c9a1be2d3 ', 1), "utf-8")
    with pytest.raises(TextError, match="holds the secret of the course"):
        assignment_copies(Course.at(root), tmp_path / "copies")
