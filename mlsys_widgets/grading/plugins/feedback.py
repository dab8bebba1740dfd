"""For nbgrader's feedback: a page that a student can read, in place of a notebook with its code.

With these lines in ``nbgrader_config.py``, ``nbgrader generate_feedback`` and formgrader make it::

    c.GenerateFeedback.preprocessors = ["mlsys_widgets.grading.plugins.feedback.GradesAndUnread"]
    c.GenerateFeedback.exporter_class = "mlsys_widgets.grading.plugins.feedback.FeedbackPage"

Nothing of a hidden test is on it but what the test said: the points, and the sentence about the
belief that was recognized. Beside the page lies the same as a file for the student's own lab.
"""

from __future__ import annotations

from typing import Any

from nbconvert.exporters import Exporter
from nbgrader.preprocessors import GetGrades

from mlsys_widgets.files import TOLD
from mlsys_widgets.grading.feedback.blind import unmake_blind
from mlsys_widgets.grading.feedback.feedback_page import feedback_page
from mlsys_widgets.grading.feedback.question_results import UNREAD
from mlsys_widgets.grading.feedback.second_looks_page import course_folder, second_looks_of
from mlsys_widgets.grading.telling.told_file import told_file
from mlsys_widgets.notebooks.cell_metadata import cell_metadata, grade_id


class GradesAndUnread(GetGrades):  # type: ignore[misc]
    """Takes points and comments from the gradebook, and whether somebody has still to read."""

    def _get_score(self, cell: Any, resources: Any) -> None:
        super()._get_score(cell, resources)
        name = cell.metadata.nbgrader["grade_id"]
        grade = self.gradebook.find_grade(
            name, self.notebook_id, self.assignment_id, self.student_id
        )
        cell.metadata.nbgrader[UNREAD] = bool(grade.needs_manual_grade)


class FeedbackPage(Exporter):
    """Writes the page."""

    file_extension = ".html"
    output_mimetype = "text/html"

    def from_notebook_node(self, nb: Any, resources: Any = None, **more: Any) -> tuple[Any, Any]:
        nb, resources = super().from_notebook_node(nb, resources, **more)
        about = dict(resources.get("nbgrader", {}))
        looks = ""
        if about.get("student") and about.get("assignment"):
            student, lab = about["student"], about["assignment"]
            unmake_blind(nb, student, lab)
            looks = second_looks_of(self.config, lab, student)
            graded = {n: m for c in nb.cells if (n := grade_id(c)) and (m := cell_metadata(c))}
            points = {n: float(m["score"]) for n, m in graded.items() if "score" in m}
            if told := told_file(course_folder(self.config), lab, student, points):
                # nbconvert writes it beside the page.
                resources.setdefault("outputs", {})[TOLD] = told
        return feedback_page(nb, about, looks), resources
