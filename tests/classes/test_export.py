"""Grades for other systems: their columns, names of every kind, and what is not final yet."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

import pytest

from mlsys_widgets.classes.export import export
from mlsys_widgets.cli import main
from tests.grading.classroom import LAB, classroom
from tests.grading.simulated import STUDENTS, copy_of_class, graded_class, sql

pytestmark = pytest.mark.timeout(600)
SYSTEMS = ("canvas", "moodle", "gradescope")
#: Names that break what puts texts together with commas.
NAMES = {
    "student-001": ("Ann, B.", 'O"Brien', "ann@uni.edu", "4711"),
    "student-002": ("Zoë 李", "Müller-Ångström", "zoe@uni.edu", "reg-17"),
    "student-003": ("", "", "", ""),
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class with names, somebody who was late, and somebody who handed in nothing."""
    root = copy_of_class(tmp_path_factory.mktemp("course") / "course")
    for student, names in NAMES.items():
        sql(
            root,
            "update student set first_name = ?, last_name = ?, email = ?, lms_user_id = ?"
            " where id = ?",
            *(name or None for name in names),
            student,
        )
    sql(root, "insert into student (id, first_name, last_name) values ('zz-absent', 'No', 'Body')")
    sql(
        root,
        "update submitted_notebook set late_submission_penalty = 7.5 where assignment_id in"
        " (select id from submitted_assignment where student_id = 'student-001')",
    )
    return root


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def scores(root: Path) -> dict[str, float]:
    """As nbgrader's own exporter computes them."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        return {
            s.student.id: max(0.0, s.score - s.late_submission_penalty)
            for s in book.assignment_submissions(LAB)
        }


def test_canvas(course: Path) -> None:
    text = export(course, LAB, "canvas").text
    header, possible, *rows = list(csv.reader(io.StringIO(text)))
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", LAB]
    assert possible == ["    Points Possible", "", "", "", "", "100"]
    assert len(rows) == STUDENTS + 1
    by_login = {row[3]: row for row in rows}
    assert by_login["student-001"][:3] == ['O"Brien, Ann, B.', "4711", ""]
    # Canvas would read an id that begins with digits as another user's.
    assert by_login["student-002"][:3] == ["Müller-Ångström, Zoë 李", "", "reg-17"]
    assert by_login["student-003"][:3] == ["student-003", "", ""]
    assert by_login["zz-absent"][-1] == ""
    for student, score in scores(course).items():
        assert float(by_login[student][-1]) == pytest.approx(score, abs=0.005)


def test_moodle(course: Path) -> None:
    rows = {row["Username"]: row for row in table(export(course, LAB, "moodle").text)}
    assert list(rows["student-001"]) == [
        "First name", "Last name", "Username", "ID number", "Email address",
        f"{LAB} (Real)", f"{LAB} (Feedback)",
    ]  # fmt: skip
    assert rows["student-002"]["Email address"] == "zoe@uni.edu"
    assert rows["zz-absent"][f"{LAB} (Real)"] == "-"
    assert "Late penalty: 7.5 points." in rows["student-001"][f"{LAB} (Feedback)"]
    for student, score in scores(course).items():
        assert float(rows[student][f"{LAB} (Real)"]) == pytest.approx(score, abs=0.005)
    said = " ".join(row[f"{LAB} (Feedback)"] for row in rows.values())
    assert "FLOP/B, and the ridge is at" in said  # a belief of the starter lab
    # Whose ledger somebody copied is nothing to tell that somebody through another system.
    assert "student-" not in said


def test_gradescope(course: Path) -> None:
    rows = table(export(course, LAB, "gradescope").text)
    assert list(rows[0])[:13] == [
        "First Name", "Last Name", "SID", "Email", "Sections", "Total Score", "Max Points",
        "Status", "Submission ID", "Submission Time", "Lateness (H:M:S)", "View Count",
        "Submission Count",
    ]  # fmt: skip
    assert list(rows[0])[13:] == [
        "1: intensity_flop_per_byte (40.0 pts)", "2: limit (20.0 pts)", "3: advice (20.0 pts)",
        "4: commitments (20.0 pts)",
    ]  # fmt: skip
    assert {row["Status"] for row in rows} == {"Graded", "Ungraded", "Missing"}
    late = [row for row in rows if row["Lateness (H:M:S)"] not in ("", "00:00:00")]
    assert late
    assert all(row["Submission Time"].endswith(" +0000") for row in late)
    (absent,) = (row for row in rows if row["SID"] == "zz-absent")
    assert (absent["Total Score"], absent["Submission Count"]) == ("", "0")
    (ann,) = (row for row in rows if row["SID"] == "4711")
    raw = sum(float(ann[name]) for name in list(ann)[13:])
    assert float(ann["Total Score"]) == pytest.approx(max(0.0, raw - 7.5))


@pytest.mark.parametrize("to", SYSTEMS)
def test_what_is_not_final_is_said(course: Path, to: str) -> None:
    said = " ".join(export(course, LAB, to).warnings)
    assert "still wait for a person to grade advice" in said
    assert "zz-absent" in said


def test_nothing_is_said_when_all_is_final(tmp_path: Path) -> None:
    root = copy_of_class(tmp_path / "course")
    sql(root, "update grade set needs_manual_grade = 0")
    assert export(root, LAB, "moodle").warnings == ()


@pytest.mark.parametrize("to", SYSTEMS)
def test_nobody_to_export(tmp_path: Path, to: str) -> None:
    text = export(classroom(tmp_path / "course").root, LAB, to).text
    assert len(text.splitlines()) == (2 if to == "canvas" else 1)


def test_the_command(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "grades.csv"
    arguments = ["export", LAB, "--to", "canvas", "--course", str(course)]
    named = [*arguments, "--column", "Lab 2 (99)", "--output", str(target)]
    assert main(named) == 0
    said = capsys.readouterr()
    assert str(target) in said.out
    assert "still wait for a person to grade advice" in said.err
    content = target.read_bytes()
    assert content.startswith(b"Student,ID,SIS User ID,SIS Login ID,Section,Lab 2 (99)\r\n")
    assert "Müller-Ångström".encode() in content
    assert main([*arguments, "--output", "-"]) == 0
    assert capsys.readouterr().out.startswith("Student,ID,")


def test_a_lab_that_the_gradebook_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    root = str(graded_class())
    assert main(["export", "lab_99", "--to", "moodle", "--course", root]) == 1
    assert "does not know lab_99" in capsys.readouterr().err
    with pytest.raises(ValueError, match="choose one of: canvas, moodle, gradescope"):
        export(graded_class(), LAB, "blackboard")
    with pytest.raises(SystemExit):
        main(["export", LAB, "--to", "blackboard"])


@pytest.mark.parametrize("to", SYSTEMS)
def test_no_roster_makes_a_formula(course: Path, tmp_path: Path, to: str):
    root = tmp_path / "course"
    shutil.copytree(course, root)
    sql(root, "update student set first_name = '=1+1', last_name = '@x', email = '+1-1'")
    rows = csv.reader(io.StringIO(export(root, LAB, to).text))
    for cell in (cell for row in rows for cell in row):
        assert not cell.startswith(("=", "@", "+")), cell
