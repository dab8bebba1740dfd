"""What Lab 07 says in numbers and comparisons.

Formulas are written out here from the numbers of the course (1,000 kernels of 5 µs, 10 µs for a
launch, 2 TB/s) and of the measurement that ships, not taken from the lab.
"""

from __future__ import annotations

import math
from itertools import pairwise

from mlsys_widgets import measured
from mlsys_widgets.labs import Parameters
from mlsys_widgets.physics import can_fuse
from tests.labs.claims import Claim, Quantity, Reading

US = 1e-6

# The keyword spotter of the text, in seconds.
N, KERNEL, LAUNCH = 1000, 5 * US, 10 * US
ORIN_LAUNCH = 50 * US
TODAY = KERNEL / (KERNEL + LAUNCH)
#: Kernels, compute time of each, memory time on an A100, and the fractions of kernels and of
#: traffic that compiling removes.
MODELS = {
    "kws": (1000, 5 * US, 500 * US, 0.80, 0.0),
    "resnet50": (200, 50 * US, 8.2e9 / 8 / 2e12, 0.64, 0.0),
    "gpt2": (20, 500 * US, 1.46e11 / 80 / 2e12, 0.30, 0.20),
}


def a_pass(model: str, launch: float = LAUNCH, slower: float = 1.0, compiled: bool = False):
    """Utilization and time of a pass; memory may be slower than that of an A100."""
    kernels, each, memory, fewer, saved = MODELS[model]
    total = kernels * each + kernels * (1 - fewer * compiled) * launch
    total += memory * slower * (1 - saved * compiled)
    return kernels * each / total, total


ORIN_SLOWER = 2e12 / 102e9
PASSES = [
    a_pass(model, launch, slower, compiled)
    for model in MODELS
    for launch, slower in ((LAUNCH, 1.0), (ORIN_LAUNCH, ORIN_SLOWER))
    for compiled in (False, True)
]

# The chain of the text on an A100: 1,024 × 768 numbers of two bytes.
TENSOR, HBM, VECTOR = 1024 * 768 * 2, 2e12, 19.5e12
WORK = 10 * 1024 * 768


def chain(bandwidth: float = HBM, arithmetic: float = WORK / VECTOR, size: float = 1.0):
    """Time of three kernels, and of one."""
    return (
        3 * LAUNCH + arithmetic * size + 6 * TENSOR * size / bandwidth,
        LAUNCH + arithmetic * size + 2 * TENSOR * size / bandwidth,
    )


APART, ONE = chain()
APART_H100, ONE_H100 = chain(bandwidth=3.35e12)
IN_THE_TEXT = chain(arithmetic=5 * US)

# What was measured.
H200 = measured.load("h200-sxm")


def stream(length: str, launches: int):
    (case,) = measured.cases(
        H200, kind="dispatch", variant="eager", length=length, launches=launches
    )
    return case.seconds.median, case.gpu_busy


(FEW, _), (MANY, BUSY) = stream("5us", 300), stream("5us", 1000)
H200_LAUNCH = stream("tiny", 1000)[0] / 1000
PACE = (MANY - FEW) / 700


def fused_on_the_h200(variant: str):
    """Measured speedups of the chain, by size."""
    of = {
        way: {case.shape["rows"]: case.seconds.median
              for case in measured.cases(
                  H200, kind="fusion", variant=way, chain="layernorm_dropout_relu")}
        for way in ("eager", variant)
    }  # fmt: skip
    return {rows: seconds / of[variant][rows] for rows, seconds in of["eager"].items()}


BY_HAND, BY_COMPILER = fused_on_the_h200("triton"), fused_on_the_h200("compiled")


def compiled_on_the_h200(model: str, batch: int, variant: str = "compiled"):
    """Eager rate, compiled rate, and inferences until compiling has paid."""
    eager, made = (
        measured.cases(H200, kind="model", variant=way, model=model, batch=batch)[0]
        for way in ("eager", variant)
    )
    saved = 1 / eager.throughput - 1 / made.throughput
    paid = made.compile_seconds / saved if saved > 0 else math.inf
    return eager.throughput, made.throughput, paid


DS_CNN = {batch: compiled_on_the_h200("ds-cnn", batch) for batch in (1, 256)}
RESNETS = {batch: compiled_on_the_h200("resnet50", batch) for batch in (1, 32, 256)}
RESNET_GRAPH = compiled_on_the_h200("resnet50", 32, "compiled_graph")
GPT2 = compiled_on_the_h200("gpt2-layer", 8)
#: What one compiled call of a GPT-2 layer, for a batch of 8, takes longer.
GPT2_LONGER = 8 / GPT2[1] - 8 / GPT2[0]
IMAGE_SAVES = 1 / 1450 - 1 / 2150
#: The pass of the keyword box, and of the quiet box with an A100.
BOX, QUIET = a_pass("kws", ORIN_LAUNCH, ORIN_SLOWER)[1], a_pass("kws")[1]

