"""What the Foundations Review asks. Students get this file; the keys are in checks.py."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

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
from mlsys_widgets.ledger import Handover
from mlsys_widgets.ledger.designs import choice, flag, judged, number, predicted
from mlsys_widgets.physics import (
    BYTES_PER_ELEMENT,
    GRAPH_NODE_OVERHEAD,
    break_even,
    chain,
    devices,
    elementwise,
    fuse,
    gemm,
    memory_hierarchy,
    ops,
    roofline,
    transfer,
    workloads,
)
from mlsys_widgets.physics import format_quantity as q

A100, H100, H200, ORIN = (devices[key] for key in ("a100-sxm", "h100-sxm", "h200-sxm", "orin-nx"))
#: The chain that the course itself counts: sigmoid(relu(x * w + b)).
COURSE_CHAIN = chain("mul", "add", "relu", "sigmoid")
FP16, FP32 = BYTES_PER_ELEMENT["fp16"], BYTES_PER_ELEMENT["fp32"]
#: In every A100.
MULTIPROCESSORS = 108
#: In a worked example: the work on one element.
EXAMPLE_FLOP = 15
#: The side of the large matrices that claims and feedback speak of.
SIDE = 4096
#: In a worked example: elements of a ReLU in millions, launches, and what the parts of a step take.
EXAMPLE_MELEM, EXAMPLE_LAUNCHES = 40, 20
EXAMPLE_PARTS = (
    2 * SIDE**3 / ORIN.peak("fp16"),
    EXAMPLE_MELEM * 8e6 / ORIN.bandwidth,
    EXAMPLE_LAUNCHES * ORIN.launch(),
)

#: What a model may do, for each construct of the compilation spectrum.
CONSTRUCTS = {
    "branch": "branches on the values of its input",
    "loop": "loops over the length of its input",
    "print": "prints its loss",
    "list": "appends to a Python list",
    "sizes": "takes inputs whose sizes change",
    "mask": "selects with a mask such as `x[x > 0]`",
    "library": "calls into SciPy",
    "custom": "uses a custom operator without a fake kernel (which would tell a compiler its"
    " shapes)",
}
#: Names of the tensors that chains read besides `x`.
OPERANDS = ("w", "b", "c", "d", "e", "f")

#: The ideas of the course so far, the arrows between them, and three paths through them. The last
#: three ideas of the abstraction path belong to the compilers that come next and close the map.
CONCEPTS = ConceptGraph(
    title="Concept map",
    first="roofline",
    concepts=(
        Concept(
            "why",
            "Why ML systems and compilers",
            "",
            "Hardware and software together decide what a model costs to run.",
            ("Why ML systems", "and compilers?"),
            2.5,
            0,
            2.4,
        ),
        Concept(
            "hardware",
            "Hardware limits",
            "",
            "A chip has a rate for operations and one for bytes.",
            ("Hardware limits",),
            1,
            1,
            2,
        ),
        Concept(
            "software",
            "Software execution",
            "",
            "Software turns Python into kernels, and adds time of its own.",
            ("Software execution",),
            4,
            1,
            2,
        ),
        Concept(
            "gpu",
            "How a GPU is built",
            "Act 1",
            "Many multiprocessors, each with registers and shared memory.",
            ("Inside", "a GPU"),
            0,
            2,
        ),
        Concept(
            "memory",
            "Memory hierarchy",
            "Act 1",
            "Close memory is fast and small; memory far away is slow and large.",
            ("Memory", "hierarchy"),
            1,
            2,
        ),
        Concept(
            "balance",
            "Compute or bandwidth",
            "Lab 11",
            "Speed up what an operation waits for.",
            ("Compute", "or bytes"),
            2,
            2,
        ),
        Concept(
            "eager",
            "Eager mode",
            "Lab 07",
            "Each line of Python runs at once, as a kernel of its own.",
            ("Eager", "mode"),
            3,
            2,
        ),
        Concept(
            "graph",
            "Graph mode",
            "Lab 07",
            "All of the computation is known before it runs.",
            ("Graph", "mode"),
            4,
            2,
        ),
        Concept(
            "rules",
            "Which operations can fuse",
            "Lab 07",
            "Neighbors can share a kernel, unless there is a barrier.",
            ("Fusible", "ops"),
            5,
            2,
        ),
        Concept(
            "levels",
            "Levels from registers to HBM",
            "Act 1",
            "Each level has a bandwidth, a size and an owner.",
            ("Registers", "to HBM"),
            1,
            3,
        ),
        Concept(
            "dispatcher",
            "Dispatch of every operation",
            "Lab 07",
            "Eager mode pays for a dispatch at every operation.",
            ("Dispatch", "per op"),
            3,
            3,
        ),
        Concept(
            "roofline",
            "Roofline model",
            "Lab 11",
            "Operations per byte, beside the ridge, tell which limit binds.",
            ("Roofline model",),
            1,
            4,
            2,
        ),
        Concept(
            "capture",
            "Graph capture",
            "Act 3",
            "Trace, script, FX and Dynamo get a graph out of Python.",
            ("Graph capture",),
            4.5,
            4,
            1.94,
        ),
        Concept(
            "fusion",
            "Fusion",
            "Lab 07",
            "One kernel does the work of several; intermediate results stay in registers.",
            ("Fusion",),
            2.5,
            5,
            2,
        ),
        Concept(
            "profiling",
            "Profiling",
            "Labs 07, 11",
            "Measure before and after a change.",
            ("Profiling",),
            2.5,
            6,
            2,
        ),
        Concept(
            "ir",
            "Intermediate representation",
            "next",
            "The graph in a form made for compilers.",
            ("Graph IR",),
            5,
            5,
        ),
        Concept(
            "passes",
            "Compiler passes",
            "next",
            "Each pass rewrites the graph into a cheaper one.",
            ("Compiler", "passes"),
            5,
            6,
        ),
        Concept(
            "code",
            "Generated kernel code",
            "next",
            "What is left becomes a few kernels.",
            ("Kernel", "code"),
            5,
            7,
        ),
    ),
    arrows=(
        ("why", "hardware", "The chip sets limits that nothing can pass."),
        ("why", "software", "Software decides how close to them a model comes."),
        ("hardware", "gpu", "The limits come from its build."),
        ("hardware", "memory", "Most of the limits are about moving data."),
        ("hardware", "balance", "One of two limits binds."),
        ("software", "eager", "One way is line by line."),
        ("software", "graph", "The other sees everything first."),
        ("software", "rules", "Operations decide what may be joined."),
        ("memory", "levels", "On a GPU, the hierarchy has four levels."),
        ("eager", "dispatcher", "Each line is dispatched."),
        ("gpu", "roofline", "The chip gives the flat roof, its peak."),
        ("levels", "roofline", "HBM gives the slope, its bandwidth."),
        ("balance", "roofline", "The model draws both limits in one picture."),
        ("graph", "capture", "A graph has to be captured first."),
        ("rules", "capture", "Only operations of one graph can be joined."),
        ("roofline", "fusion", "Left of the ridge, fewer bytes mean less time."),
        ("capture", "fusion", "In the graph, the compiler finds what to fuse."),
        ("fusion", "profiling", "A measurement tells you whether it helped."),
        ("capture", "ir", "The graph is written down for the compiler."),
        ("ir", "passes", "Passes work on that form."),
        ("passes", "code", "The result becomes kernels."),
    ),
    routes=(
        Route(
            "hardware",
            "From hardware to software",
            (
                ("levels", "HBM delivers a fixed number of bytes per second."),
                ("roofline", "Elementwise operations do little work on a byte."),
                ("fusion", "One kernel for many of them moves fewer bytes."),
                ("graph", "With a graph, the compiler sees what to fuse."),
            ),
        ),
        Route(
            "measurement",
            "Measure, fix, measure",
            (
                ("profiling", "Profile the code, with Nsight or torch.profiler."),
                ("balance", "Look for what it waits for."),
                ("roofline", "The roofline says how far it is from its limit."),
                ("fusion", "Fuse, or close that gap otherwise."),
                ("profiling", "Take another profile and compare."),
            ),
        ),
        Route(
            "abstraction",
            "From Python to kernels",
            (
                ("eager", "A model starts as Python."),
                ("capture", "Capture takes the graph out of it."),
                ("ir", "It is written in the compiler's own form."),
                ("passes", "Passes make it cheaper."),
                ("code", "Kernels are generated from what remains."),
            ),
        ),
    ),
)


def _brought_from_01(fields: Mapping[str, Any]) -> str:
    if fields.get("oom_triggered"):
        return (
            "your last design did not fit into the memory of its device. In Act 3 you fix a plan"
            " that fails in the same way."
        )
    if fields.get("constraint_hit"):
        return (
            "your last design fit into memory but broke another promise. Act 3 asks you to find"
            " what a late system waits for."
        )
    if fields.get("act2_bottleneck") == "compute":
        return (
            "your last design waited for arithmetic. Act 1 asks whether a layer norm can do the"
            " same."
        )
    return (
        "your last design waited for memory. Act 1 asks what it would take for arithmetic to set"
        " the pace instead."
    )


def _brought_from_07(fields: Mapping[str, Any]) -> str:
    mode = "compiled" if fields.get("execution_mode") == "compiled" else "eager"
    fused = "fused" if fields.get("fusion_enabled") else "separate"
    paid = fields.get("breakeven_inferences")
    after = f" Your break-even was {paid:,.0f} inferences." if paid is not None else ""
    return (
        f"you chose {mode} mode with {fused} kernels.{after} Act 2 asks what fusing is worth, and"
        f" its deeper part starts with {fused} kernels."
    )


def _brought_from_11(fields: Mapping[str, Any]) -> str:
    bound = fields.get("bound_type")
    said = f"your kernel was {bound}-bound" if bound else "you placed a kernel under the roof"
    at = fields.get("arithmetic_intensity")
    where = f" at {q(at, 'FLOP/B')}" if isinstance(at, int | float) else ""
    strategy = fields.get("act2_decision")
    if strategy in (None, "none"):
        next_ = "You left its neighbors unfused; try **Fusion** on the roofline of Act 1."
    else:
        next_ = (
            f"You chose {strategy} fusion; set **Fusion** on the roofline of Act 1 to it and see"
            " how far the layer norm moves."
        )
    return f"{said}{where}. {next_}"


def what_you_bring(magnitude: Handover, fusion: Handover, roof: Handover) -> str:
    """What the three earlier labs hand on, in Markdown; a sentence where there is nothing."""
    labs = {
        "01": (magnitude, _brought_from_01),
        "07": (fusion, _brought_from_07),
        "11": (roof, _brought_from_11),
    }
    lines = [
        f"**Lab {name}**: {brought(design.fields)}"
        for name, (design, brought) in labs.items()
        if design.found
    ]
    if missing := [name for name, (design, _) in labs.items() if not design.found]:
        *first, last = missing
        named = f"{', '.join(first)} or {last}" if first else last
        lines.append(
            f"No saved design of Lab {named} is beside this notebook, and no question needs one."
        )
    doubts = [design.doubt for design, _ in labs.values() if design.doubt]
    return "\n".join(f"- {line}" for line in (*lines, *doubts))


lab = Lab(
    "lab_review_foundations",
    title="Foundations Review",
    question="What do you still know, and how well do you know that you know it?",
    chapter=14,
    acts=(
        "Hardware: what the chip allows",
        "Software: what the compiler sees",
        "Diagnosis: what to fix first",
        "Recall: what you carry with you",
    ),
    parameters={
        "peak_tflops": Parameter(312, steps(264, 400, 2), "TFLOPS", "dense fp16 peak of your chip"),
        "bandwidth_tbs": Parameter(2, steps(1.6, 2.5, 0.01), "TB/s", "bandwidth of your chip"),
        "element_flop": Parameter(
            40, steps(20, 60, 1), "FLOP", "work of your kernel on one element"
        ),
        # A kernel at full bandwidth would take at most 500 µs, so every time leaves it below.
        "activation_melem": Parameter(
            80, steps(60, 100, 1), "million elements", "size of the tensor in the ReLU profile"
        ),
        "profile_us": Parameter(640, steps(560, 900, 5), "µs", "time in the ReLU profile"),
        # The smaller batch fits into the L2 cache for everybody, the larger one for nobody. Their
        # ratio stays away from 3 and from 9, where two wrong answers would look the same.
        "sample_kb": Parameter(500, steps(420, 640, 5), "KB", "activations of one sample"),
        "batch_before": Parameter(48, steps(40, 60, 2), "samples", "batch before the change"),
        "batch_after": Parameter(256, steps(200, 336, 4), "samples", "batch after the change"),
        # From less than a thread has to more than a block's part of the L2 cache, and never within
        # a tenth of a level's size, whatever the other two are. For most students, an L2 cache or a
        # shared memory that nobody divides would hold the tiles, and is not the answer.
        "tile_rows": Parameter(
            24,
            (1, 2, 8, 24, 40, 116, 120, 124, 128, 288, 320, 384, 2048, 8192),
            "rows",
            "height of a tile",
        ),
        "tile_columns": Parameter(48, steps(44, 52, 1), "columns", "width of a tile"),
        "tile_tensors": Parameter(3, (3,), "tiles", "tiles that are kept at once"),
        "tile_blocks": Parameter(8, (6, 7, 8), "blocks", "thread blocks of a multiprocessor"),
        # Two tensors or more besides x: then storing what lies before the sum is cheaper than
        # computing it twice.
        "before": Parameter(
            "mul add relu",
            (
                "mul add",
                "add mul",
                "mul add relu",
                "add mul tanh",
                "mul add gelu",
                "mul tanh add",
                "add relu mul",
                "mul sigmoid add",
                "mul add mul",
                "add mul add",
                "mul add relu mul",
                "add tanh mul add",
            ),
            "operations",
            "your chain before the sum",
        ),
        "after": Parameter(
            "sigmoid",
            (
                "relu",
                "sigmoid",
                "tanh",
                "mul",
                "add",
                "mul relu",
                "add tanh",
                "mul add",
                "mul gelu add",
            ),
            "operations",
            "your chain after the sum",
        ),
        # Larger than the L2 cache.
        "chain_melem": Parameter(
            32, steps(24, 48, 1), "million elements", "size of the tensors of both chains"
        ),
        # Megabytes that live somewhere, megabytes of the L2 cache that others use, and microseconds
        # of a trip: the cache holds the first, but beside the second in one half of these alone,
        # and HBM is in time in the other. Nothing is closer than a tenth.
        "plan": Parameter(
            "28 24 20",
            (
                *("24 4 10", "25 8 9", "26 6 11", "27 5 8", "28 7 12", "29 3 10", "30 4 9"),
                *("31 4 13", "24 24 16", "25 21 18", "26 22 15", "27 26 20", "28 24 20"),
                *("29 18 17", "30 16 22", "31 20 19"),
            ),
            "",
            "where Lena's data may live",
        ),
        "launch_us": Parameter(5, steps(5, 8, 0.05), "µs", "cost of a launch on your chip"),
        "constructs": Parameter(
            "branch list",
            (
                "branch list",
                "loop library",
                "print sizes",
                "mask list",
                "custom sizes",
                "custom mask",
                "custom sizes mask",
                "custom branch",
                "custom loop",
                "custom print mask",
                "custom list",
                "custom library",
                "custom branch list",
            ),
            "",
            "what Lena's model contains",
        ),
        # Rows of the product, million elements of the ReLU, small kernels: drawn together, so that
        # what takes how much of a step is never a close call, whatever the chip.
        "step": Parameter(
            "1344 108 9",
            (
                *("4064 10 8", "1280 100 8", "1280 8 70", "3200 51 32"),
                *("4224 11 9", "1344 108 9", "1344 9 78", "3392 61 39"),
                *("4352 12 8", "1408 116 10", "1408 10 84", "3520 68 43"),
                *("4480 13 10", "1472 124 8", "1472 11 90", "3648 76 48"),
                *("4608 14 9", "1536 132 11", "1536 12 96", "3776 84 53"),
                *("4736 15 11", "1600 140 9", "1600 13 104", "3968 98 62"),
            ),
            "",
            "the three parts of Lena's step",
        ),
        "claim_n": Parameter(
            512, (384, 512, 640, 3072, 4096, 6144), "rows and columns", "matrices of a claim"
        ),
        "claim_images": Parameter(
            250000, (40000, 70000, 95000, 180000, 250000, 400000), "images", "job of a claim"
        ),
    },
    design={
        "working_set_mb": number("megabytes that the fused kernel works on at once", 0),
        "memory_level": choice(
            "where this data lives",
            *memory_hierarchy,
            called={key: level.name for key, level in memory_hierarchy.items()},
        ),
        "working_set_fits": flag("whether it fits there"),
        "capture": choice(
            "how the model is captured",
            "eager",
            "trace",
            "script",
            "fx",
            "compile",
            called={
                "eager": "not at all: eager",
                "trace": "jit.trace",
                "script": "jit.script",
                "fx": "FX",
                "compile": "torch.compile",
            },
        ),
        "results_right": flag("whether its results are right"),
        "graphs": number("graphs that are captured", 0),
        "constraint_hit": flag("whether the plan breaks one of her conditions"),
        "act1_prediction": predicted("what was predicted in the first act"),
        "act1_correct": judged("whether that was right", required=False),
        "act2_prediction": predicted("what was predicted in the second act"),
        "act2_correct": judged("whether that was right", required=False),
    },
    materials={"concepts": CONCEPTS, "what_you_bring": what_you_bring},
    deeper=(
        "spill_times",
        "working_set_home",
        "act1_reflection",
        "act1_peek",
        "capture_method",
        "act2_traffic",
        "hidden_launch_melem",
        "act2_reflection",
        "act2_peek",
        "ten_questions",
        "eight_claims",
        "checklist",
        "data_flow",
        "colleague",
        "shaky",
        "reflections_kept",
        "review_kept",
    ),
)


class Step(NamedTuple):
    """The sizes of what Lena's service does in one step."""

    rows: int
    million_elements: int
    small_kernels: int


