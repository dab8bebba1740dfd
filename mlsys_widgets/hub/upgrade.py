"""``mlsys hub upgrade`` and ``mlsys hub health``: what is asked of a hub that runs.

An upgrade prepares the environment of users while the old version still serves, and only then asks
the hub to start again. Servers of students keep running, with the files that they were started
with; each has the new version when it is started the next time.
"""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError

from mlsys_widgets import __version__
from mlsys_widgets.hub.backup.taking import LAST_BACKUP
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.running.environments import folder_for
from mlsys_widgets.hub.running.interpreter import NOBODY, interpreter_for
from mlsys_widgets.hub.running.running_hub import command_line, command_process, hub_process
from mlsys_widgets.hub.services.health import last_backup
from mlsys_widgets.hub.services.hub_api import fetch
from mlsys_widgets.hub.services.monitoring import MONITOR, TOKEN

#: Seconds that a hub may take to start again.
_START: Final = 300.0
#: A backup that is older does not count as one before an upgrade.
_RECENT: Final = 24 * 3600.0


def run_upgrade(places: Places) -> int:
    """Make a running hub use the version that is installed now."""
    if os.geteuid() != 0:
        raise ValueError("a hub belongs to root, so root must upgrade it (sudo)")
    command, before = command_process(places), hub_process(places)
    if command is None or before is None:
        raise ValueError(
            f"no mlsys hub runs from {places.root}; it uses the installed version when it starts"
        )
    saved = last_backup(places)
    if saved is None or time.time() - saved > _RECENT:
        raise ValueError(
            "there is no backup from the last 24 hours, and databases may change; make one first:"
            f" mlsys hub backup FILE --folder {places.root}"
        )
    # What can fail comes first, while the old version serves.
    if "--python" not in command_line(command):
        interpreter_for(NOBODY, Path("/"), folder_for(places), print)
    os.kill(command, signal.SIGUSR1)
    deadline = time.monotonic() + _START
    while time.monotonic() < deadline:
        # Through the proxy: it leads to services and to the servers of users at the same moment.
        if hub_process(places) not in (None, before) and _health(places, public=True):
            print(f"The hub runs with mlsys-widgets {__version__}. Servers that ran before keep")
            print("running; each has the new version when it is started the next time.")
            return 0
        if not Path(f"/proc/{command}").exists():
            break
        time.sleep(0.5)
    raise OSError(
        f"the hub did not come back; the reason is in what mlsys hub printed, or in {places.log}."
        f" The backup is in the file that {places.database / LAST_BACKUP} was written for"
    )


def run_health(places: Places) -> int:
    """Print how every part of a running hub is; 1 if something is wrong."""
    if os.geteuid() != 0:
        raise ValueError("the token of the monitor belongs to root, so root must ask (sudo)")
    health = _health(places)
    if health is None:
        raise ValueError(f"the hub in {places.root} does not answer; does it run?")
    for name, part in health["parts"].items():
        print(f"  {name:24} {'well' if part['well'] else 'FAILS':6} {part['says']}")
    for name, words in (("last_release", "last release"), ("last_backup", "last backup")):
        when = health[name]
        shown = time.strftime("%F %R", time.localtime(when)) if when else "none yet"
        print(f"  {words:24} {shown}")
    return 0 if health["status"] == "well" else 1


def _health(places: Places, *, public: bool = False) -> dict[str, Any] | None:
    """Ask the monitor of a hub, directly or through the proxy; `None` without an answer."""
    try:
        configuration = json.loads(places.configuration.read_text("utf-8"))
        token = (places.secrets / TOKEN).read_text("utf-8").strip()
    except (OSError, ValueError):
        return None
    hub = configuration["JupyterHub"]
    (own,) = [each["url"] for each in hub["services"] if each["name"] == MONITOR]
    base = hub["bind_url"].rstrip("/") if public else own
    try:
        return _object(fetch(f"{base}/services/{MONITOR}/health", token))
    except HTTPError as problem:  # of a hub that is not well, or of a proxy that cannot reach it
        return _object(problem.read())
    except OSError:
        return None


def _object(answer: bytes) -> dict[str, Any] | None:
    """Return the object in an answer; `None` of any other answer, such as the proxy's own."""
    try:
        found = json.loads(answer)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