# The worked examples, each with its steps.
MS = 1e-3
EXAMPLE_TIMES = [
    9 * MS, 9 * MS / 2 * 3, 9 * MS / 2,  # a kernel, with its launch, and the launch alone
    2 * MS, 3 * 2 * MS, 2 * 2 * MS,  # the launch of a Cortex-M7, twice as long a kernel
    1.5 * MS, 1.5 * MS / 2 * 3,  # computing, and the pass of which it is two thirds
    300 * US, 300 * US / 2 + ORIN_LAUNCH, 300 * US + ORIN_LAUNCH / 2,  # today, and two offers
    1 / 4, 1 / 5, 1 / 4 - 1 / 5,  # a sentence eager, compiled, and the difference
    10 * MS, 10 * MS / 1.25, 10 * MS - 10 * MS / 1.25,  # a pass, compiled, and the difference
    60, 36_000 * (1 / 4 - 1 / 5), 6,  # compiling, what a day saves, compiling for the passes
    24 * 60,  # compiling for the deployments of a day
    6, 9 * MS, 5 * MS, 4 * MS, 3.5 * MS,  # compiling, a call in both ways, and what it saves
]  # fmt: skip
EXAMPLE_COUNTS = [
    1.5 * MS / 2 * 3 / ORIN_LAUNCH,  # launches that fit
    4, 5, 60, 60 / (1 / 4 - 1 / 5),  # rates, seconds of compiling, sentences that pay
    36_000, 36_000 / 24, 36_000 * (1 / 4 - 1 / 5) / 60,  # in a day, in one of 24 parts, deployments
    24, 24 * 60, 24 * 60 / (1 / 4 - 1 / 5),  # deployments, their seconds, sentences that pay
    6 / (2 * MS), 5 * 500,  # requests that pay, and those that come
    6 / (4 * MS), 6 // (3.5 * MS),  # calls that pay exactly, and too few of them
]  # fmt: skip
#: 1,024 CUDA cores at 918 MHz, a multiply-add in each.
ORIN_VECTOR = 1024 * 2 * 918e6

# A student's own numbers.


def goal(p: Parameters) -> float:
    return p.goal_pct / 100


def budget(p: Parameters) -> float:
    """What a launch may cost, in microseconds."""
    return p.kernel_us * (1 / goal(p) - 1)


def bought(p: Parameters) -> tuple[float, float, float]:
    """The spotter on Finance's GPU: kernel, computing, pass."""
    return KERNEL / p.faster, N * KERNEL / p.faster, N * (KERNEL / p.faster + LAUNCH)


def wake(p: Parameters) -> float:
    return round(p.wake_launches * p.launch_us, 1)


def offers(p: Parameters) -> dict[str, float]:
    """Microseconds per kernel of the wake-word model, by what is changed."""
    kernel = wake(p)
    return {
        "gpu": kernel / p.faster + p.launch_us,
        "compile": kernel + p.launch_us * (1 - p.fused_pct / 100),
        "ahead": max(kernel, p.launch_us),
    }


def clear(times: list[float]) -> bool:
    """Whether the best of some times is better than the next by about a tenth."""
    return times[1] > 1.08 * times[0]


FLOPS = {"layernorm": 5, "dropout": 4, "scale": 1, "add": 1, "relu": 1, "sigmoid": 4, "tanh": 6,
         "gelu": 8}  # fmt: skip
RATES = {"a100-sxm": (19.5e12, 312e12, 2e12), "h100-sxm": (67e12, 989e12, 3.35e12),
         "h200-sxm": (67e12, 989e12, 4.8e12)}  # fmt: skip
WIDTH = {"fp16": 2, "fp32": 4}


def intensities(p: Parameters) -> tuple[float, float]:
    """Of the student's chain, as three kernels and as one."""
    work = FLOPS["layernorm"] + FLOPS[p.middle] + FLOPS[p.activation]
    more = p.middle == "add"
    return work / (WIDTH[p.precision] * (6 + more)), work / (WIDTH[p.precision] * (2 + more))


def bandwidths(p: Parameters) -> tuple[float, float]:
    """Of the student's GPU: on the datasheet, and measured."""
    return RATES[p.gpu][2], p.reached_pct / 100 * RATES[p.gpu][2]


def ridges(p: Parameters) -> tuple[float, float]:
    """Of the vector units and of the Tensor Cores, at the bandwidth that was measured."""
    vector, tensor, _ = RATES[p.gpu]
    return vector / bandwidths(p)[1], tensor / bandwidths(p)[1]


def rows(p: Parameters) -> float:
    return p.launch_us * US * HBM / (2 * WIDTH[p.precision] * p.columns)


def image_saves(p: Parameters) -> float:
    return 1 / p.eager_rate - 1 / p.compiled_rate


def request_saves(p: Parameters) -> float:
    return BOX * (1 - 1 / (1 + p.kws_gain))


