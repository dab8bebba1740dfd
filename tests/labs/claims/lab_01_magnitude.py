"""What Lab 01 says in numbers and comparisons.

Formulas are written out here from the numbers of the course (989 TFLOPS, 3.35 TB/s, ResNet-50 with
8.2 GFLOP and 100 MB) and of the measurement that ships, not taken from the lab.
"""

from __future__ import annotations

import math
from itertools import pairwise

from mlsys_widgets import measured
from mlsys_widgets.labs import Parameters
from tests.labs.claims import Claim, Quantity, Reading

US, KB, MB, DAY = 1e-6, 1e3, 1e6, 86400

# The two machines of the text: FLOP/s, B/s, bytes and watts.
PEAK, HBM, H100_MEMORY, H100_POWER = 989e12, 3.35e12, 80e9, 700
M7_PEAK, M7_BANDWIDTH, M7_MEMORY, M7_POWER = 1e9, 50e6, 512e3, 0.1
GAPS = [PEAK / M7_PEAK, HBM / M7_BANDWIDTH, H100_MEMORY / M7_MEMORY, H100_POWER / M7_POWER]
GAP, BANDWIDTH_GAP, _, POWER_GAP = GAPS
LAUNCH, M7_LATENCY = 10 * US, 2e-3
SPARSE_PEAK = 1979e12
RIDGE = PEAK / HBM

# ResNet-50 with one image at a time.
OPERATIONS, WEIGHTS = 8.2e9, 100e6
TRIP, IMAGE = WEIGHTS / HBM, OPERATIONS / PEAK
INTENSITY = OPERATIONS / WEIGHTS
FIRST = math.ceil(TRIP / IMAGE)

# The worked examples: an A100, an Orin NX, and weights in a phone.
A100_PEAK, A100_BANDWIDTH = 312e12, 2e12
ORIN_PEAK, ORIN_BANDWIDTH = 12e12, 102e9
WORKED_LEFT = 2e-3 - 8e6 / A100_BANDWIDTH - 6 * US
WORKED_IMAGE = 1e9 / (A100_PEAK / 2)
WORKED_SCALE = 2 * US
WORKED_SCALED = WORKED_LEFT - 360 * WORKED_SCALE
#: Pruning keeps one weight of so many.
PRUNED = 400


# What was measured on an H200, and what the iron law says to it.
def resnet(batch: int):
    (case,) = measured.cases(
        "h200-sxm", kind="model", variant="eager", model="resnet50", batch=batch
    )
    return case


ONE, MANY = resnet(1), resnet(256)
RATE, FULL_RATE = 1 / ONE.seconds.median, 256 / MANY.seconds.median
BUSY = MANY.gpu_busy / MANY.seconds.median


def by_law(batch: int) -> float:
    """Seconds of a batch on an H200 (4.8 TB/s), with one launch of 8.06 µs and the whole peak."""
    return ONE.shape["parameter_bytes"] / 4.8e12 + batch * OPERATIONS / PEAK + 8.06 * US


def two_digits(rate: float) -> float:
    """A rate as the lab rounds it."""
    return float(f"{rate:.2g}")


# A student's own numbers, in SI units.
BYTES = {"fp32": 4, "fp16": 2, "int8": 1}


def rate(p: Parameters) -> float:
    return p.mcu_mflops * 1e6


def gap(p: Parameters) -> float:
    return PEAK / rate(p)


def power_gap(p: Parameters) -> float:
    return H100_POWER / (p.mcu_mw * 1e-3)


def memory_gap(p: Parameters) -> float:
    return H100_MEMORY / (p.sram_kb * KB)


def kept(p: Parameters) -> float:
    """The bytes of the weights that pruning keeps, in int8."""
    return size(p) / 4 / PRUNED * BYTES["int8"]


def sram(p: Parameters) -> float:
    return p.sram_kb * KB


def room(p: Parameters) -> float:
    """What the runtime and activations leave of the SRAM."""
    return (p.sram_kb - p.reserve_kb) * KB


def size(p: Parameters) -> float:
    return p.model_mb * MB


def plans(p: Parameters) -> dict[str, float]:
    """Average power of each way to listen, in watts."""
    busy = p.kws_mflop * 1e6 * p.kws_passes / rate(p)
    radio = p.audio_kbit * 1e3 * p.radio_nj * 1e-9
    return {
        "board": busy * p.mcu_mw * 1e-3,
        "stream": radio,
        "gate": p.gate_mw * 1e-3 + radio * p.sound_pct / 100,
    }


def least(p: Parameters, *, than: str = "") -> float:
    """The power of the best plan, which another one exceeds by a tenth."""
    found = plans(p)
    best, second = sorted(found.values())[:2]
    assert second > 1.1 * best
    assert not than or found[than] > best
    return best


