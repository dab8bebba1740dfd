# %% [markdown]
# # Lab 18: Joules per Token
#
# A GPU with many users draws more power than one with a single user. Does it waste energy? And what about one that waits?
# Predict it, look at what the energy counter of an H200 said, and choose where a service runs and how full its cards are, within
# limits on what its electricity costs and emits.
#
# **Read first** the chapter on sustainable AI of *Machine Learning Systems*, up to the carbon footprint of inference.

# %% setup=true
import math

from mlsys_widgets import EnergyExplorer, Move, MovingPicture, Target
from mlsys_widgets.physics import (
    energy_bill,
    format_quantity,
    service_energy,
    step_energy,
)

cover = MovingPicture(
    "The energy of a token is an area: power over time.",
    EnergyExplorer,
    only=["limit", "this batch"],
    batch=1,
    sequence=512,
)

# %% show="Context"
context = lab.context(
    {"cloud": "Cloud: H200", "edge": "Edge: a small module"},
    about={
        "cloud": "A GPU in a data center, whose energy was measured with its own counter.",
        "edge": "A small module, not measured yet: the instruments keep to the H200.",
    },
)
context

# %% [markdown]
# ## Act 1: One user and many

# %% card="opening"

# %% show="from Labs 13 and 14"
start = lab.earlier("lab_13_tail", {"load_limit": None})
print(lab.materials["from_lab_13"](start.fields, start.found), *filter(None, [start.doubt]))
users = lab.earlier("lab_14_pages", {"batch": None})
print(lab.materials["from_lab_14"](users.fields), *filter(None, [users.doubt]))

# %% card="act1_saving"

# %% [markdown]
# Each rectangle below is one token: as high as the card's power, as wide as the token's share of a step's time, and so its
# area is the joules. Drag **Conversations at once** from one to many. Which side of the rectangle changes more?

# %% instrument="A token as an area"
area = EnergyExplorer(
    title="A token as an area",
    batch=1,
    lock=lab.card("act1_saving"),
    held={"busy": lab.card("act2_waiting"), "work": lab.card("act3_writing")},
)
area

# %% reveal="act1_saving"
one, many = (step_energy("llama31-8b", "h200-sxm", "decode", n, 2048) for n in (1, 256))
lab.reveal(
    "act1_saving",
    model=one.energy_per_token / many.energy_per_token,
    measured=lab.materials["measured_saving"](),
    digits=2,
    contrast={
        "Power of 256, against one": (many.power / one.power, "×"),
        "Time of a step of 256, against one": (many.time / one.time, "×"),
        "Measured with contexts of 512": (lab.materials["measured_saving"](512), "×"),
    },
    moves=[
        Move("Raise the conversations to 64 or more", area, lambda w: w.batch >= 64),
        Move("Choose a context of 512 or less", area, lambda w: w.sequence <= 512),
    ],
)

# %% answer="least_batch"
fixed, each = lab.p.writing_watts * lab.p.fixed_ms, lab.p.writing_watts * lab.p.each_ms
tokens = sum((lab.p.right_pct / 100) ** k for k in range(lab.p.guesses + 1))
least_batch = {
    "least_batch": fixed / (lab.materials["allowed_mj"](lab.p) - each),
    "guessed_mj": fixed * lab.p.check / tokens,
}[lab.p.least_batch]

# %% [markdown] deeper=true
# ### Deeper: where the joules go

# %% card="act1_why"

# %% [markdown]
# ## Act 2: A card that waits

# %% card="night_message"

# %% card="act2_waiting"

# %% [markdown]
# The same card, and now it also waits. Move **Busy** and watch the areas. Then change the **grid** and the **data center**:
# which of the numbers move?

# %% instrument="A token with its rests"
rests = EnergyExplorer(
    title="A token with its rests",
    batch=256,
    busy=0.1,
    lock=lab.card("act2_waiting"),
    held={"work": lab.card("act3_writing")},
)
rests

