# What lab_11_roofline asks. Made by `mlsys build`; the original is in assignments/.

import json
import math

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

H100, H200, ORIN = (devices[key] for key in ("h100-sxm", "h200-sxm", "orin-nx"))
LLAMA = workloads["llama3-8b"]

TIMED = (1024, 1408, 1536, 1664, 2048, 2560, 3072, 4096, 5120, 6144, 7168, 8192)

CONTEXT = 2048
DECODED = ("llama3-8b", "h200-sxm", 1, CONTEXT)

lab = Lab(
    "lab_11_roofline",
    title="Lab 11: The Roofline",
    chapter=11,
    acts=("Which wall, and which peak", "One kernel to make faster", "Your own machine"),
    parameters={
        "reported": Parameter(312, steps(240, 400, 8), "TFLOPS", "what the dashboard reports"),
        "n": Parameter(512, steps(320, 560, 16), "elements", "side of the merged product"),
        "measured_n": Parameter(8192, TIMED, "elements", "side of a product timed on an H200"),
        "width": Parameter(4096, steps(3072, 5632, 128), "elements", "width of the next model"),
        "prompts": Parameter(8, steps(4, 16, 1), "prompts", "prompts that are read at once"),
        "batch": Parameter(64, steps(64, 112, 4), "sequences", "sequences served at once"),
        "sequence": Parameter(2048, steps(2048, 3072, 64), "tokens", "length of a sequence"),
        "own_n": Parameter(256, (64, 256), "elements", "side of a product on your machine"),
    },
    examples={"machine.json": lambda: json.dumps(load("cpu-2core-server")).encode()},
    design={
        "context": choice("where the service runs", "cloud", "edge"),
        "operation": text("the kernel the design is about"),
        "arithmetic_intensity": number("its FLOP per byte", 0),
        "bound_type": choice("what sets its pace", "memory", "compute"),
        "act1_prediction": predicted("what was predicted in the first act"),
        "act1_correct": judged("whether that was right"),
        "act2_result": number(
            "model FLOP utilization reached in the second act, in percent", 0, 100
        ),
        "act2_decision": choice("the fusion strategy chosen", "none", "partial", "full"),
        "constraint_hit": flag("whether the design ran out of memory"),
        "mfu_percent": number("model FLOP utilization, in percent", 0, 100),
        "act2_prediction": predicted("what was predicted in the second act", required=False),
        "act2_correct": judged("whether that was right", required=False),
        "tokens_per_second": number(
            "what the service generates, by the textbook",
            0,
            none="it does not fit in memory",
            required=False,
        ),
    },
)


def _timed(n: int) -> Point:
    return points("h200-sxm", "fp16", "gemm", variant="graph", m=n, n=n, k=n)[0]


def _token(variant: str) -> Case:
    shape = {"phase": "decode", "batch": 1, "sequence": CONTEXT}
    return cases("h200-sxm", kind="serving", precision="fp16", variant=variant, **shape)[0]


def _about(value: float, unit: str = "") -> str:
    return q(float(f"{value:.2g}"), unit)


@lab.asks
def opening(p: Parameters) -> Message:
    sparse = H100.peak("fp16", sparse=True)
    return Message(
        "Tomas Reyes",
        "GPU kernel engineer",
        f"{p.reported} of {q(sparse, 'FLOP/s')}, and stuck",
        f"Our matrix products run at {p.reported} TFLOPS on an H100. The dashboard divides by"
        f" {q(sparse, 'FLOP/s')} and shows {q(p.reported * 1e12 / sparse, '%')} in red.\n\n"
        "Three weeks went into the arithmetic: register tiles, unrolled loops, mixed precision."
        " It has not moved by one TFLOP. The products are small squares in fp16. Nothing is"
        " pruned.",
        task="Say which wall this is, and whether the dashboard divides by the right number.",
        act=1,
    )


