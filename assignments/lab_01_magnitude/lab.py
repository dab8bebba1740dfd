# %% [markdown]
# # Lab 01: The Magnitude Awakening
#
# One word, *model*, for what runs in a data center and in a doorbell. Put numbers on the difference and design for each.
#
# **Read first** the introduction of *Machine Learning Systems*.

# %% setup=true
from mlsys_widgets import IronLaw, MagnitudeLandscape, Move, MovingPicture, Target
from mlsys_widgets.physics import BYTES_PER_ELEMENT, devices, iron_law, workloads
from mlsys_widgets.physics import format_quantity as q

h100, m7, resnet = devices["h100-sxm"], devices["cortex-m7"], workloads["resnet50-inference"]

cover = MovingPicture(
    "A task takes time to move its data, to compute, and to begin.",
    IronLaw,
    sweep={"data": (2e7, 2e9)},
    only=["terms"],
    device="orin-nx",
)

# %% [markdown]
# All instruments follow this switch.

# %% show="Context"
context = lab.context(
    {"cloud": "Cloud: H100", "tiny": "Tiny: your board"},
    about={
        "cloud": "A GPU in a data center, with a rack, fans and a power line of its own.",
        "tiny": "A Cortex-M7 in a doorbell, on a battery, without an operating system. Act 1 shows the "
        "reference chip; your board is of the same kind, with other numbers.",
    },
)
context

# %% [markdown]
# ## Act 1: How far apart are they?
#
# A system has three sides: the **D**ata that must move, the **A**lgorithm and its operations (FLOP: floating-point
# operations; FLOPS: FLOP per second), and the **M**achine with its rates, capacity and power.

# %% card="act1_message"

# %% card="act1_gap"

# %% [markdown]
# Each line stands for ten times the one below; the dash-dotted bracket is your prediction.

# %% instrument="Magnitude landscape"
landscape = MagnitudeLandscape(lock=lab.card("act1_gap"))
lab.follow(
    landscape,
    device={"cloud": "h100-sxm", "tiny": "cortex-m7"},
    other={"cloud": "cortex-m7", "tiny": "h100-sxm"},
)

# %% reveal="act1_gap"
gap_reveal = lab.reveal(
    "act1_gap",
    model=lambda: h100.peak("fp16") / m7.peak("fp32"),
    moves=[
        Move("Rank by bandwidth", landscape, quantity="bandwidth"),
        Move("Rank by memory", landscape, quantity="memory"),
        Move("Rank by power", landscape, quantity="power"),
    ],
)
gap_reveal

# %% answer="listening_plan"
busy = lab.p.kws_mflop * lab.p.kws_passes / lab.p.mcu_mflops
radio_mw = lab.p.audio_kbit * 1e3 * lab.p.radio_nj * 1e-9 * 1e3
plans = {
    "board": busy * lab.p.mcu_mw,
    "stream": radio_mw,
    "gate": lab.p.gate_mw + lab.p.sound_pct / 100 * radio_mw,
}
listening_plan = min(plans, key=plans.get)

# %% [markdown] deeper=true
# ### Deeper: the gap in days, and in energy

# %% answer="catch_up_days"
operations = lab.p.burst_s * h100.peak("fp16")
catch_up_days = operations / (lab.p.mcu_mflops * 1e6) / 86_400

# %% answer="flop_per_joule_times"
cloud = h100.peak("fp16") / h100.power
tiny = lab.p.mcu_mflops * 1e6 / (lab.p.mcu_mw * 1e-3)
flop_per_joule_times = cloud / tiny

# %% card="act1_stack"

# %% card="act1_math"

# %% [markdown]
# ## Act 2: Which term binds?
#
# For *one model*, the iron law adds up three terms:
#
# $$T = \underbrace{\frac{D}{BW}}_{\text{memory}} + \underbrace{\frac{b \cdot O}{R \cdot \eta}}_{\text{compute}} +
# \underbrace{L}_{\text{latency}}$$
#
# $D$ is the bytes that move (weights, not activations), $O$ the operations for one image, $b$ the images of a batch. The
# machine moves $BW$ and computes $R$ per second, of which kernels, the programs on the chip, reach the fraction $\eta$;
# getting started costs $L$. The largest term *binds*: halving it saves the most.

# %% card="act2_message"

