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
    two = '        assert (typed_text(essay.source) or "").endswith("Buy memory that is faster.")
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
