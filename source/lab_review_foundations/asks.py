# What lab_review_foundations asks. Made by `mlsys build`; the original is in assignments/.

from mlsys_widgets.instruments.concepts import Concept, ConceptGraph, Route
from mlsys_widgets.labs import (
    Checklist,
    Choice,
    Essay,
    Lab,
    Message,
    Myth,
    Myths,
    Number,
    Parameter,
    Parameters,
    Peek,
    Prediction,
    Question,
    Quiz,
    Record,
    Reflection,
    Takeaways,
    steps,
)
from mlsys_widgets.ledger.designs import choice, flag, number, predicted
from mlsys_widgets.physics import (
    BYTES_PER_ELEMENT,
    GRAPH_NODE_OVERHEAD,
    chain,
    devices,
    fuse,
    gemm,
    memory_hierarchy,
    ops,
    roofline,
    transfer,
    workloads,
)
from mlsys_widgets.physics import format_quantity as q

A100, H100, H200 = (devices[key] for key in ("a100-sxm", "h100-sxm", "h200-sxm"))
DAY_14 = chain("mul", "add", "relu", "sigmoid")

CONSTRUCTS = {
    "branch": "a branch on the values of its input",
    "loop": "a loop over the length of its input",
    "print": "a print of its loss",
    "list": "a Python list that it appends to",
    "sizes": "inputs whose sizes change",
    "mask": "a mask such as `x[x > 0]`",
    "library": "a call into SciPy",
}
OPERANDS = ("w", "b", "c", "d")

CONCEPTS = ConceptGraph(
    title="Concept map of Phase I",
    first="roofline",
    concepts=(
        Concept(
            "why",
            "Why ML systems and compilers",
            "",
            "A model on paper says nothing about time: hardware and software decide what it costs.",
            ("Why ML systems", "and compilers?"),
            2.5,
            0,
            2.4,
        ),
        Concept(
            "hardware",
            "Hardware limits",
            "",
            "A chip can do so many operations and move so many bytes in a second, and no more.",
            ("Hardware limits",),
            1,
            1,
            2,
        ),
        Concept(
            "software",
            "Software execution",
            "",
            "What turns lines of Python into kernels, and what it adds to their time.",
            ("Software execution",),
            4,
            1,
            2,
        ),
        Concept(
            "gpu",
            "How a GPU is built",
            "Days 1–3",
            "Many multiprocessors work side by side, each with its own registers and "
            "shared memory.",
            ("Inside", "a GPU"),
            0,
            2,
        ),
        Concept(
            "memory",
            "Memory hierarchy",
            "Days 4–5",
            "Memory near the arithmetic is fast and small; far from it, slow and large.",
            ("Memory", "hierarchy"),
            1,
            2,
        ),
        Concept(
            "balance",
            "Compute or bandwidth",
            "Days 6–7",
            "An operation waits for arithmetic or for memory, and only one of them is worth "
            "speeding up.",
            ("Compute", "or bytes"),
            2,
            2,
        ),
        Concept(
            "eager",
            "Eager mode",
            "Day 12",
            "Each line of Python runs at once, as a kernel of its own.",
            ("Eager", "mode"),
            3,
            2,
        ),
        Concept(
            "graph",
            "Graph mode",
            "Day 12",
            "The whole computation is known before it runs, so a compiler can change it.",
            ("Graph", "mode"),
            4,
            2,
        ),
        Concept(
            "rules",
            "Which operations can fuse",
            "Day 13",
            "Neighbours that work element by element can share a kernel; a reduction has to "
            "finish first.",
            ("Fusible", "ops"),
            5,
            2,
        ),
        Concept(
            "levels",
            "Levels from registers to HBM",
            "Days 4–5",
            "The levels a value can live in, each with a bandwidth and a size.",
            ("Registers", "to HBM"),
            1,
            3,
        ),
        Concept(
            "dispatcher",
            "Dispatch of every operation",
            "Day 12",
            "Eager mode pays for types, devices and a launch at every single operation.",
            ("Dispatch", "per op"),
            3,
            3,
        ),
        Concept(
            "roofline",
            "Roofline model",
            "Days 6–7",
            "Operations per byte against the ridge tell which limit binds, and by how much.",
            ("Roofline model",),
            1,
            4,
            2,
        ),
        Concept(
            "capture",
            "Graph capture",
            "Day 12",
            "Trace, script, FX and Dynamo: four ways to get a graph out of Python.",
            ("Graph capture",),
            4.5,
            4,
            1.94,
        ),
        Concept(
            "fusion",
            "Fusion",
            "Day 13",
            "One kernel for several operations: what lies between them stays in registers and "
            "spares the trips to HBM.",
            ("Fusion",),
            2.5,
            5,
            2,
        ),
        Concept(
            "profiling",
            "Profiling",
            "Days 8–11",
            "Measure before and after: a gain that was not measured is a hope.",
            ("Profiling",),
            2.5,
            6,
            2,
        ),
        Concept(
            "ir",
            "Intermediate representation",
            "Phase II",
            "The captured graph in a form made for compilers: plain operations, known shapes.",
            ("Graph IR",),
            5,
            5,
        ),
        Concept(
            "passes",
            "Compiler passes",
            "Phase II",
            "Each pass rewrites the graph into an equal one that is cheaper; fusion is one of "
            "them.",
            ("Compiler", "passes"),
            5,
            6,
        ),
        Concept(
            "code",
            "Generated kernel code",
            "Phase II",
            "What is left of the graph becomes a few kernels, written by the compiler.",
            ("Kernel", "code"),
            5,
            7,
        ),
    ),
    arrows=(
        ("why", "hardware", "The chip sets the limits that nothing can pass."),
        ("why", "software", "Software decides how near to these limits a model comes."),
        ("hardware", "gpu", "The limits come from how the chip is built."),
        ("hardware", "memory", "Most limits are limits of moving data."),
        ("hardware", "balance", "Two limits, arithmetic and memory; one of them binds."),
        ("software", "eager", "The first way to run a model: line by line."),
        ("software", "graph", "The second way: see everything, then run."),
        ("software", "rules", "What a compiler may join depends on the operations."),
        ("memory", "levels", "The hierarchy has four levels on a GPU."),
        ("eager", "dispatcher", "One line at a time means one dispatch for each operation."),
        ("gpu", "roofline", "The chip gives the flat part of the roof: its peak."),
        ("levels", "roofline", "HBM gives the sloped part of the roof: its bandwidth."),
        ("balance", "roofline", "The model draws both limits into one picture."),
        ("graph", "capture", "A graph has to be captured before it can be changed."),
        ("rules", "capture", "Only operations in the same graph can be joined."),
        ("roofline", "fusion", "Left of the ridge, fewer bytes mean less time."),
        ("capture", "fusion", "With the graph at hand the compiler finds what to fuse."),
        ("fusion", "profiling", "Whether it helped is for a measurement to say."),
        ("capture", "ir", "What was captured is written down for the compiler."),
        ("ir", "passes", "Passes work on that form, not on Python."),
        ("passes", "code", "The rewritten graph becomes kernels."),
    ),
    routes=(
        Route(
            "hardware",
            "From hardware to software",
            (
                ("levels", "HBM can deliver only so many bytes in a second."),
                ("roofline", "Elementwise operations do little work on each byte: memory-bound."),
                ("fusion", "One kernel for many of them moves fewer bytes."),
                ("graph", "With a graph, the compiler sees by itself what to fuse."),
            ),
        ),
        Route(
            "measurement",
            "Measure, fix, measure",
            (
                ("profiling", "Profile first, with Nsight or torch.profiler."),
                ("balance", "Find what it waits for: arithmetic or memory."),
                ("roofline", "The roofline says how far it is from what the chip allows."),
                ("fusion", "Fuse, or change what else closes that gap."),
                ("profiling", "Profile again: only now it is an improvement."),
            ),
        ),
        Route(
            "abstraction",
            "Abstraction",
            (
                ("eager", "A model starts as Python, easy to write and to debug."),
                ("capture", "One of several methods takes the graph out of it."),
                ("ir", "The graph is written in the compiler's own form."),
                ("passes", "Passes make it cheaper."),
                ("code", "Kernels are generated from what remains."),
            ),
        ),
    ),
)

