# %% [markdown]
# # Lab 07: The Kernel Fusion Dividend
#
# A framework turns a model into kernels, and the CPU must launch each of them. A launch costs 5 to 20 µs, however
# small the kernel is. Fusing and compiling win that time back, and traffic with it, at a price. In this lab you find
# out when the price is worth paying.
#
# **Read first**, in the chapter on ML frameworks: the memory wall, kernel fusion and the dispatch tax, and the
# way from eager execution to compiled graphs. One number to take along: a ReLU alone in fp16 can reach
# {{ q(roofline(fuse(chain("relu"), 1024).unfused_intensity, devices["a100-sxm"].peak("fp16"), devices["a100-sxm"].bandwidth).mfu, "%") }}
# of an A100's peak. Memory is why.

# %% setup=true
from mlsys_widgets import (
    BreakEvenTimeline,
    CompilationSpectrum,
    DispatchWaterfall,
    FusionDecision,
    FusionExplorer,
    Target,
    measured,
)
from mlsys_widgets import physics as ph
from mlsys_widgets.measured import findings

# %% [markdown]
# ## Where does it run?
#
# The waterfall of Act 1, and the fusion explorer and the timeline of Act 2, follow your choice. On the A100 a launch costs
# {{ q(devices["a100-sxm"].launch(), "s") }}, on the Orin NX {{ q(devices["orin-nx"].launch(), "s") }}.

# %% show="Context"
context = lab.context(
    {"cloud": "Cloud: A100", "edge": "Edge: Jetson Orin NX"},
    about={
        "cloud": "A server in a data centre that gets 10 million requests a day.",
        "edge": "A small box on site that gets about a hundred requests an hour.",
    },
)
context

# %% [markdown]
# ## Act 1: The dispatch tax audit
#
# About 15 minutes.

# %% card="act1_message"

# %% card="act1_utilization"

# %% [markdown]
# Below is the same pass, with {{ q(run("kws", "a100-sxm").memory, "s") }} for moving data added. Try three things:
# the other two models, *compiled*, and a faster GPU.

# %% instrument="Dispatch waterfall"
kws = lab.follow(
    DispatchWaterfall(lock=lab.card("act1_utilization"), hints=lab.card("act1_real")),
    device={"cloud": "a100-sxm", "edge": "orin-nx"},
)
kws

# %% reveal="act1_utilization"
spotter, launch = ph.workloads["kws"], ph.devices["a100-sxm"].launch()
asked = ph.forward_pass(spotter.kernels, spotter.compute_per_kernel, launch)
act1 = lab.reveal("act1_utilization", model=asked.utilization)
act1

# %% answer="kws_utilization_pct"
kernel, launch = lab.p.kernel_us, lab.p.launch_us
kws_utilization_pct = 100 * kernel / (kernel + launch)

# %% answer="faster_gpu_utilization_pct"
faster = lab.p.kernel_us / lab.p.faster
faster_gpu_utilization_pct = 100 * faster / (faster + lab.p.launch_us)

# %% card="act1_why"

# %% answer="most_from_compiling"
most_from_compiling = "kws"

# %% [markdown]
# ### A reality check
#
# The audit let every launch wait for the kernel before it. A real GPU has a queue: the CPU puts kernels into it and
# does not wait for them.

# %% card="act1_real"

# %% reveal="act1_real"
(real,) = measured.cases("h200-sxm", kind="dispatch", variant="eager", length="5us", launches=1000)
each, launch = real.gpu_busy / real.kernels, measured.ceilings("h200-sxm").launch
ahead = ph.forward_pass(real.kernels, each, launch, launch="async")
lab.reveal("act1_real", model=ahead.utilization, measured=real.gpu_busy / real.seconds.median)

# %% [markdown]
# Below is the spotter on that H200. Set *Launches* to *Asynchronous* and watch the first kernels. Then choose
# ResNet-50: its kernels are longer than a launch, and the tax is gone.

# %% instrument="Dispatch waterfall of an H200"
DispatchWaterfall(device="h200-sxm", lock=lab.card("act1_real"), hints=lab.card("act2_fusion"))

# %% answer="async_utilization_pct"
# The slower of launch and kernel sets the pace; the first launch and the last kernel stand alone.
n, kernel, launch = lab.p.kernels, lab.p.kernel_us, lab.p.launch_us
total = launch + kernel + (n - 1) * max(launch, kernel)
async_utilization_pct = 100 * n * kernel / total

