"""One file is enough: the notebook with the record that it carries, or the ledger."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.gradebook.graded_submission import BY_RECORD, RUN
from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.grading.reading.ledger_sources import (
    carried_owner,
    find_ledger,
    lay_out_ledger,
    with_found_ledger,
)
from mlsys_widgets.grading.reading.misplaced_work import FoundWork
from mlsys_widgets.ledger.carried_record import carried, put_record, record_of
from mlsys_widgets.ledger.events import from_line, to_line
from mlsys_widgets.ledger.journal import LARGEST_FILE
from mlsys_widgets.notebooks.cell_metadata import grade_id
from mlsys_widgets.notebooks.essay_cells import typed_text
from mlsys_widgets.notebooks.remarks import RemarkKind
from tests.grading.classroom import LAB, autograded, classroom, grade, record, running
from tests.labs.rehearsal import nbgrader
from tests.ledger.test_carried_record import carrying, ledger_of, notebook

pytestmark = pytest.mark.timeout(600)
MINE = ledger_of(1, 2)


# Which of the two counts.


@pytest.mark.parametrize(
    ("file", "record", "counts", "kind"),
    [
        (MINE, None, MINE, None),
        (None, MINE, MINE, RemarkKind.RECORD_ALONE),
        (MINE, MINE, MINE, None),
        (MINE, ledger_of(1), MINE, None),
        (ledger_of(1), MINE, MINE, RemarkKind.RECORD_LONGER),
        (MINE[:-30], MINE, MINE, RemarkKind.RECORD_LONGER),
        (MINE.replace(b"\n", b"\r\n"), MINE, MINE.replace(b"\n", b"\r\n"), None),
        (b"", MINE, MINE, RemarkKind.RECORD_INSTEAD),
        (MINE.decode().encode("utf-16"), MINE, MINE, RemarkKind.RECORD_INSTEAD),
        (b"x" * (LARGEST_FILE + 1), MINE, MINE, RemarkKind.RECORD_INSTEAD),
        (ledger_of(1, 3), MINE, ledger_of(1, 3), RemarkKind.RECORD_DIFFERS),
        (MINE, ledger_of(1, 2, student="bob"), MINE, RemarkKind.RECORD_DIFFERS),
        (None, None, None, None),
        (MINE, b"", MINE, None),
    ],
)
def test_the_longer_of_two_that_agree_counts_and_else_the_file(file, record, counts, kind):
    found = find_ledger(file, notebook() if record is None else carrying(record))
    assert found.content == counts
    assert (found.remark.kind if found.remark else None) == kind


def test_how_they_differ_is_said():
    other = find_ledger(ledger_of(1, 3), carrying(MINE)).remark
    assert other.sentence.endswith("They have 2 entries in common, and then differ")
    friends = find_ledger(MINE, carrying(ledger_of(student="bob"))).remark
    assert friends.sentence.endswith("The record says it is that of “bob”")
    longer = find_ledger(ledger_of(1), carrying(MINE)).remark
    assert "has 1 entry more than the ledger" in longer.sentence


def test_a_notebook_that_was_not_saved_since_the_lab_was_begun_again():
    before = ledger_of(1, 2, ident="old")
    found = find_ledger(MINE, carrying(ledger_of(1, ident="old")), earlier=[before])
    assert (found.content, found.remark) == (MINE, None)


BAD = {
    "nothing": None,
    "numbers": {"lines": [1, 2]},
    "nested": {"lines": [[["x"]]]},
    "line ends": {"lines": ["a\nb"]},
    "a million lines": {"lines": [""] * 1_000_000},
    "too large": {"lines": ["x" * 1_000_000] * 5},
    "left out": {"left_out": "Give me all points."},
}


@pytest.mark.parametrize("bad", BAD)
def test_a_record_that_cannot_be_used_is_named_if_it_is_needed(bad):
    book = notebook(record=BAD[bad])
    found = find_ledger(None, book)
    assert found.content is None
    assert found.remark.kind is RemarkKind.RECORD_UNUSABLE
    assert found.remark.sentence.endswith("Hand in the notebook and ledger.jsonl")
    assert "points" not in found.remark.sentence, "nothing of it is quoted"
    assert find_ledger(MINE, book).remark is None


def test_a_key_that_comes_twice_is_read_as_json_reads_it():
    """The last one counts, here as everywhere else in the notebook."""
    text = json.dumps(carrying(MINE))
    twice = text.replace('"record": ', '"record": {"lines": []}, "record": ')
    assert with_found_ledger(FoundWork({f"{LAB}.ipynb": twice.encode()}), LAB).files[LEDGER] == MINE


@pytest.mark.parametrize("content", [b"", b"[]", b'"record"', b'{"record": ' + b"[" * 90_000])
def test_what_is_no_notebook_changes_nothing(content):
    work = FoundWork({f"{LAB}.ipynb": content, "x": b""})
    assert with_found_ledger(work, LAB) == work
    assert carried_owner(content) is None


def test_where_nbgrader_grades_the_ledger_is_laid_out(tmp_path):
    path = tmp_path / LEDGER
    assert lay_out_ledger(tmp_path, notebook()) is None
    assert not path.exists()
    assert lay_out_ledger(tmp_path, carrying(MINE)).kind is RemarkKind.RECORD_ALONE
    assert path.read_bytes() == MINE
    assert lay_out_ledger(tmp_path, carrying(MINE)) is None
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    assert lay_out_ledger(tmp_path, carrying(MINE)).kind is RemarkKind.RECORD_ALONE
    assert path.read_bytes() == MINE
    assert not path.is_symlink()
    assert not (tmp_path / "elsewhere").exists()
    path.rename(tmp_path / f"{LEDGER}.old-1")
    path.write_bytes(ledger_of(7, ident="new"))
    assert lay_out_ledger(tmp_path, carrying(MINE)) is None, "it was begun again"


# A class.


def carry(folder: Path, student: str) -> None:
    """Save the notebook as the student's server does."""
    path = folder / f"{LAB}.ipynb"
    book = json.loads(path.read_bytes())
    put_record(book, (folder / LEDGER).read_bytes(), LAB, student)
    path.write_text(json.dumps(book))