lab = Lab(
    "lab_review_foundations",
    title="Foundations Review",
    chapter=14,
    acts=("Hardware: what the chip allows", "Software: what the compiler sees"),
    parameters={
        "peak_tflops": Parameter(312, steps(240, 400, 8), "TFLOPS", "dense fp16 peak of your chip"),
        "bandwidth_tbs": Parameter(2, steps(1.6, 2.5, 0.1), "TB/s", "bandwidth of your chip"),
        "activation_flop": Parameter(1, (1, 2, 3, 5, 6, 7, 9, 10), "FLOP", "work on an element"),
        "activation_melem": Parameter(
            100, steps(60, 140, 5), "million elements", "size of the activation's tensor"
        ),
        "cached_mb": Parameter(36, steps(30, 39, 1), "MB", "tensor that fits into the L2 cache"),
        "growth": Parameter(4, (2, 4, 5, 6, 7, 8, 11, 12, 14, 16), "×", "growth of the batch"),
        "chain": Parameter(
            "mul add relu sigmoid",
            (
                "mul add relu sigmoid",
                "mul add tanh relu",
                "add gelu mul sigmoid",
                "add mul relu tanh",
                "mul add gelu",
                "add mul sigmoid",
                "mul sigmoid add",
                "mul add relu sigmoid mul",
                "add relu mul tanh add",
                "mul add tanh mul add",
                "add gelu mul add relu",
                "mul add relu tanh sigmoid",
            ),
            "operations",
            "your chain of elementwise operations",
        ),
        "chain_melem": Parameter(
            32, steps(24, 44, 2), "million elements", "size of the chain's tensors"
        ),
        "constructs": Parameter(
            "branch list",
            (
                "branch list",
                "branch library",
                "branch list mask",
                "branch sizes library",
                "loop list",
                "loop library",
                "loop print list",
                "list library",
                "sizes library",
                "mask library",
                "print library",
            ),
            "",
            "what your model contains",
        ),
    },
    design={
        "context": choice("where the service runs", "cloud", "edge"),
        "working_set_mb": number("megabytes that the fused kernel works on at once", 0),
        "memory_level": choice("where these data live", *memory_hierarchy),
        "working_set_fits": flag("whether they fit there"),
        "capture": choice("how the model is captured", "eager", "trace", "script", "fx", "compile"),
        "results_right": flag("whether its results are right"),
        "constraint_hit": flag("whether the plan fails in one of the two ways"),
        "act1_prediction": predicted("what was predicted in the first act"),
        "act2_prediction": predicted("what was predicted in the second act"),
    },
    materials={"concepts": CONCEPTS},
)


