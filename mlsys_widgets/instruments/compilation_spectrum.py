"""From eager Python to a compiled graph: five stops, and what each does to your model.

Stops and ratings are those of the course's day 14, which leaves FX unrated; its rating here is an
estimate and says so. What happens to each construct was tried with PyTorch 2.11, with default
settings, on two inputs of different sizes and signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from mlsys_widgets.drawing.scene import AnyMark, Axis, Blocks, Line, Points, Scene, Words
from mlsys_widgets.instruments.controls import Select, Several
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table

STARS = 5
COURSE, ESTIMATE = "course, day 14", "our estimate"


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
    """What can happen to a construct, and how bad that is."""

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


WORKS = Outcome("works", "works", "green", "circle", 0)
AGAIN = Outcome("again", "compiles again", "blue", "triangle-up", 1)
BREAK = Outcome("break", "graph break", "orange", "diamond", 2)
ERROR = Outcome("error", "error", "purple", "square", 3)
WRONG = Outcome("wrong", "silently wrong", "red", "cross", 4)
OUTCOMES = (WORKS, AGAIN, BREAK, ERROR, WRONG)


@dataclass(frozen=True)
class Construct:
    """Something a model may contain, and what happens to it at every stop after eager."""

    key: str
    name: str
    #: Its name next to the plot.
    short: str
    fates: dict[str, tuple[Outcome, str]]

    def at(self, stop: str) -> tuple[Outcome, str]:
        """What happens at a stop, with a sentence."""
        return self.fates.get(stop, (WORKS, "It runs as Python, as written."))


def _construct(
    key: str, name: str, short: str, *fates: tuple[Outcome, str]
) -> tuple[str, Construct]:
    return key, Construct(key, name, short, dict(zip(list(STOPS)[1:], fates, strict=True)))


CONSTRUCTS: dict[str, Construct] = dict(
    (
        _construct(
            "branch",
            "a branch on data",
            "branch",
            (WRONG, "The branch taken by the example is kept for every input."),
            (WORKS, "The if is parsed and becomes part of the graph."),
            (ERROR, "A symbol is neither true nor false, so tracing stops."),
            (BREAK, "The graph ends at the if, Python decides, and another graph follows."),
        ),
        _construct(
            "loop",
            "a loop over the length",
            "loop",
            (WRONG, "The loop is unrolled for the length of the example; longer inputs are cut."),
            (WORKS, "The loop stays a loop."),
            (ERROR, "A symbolic length cannot drive range()."),
            (AGAIN, "The loop is unrolled, and compiled again for another length."),
        ),
        _construct(
            "print",
            "print",
            "print",
            (WRONG, "It prints while tracing and never again."),
            (WORKS, "print belongs to the subset."),
            (WRONG, "It prints while tracing and never again."),
            (BREAK, "The graph ends, Python prints, and another graph follows."),
        ),
        _construct(
            "list",
            "a Python list it appends to",
            "list",
            (WRONG, "The list grows while tracing and never again."),
            (ERROR, "A list outside the model is unknown to it."),
            (WRONG, "The list grows while tracing and never again."),
            (WORKS, "The graph runs first, then the list is brought up to date."),
        ),
        _construct(
            "sizes",
            "sizes that change",
            "sizes",
            (WORKS, "Sizes stay open as long as Python does not compute with them."),
            (WORKS, "Sizes are looked up at each call."),
            (WORKS, "The graph holds no sizes."),
            (AGAIN, "A guard fails at the first new size, and a graph for any size is compiled."),
        ),
        _construct(
            "mask",
            "a mask: x[x > 0]",
            "mask",
            (WORKS, "The mask is an operation like any other."),
            (WORKS, "The mask is an operation like any other."),
            (WORKS, "The mask is an operation like any other."),
            (BREAK, "Nobody knows the size of the result in advance: the graph ends there."),
        ),
        _construct(
            "custom",
            "a custom op without a fake kernel",
            "custom op",
            (WORKS, "The call is recorded like any other."),
            (WORKS, "The call goes to the registered kernel."),
            (WORKS, "The call is recorded like any other."),
            (ERROR, "Without a fake kernel the shape of its result is unknown; register one."),
        ),
        _construct(
            "library",
            "a call into SciPy",
            "SciPy call",
            (WRONG, "The result for the example is kept as a constant."),
            (ERROR, "It cannot parse a library outside PyTorch."),
            (ERROR, "A symbol is no array, so the call fails."),
            (BREAK, "The library runs in Python, between two graphs."),
        ),
    )
)


@dataclass(frozen=True)
class Spectrum:
    """What happens to a model at every stop."""

    stop: Stop
    constructs: tuple[Construct, ...]
    #: The worst that happens at each stop, with the construct that causes it.
    worst: dict[str, tuple[Outcome, Construct | None]]

    @property
    def outcome(self) -> Outcome:
        """The worst that happens at the stop in view."""
        return self.worst[self.stop.key][0]

    @property
    def best(self) -> Stop:
        """The most optimized stop whose results are right; eager always qualifies."""
        right = [stop for stop in STOPS.values() if self.worst[stop.key][0].right]
        return max(right, key=lambda stop: (stop.optimization, stop.flexibility))


_PLACES = {key: float(k) for k, key in enumerate(STOPS, 1)}
_ROWS = {key: float(len(CONSTRUCTS) + 1 - k) for k, key in enumerate(CONSTRUCTS)}
_TICKS = tuple(_PLACES.values())
_NAMES = tuple(stop.name for stop in STOPS.values())
_BAR = 0.3


class CompilationSpectrum(Instrument):
    """Five ways from Python to kernels, and what each does to your model.

    Examples
    --------
    >>> w = CompilationSpectrum(stop="trace", model=("branch",))
    >>> w.result.outcome.words
    'silently wrong'
    >>> w.set(stop="compile")
    >>> w.result.outcome.words
    'graph break'
    """

    title = "Compilation spectrum"

    model = Several(
        "Your model has",
        default=("branch",),
        options={key: construct.name for key, construct in CONSTRUCTS.items()},
        help="The plots show what happens to it at each stop; check nothing for plain tensor code.",
    )
    stop = Select(
        "Stop",
        default="compile",
        options={stop.key: stop.name for stop in STOPS.values()},
        buttons=True,
        help="The stop to explain, from full Python to full optimization.",
    )

    def compute(self) -> Spectrum:
        """What happens to every construct at every stop."""
        chosen = tuple(CONSTRUCTS[key] for key in self.model)
        worst: dict[str, tuple[Outcome, Construct | None]] = {}
        for key in STOPS:
            fates: list[tuple[Outcome, Construct | None]] = [
                (construct.at(key)[0], construct) for construct in chosen
            ]
            worst[key] = max(fates, key=lambda fate: fate[0].severity, default=(WORKS, None))
        return Spectrum(STOPS[self.stop], chosen, worst)

    # What it says.

    def cards(self, result: Spectrum) -> Sequence[NumberCard]:
        """The stop, its stars, and what it does to the model."""
        stop = result.stop
        return [
            ("Captures", stop.capture, "gray"),
            ("Flexibility", _stars(stop.flexibility), "blue"),
            ("Optimization", _stars(stop.optimization), "orange"),
            ("Your model here", result.outcome.words, result.outcome.tone),
            ("Most optimized that stays right", _breakable(result.best.name), "green"),
        ]

    def sentence(self, result: Spectrum) -> str:
        """What the stop does with the model, and why."""
        outcome, cause = result.worst[result.stop.key]
        if cause is None:
            return f"Plain tensor code works at every stop. {result.stop.captures}"
        if outcome is WORKS:
            return f"At {result.stop.name} your model works. {result.stop.captures}"
        told = cause.at(result.stop.key)[1]
        return f"At {result.stop.name}: {outcome.words}, because of {cause.name}. {told}"

    def html(self, result: Spectrum) -> str:
        """How the stop works, and what happens to each construct there."""
        stop = result.stop
        rows = [("How it captures", stop.captures), ("What breaks it", stop.breaks)]
        for construct in result.constructs:
            outcome, told = construct.at(stop.key)
            rows.append((f"{construct.name}: {outcome.words}", told))
        items = "".join(
            f"<li><strong>{escape(word)}.</strong> {escape(told)}</li>" for word, told in rows
        )
        return f"<ul>{items}</ul>"

    def table(self, result: Spectrum) -> Table:
        """A column for each stop: ratings, then what happens to each construct."""
        stops = STOPS.values()
        rows = [
            ("Captures", *(stop.capture for stop in stops)),
            ("Flexibility", *(_stars(stop.flexibility) for stop in stops)),
            ("Optimization", *(_stars(stop.optimization) for stop in stops)),
            ("Rated by", *(stop.rated_by for stop in stops)),
            *(
                (construct.name, *(construct.at(key)[0].words for key in STOPS))
                for construct in result.constructs
            ),
            ("Your model", *(result.worst[key][0].words for key in STOPS)),
        ]
        return ("", *_NAMES), rows

    # What it draws.

    def scenes(self, result: Spectrum) -> tuple[Scene, ...]:
        """Stars of every stop, and below them what happens to the model."""
        return self._ratings(result), self._fates(result)

    def _ratings(self, result: Spectrum) -> Scene:
        across = Axis("From full Python to full optimization", 0.5, 5.5, False, _TICKS, _NAMES)
        up = Axis("Stars", 0.0, STARS + 1.0, False, tuple(float(k) for k in range(STARS + 1)))
        stops = [stop for stop in STOPS.values() if stop.rated_by == COURSE]
        others = [stop for stop in STOPS.values() if stop.rated_by != COURSE]
        marks: tuple[AnyMark, ...] = (
            Blocks("stop among the stars", (_column(result.stop, 0.0, STARS + 1.0),), 0.15),
            Blocks("stars", tuple(bar for stop in stops for bar in _bars(stop)), 0.85),
            Blocks("estimated stars", tuple(bar for stop in others for bar in _bars(stop)), 0.4),
            Words("counts", *_counts(), "text", "middle"),
        )
        legend = (
            ("Flexibility, left bar", "blue", "block"),
            ("Optimization, right bar", "orange", "block"),
            (f"Pale: {ESTIMATE}", "ink", "block"),
        )
        return Scene(across, up, marks, 250, legend)

    def _fates(self, result: Spectrum) -> Scene:
        across = Axis("What happens to your model", 0.5, 5.5, False, _TICKS, _NAMES)
        rows = (1.0, *sorted(_ROWS.values()))
        shorts = [construct.short for construct in CONSTRUCTS.values()]
        up = Axis("", 0.4, max(rows) + 0.6, False, rows, ("Your model", *reversed(shorts)))
        places: dict[str, list[tuple[float, float]]] = {out.key: [] for out in OUTCOMES}
        for construct in result.constructs:
            for key in STOPS:
                places[construct.at(key)[0].key].append((_PLACES[key], _ROWS[construct.key]))
        for key in STOPS:
            places[result.worst[key][0].key].append((_PLACES[key], 1.0))
        marks: tuple[AnyMark, ...] = (
            Blocks("stop", (_column(result.stop, up.low, up.high),), 0.15),
            Line("above your model", (0.5, 5.5), (1.5, 1.5), "ink", width=1.5),
            *(Points(o.words, *_apart(places[o.key]), o.tone, o.symbol, 130) for o in OUTCOMES),
        )
        legend = tuple((o.words, o.tone, o.symbol) for o in OUTCOMES if places[o.key])
        return Scene(across, up, marks, 330, legend)


def _breakable(name: str) -> str:
    """A dotted name that a narrow card may break after its dot."""
    return name.replace(".", ".\N{ZERO WIDTH SPACE}")


def _stars(count: int) -> str:
    return "★" * count + "☆" * (STARS - count)


def _column(stop: Stop, low: float, high: float) -> tuple[float, float, float, float, str]:
    x = _PLACES[stop.key]
    return x - 0.45, low, x + 0.45, high, "gray"


def _bars(stop: Stop) -> list[tuple[float, float, float, float, str]]:
    x = _PLACES[stop.key]
    return [
        (x - _BAR, 0.0, x - 0.02, float(stop.flexibility), "blue"),
        (x + 0.02, 0.0, x + _BAR, float(stop.optimization), "orange"),
    ]


def _counts() -> tuple[tuple[float, ...], tuple[float, ...], tuple[str, ...]]:
    """The number of stars above each bar."""
    x, y, text = [], [], []
    for stop in STOPS.values():
        for side, count in ((-_BAR / 2, stop.flexibility), (_BAR / 2, stop.optimization)):
            x.append(_PLACES[stop.key] + side)
            y.append(float(count))
            text.append(str(count))
    return tuple(x), tuple(y), tuple(text)


def _apart(
    places: Sequence[tuple[float, float]],
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(x for x, _ in places), tuple(y for _, y in places)