@lab.asks
def act1_wall(p: Parameters) -> Prediction:
    return Prediction(
        "Why have three weeks of work on the arithmetic changed nothing?",
        {
            "A": "There is a bug: a matrix product is always limited by its arithmetic",
            "B": "It is not memory. The tiles are only too small for the arithmetic units",
            "C": "Memory bandwidth: there are too few FLOP for each byte that is moved",
            "D": "Nothing is wrong. Such a share is all that the hardware gives",
        },
        title="Which wall?",
        answer="C",
        feedback={
            "A": "A product does become limited by arithmetic, but only when it is large. A small"
            " one does too few FLOP for each byte.",
            "B": "Larger tiles are the remedy, and they help *because* it is memory: what stays on"
            " the chip is not fetched again.",
            "C": "Left of the ridge the rate is bandwidth times intensity. Arithmetic is not in"
            " it.",
            "D": "The same chip gives far more to a larger product. Move N and look.",
        },
        act=1,
    )


@lab.asks
def dense_share_pct(p: Parameters) -> Number:
    return Number(
        "Look at the two peaks that an H100 has in fp16 (in the roofline, the switch is behind"
        f" *More*), and recall that nothing is pruned. {p.reported} TFLOPS are which share of the"
        " peak that belongs to these products?",
        "percent",
        points=6,
        low=1,
        high=1000,
        hint="A share of the peak is meant, in percent.",
        title="The right fraction",
        act=1,
        after=["act1_wall"],
    )


@lab.asks
def side_elements(p: Parameters) -> Number:
    return Number(
        f"Suppose the kernel is as good as it can be: at {p.reported} TFLOPS it lies exactly on the"
        " roof of the H100. Which side N do its square fp16 matrices have?",
        "elements",
        points=7,
        low=10,
        high=10000,
        hint="N is the side of a matrix: M = N = K.",
        title="What size is that?",
        act=1,
        after=["act1_wall"],
    )


@lab.asks
def roof_tflops(p: Parameters) -> Number:
    return Number(
        f"Tomas can merge his small products into one with N = {p.n}, still fp16. How much does the"
        " roof of the H100 allow it?",
        "TFLOPS",
        points=6,
        low=10,
        high=20000,
        hint="One TFLOPS is 10¹² FLOP per second.",
        title="What merging buys",
        act=1,
        after=["act1_wall"],
    )


@lab.asks
def precision_effect(p: Parameters) -> Choice:
    return Choice(
        f"The merged product, N = {p.n}, in int8 instead of fp16, with the dense peaks of both."
        " What changes?",
        {
            "rate": "the rate doubles; the share of the peak and the regime stay",
            "regime": "the intensity doubles, so it crosses the ridge and is compute-bound",
            "share": "the share of the peak doubles; the regime stays",
            "nothing": "nothing: the intensity of a product does not depend on the precision",
        },
        points=4,
        title="Half the bytes",
        act=1,
        after=["act1_wall"],
    )


@lab.asks
def act1_real(p: Parameters) -> Prediction:
    largest = _timed(max(TIMED))
    reached = largest.attained / H200.peak("fp16")
    shares = {"A": 0.97, "B": 0.8, "C": 0.65, "D": 0.35}
    words = {
        "A": "practically all of it",
        "B": "about four fifths",
        "C": "about two thirds",
        "D": "about a third",
    }
    return Prediction(
        f"The largest product that we timed on an H200 has N = {max(TIMED):,}, in fp16, from a"
        " good library. It lies far right of the ridge. Which share of the dense peak does it"
        " reach?",
        words,
        values=shares,
        unit="%",
        quantity="mfu",
        title="How close does a real product come?",
        answer=min(shares, key=lambda key: abs(shares[key] - reached)),
        feedback={
            "A": "The roof is a bound, and nobody promises to reach it.",
            "B": "Closer to the roof than a real product comes.",
            "C": "A peak is stated at a clock rate that the chip may not hold while all of its"
            " units work.",
            "D": "Small products are that far down. This one is large.",
        },
        where="one H200, this project's own measurement",
        act=1,
        after=["act1_wall"],
    )


