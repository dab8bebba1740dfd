# What lab_07_kernel_fusion asks. Made by `mlsys build`; the original is in assignments/.

from mlsys_widgets import measured
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
from mlsys_widgets.measured import findings, trial
from mlsys_widgets.physics import (
    break_even,
    chain,
    devices,
    forward_pass,
    fuse,
    ops,
    run,
    workloads,
)
from mlsys_widgets.physics import format_quantity as q

KWS = workloads["kws"]
RESNET = workloads["resnet50"]
A100 = devices["a100-sxm"]
CHAIN = chain("layernorm", "dropout", "relu")
CLAIM = findings.CLAIMED_FUSION_SPEEDUP
H200 = measured.load("h200-sxm")
LAUNCH = measured.ceilings(H200).launch or 0.0
STREAMS = {
    case.kernels: case
    for case in measured.cases(H200, kind="dispatch", variant="eager", length="5us")
}
FUSIONS = {
    each.rows * each.columns: each
    for each in findings.fusions(H200, trial.roofs_of(H200))
    if each.chain == "layernorm_dropout_relu"
}
BREAK_EVENS = {
    each.batch: each.break_even
    for each in findings.break_evens(H200)
    if (each.model, each.variant) == ("resnet50", "compiled")
}

lab = Lab(
    "lab_07_kernel_fusion",
    title="Lab 07: The Kernel Fusion Dividend",
    chapter=7,
    acts=("The dispatch tax audit", "What fusing and compiling buy"),
    parameters={
        "kernels": Parameter(1000, steps(800, 1200, 20), "kernels", "kernels in a forward pass"),
        "kernel_us": Parameter(5, steps(4.4, 5.4, 0.1), "µs", "compute time of a kernel"),
        "launch_us": Parameter(10, steps(9.5, 12, 0.25), "µs", "cost of a launch"),
        "faster": Parameter(2, steps(1.6, 3, 0.1), "×", "how much faster the new GPU computes"),
        "stream_kernels": Parameter(
            1000, (30, 100, 300, 1000), "kernels", "kernels of a real stream"
        ),
        "rows": Parameter(1024, steps(640, 1536, 64), "tokens", "rows of the tensor"),
        "columns": Parameter(768, steps(640, 896, 64), "units", "columns of the tensor"),
        "activation": Parameter(
            "relu", ("relu", "sigmoid", "tanh", "gelu"), "", "the operation that ends the chain"
        ),
        "precision": Parameter("fp16", ("fp16", "fp32"), "", "precision of that chain"),
        "compile_s": Parameter(30, steps(24, 36, 1), "s", "compile time of ResNet-50"),
        "eager_rate": Parameter(1450, steps(1350, 1550, 20), "images/s", "eager throughput"),
        "compiled_rate": Parameter(2150, steps(2050, 2250, 20), "images/s", "compiled throughput"),
        "ci_images": Parameter(30_000, steps(24_000, 36_000, 1000), "images", "images of a CI run"),
        "kws_compile_s": Parameter(10, steps(8, 14, 0.5), "s", "compile time of the spotter"),
        "kws_gain": Parameter(0.4, steps(0.34, 0.46, 0.01), "", "what the spotter gains"),
        "per_hour": Parameter(100, steps(60, 140, 5), "requests/hour", "requests to the spotter"),
        "service_share": Parameter(
            0.5, steps(0.3, 0.7, 0.05), "", "time in service, as a share of the break-even"
        ),
    },
    design={
        "context": choice("where the service runs", "cloud", "edge"),
        "execution_mode": choice("how the model is run", "eager", "compiled"),
        "fusion_enabled": flag("whether element-wise kernels are fused"),
        "compilation_roi_positive": flag("whether compiling pays off over the deployment"),
        "breakeven_inferences": number(
            "inferences that pay for compiling", 0, none="compiling never pays"
        ),
        "kws_utilization_eager_pct": number(
            "GPU utilization of keyword spotting, eager, in percent", 0, 100
        ),
        "kws_utilization_compiled_pct": number(
            "GPU utilization of keyword spotting, compiled, in percent", 0, 100
        ),
        "act1_prediction": predicted("what was predicted in the first act"),
        "act1_correct": judged("whether that was right"),
        "act2_result": number("the break-even found in the second act", 0, none="there is none"),
        "act2_decision": choice("what was decided on it", "eager", "compiled"),
        "constraint_hit": flag("whether the deployment ends before compiling has paid"),
        "act2_prediction": predicted("what was predicted in the second act", required=False),
        "act2_correct": judged("whether that was right", required=False),
        "arithmetic_intensity": number(
            "FLOP per byte after fusion, where Lab 11 starts", 0, required=False
        ),
    },
)


