# What lab_10_fewer_bits asks. Made by `mlsys build`; the original is in assignments/.

from collections.abc import Mapping
from functools import cache
from typing import Any

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
from mlsys_widgets.ledger.designs import choice, flag, judged, number, predicted
from mlsys_widgets.measured import cases
from mlsys_widgets.physics import (
    INT8_TASK_LOSS,
    ProductSpeed,
    block_reach,
    calibration_of,
    devices,
    float_error,
    product_speed,
    quantization_error,
    stored_weights,
)
from mlsys_widgets.physics import format_quantity as q

H200, ORIN = devices["h200-sxm"], devices["orin-nx"]
COLUMNS, DEPTH = 4096, 14336
MATRIX = COLUMNS * DEPTH
MATRICES = {
    "qkv": ("Queries, keys, values", 6144, 4096),
    "gate_up": ("Gate and up", 28672, 4096),
}
MANY, FEW, GROUP = 256, 16, 128
TIMES = 4
WIDENING = calibration_of("h200-sxm").law("weight-only products", "int4").compute_share
EXAMPLE_RATE, EXAMPLE_BANDWIDTH = 6e12, 1e12
EXAMPLE_SHARE, EXAMPLE_TIMES = 0.5, 10.0
EXAMPLE_STEPS, EXAMPLE_REACH, EXAMPLE_FAR = 15, 3.0, 45.0
EXAMPLE_WEIGHTS, EXAMPLE_BITS, EXAMPLE_GROUP = 0.5e9, 3, 32


def from_lab_11(fields: Mapping[str, Any], found: bool) -> str:
    if not found:
        return (
            "No design of Lab 11 was found beside this lab, which is fine: start from a decode"
            " step, whose products wait for their weights."
        )
    bound = "memory" if fields.get("bound_type") == "memory" else "arithmetic"
    said = f"In your design of Lab 11, {bound} sets the pace of the kernel that you chose."
    if bound == "memory":
        return said + " Such a kernel waits for bytes, and fewer bits are fewer bytes."
    return said + " Fewer bytes alone do nothing for such a kernel."


@cache
def timed(precision: str, rows: int) -> float:
    (case,) = cases(
        "h200-sxm", kind="gemm", precision=precision, variant="graph", m=rows, n=COLUMNS, k=DEPTH
    )
    return case.seconds.median


@cache
def measured_crossing() -> float:
    before, after, fp16 = timed("int4", 4), timed("int4", 8), timed("fp16", 2)
    return 4 + 4 * (fp16 - before) / (after - before)


def room(p: Parameters) -> float:
    return round(p.weights_billion * 1e9 * (4 + p.extra_bits) / 8, -6)


lab = Lab(
    "lab_10_fewer_bits",
    title="Lab 10: Fewer Bits",
    question="What do four bits save, and what do they cost, on hardware that you can buy?",
    chapter=10,
    acts=("How fast are four bits", "How bad are they"),
    parameters={
        "rate_tflops": Parameter(120, steps(60, 200, 1), "TFLOPS", "rate of a widening kernel"),
        "rows_wanted": Parameter(32, steps(16, 60, 1), "rows", "rows that it must keep up with"),
        "bandwidth_tbs": Parameter(3, steps(2.2, 4.6, 0.02), "TB/s", "bandwidth of its GPU"),
        "share_pct": Parameter(70, steps(55, 88, 0.1), "%", "products in a decode step"),
        "product_times": Parameter(1.6, steps(1.3, 1.95, 0.01), "×", "gain of the products"),
        "matrix": Parameter("gate_up", tuple(MATRICES), "", "the matrix of the choice"),
        "answer": Parameter(
            96,
            (*steps(60, 140, 1), *steps(2800, 4000, 20)),
            "tokens",
            "tokens of an answer",
        ),
        "prompt": Parameter(1536, steps(1024, 2048, 64), "tokens", "tokens of a prompt"),
        "bits": Parameter(7, (7, 9, 10), "bits", "bits of a new format"),
        "error_pct": Parameter(6, steps(4, 9, 0.01), "%", "error that is promised"),
        "reach": Parameter(30, steps(8, 60, 0.02), "standard deviations", "largest weight"),
        "weights_billion": Parameter(8, steps(6, 14, 0.1), "billion", "weights of a model"),
        "extra_bits": Parameter(0.5, steps(0.3, 0.9, 0.01), "bits", "room for scales"),
        "members": Parameter(64, steps(24, 120, 1), "weights", "weights that share a scale"),
        "users": Parameter(16, steps(8, 32, 1), "rows", "conversations of the design"),
        "promise_us": Parameter(55, steps(52, 58, 0.5), "µs", "time of the product"),
        "limit_pct": Parameter(3.5, (3, 3.5, 4), "%", "error of the design"),
    },
    materials={
        "from_lab_11": from_lab_11,
        "measured_crossing": measured_crossing,
        "matrices": MATRICES,
        "room": room,
    },
    design={
        "precision": choice("how the service stores its weights", "fp16", "fp8", "int8", "int4"),
        "scales": choice(
            "which weights share a scale", "tensor", "channel", "128", "64", "32", "none"
        ),
        "rows": number("conversations that are answered at once", 1),
        "error_percent": number("error of the weights, in percent", 0),
        "speedup": number("speed of the product, with fp16 as 1", 0),
        "bits_per_weight": number("bits of a weight, with its part of the scales", 1),
        "constraint_hit": flag("whether the design breaks a promise"),
        "act1_prediction": predicted("what was predicted in the first act"),
        "act1_correct": judged("whether that was right"),
        "act2_prediction": predicted("what was predicted in the second act"),
        "act2_correct": judged("whether that was right"),
    },
    deeper=("act1_why", "act1_math", "act2_remedy", "act2_math", "advice", "deeper_kept"),
)


