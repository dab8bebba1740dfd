"""Cards around what is graded: whose numbers a lab uses, what a question asks, what is recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from mlsys_widgets.cards import bulletin
from mlsys_widgets.cards.card import Gate, LabWidget
from mlsys_widgets.cards.parts import Part, Points, Prose, Rows
from mlsys_widgets.labs import Choice, Essay, Lab, Number, Parameters, Student
from mlsys_widgets.labs.answers import in_unit
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.physics import format_quantity


def _worth(points: float) -> str:
    return format_quantity(points, "point" if points == 1 else "points")


class QuestionCard(LabWidget):
    """A graded question, with this student's numbers; the answer is typed in the cell below.

    Parameters
    ----------
    name
        The name of the answer.
    item
        What is asked.
    after
        A gate, or several, that must be open first.
    """

    kind = "Question"
    tone = "prediction"

    def __init__(
        self, name: str, item: Number | Choice | Essay, *, after: Gate | Iterable[Gate] = ()
    ) -> None:
        super().__init__(f"{item.title} ({_worth(item.points)})", after=after)
        self._name, self._item = name, item
        self.show()

    def parts(self) -> Sequence[Part]:
        """The question, and how to answer it."""
        item = self._item
        asked = Prose("ask", item.ask)
        match item:
            case Number():
                how = f"Type it below: `{self._name} = ` and {in_unit(item)}."
                return [asked, Prose("how", how, quiet=True)]
            case Choice():
                options = tuple((f'"{key}"', words) for key, words in item.options.items())
                how = f"Type it below: `{self._name} = ` and one of these, in quotes."
                return [asked, Rows("options", options), Prose("how", how, quiet=True)]
        rubric = tuple((_worth(points), words) for points, words in item.rubric)
        how = "Double-click the line below and write. A person reads it and gives these points."
        return [asked, Rows("rubric", rubric), Prose("how", how, quiet=True)]


class Welcome(LabWidget):
    """What a lab is, whose numbers it uses, and what it is worth."""

    kind = "Lab"
    tone = "blue"

    def __init__(
        self,
        lab: Lab,
        student: Student,
        parameters: Parameters,
        *,
        variants: bool,
        notices: Sequence[str] = (),
    ) -> None:
        super().__init__(lab.title)
        self._lab, self._student, self._parameters = lab, student, parameters
        self._variants, self._notices = variants, tuple(notices)
        self.show()

    def parts(self) -> Sequence[Part]:
        """Whose it is, how long it takes, what it is worth."""
        name, lab = self._student.name, self._lab
        whose = f"This is the lab of **{name}**, known from {self._student.known_from}."
        if self._variants:
            whose += " Some numbers of the questions are yours alone and drawn from that name."
        if "computer" in self._student.known_from:
            whose += (
                " If your course knows you under another name, type `mlsys whoami NAME` in a"
                " terminal and restart the kernel **before** you answer."
            )
        total = sum(lab.points(self._parameters).values())
        many = {0: ".", 1: ", one act:"}.get(len(lab.acts), f", {len(lab.acts)} acts:")
        shape = f"{_worth(total)}, about {lab.minutes} minutes{many}"
        acts = tuple(("", title) for title in lab.acts)
        warnings = [
            Prose(f"notice{k}", words, tone="orange") for k, words in enumerate(self._notices)
        ]
        listed = [Points("acts", acts)] if acts else []
        return [Prose("whose", whose), Prose("shape", shape), *listed, *warnings]


class RecordCard(LabWidget):
    """What a record is of, and which of it the ledger holds now.

    Parameters
    ----------
    title, points
        What it is called and what it is worth.
    held
        Says of each line whether it is there; asked again whenever something is saved.
    ledger
        Where it is kept.
    """

    kind = "Record"
    tone = "blue"

    def __init__(
        self, title: str, points: float, held: Callable[[], Mapping[str, bool]], *, ledger: Ledger
    ) -> None:
        super().__init__(f"{title} ({_worth(points)})")
        self._held = held
        bulletin.listen(ledger, self)
        self.show()

    def parts(self) -> Sequence[Part]:
        """Each with whether it is there."""
        lines = tuple(
            ("✓ Done" if there else "○ Missing", words) for words, there in self._held().items()
        )
        return [Rows("held", lines)]
