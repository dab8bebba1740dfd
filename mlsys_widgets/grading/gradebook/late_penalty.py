"""What handing in late costs, by the course's own rule, and how late that was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.due_words import in_words
from mlsys_widgets.wording.plurals import counted

#: Student, score and seconds late; the penalty, or ``None`` if there is no rule.
LatePenalty = Callable[[str, float, float], float | None]


def late_penalty(course: Course, lab: str) -> LatePenalty:
    """Return a course's rule: that of its calendar, or what its nbgrader plugin decides."""
    if lab in course.calendar.labs:
        dates = course.calendar.dates
        return lambda student, score, late: dates(lab, student).late.penalty(score, late)

    def penalty(student: str, score: float, seconds_late: float) -> float | None:
        # Only asked for late work, because nbgrader takes seconds to import.
        from nbgrader.preprocessors import AssignLatePenalties

        rule = AssignLatePenalties(config=course.nbgrader)
        rule.init_plugin()
        cost = rule.plugin_inst.late_submission_penalty(student, score, seconds_late)
        return None if cost is None else float(cost)

    return penalty


@dataclass(frozen=True)
class Lateness:
    """How late a submission was, and what that cost."""

    #: After the due date, with the student's extension.
    seconds: float
    #: Points in the gradebook before the penalty, those that a person gave included.
    before: float
    #: Points that are subtracted.
    penalty: float = 0.0

    @property
    def after(self) -> float:
        """Points that are left."""
        return round(self.before - self.penalty, 2)

    @property
    def sentence(self) -> str:
        """Both in words, without a period.

        Examples
        --------
        >>> Lateness(93_600, 58.0, 11.6).sentence
        '1 day 2 hours late: 58 → 46.4 points'
        >>> Lateness(30, 58.0).sentence
        'less than a minute late, no penalty'
        """
        late = f"{in_words(self.seconds)} late"
        if not self.penalty:
            return f"{late}, no penalty"
        return f"{late}: {round(self.before, 2):g} → {self.after:g} points"

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "seconds": self.seconds,
            "before": self.before,
            "penalty": self.penalty,
            "after": self.after,
            "sentence": self.sentence,
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Lateness:
        """Read what `as_data` wrote."""
        return cls(data["seconds"], data["before"], data["penalty"])


def penalty_words(late: int, cost: float, *, included: bool) -> str:
    """Say of the points of a class whether late penalties are in them.

    Examples
    --------
    >>> penalty_words(3, 22.9, included=True)
    'Late penalties are in these points: 3 late submissions lost 22.9 points.'
    >>> penalty_words(3, 22.9, included=False)
    'Late penalties are not in these points: the gradebook takes 22.9 off 3 late submissions.'
    >>> penalty_words(1, 0, included=True), penalty_words(0, 0, included=True)
    ('1 submission was late, without a penalty.', 'Nobody was late, so there are no penalties.')
    """
    if not late:
        return "Nobody was late, so there are no penalties."
    if not cost:
        were = "was" if late == 1 else "were"
        return f"{counted(late, 'submission')} {were} late, without a penalty."
    who = counted(late, "late submission")
    if included:
        return f"Late penalties are in these points: {who} lost {counted(round(cost, 2), 'point')}."
    off = f"the gradebook takes {round(cost, 2):g} off {who}"
    return f"Late penalties are not in these points: {off}."
