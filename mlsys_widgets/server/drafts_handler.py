"""Keeping what is typed into cards, for a page whose kernel is busy, restarted or gone.

| request | gives |
|---|---|
| ``GET mlsys/drafts?path=<notebook>`` | all drafts beside a notebook, by item and box |
| ``PUT mlsys/drafts`` with ``{"path": <notebook>, "changes": [...]}`` | writes and removes drafts |
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from mlsys_widgets.files import LEDGER
from mlsys_widgets.ledger.drafts import Boxes, DraftRefused, Drafts
from mlsys_widgets.server.handlers import PanelHandler


@dataclass(frozen=True)
class DraftReport:
    """All drafts beside a notebook."""

    drafts: Boxes


class DraftsHandler(PanelHandler):
    """Reads and writes the drafts beside a notebook."""

    _track_activity = True

    @web.authenticated
    @authorized
    async def get(self) -> None:
        await self.answer(self.get_query_argument("path"), read_drafts)

    @web.authenticated
    @authorized
    async def put(self) -> None:
        path = self.path_in_body()
        if path is None:
            return
        body: Any = self.get_json_body()
        changes = body.get("changes")
        if not isinstance(changes, list):
            self.refuse(HTTPStatus.BAD_REQUEST, "The changes are missing: a list of drafts.")
            return

        def write(notebook: Path) -> DraftReport:
            drafts = Drafts(notebook.with_name(LEDGER))
            try:
                drafts.change(changes)
            except OSError as problem:
                why = problem.strerror or "the file cannot be written"
                raise DraftRefused(f"What you typed could not be kept: {why}.") from problem
            return DraftReport({})

        await self.answer(path, write)


def read_drafts(notebook: Path) -> DraftReport:
    """Read the drafts beside a notebook."""
    return DraftReport(Drafts(notebook.with_name(LEDGER)).read())
