# %% [markdown]
# # Lab 07: The Kernel Fusion Dividend
#
# The CPU launches each kernel of a model, which takes time: the *dispatch tax*. The chapter says 5 to
# 20 µs; here it is {{ q(devices["a100-sxm"].launch(), "s") }} on a server and {{ q(devices["orin-nx"].launch(), "s") }} on
# a small board.
#
# **Read first** the chapter on ML frameworks.

# %% setup=true
import math
from itertools import pairwise

from mlsys_widgets import (
    BreakEvenTimeline,
    CompilationSpectrum,
    DispatchWaterfall,
    FusionDecision,
    FusionExplorer,
    Move,
    MovingPicture,
    Target,
    measured,
)
from mlsys_widgets import physics as ph
from mlsys_widgets.measured import findings

cover = MovingPicture("The CPU launches kernels, and the GPU runs them.", DispatchWaterfall)

# %% [markdown]
# ## Where does it run?
#
# Everything follows this switch, but kernels take equally long on both.

# %% show="Context"
context = lab.context(
    {"cloud": "Cloud: A100", "edge": "Edge: Jetson Orin NX"},
    about={
        place: f"{words} {ph.devices[key].name}: {ph.format_quantity(ph.devices[key].launch(), 's')}"
        f" per launch, {ph.format_quantity(ph.devices[key].bandwidth, 'B/s')}."
        for place, key, words in (
            ("cloud", "a100-sxm", "A server that gets 10 million requests per day."),
            ("edge", "orin-nx", "A small box that gets about a hundred requests per hour."),
        )
    },
)
context

# %% [markdown]
# ## Act 1: The dispatch tax audit

# %% card="act1_message"

# %% card="act1_utilization"

# %% [markdown]
# In the cloud, *This run* is Finance's GPU and *Textbook* is Noor's; *Utilization* marks your prediction with a purple
# diamond. The waterfall also counts moving data: Noor's
# {{ q(forward_pass(1, workloads["kws"].compute_per_kernel, devices["a100-sxm"].launch()).utilization, "%") }} reads
# {{ q(run("kws", "a100-sxm").utilization, "%") }} there.

# %% instrument="Dispatch waterfall"
kws = lab.follow(
    DispatchWaterfall(lock=lab.card("act1_utilization"), hints=lab.card("act2_fusion")),
    device={"cloud": "a100-sxm", "edge": "orin-nx"},
    speedup={"cloud": lab.p.faster, "edge": 1},
)
kws

# %% reveal="act1_utilization"
spotter, launch = ph.workloads["kws"], ph.devices["a100-sxm"].launch()
today, bought = (
    ph.forward_pass(spotter.kernels, spotter.compute_per_kernel / times, launch)
    for times in (1, lab.p.faster)
)
layer = ph.run("gpt2-layer", "a100-sxm")
act1 = lab.reveal(
    "act1_utilization",
    model=bought.utilization,
    worked=bought,
    contrast={
        "With moving data, as in the waterfall": (
            ph.run("kws", "a100-sxm", speedup=lab.p.faster).utilization,
            "%",
        ),
        "The GPU that Noor owns": (today.utilization, "%"),
        "A pass there": (today.total, "s"),
        "A GPT-2 layer there": (layer.utilization, "%"),
        "Its kernels": (layer.compute_per_kernel, "s"),
        "Its launches": (layer.launch_overhead, "s"),
    },
    moves=[
        Move("Set Faster GPU back to 1× for the keyword spotter", kws, model="kws", speedup=1),
        Move("Switch the keyword spotter to Compiled", kws, model="kws", mode="compiled"),
        Move("Select the GPT-2 layer", kws, model="gpt2-layer"),
    ],
)
act1


# %% answer="launch_budget_us"
# kernel / (kernel + launch) = goal, solved for what is asked
goal = lab.p.goal_pct / 100
launch_budget_us = {
    "launch_budget_us": lab.p.kernel_us * (1 - goal) / goal,
    "shortest_kernel_us": lab.p.launch_us * goal / (1 - goal),
}[lab.p.launch_budget_us]

# %% [markdown] deeper=true
# ### Deeper: what a faster GPU saves, and how a real one keeps up

# %% card="act1_worked"

