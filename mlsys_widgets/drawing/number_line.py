"""Numbers compared on one axis: marks, the distance between two, and words that never meet.

What is drawn is laid out first (`lay_out`), so that a test can ask where everything is; `svg` only
writes it down. Colors come as classes and as attributes: a page with the design's style sheet
overrides them, and a picture alone has those of white paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, NamedTuple

from mlsys_widgets.drawing.theme import TONES
from mlsys_widgets.wording.units import format_quantity

#: Widths that a page chooses from: the text column, and a phone.
WIDE: Final = 620
NARROW: Final = 330
#: Sizes of the design: names and values, ticks and the distance.
_TEXT, _NOTE = 16, 13
#: Room for half a mark at both ends, and for an arrow to what is on no scale.
_MARGIN, _BEYOND = 14.0, 44.0
_GAP, _ROW, _RADIUS = 8.0, 27.0, 9.0
_AXIS, _FIRST_ROW = 64.0, 84.0
#: Beyond these a float is as good as zero or as the largest one.
_TINY, _HUGE = 1e-300, 1e300
#: From this span on, in powers of ten, equal factors are drawn equally long.
_LOGARITHMIC: Final = 0.9
_PERCENT: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
#: Percentages that are all below this would lie on top of each other on the whole of them.
_SMALL: Final = 0.1
_SIGNS: Final = {
    "prediction": '<circle r="9" fill="none" stroke="currentColor" stroke-width="4"/>',
    "model": '<rect x="-7" y="-7" width="14" height="14" fill="currentColor"/>',
    "textbook": '<rect x="-6" y="-6" width="12" height="12" fill="none" stroke="currentColor" '
    'stroke-width="3"/>',
    "measured": '<path d="M0-10 10 0 0 10-10 0Z" fill="currentColor"/>',
}
#: Widths of letters in parts of their size, in the widest of the usual fonts; 0.64 of the others.
_LETTERS: Final = {
    " .,:;'|!ijlI()": 0.37,
    "ftr-/": 0.43,
    "mwMW%×@…": 0.98,
    "ABCDEFGHKLNOPQRSTUVXYZ": 0.78,
}
_FONTS = "system-ui, DejaVu Sans, Liberation Sans, Arial, sans-serif"


@dataclass(frozen=True)
class NumberMark:
    """A number on the axis: whose it is, how large, how it is written, and what it means."""

    name: str
    value: float
    shown: str
    #: ``prediction``, ``model``, ``measured`` or ``textbook``.
    tone: str


class Area(NamedTuple):
    """Where something is, in pixels from the upper left corner."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Label:
    """Words in a box; a pole leads from a mark at ``x`` to them."""

    name: str
    shown: str
    box: Area
    x: float = 0.0
    on_left: bool = False


@dataclass(frozen=True)
class NumberLine:
    """A picture that is laid out: where each mark, label and tick is."""

    width: int
    height: float
    marks: tuple[tuple[NumberMark, float], ...]
    labels: tuple[Label, ...]
    ticks: tuple[tuple[float, Label | None], ...]
    #: From the prediction to what counts; `None` where they are the same.
    distance: tuple[float, float] | None
    distance_label: Label | None
    #: Whether something lies beyond every number, at the end of the axis.
    is_open: bool


def lay_out(
    mine: NumberMark,
    others: Sequence[NumberMark],
    *,
    unit: str,
    counts: NumberMark | None = None,
    distance: str = "",
    width: int = WIDE,
) -> NumberLine:
    """Find a place for everything.

    The label of the prediction ``mine`` is above the axis, those of ``others`` below. The distance
    is drawn to the one that ``counts``, and ``distance`` says it where there is room.
    """
    marks = [mark for mark in (mine, *others) if not math.isnan(mark.value)]
    values = [_tamed(mark.value) for mark in marks]
    place, ticks = _scale([value for value in values if math.isfinite(value)], unit)
    left = _MARGIN + (_BEYOND if -math.inf in values else 0.0)
    right = width - _MARGIN - (_BEYOND if math.inf in values else 0.0)

    def across(value: float) -> float:
        if math.isinf(value):
            return width - _MARGIN if value > 0 else _MARGIN
        return left + place(value) * (right - left)

    placed = tuple((mark, across(value)) for mark, value in zip(marks, values, strict=True))
    labels = [_flag(mark, x, 4.0, width) for mark, x in placed if mark is mine]
    rows, count = _rows([(mark, x) for mark, x in placed if mark is not mine], width)
    bottom = _FIRST_ROW + count * _ROW
    ends = {id(mark): x for mark, x in placed}
    start, end = ends.get(id(mine)), ends.get(id(counts)) if counts else None
    apart = (start, end) if start is not None and end is not None and start != end else None
    return NumberLine(
        width,
        bottom + 26,
        placed,
        (*labels, *rows),
        _ticks([(across(tick), words) for tick, words in ticks], bottom + 4, width),
        apart,
        _between(apart, distance) if apart else None,
        any(map(math.isinf, values)),
    )


