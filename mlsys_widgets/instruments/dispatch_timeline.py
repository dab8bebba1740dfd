"""When the first kernels of a pass are launched and when they run, as numbers and as a picture.

The axis of the picture follows the model and the device, not the lengths that can be dragged: a
longer launch looks longer, and fewer kernels fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Axis, Blocks, Handle, Scene, from_zero, notes
from mlsys_widgets.physics.dispatch import SerialPass

_show = ph.format_quantity

#: Kernels of the textbook's pass for which the picture has room.
ROOM: Final = 8
#: The most kernels that the picture shows where they are shorter. There are always as many
#: blocks, so that a change sends their ends and no colors; those beyond the end have no width.
MOST: Final = 10
#: Kernels that the table names.
_IN_TABLE: Final = 3
#: By how much rounding to whole kernels may lengthen a kernel beyond where it was dragged to.
_ROUNDING: Final = 1.06
#: Rows of the picture: bottom and top.
_GPU, _CPU = (0.5, 1.1), (1.9, 2.5)

Interval = tuple[float, float]


@dataclass(frozen=True)
class Timeline:
    """When the first kernels are launched and when they run, in seconds from the first launch."""

    launches: tuple[Interval, ...]
    kernels: tuple[Interval, ...]

    @property
    def idle(self) -> tuple[Interval, ...]:
        """When the GPU has nothing to do."""
        ends = (0.0, *(end for _, end in self.kernels))
        pairs = zip(ends, self.kernels, strict=False)
        return tuple((end, start) for end, (start, _) in pairs if start > end)

    @property
    def end(self) -> float:
        """When the last of these kernels is done."""
        return self.kernels[-1][1]


def length(result: ph.ForwardPass) -> float:
    """How long one kernel keeps the GPU busy, in seconds."""
    return float((result.compute + result.memory) / result.kernels)


def timeline(result: ph.ForwardPass, first: int = ROOM) -> Timeline:
    """The first kernels of a pass, in the order in which they are launched."""
    # A fraction of the kernels may be a whole number only up to rounding.
    count = int(min(first, result.kernels + 1e-6))
    launch, each = float(result.launch_overhead), length(result)
    launches: list[Interval] = []
    kernels: list[Interval] = []
    asked = done = 0.0
    if isinstance(result, ph.GraphPass):
        launches.append((0.0, launch))
        done = launch
        for _ in range(count):
            start = done + float(result.node_overhead)
            kernels.append((start, done := start + each))
        return Timeline(tuple(launches), tuple(kernels))
    waits = isinstance(result, SerialPass)
    for _ in range(count):
        begin = max(asked, done) if waits else asked
        asked = begin + launch
        launches.append((begin, asked))
        start = max(asked, done)
        kernels.append((start, done := start + each))
    return Timeline(tuple(launches), tuple(kernels))


def axis_of(result: ph.ForwardPass, textbook: ph.ForwardPass) -> Axis:
    """The time that the picture shows: a few kernels of the textbook, or ten times that, ...

    It grows only when a launch or a kernel is longer than all of it, which dragging cannot make it.
    """
    span = from_zero("", ROOM * (float(textbook.launch_overhead) + length(textbook)), "s").high
    longest = max(float(result.launch_overhead), length(result))
    while longest > _ROUNDING * span:
        span *= 10
    label = f"Time since the first launch, of {ph.counted(result.kernels, 'kernel')}"
    # A hair less, so that rounding does not ask for another step.
    return from_zero(label, span * (1 - 1e-9), "s")


def scene_of(result: ph.ForwardPass, textbook: ph.ForwardPass) -> Scene:
    """Launches above, kernels below, and the time in which the GPU waits."""
    across = axis_of(result, textbook)
    until = across.high
    shown = timeline(result, MOST)
    computing = float(result.compute / (result.compute + result.memory))
    turns = [start + computing * (end - start) for start, end in shown.kernels]
    computed = [(start, turn) for (start, _), turn in zip(shown.kernels, turns, strict=True)]
    moved = [(turn, end) for (_, end), turn in zip(shown.kernels, turns, strict=True)]
    work = (
        *_blocks(shown.launches, until, _CPU, "dispatch", apart=True),
        *_blocks(computed, until, _GPU, "compute"),
        *_blocks(moved, until, _GPU, "memory", apart=True),
    )
    numbered = [
        ((start + min(end, until)) / 2, top, str(k))
        for row, (_, top) in ((shown.launches, _CPU), (shown.kernels, _GPU))
        for k, (start, end) in enumerate(row, 1)
        if min(end, until) - start >= 0.03 * until and len(row) > 1
    ]
    marks = (
        Blocks("idle", _blocks(shown.idle, until, _GPU, "gray"), 0.3),
        Blocks("launches and kernels", work),
        notes("numbers", numbered, "middle"),
    )
    up = Axis("", 0.2, 3.1, ticks=(0.8, 2.2), words=("GPU", "CPU"), grid=False)
    legend = (
        ("Launch", "dispatch", "block"),
        ("Kernel: compute", "compute", "block"),
        ("Kernel: memory", "memory", "block"),
        ("GPU idle", "gray", "block"),
    )
    handles = (
        Handle("end of a launch", "launch_cost", float(result.launch_overhead), sum(_CPU) / 2),
        Handle("end of a kernel", "kernels", shown.kernels[0][1], sum(_GPU) / 2, flip=True),
    )
    return Scene(across, up, marks, 190, legend, handles)


def rows_of(result: ph.ForwardPass, textbook: ph.ForwardPass) -> list[tuple[str, str, str]]:
    """The first kernels for the table: when each is launched and when it runs, in both passes."""
    both = [timeline(one, _IN_TABLE) for one in (result, textbook)]
    rows = []
    for k in range(len(both[0].kernels)):
        for word, lanes in (
            ("launched", [one.launches for one in both]),
            ("runs", [one.kernels for one in both]),
        ):
            cells = [_interval(lane[k]) if k < len(lane) else "–" for lane in lanes]
            rows.append((f"Kernel {k + 1} {word}", cells[0], cells[1]))
    return rows


def kernels_for(result: ph.ForwardPass, eager: float, end: float) -> float:
    """How many eager kernels end the first one at a time, with all else as it is."""
    wanted = end - (timeline(result, 1).end - length(result))
    # A kernel takes some time; how little is up to the control.
    return eager * length(result) / max(wanted, 1e-12)


def _interval(interval: Interval) -> str:
    start, end = interval
    return f"{_show(start, 's')} to {_show(end, 's')}"


def _blocks(
    row: Sequence[Interval], until: float, lane: Interval, tone: str, *, apart: bool = False
) -> tuple[tuple[float, float, float, float, str], ...]:
    """Intervals as blocks that end where the picture ends; beyond it, blocks without width."""
    blocks = []
    for start, end in [*row, *[(until, until)] * (MOST - len(row))]:
        # A hair earlier where there is room, so that neighbors stay apart.
        right = end - min(0.002 * until, 0.3 * (end - start)) if apart else end
        blocks.append((min(start, until), lane[0], min(right, until), lane[1], tone))
    return tuple(blocks)
