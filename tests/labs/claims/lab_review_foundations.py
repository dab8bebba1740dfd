"""What the Foundations Review says in numbers and comparisons.

Formulas are written out here from the datasheets of the devices, the counts of the course (five
FLOP and three passes for a layer norm, a trip for every tensor that is read or written) and what
PyTorch does with a construct, not taken from the lab.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

from mlsys_widgets.labs import Parameters
from tests.labs.claims import Claim, Quantity, Reading

US = 1e-6
FP16, FP32 = 2, 4

# Devices: dense fp16 peak, fp32 peak of the vector units, and bandwidth.
A100, VECTOR, HBM = 312e12, 19.5e12, 2e12
H100, H100_HBM, H200_HBM = 989e12, 3.35e12, 4.8e12
ORIN, ORIN_DRAM = 12e12, 102e9
RIDGE, ORIN_RIDGE = A100 / HBM, ORIN / ORIN_DRAM
H100_RIDGE, H200_RIDGE = H100 / H100_HBM, H100 / H200_HBM
LAUNCH = 10 * US
#: What one owner has on an A100: 255 registers of a thread, the shared memory of a thread block,
#: and what the whole GPU shares.
ROOM = {"registers": 255 * 4.0, "sram": 163e3, "l2": 40e6, "hbm": 80e9}
#: Registers of a multiprocessor.
REGISTERS = 65536
L2 = 6e12

# A layer norm: FLOP and bytes of an element.
NORM_FLOP, NORM_BYTES = 5, 3 * FP16
NORM = NORM_FLOP / NORM_BYTES
NORM_SHARE = NORM / RIDGE
# A ReLU does one FLOP on an element that comes and goes.
RELU_FP32, RELU_FP16 = 1 / (2 * FP32), 1 / (2 * FP16)
#: The ReLU of a claim, over 100 million elements on an A100.
ELEMENTS = 100e6
MOVING, COMPUTING = 2 * FP32 * ELEMENTS / HBM, ELEMENTS / VECTOR
MOVING_FP16 = 2 * FP16 * ELEMENTS / HBM

OPERANDS = {"add": 1, "mul": 1}
FLOP = {"mul": 1, "add": 1, "relu": 1, "sigmoid": 4}


def reads(ops: list[str]) -> int:
    """Tensors that a chain reads besides the one that flows through it."""
    return sum(OPERANDS.get(op, 0) for op in ops)


def apart(ops: list[str]) -> int:
    """Trips of one kernel for each operation."""
    return 2 * len(ops) + reads(ops)


def fused(ops: list[str]) -> int:
    """Trips of one kernel for all of them."""
    return 2 + reads(ops)


CHAIN = ["mul", "add", "relu", "sigmoid"]
APART, FUSED = apart(CHAIN), fused(CHAIN)
#: The same chain where operands are so small that only the tensor itself counts.
SMALL = ["scale", "scale", "relu", "sigmoid"]
#: A square fp16 product of the feedback.
SIDE = 4096
#: The worked example of a step: a product, a ReLU over 40 million fp32 elements, 20 launches.
STEP_ON_ORIN = (2 * SIDE**3 / ORIN, 40e6 * 8 / ORIN_DRAM, 20 * 50e-6)
SQUARE = 2 * SIDE**3, 3 * SIDE**2 * FP16
IMAGE_SAVES = 1 / 1450 - 1 / 2150
#: A break-even that Lab 07 may have handed on.
PAYS = math.ceil(30 / IMAGE_SAVES)
#: LayerNorm, Dropout and ReLU over the tensor of Lab 07.
NORM_CHAIN = 1024 * 768

# Ways to run a model: stars for optimization and for flexibility, and what they get wrong.
STARS = {"eager": (0, 5), "trace": (2, 3), "script": (2, 2), "compile": (5, 4)}
NAMES = {
    "eager": "eager",
    "trace": "jit.trace",
    "script": "jit.script",
    "compile": "torch.compile",
}
FAILS = {
    "eager": "",
    "trace": "branch loop print list library",
    "script": "list library",
    "compile": "custom",
}
#: What happens to each construct of the spectrum in a trace and in a script.
TRACED = ["wrong", "wrong", "wrong", "wrong", "works", "works", "works", "wrong"]
SCRIPTED = ["works", "works", "works", "error", "works", "works", "works", "error"]

# A student's own numbers.


def peak(p: Parameters) -> float:
    return p.peak_tflops * 1e12


def bandwidth(p: Parameters) -> float:
    return p.bandwidth_tbs * 1e12


def ridge(p: Parameters) -> float:
    return peak(p) / bandwidth(p)


def per_second(p: Parameters) -> float:
    """Elements on which the chip can do the student's work in a second."""
    return peak(p) / p.element_flop


