"""Axes with round numbers."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.drawing.scene import Axis, Scene, decades, even, from_zero, note


@given(st.floats(1e-9, 1e12))
def test_even_ticks_start_at_zero_and_reach_the_end(high: float) -> None:
    ticks = even(high)
    assert ticks[0] == 0
    assert ticks[-1] >= high * (1 - 1e-9)
    assert 4 <= len(ticks) <= 7
    steps = {round(b - a, 15) for a, b in pairwise(ticks)}
    assert max(steps) == pytest.approx(min(steps))


@given(st.integers(-9, 3), st.integers(1, 20))
def test_decades_are_few_powers_of_ten(first: int, count: int) -> None:
    ticks = decades(10.0**first, 10.0 ** (first + count))
    assert len(ticks) <= 8
    assert ticks[0] == pytest.approx(10.0**first)


@given(st.floats(1e-9, 1e3))
def test_an_axis_of_time_has_one_unit(high: float) -> None:
    axis = from_zero("Time", high, "s")
    assert axis.low == 0
    assert axis.high >= high * (1 - 1e-9)
    assert axis.label.startswith("Time (")
    assert len(axis.words) == len(axis.ticks)


def test_a_scene_without_axes_is_bare() -> None:
    bare, drawn = Axis("", 0.0, 1.0), Axis("x", 0.0, 1.0)
    assert Scene(bare, bare).bare
    assert not Scene(bare, drawn).bare
    assert not Scene(Axis("", 0.0, 1.0, ticks=(0.0,)), bare).bare


def test_a_note_may_be_absent() -> None:
    assert note("n", None).text == ()
    assert note("n", (1.0, 2.0, "here")).text == ("here",)
