"""Handing in from the Lab panel: what is missing, and then one file, or a submission on a hub.

| request | gives |
|---|---|
| ``GET mlsys/hand-in?path=<notebook>`` | who would hand in what and how, and what is missing |
| ``POST mlsys/hand-in`` with ``{"path": <notebook>}`` | hands in, and gives the receipt |
"""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from jupyter_server.auth.decorator import authorized
from tornado import web

from mlsys_widgets.handin.archive import hand_in
from mlsys_widgets.handin.due_now import lateness
from mlsys_widgets.handin.work import CannotHandIn, LabWork, read_work
from mlsys_widgets.labs.identity import student
from mlsys_widgets.server.exchange_finder import course_that_takes
from mlsys_widgets.server.handin_answers import (
    HandInOutlook,
    HandInReceipt,
    outlook,
    receipt_of_file,
)
from mlsys_widgets.server.handlers import PanelHandler
from mlsys_widgets.server.submit_reply import SubmitReply
from mlsys_widgets.server.told_link import ask_judge, keep_told

#: Seconds that nbgrader may take to submit.
_PATIENCE: Final = 120.0
_LATER: Final = (
    "It is safe, and not judged yet: many hand in now. Open this dialog again in a minute."
)
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
            await self.answer(path, self.hand_in)

    def course_of(self, work: LabWork) -> str | None:
        """Return the course whose exchange takes the lab; `None` where a file is made."""
        return course_that_takes(work.lab, self.services.root.folder, work.folder.parent)

    def outlook(self, notebook: Path) -> HandInOutlook:
        """Say what would be handed in, by whom and how, and what is missing."""
        work = read_work(notebook)
        work.must_count()
        who, course = student(work.folder), self.course_of(work)
        judge = ask_judge(work, self.services.root.folder) if course else None
        keep_told(work, judge)
        at_once = judge is not None and judge.at_once
        return outlook(work, who, course=course, told_at_once=at_once)

    def hand_in(self, notebook: Path) -> HandInReceipt:
        work = read_work(notebook)
        work.must_count()
        if course := self.course_of(work):
            reply = submitted(work, course)
            late = lateness(work, datetime.now(UTC))
            told = self.told(work, reply.time)
            return HandInReceipt(None, reply.course, late, reply.time, reply.files, told)
        done = hand_in(work, student(work.folder).name)
        return receipt_of_file(work, done, self.services.root.path_of(done.path))

    def told(self, work: LabWork, time: str) -> tuple[str, ...]:
        """Wait until a hand-in is judged, where that is at once; what to say about it."""
        reply = ask_judge(work, self.services.root.folder, time)
        told = keep_told(work, reply)
        if reply is None or reply.feedback == "by hand":
            return ()
        if not reply.at_once and not reply.judged:
            return ("You will be told after the due time what your answers earned, and why.",)
        if not reply.judged or told is None:
            return (_LATER,)
        return told.sentences


def submitted(work: LabWork, course: str) -> SubmitReply:
    """Submit through nbgrader's exchange; `CannotHandIn` when it does not take the work."""
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
        reply = SubmitReply(**json.loads(done.stdout.splitlines()[-1]))
    except subprocess.TimeoutExpired:
        raise CannotHandIn(
            f"the exchange of {course} did not answer within {_PATIENCE:.0f} s; try again"
        ) from None
    except (ValueError, IndexError, TypeError):
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise CannotHandIn(f"nbgrader could not submit: {''.join(last)[:300]}") from None
    if reply.problem:
        raise CannotHandIn(f"the exchange of {course} did not take it: {reply.problem}")
    return reply