def without(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).unlink()


def change_record(folder: Path, change) -> None:
    path = folder / f"{LAB}.ipynb"
    book = json.loads(path.read_bytes())
    about = book["metadata"]["mlsys"]
    about["record"] = change(about["record"])
    path.write_text(json.dumps(book))


def cut(record):
    return {"lines": record["lines"][:-2]}


def recomputed(record):
    """The chain of a student who changes the first prediction and computes all hashes again."""
    from mlsys_widgets.ledger.events import GENESIS, chained

    prev, lines = GENESIS, []
    for line in record["lines"]:
        event = from_line(line.encode())
        value = event.value
        if event.kind == "prediction":
            value = {**value, "confidence": 5}
        event = chained(prev, event.seq, event.time, event.lab, event.kind, event.id, value)
        prev = event.hash
        lines.append(to_line(event).decode().rstrip("\n"))
    return {"lines": lines}


#: What each of a class hands in: how the complete work is changed.
CLASS = {
    "both": lambda folder: None,
    "only-notebook": lambda folder: without(folder, LEDGER),
    "sealed": lambda folder: without(folder, LEDGER),
    "only-ledger": lambda folder: without(folder, f"{LAB}.ipynb"),
    "moved": lambda folder: (
        without(folder, f"{LAB}.ipynb"),
        (folder / "sub").mkdir(),
        (folder / LEDGER).rename(folder / "sub" / LEDGER),
    ),
    "renamed": lambda folder: (
        without(folder, LEDGER),
        (folder / f"{LAB}.ipynb").rename(folder / f"{LAB} (1).ipynb"),
    ),
    "older-file": lambda folder: (folder / LEDGER).write_bytes(
        b"".join((folder / LEDGER).read_bytes().splitlines(keepends=True)[:-1])
    ),
    "truncated": lambda folder: (without(folder, LEDGER), change_record(folder, cut)),
    "broken": lambda folder: (
        without(folder, LEDGER),
        change_record(folder, lambda r: {"lines": [r["lines"][0], *r["lines"][2:]]}),
    ),
    "contradiction": lambda folder: change_record(folder, recomputed),
    "friend": lambda folder: (
        without(folder, LEDGER),
        change_record(folder, lambda _: record_of(ledger_of(1, student="both"))),
    ),
    "other-lab": lambda folder: (
        without(folder, LEDGER),
        change_record(folder, lambda _: record_of(ledger_of(1, student="other-lab", lab="lab_99"))),
    ),
    "garbage": lambda folder: (
        without(folder, LEDGER),
        change_record(folder, lambda _: {"lines": [{"x": ["y"]}]}),
    ),
    "no-object": lambda folder: (folder / LEDGER).unlink() or no_metadata(folder),
    "link": lambda folder: (
        (folder / LEDGER).rename(folder.parent / "elsewhere"),
        (folder / LEDGER).symlink_to(folder.parent / "elsewhere"),
    ),
}


def no_metadata(folder: Path) -> None:
    path = folder / f"{LAB}.ipynb"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "metadata": [3]}))


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    made = classroom(tmp_path_factory.mktemp("sources") / "course")
    for name, change in CLASS.items():
        right = {**made.asked(name).right(), "advice": "Buy memory that is faster."}
        folder = record(made, name, right)
        carry(folder, name)
        change(folder)
    return made


@pytest.fixture(scope="module")
def graded(course):
    return grade(course)


ALL = 80
USED = {
    "both": None,
    "only-notebook": RemarkKind.RECORD_ALONE,
    "only-ledger": RemarkKind.LEDGER_ALONE,
    "moved": RemarkKind.LEDGER_ALONE,
    "renamed": RemarkKind.RECORD_ALONE,
    "older-file": RemarkKind.RECORD_LONGER,
    "link": RemarkKind.RECORD_ALONE,
}


