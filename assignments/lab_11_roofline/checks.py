"""The keys of lab_11_roofline. This file stays in the course; students never get it."""

import math
from collections.abc import Callable, Iterable
from pathlib import Path

from mlsys_widgets.instruments.serving_curve import Serving, serve
from mlsys_widgets.judging import Belief, ChoiceKey, Given, NumberKey
from mlsys_widgets.labs import Parameters
from mlsys_widgets.measured import (
    Ceilings,
    MeasurementError,
    Point,
    ceilings,
    load,
    points,
)
from mlsys_widgets.physics import (
    BYTES_PER_ELEMENT,
    Elementwise,
    Footprint,
    decode,
    devices,
    elementwise,
    footprint,
    fusion_strategies,
    gemm,
    kv_cache,
    projection,
    roofline,
    serving_time,
)
from mlsys_widgets.physics import format_quantity as q

from asks import DOCUMENT, H100, H200, LARGEST, LLAMA, MACHINE, decode_step, timed_product
from asks import act1_real as asked_real
from asks import act3_decode as asked_decode

A100 = devices["a100-sxm"]
COMMAND = f"mlsys measure --quick --cpu --out {MACHINE}"


def _apart(
    key: float, tolerance: float, beliefs: Iterable[Belief], *, absolute: float = 0.0
) -> list[Belief]:
    """Beliefs that can be told from the key and from each other, with these very numbers."""
    kept: list[Belief] = []
    for belief in beliefs:
        value = float(belief.value)
        others = [key, *(float(each.value) for each in kept)]
        reach = [2.1 * (tolerance * max(abs(value), abs(x)) + absolute) for x in others]
        if all(abs(value - x) > far for x, far in zip(others, reach, strict=True)):
            kept.append(belief)
    return kept


# Act 1


def act1_wall(given: Given) -> ChoiceKey:
    # A square product on the roof at the reported rate has this intensity.
    intensity = given.p.reported * 1e12 / H100.bandwidth
    return ChoiceKey("C" if intensity < H100.ridge("fp16") else "A")


def dense_share_pct(given: Given) -> NumberKey:
    rate = given.p.reported * 1e12
    dense, sparse = H100.peak("fp16"), H100.peak("fp16", sparse=True)
    return NumberKey(
        100 * rate / dense,
        tolerance=0.01,
        beliefs=[
            Belief(
                "sparse peak",
                100 * rate / sparse,
                credit=0.3,
                idea="the sparse peak is the peak",
                says="That is the dashboard's own percentage. Its peak of"
                f" {q(sparse, 'FLOP/s')} needs two of every four weights to be zero, and nothing"
                " here is pruned.",
            ),
            Belief(
                "fraction for percent",
                rate / dense,
                credit=0.6,
                form=True,
                says="You took the right peak, but this is a fraction; the question asks for"
                " percent.",
            ),
            Belief(
                "sparse peak, as a fraction",
                rate / sparse,
                credit=0.2,
                form=True,
                says="This is a fraction and not percent, and it is one of a peak that only pruned"
                " weights can reach.",
            ),
            Belief(
                "ratio inverted",
                dense / rate,
                credit=0.1,
                says="That is how many times the peak exceeds the rate. The question asks for the"
                " opposite: the rate as a percentage of the peak.",
            ),
            Belief(
                "peak of the A100",
                100 * rate / A100.peak("fp16"),
                credit=0.1,
                says=f"{q(A100.peak('fp16'), 'FLOP/s')} is the peak of an A100. This kernel runs on"
                f" an H100, whose dense peak is {q(dense, 'FLOP/s')}.",
            ),
        ],
        says="That is twice the dashboard's figure, because it divides dense work by a peak of"
        f" {q(sparse, 'FLOP/s')} that only pruned weights can reach.",
    )


