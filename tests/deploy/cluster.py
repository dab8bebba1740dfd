"""The cluster's hub and exchange on the loopback: real programs, with what our values say."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests
import yaml

from tests.waiting import wait_for

HERE = Path(__file__).resolve().parent
KUBERNETES = HERE.parent.parent / "deploy" / "kubernetes"
PATIENCE = 180  # seconds; a server starts in five, and this machine may be busy


def free_ports(count: int) -> list[int]:
    """Ports of the loopback that nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


@dataclass(frozen=True)
class Programs:
    """What the cluster consists of: environments and the proxy."""

    hub: Path  # the bin folder of what runs in the chart's hub image
    student: Path  # the bin folder of the student image
    exchange: Path  # the bin folder of the exchange's image
    proxy: Sequence[str]


@dataclass(frozen=True)
class Cluster:
    """A hub and an exchange that run."""

    programs: Programs
    state: Path
    url: str
    exchange: str

    def name(self, browser: requests.Session) -> str:
        """Who the hub thinks is at a browser."""
        answer = browser.get(f"{self.url}/hub/api/user", timeout=30)
        answer.raise_for_status()
        name: str = answer.json()["name"]
        return name

    def server(self, browser: requests.Session) -> dict[str, str]:
        """Start somebody's server, and return the environment that a terminal in it would have."""
        name = self.name(browser)
        browser.get(f"{self.url}/hub/spawn", timeout=60)

        def is_ready() -> bool:
            model = browser.get(f"{self.url}/hub/api/user", timeout=30).json()
            return bool(model["servers"].get("", {}).get("ready"))

        wait_for(is_ready, f"the server of {name} did not start")
        kept = (self.state / "home" / name / "environment").read_text().split("\0")
        return dict(line.split("=", 1) for line in kept if line)

    def run(
        self, server: dict[str, str], *words: str, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of the student image, as in a terminal of somebody's server."""
        program = self.programs.student / words[0]
        return subprocess.run(
            [str(program), *words[1:]], env=server, cwd=cwd or server["HOME"],
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip

    def ask(self, server: dict[str, str], method: str, path: str, **data: Any) -> requests.Response:
        """Ask the exchange something with somebody's token."""
        token = {"Authorization": f"token {server['JUPYTERHUB_API_TOKEN']}"}
        where = f"{self.exchange}/{quote(path)}"
        return requests.request(method, where, headers=token, data=data, timeout=30)


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    def answers() -> bool:
        assert process.poll() is None, log.read_text()[-4000:]
        with suppress(requests.RequestException):
            return requests.get(url, timeout=5).ok
        return False

    wait_for(answers, lambda: f"{url} does not answer:\n{log.read_text()[-4000:]}")


@contextmanager
def _running(
    words: Sequence[str], log: Path, environment: dict[str, str], cwd: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the end of the block."""
    with log.open("wb") as said:
        process = subprocess.Popen(
            words, env=environment, cwd=cwd, stdout=said, stderr=said, start_new_session=True
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(30)


def _environment_of(manifest: str, **instead: str) -> dict[str, str]:
    """The environment that a manifest gives its first container, with addresses of this machine."""
    documents = yaml.safe_load_all((KUBERNETES / manifest).read_text())
    (deployment,) = [each for each in documents if each["kind"] == "Deployment"]
    listed = deployment["spec"]["template"]["spec"]["containers"][0]["env"]
    known = {each["name"]: each.get("value", "") for each in listed}
    assert set(instead) <= set(known), "the manifest no longer sets what the test puts in its place"
    return known | instead


@contextmanager
def cluster(
    programs: Programs, state: Path, values: Sequence[str], instead: dict[str, Any]
) -> Iterator[Cluster]:
    """Run a hub and an exchange from files of deploy/kubernetes until the end of the block."""
    public, hub, proxy, exchange = free_ports(4)
    url, api = f"http://127.0.0.1:{public}", f"http://127.0.0.1:{hub}"
    token = secrets.token_hex(32)
    prefix = "/services/ngshare"
    for folder in ("home", "exchange"):
        (state / folder).mkdir(parents=True)
    said = {
        "values": [str(KUBERNETES / name) for name in values],
        "instead": instead,
        "state": str(state),
        "tokens": {"ngshare": token},
        "url": url,
        "hub": api,
        "proxy": f"http://127.0.0.1:{proxy}",
        "proxy_command": list(programs.proxy),
        "environment": {
            "MLSYS_EXCHANGE_URL": f"http://127.0.0.1:{exchange}{prefix}",
            "PATH": f"{programs.student}:/usr/bin:/bin",
        },
    }
    passed_on = ("PATH", "HOME", "LANG", "MLSYS_LTI_KEY", "MLSYS_LTI_SECRET")
    mine = {name: os.environ[name] for name in passed_on if name in os.environ}
    config, server = HERE / "loopback_config.py", HERE / "loopback_exchange.py"
    with (
        _running(
            [str(programs.hub / "jupyterhub"), "-f", str(config)], state / "hub.log",
            mine | {"MLSYS_TEST_HUB": json.dumps(said), "KUBECONFIG": str(HERE / "nowhere.yaml")},
            state,
        ) as first,
        _running(
            [str(programs.exchange / "python"), str(server), str(exchange), str(state / "exchange"),
             "instructor"], state / "exchange.log",
            mine | _environment_of("exchange.yaml", JUPYTERHUB_API_URL=f"{api}/hub/api",
                                   JUPYTERHUB_API_TOKEN=token),
            state,
        ) as second,
    ):  # fmt: skip
        _wait_for(f"{url}/hub/health", first, state / "hub.log")
        _wait_for(f"http://127.0.0.1:{exchange}/healthz", second, state / "exchange.log")
        yield Cluster(programs, state, url, f"http://127.0.0.1:{exchange}{prefix}")
