"""Broken notebooks: a clear line each, the points they still deserve, and the class goes on."""

from __future__ import annotations

import io
import json
import re
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

from mlsys_widgets.grading.gradebook.graded_submission import GradedSubmission
from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.notebooks.cell_metadata import grade_id
from mlsys_widgets.notebooks.essay_cells import typed_text
from mlsys_widgets.notebooks.remarks import RemarkKind
from tests.grading.classroom import (
    LAB,
    Change,
    autograded,
    classroom,
    fingerprint,
    grade,
    hand_in,
    of,
    right_now,
    rows,
    running,
    small,
)
from tests.labs.rehearsal import Workshop, answer_cell

pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True)
class Broken:
    """What is wrong with a notebook whose answers are right, what it earns, and what is said."""

    change: Change
    earns: float
    said: str
    flagged: bool = True


def _write(how) -> Change:
    def change(book, folder):
        path = folder / f"{LAB}.ipynb"
        path.write_bytes(how(json.dumps(book)))

    return change


def _cells(how) -> Change:
    return lambda book, _folder: how(book)


def _test(book, name):
    return next(c for c in book.cells if c.id == f"check_{name}")


def _delete_test(book):
    book.cells.remove(_test(book, "limit"))


def _delete_answer(book):
    book.cells.remove(answer_cell(book, "limit"))


def _double_test(book):
    at = book.cells.index(_test(book, "limit"))
    book.cells.insert(at, nbformat.from_dict({**book.cells[at], "id": "again"}))


def _double_answer(book):
    at = book.cells.index(answer_cell(book, "limit"))
    book.cells.insert(at, nbformat.from_dict({**book.cells[at], "id": "again"}))


def _test_to_text(book):
    cell = _test(book, "limit")
    cell.cell_type = "markdown"
    del cell["outputs"], cell["execution_count"]


def _answer_to_text(book):
    cell = answer_cell(book, "limit")
    cell.cell_type = "markdown"
    del cell["outputs"], cell["execution_count"]


def _essay_to_code(book):
    cell = next(c for c in book.cells if c.id == "answer_advice")
    cell.update(cell_type="code", outputs=[], execution_count=None)


def _other_kernel(book):
    book.metadata["kernelspec"] = {"name": "ir", "display_name": "R", "language": "R"}


def _missing(_book, folder):
    (folder / f"{LAB}.ipynb").unlink()


def _two(book, folder):
    (folder / f"{LAB}.ipynb").unlink()
    for name in ("a.ipynb", "b.ipynb"):
        answer_cell(book, "limit").source += f"\n# {name}"
        (folder / name).write_text(json.dumps(book))


def _is_a_folder(_book, folder):
    (folder / f"{LAB}.ipynb").unlink()
    (folder / f"{LAB}.ipynb").mkdir()


def _old_format(text: str) -> bytes:
    book = json.loads(text)
    book["nbformat_minor"] = 2
    for cell in book["cells"]:
        cell.pop("id", None)
    return json.dumps(book).encode()


def _large(text: str) -> bytes:
    book = json.loads(text)
    code = [c for c in book["cells"] if c["cell_type"] == "code"]
    for cell in code[:4]:
        text = "x" * 10_000_000
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
    return json.dumps(book).encode()


def _full_disk(book, folder):
    running("open('/tmp/full', 'wb').write(bytes(50_000_000))")(book, folder)


def _endless(book, folder):
    running("while True: pass")(book, folder)


def _syntax_error(book):
    answer_cell(book, "limit").source = "limit = = 'memory'"


def _bad_time(_book, folder):
    (folder / "timestamp.txt").write_bytes(b"0001-01-01 00:00:00 +2300 \xff")


