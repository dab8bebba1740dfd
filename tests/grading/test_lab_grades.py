"""What the gradebook holds about a lab, as nbgrader itself counts it."""

from __future__ import annotations

from nbgrader.api import Gradebook

from mlsys_widgets.grading.gradebook.gradebook_writer import LabGradebook
from tests.grading.classroom import LAB
from tests.grading.regrading import ESSAY, by_hand, graded_course


def test_totals_are_those_of_nbgrader(tmp_path):
    course = graded_course(tmp_path / "course")
    by_hand(course, "bob", ESSAY, manual_score=7, extra_credit=2)
    url = f"sqlite:///{course.root / 'gradebook.db'}"
    found = LabGradebook(url, LAB).grades()
    with Gradebook(url) as theirs:
        for student, grade in found.items():
            notebook = theirs.find_submission_notebook(LAB, LAB, student)
            assert grade.total == notebook.score
            assert set(grade.cells) == {each.name for each in notebook.grades}
    assert found["bob"].cells[ESSAY].points == 9
    assert sorted(found) == ["ann", "bob", "cat"]
