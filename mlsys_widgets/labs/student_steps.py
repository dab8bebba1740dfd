"""The steps of a lab, and how far along each of them is: one story that every page tells.

The panel, the status bar, the cover, the HUD, the record's card and the hand-in all show the same
steps in the same states, signs and words. A step is something that a student does and that the
ledger keeps::

    to do ─→ tried ─→ done or recorded ─→ handed in
                           ↑   changing it    │
                           └──────────────────┘
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Protocol

from mlsys_widgets.labs.attempts import attempt_in
from mlsys_widgets.labs.code_item import Code
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
from mlsys_widgets.labs.practice import Mastery
from mlsys_widgets.labs.prediction import Prediction
from mlsys_widgets.labs.quiz import Myths, Quiz
from mlsys_widgets.labs.reflection_prompt import ReflectionPrompt
from mlsys_widgets.labs.word_limits import count_words
from mlsys_widgets.wording.plurals import counted

#: Tried: something is recorded, and something is missing or not right yet. Recorded: a question
#: that is graded is answered, and nobody here knows whether it is right. Done: nothing is left, and
#: there was nothing to be right about, or it is right. Handed in: as it stands now, to a course or
#: in a file that the student uploads; the words say which.
StepState = Literal["to_do", "tried", "recorded", "done", "handed_in"]

#: The sign of each state; they differ in shape, not in color. A check mark says that nothing is
#: wrong, so an answer that is only recorded has none.
SIGNS: Final[Mapping[StepState, str]] = {
    "to_do": "○",
    "tried": "◐",
    "recorded": "●",
    "done": "✓",
    "handed_in": "↑",
}

#: What is left to do where something was tried, by the kind of the step.
_UNFINISHED: Final = {"reflection": "not right yet", "design": "does not fit yet"}

#: What the steps outside of all acts belong to.
WHOLE_LAB: Final = "The whole lab"

#: What the panel calls each kind of step.
_KINDS: Final[Mapping[type[Item], str]] = {
    Prediction: "prediction",
    ReflectionPrompt: "reflection",
    Number: "answer",
    Choice: "answer",
    Code: "answer",
    Essay: "essay",
    Quiz: "quiz",
    Myths: "myths",
    Checklist: "checklist",
    Measurement: "measurement",
}

#: The kinds whose answers are graded later, by a key or by a person.
_GRADED: Final = frozenset({_KINDS[Number], _KINDS[Essay]})

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
    #: The fewest words of a text; a shorter one was tried.
    at_least: int = 1
    #: Whether it is optional, beyond the core of the lab.
    deeper: bool = False
    #: Whether what waits for it opens only once it is right.
    holds_up: bool = False

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
    """Everything to do in a lab, act by act, whatever the order in its file.

    What belongs to no act follows, and the design, if there is one, comes last.
    """
    found = [
        StudentStep(
            name,
            kind,
            item.act,
            getattr(item, "title", name),
            item.ledger_names(name),
            item.at_least if isinstance(item, Essay) else 1,
            item.deeper,
            isinstance(item, ReflectionPrompt) and item.opens == "right",
        )
        for name, item in items.items()
        if (kind := kind_of(item))
    ]
    found.sort(key=lambda step: step.act or math.inf)
    if lab.design:
        found.append(StudentStep(DESIGN, DESIGN, 0, "What you pass on", (DESIGN,)))
    return found


class SavedEntry(NamedTuple):
    """What a ledger holds under a name.

    Parameters
    ----------
    right
        Whether nothing is known to be wrong with it.
    seq
        The number of the last event about it.
    words
        How many words a text has; `None` for everything else.
    told
        In practice, what the student was told about the answer.
    """

    right: bool
    seq: int
    words: int | None = None
    told: str = ""


@dataclass(frozen=True)
class StepProgress:
    """How far along a step is, as every page shows it.

    Parameters
    ----------
    whole
        Whether the ledger holds all of it, right or wrong; that is what a record gives points for.
    """

    state: StepState
    words: str
    whole: bool = True

    @property
    def sign(self) -> str:
        """The sign of its state."""
        return SIGNS[self.state]

    @property
    def is_left(self) -> bool:
        """Whether there is still something to do."""
        return self.state in ("to_do", "tried")


def progress(
    step: StudentStep,
    saved: Mapping[str, SavedEntry],
    covered: int | None = None,
    in_file: bool = False,
) -> StepProgress:
    """How far along a step is.

    Parameters
    ----------
    saved
        What the ledger holds by name (see `saved_progress`).
    covered
        The number of the last event that was handed in; `None` if the lab never was.
    in_file
        Whether that made a file. Nobody here knows whether the student has uploaded it.
    """
    found = [saved.get(name) for name in step.needs]
    held = [each for each in found if each is not None]
    if not held:
        return StepProgress("to_do", "to do", whole=False)
    sent = "in the file" if in_file else "handed in"
    handed_in = covered is not None and all(each.seq <= covered for each in held)
    whole = len(held) == len(found)
    short = step.at_least > 1 and next((e for e in held if (e.words or 0) < step.at_least), None)
    if short or not whole or not all(each.right for each in held):
        lacks = _UNFINISHED.get(step.kind, "not finished")
        if told := held[0].told:
            return StepProgress("tried", told, whole=whole)
        if short:
            lacks = f"too short: {counted(short.words or 0, 'word')} of at least {step.at_least}"
        tried = sent if handed_in else "tried" if whole else "begun"
        return StepProgress("tried", f"{tried}, {lacks}", whole=whole)
    if held[0].told:
        return StepProgress("done", held[0].told)
    if handed_in:
        return StepProgress("handed_in", sent)
    state: StepState = "recorded" if step.kind in _GRADED else "done"
    return StepProgress(state, state if covered is None else f"{state}, not {sent} yet")


def can_wait(step: StudentStep, saved: Mapping[str, SavedEntry]) -> bool:
    """Whether a step is recorded in full and only not right yet, so that the way leads on past it.

    Nothing waits for it to be right, and whoever was wrong comes back to it later.
    """
    held = [saved[name] for name in step.needs if name in saved]
    return (
        len(held) == len(step.needs)
        and not step.holds_up
        and all((each.words or 0) >= step.at_least for each in held if step.at_least > 1)
        and not all(each.right for each in held)
    )


def last_event(step: StudentStep, saved: Mapping[str, SavedEntry]) -> int:
    """Return the number of the last event about a step; 0 before the first one."""
    return max((saved[name].seq for name in step.needs if name in saved), default=0)


def saved_progress(saved: SavedWithDesigns, lab: str) -> dict[str, SavedEntry]:
    """Return what a ledger holds, by name."""
    found = {
        name: SavedEntry(
            True, one.seq, count_words(one.value) if isinstance(one.value, str) else None
        )
        for name, one in (*saved.answers.items(), *saved.predictions.items())
    }
    for again, entry in list(found.items()):
        # A second answer wants to be handed in, too.
        name, attempt = attempt_in(again)
        if attempt and name in found:
            found[name] = found[name]._replace(seq=max(found[name].seq, entry.seq))
    for name, mastery in Mastery.by_item(saved.answers).items():
        if name in found:
            found[name] = found[name]._replace(right=mastery.right, told=mastery.told)
    for name, reflection in saved.reflections.items():
        # Whoever looks again and answers otherwise has still understood it once.
        right = any(attempt.correct is not False for attempt in reflection.attempts)
        found[name] = SavedEntry(right, reflection.attempts[-1].seq)
    design = saved.designs.get(lab)
    if design is not None:
        misses = saved.answers.get(DESIGN_MISSES)
        fits = misses is None or not misses.value
        found[DESIGN] = SavedEntry(fits, max(design.seq, misses.seq if misses else 0))
    return found


def not_done(steps: Sequence[StudentStep], saved: Mapping[str, SavedEntry]) -> list[StudentStep]:
    """The steps that are left; what is deeper is nobody's duty."""
    return [step for step in core_of(steps) if progress(step, saved).is_left]


def core_of(steps: Sequence[StudentStep]) -> list[StudentStep]:
    """The steps that everybody is asked to do."""
    return [step for step in steps if not step.deeper]


def is_newer(steps: Sequence[StudentStep], saved: Mapping[str, SavedEntry], covered: int) -> bool:
    """Whether something was recorded in these steps that was not handed in."""
    names = {name for step in steps for name in step.needs}
    return any(entry.seq > covered for name, entry in saved.items() if name in names)
