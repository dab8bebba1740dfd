"""Processes of a hub: its own are found, and no others."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlsys_widgets.hub.running.running_hub import (
    command_process,
    hub_process,
    restartable,
    uses,
)


@contextmanager
def running(*command: str | Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose command line can be seen, which is a moment after it was started."""
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        try:
            while not Path(f"/proc/{process.pid}/cmdline").read_bytes():
                time.sleep(0.01)
            yield process
        finally:
            process.kill()


def test_only_a_jupyterhub_of_this_folder_is_its_hub(places):
    configuration = places.secrets / "jupyterhub_config.json"
    with running(sys.executable, "-c", "input()", "other") as other:
        places.lock.write_text(f"{other.pid}\n")
        assert hub_process(places) is None
    with running(sys.executable, "-c", "input()", str(configuration)) as ours:
        places.lock.write_text(f"{ours.pid}\n")
        assert hub_process(places) == ours.pid
        assert command_process(places) is None, "no mlsys hub has started it"


def test_without_a_lock_there_is_no_hub(places):
    assert hub_process(places) is None
    assert command_process(places) is None
    places.lock.write_text("no number")
    assert hub_process(places) is None
    assert uses(places.environment) == []


def test_a_request_to_restart_is_noted_and_kills_nobody():
    before = signal.getsignal(signal.SIGUSR1)
    with restartable() as restart:
        assert not restart.asked
        signal.raise_signal(signal.SIGUSR1)
        assert restart.asked
    signal.signal(signal.SIGUSR1, before)
