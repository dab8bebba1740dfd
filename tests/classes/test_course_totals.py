"""Totals of a course: weights, what counts when, and who is left out."""

from __future__ import annotations

import csv
import io
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from mlsys_widgets import cli
from mlsys_widgets.classes.course_totals import course_totals
from mlsys_widgets.classes.export import export_totals
from mlsys_widgets.classes.gradebook_reader import grades
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.trial_accounts import note_trial_accounts
from mlsys_widgets.courses.calendar_sync import follow_calendar
from mlsys_widgets.grading.gradebook import gradebook_schema as t

ONE, TWO, THREE = "lab_01_one", "lab_02_two", "lab_03_three"
NOW = datetime.now(UTC).replace(microsecond=0)
#: Student, lab: points of 10, handed in this many days after the due date, and the penalty.
GRADED = {
    ("ann", ONE): (8, -1, 0),
    ("ann", TWO): (5, -1, 0),
    ("ben", ONE): (10, 2, 2),
    ("student", ONE): (10, -1, 0),
}


def day(days: float) -> datetime:
    return NOW + timedelta(days=days)


@pytest.fixture
def root(tmp_path):
    """A course whose first lab is over, whose second is open, and whose third nobody has."""
    from sqlalchemy import create_engine

    for lab in (ONE, TWO, THREE):
        (tmp_path / "assignments" / lab).mkdir(parents=True)
        (tmp_path / "assignments" / lab / "lab.py").touch()
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    lines = [
        f"[labs.{lab}]\ndue = {due:%Y-%m-%dT%H:%M:%S}Z\nweight = {weight}\n"
        for lab, due, weight in ((ONE, day(-3), 1), (TWO, day(4), 3))
    ]
    (tmp_path / "assignments" / "course.toml").write_text(
        "".join(lines) + '[sections.evening]\nstudents = ["eve"]\n'
        f"[sections.evening.labs.{ONE}]\ndue = {day(2):%Y-%m-%dT%H:%M:%S}Z\n"
    )
    engine = create_engine(f"sqlite:///{tmp_path / 'gradebook.db'}")
    t.assignment.metadata.create_all(engine)
    with engine.begin() as db:
        for name in ("ann", "ben", "eve", "student"):
            db.execute(t.student.insert().values(id=name, first_name=name.title()))
        for lab, due in ((ONE, day(-3)), (TWO, None), (THREE, None)):
            naive = due and due.replace(tzinfo=None)
            db.execute(t.assignment.insert().values(id=lab, name=lab, duedate=naive))
            db.execute(t.notebook.insert().values(id=f"n-{lab}", name=lab, assignment_id=lab))
            db.execute(
                t.base_cell.insert().values(
                    id=f"c-{lab}", name="q", notebook_id=f"n-{lab}", type="GradeCell"
                )
            )
            db.execute(t.grade_cells.insert().values(id=f"c-{lab}", max_score=10.0))
        for (who, lab), (points, late, penalty) in GRADED.items():
            one, when = f"{who}-{lab}", day(-3 + late).replace(tzinfo=None)
            db.execute(
                t.submitted_assignment.insert().values(
                    id=one, assignment_id=lab, student_id=who, timestamp=when
                )
            )
            db.execute(
                t.submitted_notebook.insert().values(
                    id=f"n-{one}", assignment_id=one, notebook_id=f"n-{lab}", flagged=False,
                    late_submission_penalty=float(penalty),
                )
            )  # fmt: skip
            db.execute(
                t.grade.insert().values(
                    id=f"g-{one}", cell_id=f"c-{lab}", notebook_id=f"n-{one}",
                    auto_score=float(points), needs_manual_grade=False,
                )
            )  # fmt: skip
    engine.dispose()
    note_trial_accounts(tmp_path, ["student", "teacher"])
    return tmp_path


