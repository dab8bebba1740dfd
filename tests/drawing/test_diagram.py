"""Boxes that do not collide, lines that cross none of them, words that fit."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

from mlsys_widgets.drawing.diagram import Box, Diagram
from mlsys_widgets.drawing.scene import BARE_MARGIN
from mlsys_widgets.instruments import fusion_decision
from mlsys_widgets.instruments.concept_map import map_of
from mlsys_widgets.instruments.concepts import EXAMPLE, ConceptGraph
from mlsys_widgets.labs import load

#: What a notebook on a screen of 600 px leaves for a plot, less what bqplot keeps for itself.
NARROW = 450 - 2 * BARE_MARGIN - 12
#: A letter of the widest usual font at the size of the words.
LETTER = 7.4

REVIEW = load(Path(__file__).parents[2] / "assignments" / "lab_review_foundations")


def concept_map_of(graph: ConceptGraph) -> tuple[Diagram, dict[tuple[str, str], Any]]:
    drawn = map_of(graph)
    return drawn, {(a, b): drawn.arrow(a, b) for a, b, _ in graph.arrows}


DIAGRAMS = {
    "concept map": concept_map_of(REVIEW.materials["concepts"]),
    "example of a concept map": concept_map_of(EXAMPLE),
    "decision tree": (fusion_decision._TREE, fusion_decision._EDGES),
}
every_diagram = pytest.mark.parametrize(("diagram", "lines"), DIAGRAMS.values(), ids=DIAGRAMS)


@every_diagram
def test_no_two_boxes_touch(diagram: Diagram, lines: object) -> None:
    edges = {key: diagram._edges(key) for key in diagram.boxes}
    for (one, a), (two, b) in combinations(edges.items(), 2):
        apart = a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]
        assert apart, (one, two)


@every_diagram
def test_boxes_lie_on_the_sheet(diagram: Diagram, lines: object) -> None:
    for key in diagram.boxes:
        left, bottom, right, top = diagram._edges(key)
        assert 0 <= left < right <= 100, key
        assert 0 <= bottom < top <= diagram._top, key


@every_diagram
def test_lines_cross_no_box(
    diagram: Diagram, lines: dict[tuple[str, str], tuple[tuple[float, float], ...]]
) -> None:
    for ends, path in lines.items():
        for (x1, y1), (x2, y2) in pairwise(path):
            assert x1 == x2 or y1 == y2, ends  # straight down or straight across
            for key in set(diagram.boxes) - set(ends):
                left, bottom, right, top = diagram._edges(key)
                outside = max(x1, x2) < left or min(x1, x2) > right
                outside |= max(y1, y2) < bottom or min(y1, y2) > top
                assert outside, (ends, key)


@every_diagram
def test_lines_start_at_one_box_and_end_above_another(
    diagram: Diagram, lines: dict[tuple[str, str], tuple[tuple[float, float], ...]]
) -> None:
    for (start, end), path in lines.items():
        left, bottom, right, top = diagram._edges(start)
        (x, y), (tip_x, tip_y) = path[0], path[-1]
        assert left <= x <= right
        assert bottom <= y <= top
        assert tip_x == diagram.boxes[end].x
        assert 0 < tip_y - diagram._edges(end)[3] < 10
        assert path[-2][1] > tip_y  # the head points down


@every_diagram
def test_words_fit_their_boxes_on_a_narrow_screen(diagram: Diagram, lines: object) -> None:
    for key, box in diagram.boxes.items():
        assert box.lines, key
        for line in box.lines:
            assert len(line) * LETTER <= box.width / 100 * NARROW + 4, (key, line)
        assert len(box.lines) * 16 <= box.height + 2, key


def test_a_line_goes_straight_down_where_it_can() -> None:
    boxes = {
        "wide": Box(50, 20, 60, 20),
        "under": Box(60, 80, 10, 20),
        "beside": Box(95, 80, 10, 20),
    }
    diagram = Diagram(120, boxes)
    assert len(diagram.arrow("wide", "under")) == 2
    assert len(diagram.arrow("wide", "beside")) == 4


def test_captions_are_centred_lines() -> None:
    diagram = Diagram(100, {"one": Box(50, 40, 20, 40, ("a", "b"))})
    words = diagram.captions("names")
    assert (words.x, words.text) == ((50, 50), ("a", "b"))
    assert words.y[0] - words.y[1] == 16
    replaced = diagram.captions("names", {"one": ("c",)})
    assert replaced.text == ("c",)
