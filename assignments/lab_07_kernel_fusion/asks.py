"""What lab_07_kernel_fusion asks. Students get this file; the keys are in checks.py."""

from mlsys_widgets import measured
from mlsys_widgets.labs import (
    Choice,
    Code,
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
    BYTES_PER_ELEMENT,
    Device,
    break_even,
    chain,
    devices,
    forward_pass,
    fuse,
    memory_hierarchy,
    ops,
    roofline,
    run,
    workloads,
)
from mlsys_widgets.physics import format_quantity as q

KWS = workloads["kws"]
RESNET = workloads["resnet50"]
A100 = devices["a100-sxm"]
ORIN = devices["orin-nx"]
M7 = devices["cortex-m7"]
#: The spotter as the text has it, without a memory term.
TODAY = forward_pass(KWS.kernels, KWS.compute_per_kernel, A100.launch())
#: The text's chain and tensor, on which its claim is made: with the arithmetic at the rate of an
#: A100's vector units, and with the time that the text gives it.
CHAIN = chain("layernorm", "dropout", "relu")
TENSOR = workloads["layernorm-dropout-relu"]
FUSED = fuse(CHAIN, TENSOR.elements, 2, A100)
FUSED_IN_THE_TEXT = fuse(CHAIN, TENSOR.elements, 2, A100, compute_time=TENSOR.compute)
#: The intensity from which elementwise arithmetic takes longer than its traffic there.
VECTOR_RIDGE = A100.elementwise_rate() / A100.bandwidth
CLAIM = findings.CLAIMED_FUSION_SPEEDUP
# Read once, because everything below is asked again for every student of a class.
H200 = measured.load("h200-sxm")
#: Streams of kernels of about 5 µs on that GPU, by their number.
STREAMS = {
    case.kernels: case
    for case in measured.cases(H200, kind="dispatch", variant="eager", length="5us")
}
#: The two streams between which a question interpolates.
FEWER = 300
MORE = 1000
#: What a launch costs in a stream of kernels too short to matter.
LAUNCH = (
    measured.cases(H200, kind="dispatch", variant="eager", length="tiny", launches=MORE)[
        0
    ].seconds.median
    / MORE
)
#: What fusing the text's chain gave there, by elements.
FUSIONS = {
    each.rows * each.columns: each
    for each in findings.fusions(H200, trial.roofs_of(H200))
    if each.chain == "layernorm_dropout_relu"
}
#: What compiling gave there, by model, batch size and way of compiling.
COMPILED = {(each.model, each.batch, each.variant): each for each in findings.break_evens(H200)}
#: Host memory is this many times slower than an A100's own.
PCIE = memory_hierarchy["host"].bandwidth

# In worked examples.
#: Two thirds of a pass, which is nobody's goal: a kernel on a Cortex-M7, and what a model computes
#: on an Orin NX.
EXAMPLE_GOAL, EXAMPLE_KERNEL, EXAMPLE_WORK = 2 / 3, 9e-3, 1.5e-3
#: A kernel on an Orin NX, a faster GPU, and the launches that compiling leaves.
EXAMPLE_LONG, EXAMPLE_FASTER, EXAMPLE_FEWER = 300e-6, 2, 0.5
#: A service: sentences per second eager and compiled, seconds to compile, sentences and deployments
#: per day.
EXAMPLE_EAGER, EXAMPLE_COMPILED = 4, 5
EXAMPLE_COMPILE, EXAMPLE_DAY, EXAMPLE_DEPLOYS = 60, 36_000, 24
EXAMPLE_SAVED = 1 / EXAMPLE_EAGER - 1 / EXAMPLE_COMPILED
#: A pass of 10 ms that gets a quarter more throughput, compiled for 6 s every 5 hours, and a box
#: that is too quiet for that.
EXAMPLE_PASS, EXAMPLE_GAIN, EXAMPLE_SHORT, EXAMPLE_HOURS = 10e-3, 0.25, 6, 5
EXAMPLE_REQUESTS = EXAMPLE_SHORT / (EXAMPLE_PASS * (1 - 1 / (1 + EXAMPLE_GAIN)))
EXAMPLE_PER_HOUR = 500

#: Operations in a row, in two halves that are drawn one by one.
HEADS = {
    "norm": ("layernorm", "dropout", "matmul"),
    "mlp": ("matmul", "gelu", "matmul"),
    "attention": ("matmul", "softmax", "matmul"),
    "gate": ("sum", "mul", "dropout"),
}
TAILS = {
    "residual": ("add", "relu", "scale"),
    "pool": ("max", "scale", "add"),
    "next": ("layernorm", "matmul", "relu"),
    "scores": ("softmax", "dropout", "matmul"),
}


def wake_us(p: Parameters) -> float:
    """How long a kernel of the wake-word model computes, in microseconds."""
    return round(p.wake_launches * p.launch_us, 1)


def sequence(p: Parameters) -> tuple[str, ...]:
    """The operations that a compiler is given, by key."""
    return (*HEADS[p.head], *TAILS[p.tail])


lab = Lab(
    "lab_07_kernel_fusion",
    title="Lab 07: The Kernel Fusion Dividend",
    question="What does a framework cost you, and when is it worth compiling?",
    chapter=7,
    acts=("The dispatch tax audit", "What fusing and compiling buy"),
    materials={"sequence": sequence, "wake_us": wake_us},
    parameters={
        "kernels": Parameter(1000, steps(600, 1400, 20), "kernels", "kernels in a forward pass"),
        "kernel_us": Parameter(5, steps(2.2, 5.4, 0.05), "µs", "compute time of a kernel"),
        # Longer than a kernel even when the GPU is as busy as the goal asks for.
        "launch_us": Parameter(10, steps(8, 16, 0.1), "µs", "cost of a launch"),
        "goal_pct": Parameter(80, steps(70, 90, 1), "%", "utilization that is promised"),
        "faster": Parameter(2, steps(1.8, 4, 0.1), "×", "how much faster the new GPU computes"),
        # Between the two streams that were measured and not at either.
        "stream_kernels": Parameter(640, steps(340, 960, 1), "kernels", "kernels of a stream"),
        "streams": Parameter(5, steps(3, 12, 1), "streams", "such streams, one after the other"),
        # Far enough from the ties between the offers, for every launch, GPU and compiler.
        "wake_launches": Parameter(
            0.8,
            (*steps(0.2, 0.4, 0.02), *steps(0.76, 1.16, 0.04), *steps(2.9, 3.9, 0.1)),
            "launches",
            "how long a kernel of the wake-word model is",
        ),
        "fused_pct": Parameter(60, steps(50, 65, 1), "%", "launches that compiling removes"),
        "rows": Parameter(1024, steps(1024, 4096, 128), "tokens", "rows of the tensor"),
        "columns": Parameter(768, steps(512, 2048, 64), "units", "columns of the tensor"),
        "layers": Parameter(24, steps(12, 48, 2), "layers", "layers with that chain"),
        "middle": Parameter("dropout", ("dropout", "scale", "add"), "", "second operation"),
        "activation": Parameter(
            "relu", ("relu", "sigmoid", "tanh", "gelu"), "", "the operation that ends the chain"
        ),
        "precision": Parameter("fp16", ("fp16", "fp32"), "", "precision of that chain"),
        "gpu": Parameter(
            "a100-sxm", ("a100-sxm", "h100-sxm", "h200-sxm"), "", "where that chain runs"
        ),
        # Low enough to tell an answer with the datasheet's bandwidth apart.
        "reached_pct": Parameter(
            88, steps(78, 95, 0.5), "%", "bandwidth of the datasheet that was measured there"
        ),
        "head": Parameter("mlp", tuple(HEADS), "", "how the sequence of operations begins"),
        "tail": Parameter("residual", tuple(TAILS), "", "how it ends"),
        # Whatever is drawn, compiling pays for 5.6 to 14.8 deployments per day, and after 1,800 to
        # 2,600 requests: everybody's deployments and hours are far below or far above that.
        "compile_s": Parameter(30, steps(28, 34, 0.5), "s", "compile time of ResNet-50"),
        "eager_rate": Parameter(1450, steps(1400, 1500, 5), "images/s", "eager throughput"),
        "compiled_rate": Parameter(2150, steps(2100, 2200, 5), "images/s", "compiled throughput"),
        "server_images": Parameter(
            3_000_000, steps(1_000_000, 1_600_000, 10_000), "images/day", "images of a server"
        ),
        "deploys": Parameter(10, (2, 20, 24), "per day", "deployments of the service"),
        "kws_compile_s": Parameter(40, steps(36, 44, 0.5), "s", "compile time of the spotter"),
        "kws_gain": Parameter(0.4, steps(0.36, 0.44, 0.01), "", "what the spotter gains"),
        "per_hour": Parameter(100, steps(95, 105, 1), "requests/hour", "requests to the spotter"),
        "service_hours": Parameter(
            24, (6, 8, 10, 12, 13, 34, 36, 40, 44, 48), "hours", "service life of a model"
        ),
    },
    design={
        "context": choice("where the service runs", "cloud", "edge"),
        "execution_mode": choice("how the model is run, by what you answered", "eager", "compiled"),
        "fusion_enabled": flag("whether you switched fusion on in the fusion explorer"),
        "compilation_roi_positive": flag(
            "whether compiling pays before the service ends, by the timeline as it stands"
        ),
        "breakeven_inferences": number(
            "inferences that pay for compiling, by the timeline as it stands",
            0,
            none="compiling never pays",
        ),
        "kws_utilization_eager_pct": number(
            "GPU utilization of keyword spotting in your context, eager, in percent", 0, 100
        ),
        "kws_utilization_compiled_pct": number(
            "GPU utilization of keyword spotting in your context, compiled, in percent", 0, 100
        ),
        "act1_prediction": predicted("what you predicted in the first act"),
        "act1_correct": judged("whether that held"),
        "act2_result": number(
            "the break-even of the second act, by the timeline as it stands", 0, none="none"
        ),
        "act2_decision": choice("what you decided for your context", "eager", "compiled"),
        "constraint_hit": flag("whether the design breaks one of its promises"),
        "act2_prediction": predicted("what you predicted in the second act", required=False),
        "act2_correct": judged("whether that held", required=False),
        "arithmetic_intensity": number(
            "FLOP per byte of the chain as you left it, fused or not; Lab 11 starts there",
            0,
            required=False,
        ),
    },
    deeper=(
        "act1_worked",
        "faster_gpu_saves_pct",
        "act1_why",
        "act1_real",
        "stream_wall_ms",
        "kernels_left",
        "act1_math",
        "act2_claims",
        "rows_until_traffic_counts",
        "ridge_gap_times",
        "act2_traffic",
        "act2_bandwidth",
        "kernels_after_fusing",
        "edge_requests_per_hour",
        "when_to_compile",
        "act2_one_product",
        "act2_math",
        "chapter_claims",
        "reply",
        "deeper_kept",
    ),
)