def _written(operations: str) -> str:
    names, line, is_sum = iter(OPERANDS), "x", False
    for op in operations.split():
        if op == "add":
            line, is_sum = f"{line} + {next(names)}", True
        elif op == "mul":
            line, is_sum = f"{f'({line})' if is_sum else line} * {next(names)}", False
        else:
            line, is_sum = f"{op}({line})", False
    return line


def _tensors(operations: str) -> str:
    others = sum(ops[op].operands for op in operations.split())
    *first, last = ("x", *OPERANDS[:others])
    return f"{', '.join(f'`{name}`' for name in first)} and `{last}`"


def _has(p: Parameters) -> str:
    *first, last = (CONSTRUCTS[key] for key in p.constructs.split())
    return f"{', '.join(first)} and {last}"


def _chip(p: Parameters) -> str:
    peak = q(p.peak_tflops * 1e12, "FLOP/s")
    return f"**Your chip** does {peak} (fp16, dense) and moves {q(p.bandwidth_tbs * 1e12, 'B/s')}."


@lab.asks
def opening(p: Parameters) -> Message:
    return Message(
        "Noor Haddad",
        "Compiler team",
        "Before you join us",
        "You start with the compiler team next week. I do not care how many pages you have read."
        " I care what you can say without opening them.\n\n"
        "Compilers rewrite programs because of what hardware can and cannot do. Whoever has no"
        " picture of that will write passes that make nothing faster. So close your notes, and"
        " show me the pictures you carry in your head.",
        task="Use each of the four models once, answer the ten questions, and find your gaps.",
    )


@lab.asks
def claim(p: Parameters) -> Message:
    return Message(
        "Jonas Weil",
        "Kernel engineer",
        "My ReLU is optimal",
        "I have written our activation kernel anew. The profiler shows every arithmetic unit in"
        " use, so it runs at all of the chip's FLOPS. It cannot get any better, and I would like to"
        " close the ticket.",
        task="Can that be? Say what you expect before you look.",
        act=1,
    )


@lab.asks
def act1_share(p: Parameters) -> Prediction:
    return Prediction(
        "Which share of an A100's peak can a perfect ReLU kernel reach? The peak is"
        f" {A100.peak_label()}; the tensor is fp32.",
        {
            "A": "nearly all of it",
            "B": "about half",
            "C": "about a twentieth",
            "D": "less than a thousandth",
        },
        values={"A": 1.0, "B": 0.5, "C": 0.05, "D": 0.001},
        unit="%",
        quantity="mfu",
        title="How fast can a perfect ReLU be?",
        distance="times",
        feedback={
            "A": "A kernel reaches the peak only if every byte brings enough work along. ReLU"
            " brings one operation for a read and a write.",
            "B": "Reading and writing are not two halves of the work: they are nearly all of it.",
            "C": "The right side. The gap between bytes and operations is wider than most expect.",
            "D": "It waits for memory nearly all of the time. No code can change that.",
        },
        act=1,
    )


@lab.asks
def ridge_flop_per_byte(p: Parameters) -> Number:
    return Number(
        f"{_chip(p)} At which arithmetic intensity do its two roofs meet?",
        "FLOP per byte",
        points=6,
        low=1,
        high=10000,
        hint="Look at the prefixes of both numbers: tera over tera leaves none.",
        title="1 of ten: the ridge",
        act=1,
        after=["act1_share"],
    )


@lab.asks
def activation_flop_per_byte(p: Parameters) -> Number:
    return Number(
        f"An activation function does {p.activation_flop} FLOP on each element of an fp32 tensor"
        " (ReLU, the cheapest, does one). It reads each element and writes each result. What is"
        " its arithmetic intensity?",
        "FLOP per byte",
        points=4,
        low=0.001,
        high=100,
        hint="Divide the operations on one element by the bytes moved for it.",
        title="2 of ten: an activation",
        act=1,
        after=["act1_share"],
    )


@lab.asks
def activation_regime(p: Parameters) -> Choice:
    return Choice(
        "What sets the pace of that activation on your chip?",
        {
            "memory": "how fast data move",
            "compute": "how fast arithmetic is",
            "both": "both limits alike",
            "size": "it depends on how large the tensor is",
        },
        points=3,
        title="2 of ten: which limit binds?",
        act=1,
        after=["act1_share"],
    )


@lab.asks
def activation_peak_pct(p: Parameters) -> Number:
    return Number(
        "Jonas says his kernel uses all of the peak. Which share of your chip's peak can your"
        " activation reach at most?",
        "percent",
        points=5,
        low=0.015,
        high=100,
        hint="Take what the roof allows at your intensity, as a share of the peak, in percent.",
        title="10 of ten: what a perfect kernel reaches",
        act=1,
        after=["act1_share"],
    )


@lab.asks
def activation_us(p: Parameters) -> Number:
    return Number(
        f"How long does the activation take at least on your chip, for"
        f" {p.activation_melem} million elements in fp32? Leave the launch out.",
        "µs",
        points=5,
        low=0.05,
        high=50000,
        hint="Microseconds are asked for.",
        title="The time nobody can beat",
        act=1,
        after=["act1_share"],
    )


