# %% [markdown]
# # Lab 11: The Roofline
#
# Every kernel stands under the same two walls: how fast a machine computes, and how fast bytes arrive. Which one
# a kernel meets follows from a single number, its FLOP for each byte. In this lab you find the wall, question the
# peak on a dashboard, choose one kernel to make faster, fill a GPU until its memory ends, ask how fast one conversation
# runs on it, and put your own machine under its own roof.
#
# **Read first:** the chapter on hardware acceleration: the roofline model, arithmetic intensity, model FLOP
# utilization, kernel fusion. If *ridge point* is a new word, begin with the first of these.

# %% setup=true
from mlsys_widgets import MemoryBudget, RooflineWidget, ServingExplorer, Target, link
from mlsys_widgets.measured import cases, ceilings, points
from mlsys_widgets.physics import (
    decode,
    devices,
    elementwise,
    footprint,
    format_quantity,
    fusion_strategies,
    gemm,
    kv_cache,
    roofline,
    serving_time,
    workloads,
)

# %% [markdown]
# ## Where does it run?
#
# Instruments follow this choice. Questions always name their machine.

# %% show="Context"
context = lab.context(
    {"cloud": "Cloud: H100", "edge": "Edge: Jetson Orin NX"},
    about={"cloud": "A GPU in a data centre.", "edge": "A module of a few watts beside a camera."},
)
context

# %% [markdown]
# ## Act 1: Which wall, and which peak

# %% card="opening"

# %% card="act1_wall"

# %% [markdown]
# Move **N** and watch the point climb the slope. Behind **More**, switch **2:4 sparsity** on and off: what moves, and
# what does not? Then change the **precision**: which two things move together?

# %% instrument="The roofline of one product"
product = RooflineWidget(n=128, lock=lab.card("act1_wall"), measurements=lab.card("act1_remedy"))
lab.follow(product, device={"cloud": "h100-sxm", "edge": "orin-nx"})

# %% reveal="act1_wall"
lab.reveal("act1_wall")

# %% answer="dense_share_pct"
dense_share_pct = 100 * lab.p.reported * 1e12 / devices["h100-sxm"].peak("fp16")

# %% answer="side_elements"
h100 = devices["h100-sxm"]
intensity = lab.p.reported * 1e12 / h100.bandwidth  # on the slope, rate = bandwidth × intensity
side_elements = 3 * intensity  # I = 2N / (3 · 2 bytes) = N / 3

# %% answer="roof_tflops"
merged = gemm(lab.p.n, lab.p.n, lab.p.n, bytes_per_element=2)
roof_tflops = roofline(merged.intensity, h100.peak("fp16"), h100.bandwidth).attainable / 1e12

# %% answer="precision_effect"
# Half the bytes double the intensity, and the doubled peak doubles the ridge.
precision_effect = "rate"

# %% [markdown]
# ### What real products reach
#
# A roof is a bound. How close does a real chip come?

# %% card="act1_real"

# %% instrument="Measured products under the roof of an H200"
real = RooflineWidget(
    device="h200-sxm",
    n=8192,
    measured=True,
    lock=lab.card("act1_real"),
    measurements=lab.card("act1_remedy"),
)
real

# %% reveal="act1_real"
timed = points("h200-sxm", "fp16", "gemm", variant="graph", m=8192, n=8192, k=8192)[0]
lab.reveal(
    "act1_real",
    model=lambda: real.result.mfu,
    measured=timed.attained / devices["h200-sxm"].peak("fp16"),
)

# %% answer="measured_share_pct"
n = lab.p.measured_n
(square,) = points("h200-sxm", "fp16", "gemm", variant="graph", m=n, n=n, k=n)
seconds = square.seconds  # as the question says
h200 = devices["h200-sxm"]
roof = min(h200.peak("fp16"), h200.bandwidth * n / 3)
measured_share_pct = 100 * (2 * n**3 / seconds) / roof

# %% card="act1_remedy"

# %% card="act1_peek"

# %% [markdown]
# ## Act 2: One kernel to make faster

# %% card="service_message"

# %% show="from Lab 07"
start = lab.earlier("lab_07_kernel_fusion", {"fusion_enabled": False, "execution_mode": "eager"})
print(start.sentence)

# %% card="act2_kernels"

# %% [markdown]
# The instrument starts with the fusion that you decided on in Lab 07. Try sequence length 1, a decode step, against
# a whole prompt; try each **fusion**. *Numbers as a table* has the bytes of every kernel. For a projection of another
# width, set **Kernels** to one matrix product, open **More**, switch **Square** off, and move M, the tokens, at
# N = K = the width.

