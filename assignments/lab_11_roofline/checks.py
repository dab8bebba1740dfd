"""The keys of lab_11_roofline. This file stays in the course; students never get it."""

import math
from pathlib import Path

from mlsys_widgets.grading import Belief, ChoiceKey, Given, NumberKey
from mlsys_widgets.measured import (
    Ceilings,
    MeasurementError,
    Point,
    cases,
    ceilings,
    load,
    points,
)
from mlsys_widgets.physics import (
    BYTES_PER_ELEMENT,
    Elementwise,
    devices,
    elementwise,
    footprint,
    fusion_strategies,
    gemm,
    kv_cache,
    projection,
    roofline,
    workloads,
)

H100 = devices["h100-sxm"]
H200 = devices["h200-sxm"]
A100 = devices["a100-sxm"]
LLAMA = workloads["llama3-8b"]
MACHINE = "machine.json"
COMMAND = f"mlsys measure --quick --cpu --out {MACHINE}"


# Act 1


def act1_wall(given: Given) -> ChoiceKey:
    # A square product on the roof at the reported rate has this intensity.
    intensity = given.p.reported * 1e12 / H100.bandwidth
    return ChoiceKey("C" if intensity < H100.ridge("fp16") else "D")


def dense_share_pct(given: Given) -> NumberKey:
    rate = given.p.reported * 1e12
    dense, sparse = H100.peak("fp16"), H100.peak("fp16", sparse=True)
    return NumberKey(
        100 * rate / dense,
        tolerance=0.02,
        beliefs=[
            Belief(
                "sparse peak",
                100 * rate / sparse,
                credit=0.3,
                says="That is the dashboard's own fraction. The peak beneath it needs two of every"
                " four weights to be zero, and nothing here is pruned.",
            ),
            Belief(
                "fraction for percent",
                rate / dense,
                credit=0.6,
                form=True,
                says="The right peak, but a fraction: the answer is asked for in percent.",
            ),
            Belief(
                "sparse peak, as a fraction",
                rate / sparse,
                credit=0.2,
                form=True,
                says="A fraction and not percent, and of a peak that only pruned weights can"
                " reach.",
            ),
            Belief(
                "ratio inverted",
                dense / rate,
                credit=0.1,
                says="That is how many times the peak exceeds the rate; the question asks for the"
                " share.",
            ),
            Belief(
                "peak of the A100",
                100 * rate / A100.peak("fp16"),
                credit=0.1,
                says="That peak belongs to the A100. This kernel runs on an H100.",
            ),
        ],
        says="Twice the dashboard's figure: it divides dense work by the peak of pruned weights.",
    )


def _side(rate: float, width: float = 2) -> float:
    """Side of a square product whose roof is at a rate, left of the ridge."""
    one = gemm(1, 1, 1, width).intensity  # intensity grows in proportion to the side
    return rate / H100.bandwidth / one


def side_elements(given: Given) -> NumberKey:
    rate = given.p.reported * 1e12
    side = _side(rate)
    share = rate / H100.peak("fp16", sparse=True)
    return NumberKey(
        side,
        tolerance=0.015,
        beliefs=[
            Belief(
                "intensity for the side",
                rate / H100.bandwidth,
                credit=0.5,
                says="That is the intensity in FLOP per byte. One step is missing: from the"
                " intensity of a square product to its side.",
            ),
            Belief(
                "result not counted",
                side * 2 / 3,
                credit=0.5,
                says="Two matrices are read, and a third is written: its bytes count as well.",
            ),
            Belief(
                "half the FLOP, or four bytes",
                _side(rate, BYTES_PER_ELEMENT["fp32"]),
                credit=0.5,
                says="Twice too large: a multiply-add is two FLOP, and an element of fp16 has two"
                " bytes. One of the two was missed.",
            ),
            Belief(
                "side at the ridge",
                _side(H100.peak("fp16")),
                credit=0.2,
                says="That is where the slope meets the flat roof. The kernel is lower on the"
                " slope.",
            ),
            Belief(
                "sparse share of the dense ridge",
                share * _side(H100.peak("fp16")),
                credit=0.2,
                says="You took the dashboard's share of the side at the ridge. The share is of the"
                " sparse peak, the ridge of the dense one.",
            ),
        ],
        says="A product that small cannot do better: its memory is as busy as it can be.",
    )