# %% answer="serial_stream_ms"
n = lab.p.stream_kernels
(mine,) = measured.cases("h200-sxm", kind="dispatch", variant="eager", length="5us", launches=n)
serial_stream_ms = 1e3 * (n * measured.ceilings("h200-sxm").launch + mine.gpu_busy)

# %% answer="launches_on_gpu"
launches_on_gpu = "asynchronous"

# %% card="act1_math"

# %% [markdown]
# ## Act 2: What fusing and compiling buy
#
# About 22 minutes, in two panels.

# %% card="act2_message"

# %% [markdown]
# ### Panel A: fusion

# %% card="act2_fusion"

# %% [markdown]
# The explorer sets the text's claim, the model and a measurement side by side. Change the number of elements and the
# bandwidth, then give the chain a fourth step; its steps are behind *More*.

# %% instrument="Fusion explorer"
fusion = lab.follow(
    FusionExplorer(measured=True, lock=lab.card("act2_fusion"), hints=lab.card("act2_traffic")),
    device={"cloud": "a100-sxm", "edge": "orin-nx"},
)
fusion

# %% reveal="act2_fusion"
text = FusionExplorer(measured=True)
lab.reveal("act2_fusion", model=text.result.speedup, measured=text.finding.wall["triton"])

# %% card="act2_claims"

# %% answer="traffic_saved_mb"
tensor = lab.p.rows * lab.p.columns * 2
traffic_saved_mb = (6 * tensor - 2 * tensor) / 1e6

# %% answer="fusion_speedup_times"
# Time = launches + arithmetic + traffic over bandwidth, as three kernels and as one.
n = lab.p.rows * lab.p.columns
chain = ph.fuse(ph.chain("layernorm", "dropout", "relu"), n, 2, "a100-sxm")
fusion_speedup_times = chain.unfused_time / chain.fused_time

# %% answer="fused_intensity_flop_per_byte"
flops = ph.chain("layernorm", "dropout", lab.p.activation).flops_per_element
size = {"fp16": 2, "fp32": 4}[lab.p.precision]
fused_intensity_flop_per_byte = flops / (2 * size)

# %% card="act2_traffic"

# %% [markdown]
# Not every pair can become one kernel. Try the four pairs of the next question.

# %% instrument="Fusion decision"
FusionDecision(
    first="layernorm",
    second="dropout",
    lock=lab.card("act2_fusion"),
    hints=lab.card("act2_break_even"),
)

# %% answer="which_pair_fuses"
which_pair_fuses = "matmul-relu"

# %% [markdown]
# ### Panel B: compiling

# %% card="act2_break_even"

# %% [markdown]
# Red is what compiling costs, green what it has saved so far. In the cloud you start with ResNet-50, at the edge with a
# keyword box on an Orin NX whose model serves for half a day. The scenario *Challenge* is the same box with passes as
# short as on an A100, which the questions below take. What would make compiling pay there? Find the shortest time in
# service.

# %% instrument="Break-even timeline"
plan = lab.follow(
    BreakEvenTimeline(lock=lab.card("act2_break_even"), hints=lab.card("act2_one_product")),
    preset={"cloud": "resnet50-cloud", "edge": "kws-service"},
    eager_rate={
        "cloud": ph.workloads["resnet50"].eager_rate,
        "edge": 1 / ph.run("kws", "orin-nx").total,
    },
)
plan

# %% reveal="act2_break_even"
resnet, batches = ph.workloads["resnet50"], findings.break_evens(measured.load("h200-sxm"))
images = ph.break_even(resnet.compile_time, resnet.eager_rate, resnet.compiled_rate)
(real,) = (b for b in batches if (b.model, b.batch, b.variant) == ("resnet50", 32, "compiled"))
act2 = lab.reveal("act2_break_even", model=images, measured=real.break_even)
act2

# %% answer="break_even_images"
saved_per_image = 1 / lab.p.eager_rate - 1 / lab.p.compiled_rate
break_even_images = lab.p.compile_s / saved_per_image

# %% answer="ci_loss_s"
ci_loss_s = lab.p.compile_s - lab.p.ci_images * (1 / lab.p.eager_rate - 1 / lab.p.compiled_rate)

# %% answer="kws_break_even_hours"
eager = ph.run("kws", "a100-sxm").total
saved_per_request = eager - eager / (1 + lab.p.kws_gain)
kws_break_even_hours = lab.p.kws_compile_s / saved_per_request / lab.p.per_hour