def detector_saves(p: Parameters) -> bool:
    return plans(p)["stream"] * (1 - p.sound_pct / 100) > p.gate_mw * 1e-3


def trip(p: Parameters) -> float:
    """The student's weights on their way to the H100."""
    return size(p) / HBM


def image(p: Parameters) -> float:
    """The arithmetic of one image at the peak of the H100."""
    return p.model_gflop * 1e9 / PEAK


def with_int8(p: Parameters) -> tuple[float, float]:
    """One image in the cloud, before and after its weights shrink to a quarter."""
    rest = image(p) + p.launch_us * US
    return trip(p) + rest, trip(p) / 4 + rest


def moving(p: Parameters) -> float:
    """The weights on their way from the flash chip of the board."""
    return p.model_mb / p.mcu_mb_per_s


def computing(p: Parameters) -> float:
    """The arithmetic of one image on the board."""
    return p.model_gflop * 1e9 / rate(p)


def on_board(p: Parameters) -> float:
    return moving(p) + computing(p) + M7_LATENCY


def promise(p: Parameters) -> float:
    return math.ceil(computing(p)) + p.slack_s


def upgrades(p: Parameters) -> dict[str, float]:
    return {
        "core": moving(p) + computing(p) / p.core_times + M7_LATENCY,
        "flash": moving(p) / p.flash_times + computing(p) + M7_LATENCY,
        "prune": (moving(p) + computing(p)) / 2 + M7_LATENCY,
    }


def improved(p: Parameters) -> str:
    """The improvement that is best, and by a tenth."""
    best, second = sorted(upgrades(p).values())[:2]
    assert second > 1.1 * best
    return min(upgrades(p), key=lambda each: upgrades(p)[each])


def longer_term(p: Parameters) -> str:
    return "flash" if moving(p) > computing(p) else "core"


def keyword(p: Parameters) -> dict[str, float]:
    """The size of the keyword model by format."""
    return {name: p.kws_kparams * KB * each for name, each in BYTES.items()}


def fitting(p: Parameters) -> float:
    """The size of the keyword model in the highest format that fits, or nothing."""
    return max((each for each in keyword(p).values() if each <= room(p)), default=0.0)


def served(p: Parameters) -> float:
    """The arithmetic of one image at the efficiency of the student's kernels."""
    return image(p) / (p.efficiency_pct / 100)


def scaling(p: Parameters) -> float:
    """The time before its arithmetic in which the photo of one image is scaled."""
    return p.scale_us * US


def fixed(p: Parameters) -> float:
    return trip(p) + p.launch_us * US


def largest(p: Parameters) -> int:
    return math.floor((p.deadline_us * US - fixed(p)) / (scaling(p) + served(p)))


def batch_time(p: Parameters, images: float) -> float:
    return fixed(p) + images * (scaling(p) + served(p))


def largest_by_law(p: Parameters) -> int:
    """The largest batch in time on the instrument, which scales no photos."""
    return math.floor((p.deadline_us * US - fixed(p)) / served(p))


def demand(p: Parameters) -> float:
    """Photos per second of the cloud: whole thousands below 85% of what arithmetic allows."""
    return 1e3 * math.floor(0.85e-3 / served(p))


def evening_left(p: Parameters) -> float:
    """What is left of the promise for the arithmetic of the batch in the evening."""
    return p.deadline_us * US - fixed(p) - p.evening_batch * scaling(p)


def near(one: float, two: float) -> bool:
    """Whether a printed number is that quantity, with three digits."""
    return math.isclose(one, two, rel_tol=0.006)


