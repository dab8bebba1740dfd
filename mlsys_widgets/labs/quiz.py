"""Quizzes and claims: several questions in one item, each kept in the ledger under its own name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from mlsys_widgets.labs.items import Item


@dataclass(frozen=True)
class Question:
    """A question of a quiz.

    Parameters
    ----------
    key
        Its name within the quiz.
    words
        What is asked.
    options
        What can be chosen, key and words.
    right
        The option that is right. It stays in the kernel until the question is answered.
    feedback
        A sentence for each option.
    why
        A sentence for everybody, whatever was chosen.

    Examples
    --------
    >>> relu = Question(
    ...     "relu",
    ...     "What limits a ReLU over a large tensor?",
    ...     {"m": "memory bandwidth", "c": "arithmetic"},
    ...     right="m",
    ...     feedback={"c": "One comparison for every four bytes keeps no unit busy."},
    ... )
    >>> relu.options[relu.right]
    'memory bandwidth'
    >>> Question("gelu", "And a GELU?", {"m": "memory", "c": "arithmetic"}, right="n")
    Traceback (most recent call last):
    ...
    ValueError: right of gelu names 'n'; it can name: m, c
    """

    key: str
    words: str
    options: Mapping[str, str]
    right: str
    feedback: Mapping[str, str] = field(default_factory=dict)
    why: str = ""

    def __post_init__(self) -> None:
        for name, keys in (("right", [self.right]), ("feedback", list(self.feedback))):
            for key in keys:
                if key not in self.options:
                    listed = ", ".join(self.options)
                    raise ValueError(f"{name} of {self.key} names {key!r}; it can name: {listed}")


@dataclass(frozen=True)
class Myth:
    """A claim that people make, whether it is true, and the facts.

    Parameters
    ----------
    key
        Its name within the item.
    claim
        What people say.
    reality
        The facts, for whoever has taken a stance.
    true
        Whether the claim holds. A lab may compute it from the student's own numbers. It stays in
        the kernel until the student has taken a stance.

    Examples
    --------
    >>> flops = Myth("flops", "Fewer FLOP run faster.", "Not where bytes set the pace.")
    >>> flops.true, flops.is_sorted("believe"), flops.is_sorted("doubt")
    (False, False, True)
    """

    key: str
    claim: str
    reality: str
    true: bool = False

    def is_sorted(self, stance: str) -> bool:
        """Whether a stance, ``"believe"`` or ``"doubt"``, is the right one.

        Examples
        --------
        >>> Myth("fp16", "fp16 halves the traffic.", "It does.", true=True).is_sorted("believe")
        True
        """
        return stance == ("believe" if self.true else "doubt")


_Part = TypeVar("_Part", Question, Myth)


def _parts(kind: type[_Part], given: Iterable[_Part], title: str) -> tuple[_Part, ...]:
    """The parts of an item; a lab may also write one as a mapping of its fields."""
    parts = tuple(kind(**each) if isinstance(each, Mapping) else each for each in given)
    if not parts:
        raise ValueError(f"“{title}” is empty; it needs at least one {kind.__name__.lower()}")
    keys = [part.key for part in parts]
    if twice := sorted({key for key in keys if keys.count(key) > 1}):
        raise ValueError(f"“{title}” uses the key {twice[0]!r} twice; each can be used once")
    return parts


def confidence_box(question: str) -> str:
    """Return the name of the box that asks how sure one is of a question."""
    return f"{question}-confidence"


def _ledger_names(name: str, parts: Iterable[Question | Myth]) -> tuple[str, ...]:
    return tuple(f"{name}.{part.key}" for part in parts)


@dataclass(frozen=True)
class Quiz(Item):
    """Questions with a confidence each.

    Parameters
    ----------
    questions
        What is asked.
    each
        Whether feedback comes after each question, instead of after all of them.
    title
        The heading.

    Examples
    --------
    >>> relu = Question("relu", "What limits ReLU?", {"m": "memory", "c": "compute"}, right="m")
    >>> Quiz([relu]).ledger_names("phase1")
    ('phase1.relu',)
    """

    kind = "Quiz"

    questions: Sequence[Question]
    each: bool = False
    title: str = "What do you know, and how well do you know it?"

    def __post_init__(self) -> None:
        object.__setattr__(self, "questions", _parts(Question, self.questions, self.title))

    def ledger_names(self, name: str) -> tuple[str, ...]:
        """A name for each question, in order."""
        return _ledger_names(name, self.questions)


@dataclass(frozen=True)
class Myths(Item):
    """Claims to believe or doubt, one after the other; some of them may be true.

    Parameters
    ----------
    myths
        The claims; each a `Myth` or a mapping of its fields.
    title
        The heading.

    Examples
    --------
    >>> halves = Myth("fp16", "fp16 halves the traffic.", "It does.", true=True)
    >>> fewer = {"key": "flops", "claim": "Fewer FLOP run faster.", "reality": "Not always."}
    >>> myths = Myths([halves, fewer])
    >>> myths.ledger_names("claims"), [myth.true for myth in myths.myths]
    (('claims.fp16', 'claims.flops'), [True, False])
    """

    kind = "Claims"

    myths: Sequence[Myth]
    title: str = "True, or only often said?"

    def __post_init__(self) -> None:
        object.__setattr__(self, "myths", _parts(Myth, self.myths, self.title))

    def ledger_names(self, name: str) -> tuple[str, ...]:
        """A name for each claim, in order."""
        return _ledger_names(name, self.myths)
