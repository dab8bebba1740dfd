"""The ideas of Phase I, the arrows between them, and three paths through them.

Concepts, arrows and paths are those of the course's day 14, the Foundations Review. The last three
concepts of the abstraction path belong to Phase II and close the map.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Concept:
    """An idea of the course: when it was met, what it says, and where it stands on the map."""

    key: str
    name: str
    when: str
    says: str
    #: Its text on the map, line by line.
    label: tuple[str, ...]
    column: float
    row: int
    #: In columns.
    width: float = 0.96


CONCEPTS: dict[str, Concept] = {
    concept.key: concept
    for concept in (
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
    )
}

#: From, to, and what the arrow says.
ARROWS: tuple[tuple[str, str, str], ...] = (
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
)


@dataclass(frozen=True)
class Route:
    """A way through the map: concepts in order, each with what it adds to the story."""

    key: str
    name: str
    steps: tuple[tuple[str, str], ...]


ROUTES: dict[str, Route] = {
    route.key: route
    for route in (
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
    )
}
