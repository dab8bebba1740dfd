# What lab_01_magnitude asks. Made by `mlsys build`; the original is in assignments/.

from math import log10

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
from mlsys_widgets.physics import BYTES_PER_ELEMENT, capacity, devices, iron_law, workloads
from mlsys_widgets.physics import format_quantity as q

H100, M7 = devices["h100-sxm"], devices["cortex-m7"]
RESNET = workloads["resnet50-inference"]
GAP = H100.peak("fp16") / M7.peak("fp32")
ON_H100 = iron_law(RESNET.data, RESNET.operations, H100)
ON_M7 = iron_law(RESNET.data, RESNET.operations, M7)

lab = Lab(
    "lab_01_magnitude",
    title="Lab 01: The Magnitude Awakening",
    chapter=1,
    acts=("How far apart are they?", "Which term binds?"),
    parameters={
        "mcu_mflops": Parameter(
            1000, steps(800, 1200, 25), "MFLOP/s", "peak of your microcontroller, fp32"
        ),
        "mcu_mw": Parameter(100, steps(80, 120, 4), "mW", "power of your microcontroller"),
        "mcu_mb_per_s": Parameter(
            50, steps(40, 60, 1), "MB/s", "bandwidth from which your microcontroller reads weights"
        ),
        "sram_kb": Parameter(512, steps(448, 576, 8), "KB", "memory of your microcontroller"),
        "model_mb": Parameter(
            100,
            (*steps(91, 94, 1), *steps(96, 109, 1)),
            "MB",
            "weights of your ResNet-50, fp32",
        ),
        "model_gflop": Parameter(
            4,
            (3.6, 3.7, 3.75, 3.85, 3.9, 4, 4.15, 4.2, 4.4),
            "GFLOP",
            "operations of your ResNet-50 for one image",
        ),
        "kws_kparams": Parameter(
            220, steps(212, 236, 2), "thousand parameters", "size of your keyword model"
        ),
        "reserve_kb": Parameter(
            192, steps(160, 208, 4), "KB", "memory that runtime and activations keep"
        ),
        "batch": Parameter(16, steps(10, 20, 1), "images", "batch of your service"),
        "efficiency_pct": Parameter(
            40, steps(35, 45, 1), "percent", "share of the H100's peak that your kernels reach"
        ),
        "deadline_us": Parameter(
            600, steps(460, 900, 20), "µs", "time in which your service must answer"
        ),
    },
    design={
        "context": choice("the device the second act ended on", "cloud", "tiny"),
        "act1_prediction": predicted("what was predicted in the first act"),
        "act1_correct": judged("whether that was right"),
        "act2_bottleneck": choice("the longest term of the iron law", "memory", "compute"),
        "act2_prediction": predicted("what was predicted in the second act"),
        "act2_correct": judged("whether that was right"),
        "constraint_hit": flag("whether the design ran into a limit of the device"),
        "oom_triggered": flag("whether that limit was the device's memory"),
    },
)


def _board(p: Parameters) -> str:
    return (
        f"{q(p.mcu_mflops * 1e6, 'FLOP/s')} in fp32, {q(p.sram_kb * 1e3, 'B')} of SRAM, "
        f"{q(p.mcu_mb_per_s * 1e6, 'B/s')}, {q(p.mcu_mw * 1e-3, 'W')}"
    )


def _model(p: Parameters) -> str:
    return (
        f"{q(p.model_mb * 1e6, 'B')} of weights and {q(p.model_gflop * 1e9, 'FLOP')} for each image"
    )


@lab.asks
def act1_message(p: Parameters) -> Message:
    return Message(
        "Dana Okafor",
        "VP of Engineering",
        "One stack for everything?",
        "Every doorbell we ship shall wake up when it hears its keyword. The cloud team offers to "
        "run that on the H100 cluster, with the code they use for everything else, and asks for "
        "$50,000 to begin with.\n\n"
        f"The microcontroller in the doorbell costs $2.40 and has {q(p.sram_kb * 1e3, 'B')} of "
        "RAM. Why can one software stack not serve both? Our draft for investors says “nine "
        "orders of magnitude”. I would rather have numbers that hold.",
        task="Find out how far apart the two machines are, quantity by quantity.",
        act=1,
    )


