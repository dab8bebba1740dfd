"""The gradebook: nbgrader's tables, nbgrader's rules, a submission at a time or not at all."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy
from nbgrader import api

from mlsys_widgets.course.calendar import read_calendar
from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.gradebook import gradebook_schema as tables
from mlsys_widgets.grading.gradebook import gradebook_writer as book_module
from mlsys_widgets.grading.gradebook.gradebook_writer import GradebookEntry, LabGradebook
from mlsys_widgets.grading.gradebook.late_penalty import late_penalty
from mlsys_widgets.grading.judging.scoring import Score
from tests.grading.classroom import LAB, classroom, of, rows

WHEN = datetime(2026, 11, 1, 10)


@pytest.fixture
def course(tmp_path):
    return classroom(tmp_path / "course")


@pytest.fixture
def gradebook(course):
    book = LabGradebook(f"sqlite:///{course.root / 'gradebook.db'}", LAB)
    yield book
    book.close()


def scores(number: float | None = 40.0, essay: float | None = None) -> list[Score]:
    return [Score("intensity_flop_per_byte", number, 40), Score("limit", 20.0, 20),
            Score("advice", essay, 20), Score("commitments", 0.0, 20)]  # fmt: skip


@pytest.mark.parametrize("table", tables.ALL, ids=lambda table: table.name)
def test_tables_are_those_of_nbgrader(table):
    theirs = api.Base.metadata.tables[table.name]
    for column in table.columns:
        assert column.name in theirs.columns, f"nbgrader's {table.name} has no {column.name}"
        kind = theirs.columns[column.name].type
        same = isinstance(kind, type(column.type)) or isinstance(column.type, type(kind))
        text = isinstance(kind, sqlalchemy.String) and isinstance(column.type, sqlalchemy.String)
        assert same or text, (table.name, column.name, kind)
        assert column.primary_key == theirs.columns[column.name].primary_key


def test_what_we_insert_fills_every_column_that_must_be_filled():
    """Columns of nbgrader's that may not be empty and have no default of the database's own."""
    given = {
        "student": {"id"},
        "submitted_assignment": {"id", "assignment_id", "student_id"},
        "submitted_notebook": {"id", "assignment_id", "notebook_id"},
        "grade": {"id", "cell_id", "notebook_id", "needs_manual_grade"},
        "comment": {"id", "cell_id", "notebook_id"},
    }
    for name, filled in given.items():
        theirs = api.Base.metadata.tables[name]
        must = {c.name for c in theirs.columns if not c.nullable and c.server_default is None}
        assert must <= filled, (name, must - filled)


def test_nbgrader_reads_what_was_written(course, gradebook):
    gradebook.write(
        GradebookEntry("ann", WHEN, scores(), no_response=["limit_answer"], answered=["advice"])
    )
    with api.Gradebook(f"sqlite:///{course.root / 'gradebook.db'}") as found:
        submission = found.find_submission(LAB, "ann")
        assert submission.timestamp == WHEN
        (notebook,) = submission.notebooks
        assert (notebook.score, notebook.needs_manual_grade) == (60, True)
        grades = {g.name: (g.auto_score, bool(g.needs_manual_grade)) for g in notebook.grades}
        assert grades["advice"] == (None, True)
        assert grades["limit"] == (20, False)
        comments = {c.name: c.auto_comment for c in notebook.comments}
        assert comments["limit_answer"] == "No response."
        assert comments["advice"] is None
        assert found.submission_dicts(LAB)[0]["score"] == 60


def test_what_a_person_gave_stands_and_is_looked_at_again(course, gradebook):
    gradebook.write(GradebookEntry("ann", WHEN, scores()))
    url = f"sqlite:///{course.root / 'gradebook.db'}"
    with api.Gradebook(url) as found:
        grade = found.find_grade("advice", LAB, LAB, "ann")
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 15, 1, False
        found.find_comment("advice", LAB, LAB, "ann").manual_comment = "Well put."
        found.db.commit()
    gradebook.write(GradebookEntry("ann", WHEN, scores(0.0)))
    with api.Gradebook(url) as found:
        grade = found.find_grade("advice", LAB, LAB, "ann")
        assert (grade.manual_score, grade.extra_credit, grade.score) == (15, 1, 16)
        assert grade.needs_manual_grade
        assert found.find_comment("advice", LAB, LAB, "ann").comment == "Well put."
        assert found.find_submission(LAB, "ann").score == 36


def test_graded_again_there_are_no_more_rows(course, gradebook):
    for _ in range(3):
        gradebook.write(GradebookEntry("ann", WHEN, scores()))
    found = of("ann", rows(course.root))
    assert {name: len(all_) for name, all_ in found.items()} == {
        "submission": 1, "notebook": 1, "grade": 4, "comment": 3, "student": 1,
    }  # fmt: skip


def test_a_submission_is_written_whole_or_not_at_all(course, gradebook, monkeypatch):
    gradebook.write(GradebookEntry("ann", WHEN, scores()))
    before = rows(course.root)
    monkeypatch.setattr(book_module, "_comments", lambda _: 1 / 0)
    for name in ("ann", "bob"):
        with pytest.raises(ZeroDivisionError):
            gradebook.write(GradebookEntry(name, WHEN + timedelta(1), scores(0.0)))
    assert rows(course.root) == before


@pytest.mark.parametrize(
    ("penalty", "wanted"), [(None, None), (10.0, 10.0), (1e9, 60.0), (-5.0, 0.0)]
)
def test_being_late_costs_what_the_course_says(course, penalty, wanted):
    url = f"sqlite:///{course.root / 'gradebook.db'}"
    with api.Gradebook(url) as found:
        found.find_assignment(LAB).duedate = WHEN - timedelta(hours=1)
        found.db.commit()
    asked = []

    def rule(student, score, late):
        asked.append((student, score, late))
        return penalty

    book = LabGradebook(url, LAB, rule)
    book.write(GradebookEntry("ann", WHEN, scores()))
    book.write(GradebookEntry("bob", WHEN - timedelta(hours=2), scores()))
    book.write(GradebookEntry("cat", None, scores()))
    book.close()
    assert asked == [("ann", 60.0, 3600.0)]
    penalties = {row[0]: row[1] for row in rows(course.root)["notebook"]}
    assert penalties == {"ann": wanted, "bob": None, "cat": None}


@pytest.mark.filterwarnings("ignore:Object of type")  # nbgrader's own
def test_more_time_counts(course):
    url = f"sqlite:///{course.root / 'gradebook.db'}"
    with api.Gradebook(url) as found:
        found.find_assignment(LAB).duedate = WHEN - timedelta(hours=1)
        found.add_student("ann")
        found.add_submission(LAB, "ann")
        found.grant_extension(LAB, "ann", hours=2)
    book = LabGradebook(url, LAB, lambda *_: 7.0)
    book.write(GradebookEntry("ann", WHEN, scores()))
    book.close()
    assert of("ann", rows(course.root))["notebook"][0][1] is None


def test_the_calendar_decides_for_each_student_and_nbgrader_shows_its_date(course):
    due = WHEN.replace(tzinfo=UTC) - timedelta(hours=1)
    settings = {
        "labs": {LAB: {"due": due}},
        "late": {"per_day": 10},
        "extensions": [{"student": "bob", "days": 1, "reason": "illness"}],
    }
    calendar = read_calendar(settings, [LAB])
    url = f"sqlite:///{course.root / 'gradebook.db'}"
    late = late_penalty(replace(Course(course.root), calendar=calendar), LAB)
    book = LabGradebook(url, LAB, late, calendar)
    assert book.has_due_date
    book.write(GradebookEntry("ann", WHEN, scores()))
    book.write(GradebookEntry("bob", WHEN, scores()))
    book.close()
    penalties = {row[0]: row[1] for row in rows(course.root)["notebook"]}
    assert penalties == {"ann": 6.0, "bob": None}
    with api.Gradebook(url) as found:
        assert found.find_assignment(LAB).duedate == WHEN - timedelta(hours=1)


@pytest.mark.parametrize(
    ("name", "wanted"), [("nbgrader.plugins.LateSubmissionPlugin", None), ("zero", 60.0)]
)
def test_the_rule_is_nbgraders_plugin(course, name, wanted):
    config = course.root / "nbgrader_config.py"
    if name == "zero":
        extra = "c.LateSubmissionPlugin.penalty_method = 'zero'\n"
        config.write_text(config.read_text() + "\n" + extra)
    assert late_penalty(Course(course.root), LAB)("ann", 60.0, 10.0) == wanted


def test_a_lab_that_is_not_there_is_said(course):
    url = f"sqlite:///{course.root / 'gradebook.db'}"
    with pytest.raises(ValueError, match="nbgrader generate_assignment lab_99"):
        LabGradebook(url, "lab_99")
    with pytest.raises(ValueError, match="nbgrader generate_assignment"):
        LabGradebook("sqlite://", LAB)


def test_ids_are_made_as_nbgrader_makes_them():
    assert len(book_module._new_id()) == len(api.new_uuid())