def goal_gain_times(given: Given) -> NumberKey:
    rate, goal = given.p.reported * 1e12, given.p.goal_pct / 100
    dense, sparse = H100.peak("fp16"), H100.peak("fp16", sparse=True)
    right, tolerance = goal * dense / rate, 0.01
    wanted = q(goal * dense, "FLOP/s")
    beliefs = [
        Belief(
            "sparse peak",
            goal * sparse / rate,
            credit=0.3,
            idea="the sparse peak is the peak",
            says="That is with the dashboard's own peak. Its"
            f" {q(sparse, 'FLOP/s')} need two of every four weights to be zero, and nothing here is"
            " pruned.",
        ),
        Belief(
            "the whole peak",
            dense / rate,
            credit=0.4,
            says=f"That is all of the right peak. The director wants {given.p.goal_pct:g}% of it,"
            f" {wanted}.",
        ),
        Belief(
            "ratio inverted",
            1 / right,
            credit=0.3,
            says=f"That is the present rate over the {wanted} that are wanted. The question asks"
            " for the opposite.",
        ),
        Belief(
            "percentage of the present rate",
            1 + goal,
            credit=0.1,
            says=f"You added {given.p.goal_pct:g}% to the present rate. It is a percentage of the"
            f" peak, so {wanted} are wanted.",
        ),
        Belief(
            "peak of the A100",
            goal * A100.peak("fp16") / rate,
            credit=0.1,
            says=f"{q(A100.peak('fp16'), 'FLOP/s')} is the peak of an A100. This kernel runs on"
            f" an H100, whose dense peak is {q(dense, 'FLOP/s')}.",
        ),
    ]
    return NumberKey(
        right,
        tolerance=tolerance,
        beliefs=_apart(right, tolerance, beliefs),
        says=f"{given.p.goal_pct:g}% of the dense {q(dense, 'FLOP/s')} are {wanted}. The dashboard"
        f" would still show {q(goal * dense / sparse, '%')}, because it divides dense work by a"
        f" peak of {q(sparse, 'FLOP/s')} that only pruned weights can reach.",
    )


def _side(rate: float, width: float = 2) -> float:
    """Side of a square product whose roof is at a rate, left of the ridge."""
    one = gemm(1, 1, 1, width).intensity  # intensity grows in proportion to the side
    return rate / H100.bandwidth / one


def side_elements(given: Given) -> NumberKey:
    rate = given.p.reported * 1e12
    side, corner = _side(rate), _side(H100.peak("fp16"))
    share = rate / H100.peak("fp16", sparse=True)
    intensity = q(rate / H100.bandwidth, "FLOP/B")
    return NumberKey(
        side,
        tolerance=0.015,
        beliefs=[
            Belief(
                "intensity for the side",
                rate / H100.bandwidth,
                credit=0.5,
                says=f"That is the intensity, {intensity}. One step is missing: a square fp16"
                " product has an intensity of N / 3.",
            ),
            Belief(
                "result not counted",
                side * 2 / 3,
                credit=0.5,
                idea="only what is read is moved",
                says="You counted two matrices. They are read, and a third one is written, so its"
                " bytes count as well.",
            ),
            Belief(
                "half the FLOP, or four bytes",
                _side(rate, BYTES_PER_ELEMENT["fp32"]),
                credit=0.5,
                says="That is twice too large. A multiply-add is two FLOP, and an fp16 element has"
                " two bytes; one of these was missed.",
            ),
            Belief(
                "side at the ridge",
                corner,
                credit=0.0,
                says="That is where the slope meets the flat roof, at"
                f" {q(H100.peak('fp16'), 'FLOP/s')}. At {q(rate, 'FLOP/s')} the kernel is lower on"
                " the slope.",
            ),
            Belief(
                "sparse share of the dense ridge",
                share * corner,
                credit=0.2,
                says=f"You took the dashboard's {q(share, '%')} of the side at the ridge. That"
                " percentage is of the sparse peak, while the ridge is that of the dense one.",
            ),
        ],
        says=f"A product of this size does {intensity}, and its memory is as busy as it can be."
        " Better arithmetic cannot make it faster.",
    )


