"""Handing in from the Lab panel: what is missing, and then one file, or a submission on a hub.

| request | gives |
|---|---|
| ``GET mlsys/hand-in?path=<notebook>`` | who would hand in what and how, and what is missing |
| ``POST mlsys/hand-in`` with ``{"path": <notebook>}`` | hands in, and gives the receipt |
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jupyter_server.auth.decorator import authorized
from jupyter_server.utils import url_path_join
from tornado import web

from mlsys_widgets.handin.archive import archive_name, hand_in
from mlsys_widgets.handin.due_now import due_now, lateness
from mlsys_widgets.handin.missing import what_is_missing
from mlsys_widgets.handin.work import CannotHandIn, LabWork, read_work
from mlsys_widgets.labs.identity import student
from mlsys_widgets.server.exchange_finder import course_that_takes
from mlsys_widgets.server.handlers import PanelHandler, PanelServices
from mlsys_widgets.server.paths import NotFound, PathRefused

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

#: Seconds that nbgrader may take to submit.
_PATIENCE: Final = 120.0
_SUBMIT: Final = "mlsys_widgets.server.submit"


class HandInHandler(PanelHandler):
    """Hands in the lab of a notebook."""

    _track_activity = True

    @web.authenticated
    @authorized
    async def get(self) -> None:
        await self.answer(self.get_query_argument("path"), self.outlook)

    @web.authenticated
    @authorized
    async def post(self) -> None:
        path = self.path_in_body()
        if path is not None:
            await self.answer(path, self.handed_in)

    async def answer(self, path: str, say: Any) -> None:
        """Answer about a notebook below the root, with a sentence if that cannot be done."""
        try:
            notebook = self.services.root.notebook(path)
            self.say(await asyncio.to_thread(say, notebook))
        except PathRefused as problem:
            self.refuse(HTTPStatus.FORBIDDEN, str(problem))
        except NotFound as problem:
            self.refuse(HTTPStatus.NOT_FOUND, str(problem))
        except ValueError as problem:
            self.refuse(HTTPStatus.CONFLICT, _sentence(str(problem)))

    def course_of(self, work: LabWork) -> str | None:
        """The course whose exchange takes the lab; `None` where a file is made."""
        return course_that_takes(work.lab, self.services.root.folder, work.folder.parent)

    def outlook(self, notebook: Path) -> dict[str, Any]:
        """What would be handed in, by whom and how, and what is missing."""
        work = read_work(notebook)
        who, course = student(work.folder), self.course_of(work)
        missing = what_is_missing(work, who)
        return {
            "lab": work.lab,
            "title": work.title,
            "student": who.name,
            "course": course,
            "file": None if course else archive_name(work.lab, who.name),
            "missing": [{"kind": each.kind, "words": each.words} for each in missing],
            "due": due_now(work),
        }

    def handed_in(self, notebook: Path) -> dict[str, Any]:
        """Hand in, and give the receipt."""
        work = read_work(notebook)
        if course := self.course_of(work):
            said = submitted(work, course)
            return {"file": None, "lateness": lateness(work, datetime.now(UTC)), **said}
        done = hand_in(work, student(work.folder).name)
        return {
            "file": self.services.root.path_of(done.path),
            "course": None,
            "lateness": lateness(work, done.time),
            "time": done.time.isoformat(timespec="seconds"),
            "files": list(done.files),
        }


def submitted(work: LabWork, course: str) -> dict[str, Any]:
    """Submit through nbgrader's exchange, and return what it says.

    Raises
    ------
    CannotHandIn
        When the exchange does not take it.
    """
    if work.folder.name != work.lab:
        raise CannotHandIn(
            f"the folder of the notebook is called {work.folder.name}; to be submitted it must be"
            f" called {work.lab}"
        )
    if work.notebook.stem != work.lab:
        raise CannotHandIn(
            f"the notebook is called {work.notebook.name}; to be submitted it must be called"
            f" {work.lab}.ipynb"
        )
    try:
        # -P: nothing in a student's folder is taken for a library.
        done = subprocess.run(
            [sys.executable, "-P", "-m", _SUBMIT, str(work.folder)],
            capture_output=True,
            cwd=work.folder.parent,
            timeout=_PATIENCE,
            check=False,
        )
        said: Any = json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        raise CannotHandIn(
            f"the exchange of {course} did not answer within {_PATIENCE:.0f} s; try again"
        ) from None
    except (ValueError, IndexError):
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise CannotHandIn(f"nbgrader could not submit: {''.join(last)[:300]}") from None
    if "problem" in said:
        raise CannotHandIn(f"the exchange of {course} did not take it: {said['problem']}")
    return dict(said)


def _sentence(words: str) -> str:
    """A refusal of the command line as a sentence; the name of a file stays as it is spelled."""
    start = words[:1].upper() if words.partition(" ")[0].isalpha() else words[:1]
    return f"{start}{words[1:].rstrip('.')}."


def add_hand_in(serverapp: ServerApp) -> None:
    """Add the address to a server."""
    address = url_path_join(serverapp.web_app.settings["base_url"], "mlsys", "hand-in")
    shared = {"services": PanelServices(serverapp)}
    serverapp.web_app.add_handlers(  # type: ignore[no-untyped-call]
        ".*$", [(address, HandInHandler, shared)]
    )
