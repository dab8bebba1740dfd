"""What handing in late costs, by the course's own rule."""

from __future__ import annotations

from collections.abc import Callable

from mlsys_widgets.labs.course import Course

#: Student, score and seconds late; the penalty, or ``None`` if there is no rule.
LatePenalty = Callable[[str, float, float], float | None]


def late_penalty(course: Course) -> LatePenalty:
    """The rule of a course, as nbgrader's plugin of that course decides it."""

    def penalty(student: str, score: float, seconds_late: float) -> float | None:
        # Only asked for late work, because nbgrader takes seconds to import.
        from nbgrader.preprocessors import AssignLatePenalties

        rule = AssignLatePenalties(config=course.nbgrader)
        rule.init_plugin()
        cost = rule.plugin_inst.late_submission_penalty(student, score, seconds_late)
        return None if cost is None else float(cost)

    return penalty