def merged_gain_times(given: Given) -> NumberKey:
    n, rate = given.p.n, given.p.reported * 1e12
    peak, bandwidth = H100.peak("fp16"), H100.bandwidth
    over = roofline(gemm(n, n, n).intensity, peak, bandwidth)
    gain, slope = over.attainable / rate, bandwidth * over.intensity / rate
    tolerance = 0.015
    beliefs = [
        Belief(
            "the slope beyond the ridge",
            slope,
            credit=0.4,
            says=f"You followed the slope to {q(slope * rate, 'FLOP/s')}, but at"
            f" {q(over.intensity, 'FLOP/B')} the product is right of the ridge, where the roof is"
            " flat.",
        ),
        Belief(
            "the flat roof left of the ridge",
            peak / rate,
            credit=0.4,
            says=f"You took the whole dense peak, but {q(over.intensity, 'FLOP/B')} lie left of the"
            f" ridge at {q(over.ridge, 'FLOP/B')}: there the roof is still the slope.",
        ),
        Belief(
            "sparse peak",
            H100.peak("fp16", sparse=True) / rate,
            credit=0.1,
            idea="the sparse peak is the peak",
            says=f"{q(H100.peak('fp16', sparse=True), 'FLOP/s')} is the peak for pruned weights,"
            " and these products are dense: no roof of theirs is that high.",
        ),
        Belief(
            "half the FLOP, or four bytes",
            min(peak, bandwidth * over.intensity / 2) / rate,
            credit=0.5,
            says="The intensity is half of what it should be. A multiply-add is two FLOP, and an"
            " fp16 element has two bytes.",
        ),
        Belief(
            "result not counted",
            min(peak, 1.5 * bandwidth * over.intensity) / rate,
            credit=0.5,
            idea="only what is read is moved",
            says="Two matrices are read and a third one is written; you left its bytes out, so the"
            " intensity came out 1.5 times too high.",
        ),
        Belief(
            "square of the sides",
            slope**2,
            credit=0.1,
            says="The elements of a matrix grow with N², but the intensity of a square product"
            " grows with N: twice the side is twice the FLOP per byte.",
        ),
        Belief(
            "FLOP in place of rate",
            slope**3,
            credit=0.1,
            says="That is how many times the FLOP of one product grow. Its rate grows with the"
            " intensity, which is in proportion to N.",
        ),
        Belief(
            "ratio inverted",
            1 / gain,
            credit=0.2,
            says="That is the old rate over the new one. The question asks how many times the"
            " present rate the merged products reach.",
        ),
    ]
    return NumberKey(
        gain,
        tolerance=tolerance,
        beliefs=_apart(gain, tolerance, beliefs),
        says=f"At {q(over.intensity, 'FLOP/B')} the merged products are {over.regime} and may reach"
        f" {q(over.attainable, 'FLOP/s')}. Size did what three weeks in the loop could not.",
    )


# A wrong option of a choice earns nothing, and a belief that is the same for everybody little: the
# same answers handed in by a whole class should not add up to much.
def best_lever(given: Given) -> ChoiceKey:
    p = given.p
    n, peak, bandwidth = p.lever_n, H100.peak("fp16"), H100.bandwidth
    intensity = gemm(n, n, n).intensity
    now = roofline(intensity, peak, bandwidth)
    byte = gemm(n, n, n, BYTES_PER_ELEMENT["int8"]).intensity
    gain = {
        "bandwidth": roofline(intensity, peak, p.more_bandwidth * bandwidth).attainable,
        "peak": roofline(intensity, p.more_peak * peak, bandwidth).attainable,
        "int8": roofline(byte, H100.peak("int8"), bandwidth).attainable,
    }
    gain = {lever: rate / now.attainable for lever, rate in gain.items()}
    best = max(gain, key=lambda lever: gain[lever])
    place = (
        f"At {q(intensity, 'FLOP/B')}, with the ridge at {q(now.ridge, 'FLOP/B')}, the product is"
        f" {now.regime}"
    )
    times = {lever: q(each, "×") for lever, each in gain.items()}
    names = {"bandwidth": "more bandwidth", "peak": "a higher peak", "int8": "int8"}
    won = f"while {names[best]} would give {times[best]}"
    beliefs = {
        "bandwidth": Belief(
            "more bandwidth for every product",
            "bandwidth",
            credit=0.0,
            says=f"{place}: more bandwidth gives {times['bandwidth']}, {won}."
            " Faster memory helps by its own factor at most, and only up to the ridge, which it"
            " moves to the left.",
        ),
        "peak": Belief(
            "more arithmetic for every product",
            "peak",
            credit=0.0,
            idea="arithmetic decides how long a kernel takes",
            says=f"{place}: a higher peak gives {times['peak']}, {won}. More"
            " arithmetic helps by its own factor at most, and only as far as memory keeps it busy.",
        ),
        "int8": Belief(
            "lower precision beats everything",
            "int8",
            credit=0.0,
            says=f"{place}: int8 halves the bytes and doubles the peak, which gives"
            f" {times['int8']} on either side of the ridge, {won} here.",
        ),
    }
    return ChoiceKey(
        best,
        beliefs=[belief for lever, belief in beliefs.items() if lever != best],
        says=f"{place}. Bandwidth gives {times['bandwidth']}, a higher peak {times['peak']}, and"
        f" int8 {times['int8']}, because it halves the bytes and doubles the peak.",
    )


def act1_real(given: Given) -> ChoiceKey:
    shares = asked_real(given.p).values
    reached = timed_product(LARGEST).attained / H200.peak("fp16")
    return ChoiceKey(min(shares, key=lambda key: abs(shares[key] - reached)))


