"""Forgetting a person, and giving them a copy: tried by looking for the name in every file."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from mlsys_widgets import cli
from tests.courses.conftest import LAB, students
from tests.courses.test_people_command import grades, mlsys


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


def test_a_namesake_stays(course):
    for login in ("wei1", "wei2"):
        assert mlsys(course, "add", login, "--name", "Wei Zhang") == 0
    grades_file = course / "grades.csv"
    grades_file.write_text('login,name\nwei1,"Zhang, Wei"\nwei2,"Zhang, Wei"\n')
    assert mlsys(course, "forget", "wei1", "--yes") == 0
    assert grades_file.read_text() == 'login,name\nwei2,"Zhang, Wei"\n'
    assert mlsys(course, "forget", "wei2", "--yes") == 0
    assert grades_file.read_text() == "login,name\n"


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
