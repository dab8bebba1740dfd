"""Servers as processes: ports, locks, and how they start and end."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.running.server_process import (
    ServerProcess,
    check_port,
    free_port,
    hold_folder,
    interruptible,
    shorten_log,
)
from tests.waiting import wait_for


def test_a_taken_port_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"port {port}.*--port"):
            check_port("127.0.0.1", port)
        assert free_port(port) != port


def test_a_folder_is_held_by_one_and_by_what_it_has_started(places):
    with hold_folder(places.lock, "a hub") as lock:
        with pytest.raises(ValueError, match="already runs"), hold_folder(places.lock, "", 0):
            pass
        server = ServerProcess(
            ["sleep", "60"], environment=dict(os.environ), log=places.log, lock=lock,
            folder=places.root,
        )  # fmt: skip
    # Whoever started it is gone; it goes on, and the folder is still its own.
    with (
        pytest.raises(ValueError, match=f"kill {server.process.pid}"),
        hold_folder(places.lock, "a hub", 0),
    ):
        pass
    server.stop()
    with hold_folder(places.lock, "a hub"):
        pass


#: As a shell starts something in its background: SIGINT is ignored.
BACKGROUND = ["sh", "-c", 'trap "" INT; exec nohup "$@"', "sh"]


@contextmanager
def started(
    places: Places, *server: str, through: Sequence[str] = ()
) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Somebody who has started a server, and the server."""
    code = f"""
import os
from pathlib import Path
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.running.server_process import ServerProcess, hold_folder, interruptible
places = Places(Path({str(places.root)!r}))
with interruptible(), hold_folder(places.lock, "a hub") as lock:
    with ServerProcess({list(server)}, environment=os.environ, log=places.log, lock=lock,
                folder=places.root, leftovers=lambda: print("swept")) as server:
        print(server.process.pid, flush=True)
        server.wait_until_ready("http://127.0.0.1:9/")
"""
    with subprocess.Popen(
        [*through, sys.executable, "-c", code], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as starter:  # fmt: skip
        assert starter.stdout
        running = Path("/proc") / starter.stdout.readline().strip()
        wait_for(lambda: server[0] in (running / "cmdline").read_text().split("\0"))
        yield starter, running
    wait_for(lambda: not running.exists())
    with hold_folder(places.lock, "a hub"):
        pass


@pytest.mark.parametrize("through", [[], BACKGROUND], ids=["terminal", "nohup"])
@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_however_a_starter_ends_the_server_ends_too(places, how, through):
    with started(places, "sleep", "60", through=through) as (starter, server):
        ignored = re.search(r"^SigIgn:\t(.*)", (server / "status").read_text(), re.MULTILINE)
        assert not int(ignored[1], 16) & 0b11, "neither SIGHUP nor SIGINT: others stop it with them"
        starter.send_signal(signal.Signals[how])
        left = starter.communicate()[0]
    assert left == ("" if how == "SIGKILL" else "swept\n")


def test_who_asks_twice_does_not_wait(places):
    stubborn = 'trap "touch asked" TERM; touch ready; while :; do sleep 0.1; done'
    with started(places, "sh", "-c", stubborn) as (starter, _):
        for sign in ("ready", "asked"):
            wait_for((places.root / sign).exists)
            starter.terminate()
        assert starter.communicate()[0] == "swept\n"


def test_under_nohup_a_terminal_may_close():
    before = signal.getsignal(signal.SIGHUP)
    try:
        for handler, closes in ((signal.SIG_DFL, True), (signal.SIG_IGN, False)):
            signal.signal(signal.SIGHUP, handler)
            with pytest.raises(KeyboardInterrupt) if closes else nullcontext(), interruptible():
                signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) == handler
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_server_that_ends_while_it_starts_is_quoted(places):
    with hold_folder(places.lock, "a hub") as lock:
        command = [sys.executable, "-c", "print('no such thing'); raise SystemExit(3)"]
        with ServerProcess(
            command, environment=dict(os.environ), log=places.log, lock=lock, folder=places.root
        ) as server, pytest.raises(OSError, match="no such thing"):  # fmt: skip
            server.wait_until_ready("http://127.0.0.1:9/")
    assert places.log.stat().st_mode & 0o777 == 0o600


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "hub.log"


def test_writers_continue_in_a_log_that_begins_again_and_the_lines_before_are_kept(log):
    with log.open("ab", buffering=0) as writer:
        for number in range(300):
            writer.write(b"line %06d\n" % number)
            shorten_log(log, 1000)
    lines = [*log.with_name("hub.log.1").read_text().splitlines(), *log.read_text().splitlines()]
    assert lines == [f"line {number:06}" for number in range(300 - len(lines), 300)]
    assert len(lines) >= 1000 // len("line 000000\n")
    assert sorted(each.name for each in log.parent.iterdir()) == ["hub.log", "hub.log.1"]


def test_a_log_made_endless_costs_twice_the_bound_at_most(log):
    log.write_bytes(b"begin\n")
    os.truncate(log, 1 << 42)
    shorten_log(log, 1000)
    assert log.stat().st_size == 0
    assert log.with_name("hub.log.1").stat().st_size == 2000


def test_a_link_is_not_followed_and_a_missing_log_is_no_problem(log, tmp_path):
    other = tmp_path / "other"
    other.write_bytes(b"x" * 5000)
    shorten_log(log, 1000)
    log.symlink_to(other)
    shorten_log(log, 1000)
    assert other.stat().st_size == 5000


def test_what_is_kept_of_a_log_is_for_root_alone(log):
    log.write_bytes(b"x" * 2000)
    shorten_log(log, 1000)
    assert log.with_name("hub.log.1").stat().st_mode & 0o777 == 0o600


def test_a_full_disk_empties_the_log_all_the_same(log):
    log.write_bytes(b"x" * 2000)
    log.with_name("hub.log.1").mkdir()  # nothing can be written there
    shorten_log(log, 1000)
    assert log.stat().st_size == 0