def service_hours(p: Parameters) -> int:
    eager = 1 / run("kws", "a100-sxm").total
    requests = break_even(p.kws_compile_s, eager, eager * (1 + p.kws_gain))
    return round(p.service_share * requests / p.per_hour)


@lab.asks
def act1_message(p: Parameters) -> Message:
    return Message(
        "Noor Haddad",
        "ML infrastructure",
        "Our keyword spotter is three times too slow",
        f"Same model and same {A100.name} as in the paper, a third of its speed. The profiler"
        f" counts {q(KWS.kernels)} kernels in a forward pass, each computing for"
        f" {q(KWS.compute_per_kernel, 's')}. Launching one costs the CPU {q(A100.launch(), 's')}."
        "\n\nFinance offers to buy a faster GPU. Shall I say yes?",
        task="Find out which share of the time the GPU computes, and what would raise it.",
        act=1,
    )


@lab.asks
def act1_utilization(p: Parameters) -> Prediction:
    share = float(forward_pass(KWS.kernels, KWS.compute_per_kernel, A100.launch()).utilization)
    return Prediction(
        f"{q(KWS.kernels)} kernels of {q(KWS.compute_per_kernel, 's')}, and"
        f" {q(A100.launch(), 's')} for launching each, one after the other. Which share of the time"
        " does the GPU compute?",
        {
            "A": "about 90%: the GPU is what limits the model",
            "B": "about 50%: half computing, half overhead",
            "C": f"about {share:.0%}: one part computing, two parts launching",
            "D": "about 5%: overhead is nearly everything",
        },
        values={"A": 0.9, "B": 0.5, "C": share, "D": 0.05},
        unit="%",
        quantity="utilization",
        title="How busy is the GPU?",
        feedback={
            "A": "A kernel is shorter than its launch, so most of the time nothing runs.",
            "B": "Half would need kernels as long as launches. These are half as long.",
            "C": "Each kernel is half as long as its launch, and the launch is waited for.",
            "D": "Launches take most of the time, but kernels are not that much shorter.",
        },
        act=1,
    )


@lab.asks
def kws_utilization_pct(p: Parameters) -> Number:
    return Number(
        f"Your own build of the spotter launches {p.kernels:,} kernels. Each computes for"
        f" {p.kernel_us:g} µs, and each launch costs {p.launch_us:g} µs. Every launch waits for the"
        " kernel before it. Leave memory out. For which share of the pass does the GPU compute?"
        " One decimal is enough.",
        "percent",
        points=6,
        low=1,
        high=100,
        hint="A share of the time is asked for, in percent.",
        title="Utilisation, launches one by one",
        act=1,
        after=["act1_utilization"],
    )


@lab.asks
def faster_gpu_utilization_pct(p: Parameters) -> Number:
    return Number(
        f"Finance buys a GPU that computes {p.faster:g}× as fast. Your {p.kernels:,} kernels of"
        f" {p.kernel_us:g} µs get that much shorter; a launch still costs {p.launch_us:g} µs. For"
        " which share of the pass does the new GPU compute? One decimal is enough.",
        "percent",
        points=6,
        low=1,
        high=100,
        hint="A share of the time is asked for, in percent.",
        title="Utilisation of a faster GPU",
        act=1,
        after=["act1_utilization"],
    )


