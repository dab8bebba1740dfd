"""Shares of a cache are those of the simulated engine, and guesses those of tossed coins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.physics.serving_simulation import (
    ServedTrace,
    ServingRequest,
    StepTimes,
    simulate_serving,
)

#: Every step takes as long, and prompts are read in no time: a mean over steps is one over time.
STEPS = StepTimes(read=lambda prompt: 0.0, write=lambda batch, cached: 1.0)
TOKEN = 131_072
#: A mean of so many tosses lies within 3.6 standard errors with a probability of 99.9%.
TOSSES, WITHIN = 20_000, 3.6

prompts, answers, blocks = st.integers(1, 60), st.integers(2, 40), st.integers(1, 16)


def steady(prompt: int, answer: int, users: int, room: int) -> ServedTrace:
    """A cache of slots that are always taken."""
    some = [ServingRequest(0.0, prompt, answer)] * (3 * users)
    return simulate_serving(some, STEPS, users, room)


@given(prompts, answers, st.integers(1, 6), st.integers(0, 200))
def test_reserved_rooms_are_filled_as_in_the_simulation(
    prompt: int, answer: int, users: int, more: int
) -> None:
    room = prompt + answer + more
    share = ph.reserved_cache(users * room * TOKEN, TOKEN, prompt, answer, room)
    played = steady(prompt, answer, users, room)
    assert share.users == pytest.approx(users)
    assert share.filled == pytest.approx(played.filled)
    assert share.kept * users == pytest.approx(played.kept)


@given(prompts, st.integers(1, 5), st.integers(1, 6), blocks)
def test_pages_hold_what_they_hold_in_the_simulation(
    prompt: int, times: int, users: int, block: int
) -> None:
    """Over whole blocks of lengths, the mean of the last page is exact."""
    answer = times * block + 1
    room = prompt + answer + block
    some = [ServingRequest(0.0, prompt, answer)] * users
    played = simulate_serving(some, STEPS, users, room, "paged", block=block)
    share = ph.paged_cache(users * room * TOKEN, TOKEN, prompt, answer, block)
    assert played.again == 0
    assert share.held == pytest.approx(played.held / played.users)
    assert share.filled == pytest.approx(played.kept / played.held)


@given(prompts, answers, blocks, blocks)
def test_smaller_pages_hold_more_users_and_rooms_never_more(
    prompt: int, answer: int, block: int, more: int
) -> None:
    memory, room = 1e9, prompt + answer
    small, large = (
        ph.paged_cache(memory, TOKEN, prompt, answer, each) for each in (block, block + more)
    )
    assert small.users > large.users
    one = ph.paged_cache(memory, TOKEN, prompt, answer, 1)
    assert one.filled == 1
    assert one.users >= ph.reserved_cache(memory, TOKEN, prompt, answer, room).users


@pytest.mark.parametrize("right", [0.0, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("guesses", [1, 3, 7])
def test_tokens_of_a_step_are_those_of_tossed_coins(right: float, guesses: int) -> None:
    tossed = np.random.default_rng(14).random((TOSSES, guesses)) < right
    # Right ones up to the first wrong one, and the token that the step itself writes.
    written = 1 + np.cumprod(tossed, axis=1).sum(axis=1)
    tokens = float(ph.speculation(right, guesses, check=1.0).tokens)
    near = WITHIN * written.std(ddof=1) / math.sqrt(TOSSES)
    assert abs(written.mean() - tokens) <= near + 1e-12


@given(st.floats(0, 0.99), st.integers(1, 20), st.floats(1, 10), st.floats(0, 1))
def test_guessing_never_gains_more_than_its_tokens(
    right: float, guesses: int, check: float, guess: float
) -> None:
    found = ph.speculation(right, guesses, check, guess)
    assert 1 <= found.tokens <= guesses + 1
    assert found.speedup <= found.tokens * (1 + 1e-12)  # as far as sums of powers are exact
    more = ph.speculation(min(0.99, right + 0.005), guesses, check, guess)
    assert more.tokens >= found.tokens * (1 - 1e-12)


def test_no_guess_is_certain() -> None:
    with pytest.raises(ValueError, match="right is 1; it must be a fraction of at least 0"):
        ph.speculation(1, 3, 1.1)
