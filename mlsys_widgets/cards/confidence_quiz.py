"""Questions with a confidence each, and the plot of confidence against correctness."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import ipywidgets

from mlsys_widgets.cards.calibration import JudgedAnswer, calibration, calibration_in_words
from mlsys_widgets.cards.card import Action, Gate, Values
from mlsys_widgets.cards.card_plots import CardPlots
from mlsys_widgets.cards.parts import (
    CONFIDENCES,
    Buttons,
    Confidence,
    Numbers,
    Options,
    Part,
    Prose,
)
from mlsys_widgets.cards.task import ItemTask, ShortForm
from mlsys_widgets.drawing import markup, picture
from mlsys_widgets.labs import Question, Quiz
from mlsys_widgets.labs.quiz import confidence_box
from mlsys_widgets.ledger import Answer, Ledger
from mlsys_widgets.wording.choices import one_of


class ConfidenceQuiz(ItemTask):
    """Questions to answer with a confidence each; then feedback, and how well the two agree.

    Each question is answered once. The first answer counts, because otherwise the confidence would
    teach nothing. So the card says what becomes final and asks before it locks.

    Parameters
    ----------
    quiz_id
        The name of the quiz; `Quiz.ledger_names` says what the ledger calls its answers.
    questions
        A quiz, or its questions.
    ledger
        Where it is kept.
    feedback
        After all questions (``"all"``), or after each (``"each"``).
    after
        A gate, or several, that must be open first.
    title
        The heading.

    Examples
    --------
    >>> led = Ledger.open(folder / "ledger.jsonl", lab="review", student="student-01")
    >>> from mlsys_widgets import Question
    >>> relu = Question("relu", "What limits ReLU?", {"m": "memory", "c": "compute"}, right="m")
    >>> quiz = ConfidenceQuiz("phase1", [relu], ledger=led)
    >>> quiz.answer({"relu": ("m", 4)})
    >>> quiz.score, quiz.is_open
    ((1, 1), True)
    """

    kind = "Quiz"
    tone = "purple"

    def __init__(
        self,
        quiz_id: str,
        questions: Quiz | Iterable[Question],
        *,
        ledger: Ledger,
        feedback: Literal["all", "each"] = "all",
        after: Gate | Iterable[Gate] = (),
        title: str = Quiz.title,
    ) -> None:
        if not isinstance(questions, Quiz):
            each = one_of("feedback", feedback, ("all", "each")) == "each"
            questions = Quiz(tuple(questions), each, title)
        super().__init__(quiz_id, questions, questions.title, ledger=ledger, after=after)
        self._each = questions.each
        self._questions = {question.key: question for question in questions.questions}
        self._names = dict(zip(self._questions, questions.ledger_names(quiz_id), strict=True))
        self._plots = CardPlots()
        #: The questions that a student is about to lock, while the card asks.
        self._to_lock: tuple[str, ...] = ()
        self.refresh()

    @property
    def chance(self) -> float:
        """The fraction of the questions that guessing gets right."""
        shares = [1 / len(question.options) for question in self._questions.values()]
        return sum(shares) / len(shares)

    @property
    def answers(self) -> dict[str, Answer]:
        """The first answer to each question."""
        kept = self._state.answers if self._state else {}
        found = {key: kept.get(name) for key, name in self._names.items()}
        return {key: (a.earlier or (a,))[0] for key, a in found.items() if a is not None}

    @property
    def judged(self) -> list[JudgedAnswer]:
        """Confidence and correctness of what was answered."""
        return [
            (answer.confidence or CONFIDENCES[0], answer.value == self._questions[key].right)
            for key, answer in self.answers.items()
        ]

    @property
    def score(self) -> tuple[int, int]:
        """How many answers are right, and how many were given."""
        return sum(good for _, good in self.judged), len(self.judged)

    def answer(self, answers: Mapping[str, tuple[str | None, int | None]]) -> None:
        """Answer questions: an option and a confidence for each.

        If feedback comes after all questions, all open ones must be answered together.

        Raises
        ------
        ValueError
            With a sentence that says what is missing, or what was already answered.
        NotSaved
            When the ledger could not be written. What was saved before that stays saved.
        """
        wanted = self._answerable(answers)

        def write() -> None:
            for key in wanted:
                option, sure = answers[key]
                self._ledger.record_answer(self._names[key], option, confidence=sure)

        if wanted:
            self._save(write)
        self.show()

    def _answerable(self, answers: Mapping[str, tuple[str | None, int | None]]) -> list[str]:
        """Return the questions that these answers would lock, or refuse them with a sentence."""
        self._need_gates()
        for key in answers:
            one_of("question", key, tuple(self._questions))
        before = self.answers
        wanted = [key for key in self._questions if key not in before]
        wanted = [key for key in wanted if key in answers] if self._each else wanted
        missing = []
        for key, (option, sure) in answers.items():
            first = before.get(key)
            if first and (option, sure) != (first.value, first.confidence):
                raise ValueError(
                    f"{self._number(key)} is already answered, and the first answer counts"
                )
        for key in wanted:
            given, sureness = answers.get(key, (None, None))
            lacks = [
                word
                for word, there in (
                    ("an answer", given in self._questions[key].options),
                    ("a confidence", sureness in CONFIDENCES),
                )
                if not there
            ]
            if lacks:
                missing.append(f"{self._number(key)} ({' and '.join(lacks)})")
        if missing:
            raise ValueError(f"Still missing: {', '.join(missing)}.")
        return wanted

    def _number(self, key: str) -> str:
        return f"question {list(self._questions).index(key) + 1}"

    def actions(self) -> Mapping[str, Action]:
        one = {f"answer-{key}": self._asks((key,)) for key in self._questions}
        every = self._asks(tuple(self._questions))
        return {"answer": every, **one, "lock": self._on_lock, "back": self._on_back}

    def _asks(self, keys: tuple[str, ...]) -> Action:
        def on_answer(values: Values) -> None:
            self._to_lock = ()
            self._to_lock = tuple(self._answerable(self._given(keys, values)))
            # The words, not a button: whoever presses Enter twice has locked nothing.
            self._say(self._becomes_final(), focus="confirm")

        return on_answer

    def _given(self, keys: Iterable[str], values: Values) -> dict[str, tuple[Any, Any]]:
        """What stands in the boxes of questions that are still open."""
        given: dict[str, tuple[Any, Any]] = {}
        for key in keys:
            if key not in self.answers:
                sure = values.get(confidence_box(key))
                given[key] = (values.get(key), int(sure) if sure else None)
        return given

    def _on_lock(self, values: Values) -> None:
        keys = self._to_lock
        self.answer(self._given(keys, values))
        self._to_lock = ()
        if keys:
            self._say(self._outcome(keys), focus=f"{keys[0]}-feedback")

    def _on_back(self, _values: Values) -> None:
        first, self._to_lock = self._to_lock[:1], ()
        self._say("Nothing is locked.", focus=first[0] if first else "")

    def _becomes_final(self) -> str:
        if len(self._to_lock) == 1:
            what = f"Your answer to {self._number(self._to_lock[0])} and how sure you are become"
        else:
            what = f"Your {len(self._to_lock)} answers and how sure you are of each become"
        return f"{what} final, because the first answer counts. Then you see what is right."

    def _confirmation(self) -> list[Part]:
        buttons = (("lock", "Lock it in"), ("back", "Not yet"))
        return [
            Prose("confirm", self._becomes_final(), label="Lock it in?", tone="purple"),
            Buttons("confirm-send", buttons),
        ]

    def _outcome(self, keys: tuple[str, ...]) -> str:
        if self.is_open:
            return calibration_in_words(self.judged, self.chance)
        return " ".join(part.text() for key in keys for part in self._feedback(key))

    def parts(self) -> Sequence[Part]:
        answers, parts = self.answers, list[Part]()
        for k, (key, question) in enumerate(self._questions.items(), 1):
            given = answers.get(key)
            value = given.value if given and given.value in question.options else None
            parts.append(
                Options(key, f"**{k}.** {question.words}", question.options, value,
                        disabled=given is not None)
            )  # fmt: skip
            sure = given.confidence if given else None
            parts.append(Confidence(confidence_box(key), sure, given is not None, f"question {k}"))
            if given is not None and (self._each or self.is_open):
                parts += self._feedback(key)
            elif self._each and self._to_lock == (key,):
                parts += self._confirmation()
            elif self._each:
                button = (f"answer-{key}", f"Answer question {k}")
                parts.append(Buttons(f"{key}-send", (button,)))
        if self.is_open:
            right, count = self.score
            words = calibration_in_words(self.judged, self.chance)
            plot = (
                "The plot shows what fraction you got right at each confidence. The dashed line is"
                " where somebody with perfect judgment would be."
            )
            parts += [
                Numbers("score", (("Right", f"{right} of {count}", "green", ""),)),
                Prose("calibration", words, tone="purple"),
                Prose("plot", plot, quiet=True),
            ]
        elif not self._each and self._to_lock:
            parts += self._confirmation()
        elif not self._each:
            parts.append(Buttons("send", (("answer", "Check my answers"),)))
        return parts

    def _feedback(self, key: str) -> list[Part]:
        question, answer = self._questions[key], self.answers[key]
        good = answer.value == question.right
        words = " ".join(w for w in (question.feedback.get(answer.value, ""), question.why) if w)
        if not good and not words:
            words = f"The answer is: {question.options[question.right]}."
        label, tone = ("Right.", "green") if good else ("Not this one.", "orange")
        return [Prose(f"{key}-feedback", words, tone=tone, label=label)]

    def fold(self) -> ShortForm | None:
        """Each question with what was chosen and what is right, once all are told."""
        if not self.is_open:
            return None
        told = [name for key in self._questions for name in (key, f"{key}-feedback")]
        return ShortForm((*told, "score", "calibration", "plot"), "Show all options")

    # The plot.

    @property
    def _is_plotted(self) -> bool:
        return self.is_open and self.blocked_by is None

    def below(self) -> tuple[ipywidgets.Widget, ...]:
        if not self._is_plotted:
            return ()
        return (self._plots.figure("calibration", calibration(self.judged, self.chance)),)

    def figure_words(self) -> str:
        if not self._is_plotted:
            return ""
        return f"Confidence and correctness. {calibration_in_words(self.judged, self.chance)}"

    def figure(self) -> str:
        """The plot as SVG.

        Raises
        ------
        ValueError
            While questions are open: there is nothing to plot yet.
        """
        if not self.is_open:
            raise ValueError("There is no plot yet: answer all questions first.")
        title = f"{markup.plain(self.title)} {calibration_in_words(self.judged, self.chance)}"
        return picture.svg((calibration(self.judged, self.chance),), title)

    def picture_below(self) -> str:
        return self.figure() if self.is_open else ""
