"""The kinds of things a lab asks, as data. Widgets show them, the builder places them.

None of these holds the key of a graded answer. What a prediction's reveal or a reflection says is
there to learn from, and predictions earn their points by being committed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Item:
    """What all have in common.

    Parameters
    ----------
    act
        The act it belongs to, from 1; 0 stands before and after the acts.
    after
        Ids of the items that must be done before this one shows itself.
    """

    act: int = 0
    after: Sequence[str] = ()


@dataclass(frozen=True)
class Message(Item):
    """A message from somebody who needs an answer."""

    sender: str
    role: str
    subject: str
    message: str
    task: str = ""


@dataclass(frozen=True)
class Prediction(Item):
    """A prediction that must be committed before instruments open.

    Parameters
    ----------
    question, options, values, unit, low, high, title
        As of ``PredictionLock``.
    distance, feedback, where, answer
        As of ``PredictionLock.reveal``: how the reveal speaks of it.
    """

    question: str
    options: Mapping[str, str] | None = None
    values: Mapping[str, float] | None = None
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    title: str = "Before you look: what do you expect?"
    distance: Literal["points", "times", "orders", "difference"] | None = None
    feedback: Mapping[str, str] = field(default_factory=dict)
    where: str = ""
    answer: str | None = None


@dataclass(frozen=True)
class Reflection(Item):
    """A structured question after exploring; parameters as of the widget ``Reflection``."""

    question: str
    options: Mapping[str, str] | None = None
    blanks: Mapping[str, Mapping[str, str]] | None = None
    right: str | Mapping[str, str] | None = None
    feedback: Mapping[str, Any] | str | None = None
    opens: Literal["answered", "right"] = "answered"
    title: str = "What did you find?"


@dataclass(frozen=True)
class Number(Item):
    """A number that the student types, graded by the lab's checks.

    Parameters
    ----------
    ask
        The question, with this student's numbers in it.
    unit
        The unit in words, as it stands in the answer's name: ``"percent"``, ``"µs"``.
    points
        What it is worth.
    low, high
        The sizes a usable answer can have: a factor of a hundred or more around all that anybody
        could reasonably believe, so that the check of the unit gives nothing away.
    hint
        What a value outside of these suggests, as "That looks like a fraction; …".
    title
        The heading of its card.
    """

    ask: str
    unit: str
    points: float
    low: float = -math.inf
    high: float = math.inf
    hint: str = ""
    title: str = "Your number"


@dataclass(frozen=True)
class Choice(Item):
    """A decision typed as one of a few words, graded by the lab's checks.

    Parameters
    ----------
    ask
        The question.
    options
        What can be typed, in small letters, and what it means.
    points
        What it is worth.
    title
        The heading of its card.
    """

    ask: str
    options: Mapping[str, str]
    points: float
    title: str = "Your decision"

    def __post_init__(self) -> None:
        for key in self.options:
            if key != key.strip().casefold():
                raise ValueError(f"the option {key!r} must be in small letters, without spaces")


@dataclass(frozen=True)
class Record(Item):
    """Points for what the ledger holds: predictions committed, reflections answered, design saved.

    Parameters
    ----------
    of
        Ids of predictions, reflections, quizzes, myths and checklists; ``"design"`` for the entry.
    points
        Shared equally among them.
    """

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
        As of ``MathPeek``.
    """

    equations: Any
    title: str = "Governing equations"


@dataclass(frozen=True)
class Takeaways(Item):
    """What to remember, each as headline and sentence, and what comes next."""

    points: Sequence[tuple[str, str]]
    ahead: str = ""
    title: str = "What to remember"


@dataclass(frozen=True)
class Quiz(Item):
    """Questions with confidence. Each is a mapping with the fields of the widget ``Question``."""

    questions: Sequence[Mapping[str, Any]]
    each: bool = False
    title: str = "What do you know, and how well do you know it?"


@dataclass(frozen=True)
class Myths(Item):
    """Claims to believe or doubt. Each is a mapping with the fields of the widget ``Myth``."""

    myths: Sequence[Mapping[str, Any]]
    title: str = "True, or only often said?"


@dataclass(frozen=True)
class Checklist(Item):
    """What the student can do, with advice by count; parameters as of ``SelfAssessment``."""

    skills: Mapping[str, str]
    bands: Sequence[tuple[int, str, str]]
    review: Mapping[str, str] = field(default_factory=dict)
    title: str = "I can …"


#: What earns points and is judged without a person.
AUTOGRADED = (Number, Choice, Record)
