"""Replays of drawn traces of requests by a serving engine, in real time, with every step noted.

Everything that a simulation needs to replay the same trace is in the document: when each request
came, how long its prompt and its answer are, what the engine did, and how long every step took.
Two policies decide when a request is admitted:

``continuous``: before every step, waiting requests are read into free slots, the oldest first and
one at a time; then every running sequence gets one token. ``static``: as soon as as many requests
wait as there are slots, or all that are left, they are read one after the other, and get tokens
until the longest answer is written; until then every one of them keeps its row and its slot.
"""

from __future__ import annotations

import gc
import math
import random
import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..recorder import Skip, Spread, Value
from .card_energy import gauge_of, used
from .drawn_sizes import SEED
from .llama_steps import build
from .power_meter import PACE, metered
from .ragged_attention import WAYS, RaggedAttention, gathered
from .serving_engine import SlotEngine
from .timing import GpuBench
from .transformer import PlainLlama

#: Prompts are multiples of so many tokens: a step is recorded for each length.
GRAIN = 64
LONGEST_PROMPT, LONGEST_ANSWER = 1024, 512
#: Seconds between two readings of the card's counter, so rare that no step notices.
SLOWLY = 0.05
#: The columns of a step: when it began, how long it took, the tokens of the prompt that it read
#: (0: it wrote), the rows of its graph, how many of them were sequences, and their cached tokens.
STEP = ("began", "seconds", "prompt", "rows", "batch", "cached")
ROWS = (1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64)


@dataclass(frozen=True)
class Request:
    """When it comes, and the tokens of its prompt and of its answer."""

    arrival: float
    prompt: int
    answer: int


@dataclass(frozen=True)
class DrawnTrace:
    """How requests are drawn: Poisson arrivals at a rate (infinite: all at once), and sizes."""

    name: str
    requests: int
    rate: float
    prompt: float
    answer: float
    seed: int

    def draw(self, grain: int, longest: tuple[int, int]) -> list[Request]:
        """Draw the requests: sizes log-normal around their medians, cut off at the longest."""
        chance = random.Random(self.seed)
        arrival, found = 0.0, []
        for _ in range(self.requests):
            if math.isfinite(self.rate):
                arrival += chance.expovariate(self.rate)
            prompt, answer = (
                chance.lognormvariate(math.log(middle), 0.7)
                for middle in (self.prompt, self.answer)
            )
            read = min(longest[0], max(grain, round(prompt / grain) * grain))
            written = min(longest[1], max(2, round(answer)))
            found.append(Request(round(arrival, 6), read, written))
        return found


STEADY = DrawnTrace("steady", 256, 16.0, 256, 120, SEED + 14)
BUSY = DrawnTrace("busy", 320, 24.0, 384, 100, SEED + 15)
BURST = DrawnTrace("burst", 128, math.inf, 256, 120, SEED + 16)
#: DrawnTrace, policy, slots, and which turn it is: the first is taken again at the end.
REPLAYS: list[tuple[DrawnTrace, str, int, int]] = [
    (STEADY, "continuous", 32, 1), (STEADY, "static", 32, 1), (BURST, "continuous", 64, 1),
    (STEADY, "continuous", 8, 1), (BUSY, "continuous", 64, 1), (STEADY, "continuous", 32, 2),
]  # fmt: skip
TOY_TRACE = DrawnTrace("toy", 5, 200.0, 6, 4, SEED)
#: Seconds that no replay of the list takes; none starts with less time left.
ENOUGH = 60.0


class _Running:
    """A request that was read: its slot, and the tokens of its answer so far."""

    def __init__(self, number: int, slot: int, request: Request) -> None:
        self.number, self.slot, self.request = number, slot, request
        self.written = 1

    @property
    def position(self) -> int:
        """The place of its last token, which the next step puts into the cache."""
        return self.request.prompt + self.written - 1

    @property
    def done(self) -> bool:
        """Whether the answer is complete."""
        return self.written >= self.request.answer


