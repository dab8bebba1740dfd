"""What students work on: a Jupyter server for each, started as a spawner starts it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from classroom import machine
from classroom.browser import Place
from mlsys_widgets.hub.running.settings import write_settings

ROOT = Path(__file__).resolve().parents[2]
COURSE = "mlsys"
LAB = "lab_07_kernel_fusion"
#: Seconds for a server to start while many others do.
START = 180.0


class Servers(Protocol):
    """Where a class works."""

    #: How it is called in the data.
    kind: str

    async def open(self) -> None:
        """Start what all students share."""

    async def start(self, student: str) -> Place:
        """Start a student's server, until it answers."""

    def shared(self) -> dict[str, int]:
        """Processes that all students share, by what they are."""

    def close(self) -> None:
        """End everything that was started."""


def exchange(folder: Path, *, sockets: bool = False) -> Path:
    """An exchange with Lab 07 released; returns a folder with the settings of ``mlsys hub``."""
    course = folder / "exchange" / COURSE
    shutil.copytree(ROOT / "release" / LAB, course / "outbound" / LAB,
                    ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
    (course / "inbound").mkdir()
    (course / "feedback").mkdir()
    for each in (folder / "exchange", course):
        each.chmod(0o777)
    (course / "inbound").chmod(0o733)
    settings = folder / "settings"
    write_settings(
        settings, "student", course_id=COURSE, exchange=folder / "exchange", sockets=sockets
    )
    return settings


def environment(home: Path, settings: Path) -> dict[str, str]:
    """A home of one's own, and the settings of the class."""
    # What this program was told about Jupyter is not for them.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "HOME": str(home), "PATH": path, "JUPYTER_CONFIG_PATH": str(settings)}


class Alone:
    """Servers without a hub: JupyterLab itself, as jupyterhub-singleuser would run it."""

    kind = "servers"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._settings = exchange(folder)
        self._running: list[subprocess.Popen[bytes]] = []

    async def open(self) -> None:
        """Nothing is shared."""

    async def start(self, student: str) -> Place:
        home, token = self._folder / student, secrets.token_hex(16)
        work, runtime = home / "labs", home / "runtime"
        work.mkdir(parents=True)
        options = {
            "IdentityProvider.token": token,
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.port": 0,  # the system picks a free one; read back below
            "ServerApp.open_browser": False,
            "ServerApp.allow_root": True,
            "ServerApp.root_dir": work,
        }
        with (home / "log.txt").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "jupyterlab",
                 *(f"--{name}={value}" for name, value in options.items())],
                cwd=work,
                env={**environment(home, self._settings), "JUPYTER_RUNTIME_DIR": str(runtime),
                     "JUPYTERHUB_USER": student},
                stdout=log,
                stderr=subprocess.STDOUT,
            )  # fmt: skip
        self._running.append(process)
        said = runtime / f"jpserver-{process.pid}.json"
        deadline = time.monotonic() + START
        while time.monotonic() < deadline and process.poll() is None:
            if said.exists() and (text := said.read_text()):
                address = json.loads(text)["url"]
                if await listens(address):
                    return Place(address, token, process.pid, student)
            await asyncio.sleep(0.05)
        last = (home / "log.txt").read_text()[-1000:]
        raise OSError(f"the server of {student} did not start:\n{last}")

    def shared(self) -> dict[str, int]:
        return {}

    def close(self) -> None:
        end(self._running)


async def listens(address: str) -> bool:
    """Whether a server takes connections: it says where before it does."""
    url = urlsplit(address)
    try:
        _, writer = await asyncio.open_connection(url.hostname, url.port)
    except OSError:
        return False
    writer.close()
    return True


def end(processes: list[subprocess.Popen[bytes]], patience: float = 30.0) -> None:
    """End processes and all that came from them; what does not hear is killed."""
    by_parent = machine.children()
    known = {
        each: machine.started(each)
        for process in processes
        for each in machine.family(process.pid, by_parent)
    }
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + patience
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.1, deadline - time.monotonic()))
    # A number may have been given to somebody else meanwhile: the time of its start tells.
    for each, began in known.items():
        if began is not None and machine.started(each) == began:
            os.kill(each, signal.SIGKILL)
    for process in processes:
        process.wait()
    processes.clear()