@lab.asks
def act1_why(p: Parameters) -> Reflection:
    return Reflection(
        "A faster GPU is less busy with a small model, because",
        {
            "A": "it draws more power and is throttled",
            "B": "it needs longer to warm up",
            "C": "its kernels get shorter while launches stay as they are, so launching takes"
            " a larger share",
            "D": "its memory does not suit small models",
        },
        right="C",
        feedback={
            "A": "A GPU that waits draws little. Nothing here is hot.",
            "B": "Warming up happens once. This share holds for every pass.",
            "C": "Launches are the CPU's work. A faster GPU ends sooner and waits as long.",
            "D": "The spotter runs the same kernels on both, only sooner on one.",
        },
        title="Why is the faster GPU less busy?",
        act=1,
        after=["act1_utilization"],
    )


@lab.asks
def most_from_compiling(p: Parameters) -> Choice:
    return Choice(
        "Compiling fuses small kernels into fewer ones. Set the launches to serial. For each of the"
        " three models, pin the eager run and switch to compiled: the card *One pass* compares the"
        " two times. Which model gets faster by the largest factor?",
        {
            "kws": "keyword spotting, the smallest",
            "resnet50": "ResNet-50, in the middle",
            "gpt2": "a GPT-2 layer, the largest kernels",
            "alike": "all by the same factor",
        },
        points=4,
        title="Who gains from compiling?",
        act=1,
        after=["act1_utilization"],
    )


@lab.asks
def act1_real(p: Parameters) -> Prediction:
    kernels = 1000
    each = (STREAMS[kernels].gpu_busy or 0.0) / kernels
    serial = forward_pass(kernels, each, LAUNCH).utilization
    return Prediction(
        f"On a real {devices['h200-sxm'].name}, {q(kernels)} kernels of {q(each, 's')} were"
        f" run; launching one took {q(LAUNCH, 's')}. One by one, that would make"
        f" {q(serial, '%')}. For which share of the time was the GPU busy?",
        unit="%",
        quantity="utilization",
        low=0,
        high=1,
        title="And on a real GPU?",
        distance="points",
        where="H200, PyTorch, profiler's busy time over wall time",
        feedback={
            "low": "While a kernel runs, the CPU already launches the next one.",
            "close": "The CPU launches ahead, so only the longer of launch and kernel counts.",
            "high": "Launching ahead hides the kernels behind the launches. The launches stay.",
        },
        act=1,
        after=["act1_why"],
    )


@lab.asks
def async_utilization_pct(p: Parameters) -> Number:
    return Number(
        f"Back to your build: {p.kernels:,} kernels of {p.kernel_us:g} µs, {p.launch_us:g} µs a"
        " launch. Now launches run ahead: the CPU launches the next kernel while one is running,"
        " and the slower of the two sets the pace. For which share of the time does the GPU"
        " compute? One decimal is enough.",
        "percent",
        points=6,
        low=1,
        high=100,
        hint="A share of the time is asked for, in percent.",
        title="Utilisation, launches that run ahead",
        act=1,
        after=["act1_real"],
    )


@lab.asks
def serial_stream_ms(p: Parameters) -> Number:
    case = STREAMS[p.stream_kernels]
    each = (case.gpu_busy or 0.0) / p.stream_kernels
    return Number(
        f"A stream on that H200: {q(p.stream_kernels)} kernels of {q(each, 's')} took"
        f" {q(case.seconds.median, 's')} in all. A launch costs {q(LAUNCH, 's')}. If each launch"
        " waited for the kernel before it, how many milliseconds would the stream have taken?",
        "ms",
        points=5,
        low=0.03,
        high=200,
        hint="Milliseconds are asked for.",
        title="One by one, on that GPU",
        act=1,
        after=["act1_real"],
    )


@lab.asks
def launches_on_gpu(p: Parameters) -> Choice:
    return Choice(
        "So how did that GPU get its kernels?",
        {
            "serial": "each launch waits for the kernel before it",
            "asynchronous": "launches run ahead of the kernels",
            "graph": "all kernels come with one launch",
        },
        points=4,
        title="What the measurement says",
        act=1,
        after=["act1_real"],
    )


