"""People come, go and change names, in a course with a real gradebook and a real exchange."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mlsys_widgets import cli
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.student_rows import gradebook, rows_of
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
    assert "instructor" in rows[course.owner()], "the first one, whom no setting names"
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
        (("forget", "no-one"), "nothing in this course names no-one"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(course, capsys, words, why):
    settings = course / "assignments" / "course.toml"
    before = settings.read_text() if settings.is_file() else "", students(course)
    assert mlsys(course, *words) == 1
    assert why in capsys.readouterr().err
    assert (settings.read_text() if settings.is_file() else "", students(course)) == before


@pytest.mark.slow
def test_a_renamed_student_is_graded_the_same_as_before(graded, capsys):
    points, cells = grades(graded), table(graded)
    old, new = sorted(points)[0], "new-name"
    assert mlsys(graded, "rename", old, new) == 0
    assert grades(graded) == {new if name == old else name: each for name, each in points.items()}
    for step in ("submitted", "autograded"):
        assert (graded / step / new / LAB).is_dir()
        assert not (graded / step / old).exists()
    inbound = graded.parent / "exchange" / "demo" / "inbound"
    assert sum(each.name.startswith(f"{new}+") for each in inbound.iterdir()) == 1
    # A second time: the numbers are still those of the first name.
    assert mlsys(graded, "rename", new, "third") == 0
    assert Course.at(graded).people.names["third"].numbers == old
    for options in ([], ["--run"]):
        capsys.readouterr()
        words = ["grade", LAB, "--json", "--force", "--students", "third", *options]
        assert cli.main([*words, "--course", str(graded)]) == 0
        (mine,) = map(json.loads, capsys.readouterr().out.splitlines())
        assert not any("ledger" in json.dumps(flag) for flag in mine["flags"]), mine
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
    words = ["grade", LAB, "--force", "--students", "ann"]
    assert cli.main([*words, "--course", str(graded)]) == 0
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