# Act 1


@lab.asks
def act1_message(p: Parameters) -> Message:
    return Message(
        "Noor Haddad",
        "Head of ML infrastructure",
        "Our keyword spotter is far too slow",
        f"We rebuilt the keyword spotter from the paper: same weights, same {A100.name}, but"
        " nowhere near the paper's speed. I profiled a pass over a batch of clips:"
        f" {q(KWS.kernels)} small kernels, and the GPU computes for only"
        f" {q(TODAY.utilization, '%')} of the time. Before each kernel it does nothing for a"
        " moment.\n\n"
        f"Finance already has an answer: a GPU that computes {p.faster:g}× as fast, which I am to"
        " order on Friday. If the spotter is too slow by then, the product launches without it."
        " What would the new GPU be doing all day?",
        task="Find out what the GPU waits for, and what would keep it busy.",
        in_context={
            "cloud": f"You are looking at our {A100.name}.",
            "edge": f"You are looking at the keyword box: the same weights on a {ORIN.name}.",
        },
        act=1,
    )


@lab.asks
def act1_utilization(p: Parameters) -> Prediction:
    kernel, launch = KWS.compute_per_kernel, A100.launch()
    bought = forward_pass(KWS.kernels, kernel / p.faster, launch)
    share, today = float(bought.utilization), q(TODAY.utilization, "%")
    layer = run("gpt2-layer", A100)
    shorter = f"from {q(kernel, 's')} to {q(kernel / p.faster, 's')}"
    works = f"{q(bought.compute, 's')} of {q(bought.total, 's')}"
    return Prediction(
        f"Noor's GPU computes {today} of the time. Finance's computes **{p.faster:g}×** as fast,"
        " and everything else in the machine stays. What fraction of the time will it compute?",
        {
            "A": "about 65%: a stronger GPU does more, so it is used better",
            "B": f"about {float(TODAY.utilization):.0%}: kernels and pauses shrink alike, so the"
            " fraction stays",
            "C": f"about {share:.0%}: the kernels get shorter, and the pauses between them stay",
            "D": "about 95%: the old GPU could not keep up, and this one can",
        },
        values={"A": 0.65, "B": float(TODAY.utilization), "C": share, "D": 0.95},
        unit="%",
        quantity="utilization",
        settings={
            "model": "kws",
            "device": "a100-sxm",
            "mode": "eager",
            "launch": "serial",
            "speedup": p.faster,
        },
        title="How busy will the new GPU be?",
        feedback={
            "A": "More work done per second is not more time spent working. The kernels get"
            f" shorter, {shorter}, and before each the CPU still spends {q(launch, 's')} on"
            f" its launch. So the new GPU works {works}, or {q(share, '%')}.",
            "B": "That would be true if the GPU made the pauses. The CPU makes them:"
            f" {q(launch, 's')} for each launch, which no GPU shortens. Only the kernels shrink,"
            f" {shorter}, so the fraction falls from {today} to {q(share, '%')}.",
            "C": f"The pauses are launches: {q(launch, 's')} of the CPU's work before each kernel."
            f" The kernels shrink {shorter}, so the new GPU works {works}. Their length"
            " decides, not their number: a GPT-2 layer, with kernels of"
            f" {q(layer.compute_per_kernel, 's')}, computes {q(layer.utilization, '%')} of the"
            " time.",
            "D": "A GPU that cannot keep up has no pauses: work piles up in front of it. This one"
            f" waits, because a launch takes the CPU {q(launch, 's')} and a kernel is done"
            f" sooner. With kernels that shrink {shorter}, it works only {works}.",
        },
        act=1,
    )


def model_table(device: Device) -> str:
    """The three models on one device: how their work is cut, and how busy the device is."""
    rows = ["| Model | Kernels | Compute per kernel | Eager | Compiled |", "|---|---|---|---|---|"]
    for key in ("kws", "resnet50", "gpt2-layer"):
        load = workloads[key]
        eager, compiled = (run(key, device, mode) for mode in ("eager", "compiled"))
        rows.append(
            f"| {load.name} | {q(load.kernels)} | {q(load.compute_per_kernel, 's')}"
            f" | {q(eager.utilization, '%')} in {q(eager.total, 's')}"
            f" | {q(compiled.utilization, '%')} in {q(compiled.total, 's')} |"
        )
    return "\n".join(rows)


@lab.asks
def act1_worked(p: Parameters) -> Peek:
    return Peek(
        {
            f"Utilization and time of a pass, {A100.name}, {q(A100.launch(), 's')} per launch": (
                model_table(A100)
            ),
            f"The same on the {ORIN.name}, {q(ORIN.launch(), 's')} per launch": model_table(ORIN),
            "The keyword spotter, eager, launches one by one": run("kws", A100),
            "The keyword spotter, compiled": run("kws", A100, "compiled"),
            "A GPT-2 layer, eager": run("gpt2-layer", A100),
            "A GPT-2 layer, compiled": run("gpt2-layer", A100, "compiled"),
        },
        title="Worked numbers: the keyword spotter beside a GPT-2 layer",
        act=1,
        after=["act1_utilization"],
    )


@lab.asks
def launch_budget_us(p: Parameters) -> Number:
    return Number(
        f"Noor promises that the GPU will compute for **{p.goal_pct}%** of the pass."
        f" The kernels of your build take {p.kernel_us:g} µs each, launches wait for the kernel"
        " before them, and memory is left out. How many microseconds may one launch cost at most?"
        " Three decimals are enough, as in 3.455.",
        "µs",
        points=7,
        low=0.02,
        high=500,
        hint="Write down what the promise says: kernel over kernel plus launch. If you know the"
        " kernel and the fraction, how long may the two take together?",
        worked_example=f"The kernels of a model on a {M7.name} compute for"
        f" {q(EXAMPLE_KERNEL, 's')} each, and that is to be two thirds of the pass. Then"
        f" kernel and launch together may take {q(EXAMPLE_KERNEL / EXAMPLE_GOAL, 's')}, because"
        f" {q(EXAMPLE_KERNEL, 's')} is two thirds of that. The kernel takes its part, which"
        f" leaves {q(EXAMPLE_KERNEL / EXAMPLE_GOAL - EXAMPLE_KERNEL, 's')} for the launch.",
        title="Keeping the promise",
        act=1,
        after=["act1_utilization"],
    )


