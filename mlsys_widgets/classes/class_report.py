"""How a class did in a lab, for the lecture: one picture at a time, and nobody's name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from mlsys_widgets.cards.card import Action, LabWidget, Values
from mlsys_widgets.cards.confidence_quiz import PlotCard
from mlsys_widgets.cards.parts import Options, Part, Prose, Rows
from mlsys_widgets.drawing import markup, picture
from mlsys_widgets.drawing.scene import BARE_MARGIN, Axis, Blocks, Scene, Words, even
from mlsys_widgets.instruments.plot import Plot
from mlsys_widgets.physics.domain import one_of

#: Pixels of a row: the line of words, the bar, and some air.
_ROW = 44
#: Letters of a bar's words that fit above it.
_LETTERS = 86
#: Sentences above a picture; more would push it off the screen.
_SENTENCES = 3
#: Entries of a legend that stand beside each other.
_ENTRIES = 5


class Bar(Protocol):
    """A bar of a picture, as grading describes it."""

    @property
    def words(self) -> str:
        """What it stands for."""

    @property
    def parts(self) -> Sequence[tuple[float, str]]:
        """Length and tone of each piece."""

    @property
    def note(self) -> str:
        """What is written at its end."""

    @property
    def says(self) -> str:
        """A sentence about it."""


class Chart(Protocol):
    """A picture, as grading describes it."""

    @property
    def key(self) -> str:
        """Its name among others."""

    @property
    def title(self) -> str:
        """What people call it."""

    @property
    def says(self) -> str:
        """What is to be seen."""

    @property
    def bars(self) -> Sequence[Bar]:
        """The bars."""

    @property
    def columns(self) -> bool:
        """Whether they stand side by side."""

    @property
    def across(self) -> str:
        """What the bars stand for."""

    @property
    def measure(self) -> str:
        """What their length is."""

    @property
    def most(self) -> float:
        """The longest there could be."""

    @property
    def legend(self) -> Sequence[tuple[str, str]]:
        """Tone and meaning."""


class Group(Protocol):
    """Pictures of one kind."""

    @property
    def key(self) -> str:
        """Its name among others."""

    @property
    def words(self) -> str:
        """What people call it."""

    @property
    def charts(self) -> Sequence[Chart]:
        """The pictures."""


class Summary(Protocol):
    """What the widget needs of a summary of a class."""

    @property
    def title(self) -> str:
        """The lab."""

    @property
    def pictures(self) -> Sequence[Group]:
        """Everything there is to see."""


class ClassReport(LabWidget):
    """A class in a lab, picture by picture.

    Parameters
    ----------
    summary
        What ``mlsys_widgets.classes.class_summary`` found.

    Examples
    --------
    >>> from mlsys_widgets.classes import ClassSummary
    >>> print(ClassReport(ClassSummary("lab_00_demo", "A demonstration", 100)).text())
    The class: A demonstration
    Nobody has handed in this lab yet, or nothing is graded.
    """

    kind = "The class"
    tone = "blue"
    card_class = PlotCard

    def __init__(self, summary: Summary) -> None:
        super().__init__(summary.title)
        self._groups = {group.key: group for group in summary.pictures}
        self._shows = dict.fromkeys(self._groups, 0)
        self._group = next(iter(self._groups), "")
        self._plots: dict[str, Plot] = {}
        self.show()

    @property
    def chart(self) -> Chart | None:
        """The picture that is shown; none where there is nothing to see."""
        if not self._group:
            return None
        return self._groups[self._group].charts[self._shows[self._group]]

    @property
    def pictures(self) -> tuple[str, ...]:
        """Of all pictures there are, for `look`."""
        return tuple(chart.key for group in self._groups.values() for chart in group.charts)

    def look(self, key: str) -> None:
        """Show a picture.

        Raises
        ------
        ValueError
            With a sentence that lists what there is.
        """
        one_of("picture", key, self.pictures)
        for name, group in self._groups.items():
            for place, chart in enumerate(group.charts):
                if chart.key == key:
                    self._group, self._shows[name] = name, place
        self.show()

    # What the card shows and what can be asked of it.

    def actions(self) -> Mapping[str, Action]:
        """Choose a kind of picture, and one of that kind."""
        return {"choose": self._on_choose, "look": self._on_look}

    def _on_choose(self, values: Values) -> None:
        self._group = one_of("picture", str(values.get("group")), tuple(self._groups))
        self._told()

    def _on_look(self, values: Values) -> None:
        self.look(str(values.get("chart")))
        self._told()

    def _told(self) -> None:
        if chart := self.chart:
            self._say(f"{chart.title}. {chart.says}")

    def parts(self) -> Sequence[Part]:
        """What can be looked at, and the picture in words."""
        chart = self.chart
        if chart is None:
            return [Prose("empty", "Nobody has handed in this lab yet, or nothing is graded.")]
        group = self._groups[self._group]
        kinds = {key: each.words for key, each in self._groups.items()}
        parts: list[Part] = [
            Options("group", "Look at", kinds, self._group, inline=True, asks="choose")
        ]
        if len(group.charts) > 1:
            listed = {each.key: each.title for each in group.charts}
            parts.append(Options("chart", "Which one", listed, chart.key, inline=True, asks="look"))
        parts.append(Prose("says", chart.says, tone="blue", label=_ended(chart.title)))
        said = tuple((bar.words, bar.says) for bar in chart.bars if bar.says)[:_SENTENCES]
        if said:
            parts.append(Rows("sentences", said))
        return parts

    def show(self) -> None:
        """Bring card and plot to what is chosen."""
        super().show()
        chart = self.chart
        if chart is None:
            return
        if chart.key not in self._plots:
            self._plots[chart.key] = Plot(scene(chart))
        self.children = (self._card, self._plots[chart.key].figure)
        self._card.view = {
            **self._card.view,
            "figure": markup.plain(f"{_ended(chart.title)} {chart.says}"),
        }

    def figure(self) -> str:
        """The picture that is shown, as SVG for a slide.

        Raises
        ------
        ValueError
            When there is nothing to see.
        """
        chart = self.chart
        if chart is None:
            raise ValueError("There is no picture yet: nobody has handed in this lab.")
        return picture.svg((scene(chart),), markup.plain(f"{_ended(chart.title)} {chart.says}"))

    def html(self) -> str:
        """Card and picture as a page without a kernel shows them."""
        return super().html() + (self.figure() if self.chart else "")


def scene(chart: Chart) -> Scene:
    """A picture of bars as a scene."""
    return _columns(chart) if chart.columns else _rows(chart)


def _columns(chart: Chart) -> Scene:
    ticks = even(chart.most)
    as_share = chart.most == 1 and chart.measure == "right"
    words = tuple(f"{tick:.0%}" if as_share else f"{tick:,g}" for tick in ticks)
    count = len(chart.bars)
    blocks = []
    for k, bar in enumerate(chart.bars):
        low = 0.0
        for length, tone in bar.parts:
            blocks.append((k + 0.08, low, k + 0.92, low + length, tone))
            low += length
    tops = [sum(length for length, _ in bar.parts) for bar in chart.bars]
    middles = tuple(k + 0.5 for k in range(count))
    return Scene(
        Axis(chart.across, 0.0, float(count), ticks=middles,
             words=tuple(bar.words for bar in chart.bars), grid=False),
        Axis(chart.measure, 0.0, ticks[-1] * 1.08, ticks=ticks, words=words),
        marks=(
            Blocks("bars", tuple(blocks)),
            Words("notes", middles, tops, tuple(bar.note for bar in chart.bars), tone="text",
                  align="middle"),
        ),
    )  # fmt: skip


def _rows(chart: Chart) -> Scene:
    count = len(chart.bars)
    blocks: list[tuple[float, float, float, float, str]] = []
    places: list[tuple[float, float, str]] = []
    for k, bar in enumerate(chart.bars):
        foot, left = float(count - 1 - k), 0.0
        note = f" · {bar.note}" if bar.note else ""
        places.append((0.0, foot + 0.52, f"{_short(bar.words)}{note}"))
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
        marks=(Blocks("bars", tuple(blocks)), Words("words", x, y, tuple(text), tone="text")),
        height=round(2 * BARE_MARGIN + _ROW * max(top, 1)),
    )


def _ended(title: str) -> str:
    return title if title.endswith(("?", "!", ".", "…")) else f"{title}."


def _short(marked: str) -> str:
    words = markup.plain(marked)
    return words if len(words) <= _LETTERS else f"{words[: _LETTERS - 1].rstrip()}…"
