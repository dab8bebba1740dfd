"""Parts of a card, described once for the browser, for plain text and for a still page.

A part is one thing on a card: a paragraph, a question with its options, a row of buttons. Its
``spec`` goes to the browser; ``text`` and ``html`` are for places without one. Words may contain
``**strong**``, ``*emphasis*`` and ```code```; everything else in them is plain text. Times stay as
the ledger has them and are put on the reader's clock last: here by `in_words` and `on_a_page`, and
in the browser by the card.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from string import ascii_uppercase
from typing import Any, Final

from mlsys_widgets.drawing import markup
from mlsys_widgets.drawing.theme import TONES
from mlsys_widgets.labs import Record
from mlsys_widgets.labs.asked import Asked
from mlsys_widgets.labs.word_limits import WordLimits
from mlsys_widgets.wording.local_time import with_local_times
from mlsys_widgets.wording.units import format_quantity

#: What the two ends of the confidence scale mean.
LEAST, MOST = "a guess", "certain"
CONFIDENCES: Final = tuple(range(1, 6))


def in_points(points: float) -> str:
    """Return points as people read them.

    Examples
    --------
    >>> in_points(1), in_points(2.5)
    ('1 point', '2.5 points')
    """
    return format_quantity(points, "point" if points == 1 else "points")


def worth(item: Asked | Record) -> str:
    """Return what an item is worth, as its card says it.

    Examples
    --------
    >>> worth(Record(["act1_bound"], points=4)), worth(Record(["x"], points=0, deeper=True))
    ('4 points', 'deeper, no points')
    """
    return "deeper, no points" if item.deeper else in_points(item.points)


def as_typed(text: str, *, code: bool = False) -> str:
    """Return what a student typed for a page without a kernel.

    Pages look for formulas in paragraphs, and leave alone what is preformatted.
    """
    style = f"white-space:pre-wrap;{'' if code else 'font:inherit;'}margin:0 0 1em"
    return f'<pre style="{style}">{escape(text or "______")}</pre>'


@dataclass(frozen=True)
class Part:
    """Base of the parts. ``key`` identifies it on its card from one view to the next."""

    key: str

    def spec(self) -> dict[str, Any]:
        """Return what the browser draws it from."""
        return {"kind": type(self).__name__.lower(), "key": self.key}

    def text(self) -> str:
        """Return the part in plain text; empty if it has nothing to say."""
        return ""

    def html(self) -> str:
        """Return the part on a page without a kernel."""
        return ""


@dataclass(frozen=True)
class Prose(Part):
    """Paragraphs; ``tone`` gives them a colored edge, ``label`` a word in front."""

    words: str
    tone: str = ""
    label: str = ""
    quiet: bool = False

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "html": self._inner(), "tone": TONES.get(self.tone, ""),
                "quiet": self.quiet}  # fmt: skip

    def _inner(self) -> str:
        label = f"<strong>{markup.inline(self.label)}</strong> " if self.label else ""
        first, *rest = (markup.inline(one.strip()) for one in re.split(r"\n\s*\n", self.words))
        return "".join(f"<p>{one}</p>" for one in (label + first, *rest))

    def text(self) -> str:
        return f"{markup.plain(self.label)} {markup.plain(self.words)}".strip()

    def html(self) -> str:
        if not self.tone:
            return self._inner()
        edge = f"border-left:4px solid {TONES[self.tone]};padding:2px 12px"
        return f'<div style="{edge}">{self._inner()}</div>'


@dataclass(frozen=True)
class FoldedProse(Prose):
    """Paragraphs behind a heading that unfolds them."""

    heading: str = ""

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "heading": self.heading}

    def text(self) -> str:
        return f"{self.heading}: {super().text()}"

    def html(self) -> str:
        return f"<details><summary>{escape(self.heading)}</summary>{super().html()}</details>"


@dataclass(frozen=True)
class RecordedAnswer(Part):
    """An answer that is recorded, in a line; a browser shows since when."""

    words: str
    time: str

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "html": markup.inline(self.words), "time": self.time}

    def text(self) -> str:
        return f"{markup.plain(self.words)}."

    def html(self) -> str:
        return f"<p>{markup.inline(self.words)}.</p>"


@dataclass(frozen=True)
class SealedAnswer(RecordedAnswer):
    """An answer that can no longer be changed, with its time."""

    def text(self) -> str:
        return f"{markup.plain(self.words)} ({self.time})"

    def html(self) -> str:
        return f"<p>{markup.inline(self.words)} <small>{escape(self.time)}</small></p>"


@dataclass(frozen=True)
class InputField(Part):
    """Base of what a student fills in, under a legend."""

    legend: str

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), **vars(self), "legend": markup.inline(self.legend)}


@dataclass(frozen=True)
class ChoiceField(InputField):
    """Base of what is chosen from a list, each line with a sign of whether it is chosen."""

    options: Mapping[str, str]

    def _rows(self) -> list[str]:
        raise NotImplementedError

    def text(self) -> str:
        return "\n".join(
            [markup.plain(self.legend), *(f"  {markup.plain(row)}" for row in self._rows())]
        )

    def html(self) -> str:
        rows = "<br>".join(markup.inline(row) for row in self._rows())
        return f"<p>{markup.inline(self.legend)}</p><p>{rows}</p>"


@dataclass(frozen=True)
class Options(ChoiceField):
    """One of several, as radio buttons under their question."""

    value: str | None = None
    disabled: bool = False
    #: Whether letters stand before the words: A for the first, whatever its key is.
    lettered: bool = False
    inline: bool = False
    #: An action that is triggered as soon as an option is chosen.
    asks: str = ""

    def spec(self) -> dict[str, Any]:
        options = [[key, markup.inline(words)] for key, words in self.options.items()]
        return {**super().spec(), "options": options}

    def _rows(self) -> list[str]:
        letters = [f"{each}: " if self.lettered else "" for each in ascii_uppercase]
        return [
            f"{'(•)' if key == self.value else '( )'} {letter}{words}"
            for letter, (key, words) in zip(letters, self.options.items(), strict=False)
        ]


@dataclass(frozen=True)
class Confidence(Part):
    """How sure somebody is, on a scale from 1 to 5."""

    value: int | None = None
    disabled: bool = False
    about: str = ""

    def spec(self) -> dict[str, Any]:
        about = f" of {markup.inline(self.about)}" if self.about else ""
        return {
            **super().spec(),
            "legend": f"How sure are you{about}?",
            "options": [[str(k), str(k)] for k in CONFIDENCES],
            "ends": [LEAST, MOST],
            "value": None if self.value is None else str(self.value),
            "disabled": self.disabled,
        }

    def text(self) -> str:
        return f"Confidence: {self.value} of 5" if self.value else ""

    def html(self) -> str:
        return f"<p>{self.text()}</p>" if self.value else ""


@dataclass(frozen=True)
class TextBox(InputField):
    """A line to type in, with a label and a hint."""

    hint: str
    value: str = ""
    disabled: bool = False
    #: What may be marked on a scale instead of typed, in order; no scale if empty.
    scale: tuple[str, ...] = ()

    def text(self) -> str:
        return f"{markup.plain(self.legend)}\n  {self.value or '______'} ({self.hint})"

    def html(self) -> str:
        return f"<p>{markup.inline(self.legend)}</p>{as_typed(self.value)}"


@dataclass(frozen=True)
class TextArea(InputField):
    """Room for a few sentences."""

    hint: str = ""
    value: str = ""
    rows: int = 5
    #: The words that are asked for; the page counts along while somebody types.
    at_least: int = 1
    at_most: int | None = None
    #: Whether it is code, in which every space counts.
    code: bool = False

    @classmethod
    def within(cls, limits: WordLimits, key: str, legend: str, value: str) -> TextArea:
        """Make room for a text of a certain length, and say how long it should be."""
        wanted = f"Write {limits.wanted}. " if limits.wanted else ""
        return cls(
            key,
            legend,
            f"{wanted}Press the button to record it.",
            value,
            at_least=limits.at_least,
            at_most=limits.at_most,
        )

    def text(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{markup.plain(self.legend)}\n  {self.value or '______'}{hint}"

    def html(self) -> str:
        return f"<p>{markup.inline(self.legend)}</p>{as_typed(self.value, code=self.code)}"


@dataclass(frozen=True)
class Blanks(Part):
    """A sentence with gaps: plain pieces, and ``(name, options, value)`` for each gap."""

    pieces: tuple[str | tuple[str, Mapping[str, str], str | None], ...]

    def spec(self) -> dict[str, Any]:
        pieces: list[Any] = []
        for piece in self.pieces:
            if isinstance(piece, str):
                pieces.append(markup.inline(piece))
            else:
                name, options, value = piece
                choices = [[key, markup.plain(words)] for key, words in options.items()]
                pieces.append({"name": name, "options": choices, "value": value})
        return {**super().spec(), "pieces": pieces}

    def text(self) -> str:
        return "".join(
            markup.plain(piece)
            if isinstance(piece, str)
            else f"[{markup.plain(piece[1].get(piece[2] or '', '______'))}]"
            for piece in self.pieces
        )

    def html(self) -> str:
        return f"<p>{escape(self.text())}</p>"


@dataclass(frozen=True)
class Checkboxes(ChoiceField):
    """Any of several, as boxes to check, each with a note."""

    notes: Mapping[str, str]
    value: tuple[str, ...] = ()

    def spec(self) -> dict[str, Any]:
        inline = markup.inline
        rows = [[k, inline(w), inline(self.notes.get(k, ""))] for k, w in self.options.items()]
        spec = {**super().spec(), "options": rows, "value": list(self.value)}
        del spec["notes"]  # they stand in the rows
        return spec

    def _rows(self) -> list[str]:
        return [f"[{'x' if key in self.value else ' '}] {w}" for key, w in self.options.items()]


@dataclass(frozen=True)
class Buttons(Part):
    """``(action, words)`` of each button, the main one first. A still page shows no buttons."""

    buttons: tuple[tuple[str, str], ...]
    #: Whether the main one is the next step, or something that may be done again.
    leads: bool = True

    def spec(self) -> dict[str, Any]:
        buttons = [list(button) for button in self.buttons]
        return {**super().spec(), "buttons": buttons, "leads": self.leads}


@dataclass(frozen=True)
class BesideLinks(Part):
    """Instruments that a card is about, by title, each to be shown beside it with one click.

    Only where something can show them: in JupyterLab with the Lab panel and room for both.
    """

    titles: tuple[str, ...]

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "titles": list(self.titles)}


@dataclass(frozen=True)
class Numbers(Part):
    """Cards with a label, a value, a tone, and a small line below each."""

    cards: tuple[tuple[str, str, str, str], ...]

    def spec(self) -> dict[str, Any]:
        cards = [[label, value, TONES[tone], note] for label, value, tone, note in self.cards]
        return {**super().spec(), "cards": cards}

    def text(self) -> str:
        return "\n".join(
            f"{label}: {value}{f' ({note})' if note else ''}"
            for label, value, _, note in self.cards
        )

    def html(self) -> str:
        # Not a table: on a feedback page, which has no style for one, its words run together.
        rows = "".join(
            f"<li><strong>{escape(label)}:</strong> {escape(value)}"
            f"{f' ({escape(note)})' if note else ''}</li>"
            for label, value, _, note in self.cards
        )
        return f"<ul>{rows}</ul>"


@dataclass(frozen=True)
class Steps(Part):
    """Groups of lines that are done or not, each under a heading, as the acts of a lab.

    A line may have a third entry: a remark that is shown behind it, and said instead of "done".
    """

    groups: tuple[tuple[str, tuple[tuple[str, bool] | tuple[str, bool, str], ...]], ...]

    def spec(self) -> dict[str, Any]:
        groups = [
            [
                title,
                sum(line[1] for line in lines),
                len(lines),
                [[markup.inline(line[0]), *line[1:]] for line in lines],
            ]
            for title, lines in self.groups
        ]
        return {**super().spec(), "groups": groups}

    def text(self) -> str:
        shown = []
        for title, lines in self.groups:
            shown.append(f"{title}: {sum(line[1] for line in lines)} of {len(lines)}")
            for words, done, remark in ((*line, "")[:3] for line in lines):
                behind = f" ({remark})" if remark else ""
                shown.append(f"  [{'x' if done else ' '}] {markup.plain(words)}{behind}")
        return "\n".join(shown)

    def html(self) -> str:
        return "".join(f"{escape(line)}<br>" for line in self.text().splitlines())


@dataclass(frozen=True)
class NumberedList(Part):
    """A numbered list: a headline in bold, and what follows it."""

    points: tuple[tuple[str, str], ...]

    def spec(self) -> dict[str, Any]:
        points = [[markup.inline(head), markup.inline(words)] for head, words in self.points]
        return {**super().spec(), "points": points}

    def text(self) -> str:
        rows = (f"{head}. {words}" if head else words for head, words in self.points)
        return "\n".join(f"{k}. {markup.plain(row)}" for k, row in enumerate(rows, 1))

    def html(self) -> str:
        rows = "".join(
            f"<li>{f'<strong>{head}.</strong> ' if head else ''}{words}</li>"
            for head, words in (map(markup.inline, point) for point in self.points)
        )
        return f"<ol>{rows}</ol>"


@dataclass(frozen=True)
class Rows(Part):
    """Lines of two columns: a heading in bold, and what belongs to it."""

    rows: tuple[tuple[str, str], ...]

    def spec(self) -> dict[str, Any]:
        rows = [[markup.inline(head), markup.inline(words)] for head, words in self.rows]
        return {**super().spec(), "rows": rows}

    def text(self) -> str:
        return "\n".join(
            f"{markup.plain(head)}: {markup.plain(words)}" for head, words in self.rows
        )

    def html(self) -> str:
        rows = "".join(
            f"<li><strong>{markup.inline(h)}:</strong> {markup.inline(w)}</li>"
            for h, w in self.rows
        )
        return f"<ul>{rows}</ul>"


def in_words(parts: Sequence[Part]) -> str:
    """All parts in plain text."""
    return with_local_times("\n".join(words for part in parts if (words := part.text())))


def on_a_page(parts: Sequence[Part]) -> str:
    """All parts as HTML that needs no style sheet."""
    return with_local_times("".join(part.html() for part in parts))
