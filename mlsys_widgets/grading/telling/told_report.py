"""What a student is told about a lab: a file beside the ledger, made of what was judged.

It holds answers, points and explanations of what is judged for good, and no key of anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from mlsys_widgets.course.calendar import LabDates
from mlsys_widgets.grading.judging.scoring import Score
from mlsys_widgets.judging.verdicts import Verdict
from mlsys_widgets.labs import Choice, Code, Item, Lab, Number, Parameters
from mlsys_widgets.labs.attempts import Attempts
from mlsys_widgets.labs.told import FORMAT

#: Why nothing is told about a hand-in that has to be looked at, or run.
LATER: Final = "What you handed in will be graded when the course is graded."
TO_RUN: Final = (
    "Your notebook has to be run before it is judged, because a graded cell was changed or an"
    " answer is nowhere but in its code. That is done when the course is graded, and you are told"
    " then."
)


def told_report(
    lab: Lab,
    student: str,
    scores: Sequence[Score],
    parameters: Mapping[str, Any],
    attempts: Attempts,
    dates: LabDates,
    at: datetime | None,
    later: str = "",
) -> dict[str, Any]:
    """Return what a student is told, as JSON has it.

    Parameters
    ----------
    student
        The name under which the student works, as their notebook knows it: whoever was renamed
        keeps the numbers, and with them the name, from before.
    dates
        Those of this student.
    at
        When it was handed in; a second chance is offered if it can still be taken then. `None`
        where nobody judges one.
    later
        Why something is not told.
    """
    items = lab.items(Parameters(parameters))
    chance = dates.second_chance
    offered = chance is not None and at is not None and chance.is_open(dates.due, at)
    until = dates.due + chance.until if chance and offered and dates.due else None
    return {
        "format": FORMAT,
        "lab": lab.name,
        "student": student,
        "questions": list(_questions(scores, items, attempts if offered else None)),
        "share": chance.share if chance and offered else None,
        "until": until.isoformat() if until else None,
        "later": later,
    }


def nothing_told(lab: str, student: str, before: Mapping[str, Any], why: str) -> dict[str, Any]:
    """Return what was told before, with the reason why there is nothing new."""
    blank = {"format": FORMAT, "lab": lab, "student": student, "questions": [], "share": None,
             "until": None}  # fmt: skip
    return {**blank, **before, "later": why}


def _questions(
    scores: Sequence[Score], items: Mapping[str, Item], attempts: Attempts | None
) -> Iterator[dict[str, Any]]:
    known = {score.name for score in scores}
    for name, each in items.items():
        if isinstance(each, Code) and name not in known:  # it was not called yet
            yield {"name": name, "title": each.title, "points": each.points, "kind": "later"}
    for score in scores:
        item = items.get(score.name)
        about = {
            "name": score.name,
            "title": getattr(item, "title", "") or score.name.replace("_", " "),
            "points": score.most,
        }
        if score.auto is None:
            yield {**about, "kind": "person"}
        elif score.answered:
            yield {**about, "kind": "answer", **_told(score, item, attempts)}
        elif score.judged and score.data is None:
            yield {**about, "kind": "record", "earned": score.auto, "says": score.says}


def _told(score: Score, item: Item | None, attempts: Attempts | None) -> dict[str, Any]:
    first, second = score.first_credit, score.second
    again = (
        attempts is not None
        and isinstance(item, Number | Choice)
        and not Verdict(first, "").right
        and second is None
        and attempts.at(score.name, 1) is not None
    )
    return {
        "answer": _in_words(score, item),
        "earned": score.auto,
        "credit": first,
        "says": score.says,
        "again": again,
        "second": second and {
            "answer": second.answer, "credit": second.credit, "says": second.says,
            "share": second.share,
        },
    }  # fmt: skip


def _in_words(score: Score, item: Item | None) -> str | None:
    """Return an answer as its card reads it: of a function, how long it is."""
    match item, score.data:
        case Code(), [_, str() as source, *_]:
            return item.in_words(source)
    return score.answer
