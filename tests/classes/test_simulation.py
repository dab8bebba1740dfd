"""A made-up class: files as students leave them, in which grading finds what was made."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mlsys_widgets.classes.simulation import record_path, simulate
from mlsys_widgets.classes.study_record import time_on_task
from mlsys_widgets.cli import main
from mlsys_widgets.courses.first_releases import note_release
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.reading.hand_in_facts import release_time
from mlsys_widgets.grading.reading.ledger_record import LedgerRecord
from mlsys_widgets.grading.reading.submissions import read_time
from mlsys_widgets.labs import load
from mlsys_widgets.ledger import Ledger
from tests.grading.classroom import LAB, classroom
from tests.grading.simulated import STUDENTS, graded_class, made, of_kind, sql, work_of

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course in which nobody has handed in anything."""
    return classroom(tmp_path_factory.mktemp("course") / "course").root


@pytest.fixture
def fresh(course: Path, tmp_path: Path) -> Path:
    shutil.copytree(course, tmp_path / "fresh")
    return tmp_path / "fresh"


def files_below(root: Path) -> dict[str, bytes]:
    folder = root / "submitted"
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_same_seed_gives_the_same_bytes(fresh: Path) -> None:
    simulate(fresh, LAB, 34, seed=5)
    first, noted = files_below(fresh), record_path(fresh, LAB).read_bytes()
    simulate(fresh, LAB, 34, seed=5, force=True)
    assert files_below(fresh) == first
    assert record_path(fresh, LAB).read_bytes() == noted
    simulate(fresh, LAB, 34, seed=6, force=True)
    assert files_below(fresh) != first


def test_nothing_is_replaced_unasked(fresh: Path) -> None:
    folder = work_of(fresh, "student-003")
    folder.mkdir(parents=True)
    (folder / "mine.txt").write_text("work of a term")
    with pytest.raises(ValueError, match="first student-003; nothing was written"):
        simulate(fresh, LAB, 5)
    assert files_below(fresh) == {f"student-003/{LAB}/mine.txt": b"work of a term"}
    simulate(fresh, LAB, 5, force=True)
    assert not (folder / "mine.txt").exists()