def roof_products(given: Given) -> NumberKey:
    count, timed = given.p.count, timed_product(given.p.measured_n)
    peak, tolerance = H200.peak("fp16"), 0.015
    over = roofline(timed.intensity, peak, H200.bandwidth)
    share = timed.attained / over.attainable
    place = f"{q(timed.intensity, 'FLOP/B')}, with the ridge of the H200 at"
    place += f" {q(over.ridge, 'FLOP/B')}"

    def allowed(rate: float) -> float:
        return count * rate / timed.attained

    right = allowed(over.attainable)
    beliefs = [
        Belief(
            "double: sparse peak, or one FLOP for a multiply-add",
            2 * right,
            credit=0.4,
            says="That is twice too many: either you took the sparse peak for the roof, or you"
            " counted a multiply-add as one operation.",
        ),
        Belief(
            "the slope as roof",
            allowed(H200.bandwidth * timed.intensity),
            credit=0.3,
            says=f"You took bandwidth times intensity for the roof. The product does {place}: right"
            " of it the roof is flat.",
        ),
        Belief(
            "the peak as roof",
            allowed(peak),
            credit=0.4,
            says=f"You took the peak for the roof. The product does {place}: left of it the roof is"
            " the slope.",
        ),
        Belief(
            "percentage of the roof",
            100 * share,
            credit=0.5,
            says="That is the percentage of its roof that the product reached. One step is missing:"
            f" how many products the roof allows while {q(count)} are run.",
        ),
        Belief(
            "multiplied by the fraction",
            count * share,
            credit=0.3,
            says=f"That is less than the {q(count)} that were run. A roof cannot be exceeded, so in"
            " the same time it allows more of them: divide by the fraction.",
        ),
        Belief(
            "peak of the A100",
            allowed(A100.peak("fp16")),
            credit=0.1,
            says=f"You took {q(A100.peak('fp16'), 'FLOP/s')} for the roof, the peak of an A100."
            " This product ran on an H200.",
        ),
    ]
    return NumberKey(
        right,
        tolerance=tolerance,
        beliefs=_apart(right, tolerance, beliefs),
        says=f"{q(timed.attained, 'FLOP/s')} out of {q(over.attainable, 'FLOP/s')}: a roof says"
        " what cannot be exceeded, and a stopwatch says what happens.",
    )


# Act 2


def act2_kernels(given: Given) -> ChoiceKey:
    ridge = H100.ridge("fp16")
    tokens = given.p.prompts * given.p.sequence
    kernels = elementwise(1), projection(1, 1, LLAMA.width), projection(tokens, 1, LLAMA.width)
    waits = [bool(kernel.intensity < ridge) for kernel in kernels]
    return ChoiceKey("B" if waits == [True, True, False] else "A")


def ridge_tokens(given: Given) -> NumberKey:
    width, outputs = given.p.width, given.p.outputs
    ridge, sparse = H100.ridge("fp16"), H100.ridge("fp16", sparse=True)

    def turns(at: float, *sides: float) -> float:
        # In fp16, 1 / I = 1 / T + 1 / D + 1 / F: solved for T where I is at the ridge.
        return float(1 / (1 / at - sum(1 / side for side in sides)))

    right, tolerance = turns(ridge, width, outputs), 0.01
    beliefs = [
        Belief(
            "weights only",
            turns(ridge),
            credit=0.1,
            says="You counted the weights only. They are nearly all that moves while there are few"
            " tokens, but near the ridge the activations that are read and the results that are"
            " written count too, so it takes more tokens than that.",
        ),
        Belief(
            "result not counted",
            turns(ridge, outputs),
            credit=0.3,
            idea="only what is read is moved",
            says=f"You left out the result: {outputs:,} elements are written for every token, and"
            " these bytes count as well.",
        ),
        Belief(
            "input not counted",
            turns(ridge, width),
            credit=0.3,
            says=f"You left out the input: {width:,} elements are read for every token, and these"
            " bytes count as well.",
        ),
        Belief(
            "double: sparse ridge, one FLOP for a multiply-add, or four bytes",
            turns(sparse, width, outputs),
            credit=0.3,
            says="A factor of two went in once too often: the ridge is that of dense weights,"
            f" {q(ridge, 'FLOP/B')}, a multiply-add is two operations, and fp16 has two bytes.",
        ),
        Belief(
            "ridge of the A100",
            turns(A100.ridge("fp16"), width, outputs),
            credit=0.2,
            says="That is where an A100 turns, with its ridge at"
            f" {q(A100.ridge('fp16'), 'FLOP/B')}. The ridge of an H100 is at"
            f" {q(ridge, 'FLOP/B')}.",
        ),
    ]
    return NumberKey(
        right,
        tolerance=tolerance,
        absolute=0.5,
        beliefs=_apart(right, tolerance, beliefs, absolute=0.5),
        says="A decode step has one token for each conversation, so it takes hundreds of them at"
        " once before arithmetic sets the pace of a projection.",
    )