@lab.asks
def spill_times(p: Parameters) -> Number:
    return Number(
        f"A tensor of {p.cached_mb} MB lives in the L2 cache of an A100. Then the batch, and the"
        f" tensor with it, grows to {p.growth} times its size. How many times as long does one"
        " trip of the tensor take now? The memory hierarchy above shows bandwidths and sizes.",
        "times",
        points=6,
        low=0.1,
        high=2000,
        hint="Compare one trip after with one trip before.",
        title="When the batch outgrows the cache",
        act=1,
        after=["act1_share"],
    )


@lab.asks
def act1_reflection(p: Parameters) -> Reflection:
    return Reflection(
        "In the cloud ReLU is {cloud}, at the edge it is {edge}. Twice the TFLOPS would make it"
        " {peak}, twice the bandwidth {bandwidth}.",
        blanks={
            "cloud": {"m": "memory-bound", "c": "compute-bound"},
            "edge": {"m": "memory-bound", "c": "compute-bound"},
            "peak": {"same": "no faster", "twice": "twice as fast", "four": "four times as fast"},
            "bandwidth": {
                "same": "no faster",
                "twice": "twice as fast",
                "four": "four times as fast",
            },
        },
        right={"cloud": "m", "edge": "m", "peak": "same", "bandwidth": "twice"},
        feedback={
            "cloud": {
                "m": "Its intensity lies far left of the ridge.",
                "c": "Look where its intensity lies against the ridge.",
            },
            "edge": {
                "m": "The edge device has a lower roof and a ridge of the same order.",
                "c": "The edge device computes less, and it moves less too: its ridge is of the"
                " same order. A small chip is not a compute-bound chip.",
            },
            "peak": {
                "same": "What waits for memory does not notice more arithmetic.",
                "twice": "The arithmetic units wait already; faster ones wait more.",
                "four": "The arithmetic units wait already; faster ones wait more.",
            },
            "bandwidth": {
                "same": "Left of the ridge the rate is bandwidth times intensity.",
                "twice": "Left of the ridge the rate is bandwidth times intensity.",
                "four": "Left of the ridge the rate grows as the bandwidth does, and no faster.",
            },
        },
        title="What would make it faster?",
        act=1,
        after=["act1_share"],
    )


@lab.asks
def act1_peek(p: Parameters) -> Peek:
    product = gemm(512, 512, 512, BYTES_PER_ELEMENT["fp16"])
    return Peek(
        {
            "Roofline": [
                r"$$I = \frac{\text{FLOP}}{\text{bytes}}, \qquad I^* = \frac{P}{B}, \qquad"
                r" \text{attainable}(I) = \min(P,\; B \cdot I)$$",
                "Memory-bound as long as $I < I^*$. A matrix product on an H100 as an example:",
                roofline(product.intensity, H100.peak("fp16"), H100.bandwidth),
            ],
            "Memory hierarchy": [
                r"$$t = \frac{\text{bytes}}{B_{\text{level}}}$$",
                "Once through HBM, for example:",
                transfer(1e9, "hbm"),
            ],
        },
        title="The equations of Act 1",
        act=1,
        after=["act1_share"],
    )


@lab.asks
def odd_results(p: Parameters) -> Message:
    return Message(
        "Lena Brandt",
        "Model serving",
        "Fast on my machine",
        f"Our model has {_has(p)}. I took a graph of it with `torch.jit.trace`, tried it on my"
        " example, and shipped it. Since then two customers say that some answers make no sense."
        " There was no error anywhere.\n\n"
        f"Besides, its elementwise code, `{_written(p.chain)}`, runs as one kernel for each"
        " operation. I am told a compiler would fuse them, and I do not know what that is worth.",
        task="Find out what tracing did, and count what fusing saves.",
        act=2,
        after=["act1_share"],
    )


@lab.asks
def act2_traffic(p: Parameters) -> Prediction:
    return Prediction(
        "How many times less data does one fused kernel move for `sigmoid(relu(x * w + b))`?"
        " Eager mode runs four kernels; `x`, `w` and `b` are tensors of one size.",
        {
            "A": "4 times less: one kernel in place of four",
            "B": "2 to 3 times less",
            "C": "8 times or more: nearly nothing is left to move",
            "D": "as much as before: the same numbers are computed",
        },
        values={"A": 4.0, "B": 2.5, "C": 10.0, "D": 1.0},
        unit="×",
        title="What does fusing save?",
        distance="times",
        feedback={
            "A": "Kernels fall from four to one, but inputs still have to be read: bytes do not"
            " follow the count of kernels.",
            "B": "What enters and leaves the chain stays. Only what lies between is spared.",
            "C": "What lies between the operations is spared. All inputs and the result are not.",
            "D": "The arithmetic is the same. What changes is where values wait for each other.",
        },
        act=2,
        after=["act1_share"],
    )


@lab.asks
def act2_trace(p: Parameters) -> Prediction:
    return Prediction(
        "What does a traced model do with an input that would take the other branch of an `if`?"
        " The model was traced with `torch.jit.trace`, on one example.",
        {
            "A": "an error, because the graph does not fit",
            "B": "the other branch is traced as well, which takes a moment",
            "C": "an answer from the wrong branch, without any error",
            "D": "that part runs in Python, as before",
        },
        title="What does a trace do with an if?",
        answer="C",
        feedback={
            "A": "That would be kind. There is no `if` left in the graph that could complain.",
            "B": "So `torch.compile` behaves, where guards notice. A trace has none for values.",
            "C": "A trace is a record of one run. What did not happen in it does not exist.",
            "D": "So `torch.compile` behaves, with a graph break. A trace has left Python behind.",
        },
        act=2,
        after=["act1_share"],
    )