def step_of(p: Parameters) -> Step:
    """The step of a student."""
    return Step(*map(int, p.step.split()))


def _written(operations: str, start: str, names: Iterator[str]) -> str:
    """A chain as a line of Python: ``sigmoid(relu(x * w + b))``."""
    line, is_sum = start, False
    for op in operations.split():
        if op == "add":
            line, is_sum = f"{line} + {next(names)}", True
        elif op == "mul":
            line, is_sum = f"{f'({line})' if is_sum else line} * {next(names)}", False
        else:
            line, is_sum = f"{op}({line})", False
    return line


def _two_chains(p: Parameters) -> str:
    """Both chains of a student with the sum between them, as Python."""
    names = iter(OPERANDS)
    first, second = _written(p.before, "x", names), _written(p.after, "y / y.sum()", names)
    return f"`y = {first}` and then `z = {second}`"


def _tensors(p: Parameters) -> str:
    """The tensors that both chains read: ``x, w and b``."""
    others = sum(ops[op].operands for op in f"{p.before} {p.after}".split())
    *first, last = ("x", *OPERANDS[:others])
    return f"{', '.join(f'`{name}`' for name in first)} and `{last}`"


def _does(p: Parameters) -> str:
    """What Lena's model does that may stand in the way of a graph."""
    *first, last = (CONSTRUCTS[key] for key in p.constructs.split())
    return f"{', '.join(first)} and {last}"


