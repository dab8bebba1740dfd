"""A question asked after exploring: one option, gaps in a sentence, or words of one's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from string import Formatter
from typing import Any, Literal

from mlsys_widgets.cards.card import Action, Gate, Values
from mlsys_widgets.cards.parts import Area, Blanks, Buttons, Options, Part, Prose, moment
from mlsys_widgets.cards.task import Task
from mlsys_widgets.drawing import markup
from mlsys_widgets.ledger import Attempt, Ledger, State
from mlsys_widgets.physics.domain import one_of

#: Feedback to one gap of a sentence, or to one question: a sentence for each option.
Remarks = Mapping[str, str]


class _Choice:
    """One of several options."""

    button = "Answer"

    def __init__(
        self, question: str, options: Mapping[str, str], right: str | None, feedback: Remarks
    ) -> None:
        self.question, self.options = question, dict(options)
        self.right, self.feedback = right, dict(feedback)
        _known("feedback", self.feedback, self.options)
        _known("right", [] if right is None else [right], self.options)

    def read(self, value: Any) -> str:
        if value in (None, ""):
            raise ValueError("No answer is chosen yet: choose one of the options.")
        if not isinstance(value, str) or value not in self.options:
            raise ValueError(
                f"The answer is {value!r}; it must be one of: {', '.join(self.options)}."
            )
        return value

    def judge(self, value: Any) -> bool | None:
        return None if self.right is None else value == self.right

    def remarks(self, value: Any) -> list[tuple[str, bool | None]]:
        return [(self.feedback.get(value, ""), self.judge(value))]

    def part(self, value: Any) -> Part:
        return Options("answer", self.question, self.options, value, lettered=True)

    def reads_alike(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.options


class _Gaps:
    """A sentence with gaps, each filled from a menu."""

    button = "Check"

    def __init__(
        self,
        sentence: str,
        blanks: Mapping[str, Mapping[str, str]],
        right: Mapping[str, str],
        feedback: Mapping[str, Remarks],
    ) -> None:
        self.pieces = [(said, name) for said, name, *_ in Formatter().parse(sentence)]
        named = [name for _, name in self.pieces if name]
        if set(named) != set(blanks) or len(named) != len(blanks):
            raise ValueError(
                f"the sentence has the gaps {named!r}, and blanks are given for {list(blanks)!r};"
                " each gap must be named once"
            )
        self.blanks, self.right, self.feedback = dict(blanks), dict(right), dict(feedback)
        _known("right", self.right, self.blanks)
        _known("feedback", self.feedback, self.blanks)
        for name, key in self.right.items():
            _known(f"right[{name!r}]", [key], self.blanks[name])
        for name, remarks in self.feedback.items():
            _known(f"feedback[{name!r}]", remarks, self.blanks[name])

    def read(self, value: Any) -> dict[str, str]:
        given = dict(value) if isinstance(value, Mapping) else {}
        _known("the answer", given, self.blanks)
        empty = [k for k, name in enumerate(self.blanks, 1) if not given.get(name)]
        if empty:
            gaps = ", ".join(map(str, empty))
            raise ValueError(f"Still empty: gap {gaps} of {len(self.blanks)}. Fill every gap.")
        for name, key in given.items():
            _known(f"gap {name}", [key], self.blanks[name])
        return {name: given[name] for name in self.blanks}

    def judge(self, value: Any) -> bool | None:
        if not self.right:
            return None
        return all(value[name] == key for name, key in self.right.items())

    def remarks(self, value: Any) -> list[tuple[str, bool | None]]:
        found = []
        for k, name in enumerate(self.blanks, 1):
            good = value[name] == self.right[name] if name in self.right else None
            words = self.feedback.get(name, {}).get(value[name], "")
            chosen = markup.plain(self.blanks[name][value[name]])
            found.append((f"Gap {k}, *{chosen}*. {words}".strip(), good))
        return found

    def part(self, value: Any) -> Part:
        pieces: list[Any] = []
        for said, name in self.pieces:
            pieces += [said] if said else []
            if name:
                pieces.append((name, self.blanks[name], (value or {}).get(name)))
        return Blanks("answer", tuple(pieces))

    def reads_alike(self, value: Any) -> bool:
        return isinstance(value, Mapping) and all(
            value.get(name) in options for name, options in self.blanks.items()
        )


class _Words:
    """Sentences of one's own."""

    button = "Save"

    def __init__(self, question: str, at_least: int, feedback: str) -> None:
        self.question, self.at_least, self.feedback = question, at_least, feedback

    def read(self, value: Any) -> str:
        words = value.strip() if isinstance(value, str) else ""
        if not words:
            raise ValueError("Nothing is written yet: write a sentence or two.")
        if len(words.split()) < self.at_least:
            raise ValueError(
                f"That is {len(words.split())} words so far; write at least {self.at_least}."
            )
        return words

    def judge(self, value: Any) -> bool | None:
        return None

    def remarks(self, value: Any) -> list[tuple[str, bool | None]]:
        return [(self.feedback, None)] if self.feedback else []

    def part(self, value: Any) -> Part:
        hint = f"At least {self.at_least} words. " if self.at_least > 1 else ""
        return Area("answer", self.question, f"{hint}Nothing is kept until you save.", value or "")

    def reads_alike(self, value: Any) -> bool:
        return isinstance(value, str)


