"""What Lab 18 says in numbers and comparisons.

Power times time, rests and bills are written out here from their definitions: watts from bytes and
operations with the energies that were fitted to each, joules of tokens with rests as areas, carbon
from grams per kWh. What was measured is read from the file that ships. Times and traffic of a step
have tests of their own (``tests/physics``), so here they are asked.
"""

from __future__ import annotations

import math
from functools import cache

from mlsys_widgets import measured
from mlsys_widgets.labs import Parameters
from mlsys_widgets.physics import calibration_of, serving_time
from tests.labs.claims import Claim, Quantity, Reading

MANY, CONTEXT, SHORT, NIGHT, PROMPT, ANSWER = 256, 2048, 512, 0.1, 2048, 200
LAW = calibration_of("h200-sxm").power_law()
#: Grams of carbon dioxide of a kWh in 2023 (Ember), and how much buildings use beyond computers.
GRAMS = {
    "norway": 30, "sweden": 41, "france": 56, "canada": 170, "germany": 381, "world": 481,
    "australia": 549, "china": 582, "poland": 662, "india": 713,
}  # fmt: skip
AVERAGE, HYPERSCALE = 1.56, 1.10
PRICES = {"poland": 0.06, "canada": 0.09, "france": 0.12, "norway": 0.15}


def about(value: float) -> float:
    """Two digits, where neither a model nor one run of a GPU knows more."""
    return float(f"{value:.2g}")


@cache
def step(batch: float, work: str = "decode", sequence: float = CONTEXT) -> tuple[float, ...]:
    """Seconds, watts, bytes, operations and tokens of a step."""
    timed = serving_time("llama31-8b", "h200-sxm", work, batch, sequence, launch="graph")  # type: ignore[arg-type]
    moved = sum(float(use.use.times * use.use.kernel.bytes) for use in timed.uses)
    done = sum(float(use.use.times * use.use.kernel.flops) for use in timed.uses)
    seconds = float(timed.time)
    working = (LAW.byte_energy * moved + LAW.flop_energy * done) / seconds
    return seconds, min(LAW.limit, LAW.idle + working), moved, done, float(timed.tokens)


def joules(batch: float, work: str = "decode") -> float:
    seconds, watts, _, _, tokens = step(batch, work)
    return seconds * watts / tokens


def rested(busy: float) -> float:
    """How many times its joules a token of a full card has with rests: both areas over one."""
    seconds, watts, *_ = step(MANY)
    return (seconds * watts + seconds * (1 - busy) / busy * LAW.idle) / (seconds * watts)


def writing(batch: float) -> float:
    written = ANSWER * joules(batch)
    return written / (written + PROMPT * joules(1, "prefill"))


@cache
def seen(work: str, batch: int = 0, sequence: int = CONTEXT) -> tuple[float, float]:
    """Watts and joules of a step, as they were measured."""
    asked = {"work": work} | ({} if work == "idle" else {"batch": batch, "sequence": sequence})
    variant = "idle" if work == "idle" else "graph"
    found = [c.energy for c in measured.cases("h200-sxm", kind="energy", variant=variant, **asked)]
    known = [each for each in found if each]
    return (
        sum(each["watts"] for each in known) / len(known),
        sum(each["joules"] for each in known) / len(known),
    )


def seen_token(batch: int, sequence: int = CONTEXT) -> float:
    return seen("decode", batch, sequence)[1] / batch


IDLE, FULL, ALONE = seen("idle")[0], seen("decode", MANY)[0], seen("decode", 1)[0]
ONE, SHARED, READ = seen_token(1), seen_token(MANY), seen("prefill", 1, PROMPT)[1] / PROMPT
SAVING, SHORT_SAVING = ONE / SHARED, seen_token(1, SHORT) / seen_token(MANY, SHORT)
#: For a second of work the card waits nine.
WAITING = (FULL + 9 * IDLE) / FULL
SLOWER, STRONGER = step(MANY)[0] / step(1)[0], FULL / ALONE


def seen_writing(token: float) -> float:
    return ANSWER * token / (ANSWER * token + PROMPT * READ)


@cache
def law_error() -> float:
    """Of the steps that were drawn, and that nothing was fitted to."""
    off = []
    for case in measured.cases("h200-sxm", kind="energy", variant="graph", drawn=True):
        shape = case.shape
        seconds, watts, *_ = step(shape["batch"], shape["work"], shape["sequence"])
        assert case.energy is not None
        off.append(abs(seconds * watts / case.energy["joules"] - 1))
    return sum(off) / len(off)


# A student's own numbers.


