"""The keys of lab_10_fewer_bits. This file stays in the course; students never get it."""

from mlsys_widgets.judging import Belief, ChoiceKey, Given, NumberKey, told_apart
from mlsys_widgets.physics import block_reach, crossing_rows, product_speed, quantization_error
from mlsys_widgets.physics import format_quantity as q

from asks import COLUMNS, DEPTH, GROUP, H200, MATRICES, MATRIX, TIMES, room
from asks import act1_rows as asked_rows
from asks import act2_outlier as asked_outlier

# Act 1


def act1_rows(given: Given) -> ChoiceKey:
    rows = asked_rows(given.p).values
    found = crossing_rows(COLUMNS, DEPTH)
    return ChoiceKey(min(rows, key=lambda key: abs(rows[key] - found)))


def even_rows(given: Given) -> NumberKey:
    rate, bandwidth = given.p.rate_tflops * 1e12, given.p.bandwidth_tbs * 1e12
    right, tolerance = rate / bandwidth, 0.02
    beliefs = [
        Belief(
            "bytes of int4",
            right / 4,
            credit=0.3,
            says="That is where this kernel stops waiting for its own half bytes. It is slower than"
            " before from there on, but fp16 still moves four times as many.",
        ),
        Belief(
            "one FLOP for a multiply-add",
            2 * right,
            credit=0.5,
            says="That is twice too many: for each row a weight is multiplied and added, which is"
            " two FLOP.",
        ),
        Belief(
            "one byte per weight",
            right / 2,
            credit=0.4,
            says="That is with one byte per weight. A weight of fp16 has two, so memory gives the"
            " kernel twice as long.",
        ),
        Belief(
            "ridge of fp16",
            H200.peak("fp16") / bandwidth,
            credit=0.2,
            idea="a format brings its peak along",
            says=f"That is the ridge for {q(H200.peak('fp16'), 'FLOP/s')}, as if the kernel reached"
            f" the peak of fp16. It never computes more than {given.p.rate_tflops} TFLOPS.",
        ),
        Belief(
            "four times the ridge",
            4 * right,
            credit=0.1,
            says="You let fewer bytes buy more rows. With many rows the kernel waits for its"
            " arithmetic, and the bytes that it saves do not shorten that.",
        ),
    ]
    return NumberKey(
        right,
        tolerance=tolerance,
        beliefs=told_apart(right, tolerance, beliefs),
        says="It is the ridge again, with the rate that the kernel really reaches in place of the"
        " peak: FLOP per second over bytes per second.",
    )


def rate_needed(given: Given) -> NumberKey:
    bandwidth = given.p.bandwidth_tbs
    right, tolerance = given.p.rows_wanted * bandwidth, 0.02
    beliefs = [
        Belief(
            "bytes of int4",
            4 * right,
            credit=0.3,
            says="That is what it takes to be as fast as its own half bytes arrive. It only has to"
            " keep up with fp16, which moves four times as many.",
        ),
        Belief(
            "one FLOP for a multiply-add",
            right / 2,
            credit=0.5,
            says="That is half of it: for each row a weight is multiplied and added, which is two"
            " FLOP.",
        ),
        Belief(
            "one byte per weight",
            2 * right,
            credit=0.4,
            says="That is with one byte per weight. A weight of fp16 has two, and gives the kernel"
            " twice the time.",
        ),
        Belief(
            "rows of the ridge",
            H200.peak("fp16") / 1e12,
            credit=0.1,
            idea="a format brings its peak along",
            says=f"That is the peak of fp16, {q(H200.peak('fp16'), 'FLOP/s')}. A kernel for so few"
            " rows needs only a part of it.",
        ),
        Belief(
            "ratio inverted",
            given.p.rows_wanted / bandwidth,
            credit=0.2,
            says="You divided by the bandwidth. The faster fp16 gets its weights, the faster the"
            " kernel has to be.",
        ),
    ]
    return NumberKey(
        right,
        tolerance=tolerance,
        beliefs=told_apart(right, tolerance, beliefs),
        says="It is the ridge turned around: rows times bandwidth, because a row has a FLOP for"
        " each byte of a 16-bit weight.",
    )


