# %% [markdown]
# # Lab 11: The Roofline
#
# Every kernel runs into a wall, and which wall it is decides what work on the kernel is worth. The roofline
# shows both.
#
# **Read first** the chapter on hardware acceleration, up to model FLOP utilization (MFU).

# %% setup=true
from mlsys_widgets import (
    MemoryBudget,
    Move,
    MovingPicture,
    RooflineWidget,
    ServingExplorer,
    Target,
    link,
)
from mlsys_widgets.measured import cases, ceilings, points
from mlsys_widgets.physics import (
    BYTES_PER_ELEMENT,
    decode,
    devices,
    elementwise,
    footprint,
    format_quantity,
    fusion_strategies,
    gemm,
    kv_cache,
    projection,
    roofline,
    serving_time,
    workloads,
)

cover = MovingPicture(
    "A product grows, and its point moves under the roof.",
    RooflineWidget,
    sweep={"n": (160, 8192)},
    only=["zones", "roof", "ridge", "drops", "GEMM"],
)

# %% [markdown]
# ## Where does it run?
#
# Messages and instruments follow this choice.

# %% show="Context"
memory = {key: format_quantity(each.memory, "B") for key, each in devices.items()}
context = lab.context(
    {"cloud": "Cloud: H100", "edge": "Edge: Jetson Orin NX"},
    about={
        "cloud": f"A GPU in a data center, with {memory['h100-sxm']}.",
        "edge": f"A small module beside a camera, with {memory['orin-nx']}.",
    },
)
context

# %% [markdown]
# ## Act 1: Which wall, and which peak

# %% card="opening"

# %% card="act1_wall"

# %% [markdown]
# One point, *GEMM* (a matrix product), stands for a whole batch: its intensity is the same. The peak with *2:4 sparsity*
# needs two zeros in every four weights.

# %% instrument="The roofline of one product"
product = RooflineWidget(
    title="The roofline of one product",
    n=128,
    lock=lab.card("act1_wall"),
    measurements=lab.card("act1_remedy"),
)
lab.follow(product, device={"cloud": "h100-sxm", "edge": "orin-nx"})

# %% reveal="act1_wall"
h100 = devices["h100-sxm"]
small, large = (
    roofline(gemm(n, n, n).intensity, h100.peak("fp16"), h100.bandwidth) for n in (128, 4096)
)
lab.reveal(
    "act1_wall",
    worked={
        "Ridge of the H100, fp16": small.ridge,
        "Intensity, N = 128": small.intensity,
        "Its roof": small.attainable,
        "Its MFU": small.mfu,
    },
    contrast={
        "Intensity, N = 4,096": large.intensity,
        "Its roof": large.attainable,
        "Ridge of the Jetson Orin NX, fp16": (devices["orin-nx"].ridge("fp16"), "FLOP/B"),
    },
    moves=[
        Move("Raise N until the regime changes", product, lambda r: not r.result.memory_bound),
        Move("Switch 2:4 sparsity on", product, sparse=True),
        Move("Choose int8", product, precision="int8"),
    ],
)

# %% answer="dense_share_pct"
share = lab.p.reported * 1e12 / devices["h100-sxm"].peak("fp16")
dense_share_pct = {
    "dense_share_pct": 100 * share,
    "goal_gain_times": lab.p.goal_pct / 100 / share,
}[lab.p.dense_share_pct]

# %% answer="best_lever"
n, peak, bandwidth = lab.p.lever_n, h100.peak("fp16"), h100.bandwidth
rates = {
    "bandwidth": min(peak, lab.p.more_bandwidth * bandwidth * n / 3),
    "peak": min(lab.p.more_peak * peak, bandwidth * n / 3),
    "int8": min(h100.peak("int8"), bandwidth * 2 * n / 3),  # half the bytes, twice the intensity
}
best_lever = max(rates, key=rates.get)

# %% [markdown]
# ### Real products

# %% card="act1_real"

# %% reveal="act1_real"
timed, small_one = (
    points("h200-sxm", "fp16", "gemm", variant="graph", m=n, n=n, k=n)[0] for n in (8192, 192)
)
h200 = devices["h200-sxm"]
lab.reveal(
    "act1_real",
    model=roofline(gemm(8192, 8192, 8192).intensity, h200.peak("fp16"), h200.bandwidth).mfu,
    measured=timed.attained / h200.peak("fp16"),
    contrast={
        "One small product, N = 192, at its roof": (
            roofline(small_one.intensity, h200.peak("fp16"), h200.bandwidth).attainable,
            "FLOP/s",
        ),
        "The same product alone, measured": (small_one.attained, "FLOP/s"),
        "A batch of them, measured": (
            points("h200-sxm", "fp16", "batched_gemm", n=192)[0].attained,
            "FLOP/s",
        ),
    },
)