# %% reveal="act2_waiting"
rate = many.tokens / many.time
night = service_energy(many.power, rate, 0.1, many.idle)
lab.reveal(
    "act2_waiting",
    model=night.energy_per_token / many.energy_per_token,
    measured=lab.materials["measured_waiting"](),
    worked=night,
    digits=2,
    contrast={
        "A card that waits": (many.idle, "W"),
        "Half busy": (
            service_energy(many.power, rate, 0.5, many.idle).energy_per_token
            / many.energy_per_token,
            "×",
        ),
    },
    moves=[
        Move("Set the card to half busy or more", rests, lambda w: w.busy >= 0.5),
        Move("Choose another grid", rests, lambda w: w.grid != "world"),
    ],
)

# %% answer="waiting_energy"
second = lab.materials["night_mj"](lab.p) * 1e-3 * lab.p.full_rate
waiting_energy = 100 * lab.p.idle_watts / (second - lab.p.busy_watts + lab.p.idle_watts)

# %% answer="spare_kwh"
spare = math.log(100) / lab.p.tail  # of the time of the cards that stay on
work = lab.p.cards * lab.p.quiet_pct / 100
spare_kwh = work * spare / (1 - spare) * lab.p.idle_watts * lab.p.hours / 1e3

# %% answer="most_saved"
before, after, here, there = lab.materials["changes_of"](lab.p)
joules = lab.materials["joules"]
changed = {
    "batch": energy_bill(1e9, joules(after), here, "average").carbon,
    "grid": energy_bill(1e9, joules(before), there, "average").carbon,
    "center": energy_bill(1e9, joules(before), here, "hyperscale").carbon,
}
most_saved = min(changed, key=changed.get)

# %% answer="carbon_limit"
grams = lab.materials["tonnes"](lab.p) * 1e6
year = lab.p.daily_billion * 1e9 * 365 * lab.p.pue / 3.6e6  # kWh for each joule of a token
carbon_limit = {
    "carbon_limit": grams / (year * lab.p.token_mj / 1e3),
    "token_mj_allowed": 1e3 * grams / lab.p.grid_g / year,
}[lab.p.carbon_limit]

# %% [markdown] deeper=true
# ### Deeper: what helps at night

# %% card="act2_remedy"

# %% card="act1_math"

# %% card="act2_math"

# %% [markdown] deeper=true
# ## Deeper: Act 3, Reading and writing

# %% card="prompt_message"

# %% card="act3_writing"

# %% [markdown]
# Switch between tokens that are **written** and **read**, and move the batch with either.

# %% instrument="Written and read"
both = EnergyExplorer(title="Written and read", batch=16, lock=lab.card("act3_writing"))
both

# %% reveal="act3_writing"
lab.reveal(
    "act3_writing",
    model=lab.materials["writing"](),
    measured=lab.materials["measured_writing"](),
    digits=2,
    contrast={
        "With a single user, measured": (lab.materials["measured_writing"](1), "%"),
        "A token that is read": (lab.materials["joules"](1, "prefill"), "J"),
        "A token that is written, 256 at once": (lab.materials["joules"](256), "J"),
    },
    moves=[
        Move(
            "Have tokens read, 64 or more at once",
            both,
            lambda w: w.work == "prefill" and w.batch >= 64,
        )
    ],
)

# %% answer="writing_pct"
read_mj = lab.p.prompt_tokens * lab.p.read_mj
written_mj = lab.p.most_tokens * lab.p.written_pct / 100 * lab.p.write_mj
writing_pct = {
    "writing_pct": 100 * written_mj / (written_mj + read_mj),
    "longest_prompt": written_mj * (100 / lab.p.answer_pct - 1) / lab.p.read_mj,
}[lab.p.writing_pct]

# %% [markdown] deeper=true
# ## Deeper: your advice, and what you did

