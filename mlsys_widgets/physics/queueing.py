"""Waiting: how long requests wait when they arrive at random and servers are busy.

Arrivals are Poisson: independent of each other and of the servers. Service times are exponential
unless said otherwise. What has no answer, because more arrives than can be served, is infinity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets.physics.domain import (
    AT_LEAST_ONE,
    NON_NEGATIVE,
    POSITIVE,
    SHARE,
    Domain,
    Numeric,
    WholeDomain,
    natural_log,
    over_spare,
)
from mlsys_widgets.physics.result import Result, derived, given

_Array = NDArray[np.float64]
#: The time of a step with 1, 2, … requests in the batch.
Steps = Sequence[float] | _Array
#: Servers, and clients of a benchmark.
COUNT: Final = WholeDomain(1, 10_000, "a whole number between 1 and 10,000")
_UNBOUNDED: Final = Domain(0.0, math.inf, "0 or a number greater than 0")
#: Halvings of an interval: more than a float can tell apart.
_HALVINGS: Final = 60


@dataclass(frozen=True, repr=False)
class SteadyQueue(Result):
    """One server whose service times vary more or less than exponential ones.

    ``single_server`` builds one. The mean wait is that of Pollaczek and Khinchine.
    """

    arrivals: Numeric = given("λ", "/s", "requests that arrive", POSITIVE)
    service: Numeric = given("S", "s", "mean service time", POSITIVE)
    variation: Numeric = given("V", "", "squared variation of the service times", NON_NEGATIVE, 1.0)

    @derived("ρ", "%")
    def utilization(self) -> Numeric:
        """Fraction of the time in which the server is busy."""
        return self.arrivals * self.service

    @derived("W", "s")
    def wait(self) -> Numeric:
        """Mean wait before service begins."""
        return over_spare(
            self.utilization * self.service * (1 + self.variation) / 2, 1 - self.utilization
        )

    @derived("R", "s")
    def response(self) -> Numeric:
        """Mean response time, waiting included."""
        return self.wait + self.service

    @derived("L", "")
    def in_system(self) -> Numeric:
        """Requests in the system, on average (Little's law)."""
        return self.arrivals * self.response


@dataclass(frozen=True, repr=False)
class Queue(Result):
    """Servers that share one line. ``queue`` builds one."""

    arrivals: Numeric = given("λ", "/s", "requests that arrive", POSITIVE)
    service: Numeric = given("S", "s", "mean service time", POSITIVE)
    servers: Numeric = given("c", "", "servers", AT_LEAST_ONE, 1.0)
    later: Numeric = given("q", "", "part of the requests that may take longer", SHARE, 0.01)

    @derived("ρ", "%")
    def utilization(self) -> Numeric:
        """Fraction of the time in which a server is busy."""
        return self.arrivals * self.service / self.servers

    @derived("R", "s")
    def response(self) -> Numeric:
        """Mean response time, waiting included."""
        raise NotImplementedError

    @derived("x_p", "s")
    def tail(self) -> Numeric:
        """Response time that only a part q of the requests exceeds."""
        raise NotImplementedError

    @derived("L", "")
    def in_system(self) -> Numeric:
        """Requests in the system, on average (Little's law)."""
        return self.arrivals * self.response

    @derived("x_alone", "s")
    def unqueued_tail(self) -> Numeric:
        """The slow end of requests that never wait."""
        return self.service * natural_log(1 / self.later)

    @derived("R/S", "×")
    def slowdown(self) -> Numeric:
        """Mean response time in service times."""
        return self.response / self.service

    @derived("x_p/S", "×")
    def tail_slowdown(self) -> Numeric:
        """The slow end of the response times in service times."""
        return self.tail / self.service

    @property
    def wait(self) -> Numeric:
        """Seconds before service begins, on average."""
        return self.response - self.service


@dataclass(frozen=True, repr=False)
class OneClient(Queue):
    """A client that sends nothing before it has its answer: it meets no line.

    ``one_client`` builds one.
    """

    @derived("R", "s")
    def response(self) -> Numeric:
        """Mean response time, without any wait."""
        return self.service

    @derived("x_p", "s")
    def tail(self) -> Numeric:
        """Response time that only a part q of the requests exceeds."""
        return self.unqueued_tail


@dataclass(frozen=True, repr=False)
class OneServer(Queue):
    """One server: its response times are exponential, like its service times."""

    @derived("R", "s")
    def response(self) -> Numeric:
        """Mean response time, waiting included."""
        return over_spare(self.service, 1 - self.utilization)

    @derived("x_p", "s")
    def tail(self) -> Numeric:
        """Response time that only a part q of the requests exceeds."""
        return self.response * natural_log(1 / self.later)


@dataclass(frozen=True, repr=False)
class SeveralServers(Queue):
    """Several servers and one line, by Erlang's formula for the chance to wait."""

    @derived("C", "%")
    def waiting(self) -> Numeric:
        """Chance that a request finds all servers busy."""
        return erlang_c(self.servers, self.arrivals * self.service)

    @derived("r", "/s")
    def spare(self) -> Numeric:
        """Requests that could be served besides."""
        return self.servers / self.service - self.arrivals

    @derived("R", "s")
    def response(self) -> Numeric:
        """Mean response time, waiting included."""
        return over_spare(self.waiting, self.spare) + self.service

    @derived("x_p", "s")
    def tail(self) -> Numeric:
        """Response time that only a part q of the requests exceeds."""
        return response_quantile(self.later, self.service, self.waiting, self.spare)


@dataclass(frozen=True, repr=False)
class BatchServer(Result):
    """A server that works on all requests at once, more slowly the more there are.

    ``batch_server`` builds one.
    """

    arrivals: Numeric = given("λ", "/s", "requests that arrive", POSITIVE)
    tokens: Numeric = given("n", "", "tokens of an answer", AT_LEAST_ONE)
    capacity: Numeric = given("μ", "/s", "requests that a full batch completes", POSITIVE)
    in_system: Numeric = given("L", "", "requests in the system, on average", _UNBOUNDED)

    @derived("load", "%")
    def load(self) -> Numeric:
        """Requests as a part of what a full batch completes."""
        return self.arrivals / self.capacity

    @derived("R", "s")
    def response(self) -> Numeric:
        """Mean time until an answer is complete (Little's law)."""
        return self.in_system / self.arrivals

    @derived("t_token", "s")
    def token_time(self) -> Numeric:
        """Mean time per token, waiting included."""
        return self.response / self.tokens


@dataclass(frozen=True, repr=False)
class ClosedLoop(Result):
    """Clients that wait for each answer before they ask again. ``closed_loop`` builds one."""

    clients: Numeric = given("N", "", "clients", AT_LEAST_ONE)
    service: Numeric = given("S", "s", "mean service time", POSITIVE)
    think: Numeric = given("Z", "s", "pause after an answer", NON_NEGATIVE, 0.0)

    @derived("R", "s")
    def response(self) -> Numeric:
        """Mean response time, waiting included."""
        return mean_value(self.clients, self.service, self.think)

    @derived("X", "/s")
    def throughput(self) -> Numeric:
        """Requests that are answered."""
        return self.clients / (self.response + self.think)

    @derived("ρ", "%")
    def utilization(self) -> Numeric:
        """Fraction of the time in which the server is busy."""
        return self.throughput * self.service


@dataclass(frozen=True, repr=False)
class FanOut(Result):
    """A request that needs an answer of every one of several servers. ``fan_out`` builds one."""

    slow: Numeric = given("p", "", "chance that one server is slow", SHARE)
    servers: Numeric = given("n", "", "servers that are asked", AT_LEAST_ONE)

    @derived("P", "%")
    def any_slow(self) -> Numeric:
        """Chance that the request waits for a slow one."""
        return 1 - (1 - self.slow) ** self.servers


def erlang_c(servers: Numeric, offered: Numeric) -> Numeric:
    """The chance to find all servers busy; 1 where more is offered than they can serve.

    ``offered`` is arrivals times service: how many servers would be busy if nobody ever waited.

    Examples
    --------
    At 80% busy, does it help to be ten?

    >>> round(erlang_c(1, 0.8), 3), round(erlang_c(10, 8.0), 3)
    (0.8, 0.409)
    """
    many, load = np.broadcast_arrays(np.asarray(servers, float), np.asarray(offered, float))
    blocked = np.ones(load.shape)
    for k in range(1, int(many.max()) + 1):
        # Erlang's recursion for the chance to be turned away, up to each one's own servers.
        further = load * blocked / (k + load * blocked)
        blocked = np.where(k <= many, further, blocked)
    busy = load / many
    found = np.where(busy < 1, blocked / (1 - np.minimum(busy, 1 - 1e-16) * (1 - blocked)), 1.0)
    return float(found) if found.ndim == 0 else found


def response_quantile(
    later: Numeric, service: Numeric, waiting: Numeric, spare: Numeric
) -> Numeric:
    """The response time that a part of all requests exceeds, found by halving.

    A response is a service time and, with the chance ``waiting``, an exponential wait before it
    whose rate is ``spare``.

    Examples
    --------
    A request that never waits, and one that waits in a line that only grows:

    >>> round(response_quantile(0.01, 1.0, 0.0, 1.0), 3), response_quantile(0.01, 1.0, 1.0, -1.0)
    (4.605, inf)
    """
    inputs = (np.asarray(each, float) for each in (later, service, waiting, spare))
    part, mean, chance, rate = np.broadcast_arrays(*inputs)
    stable = rate > 0
    rate = np.where(stable, rate, 1.0)
    low = np.zeros(part.shape)
    high = mean - np.log(part) * (mean + 1 / rate)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        late = _chance_later(middle, mean, chance, rate) > part
        low, high = np.where(late, middle, low), np.where(late, high, middle)
    found = np.where(stable, high, np.inf)
    return float(found) if found.ndim == 0 else found


def _chance_later(time: _Array, service: _Array, waiting: _Array, spare: _Array) -> _Array:
    """The chance that a response takes longer than a time."""
    rate = spare * service
    # Where both rates are the same, the quotient below has a limit; beside it, it is as good.
    rate = np.where(np.abs(rate - 1) < 1e-6, 1 + 1e-6, rate)
    served, waited = np.exp(-time / service), np.exp(-rate * time / service)
    both = (rate * served - waited) / (rate - 1)
    return np.asarray((1 - waiting) * served + waiting * both)


def mean_value(clients: Numeric, service: Numeric, think: Numeric) -> Numeric:
    """The mean response time of clients that wait for their answers (mean value analysis).

    Whoever arrives finds what the others alone would have left there, on average.
    """
    inputs = (np.asarray(each, float) for each in (clients, service, think))
    many, mean, pause = np.broadcast_arrays(*inputs)
    ahead, response = np.zeros(many.shape), mean.copy()
    for k in range(1, int(many.max()) + 1):
        now = mean * (1 + ahead)
        response = np.where(k <= many, now, response)
        ahead = k * now / (now + pause)
    return float(response) if response.ndim == 0 else response


def single_server(arrivals: Numeric, service: Numeric, variation: Numeric = 1.0) -> SteadyQueue:
    """One server whose service times vary as they may: mean wait and response time.

    Parameters
    ----------
    arrivals : float or array, /s
        Requests per second.
    service : float or array, s
        Mean service time.
    variation : float or array
        Variance of the service time over its square: 1 for exponential times, 0 if all are equal.

    Examples
    --------
    What would it help if every request took equally long?

    >>> from mlsys_widgets import physics as ph
    >>> random, steady = (ph.single_server(80, 10e-3, variation) for variation in (1, 0))
    >>> round(1e3 * random.wait), round(1e3 * steady.wait)
    (40, 20)
    >>> print(steady.derivation("in_system").steps[-1].shown)
    2.4
    """
    return SteadyQueue(arrivals=arrivals, service=service, variation=variation)


def queue(
    arrivals: Numeric, service: Numeric, servers: Numeric = 1.0, later: Numeric = 0.01
) -> Queue:
    """Servers that share one line: mean response time, and that of a percentile.

    Parameters
    ----------
    arrivals : float or array, /s
        Requests per second, at random.
    service : float or array, s
        Mean service time of one server; the times are exponential.
    servers : float or array
        How many there are.
    later : float or array
        The part of the requests that may take longer than the ``tail``: 0.01 for p99.

    Examples
    --------
    A server is 80% busy. How long does an answer take, in service times?

    >>> from mlsys_widgets import physics as ph
    >>> busy = ph.queue(arrivals=80, service=10e-3)
    >>> round(busy.response / busy.service, 1), round(busy.tail / busy.service, 1)
    (5.0, 23.0)
    >>> print(busy.derivation("response"))
    ρ = λ × S / c = 80/s × 10 ms / 1 = 80%   (fraction of the time in which a server is busy)
    R = S / (1 − ρ) = 10 ms / (1 − 80%) = 50 ms   (mean response time, waiting included)

    Two servers that are half as fast share the same work, and are never faster for it:

    >>> slow = ph.queue(arrivals=80, service=20e-3, servers=2)
    >>> round(1e3 * busy.tail), round(1e3 * slow.tail)
    (230, 239)
    >>> ph.queue(arrivals=101, service=10e-3).response
    inf
    """
    servers = COUNT.check("servers", servers)
    alone = not isinstance(servers, np.ndarray) and servers == 1
    kind = OneServer if alone else SeveralServers
    return kind(arrivals=arrivals, service=service, servers=servers, later=later)


def one_client(
    arrivals: Numeric, service: Numeric, servers: Numeric = 1.0, later: Numeric = 0.01
) -> OneClient:
    """The same servers under a benchmark with one client, which waits for each answer.

    As in `queue`, but the client pauses after an answer so that it sends as many requests.

    Examples
    --------
    What does it report of a server that makes its users wait for five service times?

    >>> from mlsys_widgets import physics as ph
    >>> users, benchmark = (ask(80, 10e-3) for ask in (ph.queue, ph.one_client))
    >>> benchmark.utilization == users.utilization
    True
    >>> round(users.slowdown, 1), round(benchmark.slowdown, 1)
    (5.0, 1.0)
    """
    servers = COUNT.check("servers", servers)
    return OneClient(arrivals=arrivals, service=service, servers=servers, later=later)


def highest_rate(
    promise: float, service: float, servers: float = 1.0, later: float = 0.01
) -> float:
    """The highest arrival rate at which all but a part of the responses keep a promise.

    ``promise`` is how long a response may take, in seconds; the rest is as in `queue`. 0 if even a
    request that never waits is too late.

    Examples
    --------
    How busy may a server be if p99 is to stay below twenty service times?

    >>> from mlsys_widgets import physics as ph
    >>> print(ph.format_quantity(ph.highest_rate(promise=0.2, service=0.01) * 0.01, "%"))
    77%
    """
    time, many = POSITIVE.check("promise", promise), COUNT.check("servers", servers)
    mean, part = POSITIVE.check("service", service), SHARE.check("later", later)
    low, high = 0.0, float(many / mean)
    full = high
    if math.exp(-float(time / mean)) > part:
        return 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        waiting = erlang_c(many, middle * mean)
        inputs = (np.asarray(each, float) for each in (time, mean, waiting, full - middle))
        kept = middle < full and _chance_later(*inputs) <= part
        low, high = (middle, high) if kept else (low, middle)
    return low


def batch_server(
    arrivals: Numeric, tokens: Numeric, steps: Sequence[float] | _Array
) -> BatchServer:
    """A server that decodes a batch: every request in it gets a token per step.

    Answers have random lengths. As many as there are steps are worked on together, and the others
    wait for a place; each of them leaves as soon as its last token is written.

    Parameters
    ----------
    arrivals : float or array, /s
        Requests per second.
    tokens : float or array
        Mean tokens of an answer.
    steps : sequence of float, s
        The time of a step with 1, 2, … requests in the batch, as ``serving_time`` gives them.

    Examples
    --------
    Llama-3.1-8B on an H200, up to 64 conversations: at 80% of what it can do, does it feel slow?

    >>> import numpy as np
    >>> from mlsys_widgets import physics as ph
    >>> batches = np.arange(1.0, 65.0)
    >>> steps = ph.serving_time("llama31-8b", "h200-sxm", "decode", batches, 2048).time
    >>> full = ph.batch_server(1.0, 200, steps).capacity
    >>> busy = ph.batch_server(0.8 * full, 200, steps)
    >>> round(busy.load, 2), busy.token_time < 2 * steps[0]
    (0.8, True)
    """
    rate, length = POSITIVE.check("arrivals", arrivals), AT_LEAST_ONE.check("tokens", tokens)
    times = np.asarray(POSITIVE.check("steps", steps), float).ravel()
    batches = np.arange(1.0, times.size + 1)
    # Requests that leave per second with so many in the batch; more of them wait beside it.
    leaving = batches / (np.asarray(length, float)[..., None] * times)
    full = leaving[..., -1]
    crossing = np.log(np.asarray(rate, float)[..., None] / leaving)
    chances = np.cumsum(crossing, axis=-1)
    chances = np.concatenate([np.zeros_like(chances[..., :1]), chances], axis=-1)
    weights = np.exp(chances - chances.max(axis=-1, keepdims=True))
    ratio = np.asarray(rate, float) / full
    stable = ratio < 1
    part = np.where(stable, ratio, 0.5)
    last = weights[..., -1] * part / (1 - part)  # everything beyond a full batch, a geometric tail
    held = weights @ np.arange(times.size + 1.0) + last * (times.size + 1 / (1 - part))
    found = np.where(stable, held / (weights.sum(axis=-1) + last), np.inf)
    return BatchServer(
        arrivals=rate,
        tokens=length,
        capacity=full if full.ndim else float(full),
        in_system=found if found.ndim else float(found),
    )


def closed_loop(clients: Numeric, service: Numeric, think: Numeric = 0.0) -> ClosedLoop:
    """A benchmark whose clients wait for each answer before they ask again.

    Parameters
    ----------
    clients : float or array
        How many there are.
    service : float or array, s
        Mean service time of the one server.
    think : float or array, s
        How long a client pauses after an answer.

    Examples
    --------
    A client that keeps the server 80% busy never meets a line, and so reports none:

    >>> from mlsys_widgets import physics as ph
    >>> test = ph.closed_loop(clients=1, service=10e-3, think=2.5e-3)
    >>> round(test.utilization, 2), round(1e3 * test.response)
    (0.8, 10)
    """
    clients = COUNT.check("clients", clients)
    return ClosedLoop(clients=clients, service=service, think=think)


def fan_out(slow: Numeric, servers: Numeric) -> FanOut:
    """A request that waits for the slowest of several servers.

    ``slow`` is the chance that one of the ``servers`` is slow.

    Examples
    --------
    One answer in a hundred is slow. How many pages that need a hundred answers are?

    >>> from mlsys_widgets import physics as ph
    >>> print(ph.fan_out(0.01, 100).derivation())
    P = 1 − (1 − p)^n = 1 − (1 − 0.01)^100 = 63.4%   (chance that the request waits for a slow one)
    """
    return FanOut(slow=slow, servers=servers)