# A wrong option of a choice earns nothing.
def one_customer(given: Given) -> ChoiceKey:
    p = given.p
    _, columns, depth = MATRICES[p.matrix]
    total = {}
    for precision in ("fp16", "fp8", "int4"):
        read, written = (
            float(product_speed(rows, columns, depth, precision, group=GROUP).time)
            for rows in (p.prompt, 1)
        )
        total[precision] = read + p.answer * written
    best = min(total, key=lambda precision: total[precision])
    times = {each: q(float(f"{seconds:.2g}"), "s") for each, seconds in total.items()}
    numbers = (
        f"prompt and answer take about {times['fp16']} in fp16, {times['fp8']} in fp8 and"
        f" {times['int4']} in int4"
    )
    beliefs = {
        "fp16": Belief(
            "conversions eat what bytes save",
            "fp16",
            credit=0.0,
            says=f"By the explorer, {numbers}. Add the prompt, once, and one row for each token of"
            " the answer.",
        ),
        "fp8": Belief(
            "fp8 wins everywhere",
            "fp8",
            credit=0.0,
            says=f"By the explorer, {numbers}. A row in fp8 includes the conversion, a kernel of"
            " its own.",
        ),
        "int4": Belief(
            "the fewest bytes win",
            "int4",
            credit=0.0,
            idea="a format brings its peak along",
            says=f"By the explorer, {numbers}. One row is fast in int4, but the rows of a prompt"
            " all have to be paid as well.",
        ),
    }
    return ChoiceKey(
        best,
        beliefs=[belief for option, belief in beliefs.items() if option != best],
        says=f"By the explorer, {numbers}. How long answers are beside their prompts decides, and"
        " the size of the matrix beside the conversion.",
    )


def whole_step_times(given: Given) -> NumberKey:
    share, times = given.p.share_pct / 100, given.p.product_times
    right, tolerance = 1 / (1 - share + share / times), 0.006
    beliefs = [
        Belief(
            "the part for the whole",
            times,
            credit=0.1,
            idea="a faster part makes the whole as much faster",
            says="That is how much faster the products become. They are only"
            f" {given.p.share_pct:g}% of the step, and the rest takes as long as before.",
        ),
        Belief(
            "gain weighted by its share",
            1 - share + share * times,
            credit=0.3,
            idea="a faster part makes the whole as much faster",
            says="You averaged speeds. Times add up and speeds do not: divide the part by its gain,"
            " add the rest, and only then turn it around.",
        ),
        Belief(
            "what is left of the time",
            1 / right,
            credit=0.6,
            says="That is the time that is left, as a fraction of before. The question asks how"
            " many times as fast the step becomes.",
        ),
        Belief(
            "the rest made faster",
            1 / (share + (1 - share) / times),
            credit=0.2,
            says="You made attention and small kernels faster, and left the products as they were."
            " In fp8 it is the other way around.",
        ),
    ]
    return NumberKey(
        right,
        tolerance=tolerance,
        beliefs=told_apart(right, tolerance, beliefs),
        says=f"Even with products that take no time at all, it would be"
        f" {q(1 / (1 - share), '×')}: the rest of the step sets that limit.",
    )


# Act 2


def act2_outlier(given: Given) -> ChoiceKey:
    values = asked_outlier(given.p).values
    far = TIMES * float(block_reach(MATRIX))
    found = float(quantization_error(8, MATRIX, outlier=far).error)
    return ChoiceKey(min(values, key=lambda key: abs(values[key] - found)))


def _numbers(bits: int) -> int:
    return 2 ** (bits - 1) - 1


def largest_weight(given: Given) -> NumberKey:
    error, numbers = given.p.error_pct / 100, _numbers(given.p.bits)
    right, tolerance = error * 12**0.5 * numbers, 0.02
    beliefs = [
        Belief(
            "the step for the error",
            error * numbers,
            credit=0.3,
            says="You took the promised error for the step. The error is the step over √12, so the"
            " step may be 3.5 times as long.",
        ),
        Belief(
            "half a step",
            2 * error * numbers,
            credit=0.4,
            says="You let the error be half a step. That is the worst case; the squared error is"
            " Δ²/12 on average.",
        ),
        Belief(
            "no root",
            error * 12 * numbers,
            credit=0.4,
            says="You took the error for Δ/12. It is the root of Δ²/12, which is Δ over √12.",
        ),
        Belief(
            "all numbers on one side",
            error * 12**0.5 * (2**given.p.bits - 1),
            credit=0.5,
            says="You used all numbers for one side of zero. One bit is the sign, so half of them"
            " are negative.",
        ),
        Belief(
            "percent for a fraction",
            100 * right,
            credit=0.6,
            form=True,
            says="That is a hundred times too much: a percentage is a fraction of a hundred.",
        ),
    ]
    return NumberKey(
        right,
        tolerance=tolerance,
        beliefs=told_apart(right, tolerance, beliefs),
        says=f"A step may be {q(error * 12**0.5)} standard deviations long, and {q(numbers)} of"
        " them reach that far. Each further bit allows a weight twice as large.",
    )


