"""What Lab 11 says in numbers and comparisons.

Formulas are written out here from the datasheets of the devices, the shape of Llama-3.1-8B, and the
counts of the course (five FLOP and three crossings for a softmax, three matrices for a product),
not taken from the lab. What was measured is read from the files that ship. The calibrated form has
tests of its own (``tests/physics``), so here it is asked.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from functools import cache

from mlsys_widgets import measured
from mlsys_widgets.classes.simulated_machine import other_machine
from mlsys_widgets.labs import Parameters, load
from mlsys_widgets.physics import devices, serving_time
from tests.conftest import ROOT
from tests.labs.claims import Claim, Quantity, Reading

FP16, FP32, INT8 = 2, 4, 1

# Peaks in FLOP/s, bandwidths in B/s, memories in B.
A100_PEAK, A100_BANDWIDTH = 312e12, 2e12
PEAK, SPARSE, INT8_PEAK, FP32_PEAK = 989e12, 1979e12, 1979e12, 67e12
TF32_PEAK = 989e12 / 2
H100_BANDWIDTH, H200_BANDWIDTH = 3.35e12, 4.8e12
H100_MEMORY, H200_MEMORY = 80e9, 141e9
ORIN_PEAK, ORIN_BANDWIDTH, ORIN_LAUNCH = 12e12, 102e9, 50e-6
RIDGE, H200_RIDGE = PEAK / H100_BANDWIDTH, PEAK / H200_BANDWIDTH
ORIN_RIDGE, A100_RIDGE = ORIN_PEAK / ORIN_BANDWIDTH, A100_PEAK / A100_BANDWIDTH

# Llama-3.1-8B.
PARAMETERS, WIDTH, LAYERS, HEADS, KV_HEADS, HEAD = 8e9, 4096, 32, 32, 8, 128
WEIGHTS = FP16 * PARAMETERS
ACTIVATIONS = WEIGHTS / 2
#: Keys and values of one token.
TOKEN = 2 * KV_HEADS * HEAD * LAYERS * FP16
#: Tokens of a contract, of the conversation that was timed, and of examples.
CONTRACT, TIMED_TOKENS, SHORT = 16384, 2048, 1024
#: Tokens of a decode step, as the instruments open.
STEP_TOKENS = 8
#: Sides of examples and of products that were timed.
SMALL, LARGE, LITTLE, LARGEST = 128, 4096, 192, 8192


def about(value: float) -> float:
    """Two digits, where neither a model nor one run of a GPU knows more."""
    return float(f"{value:.2g}")


# Kernels.


def square(n: float, width: float = FP16) -> float:
    """FLOP per byte of a square product."""
    return 2 * n**3 / (3 * n**2 * width)


def roof(intensity: float, peak: float = PEAK, bandwidth: float = H100_BANDWIDTH) -> float:
    return min(peak, bandwidth * intensity)


def projection(tokens: float, width: float = FP16) -> tuple[float, float]:
    """FLOP and bytes of tokens times a square of weights."""
    return 2 * tokens * WIDTH**2, width * (2 * tokens * WIDTH + WIDTH**2)


def of_projection(tokens: float) -> float:
    flop, moved = projection(tokens)
    return flop / moved


#: Softmax and layer norm, in fp16: five FLOP for an element that crosses memory three times.
NORM = 5 / (3 * FP16)
SCORES = HEADS * SHORT**2


# What was measured.


@cache
def alone(n: int) -> measured.Point:
    (found,) = measured.points("h200-sxm", "fp16", "gemm", variant="graph", m=n, n=n, k=n)
    return found


@cache
def squares() -> dict[int, float]:
    """Measured rates by side."""
    found = measured.points("h200-sxm", "fp16", "gemm", variant="graph")
    return {point.shape["n"]: point.attained for point in found if point.is_square}


(BATCH,) = measured.points("h200-sxm", "fp16", "batched_gemm", n=LITTLE)
REAL = alone(LARGEST).attained
LITTLE_ROOF = roof(square(LITTLE), PEAK, H200_BANDWIDTH)


def steps(variant: str, **shape: object) -> list[measured.Case]:
    return measured.cases(
        "h200-sxm", kind="serving", precision="fp16", variant=variant, phase="decode", **shape
    )


EAGER, REPLAYED = (
    steps(variant, batch=1, sequence=TIMED_TOKENS)[0].seconds.median
    for variant in ("eager", "graph")
)
WAITING = [case.seconds.median for case in steps("eager") if case.shape["batch"] <= 16]
#: All weights and the cache, at the bandwidth of the datasheet.
TEXTBOOK = (WEIGHTS + TIMED_TOKENS * TOKEN) / H200_BANDWIDTH


@cache
def calibrated(batch: float, tokens: float, launch: str = "async"):
    return serving_time("llama31-8b", "h200-sxm", "decode", batch, tokens, launch=launch)


STEP, GRAPH = calibrated(1, TIMED_TOKENS), calibrated(1, TIMED_TOKENS, "graph")
#: What a bare launch took on the H200, in Lab 07.
(BARE,) = measured.cases("h200-sxm", kind="dispatch", variant="eager", length="tiny", launches=1000)
#: The student's machine, as `put_examples` lays it beside a lab.
(EXAMPLE,) = load(ROOT / "assignments" / "lab_11_roofline").examples.values()
OWN = json.loads(other_machine(EXAMPLE(), random.Random("somebody")))
OWN_BEST = measured.ceilings(OWN)
OWN_RIDGE = OWN_BEST.peaks["fp32"] / OWN_BEST.bandwidth


@cache
def within_a_tenth() -> float:
    """Of all passes that were timed, the fraction that the calibrated form meets."""
    errors = [
        float(
            serving_time(
                "llama31-8b", "h200-sxm", case.shape["phase"], case.shape["batch"],
                case.shape["sequence"], launch={"eager": "async"}.get(case.variant, case.variant),
            ).time
        ) / case.seconds.median - 1
        for case in measured.cases("h200-sxm", kind="serving", precision="fp16")
    ]  # fmt: skip
    return sum(abs(error) < 0.1 for error in errors) / len(errors)


# A student's own numbers.


def reported(p: Parameters) -> float:
    return p.reported * 1e12


def on_the_roof(p: Parameters) -> float:
    """FLOP per byte of the products of the dashboard."""
    return reported(p) / H100_BANDWIDTH


def levers(p: Parameters) -> dict[str, float]:
    """How many times as fast the other team's product gets."""
    intensity = square(p.lever_n)
    now = roof(intensity)
    return {
        "bandwidth": roof(intensity, PEAK, p.more_bandwidth * H100_BANDWIDTH) / now,
        "peak": roof(intensity, p.more_peak * PEAK) / now,
        "int8": roof(square(p.lever_n, INT8), INT8_PEAK) / now,
    }


