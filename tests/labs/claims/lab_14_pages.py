"""What Lab 14 says in numbers and comparisons.

Formulas are written out here (half of an answer, half of a page, a sum of chances), not taken from
the lab or from ``physics.cache_sharing``. The simulated engine has tests of its own, against the
replays and against itself, so it is asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from mlsys_widgets.labs import Parameters
from mlsys_widgets.measured import cases
from mlsys_widgets.measured.cache_runs import CacheRun, play
from tests.labs.claims import Claim, Quantity, Reading

ROOMS, ROOM, TOKEN = 32, 1536, 131_072
ALL, QUARTER = 6.44e9, 1.61e9
GUESSES, FEWER, RIGHT, GUESS, MANY = 7, 3, 0.7, 0.05, 128
RIDGE = 989e12 / 4.8e12


@cache
def run(policy: str, memory: float) -> CacheRun:
    return play(policy, memory, 16, 16.0, 256)


def holds(policy: str, memory: float) -> float:
    """Tokens of use over all steps, weighted by their time, as a part of the memory."""
    steps = run(policy, memory).served.steps
    seconds = math.fsum(step.seconds for step in steps)
    return math.fsum(step.seconds * step.kept for step in steps) / seconds * TOKEN / memory


def used(policy: str) -> float:
    served = run(policy, QUARTER).served
    kept, held = (
        math.fsum(step.seconds * getattr(step, name) for step in served.steps)
        for name in ("kept", "held")
    )
    return kept / held


def handed_out() -> float:
    """What pages take of all of the memory."""
    steps = run("paged", ALL).served.steps
    seconds = math.fsum(step.seconds for step in steps)
    return math.fsum(step.seconds * step.held for step in steps) / seconds * TOKEN / ALL


def users(policy: str, memory: float = QUARTER) -> float:
    steps = run(policy, memory).served.steps
    seconds = math.fsum(step.seconds for step in steps)
    return math.fsum(step.seconds * step.users for step in steps) / seconds


@cache
def lengths() -> tuple[list[int], list[int]]:
    """Tokens of the prompts and of the answers that were replayed, in their order."""
    found = cases("h200-sxm", kind="replay", trace="steady", policy="static")[0].timeline
    assert found is not None
    return found["requests"]["prompt"], found["requests"]["answer"]


def requests() -> tuple[int, int, int]:
    """How many were replayed, and the mean tokens of prompts and answers, as they are printed."""
    prompts, answers = lengths()
    return len(prompts), round(sum(prompts) / len(prompts)), round(sum(answers) / len(answers))


def middle() -> int:
    """The fewest tokens that half of the answers do not exceed."""
    answers = lengths()[1]
    return next(n for n in sorted(answers) if sum(a <= n for a in answers) >= len(answers) / 2)


def longest_of_a_batch() -> list[int]:
    answers = lengths()[1]
    return [max(answers[k : k + ROOMS]) for k in range(0, len(answers), ROOMS)]


@cache
def check(many: int, tokens: int) -> float:
    """What a step for several tokens of each user takes, in plain steps, as it was measured."""
    plain, several = (
        cases("h200-sxm", kind="verification", batch=many, tokens=each)[0].seconds.median
        for each in (1, tokens)
    )
    return several / plain


def tokens(right: float, guesses: int) -> float:
    """The chance that at least k guesses in a row are right, for each k, and one token."""
    return sum(right**k for k in range(guesses + 1))


def paid(many: int, guesses: int = GUESSES) -> float:
    """Plain steps that a step with its guesses takes."""
    return check(many, guesses + 1) + guesses * GUESS


def gain(many: int, guesses: int = GUESSES) -> float:
    return tokens(RIGHT, guesses) / paid(many, guesses)


def kept(p: Parameters) -> float:
    return p.prompt_tokens + p.answer_tokens / 2


def held(p: Parameters) -> float:
    """Over all fillings of the last page, from one token to all of them."""
    return kept(p) + sum(p.block - k for k in range(1, p.block + 1)) / p.block


def offered(p: Parameters) -> tuple[float, float, float]:
    """Users in rooms of tokens in fp8, users in pages, and the users that are wanted."""
    prompt, answer, room, block, wanted = map(float, p.offer.split())
    places = p.offer_gb * 1e9 / TOKEN
    return (
        2 * places / room,
        places / (prompt + answer / 2 + (block - 1) / 2),
        round(wanted * p.offer_gb),
    )


def written(p: Parameters) -> float:
    return tokens(p.right_pct / 100, p.guesses)


QUANTITIES = [
    Quantity("rooms and their tokens", "count", lambda p: [ROOMS, ROOM, 16]),
    Quantity("memory", "B", lambda p: [ALL, QUARTER, 2.4e9, 1.7e9]),
    Quantity("a full cache", "ratio", lambda p: [1, 0.9, 0.5, 0.25]),
    Quantity("bytes of a token", "count", lambda p: [TOKEN, TOKEN / 2]),
    Quantity("bytes of a token in bytes", "B", lambda p: [TOKEN, TOKEN / 2]),
    Quantity(
        "requests of the replay",
        "count",
        lambda p: [
            *requests(),
            requests()[1] + requests()[2],
            requests()[1] + requests()[2] / 2,
            middle(),
            round(np.mean(longest_of_a_batch()) / middle()),
        ],
    ),
    Quantity("handed out in pages", "ratio", lambda p: handed_out()),
    Quantity("what is right of a guess", "count", lambda p: GUESSES * RIGHT),
    Quantity("requests at the door", "count", lambda p: 28),
    Quantity(
        "what caches hold",
        "ratio",
        lambda p: [
            holds("static", ALL),
            holds("continuous", ALL),
            holds("paged", QUARTER),
            used("continuous"),
            used("paged"),
        ],
    ),
    Quantity(
        "users at once",
        "count",
        lambda p: [users("continuous"), users("paged"), users("continuous", ALL)],
    ),
    Quantity(
        "times of a quarter",
        "s",
        lambda p: [
            *(run(policy, QUARTER).wait for policy in ("continuous", "paged")),
            *(run(policy, QUARTER).pace for policy in ("continuous", "paged")),
        ],
    ),
    Quantity("the longest answer at the door", "count", lambda p: [260]),
    Quantity("the longest pause", "s", lambda p: 0.1),
    # Three prompts that wait, their pages of 16 tokens, and what the first two leave of 10 pages.
    Quantity("who waits elsewhere", "count", lambda p: [40, 20, 100]),
    Quantity("their pages", "count", lambda p: [10, 3, 2, 7, 3 + 2 + 7, 10 - 3 - 2]),
    Quantity("guesses of the messages", "count", lambda p: [GUESSES, FEWER, 8, MANY, 8 * MANY]),
    Quantity("chance and time of a guess", "ratio", lambda p: [RIGHT, GUESS]),
    Quantity("checking", "ratio", lambda p: [check(1, 8), check(MANY, 8)]),
    Quantity("gains", "ratio", lambda p: [gain(1), gain(MANY), gain(MANY, FEWER)]),
    Quantity("tokens of a step", "count", lambda p: [tokens(RIGHT, GUESSES), paid(MANY)]),
    Quantity("tokens in each cache", "count", lambda p: 2048),
    Quantity("ridge", "FLOP/B", lambda p: RIDGE),
    Quantity("a user", "count", lambda p: [kept(p), held(p), (p.block - 1) / 2]),
    Quantity("used by a user", "ratio", lambda p: kept(p) / held(p)),
    Quantity("empty part", "ratio", lambda p: p.empty_pct / 100),
    Quantity(
        "empty places", "count", lambda p: kept(p) * p.empty_pct / 100 / (1 - p.empty_pct / 100)
    ),
    Quantity("offers", "count", lambda p: [*map(float, p.offer.split()), *offered(p)]),
    Quantity("offered memory", "B", lambda p: p.offer_gb * 1e9),
    Quantity("stay of a user", "s", lambda p: p.answer_tokens * p.step_ms / 1e3),
    Quantity("tokens of a checked step", "count", written),
    Quantity("time of a checked step", "count", lambda p: p.check + p.guesses * p.guess_pct / 100),
    Quantity("guess and check", "count", lambda p: p.check + p.guess_pct / 100),
    Quantity("a guess", "ratio", lambda p: p.guess_pct / 100),
    # Worked examples.
    Quantity(
        "example: a cache",
        "count",
        lambda p: [50_000, 20_000, 40_000, 9000, 2000, 10_000, 2001, 1000, 11_000, 20_001],
    ),
    Quantity("example: memory", "B", lambda p: [1e9, 50_000, 25_000]),
    Quantity("example: offers", "count", lambda p: [4000, 10, 1000, 20]),
    Quantity("example: requests", "count", lambda p: [3000, 2000, 1.5]),
    Quantity("example: times", "s", lambda p: [1, 2000]),
    Quantity("example: rate", "1/s", lambda p: 1.5),
    Quantity("example: chances", "ratio", lambda p: [0.9, 0.81, tokens(0.9, 9) / 9.5]),
    Quantity(
        "example: guesses", "count", lambda p: [9, tokens(0.9, 9), 5, 0.5, 9.5, tokens(0.9, 9) - 5]
    ),
    Quantity("example: one guess", "count", lambda p: [1.25, 0.25, 1.5]),
]


def printed(found: Sequence[float], *true: float) -> bool:
    """Whether numbers are printed in this order, with three digits or all."""
    return len(found) == len(true) and all(
        math.isclose(one, other, rel_tol=0.005) for one, other in zip(found, true, strict=True)
    )


def most_of_a_room(p: Parameters) -> bool:
    prompt, answer, room, *_ = map(float, p.offer.split())
    return prompt + answer / 2 > room / 2


def kept_offers(p: Parameters) -> tuple[bool, bool]:
    """Whether rooms and whether pages hold as many users as are wanted."""
    rooms, pages, wanted = offered(p)
    return rooms >= wanted, pages >= wanted


def done_before_the_longest() -> bool:
    """Whether most rooms of the first batch are done at half of its time."""
    served = run("static", ALL).served
    first = [stay for stay in served.stays if stay.number < ROOMS]
    end = max(stay.ended for stay in first)
    read = max(served.first[:ROOMS])
    middle = (read + end) / 2
    return all(stay.ended == end for stay in first) and bool(
        (served.ended[:ROOMS] < middle).sum() > ROOMS / 2
    )


def in_pages(places: int) -> float:
    """Empty places of a last page, over all of its fillings."""
    return sum(places - k for k in range(1, places + 1)) / places


CLAIMS: list[Claim | Reading] = [
    Claim("until its longest answer ends", lambda p: done_before_the_longest()),
    Claim("a batch ends with its longest answer", lambda p: done_before_the_longest()),
    Claim("stay taken until the longest is written", lambda p: done_before_the_longest()),
    # In all of the memory, rooms and pages hold the same tokens of the same users at any time.
    Claim(
        "and # rooms are enough on average",
        lambda p: (
            users("continuous", ALL) < ROOMS
            and run("continuous", ALL).wait < run("static", ALL).wait / 100
        ),
    ),
    Claim(
        "the same tokens then take #",
        lambda p: (
            math.isclose(holds("paged", ALL), holds("continuous", ALL), rel_tol=1e-3)
            and run("paged", ALL).wait == run("continuous", ALL).wait
            and handed_out() < 0.15
        ),
    ),
    Claim(
        "In *Continuous* they are free at once",
        lambda p: users("continuous", ALL) < ROOMS / 2 and holds("continuous", ALL) < 0.15,
    ),
    Claim(
        "where a room is free as soon as its own answer ends",
        lambda p: run("continuous", ALL).wait < run("static", ALL).wait / 100,
    ),
    Reading(
        "and the longest of a batch usually has about #",
        lambda p, n: (
            n[0] == middle()
            and all(0.75 * n[1] <= most / n[0] <= 1.25 * n[1] for most in longest_of_a_batch())
        ),
    ),
    Claim(
        "a usual request needs a quarter of its room",
        lambda p: 0.22 < (requests()[1] + requests()[2] / 2) / ROOM < 0.28,
    ),
    Claim(
        "You expected requests to need half of a room",
        lambda p: (requests()[1] + requests()[2]) / ROOM < 0.5,
    ),
    Claim(
        "a long answer is in the cache for longer",
        lambda p: (
            np.corrcoef(
                [each.answer for each in run("paged", ALL).requests],
                run("paged", ALL).served.ended - run("paged", ALL).served.started,
            )[0, 1]
            > 0.9
        ),
    ),
    Claim(
        "because more users share each step",
        lambda p: (
            users("paged") > users("continuous")
            and run("paged", QUARTER).pace > run("continuous", QUARTER).pace
        ),
    ),
    Claim(
        "What became shorter is the line",
        lambda p: run("paged", QUARTER).wait < run("continuous", QUARTER).wait / 100,
    ),
    Claim(
        "then a quarter of the memory serves the same users",
        lambda p: run("paged", QUARTER).wait < 2 * run("continuous", ALL).wait,
    ),
    Reading(
        "With one user, checking takes # as long as a plain step",
        lambda p, n: printed(n[:1], check(1, 8)),
    ),
    Reading("plain step, and with # it takes #, both", lambda p, n: printed(n[2:], check(MANY, 8))),
    Reading(
        "rows in every product, and it takes # as long",
        lambda p, n: printed(n, MANY, 8 * MANY, check(MANY, 8)),
    ),
    Reading("And with # users, checking takes", lambda p, n: printed(n, MANY, check(MANY, 8))),
    Reading(
        "Checking takes # as long as a plain step for one user and # for #, measured",
        lambda p, n: printed(n, check(1, 8), check(MANY, 8), MANY),
    ),
    Reading(
        "so it is # as fast",
        lambda p, n: (
            printed(n, *[paid(MANY)] * 2, tokens(RIGHT, GUESSES), gain(MANY))
            and gain(MANY) < 1 < gain(1)
        ),
    ),
    Reading(
        "so the time of # steps is left for all",
        lambda p, n: printed(n, 5, tokens(0.9, 9) - 5, 9),
    ),
    Claim("it is # as fast: less work", lambda p: gain(MANY, FEWER) > gain(MANY)),
    Claim("it is more than the gain", lambda p: gain(MANY) < 1 < gain(1)),
    Claim("so your seven guesses make answers # and # as fast", lambda p: gain(MANY) < 1 < gain(1)),
    Claim("with three they would still gain something", lambda p: gain(MANY, FEWER) > 1),
    Claim(
        "as fast for one user and #",
        lambda p: gain(MANY) < 1 < gain(1) and gain(MANY, FEWER) > gain(MANY),
    ),
    Claim("far beyond the ridge", lambda p: 8 * MANY > 4 * RIDGE > MANY),
    Claim("and beyond the ridge of #", lambda p: 8 * MANY > RIDGE),
    Claim("Only # of the memory holds a token", lambda p: holds("static", ALL) < 0.1),
    Claim("so as many tokens are needed", lambda p: p.check + p.guess_pct / 100 > 1),
    Claim("the guess must be right in half of the cases", lambda p: 1.25 + 0.25 - 1 == 0.5),
    Claim("The last page has at least one token", lambda p: in_pages(p.block) < p.block / 2),
    Claim(
        "may have about twice as many tokens",
        lambda p: math.isclose(2 * in_pages(1000), 1000, rel_tol=0.01),
    ),
    Claim("You let nearly the whole last page be empty", lambda p: in_pages(64) < 63 / 1.9),
    Claim("empty places included, which is more", lambda p: p.empty_pct > 0),
    Claim("may be empty: half of B", lambda p: math.isclose(in_pages(1001), (1001 - 1) / 2)),
    Claim("A page of B tokens leaves half of B", lambda p: in_pages(2001) == 1000),
    Claim("that is as many places again", lambda p: 10_000 / (10_000 + 10_000) == 0.5),
    Claim("half of # written, a user has #", lambda p: 9000 + 2000 / 2 == 10_000),
    Claim("here a user needs most of a room", most_of_a_room),
    Claim("Here a user needs most of a room", most_of_a_room),
    Claim("half the bytes gain more than pages", lambda p: offered(p)[0] > offered(p)[1]),
    Claim("Pages do not reach it", lambda p: kept_offers(p) == (True, False)),
    Claim("Rooms do not reach it", lambda p: kept_offers(p) == (False, True)),
    Claim("most of a room is empty", lambda p: not most_of_a_room(p)),
    Claim("most of each room is still empty", lambda p: not most_of_a_room(p)),
    Claim("Pages reach it as well", lambda p: kept_offers(p) == (True, True)),
    Claim("Rooms reach it as well", lambda p: kept_offers(p) == (True, True)),
    Claim("for tokens of half the bytes", lambda p: 40_000 == 2 * 20_000),
    Claim("So it is # as fast: it does not pay", lambda p: tokens(0.9, 9) / 9.5 < 1),
    Claim("because it reads more tokens", lambda p: p.guesses + 1 > 1 and p.check > 1),
]

NOT_EVALUATED: dict[str, str] = {
    "The cache is always full, and every request": "says what is assumed, not what is the case",
    "Now I have something that makes every answer faster": "what a person in the story believes",
    "The paper says that it never costs anything": "a belief that the lab refutes",
    "since nobody is promised the longest answer": "a property of pages that are handed out late",
    "The longest request that we accept has": "part of a story that somebody tells",
    "Only the places beyond the tokens are empty": "says what a number means, not that it is true",
    "For a smaller part, first find": "tells what to do, and claims nothing",
    "You let users stay for half of their answers": "says what somebody did, not what is the case",
    "They have half of it written on average": "a uniform place in an answer is in the middle",
    "so on average half of it is written": "a uniform place in an answer is in the middle",
    "But that step takes as long as": "repeats what the question gives",
    "which plain steps would write in as many steps": "a plain step writes one token",
    "Rooms for the longest request, in batches": "names the rooms; its number is evaluated",
}
