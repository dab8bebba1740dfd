"""The keys of lab_13_tail. This file stays in the course; students never get it."""

import math
from collections.abc import Iterable, Mapping

from mlsys_widgets.judging import Belief, ChoiceKey, Given, NumberKey, told_apart
from mlsys_widgets.physics import format_quantity as q
from mlsys_widgets.physics import (
    highest_rate,
    one_client,
    queue,
    serving_time,
)

from asks import BUSY, CONTEXT, SERVICE, SLOWEST, batches, pair_of, step_of
from asks import act1_eighty as asked_eighty
from asks import act2_closed as asked_closed
from asks import act3_batch as asked_batch

TOLERANCE = 0.015
#: What p99 is, in means.
TAIL = math.log(1 / SLOWEST)


def _number(key: float, beliefs: Iterable[Belief], says: str) -> NumberKey:
    return NumberKey(
        key, tolerance=TOLERANCE, beliefs=told_apart(key, TOLERANCE, beliefs), says=says
    )


def _nearest(values: Mapping[str, float], true: float) -> ChoiceKey:
    return ChoiceKey(min(values, key=lambda each: abs(math.log(values[each] / true))))


# Act 1


def act1_eighty(given: Given) -> ChoiceKey:
    tail = queue(BUSY / SERVICE, SERVICE).tail_slowdown
    return _nearest(asked_eighty(given.p).values, float(tail))


def highest_rate_per_s(given: Given) -> NumberKey:
    service, promise = given.p.service_ms / 1e3, given.p.promise_ms / 1e3
    right = highest_rate(promise, service, later=SLOWEST)
    mean = q(promise / TAIL, "s")
    return _number(
        right,
        [
            Belief(
                "the mean keeps the promise",
                1 / service - 1 / promise,
                credit=0.3,
                idea="the mean tells what users see",
                says=f"At that rate the mean is {q(promise, 's')}, and one answer in a hundred"
                f" takes more than {q(TAIL)} times as long. For p99 to keep the promise,"
                f" the mean must be {mean}.",
            ),
            Belief(
                "eighty percent",
                BUSY / service,
                credit=0.0,
                idea="a fifth of spare time is enough",
                says=f"That is {q(BUSY, '%')} busy, whatever was promised. p99 is then"
                f" {q(queue(BUSY / service, service).tail, 's')}; the promise is"
                f" {q(promise, 's')}.",
            ),
            Belief(
                "all of the time",
                1 / service,
                credit=0.0,
                says="That many are served if the server never rests. Then nothing is spare, and"
                " with arrivals at random the line grows without end.",
            ),
            Belief(
                "what must be spare",
                1 / service - right,
                credit=0.4,
                says="That is the rate which must stay spare for the promise. The question asks for"
                " the requests that may arrive, which is the rest.",
            ),
        ],
        says=f"The server is then busy {q(right * service, '%')}: the mean is {mean}, and p99 is"
        f" {q(TAIL)} times that, just what was promised.",
    )


def longest_service_ms(given: Given) -> NumberKey:
    rate, promise = given.p.rate, given.p.promise_ms / 1e3
    right = 1e3 * promise / (TAIL + rate * promise)
    return _number(
        right,
        [
            Belief(
                "the mean keeps the promise",
                1e3 * promise / (1 + rate * promise),
                credit=0.3,
                idea="the mean tells what users see",
                says=f"With that service the mean is {q(promise, 's')}, and one answer in a hundred"
                f" takes more than {q(TAIL)} times as long. The mean must be"
                f" {q(promise / TAIL, 's')}.",
            ),
            Belief(
                "eighty percent",
                1e3 * BUSY / rate,
                credit=0.0,
                idea="a fifth of spare time is enough",
                says=f"That is {q(BUSY, '%')} busy, whatever was promised. p99 is then"
                f" {q(queue(rate, BUSY / rate).tail, 's')}; the promise is {q(promise, 's')}.",
            ),
            Belief(
                "all of the time",
                1e3 / rate,
                credit=0.0,
                says="Then the server never rests. Nothing is spare, and with arrivals at random"
                " the line grows without end.",
            ),
            Belief(
                "nobody waits",
                1e3 * promise / TAIL,
                credit=0.2,
                says="That would keep the promise for requests that never wait. At"
                f" {q(rate, '/s')} they do, and the wait belongs to the response.",
            ),
        ],
        says=f"The server is then busy {q(rate * right / 1e3, '%')}: the mean is"
        f" {q(promise / TAIL, 's')}, and p99 is {q(TAIL)} times that, just what was promised.",
    )


