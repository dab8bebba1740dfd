"""Prediction, model and measurement side by side: how far apart they are, and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, Protocol

import ipywidgets

from mlsys_widgets.cards import announcements
from mlsys_widgets.cards.card import Action, Gate, LabWidget
from mlsys_widgets.cards.moves import Exploration, Move
from mlsys_widgets.cards.own_words_card import OwnWords
from mlsys_widgets.cards.parts import Buttons, Part, Prose, Steps
from mlsys_widgets.cards.reveal_parts import (
    ComparedNumbers,
    Comparison,
    NumbersBehind,
    RevealVerdict,
)
from mlsys_widgets.cards.worked_numbers import Worked, worked_rows
from mlsys_widgets.drawing.number_line import NumberMark
from mlsys_widgets.labs import Prediction
from mlsys_widgets.labs.own_words import asked_about
from mlsys_widgets.ledger import Ledger, LedgerError
from mlsys_widgets.wording.choices import one_of
from mlsys_widgets.wording.distance import (
    DISTANCES,
    SAME,
    Distance,
    distance_in_words,
    how_close,
    missed_by,
    verdict,
)
from mlsys_widgets.wording.units import format_quantity, in_one_unit

#: A value, or a function that returns it when it is shown.
Source = float | Callable[[], float]

#: What a prediction is judged by.
Judge = Literal["measurement", "model"]
JUDGES: Final[tuple[Judge, ...]] = ("measurement", "model")


class PredictionGate(Gate, Protocol):
    """The card of a prediction, as far as a reveal needs it."""

    item: Prediction

    @property
    def task_id(self) -> str:
        """The name of the prediction."""

    @property
    def called(self) -> str:
        """The prediction, as a line of a list."""

    @property
    def value(self) -> Any:
        """The committed value."""

    @property
    def confidence(self) -> int | None:
        """How sure the student was."""

    @property
    def number(self) -> float | None:
        """The number that was predicted."""

    def in_words(self, value: Any) -> str:
        """A prediction as people read it."""


class PredictionOutcome(NamedTuple):
    """A prediction and what happened, in words, and whether it held where that is known."""

    predicted: str
    #: The end of a sentence: "measured: 17,000 images/s (the model says 120,000 images/s)".
    actual: str
    held: bool | None


class Reveal(LabWidget):
    """A prediction compared with what happened. Made by ``PredictionLock.reveal``."""

    kind = "Compare"
    tone = "measured"

    def __init__(
        self,
        lock: PredictionGate,
        *,
        model: Source | Mapping[str, Source] | None,
        measured: Source | None,
        judged_by: Judge,
        answer: str | None,
        unit: str,
        distance: Distance | None,
        feedback: Mapping[str, str],
        where: str,
        title: str,
        digits: int | None,
        worked: Worked | Callable[[], Worked] | None,
        contrast: Worked | Callable[[], Worked] | None,
        moves: Sequence[Move],
        waits: bool,
        ledger: Ledger,
    ) -> None:
        super().__init__(title, after=lock)
        self._lock = lock
        self._ledger = ledger
        self._seen_id = f"compared.{lock.task_id}"
        self._asked_for = False
        self._own_words: OwnWords | None = None
        # Of several forms of a model, the last one is the closest to what happens.
        self._forms = dict(model) if isinstance(model, Mapping) else {}
        if isinstance(model, Mapping):
            model = next(reversed(self._forms.values()), None)
        self._model, self._measured = model, measured
        one_of("judged_by", judged_by, JUDGES)
        #: Where there is a measurement, it is the result, unless the question is about the model.
        self._is_measured = measured is not None and judged_by == "measurement"
        self._unit, self._where, self._digits = unit, where, digits
        self._worked, self._contrast = worked, contrast
        usual: Distance = "points" if unit == "%" else "times"
        self._distance: Distance = one_of("distance", distance or usual, DISTANCES)
        known = set(lock.item.options or ()) or {"low", "close", "high"}
        for name, keys in (("answer", {answer} - {None}), ("feedback", set(feedback))):
            if strangers := keys - known:
                named = ", ".join(map(str, strangers))
                raise ValueError(f"{name} names {named}; it can name: {', '.join(sorted(known))}")
        if model is None and answer is None and not self._is_measured:
            raise ValueError(
                "give model=, measured= or answer=; otherwise there is nothing to compare with"
            )
        self._answer, self._feedback = answer, dict(feedback)
        self._exploration = Exploration(
            lock.task_id, moves, ledger=ledger, counts=lambda: lock.is_open, then=self._on_move
        )
        self._exploration.begin()
        lock.on_open(self._exploration.look)
        # Run after all that, the cell shows the comparison; run before it, a button does.
        self._asked_for = lock.is_open and not self.missing and (not waits or self._was_compared())
        self.refresh()

    @property
    def shown(self) -> bool:
        """Whether the comparison is on the card."""
        return self._asked_for and self.blocked_by is None

    @property
    def about(self) -> str:
        """The prediction, as a line of a list."""
        return self._lock.called

    @property
    def is_sealed(self) -> bool:
        """Whether the prediction is committed."""
        return self._lock.is_open

    @property
    def outcome(self) -> PredictionOutcome | None:
        """Prediction and result; `None` until the comparison is on the card."""
        if not self.shown:
            return None
        predicted, right = self._lock.in_words(self._lock.value), self.right
        if right is not None and not self._lock.item.values:
            actual = self._lock.in_words(right)
            found = "that is the answer" if actual == predicted else f"the answer is {actual}"
        else:
            predicted, found = self._result()
        return PredictionOutcome(predicted, found, self._held(right))

    def _result(self) -> tuple[str, str]:
        """The prediction, what it is judged by, and in brackets what else there is."""
        sources = {"the model says {}": self._model, "measured: {}": self._measured}
        named = {words: _now(source) for words, source in sources.items() if source is not None}
        mine, *shown = self._in_one_unit(map(self._known, named.values()))
        said = [words.format(number) for words, number in zip(named, shown, strict=True)]
        first, *rest = reversed(said) if self._is_measured else said
        return self._predicted(mine), f"{first} ({', '.join(rest)})" if rest else first

    def _in_one_unit(self, values: Iterable[float]) -> tuple[str, ...]:
        """The predicted number, empty if there is none, and values beside it."""
        number = self._lock.number
        if number is None:
            return "", *in_one_unit(self._unit, *values)
        return in_one_unit(self._unit, number, *values)

    def _predicted(self, number: str) -> str:
        """The prediction in words, whose number is written like this."""
        lock = self._lock
        return lock.in_words(lock.value) if lock.item.options or not number else number

    def _held(self, right: str | None) -> bool | None:
        if self._lock.item.options:
            return None if right is None else bool(self._lock.value == right)
        actual = self._decisive()
        if self._lock.number is None or actual is None:
            return None
        return how_close(self._lock.number, actual, self._distance) == "close"

    def _was_compared(self) -> bool:
        """Whether the comparison was asked for before, in an earlier kernel or in another one."""
        try:
            return self._seen_id in self._ledger.state().answers
        except LedgerError:
            return False  # the card of the prediction says so

    def _keep_compared(self) -> None:
        """Write down that it was seen, for the Lab panel to go on; it is shown in any case."""
        try:
            if not self._was_compared():
                self._ledger.record_answer(self._seen_id, True)
        except LedgerError as problem:
            self._refused(f"You can compare, but that is not saved. {problem}", self._keep_compared)
        else:
            self._settled()
            announcements.announce(self._ledger)

    @property
    def missing(self) -> list[str]:
        """The moves that come before the comparison and were not made yet."""
        return self._exploration.missing

    def refresh(self) -> None:
        """Look at the ledger again: another kernel may have seen a move."""
        self._exploration.recall()
        super().refresh()

    def _on_move(self, made: list[str]) -> None:
        """A move was made: tick it, and say so."""
        if problem := self._exploration.problem:
            self._refused(problem, self._keep_moves)
        else:
            self._settled()
        still = self._exploration.still or "You can compare now."
        self._say(f"Done: {'; '.join(text.rstrip('.') for text in made)}. {still}")
        self.show()

    def _keep_moves(self) -> None:
        self._exploration.keep()
        if problem := self._exploration.problem:
            self._refused(problem, self._keep_moves)

    def compare(self) -> None:
        """Show the comparison.

        Raises
        ------
        ValueError
            When the prediction is not committed yet, or moves are missing; it says which.
        """
        self._need_gates()
        self._exploration.recall()
        if still := self._exploration.still:
            raise ValueError(f"The comparison opens after a little exploring. {still}")
        self._asked_for = True
        self._keep_compared()
        self.show()
        announcements.look_again(self._ledger)

    def actions(self) -> Mapping[str, Action]:
        return {"compare": self._on_compare}

    def _on_compare(self, _values: Any) -> None:
        self.compare()
        verdict = next((part.text() for part in self.parts() if part.key == "verdict"), "")
        self._say(verdict, focus="compared")

    @property
    def right(self) -> str | None:
        """The option that is right: as named, or the one whose number is closest to the result."""
        actual = self._decisive()
        if self._answer is not None or not self._lock.item.values or actual is None:
            return self._answer
        return self._closest(actual)

    def _closest(self, actual: float) -> str | None:
        """The option whose number is closest; `None` if options have no numbers."""
        values = self._lock.item.values or {}

        def apart(number: float) -> float:
            if self._distance in {"times", "orders"} and number > 0 and actual > 0:
                return abs(math.log(number / actual)) if math.isfinite(actual) else -number
            return abs(number - actual)

        return min(values, key=lambda key: apart(values[key]), default=None)

    def parts(self) -> Sequence[Part]:
        if not self._asked_for:
            return self._before()
        parts: list[Part] = [self._comparison(), *self._verdict()]
        groups = (
            ("The numbers behind it", worked_rows(self._worked)),
            ("For contrast", worked_rows(self._contrast)),
        )
        if behind := tuple(group for group in groups if group[1]):
            parts.append(NumbersBehind("behind", behind))
        return parts

    # What the student says about it, below.

    def below(self) -> tuple[ipywidgets.Widget, ...]:
        own = self.own_words
        return () if own is None else (own,)

    def picture_below(self) -> str:
        own = self.own_words
        return "" if own is None or own.kept is None else own.html()

    @property
    def own_words(self) -> OwnWords | None:
        """The box for a sentence of the student's own; `None` until the comparison is shown."""
        if self._own_words is None and self.shown:
            try:
                question = asked_about(self._held(self.right))
            except Exception:  # a function of the author; the comparison says so
                question = asked_about(None)
            self._own_words = OwnWords(self._lock.task_id, question, ledger=self._ledger)
        return self._own_words

    def _comparison(self) -> Comparison:
        """The prediction and everything that it is held against."""
        lock, right = self._lock, self.right
        compared = self._compared()
        values = [self._known(_now(source)) for _, _, source, _, _ in compared]
        mine, *shown = self._in_one_unit(values)
        rows = [("You predicted", self._predicted(mine), "prediction", self._sure())]
        marks = []
        for (label, _, _, tone, note), value, words in zip(compared, values, shown, strict=True):
            marks.append(NumberMark(label.removesuffix(" says"), value, words, tone))
            rows.append((label, words, tone, note))
        if right is not None and not lock.item.values:
            rows.append(("The answer is", lock.in_words(right), "model", ""))
            return Comparison("compared", tuple(rows), len(rows) - 1)
        counts = self._counts
        if lock.number is None or not marks:
            return Comparison("compared", tuple(rows), counts + 1)
        numbers = ComparedNumbers(
            NumberMark(
                "You", lock.number, mine or format_quantity(lock.number, self._unit), "prediction"
            ),
            tuple(marks),
            counts,
            self._unit,
            self._far(lock.number, marks[counts].value),
        )
        return Comparison("compared", tuple(rows), counts + 1, numbers)

    @property
    def _counts(self) -> int:
        """The place, among what is compared, of what the prediction is judged by."""
        # A measurement comes last, and the closest form of a model right before it.
        others = self._measured is not None and not self._is_measured
        return max(0, len(self._compared()) - 1 - others)

    def _far(self, predicted: float, actual: float) -> str:
        """How far apart, without the direction: the picture shows it."""
        far = distance_in_words(predicted, actual, self._distance, self._unit)
        return "" if far == SAME or not math.isfinite(actual) else far.rsplit(" ", 1)[0]

    def _before(self) -> list[Part]:
        """Show what to try first, ticked as it is done, and the button."""
        lines, missing = self._exploration.lines, len(self.missing)
        if not lines:
            asked: Part = Prose("wait", f"Compare your prediction with {self._result_called}.")
        else:
            asked = Steps("moves", (("Before the comparison, try", lines),))
        label = f"Compare with {self._result_called}"
        if missing:
            label += f" ({missing} {'thing' if missing == 1 else 'things'} to try first)"
        return [asked, Buttons("compare", (("compare", label),), leads=not missing)]

    @property
    def _result_called(self) -> str:
        """What the prediction is compared with, before that is shown."""
        if self._is_measured:
            return "the measurement"
        return "the answer" if self._model is None else "the model"

    def _compared(self) -> list[tuple[str, str, Source, str, str]]:
        """List what the prediction is held against: label, words, value, tone and note of each."""
        found = [
            (
                label,
                f"the {label.lower()} form",
                source,
                "textbook" if label == "Textbook" else "model",
                "",
            )
            for label, source in self._forms.items()
        ]
        if self._model is not None and not self._forms:
            found.append(("The model says", "the model", self._model, "model", ""))
        if self._measured is not None:
            found.append(("Measured", "the measurement", self._measured, "measured", self._where))
        return found

    def _known(self, value: float) -> float:
        """A value with the digits that are known."""
        return value if self._digits is None else float(f"{value:.{self._digits}g}")

    def _sure(self) -> str:
        """Return the confidence of the prediction, and the number an option counts as."""
        lock, notes = self._lock, []
        words = lock.in_words(lock.value)
        if lock.item.options and lock.number is not None:
            number = format_quantity(lock.number, self._unit)
            if number not in words:
                notes.append(f"counted as {number}")
        if lock.confidence:
            notes.append(f"confidence {lock.confidence} of 5")
        return ", ".join(notes)

    def _decisive(self) -> float | None:
        """The number that a prediction is judged by; `None` if only options can be right."""
        source = self._measured if self._is_measured else self._model
        return None if source is None else self._known(_now(source))

    def _verdict(self) -> list[RevealVerdict]:
        """What the comparison means, and the paragraph for this very option."""
        predicted, actual = self._lock.number, self._decisive()
        label, words = self._judgment(self.right, predicted, actual)
        how_far = ""
        # What never happens is no number away.
        if predicted is not None and actual is not None and math.isfinite(actual):
            far = distance_in_words(predicted, actual, self._distance, self._unit)
            how_far = f"Your prediction is {far} {self._compared()[self._counts][1]}."
        return [RevealVerdict("verdict", label, how_far, words)] if label or how_far else []

    def _judgment(
        self, right: str | None, predicted: float | None, actual: float | None
    ) -> tuple[str, str]:
        """The verdict in a few words, and the feedback; both empty where nobody can judge."""
        key = self._lock.value
        if self._lock.item.options:
            label = "Right." if self._held(right) else self._wrong_option(predicted, actual)
        elif predicted is not None and actual is not None:
            key = how_close(predicted, actual, self._distance)
            label = verdict(predicted, actual, self._distance, self._unit)
        else:
            return "", ""
        if key not in self._feedback and right is None:
            return "", ""
        return label, self._feedback.get(key, "")

    def _wrong_option(self, predicted: float | None, actual: float | None) -> str:
        """Say no, and by how much. However near its number is, another option was there."""
        if predicted is None or actual is None:
            return "No."
        if how_close(predicted, actual, self._distance) == "close":
            return "No: another option is closer."
        return f"No: {missed_by(predicted, actual, self._distance, self._unit)}."


def _now(source: Source) -> float:
    return float(source() if callable(source) else source)