@cache
def speed(precision: str, rows: float) -> ProductSpeed:
    return product_speed(rows, COLUMNS, DEPTH, precision)


@cache
def errors(precision: str, block: float, outlier: bool = False) -> float:
    far = TIMES * float(block_reach(MATRIX)) if outlier else 0.0
    if precision == "fp8":
        return float(float_error(max(far, float(block_reach(MATRIX)))).error)
    bits = {"int8": 8, "int4": 4}[precision]
    return float(quantization_error(bits, block, weights=MATRIX, outlier=far).error)


def _about(value: float, unit: str = "") -> str:
    return q(float(f"{value:.2g}"), unit)


@lab.asks
def opening(p: Parameters) -> Message:
    return Message(
        "Noor Haddad",
        "Head of ML infrastructure",
        "Four times as fast, by Monday?",
        "A vendor showed us our own model in int4 yesterday: a quarter of the bytes, four times as"
        " fast, and the audience clapped. Finance has already divided our GPU bill by four.\n\n"
        "Tomás tried it on one of our servers last night. A single chat did become faster. When"
        " everybody came back in the morning, the same server could not keep up with its users,"
        " and he switched back. Lena says that the answers had also become strange in one of the"
        " models, but only in one.\n\n"
        "On Monday I decide in which precision we serve for the next year. I do not want another"
        " demonstration. I want to know when fewer bits help, and what they break.",
        task="Find out for which load four bits pay, and what they do to the weights.",
        in_context={
            "cloud": f"All of this is about the {H200.name}, whose products were measured:"
            f" {q(H200.bandwidth, 'B/s')}, and a ridge at {q(H200.ridge('fp16'), 'FLOP/B')} in"
            " fp16.",
            "edge": f"The camera team asks about their {ORIN.name}, which nobody has measured. Its"
            f" ridge in fp16 is at {q(ORIN.ridge('fp16'), 'FLOP/B')}. Which of your answers about"
            " errors hold there, and which about time would you have to measure?",
        },
        act=1,
    )


