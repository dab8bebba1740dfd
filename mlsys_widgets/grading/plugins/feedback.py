"""For nbgrader's feedback: a page that a student can read, in place of a notebook with its code.

With these lines in ``nbgrader_config.py``, ``nbgrader generate_feedback`` and formgrader make it::

    c.GenerateFeedback.preprocessors = ["mlsys_widgets.grading.plugins.feedback.GradesAndUnread"]
    c.GenerateFeedback.exporter_class = "mlsys_widgets.grading.plugins.feedback.FeedbackPage"

Nothing of a hidden test is on it but what the test said: the points, and the sentence about the
belief that was recognized.
"""

from __future__ import annotations

from typing import Any

from nbconvert.exporters import Exporter
from nbgrader.preprocessors import GetGrades

from mlsys_widgets.grading.feedback.blind import unmake_blind
from mlsys_widgets.grading.feedback.feedback_page import feedback_page
from mlsys_widgets.grading.feedback.question_results import UNREAD
from mlsys_widgets.grading.feedback.second_looks_page import second_looks_of


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
            unmake_blind(nb, about["student"], about["assignment"])
            looks = second_looks_of(self.config, about["assignment"], about["student"])
        return feedback_page(nb, about, looks), resources
