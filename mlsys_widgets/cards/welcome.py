"""The cover of a lab: whose numbers it uses, how long it takes, and what it is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from mlsys_widgets.cards import announcements
from mlsys_widgets.cards.card import LabWidget
from mlsys_widgets.cards.handed_in_line import hand_in_of, whole_lab_words
from mlsys_widgets.cards.parts import NumberedList, Part, Prose, in_points
from mlsys_widgets.drawing import markup
from mlsys_widgets.instruments.moving_picture import MovingPicture
from mlsys_widgets.labs import Lab, Student
from mlsys_widgets.labs.lab_minutes import LabMinutes
from mlsys_widgets.labs.student_steps import (
    SavedEntry,
    StudentStep,
    core_of,
    is_newer,
    not_done,
    saved_progress,
)
from mlsys_widgets.ledger import Ledger, LedgerError
from mlsys_widgets.wording.plurals import counted

_PRACTICE: Final = (
    "Every answer is judged at once and explained, and you can ask for another one like it as often"
    " as you want. Nothing is graded, and nothing is handed in: the checks lie beside this notebook"
    " in `checks.py`, for whoever wants to read them."
)


@dataclass(frozen=True)
class ActsPath(NumberedList):
    """The acts as a path: the title of each, and how long it takes."""

    def text(self) -> str:
        rows = (f"{title} ({takes})" if takes else title for title, takes in self.points)
        return "\n".join(f"{k}. {markup.plain(row)}" for k, row in enumerate(rows, 1))


@dataclass(frozen=True)
class Moving(Part):
    """A picture that moves by itself, with its caption."""

    svg: str
    words: str

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "svg": self.svg, "words": self.words}

    def text(self) -> str:
        return self.words

    def html(self) -> str:
        return f"<figure>{self.svg}<figcaption>{escape(self.words)}</figcaption></figure>"


@dataclass(frozen=True)
class GoOn(Part):
    """The way into the lab: a button that the Lab panel's extension hears, where there is one."""

    words: str
    leads: bool

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "words": self.words, "leads": self.leads}


class Welcome(LabWidget):
    """The cover of a lab: whose numbers it uses, how long it takes, and what it is worth."""

    kind = "Lab"
    tone = "blue"
    drawn_as = "cover"

    def __init__(
        self,
        lab: Lab,
        student: Student,
        *,
        picture: MovingPicture | None = None,
        points: float,
        variants: bool,
        minutes: LabMinutes | None = None,
        notices: Callable[[], Sequence[str]],
        steps: Sequence[StudentStep],
        ledger: Ledger,
        practice: bool = False,
    ) -> None:
        super().__init__(lab.question or lab.title)
        if lab.question:
            self.kind = lab.title
        self._lab, self._student, self._points = lab, student, points
        self._picture = picture
        self._variants, self._minutes, self._notices = variants, minutes, notices
        self._steps, self._ledger, self._practice = steps, ledger, practice
        announcements.listen(ledger, self)
        self.show()

    def _progress(self) -> list[Part]:
        """How far along the lab is, as on every other page, and the way to go on."""
        try:
            saved = saved_progress(self._ledger.state(), self._lab.name)
        except LedgerError as problem:
            return [Prose("done", str(problem), quiet=True)]
        left, many = len(not_done(self._steps, saved)), len(core_of(self._steps))
        done = f"{many - left} of {counted(many, 'step')}" if left else "All steps are"
        line = Prose("done", f"{done} done.{self._handed_in(saved)}", quiet=True)
        if not left:
            return [line]
        begins = left == many
        return [GoOn("go", "Begin" if begins else "Go on", leads=begins), line]

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
        many = {0: ".", 1: "; one act:"}.get(len(lab.acts), f"; {len(lab.acts)} acts:")
        worth = "Practice" if self._practice else in_points(self._points)
        shape = f"{worth}{self._how_long()}{many}"
        warnings = [
            Prose(f"notice{k}", words, tone="orange") for k, words in enumerate(self._notices())
        ]
        acts = tuple((title, self._takes(k)) for k, title in enumerate(lab.acts, 1))
        listed = [ActsPath("acts", acts)] if acts else []
        done = self._progress() if self._steps and not warnings else []
        more = self._minutes.beyond_the_acts if self._minutes else ""
        if any(step.deeper for step in self._steps):
            points = "" if self._practice else " and gives no points"
            more = f"{more} What is deeper is optional{points}.".strip()
        if acts and self._minutes:
            more = f"{more} You can stop after each act: everything you commit is kept.".strip()
        beyond = [Prose("beyond", more, quiet=True)] if more else []
        # Problems first, then what it is about; whose it is comes last.
        about = [Prose("practice", _PRACTICE)] if self._practice else []
        moving = [Moving("moving", self._picture.svg, self._picture.words)] if self._picture else []
        shown = [*warnings, *moving, *about, Prose("shape", shape), *listed, *beyond, *done]
        return [*shown, Prose("whose", whose, quiet=True)]

    def _how_long(self) -> str:
        if self._lab.minutes:
            return f", about {self._lab.minutes} minutes"
        return f", {self._minutes.in_words}" if self._minutes else ""

    def _takes(self, act: int) -> str:
        return self._minutes.of_act(act) if self._minutes else ""
