"""What may be the record of a submission, and which of several counts."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.gradebook.graded_submission import BY_RECORD, RUN
from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.grading.reading import record_candidates
from mlsys_widgets.grading.reading.misplaced_work import FoundWork
from mlsys_widgets.grading.reading.record_candidates import (
    carried_owner,
    find_record,
    with_found_record,
)
from mlsys_widgets.ledger.carried_record import (
    LARGEST_RECORD,
    carried,
    put_record,
    record_of,
)
from mlsys_widgets.ledger.events import from_line, to_line
from mlsys_widgets.ledger.journal import LARGEST_FILE
from mlsys_widgets.notebooks.cell_metadata import grade_id
from mlsys_widgets.notebooks.essay_cells import typed_text
from mlsys_widgets.notebooks.remarks import RemarkKind
from tests.grading.classroom import LAB, autograded, classroom, grade, record, running
from tests.labs.rehearsal import nbgrader
from tests.ledger.test_carried_record import STUDENT, carrying, ledger_of, notebook

pytestmark = pytest.mark.timeout(600)
MINE = ledger_of(1, 2)
ELSEWHERE, MERGED = RemarkKind.LEDGER_ELSEWHERE, RemarkKind.LEDGERS_MERGED
NOT_USED = RemarkKind.LEDGER_NOT_USED


def found_in(file=None, record=None, **beside):
    """What is found in a file, a record of the notebook, and other files."""
    files = {name.replace("_", "."): content for name, content in beside.items()}
    files |= {} if file is None else {LEDGER: file}
    return find_record(files, LAB, {STUDENT}, notebook() if record is None else carrying(record))


# Which of two counts.


@pytest.mark.parametrize(
    ("file", "record", "counts", "kind"),
    [
        (MINE, None, MINE, None),
        (None, MINE, MINE, ELSEWHERE),
        (MINE, MINE, MINE, None),
        (MINE, ledger_of(1), MINE, None),
        (ledger_of(1), MINE, MINE, ELSEWHERE),
        (MINE[:-30], MINE, MINE, ELSEWHERE),
        (MINE.replace(b"\n", b"\r\n"), MINE, MINE.replace(b"\n", b"\r\n"), None),
        (b"", MINE, MINE, ELSEWHERE),
        (MINE.decode().encode("utf-16"), MINE, MINE, RemarkKind.LEDGER_RESAVED),
        (b"x" * (LARGEST_FILE + 1), MINE, MINE, ELSEWHERE),
        (MINE, ledger_of(1, 2, student="bob"), MINE, NOT_USED),
        (ledger_of(1, 2, student="bob"), MINE, MINE, ELSEWHERE),
        (None, None, None, RemarkKind.NO_LEDGER),
        (b"", None, b"", RemarkKind.NO_LEDGER),
        (MINE, b"", MINE, None),
        (ledger_of(1, 2, student="bob"), None, ledger_of(1, 2, student="bob"), None),
    ],
)
def test_the_longer_of_two_that_agree_counts(file, record, counts, kind):
    found = found_in(file, record)
    assert found.content == counts
    assert found.remarks[0].kind == kind if kind else found.remarks == ()


def test_why_something_else_than_the_file_was_graded_is_said():
    longer = found_in(ledger_of(1), MINE).remarks[0].sentence
    assert longer.startswith("the file ledger.jsonl is older by 1 entry, so the record that the")
    friends = found_in(ledger_of(1, 2, student="bob"), MINE).remarks
    assert [each.kind for each in friends] == [ELSEWHERE, NOT_USED]
    assert friends[0].sentence.startswith("nothing of yours can be read in the file ledger.jsonl")


def test_a_notebook_that_was_not_saved_since_the_lab_was_begun_again():
    before, carried_then = ledger_of(1, 2, ident="old"), ledger_of(1, ident="old")
    files = {LEDGER: MINE, f"{LEDGER}.old-1": before}
    found = find_record(files, LAB, {STUDENT}, carrying(carried_then))
    assert (found.content, found.remarks) == (MINE, ())


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
    found = find_record({}, LAB, {STUDENT}, book)
    assert found.content is None
    assert found.remarks[0].kind is RemarkKind.RECORD_UNUSABLE
    assert found.remarks[0].sentence.endswith("Hand in the notebook and ledger.jsonl")
    assert "points" not in found.remarks[0].sentence, "nothing of it is quoted"
    assert find_record({LEDGER: MINE}, LAB, {STUDENT}, book).remarks == ()


def test_a_key_that_comes_twice_is_read_as_json_reads_it():
    """The last one counts, here as everywhere else in the notebook."""
    text = json.dumps(carrying(MINE))
    twice = text.replace('"record": ', '"record": {"lines": []}, "record": ')
    work = FoundWork({f"{LAB}.ipynb": twice.encode()})
    assert with_found_record(work, LAB, {STUDENT}).files[LEDGER] == MINE


@pytest.mark.parametrize("content", [b"", b"[]", b'"record"', b'{"record": ' + b"[" * 90_000])
def test_what_is_no_notebook_carries_nothing(content):
    work = with_found_record(FoundWork({f"{LAB}.ipynb": content, "x": b""}), LAB, {STUDENT})
    assert work.files == {f"{LAB}.ipynb": content, "x": b""}
    assert [each.kind for each in work.remarks] == [RemarkKind.NO_LEDGER]
    assert carried_owner(content) is None


# Several ledgers.


def test_two_ledgers_are_merged_as_if_they_were_one():
    found = found_in(ledger_of(1, ident="aa"), ledger_of(2, ident="bb"))
    assert [each.kind for each in found.remarks] == [MERGED]
    assert found.parts == (ledger_of(1, ident="aa"), ledger_of(2, ident="bb"))
    assert found.content == ledger_of(1, 2, ident="aa")
    assert "They differ about a: of a prediction the first commit counts, of an answer the" in (
        found.remarks[0].sentence
    )


def test_renamed_students_have_ledgers_of_all_their_names_and_only_one_name_is_merged():
    files = {LEDGER: ledger_of(1), "other.jsonl": ledger_of(2, student="ann-old")}
    found = find_record(files, LAB, {STUDENT, "ann-old"}, notebook())
    assert found.content == ledger_of(1)
    assert [each.kind for each in found.remarks] == [NOT_USED]
    alone = find_record({"x": files["other.jsonl"]}, LAB, {STUDENT, "ann-old"}, notebook())
    assert alone.content == files["other.jsonl"]


def test_what_is_not_intact_is_not_merged():
    broken = ledger_of(3, 4, ident="bb").replace(b'"value":3', b'"value":9')
    found = found_in(MINE, broken)
    assert found.content == MINE
    assert "it contradicts what was graded, and is not intact" in found.remarks[0].sentence
    assert found_in(broken, MINE).content == MINE, "wherever it lies"
    only = found_in(broken, broken.replace(b'"value":4', b'"value":5'))
    assert only.content == broken, "a person looks at both"


def test_ledgers_of_other_labs_are_nothing_to_say_anything_about():
    found = found_in(MINE, x_jsonl=ledger_of(1, lab="lab_03"))
    assert (found.content, found.remarks) == (MINE, ())


# Limits.


def zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def test_only_so_many_candidates_are_read():
    many = {f"{n:04}.jsonl": ledger_of(n, ident=f"{n:032}") for n in range(500)}
    found = find_record({LEDGER: MINE, **many}, LAB, {STUDENT}, notebook())
    assert len(found.parts) == 13
    some = dict(list(many.items())[:100])
    assert len(find_record({"a.zip": zipped(some)}, LAB, {STUDENT}, notebook()).parts) == 12
    packed = {f"{n}.zip": zipped({"x": each}) for n, each in enumerate(many.values())}
    assert len(find_record(packed, LAB, {STUDENT}, notebook()).parts) == 4


def test_what_turns_out_to_be_no_ledger_takes_its_room_too(monkeypatch):
    """A hundred large files that only look like ledgers are not all read."""
    large, read = b"[" + b"0" * 1_000_000, []
    monkeypatch.setattr(
        record_candidates, "read_saved", lambda content, _lab: read.append(len(content))
    )
    find_record({f"{n:03}.json": large for n in range(100)}, LAB, {STUDENT}, notebook())
    assert len(read) == 8
    assert sum(read) <= 2 * LARGEST_RECORD


def test_ledgers_that_are_too_large_to_be_merged_are_named():
    large = [ledger_of(*range(k, k + 9_000), ident=f"{k:032}") for k in (0, 20_000, 40_000)]
    found = find_record(dict(zip("abc", large, strict=True)), LAB, {STUDENT}, notebook())
    assert found.content == large[0]
    kinds = [each.kind for each in found.remarks]
    assert kinds == [ELSEWHERE, NOT_USED, NOT_USED]


@pytest.mark.parametrize(
    "content",
    [
        b"0" * 70,
        b"[" * 90_000 + b"0" * 70,
        b'{"prev": "' + b"0" * 64 + b'"}',
        b"[" + b"{}," * 200_000 + b'"' + b"0" * 64 + b'"]',
        ("[" + "0" * 5_000 + "]").encode("utf-16"),
        b'{"format": "mlsys-ledgers", "ledgers": [{"lab": "lab_02_demo", "events": 3}], "x": "'
        + b"0" * 64 + b'"}',
        b'{"format": "mlsys-ledgers", "ledgers": {"lab": 3}, "x": "' + b"0" * 64 + b'"}',
        b"\xff\xfe" + b"0\0" * 64 + b"\xd8",
        b"PK\x03\x04" + b"0" * 70,
    ],
)  # fmt: skip
def test_what_only_looks_like_a_ledger_is_none(content):
    found = find_record({"x": content, LEDGER: content}, LAB, {STUDENT}, notebook())
    assert [each.kind for each in found.remarks] == [RemarkKind.NO_LEDGER]


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
    "friends-folder": lambda folder: (
        (folder / LEDGER).write_bytes(ledger_of(1, student="both")),
        change_record(folder, lambda _: record_of(ledger_of(1, student="both"))),
    ),
    "friends-file": lambda folder: (folder / LEDGER).write_bytes(ledger_of(1, student="both")),
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
    "only-notebook": ELSEWHERE,
    "only-ledger": RemarkKind.LEDGER_ALONE,
    "moved": RemarkKind.LEDGER_ALONE,
    "renamed": ELSEWHERE,
    "older-file": ELSEWHERE,
    "link": ELSEWHERE,
}


@pytest.mark.parametrize("name", USED)
def test_one_file_gets_its_points(course, graded, name):
    found = graded[name]
    assert found.earned == ALL, found
    assert found.by_hand == 1, "the essay waits for a person"
    assert found.way == BY_RECORD
    # A link in place of the ledger is left out, and that is said.
    left_out = [FlagKind.LEFT_OUT] if name == "link" else []
    assert [flag.kind for flag in found.flags] == left_out
    assert USED[name] in {None, *(r.kind for r in found.remarks)}
    book = autograded(course, name)
    (essay,) = (cell for cell in book.cells if grade_id(cell) == "advice")
    assert typed_text(essay.source) == "Buy memory that is faster."
    first = book.cells[0].source
    assert ("graded" in first and "ledger" in first) == (USED[name] is not None), "students read it"
    assert carried(book) is None, "the notebook that graders read names nobody"
    kept = course.root / "autograded" / name / LAB / LEDGER
    assert kept.read_bytes().count(b"\n") > 5


def test_what_is_wrong_is_said_as_of_a_ledger(graded, course):
    kinds = {name: {flag.kind for flag in graded[name].flags} for name in graded}
    assert kinds["broken"] == {FlagKind.DOUBTFUL_LEDGER}
    assert kinds["contradiction"] == {FlagKind.LEDGERS_MERGED}
    assert graded["contradiction"].earned == ALL
    assert kinds["friend"] == kinds["friends-folder"] == {FlagKind.FOREIGN_LEDGER}
    first = autograded(course, "friends-folder").cells[0].source
    assert "he ledger is of " in first
    assert "so nothing in it counts" in first
    assert kinds["friends-file"] == {FlagKind.LEDGER_NOT_USED}
    assert graded["friends-file"].earned == ALL, "what the notebook records is their own"
    assert FlagKind.DOUBTFUL_LEDGER in kinds["other-lab"]
    for name in ("friend", "friends-folder", "other-lab", "garbage", "no-object"):
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
