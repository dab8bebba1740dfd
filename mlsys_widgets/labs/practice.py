"""A lab in practice: what its ledger says besides, and when a question is mastered.

Practice is for learning. Its copy carries the checks, so what its ledger holds proves nothing: the
ledger says of itself that it is practice, and whoever grades counts none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from mlsys_widgets.course.telling import Way
from mlsys_widgets.labs.attempts import attempt_in

__all__ = [
    "EDITION",
    "NOT_GRADED",
    "PRACTICE",
    "WAY",
    "Mastery",
    "Way",
    "asked_in",
    "is_practice",
    "judged_name",
]

#: How a ledger, a notebook and a course say that a lab is practice, and under which name.
PRACTICE: Final = "practice"
WAY: Final = "way"
#: Practice has numbers of its own: never those of an assignment, and no secret of a course.
EDITION: Final = PRACTICE
#: So many attempts must be right at the first try.
_MASTERED: Final = 2
_JUDGED: Final = "judged."

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


class Mastery:
    """How well a question is mastered, by the answers of a ledger.

    It is mastered when two attempts were right at the first try, each with numbers of its own.

    Examples
    --------
    >>> from types import SimpleNamespace as Answer
    >>> right, wrong = Answer(value=True, earlier=()), Answer(value=False, earlier=())
    >>> late = Answer(value=True, earlier=(wrong,))
    >>> Mastery({"judged.ridge": late, "judged.again.1.ridge": right}, "ridge").words
    '●○ right at the first try once'
    >>> found = Mastery({"judged.ridge": late}, "ridge")
    >>> found.words, found.right
    ('○○ not mastered yet', True)
    """

    def __init__(self, answers: Mapping[str, Any], item: str) -> None:
        judged = {
            attempt_in(name.removeprefix(_JUDGED))[1]: answer
            for name, answer in answers.items()
            if asked_in(name) == item
        }
        firsts = [(each.earlier or (each,))[0].value for each in judged.values()]
        self._times = min(sum(first is True for first in firsts), _MASTERED)
        #: Whether anything was judged, and whether the last attempt is right as it stands.
        self.begun = bool(judged)
        self.right = self.begun and judged[max(judged)].value is True

    @property
    def is_reached(self) -> bool:
        """Whether the question is mastered."""
        return self._times == _MASTERED

    @property
    def words(self) -> str:
        """Signs that differ in shape, and what they mean."""
        said = ("not mastered yet", "right at the first try once", "mastered")
        return f"{'●' * self._times}{'○' * (_MASTERED - self._times)} {said[self._times]}"
