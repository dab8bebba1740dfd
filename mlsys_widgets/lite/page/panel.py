"""Answers the Lab panel where there is no server: the same answers, over a comm of the kernel."""

from __future__ import annotations

import base64
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import LEDGER
from mlsys_widgets.handin.archive import hand_in
from mlsys_widgets.handin.work import LabWork, read_work
from mlsys_widgets.labs.identity import student
from mlsys_widgets.lite.page.exporting import export_record, import_record, kept, tag_of_kept
from mlsys_widgets.lite.page.new_release import Releases, outlook, take
from mlsys_widgets.lite.page.visitor import introduce, visitor
from mlsys_widgets.server.handin_answers import outlook as handin_outlook
from mlsys_widgets.server.handin_answers import receipt_of_file
from mlsys_widgets.server.panel_answers import (
    REFUSALS,
    PanelAnswers,
    change_drafts,
    read_drafts,
    refusal,
)
from mlsys_widgets.server.paths import Root

#: How many answers are remembered.
_REMEMBERED: Final = 16
_NO_COURSE: Final = (
    "Nobody can be asked from this page: it has no server. Ask whoever teaches your course."
)
_NO_WAY_BACK: Final = "The site has the newest version of a lab only, so there is no way back."


class PagePanel:
    """Answers about the labs in the drive of a page.

    Parameters
    ----------
    drive
        The folder that holds the labs.
    releases
        The labs of the site as they are now.
    """

    def __init__(self, drive: Path, releases: Releases) -> None:
        self.answers = PanelAnswers(Root(drive))
        self.releases = releases
        self._others: list[Path] | None = None
        self._said: OrderedDict[str, dict[str, Any]] = OrderedDict()

    def reply(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Answer one request: its id, a status as HTTP has them, and what a server would say.

        One that was answered is not done again: the page asks again when an answer was lost.
        """
        number = str(request.get("id"))
        if number not in self._said:
            status, body, tag = self._answer(request)
            self._said[number] = {"id": number, "status": int(status), "body": body, "tag": tag}
            while len(self._said) > _REMEMBERED:
                self._said.popitem(last=False)
        return self._said[number]

    def _answer(self, request: Mapping[str, Any]) -> tuple[HTTPStatus, Any, str]:
        asked = (str(request.get("method")), str(request.get("address")))
        given = {**(request.get("query") or {}), **(request.get("body") or {})}
        try:
            if asked == ("GET", "lab"):
                return self._report(str(given.get("path")), request.get("tag"))
            return HTTPStatus.OK, _TABLE[asked](self, given), ""
        except KeyError:
            return HTTPStatus.NOT_FOUND, {"message": "This page does not know that request."}, ""
        except tuple(REFUSALS) as problem:
            status, words = refusal(problem)
            return status, {"message": words}, ""
        except OSError as problem:
            words = f"The browser's storage does not answer: {problem.strerror or problem}."
            return HTTPStatus.CONFLICT, {"message": words}, ""

    def _report(self, path: str, known: Any) -> tuple[HTTPStatus, Any, str]:
        root = self.answers.root
        tag = self.answers.tag(root.ledger(path), root.notebook(path))
        tag = f'{tag[:-1]}-{tag_of_kept(root.ledger(path))}"'
        if tag == known:
            return HTTPStatus.NOT_MODIFIED, None, tag
        kept_here = asdict(kept(root.ledger(path)))
        return HTTPStatus.OK, {**self.answers.report(path), "kept": kept_here}, tag

    def _notebook(self, given: Mapping[str, Any]) -> Path:
        return self.answers.root.notebook(str(given.get("path")))

    def _ledgers(self, given: Mapping[str, Any]) -> Any:
        mine = self.answers.root.ledger(str(given.get("path")))
        if self._others is None:
            # Every look at a file is a trip to the page. No other lab begins in this kernel.
            self._others = sorted(self.answers.root.folder.glob(f"*/{LEDGER}"))
        found = dict.fromkeys([each for each in (mine, *self._others) if each.is_file()])
        return self.answers.listed(found, True)

    def _work(self, given: Mapping[str, Any]) -> LabWork:
        work = read_work(self._notebook(given))
        work.must_count()
        return work

    def _outlook(self, given: Mapping[str, Any]) -> Any:
        work = self._work(given)
        return asdict(handin_outlook(work, student(work.folder)))

    def _hand_in(self, given: Mapping[str, Any]) -> Any:
        """Make the file, and give it to the page to download: nothing is uploaded from here."""
        work = self._work(given)
        with tempfile.TemporaryDirectory() as aside:
            done = hand_in(work, student(work.folder).name, into=Path(aside))
            content = base64.b64encode(done.path.read_bytes()).decode("ascii")
        return {**asdict(receipt_of_file(work, done, done.path.name)), "content": content}

    def _begin_again(self, given: Mapping[str, Any]) -> Any:
        return self.answers.begin_again(self.answers.root.ledger(str(given.get("path"))))

    def _drafts(self, given: Mapping[str, Any]) -> Any:
        return asdict(read_drafts(self._notebook(given)))

    def _change_drafts(self, given: Mapping[str, Any]) -> Any:
        changes = given.get("changes")
        change_drafts(self._notebook(given), changes if isinstance(changes, list) else [])
        return {"drafts": {}}

    def _visitor(self, _given: Mapping[str, Any]) -> Any:
        return asdict(visitor())

    def _introduce(self, given: Mapping[str, Any]) -> Any:
        name, code = str(given.get("name", "")), str(given.get("code", ""))
        return asdict(introduce(name, code, by_code=given.get("by_code") is True))

    def _export(self, _given: Mapping[str, Any]) -> Any:
        return export_record(self.answers.root.folder)

    def _import(self, given: Mapping[str, Any]) -> Any:
        ledger = self.answers.root.ledger(str(given.get("path")))
        return import_record(
            str(given.get("content", "")), ledger, aside=given.get("aside") is True
        )

    def _versions(self, given: Mapping[str, Any]) -> Any:
        mine = given.get("mine")
        known = mine if isinstance(mine, str) and mine else None
        return asdict(outlook(self._notebook(given), known, self.releases))

    def _take_version(self, given: Mapping[str, Any]) -> Any:
        if given.get("do") != "take":
            raise ValueError(_NO_WAY_BACK)
        return take(self._notebook(given), self.releases)

    def _told(self, _given: Mapping[str, Any]) -> Any:
        return {"asked": False, "told": False}

    def _second_look(self, _given: Mapping[str, Any]) -> Any:
        raise ValueError(_NO_COURSE)


_TABLE: Final[Mapping[tuple[str, str], Callable[[PagePanel, Mapping[str, Any]], Any]]] = {
    ("GET", "ledgers"): PagePanel._ledgers,
    ("POST", "begin-again"): PagePanel._begin_again,
    ("GET", "drafts"): PagePanel._drafts,
    ("PUT", "drafts"): PagePanel._change_drafts,
    ("GET", "hand-in"): PagePanel._outlook,
    ("POST", "hand-in"): PagePanel._hand_in,
    ("POST", "told"): PagePanel._told,
    ("GET", "second-look"): PagePanel._second_look,
    ("GET", "who"): PagePanel._visitor,
    ("POST", "who"): PagePanel._introduce,
    ("GET", "record"): PagePanel._export,
    ("POST", "record"): PagePanel._import,
    ("GET", "new-version"): PagePanel._versions,
    ("POST", "new-version"): PagePanel._take_version,
}
