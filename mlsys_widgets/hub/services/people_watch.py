"""Follows who is in the course while the hub runs: a service of the hub, run by root.

It looks every second whether ``assignments/course.toml`` changed, makes accounts follow it, and
writes what it did into a file that instructors read. What cannot be told by settings, such as that
a person is to be forgotten, instructors ask for with a file in a folder that only they can write.

Run as ``python -m mlsys_widgets.hub.services.people_watch FOLDER PYTHON``.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NoReturn

from mlsys_widgets.courses.hub_link import ANSWER, STATUS, digest
from mlsys_widgets.courses.personal_data import KnownNames
from mlsys_widgets.courses.roster import login_problem
from mlsys_widgets.files import open_no_follow, write_whole
from mlsys_widgets.hub.accounts.people_changes import Hub, PeopleChanges
from mlsys_widgets.hub.accounts.person_on_hub import PersonOnHub
from mlsys_widgets.hub.accounts.run_as import run_as
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.running.shared_course import course_settings
from mlsys_widgets.hub.services.hub_api import HubApi
from mlsys_widgets.hub.services.polling import poll_forever

#: Seconds between two looks.
_EVERY: Final = 1.0
#: Seconds after which what could not be done is tried again.
_AGAIN: Final = 5.0
#: Bytes of a request, and seconds for which an answer is kept that nobody fetched.
_LARGEST: Final = 100_000
_KEPT: Final = 600.0
#: Seconds for which logs are watched for the name of who was forgotten.
_ECHO: Final = 120.0
#: Seconds that writing the gradebook takes at most.
_HALF_WRITTEN: Final = 10.0
_OPEN: Final = (
    "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=1).execute("
    "'select count(*) from sqlite_master')"
)


class PeopleWatch:
    """Looks at the settings and at requests, and acts.

    Parameters
    ----------
    places
        The hub's folder.
    hub
        JupyterHub.
    python
        What runs programs of users.
    """

    def __init__(self, places: Places, hub: Hub, python: Path) -> None:
        self._places, self._hub, self._python = places, hub, python
        self._followed = ""
        self._tried = 0.0
        self._problems: list[str] = []
        #: Whom this process has seen come; their first passwords are shown to instructors.
        self._new: set[str] = set()
        self._admitted: dict[str, bool] = {}
        #: Who has just left, and until when the hub may still say something about them.
        self._forgotten: list[tuple[PersonOnHub, float]] = []

    def look(self) -> None:
        """Follow the settings if they changed, and answer requests."""
        state = HubState.read(self._places.state)
        if state is None:
            return
        if not self._admitted:  # as the configuration of JupyterHub has it
            closed = state.closed()
            self._admitted = {name: True for name in state.accounts if name not in closed}
        instructors = {each.uid for each in state.of_role("instructor")
                       if each.standing == "active"}  # fmt: skip
        try:
            settings = course_settings(self._places.course, instructors)
        except ValueError as problem:
            self._problems = [str(problem)]
            settings = b""
        else:
            self._follow(state, settings)
        self._answer_requests(state, instructors)
        self._heal_gradebook(state)
        self._forgotten = [each for each in self._forgotten if time.monotonic() < each[1]]
        for person, _ in self._forgotten:
            person.mask_logs()
        with suppress(FileNotFoundError):
            os.utime(self._places.people / STATUS)  # for who waits: the hub runs

    def _heal_gradebook(self, state: HubState) -> None:
        """Undo what a killed process left half written, with the rights of who owns the folder.

        SQLite does that for whoever opens the gradebook next. But it removes a file for it, which
        in the course's folder only that file's owner and the folder's owner can.
        """
        journal = self._places.course / "gradebook.db-journal"
        with suppress(FileNotFoundError):
            if time.time() - journal.lstat().st_mtime > _HALF_WRITTEN:
                teacher = state.accounts[state.instructor]
                book = str(self._places.course / "gradebook.db")
                home = self._places.home(teacher.name)
                run_as(teacher, [self._python, "-I", "-c", _OPEN, book], home=home)

    def _follow(self, state: HubState, settings: bytes) -> None:
        now = digest(settings)
        again = self._problems and time.monotonic() - self._tried > _AGAIN
        if now == self._followed and not again:
            return
        before = set(state.accounts)
        changes = self._changes(state)
        self._problems = changes.follow(settings)
        self._tried = time.monotonic()
        self._followed = now
        self._new |= set(state.accounts) - before if before else set()
        self._write_status(state)

    def _changes(self, state: HubState) -> PeopleChanges:
        return PeopleChanges(self._places, state, self._hub, self._python, self._admitted)

    def _write_status(self, state: HubState) -> None:
        new = self._new & set(state.accounts)
        said = {
            "settings": self._followed,
            "problems": self._problems,
            "people": {
                name: {"role": each.role, "standing": each.standing}
                for name, each in sorted(state.accounts.items())
            },
            "passwords": self._changes(state).fresh_passwords(new),
        }
        self._publish(self._places.people / STATUS, said)

    def _publish(self, path: Path, said: dict[str, Any]) -> None:
        """Write something that instructors, and nobody else, can read."""
        write_whole(path, json.dumps(said, indent=1, default=str) + "\n", mode=0o600)
        os.chown(path, 0, self._places.people.stat().st_gid)
        path.chmod(0o640)

    # Requests.

    def _answer_requests(self, state: HubState, instructors: set[int]) -> None:
        folder = self._places.requests
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            answer = path.with_suffix(ANSWER)
            if path.suffix == ".json" and not answer.exists():
                said = self._answer(state, path, instructors)
                if said is not None:
                    self._publish(answer, said)
                    # Who was forgotten is in no list any longer.
                    self._write_status(state)
            elif path.suffix == ANSWER:
                asked = path.with_suffix(".json")
                if not asked.exists() or time.time() - path.stat().st_mtime > _KEPT:
                    path.unlink(missing_ok=True)
                    asked.unlink(missing_ok=True)
            elif time.time() - path.lstat().st_mtime > _KEPT:
                path.unlink(missing_ok=True)

    def _answer(self, state: HubState, path: Path, instructors: set[int]) -> dict[str, Any] | None:
        try:
            asked = _request(path, instructors)
            if asked is None:
                return None
            return self._do(state, asked)
        except (ValueError, OSError, KeyError, TypeError) as problem:
            return {"problem": f"the hub could not do that: {problem}"}

    def _do(self, state: HubState, asked: dict[str, Any]) -> dict[str, Any]:
        name = _login(asked["name"])
        if name in (state.instructor, state.student):
            raise ValueError(f"{name} belongs to the hub itself, and stays")
        match asked["do"]:
            case "merge":
                into = state.accounts[_login(asked["into"])]
                labs = {str(each) for each in asked["labs"]}
                self._changes(state).move_hand_ins(name, into.name, labs=labs, owner=into)
                return {"done": True}
            case "forget" | "copy" as what:
                logins = (name, *(_login(each) for each in asked["logins"] if each != name))
                words = tuple(str(each) for each in asked["words"] if len(str(each)) > 2)
                person = PersonOnHub(self._places, state, KnownNames(logins, words))
                if what == "copy":
                    return {"about": person.about()}
                self._new -= {name}
                self._admitted.pop(name, None)
                self._forgotten.append((person, time.monotonic() + _ECHO))
                return {"left": person.forget(self._hub)}
        raise ValueError(f"nobody knows how to {asked['do']}")


def _request(path: Path, instructors: set[int]) -> dict[str, Any] | None:
    """Read what somebody asks for, if that is an instructor; else remove it."""
    with open(path, "rb", opener=open_no_follow) as file:
        about = os.fstat(file.fileno())
        good = (
            stat.S_ISREG(about.st_mode) and about.st_nlink == 1 and about.st_size <= _LARGEST
            and about.st_uid in {0, *instructors} and not about.st_mode & 0o022
        )  # fmt: skip
        if not good:
            path.unlink()
            return None
        said = json.loads(file.read())
    if not isinstance(said, dict):
        raise ValueError("a request is an object")
    return said


def _login(name: Any) -> str:
    if not isinstance(name, str) or (problem := login_problem(name)):
        raise ValueError(problem if isinstance(name, str) else "a login is a text")
    return name


def main(arguments: list[str]) -> NoReturn:
    """Look until somebody ends us."""
    watch = PeopleWatch(Places(Path(arguments[0])), HubApi.of_environment(), Path(arguments[1]))
    poll_forever(watch.look, "people are not followed", _EVERY)


if __name__ == "__main__":
    main(sys.argv[1:])