# %% instrument="Three kernels of a language-model layer"
fused = "partial" if start.fields["fusion_enabled"] else "none"
service = RooflineWidget(workload="llm", fusion=fused, lock=lab.card("act2_kernels"))
lab.follow(service, device={"cloud": "h100-sxm", "edge": "orin-nx"})

# %% reveal="act2_kernels"
lab.reveal("act2_kernels")

# %% answer="ridge_tokens"
# T·D / (2T + D) = ridge, solved for T: activations are read and written, weights are read.
ridge = h100.peak("fp16") / h100.bandwidth
ridge_tokens = ridge * lab.p.width / (lab.p.width - 2 * ridge)

# %% answer="softmax_saved_ms"
scores = lab.p.prompts * workloads["llama3-8b"].heads * lab.p.sequence**2
traffic = elementwise(scores, bytes_per_element=2).bytes
saved = traffic * (1 - fusion_strategies["full"].traffic_share)
softmax_saved_ms = 1e3 * saved / h100.bandwidth

# %% answer="kernel_to_fund"
# The projection is compute-bound and at its roof; the scores are many times the tensor of a layer norm.
kernel_to_fund = "softmax"

# %% [markdown]
# ### Until memory ends
#
# Speed is of no use to what does not fit. Raise the **batch** until the alarm, then give every head keys and values
# of its own. Batch and sequence length are those of the three kernels above: move them here, and the roofline follows.

# %% instrument="What the service keeps in memory"
served_by = {"cloud": devices["h100-sxm"], "edge": devices["orin-nx"]}


def targets():
    device = served_by[context.context]
    words = f"memory of the {device.name}, {format_quantity(device.memory, 'B')}"
    return [Target("total", device.memory, words)]


budget = MemoryBudget(
    batch=8,
    sequence=512,
    targets=targets,
    lock=lab.card("act2_kernels"),
    hints=lab.card("act2_why"),
    measurements=lab.card("act2_decode"),
)
linked = link(service, budget, on=("batch", "sequence"))
lab.follow(budget, device={"cloud": "h100-sxm", "edge": "orin-nx"})

# %% answer="kv_cache_gb"
kv_cache_gb = kv_cache("llama3-8b", lab.p.batch, lab.p.sequence) / 1e9

# %% answer="service_fits"
# Weights, activations and this cache stay below the memory of an H100; four times the cache does not.
service_fits = "grouped"

# %% answer="largest_batch"
largest_batch = footprint("llama3-8b", "h100-sxm", batch=1, sequence=lab.p.sequence).largest_batch

# %% card="act2_why"

# %% card="act2_peek"

# %% [markdown]
# ### One token at a time
#
# So far every kernel was at its roof. Now a whole model answers on a real GPU.

# %% card="act2_decode"

# %% [markdown]
# The explorer shows the same service in two forms, and every number says which one it is from. *Textbook* divides by
# the datasheet. *Calibrated* adds up the kernels as an H200 was measured to run them. It is right to about a tenth where
# the device sets the pace; how fast a host launches varies more. Your prediction is a line, and the points were
# measured. Switch the **form**, raise the **batch**, and read the bars from left to right.

# %% instrument="Serving the model, token by token"
tokens = ServingExplorer(
    batch=1, sequence=2048, lock=lab.card("act2_decode"), hints=lab.card("act2_launch")
)
tokens

# %% reveal="act2_decode"
asked = ("llama3-8b", "h200-sxm", "decode", 1, 2048)
kept = {"phase": "decode", "batch": 1, "sequence": 2048}
(step,) = cases("h200-sxm", kind="serving", precision="fp16", variant="eager", **kept)
lab.reveal(
    "act2_decode",
    model={
        "Textbook": decode("llama3-8b", "h200-sxm", 1, 2048).tokens_per_second,
        "Calibrated": serving_time(*asked, launch="async").tokens_per_second,
    },
    measured=1 / step.seconds.median,
    digits=2,
)

# %% card="act2_launch"

# %% show="your decision of Lab 07"
mode = start.fields["execution_mode"]
print(f"Your design of Lab 07: {mode}." if start.found else "No design of Lab 07 is here.")

# %% card="act2_same"

# %% card="act2_token"

# %% [markdown]
# ## Act 3: Your own machine
#
# Now it is your machine's turn. The card below measures the computer that runs this notebook and saves the result as
# `machine.json` in the same folder. It is handed in with the notebook, and your two answers are graded against it. So if
# you measure again, answer again. The chart follows by itself.

