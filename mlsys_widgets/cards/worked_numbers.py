"""The numbers behind a comparison: label, value with its unit, and how it comes about.

An author gives them by name, as ``{"Intensity": (31.5, "FLOP/B")}``, or hands over a result of
physics, whose every step becomes a row with its formula and the numbers in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from mlsys_widgets.physics import notation
from mlsys_widgets.physics.derivation import Step
from mlsys_widgets.physics.result import Explained, Result
from mlsys_widgets.wording.units import format_quantity

#: Words, a number, or a number with its unit and, if you like, a note.
WorkedNumber = str | float | tuple[float, str] | tuple[float, str, str]
#: Several of them by label, or the steps of a result. Each may be a function that is called when
#: it is shown.
Worked = (
    Result
    | Mapping[str, WorkedNumber | Callable[[], WorkedNumber]]
    | Iterable[tuple[str, WorkedNumber | Callable[[], WorkedNumber]]]
)


@dataclass(frozen=True)
class WorkedRow:
    """A number: what it is, its value in words, and a note or the step that leads to it."""

    label: str
    value: str
    note: str = ""
    step: Step | None = None

    @property
    def behind(self) -> str:
        """The note, or the formula in plain text."""
        return self.note or self._equation(notation.TEXT)

    @property
    def typeset(self) -> str:
        """The formula with its numbers, as a browser sets it; empty where there is none."""
        return self._equation(notation.MATHML)

    def text(self) -> str:
        """The row in plain text."""
        return f"{self.label}: {self.value}{f' ({self.behind})' if self.behind else ''}"

    def html(self) -> str:
        """The row for a page that keeps the tags of text only."""
        behind = escape(self.note) or self._equation(notation.HTML)
        return (
            f"<strong>{escape(self.label)}:</strong> {escape(self.value)}"
            f"{f' ({behind})' if behind else ''}"
        )

    def _equation(self, how: notation.Notation) -> str:
        """The formula with its numbers; the value itself is in the row."""
        sides = self.step.sides(how) if self.step else []
        return how.chain(sides[:-1]) if len(sides) > 2 else ""


def worked_rows(worked: Worked | Callable[[], Worked] | None) -> tuple[WorkedRow, ...]:
    """Lay out worked numbers as rows.

    Examples
    --------
    >>> from mlsys_widgets import physics as ph
    >>> [row.text() for row in worked_rows({"Ridge": (152.9, "FLOP/B")})]
    ['Ridge: 152.9 FLOP/B']
    >>> product = ph.gemm(512, 512, 512, 2)
    >>> [row.text() for row in worked_rows({"Intensity": product.intensity})]
    ['Intensity: 170.7 FLOP/B (I = W / Q = 268.4 MFLOP / 1.57 MB)']
    """
    given: Any = worked() if callable(worked) else worked
    if given is None:
        return ()
    if isinstance(given, Result):
        steps = given.derivation().steps
        return tuple(WorkedRow(step.title, step.shown, step=step) for step in steps)
    pairs = given.items() if isinstance(given, Mapping) else given
    return tuple(_row(label, number) for label, number in pairs)


def shown_number(number: Any) -> tuple[str, str]:
    """A worked number as people read it, and the note that belongs to it.

    Examples
    --------
    >>> shown_number((0.0015, "s")), shown_number("memory-bound"), shown_number((2, "×", "of 4"))
    (('1.5 ms', ''), ('memory-bound', ''), ('2×', 'of 4'))
    """
    row = _shown("", number() if callable(number) else number)
    return row.value, row.behind


def _row(label: str, number: Any) -> WorkedRow:
    try:
        return _shown(label, number() if callable(number) else number)
    except (TypeError, ValueError) as problem:
        raise ValueError(
            f"{label} cannot be shown ({problem}); give words, a number, or (number, unit)"
        ) from None


def _shown(label: str, number: Any) -> WorkedRow:
    if isinstance(number, str):
        return WorkedRow(label, number)
    value, unit, note = (*number, "", "")[:3] if isinstance(number, tuple) else (number, "", "")
    if isinstance(value, Explained):
        step = value.derivation().steps[-1]
        return WorkedRow(label, format_quantity(value, unit or step.quantity.unit), note, step)
    if value is None:
        return WorkedRow(label, "none", note)
    return WorkedRow(label, format_quantity(value, unit), note)
