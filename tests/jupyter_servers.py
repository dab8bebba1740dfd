"""Waiting for a Jupyter server that a test has started."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.waiting import wait_for


def wait_until_serving(process: subprocess.Popen[bytes], runtime: Path, log: Path) -> str:
    """Return the server's address once it accepts connections; fail at once if it has died.

    A Jupyter server writes the file with its address first and listens a moment later. How much
    later depends on the machine, so the file alone does not mean that it can be asked.
    """
    info = runtime / f"jpserver-{process.pid}.json"

    def serving() -> str | None:
        if process.poll() is not None:
            pytest.fail(f"the server ended with code {process.returncode}:\n{log.read_text()}")
        address = _address(info)
        return address if address and _listens(address) else None

    address = wait_for(serving, lambda: f"the server did not start:\n{log.read_text()}")
    assert address
    return address


def _address(info: Path) -> str | None:
    try:
        return str(json.loads(info.read_text())["url"])
    except (FileNotFoundError, ValueError):  # not there yet, or half written
        return None


def _listens(address: str) -> bool:
    url = urlsplit(address)
    try:
        socket.create_connection((url.hostname, url.port), timeout=5).close()
    except OSError:
        return False
    return True
