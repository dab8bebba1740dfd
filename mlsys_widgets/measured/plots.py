"""The pictures of the report, one function per picture, as SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing import picture
from mlsys_widgets.drawing.scene import AnyMark, Axis, Blocks, Line, Points, Scene, decades, even
from mlsys_widgets.measured import findings
from mlsys_widgets.measured.queries import cases, points
from mlsys_widgets.measured.trial import Trial, device_time

#: Tone and symbol of each precision: they can be told apart without color too.
_PRECISIONS: Final = {
    "fp16": ("blue", "circle"),
    "fp8": ("orange", "triangle-up"),
    "int8": ("purple", "triangle-down"),
    "tf32": ("green", "square"),
    "fp32": ("red", "diamond"),
    "fp64": ("gray", "cross"),
}
#: How a chain can be fused, what the legend calls it, and its tone.
_FUSIONS: Final = (
    ("compiled", "compiled", "orange"),
    ("compiled_graph", "compiled with graphs", "purple"),
    ("triton", "by hand", "blue"),
)
#: A heading and what stands below it; ``None`` if the document has no data for it.
_Picture = tuple[str, Scene] | None


def draw(trial: Trial, folder: Path) -> dict[str, str]:
    """Draw every picture that the document has data for; file names by the name of the picture."""
    pictures = {}
    for name, make in _PICTURES.items():
        if drawn := make(trial):
            heading, scene = drawn
            title = f"{trial.roofs.name}: {heading}"
            file = f"{trial.roofs.key}-{name}.svg"
            svg = picture.svg((scene,), title, heading=title)
            (folder / file).write_text(f"{svg}\n", encoding="utf-8")
            pictures[name] = file
    return pictures


def _log_axis(label: str, values: Sequence[float]) -> Axis:
    """Return a logarithmic axis whose ends are the nearest round numbers around the values."""
    powers = range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)
    rounds = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    low = max(each for each in rounds if each <= min(values))
    high = min(each for each in rounds if each >= max(values))
    ticks = tuple(each for each in rounds if low <= each <= high)
    # More ticks than these would run into each other; then only powers of ten are written.
    return Axis(label, low, high, log=True, ticks=ticks if len(ticks) <= 9 else decades(low, high))


def _roofline(trial: Trial) -> _Picture:
    marks: list[AnyMark] = []
    legend: list[tuple[str, str, str]] = []
    intensities, rates = list[float](), list[float]()
    for precision, (tone, symbol) in _PRECISIONS.items():
        found = [
            point
            for kind in ("gemm", "projection")
            for point in points(trial.document, precision, kind)
            if point.variant != "eager"
        ]
        if not found or precision not in trial.roofs.peaks:
            continue
        # The roof turns at the ridge, so three places draw it.
        peak, bandwidth = trial.roofs.peaks[precision], trial.roofs.bandwidth
        ends = (1e-3, peak / bandwidth, 1e6)
        roof = ph.roofline(np.asarray(ends), peak, bandwidth)
        marks.append(
            Line(f"roof {precision}", ends, tuple(np.asarray(roof.attainable) / 1e12), tone)
        )
        x = tuple(point.intensity for point in found)
        y = tuple(point.attained / 1e12 for point in found)
        marks.append(Points(precision, x, y, tone, symbol))
        legend.append((precision, tone, f"solid {symbol}"))
        intensities += x
        rates += [*y, 1.5 * peak / 1e12]  # some air above the roof
    if not marks:
        return None
    across = _log_axis("arithmetic intensity (FLOP/B)", intensities)
    up = _log_axis("TFLOPS", rates)
    scene = Scene(across, up, tuple(marks), height=400, legend=tuple(legend))
    return "matrix products under their roofs", scene


def _gemm(trial: Trial) -> _Picture:
    rows = findings.shortfalls(trial) or findings.shortfalls(trial, "fp32")
    if not rows:
        return None
    n = tuple(float(row.n) for row in rows)
    ticks = tuple(2.0**k for k in range(4, 16) if min(n) <= 2**k <= max(n))
    across = Axis("N of an N × N × N product", min(n) / 1.1, max(n) * 1.1, log=True, ticks=ticks)
    fractions = even(1.0)
    up = Axis(
        "fraction of the roof", 0.0, 1.05, ticks=fractions,
        words=tuple(f"{tick:.0%}" for tick in fractions),
    )  # fmt: skip
    measured = tuple(row.share for row in rows)
    marks = (
        Line("floor", n, tuple(row.floor for row in rows), "green", "dashed"),
        Line("waves", n, tuple(row.floor * row.waves for row in rows), "orange", "dotted"),
        Line("measured", n, measured, "blue"),
        Points("cases", n, measured, "blue"),
    )
    legend = (
        ("measured", "blue", "solid circle"),
        ("floor alone", "green", "dashed"),
        ("floor and waves", "orange", "dotted"),
    )
    heading = f"fraction of the {rows[0].precision} roof, and what explains it"
    return heading, Scene(across, up, marks, legend=legend)


def _dispatch(trial: Trial) -> _Picture:
    topic = next((topic for topic in trial.topics if topic.name == "dispatch"), None)
    if topic is None or trial.roofs.launch is None:
        return None
    busy = device_time([verdict.case for verdict in topic.verdicts])
    x, y = zip(
        *(
            (each * 1e6, verdict.measured / verdict.case.kernels * 1e6)
            for verdict in topic.verdicts
            if (each := busy(verdict.case)) and verdict.case.kernels
        ),
        strict=True,
    )
    launch = trial.roofs.launch * 1e6
    across = _log_axis("time of a kernel on the device (µs)", x)
    length = np.logspace(np.log10(across.low), np.log10(across.high), 100)
    serial = length + launch
    up = _log_axis("wall time per kernel (µs)", [*y, float(serial[-1])])
    marks = (
        Line("serial", tuple(length), tuple(serial), "red", "dashed"),
        Line("asynchronous", tuple(length), tuple(np.maximum(length, launch)), "green"),
        Points("measured", x, y, "blue"),
    )
    legend = (
        ("measured", "blue", "circle"),
        ("serial launches (textbook)", "red", "dashed"),
        ("asynchronous launches", "green", "solid"),
    )
    return "streams of kernels, launched one by one", Scene(across, up, marks, legend=legend)


def _fusion(trial: Trial) -> _Picture:
    found = findings.fusions(trial.document, trial.roofs)
    if not found:
        return None
    blocks = [
        (place + 0.1 + 0.27 * k, 0.0, place + 0.36 + 0.27 * k, finding.wall[way], tone)
        for place, finding in enumerate(found)
        for k, (way, _, tone) in enumerate(_FUSIONS)
        if way in finding.wall
    ]
    middles = tuple(place + 0.5 for place in range(len(found)))
    names = tuple(
        f"{'Dropout' if 'dropout' in finding.chain else 'no Dropout'}\n"
        f"{finding.rows:,} ×\n{finding.columns:,}"
        for finding in found
    )
    modeled = tuple(finding.modeled for finding in found)
    claim = findings.CLAIMED_FUSION_SPEEDUP
    ticks = even(max([claim, *modeled, *(top for _, _, _, top, _ in blocks)]))
    ends = (0.0, float(len(found)))
    scene = Scene(
        Axis("", *ends, ticks=middles, words=names, grid=False),
        Axis("speed-up over eager", 0.0, ticks[-1] * 1.05, ticks=ticks),
        marks=(
            Blocks("measured", tuple(blocks)),
            Line("eager", ends, (1.0, 1.0), "ink", width=1.0),
            Line("claim", ends, (claim, claim), "red", "dashed"),
            Points("model", middles, modeled, "text", "diamond"),
        ),
        legend=(
            *((words, tone, "") for _, words, tone in _FUSIONS),
            ("model", "text", "diamond"),
            ("claim", "red", "dashed"),
        ),
    )
    return "wall-clock speed-up of fusing LayerNorm, Dropout and ReLU", scene


#: Tokens in the caches of the steps that are drawn, by the tone of their curve.
_CACHES: Final = {2048: "blue", 512: "orange"}


def _energy(trial: Trial) -> _Picture:
    """Draw what a token costs while more and more are written at once."""
    law, measured = trial.calibration.power, cases(trial.document, kind="energy", variant="graph")
    marks: list[AnyMark] = []
    legend: list[tuple[str, str, str]] = []
    batches, joules = list[float](), list[float]()
    for sequence, tone in _CACHES.items():
        found = [
            (float(case.shape["batch"]), case.energy["joules"] / float(case.shape["batch"]))
            for case in measured
            if case.energy
            and case.shape.get("work") == "decode"
            and case.shape.get("sequence") == sequence
        ]
        if len(found) < 2 or law is None:
            continue
        x, y = zip(*sorted(found), strict=True)
        curve = np.geomspace(x[0], x[-1], 60)
        step = ph.step_energy(
            "llama31-8b", trial.calibration.device, "decode", curve, float(sequence),
            calibration=trial.calibration,
        )  # fmt: skip
        modeled = tuple(np.asarray(step.energy_per_token))
        words = f"{sequence:,} cached tokens"
        marks.append(Line(f"model {words}", tuple(curve), modeled, tone))
        marks.append(Points(words, x, y, tone))
        legend.append((words, tone, "solid circle"))
        batches += x
        joules += [*y, *modeled]
    if not marks:
        return None
    ticks = tuple(2.0**k for k in range(11) if 2**k <= max(batches))
    ends = min(batches) / 1.1, max(batches) * 1.1
    across = Axis("tokens written at once", *ends, log=True, ticks=ticks)
    up = _log_axis("J per token", joules)
    heading = "energy of a token of Llama-3.1-8B, measured and modeled"
    return heading, Scene(across, up, tuple(marks), legend=tuple(legend))


_PICTURES: Final[dict[str, Callable[[Trial], _Picture]]] = {
    "roofline": _roofline,
    "gemm": _gemm,
    "dispatch": _dispatch,
    "fusion": _fusion,
    "energy": _energy,
}