@lab.asks
def measured_share_pct(p: Parameters) -> Number:
    timed = _timed(p.measured_n)
    return Number(
        f"On that H200 a product of N = {p.measured_n:,} in fp16 took {q(timed.seconds, 's')}, the"
        f" median of many. The H200 has the peaks of the H100 and {q(H200.bandwidth, 'B/s')}."
        " Which share of its own roof did the product reach?",
        "percent",
        points=7,
        low=1,
        high=1000,
        hint="Operations over time is the rate; the rate over the roof is the share.",
        title="From a stopwatch to a share",
        act=1,
        after=["act1_real"],
    )


@lab.asks
def act1_remedy(p: Parameters) -> Reflection:
    return Reflection(
        "What raises the share of the peak that a memory-bound kernel reaches?",
        {
            "A": "a higher clock rate",
            "B": "larger tiles or batches, so that each byte is used more often",
            "C": "lower precision",
            "D": "a GPU with more memory",
        },
        right="B",
        feedback={
            "A": "The arithmetic units wait already. Faster ones wait just as long.",
            "B": "More FLOP for each byte move the kernel to the right, up the slope.",
            "C": "It helps the rate: half the bytes, twice the intensity. But the peak"
            " doubles too and the ridge moves along, so the share stays.",
            "D": "Capacity is how much fits. The wall is how fast it arrives.",
        },
        title="What would you tell Tomas?",
        act=1,
        after=["act1_real"],
    )


@lab.asks
def act1_peek(p: Parameters) -> Peek:
    ridge = H100.ridge("fp16")
    rows = []
    for n in (128, 256, 1024, 4096, 8192):
        kernel = gemm(n, n, n)
        over = roofline(kernel.intensity, H100.peak("fp16"), H100.bandwidth)
        share = q(over.mfu, "%")
        rows.append(f"| {n:,} | {q(kernel.intensity, 'FLOP/B')} | {over.regime} | {share} |")
    table = "| N | intensity | on an H100, fp16 | share at the roof |\n|---|---|---|---|\n"
    example = gemm(256, 256, 256)
    return Peek(
        {
            "The roof": r"$\text{attainable}(I) = \min(P,\; B \cdot I)$, and the two meet at the"
            r" ridge $I^* = P / B$. A square product has $I = \frac{2N^3}{3N^2 b} ="
            r" \frac{2N}{3b}$: it grows with N, and with fewer bytes $b$ for each element.",
            "Ridges": f"H100: {q(ridge, 'FLOP/B')} dense, "
            f"{q(H100.ridge('fp16', sparse=True), 'FLOP/B')} with 2:4 sparsity,"
            f" {q(H100.ridge('int8'), 'FLOP/B')} in int8, {q(H100.ridge('fp32'), 'FLOP/B')} in fp32"
            f" without tensor cores. Jetson Orin NX: {q(ORIN.ridge('fp16'), 'FLOP/B')}. Some texts"
            " call the last one “about 10”; a ridge is always derived, never remembered.",
            "Sizes": table + "\n".join(rows),
            f"A product with N = {example.n:g}": roofline(
                example.intensity, H100.peak("fp16"), H100.bandwidth
            ),
        },
        title="The equations of Act 1",
        act=1,
        after=["act1_wall"],
    )


@lab.asks
def service_message(p: Parameters) -> Message:
    return Message(
        "Noor Haddad",
        "ML infrastructure lead",
        "Money for one kernel",
        f"We serve {LLAMA.name}. Each layer has three kinds of kernels: projections, layer norm,"
        " and softmax over the attention scores. I can pay for making **one** of them faster."
        " Half of the team says the matrix products, half says fuse the small ones.\n\n"
        f"And sales wants {p.batch} conversations of {p.sequence:,} tokens on one GPU.",
        task="Say which kernel to pay for, and what ends first when the service grows.",
        act=2,
        after=["act1_remedy"],
    )


