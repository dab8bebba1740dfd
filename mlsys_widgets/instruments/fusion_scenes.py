"""What the fusion explorer draws: traffic step by step, intensity, and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import (
    AnyMark,
    Axis,
    Blocks,
    Line,
    Points,
    Scene,
    Words,
    decades,
    from_zero,
)

_show = ph.format_quantity
_LEAST, _MOST = 0.01, 1000.0
_Block = tuple[float, float, float, float, str]


def traffic(chain: ph.Chain, result: ph.Fusion) -> Scene:
    """The tensors that every step reads and writes, and those of the fused kernel."""
    height = 250
    count = len(chain.links)
    across = from_zero("Data moved", 1.15 * float(result.unfused_traffic), "B")
    tensor, hair = float(result.bytes_per_element * result.elements), 0.002 * across.high
    blocks: list[_Block] = []
    ends: list[tuple[float, float]] = []

    def row(start: float, y: float, read: int) -> float:
        for k in range(read + 1):
            left, tone = start + k * tensor, "green" if k < read else "purple"
            blocks.append((left, y - 0.36, left + tensor - hair, y + 0.36, tone))
        end = start + (read + 1) * tensor
        ends.append((end, y))
        return end

    start = 0.0
    for k, link in enumerate(chain.links):
        start = row(start, float(count - k), 1 + len(link.operands))
    row(0.0, 0.0, chain.fused_reads)
    up = Axis(
        "",
        -0.7,
        count + 0.7,
        ticks=tuple(float(y) for y in range(count + 1)),
        words=("Fused", *(link.op.name for link in reversed(chain.links))),
        grid=False,
    )
    marks: tuple[AnyMark, ...] = (
        Blocks("tensors", tuple(blocks)),
        _beside("traffic labels", ends, [_show(end, "B") for end, _ in ends], up, height),
    )
    legend = (
        ("A tensor read", "green", "block"),
        ("A tensor written", "purple", "block"),
    )
    return Scene(across, up, marks, height, legend)


def intensity(result: ph.Fusion, ridge: float, ridge_words: str) -> Scene:
    """Operations per byte, unfused and fused, against the ridge."""
    height = 150
    apart, fused = float(result.unfused_intensity), float(result.fused_intensity)
    up = Axis("", 0.4, 3.2, ticks=(1.0, 2.0), words=("Fused", "Unfused"), grid=False)
    places = [(apart, 2.0), (fused, 1.0)]
    words = [_show(value, "FLOP/B") for value, _ in places]
    # A little to the right of the symbols, on a logarithmic axis.
    aside = [(value * 1.12, y) for value, y in places]
    marks: tuple[AnyMark, ...] = (
        Blocks(
            "zones",
            ((_LEAST, 0.4, ridge, 3.2, "memory"), (ridge, 0.4, _MOST, 3.2, "compute")),
            0.09,
        ),
        Line("unfused intensity line", (_LEAST, apart), (2.0, 2.0), "blue", width=3.0),
        Line("fused intensity line", (_LEAST, fused), (1.0, 1.0), "green", width=3.0),
        Line("ridge", (ridge, ridge), (0.4, 3.2), "ink", "dotted"),
        Points("unfused intensity", (apart,), (2.0,), "blue", "circle", 110),
        Points("fused intensity", (fused,), (1.0,), "green", "diamond", 130),
        _beside("intensity labels", aside, words, up, height),
        Words("ridge label", (ridge / 1.15,), (2.5,), ("memory-bound",), "memory", "end"),
    )
    legend = ((ridge_words, "ink", "dotted"),)
    across = Axis("Arithmetic intensity (FLOP/B)", _LEAST, _MOST, True, decades(_LEAST, _MOST))
    return Scene(across, up, marks, height, legend)


def times(result: ph.Fusion, ratios: Mapping[str, tuple[str, float | None]]) -> Scene:
    """Where the time goes, and where other speedups would end the fused bar.

    ``ratios`` are the claim and the measurement: words, and the speedup or ``None``.
    """
    height = 165
    slowest = float(result.unfused_time)
    across = from_zero("Time", 1.15 * slowest, "s")
    up = Axis("", 0.2, 2.6, ticks=(1.0, 2.0), words=("Fused", "Unfused"), grid=False)
    blocks: list[_Block] = []
    ends = []
    for y, launches, traffic in (
        (2.0, result.unfused_launches, result.unfused_traffic),
        (1.0, result.fused_launches, result.fused_traffic),
    ):
        lengths = {
            "dispatch": launches * result.launch_overhead,
            "compute": result.compute_time,
            "memory": traffic / result.bandwidth,
        }
        start = 0.0
        for part, length in lengths.items():
            blocks.append((start, y - 0.3, start + float(length), y + 0.3, part))
            start += float(length)
        ends.append((start, y))
    words = [_show(result.unfused_time, "s"), _show(result.fused_time, "s")]
    legend = [
        ("Launches", "dispatch", "block"),
        ("Arithmetic", "compute", "block"),
        ("Memory", "memory", "block"),
    ]
    marks: list[AnyMark] = [
        Blocks("times", tuple(blocks)),
        _beside("time labels", ends, words, up, height),
    ]
    places = {"claim": (1.45, "purple", "diamond"), "measured": (0.5, "measured", "triangle-up")}
    for name, (y, tone, symbol) in places.items():
        said, ratio = ratios[name]
        at = () if ratio is None else (slowest / ratio,)
        marks.append(Points(name, at, (y,) * len(at), tone, symbol, 110))
        if ratio is not None:
            legend.append((f"{said}: {_show(ratio, '×')} faster", tone, symbol))
    return Scene(across, up, tuple(marks), height, tuple(legend))


def _beside(
    name: str, ends: Sequence[tuple[float, float]], words: Sequence[str], up: Axis, height: int
) -> Words:
    """Words to the right of bars, level with their middle."""
    # Words are drawn eight pixels above their place; four below it is the middle of a line.
    lower = 12 * (up.high - up.low) / (height - 64)
    aside = tuple(f"\u2009{word}" for word in words)
    return Words(name, tuple(x for x, _ in ends), tuple(y - lower for _, y in ends), aside, "text")