# %% answer="faster_gpu_saves_pct"
before = lab.p.kernel_us + lab.p.launch_us
after = lab.p.kernel_us / lab.p.faster + lab.p.launch_us
faster_gpu_saves_pct = 100 * (1 - after / before)

# %% card="act1_why"

# %% [markdown]
# #### A reality check
#
# So far, every launch waited for the kernel before it. Does a real GPU?

# %% card="act1_real"

# %% reveal="act1_real"
# Kernels of 5 µs, and kernels so short that the launches alone take the time.
real, tiny = (
    measured.cases("h200-sxm", kind="dispatch", variant="eager", length=length, launches=1000)[0]
    for length in ("5us", "tiny")
)
launch = tiny.seconds.median / tiny.kernels
ahead = ph.forward_pass(real.kernels, real.gpu_busy / real.kernels, launch, launch="async")
lab.reveal("act1_real", model=ahead.utilization, measured=real.gpu_busy / real.seconds.median)

# %% [markdown]
# Below is the spotter on an H200, where a launch was measured at {{ q(devices["h200-sxm"].launch(), "s") }}. Set *Launches* to
# *Asynchronous* and watch *First kernels*. Then select ResNet-50, and compare its kernels with a launch.

# %% instrument="Dispatch waterfall of an H200"
DispatchWaterfall(
    title="Dispatch waterfall of an H200",
    device="h200-sxm",
    lock=lab.card("act1_real"),
    hints=lab.card("act2_fusion"),
)

# %% answer="stream_wall_ms"
# The two readings give a pace per kernel; go on from the shorter stream at that pace.
few, many = (
    measured.cases("h200-sxm", kind="dispatch", variant="eager", length="5us", launches=n)[0]
    for n in (300, 1000)
)
pace = (many.seconds.median - few.seconds.median) / (many.kernels - few.kernels)
wall = few.seconds.median + pace * (lab.p.stream_kernels - few.kernels)
stream_wall_ms = 1e3 * lab.p.streams * wall

# %% answer="kernels_left"
# Launches set the pace, so the pass takes (kernels left) launches; computing must fill the goal.
compute = lab.p.kernels * lab.p.kernel_us
kernels_left = compute / (lab.p.goal_pct / 100) / lab.p.launch_us

# %% card="act1_math"

# %% [markdown]
# ### One change

# %% answer="best_offer"
kernel, launch = lab.materials["wake_us"](lab.p), lab.p.launch_us
per_kernel = {
    "gpu": kernel / lab.p.faster + launch,
    "compile": kernel + launch * (1 - lab.p.fused_pct / 100),
    "ahead": max(kernel, launch),
}
best_offer = min(per_kernel, key=per_kernel.get)

# %% [markdown]
# ## Act 2: What fusing and compiling buy

# %% card="act2_message"

# %% [markdown]
# ### Panel A: fusion

# %% card="act2_fusion"

# %% [markdown]
# Switch *Fused* on and off: which tensors stay on the chip?

# %% instrument="Fusion explorer"
fusion = lab.follow(
    FusionExplorer(measured=True, lock=lab.card("act2_fusion"), hints=lab.card("act2_traffic")),
    device={"cloud": "a100-sxm", "edge": "orin-nx"},
)
fusion

# %% reveal="act2_fusion"
text = FusionExplorer(measured=True)
lab.reveal(
    "act2_fusion",
    model=text.result.speedup,
    measured=text.finding.wall["triton"],
    judged_by="model",  # of the device that the question names
    worked={
        "Data moved, unfused": (text.result.unfused_traffic, "B"),
        "Data moved, fused": (text.result.fused_traffic, "B"),
        "Intensity, unfused": (text.result.unfused_intensity, "FLOP/B"),
        "Intensity, fused": (text.result.fused_intensity, "FLOP/B"),
        "Ridge": (text.ridge, "FLOP/B"),
        "Time, unfused": (text.result.unfused_time, "s"),
        "Time, fused": (text.result.fused_time, "s"),
    },
    moves=[
        Move("Switch Fused on", fusion, fused=True),
        Move("Raise the bandwidth to 3 TB/s or more", fusion, lambda w: w.bandwidth >= 3e12),
    ],
)

