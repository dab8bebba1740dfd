"""Fetches what a course tells a student, for a lab that is open in the browser.

| request | gives |
|---|---|
| ``POST mlsys/told`` with ``{"path": <notebook>}`` | puts what is told beside the ledger; whether there is anything |
"""  # noqa: E501

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from jupyter_server.auth.decorator import authorized
from tornado import web

from mlsys_widgets.handin.work import read_work
from mlsys_widgets.server.handlers import PanelHandler
from mlsys_widgets.server.told_link import ask_judge, keep_told


@dataclass(frozen=True)
class FetchOutcome:
    """The outcome of asking."""

    #: Whether a judge answered, and whether it has told anything about this lab.
    asked: bool
    told: bool


class ToldHandler(PanelHandler):
    """Asks the judge of the hub; the report about the ledger says what it told."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        path = self.path_in_body()
        if path is not None:
            await self.answer(path, self.fetch)

    def fetch(self, notebook: Path) -> FetchOutcome:
        work = read_work(notebook)
        reply = None if work.practice else ask_judge(work, self.services.root.folder)
        return FetchOutcome(reply is not None, keep_told(work, reply) is not None)