# %% card="act2_batch"

# %% [markdown]
# Move the batch and watch which bar is marked; the dashed line in *All batches* is your prediction.

# %% instrument="Iron law"
your_board = {"cortex-m7": "your board (a Cortex-M7)"}
law = IronLaw(lock=lab.card("act2_batch"), hints=lab.card("act3_split"), called=your_board)
board_inputs = {
    "memory": lab.p.sram_kb * 1e3,
    "reserve": lab.p.reserve_kb * 1e3,
    "bandwidth": lab.p.mcu_mb_per_s * 1e6,
    "rate": lab.p.mcu_mflops * 1e6,
}
server_inputs = {
    "memory": h100.memory,
    "reserve": 0.0,
    "bandwidth": h100.bandwidth,
    "rate": h100.peak("fp16"),
}
machine_inputs = {
    name: {"cloud": server_inputs[name], "tiny": board_inputs[name]} for name in board_inputs
}
lab.follow(
    law,
    device={"cloud": "h100-sxm", "tiny": "cortex-m7"},
    data={"cloud": resnet.data, "tiny": lab.p.model_mb * 1e6},
    operations={"cloud": resnet.operations, "tiny": lab.p.model_gflop * 1e9},
    latency={"cloud": h100.launch(), "tiny": m7.launch()},
    **machine_inputs,
)

# %% reveal="act2_batch"
batch_reveal = lab.reveal(
    "act2_batch",
    model=lambda: iron_law(resnet.data, resnet.operations, h100).compute_bound_batch,
    worked={
        "Operations per byte": (resnet.operations / resnet.data, "FLOP/B"),
        "Ridge of the H100": (h100.ridge(), "FLOP/B"),
    },
    moves=[Move("Raise the batch to 64 or more", law, lambda law: law.batch >= 64)],
)
batch_reveal

# %% answer="bits_per_weight"
weights = lab.p.model_mb * 1e6 / BYTES_PER_ELEMENT["fp32"]
bits_per_weight = {
    "bits_per_weight": 8e3 * (lab.p.sram_kb - lab.p.reserve_kb) / weights,
    "left_beside_kb": lab.p.sram_kb - weights / 400 / 1e3,  # one in 400 stays, at one byte
}[lab.p.bits_per_weight]

# %% answer="board_upgrade"
moving = lab.p.model_mb / lab.p.mcu_mb_per_s
computing = lab.p.model_gflop * 1e9 / (lab.p.mcu_mflops * 1e6)
upgrades = {
    "core": moving + computing / lab.p.core_times,
    "flash": moving / lab.p.flash_times + computing,
    "prune": (moving + computing) / 2,
}
board_upgrade = min(upgrades, key=upgrades.get)

# %% [markdown] deeper=true
# ### Deeper: why it waits, slow kernels, small weights, and a model that streams

# %% card="act2_why"

# %% answer="balance_efficiency_percent"
memory_term = lab.p.model_mb * 1e6 / h100.bandwidth
compute_term = lab.p.model_gflop * 1e9 / h100.peak("fp16")
balance_efficiency_percent = 100 * lab.p.small_batch * compute_term / memory_term

# %% answer="int8_weights_times"
fixed = compute_term + lab.p.launch_us * 1e-6
int8_weights_times = (memory_term + fixed) / (memory_term / 4 + fixed)

# %% [markdown]
# #### Your vision model on the board
#
# Move the switch to *Tiny*. The iron law above now holds your own vision model, and the rates and the memory of your own
# board. Read what is red first, and then which bar is marked.

# %% show="context for the board"
context

# %% answer="needed_mb_per_s"
from math import ceil

allowed = ceil(computing) + lab.p.slack_s  # as the question says it
needed_mb_per_s = lab.p.model_mb / (allowed - computing - m7.launch())

# %% card="act2_limit"

# %% card="act2_math"

# %% [markdown]
# ## Act 3: Two doorbells to design

# %% card="act3_rate"

# %% card="act3_message"

# %% [markdown]
# A lamp for each promise says whether it is kept, or by how much it is missed.

# %% show="context for the design"
context

# %% instrument="Design: fit, and be in time"
from math import isclose

