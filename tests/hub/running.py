"""A real hub for tests, and people who use it over HTTP as a browser would.

``with running_hub(students=("ada", "ben")) as hub`` starts ``mlsys hub`` on a free port of the
loopback, with real users of this machine whose names begin with ``mlsystest``, and removes all
of it at the end. ``Person(hub, hub.names["ada"]).arrive()`` logs in with PAM and starts a server.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import requests
import websocket

from mlsys_widgets.authoring import build
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses import pack
from mlsys_widgets.files import NBGRADER_CONFIG
from mlsys_widgets.hub.places import Places, closed_parent
from mlsys_widgets.hub.running.proxy import find_proxy
from tests.hub.user_environment import environment_of_users
from tests.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "hub_tests"
#: What a course is built of.
_COURSE = ("assignments", "source", "release")
#: What days on a hub are about. Each hub makes its course first, which takes 4 s for each lab;
#: tests/courses/test_wheel.py makes one of all labs.
LABS = ("lab_01_magnitude", "lab_07_kernel_fusion")
#: Users must reach it, and only its owner may be able to reach a checkout.
ENVIRONMENT = (
    ROOT / "build" / "hub_env"
    if closed_parent(ROOT) is None
    else Path(tempfile.gettempdir()) / f"mlsystest_env_{sha256(bytes(ROOT)).hexdigest()[:8]}"
)
#: Seconds: a hub that makes its course first, on a busy machine.
START = 240
#: Seconds: a server of somebody, or an answer of a kernel.
SERVER = 120


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Lock what several test runs share."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def environment() -> Path:
    """A Python that users can run, with this package as it is now; kept for the next run."""
    names = ("python3.11", "python3", "python3.12", "python3.13")
    found = (shutil.which(name, path="/usr/local/bin:/usr/bin:/bin") for name in names)
    base = next(filter(None, found), None)
    if base is None:
        pytest.skip("the system has no Python that users could run (apt-get install python3)")
    with _alone("env"):
        return environment_of_users(ENVIRONMENT, Path(base))


def bundle(*more: str) -> Path:
    """`LABS` and more labs of this checkout, packed, for a course in which deeper parts count."""
    labs = (*LABS, *more)
    name = "_".join(("course", *more))
    course, packed, stamp = (BUILD / f"{name}{end}" for end in ("", ".tar.gz", ".digest"))
    with _alone("bundle"):
        folders = [f"{part}/{lab}" for part in _COURSE for lab in labs]
        files = (NBGRADER_CONFIG, "assignments/course.toml")
        digest = _digest(*(ROOT / each for each in (*folders, *files, "mlsys_widgets/authoring")))
        if not packed.exists() or not stamp.exists() or stamp.read_text() != digest:
            shutil.rmtree(course, ignore_errors=True)
            for each in folders:
                shutil.copytree(ROOT / each, course / each)
            for each in files:
                shutil.copy(ROOT / each, course / each)
            with (course / "assignments" / "course.toml").open("a") as settings:
                settings.write('\ndeeper = "required"\n')
            build(Course.at(course))
            pack(Course.at(course), packed)
            stamp.write_text(digest)
        return packed


def _digest(*places: Path) -> str:
    digest = sha256()
    found = (each.rglob("*") if each.is_dir() else (each,) for each in places)
    for path in sorted(path for paths in found for path in paths if path.is_file()):
        if path.suffix != ".pyc":
            digest.update(str(path).encode() + path.read_bytes())
    return digest.hexdigest()


def proxy() -> Path:
    """The folder that holds the proxy's program; kept for the next run."""
    with _alone("proxy"):
        return Path(find_proxy(BUILD / "proxy", print)[0]).parent


def free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


