"""The attainable rate lies under both roofs, and the regime is what the plot shows."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from tests.physics.strategies import positive

peaks_on_record = [
    (device, key.removesuffix(" sparse"), key.endswith("sparse"))
    for device in ph.devices.values()
    for key in device.peaks
]


@given(positive(1e-6, 1e6), positive(1e6, 1e18), positive(1e3, 1e15))
def test_attainable_is_under_both_roofs_and_touches_one(
    intensity: float, peak: float, bandwidth: float
) -> None:
    roof = ph.roofline(intensity, peak, bandwidth)
    assert 0 < roof.attainable <= peak
    assert roof.attainable <= bandwidth * intensity
    assert roof.attainable in (peak, bandwidth * intensity)
    assert 0 < roof.mfu <= 1


@given(st.sampled_from(peaks_on_record), positive(1e-6, 1e6))
def test_the_regime_is_what_the_plot_shows(
    case: tuple[ph.Device, str, bool], intensity: float
) -> None:
    device, precision, sparse = case
    peak = device.peak(precision, sparse)
    roof = ph.roofline(intensity, peak, device.bandwidth)
    assert roof.ridge == device.ridge(precision, sparse)
    # Left of the corner the sloped roof is the lower one, right of it the flat one.
    on_the_slope = device.bandwidth * intensity < peak
    near_the_corner = math.isclose(intensity, roof.ridge, rel_tol=1e-9)
    assert near_the_corner or (roof.regime == "memory-bound") == on_the_slope
    assert near_the_corner or (roof.mfu < 1) == on_the_slope