def one_or_two(given: Given) -> ChoiceKey:
    busy, slower, promise = pair_of(given.p)
    one = given.p.pair_ms / 1e3
    rate = busy / one
    tails = {
        "one": float(queue(rate, one).tail),
        "two": float(queue(rate, slower * one, 2).tail),
    }
    kept = [name for name, tail in tails.items() if tail <= promise * one]
    right = kept[0] if len(kept) == 1 else "both"
    facts = (
        f"The single server is {q(busy, '%')} busy and has a p99 of {q(tails['one'], 's')}; the two"
        f" are {q(busy * slower / 2, '%')} busy and have {q(tails['two'], 's')}. The promise is"
        f" {q(promise * one, 's')}."
    )
    longer, parts = q(slower, "×"), "the slow end is service and line together."
    why = {
        "one": {
            "two": f"A shared line does not make up for a service that takes {longer} as long.",
            "both": f"Only the single server keeps it: each of the two takes {longer} as long.",
        },
        "two": {
            "one": "The faster server leaves less time spare, and its line costs more than its"
            " speed saves.",
            "both": "Only the two keep it: the faster server leaves less time spare.",
        },
        "both": {
            "one": f"The two keep it as well: {parts}",
            "two": f"The single server keeps it as well: {parts}",
        },
    }[right]
    return ChoiceKey(
        right,
        beliefs=[
            Belief(f"{name} instead of {right}", name, credit=0.0, says=f"{facts} {words}")
            for name, words in why.items()
        ],
        says=facts,
    )


def late_pct(given: Given) -> NumberKey:
    busy, patience = given.p.busy_pct / 100, given.p.patience
    mean = 1 / (1 - busy)
    right = 100 * math.exp(-patience / mean)
    return _number(
        right,
        [
            Belief(
                "service alone",
                100 * math.exp(-patience),
                credit=0.2,
                says=f"So few services are that long. An answer also waits in line, and its mean is"
                f" {q(mean)} services.",
            ),
            Belief(
                "those in time",
                100 - right,
                credit=0.4,
                says="That many answers come in time. The question asks for the others, which"
                " come too late.",
            ),
            Belief(
                "fraction for percent",
                right / 100,
                credit=0.6,
                says="That is the right part, but as a fraction. The question asks for percent, so"
                " multiply.",
            ),
        ],
        says=f"The mean is {q(mean)} services, and {given.p.patience:g} services are"
        f" {q(patience / mean)} means; e to the power of minus that takes longer.",
    )


def steady_busy_pct(given: Given) -> NumberKey:
    service, wait = given.p.service_ms, given.p.wait_ms
    right = 100 * 2 * wait / (service + 2 * wait)
    random = 100 * wait / (service + wait)
    return _number(
        right,
        [
            Belief(
                "exponential services",
                random,
                credit=0.3,
                says="That is for services that vary as exponential times do. Equal ones wait half"
                " as long at the same load, so the server may be busier.",
            ),
            Belief(
                "what is spare",
                100 - right,
                credit=0.4,
                says="That part of the time must stay spare. The question asks how busy the server"
                " may be.",
            ),
            Belief(
                "fraction for percent",
                right / 100,
                credit=0.6,
                form=True,
                says="That is the right part, but as a fraction. The question asks for percent, so"
                " multiply.",
            ),
        ],
        says=f"With exponential services the same wait allows {q(random / 100, '%')}. Equal"
        " services take half of the line away, and the load may rise until it is back.",
    )


# Act 2


def act2_closed(given: Given) -> ChoiceKey:
    seen = one_client(BUSY / SERVICE, SERVICE).slowdown
    return _nearest(asked_closed(given.p).values, float(seen))


def users_rate_per_s(given: Given) -> NumberKey:
    service, worse = given.p.reported_ms / 1e3, given.p.worse
    busy = 1 - 1 / worse
    return _number(
        busy / service,
        [
            Belief(
                "busy for spare",
                1 / worse / service,
                credit=0.2,
                says=f"That is 1 over {worse:g} of the capacity. It is what must stay spare for"
                " that factor, and the rest may be busy.",
            ),
            Belief(
                "eighty percent",
                BUSY / service,
                credit=0.0,
                idea="a fifth of spare time is enough",
                says=f"At {q(BUSY, '%')} users see {q(1 / (1 - BUSY), '×')} the service, not"
                f" {worse:g} times. The factor decides how busy the server is.",
            ),
            Belief(
                "all of the time",
                1 / service,
                credit=0.0,
                says="That is the rate of a server that never rests, where users would wait without"
                " end.",
            ),
        ],
        says=f"The server is then busy {q(busy, '%')}. The script would still report"
        f" {given.p.reported_ms:g} ms, because its client is never behind anybody.",
    )