def roof_tflops(given: Given) -> NumberKey:
    n = given.p.n
    peak, bandwidth = H100.peak("fp16"), H100.bandwidth
    roof = roofline(gemm(n, n, n).intensity, peak, bandwidth)
    wide = roofline(gemm(n, n, n, BYTES_PER_ELEMENT["fp32"]).intensity, peak, bandwidth)
    return NumberKey(
        roof.attainable / 1e12,
        tolerance=0.02,
        beliefs=[
            Belief(
                "the dense peak",
                peak / 1e12,
                credit=0.2,
                says="That is the flat part of the roof. Compare the intensity of this product with"
                " the ridge: it is still on the slope.",
            ),
            Belief(
                "the sparse peak",
                H100.peak("fp16", sparse=True) / 1e12,
                credit=0.0,
                says="That is the advertised peak for pruned weights, and the product is dense and"
                " left of the ridge.",
            ),
            Belief(
                "half the FLOP, or four bytes",
                wide.attainable / 1e12,
                credit=0.5,
                says="Half of what it can attain: a multiply-add is two FLOP, and an element of"
                " fp16 has two bytes.",
            ),
            Belief(
                "result not counted",
                1.5 * roof.attainable / 1e12,
                credit=0.5,
                says="Two matrices are read and a third is written; the third was left out.",
            ),
            Belief(
                "GFLOPS for TFLOPS",
                roof.attainable / 1e9,
                credit=0.5,
                form=True,
                says="That is in GFLOPS; the answer is asked for in TFLOPS.",
            ),
        ],
        says="Still memory-bound, and well above the small products: size is what moves it.",
    )


def precision_effect(given: Given) -> ChoiceKey:
    n = given.p.n
    half, byte = (
        roofline(gemm(n, n, n, BYTES_PER_ELEMENT[p]).intensity, H100.peak(p), H100.bandwidth)
        for p in ("fp16", "int8")
    )
    same = half.regime == byte.regime and math.isclose(half.mfu, byte.mfu, rel_tol=0.01)
    return ChoiceKey(
        "rate" if same else "regime",
        beliefs=[
            Belief(
                "ridge does not move",
                "regime",
                credit=0.3,
                says="The intensity does double. But the int8 peak is twice that of fp16, so the"
                " ridge moves just as far.",
            ),
            Belief(
                "peak does not move",
                "share",
                credit=0.2,
                says="The rate doubles, and so does the peak that it is divided by.",
            ),
            Belief(
                "intensity does not depend on precision",
                "nothing",
                credit=0.0,
                says="As many operations on half the bytes: FLOP for each byte double.",
            ),
        ],
        says="Half the bytes double the intensity; a doubled peak doubles the ridge. You gain time,"
        " and no share.",
    )


def _timed(n: int) -> Point:
    return points("h200-sxm", "fp16", "gemm", variant="graph", m=n, n=n, k=n)[0]


def act1_real(given: Given) -> ChoiceKey:
    # The shares that the options of asks.py stand for.
    shares = {"A": 0.97, "B": 0.8, "C": 0.65, "D": 0.35}
    timed = points("h200-sxm", "fp16", "gemm", variant="graph")
    largest = max((point for point in timed if point.is_square), key=lambda point: point.shape["n"])
    reached = largest.attained / H200.peak("fp16")
    return ChoiceKey(min(shares, key=lambda key: abs(shares[key] - reached)))


def measured_share_pct(given: Given) -> NumberKey:
    timed = _timed(given.p.measured_n)
    peak = H200.peak("fp16")
    roof = roofline(timed.intensity, peak, H200.bandwidth)
    share = timed.attained / roof.attainable
    return NumberKey(
        100 * share,
        tolerance=0.02,
        beliefs=[
            Belief(
                "half: sparse peak, or one FLOP for a multiply-add",
                100 * timed.attained / H200.peak("fp16", sparse=True),
                credit=0.4,
                says="Half of it: either you divided by the sparse peak, or counted a multiply-add"
                " as one operation.",
            ),
            Belief(
                "the slope as roof",
                100 * timed.attained / (H200.bandwidth * timed.intensity),
                credit=0.3,
                says="You divided by bandwidth times intensity. Right of the ridge the roof is"
                " flat.",
            ),
            Belief(
                "fraction for percent",
                share,
                credit=0.6,
                form=True,
                says="Right, but as a fraction: the answer is asked for in percent.",
            ),
            Belief(
                "peak of the A100",
                100 * timed.attained / A100.peak("fp16"),
                credit=0.1,
                says="You divided by the peak of an A100; this is an H200.",
            ),
        ],
        says="Even a large product from a good library stays well below its roof.",
    )


