"""What Lab 10 says in numbers and comparisons.

The error of a grid is written out here from the normal distribution (the largest of n weights,
steps that reach to it, Δ²/12), and bytes and rows from the datasheets, not taken from the lab. What
was measured is read from the file that ships. The calibrated form has tests of its own
(``tests/physics``), so here it is asked.
"""

from __future__ import annotations

import math
from functools import cache

from mlsys_widgets import measured
from mlsys_widgets.labs import Parameters
from mlsys_widgets.physics import calibration_of, crossing_rows, product_speed
from tests.labs.claims import Claim, Quantity, Reading

PEAK, H200_BANDWIDTH = 989e12, 4.8e12
RIDGE = PEAK / H200_BANDWIDTH
COLUMNS, DEPTH = 4096, 14336
MATRIX = COLUMNS * DEPTH
MATRICES = {"qkv": (6144, 4096), "gate_up": (28672, 4096)}
MANY, FEW, GROUP, TIMES = 256, 16, 128, 4
#: PyTorch's groups: a scale and a zero point of 16 bits.
BESIDE = 32


def about(value: float) -> float:
    """Two digits, where neither a model nor one run of a GPU knows more."""
    return float(f"{value:.2g}")


# Errors.


@cache
def largest(count: float) -> float:
    """The largest of so many normal weights, root mean square: the integral of 2m P(M > m)."""
    step, total = 0.002, 0.0
    for k in range(1, 5000):
        m = k * step
        total += 2 * m * -math.expm1(count * math.log1p(-math.erfc(m / math.sqrt(2)))) * step
    return math.sqrt(total)


def rounding(bits: int, reach: float) -> float:
    return reach / (2 ** (bits - 1) - 1) / math.sqrt(12)


CLEAN = rounding(8, largest(MATRIX))
OUTLIER = TIMES * CLEAN
GROUPED = rounding(8, largest(GROUP))
INT4_WHOLE, INT4_GROUPED = rounding(4, largest(MATRIX)), rounding(4, largest(GROUP))


@cache
def fp8() -> float:
    """Three bits of fraction: in each power of two, steps of an eighth of its lower end."""
    one, squares = largest(MATRIX) / 448, 0.0
    for power in range(-6, 9):
        low, high = one * 2.0**power, one * 2.0 ** (power + 1)
        share = math.erfc(low / math.sqrt(2)) - math.erfc(high / math.sqrt(2))
        squares += share * (low / 8) ** 2 / 12
    return math.sqrt(squares)


# Times.


@cache
def timed(precision: str, rows: int) -> float:
    (case,) = measured.cases(
        "h200-sxm", kind="gemm", precision=precision, variant="graph", m=rows, n=COLUMNS, k=DEPTH
    )
    return case.seconds.median


@cache
def product(precision: str, rows: float, matrix: str = "") -> float:
    columns, depth = MATRICES.get(matrix, (COLUMNS, DEPTH))
    return float(product_speed(rows, columns, depth, precision).time)


def gain(precision: str, rows: float) -> float:
    return product("fp16", rows) / product(precision, rows)


WIDENING = calibration_of("h200-sxm").law("weight-only products", "int4").compute_share

# A student's own numbers.


def customer(p: Parameters) -> dict[str, float]:
    return {
        precision: product(precision, p.prompt, p.matrix)
        + p.answer * product(precision, 1, p.matrix)
        for precision in ("fp16", "fp8", "int4")
    }


def numbers(p: Parameters) -> int:
    return 2 ** (p.bits - 1) - 1


def size(p: Parameters) -> float:
    """The bytes of the question, in whole megabytes."""
    return round(p.weights_billion * 1e9 * (4 + p.extra_bits) / 8 / 1e6) * 1e6


def per_weight(p: Parameters) -> float:
    return 8 * size(p) / (p.weights_billion * 1e9)


def rest(p: Parameters) -> float:
    return 1 - p.share_pct / 100


def kept(p: Parameters, precision: str) -> bool:
    """Whether a precision keeps the promises of the design, with as many rows as are asked for."""
    errors = {"fp16": 0.0, "fp8": fp8(), "int4": rounding(4, largest(32))}
    in_time = product(precision, p.users, "gate_up") <= p.promise_us * 1e-6
    return in_time and errors[precision] <= p.limit_pct / 100


def keeps_up(rows: float, rate: float, bandwidth: float) -> bool:
    """Whether an int4 kernel of some rate is no slower than fp16, by one weight."""
    return max(2 * rows / rate, 0.5 / bandwidth) <= 2 / bandwidth * (1 + 1e-9)


