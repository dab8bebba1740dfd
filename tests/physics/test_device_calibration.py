"""Calibrations: what ships, that every parameter has a source, and what is refused."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

from mlsys_widgets import physics as ph
from tests.physics.laws import MEASURED

DATA = json.loads(
    resources.files(ph).joinpath("calibrations").joinpath("h200-sxm.json").read_text("utf-8")
)


def with_law(name: str, **entry: Any) -> dict[str, Any]:
    """Plain data of a calibration with a single law."""
    given = {"law": "products", "cases": 4, "from": "gemm", "parameters": {}}
    return {**DATA, "laws": {name: {**given, **entry}}}


def test_what_ships_is_read_once_and_known_by_its_device() -> None:
    assert ph.calibrated_devices() == ("h200-sxm",)
    assert ph.calibration_of("h200-sxm") is ph.calibration_of(ph.devices["h200-sxm"])
    assert MEASURED.device is ph.devices["h200-sxm"]


def test_what_is_read_is_what_was_written() -> None:
    assert set(MEASURED.laws) == set(DATA["laws"])
    for name, entry in DATA["laws"].items():
        law = MEASURED.laws[name]
        assert type(law) is ph.LAWS[entry["law"]]
        assert {p: getattr(law, p) for p in entry["parameters"]} == entry["parameters"]


def test_every_parameter_has_a_value_in_its_domain_and_a_source() -> None:
    facts = list(MEASURED.facts())
    assert facts[0][:3] == ("launch", DATA["launch"], "s")
    assert len(facts) > 1 + 4 * len(MEASURED.laws)
    for name, value, unit, origin in facts:
        assert value >= 0, name
        assert unit != "%" or value <= 1, name
        assert (origin.kind, origin.source) == ("measured", DATA["source"])
    for law in MEASURED.laws.values():
        for *_, origin in law.facts():
            assert origin.note == f"from {DATA['laws'][law.key]['cases']} cases of {origin_of(law)}"


def origin_of(law: ph.Law) -> str:
    return str(DATA["laws"][law.key]["from"])


def test_no_share_is_zero_and_no_law_is_faster_than_a_ceiling() -> None:
    for law in MEASURED.laws.values():
        assert 0 < law.bandwidth_share <= 1
        assert 0 < law.compute_share <= 1
        assert 0 <= law.exposed <= 1
        assert law.floor >= 0


def test_a_law_is_looked_up_by_precision_first() -> None:
    assert MEASURED.law("products", "fp16") is MEASURED.laws["products fp16"]
    assert MEASURED.law("cache attention", "fp16") is MEASURED.laws["cache attention"]
    # Attention is judged in both halves and has one law for both.
    assert MEASURED.law("cache attention", "bf16") is MEASURED.laws["cache attention"]


def test_what_was_not_measured_is_answered_with_what_was() -> None:
    with pytest.raises(ValueError, match="H200 SXM has no measured products in fp64; it has: "):
        MEASURED.law("products", "fp64")
    with pytest.raises(ValueError, match="device is 'h1000'; it must be one of: a100-sxm"):
        ph.calibration_of("h1000")
    with pytest.raises(ValueError, match=r"no measurement is on record.*knows: h200-sxm"):
        ph.calibration_of("a100-sxm")
    with pytest.raises(ValueError, match="precision is 'fp6'"):
        MEASURED.time(ph.product(1, 8, 8), "products", "fp6")


def test_precisions_are_those_of_measured_products() -> None:
    assert set(MEASURED.precisions) == {"fp32", "tf32", "fp16", "bf16", "fp8", "int8", "int4"}


def test_a_precision_is_timed_by_the_peak_that_it_multiplies_with() -> None:
    kernel = ph.product(4096, 4096, 4096, "int4")
    timed = MEASURED.time(kernel, "weight-only products", "int4")
    assert timed.peak == MEASURED.device.peak("bf16")


def test_an_unknown_law_is_refused() -> None:
    with pytest.raises(ValueError, match="law is 'guess'; it must be one of: products, "):
        ph.read_calibration(with_law("products fp16", law="guess"))


def test_a_device_of_your_own() -> None:
    source = ph.Source("a test", "2026-11", "measured")
    mine = ph.make_device(
        "mine",
        "Mine",
        "fp16",
        {"fp16": source.fact(1e12)},
        bandwidth=source.fact(1e11),
        memory=source.fact(1e9),
        power=None,
        launch_overhead=None,
    )
    parameters = DATA["laws"]["products fp16"]["parameters"]
    read = ph.read_calibration(with_law("products fp16", parameters=parameters), mine)
    kernel = ph.product(512, 512, 512)
    assert read.precisions == ("fp16",)
    timed = read.time(kernel, "products")
    assert timed.textbook == pytest.approx(max(kernel.flops / 1e12, kernel.bytes / 1e11))
    assert timed.time > timed.textbook