# Act 2


def act2_kernels(given: Given) -> ChoiceKey:
    ridge = H100.ridge("fp16")
    tokens = given.p.prompts * given.p.sequence
    kernels = elementwise(1), projection(1, 1, LLAMA.width), projection(tokens, 1, LLAMA.width)
    waits = [bool(kernel.intensity < ridge) for kernel in kernels]
    return ChoiceKey("B" if waits == [True, True, False] else "A")


def ridge_tokens(given: Given) -> NumberKey:
    width = given.p.width
    ridge, sparse = H100.ridge("fp16"), H100.ridge("fp16", sparse=True)

    def turns(at: float, activations: int = 2) -> float:
        # T·D·D·2 / (2·(activations·T·D + D·D)) = at, solved for T.
        return at * width / (width - activations * at)

    return NumberKey(
        turns(ridge),
        tolerance=0.015,
        absolute=1.0,
        beliefs=[
            Belief(
                "weights only",
                turns(ridge, 0),
                credit=0.6,
                says="Close: with few tokens the weights are nearly all that moves. But the"
                " activations that are read and written move as well.",
            ),
            Belief(
                "activations moved once",
                turns(ridge, 1),
                credit=0.6,
                says="Activations cross memory twice: they are read, and the result is written.",
            ),
            Belief(
                "double: sparse ridge, one FLOP for a multiply-add, or four bytes",
                turns(sparse),
                credit=0.3,
                says="A factor of two went in too often: the ridge is that of dense weights, a"
                " multiply-add is two operations, and fp16 has two bytes.",
            ),
            Belief(
                "ridge of the A100",
                turns(A100.ridge("fp16")),
                credit=0.2,
                says="That is where an A100 turns. The H100 has a ridge of its own.",
            ),
        ],
        says="A decode step has one token for each conversation: it takes hundreds of them.",
    )


def _scores(given: Given, share: float = 1.0) -> Elementwise:
    count = given.p.prompts * LLAMA.heads * given.p.sequence**2
    return elementwise(count, traffic_share=share)


def softmax_saved_ms(given: Given) -> NumberKey:
    full, partial = (fusion_strategies[key].traffic_share for key in ("full", "partial"))

    def ms(moved: float) -> float:
        return 1e3 * moved / H100.bandwidth

    whole = ms(_scores(given).bytes)
    saved = whole - ms(_scores(given, full).bytes)
    row = given.p.prompts * given.p.sequence * LLAMA.width
    return NumberKey(
        saved,
        tolerance=0.02,
        beliefs=[
            Belief(
                "time that is left",
                ms(_scores(given, full).bytes),
                credit=0.5,
                says="That is how long the fused kernel still takes. The question is what it"
                " saves.",
            ),
            Belief(
                "time before fusing",
                whole,
                credit=0.3,
                says="That is the whole time before fusing. Some of it stays.",
            ),
            Belief(
                "partial fusion",
                whole - ms(_scores(given, partial).bytes),
                credit=0.5,
                says="That is what fusing softmax with layer norm saves. The question is about all"
                " element-wise kernels.",
            ),
            Belief(
                "one head",
                saved / LLAMA.heads,
                credit=0.4,
                says="Those are the scores of one head. Every head has its own.",
            ),
            Belief(
                "the tensor of a layer norm",
                saved * row / _scores(given).elements,
                credit=0.3,
                says="That is a tensor of tokens times model width. Softmax works on the scores:"
                " each token against each, for every head.",
            ),
            Belief(
                "seconds for ms",
                saved / 1e3,
                credit=0.5,
                form=True,
                says="That is the time in seconds; the answer is asked for in ms.",
            ),
            Belief(
                "four bytes",
                2 * saved,
                credit=0.5,
                says="Twice too long: an element of fp16 has two bytes.",
            ),
        ],
        says="No FLOP less, and most of the time gone: it was all traffic.",
    )