@lab.asks
def act1_rows(p: Parameters) -> Prediction:
    one, many = (speed("int4", rows) for rows in (1, MANY))
    few, before, half = timed("int4", 8), timed("int4", 4), timed("fp16", 2)
    rows = {"A": 6.0, "B": 50.0, "C": 200.0, "D": 2000.0}
    return Prediction(
        "In int4, PyTorch keeps a quarter of the bytes and widens each weight inside the product."
        " On an H200, with one row for each chat, from about how many rows on is fp16 faster?",
        {key: f"about {q(each)} rows" for key, each in rows.items()},
        values=rows,
        unit="rows",
        quantity="crossing",
        settings={"precision": "int4", "scales": str(GROUP), "weights": "down"},
        title="Until when do four bits win?",
        answer="A",
        distance="times",
        feedback={
            "A": f"Measured, {q(4)} rows took {_about(before, 's')} in int4 and {q(8)} rows"
            f" {_about(few, 's')}, where fp16 takes about {_about(half, 's')} for either. Bytes"
            " are a quarter at any number of rows. But this kernel pays for every row: it widens"
            f" each weight first, and computes at {_about(WIDENING, '%')} of the 16-bit peak at"
            " best (calibrated).",
            "B": "You expected that widening costs something, and it does, but it costs far more."
            f" With {q(8)} rows, int4 was measured at {_about(few, 's')} and fp16 at about"
            f" {_about(half, 's')}. In the explorer, follow the int4 curve from the left: it"
            " rises from the first few rows on, while fp16 stays flat.",
            "C": f"That is the ridge of the H200, {q(H200.ridge('fp16'), 'FLOP/B')}: up to there"
            " an fp16 product waits for its weights, so fewer bytes should help. It assumes that"
            " the arithmetic of int4 is as fast as that of fp16. This kernel is far from it:"
            f" with {q(MANY)} rows it takes about {_about(float(many.time), 's')}, by the curve"
            " that was fitted to its measured times.",
            "D": "This takes int4 for a faster format at any load. It has fewer bytes, but no"
            " arithmetic of its own: weights are widened to 16 bits and then multiplied. With"
            f" one row it is about {_about(float(one.speedup), '×')} as fast as fp16, and with"
            f" {q(MANY)} rows about {_about(1 / float(many.speedup), '×')} as slow (calibrated).",
        },
        where="one H200, PyTorch 2.11, Llama-3.1-8B's down product",
        act=1,
    )


@lab.asks
def even_rows(p: Parameters) -> Number:
    return Number(
        "Another team writes an int4 kernel of its own. Widening included, it never computes more"
        f" than {p.rate_tflops} TFLOPS. On a GPU of {p.bandwidth_tbs:g} TB/s, the fp16 product"
        " waits for its weights, two bytes each, and nothing else. Up to how many rows is the new"
        " kernel no slower? Answer in rows, as in 75.",
        "rows",
        points=17,
        low=2,
        high=1000,
        hint="Both times are proportional to the number of weights. Write each down for one weight"
        " and set them equal.",
        worked_example=f"A kernel reaches {q(EXAMPLE_RATE, 'FLOP/s')} on a GPU of"
        f" {q(EXAMPLE_BANDWIDTH, 'B/s')}. For one weight, fp16 moves two bytes, which takes"
        f" {q(2 / EXAMPLE_BANDWIDTH, 's')}. With 6 rows, the kernel does 12 FLOP for that weight:"
        f" {q(12 / EXAMPLE_RATE, 's')} as well. So it is no"
        f" slower up to {q(EXAMPLE_RATE / EXAMPLE_BANDWIDTH)} rows.",
        title="A better kernel",
        act=1,
        after=["act1_rows"],
    )


@lab.asks(instead_of="even_rows")
def rate_needed(p: Parameters) -> Number:
    return Number(
        "Another team writes an int4 kernel of its own. On a GPU of"
        f" {p.bandwidth_tbs:g} TB/s, the fp16 product waits for its weights, two bytes each, and"
        f" nothing else. The new kernel must be no slower with up to {p.rows_wanted} rows. How"
        " many TFLOPS must it reach then, widening included? Answer in TFLOPS, as in 75.",
        "TFLOPS",
        points=17,
        low=5,
        high=2000,
        hint="Both times are proportional to the number of weights. Write each down for one weight"
        " and set them equal.",
        worked_example=f"A GPU has {q(EXAMPLE_BANDWIDTH, 'B/s')}. For one weight, fp16 moves two"
        f" bytes, which takes {q(2 / EXAMPLE_BANDWIDTH, 's')}. With 6 rows, a kernel has 12 FLOP"
        f" to do for that weight, and to do them in {q(2 / EXAMPLE_BANDWIDTH, 's')} it must reach"
        f" {q(EXAMPLE_RATE, 'FLOP/s')}.",
        title="A better kernel",
        act=1,
        after=["act1_rows"],
    )