# %% [markdown] essay="advice"
# Noor: a panel shows power, and we pay for energy, which is power times time. A token takes
# {{ q(float(f"{float(step_energy('llama31-8b', 'h200-sxm', 'decode', 1, 2048).energy_per_token):.2g}"), "J") }} at the card with one user, and
# with 256 {{ q(float(f"{float(step_energy('llama31-8b', 'h200-sxm', 'decode', 256, 2048).energy_per_token):.2g}"), "J") }}, because
# all of them share the trip of the weights. So fill the cards, up to the time that a token may take. A card that waits still
# draws {{ q(float(f"{float(step_energy('llama31-8b', 'h200-sxm', 'decode', 1, 2048).idle):.2g}"), "W") }}: at night, move the work
# to a few cards, enough for the slow end of the answers, and switch the others off. Where we buy electricity counts, too: in
# {{ grids["poland"].name }} the same joules emit {{ q(float(f"{grids['poland'].carbon / grids['canada'].carbon:.2g}")) }} times as much as in
# {{ grids["canada"].name }}, and in an average building {{ q(float(f"{data_centers['average'].pue / data_centers['hyperscale'].pue:.2g}")) }}
# times as much as in a hyperscale one. Cleaner places ask for more money. The host, the network, and limits of power were not measured.

# %% record="deeper_kept"

# %% [markdown]
# ## The design you pass on
#
# Four places offer electricity, the cleaner ones at a higher price. Choose place, building, batch and load so that a billion
# tokens stay within what they may cost and emit, each token is in time, and the load leaves room for bursts.

# %% instrument="Where it runs"
limit = lab.materials["load_limit"](start.fields)
place = EnergyExplorer(
    title="Where it runs",
    batch=lab.materials["seats_of"](users.fields),
    busy=limit / 100,
    prices=lab.materials["offers"],
    leading=("Carbon", "Cost"),
    lock=lab.card("act2_waiting"),
    fixed=("work", "sequence", "tokens"),  # what the promises are about
    targets=[
        Target("token_time", lab.p.promise_ms * 1e-3, f"a token in {lab.p.promise_ms:g} ms"),
        Target("busy", limit / 100, f"busy {format_quantity(limit / 100, '%')} at most"),
        Target("carbon", lab.p.carbon_kg, f"at most {lab.p.carbon_kg:g} kg"),
        Target("cost", lab.p.cost_usd, f"at most {lab.p.cost_usd:g} USD"),
    ],
)
place

# %% design=true
lab.design(
    {
        "grid": lambda: place.grid,
        "center": lambda: place.center,
        "batch": lambda: float(place.batch),
        "busy_percent": lambda: 100 * float(place.busy),
        "token_millijoules": lambda: 1e3 * place.result.energy_per_token,
        "carbon_kg": lambda: place.result.carbon,
        "cost_usd": lambda: place.result.cost,
        "constraint_hit": lambda: bool(place.misses),
        "act1_prediction": lambda: lab.card("act1_saving").words,
        "act1_correct": lambda: lab.card("act1_saving").value == lab.items["act1_saving"].answer,
        "act2_prediction": lambda: lab.card("act2_waiting").words,
        "act2_correct": lambda: lab.card("act2_waiting").value == lab.items["act2_waiting"].answer,
    },
    after=["act1_saving", "act2_waiting"],
    keeps={"place": place},
    headline=lambda: (
        f"{place.controls['grid'].options(place)[place.grid]},"
        f" {format_quantity(place.batch)} at once,"
        f" {format_quantity(float(f'{place.result.carbon:.2g}'), 'kg')} and"
        f" {format_quantity(place.result.cost, 'USD')} for a billion tokens"
    ),
)

# %% [markdown]
# ## Where you stand

# %% record="commitments"

# %% show="Where you stand"
lab.hud(
    constraints=place,
    decisions={"Place": lambda: place.controls["grid"].options(place)[place.grid]},
    numbers={
        "Carbon": lambda: (place.result.carbon, "kg"),
        "Cost": lambda: (place.result.cost, "USD"),
    },
    after={"Place": "act2_waiting", "Carbon": "act2_waiting", "Cost": "act2_waiting"},
)

# %% card="takeaways"
