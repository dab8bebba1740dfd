"""People come, go and change names, in a course with a real gradebook and a real exchange."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mlsys_widgets import cli
from mlsys_widgets.courses.student_rows import gradebook, rows_of
from mlsys_widgets.labs.course import Course
from tests.courses.conftest import LAB, students


def mlsys(course: Path, *words: str) -> int:
    return cli.main(["course", *words, "--folder", str(course)])


def grades(course: Path) -> dict[str, float]:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        return {s.student.id: s.score for s in book.assignment_submissions(LAB)}


def table(course: Path) -> list[tuple[object, ...]]:
    """The points of every cell, without whose they are."""
    with gradebook(Course.at(course)) as db:
        assert db is not None
        return sorted(
            (each["cell"], each["auto_score"], each["needs_manual_grade"])
            for name in students(course)
            for lab in rows_of(db, name)["submissions"]
            for book in lab["notebooks"]
            for each in book["grades"]
        )


@pytest.fixture(scope="module")
def graded_once(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course in which three invented students handed in, and were graded."""
    root = Path(shutil.copytree(made, tmp_path_factory.mktemp("people") / "course"))
    assert cli.main(["simulate", LAB, "--students", "3", "--course", str(root)]) == 0
    assert cli.main(["grade", LAB, "--course", str(root)]) == 0
    return root


@pytest.fixture
def graded(graded_once: Path, tmp_path: Path) -> Path:
    root = Path(shutil.copytree(graded_once, tmp_path / "course"))
    exchange = tmp_path / "exchange"
    inbound = exchange / "demo" / "inbound"
    inbound.mkdir(parents=True)
    for student in (each.name for each in (root / "submitted").iterdir()):
        shutil.copytree(
            root / "submitted" / student / LAB, inbound / f"{student}+{LAB}+2026-11-01 UTC+abc"
        )
    with (root / "nbgrader_config.py").open("a") as config:
        config.write(f'\nc.Exchange.root = "{exchange}"\n')
    return root


