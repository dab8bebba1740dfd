"""What Lab 13 says in numbers and comparisons.

Formulas are written out here from their definitions (1 over what is spare, ln 100, Pollaczek and
Khinchine, Erlang's chance for two servers, a birth and death of batches), not taken from the lab or
from ``physics.queueing``. The steps of an H200 have tests of their own, so they are asked.
"""

from __future__ import annotations

import math
from functools import cache

from mlsys_widgets.labs import Parameters
from mlsys_widgets.physics import serving_time
from tests.labs.claims import Claim, Quantity, Reading

BUSY, CALM, CLOSE, SERVICE = 0.8, 0.5, 0.9, 0.04
SEATS, CONTEXT, ANSWER, LEAVES = 64, 2048, 200, 100
#: What p99 is, in means, and p90.
TAIL, TENTH = math.log(100), math.log(10)


def mean(busy: float) -> float:
    """In services."""
    return 1 / (1 - busy)


def two(busy: float, late: float = 0.01) -> float:
    """p99 of two servers that share a line, in services: the tail of their sum, by halving."""
    offered = 2 * busy
    waits = offered**2 / (2 - offered) / (1 + offered + offered**2 / (2 - offered))
    spare = 2 - offered

    def later(time: float) -> float:
        if abs(spare - 1) < 1e-9:
            both = math.exp(-time) * (1 + time)
        else:
            both = (spare * math.exp(-time) - math.exp(-spare * time)) / (spare - 1)
        return (1 - waits) * math.exp(-time) + waits * both

    low, high = 0.0, 1e4
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if later(middle) > late else (low, middle)
    return high


@cache
def step(batch: int) -> float:
    return float(serving_time("llama31-8b", "h200-sxm", "decode", batch, CONTEXT).time)


@cache
def in_batch() -> float:
    """Conversations on average, at 80% of what a full batch completes, state by state."""
    leaving = [b / (ANSWER * step(b)) for b in range(1, SEATS + 1)]
    arrive = BUSY * leaving[-1]
    chances = [1.0]
    for rate in leaving:
        chances.append(chances[-1] * arrive / rate)
    for _ in range(2000):
        chances.append(chances[-1] * arrive / leaving[-1])
    return sum(k * chance for k, chance in enumerate(chances)) / sum(chances)


def token() -> float:
    """What a token takes then, in steps of one."""
    arrive = BUSY * SEATS / (ANSWER * step(SEATS))
    return in_batch() / arrive / ANSWER / step(1)


def two_digits(value: float) -> float:
    return float(f"{value:.2g}")


def limit(p: Parameters) -> tuple[float, float]:
    """How busy each of the questions of the limit makes the server, at the key."""
    promise, service = p.promise_ms / 1e3, p.service_ms / 1e3
    spared = service * TAIL / promise
    return 1 - spared, p.rate * promise / (TAIL + p.rate * promise)


def pair(p: Parameters) -> tuple[float, float, float, float]:
    """Rate, p99 of the one and of the two, and the promise, in seconds."""
    busy, slower, promise = map(float, p.pair.split())
    one = p.pair_ms / 1e3
    return (
        busy / 100 / one,
        one * TAIL * mean(busy / 100),
        slower * one * two(busy / 100 * slower / 2),
        promise * one,
    )


def fan(slow: float, many: int) -> float:
    return 1 - (1 - slow) ** many


def batch_rates(p: Parameters) -> list[float]:
    """Tokens per second of the student's batch, answers completed, and those that may arrive."""
    tokens = p.seats / step(p.seats)
    return [tokens, tokens / p.answer_tokens]