@lab.asks(instead_of="launch_budget_us")
def shortest_kernel_us(p: Parameters) -> Number:
    return Number(
        f"Noor promises that the GPU will compute for **{p.goal_pct}%** of the pass."
        f" A launch of your build costs {p.launch_us:g} µs and waits for the kernel before it;"
        " memory is left out. How many microseconds must one kernel compute at least? One decimal"
        " is enough, as in 17.5.",
        "µs",
        points=7,
        low=0.02,
        high=500,
        hint="Write down what the promise says: kernel over kernel plus launch. If the kernel"
        " gets that fraction of the pass, what fraction is left for the launch?",
        worked_example=f"On a {M7.name} a launch costs {q(M7.launch(), 's')}, and computing is to"
        " be two thirds of the pass. Then the launch is the last third, so kernel and launch"
        f" together take three times as long, {q(3 * M7.launch(), 's')}. The kernel has to compute"
        f" for the other {q(2 * M7.launch(), 's')}.",
        title="Keeping the promise",
        act=1,
        after=["act1_utilization"],
    )


@lab.asks
def faster_gpu_saves_pct(p: Parameters) -> Number:
    return Number(
        f"Finance buys the GPU that computes **{p.faster:g}×** as fast. Your kernels of"
        f" {p.kernel_us:g} µs get that much shorter, and a launch still costs {p.launch_us:g} µs"
        " because the CPU does it. Launches wait for kernels, and memory is left out. By how many"
        " percent does the pass get shorter? One decimal is enough, as in 41.5.",
        "percent",
        points=7,
        low=0.5,
        high=100,
        hint="Add up launch and kernel, once with the old kernel and once with the new one. The"
        " saving is a percentage of the old sum.",
        worked_example=f"On a {ORIN.name} a kernel takes {q(EXAMPLE_LONG, 's')} and a launch"
        f" {q(ORIN.launch(), 's')}, together {q(EXAMPLE_LONG + ORIN.launch(), 's')}. A GPU that"
        " computes twice as fast takes"
        f" {q(EXAMPLE_LONG / EXAMPLE_FASTER, 's')} for the kernel and leaves the launch alone:"
        f" {q(EXAMPLE_LONG / EXAMPLE_FASTER + ORIN.launch(), 's')}. The pass gets shorter by"
        f" {q(EXAMPLE_LONG / EXAMPLE_FASTER / (EXAMPLE_LONG + ORIN.launch()), '%')}.",
        title="What Finance would get",
        act=1,
        after=["act1_utilization"],
    )


@lab.asks
def act1_why(p: Parameters) -> Reflection:
    spotter, image, layer = (run(key, A100) for key in ("kws", "resnet50", "gpt2-layer"))
    launch = q(A100.launch(), "s")
    each = {key: q(workloads[key].compute_per_kernel, "s") for key in ("kws", "resnet50")}
    moved = KWS.flops / KWS.intensity / KWS.kernels
    return Reflection(
        "You are about to run a model that nobody has profiled, launched one by one. What tells you"
        " best whether the GPU will be idle most of the time?",
        {
            "A": "how many parameters it has: small models leave a large GPU idle",
            "B": "how many kernels it launches: each of them costs the same again",
            "C": "how long its kernels compute, compared with what a launch costs",
            "D": "how many bytes it moves: kernels that wait for memory do not compute",
        },
        right="C",
        feedback={
            "A": "Small models often have short kernels, which is why this rule seems to work. But"
            " a large model that is cut into short kernels waits just as much, and this very"
            f" spotter, in one kernel of {q(TODAY.compute, 's')}, would hardly wait at all. It is"
            f" {each['kws']} per launch of {launch} that makes {q(TODAY.utilization, '%')}.",
            "B": f"With twice as many kernels of {each['kws']} there would be twice the computing"
            f" and twice the launching, and the fraction would stay at {q(TODAY.utilization, '%')}."
            f" ResNet-50 launches {q(image.kernels)} kernels and computes"
            f" {q(image.utilization, '%')} of the time, because each lasts {each['resnet50']}.",
            "C": f"One launch, one kernel: {launch} beside {each['kws']} for the spotter,"
            f" {each['resnet50']} for ResNet-50, {q(layer.compute_per_kernel, 's')} for a GPT-2"
            f" layer. That is all it takes to tell {q(spotter.utilization, '%')},"
            f" {q(image.utilization, '%')} and {q(layer.utilization, '%')} apart. A faster GPU"
            " shortens the kernels and so makes every model look more like the spotter.",
            "D": f"The spotter does wait for memory, {q(moved, 'B')} in each kernel for its batch"
            f" of clips. On an {A100.name} that is {q(spotter.memory, 's')} of"
            f" {q(spotter.total, 's')}, while launching takes {q(spotter.dispatch, 's')}. Memory"
            " will matter in Act 2, for tensors that are large.",
        },
        title="What tells you in advance?",
        act=1,
        after=["act1_utilization"],
    )


@lab.asks
def act1_real(p: Parameters) -> Prediction:
    case = STREAMS[MORE]
    busy = case.gpu_busy or 0.0
    each, wall = busy / MORE, case.seconds.median
    serial = forward_pass(MORE, each, LAUNCH)
    ahead = forward_pass(MORE, each, LAUNCH, launch="async")
    return Prediction(
        f"On a real {devices['h200-sxm'].name} we timed {q(MORE)} kernels of {q(each, 's')}. A"
        f" launch costs {q(LAUNCH, 's')} there, measured with kernels that do almost nothing. One"
        f" by one, the GPU would be busy for {q(serial.utilization, '%')} of the time. For"
        " what fraction did the profiler see it busy?",
        unit="%",
        low=0,
        high=1,
        title="And on a real GPU?",
        distance="points",
        where="H200, PyTorch, profiler's busy time over wall time",
        feedback={
            "low": f"One by one, it would be {q(serial.utilization, '%')}. But the CPU does"
            " not wait for a kernel to end: it puts launches into a queue and goes on. So"
            f" {q(MORE)} kernels took {q(wall, 's')} and not {q(serial.total, 's')}, because they"
            " ran while the next ones were being launched. In the waterfall, select Keyword"
            " spotting, Eager, and set Launches to Asynchronous.",
            "close": "The CPU launches ahead, so launch and kernel overlap and only the longer of"
            f" the two counts. A launch of {q(LAUNCH, 's')} per kernel of {q(each, 's')} makes"
            f" {q(ahead.utilization, '%')} in the model. The real stream needed"
            f" {q(wall / MORE, 's')} per kernel, a little more, and {q(wall, 's')} in all.",
            "high": "Launching ahead hides each kernel behind a launch, but not the launches"
            f" themselves: the CPU still made {q(MORE)} of them, and the stream took"
            f" {q(wall, 's')} for {q(busy, 's')} of kernels. The queue only fills up if a kernel"
            " lasts longer than a launch. In the waterfall, set Launches to Asynchronous and select"
            " the GPT-2 layer, whose kernels do.",
        },
        act=1,
        after=["act1_utilization"],
    )


@lab.asks
def stream_wall_ms(p: Parameters) -> Number:
    few, many = STREAMS[FEWER], STREAMS[MORE]
    each = (many.gpu_busy or 0.0) / MORE
    return Number(
        f"Two more readings from that H200: a stream of {q(FEWER)} such kernels took"
        f" {q(few.seconds.median, 's')}, one of {q(MORE)} took {q(many.seconds.median, 's')}. Each"
        f" kernel computes for {q(each, 's')}, and a launch costs {q(LAUNCH, 's')}. From"
        f" what was measured, estimate how many milliseconds **{p.streams} streams** of"
        f" **{p.stream_kernels}** kernels take, each begun when the one before it is done. One"
        " decimal is enough, as in 12.3.",
        "ms",
        points=6,
        low=0.2,
        high=2_000,
        hint="Between the two readings there are more kernels and more milliseconds. How long does"
        " one more kernel take? Go on from a reading at that pace, for one stream.",
        worked_example="On another GPU, a stream of 200 kernels took 1.8 ms and one of 700 took 5.8"
        " ms."
        " So 500 kernels more took 4 ms more, 8 µs for each. A stream of 400 has 200 kernels more"
        " than the first one, which makes 1.8 ms and 1.6 ms: 3.4 ms. Two such streams, one after"
        " the"
        " other, take 6.8 ms.",
        title="Read a measured curve",
        act=1,
        after=["act1_real"],
    )