# %% [markdown] deeper=true
# ### Deeper: merged products, and measured ones under their roof

# %% answer="side_elements"
intensity = lab.p.reported * 1e12 / h100.bandwidth  # on the slope, rate = bandwidth × intensity
side_elements = 3 * intensity  # I = 2N / (3 · 2 bytes) = N / 3

# %% answer="merged_gain_times"
merged = gemm(lab.p.n, lab.p.n, lab.p.n, bytes_per_element=2)
roof = roofline(merged.intensity, h100.peak("fp16"), h100.bandwidth)
merged_gain_times = roof.attainable / (lab.p.reported * 1e12)

# %% [markdown]
# The points on the chart below are single products, each timed on its own: nothing else ran beside them to fill the chip.
# Large ones that lie far down have a side that is not a multiple of 8, which fast fp16 kernels need.

# %% instrument="Measured products under the roof of an H200"
real = RooflineWidget(
    title="Measured products under the roof of an H200",
    device="h200-sxm",
    n=8192,
    measured=True,
    lock=lab.card("act1_real"),
    measurements=lab.card("act1_remedy"),
)
real

# %% answer="roof_products"
n = lab.p.measured_n
(square,) = points("h200-sxm", "fp16", "gemm", variant="graph", m=n, n=n, k=n)
seconds = square.seconds  # as the question says
roof = min(h200.peak("fp16"), h200.bandwidth * n / 3)
roof_products = lab.p.count * roof / (2 * n**3 / seconds)

# %% card="act1_remedy"

# %% card="act1_peek"

# %% [markdown]
# ## Act 2: One kernel to make faster

# %% card="service_message"

# %% show="from Lab 07"
start = lab.earlier("lab_07_kernel_fusion", {"fusion_enabled": False, "execution_mode": "eager"})
print(lab.materials["from_lab_07"](start.fields, start.found), *filter(None, [start.doubt]))

# %% card="act2_kernels"

# %% [markdown]
# Sequence length 1 is a *decode step*: one token for each conversation.

# %% instrument="Three kernels of a language-model layer"
fused = "partial" if start.fields.get("fusion_enabled") else "none"
service = RooflineWidget(
    title="Three kernels of a language-model layer",
    workload="llm",
    fusion=fused,
    leading=("Projection, regime", "Softmax, regime"),
    lock=lab.card("act2_kernels"),
)
lab.follow(service, device={"cloud": "h100-sxm", "edge": "orin-nx"})

# %% reveal="act2_kernels"
lab.reveal(
    "act2_kernels",
    worked={
        **{
            f"Projection, {tokens:,} tokens": (projection(tokens, 1, 4096).intensity, "FLOP/B")
            for tokens in (8, 4096)
        },
        **{
            f"Layer norm and softmax, {how}": (
                elementwise(1, traffic_share=fusion_strategies[key].traffic_share).intensity,
                "FLOP/B",
            )
            for key, how in (("none", "separate kernels"), ("full", "all fused"))
        },
        "Ridge of the H100, fp16": (h100.ridge("fp16"), "FLOP/B"),
    },
    moves=[
        Move("Set the sequence length to 1", service, workload="llm", sequence=1),
        Move(
            "Make batch × sequence length at least 8,192",
            service,
            lambda r: r.workload == "llm" and r.batch * r.sequence >= 8192,
        ),
        Move("Fuse all element-wise kernels", service, workload="llm", fusion="full"),
    ],
)

# %% answer="softmax_saved_ms"
scores = lab.p.prompts * workloads["llama31-8b"].heads * lab.p.sequence**2
traffic = elementwise(scores, bytes_per_element=2).bytes
saved = traffic * (1 - fusion_strategies["full"].traffic_share)
softmax_saved_ms = 1e3 * saved / h100.bandwidth

# %% answer="kernel_to_fund"
model, tokens_read = workloads["llama31-8b"], lab.p.prompts * lab.p.prompt
times = {}
for precision in ("fp16", "int8"):
    kernel = projection(tokens_read, 1, model.width, BYTES_PER_ELEMENT[precision])
    rate = min(h100.peak(precision), h100.bandwidth * kernel.intensity)
    times[precision] = kernel.flops / rate
gone = (1 - fusion_strategies["full"].traffic_share) / h100.bandwidth
savings = {
    "p": times["fp16"] - times["int8"],
    "n": gone * elementwise(tokens_read * model.width).bytes,
    "s": gone * elementwise(tokens_read * model.heads * lab.p.prompt).bytes,
}
kernel_to_fund = "".join(sorted(savings, key=savings.get, reverse=True))

# %% [markdown]
# ### Until memory runs out
#
# For every token of a conversation, a service keeps keys and values, the *KV cache*; in *grouped-query attention*, several
# heads share them. On the H100, raise the **batch** until memory is full.

