"""The curves of the sizing page, as SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from classroom.ramp import GOAL

# Okabe and Ito's palette, told apart with any kind of colour vision; markers differ as well.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#666666"


def draw(found: dict[str, Any], folder: Path) -> list[Path]:
    """Draw all pictures; the same data gives the same bytes."""
    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {"svg.hashsalt": "mlsys", "svg.fonttype": "path", "font.size": 11, "axes.grid": True,
         "grid.alpha": 0.3, "axes.spines.top": False, "axes.spines.right": False}
    )  # fmt: skip
    made = []
    for name, picture in (("latency", _latency), ("memory", _memory), ("rush", _rush)):
        made.append(folder / f"sizing-{name}.svg")
        picture(found).savefig(
            made[-1], metadata={"Date": None}, bbox_inches="tight", facecolor="white"
        )
    return made


def _axes(title: str, up: str) -> tuple[Figure, Any]:
    figure = Figure(figsize=(8.5, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.set(title=title, xlabel="students at work", ylabel=up)
    return figure, axes


def _latency(found: dict[str, Any]) -> Figure:
    levels, cores = found["levels"], found["machine"]["cores"]
    figure, axes = _axes(f"A move of a slider, on {cores} cores", "answered within (ms)")
    count = [level["students"] for level in levels]
    axes.plot(count, [level["update_ms"]["p95"] for level in levels], "^--", color=ORANGE,
              label="95 of 100")  # fmt: skip
    axes.plot(count, [level["update_ms"]["median"] for level in levels], "o-", color=BLUE,
              label="median")  # fmt: skip
    axes.axhline(GOAL, color=RED, linestyle=":", label="the goal for the median")
    axes.set(ylim=(0, None), xlim=(0, None))
    axes.legend(loc="upper left")
    return figure


def _memory(found: dict[str, Any]) -> Figure:
    levels = [level for level in found["levels"] if "memory_mib" in level]
    figure, axes = _axes("Memory", "GiB")
    count = [level["students"] for level in levels]
    for part, colour, marker, words in (
        ("student", BLUE, "o-", "all students"),
        ("server", GREEN, "s--", "of which Jupyter servers"),
        ("kernel", ORANGE, "^--", "of which kernels"),
    ):
        used = [level["memory_mib"][part]["median"] * level["students"] / 1024 for level in levels]
        axes.plot(count, used, marker, color=colour, label=words)
    axes.set(ylim=(0, None), xlim=(0, None))
    axes.legend(loc="upper left")
    return figure


def _rush(found: dict[str, Any]) -> Figure:
    rushes = [
        level["rush"]
        for level in found["levels"]
        if "rush" in level and level["rush"]["students"] == level["students"]
    ]
    figure, axes = _axes("Everybody opens the lab and presses Run All at once", "seconds")
    count = [rush["students"] for rush in rushes]
    axes.plot(count, [rush["seconds"]["max"] for rush in rushes], "^--", color=ORANGE,
              label="until the last is done")  # fmt: skip
    axes.plot(count, [rush["seconds"]["median"] for rush in rushes], "o-", color=BLUE,
              label="until half are done")  # fmt: skip
    axes.set(ylim=(0, None), xlim=(0, None), xlabel="students at the same moment")
    axes.legend(loc="upper left")
    return figure
