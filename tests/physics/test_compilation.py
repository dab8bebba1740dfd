"""When compilation pays off: never without a gain, later the more it costs."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

from mlsys_widgets import physics as ph
from tests.physics.strategies import positive, rates


@given(positive(1e-3, 1e5), rates, positive(1.0001, 100), positive(1.0001, 10))
def test_break_even_is_monotone(
    compile_time: float, eager: float, gain: float, more: float
) -> None:
    compiled = eager * gain
    base = ph.break_even(compile_time, eager, compiled)
    assert 0 < base < math.inf
    assert ph.break_even(compile_time * more, eager, compiled) > base
    assert ph.break_even(compile_time, eager, compiled * more) < base
    faster_eager = eager * min(more, math.sqrt(gain))
    assert ph.break_even(compile_time, faster_eager, compiled) > base


@given(positive(1e-3, 1e5), rates, positive(1e-3, 1))
def test_no_gain_never_pays(compile_time: float, eager: float, loss: float) -> None:
    assert ph.break_even(compile_time, eager, eager * loss) == math.inf
    done = ph.deployment(compile_time, eager, eager * loss, per_day=1e9, days=365)
    assert done.days_to_break_even == math.inf
    assert done.roi_positive is False
    assert done.net_saved < 0


@given(positive(1e-3, 1e5), rates, positive(1.001, 10), positive(1, 1e9), positive(1e-3, 1e4))
def test_a_deployment_agrees_with_itself(
    compile_time: float, eager: float, gain: float, per_day: float, days: float
) -> None:
    done = ph.deployment(compile_time, eager, eager * gain, per_day=per_day, days=days)
    if not math.isclose(done.inferences, done.break_even, rel_tol=1e-9):
        assert done.roi_positive == (done.net_saved > 0) == (done.days_to_break_even < days)
    (start, nothing), (end, saved) = done.curve
    assert (start, nothing, end) == (0, 0, days)
    # The straight line crosses the compile cost on the day of break-even.
    assert math.isclose(saved / end * done.days_to_break_even, compile_time, rel_tol=1e-9)


def test_a_gain_is_another_way_to_name_the_compiled_rate() -> None:
    by_rate = ph.deployment(30, 1000, 1480, per_day=1e6, days=1)
    by_gain = ph.deployment(30, 1000, gain=0.48, per_day=1e6, days=1)
    assert by_gain == by_rate
    with pytest.raises(ValueError, match="but not both"):
        ph.deployment(30, 1000, 1480, gain=0.48, per_day=1e6, days=1)


def test_what_costs_nothing_pays_off_at_once() -> None:
    free = ph.deployment(0, 1450, 2150, per_day=1e6, days=1)
    assert (free.break_even, free.days_to_break_even, free.roi_positive) == (0, 0, True)
