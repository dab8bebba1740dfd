"""``mlsys report`` writes the page and its tables."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from mlsys_widgets.cli import main
from tests.classes.html_page import Page
from tests.grading.classroom import LAB
from tests.grading.simulated import STUDENTS, graded_class

pytestmark = pytest.mark.timeout(600)


def test_the_command_writes_page_and_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "class.html"
    arguments = ["report", LAB, "--csv", "--output", str(target), "--course", str(graded_class())]
    assert main(arguments) == 0
    assert f"{STUDENTS} submissions" in capsys.readouterr().out
    Page(target.read_text("utf-8"))
    table = (tmp_path / "class-submissions.csv").read_text("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(table)))
    assert len(rows) == STUDENTS
    assert [row["student"] for row in rows[:2]] == ["1", "2"]
    assert float(rows[0]["points"]) >= float(rows[-1]["points"])
    table = (tmp_path / "class-questions.csv").read_text("utf-8-sig")
    questions = list(csv.DictReader(io.StringIO(table)))
    assert {row["question"] for row in questions} >= {"limit", "commitments"}
    members = (tmp_path / "class-members.csv").read_text("utf-8-sig")
    assert len(members.splitlines()) == STUDENTS + 1
    assert "student-0" not in members
    assert main(["report", "lab_99", "--course", str(graded_class())]) == 1
    assert "there is no assignments/lab_99" in capsys.readouterr().err


def test_the_page_for_the_lecture_has_a_name_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for more in ([], ["--for-lecture"]):
        assert main(["report", LAB, *more, "--course", str(graded_class())]) == 0
    staff, hall = (tmp_path / f"{kind}-{LAB}.html" for kind in ("report", "lecture"))
    assert "Who needs you" in staff.read_text("utf-8")
    assert "Who needs you" not in hall.read_text("utf-8")
