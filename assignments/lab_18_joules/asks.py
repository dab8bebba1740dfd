"""What lab_18_joules asks. Students get this file; the keys are in checks.py."""

from collections.abc import Mapping
from functools import cache
from statistics import fmean
from typing import Any

from mlsys_widgets.instruments.energy_scenes import measured
from mlsys_widgets.labs import (
    Choice,
    Essay,
    Lab,
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
from mlsys_widgets.measured import cases
from mlsys_widgets.physics import (
    StepEnergy,
    data_centers,
    energy_bill,
    grids,
    service_energy,
    step_energy,
)
from mlsys_widgets.physics import format_quantity as q

MODEL, CARD = "llama31-8b", "h200-sxm"
#: What the predictions are about: conversations at once, tokens before them, a busy part.
MANY, CONTEXT, SHORT, NIGHT = 256, 2048, 512, 0.1
PROMPT, ANSWER = 2048, 200  # tokens of a request of Act 3
#: What places ask for electricity, in USD/kWh.
OFFERS = {"poland": 0.06, "canada": 0.09, "france": 0.12, "norway": 0.15}
NEAR = 12  # with so many at once a request of Act 3 would have the part of a wrong option
SPREAD = 6  # conversations that the work of that night gives a card that never waits
#: How busy the service may be where no earlier lab says so, and what is sensible of what it says.
LIMIT, LEAST_LIMIT, MOST_LIMIT = 70.0, 50.0, 85.0
EXPECTED = 60  # what a trial with another card had made us expect of the first prediction
KWH = 3.6e6  # joules


def load_limit(fields: Mapping[str, Any]) -> float:
    """How busy the service may be, in percent, as far as the design of Lab 13 is sensible here."""
    found = fields.get("load_limit")
    if not isinstance(found, int | float) or not LEAST_LIMIT <= found <= MOST_LIMIT:
        return LIMIT
    return float(found)


def from_lab_13(fields: Mapping[str, Any], found: bool) -> str:
    """What the limit of Lab 13 means for this lab, in words."""
    limit = q(load_limit(fields) / 100, "%")
    said = fields.get("load_limit")
    if not found or not isinstance(said, int | float):
        return f"No load limit of Lab 13 was found; the service below may be busy {limit}."
    if said != load_limit(fields):
        here = f"the service below may be busy {limit} instead, so that its bill can be compared"
        return f"Your load limit of Lab 13 is {q(said / 100, '%')}; {here}."
    return f"Your load limit of Lab 13, {limit}, holds here, too; for the rest, the card waits."


def seats_of(fields: Mapping[str, Any]) -> float:
    """With how many conversations at once the design begins."""
    found = fields.get("batch")
    return float(found) if isinstance(found, int | float) and found in range(1, MANY + 1) else 16.0


def from_lab_14(fields: Mapping[str, Any]) -> str:
    """The same in words."""
    known = fields.get("batch") == seats_of(fields)
    why = "as in your design of Lab 14" if known else "since no batch of Lab 14 was found that fits"
    return f"The design at the end begins with {q(seats_of(fields))} conversations at once, {why}."


# What was measured is the same for everybody.


def measured_joules(work: str, batch: int, sequence: int) -> float:
    """Joules of a token, by the card's own counter."""
    return next(joules for many, _, joules in measured(work, sequence) if many == batch)


@cache
def measured_watts(batch: int) -> float:
    """Watts of the card while it writes; with 0, while it waits."""
    if not batch:
        idle = cases(CARD, kind="energy", variant="idle")
        return fmean(case.energy["watts"] for case in idle if case.energy)
    return next(watts for many, watts, _ in measured("decode", CONTEXT) if many == batch)


def measured_saving(sequence: int = CONTEXT) -> float:
    """How many times the energy a token of one alone takes."""
    return measured_joules("decode", 1, sequence) / measured_joules("decode", MANY, sequence)


def measured_waiting() -> float:
    """How many times the energy a token takes at night."""
    return 1 + (1 - NIGHT) / NIGHT * measured_watts(0) / measured_watts(MANY)


def measured_writing(batch: int = MANY) -> float:
    """What part of a request's energy goes into writing."""
    writing = ANSWER * measured_joules("decode", batch, CONTEXT)
    return writing / (writing + PROMPT * measured_joules("prefill", 1, PROMPT))


@cache
def law_error() -> float:
    """How far the model is off in the energy of steps that it was not fitted to, on average."""
    found = [
        float(step(c.shape["batch"], c.shape["work"], c.shape["sequence"]).energy)
        / c.energy["joules"]
        for c in cases(CARD, kind="energy", variant="graph", drawn=True)
        if c.energy
    ]
    return fmean(abs(each - 1) for each in found)


@cache
def step(batch: float, work: str = "decode", sequence: float = CONTEXT) -> StepEnergy:
    """A step of the model on the card."""
    return step_energy(MODEL, CARD, work, batch, sequence)  # type: ignore[arg-type]


def joules(batch: float, work: str = "decode") -> float:
    """Joules of a token, never waiting."""
    return float(step(batch, work).energy_per_token)


def waiting() -> float:
    """How many times the energy a token takes at night, by the model."""
    full = step(MANY)
    rate = full.tokens / full.time
    at_night = service_energy(full.power, rate, NIGHT, full.idle)
    return float(at_night.energy_per_token / full.energy_per_token)


def writing(batch: int = MANY) -> float:
    """What part of a request's energy goes into writing, by the model."""
    written = ANSWER * joules(batch)
    return written / (written + PROMPT * joules(1, "prefill"))


def allowed_mj(p: Parameters) -> float:
    """What a token may cost in the question of the least batch, in mJ."""
    return round(p.writing_watts * p.each_ms * (1 + p.room), 1)


def night_mj(p: Parameters) -> float:
    """What a token may cost in the question of the busy part, in mJ."""
    return round(1e3 * p.slack * p.busy_watts / p.full_rate, 1)


def year_kwh(p: Parameters, mj: float) -> float:
    """What tokens of a year take at the plug."""
    return p.daily_billion * 1e9 * 365 * mj * 1e-3 * p.pue / KWH


def tonnes(p: Parameters) -> float:
    """What a year may emit: what the student's grid would with the student's tokens."""
    return round(year_kwh(p, p.token_mj) * p.grid_g / 1e6, 1)


def changes_of(p: Parameters) -> tuple[int, int, str, str]:
    """The change of the choice: from and to a batch, from and to a grid."""
    before, after, here, there = p.change.split()
    return int(before), int(after), here, there


lab = Lab(
    "lab_18_joules",
    title="Lab 18: Joules per Token",
    question="What does a token cost in joules, and what decides that?",
    chapter=18,
    acts=("One user and many", "A card that waits", "Reading and writing"),
    parameters={
        "writing_watts": Parameter(480, steps(350, 620, 5), "W", "power while it writes"),
        "fixed_ms": Parameter(7.5, steps(4, 12, 0.1), "ms", "step, whatever the batch"),
        "each_ms": Parameter(0.05, steps(0.03, 0.09, 0.001), "ms", "step, for each one more"),
        "room": Parameter(2.5, steps(1.5, 6, 0.1), "", "energy beyond what each one takes"),
        "guesses": Parameter(4, (3, 4, 5, 6), "guesses", "guesses for each step"),
        "right_pct": Parameter(70, steps(62, 86, 0.2), "%", "guesses that are right"),
        "check": Parameter(1.5, steps(1.3, 1.9, 0.01), "steps", "time of a step that checks"),
        "busy_watts": Parameter(600, steps(420, 680, 5), "W", "power of a card at work"),
        "idle_watts": Parameter(100, steps(60, 140, 1), "W", "power of a card that waits"),
        "full_rate": Parameter(5000, steps(2000, 9000, 50), "tokens/s", "tokens at work"),
        "slack": Parameter(1.4, steps(1.15, 1.9, 0.05), "", "what rests may add"),
        "cards": Parameter(40, steps(24, 60, 1), "cards", "cards at night"),
        "tail": Parameter(12, steps(8, 16, 0.1), "services", "what p99 may take at night"),
        "quiet_pct": Parameter(10, steps(5, 12, 1), "%", "how busy they are at night"),
        "hours": Parameter(8, steps(6, 10, 0.5), "hours", "how long a night is"),
        # Batch before and after, grid before and after: each change wins in a third of them.
        "change": Parameter(
            "64 112 poland germany",
            (
                *("8 16 germany sweden", "32 120 world canada", "16 64 poland france"),
                *("64 112 poland germany", "32 48 india world", "16 24 world canada"),
                *("64 96 germany canada", "32 48 poland france", "96 120 china canada"),
                *("8 32 poland germany", "4 16 world germany", "2 8 germany canada"),
                *("8 48 india world", "16 64 china germany", "4 32 poland canada"),
                *("16 96 germany canada", "2 16 world canada", "8 24 china world"),
                *("136 160 poland china", "96 120 india china", "64 80 world germany"),
                *("160 256 india poland", "48 56 china world", "192 256 australia world"),
                *("136 192 poland australia", "80 96 india china", "56 64 poland china"),
            ),
            "",
            "three changes",
        ),
        "daily_billion": Parameter(20, steps(8, 60, 0.5), "billion", "tokens per day"),
        "token_mj": Parameter(90, steps(45, 160, 0.5), "mJ", "energy of a token at the card"),
        "pue": Parameter(1.4, steps(1.15, 1.7, 0.01), "", "power usage effectiveness"),
        "grid_g": Parameter(150, steps(60, 400, 1), "g/kWh", "what electricity emits"),
        "read_mj": Parameter(18, steps(12, 24, 0.5), "mJ", "energy of a token that is read"),
        "write_mj": Parameter(48, steps(36, 90, 1), "mJ", "energy of a token that is written"),
        "prompt_tokens": Parameter(1500, steps(800, 2400, 100), "tokens", "tokens of a prompt"),
        "most_tokens": Parameter(500, steps(300, 800, 20), "tokens", "room for an answer"),
        "written_pct": Parameter(40, steps(30, 60, 1), "%", "of that room that is used"),
        "answer_pct": Parameter(35, steps(25, 45, 1), "%", "of the energy that answers take"),
        "promise_ms": Parameter(14, steps(13, 16, 0.5), "ms", "time of a token"),
        "carbon_kg": Parameter(6.5, steps(6.2, 7, 0.1), "kg", "carbon of a billion tokens"),
        "cost_usd": Parameter(3.3, steps(3.2, 3.5, 0.05), "USD", "electricity of as many"),
    },
    materials={
        **{each.__name__: each for each in (from_lab_13, from_lab_14, load_limit, seats_of)},
        **{each.__name__: each for each in (law_error, waiting, writing)},
        **{each.__name__: each for each in (measured_saving, measured_waiting, measured_writing)},
        **{each.__name__: each for each in (joules, allowed_mj, night_mj, tonnes, changes_of)},
        "offers": {place: price / KWH for place, price in OFFERS.items()},
    },
    design={
        "grid": choice("where the service runs", *OFFERS),
        "center": choice("in what kind of data center", *data_centers),
        "batch": number("conversations that are answered at once", 1),
        "busy_percent": number("how busy a card is, in percent", 0, 100),
        "token_millijoules": number("energy of a token at the card, in millijoules", 0),
        "carbon_kg": number("carbon of a billion tokens, in kilograms", 0),
        "cost_usd": number("electricity of a billion tokens, in US dollars", 0),
        "constraint_hit": flag("whether the design breaks a promise"),
        "act1_prediction": predicted("what was predicted in the first act"),
        "act1_correct": judged("whether that was right"),
        "act2_prediction": predicted("what was predicted in the second act"),
        "act2_correct": judged("whether that was right"),
    },
    deeper=(
        "act1_why",
        "act1_math",
        "act2_remedy",
        "act2_math",
        "prompt_message",
        "act3_writing",
        "writing_pct",
        "advice",
        "deeper_kept",
    ),
)


def _grid(place: str) -> str:
    """What stands for a place: the world has no grid of its own."""
    return (
        "an average grid of the world" if place == "world" else f"the grid of {grids[place].name}"
    )


def _about(value: float, unit: str = "") -> str:
    """A number in two digits: neither a model nor one run of a GPU knows more."""
    return q(float(f"{value:.2g}"), unit)


# Act 1


@lab.asks
def opening(p: Parameters) -> Message:
    return Message(
        "Noor Haddad",
        "Head of ML infrastructure",
        "Half empty, to save energy?",
        "For the first time the hosting company has sent us a bill for electricity, and our"
        " director asks what one conversation costs. Nobody here knows.\n\n"
        "On the panel of facilities, a GPU that serves many users at once draws visibly more power"
        " than one that serves a single user. So they want to spread our users over twice as many"
        " cards: a busy card wastes energy, they say, and an idle one saves it. Lena wants the"
        " opposite, because she remembers how little a step grows with its batch.\n\n"
        "On Friday I decide how full our cards are, what they do at night, and where they stand.",
        task="Find out what a token costs in joules, what it emits, and what decides both.",
        in_context={
            "cloud": "All of this is about one H200 that serves Llama-3.1-8B in fp16.",
            "edge": "The camera team has a small module with a battery. What would you measure?",
        },
        act=1,
    )


@lab.asks
def act1_saving(p: Parameters) -> Prediction:
    one, many = measured_joules("decode", 1, CONTEXT), measured_joules("decode", MANY, CONTEXT)
    times = {"A": 0.7, "B": 6.0, "C": 40.0, "D": 256.0}
    slower = float(step(MANY).time / step(1).time)
    power = measured_watts(MANY) / measured_watts(1)
    return Prediction(
        f"An H200 writes for a single user, and then for {q(MANY)} at once, with {q(CONTEXT)}"
        " tokens in each context; each gets one token per step. How many times as much energy does"
        " a token of the single user take as one of theirs?",
        {
            "A": "about 0.7×: a card that is busy wastes some energy",
            "B": "about 6×: more users, but a lot more power as well",
            "C": "about 40×: a little more power, far less time each",
            "D": f"about {q(MANY)}×: they simply share one and the same step",
        },
        values=times,
        unit="×",
        quantity="saving",
        settings={"work": "decode", "sequence": CONTEXT, "busy": 1.0},
        title="One user, or many?",
        answer="C",
        distance="times",
        feedback={
            "A": f"The busy card does draw more: {_about(measured_watts(MANY), 'W')} instead of"
            f" {_about(measured_watts(1), 'W')}. But the joules of a token are power times its"
            " share of the time, and this time shrinks far more than the power grows:"
            f" {_about(one, 'J')} and {_about(many, 'J')} were measured. Compare areas.",
            "B": f"You expected power to grow with the users. It grows only {_about(power, '×')}:"
            f" a single user already takes {_about(measured_watts(1), 'W')} of the card's"
            f" {q(step(1).limit, 'W')}. A step takes {_about(slower, '×')} as long, for {q(MANY)}"
            f" tokens instead of one. Measured: {_about(one, 'J')} and {_about(many, 'J')}.",
            "C": f"Measured: {_about(one, 'J')} alone and {_about(many, 'J')} with {q(MANY)},"
            f" {_about(measured_saving(), '×')}. The step of {q(MANY)} takes only"
            f" {_about(slower, '×')} as long as that of one, at {_about(power, '×')} the power."
            f" With contexts of {q(SHORT)} it is {_about(measured_saving(SHORT), '×')}, since there"
            f" is less cache to move. We had expected {q(EXPECTED, '×')}, from another card.",
            "D": f"They share the weights, but each has a cache of its own, and {q(MANY)} caches"
            f" have more bytes than the model. So a step takes {_about(slower, '×')} as long, at"
            f" {_about(power, '×')} the power, and {q(MANY)} divided by both is what is saved:"
            f" {_about(measured_saving(), '×')} was measured.",
        },
        where=f"one H200, Llama-3.1-8B in fp16, contexts of {q(CONTEXT)} tokens",
        act=1,
    )


@lab.asks
def least_batch(p: Parameters) -> Number:
    return Number(
        f"Another card draws {p.writing_watts:g} W while it writes, whatever the batch. A step"
        f" takes {p.fixed_ms:g} ms, and {p.each_ms:g} ms more for each conversation. A token may"
        f" cost {allowed_mj(p):g} mJ. With how many conversations at once does it cost just that?"
        " Answer in conversations, as in 75; a fraction is fine.",
        "conversations",
        points=14,
        low=2,
        high=2000,
        hint="Write down the energy of a whole step, divide it by its tokens, and solve for how"
        " many there are.",
        worked_example="A server draws 2,000 W, and a step takes 1 s and 1 ms for each of b"
        " conversations: 2 kJ and 2 J for each. A token may cost 6 J, of which 4 J are left for its"
        " part of the 2 kJ, so b is 500.",
        title="The energy of a step",
        act=1,
        after=["act1_saving"],
    )


@lab.asks(instead_of="least_batch")
def guessed_mj(p: Parameters) -> Number:
    return Number(
        f"Another card draws {p.writing_watts:g} W while it writes, whatever a step does. For a"
        f" single conversation a plain step takes {p.fixed_ms:g} ms. Now a small model guesses"
        f" {p.guesses} tokens, each right in {p.right_pct:g}% of the cases. One step checks all of"
        f" them and takes {p.check:g} plain steps, guessing included. Guesses count up to the"
        " first wrong one, and the step adds a token of its own. What does a token cost? Answer in"
        " mJ, as in 75.",
        "mJ",
        points=14,
        low=100,
        high=100_000,
        hint="Write down the energy of a whole step and divide it by its tokens. A guess counts"
        " only if all before it are right.",
        worked_example="A server draws 2,000 W, and a plain step takes 1 s. Two tokens are guessed,"
        " 50% of them right, and a step that checks takes 3.5 plain ones: 7 kJ. The first guess"
        " counts in 50% of the steps and the second in 25%, so with its own token a step writes"
        " 1.75. A token costs 4 kJ.",
        title="The energy of a step",
        act=1,
        after=["act1_saving"],
    )


@lab.asks
def act1_why(p: Parameters) -> Reflection:
    one = step(1)
    moving = float(one.shares["moving data"] / one.power)
    return Reflection(
        "A single user has the whole card, and each token is expensive. Where does the energy go?",
        {
            "A": "to arithmetic, since a token takes as many operations as before",
            "B": "to moving the weights, all of them, for only one token per step",
            "C": "to waiting, because the card has nothing to do most of the time",
            "D": "to the host, which prepares each step for one user at a time",
        },
        right="B",
        feedback={
            "A": "A token takes the same operations in any batch, so they cannot make the"
            f" difference. They take {_about(float(one.shares['computing'] / one.power), '%')} of"
            f" the power with one user; with {q(MANY)} at once their part is far larger than that.",
            "B": f"Moving takes {_about(moving, '%')} of the power with one user, by the model:"
            f" {q(one.bytes, 'B')} for a single token, at {q(one.byte_energy, 'J/B')}. More users"
            " share the bytes of the weights, until their caches are what is moved most.",
            "C": "Here the card is at work: its memory is busy almost without a pause, and it draws"
            f" {_about(measured_watts(1), 'W')} of the {q(one.limit, 'W')} that it may. A card that"
            " waits is the subject of Act 2.",
            "D": "The card's own counter, which does not see the host, shows"
            f" {_about(measured_joules('decode', 1, CONTEXT), 'J')} for a token. And the whole step"
            " was replayed from a graph, so that the host had next to nothing to do.",
        },
        title="Where do the joules go?",
        act=1,
        after=["act1_saving"],
    )


# Act 2


@lab.asks
def night_message(p: Parameters) -> Message:
    return Message(
        "Tomás Rivera",
        "Platform engineer",
        "They do nothing at night",
        "Between midnight and six our cards have hardly anything to do: whatever comes in is"
        f" answered at once, {q(MANY)} conversations together, and then nothing happens for"
        " a while. Facilities says: leave them on. They do nothing, so they use nothing.\n\n"
        "Last night I put my hand behind one of them, between two bursts. The air was warm: its"
        " model was loaded and its clocks were running, ready for the next request. If waiting is"
        " as cheap as they say, I will stop bothering. If not, what does it add to a token?",
        task="Find out what waiting adds to a token.",
        act=2,
        after=["act1_saving"],
    )


@lab.asks
def act2_waiting(p: Parameters) -> Prediction:
    idle, busy = measured_watts(0), measured_watts(MANY)
    times = {"A": 1.0, "B": 1.2, "C": 2.6, "D": 10.0}
    seconds = (1 - NIGHT) / NIGHT
    return Prediction(
        f"At night, an H200 is at work {q(NIGHT, '%')} of the time, {q(MANY)} conversations at"
        " once. In between it waits with its model loaded and its clocks up. How many times as"
        " much energy does a token take as on a card that never waits?",
        {
            "A": "about 1×: a card that does nothing uses next to nothing",
            "B": "about 1.2×: what it draws while waiting is hardly worth counting",
            "C": "about 2.6×: it draws a part of its power for no token at all",
            "D": "about 10×: it draws its power whether it has work or not",
        },
        values=times,
        unit="×",
        quantity="waiting",
        settings={"work": "decode", "sequence": CONTEXT, "busy": NIGHT},
        title="What does waiting cost?",
        answer="C",
        distance="times",
        feedback={
            "A": f"A waiting H200 was measured at {_about(idle, 'W')}, with its clocks up. For"
            f" each second of work at {_about(busy, 'W')} it waits {q(seconds)} seconds, and they"
            f" take more joules than the work: {_about(measured_waiting(), '×')} for each token.",
            "B": f"{_about(idle, 'W')} beside {_about(busy, 'W')} looks small, but it lasts. For"
            f" each second of work the card waits {q(seconds)}, and together they take more joules"
            f" than the work itself. That makes {_about(measured_waiting(), '×')} for one token.",
            "C": f"For each second at {_about(busy, 'W')} the card waits {q(seconds)} seconds at"
            f" {_about(idle, 'W')}, as measured: {_about(measured_waiting(), '×')}. So more than"
            " half of the night's energy writes no token. Drag *Busy* and see that part shrink.",
            "D": "That would be so if a waiting card drew as much as a busy one. It draws"
            f" {_about(idle, 'W')} instead of {_about(busy, 'W')}, as measured, because nothing is"
            f" moved and nothing computed: {_about(measured_waiting(), '×')} for a token.",
        },
        where="one H200, its energy counter read while it worked and while it waited",
        act=2,
        after=["act1_saving"],
    )


@lab.asks
def waiting_energy(p: Parameters) -> Number:
    return Number(
        f"Another card draws {p.busy_watts:g} W at work and {p.idle_watts:g} W while it waits, and"
        f" writes {p.full_rate:,} tokens/s at work. A token may cost {night_mj(p):g} mJ, waiting"
        " included. How busy must the card be? Answer in percent, as in 75.",
        "percent",
        points=14,
        low=1,
        high=1000,
        hint="Mean power is what it draws at work and while it waits, each with its part of the"
        " time. Divide it by the tokens that are written on average.",
        worked_example="A server draws 2,500 W at work, 500 W while it waits, and writes 5,000"
        " tokens/s. At 0.7 J a token, a second of work may cost 3.5 kJ, so 1 kJ is left for"
        " waiting: 2 s of it for each second of work. It must be busy for one third of the time.",
        title="The energy of waiting",
        act=2,
        after=["act2_waiting"],
    )


@lab.asks
def spare_kwh(p: Parameters) -> Number:
    return Number(
        f"During a night of {p.hours:g} hours, each of {p.cards} cards is at work {p.quiet_pct}% of"
        f" the time, at {p.busy_watts:g} W, and draws {p.idle_watts:g} W while it waits. Jobs"
        " arrive at random and take random times, and a card does one after the other, as in Lab"
        " 13. Now the same work moves to as few cards as keep a promise, p99 within"
        f" {p.tail:g} services; the rest are off, and a fraction of a card is fine. How much energy"
        " do the cards that stay on take while they wait? Answer in kWh, as in 75.",
        "kWh",
        points=14,
        low=0.02,
        high=200,
        hint="p99 is ln 100 services over what is spare. From what is spare follow the cards that"
        " stay on, and from their hours those of waiting.",
        worked_example="A hundred servers are at work a fifth of the time: twenty hours of work in"
        " each hour. If p90 must be within five services, the natural logarithm of ten over five is"
        " spare: 46%. So the work is 54% of the time of 37 servers, and for each hour of the night"
        " they wait seventeen hours together. At 2,000 W that is 34 kWh.",
        title="What the promise costs",
        act=2,
        after=["act2_waiting"],
    )


@lab.asks
def most_saved(p: Parameters) -> Choice:
    before, after, here, there = changes_of(p)
    return Choice(
        f"A service writes {p.daily_billion:g} billion tokens per day, {before} conversations at"
        f" once, never waiting, with contexts of {CONTEXT:,} tokens. It runs on {_grid(here)}, in"
        " the average data center of a survey. By the instrument *A token with its rests*, which"
        " single change lowers its emissions the most?",
        {
            "batch": f"{after} conversations at once",
            "grid": _grid(there),
            "center": "a hyperscale data center",
        },
        points=4,
        worked_example="Another service emits 100 kg. With twice the batch, the instrument says 80"
        " kg; with the old batch and another grid, 60 kg; with both as before and another building,"
        " 70 kg. Each is tried alone, and the grid saves the most.",
        title="One change",
        act=2,
        after=["act2_waiting"],
    )


@lab.asks
def carbon_limit(p: Parameters) -> Number:
    return Number(
        f"A service writes {p.daily_billion:g} billion tokens per day. A token takes"
        f" {p.token_mj:g} mJ at the card, and the data center has a PUE of {p.pue:g}. In a year of"
        f" 365 days it may emit {tonnes(p):,g} t. How much may its electricity emit at most?"
        " Answer in grams per kWh, as in 75.",
        "g/kWh",
        points=14,
        low=1,
        high=300_000,
        hint="First the joules of a year at the card, then at the plug, then in kWh: one kWh is"
        " 3.6 million joules.",
        worked_example="Elsewhere 10 billion tokens per day take 0.72 J each, in a building with a"
        " PUE of 2: 4,000 kWh per day at the plug, or 1,460,000 in a year. For 7.3 t of carbon,"
        " divide 7.3 million grams by that.",
        title="A limit on carbon",
        act=2,
        after=["act2_waiting"],
    )


@lab.asks(instead_of="carbon_limit")
def token_mj_allowed(p: Parameters) -> Number:
    return Number(
        f"A service writes {p.daily_billion:g} billion tokens per day, where electricity emits"
        f" {p.grid_g} g/kWh, in a data center with a PUE of {p.pue:g}. In a year of 365 days it"
        f" may emit {tonnes(p):,g} t. How much may a token take at the card at most? Answer in"
        " millijoules, as in 75.",
        "mJ",
        points=14,
        low=1,
        high=200_000,
        hint="First the kWh that the carbon allows at the plug, then what of it reaches the cards,"
        " then joules: one kWh is 3.6 million of them.",
        worked_example="Elsewhere 7.3 t are allowed where electricity emits 10 g/kWh: 730,000 kWh"
        " in a year, or 2,000 kWh per day, at the plug. With a PUE of 2, half of it reaches the"
        " cards. In joules, divide that by the 10 billion tokens of the day.",
        title="A limit on carbon",
        act=2,
        after=["act2_waiting"],
    )


@lab.asks
def act2_remedy(p: Parameters) -> Reflection:
    joined = service_energy(
        step(MANY).power, step(MANY).tokens / step(MANY).time, 0.4, step(MANY).idle
    )
    night = waiting()
    better = float(joined.energy_per_token / step(MANY).energy_per_token)
    return Reflection(
        f"Four cards are each busy {q(NIGHT, '%')} of the night. What lowers the energy of their"
        " tokens the most, without anybody waiting for long?",
        {
            "A": "spread the requests evenly over the night and over all cards",
            "B": "answer fewer at once, so that each card draws less at work",
            "C": "give the work of all four to one card and switch three off",
            "D": "move all four of them to a cooler building for the night",
        },
        right="C",
        feedback={
            "A": f"Spread evenly, each step has about {q(SPREAD)} conversations, and a token takes"
            f" {_about(joules(SPREAD), 'J')}; in bursts, waiting included, it is"
            f" {_about(joules(MANY) * night, 'J')}. No card would wait, but the tokens of small"
            " batches take more than twice as much.",
            "B": "At work it would draw somewhat less, but for far longer, and each token would"
            f" cost more: {_about(joules(64), 'J')} with 64 at once, {_about(joules(MANY), 'J')}"
            f" with {q(MANY)}. Power on the panel is what misled facilities.",
            "C": f"One card is then busy {q(0.4, '%')} of the time, and a token takes"
            f" {_about(better, '×')} the energy of one that never waits, instead of"
            f" {_about(night, '×')}. The three that are off draw nothing until somebody loads their"
            " models in the morning.",
            "D": "A better building saves what it uses beyond its computers: from a PUE of"
            f" {q(data_centers['average'].pue)} to {q(data_centers['hyperscale'].pue)}, a factor of"
            f" {_about(data_centers['average'].pue / data_centers['hyperscale'].pue)}."
            f" Waiting takes {_about(night, '×')}, and in the new building all four would wait,"
            " just as they did in the old one.",
        },
        title="What helps at night?",
        act=2,
        after=["act2_waiting"],
    )


@lab.asks
def act1_math(p: Parameters) -> Peek:
    return Peek(
        {
            "A step for one user": step(1),
            f"A step for {q(MANY)}": step(MANY),
            "How good the model is": "Power is what a waiting card draws, and the bytes and"
            " operations of each second, each with an energy of its own, up to the limit of the"
            " card. On steps drawn at random, to which nothing was fitted, the energy is off by"
            f" {_about(law_error(), '%')} on average.",
        },
        title="The equations of Act 1",
        act=1,
        after=["act2_waiting"],  # with what a waiting card draws, Act 2 would be arithmetic
    )


@lab.asks
def act2_math(p: Parameters) -> Peek:
    full = step(MANY)
    return Peek(
        {
            "A night": service_energy(full.power, full.tokens / full.time, NIGHT, full.idle),
            "A billion of these tokens, in Poland": energy_bill(
                1e9, joules(MANY) * waiting(), "poland", "average", OFFERS["poland"] / KWH
            ),
        },
        title="The equations of Act 2",
        act=2,
        after=["act2_waiting"],
    )


# Act 3


@lab.asks
def prompt_message(p: Parameters) -> Message:
    return Message(
        "Lena Brandt",
        "Model serving engineer",
        "Who pays for the prompt?",
        "Sales wants to charge for energy, but only for the tokens that we write: prompts are read"
        " in one go, they say, while an answer keeps the card busy token by token. With a single"
        " user they are right: nearly all of the energy goes into the answer.\n\n"
        "But our users send long documents and want short summaries, and by day our cards are"
        f" full: {q(MANY)} conversations at once. Does my test with one user say anything about"
        " that? I would rather know before the invoices are printed.",
        task="Say what part of a request's energy its answer takes.",
        act=3,
        after=["act2_waiting"],
    )


@lab.asks
def act3_writing(p: Parameters) -> Prediction:
    shares = {"A": 0.09, "B": 0.25, "C": 0.6, "D": 0.93}
    read = measured_joules("prefill", 1, PROMPT)
    written = measured_joules("decode", MANY, CONTEXT)
    alone = measured_writing(1)
    return Prediction(
        f"A request reads a prompt of {q(PROMPT)} tokens and writes an answer of {q(ANSWER)}."
        f" {q(MANY)} conversations write at once. What part of the request's energy goes into"
        " writing?",
        {
            "A": "about 9%: a token is a token, read or written",
            "B": "about 25%: a written token costs a few read ones",
            "C": "about 60%: the answer weighs more than the prompt",
            "D": "about 93%: nearly all, as with a single user",
        },
        values=shares,
        unit="%",
        title="Who uses the energy?",
        answer="B",
        feedback={
            "A": f"A written token takes {_about(written, 'J')} and a read one {_about(read, 'J')},"
            f" as measured, because each writer moves a cache of its own for a single token. So the"
            f" {q(ANSWER)} tokens of the answer weigh more than their number says:"
            f" {_about(measured_writing(), '%')}.",
            "B": f"Measured: {_about(ANSWER * written, 'J')} for the answer and"
            f" {_about(PROMPT * read, 'J')} for the prompt, so {_about(measured_writing(), '%')}"
            f" is writing. With a single user it was {_about(alone, '%')}: filling the card made"
            " written tokens cheap, and read ones hardly cheaper.",
            "C": f"With about {q(NEAR)} conversations at once you would be near. With {q(MANY)},"
            f" {q(ANSWER)} written tokens take {_about(ANSWER * written, 'J')}. Reading the prompt"
            f" takes {_about(PROMPT * read, 'J')} alone and little less in a batch, so the answer"
            " is the smaller part.",
            "D": f"With a single user it is {_about(alone, '%')}, because each written token moves"
            f" all weights. With {q(MANY)} at once they share them, and the answer takes only"
            f" {_about(ANSWER * written, 'J')}. The prompt still takes"
            f" {_about(PROMPT * read, 'J')}: its tokens have shared the weights all along.",
        },
        where=f"one H200; prompts were measured alone, {q(PROMPT)} tokens each",
        act=3,
        after=["act2_waiting"],
    )


#: Where both worked examples about an invoice begin.
INVOICE = (
    "Elsewhere a token takes five millijoules to read and twenty to write. There is room for two"
    " hundred, and a quarter of them is written for one joule."
)


def _invoice(p: Parameters) -> str:
    """What both questions about an invoice begin with."""
    return (
        f"Another full card takes {p.read_mj:g} mJ for a token that it reads and {p.write_mj:g} mJ"
        f" for one that it writes. The engine reserves room for answers of {p.most_tokens} tokens;"
        f" on average, {p.written_pct}% of them are written."
    )


@lab.asks
def writing_pct(p: Parameters) -> Number:
    return Number(
        f"{_invoice(p)} Prompts have {p.prompt_tokens:,} tokens. How much of a request's energy"
        " does writing take? Answer in percent, as in 75.",
        "percent",
        points=6,
        low=1,
        high=1000,
        hint="Write down the millijoules of prompt and answer. Which is asked about, and of what?",
        worked_example=f"{INVOICE} A prompt of a thousand tokens takes five joules. Writing is one"
        " joule of six, one sixth.",
        title="Who pays for what?",
        act=3,
        after=["act3_writing"],
    )


@lab.asks(instead_of="writing_pct")
def longest_prompt(p: Parameters) -> Number:
    return Number(
        f"{_invoice(p)} Sales may charge for answers alone, as long as writing takes at least"
        f" {p.answer_pct}% of a request's energy. How many tokens may a prompt have at most?"
        " Answer in tokens, as in 750.",
        "tokens",
        points=6,
        low=10,
        high=100_000,
        hint="Write down the millijoules of the answer. How many are left for the prompt?",
        worked_example=f"{INVOICE} If that must be one fifth of all, reading may take the other"
        " four fifths: four joules, which are eight hundred tokens.",
        title="Who pays for what?",
        act=3,
        after=["act3_writing"],
    )


# After the acts


@lab.asks
def advice(p: Parameters) -> Essay:
    return Essay(
        "Write to Noor before Friday. How full should the cards be, and why does the panel mislead?"
        " What would you do at night? Where should the service run, and what ends each saving?",
        [
            (5, "tells power and energy apart, with joules of a token for small and large batches"),
            (4, "counts what waiting adds, and says what is done about it and when that pays"),
            (4, "compares grids and buildings by numbers, and joins carbon with the bill"),
            (2, "names the promise that ends each saving, and what was not measured"),
        ],
        title="Before Friday",
        at_least=100,
        at_most=250,
        after=["act2_waiting"],
    )


@lab.asks
def commitments(p: Parameters) -> Record:
    return Record(["act1_saving", "act2_waiting", "design"], points=13)


@lab.asks
def deeper_kept(p: Parameters) -> Record:
    return Record(["act1_why", "act2_remedy", "act3_writing"], points=6)


@lab.asks
def takeaways(p: Parameters) -> Takeaways:
    return Takeaways(
        [
            (
                "Divide by the tokens",
                "A panel shows watts. What a token costs is power times its time: with"
                f" {q(MANY)} users at once, a {_about(measured_saving())}th of what it is for one.",
            ),
            (
                "A card that waits is not free",
                f"An H200 draws {_about(measured_watts(0), 'W')} for doing nothing.",
            ),
            (
                "Where it runs counts",
                f"In {grids['poland'].name}, the same joules emit"
                f" {_about(grids['poland'].carbon / grids['norway'].carbon)} times as much as in"
                f" {grids['norway'].name}. The bill need not agree.",
            ),
            (
                "Every saving ends at a promise",
                "Larger batches end at the time of a token, cleaner places at their price.",
            ),
        ],
        ahead="The bill that you saved is the last line of what your service costs.",
        after=["most_saved", "carbon_limit"],
    )