def _chip(p: Parameters) -> str:
    peak, bandwidth = q(p.peak_tflops * 1e12, "FLOP/s"), q(p.bandwidth_tbs * 1e12, "B/s")
    return (
        f"**Your chip** is a relative of the A100: it does {peak} (fp16, dense) and moves"
        f" {bandwidth}."
    )


#: Said where the chip is introduced.
ONE_PEAK = "Use that peak for every operation here, although only matrix products come near it."


@lab.asks
def opening(p: Parameters) -> Message:
    return Message(
        "Noor Haddad",
        "Head of ML infrastructure",
        "Before you join the compiler team",
        "Next week you will join the people who build our compiler. The last person I sent them"
        " had read every paper and spent a whole month on a pass that sped up what nothing was"
        " ever waiting for.\n\n"
        "Before Monday I'd like to see the pictures in your head: what a chip allows, what a"
        " compiler can see, and how you tell which of the two is the problem. Guess where you have"
        " to, and say how sure you are.",
        task="Say what a chip allows and what a compiler sees, then diagnose a slow service.",
    )


# Act 1: hardware.


@lab.asks
def claim(p: Parameters) -> Message:
    return Message(
        "Ines Castellano",
        "GPU kernel engineer",
        "A ReLU that is “optimal”",
        "A contractor spent two weeks on our activation kernel. His report has a profile from your"
        f" chip: a ReLU over {p.activation_melem} million fp32 elements takes {p.profile_us} µs,"
        " and every arithmetic unit is in use all the time. “That is 100% of the compute, so the"
        " kernel is optimal,” it says.\n\n"
        "I don't believe it. His next offer is a layer norm “at full speed”, with about five times"
        " the work per element. Could you check his reasoning by tonight, please?",
        task="Say how fast a perfect layer norm could be before you look.",
        in_context={
            "cloud": f"The roofline below shows an {A100.name}, a relative of your chip.",
            "edge": f"The roofline below shows a {ORIN.name}; predict for an A100 all the same.",
        },
        act=1,
    )


@lab.asks
def act1_share(p: Parameters) -> Prediction:
    norm = elementwise(1, FP16)
    at, ridge = q(norm.intensity, "FLOP/B"), q(A100.ridge("fp16"), "FLOP/B")
    counted = f"{q(norm.flops)} FLOP on {q(norm.bytes)} bytes"
    most = q(roofline(norm.intensity, A100.peak("fp16"), A100.bandwidth).mfu, "%")
    return Prediction(
        "What fraction of an A100's peak can a perfect layer norm reach? The peak is"
        f" {A100.peak_label()}. The tensor is fp16; the kernel runs alone, reads it for the"
        " statistics, reads it again, and writes the result.",
        {"A": "about 95%", "B": "about 50%", "C": "about 5%", "D": "about 0.5%"},
        values={"A": 0.95, "B": 0.5, "C": 0.05, "D": 0.005},
        unit="%",
        quantity="mfu",
        settings={"device": "a100-sxm", "precision": "fp16", "workload": "llm", "fusion": "none"},
        title="How fast can a perfect layer norm be?",
        distance="times",
        feedback={
            "A": "This assumes that good code can keep any chip busy. But layer norm does"
            f" {counted}, which is {at}, and the A100 needs {ridge} before arithmetic sets the"
            f" pace. Unfused, it stops at {most}.",
            "B": "Half sounds like a fair split between moving and computing. The two are nowhere"
            f" near equal, though: at {at} against a ridge of {ridge}, no more than {most} of the"
            " peak remains to be had.",
            "C": "You expected memory to be the limit, and it is; the gap is ten times wider than"
            f" you thought. Intensity over ridge is {at} over {ridge}, and that ratio is the"
            f" fraction of the peak: {most}.",
            "D": f"Left of the ridge, the fraction of the peak is intensity over ridge: {at} over"
            f" {ridge} is {most}. (An element takes {counted}.) No code can change that as long"
            " as the same bytes move.",
        },
        act=1,
    )


@lab.asks
def busy_flop_per_element(p: Parameters) -> Number:
    return Number(
        f"{_chip(p)} {ONE_PEAK} An elementwise kernel reads each fp32 element once and writes one"
        " fp32 result. How many FLOP must it do per element (the contractor's ReLU does 1) so that"
        " arithmetic sets the pace? Enter a number such as 350.",
        "FLOP per element",
        points=8,
        low=20,
        high=100000,
        hint="Peak over bandwidth says how many FLOP belong to each byte; then count the bytes of"
        " one element, in and out.",
        worked_example=f"A {ORIN.name} does {q(ORIN.peak('fp16'), 'FLOP/s')} and moves"
        f" {q(ORIN.bandwidth, 'B/s')}: {q(ORIN.ridge('fp16'), 'FLOP/B')}, its ridge. A kernel that"
        f" reads and writes one fp16 element moves {2 * FP16} bytes, so arithmetic sets the pace"
        f" from {q(2 * FP16 * ORIN.ridge('fp16'))} FLOP per element on.",
        title="What would keep your chip busy?",
        act=1,
        after=["act1_share"],
    )