@lab.asks
def act1_math(p: Parameters) -> Peek:
    return Peek(
        {
            "One by one": "$$T = N\\,(t_{launch} + t_{kernel}) + t_{memory} \\qquad"
            " U = \\frac{N\\,t_{kernel}}{T}$$",
            "Running ahead": "$$T = t_{launch} + d + (N - 1)\\,\\max(t_{launch}, d) \\qquad"
            " d = t_{kernel} + t_{memory} / N$$",
            "Replayed as a graph": "$$T = t_{launch} + N\\,(d + t_{node})$$",
            "Compiled": "N falls by the share of kernels that are fused. The arithmetic stays, so"
            " only the launch term shrinks.",
        },
        title="The equations of a forward pass",
        act=1,
        after=["act1_utilization"],
    )


@lab.asks
def act2_message(p: Parameters) -> Message:
    return Message(
        "Tomás Rivera",
        "Platform",
        "Compile everything?",
        f"A text I read says that fusing LayerNorm, Dropout and ReLU makes them {CLAIM:g}× faster,"
        " and another promises 10 to 20× less memory traffic. It says to compile once and be fast"
        " forever.\n\nI want to switch torch.compile on for all services tonight: the image"
        " service in the cloud, the keyword box at the edge, the CI jobs.",
        task="Find out what fusing really buys, and where compiling pays for itself.",
        act=2,
        after=["act1_why", "act1_real"],
    )


@lab.asks
def act2_fusion(p: Parameters) -> Prediction:
    return Prediction(
        f"LayerNorm, Dropout and ReLU on {workloads['layernorm-dropout-relu'].rows:,.0f} ×"
        f" {workloads['layernorm-dropout-relu'].columns:,.0f} numbers in fp16 on an {A100.name}:"
        " three kernels become one. How many times faster is that?",
        {
            "A": "about 1.2×: it is the same arithmetic",
            "B": "about 2.5×",
            "C": f"about {CLAIM:g}×, as the text says",
            "D": "10 to 20×, as the other one says",
        },
        values={"A": 1.2, "B": 2.5, "C": CLAIM, "D": 15},
        unit="×",
        quantity="speedup",
        title="What does fusing give?",
        distance="times",
        where="H200, one kernel written by hand, wall clock",
        feedback={
            "A": "The arithmetic is the same, but launches take most of the time.",
            "B": "Launches and traffic fall to a third, the arithmetic stays.",
            "C": "No part of the time falls by more than three, so the whole cannot fall by five.",
            "D": "That figure is about attention, where a large table is never written at all.",
        },
        act=2,
        after=["act1_why", "act1_real"],
    )


@lab.asks
def act2_claims(p: Parameters) -> Message:
    same = FUSIONS[workloads["layernorm-dropout-relu"].elements].wall
    gains = [each.wall["triton"] for each in FUSIONS.values()]
    return Message(
        "Ines Okafor",
        "Kernels",
        f"Where {CLAIM:g}× and 20× come from",
        f"**{CLAIM:g}×** I cannot find. Launches and traffic fall to a third and the arithmetic"
        f" stays, so the model cannot pass three. On our H200 a kernel written by hand gave"
        f" {q(same['triton'], '×')} at this size, and {q(min(gains), '×')} to {q(max(gains), '×')}"
        f" over all sizes that we timed. torch.compile gave {q(same['compiled'], '×')} here: each"
        " of its calls costs the CPU time too.\n\n"
        "**10 to 20×** less traffic is said of FlashAttention. Attention has a table of scores"
        " that grows with the square of the sequence. FlashAttention goes through it in tiles and"
        " never writes it to memory. That is another algorithm, not a chain in one kernel, and on"
        " the wall clock it gives 2 to 4×.",
        act=2,
        after=["act2_fusion"],
    )


