"""What a measurement knows of its computer: limits, caches, and names without a host."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mlsys_widgets.measured.cpu import machine


def test_a_container_is_taken_at_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = tmp_path / "fs/cgroup"
    group.mkdir(parents=True)
    (group / "cpu.max").write_text("50000 100000\n", encoding="utf-8")
    (group / "memory.max").write_text(f"{1 << 30}\n", encoding="utf-8")
    (group / "memory.current").write_text(f"{1 << 29}\n", encoding="utf-8")
    monkeypatch.setattr(machine, "_SYSTEM", tmp_path)
    assert machine.cores() == 1
    assert machine.memory() == 1 << 30
    assert machine.free_memory() <= 1 << 29
    assert machine.last_cache() == (machine.ASSUMED_CACHE, False)
    (group / "cpu.max").write_text("max 100000\n", encoding="utf-8")
    (group / "memory.max").write_text("max\n", encoding="utf-8")
    assert machine.cores() >= 1
    # A student of a hub has a group of their own, below that of the machine.
    (own := group / "mlsys-1" / "ada").mkdir(parents=True)
    (own / "memory.max").write_text(f"{1 << 28}\n", encoding="utf-8")
    (tmp_path / "self").mkdir()
    (tmp_path / "self/cgroup").write_text("4:cpu:/\n0::/mlsys-1/ada\n", encoding="utf-8")
    monkeypatch.setattr(machine, "_PROCESSES", tmp_path)
    assert machine.memory() == 1 << 28


def test_the_largest_cache_of_the_highest_level_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, (level, kind, size) in enumerate(
        [
            (1, "Data", "48K"),
            (1, "Instruction", "900M"),
            (2, "Unified", "2M"),
            (3, "Unified", "32M"),
        ]
    ):
        index = tmp_path / f"devices/system/cpu/cpu0/cache/index{number}"
        index.mkdir(parents=True)
        for name, value in (("level", level), ("type", kind), ("size", size)):
            (index / name).write_text(f"{value}\n", encoding="utf-8")
    monkeypatch.setattr(machine, "_SYSTEM", tmp_path)
    assert machine.last_cache() == (32 << 20, True)


def test_a_computer_is_described_without_its_host_name(monkeypatch: pytest.MonkeyPatch) -> None:
    found = machine.describe()
    assert found["key"] == f"cpu-{machine.cores()}core"
    assert found["memory_bytes"] > 0
    assert os.uname().nodename not in repr(found)
    assert machine.describe("mine")["key"] == "mine"


def test_a_system_without_proc_still_has_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_PROCESSES", tmp_path)
    assert machine.name()
    assert machine.memory() > 0
    (tmp_path / "cpuinfo").write_text("model name\t: A fine processor\n", encoding="utf-8")
    assert machine.name() == "A fine processor"
