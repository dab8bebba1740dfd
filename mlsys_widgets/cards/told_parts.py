"""What a question's card shows once its student was told: the verdict, why, and a second chance."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Final

from mlsys_widgets.cards.parts import Buttons, Part, Prose
from mlsys_widgets.files import TOLD
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
        try:
            about = self.ledger.with_name(TOLD).stat()
        except OSError:
            return None
        seen = about.st_ino, about.st_size, about.st_mtime_ns
        if seen != self._seen:
            self._told = told_beside(self.ledger, self.lab, self.student)
            self._seen = seen
        return self._told


def told_parts(item: Asked, told: ToldQuestion, report: Told, attempt: int) -> Sequence[Part]:
    """Return what is below a question whose answer was judged for good."""
    second = attempt > 0 and told.second_answer is not None
    credit = told.second_credit if second else told.credit
    says = told.second_says if second else told.says
    answer = told.second_answer if second else told.answer
    parts: list[Part] = [
        Prose("recorded", f"Your answer: **{_in_words(item, answer or '')}**"),
        _verdict(credit, says),
        Prose("earned", _earned(told), quiet=True),
    ]
    if not second and report.can_take_again(told):
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


def _verdict(credit: float, says: str) -> Part:
    if credit >= 1:
        return Prose("verdict", says, label="✓ Right.", tone="green")
    label = "◐ Partly right." if credit > 0 else "✗ Not right."
    return Prose("verdict", says, label=label, tone="orange")


def _earned(told: ToldQuestion) -> str:
    if not told.points:
        return "It is deeper and has no points."
    words = f"{told.earned:g} of {told.points:g} points."
    if told.second_answer is None:
        return words
    return f"{words} The better of both answers counts, the second at {100 * told.share:g}%."


def _in_words(item: Asked, answer: str) -> str:
    """Return an answer as its card writes it."""
    try:
        return item.in_words(ast.literal_eval(answer))
    except (ValueError, SyntaxError, TypeError, KeyError):
        return answer