@lab.asks
def kernels_left(p: Parameters) -> Number:
    return Number(
        f"Back to your build: {p.kernels:,} kernels of {p.kernel_us:g} µs, {p.launch_us:g} µs per"
        " launch, and now launches run ahead, so the slower of launch and kernel sets the pace."
        " Fusing merges kernels: fewer of them, the same total compute time. At most how many may"
        f" be left for the GPU to compute **{p.goal_pct}%** of the time? Ignore the first launch"
        " and the last kernel. A whole number is enough, as in 64.",
        "kernels",
        points=8,
        low=2,
        high=20_000,
        hint="The computing stays the same. Find out how long the pass may take with it, and then"
        " how many launches fit into that time.",
        worked_example=f"A model on a {ORIN.name} computes for {q(EXAMPLE_WORK, 's')} in all, and"
        " its GPU is to compute for two thirds of the time. Then the pass may take"
        f" {q(EXAMPLE_WORK / EXAMPLE_GOAL, 's')}. Launches run ahead and set the pace at"
        f" {q(ORIN.launch(), 's')} each, so {q(EXAMPLE_WORK / EXAMPLE_GOAL / ORIN.launch())} fit,"
        " and that many kernels may be left.",
        title="How far must fusing go?",
        act=1,
        after=["act1_real"],
    )


@lab.asks
def best_offer(p: Parameters) -> Choice:
    return Choice(
        "A wake-word model launches one by one today. Its kernels take"
        f" **{wake_us(p):g} µs** each, a launch {p.launch_us:g} µs. Which of these changes makes a"
        " pass shortest?",
        {
            "gpu": f"the new GPU: kernels {p.faster:g}× as fast, same launches",
            "compile": f"compiling: {p.fused_pct}% fewer launches, the same compute time",
            "ahead": "a framework that launches ahead and waits for no kernel",
        },
        points=4,
        worked_example=f"On a {ORIN.name} the kernels take {q(EXAMPLE_LONG, 's')} and a launch"
        f" {q(ORIN.launch(), 's')}. With kernels {EXAMPLE_FASTER}× as fast, launch and kernel take"
        f" {q(EXAMPLE_LONG / EXAMPLE_FASTER + ORIN.launch(), 's')} together. With half of the"
        " launches gone, half a launch is left for each of today's kernels:"
        f" {q(EXAMPLE_LONG + EXAMPLE_FEWER * ORIN.launch(), 's')}. Launching ahead hides the"
        f" shorter of the two and leaves {q(EXAMPLE_LONG, 's')}. So here the faster GPU wins.",
        title="Which change helps most?",
        act=1,
        after=["act1_utilization"],
    )


@lab.asks
def act1_math(p: Parameters) -> Peek:
    compiled = run("kws", A100, "compiled")
    return Peek(
        {
            "One by one": "$$T = N\\,(t_{launch} + t_{kernel}) + t_{memory} \\qquad"
            " U = \\frac{N\\,t_{kernel}}{T}$$",
            "Running ahead": "$$T = t_{launch} + d + (N - 1)\\,\\max(t_{launch}, d) \\qquad"
            " d = t_{kernel} + t_{memory} / N$$",
            "Replayed as a graph": "$$T = t_{launch} + N\\,(d + t_{node})$$",
            "Compiled": "Compiling removes kernels, so $N$ falls and $t_{kernel}$ grows to match:"
            " the total compute time stays, and only the launches get fewer. The chapter's own"
            " formula, $U = t / (r\\,(t + t_{launch}))$ with $r$ of the kernels left, shrinks the"
            " computing too."
            f" For the spotter it gives {q(TODAY.utilization / (1 - KWS.fused_share), '%')}, which"
            f" no GPU can reach; the model gives {q(compiled.utilization, '%')}.",
        },
        title="The equations of a forward pass",
        act=1,
        after=["act1_real"],
    )


# Act 2, fusion


def _ridge(device: Device) -> str:
    """From which intensity on elementwise work no longer waits for memory, in half a sentence."""
    ridge = device.elementwise_rate() / device.bandwidth
    return f"elementwise work waits for memory below {q(ridge, 'FLOP/B')}, its *ridge*"


@lab.asks
def act2_message(p: Parameters) -> Message:
    return Message(
        "Tomás Rivera",
        "Platform engineer",
        "Compile everything tonight?",
        "I read a chapter on frameworks, and I am sold. Fusing LayerNorm, Dropout and ReLU"
        f" makes them {CLAIM:g}× faster. Another page promises 10 to 20× less memory"
        " traffic. And you pay for compiling only once.\n\n"
        "So tonight I want torch.compile on for everything: the image service in the cloud,"
        " the keyword box at the edge, the CI jobs. I tried one CI job already, and it got slower."
        " Noor wants numbers before I touch production, and the release train leaves at six.",
        task="Find out what fusing buys, and where compiling pays.",
        in_context={
            "cloud": f"On our {A100.name}, {_ridge(A100)}.",
            "edge": f"On the box's {ORIN.name}, {_ridge(ORIN)}.",
        },
        act=2,
        after=["act1_utilization"],
    )


@lab.asks
def act2_fusion(p: Parameters) -> Prediction:
    fused = FUSED
    steps_ = q(fused.unfused_launches)
    saved = fused.unfused_time - fused.fused_time
    rate = q(A100.elementwise_rate(), "FLOP/s")
    moved = f"{q(fused.unfused_traffic, 'B')} to {q(fused.fused_traffic, 'B')}"
    times = f"{q(fused.unfused_time, 's')} to {q(fused.fused_time, 's')}"
    return Prediction(
        f"LayerNorm, Dropout and ReLU on {TENSOR.rows:,.0f} × {TENSOR.columns:,.0f} numbers in fp16"
        f" on an {A100.name}: three kernels become one. How many times faster is that?",
        {
            "A": "about 1.2×: the arithmetic takes the time, and it stays the same",
            "B": "about 3×: one launch and one trip through memory, not three",
            "C": f"about {CLAIM:g}×, as in the chapter: trips back to Python are saved, too",
            "D": "10 to 20×, as on that page: what lies between stays on the chip",
        },
        values={"A": 1.2, "B": 3, "C": CLAIM, "D": 15},
        unit="×",
        quantity="speedup",
        settings={
            "device": "a100-sxm",
            "chain": "layernorm-dropout-relu",
            "elements": TENSOR.rows * TENSOR.columns,
            "precision": "fp16",
        },
        title="What does fusing buy?",
        distance="times",
        where="H200, one kernel written by hand, wall clock",
        feedback={
            "A": f"The arithmetic stays, but it is only {q(fused.compute_time, 's')} of"
            f" {q(fused.unfused_time, 's')}: the vector units do {rate}."
            f" The rest is {steps_} launches of {q(fused.launch_overhead, 's')} and"
            f" {q(fused.unfused_traffic, 'B')} of traffic, and both fall to a third: from {times}.",
            "B": f"Launches and traffic fall to a third, and only {q(fused.compute_time, 's')} of"
            f" arithmetic stay: from {times}, {q(fused.speedup, '×')} as fast. (The chapter gives"
            f" the arithmetic {q(TENSOR.compute, 's')}, which would leave"
            f" {q(FUSED_IN_THE_TEXT.speedup, '×')}.) The two launches are"
            f" {q(2 * fused.launch_overhead / saved, '%')} of the saving; enlarge the tensor,"
            " and the traffic takes over.",
            "C": f"Nothing here can fall by more than {q(fused.traffic_reduction, '×')}. The trips"
            f" to Python are part of a launch, and {steps_} launches become one; the traffic goes"
            f" from {moved}, and the arithmetic stays. So the time goes from {times}.",
            "D": "That figure belongs to attention, where a table of scores that grows with the"
            " square of the sequence is never written. Here is no such table: the"
            f" traffic goes from {moved}, {q(fused.traffic_reduction, '×')} less, and the time from"
            f" {times}.",
        },
        act=2,
        after=["act1_utilization"],
    )