QUANTITIES = [
    Quantity("rows and groups", "count", lambda p: [
        MANY, FEW, GROUP, 1, 4, 8, 32, 16, 10, crossing_rows(COLUMNS, DEPTH)
    ]),
    Quantity("bits", "count", lambda p: [4, 8, 16, 255, 6.02, 6, 12]),
    Quantity("version of PyTorch, and a year", "count", lambda p: [2.11, 2025]),
    Quantity("how far the outlier is", "count", lambda p: [
        TIMES, TIMES**2, round(MATRIX / 1e6) * 1e6
    ]),
    Quantity("measured products", "s", lambda p: [
        about(timed("int4", 4)), about(timed("int4", 8)), about(timed("fp16", 2))
    ]),
    Quantity("calibrated products", "s", lambda p: [
        about(product("int4", 1)), about(product("int4", MANY))
    ]),
    Quantity("gains", "ratio", lambda p: [
        about(gain("int4", 1)), about(1 / gain("int4", MANY)), about(gain("fp8", FEW)),
        about(WIDENING), 16 / 4.25,
    ]),
    Quantity("ridges", "FLOP/B", lambda p: [RIDGE, 12e12 / 102e9]),
    Quantity("ridge in rows", "count", lambda p: round(RIDGE)),
    Quantity("errors", "ratio", lambda p: [
        *map(about, (CLEAN, OUTLIER, GROUPED, INT4_WHOLE, INT4_GROUPED, fp8())), 0.03,
    ]),
    Quantity("bits of a weight", "count", lambda p: [
        4 + BESIDE / GROUP, per_weight(p), 4 + BESIDE / p.members, p.members, BESIDE
    ]),
    Quantity("room", "B", size),
    Quantity("one customer", "s", lambda p: list(map(about, customer(p).values()))),
    Quantity("the step", "ratio", lambda p: [
        1 / rest(p), 1 / (rest(p) + (1 - rest(p)) / p.product_times), p.product_times,
        gain("int4", 1), CLEAN, OUTLIER, GROUPED, 1 - rest(p),
    ]),
    Quantity("step of the chip", "count", lambda p: [
        p.error_pct / 100 * math.sqrt(12), p.reach / numbers(p), numbers(p), math.sqrt(12)
    ]),
    # Worked examples.
    Quantity("example of rows", "count", lambda p: 6),
    Quantity("example of operations", "FLOP", lambda p: 12),
    Quantity("example of rates", "FLOP/s", lambda p: 6e12),
    Quantity("example of bandwidth", "B/s", lambda p: 1e12),
    Quantity("example of time", "s", lambda p: [2 / 1e12, 12 / 6e12]),
    Quantity("example of a customer", "s", lambda p: [
        each * 1e-6 for each in (5, 3, 40, 900, 500, 300, 540, 1200, 5040, 3900)
    ]),
    Quantity("example of tokens", "count", lambda p: [100, 1000]),
    Quantity("example of a step", "count", lambda p: [100, 5, 50, 55]),
    Quantity("example of a gain", "ratio", lambda p: [0.5, 10, 100 / 55]),
    Quantity("example of a grid", "count", lambda p: [5, 15, 3, 3 / 15, 6, 12, 45]),
    Quantity("example of an error", "ratio", lambda p: [
        3 / 15 / math.sqrt(12), 45 / 15 / math.sqrt(12)
    ]),
    Quantity("example of a model", "count", lambda p: [0.5e9, 3, 4, 2e9, 1, BESIDE]),
    Quantity("example of its size", "B", lambda p: 0.5e9 * 4 / 8),
]  # fmt: skip