def allowed(p: Parameters) -> float:
    """What a token may cost, in mJ."""
    return round(p.writing_watts * p.each_ms * (1 + p.room), 1)


def shared(p: Parameters) -> tuple[float, float]:
    """What a step costs whatever the batch, and what each conversation adds, in J."""
    return p.writing_watts * p.fixed_ms / 1e3, p.writing_watts * p.each_ms / 1e3


def night(p: Parameters) -> tuple[float, float, float]:
    """What a token may cost in mJ, a second of work in J, and the seconds of waiting for it."""
    token = round(p.slack * p.busy_watts / p.full_rate * 1e3, 1)
    second = token / 1e3 * p.full_rate
    return token, second, (second - p.busy_watts) / p.idle_watts


def year(p: Parameters) -> tuple[float, float]:
    """Tonnes of a year, and kWh at the plug for the tokens of the grid's question."""
    kwh = p.daily_billion * 1e9 * 365 * p.token_mj / 1e3 * p.pue / 3.6e6
    return round(kwh * p.grid_g / 1e6, 1), kwh


def hours(p: Parameters) -> list[float]:
    """Both ways of counting a year's electricity, at the plug and at the cards, in any size."""
    plug = year(p)[1]
    carbon = year(p)[0] * 1e6 / p.grid_g
    return [each / size for each in (plug, carbon, carbon / p.pue) for size in (1, 1e3, 1e6, 1e9)]


def changes(p: Parameters) -> dict[str, float]:
    """By how much each change divides what is emitted."""
    before, after, here, there = p.change.split()
    return {
        "batch": joules(int(before)) / joules(int(after)),
        "grid": GRAMS[here] / GRAMS[there],
        "center": AVERAGE / HYPERSCALE,
    }


def guessed(p: Parameters) -> tuple[float, float, float]:
    """Tokens of a step that checks guesses, its joules, and those of a plain one."""
    tokens = sum((p.right_pct / 100) ** k for k in range(p.guesses + 1))
    plain = p.writing_watts * p.fixed_ms / 1e3
    return tokens, plain * p.check, plain


def stay_on(p: Parameters) -> tuple[float, float]:
    """How busy the cards are that stay on, and how many they are."""
    busy = 1 - math.log(100) / p.tail
    return busy, p.cards * p.quiet_pct / 100 / busy


def bill(batch: float, busy: float, grid: str, pue: float) -> tuple[float, float, float]:
    """Seconds of a token, and kilograms and dollars of a billion."""
    seconds, watts, _, _, tokens = step(batch)
    each = (seconds * watts + seconds * (1 - busy) / busy * LAW.idle) / tokens
    kwh = 1e9 * each * pue / 3.6e6
    return seconds, kwh * GRAMS[grid] / 1e3, kwh * PRICES[grid]


def kept(p: Parameters, batch: float, busy: float, grid: str, pue: float) -> bool:
    seconds, carbon, cost = bill(batch, busy, grid, pue)
    return seconds <= p.promise_ms / 1e3 and carbon <= p.carbon_kg and cost <= p.cost_usd


def invoice(p: Parameters) -> tuple[float, float, float]:
    """Tokens of an answer, and the joules of writing them and of reading the prompt."""
    tokens = p.most_tokens * p.written_pct / 100
    return tokens, tokens * p.write_mj / 1e3, p.prompt_tokens * p.read_mj / 1e3


def left_for_reading(p: Parameters) -> float:
    """What reading may take if writing must have its part."""
    return invoice(p)[1] * (100 - p.answer_pct) / p.answer_pct


#: What a p90 within five services leaves spare.
SPARE = math.log(10) / 5

