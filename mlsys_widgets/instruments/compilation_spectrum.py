"""From eager Python to a compiled graph: five stops, and what each does to your model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import AnyMark, Axis, Blocks, Line, Points, Scene, notes
from mlsys_widgets.instruments.compilation_stops import (
    CONSTRUCTS,
    COURSE,
    ERROR,
    OUTCOMES,
    STARS,
    STOPS,
    WORKS,
    WRONG,
    Construct,
    Outcome,
    Stop,
)
from mlsys_widgets.instruments.controls import Select, Several
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table
from mlsys_widgets.instruments.target import LimitedQuantity
from mlsys_widgets.physics.domain import NON_NEGATIVE, Numeric
from mlsys_widgets.physics.result import Result, derived, given


@dataclass(frozen=True, repr=False)
class Capture(Result):
    """A model at one stop, in numbers: what stays right, and how many graphs there are."""

    constructs: Numeric = given("n", "", "constructs of the model", NON_NEGATIVE)
    wrong: Numeric = given("n_wrong", "", "constructs that are silently wrong", NON_NEGATIVE)
    errors: Numeric = given("n_error", "", "constructs that raise an error", NON_NEGATIVE)
    breaks: Numeric = given("b", "", "graph breaks", NON_NEGATIVE)
    captured: Numeric = given(
        "c", "", "graphs before any break: 1, or 0 if it captures none", NON_NEGATIVE
    )

    @derived("n_right", "")
    def kept(self) -> Numeric:
        """Constructs that stay right."""
        return self.constructs - self.wrong - self.errors

    @derived("right", "")
    def right(self) -> bool:
        """Results stay right."""
        return self.kept >= self.constructs  # type: ignore[return-value]

    @derived("G", "")
    def graphs(self) -> Numeric:
        """Graphs, with a new one after every break."""
        return self.captured * (1 + self.breaks)


@dataclass(frozen=True)
class Spectrum:
    """The outcome of a model at every stop."""

    stop: Stop
    constructs: tuple[Construct, ...]
    #: The worst that happens at each stop, with the construct that causes it.
    worst: dict[str, tuple[Outcome, Construct | None]]

    @property
    def outcome(self) -> Outcome:
        """The worst that happens at the stop in view."""
        return self.worst[self.stop.key][0]

    @property
    def capture(self) -> Capture:
        """The counts of the model at the stop in view."""
        found = [construct.at(self.stop.key)[0].key for construct in self.constructs]
        errors = found.count("error")
        return Capture(
            constructs=float(len(found)),
            wrong=float(found.count("wrong")),
            errors=float(errors),
            breaks=float(found.count("break")),
            captured=0.0 if errors or self.stop.key == "eager" else 1.0,
        )

    @property
    def failures(self) -> Numeric:
        """Constructs that are wrong or refused at the stop in view."""
        return self.capture.wrong + self.capture.errors

    @property
    def graphs(self) -> Numeric:
        """Graphs at the stop in view."""
        return self.capture.graphs

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
#: How many constructs a hint speaks of, the worst first.
_HELPED = 2


class CompilationSpectrum(Instrument):
    """Five ways from Python to kernels, and what each does to your model.

    Every step away from eager Python gains optimization and loses freedom. Put a branch on data, a
    loop or a call of a foreign library into the model and see what each way makes of it: it works,
    it falls apart into several graphs, it stops with an error, or it is silently wrong.

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
    showcase = ("stop", "model")
    plot_names = ("Ways to run", "Your model")
    leading = ("Your model here", "Stays right")
    quantities: ClassVar[Mapping[str, LimitedQuantity]] = {
        "failures": LimitedQuantity("", "results right", "results not right", "too many"),
        "graphs": LimitedQuantity("", "graph captured", "no graph", "too few"),
    }

    model = Several(
        "Your model has",
        default=("branch",),
        options={key: construct.name for key, construct in CONSTRUCTS.items()},
        help="The plots show what each way to run the model makes of it; check nothing for plain "
        "tensor code. A fake kernel tells a compiler the shape of a custom op's result.",
    )
    stop = Select(
        "Way to run",
        default="compile",
        options={stop.key: stop.name for stop in STOPS.values()},
        buttons=True,
        help="From full Python, on the left, to full optimization.",
    )

    def compute(self) -> Spectrum:
        chosen = tuple(CONSTRUCTS[key] for key in self.model)
        worst: dict[str, tuple[Outcome, Construct | None]] = {}
        for key in STOPS:
            fates: list[tuple[Outcome, Construct | None]] = [
                (construct.at(key)[0], construct) for construct in chosen
            ]
            worst[key] = max(fates, key=lambda fate: fate[0].severity, default=(WORKS, None))
        return Spectrum(STOPS[self.stop], chosen, worst)

    @property
    def explanations(self) -> dict[str, Any]:
        return {f"{self.result.stop.name}: what it captures": self.result.capture}

    def dominant(self, result: Capture) -> str:
        """The constructs that stay right, as long as some do not."""
        return "graphs" if result.right else "kept"

    # What it says.

    def cards(self, result: Spectrum) -> Sequence[NumberCard]:
        stop, counts = result.stop, result.capture
        kept = f"{counts.kept:.0f} of {ph.counted(counts.constructs, 'construct')}"
        return [
            ("Captures", stop.capture, "gray"),
            ("Flexibility", _stars(stop.flexibility), "blue"),
            ("Optimization", _stars(stop.optimization), "orange"),
            ("Your model here", result.outcome.words, result.outcome.tone),
            ("Stays right", kept if result.constructs else "plain tensor code", _tone(result)),
            ("Graphs", f"{counts.graphs:.0f}", "gray"),
        ]

    def alert(self, result: Spectrum) -> tuple[str, str] | None:
        """The model is wrong or refused here, and how much of it."""
        if result.outcome.right:
            return None
        counts = result.capture
        many = ph.counted(counts.constructs, "construct")
        broken = []
        if counts.wrong:
            verb = "is" if counts.wrong == 1 else "are"
            broken.append(f"{counts.wrong:.0f} of {many} {verb} {WRONG.words}")
        if counts.errors:
            verb = "raises" if counts.errors == 1 else "raise"
            broken.append(f"{counts.errors:.0f} of {many} {verb} an {ERROR.words}")
        return f"With {result.stop.name}, {' and '.join(broken)}.", "red"

    def hint(self, result: Spectrum) -> str:
        stop = result.stop
        words = (
            "Cross out every way that gets your model wrong or refuses it; of those that are "
            "left, take the one with the most stars for optimization."
        )
        troubled = [one for one in result.constructs if one.at(stop.key)[0] is not WORKS]
        worst = sorted(troubled, key=lambda one: -one.at(stop.key)[0].severity)[:_HELPED]
        helps = "; ".join(f"for {one.name}, {one.instead}" for one in worst)
        return f"{words} What would help {stop.name}: {helps}." if helps else words

    def sentence(self, result: Spectrum) -> str:
        outcome, cause = result.worst[result.stop.key]
        if cause is None:
            return f"Plain tensor code works every way. {result.stop.captures}"
        if outcome is WORKS:
            return f"With {result.stop.name} your model works. {result.stop.captures}"
        told = cause.at(result.stop.key)[1]
        return f"With {result.stop.name}: {outcome.words}, because of {cause.name}. {told}"

    def html(self, result: Spectrum) -> str:
        stop = result.stop
        rows = [("How it captures", stop.captures), ("What breaks it", stop.breaks)]
        for construct in result.constructs:
            outcome, told = construct.at(stop.key)
            rows.append((f"{construct.name}: {outcome.words}", told))
        items = "".join(
            f"<li><strong>{escape(word)}.</strong> {escape(told)}</li>" for word, told in rows
        )
        return f"<ul>{items}</ul>"

    def remark(self, result: Spectrum) -> str:
        outcome, cause = result.worst[result.stop.key]
        if cause is None or outcome is WORKS:
            return "Nothing in your model is in the way here."
        key = result.stop.key
        causes = [each.name for each in result.constructs if each.at(key)[0] is outcome]
        reasons = "reason is" if len(causes) == 1 else "reasons are"
        *first, last = causes
        return f"The {reasons} {' and '.join(filter(None, (', '.join(first), last)))}."

    def table(self, result: Spectrum) -> Table:
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
        return self._ratings(result), self._fates(result)

    def _ratings(self, result: Spectrum) -> Scene:
        names = tuple(
            stop.name if stop.rated_by == COURSE else f"{stop.name} (estimate)"
            for stop in STOPS.values()
        )
        across = Axis("From full Python to full optimization", 0.5, 5.5, False, _TICKS, names)
        up = Axis(
            "Course rating (stars)",
            0.0,
            STARS + 1.0,
            False,
            tuple(float(k) for k in range(STARS + 1)),
        )
        stops = [stop for stop in STOPS.values() if stop.rated_by == COURSE]
        others = [stop for stop in STOPS.values() if stop.rated_by != COURSE]
        marks: tuple[AnyMark, ...] = (
            Blocks("stop among the stars", (_column(result.stop, 0.0, STARS + 1.0),), 0.15),
            Blocks("stars", tuple(bar for stop in stops for bar in _bars(stop)), 0.85),
            Blocks("estimated stars", tuple(bar for stop in others for bar in _bars(stop)), 0.4),
            notes("counts", _COUNTS, "middle"),
        )
        legend = (
            ("Flexibility, left bar", "blue", "block"),
            ("Optimization, right bar", "orange", "block"),
            ("The way in view", "gray", "block"),
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
        # The gray column is named in the plot above: with it, there would be six entries.
        return Scene(across, up, marks, 330, legend)


def _tone(result: Spectrum) -> str:
    return "green" if result.outcome.right else "red"


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


#: The number of stars above each bar.
_COUNTS = [
    (_PLACES[stop.key] + side, float(count), str(count))
    for stop in STOPS.values()
    for side, count in ((-_BAR / 2, stop.flexibility), (_BAR / 2, stop.optimization))
]


def _apart(places: Sequence[tuple[float, float]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(x for x, _ in places), tuple(y for _, y in places)
