"""A lab in practice: what its ledger says besides, and when an idea is mastered.

Practice is for learning. Its copy carries the checks, so what its ledger holds proves nothing: the
ledger says of itself that it is practice, and whoever grades counts none of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mlsys_widgets.course.telling import Way
from mlsys_widgets.labs.attempts import attempt_in

__all__ = [
    "EDITION",
    "ELSEWHERE",
    "NOT_GRADED",
    "PRACTICE",
    "WAY",
    "Mastery",
    "Way",
    "asked_in",
    "ideas_name",
    "is_practice",
    "judged_name",
    "right_by_idea",
]

#: How a ledger, a notebook and a course say that a lab is practice, and under which name.
PRACTICE: Final = "practice"
WAY: Final = "way"
#: Practice has numbers of its own: never those of an assignment, and no secret of a course.
EDITION: Final = PRACTICE
#: So many attempts must be right at the first try.
_MASTERED: Final = 2
_JUDGED: Final = "judged."
#: Under which name a ledger keeps what the labs beside it know: how often each idea was right.
ELSEWHERE: Final = "elsewhere"

#: To students and to TAs, wherever practice was handed in.
NOT_GRADED: Final = (
    "This is practice: it carries its own checks, so nothing in it can be graded. Hand in the"
    " notebook of your course with the ledger beside it."
)


def judged_name(answer: str) -> str:
    """Return the name under which practice keeps whether an answer is right.

    Examples
    --------
    >>> judged_name("again.1.ridge")
    'judged.again.1.ridge'
    """
    return f"{_JUDGED}{answer}"


def asked_in(name: str) -> str:
    """Return the item whose verdict has this name in a ledger; empty for other names.

    Examples
    --------
    >>> asked_in("judged.again.1.ridge"), asked_in("ridge")
    ('ridge', '')
    """
    return attempt_in(name.removeprefix(_JUDGED))[0] if name.startswith(_JUDGED) else ""


def is_practice(answers: Iterable[str]) -> bool:
    """Whether a ledger with answers of these names is one of practice.

    Examples
    --------
    >>> is_practice(["ridge", "way"]), is_practice(["ridge"])
    (True, False)
    """
    return any(name == WAY or name.startswith(_JUDGED) for name in answers)


def ideas_name(answer: str) -> str:
    """Return the name under which practice keeps the ideas that an answer was about."""
    return f"ideas.{answer}"


def right_by_idea(answers: Mapping[str, Any]) -> Counter[str]:
    """Count the answers of a ledger that were right at the first try, by the ideas they are about.

    Examples
    --------
    >>> from types import SimpleNamespace as Answer
    >>> right, ideas = Answer(value=True, earlier=()), Answer(value=["more is better"])
    >>> dict(right_by_idea({"judged.largest": right, "ideas.largest": ideas}))
    {'more is better': 1}
    """
    found: Counter[str] = Counter()
    for name, answer in answers.items():
        if asked_in(name) and _first(answer):
            kept = answers.get(ideas_name(name.removeprefix(_JUDGED)))
            found.update(kept.value if kept else ())
    return found


def _first(judged: Any) -> bool:
    """Whether an answer was right at the first try."""
    return (judged.earlier or (judged,))[0].value is True


@dataclass(frozen=True)
class Mastery:
    """How well what a question asks is mastered.

    An idea is mastered when two attempts were right at the first try, each with numbers of its own,
    at whatever questions ask it. A question that names no idea is its own.

    Parameters
    ----------
    own
        How many attempts at this question were right at the first try.
    times
        The same of its ideas: of the one that was right least often.
    right, stands
        Whether any attempt was ever right, and whether the last one is, as it stands.

    Examples
    --------
    >>> from types import SimpleNamespace as Answer
    >>> right, wrong = Answer(value=True, earlier=()), Answer(value=False, earlier=())
    >>> late = Answer(value=True, earlier=(wrong,))
    >>> Mastery.by_item({"judged.ridge": late, "judged.again.1.ridge": right})["ridge"].words
    '●○ right at the first try once'
    >>> found = Mastery.by_item({"judged.ridge": late})["ridge"]
    >>> found.words, found.right
    ('○○ not mastered yet', True)
    """

    own: int = 0
    times: int = 0
    right: bool = False
    stands: bool = False

    @classmethod
    def by_item(cls, answers: Mapping[str, Any]) -> dict[str, Mastery]:
        """Return the mastery of every question that was judged, by the answers of a ledger."""
        attempts: dict[str, dict[int, Any]] = {}
        ideas: dict[str, set[str]] = {}
        for name, answer in answers.items():
            if item := asked_in(name):
                answered = name.removeprefix(_JUDGED)
                attempts.setdefault(item, {})[attempt_in(answered)[1]] = answer
                kept = answers.get(ideas_name(answered))
                ideas.setdefault(item, set()).update(kept.value if kept else ())
        counts = right_by_idea(answers)
        if ELSEWHERE in answers:
            counts.update(answers[ELSEWHERE].value)
        found = {}
        for item, judged in attempts.items():
            own = sum(map(_first, judged.values()))
            shared = min((counts[idea] for idea in ideas[item]), default=0)
            ever = any(e.value is True for a in judged.values() for e in (*a.earlier, a))
            stands = judged[max(judged)].value is True
            found[item] = cls(min(own, _MASTERED), min(max(own, shared), _MASTERED), ever, stands)
        return found

    @property
    def words(self) -> str:
        """Signs that differ in shape, and what they mean."""
        said = ("not mastered yet", "right at the first try once", "mastered")
        also = ", counting other questions on the same idea" if self.times > self.own else ""
        return f"{'●' * self.times}{'○' * (_MASTERED - self.times)} {said[self.times]}{also}"

    @property
    def told(self) -> str:
        """The same after what the panel says of a step: it stays right once it was."""
        if (self.right and self.times == _MASTERED) or (self.stands and self.own):
            return self.words  # which says that it is right
        if not self.right and not self.times:
            return "not right yet"  # and so not mastered
        how = "right" if self.stands else "right before" if self.right else "not right yet"
        return f"{how}, {self.words}"