# %% answer="fusion_saves_ms"
# Two launches of three, and four passes over the tensor of six; the arithmetic stays.
tensor = lab.p.rows * lab.p.columns * 2
saved = 2 * lab.p.launch_us * 1e-6 + 4 * tensor / ph.devices["a100-sxm"].bandwidth
fusion_saves_ms = 1e3 * lab.p.layers * saved

# %% [markdown]
# ### Panel B: compiling

# %% card="act2_break_even"

# %% [markdown]
# Red is what compiling costs, green what it has saved.

# %% instrument="Break-even timeline"
plan = lab.follow(
    BreakEvenTimeline(lock=lab.card("act2_break_even"), hints=lab.card("act2_one_product")),
    preset={"cloud": "resnet50-cloud", "edge": "kws-edge"},
)
plan

# %% reveal="act2_break_even"
challenge = BreakEvenTimeline(preset="kws-service")


def challenge_pays(w):
    same = all(w.inputs[name] == challenge.inputs[name] for name in ("eager_rate", "per_day"))
    return same and bool(w.result.roi_positive)


resnet, batches = ph.workloads["resnet50"], findings.break_evens(measured.load("h200-sxm"))
images = ph.break_even(resnet.compile_time, resnet.eager_rate, resnet.compiled_rate)
saved = 1 / resnet.eager_rate - 1 / resnet.compiled_rate
(real,) = (b for b in batches if (b.model, b.batch, b.variant) == ("resnet50", 256, "compiled"))
act2 = lab.reveal(
    "act2_break_even",
    model=images,
    measured=real.break_even,
    judged_by="model",  # of the rates that the question gives
    worked={"Compile time": (resnet.compile_time, "s"), "Saved per image": (saved, "s")},
    moves=[
        Move("Select the CI pipeline", plan, preset="ci-run"),
        Move("Make the challenge pay with a longer time in service", plan, challenge_pays),
    ],
)
act2

# %% answer="deploys_per_day_limit"
saved_per_image = 1 / lab.p.eager_rate - 1 / lab.p.compiled_rate
deploys_per_day_limit = {
    "deploys_per_day_limit": lab.p.server_images * saved_per_image / lab.p.compile_s,
    "server_images_million": lab.p.deploys * lab.p.compile_s / saved_per_image / 1e6,
}[lab.p.deploys_per_day_limit]

# %% answer="where_to_compile"
cloud = ph.deployment(
    lab.p.compile_s,
    lab.p.eager_rate,
    lab.p.compiled_rate,
    per_day=lab.p.server_images,
    days=1 / lab.p.deploys,
)
edge = ph.deployment(
    lab.p.kws_compile_s,
    1 / ph.run("kws", "orin-nx").total,
    gain=lab.p.kws_gain,
    per_day=24 * lab.p.per_hour,
    days=lab.p.service_hours / 24,
)
verdicts = {
    (True, True): "both",
    (True, False): "cloud",
    (False, True): "edge",
    (False, False): "neither",
}
where_to_compile = verdicts[bool(cloud.roi_positive), bool(edge.roi_positive)]

# %% [markdown] deeper=true
# ### Deeper: what fusing saves, when compiling pays, and your reply

# %% card="act2_claims"

# %% answer="rows_until_traffic_counts"
# In the time of a launch, memory moves this many bytes; a row is read once and written once.
moved = lab.p.launch_us * 1e-6 * ph.devices["a100-sxm"].bandwidth
row = 2 * lab.p.columns * {"fp16": 2, "fp32": 4}[lab.p.precision]
rows_until_traffic_counts = moved / row

# %% answer="ridge_gap_times"
size = {"fp16": 2, "fp32": 4}[lab.p.precision]
fused = ph.fuse(ph.chain("layernorm", lab.p.middle, lab.p.activation), 1024, size)
# Elementwise arithmetic runs on the vector units, not on Tensor Cores.
machine = ph.devices[lab.p.gpu]
bandwidth = lab.p.reached_pct / 100 * machine.bandwidth
ridge_gap_times = machine.elementwise_rate() / bandwidth / fused.fused_intensity

# %% card="act2_traffic"

# %% card="act2_bandwidth"

