"""Servers as processes: ports, locks, and how they start and end."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from mlsys_widgets.hub.running.server_process import ServerProcess, check_port, free_port, held


def test_a_taken_port_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"port {port}.*--port"):
            check_port("127.0.0.1", port)
        assert free_port(port) != port


def test_a_folder_is_held_by_one_and_by_what_it_has_started(places):
    with held(places.lock, "a hub") as lock:
        with pytest.raises(ValueError, match="already runs"), held(places.lock, "a hub"):
            pass
        server = ServerProcess(
            ["sleep", "60"], environment=dict(os.environ), log=places.log, lock=lock,
            folder=places.root,
        )  # fmt: skip
    # Whoever started it is gone; it goes on, and the folder is still its own.
    with pytest.raises(ValueError, match=f"kill {server.process.pid}"), held(places.lock, "a hub"):
        pass
    server.stop()
    with held(places.lock, "a hub"):
        pass


def test_a_polite_end_stops_what_was_started(places):
    code = f"""
import os
from pathlib import Path
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.running.server_process import ServerProcess, held, interruptible
places = Places(Path({str(places.root)!r}))
with interruptible(), held(places.lock, "a hub") as lock:
    with ServerProcess(["sleep", "60"], environment=os.environ, log=places.log, lock=lock,
                folder=places.root) as server:
        print(server.process.pid, flush=True)
        server.wait_until_ready("http://127.0.0.1:9/")
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as starter:
        assert starter.stdout
        started = Path("/proc") / starter.stdout.readline().strip()
        assert started.exists()
        starter.terminate()
        starter.wait(30)
    assert not started.exists()
    with held(places.lock, "a hub"):
        pass


def test_a_server_that_ends_while_it_starts_is_quoted(places):
    with held(places.lock, "a hub") as lock:
        command = [sys.executable, "-c", "print('no such thing'); raise SystemExit(3)"]
        with ServerProcess(
            command, environment=dict(os.environ), log=places.log, lock=lock, folder=places.root
        ) as server, pytest.raises(OSError, match="no such thing"):  # fmt: skip
            server.wait_until_ready("http://127.0.0.1:9/")
    assert places.log.stat().st_mode & 0o777 == 0o600
