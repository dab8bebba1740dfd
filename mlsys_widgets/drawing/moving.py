"""A moving picture: scenes that turn into each other, as one SVG that needs no script.

What is drawn without motion is the last scene, so whoever asked for less motion, and every program
that knows no animation, sees that. It runs once and has no words in it: a caption says what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import zip_longest
from typing import Final
from zlib import crc32

from mlsys_widgets.drawing.picture import SHAPES, WIDTH, Frame
from mlsys_widgets.drawing.scene import AnyMark, Blocks, Line, Points, Scene, Strokes
from mlsys_widgets.drawing.theme import DASHES, TONES

#: Pixels that nobody sees.
_UNSEEN: Final = 1.0
#: A block is this square, moved and stretched.
_SQUARE: Final = 'd="M0,0h1v1h-1z"'


@dataclass(frozen=True)
class _Shape:
    """A shape of one scene: what of it never moves, and where it is; nowhere while it is unseen."""

    look: str
    place: tuple[float, ...]
    write: Callable[[Sequence[float]], tuple[str, str, str]]


def moving(frames: Sequence[Scene], words: str, *, seconds: float, height: int) -> str:
    """Draw scenes that turn into each other, without anything to read in them.

    Parameters
    ----------
    frames
        The scenes in equal steps of time; a mark keeps its name from one to the next.
    words
        What it shows, for whoever cannot see it.
    seconds, height
        How long it runs, and its height in pixels where it is as wide as other pictures.
    """
    bare = all(scene.bare for scene in frames)
    scenes = [_wordless(scene, height) for scene in frames]
    films = _films([dict(_shapes(scene)) for scene in scenes])
    name = f"mlsys{crc32(repr((words, seconds, frames)).encode()):x}"
    rules, drawn = [], []
    for k, film in enumerate(films):
        shape = next(each for each in reversed(film) if each is not None)
        attribute, value, _ = shape.write(shape.place)
        unseen = ' opacity="0"' if film[-1] is None else ""
        steps = _needed([each.place if each else None for each in film])
        moves = f' style="animation-name:{name}-{k}"' if len(steps) > 1 else ""
        drawn.append(f'<path {shape.look} {attribute}="{value}"{unseen}{moves}/>')
        if moves:
            rules.append(f"@keyframes {name}-{k}{{{''.join(_keyframes(film, steps))}}}")
    frame = Frame(scenes[-1])
    corner = f"M{frame.left},{frame.top}V{frame.bottom}H{frame.right}"
    axes = "" if bare else f'<path d="{corner}" fill="none" stroke="{TONES["gray"]}"/>'
    run = f"#{name} path{{animation:{seconds:g}s linear both}}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" id="{name}" viewBox="0 0 {WIDTH} {height}"'
        f' role="img" aria-label="{escape(words)}"><style>@media (prefers-reduced-motion:'
        f" no-preference){{{run}{''.join(rules)}}}</style>{axes}{''.join(drawn)}</svg>"
    )


def _wordless(scene: Scene, height: int) -> Scene:
    across, up = (replace(axis, label="", ticks=(), words=()) for axis in (scene.across, scene.up))
    return replace(scene, across=across, up=up, height=height)


def _films(frames: Sequence[dict[str, list[_Shape]]]) -> Iterator[list[_Shape | None]]:
    """Each shape from frame to frame, in the order in which marks are drawn."""
    for mark in dict.fromkeys(name for frame in frames for name in frame):
        for film in zip_longest(*(frame.get(mark, []) for frame in frames)):
            yield list(film)


def _shapes(scene: Scene) -> Iterator[tuple[str, list[_Shape]]]:
    frame = Frame(scene)
    for mark in scene.marks:
        yield mark.name, list(_of(mark, frame))


def _of(mark: AnyMark, frame: Frame) -> Iterator[_Shape]:
    match mark:
        case Line(x=x, y=y) if len(x):
            yield _line(mark, tuple(zip(x, y, strict=True)), frame)
        case Strokes(paths=paths):
            for corners in paths:
                yield _line(mark, corners, frame)
        case Points(x=x, y=y):
            look = f'd="{SHAPES[mark.symbol]}" fill="{TONES[mark.tone]}"'
            for a, b in zip(x, y, strict=True):
                yield _Shape(look, (frame.x(a), frame.y(b)), _moved)
        case Blocks(blocks=blocks):
            for left, low, right, high, tone in blocks:
                start, top = frame.x(left), frame.y(high)
                faint = f' fill-opacity="{mark.opacity}"' if mark.opacity != 1 else ""
                look = f'{_SQUARE} fill="{TONES[tone]}"{faint}'
                place = (start, top, max(frame.x(right) - start, 0), max(frame.y(low) - top, 0))
                yield _Shape(look, place, _moved)


def _line(mark: Line | Strokes, corners: Sequence[tuple[float, float]], frame: Frame) -> _Shape:
    dash = f' stroke-dasharray="{DASHES[mark.dash]}"' if DASHES[mark.dash] else ""
    look = f'fill="none" stroke="{TONES[mark.tone]}" stroke-width="{mark.width}"{dash}'
    place = tuple(value for a, b in corners for value in (frame.x(a), frame.y(b)))
    return _Shape(look, place, _drawn)


def _moved(place: Sequence[float]) -> tuple[str, str, str]:
    """Where a point or a block is: as an attribute, its value, and the same as CSS."""
    x, y, *size = map(_short, place)
    scale = f" scale({size[0]},{size[1]})" if size else ""
    return "transform", f"translate({x},{y}){scale}", f"transform:translate({x}px,{y}px){scale}"


def _drawn(place: Sequence[float]) -> tuple[str, str, str]:
    """The same of a line. What knows no CSS for it shows the last scene."""
    corners = zip(place[::2], place[1::2], strict=True)
    path = "M" + "L".join(f"{_short(x)},{_short(y)}" for x, y in corners)
    return "d", path, f'd:path("{path}")'


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _needed(places: Sequence[tuple[float, ...] | None]) -> list[int]:
    """The frames without which something would be seen elsewhere; the first if nothing moves."""
    if all(place == places[0] for place in places):
        return [0]
    kept = [0]
    for k in range(2, len(places)):
        if not _is_straight(places[kept[-1] : k + 1]):
            kept.append(k - 1)
    return [*kept, len(places) - 1]


def _is_straight(places: Sequence[tuple[float, ...] | None]) -> bool:
    """Whether what is between the first and the last place lies on the way between them."""
    first, last = places[0], places[-1]
    if first is None or last is None:
        return all(place is None for place in places)
    for k, place in enumerate(places[1:-1], 1):
        if place is None or len(place) != len(first) or len(place) != len(last):
            return False
        part = k / (len(places) - 1)
        way = (a + part * (b - a) for a, b in zip(first, last, strict=True))
        if any(abs(one - other) > _UNSEEN for one, other in zip(way, place, strict=True)):
            return False
    return True


def _keyframes(film: Sequence[_Shape | None], steps: Sequence[int]) -> Iterator[str]:
    """Where a shape is when. It comes and goes at once, and never moves unseen."""
    end = len(film) - 1
    fades = any(each is None for each in film)
    before: int | None = None
    for k in steps:
        shape = film[k]
        there = shape or next(each for each in (*film[k:], *reversed(film[:k])) if each)
        if before is not None and (film[before] is None) != (shape is None):
            was = film[before] or there
            yield _keyframe(k - 0.01, end, was, fades and int(film[before] is not None))
        yield _keyframe(k, end, there, fades and int(shape is not None))
        before = k


def _keyframe(step: float, end: int, shape: _Shape, seen: int | bool) -> str:
    opacity = "" if seen is False else f";opacity:{seen}"
    return f"{100 * step / end:.4g}%{{{shape.write(shape.place)[2]}{opacity}}}"
