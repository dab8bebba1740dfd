"""Limits of a student: the kernel enforces them, or the hub says that it cannot."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mlsys_widgets.hub.hub_state import Account, HubState
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.running.student_limits import GIB, ControlGroups, StudentLimits
from mlsys_widgets.hub.services.home_watch import HomeWatch
from tests.waiting import wait_for


@pytest.fixture
def groups() -> Iterator[ControlGroups]:
    """Real ones, of a hub of their own."""
    if os.geteuid() != 0:
        pytest.skip("control groups are root's")
    made = ControlGroups(f"mlsystest-{secrets.token_hex(3)}")
    if why := made.why_not():
        pytest.skip(f"this machine lets nobody make control groups ({why})")
    yield made
    made.remove()


def run(code: str, joining: list[Path], **more: object) -> subprocess.Popen[bytes]:
    """Run code as a member of a group."""
    join = "".join(f"open({str(file)!r}, 'w').write('0')\n" for file in joining)
    return subprocess.Popen([sys.executable, "-c", join + code], **more)


def test_a_kernel_that_takes_too_much_memory_is_ended_and_nobody_else(groups):
    joining = groups.open("ada", StudentLimits(memory=0.25))
    waits = run("input()", joining, stdin=subprocess.PIPE)
    assert run(f"bytearray({GIB})", joining).wait() == -9
    assert run("bytearray(1 << 20)", joining).wait() == 0
    assert waits.poll() is None, "the kernel ends the largest: the server lives"
    waits.communicate(b"\n")
    groups.close("ada")
    assert not any(file.exists() for file in joining)


def test_processor_time_is_held_back(groups):
    joining = groups.open("ada", StudentLimits(cores=0.05))
    busy = run("while True: pass", joining)
    try:
        # Both versions of the kernel count it under the same name.
        (stat,) = (path for file in joining if (path := file.with_name("cpu.stat")).exists())
        wait_for(lambda: "nr_throttled 0\n" not in stat.read_text())
    finally:
        busy.kill()
        busy.wait()


@pytest.fixture
def unified(tmp_path: Path) -> Path:
    """Files as version 2 of the kernel's interface has them."""
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids\n")
    (tmp_path / "mlsys-1").mkdir()
    (tmp_path / "mlsys-1" / "cgroup.procs").touch()
    return tmp_path


def test_what_version_2_is_told(unified):
    groups = ControlGroups("mlsys-1", unified)
    assert groups.why_not() is None
    for folder in (unified, unified / "mlsys-1"):
        assert (folder / "cgroup.subtree_control").read_text() == "+cpu +memory"
    (group,) = {file.parent for file in groups.open("ada", StudentLimits(2, 1.5))}
    assert (group / "memory.max").read_text() == str(2 * GIB)
    assert (group / "cpu.max").read_text() == "150000 100000"
    groups.open("ada", StudentLimits(0, 0))
    assert (group / "memory.max").read_text() == "max"
    assert (group / "cpu.max").read_text() == "max 100000"


def test_where_groups_cannot_be_made_it_is_said(tmp_path):
    assert "No such file" in ControlGroups("mlsys-1", tmp_path / "none").why_not()
    for kind in ("memory", "cpu"):
        (tmp_path / kind).mkdir()
    assert "does not hold control groups" in ControlGroups("mlsys-1", tmp_path).why_not()


def test_large_homes_are_named_and_others_are_not(places: Places):
    state = HubState.new("hub", "kim", "trial")
    for name in ("ada", "ben"):
        state.accounts[name] = Account(name, 0, 0, "student")
        places.home(name).mkdir(parents=True)
    state.write(places.state)
    (places.home("ada") / "data").write_bytes(b"x" * (3 << 20))
    HomeWatch(places, 1).look()
    HomeWatch(places, 0).look()
    with pytest.raises(ValueError, match=r"more than 0.002 GiB in the home of ada \(0.0 GiB\)$"):
        HomeWatch(places, 0.002).look()