def profiled(p: Parameters) -> float:
    """Bytes that the contractor's ReLU moves."""
    return 2 * FP32 * p.activation_melem * 1e6


def batches(p: Parameters) -> tuple[float, float]:
    """Activations before and after the batch grows."""
    return p.batch_before * p.sample_kb * 1e3, p.batch_after * p.sample_kb * 1e3


def tiles(p: Parameters) -> float:
    return p.tile_tensors * p.tile_rows * p.tile_columns * FP16


def rooms(p: Parameters) -> dict[str, float]:
    """What one owner has where blocks share a multiprocessor, and the GPU."""
    blocks = 108 * p.tile_blocks
    shared = {"l2": ROOM["l2"] / blocks, "hbm": ROOM["hbm"] / blocks}
    return {**ROOM, "sram": ROOM["sram"] / p.tile_blocks, **shared}


def home(p: Parameters) -> str:
    """The fastest level that holds all tiles."""
    return next(level for level, room in rooms(p).items() if tiles(p) <= room)


def inward(p: Parameters) -> float:
    """What an owner has one level closer to the arithmetic."""
    closer = [0.0, *rooms(p).values()]
    return closer[list(rooms(p)).index(home(p))]


def trips(p: Parameters) -> tuple[int, int, int]:
    """Of Lena's code: as two kernels, as one that cannot be, and as separate kernels."""
    before, after = p.before.split(), p.after.split()
    # Two kernels: up to the sum, which is added up on the way, and from the quotient on.
    two = fused(before) + fused(["quotient", *after])
    return two, two - 2, apart(before) + 1 + apart(["quotient", *after])


def plan(p: Parameters) -> tuple[float, float, float]:
    """Of Lena's plan: bytes to keep, bytes of the L2 cache in use, seconds of a trip."""
    megabytes, taken, trip = map(float, p.plan.split())
    return megabytes * 1e6, taken * 1e6, trip * US


def kept(p: Parameters, level: str) -> bool:
    """Whether a level keeps both conditions of the plan, with a tenth to spare."""
    size, taken, trip = plan(p)
    room = {**ROOM, "l2": ROOM["l2"] - taken}[level]
    return size <= room and size / {"l2": L2, "hbm": HBM}[level] <= 0.9 * trip


def tensor(p: Parameters) -> float:
    return p.chain_melem * 1e6 * FP16


def idle(kernel: int, launch: int) -> int:
    """How long a GPU waits between 100 kernels while launches are queued ahead."""
    free = waited = 0
    for arrives in range(launch, 101 * launch, launch):
        waited += max(arrives - free, 0) if free else 0
        free = max(free, arrives) + kernel
    return waited


def in_a_launch(p: Parameters) -> float:
    """Bytes that move during one launch."""
    return p.launch_us * US * bandwidth(p)


def sizes(p: Parameters) -> list[int]:
    """Of Lena's step: rows of the product, million elements of the ReLU, small kernels."""
    return [int(size) for size in p.step.split()]


def parts(p: Parameters) -> list[float]:
    """Of Lena's step: arithmetic of the product, data of the ReLU, launches."""
    rows, elements, kernels = sizes(p)
    product = max(2 * rows**3 / peak(p), 3 * rows**2 * FP16 / bandwidth(p))
    return [product, 2 * FP32 * elements * 1e6 / bandwidth(p), kernels * p.launch_us * US]


def step(p: Parameters) -> float:
    return sum(parts(p))


def better(p: Parameters) -> float:
    """The step with its largest part halved."""
    return step(p) - max(parts(p)) / 2


def claimed(p: Parameters) -> tuple[float, float, float, float]:
    """FLOP and time of the product of a claim, and of the chain in eager mode."""
    n = p.claim_n
    work, chain = 2 * n**3, sum(FLOP[op] for op in CHAIN) * n**2
    return (
        work,
        max(work / peak(p), 3 * n**2 * FP16 / bandwidth(p)),
        chain,
        APART * n**2 * FP16 / bandwidth(p),
    )