QUANTITIES = [
    Quantity("batches and tokens", "count", lambda p: [
        MANY, CONTEXT, SHORT, PROMPT, ANSWER, 64, 6, 12, 1
    ]),
    Quantity("a number of users in joules of one", "ratio", lambda p: [MANY, 60]),
    Quantity("measured watts", "W", lambda p: list(map(about, (IDLE, FULL, ALONE)))),
    Quantity("measured joules", "J", lambda p: list(map(about, (
        ONE, SHARED, READ, ANSWER * SHARED, PROMPT * READ
    )))),
    Quantity("measured ratios", "ratio", lambda p: list(map(about, (
        SAVING, SHORT_SAVING, WAITING, STRONGER, seen_writing(SHARED), seen_writing(ONE)
    )))),
    Quantity("model", "ratio", lambda p: list(map(about, (
        SLOWER, law_error(), rested(NIGHT), rested(0.4), NIGHT, 0.4,
        LAW.byte_energy * step(1)[2] / step(1)[0] / step(1)[1],
        LAW.flop_energy * step(1)[3] / step(1)[0] / step(1)[1],
    )))),
    Quantity("model's tokens", "J", lambda p: list(map(about, (
        joules(1), joules(64), joules(MANY), joules(6), joules(MANY) * rested(NIGHT)
    )))),
    Quantity("model's watts", "W", lambda p: [about(step(1)[1]), about(LAW.idle), LAW.limit]),
    Quantity("bytes of one alone", "B", lambda p: step(1)[2]),
    Quantity("joules of a byte, in pJ", "J", lambda p: LAW.byte_energy),
    Quantity("joules of a byte, as they are printed", "count", lambda p: LAW.byte_energy * 1e12),
    Quantity("seconds of waiting", "s", lambda p: 9),
    Quantity("seconds of waiting, bare", "count", lambda p: 9),
    Quantity("a fortieth", "count", lambda p: about(SAVING)),
    Quantity("buildings", "count", lambda p: [AVERAGE, HYPERSCALE]),
    Quantity("buildings and grids compared", "ratio", lambda p: [
        about(AVERAGE / HYPERSCALE), about(GRAMS["poland"] / GRAMS["norway"]),
        about(GRAMS["poland"] / GRAMS["canada"]),
    ]),
    Quantity("year", "s", lambda p: 365 * 86400),
    Quantity("year in days", "count", lambda p: 365),
    Quantity("joules of a kWh", "count", lambda p: 3.6e6),
    Quantity("joules of the shared step", "J", lambda p: [*shared(p), (
        allowed(p) / 1e3 - shared(p)[1]
    ), allowed(p) / 1e3]),
    Quantity("a night's token", "J", lambda p: [night(p)[0] / 1e3, night(p)[1], p.busy_watts]),
    Quantity("a night's waiting", "s", lambda p: night(p)[2]),
    Quantity("guesses: tokens of a step", "count", lambda p: guessed(p)[0]),
    Quantity("guesses: steps", "J", lambda p: guessed(p)[1:]),
    Quantity("cards that stay on", "count", lambda p: stay_on(p)[1]),
    Quantity("how busy they may be, and are", "ratio", lambda p: [stay_on(p)[0], 0.8]),
    Quantity("p99 at 80%, in services", "count", lambda p: [100, math.log(100) / 0.2]),
    Quantity("waiting of all cards, in kWh", "count", lambda p: (
        p.cards * (1 - p.quiet_pct / 100) * p.idle_watts * p.hours / 1e3
    )),
    Quantity("a year", "count", lambda p: [year(p)[0], *hours(p)]),
    Quantity("batches of the choice", "count", lambda p: list(map(int, p.change.split()[:2]))),
    Quantity("changes", "ratio", lambda p: [float(f"{x:.3g}") for x in changes(p).values()]),
    Quantity("an invoice", "count", lambda p: [invoice(p)[0], p.write_mj / p.read_mj]),
    Quantity("an invoice, in J", "J", lambda p: [
        *invoice(p)[1:], left_for_reading(p), p.read_mj / 1e3, p.write_mj / 1e3
    ]),
    Quantity("an invoice, in parts", "ratio", lambda p: [
        p.answer_pct / 100, 1 - p.answer_pct / 100
    ]),
    # Worked examples.
    Quantity("example of a step", "count", lambda p: [2000, 500]),
    Quantity("example of a step, in W", "W", lambda p: [2000, 2500, 500]),
    Quantity("example of a step, in s", "s", lambda p: [1, 1e-3, 2]),
    Quantity("example of a step's joules", "J", lambda p: [2000, 2, 6, 4, 0.7, 3500, 1000]),
    Quantity("example of a rate", "1/s", lambda p: 5000),
    Quantity("example of a rate, of tokens", "count", lambda p: 5000),
    Quantity("example of changes", "count", lambda p: [100, 80, 60, 70]),
    Quantity("example of a year", "count", lambda p: [
        10, 1e10, 2, 0.72 * 1e10 * 2 / 3.6e6, 365 * 0.72 * 1e10 * 2 / 3.6e6, 7.3, 7.3e6,
        7.3e6 / 10, 7.3e6 / 10 / 365
    ]),
    Quantity("example of a year, in J", "J", lambda p: 0.72),
    Quantity("example of guesses", "count", lambda p: [2, 3.5, 1 + 1 / 2 + 1 / 4]),
    Quantity("example of guesses, in J", "J", lambda p: [7000, 7000 / 1.75]),
    Quantity("example of a night", "count", lambda p: [90, 2 * 20 * SPARE / (1 - SPARE)]),
    Quantity("example of a night: servers", "count", lambda p: 20 / (1 - SPARE)),
    Quantity("example of a night: parts", "ratio", lambda p: [SPARE, 1 - SPARE]),
    Quantity("example of guesses: parts", "ratio", lambda p: [0.5, 0.5**2]),
]  # fmt: skip

