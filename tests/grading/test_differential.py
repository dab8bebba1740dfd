"""Stock nbgrader and ours grade the same simulated class: the same rows, notebooks and feedback."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

from mlsys_widgets.classes.simulation import simulate
from mlsys_widgets.classes.submission_kinds import KINDS
from tests.grading.classroom import LAB, classroom, grade, joined, of, rows
from tests.labs.rehearsal import Workshop, run_tool

pytestmark = pytest.mark.timeout(900)
DUE = "2026-09-25 22:00:00.000000"
#: Where a breakage makes stock nbgrader give up, or leave what we can still judge.
STOCK_FAILS = {
    "no-json": "it stops at this student",
    "no-notebook": "it stops at this student",
    "renamed": "it stops at this student",
    "cell-doubled": "it stops the whole class, with a word about old metadata",
}
STOCK_SKIPS = {"cell-deleted": "it leaves the deleted cell ungraded; we judge the answer"}
LATE = """

from nbgrader.plugins import BasePlugin


class Half(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score / 2


c.AssignLatePenalties.plugin_class = Half
"""


@dataclass
class Twins:
    """The same class, graded by nbgrader, by ours with every notebook run, and by record."""

    stock: Workshop
    ours: Workshop
    recorded: Workshop
    kinds: dict[str, str]

    def honest(self) -> list[str]:
        return [name for name, kind in self.kinds.items() if kind not in STOCK_FAILS]


def grade_twice(place: Path, students: int) -> Twins:
    ours = classroom(place / "ours")
    config = ours.root / "nbgrader_config.py"
    config.write_text(config.read_text() + LATE)
    with sqlite3.connect(ours.root / "gradebook.db") as db:
        db.execute("update assignment set duedate = ?", (DUE,))
    made = simulate(ours.root, LAB, students, seed=7, kinds=list(KINDS))
    kinds = {each.student: each.kind for each in made}
    assert set(kinds.values()) == set(KINDS)
    stock, recorded = (Workshop(place / name, LAB) for name in ("stock", "recorded"))
    for each in (stock, recorded):
        shutil.copytree(ours.root, each.root)
    for name, kind in kinds.items():
        if kind == "cell-doubled":
            shutil.rmtree(stock.work(name).parent)
    told = run_tool(stock.root, "nbgrader", "autograde", LAB)
    assert "error" in told.stderr.lower() or told.returncode == 0
    for each, options in ((ours, ("--run",)), (recorded, ("--audit", "0%"))):
        done = run_tool(each.root, "mlsys_widgets", "grade", LAB, *options)
        assert done.returncode in (0, 3), done.stderr
    return Twins(stock, ours, recorded, kinds)


@pytest.fixture(scope="module")
def twins(tmp_path_factory) -> Twins:
    return grade_twice(tmp_path_factory.mktemp("twins"), len(KINDS))


def test_the_rows_are_the_same(twins):
    compare_rows(twins)


def compare_rows(twins: Twins) -> None:
    for each in (twins.ours, twins.recorded):
        compare_rows_of(twins, each)


def compare_rows_of(twins: Twins, graded: Workshop) -> None:
    theirs, mine = rows(twins.stock.root), rows(graded.root)
    for name in twins.honest():
        kind = twins.kinds[name]
        stock, ours = of(name, theirs), of(name, mine)
        if kind in STOCK_SKIPS:
            gone = [row for row in stock["grade"] if row not in ours["grade"]]
            assert len(gone) <= 1, (name, kind, gone)
            assert all(row[2] is None for row in gone), gone
            continue
        assert stock == ours, (name, kind)
    assert {row[0] for row in mine["student"]} == set(twins.kinds)


def test_everybody_has_a_row_and_the_broken_a_reason(twins):
    graded = of_all(twins)
    assert set(graded) == set(twins.kinds)
    for name, kind in twins.kinds.items():
        told = [*graded[name]["remarks"], *graded[name]["flags"]]
        if kind in STOCK_FAILS or kind in STOCK_SKIPS:
            assert told, (name, kind)


def of_all(twins: Twins) -> dict[str, dict]:
    return logged(twins.ours)


def logged(course: Workshop) -> dict[str, dict]:
    lines = (course.root / ".mlsys" / f"grade-{LAB}.jsonl").read_text().splitlines()
    return {said["student"]: said for said in map(json.loads, lines)}


def test_both_ways_were_gone(twins):
    assert {said["way"] for said in logged(twins.ours).values()} <= {"run", "record"}
    ways = {name: said["way"] for name, said in logged(twins.recorded).items()}
    sound = [name for name in twins.honest() if twins.kinds[name] in ("right", "misconceived")]
    assert {ways[name] for name in sound} == {"record"}
    assert "run" in ways.values()


def test_by_record_the_grader_says_the_same_under_the_same_cells(twins):
    """What else it shows is the student's own; the class is made up, and has no outputs."""
    compared = 0
    for name, said in logged(twins.recorded).items():
        if said["way"] != "record" or name not in twins.honest():
            continue
        stock, ours = (plain(each.graded_work(name)) for each in (twins.stock, twins.recorded))
        assert [c["source"] for c in stock] == [c["source"] for c in ours]
        for one, other in zip(stock, ours, strict=True):
            assert one["metadata"] == other["metadata"]
            if one["id"].startswith("check_"):
                assert one == other, (name, twins.kinds[name], one["id"])
                assert one["outputs"]
                compared += 1
            elif one["cell_type"] == "code":
                assert other["outputs"] == []
    assert compared > 10


def test_the_penalty_for_being_late_is_the_same(twins):
    late = [name for name, kind in twins.kinds.items() if kind == "late"]
    found = [of(name, rows(twins.ours.root))["notebook"][0][1] for name in late]
    assert any(found)
    assert found == [of(name, rows(twins.stock.root))["notebook"][0][1] for name in late]


def test_the_notebooks_are_the_same(twins):
    compared = 0
    for name in twins.honest():
        if twins.kinds[name] in STOCK_SKIPS:
            continue
        stock, ours = (plain(each.graded_work(name)) for each in (twins.stock, twins.ours))
        assert [c["source"] for c in stock] == [c["source"] for c in ours]
        for one, other in zip(stock, ours, strict=True):
            assert one == other, (name, twins.kinds[name], one["id"])
        files = [
            {p.name for p in (each.root / "autograded" / name / LAB).rglob("*")}
            for each in (twins.stock, twins.ours)
        ]
        assert files[0] == files[1]
        compared += 1
    assert compared >= len(twins.kinds) // 2


def plain(book: nbformat.NotebookNode) -> list[dict]:
    """Cells without what differs from run to run: widgets' ids, times, how streams are split.

    Nor what only ours says above a notebook, such as that there is no ledger.
    """
    nbformat.validate(book)
    cells = []
    for cell in map(joined, book.cells):
        if cell.id.startswith("about-this-submission"):
            continue
        cell.metadata.pop("execution", None)
        text = json.dumps(cell, sort_keys=True)
        text = re.sub(r"\b[0-9a-f]{32}\b", "ID", text)
        text = re.sub(r"/tmp/ipykernel_\d+/\d+\.py|<ipython-input-[^>]+>", "CELL", text)
        text = re.sub(r"at 0x[0-9a-f]+", "at 0x", text)
        cells.append(json.loads(text))
    return cells


def test_nbgraders_own_tools_continue_from_here(twins):
    """Feedback of both, and what formgrader asks for."""
    some = next(name for name, kind in twins.kinds.items() if kind == "misconceived")
    run_tool(twins.stock.root, "nbgrader", "generate_feedback", LAB, "--student", some)
    told = run_tool(twins.ours.root, "nbgrader", "generate_feedback", LAB)
    assert told.returncode == 0, told.stderr[-2000:]
    for name in twins.honest():
        page = twins.ours.root / "feedback" / name / LAB / f"{LAB}.html"
        assert page.is_file(), name
    pages = [
        text_of(each.root / "feedback" / some / LAB / f"{LAB}.html")
        for each in (twins.stock, twins.ours)
    ]
    assert pages[0] == pages[1]


def text_of(page: Path) -> str:
    """The words of a page, without spaces: a stream in two parts has other breaks between them."""
    body = page.read_text("utf-8").partition("<body")[2]
    words = re.sub(r"\b[0-9a-f]{32}\b", "ID", re.sub(r"<[^>]+>", " ", body))
    return "".join(words.split())


def test_formgrader_finds_its_submissions(twins, monkeypatch):
    from nbgrader.api import Gradebook
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    monkeypatch.chdir(twins.ours.root)
    course = CourseDirectory(root=str(twins.ours.root))
    api = NbGraderAPI(course)
    about = {each["student"]: each for each in api.get_submissions(LAB)}
    assert set(about) == set(twins.kinds)
    assert all(each["autograded"] for each in about.values())
    assert api.get_assignment(LAB)["num_submissions"] == len(twins.kinds)
    with Gradebook(f"sqlite:///{twins.ours.root / 'gradebook.db'}") as book:
        found = {each["student"]: each for each in book.submission_dicts(LAB)}
        assert set(found) == set(twins.kinds)
        for name, each in about.items():
            assert each["score"] == pytest.approx(found[name]["score"])
    out = run_tool(twins.ours.root, "nbgrader", "export", "--to", "grades.csv")
    assert out.returncode == 0, out.stderr
    assert len((twins.ours.root / "grades.csv").read_text().splitlines()) == len(twins.kinds) + 1


@pytest.mark.slow
def test_a_class_of_sixty(tmp_path):
    twins = grade_twice(tmp_path, 60)
    compare_rows(twins)
    test_the_notebooks_are_the_same(twins)
    test_everybody_has_a_row_and_the_broken_a_reason(twins)


def test_graded_twice_is_the_same(tmp_path):
    """Grading again changes no row, and no notebook apart from ids."""
    course = classroom(tmp_path / "course")
    simulate(course.root, LAB, 3, seed=3, kinds=["right", "misconceived", "nonsense"])
    first, before = grade(course), rows(course.root)
    books = {name: plain(course.graded_work(name)) for name in first}
    again = grade(course, force=True)
    assert {n: g.scores for n, g in again.items()} == {n: g.scores for n, g in first.items()}
    assert rows(course.root) == before
    assert {name: plain(course.graded_work(name)) for name in first} == books