def _scores(given: Given, share: float = 1.0) -> Elementwise:
    count = given.p.prompts * LLAMA.heads * given.p.sequence**2
    return elementwise(count, traffic_share=share)


def softmax_saved_ms(given: Given) -> NumberKey:
    full = fusion_strategies["full"].traffic_share

    def ms(moved: float) -> float:
        return 1e3 * moved / H100.bandwidth

    scores = _scores(given)
    whole = ms(scores.bytes)
    saved = whole - ms(_scores(given, full).bytes)
    row = given.p.prompts * given.p.sequence * LLAMA.width
    return NumberKey(
        saved,
        tolerance=0.015,
        beliefs=[
            Belief(
                "time that is left",
                ms(_scores(given, full).bytes),
                credit=0.5,
                says="That is one crossing of three: how long the fused kernel still takes. The"
                " question asks for the time that fusing saves, which is the other two.",
            ),
            Belief(
                "time before fusing",
                whole,
                credit=0.3,
                says="That is the whole time before fusing, for all"
                f" {q(scores.bytes, 'B')} of traffic. Some of it stays.",
            ),
            Belief(
                "one head",
                saved / LLAMA.heads,
                credit=0.4,
                says=f"Those are the scores of one head. Each of the {q(LLAMA.heads)} heads has its"
                " own scores.",
            ),
            Belief(
                "the tensor of a layer norm",
                saved * row / scores.elements,
                credit=0.3,
                says="You took a tensor of tokens times model width. Softmax works on the scores:"
                " every token against every token, for every head.",
            ),
            Belief(
                "seconds for ms",
                saved / 1e3,
                credit=0.5,
                form=True,
                says="That is the time in seconds; the question asks for milliseconds, of which a"
                " second has a thousand.",
            ),
            Belief(
                "four bytes",
                2 * saved,
                credit=0.5,
                says="That is twice too long: an fp16 element has two bytes; one of fp32 would have"
                " four.",
            ),
        ],
        says=f"Not one FLOP less, and {q(1 - full, '%')} of the time is gone, because all of it was"
        " traffic.",
    )


def kernel_to_fund(given: Given) -> ChoiceKey:
    p, left = given.p, fusion_strategies["full"].traffic_share
    tokens = p.prompts * p.prompt

    def seconds(precision: str) -> float:
        kernel = projection(p.prompts, p.prompt, LLAMA.width, BYTES_PER_ELEMENT[precision])
        over = roofline(kernel.intensity, H100.peak(precision), H100.bandwidth)
        return float(kernel.flops / over.attainable)

    def fused(elements: float) -> float:
        return float((1 - left) * elementwise(elements).bytes / H100.bandwidth)

    kernel = projection(p.prompts, p.prompt, LLAMA.width)
    over = roofline(kernel.intensity, H100.peak("fp16"), H100.bandwidth)
    saved = {
        "p": seconds("fp16") - seconds("int8"),
        "n": fused(tokens * LLAMA.width),
        "s": fused(tokens * LLAMA.heads * p.prompt),
    }
    order = "".join(sorted(saved, key=lambda offer: -saved[offer]))
    times = (
        f"int8 saves {q(saved['p'], 's')}, fusing layer norm {q(saved['n'], 's')}, and fusing"
        f" softmax {q(saved['s'], 's')}"
    )
    beliefs = {
        "spn": Belief(
            "scores are always the largest tensor",
            "spn",
            credit=0.0,
            says=f"With prompts of {p.prompt:,} tokens, {times}. Scores grow with the square of the"
            " length, so softmax wins only when prompts are long.",
        ),
        "psn": Belief(
            "FLOP first, then the scores",
            "psn",
            credit=0.0,
            says=f"With prompts of {p.prompt:,} tokens, {times}. Compare the three tensors at this"
            " very length, and remember that the scores grow with its square.",
        ),
        "pns": Belief(
            "FLOP first, scores last",
            "pns",
            credit=0.0,
            says=f"With prompts of {p.prompt:,} tokens, {times}. The scores outgrow the tensor of a"
            f" layer norm at {q(LLAMA.width / LLAMA.heads)} tokens.",
        ),
    }
    return ChoiceKey(
        order,
        beliefs=[belief for option, belief in beliefs.items() if option != order],
        says=f"Here {times}. This projection is {over.regime}, but on either side of the ridge int8"
        " halves its time.",
    )


def _kept_in_memory(p: Parameters) -> tuple[Footprint, float, float]:
    """An H100 with one token in its cache, the bytes of all contracts, and what both leave."""
    one = footprint(LLAMA, H100, 1, 1)
    opened = kv_cache(LLAMA, p.documents, DOCUMENT)
    return one, opened, one.memory - one.weights - one.activations - opened