@lab.asks(instead_of="busy_flop_per_element")
def busy_tb_per_s(p: Parameters) -> Number:
    elements = ORIN.peak("fp16") / EXAMPLE_FLOP
    return Number(
        f"{_chip(p)} {ONE_PEAK} An elementwise kernel reads each fp32 element once, does"
        f" **{p.element_flop}** FLOP on it (the contractor's ReLU does 1) and writes one fp32"
        " result. How fast must memory be, in TB/s, so that arithmetic sets the pace? Enter a"
        " number such as 12.",
        "TB/s",
        points=8,
        low=0.5,
        high=5000,
        hint="Peak over FLOP per element says how many elements the chip can compute per second;"
        " then count the bytes of one element, in and out.",
        worked_example=f"A {ORIN.name} does {q(ORIN.peak('fp16'), 'FLOP/s')}. With"
        f" {EXAMPLE_FLOP} FLOP per element, that is {q(elements / 1e9)} billion elements per"
        f" second. Each moves {2 * FP16} bytes in fp16, so arithmetic sets the pace if memory moves"
        f" at least {q(2 * FP16 * elements, 'B/s')}.",
        title="What would keep your chip busy?",
        act=1,
        after=["act1_share"],
    )


@lab.asks
def bandwidth_used_pct(p: Parameters) -> Number:
    return Number(
        f"Back to the contractor's profile: {p.activation_melem} million fp32 elements in"
        f" {p.profile_us} µs on your chip, whose memory moves"
        f" {q(p.bandwidth_tbs * 1e12, 'B/s')}. What percentage of that bandwidth does his ReLU use?"
        " Enter a percentage such as 12.",
        "percent",
        points=8,
        low=1,
        high=100,
        hint="Count the bytes that go in and out, divide by the time, and compare the result with"
        " what the memory can move.",
        worked_example=f"A {ORIN.name} reads and writes 510,000 fp16 elements,"
        f" {q(2.04e6, 'B')} in all, in {q(2e-4, 's')}. That is"
        f" {q(2.04e6 / 2e-4, 'B/s')}, or {q(2.04e6 / 2e-4 / ORIN.bandwidth, '%')} of its"
        f" {q(ORIN.bandwidth, 'B/s')}.",
        title="A second look at the profile",
        act=1,
        after=["act1_share"],
    )


@lab.asks
def spill_times(p: Parameters) -> Number:
    return Number(
        f"Each sample of a model keeps {p.sample_kb} KB of activations between two kernels. At"
        f" batch {p.batch_before}, all of them live in the fastest level of an A100 that holds"
        f" them. Then the team raises the batch to {p.batch_after}. How many times as long as"
        " before does one trip of all activations take? Enter a number such as 40.",
        "times",
        points=6,
        low=0.1,
        high=2000,
        hint="Compute the size of all activations before and after, and look up which level holds"
        " each. A trip takes size over bandwidth.",
        worked_example="Elsewhere the cache moves 900 GB/s and memory 300 GB/s. At batch 100 all"
        " activations fit into the cache, at batch 150 only into memory. They are 1.5 times as"
        " large and the bandwidth falls to a third, so a trip takes 4.5 times as long.",
        title="When the batch grows",
        act=1,
        after=["act1_share"],
    )


@lab.asks
def working_set_home(p: Parameters) -> Choice:
    return Choice(
        f"Each thread block of a kernel works on {p.tile_tensors} tiles of its own, {p.tile_rows:,}"
        f" × {p.tile_columns} fp16 numbers each. On each of an A100's {MULTIPROCESSORS}"
        f" multiprocessors, {p.tile_blocks} blocks run at a time. They divide its shared memory"
        " evenly, and the L2 cache with all other blocks. What is the fastest level in which every"
        " running block has room for its tiles?",
        {
            "registers": "the registers of one thread",
            "sram": "a block's shared memory",
            "l2": "a block's part of the L2 cache",
            "hbm": "a block's part of HBM",
        },
        points=4,
        worked_example="Three tiles of 64 × 64 fp16 numbers take 24.6 KB. On another chip four"
        " blocks divide 80 KB of shared memory, so each gets 20 KB: too small. The L2 cache has 4"
        " MB for the blocks of 30 multiprocessors, 33.3 KB for each, and holds the tiles.",
        title="Which level holds the tiles?",
        ordered=True,
        act=1,
        after=["act1_share"],
    )


@lab.asks
def act1_reflection(p: Parameters) -> Reflection:
    many = f"{p.activation_melem} million"
    elements = p.activation_melem * 1e6
    relu = fuse(chain("relu"), elements, FP32, A100, launch_overhead=0, compute_time=0)
    moving = q(relu.unfused_time, "s")
    computing = q(relu.flops / A100.peak("fp32"), "s")
    edge = q(relu.unfused_traffic / ORIN.bandwidth, "s")
    return Reflection(
        "Suppose that a ReLU over the contractor's tensor uses all the bandwidth of an A100, and"
        " you may change one thing. What makes it about twice as fast?",
        {
            "peak": "a larger chip with twice the TFLOPS",
            "bytes": "fp16 tensors instead of fp32 tensors",
            "code": "a version with half of the instructions",
            "edge": "an edge chip with a lower ridge",
        },
        right="bytes",
        feedback={
            "peak": "This helps a kernel that waits for arithmetic. Here an A100 needs"
            f" {computing} of arithmetic at its fp32 peak and {moving} to move the data. Halving"
            " the small number leaves the large one as it is.",
            "bytes": f"For {many} fp32 elements, an A100 spends {moving} on moving data; the"
            f" arithmetic would take {computing} at its fp32 peak. Half of the bytes means half of"
            " the time. The same holds for twice the bandwidth.",
            "code": "Fewer instructions help where they are what takes the time. Here the"
            f" arithmetic needs {computing} at the fp32 peak, hidden behind {moving} of moving"
            " data. A shorter program waits just as long as before.",
            "edge": "The edge chip computes less, but it also moves less: its ridge is"
            f" {q(ORIN.ridge('fp16'), 'FLOP/B')}, the A100's"
            f" {q(A100.ridge('fp16'), 'FLOP/B')}. ReLU waits for memory on both: {edge} there"
            f" instead of {moving} on the A100.",
        },
        title="What would make it faster?",
        act=1,
        after=["act1_share"],
    )


@lab.asks
def act1_peek(p: Parameters) -> Peek:
    product = gemm(512, 512, 512, FP16)
    return Peek(
        {
            "Roofline": [
                r"$$I = \frac{\text{FLOP}}{\text{bytes}}, \qquad I^* = \frac{P}{B}, \qquad"
                r" \text{attainable}(I) = \min(P,\; B \cdot I)$$",
                "A kernel is memory-bound as long as $I < I^*$. For example, a matrix product on"
                " an H100:",
                roofline(product.intensity, H100.peak("fp16"), H100.bandwidth),
            ],
            "Memory hierarchy": [
                r"$$t = \frac{\text{bytes}}{B_{\text{level}}}$$",
                "For example, one gigabyte through HBM:",
                transfer(1e9, "hbm"),
            ],
        },
        title="The equations of Act 1",
        act=1,
        after=["act1_share"],
    )


# Act 2: software.


@lab.asks
def capture_message(p: Parameters) -> Message:
    return Message(
        "Lena Brandt",
        "Model serving engineer",
        "Which tool, before Thursday?",
        f"I serve a model that a research team handed me. It {_does(p)}. In eager mode its"
        " results are right, but it is too slow. Another team captured theirs with the first tool"
        " they found, tried it on one example, and had to take it down on a Sunday night.\n\n"
        "Today every elementwise operation is a kernel of its own. A compiler would fuse them,"
        " but nobody can tell me what that is worth. My release is on Thursday.",
        task="Say what fusion is worth, and how Lena can capture her model.",
        act=2,
        after=["act1_share"],
    )