def right(p: Parameters, way: str) -> bool:
    """Whether Lena's model does in some way what it does in eager mode."""
    return not set(p.constructs.split()) & set(FAILS[way].split())


def best(p: Parameters, way: str) -> bool:
    return right(p, way) and all(STARS[other] <= STARS[way] for other in STARS if right(p, other))


def near(one: float, other: float) -> bool:
    """Whether a printed number is another one, rounded to three digits."""
    return math.isclose(one, other, rel_tol=0.005)


QUANTITIES = [
    # The worked examples of the deeper parts.
    Quantity("elements on an Orin NX", "count", lambda p: 510_000),
    Quantity("their bytes", "B", lambda p: 4 * 510_000),
    Quantity("their time", "s", lambda p: 200e-6),
    Quantity("their pace", "B/s", lambda p: 4 * 510_000 / 200e-6),
    Quantity("of the bandwidth", "ratio", lambda p: 4 * 510_000 / 200e-6 / 102e9),
    Quantity("another chip", "B/s", lambda p: [900e9, 300e9, 600e9]),
    Quantity("its batches", "count", lambda p: [100, 150]),
    Quantity("their factors", "ratio", lambda p: [150 / 100, 150 / 100 * 900 / 300]),
    Quantity("its launch", "s", lambda p: 20e-6),
    Quantity("what moves meanwhile", "B", lambda p: [20e-6 * 600e9, 4 + 4]),
    Quantity("elements that hide it", "count", lambda p: 20e-6 * 600e9 / 8),
    Quantity("another step", "s", lambda p: [60e-3, 20e-3, 10e-3, 90e-3, 60e-3 / 2]),
    # Act 1.
    Quantity("registers of a thread, and an eighth of them", "B", lambda p: [255 * 4, 128]),
    Quantity("a layer norm, of an element", "FLOP", lambda p: NORM_FLOP),
    Quantity("bytes of an element", "B", lambda p: [NORM_BYTES, FP16, FP32, 2 * FP16, 2 * FP32]),
    Quantity("intensities and ridges", "FLOP/B", lambda p: [
        NORM, RELU_FP32, RELU_FP16, RIDGE, ORIN_RIDGE, H100_RIDGE, H200_RIDGE, ridge(p),
        SIDE / 3, 1,
    ]),
    Quantity("fractions of the peak", "ratio", lambda p: [NORM_SHARE, RELU_FP32 / RIDGE, 1]),
    Quantity("work that keeps a chip busy", "FLOP", lambda p: [
        2 * FP16 * ORIN_RIDGE, ridge(p), 2 * FP32 * ridge(p),
    ]),
    Quantity("elements of an example, per second", "count", lambda p: ORIN / 15),
    Quantity("the work of an example", "FLOP", lambda p: 15),
    Quantity("what its memory would have to move", "B/s", lambda p: 2 * FP16 * ORIN / 15),
    Quantity("the ReLU of a claim", "count", lambda p: ELEMENTS),
    Quantity("its times", "s", lambda p: [
        MOVING, MOVING_FP16, COMPUTING, 2 * FP32 * ELEMENTS / ORIN_DRAM,
    ]),
    Quantity("the contractor's tensor", "s", lambda p: [
        p.activation_melem * 1e6 / ELEMENTS * each
        for each in (MOVING, COMPUTING, 2 * FP32 * ELEMENTS / ORIN_DRAM)
    ]),
    Quantity("the contractor's ReLU", "B", lambda p: [profiled(p), profiled(p) / 2]),
    Quantity("activations", "B", batches),
    Quantity("their growth, and the level's", "ratio", lambda p: [
        p.batch_after / p.batch_before, L2 / HBM,
    ]),
    # Act 2.
    Quantity("a branch of two", "count", lambda p: [0, 1, 2]),
    Quantity("a tensor of hers", "B", tensor),
    Quantity("a billion numbers, once and five times", "B", lambda p: [1e9 * FP16, 5e9 * FP16]),
    Quantity("the example of a step", "s", lambda p: [
        *STEP_ON_ORIN, sum(STEP_ON_ORIN), sum(STEP_ON_ORIN) / 2, 50 * US,
    ]),
    Quantity("its product", "FLOP", lambda p: 2 * SIDE**3),
    Quantity("its ReLU and launches", "count", lambda p: [40e6, 20]),
    Quantity("what its ReLU moves", "B", lambda p: 40e6 * 2 * FP32),
    Quantity("five trips on the Orin", "s", lambda p: 5e9 * FP16 / ORIN_DRAM),
    Quantity("LayerNorm, Dropout and ReLU", "B", lambda p: [
        6 * FP16 * NORM_CHAIN, 2 * FP16 * NORM_CHAIN,
    ]),
    Quantity("its elements and trips", "count", lambda p: [NORM_CHAIN, 6, 2]),
    Quantity("a kernel of a recorded graph", "s", lambda p: 0.5 * US),
    Quantity("a launch on the A100", "s", lambda p: LAUNCH),
    Quantity("bytes during a launch, and of an element", "count", lambda p: [
        in_a_launch(p), 2 * FP16,
    ]),
    Quantity("constructs of the spectrum", "count", lambda p: len(TRACED)),
    # Act 3.
    Quantity("times of Lena's step", "s", lambda p: [*parts(p), step(p), better(p)]),
    Quantity("its parts", "ratio", lambda p: [part / step(p) for part in parts(p)]),
    Quantity("sides of the example's tiles", "count", lambda p: 64),
    Quantity("its tiles, and the levels of another chip", "B", lambda p: [
        3 * 64 * 64 * FP16, 500, 80e3, 80e3 / 4, 4e6, 4e6 / 4 / 30,
    ]),
    Quantity("multiprocessors, and their blocks", "count", lambda p: [
        30, 108, 108 * p.tile_blocks,
    ]),
    # Act 4.
    Quantity("a row of scores", "count", lambda p: SIDE),
    Quantity("its bytes, and what a thread block has", "B", lambda p: [SIDE * FP16, ROOM["sram"]]),
    Quantity("a kernel with one FLOP for each byte", "FLOP/s", lambda p: [HBM, HBM / 2]),
    Quantity("work of a claim", "FLOP", lambda p: [claimed(p)[0], claimed(p)[2]]),
    Quantity("times of a claim", "s", lambda p: [claimed(p)[1], claimed(p)[3]]),
    Quantity("the result of a product, there and back", "s", lambda p: 2 * SIDE**2 * FP16 / HBM),
    Quantity("what an image saves", "s", lambda p: IMAGE_SAVES),
    Quantity("images that pay", "count", lambda p: [30 / IMAGE_SAVES, PAYS]),
    Quantity("decimal digits of fp16", "count", lambda p: math.floor(11 * math.log10(2))),
    Quantity("numbers of a sparse pattern", "count", lambda p: [2, 4]),
]  # fmt: skip

