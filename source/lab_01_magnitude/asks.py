# What lab_01_magnitude asks. Made by `mlsys build`; the original is in assignments/.

from math import ceil, floor, log10

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
from mlsys_widgets.ledger.designs import choice, flag, judged, predicted
from mlsys_widgets.measured import Case, cases
from mlsys_widgets.physics import (
    BYTES_PER_ELEMENT,
    Capacity,
    IronLawTime,
    capacity,
    counted,
    devices,
    iron_law,
    workloads,
)
from mlsys_widgets.physics import format_quantity as q

H100, H200, M7 = (devices[key] for key in ("h100-sxm", "h200-sxm", "cortex-m7"))
A100, ORIN = devices["a100-sxm"], devices["orin-nx"]
RESNET = workloads["resnet50-inference"]
GAP = H100.peak("fp16") / M7.peak("fp32")
ON_H100 = iron_law(RESNET.data, RESNET.operations, H100)
ON_M7 = iron_law(RESNET.data, RESNET.operations, M7)
EXAMPLE_S = 600
EXAMPLE_TAKES = EXAMPLE_S * A100.peak("fp16") / ORIN.peak("fp16")
EXAMPLE_B, EXAMPLE_ROOM, EXAMPLE_WATCH = 24e6, 9e6, 3e6
EXAMPLE_MODEL = 1.2e6
EXAMPLE_PRUNED = 5
EXAMPLE_WEIGHTS = EXAMPLE_B / BYTES_PER_ELEMENT["fp32"]
EXAMPLE_LEFT = 2e-3 - 8e6 / A100.bandwidth - 6e-6
EXAMPLE_IMAGE = 1e9 / (A100.peak("fp16") / 2)
EXAMPLE_SCALE = 2e-6
EXAMPLE_BATCH = 360
EXAMPLE_AT_PEAK = EXAMPLE_BATCH * 1e9 / A100.peak("fp16")
EXAMPLE_SCALED = EXAMPLE_LEFT - EXAMPLE_BATCH * EXAMPLE_SCALE
PRUNED = 400
BATCHES = {"A": 4.0, "B": 32.0, "C": 300.0, "D": 1000.0}
FEW, SOME, MANY = 1, 32, 256


def images_per_second(p: Parameters) -> float:
    alone = H100.peak("fp16") * p.efficiency_pct / 100 / (p.model_gflop * 1e9)
    return floor(0.85e-3 * alone) * 1e3


lab = Lab(
    "lab_01_magnitude",
    title="Lab 01: The Magnitude Awakening",
    question="The same model on a data-center GPU and on a doorbell: what sets the pace of each?",
    chapter=1,
    acts=("How far apart are they?", "Which term binds?", "Two doorbells to design"),
    parameters={
        "burst_s": Parameter(10, steps(2, 12, 0.5), "s", "time that the H100 works at its peak"),
        "mcu_mflops": Parameter(
            1000, steps(900, 1150, 5), "MFLOP/s", "peak of your board's microcontroller, fp32"
        ),
        "mcu_mw": Parameter(100, steps(72, 132, 1), "mW", "power of your board while it computes"),
        "mcu_mb_per_s": Parameter(
            120,
            (3.2, 3.5, 3.8, 18, 18.5, 19, 120, 140, 160),
            "MB/s",
            "bandwidth of your board's flash chip",
        ),
        "sram_kb": Parameter(512, steps(500, 540, 2), "KB", "SRAM of your board"),
        "reserve_kb": Parameter(
            192, steps(184, 200, 1), "KB", "SRAM that the runtime and activations keep"
        ),
        "kws_mflop": Parameter(
            10, steps(9, 11, 0.25), "MFLOP", "operations of one pass of your keyword model"
        ),
        "kws_passes": Parameter(10, (10,), "passes per second", "how often it listens"),
        "audio_kbit": Parameter(256, (256,), "kbit/s", "audio of the microphone"),
        "radio_nj": Parameter(
            80,
            (*steps(14, 19, 0.5), *steps(76, 94, 2)),
            "nJ/bit",
            "energy of your doorbell's radio",
        ),
        "sound_pct": Parameter(
            90,
            (5, 7, 8, 10, 85, 86, 88, 89, 91, 92, 94, 95),
            "percent",
            "fraction of the day in which your porch is not quiet",
        ),
        "gate_mw": Parameter(2, steps(1.5, 2.5, 0.1), "mW", "power of the sound detector"),
        "model_mb": Parameter(100, steps(100, 140, 1), "MB", "weights of your vision model, fp32"),
        "model_gflop": Parameter(
            8.2, steps(7, 9.8, 0.1), "GFLOP", "operations of your vision model for one image"
        ),
        "small_batch": Parameter(2, (2,), "images", "batch at a quiet hour"),
        "launch_us": Parameter(10, steps(4, 40, 1), "µs", "latency of one batch in your cloud"),
        "slack_s": Parameter(
            2, (1, 1.5, 2, 2.5, 3, 4), "s", "time that your board has for more than arithmetic"
        ),
        "core_times": Parameter(3, (2.9, 3), "times", "compute of the faster core"),
        "flash_times": Parameter(5, (4.6, 4.8, 5), "times", "bandwidth of the faster flash"),
        "kws_kparams": Parameter(
            220,
            (*steps(44, 60, 2), *steps(106, 122, 2), *steps(214, 246, 4), *steps(424, 488, 8)),
            "thousand parameters",
            "size of your keyword model",
        ),
        "fp16_pct": Parameter(
            20, steps(6, 42, 1), "percent", "fraction of the parameters that must stay in fp16"
        ),
        "efficiency_pct": Parameter(
            40, steps(30, 46, 1), "percent", "fraction of the H100's peak that your kernels reach"
        ),
        "proposed_batch": Parameter(
            128, (96, 128, 192), "images", "batch that your cloud team proposes"
        ),
        "evening_batch": Parameter(
            40, steps(32, 48, 1), "images", "batch of your cloud in the evening"
        ),
        "scale_us": Parameter(5, (4, 5, 6), "µs", "time that the H100 scales one photo"),
        "deadline_us": Parameter(
            1200, steps(900, 2400, 20), "µs", "time that an answer may take on your GPU"
        ),
    },
    design={
        "context": choice("the device the design is for", "cloud", "tiny"),
        "act1_prediction": predicted("what was predicted in the first act"),
        "act1_correct": judged("whether that was right"),
        "act2_bottleneck": choice(
            "the longer of the memory and the compute term", "memory", "compute"
        ),
        "act2_prediction": predicted("what was predicted in the second act"),
        "act2_correct": judged("whether that was right"),
        "constraint_hit": flag("whether the design breaks a limit of its device or its promise"),
        "oom_triggered": flag("whether that limit is the device's memory"),
    },
    materials={"images_per_second": images_per_second},
    deeper=(
        "catch_up_days", "flop_per_joule_times", "act1_stack", "act1_math", "act2_why",
        "balance_efficiency_percent", "int8_weights_times", "needed_mb_per_s", "act2_limit",
        "act2_math", "mixed_kparams", "act3_split", "reply", "deeper_record",
    ),
)


