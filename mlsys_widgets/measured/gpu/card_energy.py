"""Energy of serving a language model: idle, decoding, reading prompts, and the two ends of both.

Each case is repeated without a pause for some seconds, warm, while the driver's counter of the
card's energy is read. Sizes drawn with a seed are marked: a model of power that was fitted to the
listed ones is judged on them. Nothing is set on the card, neither clocks nor a limit of power.
"""

from __future__ import annotations

import itertools
import math
import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..recorder import Spread, Value, spread
from .drawn_sizes import SEED, draw, prompts
from .llama_steps import Step, build, counts, step_call, step_shape
from .power_meter import CardState, Gauge, Nvml, Readings, metered, resolution
from .timing import Call, GpuBench
from .transformer import PlainLlama

#: Seconds of work before the counter is read, while it is read, and of one piece of work.
WARM, HELD, PIECE = 1.2, 3.0, 0.025
#: The most seconds that a counter which hardly moves is waited for.
MOST = 20.0
#: Pieces of work that wait in the queue, so that the card never does.
AHEAD = 2

BATCHES: list[Step] = [("decode", 2**power, 2048) for power in range(9)]
PROMPTS: list[Step] = [
    ("prefill", 1, 128), ("prefill", 1, 512), ("prefill", 1, 2048), ("prefill", 1, 8192),
    ("prefill", 8, 1024),
]  # fmt: skip
SHORT: list[Step] = [("decode", batch, 512) for batch in (1, 16, 64, 256)]
LAUNCHED: list[Step] = [("decode", 1, 2048), ("decode", 32, 2048)]


def drawn_steps() -> list[Step]:
    """Draw the steps that judge a model of power."""
    chance = random.Random(SEED + 18)
    found: list[Step] = []
    for _ in range(8):
        sequence = draw(chance, 128, 16384)
        found.append(("decode", draw(chance, 1, min(256.0, 5e5 / sequence)), sequence))
    limits = {"shortest": 128, "longest": 8192, "batches": 16, "tokens": 16384}
    return found + [("prefill", *case) for case in prompts(chance, 4, **limits)]


@dataclass(frozen=True)
class Hold:
    """The result of repeating one call for some seconds."""

    seconds: Spread
    calls: int
    held: float
    watts: float
    state: CardState

    def each(self, calls: int) -> Hold:
        """Return the same hold, counted per call of a graph of several."""
        whole = self.seconds
        seconds = Spread(
            whole.median / calls, whole.q25 / calls, whole.q75 / calls, whole.repetitions
        )  # fmt: skip
        return replace(self, seconds=seconds, calls=self.calls * calls)

    def energy(self) -> dict[str, float]:
        """Return what a document says of the energy of one call: mean power, mean time."""
        return {
            "joules": self.watts * self.held / self.calls, "watts": self.watts, "held": self.held,
            "reported_watts": self.state.watts, "sm_clock": self.state.sm_clock,
            "memory_clock": self.state.memory_clock, "temperature": self.state.temperature,
        }  # fmt: skip


class EnergyBench:
    """Repeats calls while a gauge is read, and records what one of them costs."""

    def __init__(self, bench: GpuBench, gauge: Gauge) -> None:
        self.bench, self.gauge = bench, gauge
        self.readings: list[Readings] = []

    def hold(self, again: Callable[[], object], one: float) -> Hold:
        """Repeat a call that takes about `one` second for the time that a reading needs."""
        calls = 1 if self.bench.dry else max(1, math.ceil(PIECE / one))
        marks: deque[Any] = deque()
        within: list[float] = []
        with metered(self.gauge) as readings:
            warm = self._warm()
            while not within or self._waits(readings, within[0], within[-1]):
                for _ in range(calls):
                    again()
                marks.append(self._mark())
                if len(marks) > AHEAD:
                    self._reached(marks.popleft(), warm, within)
            while marks:
                self._reached(marks.popleft(), warm, within)
        pieces = [(b - a) / calls for a, b in itertools.pairwise(within)]
        return self._held(readings, within[0], within[-1], spread(pieces), calls * len(pieces))

    def rest(self) -> Hold:
        """Read the card while nothing runs."""
        self.bench.synchronize()
        with metered(self.gauge) as readings:
            start = self._warm()
            time.sleep(max(0.0, start - time.perf_counter()))
            while self._waits(readings, start, time.perf_counter()):
                time.sleep(PIECE)
            end = time.perf_counter()
        return self._held(readings, start, end, spread([end - start]), 1)

    def _warm(self) -> float:
        """Return the moment at which reading starts to count."""
        self.bench.recorder.need(WARM + HELD + 1)
        return time.perf_counter() + (0.01 if self.bench.dry else WARM)

    def _waits(self, readings: Readings, start: float, now: float) -> bool:
        """Whether to go on: a counter that moves rarely gets more time, though not forever."""
        if now < start + (0.05 if self.bench.dry else HELD):
            return True
        return now < start + MOST and not readings.enough(start, now)

    def _mark(self) -> Any:
        if not self.bench.cuda:
            return None
        mark = self.bench.torch.cuda.Event()
        mark.record()
        return mark

    def _reached(self, mark: Any, warm: float, within: list[float]) -> None:
        """Wait for a piece of work, and note its end if it counts."""
        if mark is not None:
            mark.synchronize()
        if (now := time.perf_counter()) >= warm:
            within.append(now)

    def _held(
        self, readings: Readings, start: float, end: float, seconds: Spread, calls: int
    ) -> Hold:
        watts = readings.watts(start, end)
        self.readings.append(readings)
        return Hold(seconds, calls, end - start, watts, readings.state(start, end))

    def record(
        self,
        variant: str,
        precision: str | None,
        shape: dict[str, Value],
        hold: Hold,
        *,
        tokens: int | None = None,
        **counted: Any,
    ) -> None:
        """Record one case."""
        self.bench.recorder.add(
            "energy", variant, precision, shape, hold.seconds,
            throughput=None if tokens is None else tokens * hold.calls / hold.held,
            energy=hold.energy(), **counted,
        )  # fmt: skip