# %% [markdown]
# Not every pair can become one kernel. The tree below asks the questions that a compiler asks; follow its path for the
# neighbors in the next question.

# %% instrument="Fusion decision"
FusionDecision(
    first="layernorm",
    second="dropout",
    lock=lab.card("act2_fusion"),
    hints=lab.card("act2_break_even"),
)

# %% answer="kernels_after_fusing"
operations = lab.materials["sequence"](lab.p)
cuts = sum(not ph.can_fuse(*pair).fusible for pair in pairwise(operations))
kernels_after_fusing = {2: "two", 3: "three", 4: "four", 5: "five"}[1 + cuts]

# %% answer="edge_requests_per_hour"
eager = ph.run("kws", "orin-nx").total
saved_per_request = eager - eager / (1 + lab.p.kws_gain)
edge_requests_per_hour = lab.p.kws_compile_s / saved_per_request / lab.p.service_hours


# %% answer="when_to_compile"
def calls_to_break_even(compile_s, eager_ms, compiled_ms):
    from math import ceil

    saved_ms = eager_ms - compiled_ms
    return ceil(1000 * compile_s / saved_ms) if saved_ms > 0 else None


when_to_compile = calls_to_break_even

# %% card="act2_one_product"

# %% card="act2_math"

# %% card="chapter_claims"

# %% [markdown] essay="reply"
# Noor, do not buy the GPU. Launched one by one, the spotter computes
# {{ q(forward_pass(p.kernels, p.kernel_us * 1e-6, p.launch_us * 1e-6).utilization, "%") }} of the time, and kernels
# {{ q(p.faster, "×") }} as fast leave the launches as they are. Real launches run ahead, which lifts it to
# {{ q(forward_pass(p.kernels, p.kernel_us * 1e-6, p.launch_us * 1e-6, launch="async").utilization, "%") }} and no
# further, because launches then set the pace. Fewer kernels help.
#
# Tomás, fusing three operations saves two of three launches and passes over memory:
# {{ q(fuse(chain("layernorm", "dropout", "relu"), p.rows * p.columns, launch_overhead=p.launch_us * 1e-6).speedup, "×") }}
# on our tensor and never more than 3×, since no part falls by more. The 10 to 20× is FlashAttention, which never writes
# its table of scores. Compiling breaks even after {{ q(break_even(p.compile_s, p.eager_rate, p.compiled_rate), "images") }} in the cloud and
# {{ q(break_even(p.kws_compile_s, 1 / run("kws", "orin-nx").total, (1 + p.kws_gain) / run("kws", "orin-nx").total), "requests") }}
# at the edge. Compile wherever more than that arrive before the next deployment, and nowhere else.

# %% record="deeper_kept"

# %% [markdown]
# Eager to debug, compiled to serve: eager mode also wins where a graph breaks. Mark what your own models contain, and
# see what becomes of it on the way from eager to torch.compile. (Older texts name TorchScript, `torch.jit`, for this. It
# is legacy: `torch.compile` is for code that stays in Python, and `torch.export` for a graph that leaves it.)

# %% instrument="Compilation spectrum"
CompilationSpectrum(hints=lab.card("act2_one_product"))

# %% [markdown]
# ## Your design
#
# Choose a context first (switching resets the instruments), then set waterfall, explorer and timeline until every lamp is lit.

# %% design=true
modes = {
    (decided, place): "compiled" if decided in ("both", place) else "eager"
    for decided in ("both", "cloud", "edge", "neither")
    for place in ("cloud", "edge")
}


def mode():
    decided = lab.ledger.state().answers.get("where_to_compile")
    return decided and modes.get((decided.value, context.context))


def idle():
    """By how much the spotter misses what is enough for its release."""
    if kws.locked:
        return None
    own = DispatchWaterfall(
        **{name: kws.inputs[name] for name in ("device", "mode", "launch", "speedup")}
    )
    if kws.inputs != own.inputs:
        return "The waterfall shows another model, or other launches or kernels; set them back."
    # A first release needs half of the goal in the cloud, and a fifth of it at the edge.
    enough = lab.p.goal_pct / 100 / {"cloud": 2, "edge": 5}[context.context]
    missing = enough - float(kws.result.utilization)
    if missing <= 0:
        return None
    computes = ph.format_quantity(kws.result.utilization, "%")
    return (
        f"The GPU computes for {computes} of a pass. {ph.format_quantity(enough, '%')} is enough"
        f" for the release, so {100 * missing:.1f} points are missing."
    )


