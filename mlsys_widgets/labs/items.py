"""Items that labs ask, as data with its rules. Cards show them, the builder places them.

No item holds the key of a graded answer. What a reveal or a reflection says is there to learn
from, and a prediction earns its points by being committed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Protocol

from mlsys_widgets.labs.answer_units import is_measured, read_number, write_number
from mlsys_widgets.labs.answers import Plain, UnusableAnswer, choice_key, plain
from mlsys_widgets.labs.word_limits import WordLimits, count_words
from mlsys_widgets.wording.plurals import counted
from mlsys_widgets.wording.units import plain_examples

#: The longest text that is kept, in characters: some 3,000 words.
_LONGEST: Final = 20_000

#: The example of an answer that a question gives: "such as 1.5", "as in 75,000".
_EXAMPLE: Final = re.compile(r"\b(?:such as|as in) (\d[\d,]*(?:\.\d+)?)(?![\w%])")

#: What a record calls the design entry of the lab.
DESIGN: Final = "design"


class Saved(Protocol):
    """The state of a ledger as items need it: everything that was saved, by name."""

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
    """Base of the items.

    Parameters
    ----------
    act
        The act it belongs to, from 1; 0 stands before and after the acts.
    after
        Ids of the items that must be done before this one appears.
    deeper
        Whether it lies beyond the core of its lab; `Lab` marks those that it names.

    Examples
    --------
    What a ledger must hold before an item counts as done, and whatever waits for it may open:

    >>> from types import SimpleNamespace
    >>> ridge = Number(
    ...     "Where is the ridge?", "FLOP per byte", points=5, act=1, after=["act1_bound"]
    ... )
    >>> isinstance(ridge, Item), ridge.kind, ridge.after
    (True, 'Question', ['act1_bound'])
    >>> saved = SimpleNamespace(predictions={}, reflections={}, answers={"ridge": 295})
    >>> ridge.is_done("ridge", saved), ridge.is_done("mfu", saved)
    (True, False)
    """

    #: What people call it.
    kind: ClassVar[str] = "Item"

    act: int = 0
    after: Sequence[str] = ()
    deeper: bool = False

    def ledger_names(self, name: str) -> tuple[str, ...]:
        """Return the names under which the ledger keeps the item ``name``."""
        return (name,)

    def is_done(self, name: str, saved: Saved) -> bool:
        """Whether the student has finished it, so that whatever waits for it may open."""
        return all(each in saved.answers for each in self.ledger_names(name))


@dataclass(frozen=True)
class Message(Item):
    """A message from somebody who needs an answer.

    Parameters
    ----------
    sender, role
        Who writes, and their job.
    subject
        The heading.
    message
        What they write; blank lines separate paragraphs.
    task
        What the student is asked to find out.
    in_context
        What the sender adds where a context is chosen, by the key of the context.

    Examples
    --------
    A lab declares it as a function of the student's numbers, so the message has them, too:

    >>> from mlsys_widgets.labs import Lab, Parameter
    >>> gpus = Parameter(8, (4, 8, 16), "GPUs", "size of the cluster")
    >>> lab = Lab("lab_00_demo", title="Demo", chapter=0, acts=("One",), parameters={"gpus": gpus})
    >>> @lab.asks
    ... def opening(p):
    ...     words = f"All {p.gpus} GPUs wait half of the time. Why?"
    ...     return Message("Priya", "Infrastructure", "Idle GPUs", words, task="Find the limit.")
    >>> message = lab.items(lab.draw("ann", variants=False))["opening"]
    >>> message.sender, message.message
    ('Priya', 'All 8 GPUs wait half of the time. Why?')
    """

    kind = "Message"

    sender: str
    role: str
    subject: str
    message: str
    task: str = ""
    in_context: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Number(Item):
    """A number that the student enters, graded by the lab's checks.

    Parameters
    ----------
    ask
        The question, with this student's numbers in it.
    unit
        The unit in words, as it appears in the answer's name: ``"percent"``, ``"µs"``.
    points
        What it is worth.
    low, high
        What lies outside is an error of form rather than of thought: another unit, a wrong power
        of ten, a fraction in place of percent. The card says so at once. The range is the same for
        everybody and wide enough to give nothing away.
    whole
        Whether only a whole number makes sense.
    hint
        A step that leads to the answer, for whoever is outside of the range: "Divide each peak by
        its own power first."
    worked_example
        A question of the same kind with its solution, for whoever is stuck; it stands in a fold.
        Its numbers are others than any student's: it shows the steps and never the answer.
    title
        The heading of its card.

    Examples
    --------
    >>> item = Number("How busy?", "percent", points=5, low=1, high=100)
    >>> item.read("33.3%"), item.in_words(33.3), item.form_error(33.3)
    (33.3, '33.3 percent', None)
    >>> item.form_error(0.333)
    '0.333 percent is very little; did you enter a fraction? The question asks for percent.'
    >>> item.read("a third")
    Traceback (most recent call last):
    ...
    mlsys_widgets.labs.answers.UnusableAnswer: 'a third' is not a percentage; write it like 33%.
    """

    kind = "Question"

    ask: str
    unit: str
    points: float
    low: float = -math.inf
    high: float = math.inf
    hint: str = ""
    title: str = "Your number"
    whole: bool = False
    worked_example: str = ""

    @property
    def wanted(self) -> str:
        """The form of an answer, in words."""
        return "a number, how many times" if self.unit == "times" else f"a number, in {self.unit}"

    @property
    def _example(self) -> str:
        """The question's own example of an answer; empty if the usual ones of its unit will do.

        One of another magnitude would lead astray, and one of the key's would tell it.
        """
        found = _EXAMPLE.search(self.ask)
        if found:
            return found[1]
        return "" if is_measured(self.unit) else plain_examples(self.low, self.high)

    def read(self, value: Any) -> float:
        """Return what was entered as a number in the unit of the question. Nothing knows the key.

        Raises
        ------
        UnusableAnswer
            With a sentence that says what to enter instead.
        """
        answer = _entered(value, self.wanted)
        if isinstance(answer, str):
            try:
                return read_number(answer, self.unit, self._example)
            except ValueError as reason:
                raise UnusableAnswer(f"{reason}.") from None
        if isinstance(answer, bool) or answer is None:
            raise UnusableAnswer(f"{answer!r} is not a number; enter {self.wanted}.")
        try:
            finite = math.isfinite(answer)
        except OverflowError:
            finite = False
        if not finite:
            raise UnusableAnswer(f"That is not a finite number; enter {self.wanted}.")
        return answer

    def in_words(self, value: float) -> str:
        """Return an answer as people read it."""
        return write_number(value, self.unit)

    def form_error(self, value: float) -> str | None:
        """Return what is wrong with the form of an answer, as a sentence; `None` if nothing is."""
        shown = self.in_words(value)
        if self.whole and value != int(value):
            return f"{shown} cannot be right: only a whole number makes sense here."
        if value < 0 <= self.low:
            return f"{shown} cannot be right: the answer is not negative."
        if self.unit == "percent" and 0 < value < self.low and 100 * value >= self.low:
            return (
                f"{shown} is very little; did you enter a fraction? The question asks for percent."
            )
        if self.unit == "percent" and self.high == 100 and value > 100:
            return f"{shown} cannot be right: a fraction is at most 100 percent."
        if not self.low <= value <= self.high:
            side = "far too little" if value < self.low else "far too much"
            return f"{shown} is {side}. Check the unit and the powers of ten. {self.hint}".strip()
        return None


@dataclass(frozen=True)
class Choice(Item):
    """A decision between a few options, graded by the lab's checks.

    Parameters
    ----------
    ask
        The question.
    options
        What can be chosen: a word in lowercase, and what it means.
    points
        What it is worth.
    worked_example
        A question of the same kind with its solution, for whoever is stuck; it stands in a fold.
        Its numbers are others than any student's: it shows the steps and never the answer.
    title
        The heading of its card.
    ordered
        Whether the options have an order of their own, as levels of a memory do. Students then see
        them as they are written; others are mixed, unless they begin with numbers.

    Examples
    --------
    >>> limit = Choice("What limits it?", {"compute": "arithmetic", "memory": "bytes"}, points=5)
    >>> limit.read(" Memory"), limit.in_words("memory")
    ('memory', '“bytes”')
    >>> limit.read("both")
    Traceback (most recent call last):
    ...
    mlsys_widgets.labs.answers.UnusableAnswer: 'both' is not an option; choose one of: “arithmetic”
    ("compute"), “bytes” ("memory").
    """

    kind = "Question"
    unit: ClassVar[None] = None

    ask: str
    options: Mapping[str, str]
    points: float
    title: str = "Your decision"
    ordered: bool = False
    worked_example: str = ""

    def __post_init__(self) -> None:
        for key in self.options:
            if key != choice_key(key):
                raise ValueError(f"the option {key!r} must be lowercase, without spaces around it")

    @property
    def wanted(self) -> str:
        """The form of an answer: what stands on the card, and what code calls it."""
        return "one of: " + ", ".join(f'“{words}” ("{key}")' for key, words in self.options.items())

    def read(self, value: Any) -> str:
        """Return the option that was chosen; see `Number.read`."""
        if _is_empty(value):
            raise UnusableAnswer("Nothing is chosen yet. Choose one of the options.")
        answer = _entered(value, self.wanted)
        chosen = choice_key(answer)
        if chosen is None or chosen not in self.options:
            raise UnusableAnswer(f"{answer!r} is not an option; choose {self.wanted}.")
        return chosen

    def in_words(self, value: str) -> str:
        """Return an answer as people read it."""
        return f"“{self.options.get(value, value)}”"

    def form_error(self, value: str) -> str | None:
        """Nothing: what can be chosen has the right form."""
        return None


def _is_empty(value: Any) -> bool:
    return value is ... or value is None or (isinstance(value, str) and not value.strip())


def _entered(value: Any, wanted: str) -> Plain:
    """Return what was entered as plain data."""
    if _is_empty(value):
        raise UnusableAnswer(f"Nothing is entered yet: enter {wanted}.")
    try:
        return plain(value)
    except UnusableAnswer as reason:
        raise UnusableAnswer(f"That cannot be used: {reason}. Enter {wanted}.") from None


@dataclass(frozen=True)
class Record(Item):
    """Points for what the ledger holds: predictions, reflections, a saved design.

    Parameters
    ----------
    of
        Ids of predictions, reflections, quizzes, myths and checklists; ``"design"`` for the entry.
    points
        Shared equally among them.
    title
        The heading of its card.

    Examples
    --------
    Five points for each of two predictions, right or wrong, and five for the saved design:

    >>> record = Record(["act1_bound", "act2_mfu", "design"], points=15)
    >>> record.points / len(record.of)
    5.0
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
        Points and what they are given for. They add up to the points of the question. Students
        see it before they write.
    title
        The heading of its card.
    at_least, at_most
        How many words it should have. A shorter text is kept, and opens nothing.

    Examples
    --------
    >>> rubric = [(6, "names the limit"), (4, "says why")]
    >>> advice = Essay("What would you try first?", rubric, at_least=8, at_most=80)
    >>> advice.points, advice.in_words(advice.read("  Larger batches: memory is the limit. "))
    (10, '6 words')
    >>> advice.limits.problem("Larger batches: memory is the limit.")
    ('Too short.', 'That is 6 words; write at least 8.')
    >>> advice.read("")
    Traceback (most recent call last):
    ...
    mlsys_widgets.labs.answers.UnusableAnswer: Nothing is entered yet: enter a few sentences.
    """

    kind = "Question"
    unit: ClassVar[None] = None

    ask: str
    rubric: Sequence[tuple[float, str]]
    title: str = "In your own words"
    at_least: int = 1
    at_most: int | None = None

    def __post_init__(self) -> None:
        _ = self.limits  # what cannot be written is refused here

    @property
    def limits(self) -> WordLimits:
        """How long it should be."""
        return WordLimits(self.at_least, self.at_most)

    @property
    def points(self) -> float:
        """The points of its rubric, added up."""
        return sum(points for points, _ in self.rubric)

    def is_done(self, name: str, saved: Saved) -> bool:
        """Whether a text was recorded that is long enough."""
        kept = saved.answers.get(name)
        return (
            kept is not None
            and isinstance(kept.value, str)
            and self.limits.is_long_enough(kept.value)
        )

    def read(self, value: Any) -> str:
        """Return what was written; see `Number.read`."""
        answer = _entered(value, "a few sentences")
        if not isinstance(answer, str):
            raise UnusableAnswer(f"{answer!r} is not a text; write a few sentences.")
        if len(answer) > _LONGEST:
            raise UnusableAnswer(
                f"That is {len(answer):,} characters long; {_LONGEST:,} are allowed. Shorten it."
            )
        return answer.strip()

    def in_words(self, value: str) -> str:
        """How much was written."""
        return counted(count_words(value), "word")

    def form_error(self, value: str) -> str | None:
        """Nothing: a person reads it."""
        return None


@dataclass(frozen=True)
class Peek(Item):
    """A folded panel with equations: Markdown with LaTeX, results of physics, or both by heading.

    Parameters
    ----------
    equations
        Markdown with LaTeX between dollar signs; a result of physics, whose derivation is shown; a
        list of them; or a mapping from headings to them, as in ``MathPeek``.
    title
        The words on the closed panel.

    Examples
    --------
    Give it the result itself, and the equations have this student's numbers in them:

    >>> from mlsys_widgets.physics import gemm
    >>> peek = Peek(gemm(256, 256, 256), title="A matrix product", act=1, after=["act1_bound"])
    >>> round(peek.equations.intensity, 1)
    85.3
    """

    kind = "Peek"

    equations: Any
    title: str = "Governing equations"


@dataclass(frozen=True)
class Takeaways(Item):
    """Points to remember, each as headline and sentence, and what comes next.

    Parameters
    ----------
    points
        Headline and sentence of each.
    ahead
        What comes next.
    title
        The heading.

    Examples
    --------
    >>> takeaways = Takeaways(
    ...     [("Bytes cost", "Fusing saves memory traffic.")], ahead="Next: who else waits?"
    ... )
    >>> takeaways.points[0][0], takeaways.kind
    ('Bytes cost', 'Takeaways')
    """

    kind = "Takeaways"

    points: Sequence[tuple[str, str]]
    ahead: str = ""
    title: str = "What to remember"


#: (lowest score, assessment, advice) of a checklist.
Band = tuple[int, str, str]


@dataclass(frozen=True)
class Checklist(Item):
    """Skills that the student checks off, with advice by score.

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

    Examples
    --------
    >>> can = Checklist(
    ...     {"ridge": "find a ridge", "fuse": "fuse kernels"},
    ...     bands=[(0, "Not yet", "Read Act 1 again."), (2, "Ready", "Continue.")],
    ... )
    >>> can.band(1)
    (0, 'Not yet', 'Read Act 1 again.')
    >>> Checklist({"ridge": "find a ridge"}, bands=[(1, "Ready", "Continue.")])
    Traceback (most recent call last):
    ...
    ValueError: the bands of “I can …” begin at [1]; the lowest must begin at 0, and none may begin
    above 1, the number of skills
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
    sections
        The only parts of a measurement that the lab needs, by name, as in ``mlsys measure
        --sections``; the usual ones if none is named.
    seconds
        How long it takes, about.
    title
        The heading of its card.

    Examples
    --------
    >>> item = Measurement("How fast does this machine multiply?", sizes=(256, 1024), seconds=20)
    >>> item.kind, item.ledger_names("machine")
    ('Measurement', ('machine',))
    """

    kind = "Measurement"

    about: str
    sizes: Sequence[int] = ()
    sections: Sequence[str] = ()
    seconds: int = 12
    title: str = "Measure this machine"
