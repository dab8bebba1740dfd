"""Statistics of a class: numbers or `None`, never NaN."""

from __future__ import annotations

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


@given(st.lists(st.floats(0, 120)))
def test_a_histogram_leaves_nobody_out(values: list[float]) -> None:
    assert sum(statistics.histogram(values, [10.0 * k for k in range(11)])) == len(values)
