"""For stock nbgrader: what handing in late costs, by the calendar of the course.

``mlsys grade`` does the same by itself. In ``nbgrader_config.py``::

    late = "mlsys_widgets.grading.plugins.late_penalties.CalendarPenalties"
    c.AssignLatePenalties.plugin_class = late

nbgrader counts from the due date of the lab; sections and extensions are in the calendar alone, so
the time that a student has more is taken off here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbgrader.plugins import LateSubmissionPlugin

from mlsys_widgets.course.course import Course


class CalendarPenalties(LateSubmissionPlugin):  # type: ignore[misc]
    """A plugin of nbgrader that asks ``course.toml``, and nbgrader's own where that is silent."""

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """Return the points that are lost, of those that were earned."""
        lab, root = getattr(self.parent, "assignment_id", ""), _root(self)
        calendar = Course.at(root).calendar if root else None
        if calendar is None or lab not in calendar.labs:
            cost: float | None = super().late_submission_penalty(
                student_id, score, total_seconds_late
            )
            return cost
        plain, own = calendar.dates(lab), calendar.dates(lab, student_id)
        more = (own.due - plain.due).total_seconds() if own.due and plain.due else 0.0
        return own.late.penalty(score, total_seconds_late - more)


def _root(plugin: Any) -> Path | None:
    """Return the folder of the course, as the nbgrader command above a plugin knows it."""
    above = plugin.parent
    while above is not None and not hasattr(above, "coursedir"):
        above = above.parent
    return above and Path(above.coursedir.root)
