"""A question asked after exploring: one option, gaps in a sentence, or words of one's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from string import Formatter
from typing import Any, Literal, NamedTuple

from mlsys_widgets.labs.items import Item, Saved
from mlsys_widgets.labs.word_limits import WordLimits
from mlsys_widgets.wording.choices import one_of


class AnswerFeedback(NamedTuple):
    """Feedback on an answer, or on one gap of it: what was chosen, the words, whether right."""

    chosen: str
    words: str
    right: bool | None


# Three forms of answering, each with the same four rules: ``read`` gives an answer as the ledger
# keeps it or refuses it with a sentence, ``judge`` says whether it is right (`None` where nothing
# says so), ``remarks`` are what to say to it, and ``fits`` tells whether an answer from the ledger
# is still one of this form, because a lab may have changed since.


class OneOption:
    """One of several options."""

    def __init__(
        self, options: Mapping[str, str], right: str | None, feedback: Mapping[str, str]
    ) -> None:
        self.options, self.right, self.feedback = options, right, feedback
        _known("feedback", feedback, options)
        _known("right", [] if right is None else [right], options)

    def read(self, value: Any) -> str:
        if value in (None, ""):
            raise ValueError("Choose one of the options first.")
        if not self.fits(value):
            listed = ", ".join(f"“{words}” ({key!r})" for key, words in self.options.items())
            raise ValueError(f"The answer is {value!r}; it must be one of: {listed}.")
        return str(value)

    def judge(self, value: Any) -> bool | None:
        return None if self.right is None else value == self.right

    def remarks(self, value: Any) -> list[AnswerFeedback]:
        return [
            AnswerFeedback(self.options[value], self.feedback.get(value, ""), self.judge(value))
        ]

    def fits(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.options


class Gaps:
    """A sentence with gaps, each filled from a menu."""

    def __init__(
        self,
        sentence: str,
        blanks: Mapping[str, Mapping[str, str]],
        right: Mapping[str, str],
        feedback: Mapping[str, Mapping[str, str]],
    ) -> None:
        #: What stands before each gap and the gap's name; at the end there may be none.
        self.pieces = [(words, name) for words, name, *_ in Formatter().parse(sentence)]
        named = [name for _, name in self.pieces if name]
        if set(named) != set(blanks) or len(named) != len(blanks):
            raise ValueError(
                f"the sentence has the gaps {named!r}, and blanks are given for {list(blanks)!r};"
                " each gap must be named once"
            )
        self.blanks, self.right, self.feedback = blanks, right, feedback
        _known("right", right, blanks)
        _known("feedback", feedback, blanks)
        for name, key in right.items():
            _known(f"right[{name!r}]", [key], blanks[name])
        for name, remarks in feedback.items():
            _known(f"feedback[{name!r}]", remarks, blanks[name])

    def read(self, value: Any) -> dict[str, str]:
        given = dict(value) if isinstance(value, Mapping) else {}
        _known("the answer", given, self.blanks)
        empty = [k for k, name in enumerate(self.blanks, 1) if not given.get(name)]
        if empty:
            *first, last = map(str, empty)
            gaps = f"gaps {', '.join(first)} and {last}" if first else f"gap {last}"
            raise ValueError(f"Still empty: {gaps}. Fill every gap.")
        for name, key in given.items():
            _known(f"gap {name}", [key], self.blanks[name])
        return {name: given[name] for name in self.blanks}

    def judge(self, value: Any) -> bool | None:
        if not self.right:
            return None
        return all(value[name] == key for name, key in self.right.items())

    def remarks(self, value: Any) -> list[AnswerFeedback]:
        return [
            AnswerFeedback(
                options[value[name]],
                self.feedback.get(name, {}).get(value[name], ""),
                value[name] == self.right[name] if name in self.right else None,
            )
            for name, options in self.blanks.items()
        ]

    def fits(self, value: Any) -> bool:
        return isinstance(value, Mapping) and all(
            value.get(name) in options for name, options in self.blanks.items()
        )


class FreeText:
    """Sentences of one's own."""

    def __init__(self, limits: WordLimits, feedback: str) -> None:
        self.limits, self.feedback = limits, feedback

    def read(self, value: Any) -> str:
        words = value.strip() if isinstance(value, str) else ""
        if not words:
            raise ValueError("Nothing is written yet: write a sentence or two.")
        if problem := self.limits.problem(words):
            raise ValueError(" ".join(problem))
        return words

    def judge(self, value: Any) -> bool | None:
        return None

    def remarks(self, value: Any) -> list[AnswerFeedback]:
        return [AnswerFeedback("", self.feedback, None)] if self.feedback else []

    def fits(self, value: Any) -> bool:
        return isinstance(value, str)


@dataclass(frozen=True)
class ReflectionPrompt(Item):
    """A question about what was seen, with feedback on the very answer that was given.

    With ``options`` one is chosen; with ``blanks`` the gaps ``{name}`` of the question are filled
    from menus; with neither, words are written and saved.

    Parameters
    ----------
    question
        What is asked, or the sentence with gaps.
    options
        What can be chosen, key and words.
    blanks
        What can be chosen for each gap, key and words.
    right
        The option that is right, or that of each gap. Only what belongs to the answer that was
        given ever leaves the kernel.
    feedback
        A sentence for each option; for each gap, a sentence for each of its options; for free
        text, what to compare it with.
    opens
        Whether what waits for this opens when it is ``"answered"``, or only when it is ``"right"``.
    title
        The heading.
    at_least
        How many words must be written.

    Examples
    --------
    >>> saves = ReflectionPrompt(
    ...     "Fusing saves {what}.",
    ...     blanks={"what": {"flop": "arithmetic", "byte": "memory traffic"}},
    ...     right={"what": "byte"},
    ... )
    >>> saves.form.judge({"what": "flop"})
    False
    """

    kind = "Reflection"

    question: str
    options: Mapping[str, str] | None = None
    blanks: Mapping[str, Mapping[str, str]] | None = None
    right: str | Mapping[str, str] | None = None
    feedback: Mapping[str, Any] | str | None = None
    opens: Literal["answered", "right"] = "answered"
    title: str = "What did you find?"
    at_least: int = 1

    def __post_init__(self) -> None:
        if self.options is not None and self.blanks is not None:
            raise ValueError(f"“{self.title}” has options and blanks; it can have one of them")
        if one_of("opens", self.opens, ("answered", "right")) == "right" and not self.right:
            raise ValueError(f"“{self.title}” opens when it is right, but right= is not given")
        _ = self.form  # what does not fit together is refused here

    @cached_property
    def form(self) -> OneOption | Gaps | FreeText:
        """How it is answered, with the rules of that form."""
        right: Any = self.right
        feedback: Any = self.feedback
        if self.options is not None:
            return OneOption(self.options, right, feedback or {})
        if self.blanks is not None:
            return Gaps(self.question, self.blanks, right or {}, feedback or {})
        return FreeText(WordLimits(self.at_least), feedback or "")

    def is_done(self, name: str, saved: Saved) -> bool:
        """Whether it was answered; correctly, if it asks for that."""
        kept = saved.reflections.get(name)
        if kept is None or self.opens == "answered":
            return kept is not None
        return any(attempt.correct for attempt in kept.attempts)


def _known(name: str, keys: Iterable[str], options: Iterable[str]) -> None:
    allowed = list(options)
    for key in keys:
        if key not in allowed:
            raise ValueError(f"{name} names {key!r}; it can name: {', '.join(allowed)}")