def volumes(p: Parameters) -> tuple[float, float, float, float]:
    """Images between two deployments and those that pay; the same for requests."""
    return (
        p.server_images / p.deploys,
        p.compile_s / image_saves(p),
        p.per_hour * p.service_hours,
        p.kws_compile_s / request_saves(p),
    )


def halves(p: Parameters) -> list[tuple[str, str]]:
    heads = {"norm": "layernorm dropout matmul", "mlp": "matmul gelu matmul",
             "attention": "matmul softmax matmul", "gate": "sum mul dropout"}  # fmt: skip
    tails = {"residual": "add relu scale", "pool": "max scale add",
             "next": "layernorm matmul relu", "scores": "softmax dropout matmul"}  # fmt: skip
    return list(pairwise(f"{heads[p.head]} {tails[p.tail]}".split()))


def kernels_needed(p: Parameters) -> int:
    return 1 + sum(not can_fuse(*pair).fusible for pair in halves(p))


QUANTITIES = [
    # The worked examples of the deeper parts.
    Quantity("a faster GPU", "s", lambda p: [300e-6, 50e-6, 350e-6, 150e-6, 200e-6]),
    Quantity("what it saves", "ratio", lambda p: 150 / 350),
    Quantity("two streams", "s", lambda p: [
        1.8e-3, 5.8e-3, 4e-3, 8e-6, 200 * 8e-6, 3.4e-3, 2 * 3.4e-3,
    ]),
    Quantity("their kernels", "count", lambda p: [200, 700, 700 - 200, 400]),
    Quantity("a row on an Orin NX", "count", lambda p: [25_500, 102e9 * 50e-6 / (4 * 25_500)]),
    Quantity("its bytes", "B", lambda p: [102e9 * 50e-6, 2 * 25_500, 4 * 25_500]),
    Quantity("two operations fused", "s", lambda p: [
        5.1e6 / 102e9, 50e-6 + 2 * 5.1e6 / 102e9, 60 * (50e-6 + 2 * 5.1e6 / 102e9),
    ]),
    Quantity("chains of a model", "count", lambda p: 60),
    Quantity("another chip", "FLOP/s", lambda p: 400e12),
    Quantity("its memory", "B/s", lambda p: [1000e9, 800e9]),
    Quantity("what it reached", "ratio", lambda p: 80 / 100),
    Quantity("its ridge and a kernel", "FLOP/B", lambda p: [400e12 / 800e9, 250 / 4]),
    Quantity("work on an element", "FLOP", lambda p: 250),
    # Act 1.
    Quantity("the spotter today", "ratio", lambda p: TODAY),
    Quantity("its computing, in one kernel too", "s", lambda p: N * KERNEL),
    Quantity("its launching", "s", lambda p: N * LAUNCH),
    Quantity("Finance's GPU, times", "s", bought),
    Quantity("Finance's GPU, busy", "ratio", lambda p: bought(p)[1] / bought(p)[2]),
    Quantity("utilization of the models", "ratio", lambda p: [use for use, _ in PASSES]),
    Quantity("their passes", "s", lambda p: [time for _, time in PASSES]),
    Quantity("traffic of a kernel of the spotter", "B", lambda p: 1e8 / 0.1 / N),
    Quantity("compiled, as the chapter has it", "ratio", lambda p: TODAY / 0.2),
    Quantity("gain by compiling", "ratio", lambda p: [
        a_pass(model)[1] / a_pass(model, compiled=True)[1] for model in MODELS
    ]),
    Quantity("launch on the board and on the server", "ratio", lambda p: ORIN_LAUNCH / LAUNCH),
    Quantity("streams that were timed", "count", lambda p: [300, 1000]),
    Quantity("their times", "s", lambda p: [
        FEW, MANY, BUSY, BUSY / 1000, MANY / 1000, H200_LAUNCH, PACE,
        H200_LAUNCH + BUSY / 1000, BUSY + 1000 * H200_LAUNCH,
    ]),
    Quantity("busy one by one, and ahead", "ratio", lambda p: [
        BUSY / (BUSY + 1000 * H200_LAUNCH),
        BUSY / (1000 * H200_LAUNCH + BUSY / 1000),
    ]),
    Quantity("launch budget", "s", lambda p: [
        budget(p) * US, p.kernel_us * US / goal(p),
    ]),
    Quantity("compiling for the deployments of a day", "s", lambda p: p.deploys * p.compile_s),
    Quantity("the shortest kernel, alone and with its launch", "s", lambda p: [
        p.launch_us * US * goal(p) / (1 - goal(p)), p.launch_us * US / (1 - goal(p)),
    ]),
    Quantity("kernels that would have to become one", "count", lambda p: (
        p.launch_us * goal(p) / (1 - goal(p)) / p.kernel_us
    )),
    Quantity("what the promise leaves", "ratio", lambda p: 1 - goal(p)),
    Quantity("what Finance's GPU saves", "ratio", lambda p: (
        (p.kernel_us - p.kernel_us / p.faster) / (p.kernel_us + p.launch_us)
    )),
    Quantity("computing, and the pass it allows", "s", lambda p: [
        p.kernels * p.kernel_us * US, p.kernels * p.kernel_us * US / goal(p),
    ]),
    Quantity("launches that fit", "count", lambda p: (
        math.floor(p.kernels * p.kernel_us * 100 / (p.goal_pct * p.launch_us) + 1e-9)
    )),
    Quantity("a kernel after each offer", "s", lambda p: [
        wake(p) * US, *(us * US for us in offers(p).values()),
    ]),
    Quantity("the student's build, one by one and ahead", "ratio", lambda p: [
        p.kernel_us / (p.kernel_us + p.launch_us),
        p.kernels * p.kernel_us / (p.kernels * p.launch_us + p.kernel_us),
    ]),
    # Fusing.
    Quantity("three operations", "count", lambda p: [3, 6, 2]),
    Quantity("claimed speedup", "ratio", lambda p: 5),
    Quantity("traffic", "B", lambda p: [6 * TENSOR, 4 * TENSOR, 2 * TENSOR, TENSOR]),
    Quantity("bytes of an element", "count", lambda p: 4),
    Quantity("bytes moved for a number", "B", lambda p: 2 * WIDTH[p.precision]),
    Quantity("bytes of an element in the chain", "B", lambda p: [12, 4]),
    Quantity("work of the chain for an element", "FLOP", lambda p: 10),
    Quantity("rates of the chapter", "count", lambda p: [1450, 2150]),
    Quantity("work for an element", "count", lambda p: [
        10, FLOPS["layernorm"], FLOPS[p.middle], FLOPS[p.activation],
    ]),
    Quantity("times of the chain", "s", lambda p: [
        APART, ONE, APART - ONE, APART_H100, ONE_H100, WORK / VECTOR, 3 * LAUNCH, 2 * LAUNCH,
        6 * TENSOR / HBM,
    ]),
    Quantity("speedups", "ratio", lambda p: [
        APART / ONE, APART_H100 / ONE_H100, IN_THE_TEXT[0] / IN_THE_TEXT[1], 3,
    ]),
    Quantity("launches in the saving", "ratio", lambda p: 2 * LAUNCH / (APART - ONE)),
    Quantity("rate that the text implies", "FLOP/s", lambda p: WORK / (5 * US)),
    Quantity("intensities", "FLOP/B", lambda p: [
        WORK / 6 / TENSOR, WORK / 2 / TENSOR, VECTOR / HBM, 0.25, *intensities(p), *ridges(p),
    ]),
    Quantity("bandwidth, on the datasheet and measured", "B/s", bandwidths),
    Quantity("a ReLU at the roof", "ratio", lambda p: 0.25 * HBM / 312e12),
    Quantity("fused on the H200", "ratio", lambda p: [
        *BY_HAND.values(), BY_COMPILER[1024],
    ]),
    Quantity("the student's tensor in Tomás's answer", "ratio", lambda p: (
        (3 * p.launch_us * US + (6 * 2 / HBM + 10 / VECTOR) * p.rows * p.columns)
        / (p.launch_us * US + (2 * 2 / HBM + 10 / VECTOR) * p.rows * p.columns)
    )),
    Quantity("bytes in the time of a launch", "B", lambda p: p.launch_us * US * HBM),
    Quantity("rows", "count", rows),
    Quantity("saved in a layer", "s", lambda p: [
        2 * p.launch_us * US, 4 * 2 * p.rows * p.columns / HBM,
    ]),
    Quantity("tensors of a fused kernel", "count", lambda p: 2 + (p.middle == "add")),
    Quantity("rows of a product at the ridge", "count", lambda p: math.ceil(6 * ridges(p)[0])),
    Quantity("ridge of each context", "FLOP/B", lambda p: [VECTOR / HBM, ORIN_VECTOR / 102e9]),
    Quantity("worked examples, times", "s", lambda p: EXAMPLE_TIMES),
    Quantity("worked examples, counts", "count", lambda p: EXAMPLE_COUNTS),
    # Compiling.
    Quantity("an image", "s", lambda p: [
        1 / 1450, 1 / 2150, IMAGE_SAVES, 1e3 * IMAGE_SAVES, 1e4 * IMAGE_SAVES, 1e7 * IMAGE_SAVES,
        1e4 / 1450,
    ]),
    Quantity("gain of ResNet-50", "ratio", lambda p: [2150 / 1450, 2150 / 1450 - 1]),
    Quantity("images that pay", "count", lambda p: 30 / IMAGE_SAVES),
    Quantity("on the H200", "count", lambda p: [1, 32, 256, RESNETS[1][2], RESNETS[256][2], 8]),
    Quantity("gains on the H200", "ratio", lambda p: [
        made / eager for eager, made, _ in (*DS_CNN.values(), RESNET_GRAPH, GPT2)
    ]),
    Quantity("forfeited", "ratio", lambda p: 1 - DS_CNN[1][0] / DS_CNN[1][1]),
    Quantity("one giant kernel", "s", lambda p: [0.2, GPT2_LONGER]),
    Quantity("its launch, and the overhead of a call", "ratio", lambda p: [
        LAUNCH / (LAUNCH + 0.2), GPT2_LONGER / 0.2,
    ]),
    Quantity("HBM and PCIe", "ratio", lambda p: HBM / 32e9),
    Quantity("PCIe", "B/s", lambda p: 32e9),
    Quantity("a detour", "s", lambda p: TENSOR / 32e9),
    Quantity("what a student's image saves", "s", lambda p: [
        image_saves(p), p.server_images * image_saves(p),
    ]),
    Quantity("gains that are no time", "ratio", lambda p: [
        p.compiled_rate / p.eager_rate - 1, 1 - p.eager_rate / p.compiled_rate,
        p.kws_gain, 1 - 1 / (1 + p.kws_gain),
    ]),
    Quantity("what a request saves", "s", lambda p: [request_saves(p), BOX]),
    Quantity("volumes", "count", volumes),
    Quantity("the quiet box", "count", lambda p: 10 / (QUIET * (1 - 1 / 1.4))),
    Quantity("its wait", "s", lambda p: 36 * 10 / (QUIET * (1 - 1 / 1.4))),
]  # fmt: skip