CLAIMS = [
    # Act 1.
    Claim("draws more power than one with a single user", lambda p: FULL > ALONE),
    Claim("draws visibly more power", lambda p: FULL > 1.2 * ALONE),
    Claim("The busy card does draw more", lambda p: FULL > ALONE),
    Claim("this time shrinks far more than the power grows", lambda p: (
        MANY / SLOWER > 10 * STRONGER
    )),
    Claim("It grows only #", lambda p: STRONGER < 1.5),
    Claim("for # tokens instead of one", lambda p: SLOWER < MANY),
    Reading("The step of # takes only", lambda p, n: n == [MANY, about(SLOWER), about(STRONGER)]),
    Claim("since there is less cache to move", lambda p: SHORT_SAVING > SAVING),
    Claim("have more bytes than the model", lambda p: (
        step(1)[2] - CONTEXT * 131072 < MANY * CONTEXT * 131072
    )),
    Claim("and # divided by both is what is saved", lambda p: math.isclose(
        MANY / SLOWER / STRONGER, SAVING, rel_tol=0.05
    )),
    Claim("A token takes the same operations in any batch", lambda p: math.isclose(
        step(MANY)[3] / MANY, step(1)[3]
    )),
    Claim("with # at once their part is far larger", lambda p: (
        step(MANY)[3] / step(MANY)[0] / step(MANY)[1]
        > 10 * step(1)[3] / step(1)[0] / step(1)[1]
    )),
    Claim("until their caches are what is moved most", lambda p: (
        step(MANY)[2] / 2 < MANY * CONTEXT * 131072
    )),
    Claim("the energy is off by # on average", lambda p: law_error() < 0.08),
    Claim("Each conversation also adds", lambda p: shared(p)[1] > 0),
    Claim("so less is left for the shared part", lambda p: (
        p.fixed_ms / (p.fixed_ms + p.each_ms) < 1
    )),
    Claim("are left for its part of the # kJ, so b is #", lambda p: 2000 / (6 - 2) == 500),
    # Act 2.
    Claim("and they take more joules than the work", lambda p: 9 * IDLE > FULL),
    Claim("together they take more joules than the work", lambda p: 9 * IDLE > FULL),
    Claim("So more than half of the night's energy writes no token", lambda p: 9 * IDLE > FULL),
    Claim("That would be so if a waiting card drew as much", lambda p: (
        math.isclose((FULL + 9 * FULL) / FULL, 10)
    )),
    Claim("so it may wait for longer", lambda p: p.idle_watts < p.busy_watts),
    Claim("It must be busy for one third of the time", lambda p: 1 / (1 + 2) == 1 / 3),
    Claim("they wait seventeen hours together", lambda p: round(20 * SPARE / (1 - SPARE)) == 17),
    Claim("only # may be busy", lambda p: stay_on(p)[0] < 0.8),
    Claim("Only # cards stay on", lambda p: stay_on(p)[1] < p.cards),
    Claim("A building takes # times as much at the plug", lambda p: p.pue > 1),
    Claim("half of it reaches the cards", lambda p: 1 / 2.0 == 0.5),
    Claim("a tonne is a million grams", lambda p: 1e3 * 1e3 == 1e6),
    Claim("With twice the batch, the instrument says", lambda p: min(80, 60, 70) == 60),
    Claim("the grid saves the most", lambda p: min(80, 60, 70) == 60),
    Claim("More at once is not always much more", lambda p: (
        changes(p)["batch"] < max(changes(p).values())
    )),
    Claim("Another country is not always much cleaner", lambda p: (
        changes(p)["grid"] < max(changes(p).values())
    )),
    Claim("here another one is larger", lambda p: (
        changes(p)["center"] < max(changes(p).values())
    )),
    Claim("each step has about # conversations", lambda p: math.isclose(
        6 / step(6)[0], NIGHT * MANY / step(MANY)[0], rel_tol=0.06
    )),
    Claim("small batches take more than twice as much", lambda p: (
        joules(6) > 2 * joules(MANY) * rested(NIGHT)
    )),
    Claim("the energy of one that never waits, instead of", lambda p: rested(0.4) < rested(NIGHT)),
    Claim("draw somewhat less, but for far longer", lambda p: (
        step(64)[1] < step(MANY)[1] and joules(64) > 1.4 * joules(MANY)
    )),
    Claim("from a PUE of # to #, a factor of #", lambda p: rested(NIGHT) > AVERAGE / HYPERSCALE),
    # Act 3.
    Claim("as measured, because each writer moves a cache", lambda p: SHARED > READ),
    Claim("weigh more than their number says", lambda p: (
        seen_writing(SHARED) > ANSWER / (ANSWER + PROMPT)
    )),
    Claim("With about # conversations at once you would be near", lambda p: math.isclose(
        writing(12), 0.6, abs_tol=0.03
    )),
    Claim("so the answer is the smaller part", lambda p: seen_writing(SHARED) < 0.5),
    Claim("and read ones hardly cheaper", lambda p: (
        joules(MANY) < joules(1) / 9 and 0.9 < joules(MANY, "prefill") / joules(1, "prefill") < 1
    )),
    Claim("Reading the prompt takes # J alone and little less in a batch", lambda p: (
        0.9 < joules(64, "prefill") / joules(1, "prefill") < 1
    )),
    Claim("nearly all of the energy goes into the answer", lambda p: seen_writing(ONE) > 0.9),
    Claim("They are reserved, but only # of them are written", lambda p: (
        invoice(p)[0] < p.most_tokens
    )),
    Claim("Writing is one joule of six, one sixth", lambda p: (
        50 * 20 / (50 * 20 + 1000 * 5) == 1 / 6
    )),
    Claim("and a quarter of them is written", lambda p: 200 / 4 * 20e-3 == 1),
    Claim("If that must be one fifth", lambda p: 1 / (1 + 800 * 5e-3) == 1 / 5),
    Reading("One that is written takes #", lambda p, n: (
        math.isclose(n[-1], p.write_mj / p.read_mj, rel_tol=5e-3)
    )),
    Reading("Reading takes # J and writing # J", lambda p, n: all(
        math.isclose(shown, real, rel_tol=5e-3)
        for shown, real in zip(n, reversed(invoice(p)[1:]), strict=True)
    )),
    Reading("Writing takes # J, which may be # of the whole", lambda p, n: (
        math.isclose(n[0], invoice(p)[1], rel_tol=5e-3) and n[1] == p.answer_pct / 100
        and math.isclose(n[0] / (n[0] + left_for_reading(p)), n[1], rel_tol=5e-3)
    )),
    # The essay, the design and the end.
    Reading("times as much as in Canada", lambda p, n: n == [
        about(GRAMS["poland"] / GRAMS["canada"]), about(AVERAGE / HYPERSCALE)
    ]),
    Claim("all of them share the trip of the weights", lambda p: joules(1) > 10 * joules(MANY)),
    Claim("the cleaner ones at a higher price", lambda p: (
        sorted(PRICES, key=lambda g: -GRAMS[g]) == sorted(PRICES, key=lambda g: PRICES[g])
    )),
    Claim("Cleaner places ask for more money", lambda p: (
        sorted(PRICES, key=lambda g: -GRAMS[g]) == sorted(PRICES, key=lambda g: PRICES[g])
    )),
    # Whatever load limit comes from Lab 13, some design keeps all promises, and none is dull:
    # the cheapest place emits too much, and the cleanest costs too much.
    Claim("so that a billion tokens stay within", lambda p: all(
        any(kept(p, b, busy, "canada", HYPERSCALE) for b in (80, 100, 120))
        and not any(kept(p, b, busy, "poland", HYPERSCALE) for b in (16, 64, 256))
        and not any(kept(p, b, busy, "norway", HYPERSCALE) for b in (16, 64, 100, 120, 140))
        and not kept(p, 16, busy, "poland", AVERAGE)
        for busy in (0.5, 0.7, 0.85)
    )),
    Claim("Larger batches end at the time of a token", lambda p: (
        step(MANY)[0] > p.promise_ms / 1e3
    )),
    Claim("users at once, a #", lambda p: ONE > SHARED),
    Reading("the same joules emit # times as much as in Norway", lambda p, n: n == [
        about(GRAMS["poland"] / GRAMS["norway"])
    ]),
]  # fmt: skip

NOT_EVALUATED = {
    "No load limit of Lab 13 was found": "where this lab begins if nothing was handed on",
    "since no batch of Lab 14 was found": "where this lab begins if nothing was handed on",
    "nothing happens for a while": "what somebody has seen at night",
    "by day our cards are full": "what somebody says of a service",
    "We had expected": "what somebody saw on another day",
    "the host had next to nothing to do": "the host of a graph is not modeled here",
    "So they want to spread our users over twice as many cards": "what somebody wants to do",
}
