"""How long a lab takes, counted from what is read and done in it, at stated rates.

The rates are one table, so that a cover promises what a count gives and not what somebody hopes.
docs/authors/time_on_a_lab.md says where they come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

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
    "prediction": 1.5,
    "reveal": 1.0,
    "reflection": 1.0,
    "number": 2.5,
    "choice": 1.5,
    "essay": 5.0,
    "quiz question": 0.75,
    "claim": 0.5,
    "skill": 0.1,
    "equations": 1.0,
    "measurement": 2.0,
    "instrument": 4.0,
    "design": 4.0,
}
#: A part that takes longer than this does not fit into a class.
CLASS_MINUTES: Final = 50
#: Minutes are shown as multiples of this: a count is no more precise.
_STEP: Final = 5


@dataclass(frozen=True)
class Sitting:
    """A part of a lab that is meant to be done in one go."""

    #: From 1; 0 for what follows the last act.
    act: int
    minutes: float

    @property
    def about(self) -> int:
        """The minutes as people say them."""
        return max(_STEP, _STEP * round(self.minutes / _STEP))


@dataclass(frozen=True)
class LabMinutes:
    """How long the parts of a lab take.

    Parameters
    ----------
    sittings
        The parts, in order; an act with a break in it has several.
    optional
        Minutes of what is marked optional, which no part includes.

    Examples
    --------
    >>> minutes = LabMinutes((Sitting(1, 33.2), Sitting(2, 41), Sitting(0, 12)), optional=18)
    >>> minutes.total, minutes.of_act(1)
    (85, 'about 35 minutes')
    >>> minutes.in_words
    'about 85 minutes (Act 1 about 35, Act 2 about 40, the rest about 10)'
    >>> print(minutes.beyond_the_acts)
    What follows the last act takes about 10 minutes. What is marked optional would take about 20
    more and gives no points.
    """

    sittings: Sequence[Sitting]
    optional: float = 0.0

    @property
    def total(self) -> int:
        """All that is not optional, as people say it."""
        return Sitting(0, sum(each.minutes for each in self.sittings)).about

    def of_act(self, act: int) -> str:
        """How long an act takes, in words; empty if nothing is known about it."""
        parts = [str(each.about) for each in self.sittings if each.act == act]
        if not parts:
            return ""
        pause = ", with a break between" if len(parts) > 1 else ""
        return f"about {' and '.join(parts)} minutes{pause}"

    @property
    def in_words(self) -> str:
        """All of it in a line, as for a list of labs."""
        total = f"about {self.total} minutes"
        if len(self.sittings) < 2:
            return total
        parts = (f"{_called(act)} about {each}" for act, each in self._by_act())
        return f"{total} ({', '.join(parts)})"

    def _by_act(self) -> Iterable[tuple[int, str]]:
        for act in dict.fromkeys(each.act for each in self.sittings):
            yield act, " + ".join(str(each.about) for each in self.sittings if each.act == act)

    @property
    def beyond_the_acts(self) -> str:
        """Sentences about what else takes time; empty if nothing does."""
        sentences = []
        if rest := self.of_act(0):
            sentences.append(f"What follows the last act takes {rest}.")
        if self.optional:
            more = Sitting(0, self.optional).about
            sentences.append(
                f"What is marked optional would take about {more} more and gives no points."
            )
        return " ".join(sentences)

    @property
    def too_long(self) -> list[Sitting]:
        """The parts that do not fit into a class."""
        return [each for each in self.sittings if each.minutes > CLASS_MINUTES]

    # As it is built into notebooks.

    def plain(self) -> dict[str, Any]:
        """As data for a notebook, in whole minutes."""
        plain: dict[str, Any] = {"sittings": [[e.act, round(e.minutes)] for e in self.sittings]}
        return {**plain, "optional": round(self.optional)} if self.optional else plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> LabMinutes:
        """Read what `plain` gave."""
        sittings = tuple(Sitting(act, minutes) for act, minutes in plain["sittings"])
        return cls(sittings, plain.get("optional", 0.0))


def _called(act: int) -> str:
    return f"Act {act}" if act else "the rest"


def reading(*texts: str) -> float:
    """Minutes to read some texts.

    Examples
    --------
    >>> reading("word " * 260)
    2.0
    """
    return sum(len(text.split()) for text in texts) / WORDS_PER_MINUTE


def item_minutes(item: Item) -> float:
    """Minutes to read an item and to do what it asks; of feedback, one option's is read.

    Examples
    --------
    >>> item_minutes(Number("How many microseconds is that?", "µs", points=5)) > RATES["number"]
    True
    """
    match item:
        case Message():
            return reading(item.sender, item.role, item.subject, item.message, item.task)
        case Prediction():
            asked = reading(item.title, item.question, *(item.options or {}).values())
            return asked + RATES["prediction"] + _feedback(item.feedback)
        case ReflectionPrompt():
            gaps = (word for words in (item.blanks or {}).values() for word in words.values())
            asked = reading(item.title, item.question, *(item.options or {}).values(), *gaps)
            return asked + RATES["reflection"] + _feedback(item.feedback)
        case Number():
            return reading(item.title, item.ask) + RATES["number"]
        case Choice():
            return reading(item.title, item.ask, *item.options.values()) + RATES["choice"]
        case Essay():
            rubric = (words for _, words in item.rubric)
            return reading(item.title, item.ask, *rubric) + RATES["essay"]
        case Quiz():
            asked = sum(
                reading(each.words, *each.options.values(), each.why) + _feedback(each.feedback)
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


def _feedback(feedback: Any) -> float:
    """Minutes to read what is feedback to one answer: what is feedback to each, on average."""
    if isinstance(feedback, Mapping):
        return fmean(_feedback(each) for each in feedback.values()) if feedback else 0.0
    return reading(feedback) if isinstance(feedback, str) else 0.0
