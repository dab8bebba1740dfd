"""A lab as its notebook uses it: one object that knows whose it is and shows what is asked.

Cells of a lab stay one line long: ``lab.card("act1_utilization")`` shows the message, prediction,
reflection or other item with that id; ``lab.reveal`` compares a prediction with the model;
``lab.answer`` records what code computed, and ``lab.answered`` returns what is recorded.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mlsys_widgets import labs
from mlsys_widgets.cards import announcements
from mlsys_widgets.cards.code_card import CodeCard
from mlsys_widgets.cards.confidence_quiz import ConfidenceQuiz
from mlsys_widgets.cards.design_entry import DesignEntry
from mlsys_widgets.cards.handed_in_line import covered_by
from mlsys_widgets.cards.lab_hud import LabHUD
from mlsys_widgets.cards.math_peek import MathPeek
from mlsys_widgets.cards.moves import Move
from mlsys_widgets.cards.myth_buster import MythBuster
from mlsys_widgets.cards.practice_parts import Practice, known_elsewhere
from mlsys_widgets.cards.prediction_lock import PredictionLock
from mlsys_widgets.cards.question_card import QuestionCard
from mlsys_widgets.cards.record_card import RecordCard
from mlsys_widgets.cards.reflection import Reflection
from mlsys_widgets.cards.reveal import Reveal, Source
from mlsys_widgets.cards.self_assessment import SelfAssessment
from mlsys_widgets.cards.settings_keeper import keep_settings
from mlsys_widgets.cards.story import ContextToggle, KeyTakeaways, Scenario
from mlsys_widgets.cards.told_parts import ToldFile
from mlsys_widgets.cards.welcome import Welcome
from mlsys_widgets.files import LEDGER
from mlsys_widgets.instruments.instrument import Instrument
from mlsys_widgets.instruments.moving_picture import MovingPicture
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import Item, UnusableAnswer, execution
from mlsys_widgets.labs.answers import print_sentence
from mlsys_widgets.labs.asked import Asked, is_usable
from mlsys_widgets.labs.attempts import Attempts
from mlsys_widgets.labs.deeper import DeeperParts, as_counted
from mlsys_widgets.labs.identity import is_instructors
from mlsys_widgets.labs.items import DESIGN
from mlsys_widgets.labs.lab import points_of
from mlsys_widgets.labs.lab_minutes import LabMinutes
from mlsys_widgets.labs.opening import must_open
from mlsys_widgets.labs.practice import ELSEWHERE, PRACTICE, WAY, Way, is_practice
from mlsys_widgets.labs.prediction import USUAL_TITLE
from mlsys_widgets.labs.student_steps import (
    WHOLE_LAB,
    StepProgress,
    StudentStep,
    core_of,
    progress,
    saved_progress,
    steps_of,
)
from mlsys_widgets.labs.working_folder import notebook_here, working_folder
from mlsys_widgets.ledger import DesignForm, Handover, Ledger, LedgerError, earlier_design
from mlsys_widgets.ledger.restoring import restore_ledger

_INSTRUCTORS: Final = (
    "This is the instructor's notebook: what you enter is kept only while the kernel runs."
)


def open_lab(
    name: str,
    *,
    variants: bool = True,
    edition: str = "",
    deeper: DeeperParts = "optional",
    way: Way = "assignment",
    folder: str | os.PathLike[str] = ".",
) -> OpenLab:
    """Open the lab that this notebook belongs to.

    Parameters
    ----------
    name
        The name of the lab, which is also that of its folder.
    variants, edition
        Whether everyone has their own numbers, and which edition of them; built into the notebook.
    deeper
        Whether what lies beyond the core counts in this course; built into the notebook, too.
    way
        Whether it is an assignment or practice; built into the notebook, too.
    folder
        Where the notebook is.

    Returns
    -------
    OpenLab
        What the notebook calls ``lab``.

    Raises
    ------
    ValueError
        When the ``asks.py`` beside the notebook is missing, or that of another lab; when practice
        lies beside the ledger of an assignment; when an objection was raised (`labs.opening`).

    Examples
    --------
    A student commits the prediction of a new lab, and lets code compute an answer:

    >>> from mlsys_widgets.authoring import new_lab
    >>> home = new_lab(folder, "lab_02_caches")
    >>> lab = open_lab("lab_02_caches", variants=False, folder=home)
    >>> _ = lab.card("act1_bound").commit("B", confidence=4)
    >>> lab.answer("intensity_flop_per_byte", lab.p.side / 2)
    intensity_flop_per_byte: 128 FLOP per byte is recorded.
    >>> lab.answer("limit", "both")
    limit is not recorded. 'both' is not an option; choose one of: “the
    arithmetic units” ("compute"), “the memory” ("memory").
    """
    must_open(Path(folder))
    return OpenLab(
        name, variants=variants, edition=edition, deeper=deeper, way=way, folder=Path(folder)
    )


class OpenLab:
    """A lab that is being worked on; `open_lab` makes it.

    Its ``p`` has the student's numbers, ``items`` everything that is asked, by id, ``ledger`` what
    was saved, ``student`` whose lab it is, and ``lab`` what ``asks.py`` declares.
    """

    def __init__(
        self,
        name: str,
        *,
        variants: bool,
        edition: str,
        folder: Path,
        deeper: DeeperParts = "optional",
        way: Way = "assignment",
    ) -> None:
        self.lab = labs.load(folder)
        if self.lab.name != name:
            raise ValueError(
                f"the notebook belongs to {name}, but the asks.py beside it belongs to"
                f" {self.lab.name}; keep each lab in a folder of its own"
            )
        self.student = labs.student(folder)
        self.variants = variants
        edition = self.student.draws_from(edition)
        self.p = self.lab.draw(self.student.name, edition=edition, variants=variants)
        self.items = as_counted(self.lab.items(self.p), deeper)
        self._attempts = Attempts(self.lab, self.student.name, edition, variants)
        self._is_instructors = is_instructors(folder)
        self._notices: tuple[str, ...] = (_INSTRUCTORS,) if self._is_instructors else ()
        path = working_folder(folder) / LEDGER
        # Where it is graded, whoever reads the submission chooses the ledger that counts.
        if not self._is_instructors and execution() != "autograde":
            notebook = notebook_here(folder, name)
            restored = restore_ledger(path, notebook, name, self.student.name)
            self._notices += (restored,) if restored else ()
        self.ledger = Ledger.open(path, lab=name, student=self.student.name)
        self._practice = self._begin_practice(folder) if way == PRACTICE else None
        self._told = ToldFile(self.ledger.path, self.lab.name, self.student.name)
        self._cards: dict[str, Any] = {}
        self._computed: dict[str, Any] = {}
        self._reveals: dict[str, Reveal] = {}
        self._followers: list[Instrument] = []
        if execution() == "student" and not self._is_instructors:
            keep_settings(self.ledger)

    def _begin_practice(self, folder: Path) -> Practice:
        """Have the ledger say that it is practice, before anything else is in it."""
        answers = self.ledger.state().answers
        if self.ledger.events() and not is_practice(answers):
            raise ValueError(
                f"{LEDGER} beside this notebook is the record of an assignment; practice would"
                " spoil it. Keep this notebook and the files that came with it in a folder of"
                " its own"
            )
        checks = load_checks(folder)
        if execution() == "student":
            try:
                if WAY not in answers:
                    self.ledger.record_answer(WAY, PRACTICE)
                if known := known_elsewhere(self.ledger):
                    self.ledger.record_answer(ELSEWHERE, known)
            except LedgerError as problem:
                self._notices += (str(problem),)
        return Practice(checks, working_folder(folder))

    @property
    def _is_ledger_of_practice(self) -> bool:
        """Whether somebody put the ledger of practice beside an assignment."""
        return self._practice is None and is_practice(self.ledger.state().answers)

    @property
    def materials(self) -> Mapping[str, Any]:
        """Materials of the lab's files for instruments, by name."""
        return self.lab.materials

    # What is shown.

    def welcome(
        self, cover: MovingPicture | None = None, *, minutes: Mapping[str, Any] | None = None
    ) -> Welcome:
        """Show whose lab this is, what it is worth, and how long it takes as counted."""
        return Welcome(
            self.lab,
            self.student,
            picture=cover,
            points=sum(points_of(self.items).values()),
            variants=self.variants,
            minutes=LabMinutes.from_plain(minutes) if minutes else None,
            notices=self._all_notices,
            steps=self.steps,
            ledger=self.ledger,
            practice=self._practice is not None,
        )

    def card(self, name: str) -> Any:
        """Return the card of an item; always the same one."""
        if name not in self._cards:
            self._cards[name] = self._made(name, self._item(name))
        return self._cards[name]

    def reveal(
        self,
        name: str,
        *,
        model: Source | Mapping[str, Source] | None = None,
        measured: Source | None = None,
        moves: list[Move] | tuple[Move, ...] = (),
        **more: Any,
    ) -> Reveal:
        """Compare a prediction with what happened, in the words of the lab.

        It opens after the ``moves``, except in the instructor's notebook, where nobody makes them.
        """
        item, lock = self._item(name), self.card(name)
        assert isinstance(item, labs.Prediction)
        words = {
            # The Lab panel calls this step the same.
            **({} if item.title == USUAL_TITLE else {"title": item.title}),
            "distance": item.distance,
            "feedback": item.feedback,
            "where": item.where,
            "answer": item.answer,
            # The instructor runs all cells and makes no moves.
            "moves": () if self._is_instructors else moves,
            "waits": not self._is_instructors,
            **more,
        }
        reveal: Reveal = lock.reveal(model=model, measured=measured, **words)
        self._reveals[name] = reveal
        if reveal.shown:
            announcements.look_again(self.ledger)
        return reveal

    @property
    def steps(self) -> list[StudentStep]:
        """Everything to do in this lab, in order."""
        return steps_of(self.lab, self.items)

    def context(self, contexts: Mapping[str, str], **more: Any) -> ContextToggle:
        """Return the toggle for where the system of this lab runs; kept in the ledger."""
        if "context" not in self._cards:
            self._cards["context"] = ContextToggle(contexts, ledger=self.ledger, **more)
        toggle: ContextToggle = self._cards["context"]
        return toggle

    def follow(self, instrument: Instrument, **inputs: Mapping[str, Any]) -> Instrument:
        """Have an instrument follow the context; each input has a value for every context.

        ``lab.follow(roofline, device={"cloud": "h100-sxm", "edge": "orin-nx"})``
        """
        toggle: ContextToggle = self._cards["context"]
        toggle.lead(instrument, inputs)
        self._followers.append(instrument)
        return instrument

    def design(self, fields: Mapping[str, Any], **more: Any) -> DesignEntry:
        """Show the entry that this lab hands on, computed from what the student did."""
        after = tuple(self.card(name) for name in more.pop("after", ()))
        declared = self.lab.design
        form = DesignForm(self.lab.name, self.lab.chapter, declared) if declared else None
        entry = DesignEntry(fields, ledger=self.ledger, form=form, after=after, **more)
        self._cards[DESIGN] = entry
        return entry

    def earlier(self, lab: str, default: Mapping[str, Any]) -> Handover:
        """Return what an earlier lab of the same student handed on, or the default."""
        return earlier_design(
            lab, beside=self.ledger.path, default=default, student=self.student.name
        )

    def hud(self, *, after: Mapping[str, str] | None = None, **more: Any) -> LabHUD:
        """Show progress; ``constraints``, ``decisions``, ``numbers`` as in ``LabHUD``.

        ``after`` names the item that must be done before a decision or number is shown:
        ``lab.hud(numbers={"MFU": lambda: (roof.result.mfu, "%")}, after={"MFU": "act1_mfu"})``.
        """
        acts: dict[str, list[StudentStep]] = {}
        for step in core_of(self.steps):
            title = f"Act {step.act}: {self.lab.acts[step.act - 1]}" if step.act else WHOLE_LAB
            acts.setdefault(title, []).append(step)
        more.setdefault("context", self._cards.get("context"))
        more.setdefault("reveals", self._reveals)
        more.setdefault("follows", self._followers)
        more["gates"] = {label: self.card(name) for label, name in (after or {}).items()}
        return LabHUD(
            self.lab.title, ledger=self.ledger, acts=acts, student=self.student.name,
            deeper=[step for step in self.steps if step.deeper], fields=self.lab.design, **more,
        )  # fmt: skip

    # What is answered.

    def answer(self, name: str, value: Any) -> None:
        """Record an answer that code computed; what counts is what the question's card shows.

        A value that cannot be used is a sentence, never an error that stops the notebook.
        """
        item = self._asked(name)
        try:
            if execution() != "student":
                # The ledger of a submission is never written; without one, code may answer.
                self._computed[name] = item.read(value)
                return
            card = self.card(name)
            answer = card.record_from_code(value)
        except (UnusableAnswer, LedgerError, ValueError) as reason:
            print_sentence(f"{name} is not recorded. {reason}")
            return
        standing = card.answer.value
        if standing == answer:
            print_sentence(f"{name}: {item.in_words(answer)} is recorded.")
        else:
            print_sentence(
                f"{name}: your code computes {item.in_words(answer)}, as before. The card says"
                f" {item.in_words(standing)}, which you entered later, and that counts."
            )

    def answered(self, name: str) -> Any:
        """Return the recorded answer, for the cell that is graded; ``...`` if there is none.

        Nobody here knows whether it is right. nbgrader's validation fails if it is missing.
        """
        item = self._asked(name)
        value = self._standing(name)
        if value is None and execution() == "validate" and not item.deeper:
            raise UnusableAnswer(f"{name}: nothing is recorded in the card of “{item.title}” yet.")
        if value is None:
            return ...
        print_sentence(f"{name}: {item.in_words(value)} is recorded.")
        return value

    def _standing(self, name: str) -> Any:
        """Return what the student's own ledger says, or else what code of this run computed."""
        try:
            state = self.ledger.state()
        except LedgerError:
            return self._computed.get(name)
        found = state.answers.get(name) if state.student in (None, self.student.name) else None
        if self._practice is None and is_practice(state.answers):
            found = None  # of other numbers, and whoever practices can read the keys
        if found is None or not is_usable(self._asked(name), found.value):
            return self._computed.get(name)
        return found.value

    def _asked(self, name: str) -> Asked:
        item = self._item(name)
        if not isinstance(item, Asked):
            raise ValueError(f"{name} is a {item.kind.lower()}; it is not answered with a value")
        return item

    def record(self, name: str) -> RecordCard | None:
        """Show what a record gives points for and what is done; validation fails if some is not."""
        item = self._item(name)
        assert isinstance(item, labs.Record)

        steps = [step for step in self.steps if step.name in item.of]

        def held() -> dict[str, StepProgress]:
            saved = saved_progress(self.ledger.state(), self.lab.name)
            covered = covered_by(self.ledger)
            return {self._called(step.name): progress(step, saved, *covered) for step in steps}

        missing = [called for called, how in held().items() if not how.whole]
        if missing and execution() == "validate" and not item.deeper:
            raise UnusableAnswer(f"Not in your ledger yet: {'; '.join(missing)}.")
        # While nbgrader grades, it would take the cell's last value for its points.
        if execution() != "student":
            return None
        return RecordCard(item, held, ledger=self.ledger)

    def _called(self, name: str) -> str:
        if name == DESIGN:
            return "Design: the entry you pass on"
        called: str = self.card(name).called
        return called

    # How it is made.

    def _item(self, name: str) -> Item:
        try:
            return self.items[name]
        except KeyError:
            listed = ", ".join(self.items)
            raise ValueError(
                f"{self.lab.name} asks nothing called {name!r}; it asks: {listed}"
            ) from None

    def _made(self, name: str, item: Item) -> Any:
        led, after = self.ledger, tuple(self.card(each) for each in item.after)
        again: Any = {
            "attempts": self._attempts, "practice": self._practice, "told": self._told.read
        }  # fmt: skip
        match item:
            case labs.Message():
                return Scenario(item, after=after, context=self._cards.get("context"))
            case labs.Prediction():
                return PredictionLock(name, item, ledger=led, after=after)
            case labs.ReflectionPrompt():
                return Reflection(name, item, ledger=led, after=after)
            case labs.Code():
                return CodeCard(name, item, ledger=led, **again, after=after)
            case labs.Number() | labs.Choice() | labs.Essay():
                return QuestionCard(name, item, ledger=led, **again, after=after)
            case labs.Peek():
                return MathPeek(item.title, item.equations, after=after)
            case labs.Takeaways():
                return KeyTakeaways(item, after=after)
            case labs.Quiz():
                return ConfidenceQuiz(name, item, ledger=led, after=after)
            case labs.Myths():
                return MythBuster(name, item, ledger=led, after=after)
            case labs.Measurement():
                # Here, because one lab measures and no other should wait for what it imports.
                from mlsys_widgets.cards.measurement_card import MeasurementCard

                return MeasurementCard(name, item, ledger=led, after=after)
            case labs.Checklist():
                return SelfAssessment(name, item, ledger=led, after=after)
        raise ValueError(f"{name} is a {item.kind}, which has no card")

    def _all_notices(self) -> tuple[str, ...]:
        with contextlib.suppress(LedgerError):
            if self._is_ledger_of_practice:
                return (*self._notices, f"The {LEDGER} beside this notebook is from practice and"
                        " counts for nothing here; move it to another folder.")  # fmt: skip
        owner = self.ledger.student
        if owner in (None, self.student.name):
            return self._notices
        whose = (
            f"The ledger beside this notebook belongs to {owner}, so you cannot save in it."
            " Move it to another folder to start your own."
        )
        given = [item.title for name, item in self.items.items()
                 if isinstance(item, Asked) and name in self.ledger.state().answers]  # fmt: skip
        if given and self.variants:
            whose += (
                f" These answers were given to the numbers of {owner}, not to yours:"
                f" {'; '.join(given)}."
            )
        return (*self._notices, whose)