def falls(p: Parameters) -> bool:
    kernel, computing, total = bought(p)
    return kernel < KERNEL and computing / total < TODAY


CLAIMS = [
    Claim("So # kernels more took # more, # for each", lambda p: (
        math.isclose((5.8e-3 - 1.8e-3) / (700 - 200), 8e-6)
    )),
    Claim("A stream of # has # kernels more than the first one", lambda p: 400 - 200 == 200),
    Claim("The pass gets shorter by #", lambda p: math.isclose(1 - 200 / 350, 150 / 350)),
    Claim("A GPU that computes twice as fast takes # for the kernel", lambda p: 300 / 2 == 150),
    Claim("so beyond that many rows the data takes longer", lambda p: (
        math.isclose(50 * 4 * 25_500 / 102e9, 50e-6)
    )),
    # Act 1.
    Reading("The chapter says # to #; here it is # on a server", lambda p, n: (
        n[0] == 5 and n[1] == 20 * US and n[0] * US < LAUNCH < n[1] and n[2:] == [
            LAUNCH, ORIN_LAUNCH]
    )),
    Reading("also counts moving data: Noor's # reads # there", lambda p, n: (
        abs(n[0] - TODAY) < 5e-4 and abs(n[1] - a_pass("kws")[0]) < 5e-4 and n[1] < n[0]
    )),
    Claim("A kernel as long as its launch would hide it if launches ran ahead", lambda p: (
        p.kernels * p.launch_us / (p.kernels * p.launch_us + p.launch_us) > 0.99
    )),
    Claim("a GPU that computes # as fast", lambda p: p.faster > 1),
    Claim("More work done per second is not more time spent working", falls),
    Claim("The kernels get shorter, from # to #", falls),
    Claim("a launch takes the CPU # and a kernel is done sooner", lambda p: (
        bought(p)[0] < KERNEL < LAUNCH
    )),
    Claim("With kernels that shrink from # to #, it works only # of #", falls),
    Claim("this very spotter, in one kernel of #, would hardly wait", lambda p: (
        LAUNCH < 0.01 * N * KERNEL
    )),
    Claim("With twice as many kernels of # there would be twice", lambda p: (
        math.isclose(2 * N * KERNEL / (2 * N * (KERNEL + LAUNCH)), TODAY)
    )),
    Claim("A faster GPU shortens the kernels and so makes every model", lambda p: all(
        kernels * each / 2 / (kernels * (each / 2 + LAUNCH)) < each / (each + LAUNCH)
        for kernels, each, *_ in MODELS.values()
    )),
    Claim("measured with kernels that do almost nothing", lambda p: (
        stream("tiny", 1000)[1] < 0.15 * stream("tiny", 1000)[0]
    )),
    Claim("One by one, it would be #", lambda p: (
        BUSY / (BUSY + 1000 * H200_LAUNCH) < BUSY / MANY
    )),
    Claim("kernels took # and not #", lambda p: MANY < BUSY + 1000 * H200_LAUNCH),
    Claim("only the longer of the two counts", lambda p: (
        abs(MANY / 1000 / max(H200_LAUNCH, BUSY / 1000) - 1) < 0.05
    )),
    Claim("The real stream needed # per kernel, a little more", lambda p: (
        H200_LAUNCH < MANY / 1000 < 1.1 * H200_LAUNCH
    )),
    Claim("The queue only fills up if a kernel lasts longer than a launch", lambda p: (
        # Those of a GPT-2 layer do, in both contexts.
        BUSY / 1000 < H200_LAUNCH and BUSY / MANY < 0.6 and MODELS["gpt2"][1] > ORIN_LAUNCH
    )),
    Claim("only the launches get fewer", lambda p: a_pass("kws", compiled=True)[1] > N * KERNEL),
    Claim("which no GPU can reach", lambda p: TODAY / 0.2 > 1),
    Claim("# times that: no driver is that much better", lambda p: p.launch_us > 3 * budget(p)),
    Reading("Yours cost #, # times that", lambda p, n: (
        math.isclose(n[0], p.launch_us * US)
        and math.isclose(n[1], p.launch_us / budget(p), rel_tol=0.05)
    )),
    Reading("In # the launch would take #", lambda p, n: (
        math.isclose(n[0], p.launch_us * US / goal(p), rel_tol=0.01)
        and math.isclose(n[1], goal(p))
    )),
    Claim("A launch as long as the kernel would be hidden", lambda p: (
        max(p.kernel_us, p.kernel_us) == p.kernel_us
    )),
    Claim("and half the time would be lost", lambda p: (
        p.kernel_us / (p.kernel_us + p.kernel_us) == 0.5
    )),
    Claim("gets a pass that is # shorter", lambda p: p.faster > 1),
    Claim("Only the kernels get shorter; # of launching", lambda p: p.faster > 1),
    Claim("shorter than launch and kernel together (#), longer than the kernel (#)", lambda p: (
        BUSY / 1000 < PACE < BUSY / 1000 + H200_LAUNCH
    )),
    Claim("With kernels to run the stream needs a little more", lambda p: (
        H200_LAUNCH < PACE < 1.1 * H200_LAUNCH
    )),
    Claim("each begins when the one before it is done", lambda p: p.streams > 1),
    Claim("each lasts as long as a launch and the GPU never waits. # leaves room", lambda p: (
        goal(p) < 1
    )),
    Claim("The pass may be longer than the computing, not shorter", lambda p: goal(p) < 1),
    Claim("is longer, and by how much", lambda p: clear(sorted(offers(p).values()))),
    Claim("Launching ahead leaves the longer of # and #", lambda p: (
        offers(p)["ahead"] == max(p.launch_us, wake(p))
    )),
    Claim("Another change gets it down to #", lambda p: clear(sorted(offers(p).values()))),
    Claim("Real launches run ahead, which lifts it to #", lambda p: p.launch_us > p.kernel_us),
    Claim("the GPU waits for launches, so a faster one waits more", lambda p: (
        p.kernel_us < p.launch_us
    )),
    Claim("Fusing has to bring the # kernels down", lambda p: (
        p.kernels * p.kernel_us / goal(p) / p.launch_us < p.kernels
    )),
    # The worked examples.
    Claim("and that is to be two thirds of the pass", lambda p: 9 / (9 + 4.5) == 2 / 3),
    Claim("because # is two thirds of that", lambda p: 9 / 13.5 == 2 / 3 != goal(p)),
    Claim("and computing is to be two thirds of the pass", lambda p: 4 / (4 + 2) == 2 / 3),
    Claim("Then the launch is the last third, so kernel and launch together", lambda p: (
        2 / (2 + 4) == 1 / 3
    )),
    Claim("and its GPU is to compute for two thirds of the time", lambda p: 1.5 / 2.25 == 2 / 3),
    Reading("With kernels # as fast, launch and kernel take #", lambda p, n: (
        n[0] == 2 and math.isclose(n[1], 300 * US / 2 + ORIN_LAUNCH)
    )),
    Claim("half a launch is left for each of today's kernels", lambda p: 1 - 0.5 == 0.5),
    Claim("Launching ahead hides the shorter of the two and leaves #", lambda p: (
        300 * US > ORIN_LAUNCH
    )),
    Claim("So here the faster GPU wins", lambda p: (
        clear(sorted((300 / 2 + 50, 300 + 50 / 2, max(300, 50)))) and 300 / 2 + 50 < 300
    )),
    Claim("With a quarter more throughput it takes #", lambda p: math.isclose(
        1 / (8 * MS), 1.25 / (10 * MS)
    )),
    Reading("they must arrive at # per hour or more", lambda p, n: (
        n[0] == 5 * 3600 and math.isclose(n[1] * n[0], 6 / (2 * MS))
    )),
    Reading("It gets # per day and is deployed # times: # between", lambda p, n: (
        math.isclose(n[0] * 86_400, 36_000) and n[1] == 24 and n[2] == 1500
    )),
    Claim("between two compilations, so compiling pays", lambda p: (
        36_000 / 24 > 60 / (1 / 4 - 1 / 5)
    )),
    Reading("At # per hour, a model's # bring #: not enough", lambda p, n: (
        math.isclose(n[0] * 3600, 500) and n[1] == 5 * 3600 and n[2] == 5 * 500 < 6 / (2 * MS)
    )),
    Reading("So each call saves #, and # is # times as long", lambda p, n: (
        math.isclose(n[0], 9 * MS - 5 * MS) and math.isclose(n[1] / n[0], n[2]) and n[2] == n[3]
    )),
    Reading("Had each call saved #, # of them would not be enough yet", lambda p, n: (
        n[1] * n[0] < 6 <= (n[1] + 1) * n[0]
    )),
    # Fusing.
    Claim("and never more than #, since no part falls by more", lambda p: (
        APART < 3 * ONE and chain(size=1e-4)[0] < 3 * chain(size=1e-4)[1]
    )),
    Claim("both fall to a third", lambda p: chain(arithmetic=0)[0] == 3 * chain(arithmetic=0)[1]),
    Claim("# as fast", lambda p: APART > ONE),
    Claim("Nothing here can fall by more than #", lambda p: APART / ONE < 3),
    Claim("it is only # of #: the vector units", lambda p: WORK / VECTOR < 0.02 * APART),
    Claim("# less, and the time from", lambda p: APART > ONE),
    Claim("Three operations: # less traffic and # in time", lambda p: APART > ONE),
    Reading("A kernel I wrote by hand is # as fast at this size", lambda p, n: (
        [round(x, 3) for x in n]
        == [round(x, 2) for x in (BY_HAND[1024], min(BY_HAND.values()), max(BY_HAND.values()))]
        + [round(BY_COMPILER[1024], 3)]
        and BY_COMPILER[1024] < 1 < BY_HAND[1024] < 5
    )),
    Claim("can save at most two of every three passes", lambda p: 4 / 6 == 2 / 3),
    Reading("elementwise work waits for memory below #", lambda p, n: any(
        math.isclose(n[0], each, rel_tol=0.006) for each in (VECTOR / HBM, ORIN_VECTOR / 102e9)
    )),
    Claim("it stays left of the ridge", lambda p: WORK / 2 / TENSOR < VECTOR / HBM),
    Claim("The higher intensity is itself a result of moving less", lambda p: (
        WORK / 2 / TENSOR > WORK / 6 / TENSOR
    )),
    Claim("Python does have less to do", lambda p: LAUNCH < 3 * LAUNCH),
    Claim("Each trip through memory gets shorter by the same amount", lambda p: math.isclose(
        (APART - APART_H100) / 6, (ONE - ONE_H100) / 2
    )),
    Claim("six trips through memory get shorter in one case", lambda p: math.isclose(
        APART - APART_H100, 3 * (ONE - ONE_H100)
    )),
    Claim("It is little, because launches take #", lambda p: 3 * LAUNCH > 0.8 * APART),
    Claim("The speedup stays at #", lambda p: math.isclose(
        APART_H100 / ONE_H100, APART / ONE, rel_tol=0.01
    )),
    Claim("A large tensor comes closer to that factor, and never reaches it", lambda p: (
        APART / APART_H100 < chain(size=1e3)[0] / chain(3.35e12, size=1e3)[0] < 3.35 / 2
    )),
    Claim("Bandwidth makes every trip cheaper", lambda p: TENSOR / 3.35e12 < TENSOR / HBM),
    Claim("More bandwidth and fewer trips are two remedies", lambda p: (
        ONE_H100 < min(ONE, APART_H100) < APART
    )),
    Claim("so the gain comes close to § and never reaches it", lambda p: 0.9 * 3 < APART / ONE < 3),
    Claim("That is # and not eight times, and left of the vector units' ridge", lambda p: (
        WORK / 2 / TENSOR < VECTOR / HBM
    )),
    Claim("Tensors with fewer than # rows gain mostly from the launches", lambda p: math.isclose(
        2 * p.launch_us * US, 4 * rows(p) * p.columns * WIDTH[p.precision] / HBM
    )),
    Claim("Fused, the chain reads and writes less and has #", lambda p: (
        intensities(p)[1] > intensities(p)[0]
    )),
    Claim("Fusing raised # to #", lambda p: intensities(p)[0] < intensities(p)[1] < ridges(p)[0]),
    Claim("and slower memory moves the ridge up", lambda p: (
        bandwidths(p)[1] < bandwidths(p)[0] and ridges(p)[0] > RATES[p.gpu][0] / RATES[p.gpu][2]
    )),
    Claim("A square matrix product in fp32 gets there with # rows", lambda p: (
        math.ceil(6 * ridges(p)[0]) / 6 >= ridges(p)[0] > (math.ceil(6 * ridges(p)[0]) - 1) / 6
    )),
    Claim("That is # for three operations, and # would take a chain of five", lambda p: (
        2 * 5 / 2 == 5
    )),
    *(
        Claim(f"With {word} kernels you fused too much", lambda p, many=many: (
            many < kernels_needed(p)
        ))
        for many, word in ((2, "two"), (3, "three"), (4, "four"))
    ),
    *(
        Claim(f"With {word} kernels you fused too little", lambda p, many=many: (
            many > kernels_needed(p)
        ))
        for many, word in ((3, "three"), (4, "four"), (5, "five"))
    ),
    # Compiling.
    Claim("so it cannot possibly save #", lambda p: 1e4 / 1450 < 30),
    Claim("each image is # shorter", lambda p: IMAGE_SAVES > 0),
    Claim("minutes for a busy service, weeks for a quiet one", lambda p: (
        # 10 million a day, and 100 an hour.
        60 < 30 / IMAGE_SAVES / 1e7 * 86400 < 3600 and 30 / IMAGE_SAVES / 2400 > 14
    )),
    Claim("at batch # the compiled model was slower", lambda p: RESNETS[32][1] < RESNETS[32][0]),
    Claim("many times the # that compiling costs", lambda p: 1e7 * IMAGE_SAVES > 10 * 30),
    Claim("large kernels have the least of both", lambda p: (
        a_pass("gpt2")[1] / a_pass("gpt2", compiled=True)[1]
        < a_pass("resnet50")[1] / a_pass("resnet50", compiled=True)[1]
        < a_pass("kws")[1] / a_pass("kws", compiled=True)[1]
    )),
    Claim("A compiled call does cost a little more", lambda p: GPT2_LONGER > 0),
    Claim("Without a gain it is never reached", lambda p: True),
    Claim("is # as fast compiled, and ResNet-50 #", lambda p: (
        a_pass("resnet50")[1] > a_pass("resnet50", compiled=True)[1]
    )),
    Claim("come close to the claim or exceed it; others do not", lambda p: (
        1 - DS_CNN[1][0] / DS_CNN[1][1] > 0.25
        and 1 - a_pass("kws", compiled=True)[1] / a_pass("kws")[1] > 0.3
        and 1 - a_pass("resnet50", compiled=True)[1] / a_pass("resnet50")[1] < 0.2
        and GPT2[1] < GPT2[0]
    )),
    Claim("for a GPT-2 layer at batch #, which got slower", lambda p: GPT2[1] < GPT2[0]),
    Claim("a faster GPU lowers it", falls),
    Claim("You took # more throughput for # less time", lambda p: p.compiled_rate > p.eager_rate),
    Claim("An image gets shorter by #", lambda p: p.compiled_rate > p.eager_rate),
    Claim("A pass gets shorter by #", lambda p: p.kws_gain > 0),
    Claim("so each request saves more", lambda p: (
        BOX > QUIET and math.isclose(ORIN_LAUNCH / LAUNCH, 5)
    )),
    Claim("A server sees # images between two compilations, more than", lambda p: (
        volumes(p)[0] > volumes(p)[1]
    )),
    Claim("A server sees # images between two compilations, fewer than", lambda p: (
        volumes(p)[0] < volumes(p)[1]
    )),
    Claim("he box sees # requests between two compilations, more than", lambda p: (
        volumes(p)[2] > volumes(p)[3]
    )),
    Claim("he box sees # requests between two compilations, fewer than", lambda p: (
        volumes(p)[2] < volumes(p)[3]
    )),
]  # fmt: skip

