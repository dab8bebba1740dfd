"""What a student was told about a lab, in a file beside the ledger.

A hub's service writes what is in it; where there is none, it lies beside the feedback page. The
student could change the file, which changes what this student sees and nothing else: what counts is
in the course.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import TOLD, open_regular
from mlsys_widgets.wording.plurals import counted

FORMAT: Final = 1
#: Bytes of a file; ours have a few thousand.
_LARGEST: Final = 2_000_000


#: Points are rounded to hundredths.
_ROUNDED: Final = 0.011


def which_counts(points: float, first: float, second: float, share: float) -> str:
    """Say which of two answers counts, and why.

    Parameters
    ----------
    first, second
        The fractions of the points that they earn by themselves.
    share
        What the second answer counts.

    Examples
    --------
    >>> which_counts(6, 0.5, 1, 0.9)
    'The second answer counts: it earned 5.4 points (90% of 6), and the first 3.'
    >>> which_counts(6, 0.5, 0.5, 0.9)
    'The first answer counts: it earned 3 points, and the second 2.7 (90% of 3).'
    """
    one, two = round(points * first, 2), round(points * share * second, 2)
    if not one and not two:
        return "Neither answer earned points."
    part = f" ({100 * share:g}% of {round(points * second, 2):g})" if second and share < 1 else ""
    if two > one:
        return f"The second answer counts: it earned {_points(two)}{part}, and the first {one:g}."
    return f"The first answer counts: it earned {_points(one)}, and the second {two:g}{part}."


def _points(number: float) -> str:
    return f"{number:g} point{'' if number == 1 else 's'}"


class ToldRefused(ValueError):
    """A file that is not what this student was told about this lab."""


@dataclass(frozen=True)
class ToldQuestion:
    """What a student was told about an answer, in the words of its card."""

    answer: str
    credit: float
    says: str
    earned: float
    points: float
    #: Whether it can be taken again on new numbers.
    again: bool = False
    #: The same of the second answer, and what part of it counts; `None` without one.
    second_answer: str | None = None
    second_credit: float = 0.0
    second_says: str = ""
    share: float = 1.0

    @property
    def counts(self) -> str:
        """Which of two answers counts, and why; empty if there is only one."""
        if self.second_answer is None or not self.points:
            return ""
        return which_counts(self.points, self.credit, self.second_credit, self.share)

    @property
    def by_person(self) -> bool:
        """Whether somebody decided upon other points than the answers earn."""
        best = max(self.credit, self.second_credit * self.share)
        return abs(self.earned - self.points * best) > _ROUNDED


@dataclass(frozen=True)
class Told:
    """What a student was told about a lab."""

    questions: Mapping[str, ToldQuestion]
    #: Until when, and at what share, questions can be taken again; `None` if they cannot.
    share: float | None = None
    until: datetime | None = None
    #: Why there is nothing new; empty if there is.
    later: str = ""
    #: Points of what a program judged: earned and possible; and what a person still reads.
    earned: float = 0.0
    points: float = 0.0
    by_person: int = 0
    to_run: int = 0

    def can_take_again(self, told: ToldQuestion) -> bool:
        """Whether a second answer to a question can still be handed in."""
        return told.again and (self.until is None or datetime.now(UTC) <= self.until)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The result in words, for a dialog."""
        words = []
        if self.questions:
            words.append(
                f"Judged so far: {self.earned:g} of {self.points:g} points. Each question that you"
                " answered says in its card what it earned, and why."
            )
        if self.to_run:
            words.append(
                f"Not judged yet: {counted(self.to_run, 'function')} that you wrote. Functions are"
                " called when the course is graded."
            )
        if self.by_person:
            words.append("Essays are with your TA.")
        return (*words, *([self.later] if self.later else []))


def read_told(content: bytes, lab: str, student: str) -> Told:
    """Read a file; `ToldRefused` if it is about something or somebody else, or none of ours."""
    try:
        data = json.loads(content)
        if data["format"] != FORMAT:
            raise ValueError
        whose, which = str(data["student"]), str(data["lab"])
        if which != lab:
            raise ToldRefused(f"this feedback is about {which[:80]}, and this is {lab}")
        if whose != student:
            raise ToldRefused(
                f"this feedback is for {whose[:80]}, and this is the lab of {student}"
            )
        return _told(data)
    except ToldRefused:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ToldRefused("this is no feedback file of mlsys-widgets, or it was changed") from None


def told_beside(ledger: Path, lab: str, student: str) -> Told | None:
    """Return what lies beside a ledger; `None` if that is nothing, or not this student's."""
    try:
        with open_regular(ledger.with_name(TOLD)) as file:
            return read_told(file.read(_LARGEST), lab, student)
    except (OSError, ToldRefused):
        return None


def _told(data: Mapping[str, Any]) -> Told:
    answers = {
        str(each["name"]): _question(each) for each in data["questions"] if each["kind"] == "answer"
    }
    records = [each for each in data["questions"] if each["kind"] == "record"]
    kinds = [each["kind"] for each in data["questions"]]
    until = data["until"]
    counted = [(each.earned, each.points) for each in answers.values()]
    counted += [(float(each["earned"]), float(each["points"])) for each in records]
    return Told(
        answers,
        None if data["share"] is None else float(data["share"]),
        datetime.fromisoformat(until) if until else None,
        str(data["later"]),
        round(sum(earned for earned, _ in counted), 2),
        sum(points for _, points in counted),
        kinds.count("person"),
        kinds.count("later"),
    )


def _question(data: Mapping[str, Any]) -> ToldQuestion:
    second = data["second"] or {}
    return ToldQuestion(
        str(data["answer"]), float(data["credit"]), str(data["says"]), float(data["earned"]),
        float(data["points"]), data["again"] is True,
        str(second["answer"]) if second else None, float(second.get("credit", 0)),
        str(second.get("says", "")), float(second.get("share", 1)),
    )  # fmt: skip
