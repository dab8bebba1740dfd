"""A function to write, with its examples, which run in the student's own kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mlsys_widgets.cards.card import Values
from mlsys_widgets.cards.parts import Part, Prose, Rows, TextArea
from mlsys_widgets.cards.question_card import QuestionCard
from mlsys_widgets.cards.task import ShortForm
from mlsys_widgets.labs import Code
from mlsys_widgets.labs.code_item import TriedExample
from mlsys_widgets.ledger import Answer
from mlsys_widgets.wording.plurals import counted


class CodeCard(QuestionCard):
    """A function that the student writes. Recording it calls it with the examples.

    Opening a notebook calls nothing: what a function did is shown after it was recorded, as long as
    the kernel runs.

    Examples
    --------
    >>> from mlsys_widgets.ledger import Ledger
    >>> led = Ledger.open(folder / "ledger.jsonl", lab="lab_07", student="student-01")
    >>> half = Code("Write a function that halves.", "half(x)", [([4], 2)], points=5)
    >>> card = CodeCard("halving", half, ledger=led)
    >>> _ = card.record("def half(x): return x * 2")
    >>> card.examples_in_words()
    ['`half(4)` returns `8`; `2` is expected.']
    """

    item: Code

    def __init__(self, *about: Any, **more: Any) -> None:
        self._tried: list[TriedExample] = []
        super().__init__(*about, **more)

    def _write(self, answer: Any) -> None:
        # Recorded first: whatever the function does to this kernel, its source is safe.
        super()._write(answer)
        self._tried = self.item.tried(answer)
        self.show()

    def _on_record(self, values: Values) -> None:
        super()._on_record(values)
        right = sum(each.is_right for each in self._tried)
        of = f"{right} of {counted(len(self._tried), 'example')}"
        self._say(f"Recorded. {of} as expected.", focus="recorded")

    def examples_in_words(self) -> list[str]:
        """What became of each example; empty until the function is recorded."""
        return [each.in_words for each in self._tried]

    def parts(self) -> Sequence[Part]:
        ask, *rest = super().parts()
        rows = tuple((f"`{call}`", f"`{expected}`") for call, expected in self.item.calls)
        parts = [ask, Rows("examples", rows), *rest]
        if self.answer is not None and self._tried:
            tone = "green" if all(each.is_right for each in self._tried) else "orange"
            words = "\n\n".join(self.examples_in_words())
            parts.append(Prose("tried", words, label="The examples.", tone=tone))
        return parts

    def fold(self) -> ShortForm | None:
        short = super().fold()
        if short is None:
            return None
        # What the function is called with belongs to the question.
        called = ("examples",) if "ask" in short.stays else ()
        return replace(short, stays=(*short.stays, *called, "tried"))

    def _asking(self, standing: Answer | None) -> Part:
        source = standing.value if standing else self.item.starter
        hint = "Press the button to record it and to try it with the examples."
        rows = max(8, source.count("\n") + 3)
        return TextArea("answer", "Your function", hint, source, rows=rows, at_least=0, code=True)
