"""Distances between a prediction and a value, in the terms of the question."""

from __future__ import annotations

import math

import pytest

from mlsys_widgets.wording.distance import distance_in_words, how_close, verdict


@pytest.mark.parametrize(
    ("predicted", "actual", "kind", "unit", "words"),
    [
        (0.34, 0.33, "points", "%", "1 percentage point above"),
        (0.33, 0.33, "points", "%", "within rounding of"),
        (100, 1000, "orders", "", "1 order of magnitude below"),
        (3.0, 1.0, "times", "", "a factor of 3 above"),
        (0.0, 5.0, "times", "s", "5 s below"),
        (5.0, 5.0, "difference", "s", "within rounding of"),
        (5.0, math.inf, "orders", "", "below by more than any number"),
    ],
)
def test_distances(predicted, actual, kind, unit, words):
    assert distance_in_words(predicted, actual, kind, unit) == words


def test_nothing_is_close_to_never():
    assert how_close(1e9, math.inf, "times") == "low"
    assert how_close(0, 5, "times") == "low"


@pytest.mark.parametrize(
    ("predicted", "actual", "kind", "unit", "words"),
    [
        (0.93, 0.33, "points", "%", "Far off: 60 percentage points too high."),
        (0.34, 0.33, "points", "%", "Right."),
        (1e9, 1e6, "orders", "", "Far off: 3 orders of magnitude too high."),
        (1e5, 1e6, "orders", "", "Close, but 1 order of magnitude too low."),
        (12, 10, "difference", "s", "Close, but 2 s too high."),
        (0, 5, "times", "s", "No: 5 s too low."),
        (3, 0, "times", "s", "Far off: 3 s too high."),
        (0, 0, "times", "s", "Right."),
        (1e9, math.inf, "times", "images", "Far off: no number is large enough."),
    ],
)
def test_verdicts(predicted, actual, kind, unit, words):
    assert verdict(predicted, actual, kind, unit) == words


@pytest.mark.parametrize("kind", ["points", "times", "orders", "difference"])
def test_a_verdict_is_right_exactly_where_a_number_is_close(kind):
    for predicted in (0.01, 0.2, 0.3, 0.32, 0.35, 0.4, 0.9, 5.0):
        right = verdict(predicted, 0.33, kind) == "Right."
        assert right == (how_close(predicted, 0.33, kind) == "close")
