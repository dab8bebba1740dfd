"""The box below a comparison: one sentence of the student's own, for whoever wants to write it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlsys_widgets.cards.card import Action, Values
from mlsys_widgets.cards.parts import Buttons, Part, RecordedAnswer, TextArea
from mlsys_widgets.cards.task import ShortForm, Task
from mlsys_widgets.labs.own_words import OWN_WORDS, own_words_name
from mlsys_widgets.ledger import Answer, Ledger, State


class OwnWords(Task):
    """One sentence about a prediction and what happened. Nothing waits for it.

    Parameters
    ----------
    prediction
        The name of the prediction.
    question
        What is asked, such as "Why was I off?".

    Examples
    --------
    >>> led = Ledger.open(folder / "ledger.jsonl", lab="lab_07", student="student-01")
    >>> box = OwnWords("busy", "Why was I off?", ledger=led)
    >>> box.keep("I forgot the launches.")
    >>> led.state().answers["words.busy"].value
    'I forgot the launches.'
    """

    kind = "In your own words"
    tone = "blue"
    drawn_as = "note"
    record_action = "keep"

    def __init__(self, prediction: str, question: str, *, ledger: Ledger) -> None:
        super().__init__(own_words_name(prediction), question, ledger=ledger)
        self.add_class("mlsys-lab-own")
        self.refresh()

    def done(self, state: State) -> bool:
        return self.task_id in state.answers

    @property
    def kept(self) -> Answer | None:
        """What was written last; `None` before that."""
        found = self._state.answers.get(self.task_id) if self._state else None
        return found if found is not None and OWN_WORDS.fits(found.value) else None

    def keep(self, words: str) -> None:
        """Record a sentence; repeating the last one writes nothing.

        Raises
        ------
        ValueError
            When nothing is written, or too much.
        NotSaved
            When the ledger could not be written.
        """
        read = OWN_WORDS.read(words)
        if self.kept is None or read != self.kept.value:
            self._save(lambda: self._ledger.record_answer(self.task_id, read))
        self.show()

    def actions(self) -> Mapping[str, Action]:
        return {"keep": self._on_keep}

    def _on_keep(self, values: Values) -> None:
        self.keep(values.get("answer") or "")
        self._say("Kept.", focus="kept")

    def parts(self) -> Sequence[Part]:
        kept = self.kept
        box = TextArea(
            "answer",
            "One sentence, if you like",
            "Nobody grades it. Your teacher in a course may read it, and you before the exam.",
            kept.value if kept else "",
            rows=2,
            at_least=0,
            at_most=OWN_WORDS.limits.at_most,
        )
        send = Buttons("send", (("keep", "Keep the change" if kept else "Keep it"),), leads=False)
        told = [RecordedAnswer("kept", kept.value, kept.time)] if kept else []
        return [box, send, *told]

    def fold(self) -> ShortForm | None:
        return ShortForm(("kept",)) if self.kept else None
