"""Replays: who is admitted when, what is written down, and traces that are the same every time."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import pytest

from mlsys_widgets.measured.gpu import replays
from mlsys_widgets.measured.gpu.replays import (
    BURST,
    BUSY,
    POLICIES,
    REPLAYS,
    STEADY,
    Replay,
    Request,
)
from mlsys_widgets.measured.gpu.serving_engine import SlotEngine
from tests.measured.gpu.fake_torch import FakeBench, fake_torch

FULL = (replays.GRAIN, (replays.LONGEST_PROMPT, replays.LONGEST_ANSWER))


class Clockwork:
    """An engine whose steps take exactly as long as they say, by a clock of its own."""

    def __init__(self) -> None:
        self.time = 0.0
        self.written: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        self.bench = SimpleNamespace(torch=fake_torch(), device="cpu")
        self.model = SimpleNamespace(sizes=SimpleNamespace(vocabulary=64))

    def read(self, slot: int, ids: Any) -> None:
        self.time += len(ids)

    def write(self, slots: list[int], positions: list[int]) -> None:
        self.written.append((tuple(slots), tuple(positions)))
        self.time += 1.0

    def rows_for(self, sequences: int) -> int:
        return 2 * math.ceil(sequences / 2)


def run(
    monkeypatch: pytest.MonkeyPatch, policy: str, requests: list[Request], slots: int = 2
) -> tuple[Replay, Clockwork]:
    engine = Clockwork()
    clock = SimpleNamespace(perf_counter=lambda: engine.time, sleep=lambda s: None)
    monkeypatch.setattr(replays, "time", clock)
    replay = Replay(engine, requests, slots)  # type: ignore[arg-type]

    def until(arrival: float) -> None:
        engine.time = max(engine.time, arrival)

    replay.until = until  # type: ignore[method-assign]
    POLICIES[policy](replay)
    return replay, engine


REQUESTS = [Request(0.0, 4, 3), Request(1.0, 2, 6), Request(2.0, 3, 2), Request(30.0, 1, 2)]


def test_a_free_slot_is_taken_before_the_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    replay, engine = run(monkeypatch, "continuous", REQUESTS)
    # read 0 (4 s), read 1 (2 s), two steps of both; 0 is done and 2 is read into its slot; a step
    # ends 2, three... 1 needs five steps in all; then the last one comes at 30 s.
    assert replay.moments["started"] == [0.0, 4.0, 8.0, 30.0]
    assert replay.moments["first"] == [4.0, 6.0, 11.0, 31.0]
    assert replay.moments["ended"] == [8.0, 14.0, 12.0, 32.0]
    slots, positions = engine.written[2]
    assert positions == (4, 3)  # request 1 after three tokens, request 2 after its first
    assert slots[1] == engine.written[0][0][0]  # the slot of request 0 is used again


def test_a_static_batch_waits_and_is_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    replay, engine = run(monkeypatch, "static", REQUESTS)
    # Two wait at 1 s; both are written until the longer answer ends; the next two wait at 30 s.
    assert replay.moments["started"] == [1.0, 5.0, 30.0, 33.0]
    assert replay.moments["ended"] == [9.0, 12.0, 35.0, 35.0]
    assert all(len(slots) == 2 for slots, _ in engine.written)
    assert engine.written[4][1] == (8, 6)  # the shorter answer goes on, and nobody wants it


def test_a_last_batch_may_be_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    replay, engine = run(monkeypatch, "static", REQUESTS[:3])
    assert len(engine.written[-1][0]) == 1
    assert replay.seconds == max(replay.moments["ended"])


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_step_is_written_down(monkeypatch: pytest.MonkeyPatch, policy: str) -> None:
    replay, engine = run(monkeypatch, policy, REQUESTS)
    steps = replay.timeline()["steps"]
    assert {len(column) for column in steps.values()} == {len(REQUESTS) + len(engine.written)}
    reads = [prompt for prompt in steps["prompt"] if prompt]
    assert reads == [request.prompt for request in REQUESTS]
    writes = [row for row in zip(*steps.values(), strict=True) if not row[2]]
    for row, (_, positions) in zip(writes, engine.written, strict=True):
        _, seconds, _, rows, batch, cached = row
        assert (seconds, batch, rows) == (1.0, len(positions), 2)
        assert cached == sum(positions) + len(positions)
    ends = [
        began + seconds for began, seconds in zip(steps["began"], steps["seconds"], strict=True)
    ]
    assert all(end <= began for end, began in zip(ends, steps["began"][1:], strict=False))


def test_all_tokens_of_all_answers_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    _, engine = run(monkeypatch, "continuous", REQUESTS)
    firsts = len(REQUESTS)
    assert firsts + sum(len(slots) for slots, _ in engine.written) == sum(
        request.answer for request in REQUESTS
    )


@pytest.mark.parametrize("trace", [STEADY, BUSY, BURST], ids=lambda trace: trace.name)
def test_traces_are_drawn_as_the_document_says(trace: replays.DrawnTrace) -> None:
    requests = trace.draw(*FULL)
    assert requests == trace.draw(*FULL)
    assert len(requests) == trace.requests
    for request in requests:
        assert request.prompt % replays.GRAIN == 0
        assert replays.GRAIN <= request.prompt <= replays.LONGEST_PROMPT
        assert 2 <= request.answer <= replays.LONGEST_ANSWER
    arrivals = [request.arrival for request in requests]
    if math.isinf(trace.rate):
        assert set(arrivals) == {0.0}
    else:
        gaps = [b - a for a, b in itertools.pairwise(arrivals)]
        # The mean of n exponential gaps is off by 1/sqrt(n) of itself; three times that.
        assert sum(gaps) / len(gaps) == pytest.approx(1 / trace.rate, rel=3 / len(gaps) ** 0.5)
    middle = sorted(request.answer for request in requests)[len(requests) // 2]
    assert middle == pytest.approx(trace.answer, rel=3 * 1.25 * 0.7 / len(requests) ** 0.5)


def test_the_method_says_how_traces_are_drawn() -> None:
    from mlsys_widgets.measured.gpu import METHOD

    text = str(METHOD["replay"])
    for trace in (STEADY, BUSY):
        words = f"{trace.name} {trace.prompt}, {trace.answer}, {trace.rate:g} per s"
        assert f"{words}, {trace.requests}" in text
    assert f"burst {BURST.prompt}, {BURST.answer}, all at once, {BURST.requests}" in text
    room = replays.LONGEST_PROMPT + replays.LONGEST_ANSWER
    assert f"slots of {room} tokens" in text
    assert f"{', '.join(map(str, replays.ROWS[:-1]))} or {replays.ROWS[-1]} rows" in text


def test_the_replays_of_the_list_differ() -> None:
    named = [(trace.name, policy, slots, turn) for trace, policy, slots, turn in REPLAYS]
    assert len(set(named)) == len(named)


def test_a_rehearsal_replays_both_policies() -> None:
    bench = FakeBench()
    replays.replays(bench)
    wrong = [entry for entry in bench.recorder.skipped if not entry["what"].startswith("energy of")]
    assert wrong == []
    found = bench.recorded("replay")
    assert {case["shape"]["policy"] for case in found} == set(POLICIES)
    for case in found:
        requests = case["timeline"]["requests"]
        assert case["throughput"] == pytest.approx(
            sum(requests["answer"]) / case["seconds"]["median"]
        )
        pairs = zip(
            *(requests[name] for name in ("arrival", "started", "first", "ended")), strict=True
        )
        assert all(a <= b < c <= d for a, b, c, d in pairs)
        assert case["variant"] == "graph"
    assert any("gathered, recorded: taken" in note for note in bench.recorder.notes)


def test_steps_are_launched_where_recorded_ones_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    check = SlotEngine.check

    def refuse(engine: SlotEngine, lengths: tuple[int, int]) -> float:
        if engine.recorded:
            raise RuntimeError("a token written in slot 2 differs")
        return check(engine, lengths)

    monkeypatch.setattr(SlotEngine, "check", refuse)
    bench = FakeBench()
    replays.replays(bench)
    assert {case["variant"] for case in bench.recorded("replay")} == {"eager"}
    assert bench.recorder.skipped[0]["what"] == "attention gathered, recorded"
