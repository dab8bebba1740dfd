"""A scene on the screen: bqplot marks that are created once and then only change their data.

A mark sends nothing on its own: what changed travels in the one message of its instrument, so that
a plot never shows another state than the cards beside it.
"""

from __future__ import annotations

import math
from typing import Any

import bqplot
import ipywidgets
import numpy as np
from bqplot import marks as bq

from mlsys_widgets.drawing.scene import (
    BARE_MARGIN,
    AnyMark,
    Array,
    Axis,
    Blocks,
    Line,
    Points,
    Scene,
    Strokes,
    Words,
)
from mlsys_widgets.drawing.theme import LIVE, color


class Silent:
    """A bqplot widget whose changes travel with the state of its instrument, never alone."""

    def send_state(self, key: Any = None) -> None:
        """Send everything if the browser asks for it; a single change is not sent."""
        if key is None:
            super().send_state()  # type: ignore[misc]

    def notify_change(self, change: Any) -> None:
        """Tell whoever observes it, and spare working out a message that would not be sent."""
        super(ipywidgets.Widget, self).notify_change(change)  # type: ignore[misc]


class _Lines(Silent, bqplot.Lines):
    """Lines, and filled outlines."""


class _Scatter(Silent, bqplot.Scatter):
    """Symbols."""


class _Label(Silent, bqplot.Label):
    """Words."""


class _Axis(Silent, bqplot.Axis):
    """An axis."""


class _LinearScale(Silent, bqplot.LinearScale):
    """A linear scale."""


class _LogScale(Silent, bqplot.LogScale):
    """A logarithmic scale."""


class Plot:
    """One figure that follows a scene."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._scales = {"x": _scale(scene.across), "y": _scale(scene.up)}
        self._axes = [
            _axis(scene.across, self._scales["x"], label_offset="36px"),
            _axis(scene.up, self._scales["y"], label_offset="54px", side="left"),
        ]
        self.marks: dict[str, bq.Mark] = {
            mark.name: _make(mark, self._scales) for mark in scene.marks
        }
        #: The pinned state behind the marks: as it was asked for, and as it is drawn.
        self._pinned: tuple[AnyMark, ...] = ()
        #: Every widget that has changed since it was made, with the traits that did.
        self._changed: dict[Any, dict[str, None]] = {}
        self.figure = bqplot.Figure(
            marks=list(self.marks.values()),
            axes=self._axes,
            fig_margin=_margin(scene),
            min_aspect_ratio=0.5,
            max_aspect_ratio=20,
            padding_y=0.0,
            animation_duration=0,
            legend_location="top-left",
            display_toolbar=False,  # it would cover a corner of the plot
        )
        self.figure.layout.width = "100%"
        self.figure.layout.height = f"{scene.height}px"
        self.figure.add_class("mlsys-plot")
        if scene.bare:
            self.figure.add_class("mlsys-diagram")

    @property
    def frame(self) -> list[Any]:
        """Where the axes lie and what they span: what the browser needs to place a handle."""
        across, up = self.scene.across, self.scene.up
        # bqplot moves the ends of its scales inward, so that no symbol or line is cut in half.
        padding = max((_reach(mark) for mark in self.scene.marks), default=0.0)
        margin = _margin(self.scene)
        return [
            [across.low, across.high, across.log],
            [up.low, up.high, up.log],
            [margin[side] + padding for side in ("top", "right", "bottom", "left")],
        ]

    @property
    def followers(self) -> list[Any]:
        """All widgets that follow the scene, in an order that stays."""
        return [*self.marks.values(), *self._axes, *self._scales.values()]

    def changed_state(self, numbers: PackedNumbers) -> list[list[Any]]:
        """All that was ever changed: the place among ``followers``, and the traits by name."""
        return [
            [k, {name: _travels(name, getattr(widget, name), numbers) for name in names}]
            for k, widget in enumerate(self.followers)
            if (names := self._changed.get(widget))
        ]

    def draw_pinned(self, marks: tuple[AnyMark, ...]) -> None:
        """Draw the marks of a pinned state behind the others."""
        if marks != self._pinned:
            self._pinned = marks
            ghosts = [_make(mark, self._scales) for mark in marks]
            self.figure.marks = [*ghosts, *self.marks.values()]

    def update(self, scene: Scene) -> None:
        """Update what differs from the scene on the screen."""
        before = {mark.name: mark for mark in self.scene.marks}
        for mark in scene.marks:
            if mark != before.get(mark.name):
                self._apply(self.marks[mark.name], _data(mark))
        pairs = zip((scene.across, scene.up), (self.scene.across, self.scene.up), strict=True)
        for k, (axis, old) in enumerate(pairs):
            if axis != old:
                self._apply(self._axes[k], _ticks(axis))
                self._apply(self._scales["xy"[k]], {"min": axis.low, "max": axis.high})
        self.scene = scene

    def _apply(self, widget: Any, values: dict[str, Any]) -> None:
        """Set several traits, leaving out those that would not change."""
        for name, value in values.items():
            if not _same(getattr(widget, name), value):
                setattr(widget, name, value)
                self._changed.setdefault(widget, {})[name] = None


def _margin(scene: Scene) -> dict[str, int]:
    if scene.bare:
        return dict.fromkeys(("top", "bottom", "left", "right"), BARE_MARGIN)
    return {"top": 16, "bottom": 48, "left": 78, "right": 24}


def _reach(mark: AnyMark) -> float:
    """How far a mark reaches beyond its coordinates, in pixels, as bqplot reckons it."""
    match mark:
        case Points(size=size):
            return math.floor(math.sqrt(size) / 2) + 1.0
        case Line(width=width) | Strokes(width=width):
            return width / 2
    return 0.0


def _scale(axis: Axis) -> bqplot.Scale:
    kind = _LogScale if axis.log else _LinearScale
    return kind(min=axis.low, max=axis.high)


def _ticks(axis: Axis) -> dict[str, Any]:
    values: dict[str, Any] = {"label": axis.label, "visible": not axis.bare}
    if axis.ticks:
        values["tick_values"] = np.array(axis.ticks)
        words = axis.words or tuple(f"{tick:,g}" for tick in axis.ticks)
        values["tick_labels"] = {_key(t): w for t, w in zip(axis.ticks, words, strict=True)}
    return values


def _key(tick: float) -> str:
    """The key under which bqplot looks up a tick's label: the number as JavaScript writes it."""
    if 1e-6 <= abs(tick) < 1e21 or tick == 0:
        return np.format_float_positional(tick, trim="-")
    digits, power = repr(float(tick)).split("e")
    return f"{digits}e{int(power):+d}"