@lab.asks
def act1_gap(p: Parameters) -> Prediction:
    values = {"A": 1e2, "B": 1e4, "C": 1e6, "D": 1e9}
    return Prediction(
        "How many times more peak compute does an H100 have than a Cortex-M7 microcontroller?",
        {key: f"about {q(value, '×')}" for key, value in values.items()},
        values=values,
        unit="×",
        quantity="gap",
        distance="orders",
        feedback={
            "A": "Between two servers, a factor like that is a matter of tuning. Here it would "
            "leave the microcontroller far too fast.",
            "B": "That is about the gap in power, and less than the gap in bandwidth. Compute "
            "differs by more than either.",
            "C": f"Six orders. Bandwidth differs by {q(H100.bandwidth / M7.bandwidth, '×')}, "
            f"memory by {q(H100.memory / M7.memory, '×')}, power by "
            f"{q(H100.power / M7.power, '×')}: four gaps, and none has the same size.",
            "D": f"That is {q(round(log10(1e9 / GAP)))} orders too many, a factor of a thousand. "
            "Nine is what the chapter says of models, today's against the first neural networks. "
            "Hardware is another quantity.",
        },
        title="How large is the compute gap?",
        act=1,
    )


@lab.asks
def compute_gap_times(p: Parameters) -> Number:
    return Number(
        f"Your doorbell has a board of its own: **{_board(p)}**. Compare it with an H100, which "
        f"reaches {H100.peak_label()}. How many times the board's peak is that?",
        "times",
        points=7,
        low=1,
        high=1e8,
        hint="Put both peaks into FLOP/s before you divide.",
        title="The compute gap of your board",
        act=1,
        after=["act1_gap"],
    )


@lab.asks
def flop_per_joule_times(p: Parameters) -> Number:
    return Number(
        "FLOP/s for each watt is the same as FLOP for each joule. How many times as many FLOP "
        f"does an H100 at its peak ({q(H100.power, 'W')}) get out of a joule as your board "
        f"({q(p.mcu_mflops * 1e6, 'FLOP/s')} at {q(p.mcu_mw * 1e-3, 'W')})?",
        "times",
        points=7,
        low=1,
        high=1e13,
        hint="Divide each peak by its own power first.",
        title="Which of the two is efficient?",
        act=1,
        after=["act1_gap"],
    )


@lab.asks
def case_for_tiny(p: Parameters) -> Choice:
    return Choice(
        "Compare your last number with 1. Which argument for the microcontroller survives it?",
        {
            "efficiency": "it needs less energy for each operation",
            "budget": f"a keyword model is so small that {q(p.mcu_mw * 1e-3, 'W')} are enough to "
            "keep it listening, beside the microphone and without a network",
            "speed": "it computes the same model sooner",
            "precision": "its fp32 is right where the fp16 of the GPU is wrong",
        },
        points=4,
        title="Then why use the small one?",
        act=1,
        after=["act1_gap"],
    )


@lab.asks
def act1_stack(p: Parameters) -> Reflection:
    short = capacity(RESNET.data, M7)
    return Reflection(
        "What does a compute gap of six orders mean for the software?",
        {
            "A": "The microcontroller needs faster algorithms.",
            "B": "Each regime needs a stack of its own.",
            "C": "The models need more training data.",
            "D": "A better compiler will bridge the difference.",
        },
        right="B",
        feedback={
            "A": "A faster algorithm lowers the operations. Its weights still have to be "
            f"somewhere, and {q(RESNET.data, 'B')} do not go into {q(M7.memory, 'B')}.",
            "B": "No tensor cores, no HBM, no operating system: what is tuned for one finds "
            "nothing to run on at the other. So model formats, compilers and runtimes part ways, "
            "and a course has four deployment regimes instead of one.",
            "C": "Data make a model better. They do not change what a machine can hold or move.",
            "D": "Compilers such as TVM reach both machines and do help. None of them adds memory: "
            f"a model {q(short.fill, '×')} too large stays too large.",
        },
        title="One stack or several?",
        act=1,
        after=["act1_gap"],
    )