@lab.asks
def act2_claims(p: Parameters) -> Message:
    same = FUSIONS[TENSOR.elements].wall
    gains = [each.wall["triton"] for each in FUSIONS.values()]
    return Message(
        "Ines Castellano",
        "GPU kernel engineer",
        f"Where {CLAIM:g}× and 20× come from",
        f"Tomás forwarded your question. I tried to reproduce **{CLAIM:g}×** for this chain on our"
        " H200 and gave up after two days. A kernel I wrote by hand is"
        f" {q(same['triton'], '×')} as fast at this size, and {q(min(gains), '×')} to"
        f" {q(max(gains), '×')} over all sizes I timed. torch.compile reached"
        f" {q(same['compiled'], '×')} here, which means slower: each of its calls costs the CPU"
        " time too.\n\n"
        "**10 to 20×** less traffic is a figure for FlashAttention. Attention has a table of scores"
        " that grows with the square of the sequence. FlashAttention works through it in tiles and"
        " never writes it to memory. That is a different algorithm, not a chain in one kernel, and"
        " on the wall clock it gives 2 to 4×. Please keep the two apart in whatever you tell Noor"
        " today.",
        act=2,
        after=["act2_fusion"],
    )


@lab.asks
def rows_until_traffic_counts(p: Parameters) -> Number:
    return Number(
        "For small tensors the launch decides. The fused kernel of LayerNorm, Dropout and ReLU runs"
        f" on an {A100.name} ({q(A100.bandwidth, 'B/s')}) in **{p.precision}**, on rows of"
        f" {p.columns:,} numbers, and its one launch costs {p.launch_us:g} µs. It reads the tensor"
        " once and writes it once. Beyond how many rows does moving the data take longer than that"
        " launch? A whole number is enough, as in 20,500.",
        "rows",
        points=6,
        low=50,
        high=10_000_000,
        hint="Find out how many bytes memory moves while one launch lasts, and how many bytes a row"
        " is when it is read and written.",
        worked_example=f"On a {ORIN.name} a launch costs {q(ORIN.launch(), 's')}. In that time"
        f" its memory moves {q(ORIN.bandwidth * ORIN.launch(), 'B')} at"
        f" {q(ORIN.bandwidth, 'B/s')}. A row of 25,500 numbers in fp16 is {q(51e3, 'B')}; read and"
        f" written, it moves {q(102e3, 'B')}. That fits into the launch"
        f" {q(ORIN.bandwidth * ORIN.launch() / 102e3)} times, so beyond that many rows the data"
        " takes longer.",
        title="When does traffic outweigh the launch?",
        act=2,
        after=["act2_fusion"],
    )


@lab.asks
def fusion_saves_ms(p: Parameters) -> Number:
    return Number(
        f"Your model has **{p.layers} layers**, each with one LayerNorm, Dropout and ReLU on"
        f" {p.rows:,} × {p.columns:,} numbers in fp16. On the {A100.name}"
        f" ({q(A100.bandwidth, 'B/s')}) a launch costs {p.launch_us:g} µs. Each operation alone"
        " reads the tensor and writes it; fused, the chain is one kernel. How many milliseconds"
        " does a pass save with all chains fused? Three decimals are enough, as in 4.255.",
        "ms",
        points=6,
        low=0.005,
        high=100,
        hint="Count what one chain no longer does once it is one kernel: launches, and reads and"
        " writes of the tensor. Then take all layers.",
        worked_example=f"Fusing two operations on a {ORIN.name} spares one launch of"
        f" {q(ORIN.launch(), 's')} and two of four crossings. A tensor of"
        f" {q(5.1e6, 'B')} crosses memory at {q(ORIN.bandwidth, 'B/s')} in"
        f" {q(5.1e6 / ORIN.bandwidth, 's')}, so a chain saves"
        f" {q(ORIN.launch() + 2 * 5.1e6 / ORIN.bandwidth, 's')}. In a model with 60 of them, that"
        f" makes {q(60 * (ORIN.launch() + 2 * 5.1e6 / ORIN.bandwidth), 's')}.",
        title="What fusing saves in a pass",
        act=2,
        after=["act2_fusion"],
    )


@lab.asks
def ridge_gap_times(p: Parameters) -> Number:
    names = ("layernorm", p.middle, p.activation)
    work = ", ".join(f"{ops[key].name} {q(ops[key].flops_per_element)}" for key in names)
    extra = (
        " Add reads a second tensor of the same size, besides the one that flows through."
        if p.middle == "add"
        else ""
    )
    machine = devices[p.gpu]
    return Number(
        f"{' → '.join(ops[key].name for key in names)}, fused into one kernel, on numbers in"
        f" **{p.precision}** in the memory of an **{machine.name}**: {machine.peak_label()} in its"
        f" Tensor Cores, {q(machine.elementwise_rate(), 'FLOP/s')} in its vector units,"
        f" {q(machine.bandwidth, 'B/s')}. Take the arithmetic at its full rate, and memory at the"
        f" **{p.reached_pct:g}%** of its bandwidth that was measured on yours. FLOP per element:"
        f" {work}.{extra} How many times more FLOP per byte would the fused kernel need before"
        " arithmetic takes longer than memory? Two decimals are enough, as in 51.25.",
        "times",
        points=6,
        low=0.001,
        high=20_000,
        hint="Two intensities are compared. First decide which of the two units can do a ReLU at"
        " all: one of them multiplies matrices and does nothing else.",
        worked_example="A chip does 400 TFLOPS in its vector units. Of 1,000 GB/s, 80% were"
        " measured: 800 GB/s. So its ridge for elementwise work lies at 500 FLOP/B. A fused kernel"
        " does 250 FLOP for each fp16 element, which it reads once and writes once: four bytes, so"
        " 62.5 FLOP/B. It would need eight times that.",
        title="How far below the ridge?",
        act=2,
        after=["act2_fusion"],
    )


@lab.asks
def kernels_after_fusing(p: Parameters) -> Choice:
    listed = " → ".join(ops[key].name for key in sequence(p))
    return Choice(
        "A compiler gets these six operations. Each reads what the one before it wrote, and their"
        f" shapes agree wherever that matters:\n\n**{listed}**\n\nIt fuses neighbors wherever"
        " the fusion decision says that two of them can share a kernel. How many kernels does it"
        " launch?",
        {"two": "2", "three": "3", "four": "4", "five": "5"},
        points=1,
        worked_example="In **Matrix product → Add → Sum → Scale**, Add works on each result of the"
        " product while it is still at hand, and Sum adds up what Add leaves there: these share a"
        " kernel. Scale needs the whole sum, which is known only after the last element. So the"
        " compiler cuts once, and launches two kernels.",
        title="Where does a compiler have to cut?",
        act=2,
        after=["act2_fusion"],
    )