def timed(batch: int) -> Case:
    shape = {"model": "resnet50", "batch": batch}
    return cases("h200-sxm", kind="model", precision="fp16", variant="eager", **shape)[0]


def by_the_law(batch: int) -> IronLawTime:
    weights = timed(batch).shape["parameter_bytes"]
    return iron_law(weights, RESNET.operations, H200, latency=H200.launch(), batch=batch)


def _rate(batch: int, seconds: float) -> str:
    return q(float(f"{batch / seconds:.2g}"), "images/s")


def _board(p: Parameters) -> str:
    return (
        f"{q(p.mcu_mflops * 1e6, 'FLOP/s')} in fp32, {q(p.sram_kb * 1e3, 'B')} of SRAM, a flash "
        f"chip that delivers {q(p.mcu_mb_per_s * 1e6, 'B/s')}, and {q(p.mcu_mw * 1e-3, 'W')} while "
        "it computes"
    )


def _model(p: Parameters) -> str:
    return (
        f"{q(p.model_mb * 1e6, 'B')} of weights and {q(p.model_gflop * 1e9, 'FLOP')} for each image"
    )


def _on_board(p: Parameters) -> IronLawTime:
    return iron_law(
        p.model_mb * 1e6,
        p.model_gflop * 1e9,
        bandwidth=p.mcu_mb_per_s * 1e6,
        rate=p.mcu_mflops * 1e6,
        latency=M7.launch(),
    )


def _sram(p: Parameters) -> str:
    return f"Your doorbell's board has {q(p.sram_kb * 1e3, 'B')} of SRAM."


def _weights_of(p: Parameters) -> str:
    return f"your vision model ({q(p.model_mb * 1e6, 'B')} in fp32)"


def _counted_weights() -> str:
    return (
        f"A model has {q(EXAMPLE_B, 'B')} of weights in fp32. At "
        f"{BYTES_PER_ELEMENT['fp32']:g} bytes each, these are {q(EXAMPLE_WEIGHTS)} weights."
    )


def _in_sram(p: Parameters, size: float) -> Capacity:
    return Capacity(size=size, memory=(p.sram_kb - p.reserve_kb) * 1e3)


def promise_s(p: Parameters) -> float:
    return ceil(_on_board(p).compute_time) + p.slack_s


@lab.asks
def act1_message(p: Parameters) -> Message:
    return Message(
        "Dana Okafor",
        "VP of Engineering",
        "One stack for everything?",
        "Every doorbell we ship next year must wake up at its keyword. Our cloud team "
        "wants $50,000 to stream the audio to the H100 cluster, with the code they have.\n\n"
        "The hardware team laughed: nothing written for an H100 will ever run on a microcontroller "
        f"that costs $2.40 and has {q(p.sram_kb * 1e3, 'B')} of memory (SRAM). Our investors read "
        "that the two are “nine orders of magnitude” apart, and nobody can tell me in what.\n\n"
        "I decide on Thursday. Can one software stack serve both machines?",
        task="Find out how far apart they are, quantity by quantity.",
        in_context={
            "cloud": f"You are looking at the cloud team's {H100.name}.",
            "tiny": f"You are looking at the hardware team's chip, a {M7.name}.",
        },
        act=1,
    )


@lab.asks
def act1_gap(p: Parameters) -> Prediction:
    values = {"A": 1e2, "B": 1e4, "C": 1e6, "D": 1e9}
    bandwidth, power = q(H100.bandwidth / M7.bandwidth, "×"), q(H100.power / M7.power, "×")
    return Prediction(
        "How many times the peak compute of a Cortex-M7 microcontroller does an H100 have?",
        {key: f"about {q(value, '×')}" for key, value in values.items()},
        values=values,
        unit="×",
        quantity="gap",
        settings={"device": H100.key, "other": M7.key, "quantity": "compute", "peak": "native"},
        distance="orders",
        feedback={
            "A": "A hundred lies between a laptop and a server. The real gap is "
            f"{q(GAP, '×')}, {q(GAP / values['A'])} times your estimate: from "
            f"{q(M7.peak('fp32'), 'FLOP/s')} to {q(H100.peak('fp16'), 'FLOP/s')}, the prefix "
            "brings a factor of a thousand, and the number in front nearly another.",
            "B": f"Ten thousand lies near the gap in power ({power}) and below the gap in "
            f"bandwidth ({bandwidth}). Compute differs by {q(GAP, '×')}, about "
            f"{GAP / values['B']:.0f} times your estimate. Which of these two gaps did you have in "
            "mind?",
            "C": f"The peaks differ by {q(GAP, '×')}: six orders of magnitude. The other ladders "
            f"say {bandwidth} in bandwidth, {q(H100.memory / M7.memory, '×')} in "
            f"memory, {power} in power. No two gaps are equal, so moving a model from one "
            "machine to the other also changes which resource runs out first.",
            "D": f"The real gap is {q(GAP, '×')}, so nine orders are "
            f"{log10(values['D'] / GAP):.0f} orders too many: a factor of a thousand. The "
            "investors may have their nine from the textbook, which compares "
            "today's models with the first neural networks.",
        },
        title="The gap in compute",
        act=1,
    )