QUANTITIES = [
    # The worked examples of the deeper parts.
    Quantity("operations per joule", "FLOP", lambda p: [A100_PEAK / 400, ORIN_PEAK / 25]),
    Quantity("one over the other", "ratio", lambda p: A100_PEAK / 400 / (ORIN_PEAK / 25)),
    Quantity("a small batch", "FLOP", lambda p: 3e8),
    Quantity("its terms", "s", lambda p: [3e8 / A100_PEAK, 8e6 / A100_BANDWIDTH]),
    Quantity("their balance", "ratio", lambda p: 3e8 / A100_PEAK / (8e6 / A100_BANDWIDTH)),
    Quantity("weights on an Orin NX", "B", lambda p: 51e6),
    Quantity("their sums", "s", lambda p: [
        51e6 / ORIN_BANDWIDTH, 10 * US, 15 * US, 51e6 / ORIN_BANDWIDTH + 25 * US,
        51e6 / 4 / ORIN_BANDWIDTH, 51e6 / 4 / ORIN_BANDWIDTH + 25 * US,
    ]),
    Quantity("one sum over the other", "ratio", lambda p: (
        (51e6 / ORIN_BANDWIDTH + 25 * US) / (51e6 / 4 / ORIN_BANDWIDTH + 25 * US)
    )),
    Quantity("a gesture", "s", lambda p: [8, 6, 8 - 6]),
    Quantity("weights of a wristwatch", "B", lambda p: 3e6),
    Quantity("their pace", "B/s", lambda p: 3e6 / (8 - 6)),
    Quantity("half in fp16", "B", lambda p: (2 + 1) / 2),
    Quantity("parameters that fit", "count", lambda p: [3e6 / 1.5, 3e3 / 1.5]),
    # The machines.
    Quantity("gaps of the text", "ratio", lambda p: GAPS),
    Quantity("estimates beside the gap", "ratio", lambda p: [GAP / 1e2, GAP / 1e4]),
    Quantity("orders too many", "count", lambda p: 9 - math.log10(GAP)),
    Quantity("gaps to the student's board", "ratio", lambda p: [
        gap(p), power_gap(p), memory_gap(p), HBM / (p.mcu_mb_per_s * MB), gap(p) / power_gap(p),
    ]),
    Quantity("catching up", "s", lambda p: p.burst_s * gap(p)),
    Quantity("catching up by nine orders", "s", lambda p: p.burst_s * 1e9),
    Quantity("a day", "count", lambda p: [24, DAY]),
    Quantity("2:4 sparsity", "count", lambda p: [2, 4]),
    Quantity("power of the plans", "W", lambda p: list(plans(p).values())),
    Quantity("duty of the board", "ratio", lambda p: p.kws_mflop * p.kws_passes / p.mcu_mflops),
    # The worked examples.
    Quantity("a wristwatch that listens", "FLOP", lambda p: 4e6),
    Quantity("its board", "FLOP/s", lambda p: 200e6),
    Quantity("its plans", "W", lambda p: [
        50e-3, 4e6 * 5 / 200e6 * 50e-3, 20e3 * 100e-9, 0.5e-3, 0.5e-3 + 20e3 * 100e-9 / 4,
    ]),
    Quantity("its radio, in kbit/s", "count", lambda p: 20),
    Quantity("and for each bit", "J", lambda p: 100e-9),
    Quantity("its gestures, improved", "s", lambda p: [
        6, 2, 6 + 2, 6 / 4, 6 / 4 + 2, 2 / 4, 6 + 2 / 4, 6 / 2, 2 / 2, (6 + 2) / 2,
    ]),
    Quantity("ten minutes", "s", lambda p: [600, 600 * A100_PEAK / ORIN_PEAK, 3600]),
    Quantity("work of ten minutes", "FLOP", lambda p: 600 * A100_PEAK),
    Quantity("weights in a phone, memory of a watch", "B", lambda p: [
        24e6, 9e6, 3e6, 24e6 / 4 / 5, 3e6 - 24e6 / 4 / 5,
    ]),
    Quantity("their number, and their bits", "count", lambda p: [
        24e6 / 4, 8, 8 * 9e6, 8 * 9e6 / (24e6 / 4),
    ]),
    Quantity("a model for a wristwatch, by format", "B", lambda p: [
        1.2e6 * BYTES[precision] for precision in ("fp32", "fp16")
    ]),
    Quantity("its parameters", "count", lambda p: 1.2e6),
    Quantity("bytes per weight", "B", lambda p: list(BYTES.values())),
    Quantity("a promise of 2 ms", "s", lambda p: [
        2e-3, 8e6 / A100_BANDWIDTH, 6 * US, WORKED_LEFT, WORKED_IMAGE, WORKED_SCALE,
        WORKED_SCALED,
    ]),
    Quantity("its weights", "B", lambda p: 8e6),
    Quantity("its operations", "FLOP", lambda p: 1e9),
    Quantity("its images", "count", lambda p: [
        WORKED_LEFT // (WORKED_IMAGE + WORKED_SCALE), 360,
    ]),
    Quantity("360 of them at the full peak", "s", lambda p: 360 * WORKED_IMAGE / 2),
    Quantity("their fraction of what is left", "ratio", lambda p: (
        360 * WORKED_IMAGE / 2 / WORKED_SCALED
    )),
    # The iron law.
    Quantity("terms of ResNet-50", "s", lambda p: [TRIP, IMAGE, 32 * IMAGE, 300 * IMAGE]),
    Quantity("their ratio", "ratio", lambda p: [
        TRIP / IMAGE, 32 * IMAGE / TRIP, 300 * IMAGE / TRIP,
    ]),
    Quantity("intensities", "FLOP/B", lambda p: [RIDGE, INTENSITY]),
    Quantity("batches", "count", lambda p: [FIRST, 300]),
    Quantity("ResNet-50 in a Cortex-M7", "ratio", lambda p: WEIGHTS / M7_MEMORY),
    Quantity("its terms there", "s", lambda p: [
        WEIGHTS / M7_BANDWIDTH, OPERATIONS / M7_PEAK,
    ]),
    Quantity("the student's model in the cloud", "s", lambda p: [
        p.small_batch * image(p), trip(p), *with_int8(p), image(p) + p.launch_us * US,
    ]),
    Quantity("how slow kernels may be", "ratio", lambda p: trip(p) / (p.small_batch * image(p))),
    Quantity("all of the peak", "ratio", lambda p: 1),
    Quantity("the weights in SRAM", "ratio", lambda p: [
        size(p) / room(p), size(p) / 4 / room(p),
    ]),
    Quantity("the room, and the weights in int8", "B", lambda p: [room(p), size(p) / 4]),
    Quantity("number of weights, and of those that may stay", "count", lambda p: [
        size(p) / 4, PRUNED, size(p) / 4 / PRUNED, size(p) / 4 / PRUNED / 1e3,
    ]),
    Quantity("on the board", "s", lambda p: [
        moving(p), computing(p), on_board(p), promise(p), *upgrades(p).values(),
    ]),
    Quantity("left for the weights", "s", lambda p: promise(p) - computing(p) - M7_LATENCY),
    # The stopwatch.
    Quantity("rates", "1/s", lambda p: [
        two_digits(each) for each in (RATE, FULL_RATE, 1 / by_law(1), 256 / by_law(256))
    ]),
    Quantity("demand of the cloud", "1/s", demand),
    Quantity("a batch gains", "ratio", lambda p: FULL_RATE / RATE),
    Quantity("a batch gains by the law", "ratio", lambda p: 256 * by_law(1) / by_law(256)),
    Quantity("a pass", "s", lambda p: [ONE.seconds.median, ONE.gpu_busy, by_law(1)]),
    Quantity("kernels", "count", lambda p: [ONE.kernels, 256]),
    Quantity("busy", "ratio", lambda p: BUSY),
    # The designs.
    Quantity("the keyword model", "B", lambda p: list(keyword(p).values())),
    Quantity("a mixed parameter", "B", lambda p: 1 + p.fp16_pct / 100),
    Quantity("weights in the H100", "ratio", lambda p: [
        size(p) / H100_MEMORY, WEIGHTS / H100_MEMORY,
    ]),
    Quantity("the largest batch", "count", largest),
    Quantity("its time", "s", lambda p: [
        batch_time(p, largest(p)), scaling(p), served(p), scaling(p) + served(p), fixed(p),
    ]),
    Quantity("the batch in the evening", "s", lambda p: [
        p.evening_batch * image(p), p.evening_batch * scaling(p), evening_left(p),
    ]),
]  # fmt: skip