@lab.asks
def act2_traffic(p: Parameters) -> Reflection:
    fused = FUSED
    before, after = (q(x, "B") for x in (fused.unfused_traffic, fused.fused_traffic))
    less = q(fused.traffic_reduction, "×")
    apart = f"{CHAIN.unfused_reads} reads and {CHAIN.unfused_writes} writes"
    return Reflection(
        "Fusing LayerNorm, Dropout and ReLU moves {less} less data, because {why}.",
        blanks={
            "less": {"five": f"{CLAIM:g}×", "three": less, "flash": "10 to 20×"},
            "why": {
                "stay": "what lies between them stays on the chip",
                "ridge": "the fused kernel lies to the right of the ridge",
                "tensor": "the fused kernel is computed by Tensor Cores",
                "python": "Python has fewer operations to hand to the GPU",
            },
        },
        right={"less": "three", "why": "stay"},
        feedback={
            "less": {
                "five": f"The {CLAIM:g}× was claimed for the wall clock, where launches count as"
                f" well. Traffic is easier to count: {apart} of a tensor become one read and one"
                f" write, {before} become {after}. That is {less} for three operations, and"
                f" {CLAIM:g}× would take a chain of five. Add two steps and see.",
                "three": f"Unfused, three operations make {apart} of the tensor, {before} in all."
                f" Fused, one read and one write are left, {after}. In a chain where each"
                " operation has one input and one output, the traffic falls by the number of"
                " operations. Add a fourth step behind More in the explorer to check that.",
                "flash": "That is the figure for FlashAttention, which never writes its table of"
                f" scores. This chain has no table: {apart} of one tensor become one read and one"
                f" write, {before} become {after}. Fusing three elementwise operations can save at"
                " most two of every three passes over memory.",
            },
            "why": {
                "stay": "After LayerNorm each number goes straight into Dropout and then into ReLU"
                " while it is still in a register. Two writes and two reads in the middle"
                f" disappear, {q(fused.unfused_traffic - fused.fused_traffic, 'B')} for this"
                " tensor. The fusion film shows them go: watch what crosses between memory and"
                " chip.",
                "ridge": f"The fused kernel does {q(fused.fused_intensity, 'FLOP/B')}, and the"
                f" vector units of an {A100.name} have their ridge at {q(VECTOR_RIDGE, 'FLOP/B')}."
                " Fusing moves the chain to the right, but it stays left of the ridge. The higher"
                " intensity is itself a result of moving less data, so it cannot be the reason.",
                "tensor": "Tensor Cores multiply small matrices, and nothing in this chain is a"
                f" matrix product. The chain does {q(CHAIN.flops_per_element)} FLOP for each"
                " element, fused or not, in the vector units. What changed is how often the"
                " element travels: count the reads and writes before and after.",
                "python": f"Python does have less to do: {q(fused.unfused_launches)} launches"
                f" become one, which saves {q(2 * fused.launch_overhead, 's')} here. But a launch"
                " moves no data. The sentence is about traffic, and that falls because two"
                " tensors between the operations are never written and never read.",
            },
        },
        title="In one sentence",
        act=2,
        after=["act2_fusion"],
    )


@lab.asks
def act2_bandwidth(p: Parameters) -> Reflection:
    faster = devices["h100-sxm"].bandwidth
    more = fuse(CHAIN, TENSOR.elements, 2, A100, bandwidth=faster)
    apart = f"{q(FUSED.unfused_time, 's')} to {q(more.unfused_time, 's')}"
    fused = f"{q(FUSED.fused_time, 's')} to {q(more.fused_time, 's')}"
    trips = q(FUSED.unfused_traffic / FUSED.bandwidth, "s")
    return Reflection(
        f"The {A100.name} gets the memory of an H100, {q(faster, 'B/s')}, and nothing else changes."
        " What does that do to the three kernels, and what to the fused one?",
        {
            "A": "the three kernels get faster; the fused one hardly uses memory and stays",
            "B": "both get a little faster, the three by three times as many microseconds",
            "C": f"both get {q(faster / A100.bandwidth, '×')} as fast, because the memory did",
            "D": "the three catch up with the fused one, so fusing is hardly worth it any more",
        },
        right="B",
        feedback={
            "A": f"The fused kernel still reads its input and writes its result,"
            f" {q(FUSED.fused_traffic, 'B')}. It goes from {fused}, the three from {apart}. Each"
            " trip through memory gets shorter by the same amount, and the three kernels make"
            f" {q(FUSED.unfused_tensors)} trips where the fused one makes"
            f" {q(FUSED.fused_tensors)}.",
            "B": f"From {apart}, and from {fused}: six trips through memory get shorter in one case"
            f" and two in the other. It is little, because launches take"
            f" {q(FUSED.unfused_launches * FUSED.launch_overhead, 's')} of the first time. The"
            f" speedup stays at {q(more.speedup, '×')}. Enlarge the tensor until bandwidth counts.",
            "C": f"Only the time in memory shrinks by that factor, and at this size it is {trips}"
            f" of {q(FUSED.unfused_time, 's')}. The launches are the CPU's and stay, so the three"
            f" kernels go from {apart} and the fused one from {fused}. A large tensor comes closer"
            " to that factor, and never reaches it.",
            "D": f"The three go from {apart}, the fused kernel from {fused}: still"
            f" {q(more.speedup, '×')} apart. Bandwidth makes every trip cheaper, but three launches"
            " stay three launches, and six trips stay six. More bandwidth and fewer trips are two"
            " remedies that add up.",
        },
        title="More bandwidth, fused and not",
        act=2,
        after=["act2_fusion"],
    )


# Act 2, compiling


@lab.asks
def act2_break_even(p: Parameters) -> Prediction:
    images = float(break_even(RESNET.compile_time, RESNET.eager_rate, RESNET.compiled_rate))
    about = round(images, -4)
    saved = 1 / RESNET.eager_rate - 1 / RESNET.compiled_rate
    each = q(1 / RESNET.eager_rate, "s")
    quick, slow = (COMPILED["resnet50", batch, "compiled"].break_even for batch in (1, 256))
    return Prediction(
        f"torch.compile needs {q(RESNET.compile_time, 's')} for ResNet-50 and lifts it from"
        f" {q(RESNET.eager_rate)} to {q(RESNET.compiled_rate)} images per second. After how many"
        " images has compiling paid for itself?",
        {
            "A": "about 1,000: the cost is tiny",
            "B": "about 10,000: a few seconds of work",
            "C": f"about {about:,.0f}: each image saves little",
            "D": "about 10 million: it hardly ever pays",
        },
        values={"A": 1e3, "B": 1e4, "C": about, "D": 1e7},
        unit="images",
        quantity="break_even",
        settings={
            "compile_time": RESNET.compile_time,
            "eager_rate": RESNET.eager_rate,
            "gain": RESNET.compiled_rate / RESNET.eager_rate - 1,
        },
        title="When has compiling paid?",
        distance="times",
        where=f"H200, batch 256. At batch 1 it is {q(quick)}; at batch 32 the compiled model was"
        " slower, so it never pays",
        feedback={
            "A": f"A gain of {q(RESNET.compiled_rate / RESNET.eager_rate - 1, '%')} sounds like a"
            f" lot, but an image takes only {each}, and compiling takes"
            f" {q(saved, 's')} off that. A thousand images save {q(1e3 * saved, 's')} of the"
            f" {q(RESNET.compile_time, 's')} that you spent.",
            "B": f"All of that work takes {q(1e4 / RESNET.eager_rate, 's')} without compiling, so"
            f" it cannot possibly save {q(RESNET.compile_time, 's')}. Compiled, each image is"
            f" {q(saved, 's')} shorter, and ten thousand of them save {q(1e4 * saved, 's')}: green"
            " is still far below red.",
            "C": f"An image takes {each} eager and {q(1 / RESNET.compiled_rate, 's')} compiled, so"
            f" each one saves {q(saved, 's')}. {q(RESNET.compile_time, 's')} divided by that is"
            f" {q(images, 'images')}: minutes for a busy service, weeks for a quiet one. On our"
            f" H200 it took {q(slow)} at batch 256.",
            "D": f"The saving per image is small, {q(saved, 's')}, but every image brings it. Ten"
            f" million images would save {q(1e7 * saved, 's')}, many times the"
            f" {q(RESNET.compile_time, 's')} that compiling costs. Will your service ever see"
            " that many?",
        },
        act=2,
        after=["act2_fusion"],
    )


def _service(p: Parameters) -> str:
    return (
        f"A server of your image service handles {p.eager_rate:,} images per second eager and"
        f" {p.compiled_rate:,} compiled. Every deployment compiles again, for {p.compile_s} s."
    )


@lab.asks
def deploys_per_day_limit(p: Parameters) -> Number:
    return Number(
        f"{_service(p)} It gets **{p.server_images / 1e6:g} million images** per day. Up to how"
        " many deployments per day does compiling still save time? One decimal is enough, as in"
        " 95.5.",
        "deployments per day",
        points=5,
        low=0.0001,
        high=1_000_000,
        hint="What does one image save? It is a difference of times, not of rates. How often does a"
        " day of images pay for one compilation?",
        worked_example=f"A translation service does {EXAMPLE_EAGER} sentences per second, compiled"
        f" {EXAMPLE_COMPILED}. A sentence takes {q(1 / EXAMPLE_EAGER, 's')} and then"
        f" {q(1 / EXAMPLE_COMPILED, 's')}, so each saves {q(EXAMPLE_SAVED, 's')}. A day of"
        f" {q(EXAMPLE_DAY)} sentences saves"
        f" {q(EXAMPLE_DAY * EXAMPLE_SAVED)} seconds, and each deployment spends"
        f" {q(EXAMPLE_COMPILE)} of them on compiling. So compiling saves time up to"
        f" {q(EXAMPLE_DAY * EXAMPLE_SAVED / EXAMPLE_COMPILE)} deployments per day.",
        title="Volume and deployments",
        act=2,
        after=["act2_break_even"],
    )


