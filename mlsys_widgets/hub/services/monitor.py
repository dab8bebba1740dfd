"""Answers monitoring: ``/services/monitor/health`` and ``/services/monitor/metrics``.

A service of the hub, behind its proxy. Anybody may ask whether the hub is well, and gets one word;
which part is not, and all numbers, are for who has the token in ``secrets/monitoring_token``. No
answer names a person. JupyterHub's own metrics are in the answer, so that one address is enough.

Run as ``python -m mlsys_widgets.hub.services.monitor FOLDER``.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler

from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.services.health import HubPart, Surroundings, examine_parts, facts
from mlsys_widgets.hub.services.hub_api import fetch
from mlsys_widgets.hub.services.metrics import exposition
from mlsys_widgets.hub.services.monitoring import TOKEN

#: Seconds for which an answer is given again, however often somebody asks.
_KEPT: Final = 2.0
_PATIENCE: Final = 10
#: People whom the hub lists at once.
_PAGE: Final = 100


class Monitor:
    """Looks at a hub, not more often than every two seconds."""

    def __init__(self, around: Surroundings, staff: set[str], api: str, token: str) -> None:
        self._around, self._staff, self._api, self._token = around, staff, api, token
        self._kept: dict[str, tuple[float, Any]] = {}

    def parts(self) -> list[HubPart]:
        parts: list[HubPart] = self._recent("parts", lambda: examine_parts(self._around))
        return parts

    def report(self, *, whole: bool) -> dict[str, Any]:
        """Return how the hub is, in one word; as a `whole`, with parts and facts."""
        parts = self.parts()
        status = "well" if all(part.well for part in parts) else "failing"
        if not whole:
            return {"status": status}
        told = {part.name: {"well": part.well, "says": part.says} for part in parts}
        return {"status": status, "parts": told, **facts(self._around)}

    def metrics(self) -> bytes:
        found: bytes = self._recent("metrics", self._metrics)
        return found

    def _metrics(self) -> bytes:
        theirs, users = b"", None
        try:
            theirs = fetch(f"{self._around.hub}/hub/metrics", self._token, timeout=_PATIENCE)
            users = self._students()
        except (OSError, ValueError):
            pass  # the hub does not answer, which our own numbers say
        return theirs + exposition(self._around, self.parts(), users)

    def _students(self) -> list[dict[str, Any]]:
        """Return everybody but staff; the hub tells a page at a time."""
        found: list[dict[str, Any]] = []
        while True:
            address = f"{self._api}/users?limit={_PAGE}&offset={len(found)}"
            page = json.loads(fetch(address, self._token, timeout=_PATIENCE))
            found += page
            if not page:
                return [each for each in found if each["name"] not in self._staff]

    def _recent(self, what: str, look: Any) -> Any:
        when, found = self._kept.get(what, (0.0, None))
        if not when or time.monotonic() - when > _KEPT:
            found = look()
            self._kept[what] = (time.monotonic(), found)
        return found


class _Handler(RequestHandler):
    """Headers and the token, for both answers."""

    def initialize(self, monitor: Monitor, secret: str, one: asyncio.Lock) -> None:
        self.monitor, self.secret, self.one = monitor, secret, one

    def set_default_headers(self) -> None:
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")

    @property
    def trusted(self) -> bool:
        """Whether the request carries the token."""
        _, _, given = self.request.headers.get("Authorization", "").partition(" ")
        return hmac.compare_digest(given.strip().encode(), self.secret.encode())


class HealthHandler(_Handler):
    """200 if all is well, 503 if not."""

    async def get(self) -> None:
        async with self.one:  # one look at a time, however many ask
            whole = self.trusted
            report = await asyncio.to_thread(lambda: self.monitor.report(whole=whole))
        self.set_status(200 if report["status"] == "well" else 503)
        self.write(report)


class MetricsHandler(_Handler):
    """Numbers, for who has the token."""

    async def get(self) -> None:
        if not self.trusted:
            self.set_status(403)
            self.write({"problem": f"this needs the token in secrets/{TOKEN}: Bearer TOKEN"})
            return
        async with self.one:
            text = await asyncio.to_thread(self.monitor.metrics)
        self.set_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.write(text)


def surroundings(places: Places, state: HubState, parent: int) -> Surroundings:
    """Describe the hub by the configuration that JupyterHub was started with."""
    settings = json.loads(places.configuration.read_text("utf-8"))
    services = {each["name"]: each["command"] for each in settings["JupyterHub"]["services"]}
    return Surroundings(
        places, state.course_id, f"http://127.0.0.1:{state.hub_port}",
        f"http://127.0.0.1:{state.api_port}", services, parent,
    )  # fmt: skip


async def serve(places: Places) -> None:
    """Answer until somebody ends us."""
    state = HubState.read(places.state)
    if state is None:
        raise ValueError(f"there is no hub in {places.root}")
    monitor = Monitor(
        surroundings(places, state, os.getppid()),
        {each.name for each in state.of_role("instructor")},
        os.environ["JUPYTERHUB_API_URL"],
        os.environ["JUPYTERHUB_API_TOKEN"],
    )
    secret = (places.secrets / TOKEN).read_text("utf-8").strip()
    shared = {"monitor": monitor, "secret": secret, "one": asyncio.Lock()}
    prefix = os.environ["JUPYTERHUB_SERVICE_PREFIX"]
    handlers = [
        (f"{prefix}health", HealthHandler, shared), (f"{prefix}metrics", MetricsHandler, shared),
    ]  # fmt: skip
    # Somebody asks every few seconds, and the log is for other things.
    application = Application(handlers, log_function=lambda _: None)
    server = HTTPServer(application, idle_connection_timeout=30, body_timeout=10,
                        max_body_size=10_000, max_header_size=16_000)  # fmt: skip
    address = urlsplit(os.environ["JUPYTERHUB_SERVICE_URL"])
    server.listen(address.port or 0, address.hostname or "127.0.0.1")
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(Places(Path(sys.argv[1]))))
