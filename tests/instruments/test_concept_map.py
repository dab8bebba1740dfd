"""A concept map: what rests on what, and paths through it; and the review's own graph of day 14."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mlsys_widgets.drawing.scene import Words
from mlsys_widgets.instruments.concept_map import ConceptMap
from mlsys_widgets.instruments.concepts import EXAMPLE, Concept, ConceptGraph, Route
from mlsys_widgets.labs import load

REVIEW: ConceptGraph = load(
    Path(__file__).parents[2] / "assignments" / "lab_review_foundations"
).materials["concepts"]
CONCEPTS, ARROWS, ROUTES = REVIEW.by_key, REVIEW.arrows, REVIEW.route

# Day 14, the concept map, arrow by arrow as it is drawn there.
DAY_14 = {
    "why": "hardware software",
    "hardware": "gpu memory balance",
    "software": "eager graph rules",
    "memory": "levels",
    "eager": "dispatcher",
    "gpu": "roofline",
    "levels": "roofline",
    "balance": "roofline",
    "graph": "capture",
    "rules": "capture",
    "roofline": "fusion",
    "capture": "fusion",
    "fusion": "profiling",
}
# Day 14, the abstraction path beyond the map: graph capture, IR, optimizations, kernel code.
BEYOND = {("capture", "ir"), ("ir", "passes"), ("passes", "code")}


def test_the_arrows_of_day_14() -> None:
    drawn = {(start, end) for start, ends in DAY_14.items() for end in ends.split()}
    assert {(a, b) for a, b, _ in ARROWS} == drawn | BEYOND
    assert len(ARROWS) == len(drawn | BEYOND)


def test_the_paths_of_day_14() -> None:
    steps = {key: [step for step, _ in route.steps] for key, route in ROUTES.items()}
    assert steps["hardware"] == ["levels", "roofline", "fusion", "graph"]
    assert steps["measurement"] == ["profiling", "balance", "roofline", "fusion", "profiling"]
    assert steps["abstraction"] == ["eager", "capture", "ir", "passes", "code"]


def test_arrows_lead_down_the_map() -> None:
    assert all(CONCEPTS[a].row < CONCEPTS[b].row for a, b, _ in ARROWS)
    # Every concept but the first rests on another, so nothing hangs in the air.
    assert {b for _, b, _ in ARROWS} == set(CONCEPTS) - {"why"}


def test_every_concept_and_arrow_says_something() -> None:
    assert all(concept.says.endswith(".") for concept in CONCEPTS.values())
    assert all(says.endswith(".") for _, _, says in ARROWS)
    assert all(told.endswith(".") for route in ROUTES.values() for _, told in route.steps)


def test_neighbors_and_all_the_way() -> None:
    w = ConceptMap(REVIEW, concept="roofline")
    assert w.result.before == ("gpu", "balance", "levels")
    assert w.result.after == ("fusion",)
    w.set(reach="whole")
    assert w.result.before == ("why", "hardware", "gpu", "memory", "balance", "levels")
    assert w.result.after == ("fusion", "profiling")
    w.set(concept="why")
    assert w.result.before == ()
    assert len(w.result.after) == len(CONCEPTS) - 1
    assert len(w.result.arrows) == len(ARROWS)


@pytest.mark.parametrize("reach", ["next", "whole"])
def test_everything_shown_agrees_for_every_concept(reach: str) -> None:
    w = ConceptMap(REVIEW, reach=reach)
    for key, concept in CONCEPTS.items():
        w.set(concept=key)
        result = w.result
        assert result.focus is concept
        assert concept.says in w.sentence(result)
        for other in (*result.before, *result.after):
            assert CONCEPTS[other].name in w.sentence(result)
        cards = {word: value for word, value, _ in w.cards(result)}
        assert cards["Rests on"] == str(len(result.before))
        assert cards["Leads to"] == str(len(result.after))
        _, rows = w.table(result)
        assert len(rows) == len(ARROWS)
        lit = {(a, b) for (a, b, _), row in zip(ARROWS, rows, strict=True) if row[3] == "yes"}
        assert lit == set(result.arrows)
        # What an arrow says is told while it is highlighted.
        assert all(row[2] == (says if (a, b) in lit else "")
                   for (a, b, says), row in zip(ARROWS, rows, strict=True))  # fmt: skip
        drawn = _drawn(w)
        assert len(drawn["arrows before"].paths) + len(drawn["arrows after"].paths) == len(lit)
        assert _tones(w, "orange") == set(result.before)
        assert _tones(w, "blue") == set(result.after)
        assert _tones(w, "green") == {key}


@pytest.mark.parametrize("path", ROUTES)
def test_everything_shown_agrees_for_every_step(path: str) -> None:
    w = ConceptMap(REVIEW, show="path", path=path)
    route = ROUTES[path]
    assert w.result.focus is None
    assert all(told in w.sentence(w.result) for _, told in route.steps)
    for k, (key, told) in enumerate(route.steps, 1):
        w.set(step=str(k))
        result = w.result
        assert result.focus is CONCEPTS[key]
        assert told in w.sentence(result)
        assert {a: b for a, b, _ in w.cards(result)}["Step"] == f"{k} of {len(route.steps)}"
        assert _tones(w, "green") == {key}
        assert _tones(w, "purple") == {step for step, _ in route.steps} - {key}
        assert w.html(result).count("<li") == len(route.steps)
        assert w.html(result).count('aria-current="step"') == 1
        _, rows = w.table(result)
        assert [row[3] for row in rows].count("path") == len(route.steps) - 1
        words = _drawn(w)["names"]
        assert isinstance(words, Words)
        assert any(str(k) in text for text in words.text if text.startswith("Step"))
    with pytest.raises(ValueError, match="Step is '9'"):
        w.set(step="9")
    assert w.step == str(len(route.steps))


def test_a_new_path_starts_from_the_whole_of_it() -> None:
    w = ConceptMap(REVIEW, show="path", path="measurement", step="5")
    w.set(path="hardware")  # which has four steps
    assert w.step == "all"
    w.set(step="4")
    w.path = "abstraction"
    assert w.step == "all"


def test_only_the_controls_of_the_view_are_shown() -> None:
    assert ConceptMap(REVIEW).hidden() == {"path", "step"}
    assert ConceptMap(REVIEW, show="path").hidden() == {"concept", "reach"}


def test_without_a_graph_it_shows_an_example() -> None:
    w = ConceptMap()
    assert w.graph is EXAMPLE
    assert w.title == "Concept map"
    assert w.code == "ConceptMap()"
    w.set(concept="fusion")
    assert w.code == "ConceptMap(concept='fusion')"


def test_a_graph_of_somebody_else() -> None:
    """Nothing of ours is needed: another lab has other concepts, places and paths."""
    graph = ConceptGraph(
        "Caches",
        concepts=(
            Concept("line", "Cache line", "Day 1", "64 bytes.", ("Cache line",), 0, 0),
            Concept("tile", "Tile", "", "Fits the cache.", ("Tile",), 0, 1),
        ),
        arrows=(("line", "tile", "Tiles are made of lines."),),
        routes=(Route("up", "Bottom up", (("line", "First."), ("tile", "Then."))),),
        first="tile",
    )
    w = ConceptMap(graph)
    assert (w.title, w.concept, w.path, w.result.before) == ("Caches", "tile", "up", ("line",))
    assert w.code.startswith("ConceptMap(graph, ")
    with pytest.raises(ValueError, match="Concept is 'roofline'; it must be one of: line, tile"):
        ConceptMap(graph, concept="roofline")
    w.set(show="path", step="2")
    assert w.result.focus is graph.by_key["tile"]
    w.reset()
    assert w.inputs == ConceptMap(graph).inputs
    assert "Cache line" in str(w.figure())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"first": "magic"}, "first names the concept 'magic'; there are: hardware"),
        ({"arrows": (("hardware", "magic", "?"),)}, "an arrow names the concept 'magic'"),
        ({"routes": (Route("r", "R", (("magic", "?"),)),)}, "the route r names the concept"),
        ({"routes": ()}, "has no routes; give at least one"),
    ],
)
def test_a_graph_that_does_not_hold_together(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replace(EXAMPLE, **changed)


def _drawn(w: ConceptMap) -> dict:  # type: ignore[type-arg]
    (scene,) = w.scenes(w.result)
    return {mark.name: mark for mark in scene.marks}


def _tones(w: ConceptMap, tone: str) -> set[str]:
    blocks = _drawn(w)["concepts"].blocks
    return {key for key, block in zip(w.graph.by_key, blocks, strict=True) if block[4] == tone}


def test_a_map_has_no_math_and_its_own_legend() -> None:
    w = ConceptMap(REVIEW)
    assert w.explanations == {}
    assert [words for words, _, _ in w.scenes(w.result)[0].legend] == [
        "This concept", "Rests on", "Leads to"
    ]  # fmt: skip
    w.set(show="path", step="2")
    (scene,) = w.scenes(w.result)
    assert [words for words, _, _ in scene.legend] == ["On the path", "This step"]
    # Each sign has a color of its own.
    assert len({tone for _, tone, _ in scene.legend}) == 2
