# %% [markdown]
# # Lab 01: The Magnitude Awakening
#
# The same word, *model*, is used for what runs in a data centre and for what runs in a doorbell. The machines below
# differ so much that hardly anything else can be the same. You will put numbers on that, find out which of them only
# cost time, and which one says no.
#
# **How it works.** Commit a prediction, and instruments open. Explore, then type numbers and decisions into the answer
# cells. Your numbers are your own; the instruments show the machines of the course.
#
# **Read before**, in the introduction of your text: the deployment spectrum from cloud to tiny, the D·A·M taxonomy
# (data, algorithm, machine), the two scaling regimes, and the iron law.

# %% setup=true
from mlsys_widgets import IronLaw, MagnitudeLandscape, Target
from mlsys_widgets.physics import BYTES_PER_ELEMENT, devices, iron_law, workloads
from mlsys_widgets.physics import format_quantity as q

h100, m7, resnet = devices["h100-sxm"], devices["cortex-m7"], workloads["resnet50-inference"]

# %% [markdown]
# All instruments follow this switch. You can move it at any time.

# %% show="Context"
context = lab.context(
    {"cloud": "Cloud: H100", "tiny": "Tiny: Cortex-M7"},
    about={
        "cloud": "A GPU in a data centre, with a rack, a fan and a power line of its own.",
        "tiny": "A microcontroller in a doorbell, on a battery, without an operating system.",
    },
)
context

# %% [markdown]
# ## Act 1: How far apart are they?

# %% card="act1_message"

# %% card="act1_gap"

# %% instrument="Magnitude landscape"
landscape = MagnitudeLandscape(lock=lab.card("act1_gap"))
lab.follow(
    landscape,
    device={"cloud": "h100-sxm", "tiny": "cortex-m7"},
    other={"cloud": "cortex-m7", "tiny": "h100-sxm"},
)

# %% [markdown]
# The ladder is logarithmic: each step up is ten times as much. Rank by each of the four quantities and open the
# table; no two gaps are the same. Then switch the peak to *highest advertised*, and watch how much of a gap can be
# made on paper.

# %% reveal="act1_gap"
gap = lab.reveal("act1_gap", model=lambda: h100.peak("fp16") / m7.peak("fp32"))
gap

# %% answer="compute_gap_times"
compute_gap_times = h100.peak("fp16") / (lab.p.mcu_mflops * 1e6)

# %% answer="flop_per_joule_times"
cloud = h100.peak("fp16") / h100.power
tiny = lab.p.mcu_mflops * 1e6 / (lab.p.mcu_mw * 1e-3)
flop_per_joule_times = cloud / tiny

# %% answer="case_for_tiny"
case_for_tiny = "budget"

# %% card="act1_stack"

# %% card="act1_math"

# %% [markdown]
# ## Act 2: Which term binds?
#
# A gap tells how far two machines are apart. What it does to *one model* is said by the iron law, three terms that add
# up to the time of a batch:
#
# $$T = \underbrace{\frac{D}{BW}}_{\text{memory}} + \underbrace{\frac{b \cdot O}{R \cdot \eta}}_{\text{compute}} +
# \underbrace{L}_{\text{latency}}$$
#
# $D$ are the bytes that move, $O$ the operations of one image, $BW$ and $R$ what the machine can do of each in a second,
# $\eta$ the share of $R$ that is reached, $b$ the batch, $L$ what it costs to begin. The largest term binds: work on any
# other and nobody will notice.

# %% card="act2_message"

# %% card="act2_term"

# %% card="act2_batch"

# %% instrument="Iron law"
law = IronLaw(lock=lab.card("act2_batch"), hints=lab.card("act2_limit"))
lab.follow(
    law,
    device={"cloud": "h100-sxm", "tiny": "cortex-m7"},
    latency={"cloud": h100.launch(), "tiny": m7.launch()},
)

# %% [markdown]
# The instrument starts with the ResNet-50 of the course. Move the batch and watch which bar is marked as binding.

# %% reveal="act2_term"
term = lab.reveal("act2_term")
term

# %% answer="compute_term_us"
compute_term_us = lab.p.model_gflop * 1e9 / h100.peak("fp16") * 1e6

# %% answer="memory_to_compute_times"
memory_term_us = lab.p.model_mb * 1e6 / h100.bandwidth * 1e6
memory_to_compute_times = memory_term_us / compute_term_us

# %% reveal="act2_batch"
lab.reveal(
    "act2_batch", model=lambda: iron_law(resnet.data, resnet.operations, h100).compute_bound_batch
)

# %% answer="compute_bound_batch_images"
one = iron_law(lab.p.model_mb * 1e6, lab.p.model_gflop * 1e9, h100)
compute_bound_batch_images = one.compute_bound_batch

# %% [markdown]
# ### The same model on the microcontroller
#
# Switch to *Tiny* here and look at the iron law above again. Read the red lines first, then which bar is marked.

# %% show="context for the board"
context

# %% answer="too_large_times"
too_large_times = lab.p.model_mb * 1e6 / (lab.p.sram_kb * 1e3)

# %% answer="board_seconds"
moving = lab.p.model_mb / lab.p.mcu_mb_per_s
computing = lab.p.model_gflop * 1e9 / (lab.p.mcu_mflops * 1e6)
board_seconds = moving + computing + m7.launch()

# %% answer="board_binding_term"
board_binding_term = "compute" if computing > moving else "memory"

# %% card="act2_limit"

# %% card="act2_math"