@lab.asks
def act1_math(p: Parameters) -> Peek:
    return Peek(
        "Three things make up every ML system, and a bottleneck moves between them:\n\n"
        "| axis | what it sets | where you see it here |\n|---|---|---|\n"
        "| **D**ata | the bytes that move, $D$ | bandwidth $BW$ |\n"
        "| **A**lgorithm | the operations, $O$ | peak compute $R$ |\n"
        "| **M**achine | rates, capacity $C$ and power $P$ | all four ladders |\n\n"
        "A gap is a ratio of the same quantity on two named machines, and its orders of magnitude "
        "are a logarithm:\n\n"
        "$$g = \\frac{R_{\\mathrm{cloud}}}{R_{\\mathrm{tiny}}}, \\qquad "
        "\\mathrm{orders} = \\log_{10} g$$\n\n"
        "Operations for each joule are a ratio of ratios:\n\n"
        "$$\\frac{R_{\\mathrm{cloud}} / P_{\\mathrm{cloud}}}{R_{\\mathrm{tiny}} / "
        "P_{\\mathrm{tiny}}}$$\n\n"
        "Improve one axis alone, and the limit moves to another: an algorithm with a tenth of the "
        "operations is of no use where the weights do not fit.",
        title="The math: D·A·M, and what a gap is",
        act=1,
        after=["act1_gap"],
    )


@lab.asks
def act2_message(p: Parameters) -> Message:
    return Message(
        "Iris Lindgren",
        "Product",
        "Can the doorbell see parcels?",
        "Hearing is settled. Next year it shall see: a parcel, a cat, a neighbour. We have a "
        f"ResNet-50 of our own: **{_model(p)}**.\n\n"
        "The cloud team says an H100 is limited by its compute, because the model is all "
        "arithmetic. A blog post says 4 GFLOP take 4 ns there and memory is 7,500× slower. The "
        "hardware team would like to put the model on the board. They cannot all be right.",
        task="Say which term of the iron law limits the model, on the H100 and on the board.",
        act=2,
        after=["act1_stack"],
    )


@lab.asks
def act2_term(p: Parameters) -> Prediction:
    return Prediction(
        "Which term is the longest on an H100, with one image at a time? The model is ResNet-50 as "
        f"the course has it: {q(RESNET.operations, 'FLOP')}, {q(RESNET.data, 'B')}.",
        {
            "A": "compute: all the arithmetic",
            "B": "memory: moving the weights",
            "C": "both take about as long",
            "D": "it depends on the device that is chosen",
        },
        answer="B",
        feedback={
            "A": f"The arithmetic is done in {q(ON_H100.compute_time, 's')}. Then the GPU waits: "
            f"its weights take {q(ON_H100.memory_time, 's')} to arrive.",
            "B": f"{q(ON_H100.memory_time, 's')} against {q(ON_H100.compute_time, 's')}: the "
            "memory wall, on one of the fastest machines there is.",
            "C": f"{q(ON_H100.memory_time, 's')} against {q(ON_H100.compute_time, 's')}: not close "
            "at all. With a single image, tensor cores have next to nothing to do.",
            "D": "The H100 was named, and there it is memory. Keep the thought: on the "
            "microcontroller you will find another term in front.",
        },
        title="Which term is the longest?",
        act=2,
        after=["act1_stack"],
    )


@lab.asks
def act2_batch(p: Parameters) -> Prediction:
    return Prediction(
        "From which batch on is the H100 limited by compute? Weights move once for a whole batch; "
        "operations are done for every image of it.",
        unit="images",
        quantity="batch",
        low=1,
        high=1e6,
        distance="times",
        feedback={
            "low": "One image leaves far more arithmetic idle than that.",
            "close": "As many images as memory takes longer than compute: the ratio of the terms.",
            "high": "The two terms are closer than that. As soon as the arithmetic of the batch "
            "takes as long as one trip of the weights, compute is the limit.",
        },
        title="How many images keep it busy?",
        act=2,
        after=["act2_term"],
    )


