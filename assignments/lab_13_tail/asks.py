"""What lab_13_tail asks. Students get this file; the keys are in checks.py."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from mlsys_widgets.labs import (
    Choice,
    Essay,
    Lab,
    Measurement,
    Message,
    Number,
    Parameter,
    Parameters,
    Peek,
    Prediction,
    Record,
    Reflection,
    Takeaways,
    steps,
)
from mlsys_widgets.ledger.designs import choice, flag, judged, number, predicted
from mlsys_widgets.physics import (
    BatchServer,
    batch_server,
    closed_loop,
    one_client,
    queue,
    serving_time,
    single_server,
)
from mlsys_widgets.physics import format_quantity as q

#: What the predictions are about, and a load on either side of it.
BUSY, CALM, CLOSE = 0.8, 0.5, 0.9
#: The part of the requests that may take longer than p99.
SLOWEST = 0.01
#: The service of the messages, in seconds, where questions have times of their own.
SERVICE = 0.04
#: Conversations that a GPU decodes at once in Act 3, tokens in each of them, and of an answer.
SEATS, CONTEXT, ANSWER = 64, 2048, 200
# Worked examples: times, rates and parts that are nobody's.
EXAMPLE_SERVICE, EXAMPLE_PROMISE, EXAMPLE_RATE = 0.05, 2.0, 3.0
EXAMPLE_ANSWER = 0.2
EXAMPLE_LOAD = 0.75
EXAMPLE_STEP, EXAMPLE_SEATS, EXAMPLE_TOKENS = 0.08, 100, 1000
EXAMPLE_LEAVES, EXAMPLE_PAGES = 10, 0.5

TOMAS = ("Tomás Rivera", "Platform engineer")
NOOR = ("Noor Haddad", "Head of ML infrastructure")


@cache
def batches(filled: float) -> BatchServer:
    """A batch of Act 3 at a part of what it can complete when it is full."""
    times = serving_time(
        "llama31-8b", "h200-sxm", "decode", np.arange(1.0, SEATS + 1), CONTEXT
    ).time
    full = float(batch_server(1.0, ANSWER, times).capacity)
    return batch_server(filled * full, ANSWER, times)


@cache
def step_of(batch: float) -> float:
    """Seconds that a step of Act 3 takes with so many conversations."""
    return float(serving_time("llama31-8b", "h200-sxm", "decode", batch, CONTEXT).time)


def from_lab_11(fields: Mapping[str, Any], found: bool) -> str:
    """What the service of Lab 11 can do when it is full, in words."""
    rate = fields.get("tokens_per_second")
    if not found or not isinstance(rate, int | float) or rate <= 0:
        return (
            "No service of Lab 11 was found beside this lab, which is fine: the questions below"
            " name service times of their own."
        )
    return (
        f"The service that you left in Lab 11 writes {q(rate, 'tokens/s')} when it is full, by the"
        f" textbook. That is {q(rate / ANSWER)} answers of {q(ANSWER)} tokens per second. How much"
        " of it may you promise?"
    )


lab = Lab(
    "lab_13_tail",
    title="Lab 13: The Tail at Eighty Percent",
    question="How busy may a server be before its users notice?",
    chapter=13,
    acts=("Eighty percent busy", "What a benchmark sees", "Many at once"),
    parameters={
        "service_ms": Parameter(40, steps(20, 60, 0.5), "ms", "service time of a request"),
        "promise_ms": Parameter(800, steps(500, 1500, 10), "ms", "what p99 may take"),
        "rate": Parameter(20, steps(8, 30, 0.25), "requests/s", "requests that arrive"),
        # Percent busy, how much slower each of two is, and the promise in services.
        "pair": Parameter(
            "84 1.2 14",
            (
                *("68 2.2 26.5", "84 1.2 14", "26 2.2 7", "78 1.2 14", "90 1.7 21.5"),
                *("80 1.2 32.5", "58 1.7 18", "86 2.1 38", "76 1.8 16", "28 2 8", "82 1.9 38.5"),
                *("82 1.4 20.5", "60 2.2 20.5", "22 2.2 8.5", "52 2.1 17", "90 1.2 15", "34 2 8"),
                *("86 1.6 18.5", "40 2 9", "84 1.4 33.5", "20 2.1 8.5", "72 1.4 10", "30 2.2 8.5"),
                *("36 2 8.5", "76 1.9 32.5", "84 1.2 8", "70 1.2 24.5", "88 1.6 18.5"),
                *("76 1.4 11.5", "46 2.1 10", "84 1.4 12.5", "44 2.2 10", "34 2.2 8.5"),
            ),
            "",
            "one server or two",
        ),
        "pair_ms": Parameter(50, steps(20, 80, 0.5), "ms", "service time of the fast server"),
        "reported_ms": Parameter(25, steps(12, 48, 0.1), "ms", "mean that a benchmark reports"),
        "worse": Parameter(4, (2.5, 3, 3.5, 4, 6, 7, 8, 10), "times", "what users may see of it"),
        "busy_pct": Parameter(70, steps(52, 84, 0.5), "%", "how busy a server is"),
        "patience": Parameter(7, steps(4, 9, 0.05), "services", "how long a user waits"),
        "wait_ms": Parameter(60, steps(12, 110, 1), "ms", "mean wait that is allowed"),
        "seats": Parameter(64, steps(12, 120, 4), "conversations", "decoded at once"),
        "answer_tokens": Parameter(200, steps(120, 480, 10), "tokens", "tokens of an answer"),
        "filled_pct": Parameter(80, steps(55, 90, 1), "%", "of what a full batch completes"),
        "leaves": Parameter(100, steps(20, 200, 2), "servers", "servers that a page asks"),
        "pages_pct": Parameter(25, steps(20, 60, 0.5), "%", "pages that may be slow"),
        # One fast server can keep the promise with it, and two slow ones cannot.
        "demand_pct": Parameter(58, steps(56, 60, 0.5), "%", "of its capacity a service needs"),
    },
    materials={"from_lab_11": from_lab_11, "batches": batches},
    design={
        "context": choice("where the service runs", "cloud", "edge"),
        "load_limit": number("how busy a server may be, in percent", 0, 100),
        "servers": number("servers that share a line", 1),
        "service_ms": number("service time of one of them, in milliseconds", 0),
        "rate_per_second": number("requests that it promises to serve, per second", 0),
        "p99_ms": number("what one answer in a hundred exceeds, in milliseconds", 0),
        "act1_prediction": predicted("what was predicted in the first act"),
        "act1_correct": judged("whether that was right"),
        "act2_prediction": predicted("what was predicted in the second act"),
        "act2_correct": judged("whether that was right"),
        "constraint_hit": flag("whether the design breaks a promise"),
    },
    deeper=(
        "steady_busy_pct",
        "act1_why",
        "act1_peek",
        "act2_why",
        "act2_peek",
        "batch_message",
        "act3_batch",
        "batch_rate_per_s",
        "advice",
        "deeper_kept",
    ),
)


def _at(busy: float) -> Any:
    """One server of the messages, as busy as that."""
    return queue(busy / SERVICE, SERVICE)


# Act 1


@lab.asks
def opening(p: Parameters) -> Message:
    return Message(
        *NOOR,
        "Eighty percent and all green?",
        "Our first model goes live on Monday: one GPU that summarizes a document at a time, users"
        " who send whenever they like. A summary takes some tens of milliseconds, and sometimes"
        " three times as much.\n\n"
        f"Finance wants the GPU busy, I want a fifth of it spare, and we agreed on {q(BUSY, '%')}."
        " My team calls that comfortable: hardly anybody waits. Sales has signed a"
        " promise about the slowest answers: ninety-nine in a hundred must be there in time, or we"
        " pay.\n\n"
        "Nobody has worked out what those slowest answers take. I announce the limit tomorrow.",
        task="Say how long answers take at that load, and find the highest load that keeps the"
        " promise.",
        in_context={
            "cloud": "This is about a GPU in our data center.",
            "edge": "The camera team runs the same service on a small module, ten times slower."
            " Does a limit in percent move with it?",
        },
        act=1,
    )


@lab.asks
def act1_eighty(p: Parameters) -> Prediction:
    now, calm = _at(BUSY), _at(CALM)
    mean, tail = q(now.slowdown, "×"), q(now.tail_slowdown, "×")
    ends = {"A": 6.0, "B": 10.0, "C": 23.0, "D": 60.0}
    return Prediction(
        "Requests arrive at random, and their service times are random too (exponential). One"
        f" server is busy {q(BUSY, '%')} of the time. How long do answers take, in service times:"
        " on average, and at p99, which one in a hundred exceeds?",
        {
            "A": "a mean of 1.3 services and a p99 of 6",
            "B": "a mean of 2 services and a p99 of 10",
            "C": "a mean of 5 services and a p99 of 23",
            "D": "a mean of 13 services and a p99 of 60",
        },
        values=ends,
        unit="×",
        quantity="tail_slowdown",
        settings={"load": BUSY, "servers": 1, "part": "p99", "loop": "open"},
        title="How long at eighty percent?",
        answer=min(ends, key=lambda key: abs(math.log(ends[key] / now.tail_slowdown))),
        feedback={
            "A": "This allows for a short wait now and then. But requests arrive"
            " in bunches, and while one waits the next comes. The mean is 1 over the spare"
            f" part: {mean} the service. Play the film: the line grows quickly and empties slowly.",
            "B": f"That is the mean at {q(CALM, '%')}, where half of the time is spare:"
            f" {q(calm.slowdown, '×')}. At {q(BUSY, '%')} a fifth is spare, and the mean is 1 over"
            f" that, {mean}. p99 is ln 100 times the mean, or"
            f" {q(now.tail_slowdown / now.slowdown)} times: {tail}. Drag the dot from one load to"
            " the other.",
            "C": f"Answers take 1 over the spare part: a fifth is spare, so the mean is {mean} the"
            f" service, and p99 is {q(now.tail_slowdown / now.slowdown)} times that, {tail}. At"
            f" {q(CLOSE, '%')} both are twice as long, though the load has grown by an eighth. Drag"
            " the dot and see where the curve turns.",
            "D": "You expected a line that hardly ever empties. It comes to that, but not at this"
            " load: a fifth of the time is spare, and the mean is 1 over"
            f" that, {mean}, with a p99 of {tail}. Your numbers belong to a load a little above"
            f" {q(CLOSE, '%')}. Drag the dot there.",
        },
        where="M/M/1: arrivals at random, exponential service times",
        act=1,
    )


@lab.asks
def highest_rate_per_s(p: Parameters) -> Number:
    return Number(
        f"A summary takes {p.service_ms:g} ms of service on average, on one server, and"
        f" p99 may be {p.promise_ms:,g} ms. What is the highest rate at which requests may arrive?"
        " Answer in requests per second, as in 5.5.",
        "requests per second",
        points=8,
        low=0.1,
        high=200,
        hint="p99 is ln 100 times the mean response, and the mean is the service over what is"
        " spare. Solve for what is spare first.",
        worked_example=f"Another service takes {q(EXAMPLE_SERVICE, 's')}, and one answer in ten may"
        f" take longer than {q(EXAMPLE_PROMISE, 's')}. So the mean may be"
        f" {q(EXAMPLE_PROMISE, 's')} over the natural logarithm of ten,"
        f" {q(EXAMPLE_PROMISE / math.log(10), 's')}. A service of {q(EXAMPLE_SERVICE, 's')} is"
        f" {q(EXAMPLE_SERVICE / (EXAMPLE_PROMISE / math.log(10)), '%')} of that, and this part must"
        " stay spare. Whatever is left may be busy; over the service time it is a rate.",
        title="The limit",
        act=1,
        after=["act1_eighty"],
    )


@lab.asks(instead_of="highest_rate_per_s")
def longest_service_ms(p: Parameters) -> Number:
    return Number(
        f"{p.rate:g} summaries per second arrive at one server, and p99 may be {p.promise_ms:,g}"
        " ms. How long may the service of one take on average? Answer in milliseconds, as in 5.5.",
        "ms",
        points=8,
        low=0.1,
        high=2000,
        hint="p99 is ln 100 times the mean response, and the mean is the service over what is"
        " spare. Write the spare part with the service in it, and solve for the service.",
        worked_example=f"{EXAMPLE_RATE:g} requests per second arrive elsewhere, and the mean may be"
        f" {q(EXAMPLE_PROMISE, 's')}. The mean R is S over 1 − {EXAMPLE_RATE:g} S, so S is R over"
        f" 1 + {EXAMPLE_RATE:g} R: {q(EXAMPLE_PROMISE, 's')} over"
        f" {q(1 + EXAMPLE_RATE * EXAMPLE_PROMISE)}, which is"
        f" {q(EXAMPLE_PROMISE / (1 + EXAMPLE_RATE * EXAMPLE_PROMISE), 's')}. For p99, first find"
        " the mean that belongs to it.",
        title="The limit",
        act=1,
        after=["act1_eighty"],
    )


def pair_of(p: Parameters) -> tuple[float, float, float]:
    """How busy the fast server is, how much slower each of two is, and the promise in services."""
    busy, slower, promise = map(float, p.pair.split())
    return busy / 100, slower, promise


@lab.asks
def one_or_two(p: Parameters) -> Choice:
    busy, slower, promise = pair_of(p)
    one = p.pair_ms / 1e3
    return Choice(
        f"For {busy / one:.4g} requests per second there are two offers: one server that takes"
        f" {q(one, 's')} for each, or two that share a line and take {q(slower * one, 's')} each."
        f" p99 may be {q(promise * one, 's')}. Which offers keep that promise?",
        {
            "one": "only the single server",
            "two": "only the two servers that share a line",
            "both": "both of them keep the promise",
        },
        points=3,
        worked_example="Another server is busy half of the time. Its mean is then twice its"
        " service, and p99 is ln 100 times that. Two servers have a load of their own: the rate"
        " times the service of one of them, over two. Set the instrument to that load and to two"
        " servers, read p99 over service, and compare the time of each offer with the promise.",
        title="One or two",
        act=1,
        after=["act1_eighty"],
    )


@lab.asks
def late_pct(p: Parameters) -> Number:
    return Number(
        f"One server is busy {p.busy_pct:g}% of the time. A user gives up when an answer takes"
        f" longer than {p.patience:g} services. What percentage of the answers come too late?"
        " Answer in percent, as in 0.5.",
        "percent",
        points=12,
        low=0.001,
        high=100,
        hint="Response times of one server are exponential: a part e to the power −t/R of them"
        " takes longer than t. Find the mean R first, in services.",
        worked_example=f"A server is busy {q(EXAMPLE_LOAD, '%')}, so the mean is four services. Of"
        " all answers, e to the power of minus one half take longer than two services. That is more"
        " than half of them, although of requests that never wait only one in seven would.",
        title="Who gives up?",
        act=1,
        after=["act1_eighty"],
    )


@lab.asks
def steady_busy_pct(p: Parameters) -> Number:
    return Number(
        f"Every request is cut to the same length, so that each service takes {p.service_ms:g} ms."
        f" The mean wait before service may be {p.wait_ms:g} ms. How busy may the server be? Answer"
        " in percent, as in 55.",
        "percent",
        points=12,
        low=1,
        high=100,
        hint="By the formula of Pollaczek and Khinchine, the mean wait is ρ S (1 + V) / 2 over"
        " 1 − ρ, where ρ is how busy the server is and V how much services vary: not at all, if"
        " they are equal. Solve for ρ.",
        worked_example="Let V be the variance of the services over the square of their mean. With"
        " exponential services V is 1, and the wait is ρ over 1 − ρ, in services. A wait of 4"
        " services is allowed: ρ = 4 (1 − ρ), so ρ is 4 over 5. Where services vary less, the wait"
        " at the same load is shorter, and the load for the same wait is higher.",
        title="All of one length",
        act=1,
        after=["act1_eighty"],
    )


@lab.asks
def act1_why(p: Parameters) -> Reflection:
    now = _at(BUSY)
    steady = single_server(BUSY / SERVICE, SERVICE, 0)
    return Reflection(
        "A fifth of the time the server has nothing to do. Why do requests wait all the same?",
        {
            "A": "the server is slower when it is busy, so each service takes longer then",
            "B": "idle time cannot be kept: what was spare before several come at once is lost",
            "C": "the line is served in the wrong order, so short requests stand behind long ones",
            "D": "some arrive while the server is changing over to the next request",
        },
        right="B",
        feedback={
            "A": "Some servers are, and Act 3 has one. This one is not: each service takes as long"
            f" at {q(BUSY, '%')} as alone, and still the mean response is {q(now.slowdown, '×')} of"
            " it. All that is added is waiting for those ahead.",
            "B": "A quiet second cannot be used for the requests of the next one. When several come"
            " at once, they wait for each other, and the line is worked off with the spare fifth"
            f" alone. That is why the mean is 1 over the spare part, {q(now.slowdown, '×')} the"
            " service, and why a bunch is felt long after it came.",
            "C": "Order changes who waits, and here first come is first served. But even if all"
            f" services are equally long, the mean wait is {q(steady.wait / SERVICE)} services at"
            f" {q(BUSY, '%')}, instead of {q(now.wait / SERVICE)}. Random arrivals alone make half"
            " of the line.",
            "D": "Nothing is lost between two requests in this model: the next one begins at once."
            f" At {q(BUSY, '%')} the mean response is {q(now.slowdown, '×')} the service because"
            " others are ahead. Watch the film: the server never rests while somebody waits.",
        },
        title="Why do they wait?",
        act=1,
        after=["act1_eighty"],
    )


@lab.asks
def act1_peek(p: Parameters) -> Peek:
    return Peek(
        {
            "One server": _at(BUSY),
            "Two that are half as fast": queue(BUSY / SERVICE, 2 * SERVICE, 2),
            "Equal services": single_server(BUSY / SERVICE, SERVICE, 0),
            "What is assumed": "Requests arrive independently of each other (a Poisson process) and"
            r" are served in order. With exponential services of one server, response times are"
            r" exponential too: $P(T > t) = e^{-t/R}$, so $x_p = R \ln(1/q)$ for the part $q$ that"
            r" may take longer."
            r" $V$ is the variance of the services over the square of their mean.",
        },
        title="The equations of Act 1",
        act=1,
        after=["act1_eighty"],
    )


# Act 2


@lab.asks
def benchmark_message(p: Parameters) -> Message:
    return Message(
        *TOMAS,
        "My benchmark says you are wrong",
        "I read your limit, and I do not believe it. I measured. My script sends a request, waits"
        " for the answer, pauses a moment, and sends the next one, for an hour, with the same mix"
        f" of documents. I chose the pause so that the server was {q(BUSY, '%')} busy, by its own"
        " counter.\n\n"
        "Neither my mean nor my p99 is anywhere near what you predict, and I told our director that"
        " “80 percent is fine”. Most teams here measure this way.\n\n"
        "One of us is wrong, and she wants to know who before noon.",
        task="Find out what such a benchmark reports, and what users would have seen.",
        act=2,
        after=["act1_eighty"],
    )


@lab.asks
def act2_closed(p: Parameters) -> Prediction:
    users, client = _at(BUSY), one_client(BUSY / SERVICE, SERVICE)
    four = closed_loop(4, SERVICE, 0)
    means = {"A": 1.0, "B": 2.5, "C": 5.0, "D": 9.0}
    return Prediction(
        "Tomás's script is one client that sends its next request only after the answer to the last"
        f" one, and pauses so that the server is busy {q(BUSY, '%')} of the time. What mean"
        " response does it report, in service times?",
        {
            "A": "about 1: as long as a service",
            "B": "about 2.5: half of what users see",
            "C": "about 5: the same as users see",
            "D": "about 9: it waits for itself",
        },
        values=means,
        unit="×",
        quantity="slowdown",
        settings={"load": BUSY, "servers": 1, "loop": "closed"},
        title="What does the script report?",
        answer=min(means, key=lambda key: abs(math.log(means[key] / client.slowdown))),
        feedback={
            "A": "While its request is there, the client sends nothing, so nobody is ever"
            f" ahead of it. It reports {q(client.slowdown, '×')} the service at any load, and a p99"
            f" of {q(client.tail_slowdown, '×')}, where users see {q(users.slowdown, '×')} and"
            f" {q(users.tail_slowdown, '×')}. The requests that would have waited were never sent.",
            "B": "The line that this client could meet would be made of its own requests, and it"
            " has only one at a time. So it reports"
            f" {q(client.slowdown, '×')} the service, while users at the same {q(BUSY, '%')} see"
            f" {q(users.slowdown, '×')}. Switch *Who sends* and play both films.",
            "C": "Equal load seems to mean equal waiting. But waiting comes from requests that"
            " arrive while others are there, and this client never sends one then: it reports"
            f" {q(client.slowdown, '×')} the service. Users at the same {q(BUSY, '%')} see"
            f" {q(users.slowdown, '×')}. Switch *Who sends* and compare.",
            "D": "The client does wait for its answer, but nobody is ahead of it, so this wait is"
            f" one service: {q(client.slowdown, '×')}. Several clients without a pause wait for"
            f" each other; four of them report {q(four.response / SERVICE, '×')}. And users at"
            f" {q(BUSY, '%')} see {q(users.slowdown, '×')}.",
        },
        act=2,
        after=["act1_eighty"],
    )


@lab.asks
def measurement(p: Parameters) -> Measurement:
    return Measurement(
        "It starts a little server on this machine and sends the same 1,800 requests in two ways:"
        " at random times (an open loop), and each after the answer to the one before (a closed"
        " loop). Beside each is a simulation. Leave the computer alone meanwhile.",
        sections=("waiting",),
        seconds=18,
        title="Two loops on your machine",
        act=2,
        after=["act2_closed"],
    )


def _reported(p: Parameters) -> str:
    """What both questions about a script begin with."""
    return (
        f"A script like Tomás's, with one client, reports a mean of {p.reported_ms:g} ms from"
        " another server"
    )


@lab.asks
def users_rate_per_s(p: Parameters) -> Number:
    return Number(
        f"{_reported(p)}. At what rate of requests would its users, who do not wait for each"
        f" other, see a mean that is {p.worse:g} times as long? Answer in requests per second, as"
        " in 5.5.",
        "requests per second",
        points=8,
        low=0.1,
        high=500,
        hint="What one client reports is the service time. Find out how busy the server must be for"
        " that factor, and then the rate.",
        worked_example=f"A script with one client reports {q(EXAMPLE_ANSWER, 's')}: that is the"
        " service. Users see twice as much when half of the time is spare. So the server is busy"
        f" half of the time, and {q(0.5 / EXAMPLE_ANSWER)} requests arrive in a second.",
        title="Behind the report",
        act=2,
        after=["act2_closed"],
    )


@lab.asks(instead_of="users_rate_per_s")
def pause_ms(p: Parameters) -> Number:
    return Number(
        f"{_reported(p)}. Users who send as many requests per second see a mean that is"
        f" {p.worse:g} times as long. How long does the script pause after each answer? Answer in"
        " milliseconds, as in 5.5.",
        "ms",
        points=8,
        low=0.1,
        high=500,
        hint="What one client reports is the service time. Find out how busy the server must be for"
        " that factor; for the rest of the time the client pauses.",
        worked_example=f"A script with one client reports {q(EXAMPLE_ANSWER, 's')}: that is the"
        " service. Users see twice as much when half of the time is spare. So the server is busy"
        " half of the time, and the pause is as long as the service.",
        title="Behind the report",
        act=2,
        after=["act2_closed"],
    )


@lab.asks
def slow_leaf_pct(p: Parameters) -> Number:
    return Number(
        f"A page asks {p.leaves} servers at once, and is ready when the last one has answered. At"
        f" most {p.pages_pct:g}% of the pages may wait for a slow answer. What percentage of each"
        " server's answers may be slow? Answer in percent, as in 1.5.",
        "percent",
        points=12,
        low=0.06,
        high=100,
        hint="A page is fast only if all of its servers are. Work with the part that is fast.",
        worked_example=f"A page asks {EXAMPLE_LEAVES} servers, and {q(EXAMPLE_PAGES, '%')} of the"
        f" pages may be slow. Then {q(1 - EXAMPLE_PAGES, '%')} are fast, and each server must be"
        f" fast with the {EXAMPLE_LEAVES}th root of that,"
        f" {q((1 - EXAMPLE_PAGES) ** (1 / EXAMPLE_LEAVES), '%')}. What that leaves out of 100%"
        " may be slow.",
        title="As slow as the slowest",
        act=2,
        after=["act2_closed"],
    )


@lab.asks
def act2_why(p: Parameters) -> Reflection:
    users = _at(BUSY)
    return Reflection(
        "How would you measure what users will see?",
        {
            "A": "for longer, so that the rare slow answers are in the sample as well",
            "B": "at times drawn beforehand, counting from when a request was due",
            "C": "with several clients, each of which waits for its own answers",
            "D": "with no pause at all, so that the server is as busy as it can be",
        },
        right="B",
        feedback={
            "A": "A longer run makes the same number more exact. One client never meets a line,"
            " however long it measures: its p99 stays at that of the service alone,"
            f" {q(users.unqueued_tail / SERVICE, '×')}, and p99 of users at {q(BUSY, '%')} is"
            f" {q(users.tail_slowdown, '×')}.",
            "B": "Users do not wait for each other, so neither may the test: send when a request is"
            " due, and count from then, even if it could not be sent in time. At"
            f" {q(BUSY, '%')} this shows the {q(users.slowdown, '×')} and"
            f" {q(users.tail_slowdown, '×')} of an open loop. Leaving the delay out is called"
            " coordinated omission.",
            "C": "More clients come closer, but together they never have more requests under way"
            " than there are clients. When the server stalls, all of them stop asking, just"
            f" when thousands of users would not. At {q(BUSY, '%')}, {q(users.in_system)} requests"
            " of users are in line or served on average, and often many more.",
            "D": f"Then the server is busy all of the time, not {q(BUSY, '%')}, and one client"
            " still reports one service, because it has one request under way. A load that never"
            " pauses finds the highest rate; it says nothing about waiting.",
        },
        title="How to measure?",
        act=2,
        after=["act2_closed"],
    )


@lab.asks
def act2_peek(p: Parameters) -> Peek:
    return Peek(
        {
            "Users": _at(BUSY),
            "One client": closed_loop(1, SERVICE, SERVICE * (1 - BUSY) / BUSY),
            "Eight clients that never pause": closed_loop(8, SERVICE, 0),
        },
        title="The equations of Act 2",
        act=2,
        after=["act2_closed"],
    )


# Act 3


@lab.asks
def batch_message(p: Parameters) -> Message:
    return Message(
        *NOOR,
        "And on the real thing?",
        "Thank you: the limit is announced. But our next service does not take one request at a"
        f" time. An H200 decodes up to {q(SEATS)} conversations at once, as in Lab 11; each step"
        " gives every one of them a token, and takes longer the more there are. Nobody stands in"
        " line until all seats are taken.\n\n"
        f"My team wants to run that one at {q(BUSY, '%')} of what a full batch completes, too. Half"
        " of them expect the same disaster, the other half say that batching makes waiting"
        " disappear.\n\n"
        "I need a number that I can announce: what does a token of that service take, at"
        f" {q(BUSY, '%')} of what it can do, for somebody who types a question by day?",
        task="Say what a token takes at that load.",
        act=3,
        after=["act2_closed"],
    )


@lab.asks
def act3_batch(p: Parameters) -> Prediction:
    slower = float(batches(BUSY).token_time) / step_of(1)
    full = step_of(SEATS) / step_of(1)
    times = {"A": 1.0, "B": 1.6, "C": 5.0, "D": 23.0}
    shown = q(float(f"{slower:.2g}"), "×")
    return Prediction(
        f"An H200 decodes up to {q(SEATS)} conversations at once. Requests arrive at"
        f" {q(BUSY, '%')} of the rate that a full batch could complete. How long does a token"
        " take on average, waiting included, as a multiple of what it takes alone?",
        {
            "A": "about 1: with free seats nobody waits",
            "B": "about 1.6: the batch is slower, no line",
            "C": "about 5: the same as at any server",
            "D": "about 23: the slow end of the line",
        },
        values=times,
        unit="×",
        title="Does a batch wait?",
        answer=min(times, key=lambda key: abs(math.log(times[key] / slower))),
        feedback={
            "A": "Hardly anybody waits for a seat, that is true. But everybody shares the steps,"
            f" and a step of {q(SEATS)} takes {q(float(f'{full:.2g}'), '×')} as long as one alone."
            f" On average a token takes {shown}, and the wait has moved into the service.",
            "B": f"A full batch takes {q(float(f'{full:.2g}'), '×')} as long for a step, and on"
            f" average there are {q(round(float(batches(BUSY).in_system)))} conversations, so a"
            f" token takes {shown}. The line that one server would have is spread over all seats:"
            " batching trades a long wait for a little slowness.",
            "C": f"One server that takes requests one by one would wait like this at"
            f" {q(BUSY, '%')}. Here {q(SEATS)} share every step, and a new one starts at once"
            f" while a seat is free: a token takes {shown}. The more are served together, the less"
            " a bunch of arrivals matters.",
            "D": "That was p99 of one server, and the question is about the mean of a batch. A new"
            f" conversation starts at once while one of {q(SEATS)} seats is free, and shares the"
            f" steps: a token takes {shown}. It gets far worse only when the seats run out.",
        },
        where="birth and death over the calibrated steps of an H200",
        act=3,
        after=["act2_closed"],
    )


@lab.asks
def batch_rate_per_s(p: Parameters) -> Number:
    return Number(
        f"Another service decodes up to {p.seats} conversations at once on an H200, with a context"
        f" of {CONTEXT:,} tokens each, weights in fp16, replayed as a graph. An answer has"
        f" {p.answer_tokens} tokens. How many requests may arrive at {p.filled_pct}% of what a full"
        " batch completes, by the calibrated form? Answer in requests per second, as in 7.5.",
        "requests per second",
        points=12,
        low=0.05,
        high=20_000,
        hint="Set the explorer to that batch: tokens per second of the whole device, over the"
        " tokens of an answer.",
        worked_example=f"Another GPU takes {q(EXAMPLE_STEP, 's')} for a step of"
        f" {EXAMPLE_SEATS} conversations, so it writes {q(EXAMPLE_SEATS / EXAMPLE_STEP)} tokens per"
        f" second. With {EXAMPLE_TOKENS:,} tokens in an answer,"
        f" {q(EXAMPLE_SEATS / EXAMPLE_STEP / EXAMPLE_TOKENS)} answers per second are completed"
        " while the batch is full. Of those, take the percentage that may arrive.",
        title="Seats and requests",
        act=3,
        after=["act3_batch"],
    )


# After the acts


@lab.asks
def advice(p: Parameters) -> Essay:
    return Essay(
        "Write to Noor and Tomás. How busy may the first service be, and why is the mean no answer?"
        " What is wrong with the script, and how would you measure instead? What changes for the"
        " batch, and for the page?",
        [
            (5, "gives a limit that follows from a promise about the slow end, with numbers"),
            (3, "says why idle time does not help a bunch, without blaming the server"),
            (4, "knows what a closed loop omits, and says how to send and what to count from"),
            (3, "tells what batching and fan-out change, each with a number"),
        ],
        at_least=100,
        at_most=250,
        after=["act2_closed"],
    )


@lab.asks
def commitments(p: Parameters) -> Record:
    return Record(["act1_eighty", "act2_closed", "design"], points=10)


@lab.asks
def deeper_kept(p: Parameters) -> Record:
    return Record(["act1_why", "act2_why", "act3_batch"], points=8)


@lab.asks
def takeaways(p: Parameters) -> Takeaways:
    now = _at(BUSY)
    return Takeaways(
        [
            (
                "Look at what is spare, and not at what is busy",
                f"At {q(BUSY, '%')} an answer takes {q(now.slowdown, '×')} its service on average,"
                f" and one in a hundred more than {q(now.tail_slowdown, '×')}.",
            ),
            (
                "Promise the slow end, and derive the load from it",
                "The limit is where p99 meets the promise.",
            ),
            (
                "Do not wait for the answer before you ask again",
                "A closed loop leaves out the very requests that would have waited.",
            ),
        ],
        ahead="The labs on serving that follow read your limit.",
        after=["one_or_two", "act2_closed"],
    )