QUANTITIES = [
    Quantity("loads of the text", "ratio", lambda p: [BUSY, CALM, CLOSE, 1 - BUSY]),
    Quantity("mean over service", "ratio", lambda p: [1, *map(mean, (BUSY, CALM, CLOSE))]),
    Quantity("waits at 80%", "count", lambda p: [BUSY * mean(BUSY), BUSY * mean(BUSY) / 2]),
    Quantity("p99 in means, and over service", "ratio", lambda p: [TAIL, TAIL * mean(BUSY)]),
    Quantity("arguments of a logarithm", "count", lambda p: [100, 10]),
    Quantity("clients that never pause", "ratio", lambda p: 4),
    Quantity("service of the messages", "s", lambda p: [SERVICE, 10 * SERVICE]),
    Quantity("promise", "s", lambda p: p.promise_ms / 1e3),
    Quantity("mean that keeps it", "s", lambda p: p.promise_ms / 1e3 / TAIL),
    Quantity("busy at the limit", "ratio", limit),
    Quantity(
        "p99 at 80% of one's own services",
        "s",
        lambda p: [TAIL * mean(BUSY) * p.service_ms / 1e3, TAIL * mean(BUSY) * BUSY / p.rate],
    ),
    Quantity("rate of the student", "1/s", lambda p: p.rate),
    Quantity("the two offers: rate", "1/s", lambda p: pair(p)[0]),
    Quantity("the two offers: service", "ratio", lambda p: float(p.pair.split()[1])),
    Quantity(
        "the two offers: times",
        "s",
        lambda p: [*pair(p)[1:], p.pair_ms / 1e3, float(p.pair.split()[1]) * p.pair_ms / 1e3],
    ),
    Quantity(
        "the two offers: busy",
        "ratio",
        lambda p: [
            float(p.pair.split()[0]) / 100,
            float(p.pair.split()[0]) / 200 * float(p.pair.split()[1]),
        ],
    ),
    Quantity("mean of an impatient user", "ratio", lambda p: mean(p.busy_pct / 100)),
    Quantity("patience in means", "count", lambda p: p.patience * (1 - p.busy_pct / 100)),
    Quantity("spare of an impatient user", "ratio", lambda p: 1 - p.busy_pct / 100),
    Quantity(
        "busy with exponential services",
        "ratio",
        lambda p: p.wait_ms / (p.wait_ms + p.service_ms),
    ),
    Quantity("busy behind a report", "ratio", lambda p: 1 - 1 / p.worse),
    Quantity("service and pause", "s", lambda p: p.reported_ms / 1e3 * (1 + 1 / (p.worse - 1))),
    Quantity("seats, context and answer", "count", lambda p: [SEATS, CONTEXT, ANSWER]),
    Quantity("servers of a page", "count", lambda p: [LEAVES, 2 * LEAVES, 1000, 1800]),
    Quantity(
        "steps over that of one",
        "ratio",
        lambda p: [two_digits(step(SEATS) / step(1)), two_digits(token())],
    ),
    Quantity("conversations", "count", lambda p: round(in_batch())),
    Quantity("steps", "s", lambda p: [step(1), step(p.seats)]),
    Quantity("rates of a batch", "1/s", batch_rates),
    Quantity("answers of a batch", "count", lambda p: batch_rates(p)[1]),
    Quantity("slow pages", "ratio", lambda p: [fan(0.01, LEAVES), fan(0.01, 2 * LEAVES)]),
    Quantity("fast pages", "ratio", lambda p: 1 - p.pages_pct / 100),
    Quantity("slow servers", "ratio", lambda p: 1 - (1 - p.pages_pct / 100) ** (1 / p.leaves)),
    # Worked examples.
    Quantity("example: times", "s", lambda p: [0.05, 2, 2 / TENTH, 2 / 7, 0.2, 0.08]),
    Quantity("example: spare", "ratio", lambda p: [0.05 * TENTH / 2, 0.75, 0.5, 0.5**0.1]),
    Quantity("example: counts", "count", lambda p: [3, 7, 2, 4, 5, 10, 100, 1000, 1250, 1.25, 2.5]),
    Quantity("example: rates", "1/s", lambda p: [3, 1250, 1.25, 2.5]),
]


def wait(busy: float, variation: float) -> float:
    """Pollaczek and Khinchine, in services."""
    return busy * (1 + variation) / 2 / (1 - busy)


def late(time: float, busy: float = 0.0) -> float:
    """The part of the answers that take longer than so many services."""
    return math.exp(-time * (1 - busy))


