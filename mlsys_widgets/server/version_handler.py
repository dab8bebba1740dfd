"""A corrected version of a lab, for the Lab panel: whether there is one, and taking it over.

| request | gives |
|---|---|
| ``GET mlsys/new-version?path=<notebook>`` | whether the exchange has another version of the lab, and what changes |
| ``POST mlsys/new-version`` with ``{"path": <notebook>, "do": "take" or "undo"}`` | takes it over, or goes back |
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from mlsys_widgets.course.lab_versions import changes_in, lab_version, stamp_in
from mlsys_widgets.handin.work import LabWork, read_work
from mlsys_widgets.server.carry_over import CannotTakeOver, read_book, recorded_remarks
from mlsys_widgets.server.exchange_finder import released_folder
from mlsys_widgets.server.handlers import PanelHandler
from mlsys_widgets.server.takeover import kept_files, lab_files, take_over, way_back
from mlsys_widgets.server.version_outlook import (
    OfferedVersion,
    ReplacedVersion,
    TakeoverReply,
    VersionOutlook,
    notes_since,
    remarks_on,
    saved_steps,
)


class VersionHandler(PanelHandler):
    """Tells of a corrected version of the lab of a notebook, and takes it over."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        await self.answer(self.get_query_argument("path"), self.outlook)

    @web.authenticated
    @authorized
    async def post(self) -> None:
        path = self.path_in_body()
        body = self.get_json_body()
        what = body.get("do") if isinstance(body, dict) else None
        if path is None:
            return
        if what not in ("take", "undo"):
            self.refuse(HTTPStatus.BAD_REQUEST, "What to do is missing: take or undo.")
            return
        await self.answer(path, self.take if what == "take" else self.undo)

    def released(self, work: LabWork) -> Path | None:
        return released_folder(work.lab, self.services.root.folder, work.folder.parent)

    def outlook(self, notebook: Path) -> VersionOutlook:
        """Say whether there is another version, what changes with it, and the way back."""
        notebook = notebook.resolve()
        work = read_work(notebook)
        mine = stamp_in(notebook.read_bytes())
        kept = way_back(notebook)
        back = ReplacedVersion(kept.before or None, kept.time) if kept else None
        place = self.released(work)
        stamp = _stamp_there(place, work.lab) if place else None
        offered = None
        if place is not None and stamp is not None and _is_other(place, work, mine, stamp):
            new = read_book(lab_files(place, work.lab)[f"{work.lab}.ipynb"], f"{work.lab}.ipynb")
            offered = OfferedVersion(
                stamp,
                notes_since(changes_in(new), mine, stamp),
                remarks_on(notebook, work.lab, new),
            )
        return VersionOutlook(work.lab, mine, offered, back)

    def take(self, notebook: Path) -> TakeoverReply:
        notebook = notebook.resolve()
        work = read_work(notebook)
        place = self.released(work)
        if place is None:
            raise CannotTakeOver(f"there is no exchange here that has {work.lab}")
        files = lab_files(place, work.lab)
        name = f"{work.lab}.ipynb"
        new = read_book(files[name], name)
        stamp = stamp_in(files[name])
        beside = {n: content for n, content in files.items() if n != name}
        if stamp is None or lab_version(new, beside) != stamp:
            raise CannotTakeOver("the lab is being released just now; try again in a minute")
        if stamp == stamp_in(notebook.read_bytes()):
            raise CannotTakeOver("you have this version already")
        return self._replace(notebook, work.lab, files, new)

    def undo(self, notebook: Path) -> TakeoverReply:
        notebook = notebook.resolve()
        work = read_work(notebook)
        back = way_back(notebook)
        if back is None:
            raise CannotTakeOver("no version before this one is kept here")
        files = kept_files(notebook, work.lab, back)
        book = read_book(files[f"{work.lab}.ipynb"], back.notebook)
        return self._replace(notebook, work.lab, files, book)

    def _replace(
        self, notebook: Path, lab: str, files: Mapping[str, bytes], new: Mapping[str, Any]
    ) -> TakeoverReply:
        old = read_book(notebook.read_bytes(), notebook.name)
        recorded = list(recorded_remarks(old, new, saved_steps(notebook.parent, lab)))
        done = take_over(notebook, lab, files)
        return TakeoverReply(
            done.version or None,
            done.cells,
            [*done.remarks, *recorded],
            str(done.backup.relative_to(notebook.parent.parent)),
        )


def _stamp_there(place: Path, lab: str) -> str | None:
    try:
        return stamp_in((place / f"{lab}.ipynb").read_bytes())
    except OSError:
        return None


def _is_other(place: Path, work: LabWork, mine: str | None, stamp: str) -> bool:
    """Whether the exchange has another version; a copy without a stamp is told by its files."""
    if mine is not None:
        return mine != stamp
    beside = {n: c for n, c in lab_files(place, work.lab).items() if not n.endswith(".ipynb")}
    return any(
        not (work.folder / name).is_file() or (work.folder / name).read_bytes() != content
        for name, content in beside.items()
    )
