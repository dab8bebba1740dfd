"""The machines of the course: peaks, ridges and what is not on record."""

from __future__ import annotations

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.physics.devices import find_device

every_device = pytest.mark.parametrize("device", ph.devices.values(), ids=lambda d: d.key)


@every_device
def test_the_native_precision_has_a_dense_peak(device: ph.Device) -> None:
    assert device.native in device.precisions
    assert device.peak(device.native) > 0


@every_device
def test_a_sparse_peak_is_not_below_the_dense_one(device: ph.Device) -> None:
    for precision in device.precisions:
        if f"{precision} sparse" in device.peaks:
            ratio = device.peak(precision, sparse=True) / device.peak(precision)
            assert ratio == pytest.approx(2, rel=2e-3)


@every_device
def test_a_ridge_follows_from_peak_and_bandwidth(device: ph.Device) -> None:
    for precision in device.precisions:
        ridge = device.ridge(precision)
        assert ridge == device.peak(precision) / device.bandwidth
        assert "P / B" in str(ridge.derivation())


@every_device
def test_every_precision_has_its_bytes(device: ph.Device) -> None:
    assert set(device.precisions) <= set(ph.BYTES_PER_ELEMENT)


def test_integers_are_counted_as_operations() -> None:
    a100 = ph.devices["a100-sxm"]
    assert a100.peak_label("int8") == "624 TOPS int8 dense"
    units = {name: unit for name, _, unit, _ in a100.facts()}
    assert units["peak int8"] == "OP/s"
    assert units["peak fp16"] == "FLOP/s"


def test_a_device_is_found_by_key_or_taken_as_it_is() -> None:
    h100 = ph.devices["h100-sxm"]
    assert find_device("h100-sxm") is h100
    assert find_device(h100) is h100
    with pytest.raises(ph.UnknownName, match="device is 'tpu'; it must be one of: a100-sxm"):
        find_device("tpu")


def test_what_is_not_on_record_is_refused_with_a_way_out() -> None:
    npu = ph.devices["mobile-npu"]
    with pytest.raises(ValueError, match="no launch overhead on record; pass launch_overhead"):
        npu.launch()
    assert ph.run("kws", npu, launch_overhead=1e-5).total > 0