# %% instrument="What the service keeps in memory"
served_by = {"cloud": devices["h100-sxm"], "edge": devices["orin-nx"]}


def targets():
    device = served_by[context.context]
    words = f"memory of the {device.name}, {format_quantity(device.memory, 'B')}"
    return [Target("total", device.memory, words)]


budget = MemoryBudget(
    title="What the service keeps in memory",
    batch=8,
    sequence=512,
    # The lamp of the target says how much memory is needed, and how much is left.
    leading=("Decode", "Cache of one token"),
    targets=targets,
    lock=lab.card("act2_kernels"),
    hints=lab.card("act2_why"),
    measurements=lab.card("act3_decode"),
)
linked = link(service, budget, on=("batch", "sequence"))
lab.follow(budget, device={"cloud": "h100-sxm", "edge": "orin-nx"})

# %% answer="beside_conversations"
kept = footprint("llama31-8b", "h100-sxm", batch=1, sequence=1)  # a cache of one token
contracts = kv_cache("llama31-8b", batch=lab.p.documents, sequence=16384)
tokens_left = (kept.memory - kept.weights - kept.activations - contracts) / kept.kv_cache
beside_conversations = {
    "beside_conversations": tokens_left // lab.p.sequence,
    "conversation_tokens": tokens_left // lab.p.kept,
}[lab.p.beside_conversations]

# %% [markdown] deeper=true
# ### Deeper: tokens until the ridge, and why

# %% [markdown]
# For a projection of another size, go to **Three kernels of a language-model layer**, set **Kernels** to one matrix
# product, open **More**, switch **Square** off, and move M, the tokens; K and N are the sides of the weights.
# Afterward, set **Kernels** back to the layer.

# %% answer="ridge_tokens"
# In fp16, 1/I = 1/T + 1/D + 1/F: weights and activations are read, results are written.
ridge = h100.peak("fp16") / h100.bandwidth
ridge_tokens = 1 / (1 / ridge - 1 / lab.p.width - 1 / lab.p.outputs)

# %% card="act2_why"

# %% card="act2_peek"

# %% [markdown] deeper=true
# ## Deeper: Act 3, One token at a time

# %% [markdown]
# So far every kernel was at its roof. Now a whole model answers on a real GPU.

# %% card="act3_decode"

# %% [markdown]
# The explorer shows the same service in two forms, and every number says which one it is from. *Textbook* divides by
# the datasheet. *Calibrated* adds up the kernels as an H200 was measured to run them, and is right to about a tenth in
# most cases. Your prediction is a line, and the points were measured. Switch the **form**, raise the **batch**, and read
# the bars from left to right.

# %% instrument="Serving the model, token by token"
tokens = ServingExplorer(
    title="Serving the model, token by token",
    batch=1,
    sequence=2048,
    lock=lab.card("act3_decode"),
    hints=lab.card("act3_launch"),
)
tokens

# %% reveal="act3_decode"
asked = ("llama31-8b", "h200-sxm", "decode", 1, 2048)
alone = {"phase": "decode", "batch": 1, "sequence": 2048}
(step,) = cases("h200-sxm", kind="serving", precision="fp16", variant="eager", **alone)
lab.reveal(
    "act3_decode",
    model={
        "Textbook": decode("llama31-8b", "h200-sxm", 1, 2048).tokens_per_second,
        "Calibrated": serving_time(*asked, launch="async").tokens_per_second,
    },
    measured=1 / step.seconds.median,
    digits=2,
    moves=[
        Move("Choose the textbook form", tokens, form="textbook"),
        Move("Raise the batch to 64 or more", tokens, lambda t: t.batch >= 64),
    ],
)

# %% card="act3_launch"

# %% card="act3_same"

# %% show="your decision of Lab 07"
print(lab.materials["launch_of_lab_07"](start.fields, start.found))

# %% answer="first_limit"
# The explorer says which batch is the largest in time; the footprint says which is the largest that fits.
chat = ServingExplorer(
    sequence=lab.p.chat_tokens, target=lab.p.target_ms / 1e3, form="calibrated", launch="async"
)
in_time, fits = chat.result.largest_batch, chat.result.fits
first_limit = "alone" if in_time == 0 else "memory" if in_time == fits else "target"

# %% answer="job_cost_dollars"
job = ("llama31-8b", "h200-sxm", "decode", lab.p.replies, lab.p.chat_tokens)
hours = lab.p.millions * 1e6 / serving_time(*job, launch="graph").tokens_per_second / 3600
job_cost_dollars = hours * lab.p.price

# %% card="act3_token"

# %% card="takeaway_act3"

# %% [markdown] deeper=true
# ## Deeper: Act 4, Your own machine, and your advice

