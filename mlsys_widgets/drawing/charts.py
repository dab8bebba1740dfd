"""Bar charts, described as data and turned into scenes.

A chart says what its bars stand for and how long they are. Whoever shows it, live or still, draws
the one scene that `scene` makes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlsys_widgets.drawing import markup
from mlsys_widgets.drawing.scene import BARE_MARGIN, Axis, Blocks, Scene, Strokes, Words, even

#: Pixels of a row: the line of text, the bar, and some air.
_ROW = 44
#: Letters of a label that fit above its bar.
_LETTERS = 86
#: Letters that fit below all columns together.
_COLUMN_LETTERS = 88
#: Entries of a legend that stand beside each other.
_ENTRIES = 5


@dataclass(frozen=True)
class Bar:
    """One bar."""

    label: str
    #: Length and tone of each of its pieces.
    parts: tuple[tuple[float, str], ...]
    #: Written at its end.
    note: str = ""
    explanation: str = ""
    #: The interval of its length, drawn as a line over its end.
    reach: tuple[float, float] | None = None

    @property
    def length(self) -> float:
        """The length of all pieces together."""
        return sum(length for length, _ in self.parts)


@dataclass(frozen=True)
class Chart:
    """Bars that are compared with each other."""

    key: str  # its name among others, for machines and for people
    title: str
    finding: str  # what the bars show, in words
    bars: tuple[Bar, ...]  # the bars, in order
    #: Whether they stand side by side, as in a histogram; otherwise they lie below each other.
    columns: bool = False
    across: str = ""  # what the bars stand for, and what their length is
    measure: str = ""
    most: float = 1.0  # the length of the longest bar there could be
    percent: bool = False  # whether lengths are fractions, to be written as percentages
    legend: tuple[tuple[str, str], ...] = ()  # tone and meaning

    @property
    def heading(self) -> str:
        """The title as a sentence of its own."""
        return self.title if self.title.endswith(("?", "!", ".", "…")) else f"{self.title}."

    @property
    def description(self) -> str:
        """The whole chart in words, for whoever cannot see it."""
        bars = "; ".join(f"{bar.label}: {bar.note}" for bar in self.bars if bar.note)
        return markup.plain(" ".join(filter(None, (self.heading, self.finding, bars))))


@dataclass(frozen=True)
class ChartGroup:
    """Charts of one kind, of which a viewer shows one at a time."""

    key: str
    title: str
    charts: tuple[Chart, ...]


def scene(chart: Chart) -> Scene:
    """Lay out the bars of a chart."""
    return _columns(chart) if chart.columns else _rows(chart)


def _columns(chart: Chart) -> Scene:
    top = even(chart.most)[-1]
    # Half a student would puzzle the reader: counts have whole ticks only.
    ticks = tuple(tick for tick in even(chart.most) if chart.percent or tick == int(tick))
    scale = tuple(f"{tick:.0%}" if chart.percent else f"{tick:,g}" for tick in ticks)
    blocks = []
    for k, bar in enumerate(chart.bars):
        low = 0.0
        for length, tone in bar.parts:
            blocks.append((k + 0.08, low, k + 0.92, low + length, tone))
            low += length
    middles = tuple(k + 0.5 for k in range(len(chart.bars)))
    labels = tuple(bar.label for bar in chart.bars)
    # Labels that would run into each other are thinned out.
    longest = max(map(len, labels), default=0) + 1
    step = max(1, -(-longest * len(labels) // _COLUMN_LETTERS))
    return Scene(
        Axis(chart.across, 0.0, float(max(len(labels), 1)), ticks=middles[::step],
             words=labels[::step], grid=False),
        Axis(chart.measure, 0.0, top * 1.08, ticks=ticks, words=scale),
        marks=(
            Blocks("bars", tuple(blocks)),
            *_reaches(chart, lambda k, length: (middles[k], length)),
            Words("notes", middles, tuple(bar.reach[1] if bar.reach else bar.length
                                          for bar in chart.bars),
                  tuple(bar.note for bar in chart.bars), align="middle"),
        ),
    )  # fmt: skip


def _rows(chart: Chart) -> Scene:
    count = len(chart.bars)
    blocks: list[tuple[float, float, float, float, str]] = []
    places: list[tuple[float, float, str]] = []
    for k, bar in enumerate(chart.bars):
        foot, left = float(count - 1 - k), 0.0
        note = f" · {bar.note}" if bar.note else ""
        places.append((0.0, foot + 0.52, f"{_short(bar.label)}{note}"))
        for length, tone in bar.parts:
            blocks.append((left, foot + 0.12, left + length, foot + 0.48, tone))
            left += length
    step = chart.most / _ENTRIES
    for k, (tone, meaning) in enumerate(chart.legend):
        left = k * step
        blocks.append((left, count + 0.3, left + step * 0.12, count + 0.6, tone))
        places.append((left + step * 0.17, count + 0.32, meaning))
    top = count + (0.8 if chart.legend else 0.0)
    x, y, text = zip(*places, strict=True) if places else ((), (), ())
    return Scene(
        Axis("", 0.0, chart.most),
        Axis("", 0.0, float(max(top, 1))),
        marks=(
            Blocks("bars", tuple(blocks)),
            *_reaches(chart, lambda k, length: (length, count - 1 - k + 0.3)),
            Words("words", x, y, tuple(text)),
        ),
        height=round(2 * BARE_MARGIN + _ROW * max(top, 1)),
    )


def _reaches(
    chart: Chart, place: Callable[[int, float], tuple[float, float]]
) -> tuple[Strokes, ...]:
    """The intervals of all bars as lines; ``place`` says where a length of a bar is."""
    lines = tuple(
        tuple(place(k, end) for end in bar.reach) for k, bar in enumerate(chart.bars) if bar.reach
    )
    return (Strokes("reaches", lines, tone="text", width=2),) if lines else ()


def _short(marked: str) -> str:
    text = markup.plain(marked)
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1].rstrip()}…"
