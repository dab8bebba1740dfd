"""Waiting as it happens: requests that arrive, wait and are served, one event after the other.

The formulas of `queueing` are held against these simulations, and films play them. Each is seeded:
the same seed gives the same requests.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[np.float64]
#: Whether service times are exponential or all equal.
Shape = Literal["random", "steady"]


@dataclass(frozen=True, eq=False)
class ServedRequests:
    """Requests in the order of their arrival.

    Examples
    --------
    >>> served = simulate_queue(80, 10e-3, requests=1000, seed=1)
    >>> bool((served.wait >= 0).all()), served.mean > 10e-3, served.tail(0.01) > 2 * served.mean
    (True, True, True)
    """

    #: ``arrived``, ``began``, ``ended``: when each came, when its service began and when it had its
    #: answer (s).
    arrived: _Array
    began: _Array
    ended: _Array

    @property
    def wait(self) -> _Array:
        """Seconds of each before its service."""
        return self.began - self.arrived

    @property
    def response(self) -> _Array:
        """Seconds of each from its arrival to its answer."""
        return self.ended - self.arrived

    @property
    def mean(self) -> float:
        """Mean response time, in seconds."""
        return float(self.response.mean())

    def tail(self, later: float = 0.01) -> float:
        """Response time that only this part of the requests exceeded, in seconds."""
        return float(np.quantile(self.response, 1 - later))


def simulate_queue(
    arrivals: float,
    service: float,
    servers: int = 1,
    *,
    requests: int,
    seed: int,
    shape: Shape = "random",
) -> ServedRequests:
    """Poisson arrivals at servers that share one line: an open loop.

    Parameters
    ----------
    arrivals : float, /s
        Requests per second.
    service : float, s
        Mean service time.
    servers : int
        How many there are.
    requests : int
        How many arrive.
    seed : int
        Which arrivals and service times are drawn.
    shape : {"random", "steady"}
        Whether service times are exponential, or all the same.

    Examples
    --------
    >>> busy = simulate_queue(80, 10e-3, requests=100_000, seed=5)
    >>> 4 < busy.mean / 10e-3 < 6
    True
    """
    chance = np.random.default_rng(seed)
    arrived = np.cumsum(chance.exponential(1 / arrivals, requests))
    times = np.full(requests, service)
    if shape == "random":
        times = chance.exponential(service, requests)
    return serve(arrived, times, servers)


def serve(arrived: _Array, times: _Array, servers: int = 1) -> ServedRequests:
    """Serve requests in the order of their arrival, each by the server that is free first."""
    free = [0.0] * servers
    began = np.empty_like(arrived)
    for k, (time, length) in enumerate(zip(arrived.tolist(), times.tolist(), strict=True)):
        began[k] = max(time, free[0])
        heapq.heapreplace(free, began[k] + length)
    return ServedRequests(arrived, began, began + times)


def simulate_closed_loop(
    clients: int, service: float, think: float, *, requests: int, seed: int
) -> ServedRequests:
    """Clients of one server that wait for each answer, and then pause, before they ask again.

    Parameters
    ----------
    clients : int
        How many there are.
    service : float, s
        Mean service time, exponential.
    think : float, s
        How long each pauses after an answer.
    requests, seed : int
        As in `simulate_queue`.

    Examples
    --------
    >>> one = simulate_closed_loop(1, 10e-3, 2.5e-3, requests=1000, seed=1)
    >>> float(one.wait.max())
    0.0
    """
    chance = np.random.default_rng(seed)
    times = chance.exponential(service, requests)
    # At first they come one after the other, as after a pause of their own.
    ready = np.sort(chance.uniform(0, clients * service + think, clients)).tolist()
    heapq.heapify(ready)
    free, arrived, began = 0.0, np.empty(requests), np.empty(requests)
    for k, length in enumerate(times.tolist()):
        arrived[k] = heapq.heappop(ready)
        began[k] = max(arrived[k], free)
        free = began[k] + length
        heapq.heappush(ready, free + think)
    return ServedRequests(arrived, began, began + times)


def simulate_batches(
    arrivals: float, tokens: float, steps: Sequence[float] | _Array, *, requests: int, seed: int
) -> ServedRequests:
    """Requests that are worked on together; lengths are exponential, as `batch_server` has them.

    Parameters
    ----------
    arrivals : float, /s
        Requests per second.
    tokens : float
        Mean tokens of an answer.
    steps : sequence of float, s
        The time of a step with 1, 2, … requests in the batch.
    requests, seed : int
        As in `simulate_queue`.

    Examples
    --------
    A step that takes equally long however many share it serves everybody as if alone:

    >>> wide = simulate_batches(50, 10, [1e-3] * 64, requests=20_000, seed=2)
    >>> round(wide.mean / 10e-3, 1)
    1.0
    """
    chance = np.random.default_rng(seed)
    arrived = np.cumsum(chance.exponential(1 / arrivals, requests))
    lengths = chance.exponential(tokens, requests)
    began, ended = np.empty(requests), np.empty(requests)
    # How many tokens everybody in the batch has written since the start: each leaves at a mark.
    written, now, waiting = 0.0, 0.0, 0
    batch: list[tuple[float, int]] = []
    for k in range(requests + 1):
        until = float(arrived[k]) if k < requests else np.inf
        while batch:
            step = float(steps[len(batch) - 1])
            leaves = now + (batch[0][0] - written) * step
            if leaves > until:
                written += (until - now) / step
                break
            written, now = batch[0][0], leaves
            ended[heapq.heappop(batch)[1]] = now
            if waiting < k:
                began[waiting] = now
                heapq.heappush(batch, (written + float(lengths[waiting]), waiting))
                waiting += 1
        if k == requests:
            return ServedRequests(arrived, began, ended)
        now = until
        if len(batch) < len(steps):
            began[k], waiting = now, k + 1
            heapq.heappush(batch, (written + float(lengths[k]), k))
    raise AssertionError  # the loop above returns
