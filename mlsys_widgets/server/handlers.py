"""The addresses of the panel, below the base address of the server.

| request | gives |
|---|---|
| ``GET mlsys/lab?path=<notebook>`` | what the ledger beside a notebook says, how far along each step is, and whether that was handed in; with ``wait=<seconds>`` and ``If-None-Match`` the answer comes when the ledger changes, or 304 after that time |
| ``GET mlsys/ledgers?path=<notebook>`` | all ledgers below the root |
| ``GET mlsys/labs`` | all labs below the root |
| ``POST mlsys/begin-again`` | sets the ledger beside a notebook aside |
"""  # noqa: E501

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

from mlsys_widgets.ledger import LedgerError
from mlsys_widgets.server.panel_answers import REFUSALS, PanelAnswers, refusal
from mlsys_widgets.server.paths import NotFound, PathRefused, Root

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from jupyter_server.serverapp import ServerApp

#: Seconds between two looks at a ledger while somebody waits for it to change.
LOOK: Final = 0.2
#: The longest such wait. Proxies close connections that are silent for a minute.
LONGEST_WAIT: Final = 30.0


class PanelServices(PanelAnswers):
    """What all handlers of a server share."""

    def __init__(self, serverapp: ServerApp) -> None:
        contents = serverapp.contents_manager
        # A manager that keeps notebooks elsewhere than in files has no folder of its own.
        folder = getattr(contents, "root_dir", "") or serverapp.root_dir
        super().__init__(Root(folder, hidden=bool(contents.allow_hidden)))


class PanelHandler(APIHandler):
    """A request of the panel: for those who are logged in and may see the files."""

    # Whoever may read and write files may read ledgers and restart a lab.
    auth_resource = "contents"
    # A panel that polls a ledger is not activity; an idle server may still be culled.
    _track_activity = False

    def initialize(self, services: PanelServices) -> None:
        self.services = services

    def compute_etag(self) -> str | None:
        # Tornado's own is a hash of the answer, which would have to be computed first.
        return None

    def say(self, answer: Mapping[str, Any]) -> None:
        self.set_header("Cache-Control", "no-store")
        self.finish(json.dumps(answer, allow_nan=False))

    def refuse(self, status: HTTPStatus, sentence: str) -> None:
        """Answer with a sentence that a person can do something about."""
        self.set_status(status)
        self.finish(json.dumps({"message": sentence}))

    def get_json_body(self) -> Any:
        """Return the body of the request as data; Jupyter's own fails for one that is no UTF-8."""
        try:
            return super().get_json_body()
        except UnicodeDecodeError:
            raise web.HTTPError(HTTPStatus.BAD_REQUEST, "The request is not UTF-8.") from None

    def path_in_body(self) -> str | None:
        """Return the notebook that the body of a request names; refused if it names none."""
        body = self.get_json_body()
        path = body.get("path") if isinstance(body, dict) else None
        if isinstance(path, str):
            return path
        self.refuse(HTTPStatus.BAD_REQUEST, "The path of a notebook is missing.")
        return None

    async def answer(
        self, path: str, reply: Callable[[Path], DataclassInstance], *, missing: str = ""
    ) -> None:
        """Answer about a notebook below the root, with a sentence if that cannot be done.

        The `reply` is made in a thread. If there is no such notebook, `missing` is said.
        """
        try:
            notebook = self.services.root.notebook(path)
            self.say(asdict(await asyncio.to_thread(reply, notebook)))
        except tuple(REFUSALS) as problem:
            self.refuse(*refusal(problem, missing))

    def ledger(self, path: str) -> Path | None:
        """Return the ledger beside a notebook; `None` after a refusal was sent."""
        try:
            return self.services.root.ledger(path)
        except (PathRefused, NotFound) as problem:
            self.refuse(*refusal(problem))
        return None


class LabHandler(PanelHandler):
    """Tells what the ledger beside a notebook says."""

    gone = False

    @web.authenticated
    @authorized
    async def get(self) -> None:
        path = self.get_query_argument("path")
        ledger = self.ledger(path)
        if ledger is None:
            return
        notebook = self.services.root.notebook(path)
        tag = await self.news(ledger, notebook, self.request.headers.get("If-None-Match"))
        if self.gone:
            return
        self.set_header("ETag", tag)
        if tag == self.request.headers.get("If-None-Match"):
            self.set_status(HTTPStatus.NOT_MODIFIED)
            self.finish()
            return
        # Checked again: somebody may have put a link there while we waited.
        if self.ledger(path) is not None:
            self.say(await asyncio.to_thread(self.services.report, path))

    async def news(self, ledger: Path, notebook: Path, known: str | None) -> str:
        """Return the tag of ledger and dates, once it differs from the known one or time is up."""
        try:
            wait = float(self.get_query_argument("wait", "0"))
        except ValueError:
            wait = 0.0
        wait = min(wait, LONGEST_WAIT) if math.isfinite(wait) else 0.0
        loop = asyncio.get_running_loop()
        deadline = loop.time() + wait
        while (tag := self.services.tag(ledger, notebook)) == known:
            if loop.time() >= deadline or self.gone:
                break
            await asyncio.sleep(LOOK)
        return tag

    def on_connection_close(self) -> None:
        self.gone = True
        super().on_connection_close()


class LedgersHandler(PanelHandler):
    """Lists all ledgers below the root, abridged."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        known = []
        if path := self.get_query_argument("path", ""):
            ledger = self.ledger(path)
            if ledger is None:
                return
            known.append(ledger)
        self.say(await asyncio.to_thread(self.services.ledgers, *known))


class LabsHandler(PanelHandler):
    """Lists all labs below the root."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        self.say(await asyncio.to_thread(self.services.labs))


class BeginAgainHandler(PanelHandler):
    """Sets the ledger beside a notebook aside, so that the lab starts from the beginning."""

    _track_activity = True

    @web.authenticated
    @authorized
    async def post(self) -> None:
        path = self.path_in_body()
        ledger = self.ledger(path) if path is not None else None
        if ledger is None:
            return
        try:
            self.say(await asyncio.to_thread(self.services.begin_again, ledger))
        except LedgerError as problem:
            self.refuse(*refusal(problem))


#: Address below ``mlsys/``, and who answers there.
PANEL: Final[Mapping[str, type[PanelHandler]]] = {
    "lab": LabHandler,
    "ledgers": LedgersHandler,
    "labs": LabsHandler,
    "begin-again": BeginAgainHandler,
}


def add_handlers(
    serverapp: ServerApp, services: PanelServices, handlers: Mapping[str, type[PanelHandler]]
) -> None:
    """Add addresses to a server."""
    base = serverapp.web_app.settings["base_url"]
    shared = {"services": services}
    serverapp.web_app.add_handlers(  # type: ignore[no-untyped-call]
        ".*$",
        [(url_path_join(base, "mlsys", name), each, shared) for name, each in handlers.items()],
    )
