"""The keys of lab_18_joules. This file stays in the course; students never get it."""

import math
from collections.abc import Iterable, Mapping

from mlsys_widgets.judging import Belief, ChoiceKey, Given, NumberKey
from mlsys_widgets.physics import data_centers, grids
from mlsys_widgets.physics import format_quantity as q

from asks import (
    J_PER_KWH,
    PROMPT,
    allowed_mj,
    changes_of,
    joules,
    night_mj,
    tonnes,
    waiting,
    writing,
    year_kwh,
)
from asks import act1_saving as asked_saving
from asks import act2_waiting as asked_waiting
from asks import act3_writing as asked_writing

TOLERANCE = 0.02


def _apart(key: float, tolerance: float, beliefs: Iterable[Belief]) -> list[Belief]:
    """Beliefs that can be told from the key and from each other, with these very numbers."""
    kept: list[Belief] = []
    for belief in beliefs:
        value = float(belief.value)
        others = [key, *(float(each.value) for each in kept)]
        if all(abs(value - x) > 2.1 * tolerance * max(abs(value), abs(x)) for x in others):
            kept.append(belief)
    return kept


def _number(
    key: float, beliefs: Iterable[Belief], says: str, tolerance: float = TOLERANCE
) -> NumberKey:
    return NumberKey(key, tolerance=tolerance, beliefs=_apart(key, tolerance, beliefs), says=says)


def _nearest(values: Mapping[str, float], true: float) -> ChoiceKey:
    return ChoiceKey(min(values, key=lambda each: abs(math.log(values[each] / true))))


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
                idea="a faster part makes the whole as much faster",
                says=f"You shared {q(fixed * 1e-3, 'J')} among all. Each conversation also adds"
                f" {q(each * 1e-3, 'J')} of its own to the step, which nobody shares with it.",
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
            Belief(
                "joules for millijoules",
                right * 1e-3,
                credit=0.6,
                form=True,
                says="The digits are right, but a factor of a thousand is missing: watts times"
                " milliseconds are millijoules.",
            ),
        ],
        says=f"Of the {limit:g} mJ, {q(each * 1e-3, 'J')} go to the conversation's own time, so"
        f" {q((limit - each) * 1e-3, 'J')} are left for a part of {q(fixed * 1e-3, 'J')}.",
    )


# Act 2


def act2_waiting(given: Given) -> ChoiceKey:
    return _nearest(asked_waiting(given.p).values, waiting())