def kernel_to_fund(given: Given) -> ChoiceKey:
    p, share = given.p, fusion_strategies["full"].traffic_share
    # At its roof, right of the ridge, a projection has nothing left to gain from fewer bytes.
    product = projection(p.prompts, p.sequence, LLAMA.width)
    over = roofline(product.intensity, H100.peak("fp16"), H100.bandwidth)
    norm = elementwise(p.prompts * p.sequence * LLAMA.width)
    gain = {
        "projection": (1 - share) * product.bytes if over.memory_bound else 0.0,
        "layernorm": (1 - share) * norm.bytes,
        "softmax": (1 - share) * _scores(given).bytes,
    }
    return ChoiceKey(
        max(gain, key=lambda key: gain[key]),
        beliefs=[
            Belief(
                "FLOP for time",
                "projection",
                credit=0.1,
                says="Projections do most of the FLOP, but with so many tokens they are"
                " compute-bound and at their roof already: there is nothing to gain.",
            ),
            Belief(
                "smaller tensor",
                "layernorm",
                credit=0.3,
                says="It does wait for memory. But compare the sizes: its tensor grows with the"
                " sequence, that of the scores with its square.",
            ),
        ],
        says="The largest tensor of the layer, with the least done to each of its bytes.",
    )


def kv_cache_gb(given: Given) -> NumberKey:
    batch, sequence = given.p.batch, given.p.sequence
    kept = kv_cache(LLAMA, batch, sequence)
    return NumberKey(
        kept / 1e9,
        tolerance=0.02,
        beliefs=[
            Belief(
                "full heads for grouped-query",
                kv_cache(LLAMA, batch, sequence, kv_heads=LLAMA.heads) / 1e9,
                credit=0.4,
                says="That is with keys and values for every head. In this model several heads"
                " share them.",
            ),
            Belief(
                "half: keys only, or one byte",
                kept / 2e9,
                credit=0.5,
                says="Half of it: keys *and* values are kept, and an element of fp16 has two"
                " bytes.",
            ),
            Belief(
                "GiB for GB",
                kept / 2**30,
                credit=0.6,
                says="That is in GiB of 2³⁰ bytes; a GB has 10⁹.",
            ),
            Belief(
                "one layer",
                kept / LLAMA.layers / 1e9,
                credit=0.4,
                says="That is one layer. Each of them keeps its own.",
            ),
            Belief(
                "one conversation",
                kept / batch / 1e9,
                credit=0.3,
                says="That is a single conversation; each one keeps its own cache.",
            ),
            Belief(
                "bits for bytes",
                8 * kept / 1e9,
                credit=0.3,
                says="You counted bits: an element of fp16 has 16 bits, which are two bytes.",
            ),
        ],
        says="Larger than the weights, and it grows with every conversation and every token.",
    )


def service_fits(given: Given) -> ChoiceKey:
    batch, sequence = given.p.batch, given.p.sequence
    grouped, full = (
        footprint(LLAMA, H100, batch, sequence, kv_heads=heads).out_of_memory
        for heads in (LLAMA.kv_heads, LLAMA.heads)
    )
    return ChoiceKey(
        "neither" if grouped else "grouped" if full else "both",
        beliefs=[
            Belief(
                "cache alone against memory",
                "both",
                credit=0.3,
                says="Weights and activations are there as well: add them up before you compare"
                " with the memory of the device.",
            ),
            Belief(
                "cache of all heads",
                "neither",
                credit=0.0,
                says="Count the heads that keep keys and values: with grouped-query attention there"
                " is room to spare.",
            ),
        ],
        says="Sharing keys and values among heads decides whether the service exists at all.",
    )