@lab.asks
def unfused_trips(p: Parameters) -> Number:
    return Number(
        f"Your chain is `{_written(p.chain)}`, where {_tensors(p.chain)} are tensors of one size."
        " Each operation is a kernel of its own. How many times is a tensor read from or written"
        " to memory, reads and writes together?",
        "trips",
        points=5,
        low=1,
        high=200,
        whole=True,
        hint="Count the tensors that each kernel reads, and the one it writes.",
        title="3 of ten: one kernel for each operation",
        act=2,
        after=["act2_traffic"],
    )


@lab.asks
def fused_trips(p: Parameters) -> Number:
    return Number(
        "The same chain as one fused kernel: how many reads and writes of a tensor are left,"
        " together?",
        "trips",
        points=4,
        low=1,
        high=200,
        whole=True,
        hint="Count what enters the kernel and what leaves it.",
        title="3 of ten: one kernel for all",
        act=2,
        after=["act2_traffic"],
    )


@lab.asks
def fusion_saves_us(p: Parameters) -> Number:
    return Number(
        f"Each tensor of your chain has {p.chain_melem} million elements in fp16, too many for"
        f" the caches, on an A100 ({q(A100.bandwidth, 'B/s')}). Launches cost"
        f" {q(A100.launch(), 's')} each and are queued ahead, so they hide behind longer kernels."
        " Leave the arithmetic out. How much time does fusing save?",
        "µs",
        points=6,
        low=1,
        high=20000,
        hint="Microseconds are asked for: the time before less the time after.",
        title="What fusing is worth",
        act=2,
        after=["act2_traffic"],
    )


@lab.asks
def normalize_mb(p: Parameters) -> Number:
    return Number(
        f"A tensor of the same size ({p.chain_melem} million elements in fp16, too many for the"
        " caches) is normalised: `x / x.sum()`. How many megabytes have to move through memory at"
        " least?",
        "MB",
        points=5,
        low=2,
        high=20000,
        hint="Megabytes are asked for; an element of fp16 has two bytes.",
        title="7 of ten: the barrier",
        act=2,
        after=["act2_traffic"],
    )


@lab.asks
def capture_method(p: Parameters) -> Choice:
    return Choice(
        f"Lena's model has {_has(p)}. Which way to run it is optimised most and still gives right"
        " results?",
        {
            "eager": "eager mode",
            "trace": "torch.jit.trace",
            "script": "torch.jit.script",
            "fx": "FX symbolic tracing",
            "compile": "torch.compile",
        },
        points=5,
        title="What should Lena do?",
        act=2,
        after=["act2_trace"],
    )


@lab.asks
def act2_reflection(p: Parameters) -> Reflection:
    places = {
        "measure": "profile it",
        "find": "name what it waits for",
        "change": "change one thing",
        "again": "profile it again",
    }
    return Reflection(
        "Lena's service is slow. First you {first}, then you {second}, then you {third}, and"
        " before you tell anybody you {fourth}.",
        blanks=dict.fromkeys(("first", "second", "third", "fourth"), places),
        right={"first": "measure", "second": "find", "third": "change", "fourth": "again"},
        feedback={
            "first": {
                "measure": "No change before a measurement.",
                "find": "From what? Only a profile can tell what it waits for.",
                "change": "You would be guessing. Most guesses about time are wrong.",
                "again": "There is no profile yet that could be repeated.",
            },
            "second": {
                "measure": "One profile is enough to name what it waits for.",
                "find": "Bytes, arithmetic or launches: each has its own remedy.",
                "change": "Which thing? First say what it waits for.",
                "again": "Nothing has changed yet.",
            },
            "third": {
                "measure": "Nothing has changed yet.",
                "find": "Name it before you change something, or you change at random.",
                "change": "One, so that you know what helped.",
                "again": "Nothing has changed yet.",
            },
            "fourth": {
                "measure": "Say it as it is: again, and under the same conditions.",
                "find": "That came earlier. Who says that your change has helped?",
                "change": "A second change would hide what the first one did.",
                "again": "No claim before a second measurement.",
            },
        },
        title="In which order?",
        act=2,
        after=["act2_traffic", "act2_trace"],
    )


@lab.asks
def act2_peek(p: Parameters) -> Peek:
    course = workloads["layernorm-dropout-relu"]
    return Peek(
        {
            "Traffic of a chain": [
                r"$$Q_{\text{unfused}} = \sum_{\text{ops}} (\text{reads} + 1) \cdot n b, \qquad"
                r" Q_{\text{fused}} = (\text{inputs} + 1) \cdot n b$$",
                "Each operation reads its inputs and writes one result. Fused, every input enters"
                " once and one result leaves. LayerNorm, Dropout and ReLU as an example:",
                fuse(
                    chain("layernorm", "dropout", "relu"),
                    course.elements,
                    BYTES_PER_ELEMENT["fp16"],
                    A100,
                ).derivation("traffic_reduction"),
            ],
            "Launches": [
                r"$$T_{\text{serial}} = N\,(t_{\text{launch}} + d), \qquad"
                r" T_{\text{async}} = t_{\text{launch}} + d + (N-1)\max(t_{\text{launch}}, d)$$",
                "$d$ is the time of one kernel. Launched ahead, only kernels shorter than their"
                " launch leave the GPU idle. A recorded graph is launched once and adds about"
                f" {q(GRAPH_NODE_OVERHEAD.value, 's')} to each kernel.",
            ],
        },
        title="The equations of Act 2",
        act=2,
        after=["act2_traffic"],
    )