def test_people_are_added_with_a_section_dropped_and_taken_back(course, capsys):
    assert mlsys(course, "add", "zoe", "--name", "Zoe Ray", "--section", "evening") == 0
    assert students(course)["zoe"][:2] == ("Zoe", "Ray")
    assert Course.at(course).calendar.sections == {"evening": ("zoe",)}
    assert mlsys(course, "staff", "mia", "--role", "ta", "--section", "evening") == 0
    assert mlsys(course, "lock", "ann") == 0
    assert mlsys(course, "drop", "zoe") == 0
    capsys.readouterr()
    assert mlsys(course, "people") == 0
    said = capsys.readouterr().out
    rows = {line.split()[0]: line for line in said.splitlines()}
    assert "ta" in rows["mia"]
    assert "locked" in rows["ann"]
    assert "dropped" in rows["zoe"]
    assert "active" in rows["bob"]
    assert mlsys(course, "add", "zoe") == 0
    assert mlsys(course, "unlock", "ann") == 0
    people = Course.at(course).people
    assert (people.locked, people.dropped) == ((), ())
    assert students(course)["zoe"][:2] == ("Zoe", "Ray")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("drop", "nobody"), "there is no student nobody"),
        (("add", "a/b"), "contains '/'"),
        (("rename", "ann", "bob"), "mlsys course merge ann bob"),
        (("merge", "ann", "ann"), "the same login"),
        (("staff", "ann", "--role", "ta"), "is a student of this course"),
        (("staff", "mia"), "give a role"),
        (("staff", "mia", "--remove"), "does not teach"),
        (("staff", "mia", "--role", "ta", "--section", "x"), "the sections are: none yet"),
        (("split", LAB), "this course has no TAs"),
        (("forget", "nobody"), "nothing in this course names nobody"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(course, capsys, words, why):
    settings = course / "assignments" / "course.toml"
    before = settings.read_text() if settings.is_file() else "", students(course)
    assert mlsys(course, *words) == 1
    assert why in capsys.readouterr().err
    assert (settings.read_text() if settings.is_file() else "", students(course)) == before


def test_a_renamed_student_is_graded_the_same_as_before(graded):
    points, cells = grades(graded), table(graded)
    old, new = sorted(points)[0], "new-name"
    assert mlsys(graded, "rename", old, new) == 0
    assert grades(graded) == {new if name == old else name: each for name, each in points.items()}
    for step in ("submitted", "autograded"):
        assert (graded / step / new / LAB).is_dir()
        assert not (graded / step / old).exists()
    inbound = graded.parent / "exchange" / "demo" / "inbound"
    assert sum(each.name.startswith(f"{new}+") for each in inbound.iterdir()) == 1
    for options in (["--force"], ["--force", "--run"]):
        done = subprocess.run(
            [sys.executable, "-m", "mlsys_widgets", "grade", LAB, "--json", *options,
             "--course", str(graded)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        mine = [json.loads(line) for line in done.stdout.splitlines() if new in line]
        assert mine
        assert not any("ledger" in json.dumps(each["flags"]) for each in mine), mine
        assert table(graded) == cells
    # A second time, back, and on: the numbers are still those of the first name.
    assert mlsys(graded, "rename", new, "third") == 0
    assert Course.at(graded).people.names["third"].numbers == old
    assert cli.main(["grade", LAB, "--force", "--course", str(graded)]) == 0
    assert table(graded) == cells


def test_a_rename_that_was_cut_off_is_completed_by_running_it_again(graded, monkeypatch):
    old = sorted(grades(graded))[0]
    from mlsys_widgets.courses import people_command

    def cut_off(*_: object) -> None:
        raise OSError("the power is gone")

    monkeypatch.setattr(people_command, "move_work", cut_off)
    assert mlsys(graded, "rename", old, "new") == 1
    monkeypatch.undo()
    assert mlsys(graded, "rename", old, "new") == 0
    assert (graded / "submitted" / "new" / LAB).is_dir()
    assert not (graded / "submitted" / old).exists()
    assert old not in grades(graded)


def test_two_logins_of_one_person_become_one(graded, capsys, monkeypatch):
    points = grades(graded)
    first, second, third = sorted(points)
    cells = table(graded)
    monkeypatch.setattr("builtins.input", lambda _: "no")
    assert mlsys(graded, "merge", first, "ann") == 1
    assert grades(graded) == points
    # Ann handed in nothing, so the work moves to her, and is judged with the numbers it was made
    # with.
    assert mlsys(graded, "merge", first, "ann", "--yes") == 0
    assert grades(graded) == {"ann": points[first], second: points[second], third: points[third]}
    assert cli.main(["grade", LAB, "--force", "--course", str(graded)]) == 0
    assert table(graded) == cells
    capsys.readouterr()
    assert mlsys(graded, "merge", second, third, "--yes") == 0
    assert f"the work of {third} counts; that of {second} is kept" in capsys.readouterr().out
    assert grades(graded) == {"ann": points[first], third: points[third]}
    kept = graded / "merged" / second
    assert (kept / LAB / "submitted" / f"{LAB}.ipynb").is_file()
    assert json.loads((kept / "gradebook.json").read_text())["submissions"]
    inbound = graded.parent / "exchange" / "demo" / "inbound"
    assert {each.name.split("+")[0] for each in inbound.iterdir()} == {"ann", third}


def test_a_forgotten_person_is_in_no_file_and_others_are_untouched(graded, tmp_path, capsys):
    points = grades(graded)
    gone, *others = sorted(points)
    assert mlsys(graded, "extend", gone, LAB, "--days", "2", "--reason", "ill") == 0
    settings = graded / "assignments" / "course.toml"
    settings.write_text(settings.read_text() + '\n[staff.mia]\nrole = "ta"\n')
    assert mlsys(graded, "split", LAB) == 0
    assert cli.main(["report", LAB, "--names", "--course", str(graded),
                     "--output", str(graded / f"report-{LAB}.html")]) == 0  # fmt: skip
    assert cli.main(["export", LAB, "--to", "moodle", "--course", str(graded),
                     "--output", str(graded / "grades.csv")]) == 0  # fmt: skip
    new_kind = graded / ".mlsys" / "tomorrow" / f"{gone}.json"
    new_kind.parent.mkdir()
    new_kind.write_text("{}")
    named = [path for path in files(graded.parent) if gone.encode() in path.read_bytes()]
    assert len(named) >= 5
    before = {path: path.read_bytes() for path in files(graded / "submitted" / others[0])}

    copied = tmp_path / "copy.zip"
    assert mlsys(graded, "copy", gone, "--to", str(copied)) == 0
    with zipfile.ZipFile(copied) as archive:
        names = archive.namelist()
        assert f"course/submitted/{gone}/{LAB}/ledger.jsonl" in names
        assert json.loads(archive.read("gradebook.json"))["submissions"][0]["lab"] == LAB
        assert json.loads(archive.read("settings.json"))["extensions"][0]["reason"] == "ill"
        assert f"course/.mlsys/grade-{LAB}.jsonl" in names
        assert not any(others[0] in name for name in names)
        assert others[0].encode() not in archive.read(f"course/.mlsys/grade-{LAB}.jsonl")
    copied.unlink()

    assert mlsys(graded, "forget", gone, "--yes") == 0
    assert "Removed." in capsys.readouterr().out
    left = [
        path for path in files(graded.parent)
        if gone in str(path.relative_to(graded.parent)) or gone.encode() in path.read_bytes()
    ]  # fmt: skip
    assert left == []
    assert grades(graded) == {name: points[name] for name in others}
    assert {path: path.read_bytes() for path in files(graded / "submitted" / others[0])} == before
    assert cli.main(["grade", LAB, "--course", str(graded)]) == 0


def test_what_cannot_be_edited_is_reported_and_nothing_happens_without_yes(
    graded, capsys, monkeypatch
):
    gone, other, _ = sorted(grades(graded))
    (graded / "submitted" / other / LAB / "notes.txt").write_text(f"with {gone}")
    (graded / "backup.tar").write_bytes(f"\0{gone}\0".encode())
    monkeypatch.setattr("builtins.input", lambda _: "no")
    assert mlsys(graded, "forget", gone) == 1
    assert gone in students(graded)
    capsys.readouterr()
    assert mlsys(graded, "forget", gone, "--yes") == 1
    said = capsys.readouterr().out
    assert f"submitted/{other}/{LAB}/notes.txt: it is the work of somebody else" in said
    assert "backup.tar: nobody knows how to edit such a file" in said
    assert gone not in students(graded)


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
