"""The keys of lab_18_joules. This file stays in the course; students never get it."""

import math
from collections.abc import Iterable, Mapping

from mlsys_widgets.judging import Belief, ChoiceKey, Given, NumberKey, told_apart
from mlsys_widgets.labs import Parameters
from mlsys_widgets.physics import data_centers, grids, speculation
from mlsys_widgets.physics import format_quantity as q

from asks import KWH, allowed_mj, changes_of, joules, night_mj, tonnes, waiting, writing, year_kwh
from asks import act1_saving as asked_saving
from asks import act2_waiting as asked_waiting
from asks import act3_writing as asked_writing

TOLERANCE = 0.02


def _number(
    key: float, beliefs: Iterable[Belief], says: str, tolerance: float = TOLERANCE
) -> NumberKey:
    return NumberKey(
        key, tolerance=tolerance, beliefs=told_apart(key, tolerance, beliefs), says=says
    )


def _nearest(values: Mapping[str, float], true: float) -> ChoiceKey:
    return ChoiceKey(min(values, key=lambda each: abs(math.log(values[each] / true))))


def _joules(right: float) -> Belief:
    says = "The digits are right, but they are joules, and the question asks for mJ, a thousandth."
    return Belief("joules for millijoules", right * 1e-3, credit=0.6, form=True, says=says)


def _fraction(right: float) -> Belief:
    says = "That is the right part, but as a fraction. The question asks for percent, so multiply."
    return Belief("fraction for percent", right / 100, credit=0.6, form=True, says=says)


# Act 1


def act1_saving(given: Given) -> ChoiceKey:
    return _nearest(asked_saving(given.p).values, joules(1) / joules(256))


def least_batch(given: Given) -> NumberKey:
    p = given.p
    fixed, each, limit = p.writing_watts * p.fixed_ms, p.writing_watts * p.each_ms, allowed_mj(p)
    right = fixed / (limit - each)
    return _number(
        right,
        [
            Belief(
                "a batch is free",
                fixed / limit,
                credit=0.4,
                idea="what is added to a step costs no time",
                says=f"You shared {q(fixed * 1e-3, 'J')} among all. Each conversation also adds"
                f" {q(each * 1e-3, 'J')} of its own.",
            ),
            Belief(
                "added for subtracted",
                fixed / (limit + each),
                credit=0.4,
                says=f"You added the {q(each * 1e-3, 'J')} of each conversation to what is allowed."
                " They are spent already, so less is left for the shared part.",
            ),
            Belief(
                "only what each one adds",
                limit / each,
                credit=0.1,
                says="You divided what is allowed by what one conversation adds. The step itself,"
                f" {q(fixed * 1e-3, 'J')}, is what must be shared.",
            ),
            _joules(right),
        ],
        says=f"Of the {limit:g} mJ, {q(each * 1e-3, 'J')} go to the conversation's own time, so"
        f" {q((limit - each) * 1e-3, 'J')} are left for a part of {q(fixed * 1e-3, 'J')}.",
    )


def guessed_mj(given: Given) -> NumberKey:
    p = given.p
    chance, plain = p.right_pct / 100, p.writing_watts * p.fixed_ms
    gain = speculation(chance, p.guesses, p.check)
    tokens, step = float(gain.tokens), plain * p.check
    return _number(
        step / tokens,
        [
            Belief(
                "right ones anywhere",
                step / (1 + p.guesses * chance),
                credit=0.3,
                idea="every right guess counts",
                says="You counted all right guesses. After the first wrong one everything is thrown"
                f" away, and the joules with it, so a step writes {q(tokens)} tokens.",
            ),
            Belief(
                "free checking",
                plain / tokens,
                credit=0.4,
                idea="what is added to a step costs no time",
                says="You took the step that checks for a plain one. It takes"
                f" {p.check:g} of them, {q(step * 1e-3, 'J')} at the same power.",
            ),
            Belief(
                "no token of its own",
                step / (tokens - 1),
                credit=0.4,
                says="The step that checks also writes a token itself, after the last right guess."
                f" With it there are {q(tokens)}.",
            ),
            _joules(step / tokens),
        ],
        says=f"A step takes {q(step * 1e-3, 'J')} and writes {q(tokens)} tokens. A plain one takes"
        f" {q(plain * 1e-3, 'J')} for a single token.",
    )


# Act 2


def act2_waiting(given: Given) -> ChoiceKey:
    return _nearest(asked_waiting(given.p).values, waiting())


