"""An engine that asks a policy: it follows what is possible, and a replay is the same run."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.physics import admission
from mlsys_widgets.physics.admission import AdmissionRun, ImpossibleAdmission, play, replay
from mlsys_widgets.physics.serving_simulation import (
    Admission,
    ServingRequest,
    StepTimes,
    simulate_serving,
)

PAGES, BLOCK = 8, 8
Run = dict[str, Any]
Waiting = list[list[float]]


def made(requests: list[tuple[float, int, int]], pages: int = PAGES) -> Run:
    return {
        "requests": [list(each) for each in sorted(requests)], "pages": pages, "block": BLOCK,
        "read": [1.0, 0.05], "write": [1.0, 0.01, 0.002], "first": 100, "pause": 100,
    }  # fmt: skip


runs = st.lists(
    st.tuples(st.sampled_from([0, 3, 7.5, 30]), st.integers(1, 30), st.integers(1, 30)),
    min_size=1,
    max_size=10,
).map(made)


def all_that_fit(free: int, _running: list[list[int]], waiting: Waiting) -> int:
    count = 0
    for tokens, _ in waiting:
        free -= -(-int(tokens) // BLOCK)
        count += free >= 0
    return count


def some(seed: int) -> Admission:
    """A policy that lets in any number that is possible, but never nobody into an idle engine."""
    chance = random.Random(seed)

    def admit(free: int, running: list[list[int]], waiting: Waiting) -> int:
        return chance.randint(0 if running else 1, all_that_fit(free, running, waiting))

    return admit


@given(runs, st.integers(0, 9))
def test_a_replay_of_decisions_is_the_same_run(run: Run, seed: int) -> None:
    decided = play(some(seed), json.loads(json.dumps(run)))
    found = replay(json.loads(json.dumps(decided)), run)
    served = AdmissionRun(**run).serve(some(seed))
    np.testing.assert_array_equal(found.served.ended, served.ended)
    np.testing.assert_array_equal(found.served.pause, served.pause)
    assert len(found.shown) == len(decided)


@given(runs, st.integers(0, 9))
def test_every_token_is_written_once_however_often_pages_are_lost(run: Run, seed: int) -> None:
    served = AdmissionRun(**run).serve(some(seed))
    reads = sum(step.prompt > 0 for step in served.steps)
    writes = sum(step.batch for step in served.steps if not step.prompt)
    assert reads + writes == sum(answer for _, _, answer in run["requests"])
    assert reads == len(run["requests"]) + served.again
    assert np.isfinite(served.ended).all()
    assert all(step.held <= PAGES * BLOCK for step in served.steps)


@given(runs)
def test_pages_that_nobody_runs_out_of_are_those_of_the_engine_alone(run: Run) -> None:
    run = {**run, "requests": [[0, *each[1:]] for each in run["requests"]], "pages": 1000}
    alone = simulate_serving(
        [ServingRequest(*each) for each in run["requests"]],
        StepTimes(lambda n: 1 + 0.05 * n, lambda batch, n: 1 + 0.01 * batch + 0.002 * n),
        slots=len(run["requests"]),
        room=60,
    )
    found = AdmissionRun(**run).serve(all_that_fit)
    np.testing.assert_allclose(found.ended, alone.ended)
    np.testing.assert_allclose(found.pause, alone.pause)


@given(runs)
def test_without_a_policy_the_engine_lets_in_who_fits(run: Run) -> None:
    engine = AdmissionRun(**run)
    alone = engine.serve()
    assert np.isfinite(alone.ended).all()
    assert engine.came_of(alone).kept == int(
        ((alone.wait <= engine.first) & (alone.pause <= engine.pause)).sum()
    )


@given(runs)
def test_an_engine_that_takes_one_after_the_other_never_pauses_longer_than_a_step(run: Run) -> None:
    served = AdmissionRun(**run).serve(lambda _free, running, _waiting: 0 if running else 1)
    writes = [step.seconds for step in served.steps if not step.prompt]
    assert served.pause.max() <= max(writes, default=0) + 1e-9
    assert served.again == 0


def test_a_pause_is_what_others_take_to_be_read_and_what_losing_pages_costs() -> None:
    # The second prompt is read (2 s) between two tokens (1 s) of the first.
    run = {
        "requests": [[0, 8, 4], [1, 8, 2]], "pages": 9, "block": 8,
        "read": [2, 0], "write": [1, 0, 0], "first": 3, "pause": 2,
    }  # fmt: skip
    served = AdmissionRun(**run).serve(all_that_fit)
    assert served.pause.tolist() == [3, 1]
    assert served.wait.tolist() == [2, 4]
    # With two pages both are read, and the second gives its page to the first at once.
    crowded = AdmissionRun(**{**run, "requests": [[0, 8, 4], [0, 8, 2]], "pages": 2})
    served = crowded.serve(all_that_fit)
    assert served.again == 1
    # Read at 4; the other writes until 7; read again until 9.
    assert served.pause.tolist() == [2 + 1, 9 - 4]


def test_what_a_policy_is_shown() -> None:
    run = made([(0, 9, 3), (0, 20, 2), (100, 8, 1)])
    found = replay(play(lambda free, running, waiting: 1, run), run)
    assert [each[:2] for each in found.shown] == [[8, []], [6, [[10, 2]]], [8, []]]
    assert [[tokens for tokens, _ in each[2]] for each in found.shown] == [[9, 20], [20], [8]]
    assert found.shown[1][2][0][1] == found.served.steps[2].began


def test_a_promise_counts_what_is_complete() -> None:
    run = made([(0, 8, 5), (0, 8, 5), (0, 8, 5)])
    decided = play(lambda free, running, waiting: int(len(waiting) == 3), run)
    assert np.isinf(replay(decided, run).served.ended).sum() == 2
    for first, pause, counts in ((100, 100, (1, 1, 1)), (1, 100, (0, 1, 0)), (9, 0.5, (1, 0, 0))):
        found = replay(decided, {**run, "first": first, "pause": pause})
        assert (found.in_time, found.flowing, found.kept) == counts


ONE = made([(0, 30, 4), (0, 30, 4), (0, 30, 4)])


@pytest.mark.parametrize(
    ("decided", "why"),
    [
        ([0.5], "it returns 0.5; return a whole number"),
        ([True], "it returns True; return a whole number"),
        (["x" * 500], r"it returns 'x{59}; return a whole number"),
        ([None], "it returns None; return a whole number"),
        ([[1]], "it returns \\[1\\]; return a whole number"),
        ([-1], "it lets -1 in where 3 wait"),
        ([4], "it lets 4 in where 3 wait"),
        ([3], "it lets 3 in whose prompts need 12 pages, and 8 are free"),
        ([], "it decided 0 times, and was asked once more"),
        ([2], "it decided 1 times, and was asked once more"),
    ],
)
def test_what_no_engine_can_follow_is_a_sentence(decided: list[Any], why: str) -> None:
    with pytest.raises(ImpossibleAdmission, match=f"^{why}$"):
        replay(decided, ONE)


def test_nobody_decides_more_often_than_asked() -> None:
    decided = play(all_that_fit, ONE)
    with pytest.raises(ImpossibleAdmission, match=f"asked {len(decided)} times, and decided more"):
        replay([*decided, 0], ONE)


@pytest.mark.parametrize("answer", [0.5, -1, 4, "x", None, 3])
def test_the_last_decision_that_is_noted_is_the_impossible_one(answer: Any) -> None:
    assert play(lambda *_: answer, ONE) == [answer]


def test_there_is_an_end_to_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "MOST_DECISIONS", 5)

    def patient(free: int, running: list[list[int]], waiting: Waiting) -> int:
        return 0 if running else 1

    run = made([(0, 8, 6)] * 4)
    decided = play(patient, run)
    assert decided == [1, 0, 0, 0, 0]
    served = replay(decided, run).served
    assert np.isfinite(served.ended).tolist() == [True, False, False, False]


def test_a_policy_that_changes_what_it_was_shown_changes_nothing() -> None:
    def spoils(free: int, running: list[list[int]], waiting: Waiting) -> int:
        count = all_that_fit(free, running, waiting)
        waiting.clear()
        running.append([10**6, 0])
        return count

    run = made([(0, 9, 9), (0, 20, 9), (0, 30, 9)])
    assert play(spoils, run) == play(all_that_fit, run)