@lab.asks
def catch_up_days(p: Parameters) -> Number:
    return Number(
        f"Your doorbell has a board of its own: **{_board(p)}**. An H100 computes at its peak "
        f"({H100.peak_label()}) for **{q(p.burst_s, 's')}**. How many days does your board need, "
        "at its own peak, for the same number of operations? (Write a number such as 12.5.)",
        "days",
        points=8,
        low=0.5,
        high=400,
        hint="Put both peaks into FLOP/s first; then count the seconds in a day.",
        worked_example=f"An {A100.name} computes at {q(A100.peak('fp16'), 'FLOP/s')} for ten"
        f" minutes, or {q(EXAMPLE_S)} seconds: {q(EXAMPLE_S * A100.peak('fp16'), 'FLOP')}. A"
        f" {ORIN.name} does {q(ORIN.peak('fp16'), 'FLOP/s')}, so it needs {q(EXAMPLE_TAKES)}"
        f" seconds for them. With 3,600 seconds in an hour, that is {q(EXAMPLE_TAKES / 3600)}"
        " hours.",
        title="How long does your board need to catch up?",
        act=1,
        after=["act1_gap"],
    )


@lab.asks
def flop_per_joule_times(p: Parameters) -> Number:
    return Number(
        "A watt is a joule per second, so FLOP/s per watt are FLOP per joule. At its peak, an H100 "
        f"draws {q(H100.power, 'W')}; your board ({q(p.mcu_mflops * 1e6, 'FLOP/s')}) draws "
        f"{q(p.mcu_mw * 1e-3, 'W')}. How many times as many operations does the H100 get out of a "
        "joule? (Write a number such as 15; it is below 1 if the board gets more.)",
        "times",
        points=8,
        low=1e-4,
        high=1e13,
        hint="Divide each peak by its own power first.",
        worked_example=f"An {A100.name} computes at {q(A100.peak('fp16'), 'FLOP/s')} and draws"
        f" {q(A100.power, 'W')}, so it gets {q(A100.peak('fp16') / A100.power, 'FLOP')} out of a"
        f" joule. A {ORIN.name} computes at {q(ORIN.peak('fp16'), 'FLOP/s')} and draws"
        f" {q(ORIN.power, 'W')}, which makes {q(ORIN.peak('fp16') / ORIN.power, 'FLOP')}. Divided,"
        f" these are {q(A100.peak('fp16') / A100.power / (ORIN.peak('fp16') / ORIN.power), '×')}.",
        title="Which machine is the efficient one?",
        act=1,
        after=["act1_gap"],
    )


@lab.asks
def listening_plan(p: Parameters) -> Choice:
    return Choice(
        f"Your keyword model takes **{q(p.kws_mflop * 1e6, 'FLOP')}**, **{p.kws_passes}** times "
        f"per second; your board draws {q(p.mcu_mw * 1e-3, 'W')}, only while it computes, at "
        f"{q(p.mcu_mflops * 1e6, 'FLOP/s')}. The radio would send {p.audio_kbit} kbit/s of audio, "
        f"at **{p.radio_nj} nJ** per bit. A sound detector draws **{q(p.gate_mw * 1e-3, 'W')}** "
        "all day, and the radio then sends only while your porch is not quiet, "
        f"**{p.sound_pct}%** of the time. Which plan draws the least power on average?",
        {
            "board": "run the keyword model on the board",
            "stream": "send all the audio to the cloud",
            "gate": "detect sound, and send only that",
        },
        points=3,
        worked_example="A wristwatch runs 4 MFLOP five times per second on a board that does 200"
        " MFLOPS, so it computes for a tenth of the time: at 50 mW, 5 mW on average. Sending its"
        " 20 kbit/s at 100 nJ per bit takes 2 mW. A detector of 0.5 mW that lets a quarter of that"
        " through takes 1 mW.",
        title="Where should it listen?",
        act=1,
        after=["act1_gap"],
    )


@lab.asks
def act1_stack(p: Parameters) -> Reflection:
    memory = q(H100.memory / (p.sram_kb * 1e3), "×")
    return Reflection(
        "What does a compute gap of six orders of magnitude mean for the software?",
        {
            "A": "The microcontroller needs algorithms with far fewer operations.",
            "B": "Each kind of machine needs a software stack of its own.",
            "C": "The models need more training data to make up for it.",
            "D": "A better compiler will bridge it, from one and the same code.",
        },
        right="B",
        feedback={
            "A": "A faster algorithm works on one axis: it lowers the number of operations. "
            f"Suppose it saved all of them. The board would still have {memory} less memory and "
            f"{q(H100.bandwidth / (p.mcu_mb_per_s * 1e6), '×')} less bandwidth, and weights would "
            "still have to be stored and moved. Compare the other three ladders before you invest "
            "in this one.",
            "B": f"Your board has no tensor cores, no operating system, and {memory} less memory "
            "than the H100. Code that is tuned for one machine finds none of what it relies on "
            "in the other, so model formats (a TensorRT engine, a TFLite file), compilers and "
            "runtimes part ways. That is why textbooks describe four deployment regimes, from "
            "cloud to tiny, and no universal stack.",
            "C": "More data can make a model more accurate, and that is the data axis at training "
            f"time. It changes nothing about a board that is a million times slower, with {memory} "
            "less memory, at the moment it runs the model. Ask of each remedy which term of the "
            "running system it shrinks; this one shrinks none.",
            "D": "Compilers such as TVM do reach both machines, and they can make code several "
            f"times faster. Six orders are {q(GAP, '×')}, and no compiler adds a single byte to a "
            f"memory that is {memory} smaller. Compilers belong to the answer, one for each kind "
            "of machine; they do not merge the two.",
        },
        title="One stack or several?",
        act=1,
        after=["act1_gap"],
    )