def waiting_energy(given: Given) -> NumberKey:
    p = given.p
    allowed = night_mj(p) * 1e-3 * p.full_rate
    right = 100 * p.idle_watts / (allowed - p.busy_watts + p.idle_watts)
    waits = (allowed - p.busy_watts) / p.idle_watts
    rest = "That part of the time it may wait. The question asks how busy it must be."
    both = "It may wait that long for each second of work. The whole time is both together."
    return _number(
        right,
        [
            Belief(
                "a waiting card draws what a busy one does",
                100 * p.busy_watts / allowed,
                credit=0.3,
                idea="waiting counts as working",
                says=f"You let it draw {p.busy_watts:g} W while it waits. It draws"
                f" {p.idle_watts:g} W, so it may wait for longer.",
            ),
            Belief("what it may wait", 100 - right, credit=0.5, says=rest),
            Belief("waiting for each second of work", 100 * waits, credit=0.3, says=both),
            _fraction(right),
        ],
        says=f"The tokens of a second are worth {q(allowed, 'J')}, and writing them takes"
        f" {p.busy_watts:g} J. What is left pays for"
        f" {q(waits, 's')} of waiting.",
    )


def spare_kwh(given: Given) -> NumberKey:
    p = given.p
    work, kilo = p.cards * p.quiet_pct / 100, p.hours / 1e3
    busy = 1 - math.log(100) / p.tail

    def waits(part: float, watts: float = p.idle_watts) -> float:
        return work * (1 / part - 1) * watts * kilo

    cards, everything = f"{q(work / busy)} cards", (p.cards - work) * p.idle_watts * kilo
    fewer = f"That is the waiting of all {p.cards}. Only {cards} stay on, and only those wait."
    unit = "The number is right, but it is in watt-hours. A kWh is a thousand of them."
    return _number(
        waits(busy),
        [
            Belief(
                "eighty percent",
                waits(0.8),
                credit=0.2,
                idea="a fifth of spare time is enough",
                says="You kept the cards busy 80%, whatever was promised. p99 is then"
                f" {q(math.log(100) / 0.2)} services, and {p.tail:g} are allowed: only"
                f" {q(busy, '%')} may be busy.",
            ),
            Belief(
                "the mean keeps the promise",
                waits(1 - 1 / p.tail),
                credit=0.3,
                idea="the mean tells what users see",
                says=f"Then the mean is {p.tail:g} services. The promise is about p99, which is"
                f" ln 100 times the mean, so {q(busy, '%')} may be busy.",
            ),
            Belief(
                "power at work",
                waits(busy, p.busy_watts),
                credit=0.3,
                idea="waiting counts as working",
                says=f"You let the cards draw {p.busy_watts:g} W while they wait. A waiting card"
                f" draws {p.idle_watts:g} W.",
            ),
            Belief("nothing switched off", everything, credit=0.2, says=fewer),
            Belief("watt-hours for kWh", waits(busy) * 1e3, credit=0.6, form=True, says=unit),
        ],
        says=f"With {q(busy, '%')} busy, {cards} stay on, and the spare part of their time is what"
        f" the promise costs. It was {q(everything)} kWh"
        " with all of them on.",
    )


def most_saved(given: Given) -> ChoiceKey:
    before, after, here, there = changes_of(given.p)
    times = {
        "batch": joules(before) / joules(after),
        "grid": grids[here].carbon / grids[there].carbon,
        "center": data_centers["average"].pue / data_centers["hyperscale"].pue,
    }
    right = max(times, key=lambda name: times[name])
    shown = {name: q(float(f"{value:.3g}"), "×") for name, value in times.items()}
    facts = (
        f"The batch divides what is emitted by {shown['batch']}, the grid by {shown['grid']} and"
        f" the building by {shown['center']}."
    )
    why = {
        "batch": "More at once is not always much more: compare both batches on the curve.",
        "grid": "Another country is not always much cleaner: compare what a kWh emits in both.",
        "center": "A better building helps by this factor everywhere; here another one is larger.",
    }
    return ChoiceKey(
        right,
        beliefs=[
            Belief(f"{name} instead of {right}", name, credit=0.0, says=f"{facts} {words}")
            for name, words in why.items()
            if name != right
        ],
        says=facts,
    )