@lab.asks
def act2_trace(p: Parameters) -> Prediction:
    return Prediction(
        "A model contains an `if` on the values of its input. It was captured with"
        " `torch.jit.trace`, on one example. What happens with an input that would take the other"
        " branch?",
        {
            "A": "an error, because the graph does not fit the input",
            "B": "the other branch is traced as well, which takes a moment",
            "C": "an answer, from the branch that the example took",
            "D": "that part runs in Python, as it did before it was captured",
        },
        title="What does a trace do with an if?",
        answer="C",
        feedback={
            "A": "An error would need a check, and the graph has none. Python evaluated the `if`"
            " once, during tracing, and only tensor operations were recorded: there are 2 branches"
            " in the source and 1 in the graph.",
            "B": "That is close to what `torch.compile` does when a size changes: a guard notices,"
            " and it compiles again. A trace has no such guards. It recorded 1 of the 2 branches"
            " and replays it for every input.",
            "C": "A trace is the record of one run, and what did not happen in it does not exist:"
            " 1 branch of 2 is in the graph. PyTorch prints a warning while tracing, which is easy"
            " to miss.",
            "D": "That is what `torch.compile` does: it breaks the graph at the `if`, lets Python"
            " decide, and continues with a second graph. A trace leaves Python behind for good; it"
            " holds 1 of the 2 branches.",
        },
        act=3,
        after=["act1_share"],
    )


@lab.asks
def act2_traffic(p: Parameters) -> Prediction:
    c = COURSE_CHAIN
    before, after = c.unfused_reads + c.unfused_writes, c.fused_reads + c.fused_writes
    times = q(before / after, "×")
    return Prediction(
        "Eager mode runs `sigmoid(relu(x * w + b))` as four kernels; `x`, `w` and `b` are tensors"
        " of one size. How many times less data does one fused kernel move?",
        {
            "A": "about 4 times less",
            "B": "about 2.5 times less",
            "C": "about 10 times less",
            "D": "about as much as before",
        },
        values={"A": 4.0, "B": 2.5, "C": 10.0, "D": 1.0},
        unit="×",
        title="What does fusion save?",
        distance="times",
        feedback={
            "A": "This assumes that traffic follows the number of kernels. Kernels do drop from 4"
            f" to 1, but the fused one still reads {c.fused_reads} tensors and writes"
            f" {c.fused_writes}: {before} trips become {after}, which is {times} less.",
            "B": f"Unfused, the chain makes {c.unfused_reads} reads and {c.unfused_writes} writes;"
            f" fused, {c.fused_reads} reads and {c.fused_writes} write remain. So only what lies"
            " between the operations disappears when they are fused. Count again for operands that"
            " are single numbers.",
            "C": "This assumes that nearly all traffic lies between the operations. Of"
            f" {before} trips, {before - after} do; the other {after} carry the three inputs into"
            f" the kernel and the result out of it, so it is {times} less.",
            "D": "The arithmetic is indeed the same, but the arithmetic was never what took the"
            " time. Separate kernels write each intermediate result and read it back:"
            f" {before} trips instead of {after}, or {times} as much data.",
        },
        act=2,
        after=["act1_share"],
    )


@lab.asks
def capture_method(p: Parameters) -> Choice:
    return Choice(
        f"Lena's model {_does(p)}. Which of these four ways to run it, unchanged, is optimized the"
        " most and still does everything that eager mode does? Between two that are optimized"
        " equally, choose the more flexible one.",
        {
            "eager": "eager mode",
            "trace": "torch.jit.trace",
            "script": "torch.jit.script",
            "compile": "torch.compile",
        },
        points=1,
        worked_example="Suppose that a construct is silently wrong when it is traced and that"
        " `torch.jit.script` refuses it. Then two ways are left, and by the stars of the spectrum"
        " `torch.compile` is optimized more. Whatever a second construct rules out is out, too.",
        title="How should Lena run her model?",
        act=3,
        after=["act2_trace"],
    )


#: Where both questions about Lena's code begin, and their examples.
FIND_THE_BARRIER = (
    "Ask first which operation must have seen every element before the next one can begin: a kernel"
    " ends there. Then count the trips of"
)
EXAMPLE_CHAINS = (
    f"On a {ORIN.name}, `y = gelu(x * w)` and then `z = tanh(y / y.max())`, with fp16 tensors of a"
    " billion elements."
)


def _code_of_lena(p: Parameters) -> str:
    return (
        f"Lena's code is {_two_chains(p)}, where {_tensors(p)} are fp16 tensors of"
        f" {p.chain_melem} million elements, too large for every cache."
    )


def _between_memory_and_chip(p: Parameters) -> str:
    return (
        f"to move between memory and your chip ({q(p.bandwidth_tbs * 1e12, 'B/s')})? Enter"
        " microseconds, such as 45."
    )


@lab.asks
def barrier_us(p: Parameters) -> Number:
    return Number(
        f"{_code_of_lena(p)} A compiler fuses as much as it can. How long does the data take at"
        f" least {_between_memory_and_chip(p)}",
        "µs",
        points=10,
        low=5,
        high=20000,
        hint=f"{FIND_THE_BARRIER} each kernel.",
        worked_example=f"{EXAMPLE_CHAINS} The maximum needs all of `y`, so one kernel reads `x` and"
        " `w` and writes `y`, and a second reads `y` and writes `z`: five trips,"
        f" {q(5 * 1e9 * FP16, 'B')}, which {q(ORIN.bandwidth, 'B/s')} move in"
        f" {q(5 * 1e9 * FP16 / ORIN.bandwidth, 's')}.",
        title="Two chains and a sum",
        act=2,
        after=["act1_share"],
    )


@lab.asks(instead_of="barrier_us")
def barrier_saved_us(p: Parameters) -> Number:
    return Number(
        f"{_code_of_lena(p)} Today each operation is a kernel of its own, and so is the sum. A"
        " compiler fuses as much as it can. How much less time does the data then take"
        f" {_between_memory_and_chip(p)}",
        "µs",
        points=10,
        low=5,
        high=20000,
        hint=f"{FIND_THE_BARRIER} all kernels, today's and the fused ones.",
        worked_example=f"{EXAMPLE_CHAINS} Today: 3 trips for the product, 2 for GELU, 1 for the"
        " maximum, 2 each for quotient and tanh. Fused: 3 up to `y`, because the maximum needs"
        " all of it, and 2 from there to `z`. So five trips are saved,"
        f" {q(5 * 1e9 * FP16, 'B')}, which {q(ORIN.bandwidth, 'B/s')} move in"
        f" {q(5 * 1e9 * FP16 / ORIN.bandwidth, 's')}.",
        title="Two chains and a sum",
        act=2,
        after=["act1_share"],
    )


@lab.asks
def hidden_launch_melem(p: Parameters) -> Number:
    return Number(
        "An elementwise kernel reads one fp16 tensor and writes another. On your chip"
        f" ({q(p.bandwidth_tbs * 1e12, 'B/s')}) every launch costs {p.launch_us} µs, and launches"
        " are queued ahead while the GPU works. How many elements must each tensor have, at least,"
        " so that the GPU never waits for the next launch? Enter millions of elements, such as 20"
        " for 20 million.",
        "million elements",
        points=8,
        low=0.05,
        high=100000,
        hint="A launch is hidden while the kernel before it still runs. How many bytes move in that"
        " time, and how many does one element move?",
        worked_example="Elsewhere a launch costs 20 µs, and memory moves 600 GB/s: 12 MB in that"
        " time. An fp32 element moves 8 bytes, in and out, so 1.5 million elements hide a launch.",
        title="When launches disappear",
        act=2,
        after=["act2_traffic"],
    )