@lab.asks
def act2_kernels(p: Parameters) -> Prediction:
    return Prediction(
        "Which of the three kernels wait for memory?",
        {
            "A": "None that matters: the matrix products are always the bottleneck",
            "B": "Softmax and layer norm always; the projection only while there are few tokens",
            "C": "All alike: their intensities are about the same",
            "D": "Softmax only: layer norm is limited by its square roots",
        },
        title="Three kernels, one roof",
        answer="B",
        feedback={
            "A": "The products do most of the FLOP. That is not the same as most of the time.",
            "B": "The intensity of the first two does not depend on the batch; that of a projection"
            " does.",
            "C": "They lie orders of magnitude apart, because a weight is used for every token and"
            " an attention score once.",
            "D": "There is one root for a whole row. What counts is FLOP for each byte, and there"
            " are few.",
        },
        act=2,
        after=["act1_remedy"],
    )


@lab.asks
def ridge_tokens(p: Parameters) -> Number:
    return Number(
        "A projection multiplies the activations of all tokens in flight, [tokens, D], with weights"
        f" [D, D]. The next model has D = {p.width:,}, in fp16. From how many tokens on is its"
        " projection compute-bound on an H100?",
        "tokens",
        points=7,
        low=10,
        high=10000,
        hint="A decode step has one token for each sequence; a prompt has thousands.",
        title="When a projection turns",
        act=2,
        after=["act2_kernels"],
    )


@lab.asks
def softmax_saved_ms(p: Parameters) -> Number:
    left = fusion_strategies["full"].traffic_share
    return Number(
        f"Reading {p.prompts} prompts of {p.sequence:,} tokens at once, a layer takes the softmax"
        f" of the scores of all {q(LLAMA.heads)} heads, each token against each, in fp16:"
        f" {q(normalization.passes)} trips through memory for every score. *All elementwise kernels"
        f" fused* leaves {q(left, '%')} of that traffic. How much time does it save in one layer,"
        " on an H100 at its roof?",
        "ms",
        points=7,
        low=0.01,
        high=500,
        hint="One millisecond is 10⁻³ s.",
        title="What fusing saves",
        act=2,
        after=["act2_kernels"],
    )


@lab.asks
def kernel_to_fund(p: Parameters) -> Choice:
    return Choice(
        f"Same prompts ({p.prompts} of {p.sequence:,} tokens), one layer, H100. All kernels are at"
        " their roof. Which one would you pay to make faster?",
        {
            "projection": "the projections, which do most of the FLOP",
            "layernorm": "layer norm, which waits for memory",
            "softmax": "softmax, which waits for memory too",
        },
        points=5,
        title="Noor's money",
        act=2,
        after=["act2_kernels"],
    )


@lab.asks
def kv_cache_gb(p: Parameters) -> Number:
    return Number(
        f"Now memory. {p.batch} conversations of {p.sequence:,} tokens: how large is the KV cache"
        f" of {LLAMA.name} in fp16? The model has {q(LLAMA.layers)} layers and {q(LLAMA.heads)}"
        f" heads of {q(LLAMA.head_width)}, of which {q(LLAMA.kv_heads)} keep keys and values.",
        "GB",
        points=6,
        low=0.05,
        high=5000,
        hint="One GB is 10⁹ bytes.",
        title="What conversations cost",
        act=2,
        after=["act2_kernels"],
    )


@lab.asks
def service_fits(p: Parameters) -> Choice:
    return Choice(
        f"Can one H100 serve these {p.batch} conversations of {p.sequence:,} tokens?",
        {
            "both": "yes, with grouped-query attention and also if every head kept its own",
            "grouped": "only with grouped-query attention",
            "neither": "no, with neither",
        },
        points=3,
        title="Does it fit?",
        act=2,
        after=["act2_kernels"],
    )


@lab.asks
def largest_batch(p: Parameters) -> Number:
    share = q(LLAMA.activation_share, "%")
    return Number(
        f"With grouped-query attention, {p.sequence:,} tokens each, fp16: what is the largest"
        f" number of conversations that one H100 can keep? Weights stay in memory, and"
        f" activations take another {share} of them.",
        "conversations",
        points=6,
        low=5,
        high=5000,
        whole=True,
        hint="A number of whole conversations is asked for.",
        title="Until memory ends",
        act=2,
        after=["act2_kernels"],
    )