@lab.asks
def compute_term_us(p: Parameters) -> Number:
    return Number(
        f"Your ResNet-50 does {q(p.model_gflop * 1e9, 'FLOP')} for one image. How long is the "
        f"compute term on an H100 ({H100.peak_label()})?",
        "µs",
        points=6,
        low=0.05,
        high=1000,
        hint="Write peak and operations as powers of ten: T is 10¹², G is 10⁹, µ is 10⁻⁶.",
        title="The compute term",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def memory_to_compute_times(p: Parameters) -> Number:
    return Number(
        f"Its {q(p.model_mb * 1e6, 'B')} of weights come from memory at "
        f"{q(H100.bandwidth, 'B/s')}. How many times as long as the compute term is the memory "
        "term, for one image?",
        "times",
        points=7,
        low=0.05,
        high=1000,
        hint="Both terms must be in the same unit before you divide.",
        title="Memory against compute",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def compute_bound_batch_images(p: Parameters) -> Number:
    return Number(
        "What is the smallest batch with which your ResNet-50 is compute-bound on the H100? "
        "Leave latency out.",
        "images",
        points=8,
        low=0.5,
        high=3000,
        whole=True,
        hint="The smallest batch is one image.",
        title="Where the H100 turns compute-bound",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def too_large_times(p: Parameters) -> Number:
    return Number(
        f"Now your board: {q(p.sram_kb * 1e3, 'B')} of SRAM. How many times as large are the "
        f"{q(p.model_mb * 1e6, 'B')} of your ResNet-50?",
        "times",
        points=6,
        low=1,
        high=20000,
        hint="Both sizes must be in the same unit before you divide.",
        title="Does it fit?",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def board_seconds(p: Parameters) -> Number:
    return Number(
        "Suppose the board streamed the weights from a flash chip at "
        f"{q(p.mcu_mb_per_s * 1e6, 'B/s')}, computed at {q(p.mcu_mflops * 1e6, 'FLOP/s')} and "
        f"added {q(M7.launch(), 's')} of latency, one term after the other. How long would one "
        f"image take ({q(p.model_mb * 1e6, 'B')}, {q(p.model_gflop * 1e9, 'FLOP')})?",
        "seconds",
        points=7,
        low=1e-8,
        high=1000,
        hint="Check the prefixes: M is a million, G a thousand million.",
        title="And if it did not have to fit?",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def board_binding_term(p: Parameters) -> Choice:
    return Choice(
        "Which term of your last sum is the longest?",
        {
            "memory": "moving the weights, as on the H100",
            "compute": "the arithmetic",
            "latency": f"the fixed {q(M7.launch(), 's')}",
        },
        points=3,
        title="What would bind on the board?",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def act2_limit(p: Parameters) -> Reflection:
    eight_bits = capacity(RESNET.data / 4, M7)
    return Reflection(
        "What is the first reason why ResNet-50 does not run on a Cortex-M7?",
        {
            "A": "It would be too slow.",
            "B": "It does not fit into the memory.",
            "C": "The chip would overheat.",
            "D": "Fewer bits would cost too much accuracy.",
        },
        right="B",
        feedback={
            "A": f"It would take about {q(ON_M7.total, 's')} for an image, true. But time only "
            "counts for what can be loaded.",
            "B": f"It is {q(capacity(RESNET.data, M7).fill, '×')} too large. Compute, bandwidth "
            "and power make you wait; capacity says no. Hence other models for tiny devices: "
            "small by design, a hundred or two hundred kilobytes, in int8.",
            "C": f"{q(M7.power, 'W')} need no fan. Power is what the device is good at.",
            "D": "Accuracy comes later. In int8 the weights are a quarter, and still "
            f"{q(eight_bits.fill, '×')} too large.",
        },
        title="What says no?",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def act2_math(p: Parameters) -> Peek:
    return Peek(
        "$$T = \\frac{D}{BW} + \\frac{b \\cdot O}{R \\cdot \\eta} + L$$\n\n"
        "| symbol | is | ResNet-50 on an H100 |\n|---|---|---|\n"
        f"| $D$ | data moved: the weights, once for a batch | {q(RESNET.data, 'B')} |\n"
        f"| $BW$ | memory bandwidth | {q(H100.bandwidth, 'B/s')} |\n"
        f"| $O$ | operations for one image | {q(RESNET.operations, 'FLOP')} |\n"
        f"| $R$ | peak compute | {H100.peak_label()} |\n"
        "| $\\eta$ | share of the peak that is reached | all of it, if nobody says otherwise |\n"
        "| $b$ | batch | one image |\n"
        f"| $L$ | latency, fixed | {q(H100.launch(), 's')} |\n\n"
        "The largest term binds. Only the second grows with $b$, so the terms meet where\n\n"
        "$$b^{*} = \\frac{D / BW}{O / (R \\cdot \\eta)}$$\n\n"
        "and the first whole batch above is compute-bound. Servers batch requests for this: more "
        "operations for the same trip of the weights.",
        title="The math: the iron law",
        act=2,
        after=["act2_term"],
    )


@lab.asks
def largest_model_kparams(p: Parameters) -> Number:
    return Number(
        f"Runtime and activations keep {q(p.reserve_kb * 1e3, 'B')} of your board's "
        f"{q(p.sram_kb * 1e3, 'B')}. How many thousand parameters fit into the rest in int8?",
        "thousand parameters",
        points=6,
        low=1,
        high=50000,
        hint="A thousand bytes hold a thousand int8 parameters.",
        title="Tiny: how large may a model be?",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def keyword_precision(p: Parameters) -> Choice:
    return Choice(
        f"Your keyword model has {p.kws_kparams} thousand parameters. Which is the highest "
        "precision in which it fits, beside runtime and activations?",
        {
            **{
                name: f"{q(BYTES_PER_ELEMENT[name], 'B')} for each parameter"
                for name in ("fp32", "fp16", "int8")
            },
            "none": "it does not fit at all",
        },
        points=3,
        title="Tiny: which precision?",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def served_images_per_s(p: Parameters) -> Number:
    return Number(
        f"In the cloud, your ResNet-50 ({_model(p)}) is served in batches of **{p.batch}**. Its "
        f"kernels reach {p.efficiency_pct} % of the H100's peak, and a batch has "
        f"{q(H100.launch(), 's')} of latency. One term after the other: how many images does it "
        "serve in a second?",
        "images per second",
        points=7,
        low=1000,
        high=1e7,
        hint="It is a number of images for each second, not for each batch.",
        title="Cloud: what does a batch bring?",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def largest_batch_in_time(p: Parameters) -> Choice:
    return Choice(
        f"Every image of a batch waits until the batch is done. The service promises an answer "
        f"within **{q(p.deadline_us * 1e-6, 's')}**. With the same efficiency and latency, which "
        "is the largest of these batches that keeps the promise?",
        {"1": "no batching", **{str(n): f"{n} images at once" for n in (8, 32, 128)}},
        points=4,
        title="Cloud: how much batch is too much?",
        act=2,
        after=["act2_batch"],
    )


@lab.asks
def ledger_record(p: Parameters) -> Record:
    return Record(
        ["act1_gap", "act1_stack", "act2_term", "act2_batch", "act2_limit", "design"], points=12
    )


@lab.asks
def reply(p: Parameters) -> Essay:
    return Essay(
        "Answer Dana Okafor in 120 to 200 words: why can one software stack not serve the doorbell "
        "and the H100, what should run where, and what can the two teams still share?",
        [
            (4, "Three or more numbers of your own, each with its unit and what it compares."),
            (4, "Tells what only makes you wait (compute, bandwidth) from what says no (memory)."),
            (3, "Says what parts ways (model, format, compiler, runtime) and what can be shared."),
            (2, "Recommends something, in words that a manager can act on."),
        ],
        after=["act2_limit"],
    )


@lab.asks
def takeaways(p: Parameters) -> Takeaways:
    return Takeaways(
        [
            (
                "Six orders of compute are a border, not a backlog",
                f"An H100 has {q(GAP, '×')} the peak of a Cortex-M7. Nobody optimises that away: "
                "models, formats, compilers and runtimes part ways. And a gap always names its "
                "quantity; the other three have other sizes.",
            ),
            (
                "At batch 1 even an H100 waits for memory",
                f"{q(ON_H100.memory_time, 's')} for the weights, {q(ON_H100.compute_time, 's')} "
                f"for the arithmetic. From batch {q(ON_H100.compute_bound_batch)} on it is the "
                "other way round, which is why servers batch.",
            ),
            (
                "First ask whether it fits, then how long it takes",
                f"ResNet-50 is {q(capacity(RESNET.data, M7).fill, '×')} too large for the "
                f"microcontroller. Its longest term there would be {ON_M7.binding}, but nobody "
                "will ever wait for it.",
            ),
        ],
        ahead="Lab 07 looks into the term that this lab took as fixed: the latency of a launch, "
        "and what it costs when a model is made of a thousand small kernels. If your course builds "
        "TinyTorch, its first module shows the three terms in a forward pass of your own.",
        after=["act2_limit", "reply"],
    )
