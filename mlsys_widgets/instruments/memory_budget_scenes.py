"""Scenes of the memory budget: the parts against the device, and the need of every batch."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.curves import (
    Curve,
    Dots,
    Part,
    Threshold,
    curve_scene,
    decade_axis,
    prediction,
)
from mlsys_widgets.drawing.scene import (
    AnyMark,
    Axis,
    Blocks,
    Handle,
    Line,
    Scene,
    from_zero,
    note,
    upright,
)
from mlsys_widgets.instruments.batches import BATCHES, LARGEST_BATCH, TICKS

_show = ph.format_quantity
#: What is in memory, in the order of the bar: attribute, words, tone. The part that grows is last.
PARTS = (
    ("weights", "Weights", "blue"),
    ("activations", "Activations", "green"),
    ("kv_cache", "KV cache", "orange"),
)
#: Where the bar's axis ends, in memories of the device, unless much more is needed: then it is ten
#: times as long, and so on. In such steps it stands still while the bar's end is dragged.
_END, _STEP = 1.5, 10.0
#: How much of the axis a bar may fill before the axis takes a step, and before a drag stops.
_FULL, _HELD = 0.93, 0.92
_MIDDLE = 0.45


def sizes(kept: ph.Footprint) -> tuple[float, ...]:
    """The size of each part."""
    return tuple(float(getattr(kept, name)) for name, _, _ in PARTS)


def _end(kept: ph.Footprint) -> tuple[float, float]:
    """Where the bar's axis ends, and the smallest need for which it ends there."""
    end, least = _END * float(kept.memory), 0.0
    while float(kept.total) > _FULL * end:
        end, least = end * _STEP, _FULL * end
    return end, least


def batch_at(kept: ph.Footprint, x: float) -> float:
    """The batch for which the bar ends at a place, as far as the axis on the screen allows."""
    end, least = _end(kept)
    fixed = float(kept.weights + kept.activations)
    each = float(kept.kv_cache / kept.batch)
    most = math.floor((_HELD * end - fixed) / each)
    fewest = math.ceil((1.02 * least - fixed) / each) if least else 1
    return max(1.0, float(min(max((x - fixed) / each, fewest), max(fewest, most))))


def bar(kept: ph.Footprint, device: str) -> Scene:
    """Draw what is needed, part by part, against the memory of a device, if one is named."""
    limit, total = float(kept.memory), float(kept.total)
    across = from_zero("Memory", _end(kept)[0], "B")
    end, blocks, legend = 0.0, [], []
    for (_, label, tone), size in zip(PARTS, sizes(kept), strict=True):
        blocks.append((end, 0.25, end + size, 0.65, tone))
        legend.append((f"{label}, {_show(size, 'B')}", tone, "block"))
        end += size
    short = bool(kept.out_of_memory)
    over_x, over_y = ((limit, total), (0.13, 0.13)) if short else ((), ())
    named = (limit + across.high / 120, 0.85, f"{device}: {_show(limit, 'B')}") if device else None
    marks: tuple[AnyMark, ...] = (
        Blocks("parts", tuple(blocks)),
        Line("too much", over_x, over_y, "red", "solid", 8.0),
        upright("limit", limit if device else None, (0.0, 1.0), "red", "dashed", 2.5),
        note("limit note", named),
    )
    if device:
        legend.append(("Memory of the device", "red", "dashed"))
    if short:
        legend.append(("Too much", "red", "solid"))
    rows = Axis("", 0.0, 1.0, False, (_MIDDLE,), ("Needed",), grid=False)
    handles = (Handle("cache", "batch", total, _MIDDLE),)
    return Scene(across, rows, marks, 190, tuple(legend), handles)


def curve(
    kept: ph.Footprint,
    device: str,
    need: Sequence[float],
    other: Sequence[float],
    other_heads: float,
    predicted: float | None,
) -> Scene:
    """The memory needed for all batch sizes, also with the other number of heads.

    The line of the device's memory is drawn if it is named.
    """
    limit = float(kept.memory)
    everything = (limit, need[0], need[-1], other[0], other[-1])
    up = decade_axis("Memory needed", min(everything) / 1.1, max(everything) * 1.1, "B")
    ends = (1.0, float(LARGEST_BATCH))
    across = Axis("Batch (sequences)", *ends, True, TICKS, tuple(_show(t) for t in TICKS))
    heads, others = (f"{_show(count)} KV heads" for count in (kept.kv_heads, other_heads))
    largest = float(kept.largest_batch)
    inside = 1 <= largest <= LARGEST_BATCH
    last, below = ((largest, largest), (up.low, limit)) if inside else ((), ())
    parts: tuple[Part, ...] = (
        Curve(BATCHES, need, f"Needed with {heads}", name="need"),
        Curve(BATCHES, other, f"With {others}", "gray", "dash_dotted", 2.0, "other heads"),
        Dots(kept.batch, kept.total, "This batch", name="now", moves="batch"),
        Threshold("Memory of the device", y=limit if device else None, name="device"),
        Curve(last, below, "Largest batch that fits", "red", "dotted", 1.5, "last"),
        prediction(predicted, axis="x", before="batch "),
    )
    zone = Blocks("too much zone", ((ends[0], limit, ends[1], up.high, "red"),), opacity=0.07)
    return curve_scene(across, up, parts, behind=(zone,))