def _memory_missed(p: Parameters, fitting: Callable[[float, float], int]) -> list[Belief]:
    """Beliefs about what shares the memory; ``fitting`` takes the bytes of room and of a token."""
    one, opened, room = _kept_in_memory(p)
    full = LLAMA.heads / LLAMA.kv_heads
    return [
        Belief(
            "documents left out",
            fitting(room + opened, one.kv_cache),
            credit=0.3,
            says="That is right for an otherwise empty GPU. But the contracts take"
            f" {q(opened, 'B')} of the cache before the first conversation starts.",
        ),
        Belief(
            "activations left out",
            fitting(room + one.activations, one.kv_cache),
            credit=0.5,
            says=f"Activations need {q(one.activations, 'B')} while the model runs, and you left no"
            " memory for them.",
        ),
        Belief(
            "weights left out",
            fitting(room + one.weights, one.kv_cache),
            credit=0.4,
            says=f"The weights stay in memory as well, {q(one.weights, 'B')} of them; the cache"
            " gets what they leave.",
        ),
        Belief(
            "cache alone",
            fitting(one.memory - opened, one.kv_cache),
            credit=0.2,
            says="You gave the whole device to the cache. The model itself has to be in it, too:"
            f" {q(one.weights + one.activations, 'B')} of weights and activations.",
        ),
        Belief(
            "full heads for grouped-query",
            fitting(room + opened - full * opened, full * one.kv_cache),
            credit=0.4,
            says=f"That is with keys and values for each of {q(LLAMA.heads)} heads. In this model"
            f" {q(LLAMA.kv_heads)} KV heads serve them all.",
        ),
    ]


def beside_conversations(given: Given) -> NumberKey:
    p = given.p
    one, opened, room = _kept_in_memory(p)

    def fitting(left: float, token: float) -> int:
        return math.floor(left / (p.sequence * token))

    right = fitting(room, one.kv_cache)
    up = Belief(
        "rounded up",
        right + 1,
        credit=0.6,
        says="That is one too many: the last conversation must fit as a whole, so round down.",
    )
    beliefs = [
        Belief(
            "documents counted as conversations",
            fitting(room + opened, one.kv_cache) - p.documents,
            credit=0.3,
            says="You took off one conversation for each contract. A contract is as long as"
            f" {q(DOCUMENT / p.sequence)} conversations, and takes as much memory.",
        ),
        *_memory_missed(p, fitting),
    ]
    possible = [belief for belief in beliefs if float(belief.value) >= 3]
    kept = _apart(right, 0.0, possible, absolute=0.6)
    return NumberKey(
        right,
        tolerance=0.0,
        absolute=0.5,
        beliefs=[up, *(each for each in kept if abs(float(each.value) - right - 1) > 1.2)],
        says=f"{q(room, 'B')} are left for conversations, {q(p.sequence * one.kv_cache, 'B')} each."
        " One more, and the service is out of memory: capacity is a wall of its own.",
    )


def conversation_tokens(given: Given) -> NumberKey:
    p, tolerance = given.p, 0.01
    one, opened, room = _kept_in_memory(p)

    def fitting(left: float, token: float) -> int:
        return math.floor(left / (p.kept * token))

    right = fitting(room, one.kv_cache)
    beliefs = [
        Belief(
            "all conversations together",
            math.floor(room / one.kv_cache),
            credit=0.4,
            says=f"That many tokens fit in all. The {p.kept} conversations share them, so each gets"
            " only its part.",
        ),
        Belief(
            "documents counted as conversations",
            math.floor((room + opened) / (p.kept + p.documents) / one.kv_cache),
            credit=0.3,
            says="You gave contracts and conversations the same length. The contracts have"
            f" {DOCUMENT:,} tokens each, whatever that leaves for the others.",
        ),
        *_memory_missed(p, fitting),
    ]
    possible = [belief for belief in beliefs if float(belief.value) >= 50]
    return NumberKey(
        right,
        tolerance=tolerance,
        absolute=0.5,
        beliefs=_apart(right, tolerance, possible),
        says=f"{q(room, 'B')} are left, {q(room / p.kept, 'B')} for each conversation. A few tokens"
        " more, and the service is out of memory: capacity is a wall of its own.",
    )


# Act 3


def act3_decode(given: Given) -> ChoiceKey:
    rates = asked_decode(given.p).values
    took = decode_step("eager").seconds.median
    return ChoiceKey(min(rates, key=lambda key: abs(math.log(rates[key] * took))))


