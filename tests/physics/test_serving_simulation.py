"""The serving engine of the simulation keeps the books: no token and no second twice or never."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.physics.model_kernels import Phase
from mlsys_widgets.physics.queue_simulation import serve
from mlsys_widgets.physics.serving_simulation import (
    Policy,
    ServedTrace,
    ServingRequest,
    Stay,
    StepTimes,
    simulate_serving,
    step_times,
)

ROOM = 64
STEPS = StepTimes(read=lambda prompt: 2.0 + prompt, write=lambda batch, cached: 1.0 + cached / 50)
EVEN = StepTimes(read=lambda prompt: 3.0, write=lambda batch, cached: 1.0)
POLICIES: tuple[Policy, ...] = ("continuous", "static", "paged")

requests = st.lists(
    st.builds(
        ServingRequest,
        st.floats(0, 200).map(lambda moment: round(moment, 3)),
        st.integers(1, 40),
        st.integers(1, 24),
    ),
    min_size=1,
    max_size=12,
).map(sorted)
slots = st.integers(1, 5)
policies = st.sampled_from(POLICIES)


def writes(served: ServedTrace) -> int:
    return sum(step.batch for step in served.steps if not step.prompt)


@given(requests, slots, policies)
def test_a_request_comes_is_read_and_ends(
    some: list[ServingRequest], many: int, policy: Policy
) -> None:
    served = simulate_serving(some, STEPS, many, ROOM, policy)
    assert (served.arrived <= served.started).all()
    assert (served.started < served.first).all()
    assert (served.first <= served.ended).all()
    if policy != "paged":
        assert sorted(step.prompt for step in served.steps if step.prompt) == sorted(
            request.prompt for request in some
        )


@given(requests, slots, policies)
def test_one_step_at_a_time_and_no_more_sequences_than_slots(
    some: list[ServingRequest], many: int, policy: Policy
) -> None:
    served = simulate_serving(some, STEPS, many, ROOM, policy)
    for step, following in zip(served.steps, served.steps[1:], strict=False):
        assert following.began >= step.began + step.seconds
    if policy != "paged":
        assert max(step.batch for step in served.steps) <= many
    assert 0 < served.filled <= 1
    assert all(step.kept <= step.held <= served.room for step in served.steps)


@given(requests, slots)
def test_continuous_batches_write_every_token_once(some: list[ServingRequest], many: int) -> None:
    """The first token of an answer is written while its prompt is read."""
    served = simulate_serving(some, STEPS, many, ROOM)
    assert writes(served) == sum(request.answer - 1 for request in some)


@given(requests, slots)
def test_a_static_batch_writes_until_its_longest_answer_ends(
    some: list[ServingRequest], many: int
) -> None:
    served = simulate_serving(some, STEPS, many, ROOM, "static")
    batches = [some[k : k + many] for k in range(0, len(some), many)]
    assert writes(served) == sum(
        len(batch) * (max(request.answer for request in batch) - 1) for batch in batches
    )


#: What holds for slots, for however many are there.
slotted = st.sampled_from(POLICIES[:2])


@given(requests, slotted)
def test_one_slot_is_a_line_in_front_of_one_server(
    some: list[ServingRequest], policy: Policy
) -> None:
    """Then the engine is the server of `queue_simulation`, which knows nothing of tokens."""
    served = simulate_serving(some, EVEN, 1, ROOM, policy)
    alone = np.array([3.0 + request.answer - 1 for request in some])
    line = serve(served.arrived, alone)
    np.testing.assert_allclose(served.started, line.began)
    np.testing.assert_allclose(served.ended, line.ended)


@given(requests, slots)
def test_slots_that_nobody_waits_for_change_nothing(some: list[ServingRequest], more: int) -> None:
    enough = simulate_serving(some, STEPS, len(some), ROOM)
    plenty = simulate_serving(some, STEPS, len(some) + more, ROOM)
    np.testing.assert_array_equal(enough.ended, plenty.ended)
    assert enough.filled >= plenty.filled


@given(requests, slots, st.sampled_from((1, 2, 8, 16)), st.integers(1, 6))
def test_pages_are_never_more_than_there_are_and_every_answer_ends(
    some: list[ServingRequest], many: int, block: int, most: int
) -> None:
    served = simulate_serving(some, STEPS, many, ROOM, "paged", block=block, most=most)
    assert all(step.kept <= step.held <= many * ROOM for step in served.steps)
    assert all(step.held % block == 0 for step in served.steps)
    # No user has more than one page that is not full.
    assert all(step.held - step.kept <= step.users * (block - 1) for step in served.steps)
    assert max(step.batch for step in served.steps) <= most
    # Every token once: by a step for all, or by the reading of a prompt.
    assert writes(served) + len(served.stays) == sum(request.answer for request in some)


@given(requests, slots)
def test_who_loses_the_pages_is_read_again_with_what_was_written(
    some: list[ServingRequest], many: int
) -> None:
    served = simulate_serving(some, STEPS, many, ROOM, "paged", block=4)
    stays: dict[int, list[Stay]] = {k: [] for k in range(len(some))}
    for stay in sorted(served.stays, key=lambda stay: stay.began):
        stays[stay.number].append(stay)
    for request, own in zip(some, stays.values(), strict=True):
        assert own[0].first == request.prompt
        assert own[-1].last == request.prompt + request.answer - 1
        for lost, found in pairwise(own):
            assert found.began >= lost.ended
            assert found.first == lost.last + 1
    assert served.again == len(served.stays) - len(some)


@given(requests)
def test_pages_for_everybody_are_slots_for_everybody(some: list[ServingRequest]) -> None:
    """Where nothing runs out, pages and slots serve alike, and pages hold less."""
    roomy, paged = (
        simulate_serving(some, STEPS, len(some), ROOM, policy, block=1)
        for policy in ("continuous", "paged")
    )
    np.testing.assert_array_equal(roomy.ended, paged.ended)
    assert paged.kept == paged.held <= roomy.held


def test_a_small_cache_takes_pages_back_from_the_last_that_came() -> None:
    some = [ServingRequest(0.0, 8, 24), ServingRequest(0.0, 8, 24)]
    served = simulate_serving(some, EVEN, 1, 32, "paged", block=4)
    assert served.again == 1
    assert [stay.number for stay in served.stays] == [1, 0, 1]
    alone = simulate_serving(some[:1], EVEN, 1, 32, "paged", block=4)
    # The first one pays for the second's prompt, and for nothing else.
    assert served.ended[0] == alone.ended[0] + 3


def test_a_request_that_fits_no_slot_is_refused() -> None:
    with pytest.raises(ValueError, match="request 1 has 60 \\+ 5 tokens; the room of a slot is 64"):
        simulate_serving([ServingRequest(0, 1, 1), ServingRequest(0, 60, 5)], EVEN, 1, ROOM)


def test_steps_are_those_of_the_form_that_times_passes() -> None:
    def taken(phase: Phase, batch: int, tokens: np.ndarray) -> object:
        return ph.serving_time("llama31-8b", "h200-sxm", phase, batch, tokens).time

    steps = step_times(taken, rows=(8, 32))
    full = ph.serving_time("llama31-8b", "h200-sxm", "decode", 32, 512).time
    assert steps.write(32, 32 * 512) == pytest.approx(full, rel=1e-3)
    # Nine sequences take the graph of 32 rows, whose other rows hold nothing.
    assert steps.write(9, 32 * 512) == steps.write(32, 32 * 512)
    read = ph.serving_time("llama31-8b", "h200-sxm", "prefill", 1, 512).time
    assert steps.read(512) == pytest.approx(read)