class Replay:
    """One trace on one engine: what happened to each request, and every step."""

    def __init__(self, engine: SlotEngine, requests: Sequence[Request], slots: int) -> None:
        torch, vocabulary = engine.bench.torch, engine.model.sizes.vocabulary
        self.engine, self.slots = engine, slots
        self.waiting = deque(enumerate(requests))
        self.requests = list(requests)
        self.ids = [
            torch.randint(0, vocabulary, (request.prompt,), device=engine.bench.device)
            for request in requests
        ]
        self.moments = {name: [0.0] * len(requests) for name in ("started", "first", "ended")}
        self.steps: dict[str, list[float]] = {name: [] for name in STEP}
        self.began = time.perf_counter()

    def now(self) -> float:
        """Return the seconds since the replay began."""
        return time.perf_counter() - self.began

    def until(self, arrival: float) -> None:
        """Wait for an arrival; the last millisecond awake, so as not to oversleep."""
        while (left := arrival - self.now()) > 0:
            if left > 0.002:
                time.sleep(left - 0.001)

    def read(self, slot: int) -> _Running:
        """Read the oldest waiting request into a slot; its first token is written then."""
        number, request = self.waiting.popleft()
        began = self.now()
        self.engine.read(slot, self.ids[number])
        ended = self.now()
        self._note(began, ended, request.prompt, 1, 1, request.prompt)
        self.moments["started"][number], self.moments["first"][number] = began, ended
        running = _Running(number, slot, request)
        if running.done:
            self.moments["ended"][number] = ended
        return running

    def write(self, batch: Sequence[_Running]) -> None:
        """Write the next token of each; what is written past an answer's end is lost."""
        began = self.now()
        self.engine.write([each.slot for each in batch], [each.position for each in batch])
        ended = self.now()
        rows = self.engine.rows_for(len(batch))
        cached = sum(each.position + 1 for each in batch)
        self._note(began, ended, 0, rows, len(batch), cached)
        for each in batch:
            each.written += 1
            if each.written == each.request.answer:
                self.moments["ended"][each.number] = ended

    def _note(self, began: float, ended: float, *counts: int) -> None:
        row = (round(began, 6), round(ended - began, 6), *counts)
        for name, value in zip(STEP, row, strict=True):
            self.steps[name].append(value)

    @property
    def seconds(self) -> float:
        """Seconds until the last answer was complete."""
        return max(self.moments["ended"])

    def timeline(self) -> dict[str, dict[str, list[float]]]:
        """Return the requests and the steps as columns of a document."""
        requests: dict[str, list[float]] = {
            "arrival": [each.arrival for each in self.requests],
            "prompt": [each.prompt for each in self.requests],
            "answer": [each.answer for each in self.requests],
        }
        for name, moments in self.moments.items():
            requests[name] = [round(moment, 6) for moment in moments]
        return {"requests": requests, "steps": self.steps}


def continuous(replay: Replay) -> None:
    """Admit a request as soon as a slot is free; one token for every running sequence per step."""
    free = list(range(replay.slots))
    running: list[_Running] = []
    while replay.waiting or running:
        while replay.waiting and free and replay.waiting[0][1].arrival <= replay.now():
            running.append(replay.read(free.pop()))
        if running:
            replay.write(running)
            free += [each.slot for each in running if each.done]
            running = [each for each in running if not each.done]
        else:
            replay.until(replay.waiting[0][1].arrival)


def static(replay: Replay) -> None:
    """Admit a full batch at a time, and the next one when its longest answer is written."""
    while replay.waiting:
        size = min(replay.slots, len(replay.waiting))
        replay.until(replay.waiting[size - 1][1].arrival)
        batch = [replay.read(slot) for slot in range(size)]
        for _ in range(max(each.request.answer for each in batch) - 1):
            replay.write(batch)


POLICIES: dict[str, Callable[[Replay], None]] = {"continuous": continuous, "static": static}


