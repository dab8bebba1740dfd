"""Nearer is faster and smaller."""

from __future__ import annotations

from itertools import pairwise

from mlsys_widgets import physics as ph


def test_each_level_is_slower_than_the_one_before() -> None:
    levels = list(ph.memory_hierarchy.values())
    assert [level.key for level in levels] == ["registers", "sram", "l2", "hbm", "host"]
    assert all(near.bandwidth > far.bandwidth for near, far in pairwise(levels))
    # From L2 on each level is larger as well; registers outgrew the caches next to them.
    assert all(near.capacity < far.capacity for near, far in pairwise(levels[2:]))


def test_the_level_of_the_device_is_the_device() -> None:
    hbm, a100 = ph.memory_hierarchy["hbm"], ph.devices["a100-sxm"]
    assert (hbm.bandwidth, hbm.capacity) == (a100.bandwidth, a100.memory)


def test_pcie_gap_of_the_course() -> None:
    # Lab 07, traceability table: the gap between HBM and PCIe exceeds 60×.
    assert ph.transfer(1e9, "host").time / ph.transfer(1e9, "hbm").time > 60
