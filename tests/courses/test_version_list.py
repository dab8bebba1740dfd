"""``mlsys course versions`` lists who has the old copy."""

from __future__ import annotations

import json
import shutil

import pytest

from mlsys_widgets.cli import main
from mlsys_widgets.courses.version_list import version_rows
from tests.courses.fixed_lab import LAB, NOTE, FixedLab, fixed_lab


@pytest.fixture
def fixed(tmp_path) -> FixedLab:
    made = fixed_lab(tmp_path)
    for student, number in (("ann", 0), ("ben", 1)):
        made.copy(number, made.root / "submitted" / student / LAB)
    (made.root / "submitted" / "eve" / LAB).mkdir(parents=True)
    (made.root / "submitted" / "eve" / LAB / f"{LAB}.ipynb").symlink_to("/etc/passwd")
    notes = made.root.parent / "hand_ins"
    notes.mkdir()
    homes = {"ann": made.versions[0], "cat": made.versions[0], "ben": made.versions[1]}
    (notes / "copies.json").write_text(json.dumps({LAB: {**homes, "dan": "f" * 12}}))
    return made


def test_who_has_which_copy(fixed):
    rows = {each.version: each for each in version_rows(fixed.course, LAB)}
    old, new = (rows[each] for each in fixed.versions)
    assert (old.submitted, old.homes, old.fetched, old.present) == (
        ["ann"],
        ["ann", "cat"],
        False,
        False,
    )
    assert (new.submitted, new.homes, new.fetched, new.present) == (["ben"], ["ben"], True, True)
    assert new.note == NOTE
    assert rows["f" * 12].homes == ["dan"]
    assert not rows["f" * 12].known
    assert rows[""].submitted == ["eve"]


def test_on_the_command_line(fixed, capsys):
    folder = ["--folder", str(fixed.root)]
    assert main(["course", "versions", LAB, *folder]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"In their homes, version {fixed.versions[0]}: 2 students: ann, cat." in said
    assert f"{fixed.versions[1]} ←" in said
    assert f"Handed in, version {fixed.versions[0]}: 1 student: ann." in said
    assert main(["course", "versions", LAB, "--json", *folder]) == 0
    assert [each["version"] for each in json.loads(capsys.readouterr().out)][-2:] == [
        *fixed.versions
    ]
    assert main(["course", "release", LAB, *folder]) == 0
    assert "again: it is version" in capsys.readouterr().out
    assert main(["course", "release", LAB, "--version", fixed.versions[0], *folder]) == 0
    assert "Noted: students have version" in capsys.readouterr().out
    for command in (
        ["versions", "nothing"],
        ["release", "nothing"],
        ["release", LAB, "--version", "x"],
    ):
        assert main(["course", *command, *folder]) == 1
        said = capsys.readouterr().err
        assert said.startswith("mlsys: ")
        assert len(said.splitlines()) == 1


def test_a_lab_that_is_not_built(fixed, capsys):
    for folder in ("release", "source", "submitted", ".mlsys"):
        shutil.rmtree(fixed.root / folder)
    (fixed.root.parent / "hand_ins" / "copies.json").unlink()
    assert main(["course", "versions", LAB, "--folder", str(fixed.root)]) == 0
    assert "is not built yet" in capsys.readouterr().out
