# %% [markdown]
# # Lab 13: The Tail at Eighty Percent
#
# Is a fifth of spare time enough for a server? Find out how long its users wait, why a benchmark may not see it, and which
# load a promise allows.
#
# **Read first** the chapter on serving and deployment of *Machine Learning Systems*, up to latency percentiles.

# %% setup=true
import math

from mlsys_widgets import Move, MovingPicture, QueueExplorer, ServingExplorer, Target
from mlsys_widgets.physics import (
    format_quantity,
    one_client,
    queue,
    serving_time,
)

cover = MovingPicture(
    "Requests arrive, stand in line, and are served.", QueueExplorer, load=0.6, until=0.7
)

# %% [markdown]
# ## Where does it run?
#
# Instruments start with the service time of your choice; each question names its own.

# %% show="Context"
service = {"cloud": 0.04, "edge": 0.4}
context = lab.context(
    {"cloud": "Cloud: a GPU", "edge": "Edge: a small module"},
    about={
        where: f"A summary takes {format_quantity(seconds, 's')} of service."
        for where, seconds in service.items()
    },
)
context

# %% [markdown]
# ## Act 1: Eighty percent busy

# %% card="opening"

# %% show="from Lab 11"
start = lab.earlier("lab_11_roofline", {"tokens_per_second": None, "launch": "graph"})
print(lab.materials["from_lab_11"](start.fields, start.found), *filter(None, [start.doubt]))

# %% card="act1_eighty"

# %% [markdown]
# Drag the dot along the curve of the mean, and play the film (**Play it**). The plot below shows one run: see how long
# requests wait after several came at once. Then add **servers**, and switch the **context**: which numbers move?

# %% instrument="A server and its line"
line = QueueExplorer(
    title="A server and its line",
    load=0.8,
    lock=lab.card("act1_eighty"),
    loops=lab.card("act2_closed"),
)
lab.follow(line, service=service)

# %% reveal="act1_eighty"
busy = queue(0.8 / 0.04, 0.04)
lab.reveal(
    "act1_eighty",
    model=busy.tail_slowdown,
    contrast={
        "Mean over service, half busy": queue(0.5 / 0.04, 0.04).slowdown,
        "p99 over service, nine tenths busy": queue(0.9 / 0.04, 0.04).tail_slowdown,
    },
    moves=[
        Move("Set Busy to 50% or below", line, lambda q: q.load <= 0.5),
        Move("Set Busy to 90% or above", line, lambda q: q.load >= 0.9),
        Move("Set 4 servers", line, servers=4),
    ],
)

# %% answer="highest_rate_per_s"
promise = lab.p.promise_ms / 1e3
mean = promise / math.log(100)  # p99 is the mean times ln 100
highest_rate_per_s = {
    "highest_rate_per_s": 1e3 / lab.p.service_ms - 1 / mean,
    "longest_service_ms": 1e3 * mean / (1 + lab.p.rate * mean),
}[lab.p.highest_rate_per_s]

# %% answer="one_or_two"
percent, slower, services = map(float, lab.p.pair.split())
fast = lab.p.pair_ms / 1e3
arrivals = percent / 100 / fast
kept = [
    name
    for name, tail in (
        ("one", queue(arrivals, fast).tail),
        ("two", queue(arrivals, slower * fast, 2).tail),
    )
    if tail <= services * fast
]
one_or_two = kept[0] if len(kept) == 1 else "both"

# %% answer="late_pct"
spare = 1 - lab.p.busy_pct / 100
late_pct = 100 * math.exp(-lab.p.patience * spare)

# %% [markdown] deeper=true
# ### Deeper: requests of one length

# %% answer="steady_busy_pct"
steady_busy_pct = 100 * 2 * lab.p.wait_ms / (lab.p.service_ms + 2 * lab.p.wait_ms)

# %% card="act1_why"

# %% card="act1_peek"

# %% [markdown]
# ## Act 2: What a benchmark sees

# %% card="benchmark_message"

# %% card="act2_closed"

# %% [markdown]
# Here the script is the only client. Switch **who sends** and play both films.

# %% instrument="The same server, measured by a script"
script = QueueExplorer(
    title="The same server, measured by a script",
    load=0.8,
    loop="closed",
    lock=lab.card("act2_closed"),
)
lab.follow(script, service=service)

# %% reveal="act2_closed"
alone = one_client(0.8 / 0.04, 0.04)
lab.reveal(
    "act2_closed",
    model=alone.slowdown,
    contrast={
        "p99 over service, as the script reports it": alone.tail_slowdown,
        "Mean over service, as users see it": busy.slowdown,
        "p99 over service, as users see it": busy.tail_slowdown,
    },
    moves=[
        Move("Have users send", script, loop="open"),
        Move("Set Busy to 90% or above", script, lambda q: q.load >= 0.9),
    ],
)

# %% [markdown]
# ### On your own machine
#
# Now a real server. Compare both loops, and see by how much the simulation is off.

# %% card="measurement"

# %% answer="users_rate_per_s"
reported, worse = lab.p.reported_ms / 1e3, lab.p.worse
users_rate_per_s = {
    "users_rate_per_s": (1 - 1 / worse) / reported,
    "pause_ms": 1e3 * reported / (worse - 1),
}[lab.p.users_rate_per_s]

# %% answer="slow_leaf_pct"
pages = lab.p.pages_pct / 100
slow_leaf_pct = 100 * (1 - (1 - pages) ** (1 / lab.p.leaves))

