"""The curves of the sizing page, as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from classroom.ramp import GOAL
from mlsys_widgets.drawing import picture
from mlsys_widgets.drawing.scene import AnyMark, Axis, Line, Points, Scene, even

#: What the legend calls a curve, its tone, dash and symbol, and its values.
Curve = tuple[str, str, str, str, Sequence[float]]


def draw(found: dict[str, Any], folder: Path) -> list[Path]:
    """Draw all pictures; the same data gives the same bytes."""
    made = []
    for name, (heading, scene) in (
        ("latency", _latency(found)),
        ("memory", _memory(found)),
        ("rush", _rush(found)),
    ):
        made.append(folder / f"sizing-{name}.svg")
        made[-1].write_text(picture.svg((scene,), heading, heading=heading) + "\n", "utf-8")
    return made


def _scene(across: str, up: str, count: Sequence[int], curves: Iterable[Curve]) -> Scene:
    """Curves over the number of students; one without a symbol is a level, drawn across."""
    marks: list[AnyMark] = []
    legend = []
    listed = list(curves)
    columns = even(max(count))
    rows = even(max(value for *_, values in listed for value in values))
    for words, tone, dash, symbol, values in listed:
        x = count if symbol else (0, columns[-1] * 1.02)
        marks.append(Line(words, x, values, tone, dash))
        if symbol:
            marks.append(Points(f"{words} at each step", x, values, tone, symbol))
        legend.append((words, tone, f"{dash} {symbol}".strip()))
    return Scene(
        # A little longer than the last tick, so that no symbol is cut in half.
        Axis(across, 0, columns[-1] * 1.02, ticks=columns),
        Axis(up, 0, rows[-1] * 1.04, ticks=rows),
        tuple(marks),
        legend=tuple(legend),
    )


def _latency(found: dict[str, Any]) -> tuple[str, Scene]:
    levels, cores = found["levels"], found["machine"]["cores"]
    count = [level["students"] for level in levels]
    p95, median = ([level["update_ms"][key] for level in levels] for key in ("p95", "median"))
    curves = [
        ("95% of all moves", "orange", "dashed", "triangle-up", p95),
        ("median", "blue", "solid", "circle", median),
        ("the goal for the median", "red", "dotted", "", (GOAL, GOAL)),
    ]
    heading = f"How long a slider move takes, on {cores} cores"
    return heading, _scene("students at work", "answered within (ms)", count, curves)


def _memory(found: dict[str, Any]) -> tuple[str, Scene]:
    levels = [level for level in found["levels"] if "memory_mib" in level]
    count = [level["students"] for level in levels]

    def used(part: str) -> list[float]:
        return [level["memory_mib"][part]["median"] * level["students"] / 1024 for level in levels]

    curves = [
        ("all students", "blue", "solid", "circle", used("student")),
        ("their Jupyter servers", "green", "dashed", "square", used("server")),
        ("their kernels", "orange", "dotted", "triangle-up", used("kernel")),
    ]
    return "Memory", _scene("students at work", "GiB", count, curves)


def _rush(found: dict[str, Any]) -> tuple[str, Scene]:
    rushes = [
        level["rush"]
        for level in found["levels"]
        if "rush" in level and level["rush"]["students"] == level["students"]
    ]
    count = [rush["students"] for rush in rushes]
    last, half = ([rush["seconds"][key] for rush in rushes] for key in ("max", "median"))
    curves = [
        ("until the last one is done", "orange", "dashed", "triangle-up", last),
        ("until half are done", "blue", "solid", "circle", half),
    ]
    heading = "Everybody opens the lab and presses Run All at once"
    return heading, _scene("students at the same moment", "seconds", count, curves)
