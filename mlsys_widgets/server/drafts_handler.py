"""Keeping what is typed into cards, for a page whose kernel is busy, restarted or gone.

| request | gives |
|---|---|
| ``GET mlsys/drafts?path=<notebook>`` | all drafts beside a notebook, and what is recorded |
| ``PUT mlsys/drafts`` with ``{"path": <notebook>, "changes": [...]}`` | writes and removes drafts |
"""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from mlsys_widgets.server.handlers import PanelHandler
from mlsys_widgets.server.panel_answers import DraftReport, change_drafts, read_drafts


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
            change_drafts(notebook, changes)
            return DraftReport({})

        await self.answer(path, write)