@lab.asks
def act2_reflection(p: Parameters) -> Reflection:
    return Reflection(
        "Lena's service is slow, and you have one afternoon. In which order do you work?",
        {
            "guess": "change one thing, profile it, name what it waits for, change the next thing",
            "loop": "profile it, name what it waits for, change one thing, profile it again",
            "many": "profile it, change everything that looks slow, profile it again",
            "trust": "name what it waits for, change that, and tell Lena what the model predicts",
        },
        right="loop",
        feedback={
            "guess": "No profile has told you yet where the time goes. With three possible causes"
            " (bytes, arithmetic, launches), two guesses out of three spend the afternoon on"
            " something that nothing waited for. Act 1's ReLU is an example.",
            "loop": "Each of the three causes (bytes, arithmetic, launches) has a remedy of its"
            " own, and only the second profile turns a change into an improvement. Act 3 lets you"
            " walk this loop, and the concept map shows it.",
            "many": "You measure twice, which is good. But if 3 changes go in at once and the"
            " time drops by a fifth, you cannot say which one helped. Change one thing per profile,"
            " and keep what helped.",
            "trust": "A model is a hypothesis. In the explorer, every launch on an A100 adds"
            f" {q(A100.launch(), 's')}; queued ahead of long kernels, the same launches add"
            " nothing. Only a profile tells you which of the two applies, and whether it helped.",
        },
        title="In which order?",
        act=2,
        after=["act2_traffic"],
    )


@lab.asks
def act2_peek(p: Parameters) -> Peek:
    return Peek(
        {
            "Traffic of a chain": [
                r"$$Q_{\text{unfused}} = \sum_{\text{ops}} (\text{reads} + 1) \cdot n b, \qquad"
                r" Q_{\text{fused}} = (\text{inputs} + 1) \cdot n b$$",
                "In a fused kernel, every input enters once and one result leaves. The fusion"
                " explorer shows it with numbers.",
            ],
            "Launches": [
                r"$$T_{\text{serial}} = N\,(t_{\text{launch}} + d), \qquad"
                r" T_{\text{async}} = t_{\text{launch}} + d + (N-1)\max(t_{\text{launch}}, d)$$",
                "$d$ is the time of one kernel. If launches are queued ahead, the GPU idles only"
                " where a kernel is shorter than a launch. A recorded graph"
                f" adds about {q(GRAPH_NODE_OVERHEAD.value, 's')} per kernel.",
            ],
        },
        title="The equations of Act 2",
        act=2,
        after=["act2_traffic"],
    )


# Act 3: diagnosis.


@lab.asks
def profile_message(p: Parameters) -> Message:
    step = step_of(p)
    n = f"{step.rows:,}"
    return Message(
        "Lena Brandt",
        "Model serving engineer",
        "One step, three suspects",
        "I profiled one step of the service, in eager mode, on your chip. First comes"
        f" an fp16 matrix product of {n} × {n} by {n} × {n}, which runs at its roof. Then a ReLU"
        f" over {step.million_elements} million fp32 elements, at full bandwidth. Then"
        f" {step.small_kernels}"
        " small kernels, each over before the next launch arrives; they cost"
        f" one launch each, {p.launch_us} µs.\n\n"
        "Ines wants faster kernels, Tomás wants graphs that launch once, and I have people for one"
        " project. Which part should they work on?",
        task="Compute the three parts, then say what the step waits for.",
        act=3,
        after=["act1_share"],
    )


@lab.asks
def waits_for(p: Parameters) -> Choice:
    return Choice(
        f"{_chip(p)} What takes more than half of Lena's step?",
        {
            "arithmetic": "the arithmetic of the product",
            "memory": "the data of the ReLU",
            "launches": "the launches of the small kernels",
            "none": "none of them takes more than half",
        },
        points=4,
        worked_example=f"On a {ORIN.name}, an fp16 product of {SIDE:,} × {SIDE:,} matrices has 2N³"
        f" = {q(2 * SIDE**3, 'FLOP')}: {q(EXAMPLE_PARTS[0], 's')} at"
        f" {q(ORIN.peak('fp16'), 'FLOP/s')}. A ReLU over {EXAMPLE_MELEM} million fp32 elements"
        f" moves {q(EXAMPLE_MELEM * 8e6, 'B')}: {q(EXAMPLE_PARTS[1], 's')} at"
        f" {q(ORIN.bandwidth, 'B/s')}. {EXAMPLE_LAUNCHES} launches at {q(ORIN.launch(), 's')} take"
        f" {q(EXAMPLE_PARTS[2], 's')}. Half of it all is {q(sum(EXAMPLE_PARTS) / 2, 's')}, and the"
        " product takes more.",
        title="What does the step wait for?",
        act=3,
        after=["act1_share"],
    )


@lab.asks
def step_fixed_us(p: Parameters) -> Number:
    return Number(
        "Lena's people work on the part that takes longest and halve its time. The other two stay"
        " as they are. How long does one step take then? Enter microseconds, such as 80.",
        "µs",
        points=9,
        low=5,
        high=50000,
        hint="Compute the three parts one by one, in one unit. Halve the largest, then add up.",
        worked_example="Another step has parts of 60 ms, 20 ms and 10 ms, 90 ms in all. Halving"
        " the largest saves 30 ms and leaves the others, so the step then takes 60 ms.",
        title="The step after the fix",
        act=3,
        after=["act1_share"],
    )


# Act 4: recall.


