"""Elasticities against formulas whose elasticities are known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph


def test_powers_have_their_exponent_as_elasticity() -> None:
    found = ph.sensitivity(ph.projection(4, 512, 4096), "flops").elasticities
    assert found["width"] == pytest.approx(2, rel=1e-6)
    assert found["batch"] == pytest.approx(1, rel=1e-6)
    assert found["bytes_per_element"] == pytest.approx(0, abs=1e-9)


@given(st.floats(1, 1e4), st.floats(1e-7, 1e-3), st.floats(1e-7, 1e-3))
def test_shares_of_a_sum_are_its_elasticities(
    kernels: float, compute: float, launch: float
) -> None:
    done = ph.forward_pass(kernels, compute, launch)
    found = ph.sensitivity(done, "total").elasticities
    assert found["compute_per_kernel"] == pytest.approx(done.compute / done.total, abs=1e-6)
    assert found["launch_overhead"] == pytest.approx(done.dispatch / done.total, abs=1e-6)


def test_only_the_lower_roof_matters() -> None:
    h100 = ph.devices["h100-sxm"]
    low, high = (
        ph.sensitivity(ph.roofline(i, h100.peak(), h100.bandwidth), "attainable").elasticities
        for i in (1, 10_000)
    )
    assert low["bandwidth"] == pytest.approx(1)
    assert low["peak"] == pytest.approx(0)
    assert high["peak"] == pytest.approx(1)
    assert high["bandwidth"] == pytest.approx(0)


def test_what_to_improve_first() -> None:
    kws = ph.sensitivity(ph.run("kws", "a100-sxm", launch="async"), "total")
    assert abs(kws.elasticities["launch_overhead"]) > abs(kws.elasticities["compute_per_kernel"])
    once = ph.sensitivity(ph.iron_law(1e8, 4e9, "h100-sxm"), "total")
    assert once.most in ("data", "bandwidth")
    assert once.sentence() == (
        "Time of the batch, one term after the other depends most on data moved: "
        "if that grows by 1%, the result grows by 0.88%."
    )


def test_the_end_of_a_domain_is_approached_from_inside() -> None:
    # An efficiency of 100 % cannot grow; its effect is still that of a divisor.
    done = ph.iron_law(1e3, 4e12, "h100-sxm", efficiency=1.0)
    found = ph.sensitivity(done, "compute_time").elasticities["efficiency"]
    assert found == pytest.approx(-1, rel=1e-3)


def test_what_is_zero_has_no_effect() -> None:
    found = ph.sensitivity(ph.forward_pass(10, 1e-6, 1e-6), "total").elasticities
    assert found["memory_time"] == 0


@pytest.mark.parametrize(
    ("result", "output", "sentence"),
    [
        (ph.deployment(30, 100, 100, per_day=1, days=1), "break_even", "break_even is inf"),
        (ph.capacity(1e8, "cortex-m7"), "out_of_memory", "yes or no"),
        (ph.gemm([1, 2], 1, 1), "flops", "one case"),  # type: ignore[arg-type]
        (ph.gemm(1, 1, 1), "beauty", "output is 'beauty'"),
    ],
)
def test_refused(result: ph.Result, output: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ph.sensitivity(result, output)