def pause_ms(given: Given) -> NumberKey:
    service, worse = given.p.reported_ms, given.p.worse
    right = service / (worse - 1)
    busy = 1 - 1 / worse
    return _number(
        right,
        [
            Belief(
                "busy for spare",
                service * (worse - 1),
                credit=0.2,
                says=f"With that pause the server is busy 1 over {worse:g} of the time. That part"
                " must be spare, and the rest busy.",
            ),
            Belief(
                "part of the service",
                service / worse,
                credit=0.3,
                says=f"1 over {worse:g} is the spare part of the whole time, and the whole is"
                " service and pause together, not the service alone.",
            ),
            Belief(
                "the busy part of the service",
                service * busy,
                credit=0.2,
                says=f"{q(busy, '%')} is how much of the whole time the server is busy. The pause"
                " is the rest of that time, not a part of the service.",
            ),
            Belief(
                "eighty percent",
                service / 4,
                credit=0.0,
                idea="a fifth of spare time is enough",
                says=f"With that pause the server is {q(BUSY, '%')} busy, and users see"
                f" {q(1 / (1 - BUSY), '×')} the service, not {worse:g} times.",
            ),
        ],
        says=f"Service and pause together take {q((service + right) / 1e3, 's')}, of which the"
        f" server is busy {q(busy, '%')}. The report stays at {service:g} ms all the same.",
    )


def slow_leaf_pct(given: Given) -> NumberKey:
    leaves, pages = given.p.leaves, given.p.pages_pct / 100
    right = 100 * (1 - (1 - pages) ** (1 / leaves))
    return _number(
        right,
        [
            Belief(
                "divided by the servers",
                100 * pages / leaves,
                credit=0.5,
                says="This adds up the chances of all servers, and counts pages with several slow"
                " ones more than once. Work with the pages that are fast.",
            ),
            Belief(
                "a page for a server",
                100 * pages,
                credit=0.0,
                says=f"With so many slow answers, nearly every page of {leaves} servers would wait"
                " for one.",
            ),
            Belief(
                "root of the slow part",
                100 * (1 - pages ** (1 / leaves)),
                credit=0.3,
                says="You took the root of the slow pages. A page is fast if all servers are, so"
                " the root is that of the fast ones.",
            ),
            Belief(
                "fraction for percent",
                right / 100,
                credit=0.6,
                form=True,
                says="That is the right part, but as a fraction. The question asks for percent, so"
                " multiply.",
            ),
        ],
        says=f"Each server may be slow in {q(right / 100, '%')} of its answers. The rest, to the"
        f" power of {leaves}, leaves {q(1 - pages, '%')} of the pages fast.",
    )


# Act 3


def act3_batch(given: Given) -> ChoiceKey:
    slower = float(batches(BUSY).token_time) / step_of(1)
    return _nearest(asked_batch(given.p).values, slower)


def batch_rate_per_s(given: Given) -> NumberKey:
    p = given.p
    seats, filled = p.seats, p.filled_pct / 100
    step, alone = (
        float(serving_time("llama31-8b", "h200-sxm", "decode", batch, CONTEXT).time)
        for batch in (seats, 1)
    )
    right = filled * seats / step / p.answer_tokens
    return _number(
        right,
        [
            Belief(
                "a full batch",
                right / filled,
                credit=0.5,
                says="So many are completed while every seat is taken. Only"
                f" {p.filled_pct}% of them may arrive.",
            ),
            Belief(
                "the step of one",
                filled * seats / alone / p.answer_tokens,
                credit=0.2,
                idea="what is added to a step costs no time",
                says=f"You took the step of one conversation, {q(alone, 's')}. With {seats} it"
                f" takes {q(step, 's')}, because they share it.",
            ),
            Belief(
                "one conversation",
                filled / step / p.answer_tokens,
                credit=0.2,
                says=f"That is for one of the {seats} conversations. A step gives a token to each"
                " of them.",
            ),
            Belief(
                "tokens for requests",
                right * p.answer_tokens,
                credit=0.4,
                says=f"Those are tokens per second. An answer has {p.answer_tokens} of them, so"
                " divide by that.",
            ),
        ],
        says=f"A full batch writes {q(seats / step, 'tokens/s')} in steps of {q(step, 's')}, which"
        f" completes {q(right / filled, 'answers/s')}; {p.filled_pct}% of that may arrive.",
    )
