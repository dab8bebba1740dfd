"""The stops of the compilation spectrum: the course's ratings, and what was tried."""

from __future__ import annotations

import pytest

from mlsys_widgets.instruments.compilation_stops import (
    CONSTRUCTS,
    COURSE,
    ESTIMATE,
    STOPS,
)


def test_the_ratings_of_day_14() -> None:
    # Day 14, the compilation spectrum: flexibility 5, 3, 2 and 4 stars, optimization 0, 2, 2 and
    # 5; the course gives FX none.
    rated = [stop for stop in STOPS.values() if stop.rated_by == COURSE]
    assert [stop.name for stop in rated] == ["eager", "jit.trace", "jit.script", "torch.compile"]
    assert [stop.flexibility for stop in rated] == [5, 3, 2, 4]
    assert [stop.optimization for stop in rated] == [0, 2, 2, 5]
    assert STOPS["fx"].rated_by == ESTIMATE


@pytest.mark.parametrize(
    ("construct", "fates"),
    [
        # eager, jit.trace, jit.script, FX, torch.compile: tried with PyTorch 2.11, each captured
        # with one input and run on a second of another length and sign. A graph break is a
        # program that runs but is refused with fullgraph=True or counted as a break by Dynamo;
        # "again" one whose second input made a second whole graph.
        ("branch", "works wrong works error break"),
        ("loop", "works wrong works error again"),
        ("print", "works wrong works wrong break"),
        ("list", "works wrong error wrong works"),
        ("sizes", "works works works works again"),
        ("mask", "works works works works break"),
        ("custom", "works works works works error"),
        ("library", "works wrong error error break"),
    ],
)
def test_what_was_tried(construct: str, fates: str) -> None:
    assert [CONSTRUCTS[construct].at(stop)[0].key for stop in STOPS] == fates.split()


def test_every_fate_has_a_sentence() -> None:
    for construct in CONSTRUCTS.values():
        assert set(construct.fates) == set(STOPS) - {"eager"}
        for stop in STOPS:
            assert construct.at(stop)[1].endswith(".")
        # It stands inside the sentence of a hint.
        assert construct.instead[0].islower()
        assert not construct.instead.endswith(".")
