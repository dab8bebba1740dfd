"""A prediction that is committed once, sealed with its time, and opens what waits for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from textwrap import shorten
from typing import Any, Final

from mlsys_widgets.cards.card import Action, Gate, Values
from mlsys_widgets.cards.parts import (
    CONFIDENCES,
    Buttons,
    Confidence,
    Entry,
    Options,
    Part,
    Prose,
    Sealed,
)
from mlsys_widgets.cards.reveal import Distance, Reveal
from mlsys_widgets.cards.task import Task
from mlsys_widgets.drawing import markup
from mlsys_widgets.ledger import AlreadyCommitted, CommittedPrediction, Ledger, State
from mlsys_widgets.physics import format_quantity, parse_quantity

USUAL_TITLE: Final = "Before you look: what do you expect?"


class PredictionLock(Task):
    """A question to be answered before anything is shown.

    Instruments made with ``lock=`` this one show a locked card until it is committed, and open at
    that moment. A prediction is committed once: what the ledger holds stands, in every kernel.

    Parameters
    ----------
    question_id
        The name under which the ledger keeps the prediction.
    question
        What is asked.
    options
        What can be chosen, key and words. Without them a number is asked for.
    values
        The number each option stands for, if it does: `reveal` measures distances with it.
    unit
        The unit of the number (of ``values``, or of what is typed), as physics names it.
    low, high
        Limits of a number that is typed.
    ledger
        Where it is kept.
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
    >>> lock = PredictionLock(
    ...     "images",
    ...     question="After how many images has compiling paid?",
    ...     unit="images",
    ...     ledger=led,
    ... )
    >>> lock.is_open
    False
    >>> lock.commit("130k", confidence=3).value
    130000.0
    >>> lock.is_open, led.state().predictions["images"].confidence
    (True, 3)
    >>> folder.cleanup()
    """

    kind = "Prediction"
    tone = "prediction"

    def __init__(
        self,
        question_id: str,
        *,
        question: str,
        ledger: Ledger,
        options: Mapping[str, str] | None = None,
        values: Mapping[str, float] | None = None,
        unit: str = "",
        low: float = -math.inf,
        high: float = math.inf,
        after: Gate | Iterable[Gate] = (),
        title: str = USUAL_TITLE,
    ) -> None:
        super().__init__(question_id, title, ledger=ledger, after=after)
        if options is not None and len(options) < 2:
            raise ValueError(f"options of {question_id} are {dict(options)!r}; there must be two")
        strangers = set(values or ()) - set(options or ())
        if strangers:
            raise ValueError(f"values of {question_id} name no option: {', '.join(strangers)}")
        self._question = question
        self._options = dict(options) if options is not None else None
        self._values = dict(values or {})
        self._unit, self._low, self._high = unit, low, high
        self._proposed: tuple[Any, int] | None = None
        self._entered: tuple[Any, int | None] = (None, None)
        self.refresh()

    # What it is.

    @property
    def question(self) -> str:
        """What is asked."""
        return markup.plain(self._question)

    @property
    def to_open(self) -> str:
        """What to do to open it."""
        return f"commit your prediction: “{markup.question_in(self.question)}”"

    @property
    def called(self) -> str:
        """Its title; where that is the usual one, the question, cut short where it is long."""
        if self.title != USUAL_TITLE:
            return super().called
        return f"{self.kind}: {shorten(self.question, 80, placeholder=' …')}"

    @property
    def prediction(self) -> CommittedPrediction | None:
        """What was committed, with confidence and time; none before that."""
        return self._state.predictions.get(self.task_id) if self._state else None

    @property
    def value(self) -> Any:
        """What was committed: the key of an option, or a number in SI units."""
        return self.prediction.value if self.prediction else None

    @property
    def confidence(self) -> int | None:
        """How sure the student was, from 1 to 5."""
        return self.prediction.confidence if self.prediction else None

    @property
    def number(self) -> float | None:
        """The number that was predicted, also where an option stands for it."""
        value = self.value
        return value if isinstance(value, int | float) else self._values.get(value)

    @property
    def options(self) -> dict[str, str]:
        """What can be chosen; nothing where a number is asked for."""
        return dict(self._options or {})

    @property
    def values(self) -> dict[str, float]:
        """The number each option stands for."""
        return dict(self._values)

    @property
    def unit(self) -> str:
        """The unit of the number."""
        return self._unit

    def done(self, state: State) -> bool:
        """Whether it was committed."""
        return self.task_id in state.predictions

    def _needs(self) -> tuple[str, ...]:
        return (self.task_id,)

    def in_words(self, value: Any) -> str:
        """A prediction as people read it."""
        if self._options is None:
            shown = isinstance(value, int | float)
            return format_quantity(value, self._unit) if shown else str(value)
        words = self._options.get(value, "an option that is no longer offered")
        return f"{value}: {markup.plain(words)}"

    # What is done with it.

    def propose(self, value: Any, confidence: Any) -> None:
        """Say what is to be committed; `confirm` seals it, `reconsider` takes it back.

        Raises
        ------
        ValueError
            With a sentence that says what is missing or what is allowed.
        """
        self._need_gates()
        self._refuse_second()
        self._proposed = self._entered = (self._read(value), _confidence(confidence))
        self.show()

    def reconsider(self) -> None:
        """Back from the confirmation to the question; nothing entered is lost."""
        self._proposed = None
        self.show()

    def confirm(self) -> CommittedPrediction:
        """Seal what was proposed.

        Raises
        ------
        AlreadyCommitted
            When another kernel has committed this one meanwhile; the card shows what stands.
        NotSaved
            When the ledger could not be written: the lock stays closed.
        """
        if self._proposed is None:
            raise ValueError("nothing was proposed yet; choose an answer and a confidence first")
        value, confidence = self._proposed
        try:
            sealed = self._save(
                lambda: self._ledger.commit_prediction(self.task_id, value, confidence)
            )
        except AlreadyCommitted:
            self._proposed = None
            self.refresh()
            raise
        self._proposed = None
        self.show()
        return sealed

    def commit(self, value: Any, confidence: int) -> CommittedPrediction:
        """Propose and confirm in one step. The same again changes nothing.

        Parameters
        ----------
        value
            The key of an option, a number in SI units, or text such as ``"33%"`` and ``"134k"``.
        confidence
            From 1, a guess, to 5, certain.
        """
        standing = self.prediction
        if standing and (self._read(value), _confidence(confidence)) == standing[:2]:
            return standing
        self.propose(value, confidence)
        return self.confirm()

    def reveal(
        self,
        *,
        model: float | Callable[[], float] | None = None,
        measured: float | Callable[[], float] | None = None,
        answer: str | None = None,
        unit: str | None = None,
        distance: Distance | None = None,
        feedback: Mapping[str, str] | None = None,
        where: str = "",
        title: str = "What you expected, and what is",
    ) -> Reveal:
        """Set the prediction beside the model and the measurement; display what comes back.

        Before the prediction is committed nothing of it is shown or sent to the browser.

        Parameters
        ----------
        model, measured
            The values, in SI units, or functions that give them when they are shown.
        answer
            The option that is right, where options stand for no numbers.
        unit
            The unit; that of the question if left out.
        distance
            ``"points"``, ``"times"``, ``"orders"`` or ``"difference"``: the question's own terms.
        feedback
            A sentence for each option; of a number, for ``"low"``, ``"close"`` and ``"high"``.
        where
            Where the measurement was taken.
        title
            The heading.
        """
        return Reveal(
            self,
            model=model,
            measured=measured,
            answer=answer,
            unit=self._unit if unit is None else unit,
            distance=distance,
            feedback=feedback or {},
            where=where,
            title=title,
        )

    def _refuse_second(self) -> None:
        if standing := self.prediction:
            raise AlreadyCommitted(
                f"{self.task_id} is sealed as {self.in_words(standing.value)!r}; a prediction is"
                " committed once, so that one stands",
                standing,
            )

    def _read(self, value: Any) -> Any:
        """What was entered, as the ledger keeps it, or a refusal with a sentence."""
        if self._options is not None:
            if not isinstance(value, str) or value not in self._options:
                if value in (None, ""):
                    raise ValueError("No answer is chosen yet: choose one of the options.")
                listed = ", ".join(self._options)
                raise ValueError(f"The answer is {value!r}; it must be one of: {listed}.")
            return value
        if isinstance(value, str):
            if not value.strip():
                raise ValueError(f"No number is entered yet: {self._hint()}.")
            value = parse_quantity(value, self._unit)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"The prediction is {value!r}; {self._hint()}.")
        if not math.isfinite(value):
            raise ValueError(f"The prediction must be a finite number; {self._hint()}.")
        if not self._low <= value <= self._high:
            raise ValueError(
                f"{format_quantity(value, self._unit)} is out of range; {self._hint()}."
            )
        return float(value)

    def _hint(self) -> str:
        examples = {"%": "33%", "s": "5 µs or 2 hours", "B": "16 GB", "×": "2.4×"}
        example = examples.get(self._unit, "134k or 1.5e6")
        limits = [
            f"{word} {format_quantity(limit, self._unit)}"
            for word, limit in (("at least", self._low), ("at most", self._high))
            if math.isfinite(limit)
        ]
        return ", ".join([f"type a number such as {example}", *limits])

    # What is seen.

    def actions(self) -> Mapping[str, Action]:
        """Commit, seal, change."""
        return {"propose": self._on_propose, "confirm": self._on_confirm, "change": self._on_change}

    def _on_propose(self, values: Values) -> None:
        self.propose(values.get("answer"), values.get("confidence"))
        self._say(f"{self._proposal()} Seal it or change it.", focus="confirm")

    def _on_confirm(self, values: Values) -> None:
        if self._proposed is None:  # the kernel was started anew while the question stood there
            self.propose(values.get("answer"), values.get("confidence"))
        self.confirm()
        self._say("Your prediction is sealed.", focus="sealed")

    def _on_change(self, values: Values) -> None:
        self.reconsider()
        self._say("", focus="answer")

    def _proposal(self) -> str:
        assert self._proposed is not None
        value, confidence = self._proposed
        return f"You predict **{self.in_words(value)}**, with confidence {confidence} of 5."

    def parts(self) -> Sequence[Part]:
        """The question; the confirmation; or what is sealed."""
        standing, proposed = self.prediction, self._proposed
        if standing:
            sure = f", confidence {standing.confidence} of 5" if standing.confidence else ""
            words = f"Sealed: **{self.in_words(standing.value)}**{sure}"
            return [self._asking(standing.value, True), Sealed("sealed", words, standing.time)]
        if proposed:
            caution = "Once it is sealed it cannot be changed, and the instruments open."
            return [
                self._asking(proposed[0], True),
                Confidence("confidence", proposed[1], disabled=True),
                Prose("proposal", f"{self._proposal()} {caution}", tone="orange"),
                Buttons("confirm", (("confirm", "Seal it"), ("change", "Change it"))),
            ]
        return [
            self._asking(self._entered[0], False),
            Confidence("confidence", self._entered[1]),
            Buttons("propose", (("propose", "Commit my prediction …"),)),
        ]

    def _asking(self, value: Any, disabled: bool) -> Part:
        if self._options is not None:
            known = value if value in self._options else None
            return Options(
                "answer", self._question, self._options, known, disabled=disabled, lettered=True
            )
        shown = "" if value is None else self.in_words(value)
        hint = self._hint()
        return Entry(
            "answer", self._question, f"{hint[0].upper()}{hint[1:]}.", shown, disabled=disabled
        )


def _confidence(value: Any) -> int:
    if value in (None, ""):
        raise ValueError("No confidence is chosen yet: say how sure you are, from 1 to 5.")
    try:
        sure = int(value)
    except (TypeError, ValueError):
        sure = 0
    if sure not in CONFIDENCES or isinstance(value, bool | float):
        raise ValueError(f"The confidence is {value!r}; it must be a whole number from 1 to 5.")
    return sure