@lab.asks
def act1_math(p: Parameters) -> Peek:
    return Peek(
        "Every ML system rests on three things, and its bottleneck moves between them:\n\n"
        "| axis | what it sets | where you see it here |\n|---|---|---|\n"
        "| **D**ata | the bytes that must move, $D$ | bandwidth $BW$ |\n"
        "| **A**lgorithm | the operations, $O$ | peak compute $R$ |\n"
        "| **M**achine | its rates, its capacity $C$ and its power $P$ | all four ladders |\n\n"
        "A gap is the ratio of one quantity on two named machines, and its orders of magnitude "
        "are a logarithm:\n\n"
        "$$g = \\frac{R_{\\mathrm{cloud}}}{R_{\\mathrm{tiny}}}, \\qquad "
        "\\mathrm{orders} = \\log_{10} g$$\n\n"
        "The gap in operations per joule is a ratio of ratios:\n\n"
        "$$\\frac{R_{\\mathrm{cloud}} / P_{\\mathrm{cloud}}}{R_{\\mathrm{tiny}} / "
        "P_{\\mathrm{tiny}}}$$\n\n"
        "And energy is power times the time that it is drawn: a part that works for a tenth of the "
        "time draws, on average, a tenth of its power.\n\n"
        "Improve one axis alone and the limit moves to another. An algorithm with a tenth of the "
        "operations does not help a system that waits for its data.",
        title="The math: D·A·M, and what a gap is",
        act=1,
        after=["act1_gap"],
    )


@lab.asks
def act2_message(p: Parameters) -> Message:
    return Message(
        "Iris Lindgren",
        "Product manager for devices",
        "Can the doorbell see parcels?",
        "Now customers want the doorbell to tell a parcel from a cat. Our vision model for that is "
        f"a relative of ResNet-50: **{_model(p)}**.\n\n"
        "Where would its time go? Into arithmetic, says the cloud team: a network is only "
        "multiplications. Into fetching the weights, says the storage team. The board team would "
        "put it into the doorbell.\n\n"
        "By Friday I must reserve GPUs or order half a million boards. Who is right?",
        task="Find out what limits the model on each machine.",
        in_context={
            "cloud": f"The GPUs would be {H100.name}s.",
            "tiny": f"The boards would have {q(p.sram_kb * 1e3, 'B')} of SRAM.",
        },
        act=2,
        after=["act1_gap"],
    )


@lab.asks
def act2_batch(p: Parameters) -> Prediction:
    def arithmetic(option: str) -> float:
        return float(ON_H100.compute_time) * BATCHES[option]

    trip = float(ON_H100.memory_time)
    one = float(ON_H100.compute_time)
    intensity = RESNET.operations / RESNET.data
    return Prediction(
        f"ResNet-50 takes {q(RESNET.operations, 'FLOP')}, two for each multiply-add, and has "
        f"{q(RESNET.data, 'B')} of weights. These move once per batch; the operations are done "
        "for every image. From about how many images on does compute limit an H100?",
        {key: f"about {q(value)} images" for key, value in BATCHES.items()},
        values=BATCHES,
        unit="images",
        quantity="batch",
        settings={
            "device": H100.key,
            "workload": "resnet50-inference",
            "efficiency": 1,
            "bandwidth": H100.bandwidth,
            "rate": H100.peak("fp16"),
        },
        distance="times",
        feedback={
            "A": f"One trip of the weights takes {q(trip, 's')} and the arithmetic of one image "
            f"{q(one, 's')}, so the terms are equal at {q(trip / one)} images, and batch "
            f"{q(ON_H100.compute_bound_batch)} is the first whole one beyond. Up to there, "
            "sharing the trip pays off most: servers collect requests.",
            "B": f"With {q(BATCHES['B'])} images, the arithmetic takes {q(arithmetic('B'), 's')}, "
            f"{q(arithmetic('B') / trip, '×')} the trip of the weights: compute has been the limit "
            "for a while. Divide one trip of the weights by the arithmetic of one image instead.",
            "C": f"Numbers of this size come from the {q(H100.ridge(), 'FLOP/B')} that keep both "
            "sides of this GPU busy, its ridge. But that counts operations per byte, and one image "
            f"already brings {q(intensity, 'FLOP/B')}. With "
            f"{q(BATCHES['C'])}, the arithmetic takes {q(arithmetic('C'), 's')}, "
            f"{q(arithmetic('C') / trip, '×')} the trip of the weights.",
            "D": "It is tempting to give each of the GPU's thousands of units "
            f"an image. But a single image has work for all: {q(RESNET.operations, 'FLOP')}. "
            f"What matters is time: {q(one, 's')} of arithmetic per image against {q(trip, 's')} "
            "for the weights.",
        },
        title="What does the batch change?",
        act=2,
        after=["act1_gap"],
    )


