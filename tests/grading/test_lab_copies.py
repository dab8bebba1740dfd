"""Each copy of a lab is judged with its own questions, and nobody gains by calling it another."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from mlsys_widgets.course.kept_versions import kept_versions, versions_folder
from mlsys_widgets.files import LEDGER, TOLD
from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.grading.judging.lab_copies import (
    Copies,
    checks_of,
    is_noted,
    keys_of,
    lab_of,
    stamp_of,
)
from mlsys_widgets.grading.judging.version_evidence import VersionEvidence
from mlsys_widgets.judging.keys import Given
from mlsys_widgets.labs.told import read_told
from mlsys_widgets.ledger import Ledger
from tests.courses.fixed_lab import LAB, FixedLab, edit, fixed_lab
from tests.grading.classroom import grade, right_now
from tests.labs.rehearsal import Workshop, nbgrader, work_through

INTENSITY = "intensity_flop_per_byte"


@pytest.fixture
def fixed(tmp_path) -> FixedLab:
    return fixed_lab(tmp_path)


def hand_in(fixed: FixedLab, student: str, number: int, *, judged_as: int | None = None) -> Path:
    """Hand in a copy of a version, with the answers that are right in it or in another one."""
    folder = fixed.root / "submitted" / student / LAB
    notebook = fixed.copy(number, folder)
    work_through(folder, student, fixed.course)
    answers = right(fixed, student, number if judged_as is None else judged_as)
    ledger = Ledger.open(folder / LEDGER)
    for name, value in answers.items():
        ledger.record_answer(name, value)
    (folder / "timestamp.txt").write_text(right_now())
    return notebook


def right(fixed: FixedLab, student: str, number: int) -> dict[str, object]:
    version = fixed.versions[number]
    given = Given(lab_of(fixed.course, LAB, version).draw(student), fixed.root)
    checks = checks_of(fixed.course, LAB, version)
    return {name: checks[name](given).value for name in checks if name != "act1_bound"}


def stamp(notebook: Path, version: str | None) -> None:
    book = json.loads(notebook.read_bytes())
    book["metadata"]["mlsys"].pop("lab_version")
    if version:
        book["metadata"]["mlsys"]["lab_version"] = version
    notebook.write_text(json.dumps(book))


def in_gradebook(root: Path, student: str) -> dict[str, tuple[float | None, bool]]:
    query = (
        "select c.name, g.auto_score, g.needs_manual_grade from grade g"
        " join submitted_notebook n on g.notebook_id = n.id"
        " join submitted_assignment a on n.assignment_id = a.id"
        " join base_cell c on c.id = g.cell_id where a.student_id = ?"
    )
    with contextlib.closing(sqlite3.connect(root / "gradebook.db")) as db:
        return {name: (auto, bool(by)) for name, auto, by in db.execute(query, (student,))}


def full_score(root: Path) -> float:
    with contextlib.closing(sqlite3.connect(root / "gradebook.db")) as db:
        return float(db.execute("select sum(max_score) from grade_cells").fetchone()[0])


def test_each_copy_is_judged_with_its_own_questions(fixed):
    old, new = fixed.versions
    hand_in(fixed, "ann", 0)
    hand_in(fixed, "ben", 1)
    hand_in(fixed, "cat", 0, judged_as=1)  # the new answers in an old copy
    forged = hand_in(fixed, "eve", 0)
    stamp(forged, "f" * 12)
    silent = hand_in(fixed, "fay", 1)
    stamp(silent, None)
    graded = grade(Workshop(fixed.root, LAB))
    assert {name: each.version for name, each in graded.items()} == {
        "ann": old, "ben": new, "cat": old, "eve": old, "fay": new,
    }  # fmt: skip
    # 100 points in the old version, 120 in the new one; essays, which nobody wrote, are 20.
    assert {name: each.earned for name, each in graded.items()} == {
        "ann": 96, "ben": 100, "cat": 24 + 24, "eve": 96, "fay": 100,
    }  # fmt: skip
    flagged = {n: [f.kind for f in each.flags] for n, each in graded.items()}
    assert flagged["ann"] == flagged["ben"] == []
    assert FlagKind.OTHER_VERSION in flagged["eve"]
    assert FlagKind.OTHER_VERSION in flagged["fay"]
    assert full_score(fixed.root) == 120
    ann, ben = (in_gradebook(fixed.root, name) for name in ("ann", "ben"))
    assert ann[INTENSITY] == (48, False)
    assert ann["limit"] == (24, False)
    assert ann["waits"] == (0, False)
    assert ann["advice"] == ben["advice"] == (0, False)  # nothing is written there
    assert ben["limit"] == (0, False)
    assert ben["waits"] == (30, False)
    # Stock nbgrader shows both.
    nbgrader(fixed.root, ["generate_feedback", LAB])
    for name in ("ann", "ben"):
        assert (fixed.root / "feedback" / name / LAB / f"{LAB}.html").is_file()
        told = read_told((fixed.root / "feedback" / name / LAB / TOLD).read_bytes(), LAB, name)
        earned = in_gradebook(fixed.root, name)
        assert told.questions
        for question, each in told.questions.items():
            assert each.earned == earned[question][0]


@pytest.mark.parametrize("run", [False, True])
def test_a_stamp_that_the_cells_contradict_chooses_no_key(fixed, run):
    """A new copy that calls itself an old one, with the answers that were right in the old one."""
    old, new = fixed.versions
    stamp(hand_in(fixed, "eve", 1, judged_as=0), old)
    stamp(hand_in(fixed, "ned", 0, judged_as=1), new)  # and the other way round
    honest = hand_in(fixed, "ann", 0)
    book = json.loads(honest.read_bytes())
    del book["cells"][2:4]  # who deletes cells has the same version as before
    honest.write_text(json.dumps(book))
    graded = grade(Workshop(fixed.root, LAB), run=run)
    assert {name: each.version for name, each in graded.items()} == {
        "ann": old, "eve": new, "ned": old,
    }  # fmt: skip
    assert FlagKind.OTHER_VERSION not in {flag.kind for flag in graded["ann"].flags}
    for name, real in (("eve", new), ("ned", old)):
        (flag,) = (f for f in graded[name].flags if f.kind is FlagKind.OTHER_VERSION)
        assert f"its cells and files are those of version {real}" in flag.detail
    assert graded["eve"].earned < 50 < graded["ann"].earned


def test_a_stamp_alone_chooses_no_key(fixed):
    """A new copy without all that is new, which calls itself an old one."""
    old, new = fixed.versions
    ann = hand_in(fixed, "ann", 0)
    eve = hand_in(fixed, "eve", 1, judged_as=0)
    stamp(eve, old)
    known = {"".join(cell["source"]) for cell in json.loads(ann.read_bytes())["cells"]}
    book = json.loads(eve.read_bytes())
    book["cells"] = [cell for cell in book["cells"] if "".join(cell["source"]) in known]
    eve.write_text(json.dumps(book))
    for path in eve.parent.iterdir():
        other = ann.parent / path.name
        if path.suffix == ".py" and not (other.is_file() and same(path, other)):
            path.unlink()
    graded = grade(Workshop(fixed.root, LAB))
    assert {name: each.version for name, each in graded.items()} == {
        "ann": old, "eve": new,
    }  # fmt: skip
    (flag,) = (f for f in graded["eve"].flags if f.kind is FlagKind.OTHER_VERSION)
    assert f"it says it is version {old} and has no cell or file of it" in flag.detail
    assert graded["eve"].earned < 50 < graded["ann"].earned


def test_a_stamp_stands_where_the_hub_knows_the_copy_or_nothing_else_tells(fixed):
    old, new = fixed.versions
    copies = Copies.of(fixed.course, LAB)
    marks = {old: frozenset({"a"}), new: frozenset({"b"})}
    knows = VersionEvidence(marks, {"ann": (old, new)})
    bare = VersionEvidence({old: frozenset(), new: frozenset({"b"})})
    nothing = {old: 0, new: 0}
    assert copies.choose(old, nothing, unsupported=knows.unsupported("ann", nothing)) == (old, None)
    assert copies.choose(old, nothing, unsupported=bare.unsupported("ann", nothing)) == (old, None)
    version, flag = copies.choose(old, nothing, unsupported=knows.unsupported("eve", nothing))
    assert (version, flag is None) == (None, False)


def same(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("run", [False, True])
def test_a_version_that_the_hub_never_handed_out_to_a_student(fixed, run):
    """Somebody who begins after the fix asks a friend for the old copy, whose key is known."""
    old, new = fixed.versions
    for name in ("ann", "eve", "tom"):
        hand_in(fixed, name, 0)
    notes = fixed.root.parent / "hand_ins"
    notes.mkdir()
    seen = {LAB: {"ann": [old, new], "eve": [new]}}  # Tom works at home, where no hub looks
    (notes / "handed_out.json").write_text(json.dumps(seen))
    graded = grade(Workshop(fixed.root, LAB), run=run)
    assert {name: each.version for name, each in graded.items()} == {
        "ann": old, "eve": new, "tom": old,
    }  # fmt: skip
    assert graded["ann"].flags == graded["tom"].flags == ()
    (flag,) = (f for f in graded["eve"].flags if f.kind is FlagKind.OTHER_VERSION)
    assert f"the hub handed out version {new} to this student, and not version {old}" in flag.detail


def test_a_ledger_begun_in_the_old_version_is_not_doubtful(fixed):
    """A student who took the new version over has entries that the new one does not ask for."""
    notebook = hand_in(fixed, "ann", 0)
    fixed.copy(1, fixed.root / "taken")
    for path in (fixed.root / "taken").iterdir():
        shutil.copy(path, notebook.parent)
    ledger = Ledger.open(notebook.parent / LEDGER)
    for name, value in right(fixed, "ann", 1).items():
        ledger.record_answer(name, value)
    (notebook.parent / "timestamp.txt").write_text(right_now())
    graded = grade(Workshop(fixed.root, LAB))["ann"]
    assert (graded.earned, graded.flags) == (100, ())
    # What no version asks for is as doubtful as ever.
    ledger.record_answer("something", 3)
    (notebook.parent / "timestamp.txt").write_text(right_now())
    graded = grade(Workshop(fixed.root, LAB), force=True)["ann"]
    assert [flag.kind for flag in graded.flags] == [FlagKind.DOUBTFUL_LEDGER]


def test_what_judges_a_version(fixed):
    course, (old, new) = fixed.course, fixed.versions
    home = fixed.root / "assignments" / LAB
    assert keys_of(course, LAB) == keys_of(course, LAB, new) == home.resolve()
    assert keys_of(course, LAB, old).is_relative_to(versions_folder(course.root, LAB))
    assert "limit" in checks_of(course, LAB, old)
    assert "waits" in checks_of(course, LAB)
    with pytest.raises(ValueError, match="keeps no version ffffffffffff"):
        keys_of(course, LAB, "f" * 12)
    # Whoever writes the next version has not released its questions.
    edit(home / "asks.py", ("sides half as long", "sides a third as long"))
    assert keys_of(course, LAB) == versions_folder(course.root, LAB) / new / "keys"
    assert not is_noted(course, LAB)


def test_only_what_was_released_counts(fixed):
    course, (old, new) = fixed.course, fixed.versions
    copies = Copies.of(course, LAB)
    assert copies.choose(old) == (old, None)
    assert copies.choose(new) == (None, None)
    about = versions_folder(course.root, LAB) / old / "version.json"
    details = json.loads(about.read_text())
    about.write_text(json.dumps({**details, "released": []}))
    version, flag = Copies.of(course, LAB).choose(old)
    assert version is None
    assert flag is not None
    assert "never released" in flag.detail
    # Where no release was ever noted, all that were built may have been handed out.
    for each in kept_versions(course.root, LAB):
        path = each.folder / "version.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "released": []}))
    assert Copies.of(course, LAB).choose(old) == (old, None)
    # A copy that says nothing is judged as the present version, and flagged.
    version, flag = Copies.of(course, LAB).choose(None)
    assert version is None
    assert "does not say which version" in flag.detail


def test_a_stamp_in_any_encoding():
    text = '{"metadata": {"mlsys": {"lab_version": "0123456789ab"}}}'
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        assert stamp_of(text.encode(encoding)) == "0123456789ab"
    assert stamp_of(b"") is None