NOT_EVALUATED = {
    "A server that gets # requests per day": "traffic of the story; what counts is drawn",
    "The # to # is FlashAttention": "a figure of the source, not of this course",
    "The # to # belong to attention": "a figure of the source, not of this course",
    "# to # less traffic is a figure for FlashAttention": "a figure of the source",
    "Another page promises # to #": "a claim that the lab takes apart",
    "Where # and # come from": "the subject of a message",
    "makes them # faster": "a claim that the lab takes apart",
    "I tried to reproduce #": "what somebody did, with the claim of the text",
    "on the wall clock it gives # to #": "a figure of the authors of FlashAttention",
    "I tried one CI job already": "what somebody saw, before any number",
    "the square of the sequence is never written": "a fact about attention, not computed here",
    "FlashAttention works through it": "a fact about attention that nothing here computes",
    "the figure for FlashAttention": "a fact about attention that nothing here computes",
    "two tensors between the operations are never": "follows from the count of trips before it",
    "so you never needed to know it": "speaks of what was asked",
    "so divide once more": "an instruction, with no claim in it",
    "A pass gets shorter by a percentage of the old time": "the definition of what was asked",
    "how many times more it would need": "repeats the words of the question",
    "would cost more than writing it once": "the reason of a fusion rule; see test_fusion_rule",
    "is read once for the sum and once more": "the reason of a fusion rule, tested there too",
    "A row too long for on-chip memory": "the reason of a fusion rule, tested there too",
    "one fewer has not paid for compiling yet": "what a function must do; see test_sweep",
    "Here a compiled call is not faster": "what a function is called with; see test_sweep",
    "refuses where a compiled call is not faster": "what a function must do; see test_sweep",
}
