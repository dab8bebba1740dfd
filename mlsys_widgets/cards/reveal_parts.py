"""The parts of a reveal: what was expected and what happened, the verdict, and numbers in a fold.

The result is the largest thing on the page. Where there are numbers they are marks on one axis; an
option that stands for no number is set beside the one that is right.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from mlsys_widgets.cards.parts import Part
from mlsys_widgets.cards.worked_numbers import WorkedRow
from mlsys_widgets.drawing import markup, number_line
from mlsys_widgets.drawing.number_line import NumberMark


@dataclass(frozen=True)
class ComparedNumbers:
    """The numbers of a comparison, as marks on one axis."""

    mine: NumberMark
    others: tuple[NumberMark, ...]
    #: The place among the others of the one that counts.
    counts: int
    unit: str
    #: The distance to what counts, in a few words.
    distance: str

    def picture(self, width: int, description: str, *, style: str = "", paper: bool = False) -> str:
        """Draw them; on a narrow picture the unit is left to the large number above it."""
        mine, *others = marks = (self.mine, *self.others)
        behind = f" {self.unit}"
        if width < number_line.WIDE and all(mark.shown.endswith(behind) for mark in marks):
            mine, *others = (replace(mark, shown=mark.shown.removesuffix(behind)) for mark in marks)
        line = number_line.lay_out(
            mine,
            others,
            unit=self.unit,
            counts=others[self.counts],
            distance=self.distance,
            width=width,
        )
        return number_line.svg(line, description, style=style, paper=paper)


@dataclass(frozen=True)
class Comparison(Part):
    """What was expected and what happened."""

    #: Label, words, tone and note of each: the prediction first.
    compared: tuple[tuple[str, str, str, str], ...]
    #: Which of them counts, by its place.
    counts: int
    numbers: ComparedNumbers | None = None

    def spec(self) -> dict[str, Any]:
        rows = [
            [label, markup.inline(words), tone, note] for label, words, tone, note in self.compared
        ]
        return {**super().spec(), "compared": rows, "counts": self.counts, "html": self._pictures()}

    def _pictures(self) -> str:
        """The picture for a column of text and for a phone; the style sheet shows one of them."""
        if self.numbers is None:
            return ""
        widths = (("mlsys-wide", number_line.WIDE), ("mlsys-narrow", number_line.NARROW))
        return "".join(
            self.numbers.picture(width, self._described, style=style) for style, width in widths
        )

    @property
    def _described(self) -> str:
        rows = ", ".join(f"{label} {markup.plain(words)}" for label, words, _, _ in self.compared)
        distance = self.numbers.distance if self.numbers else ""
        return f"On one axis: {rows}. {f'Distance: {distance}.' if distance else ''}".strip()

    def text(self) -> str:
        return "\n".join(
            f"{label}: {markup.plain(words)}{f' ({note})' if note else ''}"
            for label, words, _, note in self.compared
        )

    def html(self) -> str:
        # Not a table: on a feedback page, which has no style for one, its words run together.
        rows = "".join(
            f"<li><strong>{escape(label)}:</strong> {markup.inline(words)}"
            f"{f' ({escape(note)})' if note else ''}</li>"
            for label, words, _, note in self.compared
        )
        return f"{self._still_picture()}<ul>{rows}</ul>"

    def _still_picture(self) -> str:
        """As an image: a page that cleans what it shows keeps images, of an SVG only words."""
        if self.numbers is None:
            return ""
        drawn = self.numbers.picture(number_line.WIDE, self._described, paper=True)
        data = b64encode(drawn.encode()).decode()
        return (
            f'<p><img alt="{escape(self._described)}" src="data:image/svg+xml;base64,{data}" '
            'style="max-width:100%"></p>'
        )


@dataclass(frozen=True)
class RevealVerdict(Part):
    """The sentence that says what the comparison means, and the paragraph that explains it."""

    #: "Right.", or how far off; empty where nothing is judged.
    label: str
    #: The distance to what counts.
    how_far: str = ""
    words: str = ""

    @property
    def _says_how_far(self) -> bool:
        return "too " in self.label

    @property
    def _lead(self) -> str:
        """One sentence; a bare verdict says how far as well."""
        label = f"<strong>{markup.inline(self.label)}</strong>" if self.label else ""
        how_far = "" if self._says_how_far else markup.inline(self.how_far)
        return " ".join(filter(None, (label, how_far)))

    @property
    def _paragraphs(self) -> list[str]:
        return [markup.inline(words) for words in self.words.split("\n\n") if words]

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "lead": self._lead, "rest": self._paragraphs}

    def text(self) -> str:
        said = " ".join(filter(None, (self.label, markup.plain(self.words))))
        return "\n".join(filter(None, ("" if self._says_how_far else self.how_far, said)))

    def html(self) -> str:
        lead = f'<p style="font-size:20px">{self._lead}</p>'
        return lead + "".join(f"<p>{words}</p>" for words in self._paragraphs)


@dataclass(frozen=True)
class NumbersBehind(Part):
    """Worked numbers with their formulas, under headings, in a fold."""

    groups: tuple[tuple[str, Sequence[WorkedRow]], ...]

    def spec(self) -> dict[str, Any]:
        groups = [
            [heading, [[row.label, row.value, row.typeset, row.note] for row in rows]]
            for heading, rows in self.groups
        ]
        return {**super().spec(), "groups": groups}

    def text(self) -> str:
        return "\n".join(
            "\n".join([heading, *(row.text() for row in rows)]) for heading, rows in self.groups
        )

    def html(self) -> str:
        return "".join(
            f"<p><strong>{escape(heading)}</strong></p>"
            f"<ul>{''.join(f'<li>{row.html()}</li>' for row in rows)}</ul>"
            for heading, rows in self.groups
        )
