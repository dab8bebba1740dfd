"""The steps of a lab, and how far along each of them is: the one count that every page shows.

The panel, the status bar, the cover and the HUD all count the same steps by the same rule. A step
is something that a student does and that the ledger keeps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from mlsys_widgets.labs.items import (
    DESIGN,
    Checklist,
    Choice,
    Essay,
    Item,
    Measurement,
    Number,
    Saved,
)
from mlsys_widgets.labs.lab import Lab
from mlsys_widgets.labs.prediction import Prediction
from mlsys_widgets.labs.quiz import Myths, Quiz
from mlsys_widgets.labs.reflection_prompt import ReflectionPrompt

#: Begun: something is saved, and something is missing or not right yet. Failing: a design that was
#: saved although it breaks a promise.
Progress = Literal["open", "begun", "failing", "done"]

#: What the steps outside of all acts belong to.
WHOLE_LAB: Final = "The whole lab"

#: What the panel calls each kind of step.
_KINDS: Final[Mapping[type[Item], str]] = {
    Prediction: "prediction",
    ReflectionPrompt: "reflection",
    Number: "answer",
    Choice: "answer",
    Essay: "essay",
    Quiz: "quiz",
    Myths: "myths",
    Checklist: "checklist",
    Measurement: "measurement",
}

#: Every kind of step, as notebooks write it into the metadata of cells.
STEP_KINDS: Final = frozenset({*_KINDS.values(), DESIGN})

#: Where the ledger keeps the promises that a saved design breaks, as a list of sentences.
DESIGN_MISSES: Final = "design_misses"


class SavedWithDesigns(Saved, Protocol):
    """The state of a ledger, with the designs that labs hand on."""

    @property
    def designs(self) -> Mapping[str, Any]:
        """Design entries, by the name of their lab."""


@dataclass(frozen=True)
class StudentStep:
    """Something to do in a lab: an item, or the design."""

    name: str
    kind: str
    act: int
    title: str
    #: The names under which the ledger keeps it; it is done when all are there.
    needs: tuple[str, ...]

    @property
    def called(self) -> str:
        """A line for a list of steps."""
        # Some of the claims are true, so people do not read the name that the panel knows.
        kind = "claims" if self.kind == _KINDS[Myths] else self.kind
        return f"{kind.capitalize()}: {' '.join(self.title.split())}"


def kind_of(item: Item) -> str | None:
    """Return the panel's word for an item; `None` if it is not a step."""
    return _KINDS.get(type(item))


def steps_of(lab: Lab, items: Mapping[str, Item]) -> list[StudentStep]:
    """Everything to do in a lab, in order; the design, if there is one, comes last."""
    found = [
        StudentStep(name, kind, item.act, getattr(item, "title", name), item.ledger_names(name))
        for name, item in items.items()
        if (kind := kind_of(item))
    ]
    if lab.design:
        found.append(StudentStep(DESIGN, DESIGN, 0, "What you hand on", (DESIGN,)))
    return found


def progress(step: StudentStep, state: Mapping[str, Progress]) -> Progress:
    """How far along a step is, from what the ledger holds by name (see `saved_progress`).

    Examples
    --------
    >>> quiz = StudentStep("quiz", "quiz", 1, "What do you know?", ("quiz.1", "quiz.2"))
    >>> progress(quiz, {}), progress(quiz, {"quiz.1": "done"})
    ('open', 'begun')
    >>> progress(quiz, {"quiz.1": "done", "quiz.2": "done"})
    'done'
    """
    found = [state.get(name, "open") for name in step.needs]
    if "failing" in found:
        return "failing"
    if all(each == "done" for each in found):
        return "done"
    return "open" if all(each == "open" for each in found) else "begun"


def saved_progress(saved: SavedWithDesigns, lab: str) -> dict[str, Progress]:
    """Return whether what a ledger holds is done, begun or failing, by name."""
    found: dict[str, Progress] = dict.fromkeys((*saved.answers, *saved.predictions), "done")
    for name, reflection in saved.reflections.items():
        right = any(attempt.correct is not False for attempt in reflection.attempts)
        found[name] = "done" if right else "begun"
    if lab in saved.designs:
        misses = saved.answers.get(DESIGN_MISSES)
        found[DESIGN] = "failing" if misses is not None and misses.value else "done"
    return found


def not_done(steps: Sequence[StudentStep], state: Mapping[str, Progress]) -> list[StudentStep]:
    """The steps that are left."""
    return [step for step in steps if progress(step, state) != "done"]
