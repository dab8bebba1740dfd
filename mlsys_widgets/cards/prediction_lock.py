"""A prediction that is committed once, sealed with its time, and opens what waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from textwrap import shorten
from typing import Any

from mlsys_widgets.cards.card import Action, Gate, Values
from mlsys_widgets.cards.moves import Move
from mlsys_widgets.cards.parts import (
    CONFIDENCES,
    Buttons,
    Confidence,
    Options,
    Part,
    Prose,
    SealedAnswer,
    TextBox,
)
from mlsys_widgets.cards.reveal import Judge, Reveal, Source
from mlsys_widgets.cards.task import ItemTask, ShortForm
from mlsys_widgets.cards.worked_numbers import Worked
from mlsys_widgets.drawing import markup
from mlsys_widgets.instruments.predicted import Predicted
from mlsys_widgets.labs import Prediction, execution
from mlsys_widgets.labs.prediction import USUAL_TITLE
from mlsys_widgets.ledger import AlreadyCommitted, CommittedPrediction, Ledger
from mlsys_widgets.ledger.values import LONGEST_NAME
from mlsys_widgets.wording.distance import Distance


class PredictionLock(ItemTask):
    """A question to answer before anything is shown.

    Instruments made with ``lock=`` this one show a locked card until it is committed, and open at
    that moment. A prediction is committed once: what the ledger holds stands, in every kernel.

    Parameters
    ----------
    question_id
        The name under which the ledger keeps the prediction.
    item
        What is asked; if omitted, it is made from ``fields``.
    ledger
        Where it is kept.
    after
        A gate, or several, that must be open before the question is asked.
    **fields
        The fields of `labs.Prediction`: ``question``, ``options``, ``values``, ``unit``, ``low``,
        ``high``, ``title``.

    Examples
    --------
    >>> led = Ledger.open(folder / "ledger.jsonl", lab="lab_07", student="student-01")
    >>> lock = PredictionLock(
    ...     "images",
    ...     question="After how many images does compiling pay off?",
    ...     unit="images",
    ...     ledger=led,
    ... )
    >>> lock.is_open
    False
    >>> lock.commit("130k", confidence=3).value
    130000.0
    >>> lock.is_open, led.state().predictions["images"].confidence
    (True, 3)
    """

    kind = "Prediction"
    tone = "prediction"

    def __init__(
        self,
        question_id: str,
        item: Prediction | None = None,
        *,
        ledger: Ledger,
        after: Gate | Iterable[Gate] = (),
        **fields: Any,
    ) -> None:
        self.item = Prediction(**fields) if item is None else item
        super().__init__(question_id, self.item, self.item.title, ledger=ledger, after=after)
        self._proposed: tuple[str | float, int] | None = None
        self.refresh()

    # What it is.

    @property
    def question(self) -> str:
        return markup.plain(self.item.question)

    @property
    def to_open(self) -> str:
        if self.title != USUAL_TITLE:
            return f"commit your prediction, “{markup.plain(self.title)}”"
        return f"commit your prediction: “{markup.question_in(self.question)}”"

    @property
    def called(self) -> str:
        """Its title, or the question, cut short if it is long, when the title is the usual one."""
        if self.title != USUAL_TITLE:
            return super().called
        return f"{self.kind}: {shorten(self.question, 80, placeholder=' …')}"

    @property
    def prediction(self) -> CommittedPrediction | None:
        """The commitment, with confidence and time; `None` before that."""
        return self._state.predictions.get(self.task_id) if self._state else None

    @property
    def value(self) -> Any:
        """The committed key of an option, or number in SI units."""
        return self.prediction.value if self.prediction else None

    @property
    def words(self) -> str | None:
        """The prediction as people read it, for a design that hands it on; `None` before that."""
        return None if self.prediction is None else self.in_words(self.value)

    @property
    def confidence(self) -> int | None:
        """How sure the student was, from 1 to 5."""
        return self.prediction.confidence if self.prediction else None

    @property
    def number(self) -> float | None:
        """The number that was predicted, even if an option stands for it."""
        return self.item.number(self.value)

    @property
    def predicted(self) -> Predicted | None:
        if self.prediction is None:
            return None
        item = self.item
        return Predicted(self.in_words(self.value), self.number, item.quantity, item.settings)

    @property
    def options(self) -> dict[str, str]:
        """The options; empty if a number is asked for."""
        return dict(self.item.options or {})

    def _needs(self) -> tuple[str, ...]:
        return (self.task_id,)

    @property
    def unsettled(self) -> bool:
        # Sealed, it is settled, before the card has forgotten the proposal.
        return self._proposed is not None and self.prediction is None

    def in_words(self, value: Any) -> str:
        """A prediction as people read it."""
        return markup.plain(self.item.in_words(value))

    # What is done with it.

    def propose(self, value: Any, confidence: Any) -> None:
        """Propose what to commit; `confirm` seals it, `reconsider` takes it back.

        Raises
        ------
        ValueError
            With a sentence that says what is missing or what is allowed.
        """
        self._need_gates()
        self._refuse_second()
        self._proposed = (self.item.read(value), _confidence(confidence))
        self.show()

    def reconsider(self) -> None:
        """Go back from the confirmation to the question; nothing entered is lost."""
        self._proposed = None
        self.show()

    def confirm(self) -> CommittedPrediction:
        """Seal what was proposed.

        Raises
        ------
        AlreadyCommitted
            When another kernel committed it in the meantime; the card shows what stands.
        NotSaved
            When the ledger could not be written: the lock stays closed.
        """
        if self._proposed is None:
            raise ValueError("nothing is proposed yet; choose an answer and a confidence first")
        value, confidence = self._proposed
        # For the Lab panel, which knows no options; their words differ from student to student.
        words = shorten(self.in_words(value), LONGEST_NAME, placeholder=" …")
        try:
            sealed = self._save(
                lambda: self._ledger.commit_prediction(
                    self.task_id, value, confidence, words=words or None
                )
            )
        except AlreadyCommitted:
            self._proposed = None
            self.refresh()
            raise
        self._proposed = None
        self.show()
        return sealed

    def commit(self, value: Any, confidence: int) -> CommittedPrediction:
        """Propose and confirm in one step. Repeating it changes nothing.

        Parameters
        ----------
        value
            The key of an option, a number in SI units, or text such as ``"33%"`` and ``"134k"``.
        confidence
            From 1, a guess, to 5, certain.
        """
        standing = self.prediction
        if standing and (self.item.read(value), _confidence(confidence)) == standing[:2]:
            return standing
        self.propose(value, confidence)
        return self.confirm()

    def reveal(
        self,
        *,
        model: Source | Mapping[str, Source] | None = None,
        measured: Source | None = None,
        judged_by: Judge = "measurement",
        answer: str | None = None,
        unit: str | None = None,
        distance: Distance | None = None,
        feedback: Mapping[str, str] | None = None,
        where: str = "",
        title: str = "What you expected, and what happened",
        digits: int | None = None,
        worked: Worked | Callable[[], Worked] | None = None,
        contrast: Worked | Callable[[], Worked] | None = None,
        moves: Sequence[Move] = (),
        waits: bool = False,
    ) -> Reveal:
        """Compare the prediction with the model and the measurement; display what this returns.

        Until the prediction is committed, nothing of it is shown or sent to the browser.

        Parameters
        ----------
        model, measured
            The values, in SI units, or functions that return them when they are shown. A model
            with several forms has a value for each: ``{"Textbook": …, "Calibrated": …}``.
        judged_by
            ``"measurement"``, which is the result wherever there is one, or ``"model"``, if the
            question is about a case that the model computes and the measurement is of another.
        answer
            The option that is right, where options do not stand for numbers.
        unit
            The unit; that of the question if omitted.
        distance
            ``"points"``, ``"times"``, ``"orders"`` or ``"difference"``: the terms of the question.
        feedback
            A sentence for each option; for a number, for ``"low"``, ``"close"`` and ``"high"``.
        where
            Where the measurement was taken.
        title
            The heading.
        digits
            How many digits of model and measurement are known; as many as fit if omitted.
        worked
            The numbers behind the comparison: ``{"Intensity": (31.5, "FLOP/B"), …}``, or a result
            of physics, which brings its formulas.
        contrast
            The same of a second case: ``{"GPT-2": (0.92, "%")}``.
        moves
            What to try on the instruments before the comparison opens. Nobody is asked for them
            while nbgrader grades or validates.
        waits
            Whether the comparison waits for its button, also in a cell that is run after
            everything else; once it was pressed, the ledger keeps that.
        """
        return Reveal(
            self,
            model=model,
            measured=measured,
            judged_by=judged_by,
            answer=answer,
            unit=self.item.unit if unit is None else unit,
            distance=distance,
            feedback=feedback or {},
            where=where,
            title=title,
            digits=digits,
            worked=worked,
            contrast=contrast,
            moves=moves if execution() == "student" else (),
            waits=waits and execution() == "student",
            ledger=self._ledger,
        )

    def _refuse_second(self) -> None:
        if standing := self.prediction:
            raise AlreadyCommitted(
                f"{self.task_id} is sealed as {self.in_words(standing.value)!r}; a prediction is"
                " committed once, so that one stands",
                standing,
            )

    # What is seen.

    def actions(self) -> Mapping[str, Action]:
        return {"propose": self._on_propose, "confirm": self._on_confirm, "change": self._on_change}

    def _on_propose(self, values: Values) -> None:
        self.propose(values.get("answer"), values.get("confidence"))
        self._say(f"{self._proposal()} Seal it or change it.", focus="confirm")

    def _on_confirm(self, values: Values) -> None:
        if self._proposed is None:  # the kernel was restarted while the question was open
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
        standing, proposed = self.prediction, self._proposed
        if standing:
            sure = f", confidence {standing.confidence} of 5" if standing.confidence else ""
            words = f"Sealed: **{self.in_words(standing.value)}**{sure}"
            return [
                self._asking(standing.value, True),
                SealedAnswer("sealed", words, standing.time),
            ]
        if proposed:
            caution = "Once sealed, it cannot be changed, and the instruments open."
            return [
                self._asking(proposed[0], True),
                Confidence("confidence", proposed[1], disabled=True),
                Prose("proposal", f"{self._proposal()} {caution}", tone="orange"),
                Buttons("confirm", (("confirm", "Seal it"), ("change", "Change it"))),
            ]
        return [
            self._asking(None, False),
            Confidence("confidence"),
            Buttons("propose", (("propose", "Commit my prediction…"),)),
        ]

    def fold(self) -> ShortForm | None:
        return ShortForm(("sealed",), "Show the question") if self.prediction else None

    def _asking(self, value: Any, disabled: bool) -> Part:
        item = self.item
        if item.options is not None:
            known = value if value in item.options else None
            return Options(
                "answer", item.question, item.options, known, disabled=disabled, lettered=True
            )
        shown = "" if value is None else self.in_words(value)
        hint = f"{item.hint[0].upper()}{item.hint[1:]}."
        scale = () if disabled else item.scale
        return TextBox("answer", item.question, hint, shown, disabled=disabled, scale=scale)


def _confidence(value: Any) -> int:
    if value in (None, ""):
        raise ValueError("Choose a confidence first: how sure are you, from 1 to 5?")
    try:
        sure = int(value)
    except (TypeError, ValueError):
        sure = 0
    if sure not in CONFIDENCES or isinstance(value, bool | float):
        raise ValueError(f"The confidence is {value!r}; it must be a whole number from 1 to 5.")
    return sure
