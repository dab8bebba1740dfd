"""The map of day 14: its arrows, what rests on what, and three ways through it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.drawing.scene import Blocks, Strokes, Words
from mlsys_widgets.instruments import concept_map
from mlsys_widgets.instruments.concept_map import ConceptMap
from mlsys_widgets.instruments.concepts import ARROWS, CONCEPTS, ROUTES

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
# Day 14, the abstraction path beyond the map: graph capture, IR, optimisations, kernel code.
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


def test_neighbours_and_all_the_way() -> None:
    w = ConceptMap(concept="roofline")
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
    w = ConceptMap(reach=reach)
    marks = w.marks
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
        drawn = _drawn(w)
        assert len(drawn["arrows before"].paths) + len(drawn["arrows after"].paths) == len(lit)
        assert _tones(w, "orange") == set(result.before)
        assert _tones(w, "blue") == set(result.after)
        assert _tones(w, "green") == {key}
    assert all(w.marks[name] is mark for name, mark in marks.items())


@pytest.mark.parametrize("path", ROUTES)
def test_everything_shown_agrees_for_every_step(path: str) -> None:
    w = ConceptMap(show="path", path=path)
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
    w = ConceptMap(show="path", path="measurement", step="5")
    w.set(path="hardware")  # which has four steps
    assert w.step == "all"
    w.set(step="4")
    w.path = "abstraction"
    assert w.step == "all"


def test_only_the_controls_of_the_view_are_shown() -> None:
    assert ConceptMap().hidden() == {"path", "step"}
    assert ConceptMap(show="path").hidden() == {"concept", "reach"}


@given(st.lists(st.sampled_from([
    {"show": "path"}, {"show": "concept"}, {"reach": "whole"}, {"reach": "next"},
    *({"concept": key} for key in CONCEPTS), *({"path": key} for key in ROUTES),
    *({"step": str(k)} for k in range(1, 5)), {"step": "all"},
]), max_size=12))  # fmt: skip
def test_random_walks_keep_marks_and_numbers(moves: list[dict[str, str]]) -> None:
    w = ConceptMap()
    names = set(_drawn(w))
    for move in moves:
        w.set(**move)
        drawn = _drawn(w)
        assert set(drawn) == names
        for mark in drawn.values():
            if isinstance(mark, Strokes):
                numbers = [n for path in mark.paths for place in path for n in place]
            elif isinstance(mark, Blocks):
                numbers = [n for block in mark.blocks for n in block[:4]]
            else:
                numbers = [*mark.x, *mark.y]
            assert all(math.isfinite(number) for number in numbers)
    twin = ConceptMap(**w.inputs)
    assert twin.result == w.result


def test_an_unknown_concept_is_refused_and_nothing_lost() -> None:
    w = ConceptMap(concept="fusion")
    before = w.inputs
    with pytest.raises(ValueError, match="Concept is 'magic'; it must be one of: why"):
        w.set(concept="magic", reach="whole")
    assert w.inputs == before


def _drawn(w: ConceptMap) -> dict:  # type: ignore[type-arg]
    (scene,) = w.scenes(w.result)
    return {mark.name: mark for mark in scene.marks}


def _tones(w: ConceptMap, tone: str) -> set[str]:
    blocks = _drawn(w)["concepts"].blocks
    return {
        key for key, block in zip(concept_map.CONCEPTS, blocks, strict=True) if block[4] == tone
    }
