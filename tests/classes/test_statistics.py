"""Statistics of a class: numbers or `None`, never NaN."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.classes import statistics


@given(st.lists(st.floats(-1e6, 1e6), max_size=30), st.data())
def test_a_correlation_is_one_or_nothing(x: list[float], data: st.DataObject) -> None:
    y = data.draw(st.lists(st.floats(-1e6, 1e6), min_size=len(x), max_size=len(x)))
    found = statistics.correlation(x, y)
    assert found is None or -1 <= found <= 1


def test_no_correlation_of_what_is_all_the_same() -> None:
    same = [0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2, 0.3]
    assert statistics.correlation(same, [1, 2, 3, 4, 5]) is None
    assert statistics.correlation([1, 2], [1, 2]) is None


def test_discrimination_leaves_out_what_is_blank() -> None:
    """A class whose value is computed by hand.

    Question ``q`` beside ``a`` for 10 points and ``b`` for 30; what is missing is blank. What the
    first five earned of the rest is 0.8 (``b`` is blank), (3 + 21) / 40 = 0.6, (1 + 15) / 40 = 0.4,
    0.2 (``a`` is blank) and 0.5. Both means are 0.5, the products of the distances add up to
    0.15 + 0.05 + 0.05 + 0.15 = 0.4, their squares to 1 and 0.2: r = 0.4 / sqrt(1 * 0.2).
    """
    answered = [
        {"q": (1.0, 5.0), "a": (0.8, 10.0)},
        {"q": (1.0, 5.0), "a": (0.3, 10.0), "b": (0.7, 30.0)},
        {"q": (0.0, 5.0), "a": (0.1, 10.0), "b": (0.5, 30.0)},
        {"q": (0.0, 5.0), "b": (0.2, 30.0)},
        {"q": (0.5, 5.0), "a": (0.5, 10.0), "b": (0.5, 30.0)},
        {"a": (1.0, 10.0), "b": (1.0, 30.0)},  # q is blank
        {"q": (0.0, 5.0)},  # all others are blank
    ]
    assert statistics.discrimination("q", answered) == pytest.approx(0.4 / 0.2**0.5)
    assert statistics.discrimination("q", answered[:4]) is None


@given(st.lists(st.floats(0, 120)))
def test_a_histogram_leaves_nobody_out(values: list[float]) -> None:
    assert sum(statistics.histogram(values, [10.0 * k for k in range(11)])) == len(values)