def _zipped(text: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(f"{LAB}/{LAB}.ipynb", text)
    return packed.getvalue()


def _conflict(text: str) -> bytes:
    """Git could not agree on a number that nobody needs."""
    two = '<<<<<<< HEAD\n"nbformat_minor": 4\n=======\n"nbformat_minor": 5\n>>>>>>> laptop\n'
    return re.sub(r'"nbformat_minor": 5', f"\n{two}", text).encode()


def _page(_text: str) -> bytes:
    return b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body></body></html>"


def _as(name: str) -> Change:
    """Handed in under another name, or elsewhere."""

    def change(book, folder):
        (folder / f"{LAB}.ipynb").unlink()
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(book))

    return change


def _copy(book, folder):
    (folder / f"{LAB}-Copy1.ipynb").write_text(json.dumps(book))
    release = folder.parents[2] / "release" / LAB / f"{LAB}.ipynb"
    (folder / f"{LAB}.ipynb").write_text(release.read_text() + "\n")


def _without_metadata(book):
    for cell in book.cells:
        cell.metadata.clear()
    book.metadata.clear()


def _all_of_it_elsewhere(book):
    """A notebook of one's own, with the essay in it and nothing of the lab."""
    essay = next(c for c in book.cells if c.id == "answer_advice")
    mine = [c for c in book.cells if c.id.startswith("answer_") and c.cell_type == "code"]
    book.cells = [*mine, nbformat.v4.new_markdown_cell(essay.source, id="mine")]
    _without_metadata(book)


def _without_setup(book):
    book.cells = [c for c in book.cells if c.id != "setup"]


def _moved(to: str) -> Change:
    """The answer is typed into another cell, and its own is as it was released."""

    def change(book, _folder):
        own = answer_cell(book, "limit")
        *released, assigned, recorded = own.source.split("\n")
        own.source = "\n".join(released)
        typed = f"{assigned}\n{recorded}"
        at = book.cells.index(_test(book, "limit"))
        if to == "test":
            book.cells[at].source += f"\n{typed}"
        elif to == "below":
            book.cells.insert(at + 1, nbformat.v4.new_code_cell(typed, id="mine"))
        elif to == "end":
            book.cells.append(nbformat.v4.new_code_cell(typed, id="mine"))
        else:
            own.source += f"\n{assigned}"

    return change


def _essay_moved(book):
    cell = next(c for c in book.cells if c.id == "answer_advice")
    at = book.cells.index(cell)
    text = "Buy memory that is faster, not more of it."
    cell.source = "*What you record in the card above appears here.*"
    book.cells.insert(at + 1, nbformat.v4.new_markdown_cell(text, id="mine"))


def _helper_in_setup(book):
    setup = next(c for c in book.cells if c.id == "setup")
    setup.source += "\ndef twice(x):\n    return 2 * x"


def _both_sides_in_a_cell(book):
    cell = answer_cell(book, "limit")
    cell.source += "\n<<<<<<< local\nx = 1\n=======\nx = 2\n>>>>>>> remote"


def _in_a_folder(book, folder):
    for path in [path for path in folder.iterdir() if path.name != "timestamp.txt"]:
        (folder / LAB).mkdir(exist_ok=True)
        path.rename(folder / LAB / path.name)
    (folder / LAB / f"{LAB}.ipynb").write_text(json.dumps(book))


@dataclass(frozen=True)
class Recorded:
    """A ledger with answers, as cards write it, beside whatever else is handed in."""

    course: Workshop
    student: str
    answers: dict[str, object]

    def then(self, change: Change) -> Change:
        def both(book, folder):
            ledger = Ledger.open(folder / "ledger.jsonl", lab=LAB, student=self.student)
            for name, value in self.answers.items():
                ledger.record_answer(name, value)
            (folder / "timestamp.txt").write_text(right_now())
            change(book, folder)

        return both


NOT_COUNTED = "no answer is recorded for limit, but the notebook has “"

