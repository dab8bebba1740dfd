"""A map of concepts: what each idea rests on, what it leads to, and paths through them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

import traitlets

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.diagram import Box, Diagram
from mlsys_widgets.drawing.scene import Blocks, Scene, Strokes
from mlsys_widgets.instruments.concepts import EXAMPLE, Concept, ConceptGraph, Route
from mlsys_widgets.instruments.controls import Select
from mlsys_widgets.instruments.instrument import Instrument, Lock, NumberCard, Table

_ROW, _BOX = 80.0, 56.0
_COLUMN = 100 / 6
_WHOLE = "all"
_TONES = {"focus": "green", "before": "orange", "after": "blue", "step": "purple"}


@dataclass(frozen=True)
class Reading:
    """A highlighted concept with its neighbors, or a path with its steps."""

    #: The concept that is explained; `None` while a whole path is shown.
    focus: Concept | None
    #: What leads to the focus, and what it leads to.
    before: tuple[str, ...]
    after: tuple[str, ...]
    route: Route | None
    #: The step of the path that is told, from 1; 0 for all of them.
    step: int
    #: The highlighted arrows of the map.
    arrows: tuple[tuple[str, str], ...]


def map_of(graph: ConceptGraph) -> Diagram:
    """The boxes of a graph, each in its place."""
    rows = 1 + max(concept.row for concept in graph.concepts)
    return Diagram(
        height=int((rows - 1) * _ROW + _BOX) + 20,
        boxes={
            concept.key: Box(
                x=(concept.column + 0.5) * _COLUMN,
                y=concept.row * _ROW + _BOX / 2 + 1,
                width=concept.width * _COLUMN,
                height=_BOX if concept.when else 40.0,
                lines=(*concept.label, concept.when) if concept.when else concept.label,
            )
            for concept in graph.concepts
        },
    )


def _concepts(instrument: Any) -> dict[str, str]:
    return {concept.key: concept.name for concept in instrument.graph.concepts}


def _paths(instrument: Any) -> dict[str, str]:
    return {route.key: route.name for route in instrument.graph.routes}


def _steps(instrument: Any) -> dict[str, str]:
    graph: ConceptGraph = instrument.graph
    told = graph.route[instrument.path].steps
    words = {str(k): f"{k} {graph.by_key[key].name}" for k, (key, _) in enumerate(told, 1)}
    return {_WHOLE: "All steps", **words}


class ConceptMap(Instrument):
    """Ideas, what they rest on and what they lead to, and paths through them.

    Choose a concept to see what you need to know first and what it opens up, or follow a path that
    tells one story across chapters. A lab brings its own map; without one, a small example shows.

    Parameters
    ----------
    graph
        What to show, usually a material of the lab: ``lab.materials["concepts"]``; a small
        example if omitted.
    lock, **inputs
        As in every instrument.

    Examples
    --------
    >>> w = ConceptMap(concept="fusion")
    >>> w.result.before, w.result.after
    (('roofline', 'capture'), ('profiling',))
    >>> w.set(show="path", path="measurement", step="2")
    >>> w.result.focus.name
    'Roofline model'
    """

    title = EXAMPLE.title
    showcase = ("concept", "reach")

    show = Select(
        "Show",
        default="concept",
        options={"concept": "One concept", "path": "A path"},
        buttons=True,
        help="A concept with its arrows, or a path through the whole map.",
    )
    concept = Select(
        "Concept",
        default=EXAMPLE.first,
        options=_concepts,
        help="The map highlights what it rests on and what it leads to.",
    )
    reach = Select(
        "How far",
        default="next",
        options={"next": "Next arrows", "whole": "All the way"},
        buttons=True,
        help="Only the neighbors, or everything before and after.",
    )
    path = Select(
        "Path",
        default=EXAMPLE.routes[0].key,
        options=_paths,
        help="Different ways to tell how the concepts belong together.",
    )
    step = Select(
        "Step", default=_WHOLE, options=_steps, help="One step of the path, or all of them."
    )

    def __init__(
        self, graph: ConceptGraph = EXAMPLE, *, lock: Lock | None = None, **inputs: Any
    ) -> None:
        self.graph, self.title = graph, graph.title
        self._map = map_of(graph)
        super().__init__(lock=lock, **inputs)

    @traitlets.default("concept")
    def _first_concept(self) -> str:
        return self.graph.first

    @traitlets.default("path")
    def _first_path(self) -> str:
        return self.graph.routes[0].key

    @property
    def code(self) -> str:
        """A line of Python that makes this instrument as it is now; ``graph`` is the lab's own."""
        code = super().code
        if self.graph is EXAMPLE:
            return code
        return code.replace("(", "(graph, ", 1).replace(", )", ")")

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        """A new path starts from the whole of it."""
        if "path" in changed and "step" not in changed:
            inputs["step"] = _WHOLE
        return inputs

    def hidden(self) -> AbstractSet[str]:
        """The controls of the view that is not shown."""
        return {"path", "step"} if self.show == "concept" else {"concept", "reach"}

    def compute(self) -> Reading:
        if self.show == "path":
            route = self.graph.route[self.path]
            step = 0 if self.step == _WHOLE else int(self.step)
            focus = self.graph.by_key[route.steps[step - 1][0]] if step else None
            keys = [key for key, _ in route.steps]
            pairs = set(pairwise(keys))
            lit = tuple((a, b) for a, b, _ in self.graph.arrows if (a, b) in pairs)
            return Reading(focus, (), (), route, step, lit)
        whole = self.reach == "whole"
        before = _reached(self.graph, self.concept, 1, whole)
        after = _reached(self.graph, self.concept, 0, whole)
        upper, lower = {*before, self.concept}, {*after, self.concept}
        lit = tuple((a, b) for a, b, _ in self.graph.arrows if {a, b} <= upper or {a, b} <= lower)
        return Reading(self.graph.by_key[self.concept], before, after, None, 0, lit)

    @property
    def explanations(self) -> dict[str, Any]:
        return {}

    # What it says.

    def cards(self, result: Reading) -> Sequence[NumberCard]:
        if result.route is not None:
            place = f"{result.step} of {len(result.route.steps)}" if result.step else "all"
            return [
                ("Path", result.route.name, _TONES["step"]),
                ("Step", place, _TONES["step"]),
                ("Concept", result.focus.name if result.focus else "–", _TONES["focus"]),
            ]
        assert result.focus is not None
        before, after = (ph.format_quantity(len(keys)) for keys in (result.before, result.after))
        return [
            ("Concept", result.focus.name, _TONES["focus"]),
            ("Met in", result.focus.when or "every lab", "gray"),
            ("Rests on", before, _TONES["before"]),
            ("Leads to", after, _TONES["after"]),
        ]

    def sentence(self, result: Reading) -> str:
        if result.route is not None:
            if result.step:
                assert result.focus is not None
                told = result.route.steps[result.step - 1][1]
                return f"Step {result.step}, {result.focus.name}: {told} {result.focus.says}"
            return " ".join(told for _, told in result.route.steps)
        assert result.focus is not None
        rests = (
            f"rests on {self._listed(result.before)}" if result.before else "is where it all begins"
        )
        leads = f"leads to {self._listed(result.after)}" if result.after else "is an end of the map"
        return f"{result.focus.name}: {result.focus.says} It {rests}; it {leads}."

    def html(self, result: Reading) -> str:
        if result.route is None:
            return ""
        items = []
        for k, (key, _) in enumerate(result.route.steps, 1):
            name = escape(self.graph.by_key[key].name)
            here = k == result.step
            items.append(
                f'<li aria-current="step">➜ <strong>{name}</strong></li>'
                if here
                else f"<li>{name}</li>"
            )
        return f"<ol>{''.join(items)}</ol>"

    def table(self, result: Reading) -> Table:
        header = ("From", "To", "What the arrow says", "Lit")
        names = _concepts(self)
        lit = set(result.arrows)
        rows = [
            (names[a], names[b], says, "yes") if (a, b) in lit else (names[a], names[b], "", "no")
            for a, b, says in self.graph.arrows
        ]
        if result.route is not None:
            rows += [
                (f"Step {k}: {names[a]}", f"Step {k + 1}: {names[b]}", "", "path")
                for k, ((a, _), (b, _)) in enumerate(pairwise(result.route.steps), 1)
            ]
        return header, rows

    # What it draws.

    def scenes(self, result: Reading) -> tuple[Scene, ...]:
        chart, concepts, arrows = self._map, self.graph.by_key, self.graph.arrows
        focus = {result.focus.key} if result.focus else set()
        steps = _step_words(result.route)
        before, after = set(result.before), set(result.after)

        def tone(key: str) -> str:
            groups = {"focus": focus, "before": before, "after": after, "step": steps}
            found = (_TONES[name] for name, keys in groups.items() if key in keys)
            return next(found, "gray")

        upper = tuple((a, b) for a, b in result.arrows if a in before)
        lower = tuple((a, b) for a, b in result.arrows if b in after)
        along = result.arrows if result.route else ()
        marks = [
            Strokes("arrows", tuple(chart.arrow(a, b) for a, b, _ in arrows), "gray", width=1.2),
            chart.heads("heads", (end for _, end, _ in arrows), "gray"),
            *self._arrows("arrows before", upper, _TONES["before"], "dashed"),
            *self._arrows("arrows after", lower, _TONES["after"], "dotted"),
            *self._arrows("arrows of the path", along, _TONES["step"], "solid"),
            Blocks("concepts", tuple(chart.block(key, tone(key)) for key in concepts), 0.2),
            self._outlines("concepts before", before, _TONES["before"], "dashed"),
            self._outlines("concepts after", after, _TONES["after"], "dotted"),
            self._outlines("concepts of the path", set(steps) - focus, _TONES["step"], "solid"),
            self._outlines("concept", focus, _TONES["focus"], "solid", 3.0),
            chart.captions("names", {key: (*concepts[key].label, w) for key, w in steps.items()}),
        ]
        if result.route is not None:
            legend = [("On the path", _TONES["step"], "solid")]
            legend += [("This step", _TONES["focus"], "block")] if focus else []
        else:
            legend = [
                ("This concept", _TONES["focus"], "block"),
                ("Rests on", _TONES["before"], "dashed"),
                ("Leads to", _TONES["after"], "dotted"),
            ]
        return (chart.scene(marks, tuple(legend)),)

    def _listed(self, keys: Iterable[str]) -> str:
        names = [self.graph.by_key[key].name for key in keys]
        return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))

    def _arrows(
        self, name: str, pairs: tuple[tuple[str, str], ...], tone: str, dash: str
    ) -> tuple[Any, ...]:
        strokes = Strokes(name, tuple(self._map.arrow(a, b) for a, b in pairs), tone, dash, 2.5)
        return strokes, self._map.heads(f"heads of {name}", (b for _, b in pairs), tone)

    def _outlines(
        self, name: str, keys: AbstractSet[str], tone: str, dash: str, width: float = 2.0
    ) -> Strokes:
        paths = tuple(self._map.outline(key) for key in self.graph.by_key if key in keys)
        return Strokes(name, paths, tone, dash, width)


def _reached(graph: ConceptGraph, start: str, side: int, whole: bool) -> tuple[str, ...]:
    """Concepts before (side 1) or after (side 0) one, in the order of the map."""
    found: set[str] = set()
    edge = {start}
    while edge:
        edge = {arrow[1 - side] for arrow in graph.arrows if arrow[side] in edge} - found
        found |= edge
        if not whole:
            break
    return tuple(key for key in graph.by_key if key in found)


def _step_words(route: Route | None) -> dict[str, str]:
    """Which steps of a path each concept is: 'Step 2', 'Steps 1, 5'."""
    if route is None:
        return {}
    places: dict[str, list[str]] = {}
    for k, (key, _) in enumerate(route.steps, 1):
        places.setdefault(key, []).append(str(k))
    return {key: f"Step{'s' * (len(k) > 1)} {', '.join(k)}" for key, k in places.items()}