LEVERS = {"more bandwidth": "bandwidth", "a higher peak": "peak", "int8": "int8"}


def bound(intensity: float) -> str:
    return "memory-bound" if intensity < RIDGE else "compute-bound"


def lever_rests(p: Parameters, said: Sequence[float], name: str) -> bool:
    """Intensity, ridge, what the chosen lever gives, and what the best one gives."""
    gains = levers(p)
    expected = [square(p.lever_n), RIDGE, gains[name], max(gains.values())]
    return gains[name] < max(gains.values()) and all(
        math.isclose(one, two, rel_tol=0.01) for one, two in zip(said, expected, strict=True)
    )


def timed(p: Parameters) -> tuple[float, float, float]:
    """Of the student's timed product: seconds, the rate that was reached, and its roof."""
    seconds = alone(p.measured_n).seconds
    return (
        seconds,
        2 * p.measured_n**3 / seconds,
        roof(square(p.measured_n), PEAK, H200_BANDWIDTH),
    )


def turning(p: Parameters) -> float:
    """Tokens at which the projection of the next model reaches the ridge, found by halving."""

    def intensity(tokens: float) -> float:
        moved = tokens * p.width + p.width * p.outputs + tokens * p.outputs
        return 2 * tokens * p.width * p.outputs / (FP16 * moved)

    low, high = 1.0, 1e5
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if intensity(middle) < RIDGE else (low, middle)
    return low


def score_bytes(p: Parameters) -> float:
    """Traffic of a softmax that is not fused."""
    return 3 * FP16 * p.prompts * HEADS * p.sequence**2


def savings(p: Parameters, length: float = 0) -> dict[str, float]:
    """Seconds that each offer saves in a layer."""
    length = length or p.prompt
    tokens = p.prompts * length

    def seconds(width: int, peak: float) -> float:
        flop, moved = projection(tokens, width)
        return max(flop / peak, moved / H100_BANDWIDTH)

    return {
        "int8": seconds(FP16, PEAK) - seconds(INT8, INT8_PEAK),
        "norm": 2 * FP16 * tokens * WIDTH / H100_BANDWIDTH,
        "softmax": 2 * FP16 * tokens * HEADS * length / H100_BANDWIDTH,
    }


def fp16_seconds(p: Parameters) -> float:
    """The projection over the student's prompts, before anything is changed."""
    flop, moved = projection(p.prompts * p.prompt)
    return max(flop / PEAK, moved / H100_BANDWIDTH)


def room(p: Parameters) -> float:
    """Bytes for conversations, beside weights, activations and contracts."""
    return H100_MEMORY - WEIGHTS - ACTIVATIONS - p.documents * CONTRACT * TOKEN


