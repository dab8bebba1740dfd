"""The page “Write your own instrument” is followed to the letter, and its lab is what it says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from mlsys_widgets.labs.lab_modules import importable
from tests.howto.follower import follow, private
from tests.howto.reader import File, HowTo, read_page
from tests.labs.rehearsal import Workshop, asked, hidden_test, run_hidden

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "authors" / "write_an_instrument.md"
LAB, QUESTION, POINTS = "lab_03_ring", "bucket_mb", 60
STUDENTS = ("ann", "ben", "cleo", "mia", "instructor")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def page() -> HowTo:
    """All sections of the page as one how-to: each continues the one above."""
    sections = read_page(PAGE)
    return HowTo(PAGE, 1, "Write your own instrument", steps=[s for e in sections for s in e.steps])


@pytest.fixture(scope="module")
def course(page, tmp_path_factory) -> Workshop:
    """The course that somebody has who followed the page."""
    base = tmp_path_factory.mktemp("write_an_instrument")
    folder, home = base / "my_course", base / "home"
    folder.mkdir()
    home.mkdir()
    follow(page, folder, private(home, ROOT))
    return Workshop(folder, LAB)


def test_the_page_leads_to_a_graded_lab(course):
    assert sorted(each.name for each in (course.root / "release" / LAB).iterdir()) == [
        "asks.py", f"{LAB}.ipynb", "ring.py", "ring_widget.py",
    ]  # fmt: skip
    report = (course.root / f"report-{LAB}.html").read_text("utf-8")
    beliefs = asked(course.course, LAB, "ann").keys[QUESTION].beliefs
    assert any(belief.name in report for belief in beliefs)


def test_right_answers_earn_all_points_and_beliefs_their_feedback(course, tmp_path):
    code = hidden_test(course.notebook("source"), QUESTION)
    for student in STUDENTS[:2]:
        folder = course.give(tmp_path / student / LAB)
        key = asked(course.course, LAB, student).keys[QUESTION]
        with importable(folder):
            assert run_hidden(code, folder, {QUESTION: key.value})[0] == POINTS
            for belief in key.beliefs:
                points, said = run_hidden(code, folder, {QUESTION: belief.value})
                assert points == pytest.approx(belief.credit * POINTS)
                assert belief.says in said


def test_the_instrument_says_what_the_formula_computes(course):
    """A ring of 64 moves nearly two gradients over each link: 39.4 ms, and 126 steps of 10 µs."""
    with importable(course.root / "release" / LAB):
        from ring_widget import RingAllReduce  # type: ignore[import-not-found]

        ring = RingAllReduce(gpus=64)
        total = 2 * 63 / 64 * 1e9 / 50e9 + 2 * 63 * 10e-6
        assert ring.result.total == pytest.approx(total)
        assert ring.text().startswith("Ring all-reduce. GPUs: 64. Time: 40.6 ms. ")
        # What students get has no docstrings, and explains itself all the same.
        assert "(time of the all-reduce)" in str(ring.result.derivation())


def test_no_released_byte_gives_the_key_away(course):
    released = "\n".join(
        each.read_text("utf-8") for each in (course.root / "release").rglob("*") if each.is_file()
    )
    for word in ("NumberKey", "Belief", "HIDDEN TESTS", "BEGIN SOLUTION", "balance", "tolerance"):
        assert word not in released
    shown = [float(each) for each in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", released)]
    assert len(shown) > 50
    for student in STUDENTS:
        key = asked(course.course, LAB, student).keys[QUESTION]
        assert not any(belief.says in released for belief in key.beliefs)
        assert not [each for each in shown if each == pytest.approx(key.value, rel=1e-3)]


def test_the_page_imports_only_what_the_list_of_parts_names(page):
    """What an author may rely on is written down, module by module."""
    parts = (PAGE.parent / "instrument_parts.md").read_text("utf-8")
    rows = [line for line in parts.splitlines() if line.startswith("| `mlsys_widgets")]
    public = {row.split("`")[1]: row for row in rows}
    files = [each for each in page.steps if isinstance(each, File)]
    made = [each for each in files if Path(each.path).name in ("ring.py", "ring_widget.py")]
    found = 0
    for file in made:
        for node in ast.walk(ast.parse(file.text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mlsys_widgets"):
                for alias in node.names:
                    found += 1
                    assert f"`{alias.name}`" in public[node.module or ""], alias.name
    assert found > 5
