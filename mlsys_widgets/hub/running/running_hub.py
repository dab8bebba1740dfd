"""The processes of a hub that runs: found, and told to take a new version."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlsys_widgets.hub.places import Places


class Restart:
    """Whether somebody has asked for a restart that lets the servers of users run."""

    def __init__(self) -> None:
        self.asked = False

    def ask(self, *_: object) -> None:
        """Ask; a handler of a signal."""
        self.asked = True

    def now(self) -> None:
        """Become the same command, with the code that is installed now."""
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


@contextmanager
def restartable() -> Iterator[Restart]:
    """Take SIGUSR1 for a request to restart, instead of dying from it."""
    restart = Restart()
    before = signal.signal(signal.SIGUSR1, restart.ask)
    try:
        yield restart
    finally:
        if not restart.asked:  # a second request must not kill us on the way
            signal.signal(signal.SIGUSR1, before)


def hub_process(places: Places) -> int | None:
    """Return the process of JupyterHub of this folder; `None` if there is none."""
    try:
        pid = int(places.lock.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return pid if str(places.configuration) in command_line(pid) else None


def command_process(places: Places) -> int | None:
    """Return the process of ``mlsys hub`` of this folder; `None` if it was killed or never ran."""
    hub = hub_process(places)
    parent = parent_of(hub) if hub else None
    words = command_line(parent) if parent else []
    # As a module its folder is in the list; the script may be anywhere.
    ours = "hub" in words and any("mlsys" in Path(word).name for word in words)
    return parent if ours else None


def uses(folder: Path) -> list[int]:
    """Return the processes that run a program of a folder, such as an environment."""
    inside = f"{folder}/"
    return [pid for pid in processes() if any(w.startswith(inside) for w in command_line(pid))]


def processes() -> list[int]:
    """Return all processes of this machine."""
    return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]


def command_line(pid: int) -> list[str]:
    """Return the command line of a process; empty if it has ended."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    return [word.decode("utf-8", "replace") for word in words.split(b"\0") if word]


def parent_of(pid: int) -> int | None:
    """Return the process that started another one; `None` if that has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", errors="replace")
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[1])