@lab.asks
def ten_questions(p: Parameters) -> Quiz:
    relu = chain("relu")
    half = fuse(relu, 1e6, FP16, A100).unfused_intensity
    full = fuse(relu, 1e6, FP32, A100).unfused_intensity
    ridge = q(A100.ridge("fp16"), "FLOP/B")
    old, new = q(H100.ridge("fp16"), "FLOP/B"), q(H200.ridge("fp16"), "FLOP/B")
    slow, fast = q(H100.bandwidth, "B/s"), q(H200.bandwidth, "B/s")
    most = q(roofline(full, A100.peak("fp16"), A100.bandwidth).mfu, "%")
    c = COURSE_CHAIN
    apart, fused = c.unfused_reads + c.unfused_writes, c.fused_reads + c.fused_writes
    # One row of attention scores over a long prompt, in fp16.
    row = q(SIDE * FP16, "B")
    block = q(memory_hierarchy["sram"].capacity, "B")
    launch = q(A100.launch(), "s")
    return Quiz(
        [
            Question(
                "ridge",
                "An H200 computes as fast as an H100, and its memory is faster. Where is its"
                " ridge?",
                {
                    "left": "at a lower intensity",
                    "right": "at a higher intensity",
                    "same": "at the same intensity",
                    "unknown": "that depends on the kernel",
                },
                right="left",
                feedback={
                    "left": "A kernel between these two numbers is memory-bound on the H100 and"
                    " compute-bound on the H200.",
                    "right": "More bandwidth does raise the sloped roof, but then it meets the"
                    " unchanged flat roof earlier.",
                    "same": "One of the two did not change. Compare the devices on the roofline of"
                    " Act 1.",
                    "unknown": "Kernels lie left or right of the ridge; the ridge itself belongs to"
                    " the chip.",
                },
                why="The ridge is peak over bandwidth. The peak stays, and"
                f" {slow} becomes {fast}, so {old} becomes {new}.",
            ),
            Question(
                "relu",
                "A ReLU on an A100 is changed from fp32 to fp16 tensors. What happens to it?",
                {
                    "bound": "it becomes compute-bound",
                    "none": "nothing: the same intensity and limit",
                    "twice": "twice the intensity, the same limit",
                    "half": "half the intensity, still memory-bound",
                },
                right="twice",
                feedback={
                    "bound": "It does move toward the ridge, but memory still sets the pace.",
                    "none": "The work stays the same, the bytes do not: it takes half the time.",
                    "twice": "The time is cut in half as well, since it waits for its bytes.",
                    "half": "Intensity is work over bytes: with half of the bytes it doubles.",
                },
                why="An element moves 2 + 2 bytes instead of 4 + 4:"
                f" {q(full, 'FLOP/B')} becomes {q(half, 'FLOP/B')}. The ridge is at {ridge},"
                " hundreds of times further right.",
            ),
            Question(
                "chain",
                "In `sigmoid(relu(x * w + b))`, let `w` and `b` hold one number per column instead"
                " of being full tensors. What does the fused kernel move, roughly?",
                {
                    "two": "one tensor in, one tensor out",
                    "four": "three tensors in, one tensor out",
                    "out": "only the tensor that goes out",
                    "ten": "as much as the four separate kernels",
                },
                right="two",
                feedback={
                    "two": "Only `x` and the result still travel, so fusion pays even more.",
                    "four": "That counts full tensors. One number per column stays in a cache.",
                    "out": "What lies between is on the chip, but `x` has to be read once.",
                    "ten": "Separate kernels write three intermediate tensors and read them back.",
                },
                why=f"Full operands make {apart} trips unfused and {fused} fused. A row of numbers"
                " is next to nothing beside a tensor, so 8 trips unfused become 2.",
            ),
            Question(
                "capture",
                "What is the key difference between `torch.jit.trace` and `torch.jit.script`?",
                {
                    "device": "trace fixes the device, script leaves it open",
                    "reads": "trace records a run, script parses the source",
                    "types": "trace keeps Python's types, script drops them",
                    "speed": "both make the same graph, script takes longer",
                },
                right="reads",
                feedback={
                    "device": "Both make a graph that runs wherever its tensors are. Where it comes"
                    " from decides what happens to an `if`.",
                    "reads": "Of the 8 constructs in the spectrum, the two agree on only a few."
                    " Check a branch, then a list.",
                    "types": "It is the other way around: script needs every type to compile the"
                    " source, and trace sees only the tensors of its run.",
                    "speed": "Without control flow the graphs may look alike. Check a branch in"
                    " the spectrum and compare the outcomes.",
                },
                why="Trace keeps what happened on 1 example. Script compiles the source, with its"
                " control flow, and refuses Python beyond its subset.",
            ),
            Question(
                "if",
                "Why does a traced model go wrong when it has an `if` on data?",
                {
                    "slow": "the condition is computed too late, on the GPU",
                    "round": "the condition is rounded differently in the graph",
                    "frozen": "the graph has only the branch of the example",
                    "both": "both branches run, and the last one wins",
                },
                right="frozen",
                feedback={
                    "slow": "That would make a model slow, but not wrong. Look for the `if` in a"
                    " printed graph.",
                    "round": "Rounding matters only near the threshold. Here inputs far from it get"
                    " the wrong branch, every time.",
                    "frozen": "Whether anybody notices depends on the test: one with a single"
                    " example takes the same branch again and passes.",
                    "both": "`torch.where` computes both sides and then chooses; it is the usual"
                    " remedy. A trace has one side.",
                },
                why="Tracing records tensor operations. Python's decision is none of them, so 1"
                " branch of 2 is in the graph, for every input.",
            ),
            Question(
                "break",
                "What is a graph break in `torch.compile`, and what does it cost?",
                {
                    "stop": "compilation stops with an error, and nothing runs until it is fixed",
                    "device": "the graph is cut into pieces that fit into the GPU's memory",
                    "wrong": "a part of the model is skipped, so results may be wrong",
                    "split": "the graph ends, Python takes over, and nothing fuses across",
                },
                right="split",
                feedback={
                    "stop": "The model runs, so breaks go unseen until you look at a log.",
                    "device": "It comes from code that cannot be captured, such as a print.",
                    "wrong": "Python runs the rest, and results stay right. You pay in time.",
                    "split": "The results stay right, so only a log or a profile tells you.",
                },
                why="1 graph becomes 2, with eager Python between them: a tensor is written and"
                f" read back at the seam, and launches cost about {launch} each.",
            ),
            Question(
                "sum",
                "Can `x / x.sum()` be done in one pass over a tensor that fits into no cache?",
                {
                    "yes": "yes, both are simple operations on the same tensor",
                    "no": "no, the sum must be complete before the first division",
                    "precision": "yes, if the sum is kept in fp32",
                    "inverse": "no, because a division cannot be fused",
                },
                right="no",
                feedback={
                    "yes": "Imagine the first element arriving on the chip: by what would you"
                    " divide it?",
                    "no": "Where a single row is reduced, as in softmax, the row can wait on the"
                    f" chip: {SIDE:,} fp16 scores take {row}, and a thread block has {block}.",
                    "precision": "Precision changes how accurate the sum is, not when it is known:"
                    " after the last element.",
                    "inverse": "No is right, but for another reason: a division fuses well, and the"
                    " barrier is the sum before it.",
                },
                why="The tensor is read twice and written once: 3 trips instead of 2. The fusion"
                " tree calls this end a barrier.",
            ),
            Question(
                "roofline",
                "What does the roofline tell you that a measured latency does not?",
                {
                    "exact": "the latency itself, to more digits than a stopwatch has",
                    "limit": "which limit binds, and how much is left to gain",
                    "line": "which line of the code takes most of the time",
                    "cost": "how many watts the kernel draws while it runs",
                },
                right="limit",
                feedback={
                    "exact": "The roofline is a bound: it says what is possible, and a stopwatch"
                    " says what happened.",
                    "limit": "A latency alone is neither good nor bad. The limit that binds also"
                    " tells you what would help.",
                    "line": "That is a profiler's job: it finds the kernel, and the roofline says"
                    " what is left to gain there.",
                    "cost": "The model knows no energy, only operations and bytes per second, and"
                    " the limits that follow from both.",
                },
                why=f"At {q(1.0, 'FLOP/B')}, a kernel can reach {q(A100.bandwidth, 'FLOP/s')} on an"
                f" A100. At {q(A100.bandwidth / 2, 'FLOP/s')} it has a factor of 2 left.",
            ),
            Question(
                "graph",
                "Which three things can a compiler do with a graph that eager mode cannot?",
                {
                    "hardware": "use tensor cores, queue launches ahead, compute in fp16",
                    "math": "compute gradients, broadcast, sum in parallel",
                    "whole": "fuse neighbors, drop dead operations, plan memory ahead",
                    "python": "call C++, release Python's lock, cache modules",
                },
                right="whole",
                feedback={
                    "hardware": "Eager kernels do all three, without knowing what comes after.",
                    "math": "Eager mode does all three, one operation after the other.",
                    "whole": "All three need to know what comes next.",
                    "python": "Eager mode does each of these with every operation.",
                },
                why=f"Turning {apart} trips into {fused}, as in Act 2, takes a look at several"
                " operations at once: an intermediate tensor may vanish only if nobody else needs"
                " it.",
            ),
            Question(
                "optimal",
                "“My ReLU kernel is optimal: it uses 100% of the compute.” What is wrong with"
                " that claim?",
                {
                    "half": "only half of the compute can be used without sparsity",
                    "metric": "ReLU waits for memory, so bandwidth is what to judge it by",
                    "never": "no kernel ever comes near its limit, whatever a profiler says",
                    "nothing": "nothing, if the profiler itself reports it like that",
                },
                right="metric",
                feedback={
                    "half": "Sparsity is about products of matrices; a ReLU has none.",
                    "metric": "The honest number is the percentage of the bandwidth.",
                    "never": "Good kernels come close to the limit that binds them.",
                    "nothing": "A profiler reports what it was asked: ask for bytes per second.",
                },
                why=f"At its roof, an fp32 ReLU reaches {most} of an A100's fp16 peak, because"
                " memory delivers no more. A unit that waits for data counts as busy, too.",
            ),
        ],
        title="Ten questions: what do you know, and how sure are you?",
        act=4,
        after=["act1_share", "act2_traffic", "act2_trace"],
    )


