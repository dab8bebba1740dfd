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
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from jupyter_server.auth.decorator import authorized
from tornado import web

from mlsys_widgets.handin.archive import archive_name, hand_in
from mlsys_widgets.handin.due_now import due_now, lateness
from mlsys_widgets.handin.missing import Missing, what_is_missing
from mlsys_widgets.handin.work import CannotHandIn, LabWork, read_work
from mlsys_widgets.labs.identity import student
from mlsys_widgets.server.exchange_finder import course_that_takes
from mlsys_widgets.server.handlers import PanelHandler
from mlsys_widgets.server.submit_reply import SubmitReply
from mlsys_widgets.server.told_link import ask_judge, keep_told

#: Seconds that nbgrader may take to submit.
_PATIENCE: Final = 120.0
_LATER: Final = (
    "It is safe, and not judged yet: many hand in now. Open this dialog again in a minute."
)
_SUBMIT: Final = "mlsys_widgets.server.submit"


@dataclass(frozen=True)
class HandInOutlook:
    """Who would hand in what, and what is missing: to a course, or as a file."""

    lab: str
    title: str
    student: str
    course: str | None
    file: str | None
    missing: tuple[Missing, ...]
    due: Mapping[str, Any] | None
    #: Whether it is judged and told at once, and then stands.
    told_at_once: bool = False


@dataclass(frozen=True)
class HandInReceipt:
    """The files that were handed in, and when."""

    file: str | None
    course: str | None
    lateness: str | None
    time: str
    files: tuple[str, ...]
    #: What came of it, as far as it is told at once.
    told: tuple[str, ...] = ()


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
        return HandInOutlook(
            lab=work.lab,
            title=work.title,
            student=who.name,
            course=course,
            file=None if course else archive_name(work.lab, who.name),
            missing=tuple(what_is_missing(work, who)),
            due=due_now(work),
            told_at_once=judge is not None and judge.at_once,
        )

    def hand_in(self, notebook: Path) -> HandInReceipt:
        work = read_work(notebook)
        work.must_count()
        if course := self.course_of(work):
            reply = submitted(work, course)
            late = lateness(work, datetime.now(UTC))
            told = self.told(work, reply.time)
            return HandInReceipt(None, reply.course, late, reply.time, reply.files, told)
        done = hand_in(work, student(work.folder).name)
        return HandInReceipt(
            file=self.services.root.path_of(done.path),
            course=None,
            lateness=lateness(work, done.time),
            time=done.time.isoformat(timespec="seconds"),
            files=tuple(done.files),
        )

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