@lab.asks
def ten_questions(p: Parameters) -> Quiz:
    relu = chain("relu")
    half = fuse(relu, 1e6, BYTES_PER_ELEMENT["fp16"], A100).unfused_intensity
    full = fuse(relu, 1e6, BYTES_PER_ELEMENT["fp32"], A100).unfused_intensity
    ridge = q(A100.ridge("fp16"), "FLOP/B")
    most = q(roofline(full, A100.peak("fp16"), A100.bandwidth).mfu, "%")
    return Quiz(
        [
            Question(
                "ridge",
                "**Ridge.** An H200 computes as fast as an H100, and its memory is faster."
                " Where is its ridge?",
                {
                    "left": "at a lower intensity",
                    "right": "at a higher intensity",
                    "same": "at the same intensity",
                    "unknown": "that depends on the kernel",
                },
                right="left",
                feedback={
                    "right": "More bandwidth feeds the same arithmetic with less work per byte.",
                    "same": "The ridge is a ratio, and one of its two numbers has changed.",
                    "unknown": "The ridge belongs to the chip. Kernels lie left or right of it.",
                },
                why=f"Peak over bandwidth: {q(H100.ridge('fp16'), 'FLOP/B')} become"
                f" {q(H200.ridge('fp16'), 'FLOP/B')}.",
            ),
            Question(
                "relu",
                "**ReLU.** It runs in fp16 in place of fp32 on an A100. What changes?",
                {
                    "bound": "it turns compute-bound",
                    "none": "nothing: same intensity, same limit",
                    "twice": "twice the intensity, still memory-bound",
                    "half": "half the intensity, still memory-bound",
                },
                right="twice",
                feedback={
                    "bound": "Twice nearly nothing is still far from the ridge.",
                    "none": "Same work, fewer bytes: their ratio cannot stay.",
                    "half": "The bytes are halved, and they stand below the line.",
                },
                why=f"{q(full, 'FLOP/B')} become {q(half, 'FLOP/B')}; the ridge is at {ridge}.",
            ),
            Question(
                "chain",
                "**Chain.** In `sigmoid(relu(x * w + b))` let `w` and `b` be one number"
                " per column in place of whole tensors. What does the fused kernel move, nearly?",
                {
                    "two": "one tensor in, one tensor out",
                    "four": "three tensors in, one tensor out",
                    "out": "only the tensor that goes out",
                    "ten": "as much as four kernels do",
                },
                right="two",
                feedback={
                    "four": "That holds where w and b are as large as x.",
                    "out": "What is computed with has to be read once.",
                    "ten": "Values between the operations never leave the registers.",
                },
                why="With whole tensors it is"
                f" {DAY_14.fused_reads} in and {DAY_14.fused_writes} out, in place of"
                f" {DAY_14.unfused_reads} and {DAY_14.unfused_writes} unfused. Small operands cost"
                " next to nothing, so fusing pays even more.",
            ),
            Question(
                "capture",
                "**Trace and script.** What is the difference between `torch.jit.trace`"
                " and `torch.jit.script`?",
                {
                    "device": "trace is for GPUs, script is for CPUs",
                    "reads": "trace records a run, script parses the source",
                    "types": "trace keeps Python's types, script drops them",
                    "speed": "they make the same graph, script takes longer",
                },
                right="reads",
                feedback={
                    "device": "Both graphs run wherever their tensors are.",
                    "types": "It is script that needs types. Trace sees only tensors.",
                    "speed": "With control flow the graphs differ: one has it, the other has not.",
                },
                why="So script keeps an `if` and refuses Python beyond its subset; trace takes"
                " any Python and keeps only what happened on the example.",
            ),
            Question(
                "if",
                "**Trace and branches.** Why does a traced model go wrong when it has an"
                " `if` on data?",
                {
                    "slow": "the condition is computed too late, on the GPU",
                    "round": "the condition is rounded in another way",
                    "frozen": "only the branch that the example took is in the graph",
                    "both": "both branches run, and the last one wins",
                },
                right="frozen",
                feedback={
                    "slow": "The condition is not computed at all any more.",
                    "round": "Its value is right. Nobody looks at it after tracing.",
                    "both": "The other branch was never run, so it was never recorded.",
                },
                why="Tracing watches tensors pass by. Python's decision is not an operation on"
                " tensors, so it leaves no mark. PyTorch prints a warning, which is easy to miss.",
            ),
            Question(
                "break",
                "**Graph break.** What is one in `torch.compile`, and what does it cost?",
                {
                    "stop": "compilation stops with an error, so nothing runs",
                    "device": "the graph is cut to fit into the GPU's memory",
                    "wrong": "a part is skipped, so results may be wrong",
                    "split": "the graph ends and Python takes over; nothing fuses across",
                },
                right="split",
                feedback={
                    "stop": "It goes on. That is why breaks are so easily overlooked.",
                    "device": "Memory has no part in it; it is code that cannot be captured.",
                    "wrong": "Results stay right. What suffers is time.",
                },
                why="Two smaller graphs, eager Python between them, a trip through memory at"
                " the seam, and launches for both sides.",
            ),
            Question(
                "sum",
                "**Reduction.** Can `x / x.sum()` be one pass over a large tensor?",
                {
                    "yes": "yes, both are simple operations on the same tensor",
                    "no": "no, the sum must be complete before the first division",
                    "precision": "yes, if the sum is kept in fp32",
                    "inverse": "no, because division cannot be fused",
                },
                right="no",
                feedback={
                    "yes": "Which value would the first element be divided by?",
                    "precision": "Precision changes the sum's error, not when it is known.",
                    "inverse": "Division is elementwise and fuses well, only not across the sum.",
                },
                why="A reduction of everything is a barrier: the tensor is read once for the sum"
                " and again for the quotient. Where a row fits on chip, as in softmax, the second"
                " read can stay there.",
            ),
            Question(
                "roofline",
                "**Roofline.** What does it tell you that a measured latency does not?",
                {
                    "exact": "the latency, to more digits",
                    "limit": "which limit binds, and how much is left to gain",
                    "line": "which line of code is slow",
                    "cost": "what the kernel costs in watts",
                },
                right="limit",
                feedback={
                    "exact": "It is a bound. Only a measurement gives a latency.",
                    "line": "That is what a profiler tells you.",
                    "cost": "Energy does not appear in it.",
                },
                why="A latency alone is neither good nor bad. Beside the roof it becomes a"
                " distance, with a direction to go.",
            ),
            Question(
                "graph",
                "**Graph.** Which three can a compiler do with a graph, and eager mode cannot?",
                {
                    "hardware": "use tensor cores, overlap launches, run in fp16",
                    "math": "compute gradients, broadcast, sum in parallel",
                    "whole": "fuse neighbours, drop dead operations, plan memory ahead",
                    "python": "call C++, release Python's lock, cache modules",
                },
                right="whole",
                feedback={
                    "hardware": "Eager kernels do all of that, one at a time.",
                    "math": "Eager mode does all of that.",
                    "python": "Eager mode does that with every operation.",
                },
                why="All three need to know what comes next. So do folding constants, changing"
                " layouts and reordering; eager mode sees one operation at a time.",
            ),
            Question(
                "optimal",
                "**The claim.** “My ReLU kernel is optimal: it uses all of the compute.”"
                " What is wrong with it?",
                {
                    "half": "only half of the compute can be used without sparsity",
                    "metric": "ReLU waits for memory: bandwidth is what to judge it by",
                    "never": "no kernel ever comes near its limit",
                    "nothing": "nothing, if the profiler says so",
                },
                right="metric",
                feedback={
                    "half": "Sparsity is about matrix products. There is none in ReLU.",
                    "never": "Good kernels come close, each to the limit that binds it.",
                    "nothing": "Busy units are not useful units: a unit that waits counts as busy.",
                },
                why=f"At the roof it reaches {most} of an A100's fp16 peak. A good ReLU uses"
                " nearly all of the *bandwidth*.",
            ),
        ],
        title="Ten questions: what do you know, and how well do you know it?",
        after=["act1_share", "act2_traffic", "act2_trace"],
    )