design = IronLaw(
    title="Design: fit, and be in time",
    efficiency=lab.p.efficiency_pct / 100,
    lock=lab.card("act3_rate"),
    hints=lab.card("act3_split"),
    called=your_board,
)
given = {
    "efficiency": {"cloud": lab.p.efficiency_pct / 100, "tiny": 1.0},
    "latency": {"cloud": lab.p.launch_us * 1e-6, "tiny": m7.launch()},
    **machine_inputs,
}
lab.follow(
    design,
    device={"cloud": "h100-sxm", "tiny": "cortex-m7"},
    data={
        "cloud": lab.p.model_mb * 1e6,
        "tiny": lab.p.kws_kparams * 1e3 * BYTES_PER_ELEMENT["fp16"],
    },
    operations={"cloud": lab.p.model_gflop * 1e9, "tiny": lab.p.kws_mflop * 1e6},
    batch={"cloud": lab.p.proposed_batch, "tiny": 1},
    **given,
)
promised = {"cloud": lab.p.deadline_us * 1e-6, "tiny": 1 / lab.p.kws_passes}
demand = lab.materials["images_per_second"](lab.p)
machines = {
    where: (device, {name: each[where] for name, each in given.items()})
    for where, device in (("cloud", "h100-sxm"), ("tiny", "cortex-m7"))
}


def room_for_weights():
    """What the machine of the context has left for weights, whatever the instrument shows."""
    _, inputs = machines[context.context]
    return inputs["memory"] - inputs["reserve"]


def another_machine(where):
    """A sentence while the instrument shows another machine than that of a context."""
    device, inputs = machines[where]
    changed = [name for name, value in inputs.items() if not isclose(design.inputs[name], value)]
    if design.device != device:
        name = your_board.get(device, f"the {devices[device].name}")
        return f"The design is for {name}; the instrument shows another device."
    if changed:
        return f"The machine cannot be changed; set its {' and '.join(changed)} back."
    return None


design.targets = lambda: [
    Target("data", room_for_weights(), f"room for weights {q(room_for_weights(), 'B')}"),
    Target("total", promised[context.context], f"promise {q(promised[context.context], 's')}"),
    *(
        [Target("throughput", demand, f"demand {q(demand, 'inferences/s')}", "at least")]
        if context.context == "cloud"
        else []
    ),
]
design

# %% reveal="act3_rate"
from mlsys_widgets.measured import cases

h200, rates = devices["h200-sxm"], {}
for batch in (1, 32, 256):
    shape = {"model": "resnet50", "batch": batch}
    (timed,) = cases("h200-sxm", kind="model", precision="fp16", variant="eager", **shape)
    by_law = iron_law(
        timed.shape["parameter_bytes"],
        resnet.operations,
        h200,
        latency=h200.launch(),
        batch=batch,
    )
    rates[f"Batch {batch}, iron law at an H200's peak"] = (batch / by_law.total, "images/s")
    rates[f"Batch {batch}, measured"] = (batch / timed.seconds.median, "images/s")
lab.reveal(
    "act3_rate",
    model=rates["Batch 256, iron law at an H200's peak"][0],
    measured=rates["Batch 256, measured"][0],
    worked=rates,
    digits=2,
    moves=[
        Move("In the cloud, raise the batch to 256 or more", design, lambda law: law.batch >= 256)
    ],
)


# %% answer="keyword_precision"
room_kb = lab.p.sram_kb - lab.p.reserve_kb
fitting = [
    precision
    for precision in ("fp32", "fp16", "int8")
    if lab.p.kws_kparams * BYTES_PER_ELEMENT[precision] <= room_kb
]
keyword_precision = fitting[0] if fitting else "none"

# %% answer="largest_batch_images"
moved = lab.p.model_mb * 1e6 / h100.bandwidth
left = lab.p.deadline_us * 1e-6 - moved - lab.p.launch_us * 1e-6
one_image = lab.p.model_gflop * 1e9 / h100.peak("fp16")  # at the full peak
scaling, reached = lab.p.scale_us * 1e-6, lab.p.efficiency_pct / 100
evening = lab.p.evening_batch
largest_batch_images = {
    "largest_batch_images": int(left / (scaling + one_image / reached)),
    "needed_efficiency_percent": 100 * evening * one_image / (left - evening * scaling),
}[lab.p.largest_batch_images]

# %% [markdown]
# ### What you pass on
#
# Set the instrument to what you would ship first.