def largest_batch(given: Given) -> NumberKey:
    kept = footprint(LLAMA, H100, 1, given.p.sequence)
    full = footprint(LLAMA, H100, 1, given.p.sequence, kv_heads=LLAMA.heads)
    right = kept.largest_batch
    return NumberKey(
        right,
        tolerance=0.0,
        absolute=0.5,
        beliefs=[
            Belief(
                "rounded up",
                right + 1,
                credit=0.6,
                says="One too many: the last conversation must fit as a whole, so round down.",
            ),
            Belief(
                "activations left out",
                math.floor((kept.memory - kept.weights) / kept.kv_cache),
                credit=0.5,
                says="Activations need memory too, and none was left for them.",
            ),
            Belief(
                "weights left out",
                math.floor((kept.memory - kept.activations) / kept.kv_cache),
                credit=0.4,
                says="The weights stay in memory as well; the cache gets what they leave.",
            ),
            Belief(
                "cache alone",
                math.floor(kept.memory / kept.kv_cache),
                credit=0.2,
                says="You gave the whole device to the cache. The model itself must be in it too.",
            ),
            Belief(
                "full heads for grouped-query",
                full.largest_batch,
                credit=0.4,
                says="That is with keys and values for every head; with grouped-query attention"
                " they are shared.",
            ),
        ],
        says="One more, and it is out of memory: capacity is a wall of its own.",
    )


def act2_decode(given: Given) -> ChoiceKey:
    # The rates that the options of asks.py stand for.
    rates = {"A": 600.0, "B": 300.0, "C": 170.0, "D": 70.0}
    shape = {"phase": "decode", "batch": 1, "sequence": 2048}
    (step,) = cases("h200-sxm", kind="serving", precision="fp16", variant="eager", **shape)
    took = step.seconds.median
    return ChoiceKey(min(rates, key=lambda key: abs(math.log(rates[key] * took))))


# Act 3: the key is what lies beside the notebook.


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


def _apart(key: float, tolerance: float, beliefs: list[Belief]) -> list[Belief]:
    """Beliefs that can be told from the key and from each other, on this very machine."""
    kept: list[Belief] = []
    for belief in beliefs:
        others = (key, *(float(each.value) for each in kept))
        if all(abs(float(belief.value) - x) > 2.1 * tolerance * abs(x) for x in others):
            kept.append(belief)
    return kept


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
            says="These are bytes per FLOP; a ridge is FLOP per byte.",
        ),
        Belief(
            "per element",
            ridge * BYTES_PER_ELEMENT["fp32"],
            credit=0.5,
            says="That is FLOP for each element of four bytes; a ridge counts bytes.",
        ),
        Belief(
            "ridge of the H100 in fp16",
            H100.ridge("fp16"),
            credit=0.0,
            says="That is the ridge of an H100. Your machine has its own.",
        ),
        Belief(
            "ridge of the H100 in fp32",
            H100.ridge("fp32"),
            credit=0.0,
            says="That is the fp32 ridge of an H100. Your machine has its own.",
        ),
        Belief(
            "prefixes mixed",
            1e-3 * ridge,
            credit=0.4,
            form=True,
            says="A factor of a thousand is lost: GFLOPS go with GB/s, TFLOPS with TB/s.",
        ),
        Belief(
            "prefixes mixed, the other way",
            1e3 * ridge,
            credit=0.4,
            form=True,
            says="A factor of a thousand too much: GFLOPS go with GB/s, TFLOPS with TB/s.",
        ),
    ]
    if "fp64" in found.peaks:
        beliefs.insert(
            2,
            Belief(
                "fp64 for fp32",
                found.peaks["fp64"] / bandwidth,
                credit=0.4,
                says="That is the ridge for fp64; the question is about fp32.",
            ),
        )
    return NumberKey(
        ridge,
        tolerance=tolerance,
        beliefs=_apart(ridge, tolerance, beliefs),
        says="Measured, not remembered: both of its parts come from your own machine.",
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
            says="Right, but as a fraction: the answer is asked for in percent.",
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
            says="Half of it: a multiply-add is two operations.",
        ),
        Belief(
            "roof of the H100",
            100 * best.attained / H100.peak("fp32"),
            credit=0.1,
            says="That is a share of what an H100 could do. Your machine has a roof of its own.",
        ),
        Belief(
            "rate for share",
            best.attained / 1e9,
            credit=0.1,
            says="That is the rate in GFLOPS; the question is which share of the roof it is.",
        ),
    ]
    return NumberKey(
        100 * share,
        tolerance=tolerance,
        beliefs=_apart(100 * share, tolerance, beliefs),
        says="Small products stay far below every roof: starting them takes time, too.",
    )