@lab.asks
def five_myths(p: Parameters) -> Myths:
    side = 1024
    product = gemm(side, side, side, BYTES_PER_ELEMENT["fp16"])
    roof = roofline(product.intensity, A100.peak("fp16"), A100.bandwidth)
    product_time = product.flops / roof.attainable
    pieces = fuse(
        DAY_14, side * side, BYTES_PER_ELEMENT["fp16"], A100, launch_overhead=0, compute_time=0
    )
    image = workloads["resnet50"]
    return Myths(
        [
            Myth(
                "flops",
                "Fewer FLOPs run faster.",
                f"On fp16 matrices of {side:,} by {side:,} an A100 needs"
                f" {q(product_time, 's')} for a product of {q(product.flops, 'FLOP')} at the roof."
                f" The four elementwise kernels of `sigmoid(relu(x * w + b))` need"
                f" {q(pieces.unfused_time, 's')} for {q(pieces.flops, 'FLOP')}: they wait for"
                " memory. Time follows the limit that binds, not the FLOPs.",
            ),
            Myth(
                "eager",
                "Graph mode takes the place of eager mode.",
                "They live side by side. What `torch.compile` cannot capture runs"
                " eagerly, between compiled graphs. Graph mode is a layer on top of eager mode.",
            ),
            Myth(
                "always",
                "Fusing always helps.",
                "It helps what waits for memory or for launches. A large matrix product"
                " has work enough for each byte; joining two of them rarely gains anything. An"
                " elementwise operation after a product is worth fusing: it costs no extra trip.",
            ),
            Myth(
                "free",
                "torch.compile is speed for nothing.",
                "The first call compiles, for seconds or minutes:"
                f" {q(image.compile_time, 's')} for the course's ResNet-50. Graph breaks make"
                " graphs small. A new size fails a guard and compiles again. And fused arithmetic"
                " rounds in another order, so results differ in their last digits.",
            ),
            Myth(
                "registers",
                "Registers are just very fast memory.",
                "They hold operands of instructions and have no address: nothing can"
                " point at one. The compiler assigns them, and you influence it only by how you"
                " write. A kernel that needs many leaves room for fewer threads, which then hide"
                " less of the waiting.",
            ),
        ],
        title="Five things that are often said",
        after=["ten_questions"],
    )