def _chats(given: Given) -> Serving:
    """One chat, and all larger numbers of them, as the serving explorer has them."""
    p = given.p
    context, target = float(p.chat_tokens), p.target_ms / 1e3
    return serve(H200.key, "calibrated", "fp16", "async", 1.0, context, target)


# Reading the explorer is the skill here, so it carries 3 points only.
def first_limit(given: Given) -> ChoiceKey:
    chats, target = _chats(given), f"{given.p.target_ms} ms"
    best = chats.largest_batch
    first = "alone" if not best else "memory" if best == chats.fits else "target"
    alone = q(float(f"{chats.times.at(1):.2g}"), "s")
    full = q(float(f"{chats.times.at(chats.fits):.2g}"), "s")
    numbers = (
        f"a token takes about {alone} for one chat and about {full} for the {q(chats.fits)} that"
        f" fit, and the target is {target}"
    )
    beliefs = {
        "alone": Belief(
            "one chat is slow already",
            "alone",
            credit=0.0,
            says=f"By the calibrated form {numbers}. Set batch 1 in the explorer: a single chat is"
            " in time.",
        ),
        "target": Belief(
            "latency always ends first",
            "target",
            credit=0.0,
            says=f"By the calibrated form {numbers}. Compare the target with the first and the last"
            " batch that fits.",
        ),
        "memory": Belief(
            "memory always ends first",
            "memory",
            credit=0.0,
            says=f"By the calibrated form {numbers}. Memory would be the limit only if its last"
            " chat were still in time.",
        ),
    }
    return ChoiceKey(
        first,
        beliefs=[belief for option, belief in beliefs.items() if option != first],
        says=f"By the calibrated form {numbers}. Which wall is closer depends on the promise and on"
        " the length of the chats.",
    )


def job_cost_dollars(given: Given) -> NumberKey:
    p = given.p
    asked = LLAMA, H200, "decode", p.replies, p.chat_tokens
    rates = {launch: serving_time(*asked, launch=launch) for launch in ("graph", "async")}
    textbook = decode(LLAMA, H200, p.replies, p.chat_tokens)

    def dollars(tokens_per_second: float) -> float:
        return p.millions * 1e6 / tokens_per_second / 3600 * p.price

    rate = float(rates["graph"].tokens_per_second)
    right = dollars(rate)
    hours = q(float(f"{right / p.price:.2g}"))
    # The explorer shows two digits, as many as the calibrated form knows: up to 5 % off.
    tolerance = 0.05
    beliefs = [
        Belief(
            "textbook for calibrated",
            dollars(float(textbook.tokens_per_second)),
            credit=0.2,
            says="That is the price by the textbook, with every byte at the rate of the datasheet."
            " The calibrated form adds up kernels as they were measured, and comes out slower.",
        ),
        Belief(
            "launched one by one",
            dollars(float(rates["async"].tokens_per_second)),
            credit=0.3,
            says="That is with kernels launched one by one, where the GPU waits for the CPU. The"
            " job replays them as a graph.",
        ),
        Belief(
            "rate of one conversation",
            dollars(rate / p.replies),
            credit=0.2,
            says="You took the rate of each conversation. All"
            f" {p.replies} of them write at the same time, so the whole device counts.",
        ),
        Belief(
            "price left out",
            right / p.price,
            credit=0.2,
            says="Those are hours, and the question asks for dollars: each hour of this"
            f" GPU costs ${p.price:.2f}.",
        ),
        Belief(
            "per minute",
            60 * right,
            credit=0.3,
            says="You charged the hourly price for every minute: 3,600 seconds make an hour, not"
            " 60.",
        ),
    ]
    return NumberKey(
        right,
        tolerance=tolerance,
        beliefs=_apart(right, tolerance, beliefs),
        says=f"At about {q(float(f'{rate:.2g}'), 'tokens/s')} the job takes about {hours} hours."
        " A larger batch would make each token cheaper, and each conversation slower.",
    )


# Act 4: the key is what lies beside the notebook. In a sweep everybody has the same example there,
# so these two have few distinct keys; real machines differ from one another.


def _machine(folder: Path) -> tuple[Ceilings, list[Point]]:
    """What the student measured, or a refusal that says what to do about it."""
    path = folder / MACHINE
    if not path.is_file():
        raise ValueError(f"{MACHINE} is not beside the notebook; it is made by: {COMMAND}")
    try:
        document = load(path)
        found, timed = ceilings(document), points(document, "fp32", "gemm")
    except MeasurementError as problem:
        said = str(problem).replace(str(path), MACHINE)
        raise ValueError(f"{said} Take it again: {COMMAND}") from None
    if "fp32" not in found.peaks or not found.bandwidth:
        raise ValueError(f"{MACHINE} has no fp32 product or no stream. Take it again: {COMMAND}")
    return found, timed


