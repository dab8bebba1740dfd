"""What the hub's own services ask JupyterHub for, over its interface."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import ProxyHandler, Request, build_opener

#: Seconds that ending a server may take.
_PATIENCE: Final = 60.0


class HubApi:
    """JupyterHub, as a service of it may use it.

    Parameters
    ----------
    url, token
        Where it is, and what lets us in.
    """

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url.rstrip("/"), token
        # No proxy from the environment: it could not reach an address of this machine.
        self._opener = build_opener(ProxyHandler({}))

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] = os.environ) -> HubApi:
        """As JupyterHub tells its services."""
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
        known = self._read(f"groups/{quote(group)}").get("users", [])
        new, gone = sorted(set(members) - set(known)), sorted(set(known) - set(members))
        if new:
            self._ask("POST", f"groups/{quote(group)}/users", {"users": new})
        if gone:
            self._ask("DELETE", f"groups/{quote(group)}/users", {"users": gone})

    def _read(self, path: str) -> dict[str, Any]:
        request = Request(f"{self._url}/{path}", headers=self._headers)
        with self._opener.open(request, timeout=30) as answer:
            said: dict[str, Any] = json.load(answer)
        return said

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"token {self._token}", "Content-Type": "application/json"}

    def _ask(self, method: str, path: str, data: Any = None, allowed: tuple[int, ...] = ()) -> int:
        body = None if data is None else json.dumps(data).encode()
        request = Request(f"{self._url}/{path}", body, self._headers, method=method)
        try:
            with self._opener.open(request, timeout=_PATIENCE) as answer:
                return int(answer.status)
        except HTTPError as problem:
            if problem.code in allowed:
                return problem.code
            raise OSError(f"the hub refuses to {method} {path}: {problem.code}") from None
        except URLError as problem:
            raise OSError(f"the hub does not answer: {problem.reason}") from None