@lab.asks
def traffic_saved_mb(p: Parameters) -> Number:
    return Number(
        f"Your tensor has {p.rows:,} × {p.columns:,} numbers in fp16. LayerNorm, Dropout and ReLU"
        " each read it and write it. Fused, it is read once and written once. How many megabytes"
        " (MB, a million bytes) of traffic does fusing save?",
        "MB",
        points=4,
        low=0.1,
        high=1000,
        hint="Megabytes are asked for, not bytes.",
        title="Traffic that fusing saves",
        act=2,
        after=["act2_fusion"],
    )


@lab.asks
def fusion_speedup_times(p: Parameters) -> Number:
    fused = fuse(CHAIN, p.rows * p.columns, 2, A100)
    return Number(
        f"The same tensor on an {A100.name}: {q(A100.bandwidth, 'B/s')},"
        f" {q(A100.launch(), 's')} a launch. The arithmetic of all three takes"
        f" {q(fused.compute_time, 's')}, fused or not. Add launches, arithmetic and traffic. How"
        " many times faster is the fused kernel?",
        "times",
        points=6,
        low=0.1,
        high=100,
        hint="A ratio of two times is asked for.",
        title="What fusing buys",
        act=2,
        after=["act2_fusion"],
    )


@lab.asks
def fused_intensity_flop_per_byte(p: Parameters) -> Number:
    work = ", ".join(
        f"{ops[key].name} {q(ops[key].flops_per_element)}"
        for key in ("layernorm", "dropout", p.activation)
    )
    return Number(
        f"LayerNorm, Dropout and {ops[p.activation].name} in **{p.precision}**, fused into one"
        f" kernel. FLOP for each element: {work}. How many FLOP does the fused kernel do for each"
        " byte that it moves?",
        "FLOP per byte",
        points=5,
        low=0.02,
        high=1000,
        hint="FLOP per byte are asked for: the work on an element over its bytes.",
        title="Intensity after fusing",
        act=2,
        after=["act2_fusion"],
    )


@lab.asks
def which_pair_fuses(p: Parameters) -> Choice:
    return Choice(
        "In which of these pairs can the second operation join the kernel of the first?",
        {
            "sum-multiply": "Sum over the whole tensor, then Multiply with it",
            "matmul-relu": "Matrix product, then ReLU",
            "gelu-matmul": "GELU, then Matrix product",
            "matmul-softmax": "Matrix product, then Softmax",
        },
        points=4,
        title="Which two become one?",
        act=2,
        after=["act2_fusion"],
    )


@lab.asks
def act2_traffic(p: Parameters) -> Reflection:
    fused = fuse(CHAIN, 1024, 2, A100)
    return Reflection(
        "Fusing LayerNorm, Dropout and ReLU moves {less} less data, because {why}.",
        blanks={
            "less": {
                "five": f"{CLAIM:g}×",
                "three": q(fused.traffic_reduction, "×"),
                "flash": "10 to 20×",
            },
            "why": {
                "stay": "what lies between the operations stays on the chip",
                "ridge": "the fused kernel lies above the ridge",
                "tensor": "the fused kernel can use Tensor Cores",
                "python": "Python has less to do",
            },
        },
        right={"less": "three", "why": "stay"},
        feedback={
            "less": {
                "five": "That was claimed for the wall clock, and not even there does it hold.",
                "three": "Six passes over the tensor become two.",
                "flash": "That is FlashAttention, which never writes a table of scores. Here there"
                " is none.",
            },
            "why": {
                "stay": "One pass through memory serves all three.",
                "ridge": f"At {q(fused.fused_intensity, 'FLOP/B')} it is far below the"
                f" {q(A100.ridge(), 'FLOP/B')} of the ridge.",
                "tensor": "Tensor Cores multiply matrices. There is none here.",
                "python": "It has, and that saves launches. It moves no byte less for that.",
            },
        },
        title="In one sentence",
        act=2,
        after=["act2_fusion"],
    )


