"""A serving engine, step by step: prompts are read, and answers are written together.

An engine has slots. A prompt is read alone, which also writes the first token of its answer; then
every running sequence gets one token in each step. When a waiting request gets a slot, and whether
a slot is a room for the longest request or as many pages as it needs now, is the policy's decision.
How long a step takes is the caller's: the calibrated form of `serving_time`, or a measurement.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets.physics.domain import Numeric
from mlsys_widgets.physics.model_kernels import Phase
from mlsys_widgets.wording.choices import one_of

_Array = NDArray[np.float64]
_Counts = NDArray[np.int_]
#: ``"continuous"``: a request is read as soon as a slot is free. ``"static"``: as many as there are
#: slots are read together, and the next ones when the longest of their answers is written. In both,
#: a slot is a room for the longest request. ``"paged"``: a request is read as soon as pages for its
#: prompt are free, and gets another page whenever its last one is full. If none is left, the one
#: that came last gives its pages back, waits, and is read again with what it had written.
Policy = Literal["continuous", "static", "paged"]
#: How many of those who wait an engine in pages reads now, in the order of their arrival. It is
#: asked with the free pages; for every running sequence, its tokens in the cache and those of its
#: answer so far; and for everybody who waits, the tokens to read and the seconds since the arrival.
Admission = Callable[[int, list[list[int]], list[list[float]]], int]


class ServingRequest(NamedTuple):
    """When a request comes, and the tokens of its prompt and of its answer."""

    arrival: float
    prompt: int
    answer: int


@dataclass(frozen=True)
class StepTimes:
    """How long an engine takes for a step."""

    read: Callable[[int], float]  # seconds for a prompt of so many tokens
    #: Seconds for one token of so many sequences that have so many tokens in the cache together;
    #: asked for several steps at once.
    write: Callable[[int, _Counts], NDArray[np.floating[Any]] | float]


#: Steps that are taken at once where nothing changes between them.
_AHEAD: Final = 64


class EngineStep(NamedTuple):
    """What an engine did: read a prompt of so many tokens, or (0) wrote a token for a batch.

    ``users`` are the answers in the cache that are not complete, ``kept`` their tokens, and
    ``held`` the tokens that what was handed out has room for.
    """

    began: float
    seconds: float
    prompt: int
    batch: int
    users: int
    kept: int
    held: int


class Stay(NamedTuple):
    """A request in the cache: from when to when, and with how many tokens at first and at last."""

    number: int
    began: float
    ended: float
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class ServedTrace:
    """Requests in the order of their arrival, and the steps that served them."""

    #: When each request came, when it was read, and when the first and the last token of its answer
    #: were written.
    arrived: _Array
    started: _Array
    first: _Array
    ended: _Array
    columns: Mapping[str, _Array]  # all steps in order, as an array for each of their fields
    #: When requests were in the cache; more than once where one lost its pages.
    stays: tuple[Stay, ...]
    room: int  # tokens that the cache can hold

    @cached_property
    def steps(self) -> tuple[EngineStep, ...]:
        """The steps, one by one."""
        began, seconds, *whole = (each.tolist() for each in self.columns.values())
        counts = ([int(number) for number in each] for each in whole)
        return tuple(map(EngineStep, began, seconds, *counts))

    @property
    def seconds(self) -> float:
        """Seconds until the last answer was complete."""
        return float(self.ended.max())

    @property
    def response(self) -> _Array:
        """Seconds of each request from its arrival to the end of its answer."""
        return self.ended - self.arrived

    @property
    def wait(self) -> _Array:
        """Seconds of each request from its arrival to the first token of its answer."""
        return self.first - self.arrived

    @property
    def pause(self) -> _Array:
        """The longest time of each request between two tokens of its answer; 0 if it has one.

        Everybody pauses while a prompt is read, and longest of all who loses its pages.
        """
        began = self.columns["began"]
        last = began + self.columns["seconds"]
        ends = dict(zip(began.tolist(), last.tolist(), strict=True))
        written = last[self.columns["prompt"] == 0]
        tokens = [[np.empty(0)] for _ in self.arrived]
        for stay in self.stays:
            first, last = np.searchsorted(written, [ends[stay.began], stay.ended], side="right")
            tokens[stay.number] += [np.array([ends[stay.began]]), written[first:last]]
        return np.array([np.diff(np.concatenate(each)).max(initial=0) for each in tokens])

    @property
    def again(self) -> int:
        """How often a request was read again, because it had lost its pages."""
        return len(self.stays) - len(self.arrived)

    def _mean(self, name: str) -> float:
        """The mean of a field over the time in which steps run."""
        return float(np.average(self.columns[name], weights=self.columns["seconds"]))

    @property
    def kept(self) -> float:
        """Tokens of use in the cache, on average while steps run."""
        return self._mean("kept")

    @property
    def held(self) -> float:
        """Tokens that what was handed out of the cache has room for, on average."""
        return self._mean("held")

    @property
    def users(self) -> float:
        """Requests in the cache whose answers are not complete, on average."""
        return self._mean("users")

    @property
    def filled(self) -> float:
        """Part of the cache that holds a token of use, on average while steps run."""
        return self.kept / self.room


_FIELDS: Final = len(EngineStep._fields)


@dataclass(slots=True)
class _Answering:
    number: int
    arrival: float
    prompt: int
    answer: int
    written: int = 0
    #: Tokens in the cache: the last one written enters it with the next step.
    cached: int = 0
    #: When it entered the cache, and its tokens then.
    entered: tuple[float, int] = (0.0, 0)

    @property
    def done(self) -> bool:
        return self.written >= self.answer


class _EngineClock:
    """The clock, and what is noted while it runs."""

    def __init__(
        self, requests: Sequence[ServingRequest], times: StepTimes, room: int, block: int
    ) -> None:
        self.times = times
        self.room, self.block = room, block
        self.waiting = deque(_Answering(k, *request) for k, request in enumerate(requests))
        self.now = 0.0
        self.started, self.first, self.ended = np.full((3, len(requests)), np.inf)
        #: A row for each field of a step, and a column for each step.
        self.steps: list[_Array] = []
        self.stays: list[Stay] = []
        self.held: dict[int, _Answering] = {}

    @property
    def columns(self) -> dict[str, _Array]:
        table = np.concatenate(self.steps, axis=1) if self.steps else np.empty((_FIELDS, 0))
        return dict(zip(EngineStep._fields, table, strict=True))

    @property
    def somebody_waits(self) -> bool:
        return bool(self.waiting) and self.waiting[0].arrival <= self.now

    def pages(self, tokens: int) -> int:
        return -(-tokens // self.block)

    def taken(self, more: _Counts | int = 0) -> Any:
        """Pages of all sequences if each had so many tokens more; 0 where there are no pages."""
        if not self.block:
            return 0 * more
        short, block = more + self.block - 1, self.block
        return sum((each.cached + short) // block for each in self.held.values())

    def _note(
        self,
        seconds: _Array,
        prompt: int,
        batch: int,
        users: int,
        kept: _Counts | int,
        taken: _Counts | int,
    ) -> None:
        """Note steps that follow each other, with the tokens of use and the pages in each."""
        moments = np.add.accumulate([self.now, *seconds])
        steps = np.empty((_FIELDS, len(seconds)))
        held = self.block * taken if self.block else self.room
        for row, values in zip(
            steps, (moments[:-1], seconds, prompt, batch, users, kept, held), strict=True
        ):
            row[:] = values
        self.steps.append(steps)
        self.now = float(moments[-1])

    def read(self) -> _Answering:
        """Read the next prompt, with what was written of its answer before it lost its pages."""
        one = self.waiting.popleft()
        tokens, again = one.prompt + one.written, one.written > 0
        one.written, one.cached = one.written + 1, tokens
        one.entered = (self.now, tokens)
        self.held[one.number] = one
        if not again:
            self.started[one.number] = self.now
        of_use = [each.cached for each in self.held.values() if each.written <= each.answer]
        seconds = np.array([self.times.read(tokens)])
        self._note(seconds, tokens, 1, len(of_use), sum(of_use), self.taken())
        if not again:
            self.first[one.number] = self.now
        self.ended[one.number] = self.now
        return one

    def write(self, batch: Sequence[_Answering], most: int = _AHEAD) -> None:
        """Write tokens for a batch, until something may change.

        That is when an answer is complete, somebody comes, or pages would run out.
        """
        of_use = [each for each in batch if not each.done]
        more = np.arange(1, 1 + min(most, *(each.answer - each.written for each in of_use)))
        taken = self.taken(more)
        if self.block:  # the first step is known to fit
            more = more[: np.searchsorted(taken, self.room // self.block, side="right")]
        cached = sum(each.cached for each in batch) + len(batch) * more
        seconds = np.broadcast_to(self.times.write(len(batch), cached), more.shape)
        if self.waiting and not self.somebody_waits:
            ends = np.add.accumulate([self.now, *seconds])[1:]
            seconds = seconds[: 1 + np.searchsorted(ends, self.waiting[0].arrival)]
        more = more[: len(seconds)]
        kept = sum(each.cached for each in of_use) + len(of_use) * more
        self._note(seconds, 0, len(batch), len(of_use), kept, taken[: len(more)])
        for each in batch:
            each.written += len(more)
            each.cached += len(more)
            if each.written == each.answer:
                self.ended[each.number] = self.now

    def leave(self, one: _Answering) -> None:
        """Take a sequence out of the cache."""
        del self.held[one.number]
        began, first = one.entered
        self.stays.append(Stay(one.number, began, self.now, first, one.cached))

    def remaining(
        self, batch: Sequence[_Answering], *, all_leave: bool = False
    ) -> list[_Answering]:
        """Free the slots of those whose answer is complete, or of all; return the others."""
        for each in batch:
            if all_leave or each.done:
                self.leave(each)
        return [each for each in batch if each.number in self.held]

    def idle(self) -> bool:
        """Wait for the next request; whether there is one."""
        later = [each.arrival for each in self.waiting if each.arrival > self.now]
        self.now = min(later, default=self.now)
        return bool(later)

    def asked(self, admit: Admission, running: Sequence[_Answering]) -> int:
        """How many of those who wait are read now."""
        came = [each for each in self.waiting if each.arrival <= self.now]
        if not came:
            return 0
        waiting = [[each.prompt + each.written, self.now - each.arrival] for each in came]
        return admit(
            self.room // self.block - self.taken(),
            [[each.cached, each.written] for each in running],
            waiting,
        )


def _continuous(engine: _EngineClock, slots: int) -> None:
    running: list[_Answering] = []
    while engine.waiting or running:
        while len(running) < slots and engine.somebody_waits:
            running = engine.remaining([*running, engine.read()])
        if running:
            engine.write(running)
            running = engine.remaining(running)
        elif engine.waiting:
            engine.idle()


def _paged(engine: _EngineClock, most: int, admit: Admission | None = None) -> None:
    pages = engine.room // engine.block
    running: list[_Answering] = []

    def fits(one: _Answering) -> bool:
        """Whether there are pages for it, and for the next token of all who are there."""
        needed: int = engine.taken(1) + engine.pages(one.prompt + one.written + 1)
        return needed <= pages

    while engine.waiting or running:
        let_in = engine.asked(admit, running) if admit else 0
        for _ in range(let_in):
            running = engine.remaining([*running, engine.read()])
        while (
            not admit and len(running) < most and engine.somebody_waits and fits(engine.waiting[0])
        ):
            running = engine.remaining([*running, engine.read()])
        while engine.taken(1) > pages:
            last = running.pop()
            engine.leave(last)
            engine.waiting.appendleft(last)
        if running:
            # A policy is asked before every step in which somebody waits.
            engine.write(running, 1 if admit and engine.somebody_waits else _AHEAD)
            running = engine.remaining(running)
        elif not let_in and not engine.idle():
            return  # nobody who waits is ever let in


def _static(engine: _EngineClock, slots: int) -> None:
    while engine.waiting:
        size = min(slots, len(engine.waiting))
        engine.now = max(engine.now, engine.waiting[size - 1].arrival)
        batch = [engine.read() for _ in range(size)]
        while not all(each.done for each in batch):
            engine.write(batch)
        engine.remaining(batch, all_leave=True)


#: Tokens of a sequence up to which steps are timed.
_LONGEST: Final = 131_072.0
#: Lengths of a cache at which steps are timed; between them, time is a straight line.
_POINTS: Final = 128
_POLICIES: Final[dict[Policy, Callable[[_EngineClock, int], None]]] = {
    "continuous": _continuous,
    "static": _static,
    "paged": _paged,
}


def simulate_serving(
    requests: Sequence[ServingRequest],
    times: StepTimes,
    slots: int,
    room: int,
    policy: Policy = "continuous",
    block: int = 16,
    most: int = 256,
    admit: Admission | None = None,
) -> ServedTrace:
    """Serve requests with an engine, one step after the other.

    Parameters
    ----------
    requests : sequence of ServingRequest
        In the order of their arrival.
    times : StepTimes
        How long a step takes.
    slots, room : int
        The cache has so many slots, and each is a room for so many tokens.
    policy : {"continuous", "static", "paged"}
        When a waiting request is read, and what it gets of the cache.
    block, most : int
        In pages: the tokens of each, and how many sequences may be in the cache at once.
    admit : callable, optional
        In pages: who decides how many are let in; without it, as many as fit. Requests that are
        never let in have no end (infinity).

    Returns
    -------
    ServedTrace
        What happened to each request, and every step.

    Examples
    --------
    Four requests at once, one with a long answer, and two slots. Who waits for whom?

    >>> steady = StepTimes(read=lambda prompt: 10.0, write=lambda batch, cached: 1.0)
    >>> some = [ServingRequest(0.0, 8, answer) for answer in (40, 5, 5, 5)]
    >>> for policy in ("continuous", "static"):
    ...     served = simulate_serving(some, steady, slots=2, room=64, policy=policy)
    ...     served.ended.tolist(), round(served.filled, 2)
    ([79.0, 24.0, 38.0, 52.0], 0.19)
    ([59.0, 24.0, 83.0, 83.0], 0.16)

    The same cache in pages of eight tokens has room for all four, and nobody waits for a slot:

    >>> paged = simulate_serving(some, steady, slots=2, room=64, policy="paged", block=8)
    >>> paged.ended.tolist(), round(paged.kept / paged.held, 2)
    ([79.0, 44.0, 44.0, 44.0], 0.91)
    """
    one_of("policy", policy, _POLICIES)
    for number, request in enumerate(requests):
        if request.prompt + request.answer > room:
            raise ValueError(
                f"request {number} has {request.prompt} + {request.answer} tokens; the room of a"
                f" slot is {room}"
            )
    engine = _EngineClock(requests, times, slots * room, block if policy == "paged" else 0)
    if policy == "paged":
        _paged(engine, most, admit)
    else:
        _POLICIES[policy](engine, slots)
    return ServedTrace(
        np.array([request.arrival for request in requests]),
        engine.started,
        engine.first,
        engine.ended,
        engine.columns,
        tuple(engine.stays),
        slots * room,
    )


def step_times(
    taken: Callable[[Phase, int, _Array], Numeric], rows: Sequence[int] = ()
) -> StepTimes:
    """The steps of an engine from a form that times passes.

    Parameters
    ----------
    taken : callable
        Seconds of a pass by its phase, its batch and the tokens of each sequence, as
        `serving_time`, `decode` and `prefill` tell them.
    rows : sequence of int
        For how many rows there are graphs: a batch takes the smallest that holds it, and the rows
        that it does not need hold nothing. Without it, every batch has its own.
    """
    sizes = sorted(rows)

    @cache
    def read(prompt: int) -> float:
        return float(np.asarray(taken("prefill", 1, np.array([float(prompt)])))[0])

    @cache
    def curve(batch: int) -> tuple[_Array, _Array]:
        lengths = np.geomspace(1.0, _LONGEST, _POINTS)
        return lengths, np.asarray(taken("decode", batch, lengths), dtype=float)

    def write(batch: int, cached: _Counts) -> NDArray[np.floating[Any]] | float:
        padded = next((size for size in sizes if size >= batch), batch)
        return np.interp(cached / padded, *curve(padded))

    return StepTimes(read, write)