def unfused():
    """By how much the chain moves too much."""
    chain = fusion.result
    if fusion.locked or (fusion.fused and chain.traffic_reduction >= 2):
        return None
    moved = chain.fused_traffic if fusion.fused else chain.unfused_traffic
    half = chain.unfused_traffic / 2
    return (
        f"The chain moves {ph.format_quantity(moved, 'B')}; at most"
        f" {ph.format_quantity(half, 'B')}, half of what separate kernels move, are allowed."
    )


def contradiction():
    """Where the waterfall runs another mode than the one that was answered."""
    if mode() in (None, kws.mode):
        return None
    return f"By your answer the model runs {mode()} here; the waterfall shows {kws.mode}."


PROMISES = {"Utilization": idle, "Traffic": unfused, "Your answer": contradiction}


def misses():
    broken = [each() for each in PROMISES.values()]
    return [*plan.misses, *filter(None, broken)]


def targets():
    words = f"paid back within {ph.format_quantity(plan.days, 'days')}"
    return [Target("days_to_break_even", plan.days, words)] if mode() == "compiled" else []


def spotter_utilization(way):
    device = {"cloud": "a100-sxm", "edge": "orin-nx"}[context.context]
    return 100 * ph.run("kws", device, way).utilization


def intensity():
    chain = fusion.result
    return chain.fused_intensity if fusion.fused else chain.unfused_intensity


def inferences():
    return math.ceil(plan.result.break_even) if plan.gain else None


def headline():
    fused = "fused" if fusion.fused else "unfused"
    served = f"{ph.format_quantity(plan.days, 'days')} in service by the timeline"
    would_pay = mode() == "eager" and plan.result.roi_positive
    remark = ", although compiling would pay there" if would_pay else ""
    return f"{context.context.capitalize()}, {mode() or 'undecided'}, {fused}, {served}{remark}"


plan.targets = targets
lab.design(
    {
        "context": lambda: context.context,
        "execution_mode": mode,
        "fusion_enabled": lambda: bool(fusion.fused and len(fusion.operations.links) > 1),
        "compilation_roi_positive": lambda: bool(plan.result.roi_positive),
        "breakeven_inferences": inferences,
        "kws_utilization_eager_pct": lambda: spotter_utilization("eager"),
        "kws_utilization_compiled_pct": lambda: spotter_utilization("compiled"),
        "act1_prediction": lambda: lab.card("act1_utilization").words,
        "act1_correct": lambda: lab.card("act1_utilization").value == act1.right,
        "act2_result": inferences,
        "act2_decision": mode,
        "constraint_hit": lambda: bool(misses()),
        "act2_prediction": lambda: lab.card("act2_break_even").words,
        "act2_correct": lambda: lab.card("act2_break_even").value == act2.right,
        "arithmetic_intensity": intensity,
    },
    after=["act2_break_even"],
    keeps={"waterfall": kws, "fusion": fusion, "timeline": plan},
    headline=headline,
    promises=PROMISES,
)

# %% [markdown]
# ## Where you stand

# %% record="predictions_kept"

# %% record="work_kept"

# %% card="takeaways"


# %% show="Where you stand"
def spotter_now():
    eager, compiled = (
        ph.format_quantity(ph.run("kws", kws.device, way, kws.launch).utilization, "%")
        for way in ("eager", "compiled")
    )
    return f"{eager} eager → {compiled} compiled"


lab.hud(
    constraints={"Compiling pays": plan, **PROMISES},
    decisions={"Execution": "execution_mode", "Fusion": "fusion_enabled"},
    numbers={
        "Keyword spotter": spotter_now,
        "Break-even": lambda: ph.counted(plan.result.break_even, "inference"),
        "Intensity of the chain": lambda: (intensity(), "FLOP/B"),
    },
    after={
        "Keyword spotter": "act1_utilization",
        "Break-even": "act2_break_even",
        "Intensity of the chain": "act2_fusion",
    },
)