@lab.asks
def one_customer(p: Parameters) -> Choice:
    name = MATRICES[p.matrix][0]
    return Choice(
        f"A service has one customer at a time: it reads a prompt of {p.prompt:,} tokens, which"
        f" are the rows of one product, and then writes {p.answer:,} tokens, one row each. By the"
        f" explorer, with the matrix “{name}” (behind *More*) and groups of {GROUP}: which"
        " precision takes the least time in all, conversions included?",
        {"fp16": "fp16, no conversion", "fp8": "fp8, converted", "int4": "int4, widened"},
        points=5,
        worked_example="For another matrix, the explorer says one row takes 5 µs in fp16 and 3 µs"
        " in int4, and a prompt 40 µs and 900 µs. With 100 tokens to write, 40 µs and 500 µs make"
        " 540 µs in fp16, and 900 µs and 300 µs make 1,200 µs in int4: fp16 takes less. With 1,000"
        " tokens, it is 5,040 µs against 3,900 µs, and int4 does.",
        title="One customer at a time",
        act=1,
        after=["act1_rows"],
    )


@lab.asks
def whole_step_times(p: Parameters) -> Number:
    return Number(
        f"Products with weights take {p.share_pct:g}% of a decode step in fp16; attention and"
        f" small kernels take the rest and stay as they are. In fp8 the products become"
        f" {p.product_times:g} times as fast. How many times as fast does the whole step become?"
        " Answer with a factor, as in 7.5.",
        "times",
        points=13,
        low=0.5,
        high=50,
        hint="Let the step take 100 and write down what is left of each of its two parts.",
        worked_example=f"Products take {q(EXAMPLE_SHARE, '%')} of another step and become"
        f" {q(EXAMPLE_TIMES, '×')} as fast. Of 100, they leave 5 of their 50, and the other 50"
        f" stay: 55 in all. The step is {q(100 / 55, '×')} as fast, not {q(EXAMPLE_TIMES, '×')}.",
        title="The whole step",
        act=1,
        after=["act1_rows"],
    )


@lab.asks
def act1_why(p: Parameters) -> Reflection:
    one, many = (speed("int4", rows) for rows in (1, MANY))
    fp8 = speed("fp8", FEW)
    return Reflection(
        f"With {q(MANY)} rows, int4 is far slower than fp16. What does the time go to?",
        {
            "A": "to memory: scales and zero points are read again for every row",
            "B": "to arithmetic: weights are widened, and multiplied on a slow path",
            "C": "to launches: a kernel for each group of weights has to be started",
            "D": "to rounding: answers are corrected until they are accurate enough",
        },
        right="B",
        feedback={
            "A": "Scales are read once with their weights, and they are few: a weight of int4 has"
            f" {q(float(stored_weights(1, 4, GROUP).bits_per_weight))} bits with its part of them."
            f" The bytes hardly change from one row to {q(MANY)}, yet the time goes from"
            f" {_about(float(one.time), 's')} to {_about(float(many.time), 's')}. Something that"
            " grows with the rows must be taking it.",
            "B": "There is no arithmetic in four bits here: each weight becomes a 16-bit number"
            f" first. With many rows, PyTorch's kernel reaches about {_about(WIDENING, '%')} of the"
            " H200's 16-bit peak (calibrated). A better kernel wins for more rows, and even a"
            f" perfect one gains nothing beyond the ridge: {q(H200.ridge('fp16'))}.",
            "C": "One product is one kernel, whatever its groups, and it was replayed from a"
            " graph, so no launch is in its time. From one row to"
            f" {q(MANY)} it grows from {_about(float(one.time), 's')} to"
            f" {_about(float(many.time), 's')}, in proportion to the rows at the end. Launches"
            " would not grow at all.",
            "D": "Nothing is corrected: what rounding took away stays lost. fp8 is rounded as well"
            f" and with {q(FEW)} rows it is about {_about(float(fp8.speedup), '×')} as fast as"
            " fp16, with the conversion of its activations. What differs is who multiplies: fp8"
            " has units of its own.",
        },
        title="Where does the time go?",
        act=1,
        after=["act1_rows"],
    )


@lab.asks
def act1_math(p: Parameters) -> Peek:
    return Peek(
        {
            "Where a kernel that widens loses": r"For one weight, fp16 moves two bytes in"
            r" $2 / B$, and $m$ rows ask for $2m$ FLOP in $2m / R$. The two are equal at"
            r" $m = R / B$: the ridge, with the rate $R$ that the kernel reaches.",
            f"The down product in fp8, {q(FEW)} rows": speed("fp8", FEW),
            f"The down product in int4, {q(FEW)} rows": speed("int4", FEW),
        },
        title="The equations of Act 1",
        act=1,
        after=["act1_rows"],
    )


