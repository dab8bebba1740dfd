"""The pictures of the report, one function a picture, as SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mlsys_widgets import physics as ph
from mlsys_widgets.measured import findings
from mlsys_widgets.measured.queries import points
from mlsys_widgets.measured.trial import Trial, device_time

# Okabe and Ito's palette, told apart with any kind of colour vision; markers differ as well.
_BLUE, _ORANGE, _GREEN, _RED, _PURPLE, _GREY = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#666666",
)  # fmt: skip
_PRECISIONS = {
    "fp16": (_BLUE, "o"),
    "fp8": (_ORANGE, "^"),
    "int8": (_PURPLE, "v"),
    "tf32": (_GREEN, "s"),
    "fp32": (_RED, "D"),
    "fp64": (_GREY, "P"),
}


def draw(trial: Trial, folder: Path) -> dict[str, str]:
    """Draw what the document has data for; file names by the name of the picture."""
    try:
        import matplotlib
    except ImportError:
        raise ValueError(
            "drawing the report needs matplotlib: install it with pip install 'mlsys-widgets[docs]'"
        ) from None
    matplotlib.use("svg")
    # The same data gives the same bytes: ids in the file come from this and not from chance.
    matplotlib.rcParams.update(
        {"svg.hashsalt": "mlsys", "svg.fonttype": "path", "font.size": 11, "axes.grid": True,
         "grid.alpha": 0.3, "axes.spines.top": False, "axes.spines.right": False}
    )  # fmt: skip
    pictures = {}
    for name, picture in _PICTURES.items():
        figure = picture(trial)
        if figure is not None:
            file = f"{trial.roofs.key}-{name}.svg"
            figure.savefig(
                folder / file, metadata={"Date": None}, bbox_inches="tight", facecolor="white"
            )
            pictures[name] = file
    return pictures


def _axes(title: str, across: str, up: str) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.5, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.set(title=title, xlabel=across, ylabel=up)
    return figure, axes


def _roofline(trial: Trial) -> Any:
    figure, axes = _axes(
        f"{trial.roofs.name}: matrix products under their roofs",
        "arithmetic intensity (FLOP/B)",
        "TFLOPS",
    )
    intensity = np.logspace(0, 4.2, 200)
    drawn = False
    for precision, (colour, marker) in _PRECISIONS.items():
        found = [
            point
            for kind in ("gemm", "projection")
            for point in points(trial.document, precision, kind)
            if point.variant != "eager"
        ]
        if not found or precision not in trial.roofs.peaks:
            continue
        drawn = True
        roof = ph.roofline(intensity, trial.roofs.peaks[precision], trial.roofs.bandwidth)
        axes.plot(intensity, np.asarray(roof.attainable) / 1e12, color=colour, linewidth=1.2)
        axes.scatter(
            [p.intensity for p in found],
            [p.attained / 1e12 for p in found],
            color=colour, marker=marker, s=22, alpha=0.8, label=precision,
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", ylim=(1e-3 if trial.roofs.units < 8 else 0.5, None))
    axes.legend(title="precision")
    return figure if drawn else None


def _gemm(trial: Trial) -> Any:
    rows = findings.shortfalls(trial) or findings.shortfalls(trial, "fp32")
    if not rows:
        return None
    figure, axes = _axes(
        f"{trial.roofs.name}, {rows[0].precision}: share of the roof, and what explains it",
        "N of an N × N × N product",
        "share of the roof",
    )
    n = [row.n for row in rows]
    axes.plot(n, [row.share for row in rows], "o-", color=_BLUE, label="measured")
    axes.plot(n, [row.floor for row in rows], "--", color=_GREEN, label="floor alone")
    axes.plot(
        n, [row.floor * row.waves for row in rows], ":", color=_ORANGE, label="floor and waves"
    )
    axes.set(xscale="log", ylim=(0, 1.05))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.legend()
    return figure


def _dispatch(trial: Trial) -> Any:
    topic = next((topic for topic in trial.topics if topic.name == "dispatch"), None)
    if topic is None or trial.roofs.launch is None:
        return None
    figure, axes = _axes(
        f"{trial.roofs.name}: streams of kernels, launched one by one",
        "time of a kernel on the device (µs)",
        "wall time per kernel (µs)",
    )
    launch = trial.roofs.launch * 1e6
    length = np.logspace(-0.3, 2.1, 100)
    axes.plot(length, length + launch, "--", color=_RED, label="serial (textbook)")
    axes.plot(length, np.maximum(length, launch), color=_GREEN, label="asynchronous")
    busy = device_time([verdict.case for verdict in topic.verdicts])
    found = [
        (each * 1e6, verdict.measured / verdict.case.kernels * 1e6)
        for verdict in topic.verdicts
        if (each := busy(verdict.case)) and verdict.case.kernels
    ]
    axes.scatter(*zip(*found, strict=True), color=_BLUE, zorder=3, label="measured")
    axes.set(xscale="log", yscale="log")
    axes.legend()
    return figure


def _fusion(trial: Trial) -> Any:
    found = findings.fusions(trial.document, trial.roofs)
    if not found:
        return None
    figure, axes = _axes(
        f"{trial.roofs.name}: what fusion gives on the wall clock", "", "speed-up over eager"
    )
    place = np.arange(len(found))
    ways = {"compiled": (_ORANGE, "//"), "compiled_graph": (_PURPLE, ".."), "triton": (_BLUE, "")}
    for k, (way, (colour, hatch)) in enumerate(ways.items()):
        label = {"triton": "by hand", "compiled_graph": "compiled with graphs"}.get(way, way)
        heights = [f.wall.get(way, 0.0) for f in found]
        axes.bar(place + (k - 1) * 0.26, heights, 0.24, color=colour, hatch=hatch, label=label)
    axes.plot(place, [f.modelled for f in found], "kD", markersize=5, label="model")
    axes.axhline(findings.CLAIMED_FUSION_SPEEDUP, color=_RED, linestyle="--", label="claim")
    axes.axhline(1.0, color=_GREY, linewidth=0.8)
    short = [("LN, Drop, ReLU" if "dropout" in f.chain else "LN, ReLU") for f in found]
    names = [f"{s}\n{f.rows:,}×{f.columns:,}" for s, f in zip(short, found, strict=True)]
    axes.set_xticks(place, names, fontsize=8)
    axes.legend()
    return figure


_PICTURES = {"roofline": _roofline, "gemm": _gemm, "dispatch": _dispatch, "fusion": _fusion}
