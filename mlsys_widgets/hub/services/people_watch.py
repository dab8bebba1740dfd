"""Follows who is in the course while the hub runs: a job of the course service.

Whenever ``assignments/course.toml`` changed, accounts are made to follow it. What cannot be told by
settings, such as that a person is to be forgotten, instructors ask for over a socket.
"""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from mlsys_widgets.courses.hub_link import HubReply, HubRequest
from mlsys_widgets.courses.personal_data import KnownNames
from mlsys_widgets.courses.roster import login_problem
from mlsys_widgets.hub.accounts.people_changes import PeopleChanges
from mlsys_widgets.hub.accounts.person_on_hub import PersonOnHub
from mlsys_widgets.hub.accounts.run_as import run_as
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.running.shared_course import course_settings
from mlsys_widgets.hub.services.hub_api import HubApi
from mlsys_widgets.hub.services.request_socket import RequestSocket

#: Seconds after which what could not be done is tried again.
_AGAIN: Final = 5.0
#: Seconds for which logs are watched for the name of who was forgotten.
_ECHO: Final = 120.0
#: Seconds that writing the gradebook takes at most.
_HALF_WRITTEN: Final = 10.0
_OPEN: Final = (
    "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=1).execute("
    "'select count(*) from sqlite_master')"
)


class PeopleWatch:
    """Looks at the settings and takes requests, and acts: one thing at a time."""

    def __init__(self, places: Places, hub: HubApi, python: Path) -> None:
        self._places, self._hub, self._python = places, hub, python
        self._requests: RequestSocket | None = None
        self._followed: bytes | None = None
        self._tried = 0.0
        self._problems: list[str] = []
        #: Whom this process has seen come; their first passwords are shown to instructors.
        self._new: set[str] = set()
        self._admitted: dict[str, bool] = {}
        #: Who has just left, and until when the hub may still write something about them.
        self._forgotten: list[tuple[PersonOnHub, float]] = []

    def look(self) -> None:
        """Follow the settings if they changed, and wait a second for a request."""
        state = HubState.read(self._places.state)
        if state is None:
            return
        if not self._admitted:  # as the configuration of JupyterHub has it
            closed = state.closed()
            self._admitted = {name: True for name in state.accounts if name not in closed}
        self._follow(state)
        self._requests = self._requests or RequestSocket(self._places.people)
        self._requests.answer_next(_instructors(state), partial(self._answer, state))
        self._heal_gradebook(state)
        self._forgotten = [each for each in self._forgotten if time.monotonic() < each[1]]
        for person, _ in self._forgotten:
            person.mask_logs()

    def _heal_gradebook(self, state: HubState) -> None:
        """Undo what a killed process left half written, with the rights of who owns the folder.

        SQLite does that for whoever opens the gradebook next. But it removes a file for it, which
        in the course's folder only that file's owner and the folder's owner can.
        """
        journal = self._places.course / "gradebook.db-journal"
        with suppress(FileNotFoundError):
            if time.time() - journal.lstat().st_mtime > _HALF_WRITTEN:
                teacher = state.accounts[state.instructor]
                gradebook = str(self._places.course / "gradebook.db")
                home = self._places.home(teacher.name)
                run_as(teacher, [self._python, "-I", "-c", _OPEN, gradebook], home=home)

    def _follow(self, state: HubState) -> None:
        try:
            settings = course_settings(self._places.course, _instructors(state))
        except ValueError as problem:
            self._problems = [str(problem)]
            return
        again = self._problems and time.monotonic() - self._tried > _AGAIN
        if settings == self._followed and not again:
            return
        before = set(state.accounts)
        self._problems = self._changes(state).follow(settings)
        self._tried = time.monotonic()
        self._followed = settings
        self._new |= set(state.accounts) - before if before else set()

    def _changes(self, state: HubState) -> PeopleChanges:
        return PeopleChanges(self._places, state, self._hub, self._python, self._admitted)

    def _answer(self, state: HubState, request: HubRequest) -> HubReply:
        if request.do == "follow":
            self._follow(state)
            return self._status(state, set(request.logins))
        name, *others = map(_login, request.logins)
        if kept := {state.instructor, state.student} & {name, *others}:
            raise ValueError(f"{kept.pop()} belongs to the hub itself, and stays")
        if request.do == "merge":
            into = state.accounts[_login(request.into)]
            labs = {str(each) for each in request.labs}
            self._changes(state).merge_hand_ins(name, into, labs)
            return HubReply()
        words = tuple(str(each) for each in request.words if len(str(each)) > 2)
        person = PersonOnHub(self._places, state, KnownNames((name, *others), words))
        if request.do == "copy":
            return HubReply(about=person.about())
        if request.do == "forget":
            self._new.discard(name)
            self._admitted.pop(name, None)
            self._forgotten.append((person, time.monotonic() + _ECHO))
            return HubReply(left=person.forget(self._hub))
        raise ValueError(f"nobody knows how to {request.do}")

    def _status(self, state: HubState, asked: set[str]) -> HubReply:
        people = {
            name: {"role": each.role, "standing": each.standing}
            for name, each in state.accounts.items()
        }
        passwords = self._changes(state).fresh_passwords(asked & self._new & set(people))
        return HubReply(problems=self._problems, people=people, passwords=passwords)


def _instructors(state: HubState) -> set[int]:
    return {each.uid for each in state.of_role("instructor") if each.standing == "active"}


def _login(name: object) -> str:
    if problem := login_problem(str(name)):
        raise ValueError(problem)
    return str(name)
