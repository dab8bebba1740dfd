"""A course for one person, who is instructor and student at once and does not need root.

It is the instructor's server of a hub, without the hub: exchange, formgrader and assignment list in
one JupyterLab.
"""

from __future__ import annotations

import getpass
import os
import secrets
import sys
from pathlib import Path

from mlsys_widgets.courses import RosterEntry
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import PRIVATE, Places
from mlsys_widgets.hub.preparation import make_course, run_instructor_tasks
from mlsys_widgets.hub.running.configuration import Address
from mlsys_widgets.hub.running.server_process import (
    ServerProcess,
    check_port,
    hold_folder,
    interruptible,
)
from mlsys_widgets.hub.running.settings import STAFF_ADDRESS, TRIED, write_settings


def run(places: Places, address: Address, *, bundle: Path | None, origin: Path | None) -> int:
    """Prepare the course, and serve it until somebody stops it."""
    me = getpass.getuser()
    state = HubState.read(places.state) or HubState.new("single", me, me)
    if state.kind != "single":
        raise ValueError(
            f"{places.root} is a hub for many people; name another folder with --folder"
        )
    places.make()
    places.root.chmod(PRIVATE)
    with interruptible(), hold_folder(places.lock, "a course") as lock:
        check_port(address.ip, address.port)
        if not places.course.is_dir():
            print("· Making the course", flush=True)
        state.course_id = make_course(places.course, bundle=bundle, origin=origin, say=print)
        state.write(places.state)
        settings = places.settings_of("instructor")
        write_settings(
            settings, "instructor", course_id=state.course_id, exchange=places.exchange,
            course=places.course, cache=places.database / "nbgrader_cache",
        )  # fmt: skip
        python = Path(sys.executable)
        token = secrets.token_urlsafe(24)
        with ServerProcess(
            [*_jupyterlab(python, address), f"--ServerApp.root_dir={places.course}"],
            environment={
                **os.environ,
                "PATH": f"{python.parent}{os.pathsep}{os.environ.get('PATH', '/usr/bin:/bin')}",
                "JUPYTER_CONFIG_PATH": str(settings),
                "JUPYTER_TOKEN": token,  # not an option, because everybody can read those
            },
            log=places.log, lock=lock, folder=places.course,
        ) as server:  # fmt: skip
            # This takes about as long as JupyterLab takes to start.
            run_instructor_tasks(
                places, None, Path.home(), python, [RosterEntry(me)],
                lambda words: print(f"· {words}", flush=True),
            )  # fmt: skip
            server.wait_until_ready(f"{address.url}/api")
            print(f"\nThe course {state.course_id} is open to you as instructor and as student.\n")
            print(f"  Open      {address.url}/{STAFF_ADDRESS}?token={token}")
            print(
                f"  State     {places.root}; labs that you fetch as a student are in course/{TRIED}"
            )
            print("  Stop      Ctrl-C; starting again loses nothing\n", flush=True)
            code = server.serve()
            if code:
                raise OSError(f"JupyterLab ended; the end of {places.log}:\n{server.last_lines()}")
    print("Stopped. Everything is kept; mlsys hub --single starts it again.")
    return 0


def _jupyterlab(python: Path, address: Address) -> list[str]:
    command = [
        str(python), "-m", "jupyterlab", "--no-browser", f"--ServerApp.ip={address.ip}",
        f"--ServerApp.port={address.port}", "--ServerApp.port_retries=0",
    ]  # fmt: skip
    if os.geteuid() == 0:
        command.append("--allow-root")
    if address.protected:
        command += [f"--ServerApp.certfile={address.cert}", f"--ServerApp.keyfile={address.key}"]
    return command