@lab.asks
def quality_message(p: Parameters) -> Message:
    return Message(
        "Lena Brandt",
        "Model serving engineer",
        "One model in five",
        "I stored five of our models in int8, each matrix with one scale, as the tool proposed."
        " Four answer as before. The fifth, which differs from the fourth by one week of training,"
        " loses the thread in the middle of a sentence.\n\n"
        "I compared their weights. They look the same: same mean, same spread, the same bell. In"
        " one matrix of the fifth model I found a single number that is"
        f" {q(TIMES)} times as large as the largest of the fourth, one among"
        f" {q(round(MATRIX / 1e6))} million.\n\n"
        "A colleague says that one weight in so many cannot matter. Before I store it in 16 bits"
        " again, I would like to know whether he is right, and what I could do instead.",
        task="Find out what that one number does to the others.",
        act=2,
        after=["act1_rows"],
    )


@lab.asks
def act2_outlier(p: Parameters) -> Prediction:
    clean = errors("int8", MATRIX)
    other, grouped = errors("int8", MATRIX, True), errors("int8", GROUP, True)
    shares = {key: clean * times for key, times in {"A": 1, "B": 2, "C": 4, "D": 16}.items()}
    shown = {key: float(f"{each:.2g}") for key, each in shares.items()}
    was, became = _about(clean, "%"), _about(other, "%")
    return Prediction(
        "In int8 with one scale, rounding leaves an error of"
        f" {was} in the matrix of the fourth model: root mean square, relative to the weights. In"
        f" the fifth model, one weight is {q(TIMES)} times as large as the largest other. What is"
        " the error of the fifth model's matrix?",
        {key: f"about {q(each, '%')}" for key, each in shown.items()},
        values=shown,
        unit="%",
        title="One weight among millions",
        answer="C",
        distance="times",
        feedback={
            "A": "One weight in millions is nothing to an average. But it is the largest, and the"
            " largest decides how far the grid reaches. All weights share its scale, so all of"
            f" their steps grow with it, and the error goes from {was} to {became}. In the"
            " explorer, give each group a scale of its own.",
            "B": "You expected that it costs a bit. A grid that must reach"
            f" {q(TIMES)} times as far has steps {q(TIMES)} times as long, because int8 has no"
            f" more of them, and the error is in proportion to the step: {became}. Doubling it"
            f" costs one bit, so {q(TIMES)} times cost two. In the explorer, watch the lines move"
            " apart.",
            "C": f"The grid must reach {q(TIMES)} times as far with the same 255 numbers, so each"
            f" step is {q(TIMES)} times as long, and so is the error of every weight:"
            f" {became}. Two of the eight bits are spent on one weight. With a scale for each"
            f" group of {q(GROUP)}, only its own group pays, and the matrix has"
            f" {_about(grouped, '%')}.",
            "D": f"The square of {q(TIMES)} is what happens to the squared error, Δ²/12: it grows"
            f" {q(TIMES**2)} times. The error itself is its root and grows with the step, from"
            f" {was} to {became}. That is bad enough: two of the eight bits are gone. In the"
            " explorer, raise the outlier and follow the error.",
        },
        where="weights with a normal distribution, rounded to the nearest number",
        act=2,
        after=["act1_rows"],
    )


@lab.asks
def largest_weight(p: Parameters) -> Number:
    return Number(
        f"A new chip has integers of {p.bits} bits, used from −n to n with n = 2^(bits − 1) − 1."
        " A matrix has one scale, its largest weight is on the last number, and hardly any other"
        f" is near. The error may be {p.error_pct:g}% of the standard deviation of the weights."
        " How large may that weight be? Answer in standard deviations, as in 75.",
        "standard deviations",
        points=16,
        low=1,
        high=700,
        hint="The error is the root of Δ²/12, so first find the step that the promise allows. Then"
        " count the steps from zero to the largest weight.",
        worked_example="A format of five bits has fifteen steps to either side of zero. If the"
        f" largest weight is {q(EXAMPLE_REACH)} standard deviations, a step is"
        f" {q(EXAMPLE_REACH / EXAMPLE_STEPS)}, and its error is that over the root of twelve:"
        f" {q(EXAMPLE_REACH / EXAMPLE_STEPS / 12**0.5, '%')}. Twice that error would allow a weight"
        f" of {q(2 * EXAMPLE_REACH)}.",
        title="The largest weight",
        act=2,
        after=["act2_outlier"],
    )