@lab.asks(instead_of="deploys_per_day_limit")
def server_images_million(p: Parameters) -> Number:
    return Number(
        f"{_service(p)} There are **{p.deploys} deployments** per day. How many million images per"
        " day must a server get at least, so that compiling saves time? Three decimals are enough,"
        " as in 7.125.",
        "million images per day",
        points=5,
        low=0.00001,
        high=10_000,
        hint="What does one image save? It is a difference of times, not of rates. How many images"
        " pay for the compilations of a day?",
        worked_example="A translation service takes"
        f" {q(1 / EXAMPLE_EAGER, 's')} for a sentence, and compiled"
        f" {q(1 / EXAMPLE_COMPILED, 's')}, so each saves {q(EXAMPLE_SAVED, 's')}. It is deployed"
        f" {EXAMPLE_DEPLOYS} times per day and compiles for {q(EXAMPLE_COMPILE)} seconds each time,"
        f" {q(EXAMPLE_DEPLOYS * EXAMPLE_COMPILE)} in all. That takes"
        f" {q(EXAMPLE_DEPLOYS * EXAMPLE_COMPILE / EXAMPLE_SAVED)} sentences to earn back.",
        title="Volume and deployments",
        act=2,
        after=["act2_break_even"],
    )


def _box(p: Parameters) -> str:
    return (
        "A request to your keyword box brings a batch of clips for one pass, whose time the"
        f" waterfall shows (Keyword spotting, {ORIN.name}, Eager, Serial). Compiling takes"
        f" {p.kws_compile_s} s and raises the throughput by **{q(p.kws_gain, '%')}**."
    )


@lab.asks
def edge_requests_per_hour(p: Parameters) -> Number:
    return Number(
        f"{_box(p)} A model serves for **{p.service_hours} hours**, then the next one is installed"
        " and compiled. Above how many requests per hour does compiling pay? One decimal is"
        " enough, as in 1,250.5.",
        "requests per hour",
        points=6,
        low=0.01,
        high=1_000_000,
        hint=f"A throughput that is {q(p.kws_gain, '%')} higher does not take {q(p.kws_gain, '%')}"
        " off a request. Find out what one request saves, then how many pay for compiling.",
        worked_example=f"A pass takes {q(EXAMPLE_PASS, 's')}. With a quarter more throughput it"
        f" takes {q(EXAMPLE_PASS / (1 + EXAMPLE_GAIN), 's')}, so each request saves"
        f" {q(EXAMPLE_PASS * (1 - 1 / (1 + EXAMPLE_GAIN)), 's')}. Compiling for"
        f" {q(EXAMPLE_SHORT)} seconds is paid for after {q(EXAMPLE_REQUESTS)} requests. If a model"
        f" serves for {EXAMPLE_HOURS} hours, they must arrive at"
        f" {q(EXAMPLE_REQUESTS / EXAMPLE_HOURS)} per hour or more.",
        title="How busy must the box be?",
        act=2,
        after=["act2_break_even"],
    )


@lab.asks
def when_to_compile(p: Parameters) -> Code:
    return Code(
        "Tomás wants the rule in his deployment script, so that nobody computes it by hand again."
        " Write `calls_to_break_even`: the fewest calls after which compiling has saved at least"
        " as much time as it took. It gets the seconds that compiling takes, and the milliseconds"
        " that a call takes eager and compiled. Return a whole number, or `None` if a compiled call"
        " is not faster: some of his models get slower.",
        "calls_to_break_even(compile_s, eager_ms, compiled_ms)",
        [((60, 20, 15), 12_000), ((1, 10, 7), 334)],
        points=6,
        worked_example="Compiling takes 6 s, and a call 9 ms eager and 5 ms compiled. So each call"
        " saves 4 ms, and 6 s is 1,500 times as long: with call number 1,500 the two are even."
        " Had each call saved 3.5 ms, 1,714 of them would not be enough yet, and it would take one"
        " more. A rule must do both: divide, and round up what is left over.",
        title="A rule for the script",
        act=2,
        after=["act2_break_even"],
    )


@lab.asks
def where_to_compile(p: Parameters) -> Choice:
    return Choice(
        f"**Cloud**: the server of the last question, with {p.server_images / 1e6:g} million"
        f" images and **{p.deploys} deployments** per day. **Edge**: {_box(p)} It gets"
        f" **{p.per_hour} requests per hour** and a new model every {p.service_hours} hours. Where"
        " should Tomás compile?",
        {
            "both": "in both places",
            "cloud": "only in the cloud",
            "edge": "only at the edge",
            "neither": "in neither place",
        },
        points=6,
        worked_example=f"A service handles {EXAMPLE_EAGER} sentences per second eager and"
        f" {EXAMPLE_COMPILED} compiled: {q(1 / EXAMPLE_EAGER, 's')} each become"
        f" {q(1 / EXAMPLE_COMPILED, 's')}, so {q(EXAMPLE_COMPILE / EXAMPLE_SAVED)} sentences earn"
        f" back {q(EXAMPLE_COMPILE)} seconds of compiling. It gets {q(EXAMPLE_DAY)} per day and is"
        f" deployed {EXAMPLE_DEPLOYS} times:"
        f" {q(EXAMPLE_DAY / EXAMPLE_DEPLOYS)} between two compilations, so compiling pays. A box"
        f" needs {q(EXAMPLE_PASS, 's')} for a pass. With a quarter more throughput it takes"
        f" {q(EXAMPLE_PASS / (1 + EXAMPLE_GAIN), 's')}, so {q(EXAMPLE_REQUESTS)} requests earn back"
        f" {q(EXAMPLE_SHORT)} seconds. At {q(EXAMPLE_PER_HOUR)} per hour, a model's {EXAMPLE_HOURS}"
        f" hours bring {q(EXAMPLE_HOURS * EXAMPLE_PER_HOUR)}: not enough.",
        title="Where does compiling pay?",
        act=2,
        after=["act2_break_even"],
    )


@lab.asks
def act2_one_product(p: Parameters) -> Reflection:
    giant = forward_pass(1, 0.2, A100.launch())
    tax = q(giant.dispatch / giant.total, "%")
    spotter = run("kws", A100).total / run("kws", A100, "compiled").total
    layer = COMPILED["gpt2-layer", 8, "compiled"]
    longer = layer.batch / layer.compiled_rate - layer.batch / layer.eager_rate
    return Reflection(
        "A model is one giant matrix product: one kernel of 200 ms. What will torch.compile give?",
        {
            "A": "next to nothing: one launch is all there is to save",
            "B": f"about {q(RESNET.compiled_rate / RESNET.eager_rate, '×')}, as for ResNet-50:"
            " compiled code is better code",
            "C": "more than 2×: the larger a kernel is, the more there is to optimize",
            "D": "a clear loss: every compiled call has an overhead of its own",
        },
        right="A",
        feedback={
            "A": f"Its one launch is {tax} of the time, and there is no second kernel to fuse with."
            " Nothing that compiling removes is there. The keyword spotter, with"
            f" {q(KWS.kernels)} kernels, gains {q(spotter, '×')} in the model. What decides is how"
            " the work is cut into kernels and not how large the model is.",
            "B": "By the chapter's rates, ResNet-50 gains"
            f" {q(RESNET.compiled_rate / RESNET.eager_rate, '×')}, because it"
            f" has hundreds of kernels: {q(RESNET.fused_share, '%')} of its launches disappear, and"
            " the tensors between them stay on the chip. This model has one kernel, so no launch is"
            f" saved and no tensor lies between. Its whole dispatch tax is {tax} of the time.",
            "C": "Compiling removes launches and the traffic between kernels, and large kernels"
            f" have the least of both: here {tax} of the time is launching. It is the keyword"
            f" spotter with its tiny kernels that gains {q(spotter, '×')}. Select a GPT-2 layer in"
            " the waterfall and switch to Compiled: next to nothing moves.",
            "D": "Compiling costs time once, before the first call; later calls run the same matrix"
            " product. A compiled call does cost a little more: on our H200 a GPT-2 layer at batch"
            f" {layer.batch} took {q(longer, 's')} longer per call. Beside 200 ms for one kernel"
            f" that is {q(longer / 0.2, '%')}, which nobody will notice. Compiling is useless here"
            " and harmless.",
        },
        title="One giant kernel",
        act=2,
        after=["act2_break_even"],
    )