@lab.asks
def eight_claims(p: Parameters) -> Myths:
    side, peak, bandwidth = p.claim_n, p.peak_tflops * 1e12, p.bandwidth_tbs * 1e12
    product = gemm(side, side, side, FP16)
    product_time = product.flops / roofline(product.intensity, peak, bandwidth).attainable
    pieces = fuse(
        COURSE_CHAIN, side * side, FP16, bandwidth=bandwidth, launch_overhead=0, compute_time=0
    )
    product_longer = bool(product_time > pieces.unfused_time)
    image = workloads["resnet50"]
    paid = break_even(image.compile_time, image.eager_rate, image.compiled_rate)
    pays = bool(p.claim_images >= paid)
    relu = fuse(chain("relu"), 100e6, FP32, A100, launch_overhead=0, compute_time=0)
    narrow = fuse(chain("relu"), 100e6, FP16, A100, launch_overhead=0, compute_time=0)
    epilogue = transfer(2 * SIDE * SIDE * FP16, "hbm").time
    large = gemm(SIDE, SIDE, SIDE, FP16)
    thread = q(memory_hierarchy["registers"].capacity, "B")
    more = q(round(product.flops / pieces.flops), "×")
    return Myths(
        [
            Myth(
                "flops",
                f"On my chip ({q(peak, 'FLOP/s')}, {q(bandwidth, 'B/s')}), the product of two"
                f" {side:,} × {side:,} fp16 matrices takes longer than `sigmoid(relu(x * w + b))`"
                f" in eager mode on tensors of that shape. It has {more} as many FLOP to do.",
                f"At its roof, the product takes {q(product_time, 's')} for"
                f" {q(product.flops, 'FLOP')}. The four elementwise kernels move ten tensors and"
                f" take {q(pieces.unfused_time, 's')} for {q(pieces.flops, 'FLOP')}. Work grows"
                " with the cube of the side, traffic with the square, so the size decides.",
                true=product_longer,
            ),
            Myth(
                "eager",
                "Once a model is compiled, eager mode plays no part in it anymore.",
                "What `torch.compile` cannot capture runs eagerly between compiled graphs: one call"
                " into SciPy in the middle makes 2 graphs with Python between them.",
                true=False,
            ),
            Myth(
                "epilogue",
                "A ReLU right after a large matrix product is worth fusing into the product.",
                "The product has every result in registers. As a kernel of its own, the ReLU would"
                " read and write all of it again:"
                f" {q(epilogue, 's')} on an A100 for {SIDE:,} × {SIDE:,} numbers in fp16."
                " Compilers call this epilogue fusion.",
                true=True,
            ),
            Myth(
                "always",
                "The more operations share a kernel, the faster the program: two large matrix"
                " products in a row should be fused as well.",
                f"A {SIDE:,} × {SIDE:,} product does {q(large.intensity, 'FLOP/B')} in fp16, far"
                f" beyond an A100's ridge of {q(A100.ridge('fp16'), 'FLOP/B')}. It waits for"
                " arithmetic, and saving a trip through memory gains next to nothing.",
                true=False,
            ),
            Myth(
                "pays",
                f"A job of {p.claim_images:,} images is long enough for `torch.compile` to pay off"
                f" for the course's ResNet-50 ({q(image.compile_time, 's')} to compile,"
                f" {image.eager_rate:,.0f} images/s eager, {image.compiled_rate:,.0f} compiled).",
                f"Each image saves {q(1 / image.eager_rate - 1 / image.compiled_rate, 's')}, so the"
                f" {q(image.compile_time, 's')} are back after {paid:,.0f} images, and this job has"
                f" {p.claim_images:,}.",
                true=pays,
            ),
            Myth(
                "registers",
                "Registers are simply the fastest memory: a kernel can keep a pointer to one.",
                "Registers hold the operands of instructions and have no address. A thread has at"
                f" most {thread} of them. A kernel that uses many leaves room for fewer threads,"
                " which then hide less of the waiting.",
                true=False,
            ),
            Myth(
                "narrow",
                "Storing its tensors in fp16 instead of fp32 makes a ReLU on a large tensor about"
                " twice as fast.",
                "A ReLU waits for its data, and fp16 halves the data: for 100 million elements on"
                f" an A100, {q(relu.unfused_time, 's')} becomes {q(narrow.unfused_time, 's')}.",
                true=True,
            ),
            Myth(
                "digits",
                "A fused kernel may return results that differ from eager mode in the last digits.",
                "A fused kernel may add in another order, or keep in fp32 what eager mode rounds to"
                " fp16, with about 3 decimal digits. Both are valid: compare with a tolerance.",
                true=True,
            ),
        ],
        title="Eight claims: which of them are true?",
        act=4,
        after=["ten_questions"],
    )


@lab.asks
def checklist(p: Parameters) -> Checklist:
    return Checklist(
        {
            "gpu": "say what a multiprocessor holds, and what hides waiting",
            "levels": "order the levels of a GPU's memory, with rough sizes",
            "intensity": "compute an arithmetic intensity and a ridge",
            "bound": "tell from both which limit binds",
            "trace": "take a Chrome trace with `torch.profiler` and interpret it",
            "loop": "go from a profile to a cause and a change",
            "dispatch": "follow one operation from Python to a kernel",
            "capture": "say what each capture does with an `if`",
            "fusion": "count trips, and spot a barrier",
            "triton": "inspect Triton code with `TORCH_LOGS`",
        },
        bands=[
            (10, "Ready for compilers", "Go on."),
            (8, "Small gaps", "Look at what is named below."),
            (5, "Real gaps", "Repeat what is named below."),
            (
                0,
                "The foundation needs work",
                "Start again with Labs 01 and 11, then with Act 1.",
            ),
        ],
        review={
            "gpu": "the memory hierarchy",
            "levels": "the memory hierarchy",
            "intensity": "Lab 11, Act 1",
            "bound": "Lab 11, and Act 1",
            "trace": "“A profile of your own”",
            "loop": "Act 3, and the concept map",
            "dispatch": "Lab 07, Act 1",
            "capture": "the compilation spectrum",
            "fusion": "Lab 07, and Act 2",
            "triton": "“From trace to Triton”",
        },
        title="Without notes, I can …",
        act=4,
    )


# In your own words.


@lab.asks
def data_flow(p: Parameters) -> Essay:
    return Essay(
        "Follow `y = relu(x + bias)` from Python to the GPU, as a list of arrows. Mark where time"
        " goes in eager mode, and where fusion saves some of it.",
        [
            (2, "Python, dispatcher, launch and kernel in order, for both operations"),
            (2, "marks dispatch or launch for each operation"),
            (2, "marks the trip through memory between the two"),
            (2, "says what fusion removes and what stays"),
        ],
        title="The journey of one line",
        at_least=40,
        at_most=200,
        act=4,
        after=["act2_traffic", "act2_trace"],
    )


@lab.asks
def colleague(p: Parameters) -> Essay:
    return Essay(
        "A colleague knows Python but no ML systems. Why can `torch.compile` make a training loop"
        " twice as fast without any change to the model?",
        [
            (3, "explains that many small kernels wait for memory and launches"),
            (3, "explains that the compiler combines steps"),
            (2, "says when it does not help"),
        ],
        title="Explain it to a colleague",
        at_least=60,
        at_most=150,
        act=4,
        after=["act2_traffic", "act2_trace"],
    )


@lab.asks
def shaky(p: Parameters) -> Essay:
    return Essay(
        "Where are you still unsure? Name the topic, and write one question that somebody could"
        " answer.",
        [
            (3, "names the topic, in line with quiz, claims and checklist"),
            (3, "asks a question that can be answered"),
            (2, "says what would settle it"),
        ],
        title="A question you still have",
        at_least=30,
        at_most=120,
        act=4,
        after=["act2_traffic", "act2_trace"],
    )


# What the ledger holds.


@lab.asks
def predictions_kept(p: Parameters) -> Record:
    return Record(
        ["act1_share", "act2_trace"],
        points=6,
        title="Your predictions, committed",
    )


@lab.asks
def reflections_kept(p: Parameters) -> Record:
    return Record(
        ["act1_reflection", "act2_traffic", "act2_reflection"],
        points=4,
        title="Your reflections, and a prediction",
    )


@lab.asks
def review_kept(p: Parameters) -> Record:
    return Record(
        ["ten_questions", "eight_claims", "checklist"], points=6, title="Your review, done"
    )


@lab.asks
def plan_kept(p: Parameters) -> Record:
    return Record(["design"], points=2, title="Your plan, saved")


@lab.asks
def takeaways(p: Parameters) -> Takeaways:
    return Takeaways(
        [
            (
                "Bytes before FLOP",
                "Compare a kernel's intensity with the ridge first: waiting units look busy.",
            ),
            (
                "A graph first",
                "A compiler can combine only what was captured right.",
            ),
            (
                "Barriers stay",
                "Fusion removes trips; a reduction still has to finish first.",
            ),
            (
                "Measure twice",
                "No change before a profile, and no claim before a second one.",
            ),
        ],
        ahead="Compilers: from *why* code is slow to *how* a compiler makes it fast.",
        after=["waits_for", "act2_trace"],
    )