def fits(p: Parameters) -> int:
    """Chats that fit on an H200."""
    return int((H200_MEMORY - WEIGHTS - ACTIVATIONS) // (p.chat_tokens * TOKEN))


def chat_times(p: Parameters) -> tuple[float, float]:
    """Seconds per token of one chat, and of as many as fit."""
    return tuple(float(calibrated(batch, p.chat_tokens).time) for batch in (1, fits(p)))


def job(p: Parameters, more: float = 0, launch: str = "graph") -> float:
    """Tokens per second of the batch job."""
    return float(calibrated(p.replies + more, p.chat_tokens, launch).tokens_per_second)


def job_by_the_textbook(p: Parameters) -> float:
    return p.replies * H200_BANDWIDTH / (WEIGHTS + p.replies * p.chat_tokens * TOKEN)


def own(p: Parameters) -> tuple[float, float]:
    """The rate of the student's own product, and its roof."""
    found = measured.points(OWN, "fp32", "gemm", m=p.own_n, n=p.own_n, k=p.own_n)
    best = max(point.attained for point in found)
    return best, roof(square(p.own_n, FP32), OWN_BEST.peaks["fp32"], OWN_BEST.bandwidth)


QUANTITIES = [
    Quantity("the chain of Lab 07", "FLOP/B", lambda p: [10 / 2 / FP16, 10 / 6 / FP16]),
    # The worked examples of the deeper parts.
    Quantity("merged on an A100", "FLOP/s", lambda p: 50e12),
    Quantity("their side", "count", lambda p: 3000),
    Quantity("their intensity", "FLOP/B", lambda p: 3000 / 3),
    Quantity("their gain", "ratio", lambda p: 312 / 50),
    Quantity("another job", "count", lambda p: 3.6e6),
    Quantity("its time", "s", lambda p: 3.6e6 / 500),
    Quantity("a laptop", "FLOP/s", lambda p: [450e9, 8 * 30e9, 6e9]),
    Quantity("its copies", "B/s", lambda p: 30e9),
    Quantity("its ridge", "FLOP/B", lambda p: [450 / 30, 48 / 6]),
    Quantity("its ridge in parts", "count", lambda p: [450, 30, 48]),
    Quantity("its share", "ratio", lambda p: 6 / (8 * 30)),
    # Act 1.
    Quantity("sides of examples", "count", lambda p: [
        SMALL // 2, SMALL, LITTLE, LARGE, LARGEST, round(3 * RIDGE),
    ]),
    Quantity("their intensities", "FLOP/B", lambda p: [
        *(square(n) for n in (SMALL // 2, SMALL, LITTLE, LARGE, LARGEST, round(3 * RIDGE))),
        square(SMALL, INT8),
    ]),
    Quantity("ridges", "FLOP/B", lambda p: [
        *(peak / H100_BANDWIDTH for peak in (PEAK, SPARSE, TF32_PEAK, INT8_PEAK, FP32_PEAK)),
        H200_RIDGE, ORIN_RIDGE, A100_RIDGE,
    ]),
    Quantity("roofs of examples", "FLOP/s", lambda p: [roof(square(SMALL)), LITTLE_ROOF]),
    Quantity("their fractions of the peak", "ratio", lambda p: [
        roof(square(SMALL // 2)) / PEAK, roof(square(SMALL)) / PEAK,
    ]),
    Quantity("rates that were measured", "FLOP/s", lambda p: [
        alone(LITTLE).attained, BATCH.attained, REAL,
    ]),
    Quantity("their fractions", "ratio", lambda p: [
        REAL / PEAK, alone(LITTLE).attained / PEAK,
        alone(LITTLE).attained / LITTLE_ROOF, BATCH.attained / LITTLE_ROOF,
    ]),
    Quantity("small products, timed", "s", lambda p: [
        alone(SMALL).seconds, alone(LITTLE).seconds,
    ]),
    Quantity("products of the batch", "count", lambda p: BATCH.shape["batch"]),
    Quantity("work of the two small products", "ratio", lambda p: (LITTLE / SMALL) ** 3),
    Quantity("the dashboard", "ratio", lambda p: [reported(p) / SPARSE, reported(p) / PEAK]),
    Quantity("what the director wants", "FLOP/s", lambda p: p.goal_pct / 100 * PEAK),
    Quantity("as the dashboard shows it", "ratio", lambda p: p.goal_pct / 100 * PEAK / SPARSE),
    Quantity("the goal of the example", "FLOP/s", lambda p: 0.9 * A100_PEAK),
    Quantity("as a fraction, and times its rate", "ratio", lambda p: [
        0.9, 0.9 * A100_PEAK / 150e12,
    ]),
    Quantity("intensity of its products", "FLOP/B", on_the_roof),
    Quantity("a square in fp16, over its side", "count", lambda p: 1 / square(1)),
    Quantity("merged products", "FLOP/B", lambda p: square(p.n)),
    Quantity("their roof, and the slope", "FLOP/s", lambda p: [
        roof(square(p.n)), H100_BANDWIDTH * square(p.n),
    ]),
    Quantity("two matrices for three", "ratio", lambda p: 3 / 2),
    Quantity("the other team's product", "FLOP/B", lambda p: square(p.lever_n)),
    Quantity("the levers", "ratio", lambda p: list(levers(p).values())),
    Quantity("the student's timed product", "s", lambda p: timed(p)[0]),
    Quantity("its rates", "FLOP/s", lambda p: timed(p)[1:]),
    Quantity("its intensity", "FLOP/B", lambda p: square(p.measured_n)),
    # Act 2.
    Quantity("tokens of a contract", "count", lambda p: CONTRACT),
    Quantity("softmax and layer norm", "FLOP/B", lambda p: [NORM, 3 / 2 * NORM, 3 * NORM]),
    Quantity("projections", "FLOP/B", lambda p: [
        of_projection(tokens) for tokens in (1, STEP_TOKENS, LARGE)
    ]),
    Quantity("sequences of a decode step, and their length", "count", lambda p: [STEP_TOKENS, 1]),
    Quantity("crossings of an element", "count", lambda p: [3, 1]),
    Quantity("what fusing leaves, and takes away", "ratio", lambda p: [1 / 3, 2 / 3]),
    Quantity("softmax of the example", "FLOP", lambda p: 5 * SCORES),
    Quantity("its traffic", "B", lambda p: [3 * FP16 * SCORES, FP16 * SCORES]),
    Quantity("sequences of the equations", "count", lambda p: [16, SHORT]),
    Quantity("their caches", "B", lambda p: [
        16 * SHORT * TOKEN, 16 * SHORT * TOKEN * HEADS / KV_HEADS,
    ]),
    Quantity("scores of the student's prompts", "B", score_bytes),
    Quantity("savings", "s", lambda p: list(savings(p).values())),
    Quantity("tokens at which scores outgrow a layer norm", "count", lambda p: WIDTH / HEADS),
    Quantity("memory of the service", "B", lambda p: [
        room(p), room(p) / p.kept, p.sequence * TOKEN, p.documents * CONTRACT * TOKEN,
        WEIGHTS + ACTIVATIONS,
    ]),
    Quantity("conversations as long as a contract", "count", lambda p: CONTRACT / p.sequence),
    # Act 3.
    Quantity("tokens of the conversation", "count", lambda p: TIMED_TOKENS),
    Quantity("a step", "s", lambda p: [
        about(each) for each in (
            EAGER, REPLAYED, TEXTBOOK, STEP.time, GRAPH.time, STEP.launch_overhead,
            STEP.attention, 2 * PARAMETERS / PEAK, min(WAITING), max(WAITING),
        )
    ]),
    Quantity("its rate", "1/s", lambda p: [
        about(1 / EAGER), about(1 / REPLAYED), about(1 / STEP.time),
    ]),
    Quantity("its kernels", "count", lambda p: [STEP.kernels, about(STEP.kernels)]),
    Quantity("on the Orin NX", "s", lambda p: [
        about(PARAMETERS * INT8 / ORIN_BANDWIDTH), about(STEP.kernels * ORIN_LAUNCH),
    ]),
    Quantity("its cache", "B", lambda p: about(TIMED_TOKENS * TOKEN)),
    Quantity("steps that wait for a host", "count", lambda p: [len(WAITING), 1, 16]),
    Quantity("a batch to try", "count", lambda p: 256),
    Quantity("an hour and a minute", "s", lambda p: [3600, 60]),
    Quantity("and as bare numbers", "count", lambda p: [3600, 60]),
    Quantity("chats that fit", "count", fits),
    Quantity("a token of a chat", "s", lambda p: [about(each) for each in chat_times(p)]),
    Quantity("price of an hour", "1/s", lambda p: p.price / 3600),
    Quantity("rate of the job", "1/s", lambda p: about(job(p))),
    Quantity("hours of the job", "s", lambda p: 3600 * about(p.millions * 1e6 / job(p) / 3600)),
    # Worked examples, from the numbers that they give.
    Quantity("the side of a large product", "count", lambda p: 2400),
    Quantity("its intensity, and three times the ridge", "FLOP/B", lambda p: [
        2400 / 3, 3 * A100_RIDGE,
    ]),
    Quantity("a token of another service", "s", lambda p: [
        10e-3, 0.2e-3, 10e-3 + 0.2e-3, 10e-3 + 40 * 0.2e-3, 9e-3, 14e-3, 25e-3,
    ]),
    Quantity("its chats", "count", lambda p: [40, (14 - 10) / 0.2]),
    Quantity("rates of examples", "FLOP/s", lambda p: [150e12, 100e12, 16e12 / 2]),
    Quantity("an example's fraction", "ratio", lambda p: 150e12 / A100_PEAK),
    Quantity("an example on the slope", "FLOP/B", lambda p: 100e12 / A100_BANDWIDTH),
    Quantity("sides, tokens, heads and answers", "count", lambda p: [
        150, 20000, 60, 2000, 12, 240e6, 8000, 1024, 5500, 38, 21000,
    ]),
    Quantity("work of examples", "FLOP", lambda p: [2 * 20000**3, 2 * 8000 * 1024**2]),
    Quantity("bytes of examples", "B", lambda p: [
        2 * 240e6, 4 * 240e6, 2 * 8000 * 1024,
        24e9, 6e9, 60e3, 2 * 20000 * 60e3, 24e9 - 9e9 - 2.4e9, 12.6e9 / 10, 5500 * 60e3,
    ]),
    Quantity("times of examples", "s", lambda p: [
        2, 4 * 240e6 / ORIN_BANDWIDTH, 16.78e9 / PEAK, 16.78e9 / PEAK / 2,
        2 * 2 * 8000 * 1024 / H200_BANDWIDTH,
    ]),
    # Act 4.
    Quantity("best fp32 and fp64 product", "ratio", lambda p: (
        OWN_BEST.peaks["fp32"] / OWN_BEST.peaks["fp64"]
    )),
]  # fmt: skip

CLAIMS = [
    Claim("so they are right of it, and more bandwidth", lambda p: A100_RIDGE < 2400 / 3),
    Claim("they are still right of it", lambda p: 3 * A100_RIDGE < 2400 / 3),
    Claim("so int8 makes them as much faster, and the higher peak wins", lambda p: (
        2 * A100_RIDGE < 3 * A100_RIDGE < 2400 / 3
    )),
    Claim("That is right of the ridge at #, so the flat roof is above them", lambda p: (
        3000 / 3 > 312e12 / 2e12
    )),
    Claim("so the job costs a dollar", lambda p: 3.6e6 / 500 / 3600 * 0.5 == 1),
    Claim("does N / # = #: left of the ridge", lambda p: 48 / 6 < 450 / 30),
    # Act 1.
    Claim("at # they lie left of the ridge at #", lambda p: on_the_roof(p) < RIDGE),
    Claim("an fp16 product does #, while an H100 needs #", lambda p: (
        square(SMALL) < RIDGE
    )),
    Claim("That is what holds back a small product on its own", lambda p: (
        alone(LITTLE).attained < 0.1 * LITTLE_ROOF
    )),
    Claim("But thousands in a launch give every unit something to do, at #", lambda p: (
        BATCH.shape["batch"] > 2000 and BATCH.attained > 50 * alone(LITTLE).attained
    )),
    Claim("Each still does only #, left of the H200's ridge", lambda p: (
        square(LITTLE) < H200_RIDGE
    )),
    Claim("smaller than Tomás's", lambda p: square(SMALL) < on_the_roof(p)),
    Claim("Left of it, the rate is bandwidth times intensity", lambda p: (
        roof(square(SMALL)) == H100_BANDWIDTH * square(SMALL)
    )),
    Claim("because # lie right of the ridge at #, and only #", lambda p: (
        square(LARGE) > RIDGE and roof(square(LARGE)) == PEAK > roof(square(SMALL))
    )),
    Claim("larger squares of N = #", lambda p: square(p.n) > 1.05 * on_the_roof(p)),
    Claim("The largest fp16 product that we timed", lambda p: max(squares()) == LARGEST),
    Claim("level off below the roof", lambda p: (
        max(squares().values()) < 0.75 * PEAK and max(squares(), key=squares().get) < LARGEST
    )),
    Claim("although no byte keeps it waiting", lambda p: square(LARGEST) > 5 * H200_RIDGE),
    Claim("A small product is far down when it runs alone", lambda p: (
        alone(LITTLE).attained < 0.01 * PEAK
    )),
    Claim("This one is large enough to hide that", lambda p: (
        alone(LARGEST).seconds > 100 * alone(LITTLE).seconds
    )),
    Claim("The H200 has the peaks of an H100", lambda p: (
        devices["h200-sxm"].peak("fp16") == devices["h100-sxm"].peak("fp16") == PEAK
    )),
    Claim("A faster clock raises the peak, and the units wait for data", lambda p: (
        square(SMALL) < RIDGE
    )),
    Claim("With twice the peak it would still get #, half of that fraction", lambda p: (
        roof(square(SMALL), 2 * PEAK) == roof(square(SMALL))
    )),
    Claim("From N = # to # the intensity doubles", lambda p: (
        square(SMALL) == 2 * square(SMALL // 2) < RIDGE
    )),
    Claim("It does make the kernel faster: in int8", lambda p: (
        roof(square(SMALL, INT8), INT8_PEAK) == 2 * roof(square(SMALL))
    )),
    Claim("But the peak doubles too", lambda p: math.isclose(INT8_PEAK, 2 * PEAK, rel_tol=1e-3)),
    Claim("The fraction stays where it was", lambda p: math.isclose(
        square(SMALL, INT8) * H100_BANDWIDTH / INT8_PEAK, square(SMALL) / RIDGE, rel_tol=1e-3
    )),
    Claim("if its memory were no faster, the product of N = #", lambda p: (
        H200_MEMORY > H100_MEMORY and roof(square(SMALL)) < PEAK
    )),
    Claim("What helps is its #", lambda p: H200_BANDWIDTH > H100_BANDWIDTH),
    Claim("it grows with N, and with fewer bytes", lambda p: (
        square(2) > square(1) and square(1, INT8) > square(1)
    )),
    Reading("run at # of the peak of an H100; its roof is at #", lambda p, n: (
        n[0] == 512 and n[2] > 3 * n[1]
        and math.isclose(n[2], roof(square(512)) / PEAK, rel_tol=1e-3)
    )),
    Claim("a lower precision leaves the intensity of a product alone", lambda p: (
        square(512, INT8) == 2 * square(512) and INT8_PEAK > PEAK
    )),
    Claim("Left of the ridge it is at most", lambda p: math.isclose(
        roof(square(SMALL)) / PEAK, square(SMALL) / RIDGE
    )),
    Claim("a product of N = # that ran alone was timed at #", lambda p: (
        math.isclose(alone(LITTLE).attained, 2 * LITTLE**3 / alone(LITTLE).seconds, rel_tol=1e-3)
    )),
    Claim("so few tiles that most multiprocessors get none", lambda p: (
        # Tiles of 64 × 64 or larger, 132 multiprocessors; hardly less time for a third of the work.
        (LITTLE / 64) ** 2 < 132 / 2 and alone(SMALL).seconds > 0.9 * alone(LITTLE).seconds
    )),
    Claim("That is twice the dashboard's figure", lambda p: math.isclose(
        SPARSE, 2 * PEAK, rel_tol=1e-3
    )),
    Claim("how many times the peak exceeds the rate", lambda p: reported(p) < PEAK),
    Claim("Better arithmetic cannot make it faster", lambda p: (
        roof(on_the_roof(p), 2 * PEAK) == roof(on_the_roof(p))
    )),
    Claim("They are read, and a third one is written", lambda p: square(1) == 2 / (3 * FP16)),
    Claim("That is twice too large", lambda p: square(1, FP32) == square(1) / 2),
    Claim("the kernel is lower on the slope", lambda p: reported(p) < PEAK),
    Claim("at # the product is right of the ridge", lambda p: square(p.n) > RIDGE),
    Claim("but # lie left of the ridge at #", lambda p: square(p.n) < RIDGE),
    Claim("no roof of theirs is that high", lambda p: PEAK < SPARSE),
    Claim("The intensity is half of what it should be", lambda p: (
        square(p.n, FP32) == square(p.n) / 2
    )),
    Claim("the intensity came out # times too high", lambda p: 3 / 2 == 1.5),
    Claim("twice the side is twice the FLOP per byte", lambda p: square(2) == 2 * square(1)),
    *(
        Claim(f"the merged products are {side} and may reach", lambda p, side=side: (
            bound(square(p.n)) == side and roof(square(p.n)) > 1.05 * reported(p)
        ))
        for side in ("memory-bound", "compute-bound")
    ),
    *(
        Claim(f"with the ridge at #, the product is {side}", lambda p, side=side: (
            bound(square(p.lever_n)) == side
        ))
        for side in ("memory-bound", "compute-bound")
    ),
    Reading("more bandwidth gives #, while", lambda p, n: lever_rests(p, n, "bandwidth")),
    Reading("a higher peak gives #, while", lambda p, n: lever_rests(p, n, "peak")),
    Reading("int8 halves the bytes and doubles the peak, which gives #", lambda p, n: (
        lever_rests(p, n, "int8")
    )),
    *(
        Claim(f"while {name} would give #", lambda p, name=name, lever=lever: (
            levers(p)[lever] == max(levers(p).values())
        ))
        for name, lever in LEVERS.items()
    ),
    Reading("Bandwidth gives #, a higher peak #, and int8 #", lambda p, n: all(
        math.isclose(said, gain, rel_tol=0.01)
        for said, gain in zip(n, levers(p).values(), strict=True)
    )),
    Claim("Faster memory helps by its own factor at most, and only up to the ridge", lambda p: (
        PEAK / (p.more_bandwidth * H100_BANDWIDTH) < RIDGE
        and levers(p)["bandwidth"] <= p.more_bandwidth * 1.001
    )),
    Claim("More arithmetic helps by its own factor at most, and only as far as memory", lambda p: (
        levers(p)["peak"] <= p.more_peak * 1.001
        and roof(square(p.lever_n), p.more_peak * PEAK) <= H100_BANDWIDTH * square(p.lever_n)
    )),
    Claim("# out of #: a roof says what cannot be exceeded", lambda p: timed(p)[1] < timed(p)[2]),
    Claim("That is twice too many", lambda p: math.isclose(SPARSE, 2 * PEAK, rel_tol=1e-3)),
    Claim("with the ridge of the H200 at #: right of it the roof is flat", lambda p: (
        square(p.measured_n) > H200_RIDGE
    )),
    Claim("with the ridge of the H200 at #: left of it the roof is the slope", lambda p: (
        square(p.measured_n) < H200_RIDGE
    )),
    Claim("That is less than the # that were run", lambda p: timed(p)[1] < timed(p)[2]),
    Claim("so in the same time it allows more of them", lambda p: timed(p)[1] < timed(p)[2]),
    # Act 2.
    Claim("they do nearly all of the FLOP", lambda p: (
        # Seven products of a layer with all its parameters, two norms, and the softmax of a prompt.
        20 * (2 * 5 * WIDTH + 5 * HEADS * p.sequence) < 2 * PARAMETERS / LAYERS
    )),
    Claim("Projections may well take most of the time", lambda p: (
        # All products of a layer against its softmax and two norms, over one prompt.
        of_projection(p.sequence) > RIDGE
        and 2 * PARAMETERS / LAYERS * p.sequence / PEAK
        > 3 * FP16 * p.sequence * (HEADS * p.sequence + 2 * WIDTH) / H100_BANDWIDTH
    )),
    Claim("and at most # fused, far left of the ridge", lambda p: 3 * NORM < RIDGE / 100),
    Claim("the projection waits as well", lambda p: of_projection(STEP_TOKENS) < RIDGE),
    Claim("leave it at #, # bring it to #, right of the ridge at #", lambda p: (
        of_projection(LARGE) > RIDGE
    )),
    Claim("three orders of magnitude less", lambda p: (
        3 <= math.log10(of_projection(LARGE) / NORM) < 3.5
    )),
    Claim("tokens leave the projection at #, # bring it to #", lambda p: (
        of_projection(STEP_TOKENS) < RIDGE < of_projection(LARGE)
    )),
    Claim("at any length, far left of the ridge", lambda p: NORM < RIDGE / 100),
    Claim("Layer norm and softmax do # on any machine", lambda p: 2 / 3 > 1 / 2),
    Claim("For prompts of a few hundred tokens, int8 projections save more", lambda p: all(
        max(savings(p, length), key=savings(p, length).get) == "int8"
        for length in (160, 250, 360)
    ) and all(
        max(savings(p, length), key=savings(p, length).get) == "softmax"
        for length in (1000, 2000, 4000)
    )),
    Claim("where the H100 could do #", lambda p: NORM < RIDGE),
    Reading("look at the data: fusing takes softmax from", lambda p, n: list(n) == [3, 1]),
    Claim("the speedup is at most", lambda p: all(2 * k / 2 == k for k in range(1, 9))),
    Claim("if each of the # heads kept its own", lambda p: KV_HEADS < HEADS),
    Claim("They are nearly all that moves while there are few tokens", lambda p: (
        p.width * p.outputs > 0.9 * (p.width * p.outputs + 10 * (p.width + p.outputs))
        and turning(p) > 1.1 * RIDGE
    )),
    Claim("so it takes hundreds of them at once", lambda p: 200 < turning(p) < 1000),
    Claim("Not one FLOP less, and # of the time is gone", lambda p: NORM * 3 < RIDGE),
    Claim("That is twice too long", lambda p: FP32 == 2 * FP16),
    *(
        Claim(f"This projection is {side}, but on either side", lambda p, side=side: (
            bound(of_projection(p.prompts * p.prompt)) == side
            and math.isclose(2 * savings(p)["int8"], fp16_seconds(p), rel_tol=1e-3)
        ))
        for side in ("memory-bound", "compute-bound")
    ),
    Claim("so softmax wins only when prompts are long", lambda p: (
        max(savings(p), key=savings(p).get) != "softmax"
        and max(savings(p, 4000), key=savings(p, 4000).get) == "softmax"
    )),
    Claim("Compare the three tensors at this very length", lambda p: (
        math.isclose(savings(p, 200)["softmax"] * 4, savings(p, 400)["softmax"])
    )),
    Claim("The scores outgrow the tensor of a layer norm at # tokens", lambda p: math.isclose(
        savings(p, 128)["softmax"], savings(p, 128)["norm"]
    )),
    Claim("One more, and the service is out of memory", lambda p: (
        0 <= room(p) - math.floor(room(p) / (p.sequence * TOKEN)) * p.sequence * TOKEN
        < p.sequence * TOKEN
    )),
    Claim("A few tokens more, and the service is out of memory", lambda p: (
        0 <= room(p) - p.kept * TOKEN * math.floor(room(p) / p.kept / TOKEN) < p.kept * TOKEN
    )),
    Claim("each gets only its part", lambda p: p.kept > 1),
    Claim("You gave contracts and conversations the same length", lambda p: (
        room(p) / p.kept / TOKEN < CONTRACT
    )),
    Claim("That is one too many: the last conversation", lambda p: (
        (math.floor(room(p) / (p.sequence * TOKEN)) + 1) * p.sequence * TOKEN > room(p)
    )),
    Claim("A contract is as long as # conversations", lambda p: (
        math.isclose(CONTRACT * TOKEN / (p.sequence * TOKEN), CONTRACT / p.sequence)
    )),
    # Act 3.
    Claim("is right to about a tenth in most cases", lambda p: within_a_tenth() > 0.8),
    Claim("even large products reach only about two thirds of the peak", lambda p: (
        0.6 < REAL / PEAK < 0.7 and 0.6 < max(squares().values()) / PEAK < 0.7
        and EAGER > 3 * TEXTBOOK
    )),
    Claim("That is more than memory allows", lambda p: 1 / TEXTBOOK < 600),
    Claim("although the textbook needs only # to move all weights", lambda p: TEXTBOOK < EAGER),
    Claim("So memory is idle for most of the step", lambda p: REPLAYED < EAGER / 2),
    Claim("and launching one takes about # (calibrated)", lambda p: (
        STEP.launch_overhead > BARE.seconds.median / 1000
        and sum(
            timed.use.times * timed.use.launches
            for timed in GRAPH.uses
            if timed.one.time / timed.use.launches < STEP.launch_overhead
        ) > STEP.kernels / 2
    )),
    Claim("For one conversation the cache is small", lambda p: (
        TIMED_TOKENS * TOKEN < 0.05 * WEIGHTS
    )),
    Claim("In the calibrated form, attention takes about #", lambda p: (
        STEP.attention < 0.1 * STEP.time
    )),
    Claim("next to nothing in a step of #", lambda p: 2 * PARAMETERS / PEAK < 0.01 * EAGER),
    Claim("One token is far left of the ridge", lambda p: of_projection(1) < 0.05 * H200_RIDGE),
    Claim("gets # tokens/s where # tokens/s are possible", lambda p: REPLAYED < EAGER),
    Claim("Even in int8 the weights take #", lambda p: (
        # The memory is the slower of the two, so launches run ahead of it.
        2 * STEP.kernels * ORIN_LAUNCH < PARAMETERS * INT8 / ORIN_BANDWIDTH
    )),
    Reading("such steps, of # to # conversations, took", lambda p, n: (
        n[0] == len(WAITING) and n[1:3] == [1, 16]
        and all(map(math.isclose, n[3:], [about(min(WAITING)), about(max(WAITING))]))
        and sorted(WAITING)[len(WAITING) // 2] < EAGER
    )),
    Claim("the two agree: # calibrated, # measured", lambda p: (
        math.isclose(float(GRAPH.time), REPLAYED, rel_tol=0.05)
    )),
    Claim("a single chat is in time", lambda p: chat_times(p)[0] < p.target_ms / 1e3),
    Claim("A larger batch would make each token cheaper", lambda p: (
        job(p, 8) > job(p) and (p.replies + 8) / job(p, 8) > p.replies / job(p)
    )),
    Claim("and comes out slower", lambda p: job(p) < job_by_the_textbook(p)),
    Claim("where the GPU waits for the CPU", lambda p: job(p, launch="async") < job(p)),
    # Act 4.
    Claim("That is a thousand times too much", lambda p: 1e12 == 1e3 * 1e9),
    Claim("A small product stays below its roof", lambda p: own(p)[0] < own(p)[1]),
    Claim("This product lies right of your ridge", lambda p: square(p.own_n, FP32) > OWN_RIDGE),
    Claim("That is half of it: a multiply-add is two", lambda p: (
        p.own_n**2 * (p.own_n + p.own_n) == 2 * p.own_n**3
    )),
    Claim("whose best product was # as fast", lambda p: (
        OWN_BEST.peaks["fp32"] > OWN_BEST.peaks["fp64"]
    )),
    # Worked examples.
    Reading("moves three matrices of", lambda p, n: n[-2:] == [3, 150] and square(150) == 50),
    Claim("So large a product lies right of the ridge", lambda p: square(20000) > ORIN_RIDGE),
    Reading("T tokens do # T FLOP", lambda p, n: n == [1000, 2 * 1000 * 1000]),
    Reading("activations and results # T bytes each", lambda p, n: (
        n == [FP16 * 1000 * 1000, FP16 * 1000]
    )),
    Reading("Divided, that is # T / (# + # T)", lambda p, n: all(
        math.isclose(n[0] * t / (n[1] + n[2] * t), 2e6 * t / (2e6 + 2 * 2000 * t))
        for t in (1, 100, 1000)
    )),
    Reading("reaches the ridge when (# − # #) T = #, at # tokens", lambda p, n: (
        n[2] == A100_RIDGE and n[3] == 1000 * A100_RIDGE
        and math.isclose(1000 * n[4] / (1000 + 2 * n[4]), A100_RIDGE, rel_tol=0.01)
    )),
    Claim("and compute-bound: # at the peak, of which int8 saves half", lambda p: (
        H200_RIDGE < 1 / (1 / 8000 + 2 / 1024)
    )),
    Claim("serves a smaller model in fp16", lambda p: WEIGHTS > 6e9),
    # The end.
    Claim("with the same memory, only more FLOP per byte raise the rate", lambda p: (
        roof(square(SMALL), 2 * PEAK) == roof(square(SMALL)) < roof(square(2 * SMALL))
    )),
    Claim("# is left of every ridge in this course", lambda p: all(
        peak / device.bandwidth > NORM
        for device in devices.values()
        for peak in (*device.peaks.values(), *filter(None, [device.vector_peak]))
    )),
]  # fmt: skip

#: Designs of Lab 07, whose chain of three operations does 10 FLOP on two crossings of fp16, or six.
MATERIALS = {
    "from_lab_07": [
        ({"fusion_enabled": fused, "arithmetic_intensity": 10 / crossings / FP16}, True)
        for fused, crossings in ((True, 2), (False, 6))
    ],
    "launch_of_lab_07": [({"execution_mode": mode}, True) for mode in ("eager", "compiled")],
}

NOT_EVALUATED = {
    "## Act 2: One kernel to make faster": "a heading, which claims nothing",
    "look for the batch that writes the most tokens": "an instruction about an instrument",
    "Far below the peak, and stuck": "the subject of a message; its numbers are evaluated",
    "Every version runs fewer instructions": "what somebody saw, before any number",
    "This assumes that a matrix product always": "a belief that the feedback takes apart",
    "They call the ridge of the Orin NX “about #”": "a claim that the lab takes apart",
    "I can pay for making one of them faster": "what somebody can pay for",
    "The other half wants to fuse the small kernels": "opinions in a team",
    "its authors report # to #, not the #": "figures of the authors of FlashAttention",
    "times; fused, twice": "a count in symbols; what follows from it is evaluated",
    "not one byte more is moved": "follows from its being the same kernels",
    "By tonight I have to answer two more questions": "what somebody wants to know",
    "or give each of them more to do": "advice, with no claim in it",
}