CLAIMS = [
    Claim("lets a quarter of that through takes", lambda p: 0.5e-3 + 2e-3 / 4 == 1e-3),
    Claim("Half of the parameters stay in fp16", lambda p: (2 + 1) / 2 == 1.5),
    # How far apart they are.
    # The price is a part of the story.
    Reading("that costs $# and has # of memory (SRAM)", lambda p, n: n[1] == sram(p)),
    Claim("by # in memory and by # in power: six orders at most, not nine", lambda p: (
        round(math.log10(max(GAPS))) == 6
    )),
    Claim("The real gap is #, # times your estimate", lambda p: GAP > 1e2),
    Claim("and the number in front nearly another", lambda p: (
        0.95 < PEAK / 1e12 / (M7_PEAK / 1e9) / 1e3 < 1
    )),
    Claim("Ten thousand lies near the gap in power (#) and below the gap in bandwidth", lambda p: (
        0.5 < POWER_GAP / 1e4 < 2 and BANDWIDTH_GAP > 5e4
    )),
    Claim("The peaks differ by #: six orders of magnitude", lambda p: (
        round(math.log10(GAP)) == 6
    )),
    # "No two gaps are equal", says the next sentence.
    Claim("The other ladders say", lambda p: all(
        larger > 2 * smaller for smaller, larger in pairwise(sorted(GAPS))
    )),
    Claim("so nine orders are # orders too many: a factor of a thousand", lambda p: (
        0.9 < 1e9 / GAP / 1e3 < 1.1
    )),
    Claim("The board would still have # less memory and # less bandwidth", lambda p: (
        memory_gap(p) > 1 and p.mcu_mb_per_s * MB < HBM
    )),
    Claim("and # less memory than the H100", lambda p: memory_gap(p) > 1),
    Claim("a board that is a million times slower", lambda p: 0.8e6 < gap(p) < 1.25e6),
    Claim("adds a single byte to a memory that is # smaller", lambda p: memory_gap(p) > 1),
    Reading("A gap of # turns # into #", lambda p, n: (
        near(n[0], gap(p)) and near(n[1], p.burst_s)
        and abs(n[2] - n[0] * n[1]) <= 0.51 * DAY
    )),
    Claim("sparsity, which skips half of the multiplications", lambda p: (
        math.isclose(SPARSE_PEAK, 2 * PEAK, rel_tol=0.01)
    )),
    Reading("A day has # of them, so divide once more", lambda p, n: n[0] == 24 * 60 * 60),
    Claim("the H100 gets # times as much out of a joule", lambda p: gap(p) > power_gap(p)),
    Claim("The board is frugal rather than efficient", lambda p: (
        power_gap(p) > 1 and gap(p) > power_gap(p)
    )),
    Claim("that says the board gets more out of a joule", lambda p: power_gap(p) / gap(p) < 1),
    Claim("It draws # less power, but it also does # less with it", lambda p: (
        1 < power_gap(p) < gap(p)
    )),
    Claim("That is how much more power the H100 draws", lambda p: power_gap(p) > 1),
    Claim("It also does # more with it", lambda p: gap(p) > 1),
    Claim("That is how much more the H100 does in a second", lambda p: gap(p) > 1),
    Claim("Its second also takes # more joules", lambda p: power_gap(p) > 1),
    Claim("More power for the same work makes a machine less efficient", lambda p: (
        gap(p) / power_gap(p) < gap(p)
    )),
    Claim("The board's power went in as watts, a thousand times too much", lambda p: (
        # Watts for milliwatts, which makes the gap in efficiency as many times too large.
        math.isclose(gap(p) / (H100_POWER / p.mcu_mw), 1e3 * gap(p) / power_gap(p))
    )),
    # Where to listen.
    Reading("The board draws # mW, sending everything # mW", lambda p, n: all(
        map(near, n, plans(p).values())
    )),
    Claim("on a porch this quiet the detector saves more than it draws", lambda p: (
        detector_saves(p) and p.sound_pct <= 10 and least(p) == plans(p)["gate"]
    )),
    Claim("moving the data costs less than computing nearby, and a detector saves", lambda p: (
        plans(p)["stream"] < plans(p)["board"] and not detector_saves(p)
    )),
    Claim("The H100 gets more out of a joule, but here moving the data costs more", lambda p: (
        gap(p) > power_gap(p) and plans(p)["stream"] > plans(p)["board"]
    )),
    Reading("The board computes # of the time, which averages #", lambda p, n: (
        near(n[1], plans(p)["board"])
        # Both are rounded.
        and math.isclose(n[0] * p.mcu_mw * 1e-3, n[1], rel_tol=0.01)
    )),
    Reading("With your porch and your radio", lambda p, n: near(n[0], least(p, than="board"))),
    Reading("your battery pays for every bit on the way", lambda p, n: (
        near(n[0], plans(p)["stream"]) and near(n[1], least(p, than="stream"))
    )),
    Reading("and the radio still sends # of the time", lambda p, n: (
        math.isclose(n[0], p.gate_mw * 1e-3) and math.isclose(n[1], p.sound_pct / 100)
        and near(n[2], plans(p)["gate"]) and near(n[3], least(p, than="gate"))
    )),
    # Which term binds.
    Claim("The largest term *binds*: halving it saves the most", lambda p: all(
        max(terms) / 2 > each / 2
        for terms in ((TRIP, IMAGE, LAUNCH), (moving(p), computing(p), M7_LATENCY))
        for each in sorted(terms)[:-1]
    )),
    Claim("The largest term binds.", lambda p: max(TRIP, IMAGE, LAUNCH) == TRIP),
    Claim("the trip takes #, # times as long as the arithmetic", lambda p: TRIP > IMAGE),
    Claim("Slow kernels make the compute term longer, and would hide the waiting", lambda p: (
        IMAGE < TRIP < IMAGE / 0.25
    )),
    Reading("A popular post says # and #", lambda p, n: (
        # Half the operations, and giga over tera a thousand times too small.
        f"{OPERATIONS / 2 / PEAK / 1e3:.0e}" == f"{n[0]:.0e}" and near(n[1], TRIP / n[0])
    )),
    Claim("It would take # to keep both sides of this GPU busy", lambda p: INTENSITY < RIDGE),
    Claim("longer than the arithmetic of one image (#), but a good deal less than", lambda p: (
        IMAGE < LAUNCH < TRIP / 2
    )),
    Claim("It is the longest term of models with many small kernels", lambda p: (
        # The keyword spotter of Lab 07: 1,000 kernels of 5 µs, and 1 ms in memory at most.
        max(1000 * 5 * US, 1e-3) < 1000 * LAUNCH
    )),
    Claim("so the terms are equal at # images, and batch # is the first whole", lambda p: (
        (FIRST - 1) * IMAGE < TRIP < FIRST * IMAGE
    )),
    Claim("Up to there, sharing the trip pays off most", lambda p: (
        max((FIRST - 1) * IMAGE, LAUNCH) < TRIP
    )),
    Claim("the trip of the weights: compute has been the limit", lambda p: FIRST < 32),
    Claim("But that counts operations per byte, and one image already brings #", lambda p: (
        2 < RIDGE / INTENSITY < 10
    )),
    Claim("more operations for the same trip of the weights", lambda p: (
        2 / (TRIP + 2 * IMAGE) > 1 / (TRIP + IMAGE)
    )),
    Claim("From batch # on it is the other way around", lambda p: (
        (FIRST - 1) * IMAGE < TRIP < FIRST * IMAGE
    )),
    Reading("If it fit, its arithmetic would take #, its weights #", lambda p, n: (
        near(n[0], OPERATIONS / M7_PEAK) and near(n[1], WEIGHTS / M7_BANDWIDTH) and n[0] > n[1]
    )),
    Claim("times as large as that Cortex-M7's memory", lambda p: (
        WEIGHTS > M7_MEMORY
    )),
    # The student's model in the cloud.
    Claim("before compute becomes the longer term", lambda p: (
        p.small_batch * image(p) < trip(p) < trip(p) + p.small_batch * image(p)
    )),
    Reading("its # images bring # times the operations", lambda p, n: (
        n[0] == n[1] == p.small_batch > 1
    )),
    Claim("No kernel can reach more than the whole peak", lambda p: (
        trip(p) / (p.small_batch * image(p)) > 1
    )),
    Claim("a quarter of the bytes is far from four times the speed", lambda p: (
        1.3 < with_int8(p)[0] / with_int8(p)[1] < 2.7
    )),
    Claim("Only the memory term shrinks to a quarter", lambda p: math.isclose(
        with_int8(p)[0] - with_int8(p)[1], 0.75 * trip(p)
    )),
    Claim("They do not shrink, so they lower the gain", lambda p: (
        (trip(p) + image(p)) / (trip(p) / 4 + image(p)) > with_int8(p)[0] / with_int8(p)[1]
    )),
    Claim("That is with half the bytes, as in fp16", lambda p: (
        BYTES["fp16"] / BYTES["fp32"] == 0.5
    )),
    Claim("An int8 weight takes a quarter of an fp32 weight", lambda p: (
        BYTES["int8"] / BYTES["fp32"] == 0.25
    )),
    Claim("A speedup above # puts the longer time on top", lambda p: (
        with_int8(p)[0] > with_int8(p)[1]
    )),
    # The student's model on the board.
    Claim("would take about # on the doorbell", lambda p: on_board(p) < 60),
    Claim("times as large as the # that are left for them", lambda p: size(p) > room(p)),
    Claim("But the clock never starts", lambda p: size(p) > room(p)),
    Claim("Too little compute or bandwidth makes you wait", lambda p: 1 < on_board(p) < 60),
    Claim("which is slow, and some products could live with it", lambda p: 1 < on_board(p) < 60),
    Claim("in fp32 its weights are # as large as the SRAM that is left", lambda p: (
        size(p) / 4 > room(p)
    )),
    Reading("a keyword model that fits into the # that the runtime leaves", lambda p, n: (
        n[0] == room(p)
    )),
    Claim("and that is still # times what # can hold", lambda p: size(p) / 4 > room(p)),
    Claim("Less than one bit for each of # weights", lambda p: 8 * room(p) < size(p) / 4),
    Claim("the number of bytes per weight, and far less than one of them", lambda p: (
        room(p) / (size(p) / 4) < 0.1
    )),
    Claim("A thousand times too many: a prefix got lost between KB and MB", lambda p: (
        sram(p) < MB <= size(p)
    )),
    Claim("A thousand times too few: from KB to MB", lambda p: (
        KB <= room(p) < MB <= size(p) < 1e9
    )),
    Reading("Arithmetic and latency leave # of #", lambda p, n: (
        n[1] == promise(p) and near(n[0], n[1] - computing(p) - M7_LATENCY)
    )),
    Claim("No flash chip, however fast, could answer within #", lambda p: (
        moving(p) / 1e9 + computing(p) + M7_LATENCY > computing(p)
    )),
    Claim("That leaves the whole # to the weights", lambda p: promise(p) > computing(p)),
    Reading("From # to #.", lambda p, n: (
        near(n[0], on_board(p)) and near(n[1], upgrades(p)[improved(p)]) and n[1] < n[0]
    )),
    Reading("Neither is long enough for its own remedy to win", lambda p, n: (
        near(n[0], upgrades(p)["core"]) and near(n[1], upgrades(p)["flash"])
        and improved(p) == "prune"
    )),
    Claim("The larger a term is, the more it pays to improve it", lambda p: (
        improved(p) == longer_term(p)
    )),
    Reading("A faster core shrinks only the second", lambda p, n: (
        near(n[0], upgrades(p)["core"]) and near(n[1], upgrades(p)[improved(p)]) and n[1] < n[0]
    )),
    Reading("A faster flash chip shrinks only the first", lambda p, n: (
        near(n[0], upgrades(p)["flash"]) and near(n[1], upgrades(p)[improved(p)]) and n[1] < n[0]
    )),
    Reading("Halving both terms sounds best", lambda p, n: near(n[0], upgrades(p)["prune"])),
    Reading("the faster core makes the longer of them so much shorter", lambda p, n: (
        all(map(near, n, (moving(p), computing(p), upgrades(p)["core"])))
        and improved(p) == longer_term(p) == "core"
    )),
    Reading("the faster flash chip makes the longer of them so much shorter", lambda p, n: (
        all(map(near, n, (moving(p), computing(p), upgrades(p)["flash"])))
        and improved(p) == longer_term(p) == "flash"
    )),
    # The stopwatch.
    Reading("In batches it did # images/s, # as many", lambda p, n: (
        # Both rates are rounded to two digits.
        n[0] == two_digits(FULL_RATE) and math.isclose(n[0] / n[1], two_digits(RATE), rel_tol=0.02)
    )),
    Claim("the rest went into launching # kernels", lambda p: ONE.gpu_busy < ONE.seconds.median),
    Reading("This is # images/s times about #, the gain", lambda p, n: (
        n[0] == two_digits(RATE) and n[1] == round(256 * by_law(1) / by_law(256), 1) > 1
    )),
    Claim("so one image took # instead of #", lambda p: ONE.seconds.median > 10 * by_law(1)),
    Claim("because a single image spends most of its # on launching", lambda p: (
        ONE.gpu_busy < 0.2 * ONE.seconds.median
    )),
    Claim("The law allows even #", lambda p: 0.5 * 256 / by_law(256) > FULL_RATE),
    Claim("which helps until the GPU is hardly ever idle", lambda p: (
        BUSY > 0.95 and resnet(32).gpu_busy < 0.5 * resnet(32).seconds.median
    )),
    Claim("You would get this if all # images of a batch took the time of one", lambda p: (
        FULL_RATE < 128 * RATE
    )),
    # The designs.
    Claim("a faster chip fits a larger batch into #", lambda p: (
        (p.deadline_us * US - fixed(p)) / (served(p) / 2) > largest_by_law(p) + 1
    )),
    Claim("so throughput rises and so does the wait, until # are used up", lambda p: all(
        many / (fixed(p) + many * served(p)) < (many + 1) / (fixed(p) + (many + 1) * served(p))
        for many in range(1, largest_by_law(p))
    )),
    Claim("so memory is nowhere near its end", lambda p: size(p) < 0.01 * H100_MEMORY),
    Claim("What breaks a large batch is the promise", lambda p: (
        fixed(p) + (largest_by_law(p) + 1) * served(p) > p.deadline_us * US
    )),
    Claim("of the peak that your kernels reach, and then more images fit", lambda p: (
        p.efficiency_pct < 100
        and (p.deadline_us * US - fixed(p)) / image(p) > largest_by_law(p) + 1
    )),
    Reading("so the weights are #, more than the whole SRAM of #", lambda p, n: (
        near(n[1], n[0] * p.kws_kparams * KB) and n[1] > n[2] == sram(p)
    )),
    Claim("An empty SRAM would hold them, but the runtime and activations leave only", lambda p: (
        any(room(p) < each <= sram(p) for each in keyword(p).values())
    )),
    Reading("the weights fit, but they also fit in", lambda p, n: (
        near(n[0], fitting(p)) and n[0] <= n[1] == room(p)
    )),
    Reading("are left beside the runtime and activations", lambda p, n: (
        near(n[0], fitting(p)) and n[0] <= n[1] == room(p)
    )),
    Claim("# of them take twice the room", lambda p: BYTES["fp16"] == 2 * BYTES["int8"]),
    Reading("A batch of # takes #, and one more image another #", lambda p, n: (
        n[0] == largest(p) and near(n[1], batch_time(p, n[0]))
        and near(n[2], scaling(p) + served(p))
        and batch_time(p, n[0]) <= p.deadline_us * US < batch_time(p, n[0] + 1)
    )),
    Claim("takes # at half of its #, and # to scale, so # whole images fit", lambda p: (
        math.isclose(WORKED_IMAGE, 2 * 1e9 / A100_PEAK)
    )),
    Claim("That is the last batch that keeps the promise today", lambda p: (
        largest_by_law(p) > largest(p)
    )),
    Claim("That is enough for the photos of today", lambda p: (
        evening_left(p) < p.deadline_us * US - fixed(p)
    )),
    Reading("At the peak, # images need #, and # are left for them", lambda p, n: (
        n[0] == p.evening_batch and near(n[1], n[0] * image(p)) and n[1] < n[2]
        and near(n[2], evening_left(p))
    )),
    Claim("With kernels slower than that, such a batch comes late, and only a", lambda p: all(
        (fixed(p) + images * (scaling(p) + image(p) / slower) > p.deadline_us * US)
        == (images == p.evening_batch)
        for slower in [0.95 * p.evening_batch * image(p) / evening_left(p)]
        for images in (p.evening_batch, 0.9 * p.evening_batch)
    )),
    Claim("it takes #: too much", lambda p: 1.2e6 * BYTES["fp32"] > 3e6),
    Claim("and fits, so fp16 is the highest precision there", lambda p: (
        1.2e6 * BYTES["fp16"] <= 3e6 < 1.2e6 * BYTES["fp32"]
    )),
    Reading("At four bytes each, # are #", lambda p, n: (
        near(n[0], size(p)) and near(n[1], size(p) / 4)
    )),
    Reading("of them, at one byte, takes # of the #", lambda p, n: (
        near(n[-2], kept(p)) and near(n[-1], sram(p))
    )),
    Claim("They fit, but pruned that hard", lambda p: kept(p) < sram(p) - p.reserve_kb * KB),
    Reading("as if what stays were still in fp32, at four bytes", lambda p, n: (
        near(n[-1], size(p)) and BYTES["fp32"] == 4
    )),
    Claim("next to nothing of the model is left", lambda p: kept(p) < 0.01 * size(p)),
    Claim("That is with two bytes per weight, as in fp16", lambda p: BYTES["fp16"] == 2),
    Claim("In int8 a weight takes one", lambda p: BYTES["int8"] == 1),
    Claim("That gives the whole # to the images", lambda p: fixed(p) < p.deadline_us * US),
    Claim("Throughput wants a larger batch, the promise a smaller one", lambda p: (
        largest(p) >= 1
        and largest(p) / batch_time(p, largest(p))
        < (largest(p) + 1) / batch_time(p, largest(p) + 1)
    )),
    Claim("That fills the whole # with images", lambda p: fixed(p) < p.deadline_us * US),
    Claim("One image more would still be in time", lambda p: (
        batch_time(p, largest(p)) <= p.deadline_us * US
    )),
    # Alone, a photo is in time and the GPU too slow; the largest batch keeps both promises.
    Claim("The GPU must finish a batch within # and keep up with #", lambda p: (
        1 / (fixed(p) + served(p)) < demand(p) <= largest(p) / (fixed(p) + largest(p) * served(p))
        and fixed(p) + served(p) < p.deadline_us * US
    )),
    Claim("With one image more, the whole batch is late by a moment", lambda p: (
        0 < batch_time(p, largest(p) + 1) - p.deadline_us * US < 0.05 * p.deadline_us * US
    )),
]  # fmt: skip

NOT_EVALUATED = {
    "Our cloud team wants $#": "an offer that somebody makes in the story",
    "Spend the $# on the second": "a recommendation about an offer in the story",
    "what you would do with the $#": "a question about an offer in the story",
    "The question asks for percent of the peak, a hundred": "the definition of a percentage",
    "That is in KB/s, a thousand times as many": "the definition of two units",
    "double the clock, and # of SRAM still hold": "a size does not depend on a clock",
    "A faster algorithm works on one axis": "says what an algorithm is, by definition",
    "More data can make a model more accurate": "about training, of which nothing here computes",
    "they can make code several times faster": "experience with compilers, not computed here",
    "order half a million boards": "an order that somebody places in the story",
    "makes the compute term longer": "a hint that says what an efficiency is",
    "(# is # bytes.": "the definition of a unit, in a question",
    "The question asks how many times as fast": "repeats the words of the question",
    "It may make activations smaller": "about compilers, of which nothing here computes",
    "Gives at least three numbers of your own": "what a grader looks for in an essay",
    "Nothing says that half of these weights are zero": "speaks of what the question does not say",
    "Carry more digits and round only the result": "an instruction, with no claim in it",
}