@lab.asks
def act2_break_even(p: Parameters) -> Prediction:
    images = break_even(RESNET.compile_time, RESNET.eager_rate, RESNET.compiled_rate)
    about = round(float(images), -4)
    return Prediction(
        f"torch.compile needs {q(RESNET.compile_time, 's')} for ResNet-50 and lifts it from"
        f" {q(RESNET.eager_rate)} to {q(RESNET.compiled_rate)} images a second. After how many"
        " images has compiling paid for itself?",
        {
            "A": "about 1,000: the cost is tiny",
            "B": "about 10,000: some seconds of work",
            "C": f"about {about:,.0f}: each image saves little",
            "D": "about 10 million: it hardly ever pays",
        },
        values={"A": 1e3, "B": 1e4, "C": about, "D": 1e7},
        unit="images",
        quantity="break_even",
        title="When has compiling paid?",
        distance="times",
        where=f"H200, batch 32. At batch 1 it is {q(BREAK_EVENS[1])}, at batch 256"
        f" {q(BREAK_EVENS[256])}",
        feedback={
            "A": "An image takes less than a millisecond, and only a part of that is saved.",
            "B": "All of that work takes less time than compiling, and only a part of it is saved.",
            "C": f"Each image saves {q(1 / RESNET.eager_rate - 1 / RESNET.compiled_rate, 's')}, so"
            " it takes many.",
            "D": "The saving is small, but it comes with every image.",
        },
        act=2,
        after=["act2_fusion", "act2_traffic"],
    )


@lab.asks
def break_even_images(p: Parameters) -> Number:
    return Number(
        f"Your service runs ResNet-50 at {p.eager_rate:,} images a second, compiled at"
        f" {p.compiled_rate:,}. Compiling takes {p.compile_s} s. After how many images is that time"
        " won back?",
        "images",
        points=6,
        low=1000,
        high=1e7,
        hint="Images are asked for; their number is larger than one.",
        title="Break-even",
        act=2,
        after=["act2_break_even"],
    )


@lab.asks
def ci_loss_s(p: Parameters) -> Number:
    return Number(
        f"A CI job compiles that model afresh ({p.compile_s} s; {p.eager_rate:,} images a second"
        f" eager, {p.compiled_rate:,} compiled), runs {p.ci_images:,} images and ends. How many"
        " seconds later than without compiling is it done?",
        "seconds",
        points=5,
        low=-1000,
        high=1000,
        hint="Seconds are asked for.",
        title="Compiling in CI",
        act=2,
        after=["act2_break_even"],
    )


@lab.asks
def kws_break_even_hours(p: Parameters) -> Number:
    return Number(
        f"The keyword box at the edge answers **{p.per_hour} requests an hour**. A pass takes"
        f" {q(run('kws', 'a100-sxm').total, 's')} eager, as on the A100. Compiling takes"
        f" {p.kws_compile_s:g} s and raises the throughput by {q(p.kws_gain, '%')}. For how many"
        " hours must the box serve until compiling has paid?",
        "hours",
        points=7,
        low=0.002,
        high=100000,
        hint="Hours are asked for.",
        title="The challenge: the shortest deployment that pays",
        act=2,
        after=["act2_break_even"],
    )


@lab.asks
def where_to_compile(p: Parameters) -> Choice:
    return Choice(
        f"**Cloud**: your ResNet-50, 10 million images a day, for a month. **Edge**: your keyword"
        f" box, {p.per_hour} requests an hour; every {service_hours(p)} hours a new model replaces"
        " the old one and would be compiled afresh. Where should Tomás compile?",
        {
            "both": "in the cloud and at the edge",
            "cloud": "in the cloud only",
            "edge": "at the edge only",
            "neither": "nowhere: eager is faster overall",
        },
        points=6,
        title="Where does compiling pay?",
        act=2,
        after=["act2_break_even"],
    )


@lab.asks
def act2_one_product(p: Parameters) -> Reflection:
    giant = forward_pass(1, 0.2, A100.launch())
    return Reflection(
        "A model is one giant matrix product: one kernel of 200 ms. What will torch.compile give?",
        {
            "A": "next to nothing",
            "B": "about as much as for ResNet-50",
            "C": "more than 2×: large kernels gain most",
            "D": "it will get slower with every call",
        },
        right="A",
        feedback={
            "A": f"Its one launch is {q(giant.dispatch / giant.total, '%')} of the time, and"
            " there is nothing to fuse with.",
            "B": "ResNet-50 has hundreds of kernels to fuse. This has one.",
            "C": "Compiling removes launches and traffic between kernels. Large kernels have"
            " the least of both.",
            "D": "Compiling costs time once. Later calls are about as fast as before.",
        },
        title="One giant kernel",
        act=2,
        after=["act2_break_even"],
    )


