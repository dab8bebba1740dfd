"""How long a lab takes, counted from what is read and done in it, at stated rates.

The rates are one table, so that a cover promises what a count gives and not what somebody hopes.
docs/authors/time_on_a_lab.md says where they come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from mlsys_widgets.labs.code_item import Code
from mlsys_widgets.labs.items import (
    Checklist,
    Choice,
    Essay,
    Item,
    Measurement,
    Message,
    Number,
    Peek,
    Takeaways,
)
from mlsys_widgets.labs.prediction import Prediction
from mlsys_widgets.labs.quiz import Myths, Quiz
from mlsys_widgets.labs.reflection_prompt import ReflectionPrompt

#: How fast technical prose is read for study.
WORDS_PER_MINUTE: Final = 130
#: What a student does, and how many minutes it takes beyond reading.
RATES: Final[Mapping[str, float]] = {
    "cover": 0.75,
    "shown": 0.25,
    "prediction": 1.5,
    "reveal": 1.0,
    "own words": 0.25,
    "reflection": 1.0,
    "number": 2.5,
    "choice": 1.5,
    "essay": 5.0,
    "code": 8.0,
    "policy": 20.0,
    "quiz question": 0.75,
    "claim": 0.5,
    "skill": 0.1,
    "equations": 1.0,
    "measurement": 2.0,
    "instrument": 4.0,
    "design": 4.0,
}
#: Minutes are shown as multiples of this: a count is no more precise.
_STEP: Final = 5


@dataclass(frozen=True)
class Sitting:
    """A part of a lab that is meant to be done in one go."""

    #: From 1; 0 for what follows the last act.
    act: int
    minutes: float


@dataclass(frozen=True)
class LabMinutes:
    """How long the parts of a lab take.

    Parameters
    ----------
    sittings
        The parts of the core, in order; an act with a break in it has several.
    deeper
        The parts beyond the core.

    Examples
    --------
    >>> core = (Sitting(1, 13.2), Sitting(2, 21), Sitting(0, 9))
    >>> minutes = LabMinutes(core, deeper=(Sitting(1, 18), Sitting(3, 12)))
    >>> minutes.total, minutes.total_deeper
    (45, 30)
    >>> minutes.of_act(1), minutes.of_act(3)
    ('about 15 minutes, and 20 deeper', 'deeper, about 10 minutes')
    >>> minutes.in_words
    'about 45 minutes, and about 30 more if you go deeper'
    >>> minutes.beyond_the_acts
    'What follows the last act takes about 10 minutes.'
    """

    sittings: Sequence[Sitting]
    deeper: Sequence[Sitting] = ()

    @property
    def total(self) -> int:
        """The core, as people say it."""
        return sum(in_steps(self.sittings))

    @property
    def total_deeper(self) -> int:
        """What lies beyond it; 0 if nothing does."""
        return sum(in_steps(self.deeper))

    def of_act(self, act: int) -> str:
        """How long an act takes, in words; empty if nothing is known about it."""
        parts, beyond = (
            [said for each, said in zip(of, in_steps(of), strict=True) if each.act == act]
            for of in (self.sittings, self.deeper)
        )
        if not parts:
            return f"deeper, about {sum(beyond)} minutes" if beyond else ""
        pause = ", with a break between" if len(parts) > 1 else ""
        more = f", and {sum(beyond)} deeper" if beyond else ""
        return f"about {' and '.join(map(str, parts))} minutes{pause}{more}"

    @property
    def in_words(self) -> str:
        """All of it in a line, as for a list of labs."""
        more = self.total_deeper
        beyond = f", and about {more} more if you go deeper" if more else ""
        return f"about {self.total} minutes{beyond}"

    @property
    def beyond_the_acts(self) -> str:
        """A sentence about what follows the acts; empty if nothing does."""
        rest = self.of_act(0)
        return f"What follows the last act takes {rest}." if rest else ""

    # As it is built into notebooks.

    def plain(self) -> dict[str, Any]:
        """As data for a notebook, exact enough to be said as in its headings."""
        core, deeper = (
            [[each.act, round(each.minutes, 1)] for each in parts]
            for parts in (self.sittings, self.deeper)
        )
        return {"sittings": core, **({"deeper": deeper} if deeper else {})}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> LabMinutes:
        """Read what `plain` gave."""
        core, deeper = (
            tuple(Sitting(act, minutes) for act, minutes in plain.get(parts, ()))
            for parts in ("sittings", "deeper")
        )
        return cls(core, deeper)


def in_steps(parts: Sequence[Sitting]) -> list[int]:
    """Return the minutes of each part as people say them, so that they add up to the whole.

    Each is rounded to a multiple of five, up or down; whoever has most above a multiple is rounded
    up. No part takes no time.

    Examples
    --------
    >>> in_steps([Sitting(1, 17.3), Sitting(2, 21.8), Sitting(0, 6)])
    [20, 20, 5]
    >>> in_steps([Sitting(1, 1), Sitting(2, 1)])
    [5, 5]
    """
    exact = [max(1.0, each.minutes / _STEP) for each in parts]
    said = [int(steps) for steps in exact]
    missing = int(sum(exact) + 0.5) - sum(said)
    by_rest = sorted(range(len(exact)), key=lambda k: said[k] - exact[k])
    for k in by_rest[:missing]:
        said[k] += 1
    return [_STEP * steps for steps in said]


def reading(*texts: str) -> float:
    """Minutes to read some texts."""
    return sum(len(text.split()) for text in texts) / WORDS_PER_MINUTE


def item_minutes(item: Item) -> float:
    """Minutes to read an item and to do what it asks; of feedback, one option's is read."""
    match item:
        case Message():
            written = reading(item.sender, item.role, item.subject, item.message, item.task)
            return written + _one_of(item.in_context)
        case Prediction():
            asked = reading(item.title, item.question, *(item.options or {}).values())
            return asked + RATES["prediction"] + _one_of(item.feedback)
        case ReflectionPrompt():
            gaps = (word for words in (item.blanks or {}).values() for word in words.values())
            asked = reading(item.title, item.question, *(item.options or {}).values(), *gaps)
            return asked + RATES["reflection"] + _one_of(item.feedback)
        case Number():
            return reading(item.title, item.ask) + RATES["number"]
        case Choice():
            return reading(item.title, item.ask, *item.options.values()) + RATES["choice"]
        case Essay():
            rubric = (words for _, words in item.rubric)
            return reading(item.title, item.ask, *rubric) + RATES["essay"]
        case Code():
            written = RATES["policy" if item.game else "code"]
            return reading(item.title, item.ask) + written
        case Quiz():
            asked = sum(
                reading(each.words, *each.options.values(), each.why) + _one_of(each.feedback)
                for each in item.questions
            )
            return asked + RATES["quiz question"] * len(item.questions)
        case Myths():
            asked = sum(reading(each.claim, each.reality) for each in item.myths)
            return asked + RATES["claim"] * len(item.myths)
        case Checklist():
            return reading(*item.skills.values()) + RATES["skill"] * len(item.skills)
        case Measurement():
            return reading(item.title, item.about) + RATES["measurement"]
        case Peek():
            return RATES["equations"]
        case Takeaways():
            points = (words for point in item.points for words in point)
            return reading(item.title, *points, item.ahead)
    return 0.0


def _one_of(texts: Any) -> float:
    """Minutes to read one of several texts, on average: feedback to an answer, or a context."""
    if isinstance(texts, Mapping):
        return fmean(_one_of(each) for each in texts.values()) if texts else 0.0
    return reading(texts) if isinstance(texts, str) else 0.0