CLAIMS: list[Claim | Reading] = [
    Claim("where half of the time is spare", lambda p: 1 - CALM == 0.5),
    Claim("At # both are twice as long", lambda p: math.isclose(mean(CLOSE), 2 * mean(BUSY))),
    Claim("the load has grown by an eighth", lambda p: math.isclose(CLOSE / BUSY, 9 / 8)),
    Claim("belong to a load a little above #", lambda p: CLOSE < 1 - 1 / 13 < CLOSE + 0.03),
    Claim("Random arrivals alone make half", lambda p: wait(BUSY, 0) == wait(BUSY, 1) / 2),
    Claim("Equal services take half of the line", lambda p: wait(BUSY, 0) == wait(BUSY, 1) / 2),
    Claim("Equal ones wait half as long", lambda p: wait(BUSY, 0) == wait(BUSY, 1) / 2),
    Claim(
        "vary less, the wait at the same load is shorter",
        lambda p: all(wait(b, 0.5) < wait(b, 1) for b in (0.1, 0.5, 0.9)),
    ),
    # A service takes as long at any load; what grows is the wait for those ahead.
    Claim("takes as long at # as alone", lambda p: math.isclose(mean(BUSY) - wait(BUSY, 1), 1)),
    Claim(
        "are in line or served on average, and often many more",
        # Of a geometric line, the chance of at least twice the mean.
        lambda p: BUSY**8 > 0.1,
    ),
    Claim("a step of # takes # as long as one alone", lambda p: step(SEATS) > step(1)),
    Claim("A full batch takes # as long for a step", lambda p: step(SEATS) > step(1)),
    Claim(
        "takes longer the more there are",
        lambda p: all(step(b) <= step(b + 4) for b in range(1, SEATS - 3, 4)),
    ),
    Claim("a token takes somewhat longer", lambda p: 1.2 < token() < mean(BUSY) / 2),
    Claim(
        "one answer in a hundred takes more than # times as long",
        lambda p: math.isclose(math.exp(-TAIL), 0.01),
    ),
    Claim(
        "one answer in ten may take longer than #", lambda p: math.isclose(math.exp(-TENTH), 0.1)
    ),
    Claim("its servers need spare time most", lambda p: fan(0.01, LEAVES) > 0.5),
    Claim("two take twice the service time each", lambda p: 2 / (2 * SERVICE) == 1 / SERVICE),
    Reading(
        "e to the power of minus that takes longer",
        lambda p, n: abs(n[2] - n[1] / n[0]) < 0.01 * n[2],
    ),
    Claim("minus one half take longer than two", lambda p: math.isclose(-2 / mean(0.75), -0.5)),
    Claim(
        "That is more than half of them",
        lambda p: late(2, 0.75) > 0.5 and 1 / 8 < late(2) < 1 / 7,
    ),
    Claim(
        "nearly every page of # servers would wait",
        lambda p: fan(p.pages_pct / 100, p.leaves) > 0.95,
    ),
    Claim(
        "counts pages with several slow ones more than once",
        lambda p: p.leaves * (1 - (1 - p.pages_pct / 100) ** (1 / p.leaves)) > p.pages_pct / 100,
    ),
    Claim("one in a hundred more than #", lambda p: math.isclose(late(TAIL * 5, BUSY), 0.01)),
    Claim("Another server is busy half of the time", lambda p: mean(0.5) == 2),
    Claim("Its mean is then twice its service", lambda p: mean(0.5) == 2),
    Claim("Users see twice as much when half", lambda p: mean(0.5) == 2),
    Claim("ten times slower", lambda p: math.isclose(10 * SERVICE, 0.4)),
    Claim("So the server is busy half of the time", lambda p: mean(0.5) == 2),
    # A client that has one request under way is behind nobody.
    Claim("One client never meets a line", lambda p: mean(0) == 1),
    # Who is told so, has numbers of which it is true.
    Claim("does not make up for a service", lambda p: pair(p)[1] < pair(p)[2]),
    Claim("faster server leaves less time spare", lambda p: 1 < float(p.pair.split()[1]) < 2),
    Claim("its line costs more than its speed", lambda p: pair(p)[1] > pair(p)[2]),
    Claim("Only the single server keeps it", lambda p: pair(p)[1] <= pair(p)[3] < pair(p)[2]),
    Claim("Only the two keep it", lambda p: pair(p)[2] <= pair(p)[3] < pair(p)[1]),
    Claim("The two keep it as well", lambda p: max(pair(p)[1:3]) <= pair(p)[3]),
    Claim("The single server keeps it as well", lambda p: max(pair(p)[1:3]) <= pair(p)[3]),
]

NOT_EVALUATED: dict[str, str] = {
    "a line that hardly ever empties": "what a reader may have believed, not a claim of ours",
    "for the part § that may take longer": "says what a letter of a formula stands for",
    "would have waited were never sent": "a property of a closed loop, shown by its simulation",
    "this client never sends one then": "a property of a closed loop, shown by its simulation",
    "A longer run makes the same number more exact": "a general rule of sampling",
    "never have more requests under way than there are clients": "true of any closed loop",
    "A load that never pauses finds the highest rate": "a property of saturated servers",
    "the less a bunch of arrivals matters": "a moral; its case is computed in the same feedback",
    "Half of them expect the same disaster": "part of a story that somebody tells",
    "hardly anybody waits": "what a team in the story believes, and what the lab refutes",
    "and sometimes three times as much": "part of a story that somebody tells",
    "if the server never rests": "says what a rate means, not a number",
    "for requests that never wait": "says what a number means, not that it is true",
    "a server that never rests": "says what a rate means, not a number",
    "its client is never behind anybody": "a property of a closed loop with one client",
}
