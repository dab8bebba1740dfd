"""Totals of a course: weights, what counts when, and who is left out."""

from __future__ import annotations

import csv
import io
import sqlite3

import pytest

from mlsys_widgets import cli
from mlsys_widgets.classes.course_totals import course_totals
from mlsys_widgets.classes.export import export_totals
from mlsys_widgets.classes.gradebook_reader import grades
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.trial_accounts import note_trial_accounts
from mlsys_widgets.courses.calendar_sync import follow_calendar
from tests.classes.two_labs import GRADED, ONE, THREE, TWO, day, two_labs


@pytest.fixture
def root(tmp_path):
    return two_labs(tmp_path, GRADED)


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
    notebook = root / "release" / TWO / f"{TWO}.ipynb"
    notebook.parent.mkdir(parents=True)
    notebook.write_text('{"cells": [], "metadata": {"mlsys": {"title": "Two caches"}}}')
    assert cli.main(asked) == 0
    page = target.read_text()
    assert "too few to show" in page
    assert "ann" not in page
    assert cli.main([*asked, "--names", "--csv"]) == 0
    page = target.read_text()
    assert "<td>Two caches</td>" in page
    assert ONE in page, "a lab that is not built has no title yet"
    assert "The median is 68.8%" in page
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