def own_ridge_flop_per_byte(given: Given) -> NumberKey:
    found, _ = _machine(given.folder)
    peak, bandwidth = found.peaks["fp32"], found.bandwidth
    assert bandwidth is not None
    ridge, tolerance = peak / bandwidth, 0.03
    beliefs = [
        Belief(
            "ratio inverted",
            bandwidth / peak,
            credit=0.2,
            says="That is bytes per FLOP. A ridge is the other way around: FLOP per byte.",
        ),
        Belief(
            "per element",
            ridge * BYTES_PER_ELEMENT["fp32"],
            credit=0.5,
            says="That is FLOP for each element. An fp32 element has four bytes, and a ridge counts"
            " bytes.",
        ),
        Belief(
            "ridge of the H100 in fp16",
            H100.ridge("fp16"),
            credit=0.0,
            says="That is the fp16 ridge of an H100. Your machine has a ridge of its own, which you"
            " measured.",
        ),
        Belief(
            "ridge of the H100 in fp32",
            H100.ridge("fp32"),
            credit=0.0,
            says="That is the fp32 ridge of an H100. Divide your own best rate by your own best"
            " bandwidth.",
        ),
        Belief(
            "prefixes mixed",
            1e-3 * ridge,
            credit=0.4,
            form=True,
            says="A factor of a thousand was lost: GFLOPS go with GB/s, and TFLOPS with TB/s.",
        ),
        Belief(
            "prefixes mixed, the other way",
            1e3 * ridge,
            credit=0.4,
            form=True,
            says="That is a thousand times too much: GFLOPS go with GB/s, and TFLOPS with TB/s.",
        ),
    ]
    if "fp64" in found.peaks:
        beliefs.insert(
            2,
            Belief(
                "fp64 for fp32",
                found.peaks["fp64"] / bandwidth,
                credit=0.4,
                says="You took the best fp64 product. The question is about fp32, whose best"
                f" product was {q(peak / found.peaks['fp64'], '×')} as fast.",
            ),
        )
    return NumberKey(
        ridge,
        tolerance=tolerance,
        beliefs=_apart(ridge, tolerance, beliefs),
        says="You measured it: both of its parts come from your own machine, and no datasheet was"
        " involved.",
    )


def own_share_pct(given: Given) -> NumberKey:
    found, timed = _machine(given.folder)
    peak, bandwidth = found.peaks["fp32"], found.bandwidth
    assert bandwidth is not None
    n = given.p.own_n
    # A GPU's document has several variants of a product; the best of them is what it can do.
    sized = [point for point in timed if point.shape["n"] == n and point.is_square]
    if not sized:
        raise ValueError(f"{MACHINE} has no fp32 product of N = {n}. Take it again: {COMMAND}")
    best = max(sized, key=lambda point: point.attained)
    roof = roofline(best.intensity, peak, bandwidth)
    share, tolerance = best.attained / roof.attainable, 0.03
    beliefs = [
        Belief(
            "fraction for percent",
            share,
            credit=0.6,
            says="The number is right, but it is a fraction; the question asks for it in percent.",
        ),
        Belief(
            "the slope as roof",
            100 * best.attained / (bandwidth * best.intensity),
            credit=0.4,
            says="You divided by bandwidth times intensity. This product lies right of your ridge,"
            " where the roof is flat.",
        ),
        Belief(
            "the peak as roof",
            100 * best.attained / peak,
            credit=0.4,
            says="You divided by the peak. This product lies left of your ridge, where the roof is"
            " the slope.",
        ),
        Belief(
            "one FLOP for a multiply-add",
            50 * share,
            credit=0.4,
            says="That is half of it: a multiply-add is two operations, so a product has 2N³.",
        ),
        Belief(
            "roof of the H100",
            100 * best.attained / H100.peak("fp32"),
            credit=0.1,
            says="That is a percentage of what an H100 could do. Your machine has a roof of its"
            " own.",
        ),
        Belief(
            "rate for share",
            best.attained / 1e9,
            credit=0.1,
            says="That is the rate in GFLOPS. The question asks what percentage of your roof that"
            " is.",
        ),
    ]
    return NumberKey(
        100 * share,
        tolerance=tolerance,
        beliefs=_apart(100 * share, tolerance, beliefs),
        says="A small product stays below its roof, because starting it and filling all cores takes"
        " time, too."
        if share < 1
        else "Above the roof, and no mistake: matrices this small stay in a cache, and the slope is"
        " that of the memory behind it.",
    )