CLAIMS = [
    Claim("a quarter of the bytes", lambda p: math.isclose(4, 16 / 4)),
    Claim("Bytes are a quarter at any number of rows", lambda p: 16 / 4.25 > 3.5),
    Claim("has a quarter of the bytes of one in sixteen", lambda p: 4 * 4 == 16),
    Claim("keeps a quarter of the bytes and widens", lambda p: 16 / 4.25 > 3.5),
    Claim("it costs far more", lambda p: timed("int4", 8) > 1.2 * timed("fp16", 2)),
    Claim("This kernel is far from it", lambda p: product("int4", MANY) > 10 * product(
        "fp16", MANY
    )),
    Claim("It has fewer bytes, but no arithmetic of its own", lambda p: WIDENING < 0.1),
    Claim("int4 is far slower than fp16", lambda p: gain("int4", MANY) < 0.1),
    Claim("With one row it is about", lambda p: gain("int4", 1) > 1 > gain("int4", MANY)),
    Claim("The bytes hardly change from one row to", lambda p: (
        MATRIX * 0.53 + MANY * 2 * (COLUMNS + DEPTH)
        < 1.4 * (MATRIX * 0.53 + 2 * (COLUMNS + DEPTH))
    )),
    Claim("A better kernel wins for more rows", lambda p: (
        keeps_up(100, 100 * H200_BANDWIDTH, H200_BANDWIDTH)
        and not keeps_up(101, 100 * H200_BANDWIDTH, H200_BANDWIDTH)
        and keeps_up(RIDGE, PEAK, H200_BANDWIDTH)
    )),
    Claim("in proportion to the rows at the end", lambda p: math.isclose(
        product("int4", 512) / product("int4", MANY), 2, rel_tol=0.03
    )),
    Claim("with # rows it is about # as fast as fp16, with the conversion", lambda p: (
        gain("fp8", FEW) > 1
    )),
    Claim("It is slower than before from there on, but fp16 still moves four times", lambda p: (
        2 / 0.5 == 4
    )),
    Claim("stops waiting for its own half bytes", lambda p: keeps_up(
        p.rate_tflops / p.bandwidth_tbs, p.rate_tflops * 1e12, p.bandwidth_tbs * 1e12
    )),
    Claim("to be as fast as its own half bytes arrive", lambda p: math.isclose(
        2 * p.rows_wanted / (4 * p.rows_wanted * p.bandwidth_tbs * 1e12),
        0.5 / (p.bandwidth_tbs * 1e12),
    )),
    Claim("keep up with fp16, which moves four times as many", lambda p: 2 / 0.5 == 4),
    Claim("So it is no slower up to # rows", lambda p: (
        keeps_up(6, 6e12, 1e12) and not keeps_up(7, 6e12, 1e12)
    )),
    Claim("That is twice too many: for each row a weight", lambda p: 1 + 1 == 2),
    Claim("That is half of it: for each row a weight", lambda p: 1 + 1 == 2),
    Claim("and gives the kernel twice the time", lambda p: 2 / 1 == 2),
    Claim("It never computes more than", lambda p: p.rate_tflops * 1e12 < PEAK),
    Claim("A kernel for so few rows needs only a part of it", lambda p: (
        p.rows_wanted * p.bandwidth_tbs * 1e12 < PEAK
    )),
    Claim("You let fewer bytes buy more rows", lambda p: not keeps_up(
        4 * p.rate_tflops / p.bandwidth_tbs, p.rate_tflops * 1e12, p.bandwidth_tbs * 1e12
    )),
    Claim("The faster fp16 gets its weights, the faster the kernel", lambda p: (
        p.rows_wanted * (p.bandwidth_tbs + 1) > p.rows_wanted * p.bandwidth_tbs
    )),
    Claim("a row has a FLOP for each byte of a #-bit weight", lambda p: 2 / 2 == 1),
    Claim("One row is fast in int4, but the rows of a prompt", lambda p: (
        product("int4", 1, p.matrix) < product("fp16", 1, p.matrix)
        and product("int4", p.prompt, p.matrix) > 5 * product("fp16", p.prompt, p.matrix)
    )),
    Claim("fp16 takes less", lambda p: 40 + 500 < 900 + 300),
    Claim("and int4 does", lambda p: 900 + 3 * 1000 < 40 + 5 * 1000),
    Claim("make # in fp16, and # and # make # in int4", lambda p: (
        40 + 500 == 540 and 900 + 300 == 1200
    )),
    Claim("it is # against #, and int4 does", lambda p: (
        40 + 5 * 1000 == 5040 and 900 + 3 * 1000 == 3900
    )),
    Claim("That is how much faster the products become", lambda p: 0 < rest(p) < 1),
    Claim("Even with products that take no time at all", lambda p: (
        1 / (rest(p) + (1 - rest(p)) / 1e9) < 1 / rest(p)
    )),
    Claim("You made attention and small kernels faster", lambda p: rest(p) < 0.5),
    # The essay.
    Claim("from # rows on it is slower, because every weight is widened", lambda p: (
        gain("int4", crossing_rows(COLUMNS, DEPTH)) <= 1
    )),
    Claim("for one chat, not four times", lambda p: 1 < gain("int4", 1) < 4),
    Claim("fp8 for everybody else", lambda p: gain("fp8", MANY) > gain("int4", MANY)),
    Claim("become # as fast, the step gains", lambda p: (
        1 / (rest(p) + (1 - rest(p)) / p.product_times) < p.product_times
    )),
    # Act 2.
    Claim("is # times as large as the largest", lambda p: TIMES > 1),
    Claim("But it is the largest, and the largest decides", lambda p: OUTLIER > CLEAN),
    Claim("all of their steps grow with it", lambda p: OUTLIER > CLEAN),
    Claim("You expected that it costs a bit", lambda p: math.isclose(
        rounding(8, 2.0), rounding(8, 1.0) * 2
    )),
    Claim("has steps # times as long, because int8 has no more", lambda p: math.isclose(
        rounding(8, TIMES), TIMES * rounding(8, 1.0)
    )),
    Claim("Doubling it costs one bit, so", lambda p: math.log2(TIMES) == 2),
    Claim("with the same # numbers, so each step is # times as long", lambda p: (
        2 * (2**7 - 1) + 1 == 255 and math.isclose(OUTLIER, TIMES * CLEAN)
    )),
    Claim("Two of the eight bits are spent on one weight", lambda p: math.log2(TIMES) == 2),
    Claim("two of the eight bits are gone", lambda p: math.log2(TIMES) == 2),
    Claim("it grows # times", lambda p: TIMES**2 == 16),
    Claim("so that only one group has long steps", lambda p: GROUPED < OUTLIER),
    Claim("A grid reaches to the largest weight whatever its bits", lambda p: (
        rounding(4, 1) > rounding(8, 1)
    )),
    Claim("the error of int8 is # with the outlier or without it", lambda p: math.isclose(
        math.sqrt(GROUPED**2 * (1 - GROUP / MATRIX) + GROUP / MATRIX * OUTLIER**2), GROUPED,
        rel_tol=1e-3,
    )),
    Claim("Twice the bytes would buy what a few scales give", lambda p: BESIDE / GROUP < 1),
    Claim("A weight four times as large costs two bits", lambda p: math.log2(4) == 2),
    Claim("The largest weight sets the step", lambda p: rounding(8, 2) > rounding(8, 1)),
    Claim("hardly any other is near", lambda p: p.reach > largest(MATRIX) or p.reach >= 8),
    Claim("so the step may be # times as long", lambda p: math.isclose(
        math.sqrt(12), 3.5, rel_tol=0.02
    )),
    Claim("You let the error be half a step", lambda p: 1 / math.sqrt(12) < 0.5),
    Claim("That is half a step, the worst case", lambda p: 1 / math.sqrt(12) < 0.5),
    Claim("so half of them are negative", lambda p: numbers(p) == ((2**p.bits - 1) - 1) / 2),
    Claim("Each further bit allows a weight twice as large", lambda p: math.isclose(
        (2**p.bits - 1) / numbers(p), 2, rel_tol=0.02
    )),
    Claim("That is a hundred times too much", lambda p: 1 / 0.01 == 100),
    Claim("Smaller groups are more precise and larger in memory", lambda p: (
        largest(32) < largest(128) and BESIDE / 32 > BESIDE / 128
    )),
    Claim("Twice that error would allow a weight", lambda p: 2 * 3 == 6),
    Claim("One bit more halves", lambda p: math.isclose(20 * math.log10(2), 6.02, abs_tol=0.01)),
    Claim("up to there an fp16 product waits for its weights", lambda p: keeps_up(
        RIDGE, PEAK, H200_BANDWIDTH
    ) and not keeps_up(RIDGE + 1, PEAK, H200_BANDWIDTH)),
    Claim("so memory gives the kernel twice as long", lambda p: 2 / 1 == 2),
    Claim("In larger groups that part is smaller", lambda p: (
        BESIDE / (p.members + 1) < BESIDE / p.members and largest(128) > largest(64)
    )),
    Claim("the rest takes as long as before", lambda p: 0 < rest(p) < 1),
    Claim("If the largest weight is # standard deviations, a step is", lambda p: math.isclose(
        3 / 15 / math.sqrt(12), rounding(5, 3.0)
    )),
    Claim("become # as fast", lambda p: 0.5 * 100 / 10 == 5),
    Claim("The step is # as fast, not", lambda p: 5 + 50 == 55),
    Claim("A single chat did become faster", lambda p: gain("int4", 1) > 1),
    Claim("Next to nothing is left of the weights", lambda p: 45 / 15 / math.sqrt(12) > 0.8),
    Claim("goes half a billion of them", lambda p: math.isclose(
        250e6 * 8 / (3 + BESIDE / 32), 5e8
    )),
    Claim("Each bit that goes doubles the error", lambda p: math.isclose(
        rounding(9, 1) * 2, rounding(8, 1), rel_tol=0.01
    )),
    Reading("From int8 to int4, steps become # times as long", lambda p, n: n == [
        about(rounding(4, 1) / rounding(8, 1))
    ]),
    # The design: fp8 keeps the promises, and the first choices break one.
    Claim("so that all three promises are kept", lambda p: (
        kept(p, "fp8") and not kept(p, "int4") and not kept(p, "fp16")
    )),
    Claim("Fewer bytes help while a product waits for them", lambda p: (
        gain("int4", 1) > 1 and crossing_rows(COLUMNS, DEPTH) < RIDGE
    )),
]  # fmt: skip

NOT_EVALUATED = {
    "well-tuned int8 cost models at most": "figures of the authors of a paper",
    "This takes int4 for a faster format": "a belief that the feedback takes apart",
    "It assumes that the arithmetic of int4": "a belief that the feedback takes apart",
    "the bill shrinks by less than the bytes": "what a grader looks for",
    "I want to know when fewer bits help": "what somebody wants to know",
    "The question asks how many times": "what a question asks",
}