# %% [markdown]
# Now it is your machine's turn. The card below measures the computer that runs this notebook and saves the result as
# `machine.json` in the same folder. Your two answers are judged against it, so if you measure again, answer again. The
# chart follows by itself.

# %% card="measurement"

# %% instrument="Your machine beside an H100"
lab.card("measurement").draw_on(
    RooflineWidget(
        title="Your machine beside an H100",
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

# %% [markdown] essay="advice"
# Tomás: the dashboard divides dense work by {{ q(devices["h100-sxm"].peak("fp16", sparse=True), "FLOP/s") }}, a peak that
# needs two of every four weights to be zero. By the dense peak it shows
# {{ q(p.reported * 1e12 / devices["h100-sxm"].peak("fp16"), "%") }}, and for products of that size this is the roof: at
# {{ q(p.reported * 1e12 / devices["h100-sxm"].bandwidth, "FLOP/B") }} they lie left of the ridge at
# {{ q(devices["h100-sxm"].ridge("fp16"), "FLOP/B") }}, so only more FLOP for each byte help: merge them. Noor: for prompts
# of thousands of tokens pay for softmax. Layer norm and softmax do {{ q(elementwise(1).intensity, "FLOP/B") }} on any
# machine, the scores grow with the square of the length, and fusing takes away most of their traffic. For prompts of a few
# hundred tokens, int8 projections save more time, because a lower precision halves their time on either side of the ridge.
# Capacity is a limit of its own: {{ p.documents }} contracts of {{ q(16384, "tokens") }} alone keep
# {{ q(kv_cache("llama31-8b", p.documents, 16384), "B") }} of keys and values beside the weights. All of these are bounds.
# Before I believe a gain, I would time the fused kernel on our own GPU and set it beside the measured bandwidth, since even
# large products reach only about two thirds of the peak, and one conversation whose kernels are launched one by one gets
# less than a third of the textbook's tokens per second.

# %% record="deeper_kept"

# %% [markdown]
# ## The design you pass on
#
# Decide for Noor's conversations of 2,048 tokens. In **What the service keeps in memory**, look for the batch that writes
# the most tokens per second and fits. In **Three kernels of a language-model layer**, choose the fusion.

# %% design=true
lab.design(
    {
        "context": lambda: context.context,
        "operation": lambda: {
            "gemm": "matrix product",
            "llm": "projection",
            "relu": "ReLU",
        }.get(service.workload, "attention"),
        "arithmetic_intensity": lambda: float(service.result.intensity),
        "bound_type": lambda: "memory" if service.result.memory_bound else "compute",
        "act1_prediction": lambda: lab.card("act1_wall").words,
        "act1_correct": lambda: lab.card("act1_wall").value == lab.items["act1_wall"].answer,
        "act2_prediction": lambda: lab.card("act2_kernels").words,
        "act2_correct": lambda: lab.card("act2_kernels").value == lab.items["act2_kernels"].answer,
        "act3_prediction": lambda: lab.card("act3_decode").words,
        "act3_correct": lambda: (
            lab.card("act3_decode").value == lab.items["act3_decode"].answer
            if lab.card("act3_decode").is_open
            else None
        ),
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
        "launch": lambda: (
            "undecided" if tokens.locked else "graph" if tokens.launch == "graph" else "eager"
        ),
    },
    after=["act1_wall", "act2_kernels"],
    keeps={"memory": budget, "kernels": service, "tokens": tokens},
    headline=lambda: (
        f"{context.context.capitalize()}, {'no' if service.fusion == 'none' else service.fusion} "
        f"fusion, batch "
        f"{format_quantity(budget.batch)}, {format_quantity(budget.result.total, 'B')}"
    ),
)

# %% [markdown]
# ## Where you stand

# %% record="commitments"

# %% show="Where you stand"


def once_open(instrument, value):
    return lambda: "after your prediction" if instrument.locked else value()


def speed():
    if budget.result.out_of_memory:
        return "does not fit"
    return format_quantity(budget.decode.tokens_per_second, "tokens/s")


def mfu_of_a_step():
    if budget.result.out_of_memory:
        return "does not fit"
    return format_quantity(budget.decode.compute_time / budget.decode.time, "%")


lab.hud(
    constraints={"Memory": budget},
    decisions={
        "Intensity of the projection": once_open(
            service, lambda: format_quantity(service.result.intensity, "FLOP/B")
        ),
        "MFU of the projection, at its roof": once_open(
            service, lambda: format_quantity(service.result.mfu, "%")
        ),
        "MFU of a decode step, textbook": once_open(budget, mfu_of_a_step),
        "Decode, textbook": once_open(budget, speed),
        "Fusion": "act2_decision",
        "Limit of the projection": "bound_type",
        "Launch (Act 3)": "launch",
    },
)

# %% card="takeaways"