KINDS = {
    "sound": Broken(lambda *_: None, 60, "", flagged=False),
    "no-json": Broken(_write(lambda t: t[: len(t) // 2].encode()), 0, "breaks off in the middle"),
    "empty-file": Broken(_write(lambda _: b""), 0, "an empty file"),
    "other-json": Broken(_write(lambda _: b'{"a": 1}'), 0, "the file is not a notebook"),
    "list-of-cells": Broken(_write(lambda t: json.dumps([t]).encode()), 0, "is not a notebook"),
    "no-cells": Broken(_write(lambda _: b'{"nbformat": 4}'), 0, "no cells"),
    "login-page": Broken(_write(_page), 0, "is a web page (“Sign in”)"),
    "utf-16": Broken(_write(lambda t: t.encode("utf-16")), 60, "saved as UTF-16", flagged=False),
    "latin-1": Broken(
        _write(lambda t: t.replace("Larger tiles", "Größere Kacheln").encode("latin-1")),
        60, "saved as Latin-1", flagged=False,
    ),
    "with-mark": Broken(
        _write(lambda t: t.encode("utf-8-sig")), 60, "a byte order mark", flagged=False
    ),
    "conflict": Broken(_write(_conflict), 60, "Git merge conflict", flagged=False),
    "conflict-cell": Broken(
        _cells(_both_sides_in_a_cell), 40, "limit_answer still has the markers", flagged=False
    ),
    "zipped": Broken(_write(_zipped), 60, "is a zip archive; the one notebook", flagged=False),
    "text": Broken(_as(f"{LAB}.ipynb.txt"), 60, f"so “{LAB}.ipynb.txt” was graded", flagged=False),
    "capitals": Broken(_as(f"{LAB.upper()}.IPYNB"), 60, ".IPYNB” was graded", flagged=False),
    "nested": Broken(_as(f"{LAB}/{LAB}.ipynb"), 60, f"so “{LAB}/{LAB}.ipynb” was", flagged=False),
    "renamed": Broken(_as("my solution (1).ipynb"), 60, "so “my solution (1)", flagged=False),
    "copy": Broken(_copy, 60, f"the work is in “{LAB}-Copy1.ipynb”, so that was graded"),
    "old-format": Broken(_write(_old_format), 60, "", flagged=False),
    "no-metadata": Broken(
        _cells(_without_metadata), 60, "came without nbgrader's notes", flagged=False
    ),
    "own-notebook": Broken(_cells(_all_of_it_elsewhere), 60, "the graded cell advice is missing"),
    "no-setup": Broken(_cells(_without_setup), 60, "were missing (setup)", flagged=False),
    "in-test": Broken(_moved("test"), 40, "” in its test, which was not counted"),
    "below-test": Broken(_moved("below"), 40, "” below its test, which was not counted"),
    "at-the-end": Broken(_moved("end"), 40, "” in the last cell, which was not counted"),
    "not-recorded": Broken(_moved("own"), 40, f"{NOT_COUNTED}limit = "),
    "essay-moved": Broken(_cells(_essay_moved), 60, "“Buy memory that is"),
    "helper-in-setup": Broken(
        _cells(_helper_in_setup), 60, "cells of the lab were edited (setup)", flagged=False
    ),
    "test-deleted": Broken(_cells(_delete_test), 60, "graded cell limit is missing"),
    "answer-deleted": Broken(_cells(_delete_answer), 40, "", flagged=False),
    "test-doubled": Broken(_cells(_double_test), 60, "more than once", flagged=False),
    "answer-doubled": Broken(_cells(_double_answer), 60, "more than once", flagged=False),
    "test-turned": Broken(_cells(_test_to_text), 60, "from code into markdown", flagged=False),
    "answer-turned": Broken(_cells(_answer_to_text), 60, "from code into markdown", flagged=False),
    "essay-turned": Broken(_cells(_essay_to_code), 60, "from markdown into code", flagged=False),
    "other-kernel": Broken(_cells(_other_kernel), 60, "the kernel 'ir'", flagged=False),
    "missing": Broken(_missing, 0, f"there is no {LAB}.ipynb"),
    "two-notebooks": Broken(_two, 0, "only “a.ipynb”, “b.ipynb”"),
    "a-folder": Broken(_is_a_folder, 0, f"there is no {LAB}.ipynb"),
    "large-output": Broken(_write(_large), 60, "", flagged=False),
    "full-disk": Broken(_full_disk, 60, "", flagged=False),
    "endless": Broken(_endless, 60, "", flagged=False),
    "syntax-error": Broken(_cells(_syntax_error), 40, "", flagged=False),
    "bad-time": Broken(_bad_time, 60, "which is not a time"),
}  # fmt: skip


@dataclass
class Ward:
    course: Workshop
    graded: dict[str, GradedSubmission]
    before: dict[str, str]


@pytest.fixture(scope="module")
def ward(tmp_path_factory) -> Ward:
    course = classroom(tmp_path_factory.mktemp("ward") / "course")
    config = course.root / "nbgrader_config.py"
    config.write_text(
        config.read_text().replace(
            "c.ExecutePreprocessor.timeout = 120", "c.ExecutePreprocessor.timeout = 4"
        )
    )
    for name, broken in KINDS.items():
        hand_in(course, name, broken.change, course.asked(name).right(), essay="Larger tiles.")
    before = fingerprint(course.root / "submitted")
    return Ward(course, grade(course, limits=small(output=5_000_000)), before)


@pytest.mark.parametrize("name", KINDS)
def test_it_gets_what_it_deserves_and_a_line(ward, name):
    broken, graded = KINDS[name], ward.graded[name]
    assert graded.earned == broken.earns, graded
    told = " ".join(graded.sentences)
    assert broken.said in told, told
    assert bool(told) == bool(broken.said), told
    assert bool(graded.flags) == broken.flagged, told
    grades = {row[1]: row[2] for row in of(name, rows(ward.course.root))["grade"]}
    assert sum(score or 0 for score in grades.values()) == broken.earns
    if broken.earns:
        autograded(ward.course, name)
        assert grades["advice"] is None or name == "essay-moved"  # for a person
    else:
        assert grades["advice"] == 0  # there is nothing to read


def test_nobody_is_left_out_and_nothing_that_was_handed_in_is_changed(ward):
    assert set(ward.graded) == set(KINDS)
    assert fingerprint(ward.course.root / "submitted") == ward.before


@pytest.mark.parametrize("name", [name for name, broken in KINDS.items() if not broken.earns])
def test_a_notebook_that_is_none_is_replaced_by_one_that_says_so(ward, name):
    """Formgrader and feedback would stop at it otherwise."""
    *_, cell = autograded(ward.course, name).cells  # below what is said about the submission
    assert cell.source.startswith("**This notebook could not be graded**: ")
    assert KINDS[name].said in cell.source
    assert len(list((ward.course.root / "autograded" / name / LAB).glob("*.ipynb"))) == 1


def test_what_is_kept_for_graders_is_small(ward):
    place = ward.course.root / "autograded"
    assert (place / "large-output" / LAB / f"{LAB}.ipynb").stat().st_size < 5_000_000


def test_a_loop_is_interrupted_and_says_so(ward):
    book = ward.course.graded_work("endless")
    (cell,) = (c for c in book.cells if c.id == "mine")
    assert cell.outputs[-1].ename == "CellTimeoutError"


def test_a_full_disk_is_an_error_in_its_cell(ward):
    book = ward.course.graded_work("full-disk")
    (cell,) = (c for c in book.cells if c.id == "mine")
    assert "File too large" in cell.outputs[-1].evalue


RECORDED = {
    "no-notebook": _missing,
    "page": _write(_page),
    "cut-off": _write(lambda t: t[: len(t) // 2].encode()),
    "no-set-up": _cells(_without_setup),
    "no-metadata": _cells(_without_metadata),
    "nothing-left": _cells(lambda book: book.cells.clear()),
    "folder": _in_a_folder,
    "stray": _moved("end"),
    "name-taken": running("lab = 5"),
}


def test_what_is_recorded_counts_whatever_became_of_the_notebook(tmp_path):
    """With answers in cards, the ledger is the work; the notebook only shows it."""
    course = classroom(tmp_path / "course")
    for name, change in RECORDED.items():
        right = course.asked(name).right()
        recorded = Recorded(course, name, {**right, "advice": "Buy memory that is faster."})
        answers = right if name == "stray" else {}
        hand_in(course, name, recorded.then(change), answers, ledger=True)
    graded = grade(course)
    for name in RECORDED:
        assert graded[name].earned == 80, graded[name]
        assert graded[name].by_hand == 1, "the essay waits for a person"
        book = autograded(course, name)
        (essay,) = (c for c in book.cells if grade_id(c) == "advice")
        assert (typed_text(essay.source) or "").endswith("Buy memory that is faster.")
    assert graded["no-notebook"].flags == ()
    assert [r.kind for r in graded["no-notebook"].remarks] == [RemarkKind.LEDGER_ALONE]
    for name in ("page", "cut-off"):
        (flag,) = graded[name].flags
        assert flag.kind is FlagKind.NO_NOTEBOOK
        assert flag.sentence.endswith("What its ledger records was graded")
    # Stock nbgrader gives nothing for a cell that failed, which is said if the notebook is run.
    assert {flag.kind for flag in graded["name-taken"].flags} <= {FlagKind.TWO_VERDICTS}
    for name in ("no-set-up", "no-metadata", "folder", "stray"):
        assert graded[name].flags == (), graded[name]


def test_students_read_what_was_found_above_their_notebook(ward):
    first, *_ = ward.course.graded_work("renamed").cells
    assert first.source.startswith("**About what you handed in**")
    assert "was graded in its place. Next time, keep the name" in first.source
    assert ward.course.graded_work("sound").cells[0].id.startswith("prose-")


def test_a_submission_that_cannot_be_judged_does_not_stop_the_class(tmp_path, monkeypatch):
    course = classroom(tmp_path / "course")
    for name in ("ann", "bob"):
        hand_in(course, name, answers=course.asked(name).right())
    from mlsys_widgets.grading.judging.scoring import Judge

    score = Judge.score

    def failing(self, student, *more, **times):
        if student == "ann":
            raise RuntimeError("no \x1b[31m verdict")
        return score(self, student, *more, **times)

    monkeypatch.setattr(Judge, "score", failing)
    graded = grade(course)
    assert graded["ann"].sentences == (
        "not graded: RuntimeError: no \N{REPLACEMENT CHARACTER}[31m verdict",
    )
    assert graded["bob"].earned == 60
    assert not Path(course.root / "autograded" / "ann").exists()


@pytest.mark.slow
def test_two_hundred_megabytes_of_output(tmp_path):
    course = classroom(tmp_path / "course")

    def change(book, folder):
        text = json.dumps(book).replace('"outputs": []', '"outputs": [@]', 1)
        output = json.dumps({"output_type": "stream", "name": "stdout", "text": "x" * 200_000_000})
        (folder / f"{LAB}.ipynb").write_text(text.replace("@", output))

    hand_in(course, "ann", change, course.asked("ann").right())
    assert grade(course)["ann"].earned == 60
    assert shutil.disk_usage(tmp_path)


@pytest.mark.slow
def test_a_hundred_thousand_cells(tmp_path):
    course = classroom(tmp_path / "course")

    def change(book, _folder):
        book.cells += [nbformat.v4.new_code_cell(f"x = {k}", id=f"c{k}") for k in range(100_000)]

    hand_in(course, "ann", change, course.asked("ann").right())
    hand_in(course, "bob", answers=course.asked("bob").right())
    graded = grade(course, limits=small(wall=300, cpu=300, output=60_000_000))
    assert graded["bob"].earned == 60
    assert graded["ann"].earned == 60