def replays(bench: GpuBench) -> None:
    """Replay every trace under its policies."""
    toys = [(TOY_TRACE, "continuous", 3, 1), (TOY_TRACE, "static", 3, 1)]
    listed = bench.pick(REPLAYS, REPLAYS[:1], toys)
    grain, longest = (4, (12, 6)) if bench.dry else (GRAIN, (LONGEST_PROMPT, LONGEST_ANSWER))
    slots, room = max(slots for _, _, slots, _ in listed), sum(longest)
    lengths = range(grain, longest[0] + 1, grain)
    rows = [count for count in ROWS if count < slots] + [slots]
    with bench.torch.inference_mode():
        model = build(bench, [("decode", slots + 1, room)], "fp16")
        engine = _engine(bench, model, slots, room, grain)
        engine.prepare(lengths, rows)
        for trace, policy, some, turn in listed:
            with bench.recorder.attempt(f"{trace.name}, {policy}, {some} slots, turn {turn}"):
                bench.recorder.need(0.0 if bench.dry else ENOUGH)
                _warm(engine, lengths[-1])
                replay = Replay(engine, trace.draw(grain, longest), some)
                _record(bench, replay, trace, policy, turn)
        del engine, model
    bench.release()


def _engine(bench: GpuBench, model: PlainLlama, slots: int, room: int, grain: int) -> SlotEngine:
    """Return an engine with the fastest attention that is right here.

    Steps are replayed as graphs; where none of those is right, they are launched.
    """
    ways: dict[str, RaggedAttention] = WAYS if bench.cuda else {"gathered": gathered}
    found: dict[str, tuple[float, SlotEngine]] = {}
    for recorded in (True, False):
        for name, attend in ways.items():
            words = f"attention {name}, {'recorded' if recorded else 'launched'}"
            with bench.recorder.attempt(words):
                engine = SlotEngine(bench, model, slots, room, attend, recorded=recorded)
                found[words] = _tried(engine, grain, words), engine
        if found:
            best = min(found, key=lambda each: found[each][0])
            bench.recorder.notes.append(f"Section replay: {best}: taken.")
            return found[best][1]
    raise Skip("no attention over sequences of different lengths works here")


def _tried(engine: SlotEngine, grain: int, words: str) -> float:
    """Check an engine; return the usual seconds of a step."""
    bench, batch, length = engine.bench, min(32, engine.slots), engine.room // 3
    engine.prepare([grain, 2 * grain], [3, batch])
    error = engine.check((2 * grain, grain))
    taken = []
    for number in range(bench.repetitions(0.01)):
        began = time.perf_counter()
        engine.write(range(batch), [length + number] * batch)
        taken.append(time.perf_counter() - began)
    usual = statistics.median(taken)
    bench.recorder.notes.append(
        f"Section replay, {words}: relative error of the logits {error:.2g}, {usual * 1e3:.4g} ms"
        f" for {batch} rows of {length} tokens."
    )
    return usual


def _warm(engine: SlotEngine, length: int) -> None:
    """Run steps until clocks and caches have settled."""
    ids = engine.bench.torch.zeros(length, dtype=engine.tokens.dtype, device=engine.bench.device)
    batch = range(engine.slots)
    for number in range(2 if engine.bench.dry else 60):
        engine.read(0, ids) if number % 4 == 0 else engine.write(batch, [length] * len(batch))


def _record(bench: GpuBench, replay: Replay, trace: DrawnTrace, policy: str, turn: int) -> None:
    gauge = gauge_of(bench)
    gc.collect()
    with metered(gauge, PACE if bench.dry else SLOWLY) as readings:
        replay.began = time.perf_counter()
        POLICIES[policy](replay)
    total, one = sum(each.answer for each in replay.requests), replay.seconds
    shape: dict[str, Value] = {
        "model": "llama31-8b", "trace": trace.name, "policy": policy, "slots": replay.slots,
        "requests": len(replay.requests), "room": replay.engine.room, "turn": turn,
    }  # fmt: skip
    energy = None
    with bench.recorder.attempt(f"energy of {trace.name}, {policy}, {replay.slots} slots"):
        energy = used(readings, replay.began, replay.began + one)
    bench.recorder.add(
        "replay", "graph" if replay.engine.recorded else "eager", "fp16", shape,
        Spread(one, one, one, 1), throughput=total / one, energy=energy,
        timeline=replay.timeline(),
    )  # fmt: skip
