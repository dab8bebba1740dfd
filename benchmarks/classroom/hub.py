"""The same servers behind a real JupyterHub and its proxy.

All of them belong to one system user, so that any number of students can be made up: the hub, the
proxy, what they start and the way of every message are those of a course.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest, HTTPResponse

from classroom import machine
from classroom.browser import Place
from classroom.servers import ROOT, START, end, environment, exchange
from mlsys_widgets.hub.running.proxy import find_proxy

CONFIG = """\
c = get_config()
c.JupyterHub.bind_url = {address!r}
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{hub_port}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy_port}"
c.ConfigurableHTTPProxy.command = {proxy!r}
c.JupyterHub.authenticator_class = "null"  # nobody logs in: the load tool has a key
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {homes!r}
c.Spawner.cmd = [{python!r}, "-m", "jupyterhub.singleuser"]  # as mlsys hub does
c.Spawner.args = ["--allow-root"]
c.Spawner.environment = {{
    "JUPYTER_CONFIG_PATH": {settings!r},
    "JUPYTER_RUNTIME_DIR": lambda spawner: f"{sockets}/{{spawner.user.name}}",
}}
c.Spawner.start_timeout = c.Spawner.http_timeout = {start}
c.JupyterHub.services = [{{"name": "load", "api_token": {token!r}}}]
c.JupyterHub.load_roles = [
    {{"name": "load", "services": ["load"],
      "scopes": ["admin:users", "admin:servers", "admin:server_state", "access:servers"]}}
]
"""


class Hub:
    """A hub with a server for each student."""

    kind = "hub"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._token = secrets.token_hex(16)
        self._running: list[subprocess.Popen[bytes]] = []
        self._client = AsyncHTTPClient(force_instance=True)
        # The paths of sockets have to be short.
        self._sockets = TemporaryDirectory(prefix="mlsys-", dir="/tmp", ignore_cleanup_errors=True)

    async def open(self) -> None:
        """Start the hub, until it answers."""
        public, hub, proxy = _free_ports(3)
        self._address = f"http://127.0.0.1:{public}/"
        config = self._folder / "jupyterhub_config.py"
        settings = exchange(self._folder, sockets=True)
        config.write_text(
            CONFIG.format(
                address=self._address,
                hub_port=hub,
                proxy_port=proxy,
                proxy=find_proxy(ROOT / "build" / "proxy", print),
                homes=str(self._folder / "{username}"),
                python=sys.executable,
                settings=str(settings),
                sockets=self._sockets.name,
                start=START,
                token=self._token,
            )
        )
        with (self._folder / "log.txt").open("w") as log:
            self._running.append(
                subprocess.Popen(
                    [sys.executable, "-m", "jupyterhub", "-f", config],
                    cwd=self._folder,
                    env=environment(self._folder, settings),
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )
        await self._until("hub/api/", lambda response: response.code == 200)

    async def start(self, student: str) -> Place:
        await self._ask(f"hub/api/users/{student}", "POST")
        await self._ask(f"hub/api/users/{student}/server", "POST")
        response = await self._until(f"hub/api/users/{student}", _ready)
        server = json.loads(response.body)["servers"][""]
        address = f"{self._address}user/{student}/"
        return Place(address, self._token, server["state"]["pid"], student)

    def shared(self) -> dict[str, int]:
        hub = self._running[0].pid
        proxy = next(
            child for child in machine.children()[hub] if "http-proxy" in machine.command(child)
        )
        return {"hub": hub, "proxy": proxy}

    def close(self) -> None:
        end(self._running)  # ends the proxy and all servers
        self._sockets.cleanup()

    async def _ask(self, address: str, method: str = "GET") -> HTTPResponse:
        return await self._client.fetch(
            HTTPRequest(
                self._address + address,
                method=method,
                headers={"Authorization": f"token {self._token}"},
                allow_nonstandard_methods=True,
                connect_timeout=START,
                request_timeout=START,
            )
        )

    async def _until(self, address: str, done: Any) -> HTTPResponse:
        """Ask until an answer is as it should be."""
        deadline = time.monotonic() + START
        while time.monotonic() < deadline and self._running[0].poll() is None:
            try:
                response = await self._ask(address)
            except (HTTPClientError, OSError):  # it does not listen yet
                pass
            else:
                if done(response):
                    return response
            await asyncio.sleep(0.2)
        last = (self._folder / "log.txt").read_text()[-2000:]
        raise OSError(f"the hub did not get to {address}:\n{last}")


def _ready(response: HTTPResponse) -> bool:
    server = json.loads(response.body)["servers"].get("")
    return bool(server and server["ready"])


def _free_ports(count: int) -> list[int]:
    """Ports of the loopback that nobody listens to now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
