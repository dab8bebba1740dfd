"""A function that the student writes, as a question of a lab."""

from __future__ import annotations

import ast
import inspect
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent
from types import FunctionType
from typing import Any, ClassVar, Final

from mlsys_widgets.labs.answers import UnusableAnswer
from mlsys_widgets.labs.function_calls import Failure, agree, call, read_reply
from mlsys_widgets.labs.game import Game, Played
from mlsys_widgets.labs.items import Item
from mlsys_widgets.wording.plurals import counted

#: The longest source that is kept, in characters: some 200 lines.
_LONGEST: Final = 8_000

#: Arguments of a call, and what it should return; in a game, the score that it should beat.
Example = tuple[Sequence[Any], Any]


@dataclass(frozen=True)
class TriedExample:
    """An example that was called: the call in words, what it should return, and what it did.

    In a game, it is what it should beat, and what came of it.
    """

    call: str
    expected: Any
    found: Any

    @property
    def is_right(self) -> bool:
        """Whether it returned what it should, or beat it."""
        if isinstance(self.found, Played):
            return bool(self.found.score > self.expected)
        return agree(self.expected, self.found)

    @property
    def in_words(self) -> str:
        """What came of it, in a sentence."""
        if isinstance(self.found, Failure):
            return f"`{self.call}` fails: {self.found.why}."
        if isinstance(self.found, Played):
            return f"`{self.call}`: {self.found.says}"
        if self.is_right:
            return f"`{self.call}` returns `{self.found!r}`, as expected."
        return f"`{self.call}` returns `{self.found!r}`; `{self.expected!r}` is expected."


@dataclass(frozen=True)
class Code(Item):
    r"""A function that the student writes, graded by calling it with hidden cases.

    The ledger keeps its source as text, like an essay. The card calls it with the examples; the
    hidden cases and what is right are in ``checks.py``.

    Parameters
    ----------
    ask
        What the function must do, with units.
    signature
        Its name and its parameters, which get numbers, texts, lists and dictionaries.
    examples
        Calls for the student to try it with, each as the arguments and what it should return; in a
        game, the score that it should beat.
    points
        What it is worth.
    title
        The heading of its card.
    worked_example
        How one gets to a decision like it, in a fold of its card.
    game
        What the function plays, if it is a policy: it is called at every decision of the game, and
        judged by the score.

    Examples
    --------
    >>> half = Code("Write a function that halves.", "half(x)", [([4], 2.0)], points=5)
    >>> print(half.starter)
    def half(x):
        ...
    >>> source = half.read("def half(x):\n    return x / 2\n")
    >>> half.in_words(source), half.tried(source)[0].in_words
    ('2 lines', '`half(4)` returns `2.0`, as expected.')
    >>> half.read("def hlaf(x): return x / 2")
    Traceback (most recent call last):
    ...
    mlsys_widgets.labs.answers.UnusableAnswer: There is no function half in it; begin with def
    half(x):
    """

    kind = "Question"
    unit: ClassVar[None] = None

    ask: str
    signature: str
    examples: Sequence[Example]
    points: float
    title: str = "Your function"
    worked_example: str = ""
    game: Game | None = None

    def __post_init__(self) -> None:
        try:
            json.dumps([list(example) for example in self.examples], allow_nan=False)
            (made,) = ast.parse(self.starter).body
        except (SyntaxError, TypeError, ValueError) as problem:
            raise ValueError(
                f"the function {self.signature!r} and its examples cannot be used ({problem});"
                " write it like half(x), with plain data in each example"
            ) from None
        assert isinstance(made, ast.FunctionDef)

    @property
    def function(self) -> str:
        """The name of the function."""
        return self.signature.partition("(")[0].strip()

    @property
    def starter(self) -> str:
        """What stands in the box before anything is written."""
        return f"def {self.signature}:\n    ..."

    def read(self, value: Any) -> str:
        """Return the source that was written, or that of a function; see `Number.read`."""
        if isinstance(value, FunctionType):
            try:
                value = dedent(inspect.getsource(value))
            except (OSError, TypeError):
                raise UnusableAnswer(
                    f"The source of {self.function} cannot be found; write it into the card."
                ) from None
        if value is ... or value is None or (isinstance(value, str) and not value.strip()):
            raise UnusableAnswer(f"Nothing is written yet: write def {self.signature}: …")
        if type(value) is not str:
            raise UnusableAnswer(
                f"That is a {type(value).__name__}; give the function, or its source as text."
            )
        source = value.strip()
        if len(source) > _LONGEST:
            raise UnusableAnswer(
                f"That is {len(source):,} characters long; {_LONGEST:,} are allowed. Shorten it."
            )
        if source == self.starter:
            raise UnusableAnswer("Nothing is written yet: replace the three dots.")
        try:
            with warnings.catch_warnings(action="ignore"):
                made = ast.parse(source).body
        except SyntaxError as problem:
            raise UnusableAnswer(
                f"Python cannot read line {problem.lineno}: {problem.msg}."
            ) from None
        except (ValueError, RecursionError, MemoryError):
            raise UnusableAnswer("Python cannot read that; write it more simply.") from None
        if not any(isinstance(n, ast.FunctionDef) and n.name == self.function for n in made):
            raise UnusableAnswer(
                f"There is no function {self.function} in it; begin with def {self.signature}:"
            )
        return source

    def in_words(self, value: str) -> str:
        """How much was written."""
        return counted(value.count("\n") + 1, "line")

    def form_error(self, value: str) -> str | None:
        """Nothing: the card shows what the examples give."""
        return None

    @property
    def calls(self) -> list[tuple[str, str]]:
        """The examples as they are read: each call, and what it should return or beat."""
        return [
            (f"run {number}", f"more than {expected:.3g} {self.game.unit}".strip())
            if self.game
            else (f"{self.function}({', '.join(map(repr, arguments))})", repr(expected))
            for number, (arguments, expected) in enumerate(self.examples, 1)
        ]

    def tried(self, source: str) -> list[TriedExample]:
        """Call it with the examples, in this process."""
        return [
            TriedExample(words, expected, self._found(source, arguments))
            for (words, _), (arguments, expected) in zip(self.calls, self.examples, strict=True)
        ]

    def _found(self, source: str, arguments: Sequence[Any]) -> Any:
        if self.game:
            return self.game.played(source, self.function, arguments)
        return read_reply(call(source, self.function, arguments))