# %% [markdown]
# ### Your limit
#
# The budget buys one server as fast as in the context, or several that together complete no more: two take twice the service
# time each. Three lamps stand for the promise, the requests and the budget.

# %% instrument="Your limit"


def targets():
    seconds = service[context.context]
    most = 1 / seconds
    return [
        Target("tail", 12 * seconds, f"promise of {format_quantity(12 * seconds, 's')} for p99"),
        Target(
            "arrivals",
            lab.p.demand_pct / 100 * most,
            f"at least {format_quantity(lab.p.demand_pct / 100 * most, '/s')}",
            "at least",
        ),
        Target("capacity", most, f"budget of {format_quantity(most, '/s')}", spare=False),
    ]


plan = QueueExplorer(
    title="Your limit",
    load=0.8,
    servers=2,
    targets=targets,
    fixed=("part", "loop"),
    lock=lab.card("act2_closed"),
)
lab.follow(plan, service={where: 2 * seconds for where, seconds in service.items()})

# %% [markdown] deeper=true
# ### Deeper: how to measure, and the equations

# %% card="act2_why"

# %% card="act2_peek"

# %% [markdown] deeper=true
# ## Deeper: Act 3, Many at once

# %% card="batch_message"

# %% card="act3_batch"

# %% [markdown]
# The explorer knows the steps of an H200. Raise the **batch** and see what a step costs everybody, and what the device
# writes.

# %% instrument="A step of the batch"
tokens = ServingExplorer(
    title="A step of the batch",
    batch=1,
    sequence=2048,
    launch=start.fields["launch"] if start.fields.get("launch") in ("async", "graph") else "graph",
    lock=lab.card("act3_batch"),
    hints=lab.card("act2_why"),
)
tokens

# %% reveal="act3_batch"
filled = lab.materials["batches"](0.8)
step = serving_time("llama31-8b", "h200-sxm", "decode", 1, 2048).time
lab.reveal(
    "act3_batch",
    model=float(filled.token_time) / float(step),
    digits=2,
    contrast={
        "Conversations at once, on average": float(filled.in_system),
        "A step of one": (float(step), "s"),
        "A token, waiting included": (float(filled.token_time), "s"),
    },
    moves=[Move("Raise the batch to 64 or more", tokens, lambda t: t.batch >= 64)],
)

# %% answer="batch_rate_per_s"
seats = serving_time("llama31-8b", "h200-sxm", "decode", lab.p.seats, 2048)
completed = float(seats.tokens_per_second) / lab.p.answer_tokens
batch_rate_per_s = lab.p.filled_pct / 100 * completed

# %% [markdown] deeper=true
# ## Deeper: your advice, and what you did

# %% [markdown] essay="advice"
# Noor: a limit in percent is no promise. At {{ q(queue(20, 0.04).utilization, "%") }} the mean answer takes
# {{ q(queue(20, 0.04).slowdown, "×") }} its service and p99 {{ q(queue(20, 0.04).tail_slowdown, "×") }}, because a bunch of
# requests finds no spare time that was kept for it: what the server did not do in a quiet second is lost. So start from what
# sales has signed. p99 is ln 100 times the mean, and the mean is the service over what is spare; that gives the highest rate,
# and the load follows. Tomás: your server was as busy as theirs, but your client waits for each answer, so nobody was ever
# ahead of it. It left out the requests that would have waited. Draw the times beforehand, send when a request is due, and
# count from then. For the batch the picture changes: while seats are free nobody stands in line, everybody shares the steps,
# and a token takes somewhat longer instead of many times as long. The page is the opposite: with
# {{ q(fan_out(0.01, 100).servers) }} servers and one slow answer in a hundred, {{ q(fan_out(0.01, 100).any_slow, "%") }} of
# the pages wait, so its servers need spare time most of all.

# %% record="deeper_kept"

# %% [markdown]
# ## The design you pass on
#
# Decide for Noor: in **Your limit**, set servers, service time and load so that all three lamps are lit. Miss a promise once
# before you save.

# %% design=true
lab.design(
    {
        "context": lambda: context.context,
        "load_limit": lambda: 100 * float(plan.load),
        "servers": lambda: float(plan.servers),
        "service_ms": lambda: 1e3 * float(plan.service),
        "rate_per_second": lambda: float(plan.result.arrivals),
        "p99_ms": lambda: 1e3 * float(queue(plan.result.arrivals, plan.service, plan.servers).tail),
        "act1_prediction": lambda: lab.card("act1_eighty").words,
        "act1_correct": lambda: lab.card("act1_eighty").value == lab.items["act1_eighty"].answer,
        "act2_prediction": lambda: lab.card("act2_closed").words,
        "act2_correct": lambda: lab.card("act2_closed").value == lab.items["act2_closed"].answer,
        "constraint_hit": lambda: bool(plan.misses),
    },
    after=["act1_eighty", "act2_closed"],
    keeps={"plan": plan},
    headline=lambda: (
        f"{context.context.capitalize()}, {format_quantity(plan.load, '%')} busy,"
        f" {format_quantity(plan.servers)} at {format_quantity(plan.service, 's')}"
    ),
)

# %% [markdown]
# ## Where you stand

# %% record="commitments"

# %% show="Where you stand"

lab.hud(
    constraints=plan,
    decisions={
        "Load limit": lambda: format_quantity(plan.load, "%"),
        "Requests served": lambda: format_quantity(plan.result.arrivals, "/s"),
    },
    after={"Load limit": "act2_closed", "Requests served": "act2_closed"},
)

# %% card="takeaways"
