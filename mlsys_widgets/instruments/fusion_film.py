"""Fusion as a film: tensors travel between memory and chip, as many kernels and then as one.

One second on the screen is the same stretch of modeled time in both passes, so that the fused pass
is as much shorter as the model says.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.film import Actor, Film, Place

_show = ph.format_quantity
#: Seconds of both passes together, and the pause between them.
_SECONDS, _PAUSE = 7.0, 0.5
#: Bottom and height of the rows.
_MEMORY, _CHIP, _LAUNCH = (0.68, 0.26), (0.32, 0.26), (0.04, 0.18)


@dataclass(frozen=True)
class _Kernel:
    """One kernel of the film: what it is called and reads, and how long each of its parts takes."""

    name: str
    reads: int
    launch: float
    reading: float
    computing: float
    writing: float

    @property
    def seconds(self) -> float:
        return self.launch + self.reading + self.computing + self.writing


def _kernel(name: str, reads: int, alone: ph.Fusion, fused: bool) -> _Kernel:
    moved = float(alone.fused_traffic if fused else alone.unfused_traffic) / float(alone.bandwidth)
    return _Kernel(
        name,
        reads,
        float(alone.launch_overhead),
        moved * reads / (reads + 1),
        float(alone.compute_time),
        moved / (reads + 1),
    )


def film(chain: ph.Chain, result: ph.Fusion, kernels: tuple[ph.Fusion, ...]) -> Film:
    """Show the chain as separate kernels (each operation alone), then as one."""
    apart = [
        _kernel(link.op.name, 1 + len(link.operands), alone, False)
        for link, alone in zip(chain.links, kernels, strict=True)
    ]
    one = _kernel("One kernel", chain.fused_reads, result, True)
    pace = _SECONDS / float(result.unfused_time + result.fused_time)
    slot = 1 / (len(apart) + 1)
    width = 0.9 * slot / (1 + max(kernel.reads for kernel in (*apart, one)))
    tensor = float(result.bytes_per_element * result.elements)
    many = ph.counted(len(apart), "kernel")
    moments = [(0.0, f"{chain.name} runs as {many}, then as one. Nothing has moved yet.")]
    actors: list[Actor] = []
    time = spent = moved = 0.0
    for k, kernel in enumerate(apart):
        actors += _acts(kernel, k * slot, 0.9 * slot, width, time, pace)
        time += kernel.seconds * pace
        spent += kernel.seconds
        moved += (kernel.reads + 1) * tensor
        moments.append(
            (
                time,
                f"Kernel {k + 1} of {len(apart)}, {kernel.name}: "
                f"{ph.counted(kernel.reads, 'tensor')} read, 1 written. So far "
                f"{_show(moved, 'B')} and {_show(spent, 's')}.",
            )
        )
    time += _PAUSE
    actors += _acts(one, len(apart) * slot, 0.9 * slot, width, time, pace)
    time = _SECONDS + _PAUSE
    moments.append(
        (
            time,
            f"As one kernel: {ph.counted(one.reads, 'tensor')} read, 1 written, "
            f"{_show(result.fused_traffic, 'B')} and {_show(result.fused_time, 's')}; as {many}, "
            f"{_show(result.unfused_traffic, 'B')} and {_show(result.unfused_time, 's')}.",
        )
    )
    rows = tuple(
        (bottom + height / 3, words)
        for (bottom, height), words in ((_MEMORY, "Memory"), (_CHIP, "Chip"), (_LAUNCH, "Launch"))
    )
    return Film("Tensors on their way", time, tuple(actors), rows, tuple(moments), 170)


def _acts(
    kernel: _Kernel, left: float, room: float, width: float, start: float, pace: float
) -> list[Actor]:
    """A launch, the tensors that are read, and the one that is computed and written."""
    launched = start + kernel.launch * pace
    loaded = launched + kernel.reading * pace
    done = loaded + kernel.computing * pace
    stored = done + kernel.writing * pace
    wide, right = kernel.reads * width, left + kernel.reads * width

    def at(time: float, x: float, row: tuple[float, float], broad: float) -> Place:
        return (time, x, row[0], broad, row[1])

    return [
        Actor(
            kernel.name,
            "dispatch",
            (at(start, left, _LAUNCH, 0.0), at(launched, left, _LAUNCH, room)),
        ),
        Actor(
            "",
            "memory",
            (
                at(start, left, _MEMORY, wide),
                at(launched, left, _MEMORY, wide),
                at(loaded, left, _CHIP, wide),
            ),
            round(stored, 4),
        ),
        # What is written grows on the chip while it is computed.
        Actor(
            "",
            "memory",
            (
                at(loaded, right, _CHIP, 0.0),
                at(done, right, _CHIP, 0.95 * width),
                at(stored, right, _MEMORY, 0.95 * width),
            ),
        ),
    ]
