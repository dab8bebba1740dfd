"""The card of a reflection: the question, every attempt, and feedback on the last one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import shorten
from typing import Any

from mlsys_widgets.cards.card import Action, Gate, Values
from mlsys_widgets.cards.parts import (
    Blanks,
    Buttons,
    Options,
    Part,
    Prose,
    RecordedAnswer,
    TextArea,
)
from mlsys_widgets.cards.task import ItemTask, ShortForm
from mlsys_widgets.drawing import markup
from mlsys_widgets.labs import ReflectionPrompt
from mlsys_widgets.labs.reflection_prompt import FreeText, Gaps, OneOption
from mlsys_widgets.ledger import Attempt, Ledger


class Reflection(ItemTask):
    """A question about what was seen, with feedback on the very answer. Attempts are recorded.

    With ``options`` one is chosen; with ``blanks`` the gaps ``{name}`` of the question are filled
    from menus; with neither, words are written and saved.

    Parameters
    ----------
    reflection_id
        The name under which the ledger keeps every attempt.
    item
        What is asked; if omitted, it is made from ``fields``.
    ledger
        Where it is kept.
    after
        A gate, or several, that must be open before the question is asked.
    **fields
        The fields of `labs.ReflectionPrompt`: ``question``, ``options``, ``blanks``, ``right``,
        ``feedback``, ``at_least``, ``opens``, ``title``.

    Examples
    --------
    >>> led = Ledger.open(folder / "ledger.jsonl", lab="lab_07", student="student-01")
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
    """

    kind = "Reflection"
    tone = "blue"
    record_action = "answer"

    def __init__(
        self,
        reflection_id: str,
        item: ReflectionPrompt | None = None,
        *,
        ledger: Ledger,
        after: Gate | Iterable[Gate] = (),
        **fields: Any,
    ) -> None:
        self.item = ReflectionPrompt(**fields) if item is None else item
        self._form = self.item.form
        super().__init__(reflection_id, self.item, self.item.title, ledger=ledger, after=after)
        self.refresh()

    @property
    def question(self) -> str:
        return markup.plain(self.item.question)

    @property
    def to_open(self) -> str:
        how = "correctly: " if self.item.opens == "right" else ""
        return f"answer the reflection {how}“{markup.plain(self.title)}”"

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every attempt so far."""
        kept = self._state.reflections.get(self.task_id) if self._state else None
        return kept.attempts if kept else ()

    @property
    def value(self) -> Any:
        """The last answer."""
        return self.attempts[-1].value if self.attempts else None

    def answer(self, value: Any) -> bool | None:
        """Record an attempt; repeating the last one writes nothing.

        Returns
        -------
        correct
            Whether it is right; `None` where nothing says so.

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
        return {"answer": self._on_answer}

    def _on_answer(self, values: Values) -> None:
        self.answer(values.get("answer"))
        self._say(" ".join(part.text() for part in self._feedback()) or "Saved.", focus="feedback0")

    def parts(self) -> Sequence[Part]:
        last = self.value
        known = last if self._form.fits(last) else None
        asked, word = self._asking(known)
        if last is not None:
            word = self._word_again(known)
        return [asked, *self._feedback(), Buttons("send", (("answer", word),))]

    def _word_again(self, last: Any) -> str:
        """Return the button's words after an answer. Nobody who is right is told to try again."""
        if isinstance(self._form, FreeText):
            return "Save again"
        wrong = last is None or self._form.judge(last) is False
        return "Try again" if wrong else "Change my answer"

    def _asking(self, value: Any) -> tuple[Part, str]:
        """The question with an answer in it, and the words of its button at first."""
        question = self.item.question
        match self._form:
            case OneOption(options=options):
                part = Options("answer", question, options, value, lettered=True)
                return part, "Answer"
            case Gaps(pieces=pieces, blanks=blanks):
                return Blanks("answer", _filled(pieces, blanks, value or {})), "Check"
            case FreeText(limits=limits):
                return TextArea.within(limits, "answer", question, value or ""), "Save"

    def _feedback(self) -> list[Part]:
        if not self.attempts or not self._form.fits(self.value):
            return []
        last, count = self.attempts[-1], len(self.attempts)
        labels = {True: ("Right.", "green"), False: ("Not yet.", "orange"), None: ("", "blue")}
        parts: list[Part] = []
        for k, remark in enumerate(self._form.remarks(last.value)):
            label, tone = labels[remark.right]
            words = remark.words
            if isinstance(self._form, Gaps):
                words = f"Gap {k + 1}, *{markup.plain(remark.chosen)}*. {words}".strip()
            if words or label:
                parts.append(Prose(f"feedback{k}", words, tone=tone, label=label))
        times = "1 attempt" if count == 1 else f"{count} attempts"
        if isinstance(self._form, FreeText):
            words = f"Saved: “{shorten(last.value, 120, placeholder=' …')}”, {times}"
            return [*parts, RecordedAnswer("saved", words, last.time)]
        parts.append(Prose("saved", f"Saved {last.time}, {times}.", quiet=True))
        return parts

    def fold(self) -> ShortForm | None:
        """Short once it is told and right, or written; whoever is wrong tries again."""
        if self.value is None or not self._form.fits(self.value):
            return None
        if self._form.judge(self.value) is False:
            return None
        told = tuple(part.key for part in self._feedback())
        return ShortForm(told if isinstance(self._form, FreeText) else ("answer", *told))


def _filled(
    pieces: Iterable[tuple[str, str | None]],
    blanks: Mapping[str, Mapping[str, str]],
    chosen: Mapping[str, str],
) -> tuple[str | tuple[str, Mapping[str, str], str | None], ...]:
    """The pieces of a sentence with gaps, each gap with its menu and what is chosen in it."""
    found: list[str | tuple[str, Mapping[str, str], str | None]] = []
    for words, name in pieces:
        found += [words] if words else []
        if name:
            found.append((name, blanks[name], chosen.get(name)))
    return tuple(found)