@lab.asks
def checklist(p: Parameters) -> Checklist:
    return Checklist(
        {
            "gpu": "say what a multiprocessor holds, and why many threads hide waiting",
            "levels": "put the levels of a GPU's memory in order, with rough speeds and sizes",
            "intensity": "compute an arithmetic intensity and a ridge",
            "bound": "say from both which limit binds, and what would help",
            "trace": "take a Chrome trace with `torch.profiler` and read it",
            "loop": "go from a profile to a cause, a change and a second profile",
            "dispatch": "follow one operation from Python through the dispatcher to a kernel",
            "capture": "say what trace, script, FX and `torch.compile` do with an `if`",
            "fusion": "count trips before and after fusing, and spot a barrier",
            "triton": "run `torch.compile` and look at its Triton code with `TORCH_LOGS`",
        },
        bands=[
            (10, "Ready for Phase II", "Go on to Day 15."),
            (8, "Small gaps", "Read the days named below, then go on."),
            (5, "Real gaps", "Do the exercises of the days named below once more."),
            (0, "Not a foundation yet", "Go through Week 1 again before you go on."),
        ],
        review={
            "gpu": "Days 1–3",
            "levels": "Days 4–5, and the memory hierarchy of Act 1",
            "intensity": "Days 6–7, Lab 11",
            "bound": "Days 6–7, and the roofline of Act 1",
            "trace": "Days 8–11",
            "loop": "Days 8–11, and the path “Measure, fix, measure” of the concept map",
            "dispatch": "Day 12, Lab 07",
            "capture": "Day 12, and the compilation spectrum of Act 2",
            "fusion": "Day 13, and the fusion explorer of Act 2",
            "triton": "Days 12–13",
        },
        title="Without notes, I can …",
    )


@lab.asks
def surprise(p: Parameters) -> Essay:
    return Essay(
        "What surprised you most in Phase I? What had you believed before? Three sentences.",
        [
            (2, "names one thing, precisely enough to be right or wrong"),
            (2, "says what was believed before, and why that seemed plausible"),
            (2, "says what is the case, with a number or a mechanism"),
        ],
        title="Prompt 1: the surprise",
        after=["act2_reflection"],
    )


@lab.asks
def data_flow(p: Parameters) -> Essay:
    return Essay(
        "Follow `y = relu(x + bias)` from Python through the dispatcher to the GPU, as a list of"
        " arrows. Mark where time goes in eager mode, and where fusing saves some.",
        [
            (2, "Python, dispatcher, launch and kernel appear in order, for both operations"),
            (2, "marks dispatch or launch for each operation, and the trip through memory between"),
            (2, "says what fusing removes (one launch, one write, one read) and what stays"),
        ],
        title="Prompt 2: the way of one line",
        after=["act2_reflection"],
    )


@lab.asks
def framework(p: Parameters) -> Essay:
    return Essay(
        "You design a framework from nothing. Do you begin with eager or with graph mode? Say"
        " what you give up. Four sentences.",
        [
            (2, "decides, and gives a reason that concerns users or hardware"),
            (2, "names what is given up, and who pays for it"),
            (2, "says how the other mode could be added later, or why it could not"),
        ],
        title="Prompt 3: a framework of your own",
        after=["act2_reflection"],
    )


@lab.asks
def shaky(p: Parameters) -> Essay:
    return Essay(
        "Where are you still unsure? Write one question that somebody could answer. It becomes"
        " your focus in Phase II.",
        [
            (2, "names the topic, in line with quiz and checklist"),
            (2, "asks one question that is specific enough to be answered"),
            (2, "says what was tried or read, and what would settle it"),
        ],
        title="Prompt 4: a question you still have",
        after=["act2_reflection"],
    )


@lab.asks
def colleague(p: Parameters) -> Essay:
    return Essay(
        "A colleague knows Python and no ML systems. Explain why `torch.compile` can make a"
        " training loop twice as fast without a change to the model. Five sentences.",
        [
            (2, "explains that many small kernels wait for memory and launches, in plain words"),
            (2, "explains that the compiler sees the whole and joins steps"),
            (2, "says when it does not help: compile time, breaks, or large matrix products"),
        ],
        title="Prompt 5: explain it",
        after=["act2_reflection"],
    )


@lab.asks
def predictions_kept(p: Parameters) -> Record:
    return Record(
        ["act1_share", "act2_traffic", "act2_trace"],
        points=6,
        title="Your predictions, committed",
    )


@lab.asks
def reflections_kept(p: Parameters) -> Record:
    return Record(
        ["act1_reflection", "act2_reflection"], points=4, title="Your reflections, answered"
    )


@lab.asks
def review_kept(p: Parameters) -> Record:
    return Record(
        ["design", "ten_questions", "five_myths", "checklist"],
        points=6,
        title="Your plan and your review, done",
    )


@lab.asks
def takeaways(p: Parameters) -> Takeaways:
    return Takeaways(
        [
            (
                "Bytes before FLOPs",
                "Compare a kernel's intensity with the ridge before you touch anything else.",
            ),
            ("Stay near", "Every optimisation of Phase I keeps data nearer to the arithmetic."),
            ("A graph first", "A compiler can only join what it has captured, and captured right."),
            ("Barriers stay", "Fusing spares what lies between; a reduction has to finish first."),
            ("Measure twice", "No change before a profile, and no claim before a second one."),
        ],
        ahead="Day 15, Compiler 101 for ML: from *why* code is slow to *how* a compiler mends it.",
        after=["act2_reflection", "colleague"],
    )
