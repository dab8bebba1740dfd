"""Scenes as still pictures: SVG written by hand, so that nothing has to be imported for it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from html import escape
from textwrap import wrap
from typing import Any, Literal
from zlib import crc32

from mlsys_widgets.drawing.scene import (
    BARE_MARGIN,
    AnyMark,
    Axis,
    Blocks,
    Line,
    Points,
    Scene,
    Strokes,
    Words,
)
from mlsys_widgets.drawing.theme import DARK, DASHES, TONES
from mlsys_widgets.wording.choices import one_of

#: The paper that a still picture is made for.
Theme = Literal["light", "dark"]

WIDTH = 760
# Listed by name, because converters to PNG know neither "system-ui" nor a default sans-serif.
_FONTS = "system-ui, DejaVu Sans, Liberation Sans, Noto Sans, Arial, Helvetica, sans-serif"
_LEFT, _RIGHT, _TOP, _BOTTOM = 78, 24, 16, 52
#: Letters in a line of the caption.
_LETTERS = 104
SHAPES = {
    "circle": "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0Z",
    "square": "M-4.5,-4.5h9v9h-9Z",
    "diamond": "M0,-6L6,0L0,6L-6,0Z",
    "triangle-up": "M0,-6L6,5H-6Z",
    "triangle-down": "M0,6L6,-5H-6Z",
    "cross": "M-2,-6h4v4h4v4h-4v4h-4v-4h-4v-4h4Z",
}


def svg(
    scenes: tuple[Scene, ...],
    title: str,
    caption: tuple[str, ...] = (),
    *,
    heading: str = "",
    theme: Theme = "light",
) -> str:
    """Draw scenes below each other, with their legend and a caption, as one picture.

    ``title`` is the picture in words, for whoever cannot see it; the ``theme`` is ``"light"`` for
    white paper, or ``"dark"``.
    """
    body, height = [], 0
    if heading:
        height = 30
        body.append(f'<text x="16" y="22" font-size="15" fill="#333">{escape(heading)}</text>')
    for k, scene in enumerate(scenes):
        # Unique on a page of several pictures, and the same in every process.
        clip = f"clip{crc32(repr((title, k, scene.across, scene.up)).encode())}"
        body.append(f'<g transform="translate(0,{height})">{"".join(_scene(scene, clip))}</g>')
        height += scene.height
    # A sign that several scenes share has one meaning, and is explained once.
    entries = list(dict.fromkeys(entry for scene in scenes for entry in scene.legend))
    if entries:
        drawn, room = _legend(entries)
        body.append(f'<g transform="translate(0,{height})">{drawn}</g>')
        height += room
    for paragraph in caption:
        for line in wrap(paragraph, _LETTERS):
            height += 18
            body.append(f'<text x="16" y="{height}" fill="#333">{escape(line)}</text>')
        height += 8
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" font-family="{_FONTS}" font-size="12">'
        f"<title>{escape(title)}</title>"
        f'<rect class="paper" width="{WIDTH}" height="{height}" fill="#ffffff"/>'
        f"{''.join(body)}</svg>"
    )
    return drawn if one_of("theme", theme, ("light", "dark")) == "light" else darkened(drawn)


def darkened(drawn: str) -> str:
    """The same picture on dark paper: paper, grid and words change, tones have contrast on both."""

    def other(found: re.Match[str]) -> str:
        return f'{found[1]}="{DARK.get(found[2], found[2])}"'

    # A word of the picture cannot look like this: its quotes are escaped.
    return re.sub(r'\b(fill|stroke)="(#[0-9a-f]+)"', other, drawn)


def _legend(entries: list[tuple[str, str, str]]) -> tuple[str, int]:
    """Lay out the entries in rows; return them and the height they need."""
    parts, x, y = [], 16.0, 14
    for words, tone, kind in entries:
        wide = 34 + 7.0 * len(words)
        if x > 16 and x + wide > WIDTH - 8:
            x, y = 16.0, y + 20
        color = TONES[tone]
        for sign in kind.split() or [""]:
            if sign in DASHES:
                dash = f' stroke-dasharray="{DASHES[sign]}"' if DASHES[sign] else ""
                line = f'd="M{x:.0f},{y}h20" stroke="{color}" stroke-width="2.5"{dash}'
                parts.append(f"<path {line}/>")
            elif sign in SHAPES:
                place = f"translate({x + 10:.0f},{y})"
                parts.append(f'<path transform="{place}" d="{SHAPES[sign]}" fill="{color}"/>')
            else:
                block = f'x="{x:.0f}" y="{y - 5}" width="20" height="10" fill="{color}"'
                parts.append(f"<rect {block}/>")
        parts.append(f'<text x="{x + 26:.0f}" y="{y + 4}" fill="#333">{escape(words)}</text>')
        x += wide + 14
    return "".join(parts), y + 16


def png(drawn: str, scale: int = 2) -> bytes:
    """Turn an SVG picture into PNG, sharp enough for a slide."""
    try:
        import resvg_py
    except ImportError:
        raise ValueError(
            "PNG pictures need resvg_py: install it with pip install 'mlsys-widgets[student]', "
            "or take the SVG"
        ) from None
    _need_fonts(resvg_py)
    return bytes(resvg_py.svg_to_bytes(svg_string=drawn, zoom=scale))


@cache
def _need_fonts(resvg: Any) -> None:
    """Refuse to draw on a machine without fonts, where pictures would have no text."""
    blank, worded = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20">'
        f'<text x="2" y="15" font-family="{_FONTS}">{word}</text></svg>'
        for word in ("", "words")
    )
    if resvg.svg_to_bytes(svg_string=blank) == resvg.svg_to_bytes(svg_string=worded):
        raise ValueError(
            "this machine has no fonts to write the labels with: install some "
            "(Debian: fonts-dejavu-core), or take the SVG"
        )


class Frame:
    """Where a value lies in the picture."""

    def __init__(self, scene: Scene) -> None:
        self.across, self.up = scene.across, scene.up
        self.left, right, self.top, bottom = (
            (BARE_MARGIN,) * 4 if scene.bare else (_LEFT, _RIGHT, _TOP, _BOTTOM)
        )
        self.right, self.bottom = WIDTH - right, scene.height - bottom

    def x(self, value: float) -> float:
        return self.left + (self.right - self.left) * _fraction(self.across, value)

    def y(self, value: float) -> float:
        return self.bottom - (self.bottom - self.top) * _fraction(self.up, value)


def _fraction(axis: Axis, value: float) -> float:
    """How far along an axis a value lies; values that are absurdly far off are brought nearer."""
    if axis.log:
        low, high = math.log10(axis.low), math.log10(axis.high)
        fraction = (math.log10(max(value, 1e-300)) - low) / (high - low)
    else:
        fraction = (value - axis.low) / (axis.high - axis.low)
    return min(max(fraction, -50.0), 50.0)


def _scene(scene: Scene, clip: str) -> Iterator[str]:
    frame = Frame(scene)
    width, height = frame.right - frame.left, frame.bottom - frame.top
    yield (
        f'<clipPath id="{clip}"><rect x="{frame.left}" y="{frame.top}" width="{width}" '
        f'height="{height}"/></clipPath>'
    )
    if scene.title:
        yield f'<text x="16" y="11" fill="#333">{escape(scene.title)}</text>'
    if not scene.bare:
        yield from _axes(scene, frame)
    yield f'<g clip-path="url(#{clip})">'
    for mark in scene.marks:
        yield from _mark(mark, frame)
    yield "</g>"
    for mark in scene.marks:
        if isinstance(mark, Words):
            yield from _words(mark, frame)


def _axes(scene: Scene, frame: Frame) -> Iterator[str]:
    for axis, upright in ((scene.across, False), (scene.up, True)):
        words = axis.words or tuple(f"{tick:,g}" for tick in axis.ticks)
        for tick, word in zip(axis.ticks, words, strict=True):
            if upright:
                y = frame.y(tick)
                if axis.grid:
                    line = f"M{_LEFT},{y:.1f}H{frame.right}"
                    yield f'<path class="grid" d="{line}" stroke="#e0e0e0"/>'
                yield (
                    f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#333">'
                    f"{escape(word)}</text>"
                )
            else:
                x = frame.x(tick)
                if axis.grid:
                    line = f"M{x:.1f},{_TOP}V{frame.bottom}"
                    yield f'<path class="grid" d="{line}" stroke="#e0e0e0"/>'
                for k, text in enumerate(word.splitlines()):
                    down = frame.bottom + 18 + 15 * k
                    yield (
                        f'<text x="{x:.1f}" y="{down}" text-anchor="middle" fill="#333">'
                        f"{escape(text)}</text>"
                    )
    yield f'<path d="M{_LEFT},{_TOP}V{frame.bottom}H{frame.right}" fill="none" stroke="#9e9e9e"/>'
    middle = (_LEFT + frame.right) / 2
    yield (
        f'<text x="{middle}" y="{frame.bottom + 40}" text-anchor="middle" fill="#333">'
        f"{escape(scene.across.label)}</text>"
    )
    center = (_TOP + frame.bottom) / 2
    yield (
        f'<text transform="translate(18,{center}) rotate(-90)" text-anchor="middle" fill="#333">'
        f"{escape(scene.up.label)}</text>"
    )


def _mark(mark: AnyMark, frame: Frame) -> Iterator[str]:
    match mark:
        case Line(x=x, y=y) if len(x):
            path = "L".join(f"{frame.x(a):.1f},{frame.y(b):.1f}" for a, b in zip(x, y, strict=True))
            dash = f' stroke-dasharray="{DASHES[mark.dash]}"' if DASHES[mark.dash] else ""
            yield (
                f'<path d="M{path}" fill="none" stroke="{TONES[mark.tone]}" '
                f'stroke-width="{mark.width}"{dash}/>'
            )
        case Strokes(paths=paths):
            for corners in paths:
                x, y = zip(*corners, strict=True)
                yield from _mark(Line(mark.name, x, y, mark.tone, mark.dash, mark.width), frame)
        case Points(x=x, y=y):
            words = mark.words or ("",) * len(x)
            for a, b, word in zip(x, y, words, strict=True):
                place = f"translate({frame.x(a):.1f},{frame.y(b):.1f})"
                yield (
                    f'<path transform="{place}" d="{SHAPES[mark.symbol]}" '
                    f'fill="{TONES[mark.tone]}" stroke="#fff"/>'
                )
                if word:
                    yield f'<text transform="{place}" x="9" y="4" fill="#333">{escape(word)}</text>'
        case Blocks(blocks=blocks):
            for left, low, right, high, tone in blocks:
                start, top = frame.x(left), frame.y(high)
                width, height = frame.x(right) - start, frame.y(low) - top
                yield (
                    f'<rect x="{start:.1f}" y="{top:.1f}" width="{max(width, 0):.1f}" '
                    f'height="{max(height, 0):.1f}" fill="{TONES[tone]}" '
                    f'fill-opacity="{mark.opacity}"/>'
                )


def _words(mark: Words, frame: Frame) -> Iterator[str]:
    down = -4 if mark.above else 4
    for x, y, text in zip(mark.x, mark.y, mark.text, strict=True):
        yield (
            f'<text x="{frame.x(x):.1f}" y="{frame.y(y) + down:.1f}" text-anchor="{mark.align}" '
            f'fill="{TONES["text"]}">{escape(text)}</text>'
        )
