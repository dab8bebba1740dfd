"""What a question's card shows once its student was told: the verdict, why, and a second chance."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Final

from mlsys_widgets.cards.parts import Buttons, FoldedProse, Part, Prose
from mlsys_widgets.cards.practice_parts import beyond_the_verdict
from mlsys_widgets.files import TOLD, signature_of
from mlsys_widgets.labs.asked import Asked
from mlsys_widgets.labs.told import Told, ToldQuestion, told_beside

STANDS: Final = "You were told about this question when you handed it in, so its answer stands."
SECOND: Final = "second"


@dataclass
class ToldFile:
    """What lies beside a ledger, read again when it changes: all cards ask for it."""

    ledger: Path
    lab: str
    student: str
    _seen: object = None
    _told: Told | None = None

    def read(self) -> Told | None:
        """Return what the student was told; `None` if that is nothing."""
        seen = signature_of(self.ledger.with_name(TOLD))
        if seen != self._seen:
            self._told = told_beside(self.ledger, self.lab, self.student)
            self._seen = seen
        return self._told


def told_parts(first: Asked, told: ToldQuestion, report: Told) -> Sequence[Part]:
    """Return what is below a question whose answer was judged for good.

    Parameters
    ----------
    first
        What was asked at first; above is what was asked last.
    """
    answer = _in_words(first, told.answer)
    if told.second_answer is not None:
        earlier = f"{first.ask}\n\nYour answer: **{answer}**\n\n{told.says}"
        label, _ = _label(told.credit)
        return [
            Prose("recorded", f"Your second answer: **{told.second_answer}**"),
            _verdict(told.second_credit, told.second_says),
            Prose("first", f"**{answer}** {label}", label="Your first answer, on other numbers:"),
            Prose("earned", _earned(told)),
            FoldedProse("before", earlier, heading="The first question, and why"),
        ]
    parts: list[Part] = [
        Prose("recorded", f"Your answer: **{answer}**"),
        _verdict(told.credit, told.says),
        Prose("earned", _earned(told), quiet=True),
    ]
    if report.can_take_again(told):
        parts += [
            Prose("chance", chance_words(report), quiet=True),
            Buttons("again", ((SECOND, "Take it again on new numbers"),), leads=False),
        ]
    return parts


def chance_words(report: Told) -> str:
    """Say what a second answer counts, and until when."""
    share = f"{100 * (report.share or 0):g}% of its points"
    until = f" until {report.until.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if report.until else ""
    return (
        f"You can answer it once more on new numbers and hand in{until}: {share} count, if better."
    )


def _label(credit: float) -> tuple[str, str]:
    """Return the words in front of an explanation, and their color."""
    if credit >= 1:
        return "✓ Right.", "green"
    return ("◐ Partly right." if credit > 0 else "✗ Not right."), "orange"


def _verdict(credit: float, says: str) -> Part:
    label, tone = _label(credit)
    return Prose("verdict", beyond_the_verdict(says), label=label, tone=tone)


def _earned(told: ToldQuestion) -> str:
    if not told.points:
        return "It is deeper and has no points."
    words = f"{told.earned:g} of {told.points:g} points."
    if told.by_person:
        return f"{words} Your TA decided on these points."
    return f"{words} {told.counts}".strip()


def _in_words(item: Asked, answer: str) -> str:
    """Return an answer as its card writes it."""
    try:
        return item.in_words(ast.literal_eval(answer))
    except (ValueError, SyntaxError, TypeError, KeyError):
        return answer