# %% card="measurement"

# %% instrument="Your machine beside an H100"
lab.card("measurement").draw_on(
    RooflineWidget(
        device="h100-sxm",
        precision="fp32",
        n=lab.p.own_n,
        lock=lab.card("act1_wall"),
        measurements=lab.card("act1_remedy"),
    )
)

# %% answer="own_ridge_flop_per_byte"
best = ceilings(lab.card("measurement").document)
own_ridge_flop_per_byte = best.peaks["fp32"] / best.bandwidth

# %% answer="own_share_pct"
own = lab.card("measurement").document
best = ceilings(own)
timed = points(own, "fp32", "gemm", m=lab.p.own_n, n=lab.p.own_n, k=lab.p.own_n)
attained = max(each.attained for each in timed)
own_roof = min(best.peaks["fp32"], best.bandwidth * 2 * lab.p.own_n / (3 * 4))  # fp32 has 4 bytes
own_share_pct = 100 * attained / own_roof

# %% [markdown]
# ## The design you hand on
#
# Decide for Noor, on the device of your context. In **Three kernels** choose the fusion. In **What the service keeps in
# memory** look for the batch that writes the most tokens per second and still fits. Go too far once, to see it fail.
# On the edge device, find out what fails first, and whether any batch fixes it. Then save.

# %% design=true
lab.design(
    {
        "context": lambda: context.context,
        "operation": lambda: {"gemm": "matrix product", "llm": "projection"}.get(
            service.workload, "attention"
        ),
        "arithmetic_intensity": lambda: float(service.result.intensity),
        "bound_type": lambda: "memory" if service.result.memory_bound else "compute",
        "act1_prediction": lambda: lab.card("act1_wall").value,
        "act1_correct": lambda: lab.card("act1_wall").value == lab.items["act1_wall"].answer,
        "act2_prediction": lambda: lab.card("act2_kernels").value,
        "act2_correct": lambda: lab.card("act2_kernels").value == lab.items["act2_kernels"].answer,
        "act2_result": lambda: 100 * float(service.result.mfu),
        "act2_decision": lambda: service.fusion,
        "mfu_percent": lambda: (
            0.0
            if budget.result.out_of_memory
            else 100 * float(budget.decode.compute_time / budget.decode.time)
        ),
        "constraint_hit": lambda: bool(budget.misses),
        "tokens_per_second": lambda: (
            None if budget.result.out_of_memory else float(budget.decode.tokens_per_second)
        ),
    },
    after=["act1_wall", "act2_kernels"],
    keeps={"memory": budget, "kernels": service},
    headline=lambda: (
        f"{context.context.capitalize()}, {service.fusion} fusion, batch "
        f"{format_quantity(budget.batch)}, {format_quantity(budget.result.total, 'B')}"
    ),
)

# %% [markdown]
# ## In your own words

# %% [markdown] essay="advice"
# Tomas: the dashboard divides dense work by {{ q(devices["h100-sxm"].peak("fp16", sparse=True), "FLOP/s") }}, a peak that
# needs two of every four weights to be zero. By the dense peak it shows
# {{ q(p.reported * 1e12 / devices["h100-sxm"].peak("fp16"), "%") }}, and for products of that size this is the roof: at a few
# dozen FLOP/B they lie left of the ridge at {{ q(devices["h100-sxm"].ridge("fp16"), "FLOP/B") }}, so only more FLOP for each
# byte help: merge them. Noor: pay for softmax. With whole prompts the projections are compute-bound and at their roof.
# Layer norm and softmax do {{ q(elementwise(1).intensity, "FLOP/B") }} on any machine, and the scores grow with the square of
# the sequence; fusing takes away most of their traffic. What ends first is capacity: {{ p.batch }} conversations of
# {{ q(p.sequence, "tokens") }} keep {{ q(kv_cache("llama3-8b", p.batch, p.sequence), "B") }} of keys and values beside the
# weights, and without grouped-query attention it does not fit. All of these are bounds. Before I believe a gain I would
# time the fused kernel on our own GPU and set it beside the measured bandwidth, since even large products reach only about
# two thirds of the peak, and one conversation whose kernels are launched one by one gets less than a third of the
# textbook's tokens per second.

# %% [markdown]
# ## Where you stand

# %% record="commitments"

# %% show="Where you stand"
lab.hud(
    constraints={"Memory": budget},
    decisions={"Fusion": "act2_decision", "Limit of the projection": "bound_type"},
)

# %% card="takeaways"
