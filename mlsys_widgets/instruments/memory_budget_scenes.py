"""Scenes of the memory budget: the parts against the device, and the need of every batch."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import (
    AnyMark,
    Axis,
    Blocks,
    Handle,
    Line,
    Points,
    Scene,
    decades,
    from_zero,
    note,
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
    edge = (limit, limit) if device else ()
    marks: tuple[AnyMark, ...] = (
        Blocks("parts", tuple(blocks)),
        Line("too much", over_x, over_y, "red", "solid", 8.0),
        Line("limit", edge, (0.0, 1.0) if edge else (), "red", "dashed", 2.5),
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
    low = 10.0 ** math.floor(math.log10(min(everything) / 1.1))
    high = 10.0 ** math.ceil(math.log10(max(everything) * 1.1))
    largest = float(kept.largest_batch)
    inside = 1 <= largest <= LARGEST_BATCH
    x, y = ((largest, largest), (low, limit)) if inside else ((), ())
    drawn = predicted is not None and 1 <= predicted <= LARGEST_BATCH
    guess = (predicted, predicted) if predicted is not None and drawn else ()
    ends = (1.0, float(LARGEST_BATCH))
    edge = (limit, limit) if device else ()
    batch, total = float(kept.batch), float(kept.total)
    marks: tuple[AnyMark, ...] = (
        Blocks("too much zone", ((1.0, limit, ends[1], high, "red"),), opacity=0.07),
        Line("device", ends if edge else (), edge, "red", "dashed", 2.5),
        Line("other heads", tuple(BATCHES), tuple(other), "gray", "dash_dotted", 2.0),
        Line("need", tuple(BATCHES), tuple(need), "ink", "solid", 3.0),
        Line("last", x, y, "red", "dotted", 1.5),
        Line("prediction", guess, (low, high) if guess else (), "prediction", "dashed", 2.5),
        Points("now", (batch,), (total,), "ink", "circle", 110),
    )
    across = Axis("Batch (sequences)", *ends, True, TICKS, tuple(_show(t) for t in TICKS))
    ticks = decades(low, high)
    up = Axis("Memory needed", low, high, True, ticks, tuple(_show(size, "B") for size in ticks))
    legend = [
        (f"Needed with {_show(kept.kv_heads)} KV heads", "ink", "solid"),
        (f"With {_show(other_heads)} KV heads", "gray", "dash_dotted"),
        ("This batch", "ink", "circle"),
    ]
    if device:
        legend.append(("Memory of the device", "red", "dashed"))
    if inside:
        legend.append(("Largest batch that fits", "red", "dotted"))
    if guess:
        legend.append((f"Your prediction, batch {_show(guess[0])}", "prediction", "dashed"))
    handles = (Handle("batch", "batch", batch, total),)
    return Scene(across, up, marks, 300, tuple(legend), handles)