def test_weights_lateness_and_what_counts(root):
    totals = course_totals(Course.at(root))
    assert [(lab.name, lab.weight) for lab in totals.labs] == [(ONE, 1), (TWO, 3)]
    assert totals.ungraded == (THREE,)
    assert totals.percent("ann") == pytest.approx(100 * (0.8 + 3 * 0.5) / 4)
    # The second lab is not due yet, so only the first counts, with its penalty.
    assert totals.percent("ben") == pytest.approx(80.0)
    # Eve's section has more time: nothing of hers is missing.
    assert totals.percent("eve") is None
    later = course_totals(Course.at(root), day(30))
    assert later.percent("ben") == pytest.approx(100 * 0.8 / 4)
    assert later.percent("eve") == 0.0


def test_whoever_only_tries_the_course_is_nowhere(root, capsys):
    found = grades(Course.at(root), ONE)
    assert "student" not in {each.id for each in found.people} | set(found.standings)
    assert found.trial == ("student",)
    made = export_totals(root, "csv")
    assert "student," not in made.text.partition("\n")[2]
    assert any("only try the course: student" in each for each in made.warnings)
    note_trial_accounts(root, (), enrolled=["student"])
    assert "student" in set(grades(Course.at(root), ONE).standings)


def test_exports_of_all_labs(root, capsys):
    rows = {r["student"]: r for r in csv.DictReader(io.StringIO(export_totals(root, "csv").text))}
    assert rows["ann"]["total_percent"] == "57.50"
    assert (rows["ben"][ONE], rows["ben"][f"{ONE}_late"]) == ("8", "2 days")
    assert rows["ben"][f"{ONE}_late_penalty"] == "2"
    assert (rows["eve"]["section"], rows["eve"]["total_percent"]) == ("evening", "")
    canvas = list(csv.reader(io.StringIO(export_totals(root, "canvas").text)))
    assert canvas[0][-3:] == [ONE, TWO, "Course total"]
    assert canvas[1][-3:] == ["10", "10", "100"]
    moodle = list(csv.DictReader(io.StringIO(export_totals(root, "moodle").text)))
    assert moodle[2][f"{ONE} (Real)"] == "-"
    target = root / "all.csv"
    asked = ["export", "--course", str(root), "--to", "csv", "--output", str(target)]
    assert cli.main(asked) == 0
    assert "total_percent" in target.read_text()
    assert cli.main(["export", ONE, "--course", str(root), "--to", "csv"]) != 0
    assert "for all labs together" in capsys.readouterr().err
    assert cli.main(["export", "--course", str(root), "--to", "gradescope"]) != 0


def test_the_report_on_a_course_names_nobody_unless_asked(root):
    target = root / "page.html"
    asked = ["report", "--course", str(root), "--output", str(target)]
    assert cli.main(asked) == 0
    page = target.read_text()
    assert TWO in page
    assert "The median is 68.8%" in page
    assert "<td>ann</td>" not in page
    assert cli.main([*asked, "--names", "--csv"]) == 0
    page = target.read_text()
    assert "<td>8 of 10, 2 days late (−2)</td>" in page
    assert "<td>57.5%</td>" in page
    assert (root / "page-grades.csv").is_file()


def test_the_gradebooks_due_dates_follow_the_calendar(root):
    def due_dates():
        with sqlite3.connect(root / "gradebook.db") as db:
            return dict(db.execute("select name, duedate from assignment"))

    assert due_dates()[TWO] is None
    assert cli.main(["course", "calendar", str(root)]) == 0
    assert due_dates()[TWO] == f"{day(4):%Y-%m-%d %H:%M:%S}.000000"
    assert due_dates()[THREE] is None
    assert follow_calendar(Course.at(root)).gradebook == ()
    path = root / "assignments" / "course.toml"
    path.write_text(
        path.read_text().replace(f"{day(4):%Y-%m-%dT%H:%M:%S}Z", "2030-01-01T12:00:00Z")
    )
    assert follow_calendar(Course.at(root)).gradebook == (TWO,)
    assert due_dates()[TWO] == "2030-01-01 12:00:00.000000"


def test_nothing_graded_is_a_sentence(root):
    with sqlite3.connect(root / "gradebook.db") as db:
        db.execute("delete from submitted_assignment")
    with pytest.raises(ValueError, match="nothing is graded yet"):
        course_totals(Course.at(root))
