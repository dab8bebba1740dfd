"""A real Jupyter server with a real token, on a folder of labs."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.jupyter_servers import wait_until_serving


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Any
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Server:
    """A running server, and the folder it serves."""

    url: str
    token: str
    folder: Path
    process: int

    def ask(
        self, address: str, *, method: str = "GET", body: Any = None, token: bool = True, **headers
    ) -> Answer:
        """Send a request as it is; any answer is an answer."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent["Authorization"] = f"token {self.token}"
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + address, data=data, headers=sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers, error.read())


@pytest.fixture(scope="module")
def server(root, tmp_path_factory) -> Iterator[Server]:
    """Start a server as a student's is started, apart from the user's own settings."""
    home = tmp_path_factory.mktemp("server")
    folder, runtime, log = home / "notebooks", home / "runtime", home / "log.txt"
    folder.mkdir()
    # As it ships, and not dependent on how the package was installed here.
    config = home / "config" / "jupyter_server_config.d" / "mlsys_widgets.json"
    config.parent.mkdir(parents=True)
    shutil.copyfile(root / "mlsys_widgets" / "server" / "jupyter_server_config.json", config)
    token = secrets.token_hex(16)
    options = {
        "ip": "127.0.0.1",
        "port": 0,
        "open_browser": False,
        "allow_root": True,
        "root_dir": folder,
    }
    places = {
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": runtime,
    }
    with log.open("w") as output:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "jupyter_server",
                f"--IdentityProvider.token={token}",
                *(f"--ServerApp.{name}={value}" for name, value in options.items()),
            ],
            env={**os.environ, **{name: str(place) for name, place in places.items()}},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield Server(wait_until_serving(process, runtime, log), token, folder, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