# %% design=true
lab.design(
    {
        "context": lambda: context.context,
        "act1_prediction": lambda: lab.card("act1_gap").words,
        "act1_correct": lambda: lab.card("act1_gap").value == gap_reveal.right,
        "act2_bottleneck": lambda: "memory" if design.result.memory_to_compute > 1 else "compute",
        "act2_prediction": lambda: lab.card("act2_batch").words,
        "act2_correct": lambda: lab.card("act2_batch").value == batch_reveal.right,
        "constraint_hit": lambda: bool(design.misses or another_machine(context.context)),
        "oom_triggered": lambda: bool(design.data > room_for_weights()),
    },
    after=["act3_rate"],
    keeps={"design": design},
    promises={"device": lambda: another_machine(context.context)},
    headline=lambda: (
        f"{context.context.capitalize()}, {q(design.data, 'B')}, batch {q(design.batch)}, "
        f"{q(design.result.total, 's')}"
    ),
)

# %% [markdown] deeper=true
# ### Deeper: a mixed model, two kinds of limits, and your answer to Dana

# %% answer="mixed_kparams"
part = lab.p.fp16_pct / 100
bytes_each = part * BYTES_PER_ELEMENT["fp16"] + (1 - part) * BYTES_PER_ELEMENT["int8"]
mixed_kparams = room_kb / bytes_each

# %% card="act3_split"

# %% [markdown] essay="reply"
# One stack cannot serve both. The two machines differ by
# {{ q(devices["h100-sxm"].peak() / devices["cortex-m7"].peak("fp32"), "×") }} in compute, by
# {{ q(devices["h100-sxm"].bandwidth / devices["cortex-m7"].bandwidth, "×") }} in bandwidth, by
# {{ q(devices["h100-sxm"].memory / devices["cortex-m7"].memory, "×") }} in memory and by
# {{ q(devices["h100-sxm"].power / devices["cortex-m7"].power, "×") }} in power: six orders at most, not nine. Compute and
# bandwidth only make us wait; one image of the vision model would take about
# {{ q(p.model_mb / p.mcu_mb_per_s + p.model_gflop * 1e3 / p.mcu_mflops + devices["cortex-m7"].launch(), "s") }} on the
# doorbell. Capacity says no: in fp32 its weights are {{ q(p.model_mb * 1e3 / (p.sram_kb - p.reserve_kb), "×") }} as large
# as the SRAM that is left for them, and in int8 still {{ q(p.model_mb * 1e3 / (p.sram_kb - p.reserve_kb) / 4, "×") }}.
#
# So the model itself must be another one, and with it the format, the compiler and the runtime: GPU kernels in batches on
# one side, an int8 interpreter without an operating system on the other. Data, labels, training code and evaluation can
# be shared.
#
# I recommend that the doorbell hears, so that audio stays at home, with a keyword model that fits into the
# {{ q((p.sram_kb - p.reserve_kb) * 1e3, "B") }} that the runtime leaves, and that the cloud sees, in batches as large as
# the time of the GPU allows. Spend the $50,000 on the second, not on the first.

# %% record="deeper_record"

# %% [markdown]
# ## Where you stand

# %% record="ledger_record"

# %% card="takeaways"


# %% show="Where you stand"
def shown_context():
    """The context whose machine the design shows; while the switch moves, it is a step behind."""
    shown = (where for where, (device, _) in machines.items() if device == design.device)
    return next(shown, context.context)


lab.hud(
    constraints={
        "Memory": design,
        "Answer time": lambda: (
            f"The design answers after {q(design.result.total, 's')}, "
            f"{q(design.result.total - promised[shown_context()], 's')} later than promised."
            if not design.locked and design.result.total > promised[shown_context()]
            else None
        ),
        "Demand": lambda: (
            f"The design keeps up with {q(design.throughput, 'images/s')} only, not with "
            f"{q(demand, 'images/s')}."
            if not design.locked and shown_context() == "cloud" and design.throughput < demand
            else None
        ),
        "Device": lambda: None if design.locked else another_machine(shown_context()),
    },
    decisions={
        "Binding term": lambda: (
            "not open yet"
            if design.locked
            else "out of memory"
            if design.data > room_for_weights()
            else str(design.result.binding)
        ),
        "Built first": "context",
        "Saved design out of memory": "oom_triggered",
    },
)