@lab.asks
def act2_why(p: Parameters) -> Reflection:
    return Reflection(
        "Fusing element-wise kernels leaves {same} as it was and lowers {less}. FlashAttention,"
        " which also never writes the scores to memory, makes attention {times} faster.",
        blanks={
            "same": {"flop": "the FLOP", "bytes": "the bytes moved", "clock": "the clock rate"},
            "less": {
                "flop": "the FLOP",
                "traffic": "the trips through memory",
                "precision": "the precision",
            },
            "times": {"few": "2 to 4 times", "many": "24 times", "none": "no"},
        },
        right={"same": "flop", "less": "traffic", "times": "few"},
        feedback={
            "same": {
                "flop": "All arithmetic is still done.",
                "bytes": "These are what fusing saves.",
                "clock": "True, but it would stay in any case; what stays that one might expect to"
                " change?",
            },
            "less": {
                "flop": "Each operation is still done once.",
                "traffic": "Results stay in registers or on the chip.",
                "precision": "One can fuse at any precision.",
            },
            "times": {
                "few": "That is what its authors report.",
                "many": "A figure that is often repeated, and off by an order of magnitude.",
                "none": "It does gain: the scores are the largest tensor of the layer.",
            },
        },
        title="In one sentence: why fuse?",
        act=2,
        after=["act2_kernels"],
    )


@lab.asks
def act2_decode(p: Parameters) -> Prediction:
    took = _token("eager").seconds.median
    replayed = _token("graph").seconds.median
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
        title="How fast does one conversation run?",
        answer=min(rates, key=lambda key: abs(math.log(rates[key] * took))),
        feedback={
            "A": "More than memory allows. All weights cross it for every token, and nothing else"
            f" is there to share the trip: {_about(LLAMA.parameters * 2, 'B')} at"
            f" {q(H200.bandwidth, 'B/s')} make {_about(textbook, 's')} per token by the textbook,"
            f" with the cache. The measured step took {_about(took, 's')}. In the explorer, find"
            " out what the bar for batch 1 is made of.",
            "B": f"That is the textbook: all weights and the cache over {q(H200.bandwidth, 'B/s')},"
            f" {_about(textbook, 's')} per token. It assumes that every byte arrives at the rate of"
            " the datasheet, and that no kernel ever waits for anything but memory. The measured"
            f" step took {_about(took, 's')}. In the explorer, switch between *Textbook* and"
            " *Calibrated*: which part of the bar for batch 1 is new?",
            "C": "You allowed for kernels that miss the bandwidth of the datasheet, and they do:"
            f" run one after the other without a gap, they were measured at {_about(replayed, 's')}"
            f" per token, not the textbook's {_about(textbook, 's')}. But launched one by one they"
            f" took {_about(took, 's')}. In the explorer, look at what fills the rest of the bar"
            " for batch 1.",
            "D": f"The measured step took {_about(took, 's')}, although the textbook needs only"
            f" {_about(textbook, 's')} to move all weights. So for most of the step memory is"
            " idle. In the explorer, find out what the bar for batch 1 is made of; then raise the"
            " batch: why do the first dozens of conversations cost almost no time?",
        },
        where="one H200, PyTorch, median of several steps",
        act=2,
        after=["act2_why"],
    )