# %% [markdown]
# ## Design challenge: both doorbells
#
# **Tiny** hears: the keyword model must fit into the board and answer within a second. **Cloud** sees: ResNet-50 must
# answer in time; the questions below say in which. Each design can fail, and then the instrument, or the HUD at the end,
# says so in red.
#
# - *Tiny*: the instrument begins with your keyword model in fp32, on a board with your memory, of which runtime and
#   activations keep your reserve. Make the data smaller until it can be loaded beside them. Both sizes are behind
#   *More*; leave them as they are.
# - *Cloud*: it begins with your ResNet-50 at batch 1. Raise the batch until the promise is broken, then step back.

# %% show="context for the design"
context

# %% instrument="Design: fit, and be in time"
design = IronLaw(
    efficiency=lab.p.efficiency_pct / 100,
    lock=lab.card("act2_batch"),
    hints=lab.card("act2_limit"),
)
lab.follow(
    design,
    device={"cloud": "h100-sxm", "tiny": "cortex-m7"},
    memory={"cloud": h100.memory, "tiny": lab.p.sram_kb * 1e3},
    reserve={"cloud": 0, "tiny": lab.p.reserve_kb * 1e3},
    data={
        "cloud": lab.p.model_mb * 1e6,
        "tiny": lab.p.kws_kparams * 1e3 * BYTES_PER_ELEMENT["fp32"],
    },
    operations={"cloud": lab.p.model_gflop * 1e9, "tiny": 10e6},
    batch={"cloud": 1, "tiny": 1},
    latency={"cloud": h100.launch(), "tiny": m7.launch()},
)
promise = {"cloud": lab.p.deadline_us * 1e-6, "tiny": 1.0}
memory = {
    "cloud": f"memory of {q(h100.memory, 'B')}",
    "tiny": f"reserve of {q(lab.p.reserve_kb * 1e3, 'B')}",
}
design.targets = lambda: [
    Target("data", design.capacity.memory, memory[context.context], spare=False),
    Target("total", promise[context.context], f"promise {q(promise[context.context], 's')}"),
]
design

# %% answer="largest_model_kparams"
largest_model_kparams = (lab.p.sram_kb - lab.p.reserve_kb) / BYTES_PER_ELEMENT["int8"]

# %% answer="keyword_precision"
room_kb = lab.p.sram_kb - lab.p.reserve_kb
fitting = [
    precision
    for precision in ("fp32", "fp16", "int8")
    if lab.p.kws_kparams * BYTES_PER_ELEMENT[precision] <= room_kb
]
keyword_precision = fitting[0]

# %% answer="served_images_per_s"
moving = lab.p.model_mb * 1e6 / h100.bandwidth
computing = lab.p.batch * lab.p.model_gflop * 1e9 / (h100.peak("fp16") * lab.p.efficiency_pct / 100)
served_images_per_s = lab.p.batch / (moving + computing + h100.launch())

# %% answer="largest_batch_in_time"
one_image = computing / lab.p.batch
times = {b: moving + b * one_image + h100.launch() for b in (1, 8, 32, 128)}
largest_batch_in_time = str(max(b for b, time in times.items() if time <= lab.p.deadline_us * 1e-6))

# %% [markdown]
# ### What you hand on
#
# Choose the context you would build first, set the design instrument as you would ship it, and save.

# %% design=true
lab.design(
    {
        "context": lambda: context.context,
        "act1_prediction": lambda: lab.card("act1_gap").value,
        "act1_correct": lambda: lab.card("act1_gap").value == gap.right,
        "act2_bottleneck": lambda: "memory" if design.result.memory_to_compute > 1 else "compute",
        "act2_prediction": lambda: lab.card("act2_term").value,
        "act2_correct": lambda: lab.card("act2_term").value == term.right,
        "constraint_hit": lambda: bool(design.misses),
        "oom_triggered": lambda: bool(design.capacity.out_of_memory),
    },
    after=["act2_batch"],
    keeps={"design": design},
    headline=lambda: (
        f"{context.context.capitalize()}, {q(design.data, 'B')}, batch {q(design.batch)}, "
        f"{q(design.result.total, 's')}"
    ),
)

# %% [markdown]
# ## In your own words

# %% [markdown] essay="reply"
# The two machines differ by {{ q(devices["h100-sxm"].peak() / devices["cortex-m7"].peak("fp32"), "×") }} in compute, by
# {{ q(devices["h100-sxm"].bandwidth / devices["cortex-m7"].bandwidth, "×") }} in bandwidth, by
# {{ q(devices["h100-sxm"].memory / devices["cortex-m7"].memory, "×") }} in memory and by
# {{ q(devices["h100-sxm"].power / devices["cortex-m7"].power, "×") }} in power: six orders at most, not nine. Compute and
# bandwidth would only make us wait; one ResNet-50 image would take about
# {{ q(iron_law(p.model_mb * 1e6, p.model_gflop * 1e9, "cortex-m7").total, "s") }} on the doorbell. Capacity says no: the
# weights are {{ q(capacity(p.model_mb * 1e6, "cortex-m7").fill, "×") }} too large, and in int8 still
# {{ q(capacity(p.model_mb * 1e6 / 4, "cortex-m7").fill, "×") }}.
#
# So the model itself must be another one, and with it format, compiler and runtime: GPU kernels in batches on one side,
# an int8 interpreter without an operating system on the other. Data, labels, training code and evaluation can be shared.
#
# I recommend to hear on the doorbell, with an int8 keyword model of at most {{ p.sram_kb - p.reserve_kb }} thousand
# parameters, and to see in the cloud, in batches as large as the promised answer time allows. The $50,000 should pay for
# the second, not for the first.

# %% record="ledger_record"

# %% card="takeaways"

# %% show="Where you stand"
lab.hud(
    constraints={
        "Memory": design,
        "Answer time": lambda: (
            "The design answers later than it promises."
            if design.result.total > promise[context.context]
            else None
        ),
    },
    decisions={"Built first": "context", "Longest term": "act2_bottleneck"},
)