def waiting_energy(given: Given) -> NumberKey:
    p = given.p
    allowed = night_mj(p) * 1e-3 * p.full_rate
    right = 100 * p.idle_watts / (allowed - p.busy_watts + p.idle_watts)
    return _number(
        right,
        [
            Belief(
                "a waiting card draws what a busy one does",
                100 * p.busy_watts / allowed,
                credit=0.3,
                idea="a card costs the same whether it works or not",
                says=f"You let the waiting card draw {p.busy_watts:g} W. It draws"
                f" {p.idle_watts:g} W, so it may wait for longer.",
            ),
            Belief(
                "what it may wait",
                100 - right,
                credit=0.5,
                says="For that part of the time the card may wait. The question asks how busy it"
                " must be.",
            ),
            Belief(
                "waiting for each second of work",
                100 * (allowed - p.busy_watts) / p.idle_watts,
                credit=0.3,
                says="That is how long it may wait for each second of work, in percent. The time"
                " that counts is work and waiting together.",
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
        says=f"The tokens of a second are worth {q(allowed, 'J')}, and writing them takes"
        f" {p.busy_watts:g} J. What is left pays for"
        f" {q((allowed - p.busy_watts) / p.idle_watts, 's')} of waiting.",
    )


def saved_kwh(given: Given) -> NumberKey:
    p = given.p
    gone, kilo = p.cards - p.kept, p.hours / 1e3
    busy = p.quiet_pct / 100
    mean = busy * p.busy_watts + (1 - busy) * p.idle_watts
    right = gone * p.idle_watts * kilo
    return _number(
        right,
        [
            Belief(
                "the work is gone as well",
                gone * mean * kilo,
                credit=0.4,
                says=f"You saved all that {gone} cards draw on average. The part for their work is"
                " not gone: the cards that stay on do that work now.",
            ),
            Belief(
                "power at work",
                gone * p.busy_watts * kilo,
                credit=0.2,
                idea="a card costs the same whether it works or not",
                says=f"You let the cards draw {p.busy_watts:g} W all night. They were at work"
                f" {p.quiet_pct}% of it, and that work has only moved.",
            ),
            Belief(
                "waiting of those switched off",
                gone * (1 - busy) * p.idle_watts * kilo,
                credit=0.5,
                says="That is the waiting of the cards that are switched off. The others also wait"
                " less than before, since they have more to do.",
            ),
            Belief(
                "watt-hours for kWh",
                right * 1e3,
                credit=0.6,
                form=True,
                says="The number is right, but in watt-hours. The question asks for kWh, a thousand"
                " of them.",
            ),
        ],
        says=f"Work takes as many hours as before, so {gone} cards times {p.hours:g} hours of"
        f" waiting are gone, at {p.idle_watts:g} W. What a card draws at work does not matter.",
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
        "batch": "More at once is not always much more: see how far apart the two batches are on"
        " the curve.",
        "grid": "Another country is not always much cleaner: compare what a kWh emits in both.",
        "center": "A better building helps everywhere by the same factor, and here another change"
        " has a larger one.",
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


def carbon_limit(given: Given) -> NumberKey:
    p = given.p
    grams, kwh = tonnes(p) * 1e6, year_kwh(p, p.token_mj)
    right = grams / kwh
    return _number(
        right,
        [
            Belief(
                "building left out",
                right * p.pue,
                credit=0.5,
                says=f"You counted what the cards use. The building uses {p.pue:g} times as much,"
                " and that is what emits.",
            ),
            Belief(
                "building turned around",
                right * p.pue**2,
                credit=0.4,
                says=f"You divided by the PUE. A building uses more than its computers, so"
                f" multiply by {p.pue:g}.",
            ),
            Belief(
                "a day for a year",
                right * 365,
                credit=0.3,
                says="You used the tokens of one day. The promise is about a year of 365.",
            ),
            Belief(
                "kilograms for tonnes",
                right * 1e-3,
                credit=0.5,
                form=True,
                says="The digits are right, but a factor of a thousand is missing: a tonne is a"
                " million grams.",
            ),
        ],
        says=f"A year takes {q(kwh * J_PER_KWH, 'Wh')} at the plug, and {tonnes(p):,g} t over that"
        " is what each kWh may emit.",
    )


def token_mj_allowed(given: Given) -> NumberKey:
    p = given.p
    kwh = tonnes(p) * 1e6 / p.grid_g
    right = 1e3 * kwh * J_PER_KWH / p.pue / (p.daily_billion * 1e9 * 365)
    return _number(
        right,
        [
            Belief(
                "building left out",
                right * p.pue,
                credit=0.5,
                says="That much may be taken at the plug. The building uses a part of it, so divide"
                f" by {p.pue:g} for the card.",
            ),
            Belief(
                "building turned around",
                right * p.pue**2,
                credit=0.4,
                says=f"You multiplied by the PUE. A building uses more than its computers, so"
                f" divide by {p.pue:g}.",
            ),
            Belief(
                "a day for a year",
                right * 365,
                credit=0.3,
                says="You used the tokens of one day. The promise is about a year of 365.",
            ),
            Belief(
                "joules for millijoules",
                right * 1e-3,
                credit=0.6,
                form=True,
                says="The digits are right, but in joules. The question asks for millijoules, so"
                " multiply by a thousand.",
            ),
        ],
        says=f"The carbon allows {q(kwh * J_PER_KWH, 'Wh')} at the plug in a year, and"
        f" {q(kwh * J_PER_KWH / p.pue, 'Wh')} at the cards. Divide by the tokens of 365 days.",
    )


# Act 3


def act3_writing(given: Given) -> ChoiceKey:
    return _nearest(asked_writing(given.p).values, writing())


def answer_tokens(given: Given) -> NumberKey:
    p = given.p
    read, written, part = joules(1, "prefill"), joules(p.seats), p.answer_pct / 100
    right = PROMPT * read / written * part / (1 - part)
    return _number(
        right,
        [
            Belief(
                "part of the tokens",
                PROMPT * part / (1 - part),
                credit=0.0,
                says=f"You shared tokens, not energy. A written token takes {q(written, 'J')} here"
                f" and a read one {q(read, 'J')}.",
            ),
            Belief(
                "part of the prompt's energy",
                PROMPT * read / written * part,
                credit=0.4,
                says=f"You took {p.answer_pct}% of what reading takes. It is {p.answer_pct}% of"
                " reading and writing together.",
            ),
            Belief(
                "one alone",
                PROMPT * read / joules(1) * part / (1 - part),
                credit=0.3,
                says=f"You took what a token costs a single user. With {p.seats} at once they"
                f" share the weights, and it costs {q(written, 'J')}.",
            ),
            Belief(
                "ratio inverted",
                PROMPT * written / read * part / (1 - part),
                credit=0.2,
                says="You turned the ratio around: a written token takes more, so fewer of them"
                " balance the prompt.",
            ),
        ],
        says=f"The prompt takes {q(PROMPT * read, 'J')}, the answer may take"
        f" {q(PROMPT * read * part / (1 - part), 'J')}, and a written token takes"
        f" {q(written, 'J')}.",
        tolerance=0.05,
    )
