"""What killed processes leave in the temporary folder is removed, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile

import pytest

from mlsys_widgets.sandbox.fork_client import ForkServer
from mlsys_widgets.sandbox.leftovers import own_folder, sweep


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_only_folders_of_processes_that_are_gone_are_removed(place):
    gone = subprocess.Popen(["true"])
    gone.wait()
    for name in (f"mlsys-root-{gone.pid}-x1", f"mlsys-grade-{gone.pid}-y2"):
        (place / name / "deep").mkdir(parents=True)
    mine = own_folder("grade")
    kept = {mine.name, f"mlsys-other-{gone.pid}-x", "mlsys-root-x", f"mlsys-root-{gone.pid}-link"}
    (place / f"mlsys-other-{gone.pid}-x").mkdir()
    (place / "mlsys-root-x").mkdir()
    (place / f"mlsys-root-{gone.pid}-link").symlink_to(place / "mlsys-root-x")
    sweep()
    assert {path.name for path in place.iterdir()} == kept


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
def test_a_fork_server_that_is_killed_leaves_nothing(place):
    one = ForkServer()
    assert one.cannot_isolate in (None, one.cannot_isolate)
    assert [path for path in place.iterdir() if path.name.startswith(f"mlsys-root-{one.pid}-")]
    os.kill(one.pid, signal.SIGKILL)
    one.close()
    sweep()
    assert not list(place.glob("mlsys-root-*"))
