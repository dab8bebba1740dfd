"""Nearer is faster and smaller."""

from __future__ import annotations

from itertools import pairwise

from mlsys_widgets import physics as ph


def test_each_level_is_slower_than_the_one_before() -> None:
    levels = list(ph.memory_hierarchy.values())
    assert [level.key for level in levels] == ["registers", "sram", "l2", "hbm", "host"]
    assert all(near.bandwidth > far.bandwidth for near, far in pairwise(levels))


def test_each_level_is_larger_than_the_one_before() -> None:
    # PHYSICS.md, second edition: the ladder that students see is monotonic in size.
    levels = list(ph.memory_hierarchy.values())
    assert all(near.capacity < far.capacity for near, far in pairwise(levels))
    assert [level.scope for level in levels] == [
        "one thread",
        "one thread block",
        "whole GPU",
        "whole GPU",
        "whole machine",
    ]


def test_a_growing_tensor_moves_through_every_level() -> None:
    homes = [ph.nearest_level(10.0**power) for power in range(13)]
    assert list(dict.fromkeys(level.key for level in homes if level)) == list(ph.memory_hierarchy)


def test_sizes_of_one_owner_and_of_the_chip_are_told_apart() -> None:
    # CUDA programming guide, compute capability 8.0: at most 255 registers of 32 bits in a thread
    # and 163 KB of shared memory in a block. A100 whitepaper: 108 multiprocessors, each with 256 KB
    # of registers and 192 KB of shared memory and L1.
    registers, shared = ph.memory_hierarchy["registers"], ph.memory_hierarchy["sram"]
    assert (registers.capacity, registers.chip_capacity) == (1020, 27.648e6)
    assert (shared.capacity, shared.chip_capacity) == (163e3, 20.736e6)
    for level in list(ph.memory_hierarchy.values())[2:]:
        assert level.capacity == level.chip_capacity


def test_the_level_of_the_device_is_the_device() -> None:
    hbm, a100 = ph.memory_hierarchy["hbm"], ph.devices["a100-sxm"]
    assert (hbm.bandwidth, hbm.capacity) == (a100.bandwidth, a100.memory)


def test_pcie_gap_of_the_course() -> None:
    # Lab 07, traceability table: the gap between HBM and PCIe exceeds 60×.
    assert ph.transfer(1e9, "host").time / ph.transfer(1e9, "hbm").time > 60
