"""Ideas, the arrows between them, and paths through them: what a `ConceptMap` shows.

A lab brings its own graph in its files; the small one at the end is what the map shows without.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final


@dataclass(frozen=True)
class Concept:
    """An idea: when it was met, what it says, and where it stands on the map."""

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


@dataclass(frozen=True)
class Route:
    """A path through the map: concepts in order, each with what it adds to the story."""

    key: str
    name: str
    steps: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ConceptGraph:
    """Concepts on six columns, the arrows between them, and paths through them.

    Parameters
    ----------
    title
        What the map is called.
    concepts
        The ideas, each with its place.
    arrows
        From, to, and what the arrow says.
    routes
        Paths, of which the first is shown first.
    first
        The concept that is shown first.
    """

    title: str
    concepts: tuple[Concept, ...]
    arrows: tuple[tuple[str, str, str], ...]
    routes: tuple[Route, ...]
    first: str

    def __post_init__(self) -> None:
        for where, key in self._named():
            if key not in self.by_key:
                listed = ", ".join(self.by_key)
                raise ValueError(f"{where} names the concept {key!r}; there are: {listed}")
        if not self.routes:
            raise ValueError(f"{self.title} has no routes; give at least one")

    def _named(self) -> Iterator[tuple[str, str]]:
        yield "first", self.first
        for start, end, _ in self.arrows:
            yield "an arrow", start
            yield "an arrow", end
        for route in self.routes:
            for key, _ in route.steps:
                yield f"the route {route.key}", key

    @cached_property
    def by_key(self) -> dict[str, Concept]:
        """The concepts, by key."""
        return {concept.key: concept for concept in self.concepts}

    @cached_property
    def route(self) -> dict[str, Route]:
        """The paths, by key."""
        return {route.key: route for route in self.routes}


EXAMPLE: Final = ConceptGraph(
    title="Concept map",
    first="roofline",
    concepts=(
        Concept(
            "hardware",
            "Hardware limits",
            "Week 1",
            "A chip performs a fixed number of operations and moves a fixed number of bytes per "
            "second.",
            ("Hardware limits",),
            1,
            0,
            2,
        ),
        Concept(
            "software",
            "Software execution",
            "Week 1",
            "Software turns lines of Python into kernels, and adds time of its own.",
            ("Software execution",),
            4,
            0,
            2,
        ),
        Concept(
            "roofline",
            "Roofline model",
            "Week 2",
            "Operations per byte, compared with the ridge point, tell you which limit binds.",
            ("Roofline model",),
            1,
            1,
            2,
        ),
        Concept(
            "capture",
            "Graph capture",
            "Week 2",
            "A compiler needs the whole computation as a graph before it can change it.",
            ("Graph capture",),
            4,
            1,
            2,
        ),
        Concept(
            "fusion",
            "Fusion",
            "Week 3",
            "One kernel does the work of several, so intermediate results never travel to memory.",
            ("Fusion",),
            2.5,
            2,
            2,
        ),
        Concept(
            "profiling",
            "Profiling",
            "",
            "You know that a change helped only after you have measured before and after.",
            ("Profiling",),
            2.5,
            3,
            2,
        ),
    ),
    arrows=(
        ("hardware", "roofline", "The model draws both limits of the chip in one picture."),
        ("software", "capture", "Software has to be captured before it can be optimized."),
        ("roofline", "fusion", "Left of the ridge point, fewer bytes mean less time."),
        ("capture", "fusion", "With the graph at hand, the compiler finds what to fuse."),
        ("fusion", "profiling", "A measurement tells whether it helped."),
    ),
    routes=(
        Route(
            "hardware",
            "From hardware to software",
            (
                ("hardware", "Memory delivers only a fixed number of bytes per second."),
                ("roofline", "Elementwise operations do little work per byte: memory-bound."),
                ("fusion", "A single kernel for many of them moves fewer bytes."),
            ),
        ),
        Route(
            "measurement",
            "Measure, fix, measure",
            (
                ("profiling", "Profile first."),
                ("roofline", "The roofline shows how far you are from what the chip allows."),
                ("fusion", "Fuse, or change whatever else closes that gap."),
                ("profiling", "Profile again: only now is it an improvement."),
            ),
        ),
    ),
)
