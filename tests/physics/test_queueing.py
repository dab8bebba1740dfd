"""Each formula about waiting, held against the same requests played one by one.

A simulation gives one number for each of `RUNS` independent runs. Their mean lies within 3.6
standard errors of the truth with a probability of 99.9% (Student's t with 39 degrees of freedom),
so a formula outside of that interval is taken to be wrong. Seeds are fixed: what passes once passes
everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.physics.queue_simulation import ServedRequests, serve
from mlsys_widgets.physics.queueing import erlang_c, response_quantile
from tests.physics.strategies import times

RUNS, REQUESTS = 40, 5_000
#: Requests of each run before the line has the length that it has in the long run.
BEFORE = 2_000
#: The 99.95th percentile of Student's t with 39 degrees of freedom.
WITHIN = 3.56
S = 10e-3


def agrees(
    formula: float, runs: Sequence[ServedRequests], measure: Callable[[ServedRequests], float]
) -> bool:
    """Whether a number lies in the 99.9% confidence interval of what runs give."""
    found = np.array([measure(run) for run in runs])
    return abs(found.mean() - formula) <= WITHIN * found.std(ddof=1) / math.sqrt(RUNS)


def played(run: Callable[[int], ServedRequests]) -> list[ServedRequests]:
    """Independent runs, each without its beginning."""
    return [settled(run(seed)) for seed in range(RUNS)]


def settled(served: ServedRequests) -> ServedRequests:
    return ServedRequests(*(each[BEFORE:] for each in (served.arrived, served.began, served.ended)))


def mean(served: ServedRequests) -> float:
    return served.mean


def mean_wait(served: ServedRequests) -> float:
    return float(served.wait.mean())


@pytest.mark.parametrize(("busy", "servers"), [(0.3, 1), (0.8, 1), (0.5, 2), (0.8, 2), (0.85, 5)])
def test_servers_that_share_a_line(busy: float, servers: int) -> None:
    rate = busy * servers / S
    runs = played(lambda seed: ph.simulate_queue(rate, S, servers, requests=REQUESTS, seed=seed))
    assert agrees(ph.queue(rate, S, servers).response, runs, mean)
    # A tail is right if that part of the requests takes longer.
    for later in (0.5, 0.01):
        tail = ph.queue(rate, S, servers, later).tail
        assert agrees(later, runs, lambda run, tail=tail: float((run.response > tail).mean()))
    # Those that find all servers busy wait.
    waiting = float(erlang_c(servers, rate * S))
    assert agrees(waiting, runs, lambda run: float((run.wait > 0).mean()))


@pytest.mark.parametrize("busy", [0.3, 0.8])
def test_steady_service_halves_the_wait(busy: float) -> None:
    theory = ph.single_server(busy / S, S, variation=0)
    assert math.isclose(theory.wait, ph.single_server(busy / S, S).wait / 2, rel_tol=1e-12)
    runs = played(
        lambda seed: ph.simulate_queue(busy / S, S, requests=REQUESTS, seed=seed, shape="steady")
    )
    assert agrees(theory.wait, runs, mean_wait)


def test_service_that_is_short_or_long_waits_as_pollaczek_and_khinchine_say() -> None:
    """Nine of ten requests take half of the mean, and one takes 5.5 times as long as that."""
    short, long, rate = 0.5 * S, 5.5 * S, 0.6 / S

    def run(seed: int) -> ServedRequests:
        chance = np.random.default_rng(seed)
        arrived = np.cumsum(chance.exponential(1 / rate, REQUESTS))
        return serve(arrived, np.where(chance.random(REQUESTS) < 0.1, long, short))

    variation = (0.9 * (short - S) ** 2 + 0.1 * (long - S) ** 2) / S**2
    assert agrees(ph.single_server(rate, S, variation).wait, played(run), mean_wait)


@pytest.mark.parametrize(("clients", "think"), [(1, 0.25), (4, 0.0), (6, 3.0)])
def test_clients_that_wait_for_their_answers(clients: int, think: float) -> None:
    theory = ph.closed_loop(clients, S, think * S)
    runs = played(
        lambda seed: ph.simulate_closed_loop(clients, S, think * S, requests=REQUESTS, seed=seed)
    )
    assert agrees(theory.response, runs, mean)

    def answered(served: ServedRequests) -> float:
        return (served.ended.size - 1) / float(served.ended[-1] - served.ended[0])

    # A ratio of two random numbers is off by a little; so many requests make that little small.
    assert agrees(theory.throughput, runs, answered)


def test_one_client_sees_what_a_closed_loop_of_one_sees() -> None:
    test, loop = ph.one_client(80, S), ph.closed_loop(1, S, S / 4)
    assert math.isclose(test.utilization, loop.utilization, rel_tol=1e-12)
    assert test.response == loop.response == S
    runs = played(lambda seed: ph.simulate_closed_loop(1, S, S / 4, requests=REQUESTS, seed=seed))
    assert agrees(0.01, runs, lambda run: float((run.response > test.tail).mean()))


#: Steps that take longer the more share them, as on a GPU; the last ones are the steepest.
STEPS = [1e-3 * (1 + 0.05 * b + 0.004 * b**2) for b in range(12)]


@pytest.mark.parametrize("busy", [0.4, 0.85])
def test_requests_that_are_worked_on_together(busy: float) -> None:
    rate = busy * float(ph.batch_server(1, 20, STEPS).capacity)
    runs = played(lambda seed: ph.simulate_batches(rate, 20, STEPS, requests=REQUESTS, seed=seed))
    assert agrees(ph.batch_server(rate, 20, STEPS).response, runs, mean)


def test_a_batch_of_one_is_one_server() -> None:
    one, single = ph.batch_server(60, 10, [1e-3]), ph.queue(60, 10e-3)
    assert math.isclose(one.response, single.response, rel_tol=1e-9)
    # And a simulation of it serves every request exactly as a line does.
    alone = ph.simulate_batches(60, 10, [1e-3], requests=300, seed=3)
    chance = np.random.default_rng(3)
    arrived = np.cumsum(chance.exponential(1 / 60, 300))
    line = serve(arrived, 1e-3 * chance.exponential(10, 300))
    assert np.allclose(alone.ended, line.ended)
    assert np.allclose(alone.began, line.began)


def test_more_than_can_be_served_never_ends() -> None:
    for many in (1, 3):
        late = ph.queue(many * 101, S, many)
        assert (late.response, late.tail, late.in_system) == (math.inf, math.inf, math.inf)
    assert ph.single_server(100, S).wait == math.inf
    assert ph.batch_server(1e4, 10, STEPS).response == math.inf
    assert ph.batch_server([10.0, 1e4], 10, STEPS).response[1] == math.inf


@given(st.floats(0.01, 0.99), st.integers(1, 40), times)
def test_littles_law_and_the_order_of_designs(busy: float, servers: int, service: float) -> None:
    """One fast server answers sooner than several slow ones that can do as much together."""
    rate = busy / service
    fast, slow = ph.queue(rate, service), ph.queue(rate, servers * service, servers)
    assert math.isclose(slow.in_system, rate * slow.response, rel_tol=1e-12)
    assert math.isclose(fast.utilization, slow.utilization, rel_tol=1e-12)
    assert fast.response <= slow.response * (1 + 1e-9)
    assert fast.tail <= slow.tail * (1 + 1e-9)
    # And one shared line is better than a line for each.
    apart = ph.queue(rate / servers, servers * service)
    assert slow.response <= apart.response * (1 + 1e-9)


@given(st.floats(1e-3, 0.5), st.floats(1.2, 50))
def test_the_highest_rate_just_keeps_its_promise(part: float, longer: float) -> None:
    for servers in (1, 3):
        alone = float(ph.queue(1, S, servers, part).unqueued_tail)
        promise = longer * alone
        rate = ph.highest_rate(promise, S, servers, part)
        assert ph.queue(rate * 0.999, S, servers, part).tail <= promise
        assert ph.queue(rate * 1.001, S, servers, part).tail >= promise
    assert ph.highest_rate(alone / 2, S, servers, part) == 0


@given(st.floats(1e-4, 0.5), st.floats(0.05, 0.95))
def test_quantiles_of_one_server_are_its_formula(part: float, busy: float) -> None:
    exact = ph.queue(busy / S, S, later=part).tail
    found = response_quantile(part, S, busy, (1 - busy) / S)
    assert math.isclose(exact, found, rel_tol=1e-6)


def test_erlangs_chance_is_that_of_his_sum() -> None:
    for servers, load in ((1, 0.3), (2, 1.7), (7, 6.5), (30, 21.0)):
        terms = [load**k / math.factorial(k) for k in range(servers + 1)]
        last = terms[-1] * servers / (servers - load)
        assert math.isclose(erlang_c(servers, load), last / (sum(terms[:-1]) + last), rel_tol=1e-9)


@given(st.floats(1e-6, 0.5), st.integers(1, 2000))
def test_a_fan_out_is_at_least_as_slow_as_one_server(slow: float, servers: int) -> None:
    found = ph.fan_out(slow, servers).any_slow
    assert slow * (1 - 1e-9) <= found <= min(1.0, slow * servers) * (1 + 1e-6)


def test_a_page_waits_for_the_slowest_of_simulated_servers() -> None:
    servers, rate = 8, 0.5 / S
    late = ph.queue(rate, S).tail

    def slow_pages(seed: int) -> float:
        leaves = (
            settled(ph.simulate_queue(rate, S, requests=REQUESTS, seed=servers * seed + k))
            for k in range(servers)
        )
        return float((np.max([leaf.response for leaf in leaves], axis=0) > late).mean())

    found = np.array([slow_pages(seed) for seed in range(RUNS)])
    formula = float(ph.fan_out(0.01, servers).any_slow)
    assert abs(found.mean() - formula) <= WITHIN * found.std(ddof=1) / math.sqrt(RUNS)


def test_whole_numbers_are_asked_for_in_words() -> None:
    for call in (lambda n: ph.queue(1, S, n), lambda n: ph.closed_loop(n, S)):
        with pytest.raises(ValueError, match=r"is 2\.5; it must be a whole number between 1 and"):
            call(2.5)
        with pytest.raises(ValueError, match=r"is 1\.5; it must be a whole number"):
            call([1, 1.5])
