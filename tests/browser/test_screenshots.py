"""The pictures of the pages show the product as it is: taken again, and compared.

``make pictures`` keeps what was taken. Look at every picture before you commit it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, expect

from tests.browser import contact_sheet, views
from tests.browser.conftest import Lab, closed, run_cells
from tests.browser.conftest import opened as opened_notebook
from tests.browser.first_minute import GIF, first_minute, opened
from tests.browser.pictures import differing_pixels
from tests.browser.studio import PICTURES, ROOT, Picture, Studio, studio, study, teach

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

#: How many pixels of a frame of the moving picture may differ: smoothing, and a palette of 64.
_FILM_MAY_DIFFER = 0.04


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("studio")


@pytest.fixture(scope="module")
def made(home: Path, browser: Browser) -> Iterator[Studio]:
    with studio(home, browser) as running:
        yield running


@pytest.fixture(scope="module")
def course(home: Path) -> Path:
    teach(home / "root" / "course")
    return home / "root" / "course"


def same_as_kept(taken: Iterator[tuple[str, Picture]]) -> None:
    """Fail if a picture looks or reads differently from the one that is kept."""
    wrong = []
    for name, picture in taken:
        if os.environ.get("UPDATE_PICTURES"):
            picture.keep(name)
            continue
        fresh = ROOT / "build" / "screenshots" / "pages"
        picture.keep(name, fresh)
        kept = PICTURES / f"{name}.png"
        if not kept.exists():
            wrong.append(f"there is no {kept.name}: run make pictures")
            continue
        words = kept.with_suffix(".txt").read_text("utf-8").splitlines()
        now = picture.text.splitlines()
        new, gone = [w for w in now if w not in words], [w for w in words if w not in now]
        if new or gone:
            wrong.append(f"{name} says {new} and no longer {gone}")
        if said := differing_pixels(Image.open(fresh / kept.name), Image.open(kept)):
            wrong.append(f"{name}: {said}; the new one is in {fresh}")
    assert not wrong, "\n".join([*wrong, "If this is as it should be: make pictures"])


@pytest.mark.slow
def test_a_lab_the_panel_the_start_page_and_a_labs_text(home: Path, made: Studio) -> None:
    study(home / "root" / "ann")
    same_as_kept(views.student(made, "ann"))


@pytest.mark.slow
def test_the_report_on_a_class(made: Studio, course: Path) -> None:
    same_as_kept(views.report(made, course))


@pytest.mark.slow
def test_a_submission_in_formgrader(made: Studio, course: Path) -> None:
    same_as_kept(views.grader(made, course))


@pytest.mark.slow
def test_feedback(made: Studio, course: Path) -> None:
    same_as_kept(views.feedback(made, course))


@pytest.mark.slow
def test_the_first_minute(home: Path, made: Studio, tmp_path: Path) -> None:
    study(home / "root" / "ben")
    film = first_minute(opened(made, "ben"))
    if os.environ.get("UPDATE_PICTURES"):
        film.save(GIF)
    film.save(tmp_path / GIF.name)
    with Image.open(GIF) as kept, Image.open(tmp_path / GIF.name) as now:
        assert 12_000 <= sum(film.times) <= 20_000
        assert not differing_pixels(now, kept, _FILM_MAY_DIFFER), "the first frame"
        for moving in (kept, now):
            moving.seek(moving.n_frames - 1)
        assert not differing_pixels(now, kept, _FILM_MAY_DIFFER), "the last frame"


@pytest.mark.slow
def test_a_contact_sheet_of_cards_and_a_lab(lab_server: Lab, browser: Browser) -> None:
    """Written to ``CONTACT_SHEET``, or to build/screenshots, for a person to look at."""
    place = Path(os.environ.get("CONTACT_SHEET", ROOT / "build" / "screenshots" / "contact"))
    work = lab_server.folder / "contact"
    shutil.copytree(ROOT / "release" / "lab_07_kernel_fusion", work)
    contact_sheet.cards_notebook(work / "cards.ipynb")
    shown = []
    for name in ("cards", "lab_07_kernel_fusion"):
        page = opened_notebook(lab_server, browser, work / f"{name}.ipynb")
        page.evaluate("jupyterapp.shell.collapseLeft()")
        contact_sheet.draw_all(page)
        run_cells(page)
        if name == "cards":
            expect(page.locator(".mlsys-lab-frame")).to_have_count(len(contact_sheet.CARDS))
            expect(page.locator(".mlsys-lab-leads")).to_have_count(1)
        shown += list(contact_sheet.pictures(page, name, place))
        closed(lab_server, page)
    contact_sheet.sheet(shown, place / "index.html")
    assert len(shown) == 2 * len(contact_sheet.SIZES) * len(contact_sheet.THEMES)


def test_pictures_are_small_and_each_has_its_words() -> None:
    kept = sorted(PICTURES.glob("*.png"))
    assert kept
    assert {each.with_suffix(".txt") for each in kept} == set(PICTURES.glob("*.txt"))
    assert sum(each.stat().st_size for each in PICTURES.iterdir()) < 2_600_000
    assert GIF.stat().st_size < 620_000
