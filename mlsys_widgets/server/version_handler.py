"""A corrected version of a lab, for the Lab panel: whether there is one, and taking it over.

| request | gives |
|---|---|
| ``GET mlsys/new-version?path=<notebook>`` | whether the exchange has another version of the lab, and what changes |
| ``POST mlsys/new-version`` with ``{"path": <notebook>, "do": "take" or "undo"}`` | takes it over, or goes back |
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from mlsys_widgets.course.lab_versions import changes_in, lab_version, stamp_in
from mlsys_widgets.files import LEDGER
from mlsys_widgets.handin.work import LabWork, read_work
from mlsys_widgets.ledger import Ledger, LedgerError
from mlsys_widgets.server.carry_over import carry_over, recorded_remarks
from mlsys_widgets.server.exchange_finder import released_folder
from mlsys_widgets.server.handlers import PanelHandler
from mlsys_widgets.server.takeover import (
    CannotTakeOver,
    kept_files,
    lab_files,
    read_book,
    take_over,
    way_back,
)


@dataclass(frozen=True)
class OfferedVersion:
    """A version in the exchange: what changed, and what would not carry over as it is."""

    version: str
    notes: Sequence[str]
    remarks: Sequence[str]


@dataclass(frozen=True)
class ReplacedVersion:
    """The version before, which one can go back to."""

    version: str | None
    time: str


@dataclass(frozen=True)
class VersionOutlook:
    """The version of a lab that somebody has, and those that could replace it."""

    lab: str
    mine: str | None
    offered: OfferedVersion | None
    back: ReplacedVersion | None


@dataclass(frozen=True)
class TakeoverReply:
    """The version that the folder holds now, with the student's cells in it."""

    version: str | None
    cells: int
    remarks: Sequence[str]
    backup: str


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
        recorded = list(recorded_remarks(old, new, _progress(notebook.parent, lab)))
        done = take_over(notebook, lab, files)
        return TakeoverReply(
            done.version or None,
            done.cells,
            [*done.remarks, *recorded],
            str(done.backup.relative_to(notebook.parent.parent)),
        )


def notes_since(changes: list[tuple[str, str]], mine: str | None, new: str) -> list[str]:
    """List what changed after the version that somebody has, up to the new one.

    Examples
    --------
    >>> notes_since([("1", ""), ("2", "a unit"), ("3", "a typo")], "1", "3")
    ['a unit', 'a typo']
    >>> notes_since([("1", ""), ("2", "a unit"), ("3", "a typo")], None, "2")
    ['a unit']
    """
    names = [version for version, _ in changes]
    first = names.index(mine) + 1 if mine in names else 0
    last = names.index(new) + 1 if new in names else len(names)
    notes = [note for _, note in changes[first:last]] or [n for v, n in changes if v == new]
    return [note for note in notes if note.strip()]


def remarks_on(notebook: Path, lab: str, new: Mapping[str, Any]) -> list[str]:
    """List what would not carry over as it is; nothing is changed."""
    old = read_book(notebook.read_bytes(), notebook.name)
    recorded = recorded_remarks(old, new, _progress(notebook.parent, lab))
    return [*carry_over(old, new).remarks, *recorded]


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


def _progress(folder: Path, lab: str) -> dict[str, Any]:
    """Return how far along the lab is; nothing if its ledger cannot be read: the panel says so."""
    from mlsys_widgets.labs.student_steps import saved_progress

    if not (folder / LEDGER).exists():
        return {}
    try:
        return dict(saved_progress(Ledger.open(folder / LEDGER).state(), lab))
    except LedgerError:
        return {}
