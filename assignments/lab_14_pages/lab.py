# %% [markdown]
# # Lab 14: Every Token Its Page
#
# A serving engine is out of memory, and a second GPU is on order. Look into the first one: how much of what is handed out
# holds a token? Then let a small model guess ahead, and find out what that gains.
#
# **Read first** the chapter on serving and deployment of *Machine Learning Systems*, up to batching and the KV cache.

# %% setup=true
from mlsys_widgets import Move, MovingPicture, PagedCache, ServingExplorer, Target
from mlsys_widgets.physics import format_quantity, paged_cache

cover = MovingPicture(
    "Answers take memory while they are written, and leave.",
    PagedCache,
    policy="paged",
    memory=0.85e9,
    until=0.2,
)

# %% [markdown]
# ## Where does it run?
#
# Wherever it is, the instruments show the H200, on which everything here was measured.

# %% show="Context"
context = lab.context(
    {"cloud": "Cloud: H200", "edge": "Edge: a small module"},
    about={
        "cloud": "A GPU in a data center, on which the requests of this lab were replayed.",
        "edge": "A module beside a camera, on which nobody has measured anything yet.",
    },
)
context

# %% [markdown]
# ## Act 1: A full cache

# %% card="opening"

# %% show="from earlier labs"
earlier = {
    name: lab.earlier(name, {field: None})
    for name, field in {
        "lab_10_fewer_bits": "precision",
        "lab_11_roofline": "batch",
        "lab_13_tail": "load_limit",
    }.items()
}
print(
    lab.materials["from_earlier"]({name: e.fields for name, e in earlier.items() if e.found}),
    *filter(None, (each.doubt for each in earlier.values())),
)

# %% card="act1_filled"

# %% [markdown]
# Below is that engine, with the requests that were replayed on the H200. Play the **film**, and switch how memory is
# **handed out**. Then drag the line of the memory down to a quarter, 1.61 GB, and compare again: who waits now?

# %% instrument="The cache of the service"
cache = PagedCache(
    title="The cache of the service",
    policy="static",
    lock=lab.card("act1_filled"),
)
cache

# %% reveal="act1_filled"
holds, sizes = lab.materials["holds"], lab.materials["memory"]
lab.reveal(
    "act1_filled",
    model=holds("static", sizes["all"]),
    measured=lab.materials["measured_share"](),
    contrast={
        "Continuous, all of the memory": (holds("continuous", sizes["all"]), "%"),
        "Continuous, a quarter of it": (holds("continuous", sizes["quarter"]), "%"),
        "Pages, a quarter of it": (holds("paged", sizes["quarter"]), "%"),
    },
    moves=[
        Move("Hand out rooms continuously", cache, policy="continuous"),
        Move("Hand out pages", cache, policy="paged"),
        Move("Set the memory to 1.7 GB or less", cache, lambda c: c.memory <= 1.7e9),
    ],
)

# %% answer="users_and_pages"
kept = lab.p.prompt_tokens + lab.p.answer_tokens / 2
empty = lab.p.empty_pct / 100
users_and_pages = {
    "users_and_pages": lab.p.cache_gb * 1e9 / 131_072 / (kept + (lab.p.block - 1) / 2),
    "page_tokens": 1 + 2 * kept * empty / (1 - empty),
}[lab.p.users_and_pages]

# %% answer="smaller_or_paged"
prompt, answer, room, block, per_gigabyte = map(float, lab.p.offer.split())
wanted, places = round(per_gigabyte * lab.p.offer_gb), lab.p.offer_gb * 1e9 / 131_072
holding = {"fp8": 2 * places / room, "pages": places / (prompt + answer / 2 + (block - 1) / 2)}
enough = [name for name, users in holding.items() if users >= wanted]
smaller_or_paged = enough[0] if len(enough) == 1 else "both"

# %% answer="rate_per_s"
full = paged_cache(
    lab.p.cache_gb * 1e9, 131_072, lab.p.prompt_tokens, lab.p.answer_tokens, lab.p.block
)
rate_per_s = float(full.users) / (lab.p.answer_tokens * lab.p.step_ms / 1e3)

# %% [markdown] deeper=true
# ### Deeper: who is let in, and what pages change