class _Rehearsal:
    """A card of 100 W, for a rehearsal without one."""

    def joules(self) -> float:
        return 100.0 * time.perf_counter()

    def state(self) -> CardState:
        return CardState(100.0, 1e9, 1e9, 40.0)


def gauge_of(bench: GpuBench) -> Gauge:
    """Return what reads the card, or in a rehearsal, what pretends to."""
    return Nvml() if bench.cuda else _Rehearsal()


def used(readings: Readings, start: float, end: float) -> dict[str, float]:
    """Return what a document says of the energy that the card used between two moments."""
    held = end - start
    watts, state = readings.watts(start, end), readings.state(start, end)
    return Hold(Spread(held, held, held, 1), 1, held, watts, state).energy()


def energy(bench: GpuBench) -> None:
    """Measure the card at rest, at both of its ends, and serving."""
    meter = EnergyBench(bench, gauge_of(bench))
    with bench.torch.inference_mode():
        with bench.recorder.attempt("the card at rest"):
            meter.record("idle", None, {"work": "idle", "after": "nothing"}, meter.rest())
        for name, work in (("a product", _product), ("a copy", _copy)):
            with bench.recorder.attempt(name):
                work(meter)
            bench.release()
        with bench.recorder.attempt("the model"):
            _serve(meter)
        with bench.recorder.attempt("the card at rest after work"):
            meter.record("idle", None, {"work": "idle", "after": "work"}, meter.rest())
    bench.release()
    bench.recorder.notes.append(f"Section energy: {resolution(meter.readings)}.")


def _product(meter: EnergyBench) -> None:
    bench, n = meter.bench, 16 if meter.bench.dry else 8192
    a, b = bench.random(2, (n, n), bench.torch.float16)
    out = bench.empty(1, (n, n), bench.torch.float16)[0]
    shape: dict[str, Value] = {"work": "product", "m": n, "n": n, "k": n}
    again = bench.capture(lambda i: bench.torch.mm(a, b, out=out), 4)
    hold = meter.hold(again, 4 * bench.estimate(lambda i: bench.torch.mm(a, b, out=out)))
    meter.record(
        "graph", "fp16", shape, hold.each(4), flops=2.0 * n**3, bytes=3 * 2.0 * n**2
    )  # fmt: skip


def _copy(meter: EnergyBench) -> None:
    bench, size = meter.bench, 64 if meter.bench.dry else 1 << 30
    source, target = bench.random(2, (size,), bench.torch.float16)
    again = bench.capture(lambda i: target.copy_(source), 4)
    hold = meter.hold(again, 4 * bench.estimate(lambda i: target.copy_(source)))
    shape: dict[str, Value] = {"work": "copy", "array_bytes": 2 * size}
    meter.record("graph", "fp16", shape, hold.each(4), flops=0.0, bytes=4.0 * size)


def _serve(meter: EnergyBench) -> None:
    bench = meter.bench
    drawn = bench.pick(drawn_steps(), [], [("decode", 2, 7)])
    listed = bench.pick(BATCHES + PROMPTS, [BATCHES[0], PROMPTS[2]], [("decode", 3, 11)])
    more = bench.pick(SHORT, [], [("prefill", 2, 9)])
    launched = bench.pick(LAUNCHED, [], [("decode", 3, 11)])
    model = build(bench, listed + drawn + more + launched, "fp16")
    cases = [(step, False, "graph") for step in listed] + [(step, True, "graph") for step in drawn]
    cases += [(step, False, "graph") for step in more]
    cases += [(step, False, "eager") for step in launched]
    for step, unseen, variant in cases:
        with bench.recorder.attempt(f"{variant}, {step[0]} of {step[1]} x {step[2]}"):
            _step(meter, model, step, variant, unseen)
        bench.release()


def _step(meter: EnergyBench, model: PlainLlama, step: Step, variant: str, drawn: bool) -> None:
    bench = meter.bench
    phase, batch, sequence = step
    call: Call = step_call(bench, model, *step)

    def launch() -> None:
        call(0)

    again = bench.capture(call, 1, hold=1) if variant == "graph" else launch
    hold = meter.hold(again, bench.estimate(lambda i: again()))
    sizes = step_shape(*step)
    shape: dict[str, Value] = {"work": sizes.pop("phase"), "drawn": drawn, **sizes}
    meter.record(
        variant, "fp16", shape, hold,
        tokens=batch * (sequence if phase == "prefill" else 1),
        **counts(model, phase, batch, sequence, len(model.layers)),
    )  # fmt: skip