def text_width(words: str, size: float, *, strong: bool = False) -> float:
    """A width that words stay within, in the sans-serif fonts of all systems."""
    letters = sum(
        next((wide for kind, wide in _LETTERS.items() if letter in kind), 0.64) for letter in words
    )
    return size * letters * (1.12 if strong else 1.0)


def _tamed(value: float) -> float:
    if math.isinf(value):
        return value
    return 0.0 if abs(value) < _TINY else max(-_HUGE, min(_HUGE, value))


def _scale(
    values: Sequence[float], unit: str
) -> tuple[Callable[[float], float], list[tuple[float, str]]]:
    """Where a value is between 0 and 1, and the ticks with their words."""
    if unit == "%" and values and min(values) >= 0 and _SMALL < max(values) <= 1:
        return (lambda value: value), _written(_PERCENT, unit)
    if values and min(values) > 0 and math.log10(max(values) / min(values)) > _LOGARITHMIC:
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        step = -(-(high - low) // 5)
        ticks = [10.0**power for power in range(low, high + 1, step)]
        return (lambda value: (math.log10(value) - low) / (high - low)), _written(ticks, unit)
    low_end, high_end = min((0.0, *values)), max((0.0, *values))
    if low_end == high_end:
        high_end = 1.0
    rough = high_end / 4 - low_end / 4
    power = 10.0 ** math.floor(math.log10(rough))
    size = next(size for size in (1.0, 2.0, 2.5, 5.0, 10.0) if rough <= size * power * 1.0001)
    first, last = math.floor(low_end / (size * power)), math.ceil(high_end / (size * power))
    ticks = [size * power * k for k in range(first, last + 1)]
    bottom, top = ticks[0], ticks[-1]
    return (lambda value: (value / 2 - bottom / 2) / (top / 2 - bottom / 2)), _written(ticks, unit)


def _written(ticks: Sequence[float], unit: str) -> list[tuple[float, str]]:
    """The words at the ticks; a unit that never changes stands at the marks already."""
    words = [format_quantity(tick, unit) for tick in ticks]
    if unit and all(each.endswith(f" {unit}") for each in words):
        words = [each.removesuffix(f" {unit}") for each in words]
    return list(zip(ticks, words, strict=True))


def _flag(mark: NumberMark, x: float, top: float, width: int) -> Label:
    """A label that begins at its pole, or ends there where it would leave the picture."""
    name, value = mark.name, text_width(f" {mark.shown}", _TEXT, strong=True)
    while len(name) > 2 and text_width(name, _TEXT) + value + _GAP > width:
        name = f"{name[:-2].rstrip()}…"
    wide = min(text_width(name, _TEXT) + value, float(width))
    on_left = x + _GAP + wide > width and x - _GAP - wide >= 0
    start = x - _GAP - wide if on_left else min(x + _GAP, width - wide)
    start = max(0.0, start)
    return Label(name, mark.shown, Area(start, top, start + wide, top + 22), x, on_left)


def _rows(placed: list[tuple[NumberMark, float]], width: int) -> tuple[list[Label], int]:
    """Labels below each other so that no two meet, and no pole runs through a label.

    Flags that point to the right are hung from the rightmost to the leftmost, each in the first row
    where it is free: the poles of lower rows then stand left of the upper labels.
    """
    drafts = [_flag(mark, x, 0.0, width) for mark, x in placed]
    if any(label.on_left for label in drafts) and all(
        label.x - _GAP - (label.box.right - label.box.left) >= 0 for label in drafts
    ):
        drafts = [_turned(label) for label in drafts]
    to_left = all(label.on_left for label in drafts)
    order = sorted(range(len(drafts)), key=lambda k: drafts[k].x * (1 if to_left else -1))
    rows: dict[int, int] = {}

    def free(k: int, row: int) -> bool:
        box, x = drafts[k].box, drafts[k].x
        for other, at in rows.items():
            there = drafts[other]
            if (
                at == row
                and box.left < there.box.right + _GAP
                and there.box.left < box.right + _GAP
            ):
                return False
            if at > row and box.left < there.x < box.right:
                return False
            if at < row and there.box.left < x < there.box.right:
                return False
        return True

    for k in order:
        deepest = max(rows.values(), default=-1) + 1
        rows[k] = next((row for row in range(deepest) if free(k, row)), deepest)
    labels = []
    for k, label in enumerate(drafts):
        top = _FIRST_ROW + rows[k] * _ROW
        box = label.box._replace(top=top, bottom=top + 22)
        labels.append(Label(label.name, label.shown, box, label.x, label.on_left))
    return labels, max(rows.values(), default=-1) + 1


def _turned(label: Label) -> Label:
    wide = label.box.right - label.box.left
    box = label.box._replace(left=label.x - _GAP - wide, right=label.x - _GAP)
    return Label(label.name, label.shown, box, label.x, on_left=True)


def _ticks(
    places: Sequence[tuple[float, str]], top: float, width: int
) -> tuple[tuple[float, Label | None], ...]:
    """The ticks, with words at as many of them as there is room for."""
    labels = []
    for x, words in places:
        wide = text_width(words, _NOTE)
        start = max(0.0, min(x - wide / 2, width - wide))
        labels.append(Label("", words, Area(start, top, start + wide, top + 18), x))
    step = next(
        step
        for step in range(1, len(labels) + 1)
        if all(
            one.box.right + _GAP <= other.box.left
            for one, other in zip(labels[::step], labels[step::step], strict=False)
        )
    )
    return tuple(
        (x, label if k % step == 0 else None)
        for k, ((x, _), label) in enumerate(zip(places, labels, strict=True))
    )


def _between(apart: tuple[float, float], words: str) -> Label | None:
    """The distance in words, over the middle of its line if it is long enough."""
    wide, (left, right) = text_width(words, _NOTE), sorted(apart)
    if not words or wide + 2 * (_RADIUS + _GAP) > right - left:
        return None
    start = (left + right - wide) / 2
    return Label("", words, Area(start, _AXIS - 28, start + wide, _AXIS - 10), (left + right) / 2)


def svg(line: NumberLine, description: str, *, style: str = "", paper: bool = False) -> str:
    """Write the picture down.

    ``description`` is the picture in words, for whoever cannot see it, and ``style`` a class for
    the page's style sheet. On ``paper`` it is a picture alone, which brings its own white paper.
    """
    width, height = line.width, line.height
    floor = height - 24
    body = []
    if paper:
        body.append(f'<rect width="{width}" height="{height:g}" fill="#fff"/>')
    for x, words in line.ticks:
        body.append(_stroke("rule", x, 30, x, floor, "#e0e0e0"))
        if words:
            body.append(_words(words, "quiet", _NOTE, words.box.bottom - 5))
    body.append(_stroke("edge", _MARGIN, _AXIS, width - _MARGIN, _AXIS, "#9e9e9e"))
    if line.is_open:
        beyond = [x for mark, x in line.marks if math.isinf(mark.value)]
        for x in dict.fromkeys(beyond):
            tip = 1 if x > width / 2 else -1
            body.append(
                f'<path class="edge" d="M{x - tip * 24:g} {_AXIS - 8:g}l{tip * 8} 8l{-tip * 8} 8" '
                'fill="none" stroke="#9e9e9e" stroke-width="2"/>'
            )
    if line.distance:
        start, end = line.distance
        body.append(
            f'<g transform="translate({start:.1f},{_AXIS:g})"><line class="distance" '
            f'x2="{end - start:.1f}" stroke="{TONES["prediction"]}" stroke-opacity="0.45" '
            'stroke-width="8"/></g>'
        )
    if line.distance_label:
        body.append(_words(line.distance_label, "ink", _NOTE, line.distance_label.box.bottom - 5))
    for label in line.labels:
        end = label.box.top + 2 if label.box.bottom < _AXIS else label.box.bottom - 3
        body.append(_stroke("pole", label.x, _AXIS, label.x, end, "#9e9e9e"))
    # What is equal stays visible: the ring of a prediction is drawn around the others.
    for mark, x in reversed(line.marks):
        body.append(
            f'<g class="tone-{mark.tone}" color="{TONES[mark.tone]}" '
            f'transform="translate({x:.1f},{_AXIS:g})">{_SIGNS[mark.tone]}</g>'
        )
    body.extend(_words(label, "ink", _TEXT, label.box.bottom - 6) for label in line.labels)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="mlsys-number-line {style}" role="img" '
        f'viewBox="0 0 {width} {height:g}" width="{width}" height="{height:g}" '
        f'font-family="{_FONTS}" aria-label="{escape(description)}">{"".join(body)}</svg>'
    )


def _stroke(name: str, x1: float, y1: float, x2: float, y2: float, color: str) -> str:
    return (
        f'<line class="{name}" x1="{x1:.1f}" y1="{y1:g}" x2="{x2:.1f}" y2="{y2:g}" '
        f'stroke="{color}"/>'
    )


def _words(label: Label, name: str, size: int, y: float) -> str:
    """Words with a rim of paper, so that lines behind them do not disturb."""
    ink = {"ink": "#212121", "quiet": "#616161"}[name]
    # Set from the pole, so that a font narrower than expected leaves no hole there.
    anchor, x = "middle", (label.box.left + label.box.right) / 2
    if label.name:
        anchor, x = ("end", label.box.right) if label.on_left else ("start", label.box.left)
    inner = f"{escape(label.name)} " if label.name else ""
    shown = f'<tspan font-weight="600">{escape(label.shown)}</tspan>' if inner else (
        escape(label.shown)
    )  # fmt: skip
    return (
        f'<text class="{name}" x="{x:.1f}" y="{y:g}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{ink}" stroke="#fff" stroke-width="4" stroke-linejoin="round" '
        f'paint-order="stroke">{inner}{shown}</text>'
    )