@dataclass
class Hub:
    """A hub in a folder; started and stopped at will."""

    places: Places
    names: dict[str, str]  # as tests call people -> as the machine does
    python: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def output(self) -> Path:
        """What ``mlsys hub`` printed, of all starts."""
        return self.places.root.with_name(f"{self.places.root.name}.txt")

    @property
    def hub_pid(self) -> int:
        """The process of JupyterHub itself."""
        return int(self.places.lock.read_text())

    def password(self, name: str) -> str:
        kept = json.loads((self.places.secrets / "passwords.json").read_text())
        return str(kept[name])

    def command(self, *options: str) -> list[str]:
        return [sys.executable, "-m", "mlsys_widgets", "hub", "--folder", str(self.places.root),
                *options]  # fmt: skip

    @property
    def environment(self) -> dict[str, str]:
        """With the proxy on the path, so that it is not installed for each test."""
        return {**os.environ, "PATH": f"{proxy()}{os.pathsep}{os.environ['PATH']}"}

    def start(self, *options: str, through: Sequence[str] = (), wait: bool = True) -> None:
        """Start it, through another command if one is given; wait until it says that it runs."""
        command = self.command(
            "--instructor", self.names["teacher"], "--student", self.names["trial"],
            "--port", str(self.port), "--python", str(self.python), *options,
        )  # fmt: skip
        with self.output.open("ab") as output:
            before = output.tell()
            self.process = subprocess.Popen(
                [*through, *command], stdout=output, stderr=subprocess.STDOUT, env=self.environment
            )

        def is_running() -> bool:
            assert self.process
            printed = self.output.read_bytes()[before:].decode()
            if "is running." in printed and "Stop " in printed:
                return True
            assert self.process.poll() is None, printed
            return False

        if wait:
            wait_for(
                is_running, lambda: f"the hub did not start:\n{self.output.read_text()}", START
            )

    def wait(self, until: Callable[[], object], what: str, seconds: float = SERVER) -> None:
        """Wait for something that the hub does by itself."""
        wait_for(until, what, seconds)

    def stop(self) -> int:
        """Stop it as Ctrl-C does."""
        assert self.process
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(90)

    def kill(self) -> None:
        """Kill the hub and the process that started it, as the kernel does when memory runs out."""
        assert self.process
        os.kill(self.hub_pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait(30)


@contextmanager
def running_hub(
    students: Sequence[str] = ("ada", "ben"),
    *options: str,
    start: bool = True,
    made_of: Callable[[Path, Mapping[str, str]], Path] | None = None,
) -> Iterator[Hub]:
    """A hub with a teacher, a student to try it with (``trial``) and a roster.

    ``made_of`` makes the bundle, in a folder and with the names of people; ours if omitted.
    """
    python = environment()
    tag = f"mlsystest{secrets.token_hex(2)}"
    # Users pass through it, so it cannot be among pytest's own folders, which are private.
    above = Path(tempfile.mkdtemp(prefix="mlsystest_"))
    above.chmod(0o755)
    names = {each: f"{tag}{each}" for each in ("teacher", "trial", *students)}
    hub = Hub(Places(above / "hub"), names, python)
    rows = [f"{names[each]},{each.title()},Test\n" for each in students]
    course = made_of(above, names) if made_of else bundle()
    roster = above / "roster.csv"
    roster.write_text("".join(["username,first name,last name\n", *rows]))
    try:
        if start:
            more = ["--roster", str(roster)] if students else []
            hub.start("--from", str(course), *more, *options)
        yield hub
    finally:
        if hub.process and hub.process.poll() is None:
            hub.stop()
        if hub.places.state.exists():
            subprocess.run(hub.command("--reset", "--yes"), check=True, capture_output=True)
        shutil.rmtree(above)


class Person:
    """Somebody with a browser: their own cookies and token."""

    def __init__(self, hub: Hub, name: str) -> None:
        self.hub, self.name = hub, name
        self.session = requests.Session()
        self.session.trust_env = False  # no proxy for addresses of this machine
        self.token = ""

    @property
    def base(self) -> str:
        return f"{self.hub.url}/user/{self.name}/"

    @property
    def home(self) -> Path:
        return self.hub.places.home(self.name)

    def login(self, password: str | None = None) -> requests.Response:
        """Fill in the form of the login page."""
        page = f"{self.hub.url}/hub/login"
        self.session.get(page, timeout=30)
        form = {
            "username": self.name,
            "password": password or self.hub.password(self.name),
            "_xsrf": self.session.cookies.get("_xsrf", path="/hub/"),
        }
        return self.session.post(page, data=form, timeout=60, allow_redirects=False)

    def ask_hub(self, method: str, path: str, **more: Any) -> requests.Response:
        """A request to the hub's own interface, with this person's cookies."""
        headers = {"X-XSRFToken": self.session.cookies.get("_xsrf", path="/hub/") or ""}
        return self.session.request(
            method, f"{self.hub.url}/hub/api/{path}", headers=headers, timeout=60, **more
        )

    def arrive(self) -> Person:
        """Log in, start a server and wait for it."""
        assert self.login().status_code == 302, "the login was refused"
        made = self.ask_hub("POST", f"users/{self.name}/tokens", json={"note": "test"})
        made.raise_for_status()
        self.token = made.json()["token"]
        self.start_server()
        return self

    def start_server(self) -> None:
        answer = self.ask_hub("POST", f"users/{self.name}/server")
        assert answer.status_code in (201, 202, 400), answer.text  # 400: it runs already

        def is_ready() -> bool:
            model = self.ask_hub("GET", f"users/{self.name}").json()
            return bool(model.get("servers", {}).get("", {}).get("ready"))

        log = self.hub.places.log
        wait_for(is_ready, lambda: f"no server for {self.name}:\n{log.read_text()[-3000:]}", SERVER)

    def ask(self, method: str, path: str, **more: Any) -> requests.Response:
        """A request to this person's own server."""
        headers = {"Authorization": f"token {self.token}"}
        return requests.request(
            method, f"{self.base}{path}", headers=headers, timeout=60,
            proxies={"http": ""}, **more,
        )  # fmt: skip

    def assignment(self, action: str, lab: str) -> None:
        """Press a button of nbgrader's assignment list: fetch or submit."""
        form = {"course_id": "mlsys", "assignment_id": lab}
        answer = self.ask("POST", f"assignments/{action}", data=form)
        assert answer.status_code == 200, answer.text
        assert answer.json()["success"], answer.json()

    def socket(self, path: str) -> websocket.WebSocket:
        """A connection to this person's own server; tried again, as JupyterLab does.

        A hub that was started again leads to servers that run a moment after it answers itself.
        """
        address = f"{self.base}{path}".replace("http://", "ws://")

        def connected() -> websocket.WebSocket | None:
            try:
                return websocket.create_connection(
                    address, header=[f"Authorization: token {self.token}"], timeout=SERVER,
                    http_no_proxy=["127.0.0.1"],
                )  # fmt: skip
            except websocket.WebSocketBadStatusException as refused:
                if refused.status_code not in (404, 503):
                    raise
                return None

        return wait_for(connected, f"{path} is not reached", SERVER)

    def kernel(self, folder: str = "") -> str:
        """Start a kernel in a folder; returns its id."""
        answer = self.ask("POST", "api/kernels", json={"name": "python3", "path": f"{folder}/x"})
        answer.raise_for_status()
        return str(answer.json()["id"])

    def run(self, kernel: str, code: str) -> str:
        """Run code in a kernel; returns what it printed, or its error."""
        line = self.socket(f"api/kernels/{kernel}/channels")
        try:
            return executed(line, code)
        finally:
            line.close()

    def terminal(self, command: str) -> str:
        """Run a command in a terminal of JupyterLab; returns what the screen showed."""
        made = self.ask("POST", "api/terminals")
        made.raise_for_status()
        name = made.json()["name"]
        line = self.socket(f"terminals/websocket/{name}")
        end = uuid.uuid4().hex
        try:
            # The end is written in two pieces, so that the echo of the command is not the end.
            line.send(json.dumps(["stdin", f"{command}; echo {end[:9]}''{end[9:]}\r"]))
            shown = ""
            while end not in shown:  # the line itself has a timeout
                kind, *rest = json.loads(line.recv())
                shown += rest[0] if kind == "stdout" else ""
            return shown
        finally:
            line.close()
            self.ask("DELETE", f"api/terminals/{name}")


def executed(line: websocket.WebSocket, code: str) -> str:
    """Run code in the kernel at the end of a line; returns what it printed, or its error."""
    message = uuid.uuid4().hex
    header = {
        "msg_id": message, "username": "", "session": uuid.uuid4().hex, "version": "5.3",
        "msg_type": "execute_request", "date": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    content = {
        "code": code, "silent": False, "store_history": False, "user_expressions": {},
        "allow_stdin": False, "stop_on_error": True,
    }  # fmt: skip
    line.send(json.dumps({
        "header": header, "parent_header": {}, "metadata": {}, "content": content,
        "channel": "shell", "buffers": [],
    }))  # fmt: skip
    printed = ""
    while True:  # the line itself has a timeout
        answer = json.loads(line.recv())
        if answer["parent_header"].get("msg_id") != message:
            continue
        content = answer["content"]
        match answer["msg_type"]:
            case "stream":
                printed += content["text"]
            case "error":
                printed += f"{content['ename']}: {content['evalue']}"
            case "status" if content["execution_state"] == "idle":
                return printed
