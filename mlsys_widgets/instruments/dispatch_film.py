"""The first kernels of a pass as a film: launches on the CPU's lane, kernels on the GPU's.

Time runs from left to right. A launch grows while the CPU works on it; then its kernel drops to
the GPU, waits there if it must, and grows while it runs.
"""

from __future__ import annotations

from typing import Final

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.film import Actor, Film
from mlsys_widgets.instruments.dispatch_timeline import Timeline, timeline

_show = ph.format_quantity

#: Kernels that the film shows, and how long it runs.
FIRST: Final = 5
SECONDS: Final = 7.0
#: How long a launched kernel takes to drop to the GPU's lane, at most: for the eye only.
_DROP: Final = 0.25
#: Lanes: bottom and height. Kernels that wait are between the two.
_CPU, _QUEUE, _GPU = (0.64, 0.26), (0.43, 0.12), (0.08, 0.26)
#: The narrowest block that can be seen.
_HAIR: Final = 0.004


def film_of(result: ph.ForwardPass) -> Film:
    """The film of the first kernels, as they are launched in this pass."""
    shown = timeline(result, FIRST)
    computing = float(result.compute / (result.compute + result.memory))
    to_film = SECONDS / shown.end
    actors = [
        *_growing(shown.idle, shown.end, "gray", ("idle",) * len(shown.idle)),
        *_launches(shown),
        *_kernels(shown, computing),
        Actor("", "ink", ((0.0, 0.0, 0.03, 0.003, 0.92), (SECONDS, 0.997, 0.03, 0.003, 0.92))),
    ]
    count = len(shown.kernels)
    moments = [(round(to_film * at, 6), words) for at, words in _events(shown)]
    idle = sum(end - start for start, end in shown.idle)
    last = (
        f"{count} of {ph.counted(result.kernels, 'kernel')} {'is' if count == 1 else 'are'} done "
        f"after {_show(shown.end, 's')}; the GPU was idle for {_show(idle, 's')} of that."
    )
    moments[-1] = (SECONDS, last)
    title = f"The first {ph.counted(count, 'kernel')}: {_show(shown.end, 's')} in slow motion"
    rows = ((sum(_CPU) - _CPU[1] / 2, "CPU"), (_GPU[0] + _GPU[1] / 2, "GPU"))
    return Film(title, SECONDS, tuple(actors), rows, tuple(moments), 160)


def _launches(shown: Timeline) -> list[Actor]:
    names = tuple(str(k) for k in range(1, len(shown.launches) + 1))
    names = names if len(shown.kernels) == len(names) else ("graph",)
    return _growing(shown.launches, shown.end, "dispatch", names, _CPU)


def _growing(
    intervals: tuple[tuple[float, float], ...],
    until: float,
    tone: str,
    names: tuple[str, ...],
    lane: tuple[float, float] = _GPU,
) -> list[Actor]:
    """Blocks that grow to the right while time passes."""
    low, high = lane
    actors = []
    for (start, end), name in zip(intervals, names, strict=True):
        left, width = start / until, (end - start) / until
        path = (
            (SECONDS * left, left, low, 0.0, high),
            (SECONDS * (left + width), left, low, max(width - _HAIR / 2, _HAIR), high),
        )
        actors.append(Actor(name if width > 0.03 else "", tone, path))
    return actors


def _kernels(shown: Timeline, computing: float) -> list[Actor]:
    """Kernels that drop from the CPU, wait if the GPU is busy, and run."""
    actors = []
    (cpu, _), (queue, small), (gpu, high) = _CPU, _QUEUE, _GPU
    for k, (start, end) in enumerate(shown.kernels):
        asked = shown.launches[min(k, len(shown.launches) - 1)][1]
        left, right = start / shown.end, end / shown.end
        launched, turn = asked / shown.end, left + computing * (right - left)
        drop = min(_DROP, 0.4 * SECONDS * (turn - left))
        arrives = SECONDS * left + drop
        # As wide as its part that has run, once it has arrived.
        ran = max(min(drop / SECONDS, turn - left), _HAIR)
        path = [(SECONDS * launched, launched, cpu, _HAIR, small)]
        if SECONDS * (left - launched) > _DROP:
            path.append((SECONDS * launched + _DROP, launched, queue, 3 * _HAIR, small))
            path.append((SECONDS * left, left, queue, 3 * _HAIR, small))
        path.append((arrives, left, gpu, ran, high))
        path.append((SECONDS * turn, left, gpu, max(turn - left, _HAIR), high))
        actors.append(Actor(str(k + 1) if turn - left > 0.03 else "", "compute", tuple(path)))
        if computing < 1:
            stored = (
                (SECONDS * turn, turn, gpu, 0.0, high),
                (SECONDS * right, turn, gpu, max(right - turn - _HAIR / 2, _HAIR / 2), high),
            )
            actors.append(Actor("", "memory", stored))
    return actors


def _events(shown: Timeline) -> list[tuple[float, str]]:
    """Tell what happens when; what happens at the same time is in one sentence."""
    graph = len(shown.launches) < len(shown.kernels)
    told: dict[float, list[str]] = {}

    def tell(at: float, words: str) -> None:
        # Equal up to rounding.
        same = next((known for known in told if abs(known - at) <= 1e-6 * shown.end), at)
        told.setdefault(same, []).append(words)

    for k, (_, end) in enumerate(shown.kernels, 1):
        tell(end, f"kernel {k} is done")
    for k, (begin, _) in enumerate(shown.launches, 1):
        tell(begin, "the launch of the whole graph begins" if graph else f"launch {k} begins")
    done = 0.0
    for k, (start, end) in enumerate(shown.kernels, 1):
        waited = f", after the GPU was idle for {_show(start - done, 's')}" if start > done else ""
        tell(start, f"kernel {k} starts{waited}")
        done = end
    return [(at, f"At {_show(at, 's')}, {' and '.join(told[at])}.") for at in sorted(told)]
