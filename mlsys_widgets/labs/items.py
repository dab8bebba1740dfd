"""What labs ask, as data with its rules. Cards show items, the builder places them.

No item holds the key of a graded answer. What a reveal or a reflection says is there to learn
from, and a prediction earns its points by being committed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Protocol

from mlsys_widgets.labs.answers import Plain, UnusableAnswer, choice_key, plain
from mlsys_widgets.physics import format_quantity

#: What a record calls the design entry of the lab.
DESIGN: Final = "design"


class Saved(Protocol):
    """What an item asks of the state of a ledger: everything that was saved, by name."""

    @property
    def predictions(self) -> Mapping[str, Any]:
        """Committed predictions."""

    @property
    def reflections(self) -> Mapping[str, Any]:
        """Reflections, each with its attempts."""

    @property
    def answers(self) -> Mapping[str, Any]:
        """Everything else that was answered."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """What all items have in common.

    Parameters
    ----------
    act
        The act it belongs to, from 1; 0 stands before and after the acts.
    after
        Ids of the items that must be done before this one appears.
    """

    #: What people call it.
    kind: ClassVar[str] = "Item"

    act: int = 0
    after: Sequence[str] = ()

    def ledger_names(self, name: str) -> tuple[str, ...]:
        """The names under which the ledger keeps what a student does with the item ``name``."""
        return (name,)

    def is_done(self, name: str, saved: Saved) -> bool:
        """Whether the student has finished it, so that whatever waits for it may open."""
        return all(each in saved.answers for each in self.ledger_names(name))


@dataclass(frozen=True)
class Message(Item):
    """A message from somebody who needs an answer."""

    kind = "Message"

    sender: str
    role: str
    subject: str
    message: str
    task: str = ""


@dataclass(frozen=True)
class Number(Item):
    """A number that the student types, graded by the lab's checks.

    Parameters
    ----------
    ask
        The question, with this student's numbers in it.
    unit
        The unit in words, as it appears in the answer's name: ``"percent"``, ``"µs"``.
    points
        What it is worth.
    low, high
        The range a usable answer can have: a factor of a hundred or more around everything that
        anybody could reasonably believe, so that checking the unit gives nothing away.
    hint
        What a value outside the range suggests, as in "That looks like a fraction; …".
    title
        The heading of its card.

    Examples
    --------
    >>> item = Number("How busy?", "percent", points=5, low=0, high=100)
    >>> print(item.read("busy_pct", 33.3)[1])
    busy_pct = 33.3 percent. It can be graded.
    >>> item.read("busy_pct", ...)
    Traceback (most recent call last):
    ...
    mlsys_widgets.labs.answers.UnusableAnswer: busy_pct is not answered yet: replace the three
    dots with a number, in percent.
    """

    kind = "Question"

    ask: str
    unit: str
    points: float
    low: float = -math.inf
    high: float = math.inf
    hint: str = ""
    title: str = "Your number"

    @property
    def wanted(self) -> str:
        """What to type, in words."""
        return "a number, how many times" if self.unit == "times" else f"a number, in {self.unit}"

    def read(self, name: str, value: Any) -> tuple[Plain, str]:
        """The typed answer as plain data, and a sentence that repeats it. Nothing knows the key.

        Raises
        ------
        UnusableAnswer
            With a sentence that says what to type instead.
        """
        answer = _typed(name, value, self.wanted)
        if isinstance(answer, str):
            raise UnusableAnswer(
                f"{name} is the text {answer!r}; type {self.wanted}, without quotes or unit."
            )
        if isinstance(answer, bool) or answer is None:
            raise UnusableAnswer(f"{name} is {answer!r}; it must be {self.wanted}.")
        try:
            finite = math.isfinite(answer)
        except OverflowError:
            finite = False
        if not finite:
            raise UnusableAnswer(f"{name} is not a finite number; it must be {self.wanted}.")
        if not self.low <= answer <= self.high:
            hint = f" {self.hint}" if self.hint else ""
            raise UnusableAnswer(
                f"{name} = {_short(answer)} cannot be right: a plausible value lies between"
                f" {_short(self.low)} and {_short(self.high)} {self.unit}.{hint}"
            )
        return answer, f"{name} = {_short(answer)} {self.unit}. It can be graded."


@dataclass(frozen=True)
class Choice(Item):
    """A decision typed as one of a few words, graded by the lab's checks.

    Parameters
    ----------
    ask
        The question.
    options
        What can be typed, in lowercase, and what it means.
    points
        What it is worth.
    title
        The heading of its card.
    """

    kind = "Question"
    unit: ClassVar[None] = None

    ask: str
    options: Mapping[str, str]
    points: float
    title: str = "Your decision"

    def __post_init__(self) -> None:
        for key in self.options:
            if key != choice_key(key):
                raise ValueError(f"the option {key!r} must be lowercase, without spaces around it")

    @property
    def wanted(self) -> str:
        """What to type, in words."""
        return "one of: " + ", ".join(f'"{key}"' for key in self.options)

    def read(self, name: str, value: Any) -> tuple[Plain, str]:
        """The typed option, and a sentence that repeats it; see `Number.read`."""
        answer = _typed(name, value, self.wanted)
        chosen = choice_key(answer)
        if chosen is None or chosen not in self.options:
            raise UnusableAnswer(f"{name} is {answer!r}; it must be {self.wanted}, in quotes.")
        return chosen, f'{name} = "{chosen}": {self.options[chosen]}. It can be graded.'


def _typed(name: str, value: Any, wanted: str) -> Plain:
    """What stands in an answer cell, as plain data."""
    if value is ... or value is None:
        raise UnusableAnswer(f"{name} is not answered yet: replace the three dots with {wanted}.")
    try:
        return plain(value)
    except UnusableAnswer as reason:
        raise UnusableAnswer(f"{name} cannot be used: {reason}. Type {wanted}.") from None


def _short(value: float) -> str:
    return f"{value:.3g}" if 0 < abs(value) < 1e-3 else format_quantity(value)


@dataclass(frozen=True)
class Record(Item):
    """Points for what the ledger holds: predictions, reflections, a saved design.

    Parameters
    ----------
    of
        Ids of predictions, reflections, quizzes, myths and checklists; ``"design"`` for the entry.
    points
        Shared equally among them.
    """

    kind = "Record"

    of: Sequence[str]
    points: float
    title: str = "What your ledger holds"


@dataclass(frozen=True)
class Essay(Item):
    """A question answered in words and graded by hand.

    Parameters
    ----------
    ask
        The question.
    rubric
        Points and what they are given for. They add up to the points of the question.
    """

    kind = "Question"

    ask: str
    rubric: Sequence[tuple[float, str]]
    title: str = "In your own words"

    @property
    def points(self) -> float:
        """What it is worth."""
        return sum(points for points, _ in self.rubric)


@dataclass(frozen=True)
class Peek(Item):
    """A folded panel with equations: Markdown with LaTeX, results of physics, or both by heading.

    Parameters
    ----------
    equations
        As in ``MathPeek``.
    """

    kind = "Peek"

    equations: Any
    title: str = "Governing equations"


@dataclass(frozen=True)
class Takeaways(Item):
    """What to remember, each as headline and sentence, and what comes next."""

    kind = "Takeaways"

    points: Sequence[tuple[str, str]]
    ahead: str = ""
    title: str = "What to remember"


#: (lowest score, assessment, advice) of a checklist.
Band = tuple[int, str, str]


@dataclass(frozen=True)
class Checklist(Item):
    """What the student can do, with advice by score.

    Parameters
    ----------
    skills
        What a student should be able to do, key and words.
    bands
        ``(lowest score, assessment, advice)`` of each band; one must begin at 0.
    review
        Where to look each skill up again, by key.
    title
        The heading.
    """

    kind = "Checklist"

    skills: Mapping[str, str]
    bands: Sequence[Band]
    review: Mapping[str, str] = field(default_factory=dict)
    title: str = "I can …"

    def __post_init__(self) -> None:
        bands = tuple(sorted(self.bands, reverse=True))
        if not bands or bands[-1][0] != 0 or bands[0][0] > len(self.skills):
            raise ValueError(
                f"the bands of “{self.title}” begin at {[band[0] for band in bands]}; the lowest"
                f" must begin at 0, and none may begin above {len(self.skills)}, the number of"
                " skills"
            )
        object.__setattr__(self, "bands", bands)

    def band(self, score: int) -> Band:
        """The band of a score."""
        return next(band for band in self.bands if score >= band[0])


@dataclass(frozen=True)
class Measurement(Item):
    """A measurement that students take of their own machine; it lies beside the notebook.

    Parameters
    ----------
    about
        What is timed, and what to mind.
    sizes
        Sides of the fp32 products that the lab asks about: a measurement without them is of no use.
    seconds
        How long it takes, about.
    title
        The heading of its card.
    """

    kind = "Measurement"

    about: str
    sizes: Sequence[int] = ()
    seconds: int = 12
    title: str = "Measure this machine"


#: What earns points and is judged without a person.
AUTOGRADED = (Number, Choice, Record)