@lab.asks
def act2_why(p: Parameters) -> Reflection:
    memory, compute = q(ON_H100.memory_time, "s"), q(ON_H100.compute_time, "s")
    times = q(ON_H100.memory_to_compute)
    intensity = RESNET.operations / RESNET.data
    return Reflection(
        "“A network is only multiplications.” And yet, with one image at a time, ResNet-50 "
        "makes an H100 wait for memory. Why?",
        {
            "A": "One image brings too few operations for every byte of weights.",
            "B": "The weights are too large to stay in the memory of the GPU.",
            "C": "Real kernels reach only a fraction of the peak of the GPU.",
            "D": "Getting the GPU started takes longer than all the arithmetic.",
        },
        right="A",
        feedback={
            "A": f"The weights need {memory} to arrive, the arithmetic {compute}: a factor of "
            f"{times}. It would take {q(H100.ridge(), 'FLOP/B')} to keep both sides of this GPU "
            f"busy. One image brings {q(intensity, 'FLOP/B')}; a batch multiplies that. (A "
            "popular post says 4 ns and 7,500×: it counts a multiply-add once, and loses a "
            "thousand between giga and tera.)",
            "B": f"They fill {q(capacity(RESNET.data, H100).fill, '%')} of {q(H100.memory, 'B')} "
            "and stay there. But tensor cores compute with what has arrived on the chip, and even "
            f"at {q(H100.bandwidth, 'B/s')} the trip takes {memory}, {times} times as long as the "
            "arithmetic. When you raised the batch, only the compute bar grew.",
            "C": "Slow kernels make the compute term longer, and would hide the waiting instead of "
            f"causing it. The law took the whole peak: {compute} of arithmetic, and {memory} for "
            "the weights. Lower *Efficiency* in the instrument, and see which bar moves.",
            "D": f"Getting started takes {q(H100.launch(), 's')}, longer than the arithmetic "
            f"of one image ({compute}), but a good deal less than the {memory} for the weights. "
            "It is the longest term of models with many small kernels, as you will see in Lab 07.",
        },
        title="Why does it wait for memory?",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def balance_efficiency_percent(p: Parameters) -> Number:
    return Number(
        f"Now your own vision model: **{_model(p)}**. At a quiet hour the service collects "
        f"batches of **{p.small_batch}**. Real kernels reach only a fraction of the peak "
        f"({H100.peak_label()}; memory delivers {q(H100.bandwidth, 'B/s')}). At what fraction, in "
        "percent of the peak, does the compute term become as long as the memory term? Leave "
        "latency out. (Write a number such as 95.)",
        "percent",
        points=8,
        low=1,
        high=100,
        hint="Kernels run at the efficiency times the peak, so an efficiency below 100% makes the "
        "compute term longer.",
        worked_example=f"An {A100.name} reads {q(8e6, 'B')} of weights at"
        f" {q(A100.bandwidth, 'B/s')} in {q(8e6 / A100.bandwidth, 's')}. At its peak of"
        f" {q(A100.peak('fp16'), 'FLOP/s')}, a batch of {q(3e8, 'FLOP')} takes"
        f" {q(3e8 / A100.peak('fp16'), 's')}. Kernels may stretch that to"
        f" {q(8e6 / A100.bandwidth, 's')}, so they may run at"
        f" {q(3e8 / A100.peak('fp16') / (8e6 / A100.bandwidth), '%')} of the peak.",
        title="How slow may the kernels be?",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def int8_weights_times(p: Parameters) -> Number:
    return Number(
        "The model is stored in fp32. Suppose you store its weights in int8, a quarter of the "
        "bytes, and convert them on the chip, so that the arithmetic stays as it is, at the full "
        f"fp16 peak. One image, {q(p.launch_us * 1e-6, 's')} of latency, one term after the other, "
        "before and after. How many times as fast is an image then? (Write a number such as 1.1.)",
        "times",
        points=8,
        low=0.7,
        high=20,
        hint="Write down all three terms, before and after. Only one of them changes; divide one "
        "sum by the other.",
        worked_example=f"A {ORIN.name} reads {q(51e6, 'B')} of fp32 weights at"
        f" {q(ORIN.bandwidth, 'B/s')} in {q(51e6 / ORIN.bandwidth, 's')}. Arithmetic takes"
        f" {q(1e-5, 's')}, latency {q(1.5e-5, 's')}: {q(5.25e-4, 's')} in all. In int8, the weights"
        f" take {q(51e6 / 4 / ORIN.bandwidth, 's')} and the rest stays, {q(1.5e-4, 's')} in all."
        " One"
        f" sum over the other is {q(5.25e-4 / 1.5e-4, '×')}.",
        title="What do smaller weights bring?",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def bits_per_weight(p: Parameters) -> Number:
    return Number(
        f"{_sram(p)} The runtime and activations keep {q(p.reserve_kb * 1e3, 'B')}. If all the "
        f"weights of {_weights_of(p)} had to go into the rest, how many bits could each have at "
        "most? (1 KB is 1,000 bytes. Write a number such as 1.5.)",
        "bits",
        points=8,
        low=0.001,
        high=20,
        hint="Count the weights first: a weight in fp32 takes four bytes.",
        worked_example=f"{_counted_weights()} A phone leaves {q(EXAMPLE_ROOM, 'B')} for them, and "
        f"a byte has 8 bits: {q(8 * EXAMPLE_ROOM)} bits, or "
        f"{q(8 * EXAMPLE_ROOM / EXAMPLE_WEIGHTS)} for each weight.",
        title="What fits into the SRAM?",
        act=2,
        after=["act2_batch"],
    )


@lab.asks(instead_of="bits_per_weight")
def left_beside_kb(p: Parameters) -> Number:
    return Number(
        f"{_sram(p)} Pruning keeps one in {PRUNED} weights of {_weights_of(p)}, and each that "
        "stays takes one byte, in int8. With these in the SRAM, how many KB are left for the "
        "runtime and activations? (1 KB is 1,000 bytes. Write a number such as 120.5.)",
        "KB",
        points=8,
        low=1,
        high=1000,
        hint="Count the weights first: a weight in fp32 takes four bytes.",
        worked_example=f"{_counted_weights()} One in {EXAMPLE_PRUNED} stays, at one byte each: "
        f"{q(EXAMPLE_WEIGHTS / EXAMPLE_PRUNED, 'B')}. A wristwatch has {q(EXAMPLE_WATCH, 'B')} of "
        f"memory, so {q(EXAMPLE_WATCH - EXAMPLE_WEIGHTS / EXAMPLE_PRUNED, 'B')} are left.",
        title="What fits into the SRAM?",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def needed_mb_per_s(p: Parameters) -> Number:
    return Number(
        "The board team may still choose the flash chip from which the weights stream, layer by "
        f"layer. The board computes at {q(p.mcu_mflops * 1e6, 'FLOP/s')} and adds "
        f"{q(M7.launch(), 's')} of latency, one term after the other, and an answer must "
        f"arrive within **{q(promise_s(p), 's')}** ({_model(p)}). How many MB/s must the flash "
        "chip deliver at least? (Write a number such as 250.)",
        "MB/s",
        points=9,
        low=0.05,
        high=5000,
        hint="Take away what the arithmetic and the latency need; the rest of the time is left "
        "for the weights.",
        worked_example="A wristwatch must recognize a gesture within 8 s. Its arithmetic takes 6 s,"
        " so"
        " 2 s are left for the weights, which follow one another through the same wire. They are"
        f" {q(EXAMPLE_WATCH, 'B')}, so the flash chip must deliver {q(EXAMPLE_WATCH / 2, 'B/s')}.",
        title="How fast must the flash be?",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def board_upgrade(p: Parameters) -> Choice:
    return Choice(
        f"What does not fit could stream from a flash chip: {q(p.model_mb * 1e6, 'B')} at "
        f"**{q(p.mcu_mb_per_s * 1e6, 'B/s')}**. Then the board computes "
        f"{q(p.model_gflop * 1e9, 'FLOP')} at {q(p.mcu_mflops * 1e6, 'FLOP/s')}. Which single "
        "improvement saves the most time?",
        {
            "core": f"a core that computes {p.core_times} times as fast",
            "flash": f"a flash chip that is {p.flash_times} times as fast",
            "prune": "half the weights and half the operations",
        },
        points=3,
        worked_example="On a wristwatch the arithmetic takes 6 s and then the weights 2 s, so a"
        " gesture takes 8 s. With a core that is four times as fast it takes 1.5 s + 2 s = 3.5 s."
        " With a memory that is four times as fast it takes 6 s + 0.5 s = 6.5 s. With half of both"
        " it takes 3 s + 1 s = 4 s.",
        title="What would you improve?",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def act2_limit(p: Parameters) -> Reflection:
    size = p.model_mb * 1e6
    whole, int8 = _in_sram(p, size), _in_sram(p, size / 4)
    law = _on_board(p)
    room = q(whole.memory, "B")
    return Reflection(
        "Back to the plan as Iris heard it: put the vision model into the doorbell's SRAM. What "
        "stops it first?",
        {
            "A": "Time: the board needs far too long for a single image.",
            "B": "Capacity: the model does not fit into the memory.",
            "C": "Power: the chip overheats while it computes.",
            "D": "Accuracy: with fewer bits, the model gets worse.",
        },
        right="B" if whole.out_of_memory else "A",
        feedback={
            "A": f"One image would take about {q(law.total, 's')}, which is slow, and some "
            "products could live with it. But the clock never starts: a program has to be loaded "
            f"before it can be slow, and {q(size, 'B')} do not go into the {room} that are left. "
            "(Some texts say that ResNet-50 waits for memory on a Cortex-M7. If it fit, its "
            f"arithmetic would take {q(ON_M7.compute_time, 's')}, its weights "
            f"{q(ON_M7.memory_time, 's')}.)",
            "B": f"The weights are {whole.fill:.0f} times as large as the {room} that are left for "
            f"them. Too little compute or bandwidth makes you wait, here about "
            f"{q(law.total, 's')} per image; too little capacity is a plain no. That is why tiny "
            "devices get architectures of their own, such as DS-CNN or a thin MobileNet, of tens "
            "to a few hundred kilobytes in int8.",
            "C": f"At {q(p.mcu_mw * 1e-3, 'W')} nothing gets warm; an H100 draws "
            f"{q(H100.power, 'W')}. Low power is what this chip is made for, and it can work at "
            f"full load for years. Look at *Memory* in the instrument instead, where "
            f"{q(size, 'B')} of weights stand next to {room}.",
            "D": "Fewer bits may cost accuracy, but that is the second question. In int8 the "
            f"weights shrink to {q(size / 4, 'B')}, and that is still {int8.fill:.0f} times what "
            f"{room} can hold. Something that cannot be loaded has no accuracy to lose. What you "
            "worked out about the SRAM tells how far the weights would have to shrink.",
        },
        title="What says no?",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def act2_math(p: Parameters) -> Peek:
    return Peek(
        "$$T = \\frac{D}{BW} + \\frac{b \\cdot O}{R \\cdot \\eta} + L$$\n\n"
        "| symbol | meaning | ResNet-50 on an H100 |\n|---|---|---|\n"
        "| $D$ | data moved: the weights, once per batch; activations are left out | "
        f"{q(RESNET.data, 'B')} |\n"
        f"| $BW$ | memory bandwidth | {q(H100.bandwidth, 'B/s')} |\n"
        "| $O$ | operations for one image, two per multiply-add | "
        f"{q(RESNET.operations, 'FLOP')} |\n"
        f"| $R$ | peak compute | {H100.peak_label()} |\n"
        "| $\\eta$ | fraction of the peak that is reached | all of it, unless stated |\n"
        "| $b$ | batch | one image |\n"
        f"| $L$ | fixed latency | {q(H100.launch(), 's')} |\n\n"
        "The largest term binds. Only the second one grows with $b$, so the first two "
        "meet where\n\n"
        "$$b^{*} = \\frac{D / BW}{O / (R \\cdot \\eta)}$$\n\n"
        "and the first whole batch above is compute-bound. Servers collect requests for this "
        "reason: more operations for the same trip of the weights. Every symbol can be solved for. "
        "Given the time you may take, the law tells you the bandwidth, the efficiency or the batch "
        "that you need.",
        title="The math: the iron law",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def act3_rate(p: Parameters) -> Prediction:
    one, many = timed(FEW), timed(MANY)
    first, last = (batch / timed(batch).seconds.median for batch in (FEW, MANY))
    law = {batch: by_the_law(batch).total for batch in (FEW, MANY)}
    gain = MANY * law[FEW] / law[MANY]
    rates = {"A": first, "B": gain * first, "C": last, "D": MANY * first}
    values = {option: float(f"{rate:.2g}") for option, rate in rates.items()}
    measured, gained = _rate(MANY, many.seconds.median), f"{last / first:.0f}×"
    passed, busy = q(one.seconds.median, "s"), one.gpu_busy or 0.0
    kernels = f"{one.kernels:,.0f} kernels"
    return Prediction(
        "Now a stopwatch: a real H200 (an H100 with faster memory) ran ResNet-50 in fp16 with "
        f"plain PyTorch. One image at a time, it did {_rate(FEW, one.seconds.median)}. And in "
        f"batches of {MANY}?",
        {option: f"about {q(value, 'images/s')}" for option, value in values.items()},
        values=values,
        unit="images/s",
        distance="times",
        answer="C",
        feedback={
            "A": "Then a GPU would do one image after the other. In batches it "
            f"did {measured}, {gained} as many. One image alone took "
            f"{passed}, and the GPU was busy for {q(busy, 's')} of that: the rest went into "
            f"launching {kernels}, which the images of a batch share.",
            "B": f"This is {_rate(FEW, one.seconds.median)} times about {gain:.1f}, the gain "
            f"that the iron law promises (from {_rate(FEW, law[FEW])} to "
            f"{_rate(MANY, law[MANY])}). The law charges one launch per batch, but the real GPU "
            f"was sent {kernels}, so one image took {passed} instead of {q(law[FEW], 's')}, and a "
            f"batch gains {gained}.",
            "C": f"A batch gains {gained}, because a single image spends most of its {passed} on "
            f"launching {kernels}, which a batch shares. The law allows even "
            f"{_rate(MANY, law[MANY])}: it takes the whole peak, and "
            "leaves out the activations that every layer writes and the next one reads.",
            "D": f"You would get this if all {MANY} images of a batch took the time of one. "
            f"They share the launching of {kernels}, which helps until the GPU is hardly ever "
            f"idle: at batch {MANY} it was busy for {q(busy_share(MANY), '%')} of the time. "
            f"The law's {_rate(MANY, law[MANY])} take the whole peak and leave out activations.",
        },
        where="one H200, PyTorch, kernels launched one by one",
        title="A batch on a real GPU",
        act=3,
        after=["act2_batch"],
    )


def busy_share(batch: int) -> float:
    found = timed(batch)
    return (found.gpu_busy or 0.0) / found.seconds.median


@lab.asks
def act3_message(p: Parameters) -> Message:
    return Message(
        "Iris Lindgren",
        "Product manager for devices",
        "Two products, two proposals",
        f"**Tiny** hears: a keyword model with {p.kws_kparams} thousand parameters, in fp16, on "
        f"your board, whose {q(p.sram_kb * 1e3, 'B')} of SRAM it shares with the runtime and "
        f"activations ({q(p.reserve_kb * 1e3, 'B')}). The board forgets between passes: each "
        f"loads the weights from flash, at {q(p.mcu_mb_per_s * 1e6, 'B/s')}; {p.kws_passes} "
        "passes must fit into a second.\n\n"
        f"**Cloud** sees: your vision model on an H100, in batches of {p.proposed_batch}, with "
        f"kernels that reach {p.efficiency_pct}% of the peak. "
        f"The GPU must finish a batch within {q(p.deadline_us * 1e-6, 's')} and keep up "
        f"with {q(images_per_second(p), 'images/s')}.\n\n"
        "What breaks?",
        task="Load each proposal with the switch, and fix what does not hold.",
        act=3,
        after=["act2_batch"],
    )


@lab.asks
def keyword_precision(p: Parameters) -> Choice:
    return Choice(
        f"What is the highest precision in which the **{p.kws_kparams} thousand** parameters of "
        f"your keyword model fit into your board's {q(p.sram_kb * 1e3, 'B')} of SRAM, beside the "
        f"{q(p.reserve_kb * 1e3, 'B')} of the runtime and activations?",
        {
            **{
                name: f"{name}: {counted(BYTES_PER_ELEMENT[name], 'byte')} per parameter"
                for name in ("fp32", "fp16", "int8")
            },
            "none": "none of these: the model must shrink",
        },
        points=3,
        worked_example=f"A wristwatch leaves {q(EXAMPLE_WATCH, 'B')} for a model of"
        f" {EXAMPLE_MODEL / 1e6:g} million parameters. In fp32, at"
        f" {BYTES_PER_ELEMENT['fp32']} bytes each, it takes {q(4 * EXAMPLE_MODEL, 'B')}: too much."
        f" In fp16, at {BYTES_PER_ELEMENT['fp16']} bytes, it takes {q(2 * EXAMPLE_MODEL, 'B')} and"
        " fits, so fp16 is the highest precision there.",
        title="Tiny: what precision?",
        ordered=True,
        act=3,
        after=["act2_batch"],
    )


@lab.asks
def mixed_kparams(p: Parameters) -> Number:
    return Number(
        f"A quick test shows that **{p.fp16_pct}%** of the parameters lose too much accuracy "
        "in int8 and must stay in fp16; all others can be int8. What is the largest model, in "
        f"thousand parameters, that fits into your board's {q(p.sram_kb * 1e3, 'B')} beside the "
        f"{q(p.reserve_kb * 1e3, 'B')} of the runtime and activations? (1 KB is 1,000 bytes. Write "
        "a number such as 900.)",
        "thousand parameters",
        points=8,
        low=1,
        high=20000,
        hint="Work out how many bytes a parameter takes on average, and then how many fit into "
        "what is left.",
        worked_example=f"A wristwatch leaves {q(EXAMPLE_WATCH, 'B')} for weights. Half of the"
        " parameters stay in fp16, at two bytes, and the other half shrink to int8, at one. On"
        f" average a parameter takes 1.5 bytes, so {q(EXAMPLE_WATCH / 1.5)} parameters fit, which"
        " is"
        f" {q(EXAMPLE_WATCH / 1.5e3)} thousand.",
        title="Tiny: how large may a mixed model be?",
        act=3,
        after=["act2_batch"],
    )


def _scaled(p: Parameters) -> str:
    return (
        "Next spring's photos are larger, and the H100 "
        f"({H100.peak_label()}, {q(H100.bandwidth, 'B/s')}) first scales them down, "
        f"**{q(p.scale_us * 1e-6, 's')}** each. Then come the three terms of your model "
        f"({_model(p)}; {q(p.launch_us * 1e-6, 's')} of latency), one after the other."
    )


@lab.asks
def largest_batch_images(p: Parameters) -> Number:
    return Number(
        f"{_scaled(p)} What is the largest batch that leaves the GPU within "
        f"**{q(p.deadline_us * 1e-6, 's')}**, if kernels reach {p.efficiency_pct}% of the peak? "
        "(Write a whole number such as 700.)",
        "images",
        points=9,
        low=0.5,
        high=3000,
        whole=True,
        hint="Take the trip of the weights and the latency away from the promised time. What is"
        " left is for scaling and arithmetic, image after image.",
        worked_example=f"An {A100.name} reads {q(8e6, 'B')} of weights at"
        f" {q(A100.bandwidth, 'B/s')} in {q(8e6 / A100.bandwidth, 's')} and adds {q(6e-6, 's')} of"
        f" latency. Of a promise of {q(2e-3, 's')}, {q(EXAMPLE_LEFT, 's')} are left. An image of"
        f" {q(1e9, 'FLOP')} takes {q(EXAMPLE_IMAGE, 's')} at half of its"
        f" {q(A100.peak('fp16'), 'FLOP/s')}, and {q(EXAMPLE_SCALE, 's')} to scale, so"
        f" {int(EXAMPLE_LEFT / (EXAMPLE_IMAGE + EXAMPLE_SCALE))} whole images fit.",
        title="Cloud: what keeps the promise?",
        act=3,
        after=["act2_batch"],
    )


@lab.asks(instead_of="largest_batch_images")
def needed_efficiency_percent(p: Parameters) -> Number:
    return Number(
        f"{_scaled(p)} In the evening, batches have **{p.evening_batch}** images. What is the "
        "lowest percentage of the peak at which such a batch still leaves the GPU within "
        f"**{q(p.deadline_us * 1e-6, 's')}**? "
        "(Write a number such as 98.5.)",
        "percent",
        points=9,
        low=0.01,
        high=100,
        hint="Take the trip of the weights, the latency and the scaling away from the promised"
        " time. What is left has to be enough for the arithmetic of the whole batch.",
        worked_example=f"An {A100.name} reads {q(8e6, 'B')} of weights at"
        f" {q(A100.bandwidth, 'B/s')} in {q(8e6 / A100.bandwidth, 's')} and adds {q(6e-6, 's')} of"
        f" latency. Of a promise of {q(2e-3, 's')}, {q(EXAMPLE_LEFT, 's')} are left."
        f" Scaling {EXAMPLE_BATCH} images at {q(EXAMPLE_SCALE, 's')} each leaves"
        f" {q(EXAMPLE_SCALED, 's')}. At {q(1e9, 'FLOP')} each, they take {q(EXAMPLE_AT_PEAK, 's')}"
        f" at the full {q(A100.peak('fp16'), 'FLOP/s')}, so kernels must reach"
        f" {q(EXAMPLE_AT_PEAK / EXAMPLE_SCALED, '%')} of it.",
        title="Cloud: what keeps the promise?",
        act=3,
        after=["act2_batch"],
    )


@lab.asks
def act3_split(p: Parameters) -> Reflection:
    sram, promise = q(p.sram_kb * 1e3, "B"), q(p.deadline_us * 1e-6, "s")
    weights = capacity(p.model_mb * 1e6, H100)
    return Reflection(
        "Push each of the two designs until it breaks. What kind of limit does each one meet?",
        {
            "A": "Speed, both times: a faster chip lifts both, whatever their memories hold.",
            "B": "A different one each: a yes or no on the board, a trade with waiting in the "
            "cloud.",
            "C": "A different one each: too little compute on the board, too little memory in the "
            "cloud.",
            "D": "Software, both times: a better compiler lifts both, because the hardware is far "
            "from used up.",
        },
        right="B",
        feedback={
            "A": f"In the cloud, yes: a faster chip fits a larger batch into {promise}. On the "
            f"board, no: double the clock, and {sram} of SRAM still hold what they held before. A "
            "model that is one byte too large is not slow, it is absent. Try it: raise the peak "
            "rate of the board under *More* and watch the memory lamp.",
            "B": f"On the board, a model is loaded into {sram} or it is not, and being almost "
            f"small enough is worth nothing. In the cloud, every further image shares the same "
            f"trip of {q(p.model_mb * 1e6, 'B')} of weights, so throughput rises and so does the "
            f"wait, until {promise} are used up. One limit you satisfy, the other you balance.",
            "C": "Different, but not these. The board computes a pass in time; what says no is its "
            f"{sram}. In the cloud, the weights fill {q(weights.fill, '%')} of "
            f"{q(H100.memory, 'B')}, so memory is nowhere near its end. What breaks a large "
            f"batch is the promise of {promise}: every image waits for all the others. Compare the "
            "two lamps of the instrument in each context, and see which one turns red first.",
            "D": f"A better compiler can raise the {p.efficiency_pct}% of the peak that your "
            f"kernels reach, and then more images fit into {promise}. It cannot add a byte to "
            f"{sram}. It may make activations smaller, which is worth doing, but the weights stay "
            "what parameters times bytes say. Ask of each remedy which number it changes.",
        },
        title="Two kinds of limits",
        act=3,
        after=["act2_batch"],
    )


@lab.asks
def ledger_record(p: Parameters) -> Record:
    return Record(
        ["act1_gap", "act2_batch", "act3_rate", "design"],
        points=10,
    )


@lab.asks
def deeper_record(p: Parameters) -> Record:
    return Record(["act1_stack", "act2_why", "act2_limit", "act3_split"], points=2)


@lab.asks
def reply(p: Parameters) -> Essay:
    return Essay(
        "Answer Dana Okafor. Can one software stack serve the doorbell and the "
        "H100? Say what should run where, what the two teams can still share, and what you would "
        "do with the $50,000.",
        [
            (4, "Gives at least three numbers of your own, each with its unit and what it "
             "compares."),
            (4, "Distinguishes what only makes you wait (compute, bandwidth) from what says no "
             "(memory)."),
            (3, "Says what must differ (model, format, compiler, runtime) and what can be shared."),
            (2, "Makes a recommendation that a manager can act on."),
        ],
        at_least=120,
        at_most=200,
        after=["act2_batch"],
    )


@lab.asks
def takeaways(p: Parameters) -> Takeaways:
    return Takeaways(
        [
            (
                "Six orders of magnitude are a border between architectures",
                f"An H100 has {q(GAP, '×')} the peak of a Cortex-M7. Models, formats, "
                "compilers and runtimes part ways.",
            ),
            (
                "By the law, one image makes even an H100 wait for memory",
                f"ResNet-50's weights need {q(ON_H100.memory_time, 's')}, its arithmetic "
                f"{q(ON_H100.compute_time, 's')}. From batch "
                f"{q(ON_H100.compute_bound_batch)} on it is the other way around.",
            ),
            (
                "First ask whether it fits, then how long it takes",
                f"ResNet-50 is {capacity(RESNET.data, M7).fill:.0f} times as large as that "
                "Cortex-M7's memory: there it is not slow, it is absent.",
            ),
        ],
        ahead="Lab 07 opens up the latency, Lab 11 the other terms.",
        after=["largest_batch_images", "act3_rate"],
    )
