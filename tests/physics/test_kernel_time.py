"""The time of one kernel: the textbook form, and what real hardware adds to it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from tests.physics.strategies import positive

PEAK, BANDWIDTH = 989e12, 4.8e12
efficiencies = st.floats(0.01, 1)


@given(positive(1, 1e15), positive(1, 1e12))
def test_without_floor_and_losses_it_is_the_textbook(flops: float, size: float) -> None:
    plain = ph.kernel_time(flops, size, PEAK, BANDWIDTH)
    assert plain.time == plain.textbook
    assert plain.roof_share == 1
    # The rate is what the roofline allows at this intensity.
    roof = ph.roofline(flops / size, PEAK, BANDWIDTH)
    assert math.isclose(plain.attained, roof.attainable, rel_tol=1e-9)


@given(positive(1, 1e15), positive(1, 1e12), positive(1e-7, 1e-3), efficiencies, efficiencies)
def test_real_hardware_is_never_faster(
    flops: float, size: float, floor: float, compute: float, bandwidth: float
) -> None:
    real = ph.kernel_time(
        flops,
        size,
        PEAK,
        BANDWIDTH,
        floor=floor,
        kernels=3,
        compute_efficiency=compute,
        bandwidth_efficiency=bandwidth,
    )
    assert real.time >= real.textbook
    assert real.time >= 3 * floor
    assert 0 < real.roof_share <= 1


def test_a_call_without_arithmetic_takes_its_traffic() -> None:
    copy = ph.kernel_time(0, 4.8e6, PEAK, BANDWIDTH)
    assert (copy.time, copy.attained) == (pytest.approx(1e-6), 0)


@given(st.integers(1, 10_000), st.integers(1, 10_000), st.integers(1, 256))
def test_waves_cover_the_result(m: int, n: int, units: int) -> None:
    found = ph.waves(m, n, units)
    assert found.tiles >= m * n / 128**2
    assert (found.waves - 1) * units < found.tiles <= found.waves * units
    assert 0 < found.efficiency <= 1


def test_one_tile_too_many_costs_a_whole_wave() -> None:
    full, over = ph.waves(128 * 132, 128, 132), ph.waves(128 * 132 + 1, 128, 132)
    assert (full.waves, over.waves) == (1, 2)
    assert full.efficiency == 1
    assert over.efficiency == pytest.approx(0.5, abs=1e-3)
