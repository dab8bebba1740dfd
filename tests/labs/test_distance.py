"""Distances between a prediction and a value, in the terms of the question."""

from __future__ import annotations

import math

import pytest

from mlsys_widgets.labs.distance import distance_in_words, how_close


@pytest.mark.parametrize(
    ("predicted", "actual", "kind", "unit", "words"),
    [
        (0.34, 0.33, "points", "%", "1 percentage point above"),
        (0.33, 0.33, "points", "%", "the same, to the digits shown, as"),
        (100, 1000, "orders", "", "1 order of magnitude below"),
        (3.0, 1.0, "times", "", "3× above"),
        (0.0, 5.0, "times", "s", "5 s below"),
        (5.0, 5.0, "difference", "s", "the same, to the digits shown, as"),
        (5.0, math.inf, "orders", "", "below by more than any number"),
    ],
)
def test_distances(predicted, actual, kind, unit, words):
    assert distance_in_words(predicted, actual, kind, unit) == words


def test_nothing_is_close_to_never():
    assert how_close(1e9, math.inf, "times") == "low"
    assert how_close(0, 5, "times") == "low"
