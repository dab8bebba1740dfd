"""What lab_11_roofline asks. Students get this file; the keys are in checks.py."""

import json
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from mlsys_widgets.labs import (
    Choice,
    Essay,
    Lab,
    Measurement,
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
from mlsys_widgets.ledger.designs import choice, flag, judged, number, predicted, text
from mlsys_widgets.measured import Case, Point, cases, load, points
from mlsys_widgets.physics import (
    ServingTime,
    decode,
    devices,
    elementwise,
    footprint,
    fusion_strategies,
    gemm,
    kv_cache,
    normalization,
    projection,
    roofline,
    serving_time,
    workloads,
)
from mlsys_widgets.physics import format_quantity as q

A100, H100, H200, ORIN = (devices[key] for key in ("a100-sxm", "h100-sxm", "h200-sxm", "orin-nx"))
LLAMA = workloads["llama31-8b"]

#: Sizes of matrix products that were timed on an H200, each a multiple of its library's tiles.
TIMED = (
    *(512, 576, 640, 768, 896, 1024, 1152, 1280, 1408, 1536, 1664, 1792, 2048, 2176, 2304, 2560),
    *(2816, 2944, 3072, 3328, 4096, 4224, 5120, 7168),
)
#: More of them, which the text speaks about: two that are small, and the largest.
TINY, LITTLE, LARGEST = 128, 192, 8192
#: A product that some texts speak about.
# claims: 15.7%
TOLD = 512
#: Factors that a vendor may offer.
FACTORS = (1.5, 1.7, 2.4, 2.5, 2.6, 2.8, 3.0)

#: Tokens in the cache of the conversation that was decoded on an H200, and what it ran there.
CONTEXT = 2048
DECODED = ("llama31-8b", "h200-sxm", 1, CONTEXT)
#: Sides of products in examples, and tokens of prompts: nobody is asked about these.
SMALL, LARGE = 128, 4096
SHORT = 1024
#: Sequences of a decode step, as the instruments of Act 2 open.
STEP = 8
#: Tokens of a long document that is kept open.
DOCUMENT = 16384
# Worked examples: sizes, rates and memories whose results are nobody's answer.
EXAMPLE_RATE, EXAMPLE_SLOPE, EXAMPLE_GOAL = 150e12, 100e12, 90
EXAMPLE_BEFORE = 50e12
EXAMPLE_N, EXAMPLE_SECONDS = 20000, 2.0
EXAMPLE_RIGHT = 2400
EXAMPLE_TURNS = 1 / (1 / A100.ridge("fp16") - 2 / 1000)
EXAMPLE_TOKENS, EXAMPLE_HEADS = 2000, 12
EXAMPLE_SCORES = 5 * EXAMPLE_HEADS * EXAMPLE_TOKENS**2
EXAMPLE_READ, EXAMPLE_WIDTH = 8000, 1024
EXAMPLE_WORK = 2.0 * EXAMPLE_READ * EXAMPLE_WIDTH**2
EXAMPLE_TENSOR = 2.0 * EXAMPLE_READ * EXAMPLE_WIDTH
EXAMPLE_GPU, EXAMPLE_WEIGHTS, EXAMPLE_TOKEN = 24e9, 6e9, 60e3
EXAMPLE_DOCUMENT, EXAMPLE_TALK = 20000, 5500
EXAMPLE_ROOM = EXAMPLE_GPU - 1.5 * EXAMPLE_WEIGHTS - 2 * EXAMPLE_DOCUMENT * EXAMPLE_TOKEN
#: What a measurement of the student's own machine leaves beside the notebook.
MACHINE = "machine.json"


def from_lab_07(fields: Mapping[str, Any], found: bool) -> str:
    """What the layer of Act 2 takes over from Lab 07, in words."""
    if not found:
        return (
            "No design of Lab 07 was found beside this lab, which is fine: the layer below starts"
            " with separate kernels."
        )
    fused = bool(fields.get("fusion_enabled"))
    kernels = "softmax and layer norm fused" if fused else "separate kernels"
    decided = "fuse element-wise kernels" if fused else "leave element-wise kernels apart"
    said = f"In Lab 07 you decided to {decided}, so the layer below starts with {kernels}."
    intensity = fields.get("arithmetic_intensity")
    if isinstance(intensity, int | float):
        said += (
            f" The chain that you left there does {q(intensity, 'FLOP/B')}. Keep that number in"
            " mind when you see where the ridge of your device is."
        )
    return said


def launch_of_lab_07(fields: Mapping[str, Any], found: bool) -> str:
    """What the decision of Lab 07 means for a served model, in words."""
    if not found:
        return (
            "No design of Lab 07 was found beside this lab, so decide now: “Kernel by kernel” is"
            " eager, and “Replayed as a graph” spares the CPU its launches."
        )
    if fields.get("execution_mode", "eager") == "compiled":
        return (
            "Your design of Lab 07 runs its model compiled. The explorer has no fused kernels; the"
            " closest choice is “Replayed as a graph”, which keeps every kernel but spares the CPU"
            " its launches."
        )
    return (
        "Your design of Lab 07 runs its model eager. In the explorer, that is “Kernel by kernel”."
    )


lab = Lab(
    "lab_11_roofline",
    title="Lab 11: The Roofline",
    question="Which limit does your kernel meet first, and what would you pay to move it?",
    chapter=11,
    acts=(
        "Which wall, and which peak",
        "One kernel to make faster",
        "One token at a time",
        "Your own machine",
    ),
    parameters={
        "reported": Parameter(312, steps(220, 440, 0.1), "TFLOPS", "what the dashboard reports"),
        # At least a fifth more than anybody's rate.
        "goal_pct": Parameter(60, steps(54, 75, 0.5), "%", "fraction of the peak that is wanted"),
        # About half of these lie left of the ridge of an H100 in fp16.
        "n": Parameter(512, steps(448, 1536, 32), "elements", "side of the merged product"),
        # Far left of the ridge, near it, and far right of it.
        "lever_n": Parameter(
            320,
            (*steps(232, 384, 8), *steps(832, 928, 32), *steps(2048, 3264, 64)),
            "elements",
            "side of another team's product",
        ),
        "more_bandwidth": Parameter(2.5, FACTORS, "×", "bandwidth that a vendor offers"),
        "more_peak": Parameter(2.5, FACTORS, "×", "peak that a vendor offers"),
        "measured_n": Parameter(4096, TIMED, "elements", "side of a product timed on an H200"),
        "count": Parameter(600, steps(200, 1000, 2), "products", "such products, in a row"),
        "width": Parameter(4096, steps(2048, 5632, 16), "elements", "width of the next model"),
        "outputs": Parameter(3072, steps(1024, 3072, 64), "elements", "outputs of its projection"),
        "prompts": Parameter(8, steps(4, 20, 1), "prompts", "prompts that are read at once"),
        "sequence": Parameter(2048, steps(1536, 3072, 4), "tokens", "length of a conversation"),
        # The order of three savings turns at 128 and at 456 tokens; none of these is close, and
        # each of the three orders has as many lengths as the others.
        "prompt": Parameter(
            1024,
            (*steps(62, 112, 2), *steps(160, 360, 8), *steps(640, 2240, 64)),
            "tokens",
            "length of a prompt",
        ),
        "documents": Parameter(8, steps(2, 12, 1), "documents", "long documents kept open"),
        # With as many contracts as there can be, each conversation still gets 1,500 tokens.
        "kept": Parameter(64, steps(30, 150, 1), "conversations", "conversations kept beside them"),
        "chat_tokens": Parameter(8192, steps(4096, 16384, 128), "tokens", "context of a chat"),
        # One chat takes 13 ms, and as many as fit 33 to 36 ms; none of these is close, and as many
        # are below, between and above.
        "target_ms": Parameter(
            24,
            (*steps(5, 11, 0.5), *steps(20, 26, 0.5), *steps(42, 60, 1.5)),
            "ms",
            "time that a token may take",
        ),
        "replies": Parameter(16, steps(8, 48, 4), "conversations", "conversations of a job"),
        "millions": Parameter(80, steps(20, 200, 10), "million tokens", "tokens of a job"),
        "price": Parameter(3, steps(2.4, 4.8, 0.2), "$", "price of an H200 for an hour"),
        # Both are sizes of a quick measurement, and too small to set the peak themselves.
        "own_n": Parameter(256, (64, 256), "elements", "side of a product on your machine"),
    },
    # What `mlsys measure` leaves on a student's machine; here, of a small server.
    examples={MACHINE: lambda: json.dumps(load("cpu-2core-server")).encode()},
    materials={"from_lab_07": from_lab_07, "launch_of_lab_07": launch_of_lab_07},
    design={
        "context": choice("where the service runs", "cloud", "edge"),
        "operation": text("the kernel the design is about"),
        "arithmetic_intensity": number("its FLOP per byte", 0),
        "bound_type": choice("what sets its pace", "memory", "compute"),
        "act1_prediction": predicted("what was predicted in the first act"),
        "act1_correct": judged("whether that was right"),
        "act2_result": number(
            "what the roof allows that kernel, in percent of the dense peak", 0, 100
        ),
        "act2_decision": choice("the fusion strategy chosen", "none", "partial", "full"),
        "constraint_hit": flag("whether the design ran out of memory"),
        "mfu_percent": number(
            "what a whole decode step of the service reaches by the textbook, in percent of the"
            " dense peak; 0 if it does not fit",
            0,
            100,
        ),
        "act2_prediction": predicted("what was predicted in the second act", required=False),
        "act2_correct": judged("whether that was right", required=False),
        "act3_prediction": predicted("what was predicted in the third act", required=False),
        "act3_correct": judged("whether that was right", required=False),
        "tokens_per_second": number(
            "what the service generates, by the textbook",
            0,
            none="it does not fit in memory",
            required=False,
        ),
        "launch": choice(
            "how the kernels of a step are launched",
            "eager",
            "graph",
            "undecided",
            required=False,
        ),
    },
    deeper=(
        "side_elements",
        "merged_gain_times",
        "roof_products",
        "act1_remedy",
        "act1_peek",
        "ridge_tokens",
        "act2_why",
        "act2_peek",
        "act3_decode",
        "act3_launch",
        "act3_same",
        "first_limit",
        "job_cost_dollars",
        "act3_token",
        "takeaway_act3",
        "measurement",
        "own_ridge_flop_per_byte",
        "own_share_pct",
        "advice",
        "deeper_kept",
    ),
)


# What was measured, and what follows from it alone, is the same for everybody.


@cache
def timed_product(n: int) -> Point:
    """A square fp16 product on the H200, replayed from a graph so that no launch is in its time."""
    return points("h200-sxm", "fp16", "gemm", variant="graph", m=n, n=n, k=n)[0]


@cache
def timed_batch(n: int) -> Point:
    """Thousands of such products in one call, each with matrices of its own."""
    return points("h200-sxm", "fp16", "batched_gemm", n=n)[0]


@cache
def decode_step(variant: str) -> Case:
    """A decode step of that conversation, ``"eager"`` or replayed from a ``"graph"``."""
    shape = {"phase": "decode", "batch": 1, "sequence": CONTEXT}
    return cases("h200-sxm", kind="serving", precision="fp16", variant=variant, **shape)[0]


@cache
def calibrated_step(launch: str, batch: int = 1, context: int = CONTEXT) -> ServingTime:
    """The same in the calibrated form, launched ``"async"`` or as a ``"graph"``."""
    return serving_time("llama31-8b", "h200-sxm", "decode", batch, context, launch=launch)


def _about(value: float, unit: str = "") -> str:
    """A number in two digits: neither a model nor one run of a GPU knows more."""
    return q(float(f"{value:.2g}"), unit)


def _roof(n: float, precision: str = "fp16", element: float = 2) -> Any:
    """The roof of an H100 over a square product."""
    return roofline(gemm(n, n, n, element).intensity, H100.peak(precision), H100.bandwidth)


# Act 1


@lab.asks
def opening(p: Parameters) -> Message:
    sparse = H100.peak("fp16", sparse=True)
    return Message(
        "Tomás Rivera",
        "Platform engineer",
        "Far below the peak, and stuck",
        f"A tile of my dashboard is red. Our batched products reach {p.reported} TFLOPS on an"
        f" H100. The dashboard divides that by the {q(sparse, 'FLOP/s')} of the datasheet and shows"
        f" {q(p.reported * 1e12 / sparse, '%')}.\n\n"
        "Two engineers spent three weeks on the inner loop. Every version runs fewer"
        " instructions, and none is faster. A launch multiplies thousands of pairs of small square"
        " fp16 matrices, each pair on its own and nothing pruned.\n\n"
        "On Friday I have to tell our director what my engineers are up against.",
        task="Find out what holds these products back, and whether the dashboard is right.",
        in_context={
            "cloud": f"This is on the {H100.name} of our cluster.",
            "edge": f"The camera team runs the same batches on a {ORIN.name}.",
        },
        act=1,
    )


@lab.asks
def act1_wall(p: Parameters) -> Prediction:
    small, large = _roof(SMALL), _roof(LARGE)
    ridge = q(small.ridge, "FLOP/B")
    few, many = (q(each.intensity, "FLOP/B") for each in (small, large))
    rates = [q(each.attainable, "FLOP/s") for each in (small, large)]
    alone, batch = timed_product(LITTLE), timed_batch(LITTLE)
    return Prediction(
        "Why have three weeks of work on the arithmetic changed nothing?",
        {
            "A": "The code: arithmetic limits a product, so a better loop exists",
            "B": "The schedule: too few products run at once to fill the chip",
            "C": "The memory: each byte brings too few FLOP for the chip",
            "D": "The chip: no product gets more of the peak out of an H100",
        },
        title="Which wall?",
        answer="C",
        feedback={
            "A": "This assumes that a matrix product always has enough arithmetic to keep the chip"
            f" busy. That depends on its size: with N = {SMALL}, smaller than Tomás's, an fp16"
            f" product does {few}, while an H100 needs {ridge} before arithmetic becomes the"
            " limit.",
            "B": "That is what holds back a small product on its own: one of N ="
            f" {LITTLE} was timed on an H200 at {q(alone.attained, 'FLOP/s')}. But thousands in a"
            f" launch give every unit something to do, at {q(batch.attained, 'FLOP/s')}. Each"
            f" still does only {q(alone.intensity, 'FLOP/B')}, left of the H200's ridge at"
            f" {q(H200.ridge('fp16'), 'FLOP/B')}.",
            "C": f"Take fp16 squares of N = {SMALL}, smaller than Tomás's: each does {few}. The"
            " H100 balances"
            f" {q(H100.peak('fp16'), 'FLOP/s')} against {q(H100.bandwidth, 'B/s')} at {ridge}, its"
            " ridge. Left of it, the rate is bandwidth times intensity:"
            f" {q(H100.bandwidth, 'B/s')} × {few} = {rates[0]}. Arithmetic does not"
            " appear in it.",
            "D": "If the chip set this limit, every product would meet it. But the roof of the same"
            f" H100 is {rates[1]} over products of N = {LARGE:,}, because {many} lie right of"
            f" the ridge at {ridge}, and only {rates[0]} over those of N = {SMALL}, at {few}.",
        },
        act=1,
    )


#: How both questions about the dashboard begin.
TWO_PEAKS = (
    "The dashboard picked one of two fp16 peaks of an H100. Find both in the roofline (*2:4"
    " sparsity* is behind *More*)."
)


def _dense_products() -> str:
    """How the worked examples of both begin."""
    return (
        f"Products of dense fp16 matrices reach {q(EXAMPLE_RATE, 'FLOP/s')} on an {A100.name}. Its"
        f" datasheet has {q(A100.peak('fp16'), 'FLOP/s')}, and"
        f" {q(A100.peak('fp16', sparse=True), 'FLOP/s')} with 2:4 sparsity. The second needs two"
        " zeros among every four weights, and these have none, so only the first can be used:"
    )


@lab.asks
def dense_share_pct(p: Parameters) -> Number:
    return Number(
        f"{TWO_PEAKS} {p.reported} TFLOPS is what percentage of the peak that these products could"
        " use? Answer as in 62.5.",
        "percent",
        points=5,
        low=1,
        high=1000,
        hint="Switch 2:4 sparsity off and read the flat roof: that is the peak of dense work. Then"
        " divide the rate by it.",
        worked_example=f"{_dense_products()} {q(EXAMPLE_RATE, 'FLOP/s')} are"
        f" {q(EXAMPLE_RATE / A100.peak('fp16'), '%')} of it.",
        title="The right peak",
        act=1,
        after=["act1_wall"],
    )


@lab.asks(instead_of="dense_share_pct")
def goal_gain_times(p: Parameters) -> Number:
    return Number(
        f"{TWO_PEAKS} Tomás's director wants **{p.goal_pct}%** of the peak that these products"
        f" could use. How many times the present {p.reported} TFLOPS is that? Answer with a factor,"
        " as in 7.5.",
        "times",
        points=5,
        low=0.1,
        high=100,
        hint="Switch 2:4 sparsity off and read the flat roof: that is the peak of dense work. Take"
        " the percentage of it, then compare.",
        worked_example=f"{_dense_products()} {EXAMPLE_GOAL}% of it are"
        f" {q(EXAMPLE_GOAL / 100 * A100.peak('fp16'), 'FLOP/s')}, and"
        f" that is {q(EXAMPLE_GOAL / 100 * A100.peak('fp16') / EXAMPLE_RATE, '×')} the rate.",
        title="The right peak",
        act=1,
        after=["act1_wall"],
    )


@lab.asks
def side_elements(p: Parameters) -> Number:
    return Number(
        f"Suppose the kernel is as good as it can be: at {p.reported} TFLOPS it lies exactly on the"
        " roof of the H100. A batch has the intensity of each of its products, because each brings"
        " three matrices of its own. What is the side N of these square fp16 matrices? Answer in"
        " elements, as in 750.",
        "elements",
        points=7,
        low=10,
        high=10000,
        hint="On the slope, the rate is bandwidth times intensity: solve for the intensity first."
        " Then count FLOP and bytes of one product to see which N has it.",
        worked_example=f"On an {A100.name}, {q(EXAMPLE_SLOPE, 'FLOP/s')} lie on the slope. Divided"
        f" by {q(A100.bandwidth, 'B/s')}, they are {q(EXAMPLE_SLOPE / A100.bandwidth, 'FLOP/B')}. A"
        " square fp16 product does 2N³ FLOP and moves three matrices of 2N² bytes, which is N / 3"
        f" FLOP per byte, so N is {q(3 * EXAMPLE_SLOPE / A100.bandwidth)}.",
        title="What size is that?",
        act=1,
        after=["act1_wall"],
    )


@lab.asks
def merged_gain_times(p: Parameters) -> Number:
    return Number(
        f"Tomás can merge his products into larger squares of N = {p.n:,}, still in fp16, in"
        f" batches, and at the roof of the H100. How many times the present {p.reported} TFLOPS do"
        " they reach? Answer with a factor, as in 7.5.",
        "times",
        points=7,
        low=0.1,
        high=1000,
        hint="Compute the intensity at the new N and compare it with the ridge: that tells you"
        " which part of the roof is above the merged products.",
        worked_example=f"Products reach {q(EXAMPLE_BEFORE, 'FLOP/s')} on an {A100.name}. Merged"
        " into squares of N = 3,000, they have N / 3 FLOP per byte, or"
        f" {q(3000 / 3, 'FLOP/B')}. That is right of the ridge at"
        f" {q(A100.ridge('fp16'), 'FLOP/B')}, so the flat roof is above them:"
        f" {q(A100.peak('fp16'), 'FLOP/s')}, or {q(A100.peak('fp16') / EXAMPLE_BEFORE, '×')} the"
        " rate.",
        title="What merging buys",
        act=1,
        after=["act1_wall"],
    )


@lab.asks
def best_lever(p: Parameters) -> Choice:
    return Choice(
        f"Another team's products have N = {p.lever_n:,}, in fp16 on an H100 and at their roof."
        " Which offer makes them the fastest?",
        {
            "bandwidth": f"a chip with {q(p.more_bandwidth, '×')} the bandwidth",
            "peak": f"a chip with {q(p.more_peak, '×')} the peak",
            "int8": "the same chip, with products in int8",
        },
        points=3,
        worked_example=f"On an {A100.name}, products with N = {EXAMPLE_RIGHT:,} have N / 3, or"
        f" {q(EXAMPLE_RIGHT / 3, 'FLOP/B')}. The ridge is at {q(A100.ridge('fp16'), 'FLOP/B')}, so"
        " they are right of it, and more bandwidth changes nothing. Three times the peak puts the"
        f" ridge at {q(3 * A100.ridge('fp16'), 'FLOP/B')}: they are still right of it, and three"
        f" times as fast. The int8 peak is {q(A100.peak('int8') / A100.peak('fp16'), '×')} the fp16"
        " peak, so int8 makes them as much faster, and the higher peak wins.",
        title="One lever",
        act=1,
        after=["act1_wall"],
    )


@lab.asks
def act1_real(p: Parameters) -> Prediction:
    largest = timed_product(LARGEST)
    peak = H200.peak("fp16")
    reached = largest.attained / peak
    shares = {"A": 0.95, "B": 0.8, "C": 0.65, "D": 0.35}
    rate, share = q(largest.attained, "FLOP/s"), q(reached, "%")
    small = timed_product(LITTLE)
    return Prediction(
        f"The largest fp16 product that we timed on an H200, in a good library, has N = {LARGEST:,}"
        " and lies far right of the ridge. What fraction of the dense peak did it reach?",
        {key: f"about {q(each, '%')}" for key, each in shares.items()},
        values=shares,
        unit="%",
        quantity="mfu",
        settings={"device": "h200-sxm", "precision": "fp16", "workload": "gemm", "n": LARGEST},
        title="How close is a real product?",
        answer=min(shares, key=lambda key: abs(shares[key] - reached)),
        feedback={
            "A": "This takes the roof for a forecast, but it is a bound. The timed product"
            f" reached {rate}, {share} of {q(peak, 'FLOP/s')}. A peak is stated at a clock rate"
            " that a chip may not hold while all of its units work.",
            "B": "This assumes a chip that holds its stated clock rate while all of its units work."
            f" This one did not: it reached {rate}, {share} of {q(peak, 'FLOP/s')}. The"
            " measured rates level off below the roof.",
            "C": f"The timed product reached {rate}, {share} of {q(peak, 'FLOP/s')}, although no"
            " byte keeps it waiting. A peak is stated at a clock rate that a chip may not hold"
            " while all of its units work. A roof says what cannot be exceeded, and a stopwatch"
            " what happens.",
            "D": "A small product is far down when it runs alone, because starting it takes time"
            f" and it fills only a part of the chip: N = {LITTLE} was timed at"
            f" {q(small.attained / peak, '%')} of the peak. This one is large enough to hide"
            f" that, and reached {rate}, {share}.",
        },
        where="one H200, this project's own measurement",
        act=1,
        after=["act1_wall"],
    )


@lab.asks
def roof_products(p: Parameters) -> Number:
    timed = timed_product(p.measured_n)
    return Number(
        f"On that H200, an fp16 product of N = {p.measured_n:,} took {q(timed.seconds, 's')}, the"
        " median of many runs. The H200 has the peaks of an H100 and"
        f" {q(H200.bandwidth, 'B/s')}. In the time that {q(p.count)} such products take, one"
        " after another, how many would their roof allow? Answer in products, as in 75,000.",
        "products",
        points=7,
        low=1,
        high=100000,
        hint="Operations over time is the rate that was reached. Then find out whether the slope or"
        " the flat roof is above this product, and how many times that rate it is.",
        worked_example=f"On a {ORIN.name} a product of N = {EXAMPLE_N:,} has 2N³ ="
        f" {q(2 * EXAMPLE_N**3, 'FLOP')}. It takes {q(EXAMPLE_SECONDS, 's')}, so it reaches"
        f" {q(2 * EXAMPLE_N**3 / EXAMPLE_SECONDS, 'FLOP/s')}. So large a product lies right of the"
        f" ridge, and its roof is {q(ORIN.peak('fp16'), 'FLOP/s')}. While forty of them run, the"
        f" roof allows {q(40 * ORIN.peak('fp16') * EXAMPLE_SECONDS / (2 * EXAMPLE_N**3))}.",
        title="From a stopwatch to the roof",
        act=1,
        after=["act1_real"],
    )


@lab.asks
def act1_remedy(p: Parameters) -> Reflection:
    half, byte = _roof(SMALL), _roof(SMALL, "int8", 1)
    less = _roof(SMALL // 2)
    return Reflection(
        "What raises the fraction of the peak that a memory-bound kernel can reach?",
        {
            "A": "a higher clock rate, so that each step of the arithmetic takes less time",
            "B": "larger matrices or tiles, so that each arriving byte serves more FLOP",
            "C": "a lower precision, so that each number that arrives has fewer bytes",
            "D": "a GPU with more memory, so that more of the matrices are close at hand",
        },
        right="B",
        feedback={
            "A": "A faster clock raises the peak, and the units wait for data already: a product of"
            f" N = {SMALL} may use {q(half.mfu, '%')} of the H100's peak. With twice the peak it"
            f" would still get {q(half.attainable, 'FLOP/s')}, half of that fraction. Try it with"
            " the slider *Peak (what if)* behind *More*.",
            "B": "More FLOP for each byte move the kernel to the right, up the slope. From N ="
            f" {SMALL // 2} to {SMALL} the intensity doubles, from {q(less.intensity, 'FLOP/B')} to"
            f" {q(half.intensity, 'FLOP/B')}, and so does the fraction of the peak, from"
            f" {q(less.mfu, '%')} to {q(half.mfu, '%')}. This goes on up to the ridge. Libraries"
            " tile their products, and FlashAttention its blocks, for this very reason.",
            "C": f"It does make the kernel faster: in int8 the product of N = {SMALL} climbs from"
            f" {q(half.intensity, 'FLOP/B')} to {q(byte.intensity, 'FLOP/B')}, and its rate"
            " doubles. But the peak doubles too, and the ridge moves from"
            f" {q(half.ridge, 'FLOP/B')} to {q(byte.ridge, 'FLOP/B')}. The fraction stays"
            f" where it was, at about {q(half.mfu, '%')}. Switch the precision and compare"
            " both cards.",
            "D": f"Capacity is how much fits; the wall is how fast it arrives. An H200 has"
            f" {q(H200.memory, 'B')} in place of {q(H100.memory, 'B')}, and if its memory were no"
            f" faster, the product of N = {SMALL} would still get"
            f" {q(half.attainable, 'FLOP/s')}. What helps is its {q(H200.bandwidth, 'B/s')}. Switch"
            " the device and see.",
        },
        title="What would you tell Tomás?",
        act=1,
        after=["act1_real"],
    )


@lab.asks
def act1_peek(p: Parameters) -> Peek:
    ridge = H100.ridge("fp16")
    corner = round(ridge / gemm(1, 1, 1).intensity)
    rows = []
    for n in (SMALL, corner, LARGE, LARGEST):
        over = _roof(n)
        where = "at the ridge" if n == corner else over.regime
        rows.append(f"| {n:,} | {q(over.intensity, 'FLOP/B')} | {where} | {q(over.mfu, '%')} |")
    table = "| N | intensity | on an H100, fp16 | MFU at the roof |\n|---|---|---|---|\n"
    tiny, little = (timed_product(n) for n in (TINY, LITTLE))
    batch = timed_batch(LITTLE)
    roof = roofline(little.intensity, H200.peak("fp16"), H200.bandwidth).attainable
    return Peek(
        {
            "The roof": r"$\text{attainable}(I) = \min(P,\; B \cdot I)$, and the two meet at the"
            r" ridge $I^* = P / B$. A square product has $I = \frac{2N^3}{3N^2 b} ="
            r" \frac{2N}{3b}$: it grows with N, and with fewer bytes $b$ for each element. So it"
            r" lies at the ridge when $N^* = \frac{3b}{2} I^*$.",
            "Model FLOP utilization": r"$\text{MFU} = \text{rate} / P$, with the peak $P$ that the"
            r" work could use. Left of the ridge it is at most $B \cdot I / P = I / I^*$.",
            "Ridges by architecture and format": f"Hopper, the {H100.name}: {q(ridge, 'FLOP/B')} in"
            f" fp16 and bf16, {q(H100.ridge('tf32'), 'FLOP/B')} in tf32,"
            f" {q(H100.ridge('fp8'), 'FLOP/B')} in fp8 and int8, and"
            f" {q(H100.ridge('fp32'), 'FLOP/B')} in fp32, which has no tensor cores. With 2:4"
            f" sparsity, fp16 needs {q(H100.ridge('fp16', sparse=True), 'FLOP/B')}. Ampere:"
            f" {q(A100.ridge('fp16'), 'FLOP/B')} for an {A100.name},"
            f" {q(ORIN.ridge('fp16'), 'FLOP/B')} for a {ORIN.name}, both in fp16.",
            "What some texts say instead": "They call the ridge of the Orin NX “about 10”; derive a"
            f" ridge, do not remember it. They let a product of N = {TOLD} run at 15.7% of the peak"
            f" of an H100; its roof is at {q(_roof(TOLD).mfu, '%')}. And they say that a lower"
            " precision leaves the intensity of a product alone: with half the bytes it doubles,"
            " and the ridge moves along.",
            "Sizes": table + "\n".join(rows),
            f"A product with N = {SMALL}": _roof(SMALL),
            "One small product, alone": "A roof is for a chip that is full. On an H200, a product"
            f" of N = {LITTLE} that ran alone was timed at {q(little.seconds, 's')}, which is"
            f" {q(little.attained, 'FLOP/s')} or {q(little.attained / roof, '%')} of its"
            f" roof of {q(roof, 'FLOP/s')}. Its result is cut into so few tiles that most"
            " multiprocessors get none, and a kernel takes microseconds to start and to end,"
            f" whatever it computes: N = {TINY} has {q((LITTLE / TINY) ** 3, '×')} less to do"
            f" and took {q(tiny.seconds, 's')}. In a batch every multiprocessor has work and the"
            f" start is paid once: {q(batch.shape['batch'])} products of N = {LITTLE} in one call"
            f" were timed at {q(batch.attained, 'FLOP/s')},"
            f" {q(batch.attained / roof, '%')} of the same roof. It is the batch that the"
            " roof speaks of.",
        },
        title="The equations of Act 1",
        act=1,
        after=["act1_wall"],
    )


# Act 2


@lab.asks
def service_message(p: Parameters) -> Message:
    return Message(
        "Noor Haddad",
        "Head of ML infrastructure",
        "Money for one kernel",
        f"Next month we start serving {LLAMA.name}. Its layers have three kinds of kernels:"
        " projections (matrix products), layer norm, and softmax over the attention scores. I can"
        " pay for making **one** of them faster. Half of my team says projections, because they do"
        " nearly all of the FLOP. The other half wants to fuse the small kernels.\n\n"
        f"Sales has promised a law firm that one H100 keeps {p.documents} of its contracts,"
        f" {DOCUMENT:,} tokens each, in memory all day, alongside conversations. I sign the budget"
        " on Thursday.",
        task="Say which kernel to pay for, and what fits beside the contracts.",
        in_context={
            "cloud": f"We serve from the {H100.name}: {q(H100.memory, 'B')}, and in fp16 a ridge at"
            f" {q(H100.ridge('fp16'), 'FLOP/B')}.",
            "edge": f"The camera team has a {ORIN.name}: {q(ORIN.memory, 'B')}, and in fp16 a ridge"
            f" at {q(ORIN.ridge('fp16'), 'FLOP/B')}.",
        },
        act=2,
        after=["act1_real"],
    )


@lab.asks
def act2_kernels(p: Parameters) -> Prediction:
    step, prompt = (projection(tokens, 1, LLAMA.width) for tokens in (STEP, LARGE))
    few, many = (q(each.intensity, "FLOP/B") for each in (step, prompt))
    apart, partly, fused = (
        q(elementwise(1, traffic_share=each.traffic_share).intensity, "FLOP/B")
        for each in fusion_strategies.values()
    )
    norm, ridge = f"{apart} as separate kernels", q(H100.ridge("fp16"), "FLOP/B")
    return Prediction(
        "Which of the three kernels wait for memory on an H100?",
        {
            "A": "None that matters: the matrix products are what takes the time",
            "B": "Softmax and layer norm always; the projection only while tokens are few",
            "C": "All three alike: a layer reads and writes tensors of about one size",
            "D": "The projection always; softmax and layer norm only while tokens are few",
        },
        title="Three kernels, one roof",
        answer="B",
        feedback={
            "A": "Projections may well take most of the time, but over a long prompt they do not"
            " wait for memory. Layer norm and softmax do"
            f" {norm}, and at most {fused} fused, far left of the ridge at {ridge}. With"
            f" {q(STEP)} tokens the projection waits as well: {few}.",
            "B": f"Layer norm and softmax do {norm}, and between {partly} and {fused} fused,"
            f" whatever the batch. A projection uses each weight once per token: {q(STEP)} tokens"
            f" leave it at {few}, {LARGE:,} bring it to {many}, right of the ridge at {ridge}.",
            "C": "Equal tensors do not make equal intensities. A weight is used for every token,"
            f" so a projection of {LARGE:,} tokens does {many}. An attention score is used once:"
            f" softmax and layer norm do {norm}, three orders of magnitude less.",
            "D": f"A projection has many weights, but uses each for every token: {q(STEP)} tokens"
            f" leave the projection at {few}, {LARGE:,} bring it to {many}. Layer norm and softmax"
            f" get new data with every token, so they do {norm} at any length, far left of the"
            f" ridge at {ridge}.",
        },
        act=2,
        after=["act1_real"],
    )


@lab.asks
def ridge_tokens(p: Parameters) -> Number:
    return Number(
        "A projection multiplies the activations of all tokens in flight, [tokens, D], by weights"
        f" [D, F]. In the next model D = {p.width:,} and F = {p.outputs:,}, in fp16. How many"
        " tokens does it take to make this projection compute-bound on an H100? Answer in tokens,"
        " as in 1,500.",
        "tokens",
        points=7,
        low=10,
        high=10000,
        hint="Write down the FLOP and the bytes of T tokens (weights, activations, results), divide"
        " one by the other, and set the quotient equal to the ridge.",
        worked_example=f"An {A100.name} has its ridge at {q(A100.ridge('fp16'), 'FLOP/B')}. With D"
        " = F = 1,000 in fp16, T tokens do 2,000,000 T FLOP. The weights are 2,000,000 bytes,"
        " activations and results 2,000 T bytes each. Divided, that is 1,000 T / (1,000 + 2 T). It"
        f" reaches the ridge when (1,000 − 2 × {q(A100.ridge('fp16'))}) T ="
        f" {q(1000 * A100.ridge('fp16'))}, at {q(round(EXAMPLE_TURNS))} tokens.",
        title="When a projection turns",
        act=2,
        after=["act2_kernels"],
    )


@lab.asks
def softmax_saved_ms(p: Parameters) -> Number:
    left = fusion_strategies["full"].crossings
    return Number(
        f"Reading {p.prompts} prompts of {p.sequence:,} tokens at once, a layer takes the softmax"
        f" of all {q(LLAMA.heads)} heads' fp16 scores, every token against every token of its own"
        " prompt."
        f" Unfused, each score crosses memory {q(normalization.passes)} times (two reads, one"
        f" write). *All elementwise kernels fused* leaves {q(left)} crossing, the write,"
        " because the scores are handed over on the chip. At the"
        f" {q(H100.bandwidth, 'B/s')} of an H100, how much time does fusing save in one layer?"
        " Answer in milliseconds, as in 15 ms.",
        "ms",
        points=8,
        low=0.01,
        high=500,
        hint="Count the scores first: prompts, heads, and tokens squared. Then the bytes that no"
        " longer cross memory, over the bandwidth.",
        worked_example=f"Five prompts of {EXAMPLE_TOKENS:,} tokens on a {ORIN.name}, in a model"
        f" with {EXAMPLE_HEADS} heads: five times {EXAMPLE_HEADS} times {EXAMPLE_TOKENS:,}² are"
        f" {EXAMPLE_SCORES / 1e6:g} million scores, or {q(2 * EXAMPLE_SCORES, 'B')} in fp16. Two of"
        f" three crossings are gone, so {q(4 * EXAMPLE_SCORES, 'B')} are no longer moved. At"
        f" {q(ORIN.bandwidth, 'B/s')}, that saves {q(4 * EXAMPLE_SCORES / ORIN.bandwidth, 's')}.",
        title="What fusing saves",
        act=2,
        after=["act2_kernels"],
    )


@lab.asks
def kernel_to_fund(p: Parameters) -> Choice:
    left, width = fusion_strategies["full"].traffic_share, q(LLAMA.width)
    return Choice(
        f"Noor's second service reads {p.prompts} prompts of {p.prompt:,} tokens at once on an"
        f" H100. Offers for one layer of {LLAMA.name}, all kernels at their roof: run one"
        f" projection ({width} × {width} weights) in int8 instead of fp16; fuse one layer norm"
        f" ({width} elements per token); or fuse softmax. Fusing leaves"
        f" {q(left, '%')} of a kernel's traffic. Rank them by the time they save, most first.",
        {
            "spn": "softmax, projection, layer norm",
            "psn": "projection, softmax, layer norm",
            "pns": "projection, layer norm, softmax",
        },
        points=3,
        worked_example=f"An {H200.name} reads {EXAMPLE_READ:,} tokens at once in a model of width"
        f" {EXAMPLE_WIDTH:,}. One projection is {q(EXAMPLE_WORK, 'FLOP')} and compute-bound:"
        f" {q(EXAMPLE_WORK / H200.peak('fp16'), 's')} at the peak, of which int8 saves half,"
        f" {q(EXAMPLE_WORK / H200.peak('fp16') / 2, 's')}. A layer norm has a tensor of"
        f" {q(EXAMPLE_TENSOR, 'B')}. Fusing spares two crossings of it, which is"
        f" {q(2 * EXAMPLE_TENSOR / H200.bandwidth, 's')}. For softmax, do the same with its own"
        " tensor.",
        title="Noor's money",
        act=2,
        after=["act2_kernels"],
    )


def _always_there(p: Parameters) -> str:
    """What is in the memory of the H100 before the first conversation."""
    return (
        f"An H100 serves {LLAMA.name} in fp16, with grouped-query attention."
        f" {p.documents} contracts of {DOCUMENT:,} tokens stay in its KV cache all day."
        f" Activations take {q(LLAMA.activation_share, '%')} of the bytes of the weights."
    )


def _small_service() -> str:
    """What the examples of both questions begin with."""
    return (
        f"A GPU of {q(EXAMPLE_GPU, 'B')} serves a smaller model in fp16:"
        f" {q(EXAMPLE_WEIGHTS, 'B')} of weights, and half of that for activations. Two documents of"
        f" {EXAMPLE_DOCUMENT:,} tokens, at {q(EXAMPLE_TOKEN, 'B')} of keys and values per token,"
        f" take {q(2 * EXAMPLE_DOCUMENT * EXAMPLE_TOKEN, 'B')}."
    )


@lab.asks
def beside_conversations(p: Parameters) -> Number:
    return Number(
        f"{_always_there(p)} How many conversations of {p.sequence:,} tokens fit beside all that?"
        " Answer with a whole number, as in 750.",
        "conversations",
        points=7,
        low=3,
        high=5000,
        whole=True,
        hint="Start from the memory of the device and take away what is always there. Then divide"
        " by the cache of one conversation (*Cache of one token*, times its tokens), and round"
        " down.",
        worked_example=f"{_small_service()} Of the other {q(EXAMPLE_ROOM, 'B')}, a conversation of"
        f" {EXAMPLE_TALK:,} tokens takes {q(EXAMPLE_TALK * EXAMPLE_TOKEN, 'B')}, so"
        f" {EXAMPLE_ROOM // (EXAMPLE_TALK * EXAMPLE_TOKEN):.0f} fit, and no fraction of one.",
        title="Beside the contracts",
        act=2,
        after=["act2_kernels"],
    )


@lab.asks(instead_of="beside_conversations")
def conversation_tokens(p: Parameters) -> Number:
    return Number(
        f"{_always_there(p)} Beside all that, {p.kept} conversations of equal length must fit. How"
        " many tokens may each of them have at most? Answer with a whole number, as in 750.",
        "tokens",
        points=7,
        low=50,
        high=1000000,
        whole=True,
        hint="Start from the memory of the device and take away what is always there. Then divide"
        " by the conversations, and by *Cache of one token*.",
        worked_example=f"{_small_service()} Ten conversations share the other"
        f" {q(EXAMPLE_ROOM, 'B')}: {q(EXAMPLE_ROOM / 10, 'B')} for each of them, or"
        f" {EXAMPLE_ROOM / 10 / EXAMPLE_TOKEN:,.0f} tokens.",
        title="Beside the contracts",
        act=2,
        after=["act2_kernels"],
    )


@lab.asks
def act2_why(p: Parameters) -> Reflection:
    # In crossings, because bytes would give away what fusing saves.
    apart = elementwise(LLAMA.heads * SHORT**2)
    left = fusion_strategies["full"].crossings
    moved = f"{q(normalization.passes)} crossings to {q(left)}"
    return Reflection(
        "Why does fusing make element-wise kernels faster?",
        {
            "A": "It removes arithmetic: what two kernels both compute is done only once",
            "B": "It removes trips through memory: data is loaded once and used by all",
            "C": "It removes instructions: a shorter program lets the chip clock higher",
            "D": "It removes rounding: without it, a lower precision is accurate enough",
        },
        right="B",
        feedback={
            "A": f"Every operation is still done. For one prompt of {SHORT:,} tokens, softmax does"
            f" {q(apart.flops, 'FLOP')} before and after fusing; what shrinks is the traffic, from"
            f" {moved} of each score. In *Numbers as a table*, switch the fusion and compare the"
            " columns Operations and Data.",
            "B": "Apart, every kernel writes its result to memory and the next one reads it back;"
            " fused, the data stays on the chip between them. Full fusion takes softmax from"
            f" {moved} of each score, with the same {q(apart.flops, 'FLOP')} for {SHORT:,} tokens."
            " FlashAttention goes further and never writes the scores; its authors report 2 to 4×,"
            " not the 24× often repeated.",
            "C": "The clock does not know what is fused, and these kernels wait for data in every"
            f" cycle anyway: {q(apart.intensity, 'FLOP/B')}, where the H100 could do"
            f" {q(H100.ridge('fp16'), 'FLOP/B')}. Fewer launches do help, as in Lab 07, but look at"
            f" the data: fusing takes softmax from {moved} of each score.",
            "D": "Precision is a separate choice: one can fuse in fp32 as well as in int8. At the"
            f" same fp16, fusing takes softmax from {moved} of each score."
            " In the roofline, switch the fusion and leave the precision alone: the points move to"
            " the right.",
        },
        title="Why fuse?",
        act=2,
        after=["act2_kernels"],
    )


@lab.asks
def act2_peek(p: Parameters) -> Peek:
    # Sizes that nobody is asked about.
    few, many = (projection(tokens, 1, LLAMA.width) for tokens in (1, LARGE))
    caches = (kv_cache(LLAMA, 16, 1024), kv_cache(LLAMA, 16, 1024, kv_heads=LLAMA.heads))
    kept = footprint(LLAMA, "h100-sxm", batch=1, sequence=1024)
    return Peek(
        {
            "Projection": r"$W = 2\,T D^2$ and $Q = b\,(2TD + D^2)$ for $T$ tokens: with few tokens"
            f" the weights are all that moves. One token: {q(few.intensity, 'FLOP/B')};"
            f" {q(many.batch)} tokens: {q(many.intensity, 'FLOP/B')}, for D = {q(LLAMA.width)}.",
            "Layer norm and softmax": elementwise(1e6),
            "Fusing K kernels": r"Apart, a tensor of $s$ bytes crosses memory $2K$ times; fused,"
            r" twice, or once if the neighbor hands it over on the chip. (A norm in one kernel"
            r" counts like any other; as separate steps it is read a second time, for its"
            r" statistics.) While memory sets the pace, the speedup is at most"
            r" $K$, and on-chip memory must hold what is passed on.",
            "KV cache": r"$2 \cdot \text{batch} \cdot S \cdot H_{kv} \cdot d \cdot L \cdot b$."
            f" For 16 sequences of 1,024 tokens: {q(caches[0], 'B')} with {q(LLAMA.kv_heads)} KV"
            f" heads, {q(caches[1], 'B')} if each of the {q(LLAMA.heads)} heads kept its own, as"
            " some texts have it.",
            "Everything that is kept, for one sequence": kept,
        },
        title="The equations of Act 2",
        act=2,
        after=["act2_kernels"],
    )


# Act 3


@lab.asks
def act3_decode(p: Parameters) -> Prediction:
    took = decode_step("eager").seconds.median
    replayed = decode_step("graph").seconds.median
    textbook = decode(*DECODED).time
    rates = {"A": 600.0, "B": 300.0, "C": 170.0, "D": 70.0}
    return Prediction(
        f"One conversation of {CONTEXT:,} tokens, {LLAMA.name} in fp16, on a real H200. The program"
        " launches the kernels of every step one by one, as PyTorch does unless it is told"
        " otherwise. How many tokens per second does the conversation get?",
        {key: f"about {q(rate)}" for key, rate in rates.items()},
        values=rates,
        unit="tokens/s",
        quantity="tokens_per_second",
        settings={
            "device": "h200-sxm",
            "precision": "fp16",
            "launch": "async",
            "batch": 1,
            "sequence": CONTEXT,
        },
        title="How fast does one conversation run?",
        answer=min(rates, key=lambda key: abs(math.log(rates[key] * took))),
        feedback={
            "A": "That is more than memory allows. All weights cross it for every token, and one"
            f" conversation has nobody to share the trip with: {_about(LLAMA.parameters * 2, 'B')}"
            f" at {q(H200.bandwidth, 'B/s')}, with the cache, make {_about(textbook, 's')} per"
            f" token by the textbook. The measured step took {_about(took, 's')}. In the explorer,"
            " find out what the bar for batch 1 is made of.",
            "B": f"That is the textbook: all weights and the cache over {q(H200.bandwidth, 'B/s')},"
            f" {_about(textbook, 's')} per token. It assumes that every byte arrives at the rate of"
            " the datasheet, and that no kernel waits for anything but memory. The measured step"
            f" took {_about(took, 's')}. In the explorer, switch between *Textbook* and"
            " *Calibrated*: what is new in the bar for batch 1?",
            "C": "You allowed for kernels that miss the bandwidth of the datasheet, and they do:"
            f" run one after the other without a gap, they were measured at {_about(replayed, 's')}"
            f" per token, not the textbook's {_about(textbook, 's')}. But launched one by one they"
            f" took {_about(took, 's')}. In the explorer, look at what fills the rest of the bar"
            " for batch 1.",
            "D": f"The measured step took {_about(took, 's')}, although the textbook needs only"
            f" {_about(textbook, 's')} to move all weights. So memory is idle for most of the step."
            " In the explorer, find out what the bar for batch 1 is made of. Then raise the batch:"
            " why do the first dozens of conversations cost almost no time?",
        },
        where="one H200, PyTorch, median of several steps",
        act=3,
        after=["act2_kernels"],
    )


@lab.asks
def act3_launch(p: Parameters) -> Reflection:
    took, replayed = (decode_step(variant).seconds.median for variant in ("eager", "graph"))
    step = calibrated_step("async")
    textbook = decode(*DECODED)
    arithmetic = 2 * LLAMA.parameters / H200.peak("fp16")
    return Reflection(
        f"A step of {_about(took, 's')} was measured where the textbook says"
        f" {_about(textbook.time, 's')}. What accounts for most of the difference?",
        {
            "A": "memory: real streams stay below the bandwidth of the datasheet",
            "B": "the CPU: it launches kernels one by one, and the GPU waits",
            "C": "attention: the new token looks at all tokens of the conversation",
            "D": "arithmetic: every one of the parameters is used once for each token",
        },
        right="B",
        # The next message takes the answer for granted.
        opens="right",
        feedback={
            "A": "That is a part of it: with nobody to wait for, the same kernels were measured at"
            f" {_about(replayed, 's')} per step instead of {_about(textbook.time, 's')}. But from"
            f" there to {_about(took, 's')} not one byte more is moved. In the explorer, switch"
            " *Launch* and compare the two bars for batch 1.",
            "B": "It is the dispatch tax of Lab 07. A step has about"
            f" {_about(step.kernels)} kernels, and launching one takes about"
            f" {_about(step.launch_overhead, 's')} (calibrated), more than the bare kernels of Lab"
            " 07 needed and longer than most of these run."
            " Recorded once and replayed as a graph, the same step was measured at"
            f" {_about(replayed, 's')}: {_about(1 / replayed, 'tokens/s')} instead of"
            f" {_about(1 / took, 'tokens/s')}. Raise the batch to see when the tax disappears.",
            "C": "For one conversation the cache is small:"
            f" {_about(kv_cache(LLAMA, 1, CONTEXT), 'B')} beside"
            f" {_about(textbook.weights, 'B')} of weights. In the calibrated form, attention takes"
            f" about {_about(step.attention, 's')} of a step of {_about(step.time, 's')}. It grows"
            " with batch and context, so set both high in the explorer and look again.",
            "D": f"Two FLOP for each parameter take {_about(arithmetic, 's')} at the peak of the"
            f" H200, next to nothing in a step of {_about(took, 's')}. One token is far left of the"
            " ridge, as a projection of few tokens was in Act 2. In the explorer, read"
            " *What binds* for batch 1, and then for batch 256.",
        },
        title="Where did the time go?",
        act=3,
        after=["act3_decode"],
    )


@lab.asks
def act3_same(p: Parameters) -> Message:
    eager, graph = (1 / decode_step(variant).seconds.median for variant in ("eager", "graph"))
    step = calibrated_step("async")
    return Message(
        "Noor Haddad",
        "Head of ML infrastructure",
        "The same decision, again",
        f"So a customer who is alone on the GPU gets {_about(eager, 'tokens/s')} where"
        f" {_about(graph, 'tokens/s')} are possible, with the same kernels and the same bytes. In"
        " Lab 07 you decided how to run a service of your own: eager or compiled. The line below"
        " this card says which, if your design is here.\n\n"
        "Please set *Launch* in the explorer to what that decision means for us, and look at one"
        " conversation, then at a hundred. By tonight I have to answer two more questions: sales"
        f" wants to promise a token every {p.target_ms} ms for chats of {p.chat_tokens:,} tokens,"
        f" and finance wants a price for the {p.millions} million tokens of our next batch job.",
        task="Find out whether your decision of Lab 07 still holds, and answer sales and finance.",
        in_context={
            "cloud": f"All of this is about the {H200.name}, whose kernels were measured:"
            f" {q(H200.memory, 'B')} at {q(H200.bandwidth, 'B/s')}.",
            "edge": f"The camera team asks about their {ORIN.name}. Even in int8 the weights take"
            f" {_about(LLAMA.parameters / ORIN.bandwidth, 's')} per token at"
            f" {q(ORIN.bandwidth, 'B/s')}, and launching as many kernels at"
            f" {q(ORIN.launch(), 's')} each takes {_about(step.kernels * ORIN.launch(), 's')}. Who"
            " waits for whom there?",
        },
        act=3,
        after=["act3_launch"],
    )


@lab.asks
def first_limit(p: Parameters) -> Choice:
    return Choice(
        f"Chats with a context of {p.chat_tokens:,} tokens on an H200, weights in fp16, kernels"
        f" launched one by one. A token may take at most {p.target_ms} ms. By the calibrated form,"
        " what stops you first when more and more people chat at once?",
        {
            "alone": "the target: even a single chat misses it",
            "target": "the target: some chats meet it together, then one too many misses it",
            "memory": "memory: it is full while every token is still on time",
        },
        points=3,
        worked_example="In another service, reading the weights takes 10 ms per token and each chat"
        " adds 0.2 ms; the memory holds 40 chats. One chat needs 10.2 ms, and all of them need"
        " 18 ms. So a target of 9 ms is missed at once, one of 14 ms ends at 20 chats, and with one"
        " of 25 ms the memory is full first.",
        title="What ends first?",
        act=3,
        after=["act3_launch"],
    )


@lab.asks
def job_cost_dollars(p: Parameters) -> Number:
    return Number(
        f"A batch job writes {p.millions} million tokens on one H200 that costs"
        f" ${p.price:.2f} per hour. It keeps {p.replies} conversations with a context of"
        f" {p.chat_tokens:,} tokens going at all times, weights in fp16, kernels replayed as a"
        " graph. By the calibrated form, what does the job cost? Answer in dollars, as in 750.",
        "dollars",
        points=7,
        low=0.5,
        high=20000,
        hint="Tokens over tokens per second is a time; an hour has 3,600 seconds.",
        worked_example="For another job, the explorer says five hundred tokens per second, so 3.6"
        " million take 7,200 seconds, or two hours. The GPU costs half a dollar per hour, so the"
        " job costs a dollar. For your job, set the explorer to its conversations and context.",
        title="What the job costs",
        act=3,
        after=["act3_launch"],
    )


@lab.asks
def act3_token(p: Parameters) -> Peek:
    batch, context = 64, 1024  # nobody is asked about these
    return Peek(
        {
            "Why calibrated and measured differ for one conversation": _launches_vary(),
            "Textbook": decode("llama31-8b", "h200-sxm", batch, context),
            "Calibrated, launched one by one": calibrated_step("async", batch, context),
            "Calibrated, replayed as a graph": calibrated_step("graph", batch, context),
        },
        title=f"The equations of a token, for {q(batch)} conversations of {q(context)} tokens",
        act=3,
        after=["act3_launch"],
    )


@cache
def _launches_vary() -> str:
    """How the calibrated step relates to the measured one, from all steps that wait for a host."""
    step = calibrated_step("async")
    found = cases("h200-sxm", kind="serving", precision="fp16", variant="eager", phase="decode")
    waiting = [case.seconds.median for case in found if case.shape["batch"] <= 16]
    took, replayed = (decode_step(variant).seconds.median for variant in ("eager", "graph"))
    graph = calibrated_step("graph")
    return (
        f"The calibrated form charges each of the {q(step.kernels)} kernels the same"
        f" {_about(step.launch_overhead, 's')}, which makes {_about(step.time, 's')} or"
        f" {_about(step.tokens_per_second, 'tokens/s')}. The step that you predicted was measured"
        f" at {_about(took, 's')} or {_about(1 / took, 'tokens/s')}. Neither is a mistake: on the"
        f" same H200, {len(waiting)} such steps, of 1 to 16 conversations, took"
        f" {_about(min(waiting), 's')} to {_about(max(waiting), 's')} in no clear order, because"
        " how fast a CPU launches depends on what else it is doing. Ours was one of the slow ones."
        " Replayed as a graph, where the CPU has no part, the two agree:"
        f" {_about(graph.time, 's')} calibrated, {_about(replayed, 's')} measured."
    )


# Act 4


@lab.asks
def measurement(p: Parameters) -> Measurement:
    return Measurement(
        "It times copies of large arrays, which give the bandwidth, and matrix products of several"
        " sizes, which give the peak, on all cores that this notebook may use. Leave the computer"
        " alone meanwhile: whatever else runs makes it look slower.",
        sizes=lab.parameters["own_n"].values,
        act=4,
    )


@lab.asks
def own_ridge_flop_per_byte(p: Parameters) -> Number:
    return Number(
        "Where is the ridge of **your machine** in fp32, by your own measurement: its best product"
        " over its best bandwidth? Answer in FLOP per byte, as in 90.",
        "FLOP per byte",
        points=6,
        low=0.01,
        high=2000,
        hint="Take both numbers with the same prefix: GFLOPS over GB/s.",
        worked_example="The best product of a laptop runs at 450 GFLOPS, and its best copy at"
        " 30 GB/s. Both have the prefix giga, which cancels, so its ridge lies at 450 over 30, or"
        " 15 FLOP/B.",
        title="Your ridge",
        act=4,
        after=["act1_wall"],
    )


@lab.asks
def own_share_pct(p: Parameters) -> Number:
    return Number(
        "What percentage of **its own roof** did your machine reach with the fp32 product of"
        f" N = {p.own_n}? First find out on which side of your ridge that product lies. Answer in"
        " percent, as in 99.",
        "percent",
        points=6,
        low=0.01,
        high=1000,
        hint="The rate of that product over what your own roof allows it, in percent.",
        worked_example="The ridge of a laptop lies at 15 FLOP/B, and its best product runs at 450"
        " GFLOPS. A"
        " square fp32 product of N = 48 does N / 6 = 8 FLOP/B: left of the ridge, so its roof is"
        " 8 FLOP/B times 30 GB/s, or 240 GFLOPS. It was timed at 6 GFLOPS, which is 2.5% of that.",
        title="Your distance to the roof",
        act=4,
        after=["act1_wall"],
    )


# After the acts


@lab.asks
def advice(p: Parameters) -> Essay:
    return Essay(
        "Write to Noor and Tomás. Which number on the dashboard would you"
        " change? Which kernel would you pay for, and why not the others? What ends first when the"
        " service grows? Which of your own numbers would you measure before you believe it?",
        [
            (3, "divides by the dense peak, and says what the sparse one would need"),
            (3, "argues from intensity, ridge and time saved, not from FLOP alone, for one kernel"),
            (3, "names memory capacity and the KV cache as a limit of its own, with a number"),
            (3, "knows that a roof is a bound, and says what to measure and against what"),
        ],
        at_least=100,
        at_most=250,
        after=["act2_kernels"],
    )


@lab.asks
def commitments(p: Parameters) -> Record:
    return Record(
        [
            "act1_wall",
            "act1_real",
            "act2_kernels",
            "design",
        ],
        points=6,
    )


@lab.asks
def deeper_kept(p: Parameters) -> Record:
    return Record(["act1_remedy", "act2_why", "act3_decode", "act3_launch"], points=6)


@lab.asks
def takeaway_act3(p: Parameters) -> Takeaways:
    return Takeaways(
        [
            (
                "The textbook is a bound, and one conversation is far below it",
                "Kernels that are launched one by one wait for the CPU, as in Lab 07. Replay them"
                " as a graph, or give each of them more to do.",
            ),
        ],
        title="What Act 3 showed",
        act=3,
        after=["act3_launch"],
    )


@lab.asks
def takeaways(p: Parameters) -> Takeaways:
    score = elementwise(1)
    return Takeaways(
        [
            (
                "Find the ridge first, then the kernel",
                "Left of the ridge, with the same memory, only more FLOP per byte raise the rate.",
            ),
            (
                "Ask which peak",
                "Divide dense work by the dense peak, and expect about two thirds of it from large"
                " products.",
            ),
            (
                "Element-wise kernels wait for memory on every machine",
                f"{q(score.intensity, 'FLOP/B')} is left of every ridge in this course, so fuse"
                " them.",
            ),
            (
                "What does not fit is no design",
                "The KV cache grows with every token, until memory is full.",
            ),
        ],
        ahead="The Foundations Review puts the roofline to work.",
        after=["kernel_to_fund"],
    )