# %% answer="where_to_compile"
where_to_compile = "cloud"

# %% card="act2_one_product"

# %% card="act2_math"

# %% [markdown]
# ## Your design
#
# Choose the context you design for. Set the chain of the fusion explorer and the break-even timeline to what you would
# deploy there. The entry below reads them, and your decision where to compile; without that it cannot be saved. Where
# you compile, that must have paid before the service ends: the timeline now has a lamp for it.

# %% design=true
modes = {
    (decided, place): "compiled" if decided in ("both", place) else "eager"
    for decided in ("both", "cloud", "edge", "neither")
    for place in ("cloud", "edge")
}


def mode():
    decided = lab.ledger.state().answers.get("where_to_compile")
    return decided and modes.get((decided.value, context.context))


def targets():
    words = f"end of service {ph.format_quantity(plan.days, 'days')}"
    return [Target("days_to_break_even", plan.days, words)] if mode() == "compiled" else []


plan.targets = targets
lab.design(
    {
        "context": lambda: context.context,
        "execution_mode": mode,
        "fusion_enabled": lambda: bool(fusion.result.traffic_reduction > 1),
        "compilation_roi_positive": lambda: bool(plan.result.roi_positive),
        "breakeven_inferences": lambda: plan.result.break_even if plan.gain else None,
        "kws_utilization_eager_pct": lambda: (
            100 * ph.run("kws", kws.device, "eager", kws.launch).utilization
        ),
        "kws_utilization_compiled_pct": lambda: (
            100 * ph.run("kws", kws.device, "compiled", kws.launch).utilization
        ),
        "act1_prediction": lambda: lab.card("act1_utilization").value,
        "act1_correct": lambda: lab.card("act1_utilization").value == act1.right,
        "act2_result": lambda: plan.result.break_even if plan.gain else None,
        "act2_decision": mode,
        "constraint_hit": lambda: not plan.result.roi_positive,
        "act2_prediction": lambda: lab.card("act2_break_even").value,
        "act2_correct": lambda: lab.card("act2_break_even").value == act2.right,
        "arithmetic_intensity": lambda: fusion.result.fused_intensity,
    },
    after=["act2_one_product"],
    keeps={"waterfall": kws, "fusion": fusion, "timeline": plan},
    headline=lambda: (
        f"{context.context.capitalize()}, {mode() or 'undecided'}, "
        f"{ph.format_quantity(plan.days, 'days')} in service"
    ),
)

# %% [markdown]
# ## In your own words

# %% [markdown] essay="reply"
# Noor, do not buy the GPU: launched one by one, the spotter computes
# {{ q(forward_pass(p.kernels, p.kernel_us * 1e-6, p.launch_us * 1e-6).utilization, "%") }} of its time, and a GPU
# {{ q(p.faster, "×") }} as fast only waits more. Real launches run ahead, which lifts it to
# {{ q(forward_pass(p.kernels, p.kernel_us * 1e-6, p.launch_us * 1e-6, launch="async").utilization, "%") }} and no
# further, because the launches set the pace; fewer kernels help.
#
# Tomás, fusing three operations leaves out two of three launches and passes over memory:
# {{ q(fuse(chain("layernorm", "dropout", "relu"), p.rows * p.columns).speedup, "×") }}, not 5×, since the arithmetic
# stays. The 10 to 20× is FlashAttention, which never writes its table of scores. Compile the image service: it breaks
# even after {{ q(break_even(p.compile_s, p.eager_rate, p.compiled_rate), "images") }}, minutes of its traffic. Leave
# the keyword box and CI eager: both end before compiling has paid.

# %% record="predictions_kept"

# %% record="work_kept"

# %% card="takeaways"

# %% [markdown]
# ## For another evening
#
# Eager also wins where a graph breaks. Mark what your own models contain, and see what becomes of it on the way from
# eager to torch.compile. No points here.

# %% instrument="Compilation spectrum"
CompilationSpectrum(lock=lab.card("act2_break_even"), hints=lab.card("act2_one_product"))

# %% [markdown]
# ## Where you stand
#
# Next is **Lab 11, The Roofline**.

# %% show="Where you stand"
lab.hud(
    constraints={"Compiling pays": plan},
    decisions={"Execution": "execution_mode", "Fusion": "fusion_enabled"},
)
