"""The stops from eager Python to a compiled graph, and what each does to what a model may contain.

Stops and ratings are those of the course's day 14, which leaves FX unrated; its rating here is an
estimate and says so. What happens to each construct was tried with PyTorch 2.11, with default
settings, on two inputs of different sizes and signs.
"""

from __future__ import annotations

from dataclasses import dataclass

STARS = 5
COURSE, ESTIMATE = "course", "estimate"


@dataclass(frozen=True)
class Stop:
    """A way to run a model."""

    key: str
    name: str
    #: How it gets a graph, in a word and in a sentence.
    capture: str
    captures: str
    breaks: str
    #: In stars.
    flexibility: int
    optimization: int
    rated_by: str = COURSE


STOPS: dict[str, Stop] = {
    stop.key: stop
    for stop in (
        Stop(
            "eager",
            "eager",
            "no graph",
            "It captures no graph: Python runs each operation as it meets it.",
            "Nothing breaks it, and nothing is optimized across operations.",
            5,
            0,
        ),
        Stop(
            "trace",
            "jit.trace",
            "frozen snapshot",
            "It runs the model once on an example and records the operations it sees.",
            "Whatever depends on the input beyond the example is frozen into the graph.",
            3,
            2,
        ),
        Stop(
            "script",
            "jit.script",
            "parsed subset",
            "It parses the source, and compiles a subset of Python with its control flow.",
            "Python outside that subset is refused.",
            2,
            2,
        ),
        Stop(
            "fx",
            "FX",
            "symbolic proxy",
            "It runs the model on symbols that stand for tensors and records what is done to them.",
            "A symbol has no value: control flow that needs one stops it. It hands you a graph to "
            "rewrite and optimizes nothing by itself.",
            2,
            1,
            ESTIMATE,
        ),
        Stop(
            "compile",
            "torch.compile",
            "bytecode, while it runs",
            "It reads Python's bytecode as it runs and compiles what it can; guards check that the "
            "graph still fits.",
            "What it cannot read breaks the graph in two, with eager Python between; a failed "
            "guard compiles again.",
            4,
            5,
        ),
    )
}


@dataclass(frozen=True)
class Outcome:
    """Something that can happen to a construct, and how bad that is."""

    key: str
    words: str
    tone: str
    symbol: str
    #: Zero is good; what nobody notices is worst.
    severity: int

    @property
    def right(self) -> bool:
        """Whether the model runs and its results are right."""
        return self.key in ("works", "again", "break")


# The color says whether results stay right, the symbol how.
WORKS = Outcome("works", "works", "green", "circle", 0)
AGAIN = Outcome("again", "compiles again", "green", "triangle-up", 1)
BREAK = Outcome("break", "graph break", "green", "diamond", 2)
ERROR = Outcome("error", "error", "red", "square", 3)
WRONG = Outcome("wrong", "silently wrong", "red", "cross", 4)
OUTCOMES = (WORKS, AGAIN, BREAK, ERROR, WRONG)


@dataclass(frozen=True)
class Construct:
    """Something a model may contain, and what happens to it at every stop after eager."""

    key: str
    name: str
    #: Its name next to the plot.
    short: str
    #: How to write it so that more stops can capture it.
    instead: str
    fates: dict[str, tuple[Outcome, str]]

    def at(self, stop: str) -> tuple[Outcome, str]:
        """Return what happens at a stop, with a sentence."""
        return self.fates.get(stop, (WORKS, "It runs as Python, as written."))


def _construct(
    key: str, name: str, short: str, instead: str, *fates: tuple[Outcome, str]
) -> tuple[str, Construct]:
    return key, Construct(key, name, short, instead, dict(zip(list(STOPS)[1:], fates, strict=True)))


CONSTRUCTS: dict[str, Construct] = dict(
    (
        _construct(
            "branch",
            "a branch on data",
            "branch",
            "compute both sides and choose with torch.where",
            (WRONG, "The branch taken by the example is kept for every input."),
            (WORKS, "The if is parsed and becomes part of the graph."),
            (ERROR, "A symbol is neither true nor false, so tracing stops."),
            (BREAK, "The graph ends at the if, Python decides, and another graph follows."),
        ),
        _construct(
            "loop",
            "a loop over the length",
            "loop",
            "replace the loop by operations on the whole tensor",
            (WRONG, "The loop is unrolled for the length of the example; longer inputs are cut."),
            (WORKS, "The loop stays a loop."),
            (ERROR, "A symbolic length cannot drive range()."),
            (AGAIN, "The loop is unrolled, and compiled again for another length."),
        ),
        _construct(
            "print",
            "print",
            "print",
            "print outside the model",
            (WRONG, "It prints while tracing and never again."),
            (WORKS, "print belongs to the subset."),
            (WRONG, "It prints while tracing and never again."),
            (BREAK, "The graph ends, Python prints, and another graph follows."),
        ),
        _construct(
            "list",
            "a Python list it appends to",
            "list",
            "return what you would append",
            (WRONG, "The list grows while tracing and never again."),
            (ERROR, "A list outside the model is unknown to it."),
            (WRONG, "The list grows while tracing and never again."),
            (WORKS, "The graph runs first, then the list is brought up to date."),
        ),
        _construct(
            "sizes",
            "sizes that change",
            "sizes",
            "ask for any size at once, with torch.compile(dynamic=True)",
            (WORKS, "Sizes stay open as long as Python does not compute with them."),
            (WORKS, "Sizes are looked up at each call."),
            (WORKS, "The graph holds no sizes."),
            (AGAIN, "A guard fails at the first new size, and a graph for any size is compiled."),
        ),
        _construct(
            "mask",
            "a mask: x[x > 0]",
            "mask",
            "keep the size and fill in with torch.where",
            (WORKS, "The mask is an operation like any other."),
            (WORKS, "The mask is an operation like any other."),
            (WORKS, "The mask is an operation like any other."),
            (BREAK, "Nobody knows the size of the result in advance: the graph ends there."),
        ),
        _construct(
            "custom",
            "a custom op without a fake kernel",
            "custom op",
            "register a fake kernel that gives the shape of its result",
            (WORKS, "The call is recorded like any other."),
            (WORKS, "The call goes to the registered kernel."),
            (WORKS, "The call is recorded like any other."),
            (ERROR, "Without a fake kernel the shape of its result is unknown."),
        ),
        _construct(
            "library",
            "a call into SciPy",
            "SciPy call",
            "write the function with PyTorch operations",
            (WRONG, "The result for the example is kept as a constant."),
            (ERROR, "It cannot parse a library outside PyTorch."),
            (ERROR, "A symbol is no array, so the call fails."),
            (BREAK, "The library runs in Python, between two graphs."),
        ),
    )
)