def _axis(axis: Axis, scale: bqplot.Scale, **more: str) -> bqplot.Axis:
    lines = "solid" if axis.grid else "none"
    return _Axis(scale=scale, grid_lines=lines, **more, **_ticks(axis))


def _color(tone: str) -> str:
    return LIVE.get(tone) or color(tone)


def _make(mark: AnyMark, scales: dict[str, bqplot.Scale]) -> bq.Mark:
    data = _data(mark)
    match mark:
        case Line() | Strokes():
            return _Lines(
                scales=scales,
                colors=[_color(mark.tone)],
                line_style=mark.dash,
                stroke_width=mark.width,
                **data,
            )
        case Points():
            return _Scatter(
                scales=scales,
                colors=[_color(mark.tone)],
                marker=mark.symbol,
                default_size=int(mark.size),
                stroke="var(--jp-layout-color1, #ffffff)",
                **data,
            )
        case Blocks():
            return _Lines(scales=scales, stroke_width=0, fill="inside", close_path=True, **data)
        case Words():
            return _Label(
                scales=scales,
                colors=[_color("text")],
                default_size=13,
                y_offset=-8 if mark.above else 2,
                font_weight="normal",
                **data,
            )


def _data(mark: AnyMark) -> dict[str, Any]:
    """The traits of a mark that change while an instrument is used."""
    match mark:
        case Blocks(blocks=blocks):
            corners = blocks or ((1.0, 1.0, 1.0, 1.0, "ink"),)
            colors = [_color(tone) for *_, tone in corners]
            return {
                "x": np.array([[left, right, right, left] for left, _, right, _, _ in corners]),
                "y": np.array([[low, low, high, high] for _, low, _, high, _ in corners]),
                "colors": colors,
                "fill_colors": colors,
                "fill_opacities": [mark.opacity] * len(corners),
                "visible": bool(blocks),
            }
        case Strokes(paths=paths):
            shown = paths or (((1.0, 1.0), (1.0, 1.0)),)
            longest = max(len(path) for path in shown)
            # All lines of a mark need the same number of points: the last one is repeated.
            bends = np.array([[*path, *path[-1:] * (longest - len(path))] for path in shown])
            return {"x": bends[..., 0], "y": bends[..., 1], "visible": bool(paths)}
        case Words(x=x, text=text):
            words = {"text": list(text) or [""], "align": mark.align, "visible": len(x) > 0}
            return {**_places(mark), **words}
        case Line() | Points():
            return _places(mark)


def _places(mark: Line | Points | Words) -> dict[str, Any]:
    """Coordinates; bqplot cannot draw a mark without any, so that one is hidden."""
    shown = len(mark.x) > 0
    return {
        "x": np.asarray(mark.x if shown else [1.0], dtype=np.float64),
        "y": np.asarray(mark.y if shown else [1.0], dtype=np.float64),
        "visible": shown,
    }


class PackedNumbers:
    """The numbers of many arrays, one after the other, in one buffer.

    Single precision halves the bytes; a screen needs no more digits.
    """

    def __init__(self) -> None:
        self._parts: list[Array] = []
        self._length = 0

    def add(self, values: Array) -> dict[str, list[int]]:
        """Put an array behind the others; where it begins, and its shape."""
        start = self._length
        self._parts.append(values.ravel())
        self._length += values.size
        return {"span": [start, *values.shape]}

    @property
    def buffer(self) -> memoryview:
        """All numbers."""
        joined = np.concatenate(self._parts) if self._parts else np.zeros(0)
        return memoryview(joined.astype(np.float32).tobytes())


def _travels(name: str, value: Any, numbers: PackedNumbers) -> Any:
    """A trait as it travels. Words are arrays to bqplot, and a list on the way."""
    if not isinstance(value, np.ndarray):
        return value
    if name == "text":
        return value.tolist()
    if name == "tick_values":
        # Labels are looked up by the number, to its last digit.
        return {"exact": value.tolist()}
    return numbers.add(value.astype(np.float64))


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, np.ndarray) or isinstance(new, np.ndarray):
        return old is not None and np.array_equal(old, new)
    return bool(old == new)
