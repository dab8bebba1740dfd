"""Tells how a hub is, part by part, in words that name nobody."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError

from mlsys_widgets.hub.backup.taking import LAST_BACKUP
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.running.running_hub import command_line, parent_of, processes
from mlsys_widgets.hub.services.hub_api import fetch

#: Less room than this, and work will soon be lost.
LEAST_FREE: Final = 1 << 30
#: Seconds that a part may take to answer.
_PATIENCE: Final = 5


@dataclass(frozen=True)
class HubPart:
    """A part of a hub, whether it is well, and why; it never names a person."""

    name: str
    well: bool
    says: str


@dataclass(frozen=True)
class Surroundings:
    """The hub that is looked at."""

    places: Places
    course_id: str
    #: Addresses on the loopback: JupyterHub's own, and the proxy's interface.
    hub: str
    proxy: str
    #: The command of every service of the hub, by name.
    services: Mapping[str, list[str]]
    #: The process of JupyterHub, whose children they are.
    parent: int


def examine_parts(around: Surroundings) -> list[HubPart]:
    """Look at every part of a hub."""
    return [
        HubPart("hub", *_answers(f"{around.hub}/hub/health")),
        HubPart("proxy", *_answers(f"{around.proxy}/api/routes", _proxy_token(around.places))),
        HubPart("exchange", *_writable(around.places.exchange)),
        HubPart("disk", *_room(around.places.root)),
        *(HubPart(f"service {name}", well, "runs" if well else "does not run")
          for name, well in services_alive(around).items()),
    ]  # fmt: skip


def facts(around: Surroundings) -> dict[str, Any]:
    """Return what is good to know, and neither good nor bad."""
    return {
        "last_release": last_release(around),
        "last_backup": last_backup(around.places),
        "free_bytes": shutil.disk_usage(around.places.root).free,
    }


def services_alive(around: Surroundings) -> dict[str, bool]:
    """Return which services of the hub run, by name."""
    running = [command_line(pid) for pid in processes() if parent_of(pid) == around.parent]
    # A prefix of a command may have replaced itself by the rest of it.
    return {
        name: any(words and command[-len(words) :] == words for words in running)
        for name, command in around.services.items()
    }


def last_release(around: Surroundings) -> float | None:
    """Return when a lab was last released, in seconds since 1970; `None` if none was."""
    outbound = around.places.exchange / around.course_id / "outbound"
    try:
        with os.scandir(outbound) as found:
            times = [each.stat(follow_symlinks=False).st_mtime for each in found]
    except OSError:
        return None
    return max(times, default=None)


def last_backup(places: Places) -> float | None:
    """Return when the last backup was complete, in seconds since 1970; `None` without one."""
    try:
        note = json.loads((places.database / LAST_BACKUP).read_text("utf-8"))
        return float(note["finished"])
    except (OSError, ValueError, KeyError):
        return None


def _proxy_token(places: Places) -> str:
    try:
        return (places.secrets / "configproxy_auth_token").read_text("utf-8").strip()
    except OSError:
        return ""


def _answers(url: str, token: str = "") -> tuple[bool, str]:
    begun = time.monotonic()
    try:
        fetch(url, token, timeout=_PATIENCE)
    except HTTPError as problem:
        return False, f"answers with {problem.code}"
    except (URLError, OSError):
        return False, "does not answer"
    return True, f"answers in {(time.monotonic() - begun) * 1000:.0f} ms"


def _writable(folder: Path) -> tuple[bool, str]:
    """Whether a file can be written there; it has no name, so nobody sees it."""
    try:
        handle = os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except OSError as problem:
        if problem.errno not in (errno.EOPNOTSUPP, errno.EISDIR):
            return False, f"cannot be written: {problem.strerror}"
        return (folder.is_dir() and os.access(folder, os.W_OK)), "looks writable"
    try:
        os.write(handle, b"x")
    except OSError as problem:
        return False, f"cannot be written: {problem.strerror}"
    finally:
        os.close(handle)
    if folder.stat().st_mode & 0o7777 != 0o1777:
        return False, "is closed to students, or lacks the sticky bit"
    return True, "can be written"


def _room(folder: Path, usage: Callable[[Path], Any] = shutil.disk_usage) -> tuple[bool, str]:
    free = usage(folder).free
    return free >= LEAST_FREE, f"{free / (1 << 30):.1f} GiB free"
