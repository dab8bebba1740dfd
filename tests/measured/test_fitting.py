"""Fits give back the parameters that made the times."""

from __future__ import annotations

import pytest

from mlsys_widgets import measured
from mlsys_widgets import physics as ph
from mlsys_widgets.measured.fitting import Ceiling, Fit, fit_kernel
from mlsys_widgets.measured.queries import cases
from mlsys_widgets.measured.trial import hold_trial

pytest.importorskip("scipy")


@pytest.fixture(scope="module")
def h200():
    return hold_trial(measured.load("h200-sxm"))


def test_a_known_machine_is_found_again(h200):
    """Times made by the model itself, from parameters we chose, give these parameters back."""
    ceiling = Ceiling(peak=989e12, bandwidth=4.8e12, units=132)
    made = []
    for case in cases(h200.document, kind="gemm", precision="fp16", variant="graph"):
        seconds = ph.kernel_time(
            case.flops,
            case.bytes,
            ceiling.peak,
            ceiling.bandwidth,
            floor=4e-6,
            compute_efficiency=0.5,
            bandwidth_efficiency=0.25,
        ).time
        spread = type(case.seconds)(float(seconds), float(seconds), float(seconds), 9)
        made.append(type(case)(**{**vars(case), "seconds": spread}))
    found = fit_kernel(made, ceiling, waves=True)
    assert found.floor == pytest.approx(4e-6, rel=0.02)
    assert found.compute_efficiency == pytest.approx(0.5, rel=0.02)
    assert found.bandwidth_efficiency == pytest.approx(0.25, rel=0.05)
    assert not found.waves


def test_a_fit_in_words_leaves_out_what_is_whole() -> None:
    assert str(Fit(4e-6, 1.0, 1.0, waves=False)) == "floor 4 µs"
    assert str(Fit(4e-6, 0.5, 0.25, waves=True)) == (
        "floor 4 µs, 25% of the bandwidth, 50% of the peak, waves of tiles"
    )


def test_a_fraction_that_no_case_depends_on_stays_at_one(h200) -> None:
    copies = cases(h200.document, kind="elementwise", precision="fp16", variant="graph")
    found = fit_kernel(copies, Ceiling(peak=989e12, bandwidth=4.8e12, units=132))
    assert found.compute_efficiency == 1.0
    assert found.bandwidth_efficiency < 1.0


def test_one_unit_has_no_waves(h200) -> None:
    products = cases(h200.document, kind="gemm", precision="fp16", variant="graph")
    found = fit_kernel(products, Ceiling(peak=989e12, bandwidth=4.8e12, units=1), waves=True)
    assert not found.waves