@lab.asks
def act2_math(p: Parameters) -> Peek:
    return Peek(
        {
            "Fusing k operations": "Unfused, each reads and writes: $Q = 2 k\\,b\\,n$. Fused, one"
            " read and one write: $Q_{fused} = 2\\,b\\,n$. So traffic falls by $k$.",
            "Time of a chain": "$$T = k\\,t_{launch} + t_{compute} + Q / B$$ Launches and traffic"
            " fall by $k$, the arithmetic does not: the gain is below $k$.",
            "Break-even": "$$N = \\frac{t_{compile}}{1 / R_{eager} - 1 / R_{compiled}}$$ Without a"
            " gain it is never reached.",
            "Deployment": "Compiling pays if $V \\cdot D \\ge N$: volume per day, days in service.",
        },
        title="The equations of fusing and compiling",
        act=2,
        after=["act2_fusion"],
    )


@lab.asks
def reply(p: Parameters) -> Essay:
    return Essay(
        "Answer Noor and Tomás in one message of at most 150 words. Use your own numbers. Should a"
        " faster GPU be bought? What does fusing buy, and why neither 5× nor 10 to 20×? Where"
        " should models be compiled, and where not?",
        [
            (3, "the GPU waits for launches, so a faster one waits more; with a utilisation"),
            (3, "real launches run ahead: says what that changes and what it leaves"),
            (3, "fusing saves launches and traffic between operations; tells it from attention"),
            (
                3,
                "compiling pays by volume and time in service; with a break-even, and a case"
                " against",
            ),
        ],
        after=["act2_one_product"],
    )


@lab.asks
def predictions_kept(p: Parameters) -> Record:
    return Record(
        ["act1_utilization", "act1_real", "act2_fusion", "act2_break_even"],
        points=8,
        title="Predictions that you committed",
    )


@lab.asks
def work_kept(p: Parameters) -> Record:
    return Record(
        ["act1_why", "act2_traffic", "act2_one_product", "design"],
        points=6,
        title="Reflections and design",
    )


@lab.asks
def takeaways(p: Parameters) -> Takeaways:
    fused = fuse(CHAIN, workloads["layernorm-dropout-relu"].elements, 2, A100)
    service = workloads["kws-service"]
    eager = 1 / run("kws", A100).total
    requests = break_even(service.compile_time, eager, eager * (1 + service.gain))
    resnet = break_even(RESNET.compile_time, RESNET.eager_rate, RESNET.compiled_rate)
    wait = requests / service.per_day
    return Takeaways(
        [
            (
                "Small kernels wait for launches",
                f"The spotter computes {q(run('kws', A100).utilization, '%')} of its time; a faster"
                " GPU computes less of it. Compiled, it is"
                f" {q(run('kws', A100, 'compiled').utilization, '%')}.",
            ),
            (
                "Real launches run ahead",
                "Long kernels hide them altogether. Short kernels still wait: then the pace is"
                " that of the launches.",
            ),
            (
                "Fusing saves passes over memory",
                f"Three operations: {q(fused.traffic_reduction, '×')} less traffic, and"
                f" {q(fused.speedup, '×')} in time. Still memory-bound. FlashAttention is another"
                " mechanism.",
            ),
            (
                "Compiling is an investment",
                f"ResNet-50 wins it back after {q(resnet, 'images')}, the keyword box after"
                f" {q(requests, 'requests')}, which take it {q(wait, 'days')}. Where a deployment"
                " ends sooner, eager wins.",
            ),
        ],
        ahead="Lab 11, The Roofline, starts with the intensity that your fused kernel reached.",
        after=["act2_one_product", "reply"],
    )