def _year_missed(p: Parameters, right: float) -> list[Belief]:
    """What both questions about a year's carbon are got wrong by."""
    plug = f"A building takes {p.pue:g} times as much at the plug as its cards alone do."
    turned = f"You used the PUE the wrong way around. {plug}"
    day = "You used the tokens of one day. The promise is about a year of 365."
    return [
        Belief("building left out", right * p.pue, credit=0.5, says=plug),
        Belief("building turned around", right * p.pue**2, credit=0.4, says=turned),
        Belief("a day for a year", right * 365, credit=0.3, says=day),
    ]


def carbon_limit(given: Given) -> NumberKey:
    p = given.p
    grams, kwh = tonnes(p) * 1e6, year_kwh(p, p.token_mj)
    right = grams / kwh
    says = "A factor of a thousand is missing: a tonne is a million grams, not a thousand."
    kilograms = Belief("kilograms for tonnes", right * 1e-3, credit=0.5, form=True, says=says)
    return _number(
        right,
        [*_year_missed(given.p, right), kilograms],
        says=f"A year takes {q(kwh * KWH, 'Wh')} at the plug, and {tonnes(p):,g} t over that"
        " is what each kWh may emit.",
    )


def token_mj_allowed(given: Given) -> NumberKey:
    p = given.p
    kwh = tonnes(p) * 1e6 / p.grid_g
    right = 1e3 * kwh * KWH / p.pue / (p.daily_billion * 1e9 * 365)
    return _number(
        right,
        [*_year_missed(given.p, right), _joules(right)],
        says=f"The carbon allows {q(kwh * KWH, 'Wh')} at the plug in a year, and"
        f" {q(kwh * KWH / p.pue, 'Wh')} at the cards. Divide by the tokens of 365 days.",
    )


# Act 3


def act3_writing(given: Given) -> ChoiceKey:
    return _nearest(asked_writing(given.p).values, writing())


def _invoice(given: Given) -> tuple[float, float, float]:
    """Tokens of an answer, millijoules of writing them, and how many times that the room is."""
    p = given.p
    tokens = p.most_tokens * p.written_pct / 100
    return tokens, tokens * p.write_mj, 100 / p.written_pct


def _reserved(value: float, given: Given) -> Belief:
    return Belief(
        "all of the room is written",
        value,
        credit=0.4,
        idea="what is reserved is used",
        says=f"You counted {given.p.most_tokens} tokens for each answer. They are reserved, but"
        f" only {q(_invoice(given)[0])} of them are written, and the rest takes no energy.",
    )


def _dearer(given: Given) -> str:
    times = q(given.p.write_mj / given.p.read_mj, "×")
    return f"One that is written takes {times} the energy of one that is read."


def writing_pct(given: Given) -> NumberKey:
    tokens, written, room = _invoice(given)
    prompt = given.p.prompt_tokens
    read = prompt * given.p.read_mj
    right = 100 * written / (written + read)
    alike = f"That is the part of the tokens. {_dearer(given)}"
    whole = "You divided by the energy of the prompt. Divide by that of prompt and answer."
    rest = "That part goes into reading the prompt. The question asks for the rest, the answer."
    return _number(
        right,
        [
            _reserved(100 * room * written / (room * written + read), given),
            Belief(
                "read and written alike", 100 * tokens / (tokens + prompt), credit=0.2, says=alike
            ),
            Belief("writing over reading", 100 * written / read, credit=0.3, says=whole),
            Belief("the part of reading", 100 - right, credit=0.4, says=rest),
            _fraction(right),
        ],
        says=f"Reading takes {q(read * 1e-3, 'J')} and writing {q(written * 1e-3, 'J')}. What is"
        " reserved and not written takes nothing.",
    )


def longest_prompt(given: Given) -> NumberKey:
    tokens, written, room = _invoice(given)
    part = given.p.answer_pct / 100
    right = written * (1 / part - 1) / given.p.read_mj
    swapped = written / (1 / part - 1) / given.p.read_mj
    alike = f"That makes {q(part, '%')} of the tokens. {_dearer(given)}"
    rest = f"There, reading takes {q(part, '%')} and writing the rest. Turn them around:"
    rest += f" reading may take {q(1 - part, '%')}."
    return _number(
        right,
        [
            _reserved(room * right, given),
            Belief("read and written alike", tokens * (1 / part - 1), credit=0.2, says=alike),
            Belief("parts swapped", swapped, credit=0.4, says=rest),
        ],
        says=f"Writing takes {q(written * 1e-3, 'J')}, which may be {q(part, '%')} of the whole."
        f" So {q(written * (1 / part - 1) * 1e-3, 'J')} are left for reading.",
    )
