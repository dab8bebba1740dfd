"""Prediction, model and measurement side by side, and how far apart they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from mlsys_widgets.cards.card import Action, LabWidget
from mlsys_widgets.cards.parts import Buttons, Numbers, Part, Prose
from mlsys_widgets.physics import format_quantity
from mlsys_widgets.physics.domain import one_of

if TYPE_CHECKING:
    from mlsys_widgets.cards.prediction_lock import PredictionLock

#: The terms in which a question measures how far off a prediction is.
Distance = Literal["points", "times", "orders", "difference"]
DISTANCES: tuple[Distance, ...] = ("points", "times", "orders", "difference")

SAME = "the same, to the digits shown, as"

#: Up to here a number counts as close: in points, as a ratio, in orders of magnitude, as a share.
_CLOSE = {"points": 0.05, "times": 1.25, "orders": 0.3, "difference": 0.1}


def distance_in_words(predicted: float, actual: float, kind: Distance, unit: str = "") -> str:
    """How far a prediction is from a value, in the terms of the question.

    Examples
    --------
    >>> distance_in_words(0.55, 0.33, "points", "%")
    '22 percentage points above'
    >>> distance_in_words(1000, 134_000, "times", "images")
    '134× below'
    >>> distance_in_words(1e9, 1e6, "orders")
    '3 orders of magnitude above'
    >>> distance_in_words(5, 3.5, "difference", "s")
    '1.5 s above'
    >>> distance_in_words(1000, float("inf"), "times")
    'below by more than any number'
    """
    if not math.isfinite(actual):
        return f"{'below' if actual > 0 else 'above'} by more than any number"
    side = "above" if predicted > actual else "below"
    # Ratios have no meaning around zero.
    if kind in {"times", "orders"} and (predicted <= 0 or actual <= 0):
        kind = "difference"
    if kind == "points":
        size, one, many = abs(predicted - actual) * 100, "percentage point", "percentage points"
    elif kind == "orders":
        size = abs(math.log10(predicted / actual))
        one, many = "order of magnitude", "orders of magnitude"
    elif kind == "times":
        shown = format_quantity(max(predicted / actual, actual / predicted), "×")
        return SAME if shown == "1×" else f"{shown} {side}"
    else:
        far = format_quantity(abs(predicted - actual), unit)
        return SAME if predicted == actual else f"{far} {side}"
    shown = f"{size:.1f}".removesuffix(".0")
    return SAME if shown == "0" else f"{shown} {one if shown == '1' else many} {side}"


def how_close(predicted: float, actual: float, kind: Distance) -> Literal["low", "close", "high"]:
    """Whether a number is close to a value, below it or above it.

    Examples
    --------
    >>> how_close(0.30, 0.33, "points"), how_close(1e3, 1.3e5, "times")
    ('close', 'low')
    """
    side: Literal["low", "high"] = "high" if predicted > actual else "low"
    if not math.isfinite(actual):
        return side
    if kind == "points":
        near = abs(predicted - actual) <= _CLOSE[kind]
    elif kind == "difference" or predicted <= 0 or actual <= 0:
        near = abs(predicted - actual) <= _CLOSE["difference"] * abs(actual)
    else:
        apart = abs(math.log10(predicted / actual))
        near = apart <= (_CLOSE["orders"] if kind == "orders" else math.log10(_CLOSE["times"]))
    return "close" if near else side


class Reveal(LabWidget):
    """What came of a prediction. Made by ``PredictionLock.reveal``."""

    kind = "Compare"
    tone = "measured"

    def __init__(
        self,
        lock: PredictionLock,
        *,
        model: float | Callable[[], float] | None,
        measured: float | Callable[[], float] | None,
        answer: str | None,
        unit: str,
        distance: Distance | None,
        feedback: Mapping[str, str],
        where: str,
        title: str,
    ) -> None:
        super().__init__(title, after=lock)
        self._lock = lock
        self._model, self._measured = model, measured
        self._unit, self._where = unit, where
        usual: Distance = "points" if unit == "%" else "times"
        self._distance: Distance = one_of("distance", distance or usual, DISTANCES)
        known = set(lock.options) or {"low", "close", "high"}
        for name, keys in (("answer", {answer} - {None}), ("feedback", set(feedback))):
            if strangers := keys - known:
                named = ", ".join(map(str, strangers))
                raise ValueError(f"{name} names {named}; it can name: {', '.join(sorted(known))}")
        if model is None and answer is None:
            raise ValueError("reveal needs model= or answer=: there is nothing to compare with")
        self._answer, self._feedback = answer, dict(feedback)
        #: Run after the commit, the cell shows the comparison; run before, it waits to be asked.
        self._asked_for = lock.is_open
        self.refresh()

    @property
    def shown(self) -> bool:
        """Whether the comparison is on the card."""
        return self._asked_for and self.blocked_by is None

    def compare(self) -> None:
        """Show the comparison.

        Raises
        ------
        ValueError
            When the prediction is not committed yet.
        """
        self._need_gates()
        self._asked_for = True
        self.show()

    def actions(self) -> Mapping[str, Action]:
        """Compare."""
        return {"compare": self._on_compare}

    def _on_compare(self, _values: Any) -> None:
        self.compare()
        words = " ".join(part.text() for part in self.parts() if isinstance(part, Prose))
        self._say(words, focus="cards")

    @property
    def right(self) -> str | None:
        """The option that is right: as named, or the one whose number is nearest to the model."""
        if self._answer is not None or not self._lock.values or self._model is None:
            return self._answer
        actual = _now(self._model)

        def apart(number: float) -> float:
            if self._distance in {"times", "orders"} and number > 0 and actual > 0:
                return abs(math.log(number / actual)) if math.isfinite(actual) else -number
            return abs(number - actual)

        values = self._lock.values
        return min(values, key=lambda key: apart(values[key]))

    def parts(self) -> Sequence[Part]:
        """The comparison, once it is asked for."""
        if not self._asked_for:
            return [
                Prose("wait", "Use the instruments first. Then set your prediction beside them."),
                Buttons("compare", (("compare", "Compare with the model"),)),
            ]
        lock, predicted = self._lock, self._lock.number
        cards = [("You predicted", lock.in_words(lock.value), "prediction", self._sure())]
        sentences = []
        for label, source, tone, note in (
            ("The model says", self._model, "blue", ""),
            ("Measured", self._measured, "measured", self._where),
        ):
            if source is None:
                continue
            actual = _now(source)
            cards.append((label, format_quantity(actual, self._unit), tone, note))
            if predicted is not None:
                far = distance_in_words(predicted, actual, self._distance, self._unit)
                what = "the model" if source is self._model else "the measurement"
                sentences.append(f"{far} {what}")
        right = self.right
        if right is not None and not lock.values:
            cards.append(("It is", lock.in_words(right), "blue", ""))
        parts: list[Part] = [Numbers("cards", tuple(cards))]
        if sentences:
            parts.append(Prose("distance", f"Your prediction is {', and '.join(sentences)}."))
        parts += self._remark(right, predicted)
        return parts

    def _sure(self) -> str:
        sure = self._lock.confidence
        return f"confidence {sure} of 5" if sure else ""

    def _remark(self, right: str | None, predicted: float | None) -> list[Part]:
        """The sentence for that very option."""
        if self._lock.options:
            key, good = self._lock.value, self._lock.value == right
        else:
            if predicted is None or self._model is None:
                return []
            key = how_close(predicted, _now(self._model), self._distance)
            good = key == "close"
        if key not in self._feedback and right is None:
            return []
        label = "That is it." if good else "Not quite."
        words = self._feedback.get(key, "")
        return [Prose("feedback", words, tone="green" if good else "orange", label=label)]


def _now(source: float | Callable[[], float]) -> float:
    return float(source() if callable(source) else source)
