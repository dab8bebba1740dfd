"""The cover of a lab: whose numbers it uses, how long it takes, and what it is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mlsys_widgets.cards import announcements
from mlsys_widgets.cards.card import LabWidget
from mlsys_widgets.cards.handed_in_line import hand_in_of, whole_lab_words
from mlsys_widgets.cards.parts import NumberedList, Part, Prose, in_points
from mlsys_widgets.labs import Lab, Student
from mlsys_widgets.labs.lab_minutes import LabMinutes
from mlsys_widgets.labs.student_steps import (
    SavedEntry,
    StudentStep,
    is_newer,
    not_done,
    saved_progress,
)
from mlsys_widgets.ledger import Ledger, LedgerError
from mlsys_widgets.wording.plurals import counted


class Welcome(LabWidget):
    """The cover of a lab: whose numbers it uses, how long it takes, and what it is worth."""

    kind = "Lab"
    tone = "blue"

    def __init__(
        self,
        lab: Lab,
        student: Student,
        *,
        points: float,
        variants: bool,
        minutes: LabMinutes | None = None,
        notices: Callable[[], Sequence[str]],
        steps: Sequence[StudentStep],
        ledger: Ledger,
    ) -> None:
        super().__init__(lab.title)
        self._lab, self._student, self._points = lab, student, points
        self._variants, self._minutes, self._notices = variants, minutes, notices
        self._steps, self._ledger = steps, ledger
        announcements.listen(ledger, self)
        self.show()

    def _done(self) -> str:
        """How far along the lab is, as on every other page."""
        try:
            saved = saved_progress(self._ledger.state(), self._lab.name)
        except LedgerError as problem:
            return str(problem)
        left = len(not_done(self._steps, saved))
        if not left:
            return "All steps are done." + self._handed_in(saved)
        many = counted(len(self._steps), "step")
        return f"{len(self._steps) - left} of {many} done.{self._handed_in(saved)}"

    def _handed_in(self, saved: Mapping[str, SavedEntry]) -> str:
        note = hand_in_of(self._ledger)
        if note is None:
            return ""
        newer = is_newer(self._steps, saved, note.covers(self._ledger.events()))
        return f" {whole_lab_words(note, newer)}"

    def parts(self) -> Sequence[Part]:
        name, lab = self._student.name, self._lab
        whose = f"This is the lab of **{name}**, known from {self._student.known_from}."
        if self._variants:
            whose += " Some numbers in the questions are yours alone: they depend on that name."
        if self._student.uncertain:
            whose += (
                " If your course knows you under another name, type `mlsys whoami NAME` in a"
                " terminal and restart the kernel **before** you answer."
            )
        many = {0: ".", 1: ", one act:"}.get(len(lab.acts), f", {len(lab.acts)} acts:")
        shape = f"{in_points(self._points)}{self._how_long()}{many}"
        acts = tuple(("", self._act(k, title)) for k, title in enumerate(lab.acts, 1))
        warnings = [
            Prose(f"notice{k}", words, tone="orange") for k, words in enumerate(self._notices())
        ]
        listed = [NumberedList("acts", acts)] if acts else []
        done = [Prose("done", self._done(), quiet=True)] if self._steps and not warnings else []
        more = self._minutes.beyond_the_acts if self._minutes else ""
        if acts and self._minutes:
            more = f"{more} You can stop after each act: everything you commit is kept.".strip()
        beyond = [Prose("beyond", more)] if more else []
        shown = [Prose("whose", whose), Prose("shape", shape), *listed, *beyond]
        return [*shown, *done, *warnings]

    def _how_long(self) -> str:
        if self._lab.minutes:
            return f", about {self._lab.minutes} minutes"
        return f", about {self._minutes.total} minutes" if self._minutes else ""

    def _act(self, number: int, title: str) -> str:
        takes = self._minutes.of_act(number) if self._minutes else ""
        return f"{title} ({takes})" if takes else title
