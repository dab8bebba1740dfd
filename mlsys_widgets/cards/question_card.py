"""A graded question, with this student's numbers and the box or the options to answer it.

What is recorded can be changed until the lab is handed in; the ledger keeps the history. The card
says that an answer is recorded, never that it is right, except in practice. What is wrong with the
form of an answer (a unit, a power of ten) is said at once, but only a few times per question:
nobody finds a key by trying.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from mlsys_widgets.cards.card import Action, Gate, Values
from mlsys_widgets.cards.parts import (
    Buttons,
    FoldedProse,
    Options,
    Part,
    Prose,
    RecordedAnswer,
    Rows,
    TextArea,
    TextBox,
    in_points,
    worth,
)
from mlsys_widgets.cards.practice_parts import Practice, told
from mlsys_widgets.cards.task import ItemTask, ShortForm
from mlsys_widgets.cards.told_parts import SECOND, STANDS, chance_words, told_parts
from mlsys_widgets.judging import Verdict
from mlsys_widgets.labs import Choice, Code, Essay, Number, Parameters
from mlsys_widgets.labs.answer_units import comma_note, short_number
from mlsys_widgets.labs.asked import Asked, Checked, is_usable
from mlsys_widgets.labs.attempts import Attempts, answer_name, begun_name
from mlsys_widgets.labs.practice import Mastery, ideas_name, judged_name
from mlsys_widgets.labs.told import Told, ToldQuestion
from mlsys_widgets.ledger import Answer, Ledger

#: What stays in sight once an answer is recorded, and judged in practice.
STAYS: Final = ("recorded", "verdict", "solution", "again", "no-more")
#: How many errors of form are pointed out for one question.
MOST_HINTS: Final = 3


class QuestionCard(ItemTask):
    """A graded question that is answered in its card, or from code.

    Parameters
    ----------
    name
        The name of the answer.
    item
        What is asked.
    ledger
        Where the answer is kept.
    attempts
        What is asked if the question is asked again.
    practice
        What judges each answer as soon as it is recorded; nothing in an assignment.
    told
        Returns what the student was told about the lab.
    after
        A gate, or several, that must be open first.

    Examples
    --------
    >>> led = Ledger.open(folder / "ledger.jsonl", lab="lab_07", student="student-01")
    >>> busy = Number("How busy is the GPU?", "percent", points=5, low=1, high=100)
    >>> card = QuestionCard("busy_pct", busy, ledger=led)
    >>> card.record("33%")
    33.0
    >>> led.state().answers["busy_pct"].value
    33.0
    """

    kind = "Question"
    tone = "prediction"
    record_action = "record"

    def __init__(
        self,
        name: str,
        item: Asked,
        *,
        ledger: Ledger,
        attempts: Attempts | None = None,
        practice: Practice | None = None,
        told: Callable[[], Told | None] = lambda: None,
        after: Gate | Iterable[Gate] = (),
    ) -> None:
        self._practice = practice
        super().__init__(name, item, "", ledger=ledger, after=after)
        self.item = item
        #: The attempt that is shown; 0 is the first.
        self.attempt = 0
        self._attempts, self._report = attempts, told
        self._note = ""
        self._verdicts: dict[tuple[str, Any], Verdict] = {}
        self._judging = False
        #: What is said once the lab has no other numbers.
        self._no_more = ""
        self.refresh()

    def _aside(self) -> str:
        """What it is worth; in practice, how well it is mastered."""
        if self._practice is None:
            return worth(self.item)
        if isinstance(self.item, Essay):
            return ""
        known = Mastery.by_item(self._state.answers if self._state else {})
        return known.get(self.task_id, Mastery()).words

    # Attempts.

    @property
    def answer_name(self) -> str:
        """The name under which the ledger keeps the answer of the attempt that is shown."""
        return answer_name(self.task_id, self.attempt)

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return (self.answer_name,)

    def _record(self) -> dict[str, Any]:
        found = super()._record()
        # Drafts belong to an attempt.
        return {**found, "item": {**found["item"], "id": self.answer_name}}

    def ask_again(self) -> bool:
        """Ask the question on new numbers, as the next attempt; the ledger knows that it is begun.

        Returns
        -------
        asked
            Whether the lab has other numbers for it; if not, everything stays as it is.

        Raises
        ------
        ValueError
            When this attempt is not answered yet.
        NotSaved
            When the ledger could not be written.
        """
        shown = self.attempt
        self.refresh()
        if self.attempt != shown:
            return True  # another window has begun one already
        if self.answer is None:
            raise ValueError("Answer this one first; then you can have another one.")
        following = shown + 1
        if self._attempts is None or self._attempts.at(self.task_id, following) is None:
            return False
        begun = begun_name(self.task_id)
        self._note = self._no_more = ""
        self._save(lambda: self._ledger.record_answer(begun, following))
        self.show()
        return True

    # What was told.

    @property
    def told(self) -> ToldQuestion | None:
        """What the student was told about the question when it was handed in."""
        report = self._report()
        return report.questions.get(self.task_id) if report else None

    @property
    def is_final(self) -> bool:
        """Whether what is shown was told about, so that its answer stands."""
        told = self.told
        return told is not None and (self.attempt == 0 or told.second_answer is not None)

    def _on_second(self, _values: Values) -> None:
        told, report = self.told, self._report()
        if told is None or report is None or self.attempt or not report.can_take_again(told):
            raise ValueError("This question cannot be taken again.")
        if not self.ask_again():
            raise ValueError("The lab has no other numbers for this question.")
        self._say("The same question, with other numbers.", focus="answer")

    def show(self) -> None:
        self._turn_to_last_begun()
        self.aside = self._aside()
        self.title = f"{self.item.title} ({self.aside})" if self.aside else self.item.title
        super().show()

    def _turn_to_last_begun(self) -> None:
        begun = self._state.answers.get(begun_name(self.task_id)) if self._state else None
        told = self.told
        # What was told about a second answer is shown below its question, whatever the ledger has.
        second = told is not None and told.second_answer is not None
        number = 1 if second else begun.value if begun else 0
        if self._attempts is None or number == self.attempt:
            return
        asked = self._attempts.at(self.task_id, number) if _is_attempt(number) else None
        if asked is None:
            return  # of another edition, which had more numbers
        assert isinstance(asked.item, Asked)
        # What is deeper is for the course to say, and the same in every attempt.
        self.item = replace(asked.item, deeper=self.item.deeper)
        self.attempt = number

    @property
    def to_open(self) -> str:
        wanted = self.item.limits.wanted if isinstance(self.item, Essay) else ""
        return f"answer “{self.item.title}”" + (f" in {wanted}" if wanted else "")

    @property
    def called(self) -> str:
        return f"Answer: {self.item.title}"

    @property
    def answer(self) -> Answer | None:
        """The recorded answer, with those before it; `None` before that.

        What the question cannot have, as of another edition of the lab, is asked again.
        """
        kept = self._state.answers.get(self.answer_name) if self._state else None
        return kept if kept is not None and is_usable(self.item, kept.value) else None

    def record(self, value: Any) -> Any:
        """Record an answer: what was typed as text, a number, or the key of an option.

        Returns
        -------
        answer
            The answer as the ledger keeps it.

        Raises
        ------
        UnusableAnswer
            With a sentence that says what to enter instead. The answer before it still stands.
        NotSaved
            When the ledger could not be written.
        """
        self._need_gates()
        if self.is_final:
            raise ValueError(STANDS)
        answer = self.item.read(value)
        self._note = comma_note(value) if isinstance(value, str) else ""
        self._write(answer)
        return answer

    def record_from_code(self, value: Any) -> Any:
        """Record what code computed, unless it was recorded before and changed in the card since.

        Code runs again with every *Run All*. What it computed before must not undo what was typed
        afterward; what counts is what the card shows. The gates before the question are for
        reading it: whoever writes code has read it. Code has the numbers of the first attempt.
        """
        if self.told is not None:
            return self.item.read(value)  # what code computes now changes nothing any more
        if self.attempt:
            raise ValueError(
                "The card asks it again with other numbers, which code does not have; answer it"
                " in the card."
            )
        answer = self.item.read(value)
        assert self._state is not None
        before = self._state.answers.get(f"code.{self.task_id}")
        if before is None or before.value != answer or self.answer is None:
            self._save(lambda: self._ledger.record_answer(f"code.{self.task_id}", answer))
            self._note = ""
            self._write(answer)
        return answer

    def _write(self, answer: Any) -> None:
        unit = self.item.unit
        # The attempt that was answered, even if another window begins one meanwhile.
        name = self.answer_name
        # A function may take a while, and what it said before is of another one.
        self._judging = self._practice is not None and isinstance(self.item, Code)
        try:
            self._save(lambda: self._ledger.record_answer(name, answer, unit=unit))
            if self._judging:
                self._judged(answer)
        finally:
            self._judging = False
        told = self._told()
        # In practice the verdict says more.
        early = self._practice is None and self.item.form_error(answer)
        if early and answer not in told and len(told) < MOST_HINTS:
            self._save(lambda: self._ledger.record_answer(f"early.{name}", answer))
        if self._practice is not None and isinstance(self.item, Checked):
            self._keep_verdict(name, answer)
        self.show()

    # Practice.

    @property
    def _given(self) -> Parameters:
        """The numbers of the attempt that is shown."""
        asked = self._attempts.at(self.task_id, self.attempt) if self._attempts else None
        assert asked is not None
        return asked.p

    def _judged(self, answer: Any) -> Verdict:
        """Judge an answer of the attempt that is shown, once."""
        assert self._practice is not None
        assert isinstance(self.item, Checked)
        place = self.answer_name, answer
        if place not in self._verdicts:
            verdict = self._practice.judged(self.task_id, self.item, self._given, answer)
            self._verdicts[place] = verdict
        return self._verdicts[place]

    def _keep_verdict(self, name: str, answer: Any) -> None:
        """Have the ledger say whether an answer is right, and what it was about."""
        assert self._practice is not None
        right, ideas = self._judged(answer).right, self._practice.ideas(self.task_id, self._given)
        if ideas:
            self._save(lambda: self._ledger.record_answer(ideas_name(name), ideas))
        self._save(lambda: self._ledger.record_answer(judged_name(name), right))

    def _verdict(self, answer: Any) -> Verdict:
        """The verdict on what is recorded; opening a notebook calls no function for it."""
        if not isinstance(self.item, Code) or (self.answer_name, answer) in self._verdicts:
            return self._judged(answer)
        kept = self._state.answers.get(judged_name(self.answer_name)) if self._state else None
        right = kept is not None and kept.value is True
        return Verdict(float(right), "Record it again to see what it returns.")

    def _practiced(self, standing: Answer) -> list[Part]:
        if self._practice is None or not isinstance(self.item, Checked):
            return []
        if self._judging:
            return [Prose("verdict", "It is being judged.", quiet=True)]
        answer, verdict = standing.value, self._verdict(standing.value)
        solution = self._practice.solution(self.task_id, self.item, self._given, answer, verdict)
        return told(verdict, solution, self._no_more)

    def _on_another(self, _values: Values) -> None:
        if self.ask_again():
            self._say("Another one, with other numbers.", focus="answer")
            return
        self._no_more = "The lab has no other numbers for this question: you have seen them all."
        self._say(self._no_more, focus="no-more")

    # What is pointed out.

    def _told(self) -> list[Any]:
        """The answers whose form was pointed out as wrong."""
        told = self._state.answers.get(f"early.{self.answer_name}") if self._state else None
        return [each.value for each in (told, *told.earlier)] if told else []

    @property
    def form_error(self) -> str | None:
        """The error in the form of the recorded answer, if it was pointed out."""
        if self.answer is None or self.answer.value not in self._told():
            return None
        return self.item.form_error(self.answer.value)

    # What is seen.

    def actions(self) -> Mapping[str, Action]:
        again = {"another": self._on_another} if self._practice is not None else {}
        return {"record": self._on_record, SECOND: self._on_second, **again}

    def _on_record(self, values: Values) -> None:
        before = self.answer
        try:
            self.record(values.get("answer"))
        except ValueError as reason:
            if before is None:
                raise
            stands = f"Your earlier answer, {self.item.in_words(before.value)}, still stands."
            raise ValueError(f"{reason} {stands}") from None
        length = self._length_problem() or ()
        hints = [self.form_error or "", *length]
        assert self.answer is not None
        hints += [part.text() for part in self._practiced(self.answer)[:1]]
        self._say(" ".join(("Recorded.", *filter(None, hints))), focus="recorded")

    def _length_problem(self) -> tuple[str, str] | None:
        """What is wrong with the length of a recorded text, as a label and a sentence."""
        if not isinstance(self.item, Essay) or self.answer is None:
            return None
        return self.item.limits.problem(self.answer.value)

    def parts(self) -> Sequence[Part]:
        standing, told, report = self.answer, self.told, self._report()
        # A solution is followed beside its question, which stays in sight in practice.
        small = self._practice is not None and standing is not None
        parts: list[Part] = [Prose("ask", self.item.ask, quiet=small)]
        if told and report and self.is_final:
            assert isinstance(self._item, Asked)
            return [*parts, *told_parts(self._item, told, report)]
        if told and report:
            parts.insert(0, Prose("chance", chance_words(report), label="Second chance."))
        if isinstance(self.item, Essay):
            parts += self._rubric(self.item)
        if not isinstance(self.item, Essay) and (words := self.item.worked_example):
            parts.append(FoldedProse("example", words, heading="Stuck? A worked example"))
        parts.append(self._asking(standing))
        label = "Record my answer" if standing is None else "Record the change"
        parts.append(Buttons("send", (("record", label),)))
        if standing is None:
            return parts
        parts.append(RecordedAnswer("recorded", self._recorded(standing), standing.time))
        parts += self._practiced(standing)
        until = "and hand in again" if self.handed_in else "until you hand in"
        if self._practice is not None:
            until = "as often as you like"
        parts.append(Prose("until", f"You can change it {until}.", quiet=True))
        if hint := self.form_error:
            parts.append(Prose("form", hint, label="Look again.", tone="orange"))
        if length := self._length_problem():
            label, words = length
            parts.append(Prose("length", words, label=label, tone="orange"))
        if self._note:
            parts.append(Prose("note", self._note, quiet=True))
        return parts

    def _rubric(self, essay: Essay) -> list[Part]:
        read = "A person reads it and gives points for this:"
        to_oneself = essay.deeper or self._practice is not None
        if to_oneself:
            read = "Nobody grades it; hold it against this yourself:"
        rows = tuple(
            ("•" if to_oneself else in_points(points), words) for points, words in essay.rubric
        )
        return [Prose("read", read, quiet=True), Rows("rubric", rows)]

    def _recorded(self, standing: Answer) -> str:
        assert self._state is not None
        computed = self._state.answers.get(f"code.{self.answer_name}")
        by_code = computed is not None and computed.value == standing.value
        source = ", from your code" if by_code else ""
        return f"Recorded: **{self.item.in_words(standing.value)}**{source}"

    def fold(self) -> ShortForm | None:
        short = self.answer and not self.is_final
        asked = ("ask",) if self._practice is not None else ()
        return ShortForm((*asked, *STAYS, "form", "length", "note")) if short else None

    def _asking(self, standing: Answer | None) -> Part:
        item, value = self.item, standing.value if standing else None
        match item:
            case Choice():
                known = value if value in item.options else None
                return Options("answer", "Your answer", item.options, known)
            case Essay():
                return TextArea.within(item.limits, "answer", "Your answer", value or "")
        assert isinstance(item, Number)  # a function has a card of its own
        shown = "" if value is None else short_number(value)
        return TextBox("answer", "Your answer", f"Enter {item.wanted}.", shown)


def _is_attempt(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0