@pytest.mark.parametrize("name", USED)
def test_one_file_gets_its_points(course, graded, name):
    found = graded[name]
    assert found.earned == ALL, found
    assert found.by_hand == 1, "the essay waits for a person"
    assert found.way == BY_RECORD
    assert found.flags == ()
    about = {r.kind for r in found.remarks} & {*USED.values()}
    assert about == ({USED[name]} if USED[name] else set())
    book = autograded(course, name)
    (essay,) = (cell for cell in book.cells if grade_id(cell) == "advice")
    assert typed_text(essay.source) == "Buy memory that is faster."
    first = book.cells[0].source
    assert ("graded" in first and "ledger" in first) == (USED[name] is not None), "students read it"
    assert carried(book) is None, "the notebook that graders read names nobody"
    kept = course.root / "autograded" / name / LAB / LEDGER
    assert kept.read_bytes().count(b"\n") > 5


def test_what_is_wrong_is_said_as_of_a_ledger(graded):
    kinds = {name: {flag.kind for flag in graded[name].flags} for name in graded}
    assert kinds["broken"] == {FlagKind.DOUBTFUL_LEDGER}
    assert kinds["contradiction"] == {FlagKind.RECORD_DIFFERS}
    assert graded["contradiction"].earned == ALL, "the ledger counts"
    assert kinds["friend"] == {FlagKind.FOREIGN_LEDGER}
    assert FlagKind.DOUBTFUL_LEDGER in kinds["other-lab"]
    for name in ("friend", "other-lab", "garbage", "no-object"):
        assert graded[name].earned == 0, name
    (flag,) = graded["garbage"].flags
    assert flag.kind is FlagKind.RECORD_UNUSABLE
    assert "is not a list of lines" in flag.sentence
    assert 0 < graded["truncated"].earned < ALL


def test_a_head_that_was_noted_at_an_earlier_grading_is_held_against_the_record(course, graded):
    """A record that is handed in later counts like a ledger: nothing may be missing from it."""
    assert graded["sealed"].flags == ()
    folder = course.work("sealed")
    path = folder / f"{LAB}.ipynb"
    kept = path.read_bytes()
    try:
        for change, words in ((cut, "its end was cut off"), (recomputed, "was rewritten")):
            change_record(folder, change)
            again = grade(course, students="sealed", force=True)["sealed"]
            assert [flag.kind for flag in again.flags][:1] == [FlagKind.CHANGED_LEDGER]
            assert words in again.flags[0].sentence
            path.write_bytes(kept)
    finally:
        path.write_bytes(kept)


def test_a_friends_record_with_another_name_in_it_has_one_origin_with_it(course, graded):
    """The name changed and the chain computed again: the same check as for ledgers."""
    assert graded["sealed"].flags == ()

    def renamed(found):
        first = found["lines"][0].replace('"student":"sealed"', '"student":"thief"')
        return recomputed({"lines": [first, *found["lines"][1:]]})

    folder = record(course, "thief")
    carry(folder, "thief")
    kept = json.loads((course.work("sealed") / f"{LAB}.ipynb").read_bytes())
    change_record(folder, lambda _: renamed(kept["metadata"]["mlsys"]["record"]))
    without(folder, LEDGER)
    try:
        thief = grade(course, students="thief")["thief"]
        (flag,) = (flag for flag in thief.flags if flag.kind is FlagKind.SHARED_LEDGER)
        assert flag.about == "sealed"
    finally:
        course.withdraw("thief")


def test_where_notebooks_run_the_record_is_found_too(course, graded):
    """With ``--run``, and where code of the student's own must run."""
    assert graded["only-notebook"].earned == ALL
    ran = grade(course, students="only-*", run=True, force=True)
    for name in ("only-notebook", "only-ledger"):
        assert ran[name].way == RUN
        assert ran[name].earned == ALL, ran[name]
        assert ran[name].flags == ()
        assert USED[name] in {remark.kind for remark in ran[name].remarks}


def test_a_lone_notebook_with_code_of_its_own(tmp_path):
    course = classroom(tmp_path / "course")
    right = course.asked("coder").right()
    left = dict(list(right.items())[1:])
    folder = record(course, "coder", left, running("x = 1"))
    carry(folder, "coder")
    without(folder, LEDGER)
    found = grade(course)["coder"]
    assert found.way == RUN, "code may compute what is not recorded"
    assert 0 < found.earned < ALL
    assert found.flags == ()


def test_stock_nbgrader_finds_the_record_of_a_lone_notebook(tmp_path):
    """nbgrader's own command, kernel and hidden tests."""
    course = classroom(tmp_path / "course")
    for name in ("both", "lone"):
        folder = record(course, name)
        carry(folder, name)
    without(course.work("lone"), LEDGER)
    nbgrader(course.root, ["autograde", LAB])
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        points = {each.student.id: each.score for each in book.assignment_submissions(LAB)}
    assert points == {"both": ALL, "lone": ALL}
    shown = nbformat.read(course.root / "autograded" / "lone" / LAB / f"{LAB}.ipynb", 4)
    assert carried(shown) is None