class Reflection(Task):
    """A question about what was seen, with feedback for the very answer. Attempts are recorded.

    With ``options`` one is chosen; with ``blanks`` the gaps ``{name}`` of the question are filled
    from menus; with neither, words are written and saved.

    Parameters
    ----------
    reflection_id
        The name under which the ledger keeps every attempt.
    question
        What is asked, or the sentence with gaps.
    ledger
        Where it is kept.
    options
        What can be chosen, key and words.
    blanks
        What can be chosen for each gap, key and words.
    right
        The option that is right, or that of each gap. Only what belongs to the answer that was
        given ever leaves the kernel.
    feedback
        A sentence for each option; for each gap, a sentence for each of its options; for words of
        one's own, what to compare them with.
    at_least
        How many words must be written.
    opens
        Whether what waits for this opens when it is ``"answered"``, or only when it is ``"right"``.
    after
        A gate, or several, that must be open before the question is asked.
    title
        The heading.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> led = Ledger.open(Path(folder.name) / "ledger.jsonl", lab="lab_07", student="student-01")
    >>> why = Reflection(
    ...     "why",
    ...     question="What does fusing {n} kernels save? It saves {what}.",
    ...     blanks={"n": {"3": "three"}, "what": {"flop": "arithmetic", "byte": "memory traffic"}},
    ...     right={"what": "byte"},
    ...     ledger=led,
    ... )
    >>> why.answer({"n": "3", "what": "flop"}), why.answer({"n": "3", "what": "byte"})
    (False, True)
    >>> [attempt.correct for attempt in led.state().reflections["why"].attempts]
    [False, True]
    >>> folder.cleanup()
    """

    kind = "Reflection"
    tone = "blue"

    def __init__(
        self,
        reflection_id: str,
        *,
        question: str,
        ledger: Ledger,
        options: Mapping[str, str] | None = None,
        blanks: Mapping[str, Mapping[str, str]] | None = None,
        right: Any = None,
        feedback: Any = None,
        at_least: int = 1,
        opens: Literal["answered", "right"] = "answered",
        after: Gate | Iterable[Gate] = (),
        title: str = "What did you find?",
    ) -> None:
        super().__init__(reflection_id, title, ledger=ledger, after=after)
        if options is not None and blanks is not None:
            raise ValueError(f"{reflection_id} has options and blanks; it can have one of them")
        self._form: _Choice | _Gaps | _Words
        if options is not None:
            self._form = _Choice(question, options, right, feedback or {})
        elif blanks is not None:
            self._form = _Gaps(question, blanks, right or {}, feedback or {})
        else:
            self._form = _Words(question, at_least, feedback or "")
        self._question = question
        self._opens = one_of("opens", opens, ("answered", "right"))
        if opens == "right" and not right:
            raise ValueError(f"{reflection_id} opens when it is right, and right= is not given")
        self.refresh()

    @property
    def question(self) -> str:
        """What is asked."""
        return markup.plain(self._question)

    @property
    def to_open(self) -> str:
        """What to do to open it."""
        how = "answer the reflection rightly" if self._opens == "right" else "answer the reflection"
        return f"{how}: “{markup.plain(self.title)}”"

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every attempt so far."""
        said = self._state.reflections.get(self.task_id) if self._state else None
        return said.attempts if said else ()

    @property
    def value(self) -> Any:
        """What was said last."""
        return self.attempts[-1].value if self.attempts else None

    def done(self, state: State) -> bool:
        """Whether it was answered; rightly, if it asks for that."""
        said = state.reflections.get(self.task_id)
        if said is None or self._opens == "answered":
            return said is not None
        return any(attempt.correct for attempt in said.attempts)

    def answer(self, value: Any) -> bool | None:
        """Record an attempt; the same once more is not written again.

        Returns
        -------
        correct
            Whether it is right; none where nothing says so.

        Raises
        ------
        ValueError
            With a sentence that says what is missing or what is allowed.
        NotSaved
            When the ledger could not be written: nothing was recorded.
        """
        self._need_gates()
        read = self._form.read(value)
        correct = self._form.judge(read)
        if read != self.value:
            self._save(lambda: self._ledger.record_reflection(self.task_id, read, correct=correct))
        self.show()
        return correct

    def actions(self) -> Mapping[str, Action]:
        """Answer."""
        return {"answer": self._on_answer}

    def _on_answer(self, values: Values) -> None:
        self.answer(values.get("answer"))
        self._say(" ".join(part.text() for part in self._feedback()) or "Saved.", focus="feedback0")

    def parts(self) -> Sequence[Part]:
        """The question, and what was said to the last answer."""
        last = self.value
        known = last if self._form.reads_alike(last) else None
        word = "Save again" if last is not None and self._form.button == "Save" else (
            "Try again" if last is not None else self._form.button
        )  # fmt: skip
        return [self._form.part(known), *self._feedback(), Buttons("send", (("answer", word),))]

    def _feedback(self) -> list[Part]:
        if not self.attempts or not self._form.reads_alike(self.value):
            return []
        last, count = self.attempts[-1], len(self.attempts)
        labels = {True: ("Right.", "green"), False: ("Not yet.", "orange"), None: ("", "blue")}
        said: list[Part] = []
        for k, (words, good) in enumerate(self._form.remarks(last.value)):
            label, tone = labels[good]
            if words or label:
                said.append(Prose(f"feedback{k}", words, tone=tone, label=label))
        times = "1 attempt" if count == 1 else f"{count} attempts"
        said.append(Prose("saved", f"Saved {moment(last.time)}, {times}.", quiet=True))
        return said


def _known(name: str, keys: Iterable[str], options: Iterable[str]) -> None:
    allowed = list(options)
    for key in keys:
        if key not in allowed:
            raise ValueError(f"{name} names {key!r}; it can name: {', '.join(allowed)}")