@pytest.mark.parametrize(
    ("students", "kinds", "sentence"),
    [(0, (), "must be at least 1"), (3, ("brilliant",), "there is no kind 'brilliant'")],
)
def test_what_cannot_be_made(fresh: Path, students: int, kinds: tuple[str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        simulate(fresh, LAB, students, kinds=kinds)
    assert not (fresh / "submitted").exists()


def test_a_lab_that_was_not_built(fresh: Path) -> None:
    shutil.rmtree(fresh / "release" / LAB)
    with pytest.raises(ValueError, match=f"mlsys build {LAB}"):
        simulate(fresh, LAB, 1)
    with pytest.raises(ValueError, match="there is no assignments/lab_99"):
        simulate(fresh, "lab_99", 1)


def test_what_lies_in_the_release_folder_by_chance_is_not_handed_in(fresh: Path) -> None:
    (fresh / "release" / LAB / "ledger.jsonl").write_text("the instructor's own")
    simulate(fresh, LAB, 1, kinds=["blank"])
    assert not (work_of(fresh, "student-001") / "ledger.jsonl").exists()


def test_a_file_that_everybody_has(fresh: Path, tmp_path: Path) -> None:
    (tmp_path / "machine.json").write_text("{}")
    simulate(fresh, LAB, 2, kinds=["right"], beside=[tmp_path / "machine.json"])
    assert (work_of(fresh, "student-002") / "machine.json").read_text() == "{}"


def test_the_command(fresh: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "simulate",
        LAB,
        "--students",
        "3",
        "--kinds",
        "right,late",
        "--course",
        str(fresh),
    ]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "3 submissions" in said
    assert "handed in late" in said
    assert main(arguments) == 1
    assert "--force" in capsys.readouterr().err


# What one class holds.


def test_every_ledger_is_its_owners_and_in_order() -> None:
    root = graded_class()
    said, found = made(root), 0
    for student, each in said.items():
        path = work_of(root, student) / "ledger.jsonl"
        if each["kind"] == "blank":
            assert not path.exists()
            continue
        owner = each["of"] or student
        led = Ledger.open(path)
        assert led.student == owner
        assert led.verify(student=owner, lab=LAB).ok, led.verify(student=owner).first_problem
        handed_in = read_time(each["handed_in"])
        assert handed_in is not None
        last = datetime.fromisoformat(led.events()[-1].time).replace(tzinfo=None)
        assert last <= handed_in
        found += 1
    assert found > STUDENTS / 2


def test_people_take_as_long_as_people_do() -> None:
    root = graded_class()
    for student in of_kind(root, "right"):
        events = Ledger.open(work_of(root, student) / "ledger.jsonl").events()
        assert 2 < time_on_task(events) < 120
        times = [event.time for event in events]
        assert len(set(times)) >= len(times) - 1  # only the opening is at the time of another


def test_who_is_late_and_who_is_not() -> None:
    root = graded_class()
    due = datetime(2026, 10, 9, 20, tzinfo=UTC).replace(tzinfo=None)
    for student, each in made(root).items():
        written = (work_of(root, student) / "timestamp.txt").read_text()
        assert written == each["handed_in"]
        moment = read_time(written)
        assert moment is not None
        assert (moment > due) == (each["kind"] == "late"), student


def test_begun_again_with_the_old_ledger_beside() -> None:
    root = graded_class()
    for student in of_kind(root, "restarted"):
        led = Ledger.open(work_of(root, student) / "ledger.jsonl")
        (old,) = led.earlier
        assert Ledger.open(old).verify(student=student).ok
        assert Ledger.open(old).events()[-1].time < led.events()[0].time


def test_a_copy_is_its_owners_work_to_the_byte() -> None:
    root = graded_class()
    for student in of_kind(root, "copied"):
        owner = made(root)[student]["of"]
        for name in ("ledger.jsonl", f"{LAB}.ipynb"):
            theirs, copy = (work_of(root, each) / name for each in (owner, student))
            assert theirs.read_bytes() == copy.read_bytes()


def test_somebody_to_copy_from_is_always_found(fresh: Path) -> None:
    simulate(fresh, LAB, 1, kinds=["copied"])
    assert Ledger.open(work_of(fresh, "student-001") / "ledger.jsonl").student.endswith("-friend")


def test_broken_in_the_ways_that_it_says() -> None:
    root = graded_class()

    def book(kind: str) -> Path:
        (student, *_) = of_kind(root, kind)
        return work_of(root, student) / f"{LAB}.ipynb"

    assert not book("no-notebook").exists()
    assert not book("renamed").exists()
    assert list(book("renamed").parent.glob("*.ipynb"))
    with pytest.raises(json.JSONDecodeError):
        json.loads(book("no-json").read_text())
    released = json.loads((root / "release" / LAB / f"{LAB}.ipynb").read_text())
    ids = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in released["cells"]]

    def cells(kind: str) -> list[dict]:
        return json.loads(book(kind).read_text())["cells"]

    def names(kind: str) -> list[str]:
        return [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells(kind)]

    assert len(names("cell-deleted")) == len(ids) - 1
    assert len(names("cell-doubled")) == len(ids) + 1
    kinds = {cell["id"]: cell["cell_type"] for cell in released["cells"]}
    turned = [c for c in cells("cell-turned") if c["cell_type"] != kinds[c["id"]]]
    assert len(turned) == 1
    spec = json.loads(book("other-kernel").read_text())["metadata"]["kernelspec"]
    assert spec["name"] == "ir"


def test_blank_is_the_release_itself() -> None:
    root = graded_class()
    (student, *_) = of_kind(root, "blank")
    handed_in = json.loads((work_of(root, student) / f"{LAB}.ipynb").read_text())
    assert handed_in == json.loads((root / "release" / LAB / f"{LAB}.ipynb").read_text())


def test_grading_finds_what_was_made() -> None:
    root = graded_class()
    graded, compared = GradedLog(root, LAB).read(), Counter()
    whole = {"right", "mostly-right", "misconceived", "late", "restarted", "partly-done"}
    for student, each in made(root).items():
        if each["kind"] not in whole | {"nonsense"}:
            continue
        scores = {score["name"]: score for score in graded[student]["scores"]}
        for name, typed in each["answers"].items():
            got = scores[name]
            assert got["auto"] == pytest.approx(got["most"] * typed["credit"]), (student, name)
            assert got["belief"] == typed["belief"]
            compared["belief" if typed["belief"] else typed["credit"]] += 1
    assert compared["belief"] >= 3
    assert compared[1.0] >= 20


def test_work_on_a_lab_that_is_not_due_yet_lies_in_the_past(fresh: Path) -> None:
    soon = datetime.now(UTC).replace(tzinfo=None) + timedelta(days=3)
    sql(fresh, "update assignment set duedate = ?", soon.isoformat(" "))
    simulate(fresh, LAB, 4, kinds=["right", "late"])
    for student in made(fresh):
        led = Ledger.open(work_of(fresh, student) / "ledger.jsonl")
        assert led.verify(student=student).ok, led.verify(student=student).first_problem


@pytest.mark.parametrize("minutes_ago", [0, 25, 60 * 24 * 20])
def test_a_rehearsal_right_after_the_release_is_above_suspicion(
    fresh: Path, minutes_ago: int
) -> None:
    """A professor releases a lab, and tries grading with a made-up class before it is due."""
    now = datetime.now(UTC)
    released, soon = now - timedelta(minutes=minutes_ago), now + timedelta(days=3)
    note_release(fresh, LAB, released.timestamp())
    sql(fresh, "update assignment set duedate = ?", soon.replace(tzinfo=None).isoformat(" "))
    simulate(fresh, LAB, 12, kinds=["right", "misconceived", "restarted", "copied"])
    lab = load(fresh / "assignments" / LAB)
    for student, each in made(fresh).items():
        handed_in = read_time(each["handed_in"])
        assert handed_in is not None
        assert handed_in <= now.replace(tzinfo=None) + timedelta(minutes=1)
        record = LedgerRecord(lab, work_of(fresh, student), each["of"] or student)
        doubts = record.doubts(released=release_time(fresh, LAB), handed_in=handed_in)
        assert not doubts, (student, doubts)


def test_those_who_are_late_before_a_lab_is_due_are_announced(
    fresh: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    soon = datetime.now(UTC).replace(tzinfo=None) + timedelta(days=3)
    sql(fresh, "update assignment set duedate = ?", soon.isoformat(" "))
    asked = ["simulate", LAB, "--course", str(fresh), "--students", "2", "--kinds"]
    assert main([*asked, "right"]) == 0
    assert "yet to come" not in capsys.readouterr().out
    assert main([*asked, "late", "--force"]) == 0
    assert f"is due {soon:%Y-%m-%d %H:%M} UTC. Those who are late" in capsys.readouterr().out


def test_a_simulated_class_without_a_gradebook(tmp_path: Path) -> None:
    course = classroom(tmp_path / "course")
    (course.root / "gradebook.db").unlink()
    assert len(simulate(course.root, LAB, 3)) == 3
    assert not (course.root / "gradebook.db").exists()