@lab.asks
def act2_math(p: Parameters) -> Peek:
    return Peek(
        {
            "Fusing k operations": "Unfused, each operation reads and writes: $Q = 2 k\\,b\\,n$."
            " Fused, one read and one write are left: $Q_{fused} = 2\\,b\\,n$. So the traffic"
            " falls by $k$.",
            "Time of a chain": "$$T = k\\,t_{launch} + t_{compute} + Q / B$$ Launches and traffic"
            " fall by $k$ and the arithmetic stays, so the gain comes close to $k$ and never"
            f" reaches it. Here the arithmetic takes {q(FUSED.compute_time, 's')} at the"
            f" {q(A100.elementwise_rate(), 'FLOP/s')} of an {A100.name}'s vector units; the"
            f" chapter gives it {q(TENSOR.compute, 's')}, as if they did"
            f" {q(FUSED.flops / TENSOR.compute, 'FLOP/s')}.",
            "Break-even": "$$N = \\frac{t_{compile}}{1 / R_{eager} - 1 / R_{compiled}}$$ Without a"
            " gain it is never reached.",
            "Deployment": "Compiling pays if $V \\cdot D \\ge N$: volume per day times days until"
            " the model is replaced.",
        },
        title="The equations of fusing and compiling",
        act=2,
        after=["act2_break_even"],
    )


@lab.asks
def chapter_claims(p: Parameters) -> Peek:
    small, large = (COMPILED["ds-cnn", batch, "compiled"] for batch in (1, 256))
    layer = COMPILED["gpt2-layer", 8, "compiled"]
    graph = COMPILED["resnet50", 32, "compiled_graph"]
    relu = fuse(chain("relu"), TENSOR.elements, 2, A100).unfused_intensity
    peak = roofline(relu, A100.peak("fp16"), A100.bandwidth).mfu
    tensor = TENSOR.elements * BYTES_PER_ELEMENT["fp16"]
    low, high = (run(key, A100).utilization for key in ("kws", "resnet50"))
    lifted = run("kws", A100, "compiled").utilization
    whole = {mode: run("resnet50", A100, mode).total for mode in ("eager", "compiled")}

    def gain(found: findings.BreakEvenFinding) -> str:
        return q(found.compiled_rate / found.eager_rate, "×")

    return Peek(
        {
            "Eager mode forfeits more than 30%": "In the model the keyword spotter is"
            f" {q(run('kws', A100).total / run('kws', A100, 'compiled').total, '×')} as fast"
            f" compiled, and ResNet-50 {q(whole['eager'] / whole['compiled'], '×')}; the chapter's"
            f" own rates make ResNet-50 {q(RESNET.compiled_rate / RESNET.eager_rate, '×')}. On our"
            f" H200 a small keyword model measured {gain(small)} at batch 1, so eager mode forfeits"
            f" {q(1 - small.eager_rate / small.compiled_rate, '%')} there. Models of many small"
            " kernels come close to the claim or exceed it; others do not.",
            "Compiling gives 1.3 to 2×": f"Measured: {gain(small)} and {gain(large)} for the"
            f" keyword model at batch {small.batch} and {large.batch}, {gain(graph)} for ResNet-50"
            f" at batch {graph.batch} with a graph, but {gain(layer)} for a GPT-2 layer at batch"
            f" {layer.batch}, which got slower. It is a range and not a promise.",
            "The framework decides between 30 and 80% utilization": "On the same GPU, launched"
            f" one by one, the spotter computes {q(low, '%')} of the time and ResNet-50"
            f" {q(high, '%')}. That spread comes from the length of their kernels. What the"
            f" framework adds is what compiling changes: {q(low, '%')} to {q(lifted, '%')} for the"
            " spotter.",
            "A ReLU alone reaches less than 1% of the peak": f"At {q(relu, 'FLOP/B')} the roof of"
            f" an {A100.name} allows {q(peak, '%')} of its fp16 peak.",
            "Fusing lifts the chain from 0.1 to 0.8 FLOP/B": f"Counted, its"
            f" {q(CHAIN.flops_per_element)} FLOP per element meet"
            f" {q(FUSED.unfused_traffic / TENSOR.elements)} bytes in three kernels and"
            f" {q(FUSED.fused_traffic / TENSOR.elements)} in one:"
            f" {q(FUSED.unfused_intensity, 'FLOP/B')} becomes"
            f" {q(FUSED.fused_intensity, 'FLOP/B')}. That is"
            f" {q(FUSED.fused_intensity / FUSED.unfused_intensity, '×')} and not eight times, and"
            f" left of the vector units' ridge at {q(VECTOR_RIDGE, 'FLOP/B')} either way.",
            "PCIe is 60× slower than HBM": f"{q(A100.bandwidth, 'B/s')} against {q(PCIE, 'B/s')} is"
            f" {q(A100.bandwidth / PCIE, '×')}. A single tensor of {q(tensor, 'B')} that makes a"
            f" detour to the host takes {q(tensor / PCIE, 's')} one way, and fusing the chain saved"
            f" {q(FUSED.unfused_time - FUSED.fused_time, 's')}. One misplaced transfer undoes it.",
        },
        title="The chapter's claims, checked",
        act=2,
        after=["act2_break_even"],
    )


# After the acts


@lab.asks
def reply(p: Parameters) -> Essay:
    return Essay(
        "Answer Noor and Tomás in one message. Use your own numbers. Should"
        " Noor buy the faster GPU? What does fusing buy, and why neither 5× nor 10 to 20×? Where"
        " should Tomás compile, and where not?",
        [
            (3, "the GPU waits for launches, so a faster one waits more; with a number"),
            (3, "real launches run ahead: says what that changes and what it leaves"),
            (3, "fusing saves launches and traffic between operations; tells it from attention"),
            (
                3,
                "compiling pays by volume and time in service; with a break-even, and a verdict"
                " for cloud and edge that fits it",
            ),
        ],
        at_least=80,
        at_most=150,
        after=["act2_break_even"],
    )


@lab.asks
def predictions_kept(p: Parameters) -> Record:
    return Record(
        ["act1_utilization", "act2_fusion", "act2_break_even"],
        points=8,
        title="Predictions that you committed",
    )


@lab.asks
def work_kept(p: Parameters) -> Record:
    return Record(
        ["design"],
        points=2,
        title="Your design",
    )


@lab.asks
def deeper_kept(p: Parameters) -> Record:
    return Record(
        ["act1_why", "act1_real", "act2_traffic", "act2_one_product"],
        points=4,
        title="Your reflections, and a prediction",
    )


@lab.asks
def takeaways(p: Parameters) -> Takeaways:
    service = workloads["kws-service"]
    eager = 1 / run("kws", A100).total
    requests = break_even(service.compile_time, eager, eager * (1 + service.gain))
    resnet = break_even(RESNET.compile_time, RESNET.eager_rate, RESNET.compiled_rate)
    return Takeaways(
        [
            (
                "Small kernels wait for launches",
                f"The spotter computes {q(run('kws', A100).utilization, '%')} of a pass on an"
                f" {A100.name}, {q(run('kws', ORIN).utilization, '%')} on a {ORIN.name}. Compiling"
                f" lifts that to {q(run('kws', A100, 'compiled').utilization, '%')} and"
                f" {q(run('kws', ORIN, 'compiled').utilization, '%')}; a faster GPU lowers it.",
            ),
            (
                "Fusing saves passes over memory",
                f"Three operations: {q(FUSED.traffic_reduction, '×')} less traffic and"
                f" {q(FUSED.speedup, '×')} in time. The 10 to 20× belong to attention.",
            ),
            (
                "Compiling is an investment",
                f"By the chapter, ResNet-50 recovers it after {q(resnet, 'images')}, the"
                f" challenge after {q(requests, 'requests')}. Volume and time until the next"
                " deployment decide.",
            ),
        ],
        ahead="Lab 11 starts at the intensity that you leave here.",
        after=["where_to_compile"],
    )