@lab.asks(instead_of="largest_weight")
def lost_error_pct(p: Parameters) -> Number:
    return Number(
        f"A new chip has integers of {p.bits} bits, used from −n to n with n = 2^(bits − 1) − 1."
        " A matrix has one scale, its largest weight is on the last number, and hardly any other"
        f" is near. That weight is {p.reach:g} standard deviations from zero. What is the"
        " error, in percent of the standard deviation of the weights? Answer in percent, as in 75.",
        "percent",
        points=16,
        low=0.004,
        high=100,
        hint="How long is a step, if that many of them reach from zero to the largest weight? The"
        " error is the root of Δ²/12.",
        worked_example="A format of five bits has fifteen steps to either side of zero. If the"
        f" largest weight is {q(EXAMPLE_FAR)} standard deviations, a step is three of them. The"
        " error is that over the root of twelve:"
        f" {q(EXAMPLE_FAR / EXAMPLE_STEPS / 12**0.5, '%')}. Next to nothing is left of the"
        " weights.",
        title="The largest weight",
        act=2,
        after=["act2_outlier"],
    )


@lab.asks
def group_weights(p: Parameters) -> Number:
    return Number(
        f"A model of {p.weights_billion:g} billion weights is stored in 4 bits. Every group keeps"
        " a scale and a zero point beside its weights, 16 bits each. Weights, scales and zero"
        f" points may take {room(p) / 1e9:.3f} GB. What is the smallest group that fits? Answer in"
        " weights, as in 75; a fraction is fine.",
        "weights",
        points=15,
        low=0.005,
        high=2000,
        hint="How many bits may a weight have in all? What the four bits leave is its part of the"
        " scale and the zero point.",
        worked_example="Half a billion weights of three bits may take"
        f" {q(_example_size(), 'B')}: {q(8 * _example_size() / EXAMPLE_WEIGHTS)} bits each. One of"
        " these is for scale and zero point, which have 32 bits together. So"
        f" {q(EXAMPLE_GROUP)} weights must share them.",
        title="Room for scales",
        act=2,
        after=["act2_outlier"],
    )


def _example_size() -> float:
    return float(stored_weights(EXAMPLE_WEIGHTS, EXAMPLE_BITS, EXAMPLE_GROUP).size)


@lab.asks(instead_of="group_weights")
def billion_weights(p: Parameters) -> Number:
    return Number(
        f"Weights are stored in 4 bits, in groups of {p.members}. Every group keeps a scale and a"
        f" zero point beside its weights, 16 bits each. How many billion weights fit into"
        f" {room(p) / 1e9:.3f} GB in all? Answer in billions, as in 75.",
        "billion",
        points=15,
        low=0.5,
        high=200,
        hint="How many bits does a weight have with its part of the scale and the zero point?",
        worked_example=f"In groups of {q(EXAMPLE_GROUP)}, a weight of three bits has a part of"
        f" 32 / {q(EXAMPLE_GROUP)} = {q(32 / EXAMPLE_GROUP)} bit in scale and zero point:"
        f" {q(EXAMPLE_BITS + 32 / EXAMPLE_GROUP)} bits in all. Into {q(_example_size(), 'B')}, or"
        f" {q(8 * _example_size() / 1e9)} billion bits, goes half a billion of them.",
        title="Room for scales",
        act=2,
        after=["act2_outlier"],
    )


