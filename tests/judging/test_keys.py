"""How close is close enough, and which keys there cannot be."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.judging import Belief, NumberKey, judge


@given(st.floats(min_value=-1e12, max_value=1e12).filter(lambda v: abs(v) > 1e-9),
       st.floats(min_value=1e-6, max_value=0.2))  # fmt: skip
def test_tolerance_is_a_share_of_the_key(key, tolerance):
    known = NumberKey(key, tolerance)
    assert judge(known, key).right
    assert judge(known, key * (1 + 0.99 * tolerance)).right
    assert not judge(known, key * (1 + 1.01 * tolerance + 1e-9)).right


def test_an_absolute_tolerance_serves_whole_numbers():
    whole = NumberKey(8, 0, absolute=0.5)
    assert [judge(whole, x).right for x in (7.5, 8.5, 7.4, 8.6, 8)] == [
        True, True, False, False, True,
    ]  # fmt: skip
    assert judge(NumberKey(0, 0.02, absolute=0.1), 0.05).right


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_keys_are_finite(value):
    with pytest.raises(ValueError, match="it must be a finite number"):
        NumberKey(value, 0.02)


@pytest.mark.parametrize("credit", [-0.1, 1, 1.5])
def test_a_belief_never_earns_everything(credit):
    with pytest.raises(ValueError, match="the belief 'x' earns"):
        Belief("x", 1, credit=credit, says="")