def lost_error_pct(given: Given) -> NumberKey:
    numbers = _numbers(given.p.bits)
    right, tolerance = 100 * given.p.reach / numbers / 12**0.5, 0.02
    beliefs = [
        Belief(
            "the step for the error",
            100 * given.p.reach / numbers,
            credit=0.3,
            says="That is the step. A weight lies anywhere between two numbers, and the root of the"
            " mean of its squared error is the step over √12.",
        ),
        Belief(
            "half a step",
            50 * given.p.reach / numbers,
            credit=0.4,
            says="That is half a step, the worst case; the squared error is Δ²/12 on average.",
        ),
        Belief(
            "no root",
            100 * given.p.reach / numbers / 12,
            credit=0.4,
            says="You took the error for Δ/12. It is the root of Δ²/12, which is Δ over √12.",
        ),
        Belief(
            "all numbers on one side",
            100 * given.p.reach / (2**given.p.bits - 1) / 12**0.5,
            credit=0.5,
            says="You used all numbers for one side of zero. One bit is the sign, so half of them"
            " are negative.",
        ),
        Belief(
            "fraction for percent",
            right / 100,
            credit=0.6,
            says="The number is right, but it is a fraction of a standard deviation; the question"
            " asks for percent.",
        ),
    ]
    return NumberKey(
        right,
        tolerance=tolerance,
        beliefs=told_apart(right, tolerance, beliefs),
        says=f"A step is {q(given.p.reach / numbers)} standard deviations long, whatever the other"
        " weights look like: one weight decided it for all.",
    )


def group_weights(given: Given) -> NumberKey:
    per_weight = 8 * room(given.p) / (given.p.weights_billion * 1e9)
    extra = per_weight - 4
    right, tolerance = 32 / extra, 0.02
    beliefs = [
        Belief(
            "zero point left out",
            16 / extra,
            credit=0.5,
            says="You counted the scale only. A group keeps a zero point as well: 32 bits in all.",
        ),
        Belief(
            "bytes for bits",
            4 / extra,
            credit=0.3,
            says="Scale and zero point have four bytes together, but the room that is left was in"
            " bits.",
        ),
        Belief(
            "all bits for the scale",
            32 / per_weight,
            credit=0.2,
            says="You gave all bits of a weight to the scales. Four of them are the weight itself.",
        ),
        Belief(
            "ratio inverted",
            extra / 32,
            credit=0.2,
            says="You turned the ratio around: 32 bits over the bits that each weight may add.",
        ),
    ]
    return NumberKey(
        right,
        tolerance=tolerance,
        beliefs=told_apart(right, tolerance, beliefs),
        says=f"A weight may have {q(per_weight)} bits in all. Smaller groups are more precise and"
        " larger in memory; this is where the room ends.",
    )


def billion_weights(given: Given) -> NumberKey:
    size, members = 8 * room(given.p) / 1e9, given.p.members
    right, tolerance = size / (4 + 32 / members), 0.015
    beliefs = [
        Belief(
            "scales left out",
            size / 4,
            credit=0.3,
            says="That is with four bits for a weight and none for scales and zero points.",
        ),
        Belief(
            "zero point left out",
            size / (4 + 16 / members),
            credit=0.5,
            says="You counted the scale only. A group keeps a zero point as well: 32 bits in all.",
        ),
        Belief(
            "four bytes",
            size / 8 / 4,
            credit=0.2,
            says="You took four bytes for a weight. It has four bits, and a part of its scale.",
        ),
        Belief(
            "a scale for each weight",
            size / (4 + 32),
            credit=0.2,
            says=f"You gave each weight a scale and a zero point of its own. In a group,"
            f" {members} of them share one.",
        ),
    ]
    return NumberKey(
        right,
        tolerance=tolerance,
        beliefs=told_apart(right, tolerance, beliefs),
        says=f"A weight has {q(4 + 32 / members)} bits with its part of scale and zero point. In"
        " larger groups that part is smaller, and the error is larger.",
    )