@lab.asks
def act2_remedy(p: Parameters) -> Reflection:
    whole, grouped = errors("int4", MATRIX), errors("int4", GROUP)
    held, floating = errors("int8", GROUP, True), errors("fp8", MATRIX, True)
    coarse = errors("int8", MATRIX, True)
    loss = q(INT8_TASK_LOSS.value, "%")
    return Reflection(
        "What would you tell Lena about the fifth model?",
        {
            "A": "Give each group its own scale, so that only one group has long steps",
            "B": "Train it for another week, until its weights look like a bell again",
            "C": "Go to int4, because its few numbers do not have to reach so far",
            "D": "Store the whole model in fp16, since integers cannot hold outliers",
        },
        right="A",
        feedback={
            "A": f"With groups of {q(GROUP)}, the error of int8 is {_about(held, '%')} with the"
            f" outlier or without it, where one scale leaves {_about(coarse, '%')}. fp8 is another"
            f" way: its steps grow with the weights, {_about(floating, '%')} in either case. In"
            f" tests, well-tuned int8 cost models at most {loss} of their scores, and fp8 nothing"
            " (Kurtic et al., ACL 2025).",
            "B": "Its weights are a bell already, except for one, and nobody knows whether another"
            " week would remove that one, or whether the model needs it. What can be changed at"
            f" once is who shares its scale: with groups of {q(GROUP)}, the error of int8 is"
            f" {_about(held, '%')} instead of {_about(coarse, '%')}.",
            "C": "A grid reaches to the largest weight whatever its bits; fewer numbers only lie"
            f" farther apart. Without any outlier, int4 has an error of {_about(whole, '%')} with"
            f" one scale and {_about(grouped, '%')} in groups of {q(GROUP)}. In the explorer,"
            " add the outlier and read the alert.",
            "D": "They can, if it does not stretch the steps of the others. In groups of"
            f" {q(GROUP)} int8 has an error of {_about(held, '%')} in spite of the outlier, and fp8"
            f" {_about(floating, '%')} with a single scale. Twice the bytes would buy what"
            " a few scales give for almost nothing.",
        },
        title="What helps the fifth model?",
        act=2,
        after=["act2_outlier"],
    )


@lab.asks
def act2_math(p: Parameters) -> Peek:
    return Peek(
        {
            "A bit is worth 6 dB": r"A grid with $n = 2^{b-1} - 1$ steps to either side that"
            r" reaches to $r$ has steps of $\Delta = r / n$. A weight lies anywhere between two"
            r" numbers, so its squared error is $\Delta^2 / 12$ on average. One bit more halves"
            r" $\Delta$: $20 \log_{10} 2 = 6.02$ dB.",
            f"int4, groups of {q(GROUP)}": quantization_error(4, GROUP),
            "int8, one scale, with the outlier": quantization_error(
                8, MATRIX, outlier=TIMES * float(block_reach(MATRIX))
            ),
        },
        title="The equations of Act 2",
        act=2,
        after=["act2_outlier"],
    )


@lab.asks
def advice(p: Parameters) -> Essay:
    return Essay(
        "Write to Noor before Monday. For which load would you serve in four bits, and for which"
        " not? What becomes of the bill that Finance has divided by four? What would you do about"
        " the fifth model? Which number would you measure yourself before you believe it?",
        [
            (3, "ties the speed of int4 to the rows, and says where it ends and why"),
            (3, "counts the rest of the step, so that the bill shrinks by less than the bytes"),
            (3, "says what an outlier does to a shared scale, and what helps, with a number"),
            (3, "knows that another kernel or GPU moves the crossing, and says what to measure"),
        ],
        title="Before Monday",
        at_least=100,
        at_most=250,
        after=["act2_outlier"],
    )


@lab.asks
def commitments(p: Parameters) -> Record:
    return Record(["act1_rows", "act2_outlier", "design"], points=14)


@lab.asks
def deeper_kept(p: Parameters) -> Record:
    return Record(["act1_why", "act2_remedy"], points=8)


@lab.asks
def takeaways(p: Parameters) -> Takeaways:
    return Takeaways(
        [
            (
                "Ask how many rows",
                "Fewer bytes help while a product waits for them. How long that is depends on the"
                " kernel, so look for the crossing before you promise a speedup.",
            ),
            (
                "Count the conversion, and the rest of the step",
                "Eight bits are multiplied in eight bits, but somebody has to convert the"
                " activations, and attention stays as it was.",
            ),
            (
                "Each bit that goes doubles the error",
                f"From int8 to int4, steps become {_about(127 / 7)} times as long, and the error"
                " grows with them: not twice, and not four times.",
            ),
            (
                "The largest weight sets the step of all that share its scale",
                "A weight four times as large costs two bits. Groups keep the damage small.",
            ),
        ],
        ahead="Later labs serve in the precision that you saved.",
        after=["largest_weight"],
    )