@lab.asks
def act2_launch(p: Parameters) -> Reflection:
    took, replayed = (_token(variant).seconds.median for variant in ("eager", "graph"))
    step = serving_time("llama3-8b", "h200-sxm", "decode", 1, CONTEXT, launch="async")
    textbook = decode(*DECODED)
    arithmetic = 2 * LLAMA.parameters / H200.peak("fp16")
    return Reflection(
        f"A step of {_about(took, 's')} was measured where the textbook has"
        f" {_about(textbook.time, 's')}. What takes most of the difference?",
        {
            "A": "memory: real streams stay below the bandwidth of the datasheet",
            "B": "the CPU: it launches each kernel of each step, and the GPU waits for it",
            "C": "attention: the new token looks at all tokens of the conversation",
            "D": "arithmetic: every parameter is used once for each token",
        },
        right="B",
        feedback={
            "A": "A part of it: with nobody to wait for, the same kernels were measured at"
            f" {_about(replayed, 's')} per step. From there to {_about(took, 's')} no byte is"
            " moved. In the explorer, switch *Launch* and compare.",
            "B": "The dispatch tax of Lab 07. A step is"
            f" about {_about(step.kernels)} kernels, and launching one takes about"
            f" {_about(step.launch_overhead, 's')} (calibrated), longer than most of them run."
            f" Recorded once and replayed as a graph, the same step was measured at"
            f" {_about(replayed, 's')}: {_about(1 / replayed, 'tokens/s')} instead of"
            f" {_about(1 / took, 'tokens/s')}. A large batch hides the tax, because each kernel"
            " runs longer.",
            "C": "For one conversation the cache is small:"
            f" {_about(kv_cache(LLAMA, 1, CONTEXT), 'B')} beside"
            f" {_about(textbook.weights, 'B')} of weights. Calibrated, attention takes about"
            f" {_about(step.attention, 's')} of the step. It grows with batch and context; set"
            " both high in the explorer.",
            "D": f"Two FLOP for each parameter take {_about(arithmetic, 's')} at the peak of the"
            " H200, next to nothing. One conversation is far left of the ridge, as a projection"
            " with one token is.",
        },
        title="Where did the time go?",
        act=2,
        after=["act2_decode"],
    )


@lab.asks
def act2_same(p: Parameters) -> Message:
    eager, graph = (1 / _token(variant).seconds.median for variant in ("eager", "graph"))
    return Message(
        "Noor Haddad",
        "ML infrastructure lead",
        "The same decision, again",
        f"So a customer who is alone on the GPU gets {_about(eager, 'tokens/s')} where"
        f" {_about(graph, 'tokens/s')} were measured, only because a CPU hands over one kernel at"
        " a time. In Lab 07 you met this tax with a keyword spotter, and decided how to run it:"
        " eager or compiled. The line above this card says which, if your design is here.\n\n"
        "Please set *Launch* in the explorer to what that decision means for us: *Kernel by kernel*"
        " for eager, *Replayed as a graph* for compiled. Look at one conversation, then at a"
        " hundred. I have to tell the team today whether recording graphs is worth a week of"
        " theirs.",
        task="Decide whether your choice of Lab 07 still holds, for one conversation and for many.",
        act=2,
        after=["act2_launch"],
    )


@lab.asks
def act2_token(p: Parameters) -> Peek:
    batch, context = 32, 1024
    asked = ("llama3-8b", "h200-sxm", "decode", batch, context)
    return Peek(
        {
            "Textbook": decode("llama3-8b", "h200-sxm", batch, context),
            "Calibrated, launched one by one": serving_time(*asked, launch="async"),
            "Calibrated, replayed as a graph": serving_time(*asked, launch="graph"),
        },
        title=f"The equations of a token, for {q(batch)} conversations of {q(context)} tokens",
        act=2,
        after=["act2_launch"],
    )


@lab.asks
def act2_peek(p: Parameters) -> Peek:
    few, many = (projection(tokens, 1, LLAMA.width) for tokens in (1, 4096))
    caches = (kv_cache(LLAMA, 16, 1024), kv_cache(LLAMA, 16, 1024, kv_heads=LLAMA.heads))
    kept = footprint(LLAMA, "h100-sxm", batch=1, sequence=1024)
    return Peek(
        {
            "Projection": r"$W = 2\,T D^2$ and $Q = b\,(2TD + D^2)$ for $T$ tokens: with few tokens"
            f" the weights are all that moves. One token: {q(few.intensity, 'FLOP/B')};"
            f" {q(many.batch)} tokens: {q(many.intensity, 'FLOP/B')}, for D = {q(LLAMA.width)}.",
            "Layer norm and softmax": elementwise(1e6),
            "KV cache": r"$2 \cdot \text{batch} \cdot S \cdot H_{kv} \cdot d \cdot L \cdot b$."
            f" For 16 sequences of 1,024 tokens: {q(caches[0], 'B')} with {q(LLAMA.kv_heads)} KV"
            f" heads, {q(caches[1], 'B')} if each of the {q(LLAMA.heads)} heads kept its own.",
            "Everything that is kept, for one sequence": kept,
        },
        title="The equations of Act 2",
        act=2,
        after=["act2_kernels"],
    )


