"""Asks JupyterHub for something over its interface, as its services do."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request

from mlsys_widgets.hub.running.server_process import local_opener

#: Seconds that ending a server may take.
_PATIENCE: Final = 60.0


def fetch(
    url: str, token: str = "", *, method: str = "GET", data: Any = None, timeout: float = 30
) -> bytes:
    """Send a request to an address of this machine; return the body of the answer."""
    headers = {"Authorization": f"token {token}"} if token else {}
    body = None
    if data is not None:
        headers["Content-Type"], body = "application/json", json.dumps(data).encode()
    with local_opener().open(Request(url, body, headers, method=method), timeout=timeout) as answer:
        content: bytes = answer.read()
    return content


class HubApi:
    """JupyterHub, as a service of it may use it."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url.rstrip("/"), token

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] = os.environ) -> HubApi:
        """Read what JupyterHub tells its services."""
        return cls(environment["JUPYTERHUB_API_URL"], environment["JUPYTERHUB_API_TOKEN"])

    def admit(self, name: str) -> None:
        """Let somebody log in."""
        self._ask("POST", f"users/{quote(name)}", allowed=(409,))

    def turn_away(self, name: str) -> None:
        """Stop somebody's server, end their sessions, and let them in no more."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            # 400: its server is about to stop.
            if self._ask("DELETE", f"users/{quote(name)}", allowed=(400, 404)) != 400:
                return
            if time.monotonic() > deadline:
                raise OSError(f"the server of {name} does not stop")
            time.sleep(0.5)

    def stop_server(self, name: str) -> None:
        """Stop somebody's server; they may start it again."""
        self._ask("DELETE", f"users/{quote(name)}/server", allowed=(400, 404))

    def set_group(self, group: str, members: Sequence[str]) -> None:
        """Let a group of the hub have these members and no others."""
        self._ask("POST", f"groups/{quote(group)}", allowed=(409,))
        found = fetch(f"{self._url}/groups/{quote(group)}", self._token)
        known = json.loads(found).get("users", [])
        new, gone = sorted(set(members) - set(known)), sorted(set(known) - set(members))
        if new:
            self._ask("POST", f"groups/{quote(group)}/users", {"users": new})
        if gone:
            self._ask("DELETE", f"groups/{quote(group)}/users", {"users": gone})

    def _ask(self, method: str, path: str, data: Any = None, allowed: tuple[int, ...] = ()) -> int:
        """Ask for something; return which of the refusals that are all right came, or 0."""
        try:
            fetch(f"{self._url}/{path}", self._token, method=method, data=data, timeout=_PATIENCE)
        except HTTPError as problem:
            if problem.code in allowed:
                return problem.code
            raise OSError(f"the hub refuses to {method} {path}: {problem.code}") from None
        except URLError as problem:
            raise OSError(f"the hub does not answer: {problem.reason}") from None
        return 0