CLAIMS = [
    Claim("so each gets #: too small", lambda p: 3 * 64 * 64 * FP16 > 80e3 / 4),
    Claim("and holds the tiles", lambda p: 3 * 64 * 64 * FP16 < 4e6 / 4 / 30),
    Claim("and the bandwidth falls to a third, so a trip takes", lambda p: 900 / 300 == 3),
    Claim("so # elements hide a launch", lambda p: math.isclose(20e-6 * 600e9, 8 * 1.5e6)),
    Claim("Halving the largest saves # and leaves the others", lambda p: (
        90 - 60 / 2 == 60
    )),
    # Act 1.
    Claim("shrink the registers of a thread to #, as if eight times as many", lambda p: (
        round(ROOM["registers"] / 128) == 8
    )),
    Claim("the gap is ten times wider than you thought", lambda p: 9 < 0.05 / NORM_SHARE < 11),
    Claim("that ratio is the fraction of the peak", lambda p: math.isclose(
        min(A100, HBM * NORM) / A100, NORM / RIDGE
    )),
    Claim("No code can change that as long as the same bytes move", lambda p: NORM < RIDGE),
    Claim("The two are nowhere near equal", lambda p: NORM < 0.01 * RIDGE),
    Claim("Half of the bytes means half of the time", lambda p: (
        MOVING_FP16 == MOVING / 2 > COMPUTING
    )),
    Claim("The same holds for twice the bandwidth", lambda p: (
        2 * FP32 * ELEMENTS / (2 * HBM) == MOVING / 2 > COMPUTING
    )),
    Claim("A shorter program waits just as long", lambda p: max(MOVING, COMPUTING / 2) == MOVING),
    Claim("hidden behind # of moving data", lambda p: COMPUTING < MOVING),
    Claim("The edge chip computes less, but it also moves less", lambda p: (
        ORIN < A100 and ORIN_DRAM < HBM and 0.7 < ORIN_RIDGE / RIDGE < 1.4
    )),
    Claim("ReLU waits for memory on both", lambda p: min(RIDGE, ORIN_RIDGE) > RELU_FP32),
    Reading("The ridge is # per byte and an element moves #", lambda p, n: (
        near(n[0], ridge(p)) and n[1] == 2 * FP32
    )),
    Claim("so it needs twice the work", lambda p: fused(["relu"]) * FP32 == 2 * FP32),
    Claim("so it needs twice the bandwidth", lambda p: fused(["relu"]) * FP32 == 2 * FP32),
    Reading("must it do per element (the contractor's ReLU does #)", lambda p, n: (
        n == [FLOP["relu"]]
    )),
    Reading("# trillion elements per second is what the arithmetic can take", lambda p, n: (
        near(n[0], per_second(p) / 1e12)
    )),
    Reading("The arithmetic could take # trillion elements per second, of #", lambda p, n: (
        near(n[0], per_second(p) / 1e12) and n[1] == 2 * FP32
    )),
    Claim("so arithmetic sets the pace if memory moves at least #", lambda p: math.isclose(
        2 * FP16 * ORIN / 15, 3.2e12
    )),
    Reading("even # per element leave this chip waiting", lambda p, n: (
        near(n[0], bandwidth(p)) and n[1] == p.element_flop
        and bandwidth(p) < per_second(p) * 2 * FP32
    )),
    Claim("That is the answer for a peak twice as high", lambda p: math.isclose(
        2 * peak(p) / bandwidth(p), 2 * ridge(p)
    )),
    Reading("# in #.", lambda p, n: (
        near(n[0], profiled(p)) and near(n[1], p.profile_us * US)
        and n[0] / n[1] < bandwidth(p)
    )),
    Reading("# the data from a level that is # slower", lambda p, n: (
        near(n[0], batches(p)[1] / batches(p)[0]) and near(n[1], L2 / HBM)
        # The time of a sample grows too.
        and batches(p)[1] / HBM / p.batch_after > batches(p)[0] / L2 / p.batch_before
    )),
    Claim("The data grew by that factor, to #", lambda p: (
        ROOM["sram"] < batches(p)[0] <= ROOM["l2"] < batches(p)[1] <= ROOM["hbm"]
    )),
    Claim("That is how much slower the new level is", lambda p: HBM < L2),
    Claim("There is also more to move: # instead of #", lambda p: batches(p)[1] > batches(p)[0]),
    Claim("is the slower one, so a trip takes longer for two reasons", lambda p: (
        HBM < L2 and batches(p)[1] > batches(p)[0]
    )),
    Claim("# never fit there", lambda p: batches(p)[0] > ROOM["registers"]),
    Reading("# fits into", lambda p, n: (
        near(n[0], tiles(p)) and near(n[1], rooms(p)[home(p)]) and tiles(p) <= rooms(p)[home(p)]
    )),
    Reading("The next level inward holds only # per owner", lambda p, n: (
        near(n[0], inward(p)) and inward(p) < tiles(p)
    )),
    Claim("Nothing is faster, so no tile has to leave", lambda p: home(p) == "registers"),
    Reading("# does fit into", lambda p, n: (
        near(n[0], tiles(p)) and n[1] > rooms(p)[home(p)]
        and any(near(n[1], room) for room in rooms(p).values())
    )),
    Reading("All tiles together take #, and one owner has #", lambda p, n: (
        near(n[0], tiles(p)) and n[1] < tiles(p)
        and any(near(n[1], room) for room in rooms(p).values())
    )),
    Reading("A block alone could keep its # there", lambda p, n: near(n[0], tiles(p))),
    Reading("# blocks divide #, and each has #", lambda p, n: (
        (n[0], n[1]) in [(p.tile_blocks, ROOM["sram"]), (108 * p.tile_blocks, ROOM["l2"])]
        and near(n[2], n[1] / n[0]) and n[2] < tiles(p) <= n[1]
    )),
    # Act 2.
    Reading("Kernels do drop from # to #", lambda p, n: (
        n == [len(CHAIN), 1, 1 + reads(CHAIN), 1, APART, FUSED, APART / FUSED]
    )),
    Reading("Unfused, the chain makes # reads and # writes", lambda p, n: (
        n == [len(CHAIN) + reads(CHAIN), len(CHAIN), 1 + reads(CHAIN), 1]
    )),
    Reading("Of # trips, # do; the other #", lambda p, n: (
        n == [APART, APART - FUSED, FUSED, APART / FUSED] and APART - FUSED < 0.7 * APART
    )),
    Claim("the arithmetic was never what took the time", lambda p: (
        sum(FLOP.values()) / VECTOR < 0.1 * APART * FP16 / HBM
    )),
    Reading("# trips instead of #, or # as much data", lambda p, n: (
        n == [APART, FUSED, APART / FUSED]
    )),
    Claim("Her plan fails twice: the data does not fit", lambda p: (
        plan(p)[0] > ROOM["sram"] and not all(right(p, way) for way in FAILS)
    )),
    Claim("Fix both within the limits of the lamps", lambda p: kept(p, "l2") != kept(p, "hbm")),
    Reading("# trips of #: two kernels", lambda p, n: (
        n[0] == trips(p)[0] and near(n[1], tensor(p)) and tensor(p) > ROOM["l2"]
        # Storing what lies before the sum is not worse than computing it twice.
        and trips(p)[0] <= 2 * (1 + reads(p.before.split())) + reads(p.after.split()) + 1
    )),
    Reading("Separate kernels make # trips", lambda p, n: n == [trips(p)[2]]),
    Reading("# trips of # become #: two kernels", lambda p, n: (
        [n[0], n[2]] == [trips(p)[2], trips(p)[0]] and near(n[1], tensor(p))
    )),
    Reading("That is with one kernel for everything, # trips of #", lambda p, n: (
        n[0] == trips(p)[1] and near(n[1], tensor(p))
    )),
    Reading("Those are the # trips that are left", lambda p, n: n == [trips(p)[0]]),
    Reading("how much less time that is than the # trips of today", lambda p, n: (
        n == [trips(p)[2]] and trips(p)[0] < trips(p)[2]
    )),
    Reading("Those are the # trips of today, and # of them stay", lambda p, n: (
        n == [trips(p)[2], trips(p)[0]]
    )),
    Reading("That is one kernel for everything, # trips of #", lambda p, n: (
        n[0] == trips(p)[1] and near(n[1], tensor(p))
    )),
    Reading("Those are the # trips of separate kernels", lambda p, n: n == [trips(p)[2]]),
    Reading("The # trips are right", lambda p, n: (
        n == [trips(p)[0] if p.barrier_us == "barrier_us" else trips(p)[2] - trips(p)[0]]
    )),
    Claim("and the product takes more", lambda p: STEP_ON_ORIN[0] > 1.1 * sum(STEP_ON_ORIN) / 2),
    # Of the example: a product, GELU, a maximum, a quotient, tanh.
    Reading("Today: # trips for the product, # for GELU, # for the maximum", lambda p, n: (
        n[0] == 3 and n[1] == n[3] == 2 and n[2] == 1
    )),
    Reading("because the maximum needs all of it, and # from there", lambda p, n: (
        n == [fused(["mul"]), fused(["quotient"])]
    )),
    Reading("During one launch, # bytes move, and every element takes #", lambda p, n: (
        near(n[0], in_a_launch(p)) and n[1] == 2 * FP16
    )),
    Claim("For smaller tensors the GPU runs dry between kernels", lambda p: (
        0.9 * in_a_launch(p) / bandwidth(p) < p.launch_us * US
    )),
    Claim("so fewer elements are enough", lambda p: (
        in_a_launch(p) / (2 * FP16) < in_a_launch(p) / FP16
    )),
    Claim("so twice as many fit into a launch", lambda p: (
        in_a_launch(p) / (2 * FP16) == 2 * in_a_launch(p) / (2 * FP32)
    )),
    Claim("Moving the data of each takes far longer", lambda p: (
        2 * FP16 / bandwidth(p) > 100 * 1 / peak(p)
    )),
    Claim("the GPU idles only where a kernel is shorter than a launch", lambda p: all(
        (idle(kernel, 10) > 0) == (kernel < 10) for kernel in (1, 5, 9, 10, 11, 100)
    )),
    *(
        Claim(f"With {name} this model stays right", lambda p, way=way: best(p, way))
        for way, name in NAMES.items()
    ),
    *(
        Reading(f"With {NAMES[way]} the results are right, with #", lambda p, n, way=way: (
            right(p, way) and not best(p, way) and n == [STARS[way][0], 5, STARS[way][1]]
        ))
        for way in ("eager", "script")
    ),
    # Act 3.
    Reading("First comes an fp16 matrix product of # # by # #", lambda p, n: (
        n == [sizes(p)[0]] * 4 and sizes(p)[0] / 3 > ridge(p)
    )),
    Reading("Then a ReLU over # fp32 elements, at full bandwidth", lambda p, n: (
        n == [sizes(p)[1] * 1e6]
    )),
    Reading("Then # small kernels", lambda p, n: (
        n[0] == sizes(p)[2] and near(n[1], p.launch_us * US)
    )),
    Reading("That part takes #, # of the step", lambda p, n: any(
        near(n[0], part) and near(n[1], part / step(p)) for part in parts(p)
    )),
    Reading("The largest part, #, is # of #", lambda p, n: (
        near(n[0], max(parts(p))) and near(n[1], max(parts(p)) / step(p)) and near(n[2], step(p))
    )),
    Claim("it stays below half: the other two together take longer", lambda p: (
        max(parts(p)) < step(p) - max(parts(p))
    )),
    Reading("From # to #: halving one part makes the step # as fast, never twice", lambda p, n: (
        near(n[0], step(p)) and near(n[1], better(p)) and near(n[2], step(p) / better(p))
        and step(p) / better(p) < 2
    )),
    Claim("start with the largest part all the same", lambda p: better(p) == min(
        step(p) - part / 2 for part in parts(p)
    )),
    Claim("Left of the ridge, fewer bytes mean less time", lambda p: (
        3 * FP16 / HBM < 6 * FP16 / HBM and NORM < RIDGE
    )),
    Claim("One kernel for many of them moves fewer bytes", lambda p: (
        trips(p)[0] < trips(p)[2]
    )),
    Claim("Only the largest part gets faster", lambda p: better(p) < step(p)),
    Reading("Its largest part takes #", lambda p, n: near(n[0], max(parts(p)))),
    # Act 4.
    Claim("An H200 computes as fast as an H100", lambda p: H200_HBM > H100_HBM),
    Reading("so # becomes #", lambda p, n: (
        near(n[-2], H100_RIDGE) and near(n[-1], H200_RIDGE)
    )),
    Claim("then it meets the unchanged flat roof earlier", lambda p: H200_RIDGE < H100_RIDGE),
    Claim("hundreds of times further right", lambda p: 200 < RIDGE / RELU_FP16 < 1000),
    Claim("the bytes do not: it takes half the time", lambda p: MOVING_FP16 == MOVING / 2),
    Claim("The time is cut in half", lambda p: MOVING_FP16 == MOVING / 2),
    Claim("with half of the bytes it doubles", lambda p: RELU_FP16 == 2 * RELU_FP32),
    Reading("Full operands make # trips unfused and # fused", lambda p, n: n == [APART, FUSED]),
    Reading("is next to nothing beside a tensor, so # trips", lambda p, n: (
        n == [apart(SMALL), fused(SMALL)]
    )),
    Claim("so fusion pays even more", lambda p: apart(SMALL) / fused(SMALL) > APART / FUSED),
    Reading("# trips instead of #.", lambda p, n: (
        # A kernel that only sums reads it once more.
        n == [1 + fused(["quotient"]), fused(["quotient"])]
    )),
    Reading("Turning # trips into #", lambda p, n: n == [APART, FUSED]),
    Claim("the two agree on only a few", lambda p: (
        0 < sum(map(str.__eq__, TRACED, SCRIPTED)) < len(TRACED) / 2
    )),
    Claim("A thread has at most # of them", lambda p: REGISTERS // 255 >= 32),
    Claim("the row can wait on the chip", lambda p: ROOM["sram"] > SIDE * FP16),
    Claim("can reach # on an A100", lambda p: min(A100, HBM * 1) == HBM),
    Claim("it has a factor of # left", lambda p: HBM / (HBM / 2) == 2),
    Claim("because memory delivers no more", lambda p: (
        RELU_FP32 < RIDGE
    )),
    Claim("far beyond an A100's ridge", lambda p: SIDE / 3 > 5 * RIDGE),
    Claim("saving a trip through memory gains next to nothing", lambda p: (
        SQUARE[0] / A100 > 5 * SQUARE[1] / HBM
    )),
    Reading("At its roof, the product takes # for #", lambda p, n: (
        near(n[0], claimed(p)[1]) and near(n[1], claimed(p)[0])
    )),
    Reading("The four elementwise kernels move ten tensors and take # for #", lambda p, n: (
        (len(CHAIN), APART) == (4, 10)
        and near(n[0], claimed(p)[3])
        and near(n[1], claimed(p)[2])
    )),
    Reading("Each image saves #, so the # are back after # images", lambda p, n: (
        near(n[0], IMAGE_SAVES)
        and n[1:] == [30, round(30 / IMAGE_SAVES), p.claim_images]
    )),
    Claim("A kernel that uses many leaves room for fewer threads", lambda p: (
        REGISTERS // 255 < REGISTERS // 32
    )),
    Claim("fp16 halves the data", lambda p: MOVING_FP16 == MOVING / 2),
    Reading("# trips become # if the bias is as large as x", lambda p, n: (
        n == [apart(["add", "relu"]), fused(["add", "relu"])]
    )),
    Claim("fetching takes nearly all of the time", lambda p: COMPUTING < 0.05 * MOVING),
    Claim("so briefly that compiling takes longer than it saves", lambda p: (
        1e4 * IMAGE_SAVES < 30
    )),
]  # fmt: skip

NOTHING = SimpleNamespace(found=False, fields={}, doubt="")
#: What earlier labs may have handed on.
MATERIALS = {
    "what_you_bring": [
        (NOTHING, NOTHING, NOTHING),
        *(
            tuple(SimpleNamespace(found=True, fields=each, doubt="") for each in designs)
            for designs in (
                (
                    {"oom_triggered": True},
                    {"execution_mode": "eager", "breakeven_inferences": None},
                    {"bound_type": "memory", "act2_decision": "none"},
                ),
                (
                    {"constraint_hit": True},
                    {"execution_mode": "compiled", "breakeven_inferences": PAYS},
                    {"bound_type": "compute", "arithmetic_intensity": NORM},
                ),
                (
                    {"act2_bottleneck": "compute"},
                    {"fusion_enabled": True},
                    {"act2_decision": "full"},
                ),
                ({"act2_bottleneck": "memory"}, {}, {"act2_decision": "partial"}),
            )
        ),
    ]
}

NOT_EVALUATED = {
    "No saved design of Lab 01, # or # is beside": "names of labs, no quantities",
    "Each pass rewrites the graph into a cheaper one": "what a pass is for",
    "Passes make it cheaper": "what a pass is for",
    "Labs 07, #": "names of labs, no quantities",
    "Labs 01, # and # each gave you a picture": "names of labs, no quantities",
    "Recalling leaves more behind": "a finding about learning",
    "at most so many operations and moves at most so many bytes": "what a peak is, in words",
    "A size always belongs to somebody": "a definition of what a level's size means",
    "Model #: the fusion decision": "the number of a heading",
    "(#) Softmax, then Scale": "the number of an exercise",
    "(#) Two matrix products that read the same tensor": "the number of an exercise",
    "Time goes into Python and dispatch twice": "counts the two operations of one line",
    "Half, and half again": "the title of an exercise",
    "Lena's people halve the largest part of her step": "what an exercise supposes",
    "less about how much you know than about": "the purpose of a plot, in words",
    "Communications of the ACM": "the year of a source",
    "ASPLOS": "the title and year of a source",
    "so the kernel is optimal,” it says": "a claim that the lab takes apart",
    "My ReLU kernel is optimal": "a claim that the lab takes apart",
    "This assumes that nearly all traffic": "the belief behind an option",
    "A kernel is memory-bound as long as": "the definition of a term",
    "Enter millions of elements, such as": "an example of how to enter a number",
    "You measure twice, which is good": "describes the option that was chosen",
    "Ines wants faster kernels": "what characters of the lab want",
    "Kernels lie left or right of the ridge": "the definition of the ridge",
    "and refuses Python beyond its subset": "how TorchScript works, not computed here",
    "Start again with Labs 01 and #": "names of labs and acts",
    "Measure twice": "the title of a takeaway",
    "That is in GB/s, a thousand times as many": "the definition of two units",
    "multiply it by # and enter it again": "an instruction about percent",
    "while tracing and never again": "how tracing works, which nothing here computes",
    "longer inputs are cut": "how tracing works, which nothing here computes",
}