@lab.asks
def measurement(p: Parameters) -> Measurement:
    return Measurement(
        "It times copies of large arrays, which gives the bandwidth, and matrix products of several"
        " sizes, which give the peak, on all cores that this notebook may use. Leave the computer"
        " alone meanwhile: whatever else runs makes it look slower.",
        sizes=lab.parameters["own_n"].values,
        act=3,
    )


@lab.asks
def own_ridge_flop_per_byte(p: Parameters) -> Number:
    return Number(
        "Where is the ridge of **your machine** in fp32, by your measurement: its best product over"
        " its best bandwidth?",
        "FLOP per byte",
        points=6,
        low=0.01,
        high=2000,
        hint="Take both numbers in the same prefix: GFLOPS over GB/s.",
        title="Your ridge",
        act=3,
        after=["act1_wall"],
    )


@lab.asks
def own_share_pct(p: Parameters) -> Number:
    return Number(
        f"Which share of **its own roof** did your machine reach with the fp32 product of"
        f" N = {p.own_n}? First find out on which side of your ridge that product lies.",
        "percent",
        points=6,
        low=0.01,
        high=1000,
        hint="The rate of that product over what your own roof allows it, in percent.",
        title="Your distance to the roof",
        act=3,
        after=["act1_wall"],
    )


@lab.asks
def advice(p: Parameters) -> Essay:
    return Essay(
        "Write to Noor and Tomas, in six to ten sentences. Which number on the dashboard do you"
        " change? Which kernel do you pay for, and why not the others? What ends first when the"
        " service grows? Which of your own numbers would you measure before you believe it?",
        [
            (3, "divides by the dense peak, and says what the sparse one would need"),
            (3, "argues from intensity and ridge, not from FLOP alone, for one kernel"),
            (3, "names memory capacity and the KV cache as the next limit, with a number"),
            (3, "knows that a roof is a bound, and says what to measure and against what"),
        ],
        after=["act2_why"],
    )


@lab.asks
def commitments(p: Parameters) -> Record:
    return Record(
        [
            "act1_wall",
            "act1_real",
            "act1_remedy",
            "act2_kernels",
            "act2_why",
            "act2_decode",
            "act2_launch",
            "design",
        ],
        points=12,
    )


@lab.asks
def takeaways(p: Parameters) -> Takeaways:
    score = elementwise(1)
    return Takeaways(
        [
            (
                "First the ridge, then the kernel",
                "Left of the ridge only FLOP for each byte help: larger tiles, larger batches,"
                " fewer trips.",
            ),
            (
                "Ask which peak",
                "A share of a peak that the work cannot reach blames the wrong people. Dense work"
                " is divided by the dense peak.",
            ),
            (
                "Element-wise kernels wait for memory on every machine",
                f"{q(score.intensity, 'FLOP/B')} is left of every ridge in this course. Fuse"
                " them; the accelerator will be another in five years, and this will still hold.",
            ),
            (
                "A fast design that does not fit is no design",
                "The KV cache grows with every conversation. Capacity ends before arithmetic does.",
            ),
            (
                "The textbook is a bound, and one conversation is far below it",
                "Kernels that are launched one by one wait for the CPU, as in Lab 07. Replay them"
                " as a graph, or give each of them more to do.",
            ),
        ],
        ahead="The Foundations Review: four mental models, ten questions, five myths.",
        after=["act2_launch", "advice"],
    )