# %% answer="admission"
def admit(free_pages, running, waiting):
    count = 0
    for tokens, _ in waiting:
        free_pages -= -(-tokens // 16)
        # Everybody inside wants more pages, and soon.
        if free_pages < 2 * (len(running) + count + 1):
            break
        count += 1
    return count


admission = admit

# %% card="act1_why"

# %% card="act1_peek"

# %% [markdown]
# ## Act 2: Guessing ahead

# %% card="guess_message"

# %% card="act2_guess"

# %% [markdown]
# A step that checks several tokens of one user reads the weights once for several rows, like a step for several users. Raise
# the **batch** to 8, the rows of one user with seven guesses, to {{ q(128) }}, and to {{ q(8 * 128) }}, the rows of {{ q(128) }} users, and watch
# **Time per token**: what do more rows cost? (Users in the instrument have a cache each. The rows of one user share theirs.)

# %% instrument="Rows of a step"
rows = ServingExplorer(
    title="Rows of a step",
    batch=1,
    sequence=512,
    launch="graph",
    lock=lab.card("act2_guess"),
    hints=lab.card("act2_why"),
)
rows

# %% reveal="act2_guess"
guessing = lab.materials["guessing"]
one, many, fewer = guessing(1), guessing(128), guessing(128, 3)
lab.reveal(
    "act2_guess",
    measured=many.speedup,
    worked=many,
    contrast={
        "Checking 8 tokens, one user": (one.check, "×"),
        "Checking 8 tokens, 128 users": (many.check, "×"),
        "Tokens that guessing writes, 128 users": float(many.tokens),
        "Tokens of plain steps in that time": float(many.time),
        "The gain with 128 users and 3 guesses": (fewer.speedup, "×"),
    },
    moves=[
        Move("Raise the batch to 8", rows, lambda r: r.batch >= 8),
        Move("Raise it to 128, and then to 1,024", rows, lambda r: r.batch >= 1000),
    ],
)

# %% answer="guesses_and_time"
chance = lab.p.right_pct / 100
tokens = sum(chance**k for k in range(lab.p.guesses + 1))
guesses_and_time = {
    "guesses_and_time": tokens / (lab.p.check + lab.p.guesses * lab.p.guess_pct / 100),
    "slowest_guess_pct": 100 * (tokens - lab.p.check) / lab.p.guesses,
}[lab.p.guesses_and_time]

# %% answer="least_right_pct"
least_right_pct = 100 * (lab.p.check + lab.p.guess_pct / 100 - 1)

# %% [markdown] deeper=true
# ### Deeper: why checking costs what it does

# %% card="act2_why"

# %% card="act2_peek"

# %% [markdown] essay="advice"
# Noor: full means handed out. Rooms for the longest request in batches held a token in
# {{ q(lab.materials["measured_share"](), "%") }} of the cache on the H200, because a usual request needs a quarter of its room and a batch
# keeps all rooms until its longest answer ends. Fill rooms again as soon as they are free, and hand out pages of a few
# tokens: then a quarter of the memory serves the same users, and
# {{ q(lab.materials["holds"]("paged", 1.61e9), "%") }} of it holds tokens. Do not buy the card. Pages can run out, since nobody is promised the
# longest answer any more; the one that came last then gives its pages back and is read again, so limit how many are served at
# once and leave some memory. Lena: guess while few are there. Checking takes {{ q(lab.materials["guessing"](1).check, "×") }} as long as a step for one user
# and {{ q(lab.materials["guessing"](128).check, "×") }} for {{ q(128) }}, and as many tokens come out of it, so your seven guesses make answers
# {{ q(lab.materials["guessing"](1).speedup, "×") }} and {{ q(lab.materials["guessing"](128).speedup, "×") }} as fast; with three they would still gain something.
# Measure how many guesses our own users' text keeps, and what a checking step takes at our batch, before you switch it on.

# %% record="deeper_kept"

# %% [markdown]
# ## The design you pass on
#
# Decide for Noor: in **Your cache**, choose how memory is handed out, and how many are served at once. Four lamps stand for the
# promises: memory, requests, the first token and the further ones. First look which of them an engine with rooms breaks.

# %% instrument="Your cache"
service = PagedCache(
    title="Your cache",
    policy="continuous",
    memory=2.4e9,
    load=lab.p.load,
    leading=("First token, 9 of 10 within", "Each further token"),
    lock=lab.card("act1_filled"),
    targets=[
        Target("memory", 2.4e9, "memory of 2.4 GB", spare=False),
        Target("load", lab.p.load, f"{lab.p.load:g} requests per second", "at least", spare=False),
        Target("wait", 1.3, "first token within 1.3 s"),
        Target("pace", 9.2e-3, "further tokens within 9.2 ms"),
    ],
)
service

# %% design=true
lab.design(
    {
        "policy": lambda: service.policy,
        "memory_gb": lambda: float(service.memory) / 1e9,
        "block": lambda: float(service.block),
        "batch": lambda: float(service.most),
        "users": lambda: float(service.run.served.users),
        "rate_per_second": lambda: float(service.load),
        "first_token_s": lambda: float(service.wait),
        "token_ms": lambda: 1e3 * float(service.pace),
        "act1_prediction": lambda: lab.card("act1_filled").words,
        "act1_correct": lambda: lab.card("act1_filled").value == lab.items["act1_filled"].answer,
        "act2_prediction": lambda: lab.card("act2_guess").words,
        "act2_correct": lambda: lab.card("act2_guess").value == lab.items["act2_guess"].answer,
        "constraint_hit": lambda: bool(service.misses),
    },
    after=["act1_filled", "act2_guess"],
    keeps={"service": service},
    headline=lambda: (
        f"{service.policy.capitalize()}, {format_quantity(service.memory, 'B')},"
        f" {format_quantity(service.most)} at once"
    ),
)

# %% [markdown]
# ## Where you stand

# %% record="commitments"

# %% show="Where you stand"
lab.hud(
    constraints=service,
    decisions={"Handed out in": "policy", "At once": lambda: format_quantity(service.most)},
    numbers={
        "First token": lambda: (service.wait, "s"),
        "Holds tokens": lambda: (float(service.result.filled), "%"),
    },
    after={"First token": "act1_filled", "Holds tokens": "act1_filled"},
)

# %% card="takeaways"
