"""The rubric of an essay: items with points and text, and what an answer gets by them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from mlsys_widgets.handin.second_look import clean_words

#: Characters of an item's text, and the points that one item may give or take.
_LONGEST: Final = 500
_MOST: Final = 1000.0


@dataclass(frozen=True)
class RubricItem:
    """One item. An item without points is a comment that can be used again."""

    number: int  # by which it is named; never given to another item of the question
    points: float
    text: str
    #: Who changed it last, and when; empty for an item that is as the lab's source has it.
    who: str = ""
    time: str = ""
    #: Whether nobody gets it any more. Who had it is kept, so it can be put back.
    removed: bool = False

    def __post_init__(self) -> None:
        if not math.isfinite(self.points) or abs(self.points) > _MOST:
            raise ValueError(f"an item gives or takes at most {_MOST:g} points, or 0 as a comment")
        text = clean_words(self.text)
        if not text or len(text) > _LONGEST:
            raise ValueError(f"an item needs a text of 1 to {_LONGEST} characters")
        object.__setattr__(self, "points", round(self.points, 2))
        object.__setattr__(self, "text", text)

    @property
    def is_comment(self) -> bool:
        """Whether it is only words."""
        return self.points == 0

    @property
    def label(self) -> str:
        """Its points with a sign, as in ``+6`` and ``−1``; empty for a comment."""
        if self.is_comment:
            return ""
        return f"{'+' if self.points > 0 else '−'}{abs(self.points):g}"

    @property
    def shown(self) -> str:
        """Points and text in a line."""
        return f"{self.label} {self.text}".strip()

    @property
    def seen(self) -> str:
        """How it is, in a word that a form sends back."""
        return state_digest(self)


@dataclass(frozen=True)
class EssayMark:
    """What a person has given one answer: numbers of items, and a comment for this one alone."""

    items: tuple[int, ...]
    comment: str
    who: str
    time: str


@dataclass(frozen=True)
class Rubric:
    """All items of one question.

    Examples
    --------
    >>> rubric = Rubric(
    ...     10,
    ...     [
    ...         RubricItem(1, 6, "names the limit"),
    ...         RubricItem(2, 4, "says why"),
    ...         RubricItem(3, -1, "no unit"),
    ...         RubricItem(4, 0, "See chapter 2."),
    ...     ],
    ... )
    >>> rubric.points({1, 3}), rubric.points({3}), rubric.sum
    (5, 0, 10)
    >>> print(rubric.words({1, 3, 4}, "Well put."))
    ✓ names the limit (6 of 6)
    ○ says why (0 of 4)
    − no unit (−1)
    See chapter 2.
    Well put.
    """

    #: What the gradebook gives at most.
    most: float
    every_item: Sequence[RubricItem]

    @property
    def items(self) -> list[RubricItem]:
        """Those that can be given, with points first."""
        return sorted((i for i in self.every_item if not i.removed), key=lambda i: i.is_comment)

    @property
    def removed(self) -> list[RubricItem]:
        """Those that can be put back."""
        return [item for item in self.every_item if item.removed]

    @property
    def sum(self) -> float:
        """What all items give together that give something."""
        return sum(item.points for item in self.items if item.points > 0)

    @property
    def next_number(self) -> int:
        """The number of the item that is added next."""
        return max((item.number for item in self.every_item), default=0) + 1

    def item(self, number: int) -> RubricItem | None:
        """Return an item, also a removed one; `None` if there is none of that number."""
        return next((item for item in self.every_item if item.number == number), None)

    def points(self, given: Collection[int]) -> float:
        """Return what an answer gets: the sum of its items, but no less than 0 or more than all."""
        total = sum(item.points for item in self.items if item.number in given)
        return round(min(max(total, 0), self.most), 2)

    def words(self, given: Collection[int], comment: str) -> str:
        """Return what the student reads: each item, then what was written for this answer alone."""
        lines = []
        for item in self.items:
            has = item.number in given
            if item.points > 0:
                earned = f"{item.points:g}" if has else "0"
                lines.append(f"{'✓' if has else '○'} {item.text} ({earned} of {item.points:g})")
            elif has:
                lines.append(item.text if item.is_comment else f"− {item.text} ({item.label})")
        return "\n".join([*lines, *([comment] if comment else [])])


def state_digest(state: object) -> str:
    """Return a short word for a state, which is another word for another state."""
    return hashlib.sha256(repr(state).encode("utf-8", "surrogatepass")).hexdigest()[:12]
