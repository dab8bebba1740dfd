"""Asks the hub of a course for what only root can do.

Accounts are root's. Beside the course a hub keeps a folder that only instructors can enter, with a
socket in it. The hub knows from the kernel who is at the other end, so nobody needs a token, and
nothing about a person lies in a file while they talk.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from mlsys_widgets.files import open_folder, socket_in

#: Beside the course: what tells that this is a hub, and the folder of the socket.
HUB_STATE: Final = "hub.json"
PEOPLE_FOLDER: Final = "people"
SOCKET: Final = "hub.sock"
HUB_NOT_RUNNING: Final = "The hub does not run; it follows at its next start."
#: Seconds to wait for the hub: ending somebody's server takes some.
_PATIENCE: Final = 90.0


@dataclass(frozen=True)
class HubRequest:
    """A request of an instructor to the hub."""

    #: ``follow`` acts on the settings as they are; the others concern one student.
    do: Literal["follow", "merge", "copy", "forget"]
    #: What the person is called, the login of today first; for ``follow``, whose password to tell.
    logins: Sequence[str] = ()
    #: What else names them, for ``copy`` and ``forget``.
    words: Sequence[str] = ()
    #: For ``merge``: who they are from now on, and the labs whose hand-ins move there.
    into: str = ""
    labs: Sequence[str] = ()


@dataclass(frozen=True)
class HubReply:
    """The answer of the hub."""

    #: Why it did not do what it was asked for; empty if it did.
    problem: str = ""
    #: What of the settings it could not follow, a sentence each.
    problems: Sequence[str] = ()
    people: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: The first passwords of those asked about, if the hub made their accounts while it ran.
    passwords: Mapping[str, str] = field(default_factory=dict)
    #: All that the hub keeps about a person.
    about: Mapping[str, Any] = field(default_factory=dict)
    #: What of a person could not be removed: ``path`` and ``why``.
    left: Sequence[Mapping[str, str]] = ()


class HubLink:
    """The hub of a course in a folder."""

    def __init__(self, course: Path) -> None:
        self._root = course.resolve().parent
        self._folder = self._root / PEOPLE_FOLDER

    @property
    def exists(self) -> bool:
        """Whether the course is on a hub, and this person may ask it for something."""
        return self._on_hub and os.access(self._folder, os.R_OK | os.X_OK)

    @property
    def closed(self) -> bool:
        """Whether the course is on a hub that only instructors may ask."""
        return self._on_hub and not self.exists

    @classmethod
    def of_instructor(cls, course: Path) -> HubLink:
        """Return the hub of a course; `ValueError` for a TA, who may not move people there."""
        link = cls(course)
        if link.closed:
            raise ValueError("on this hub only an instructor can do that")
        return link

    @property
    def _on_hub(self) -> bool:
        return self._folder.is_dir() and (self._root / HUB_STATE).is_file()

    def status(self) -> HubReply | None:
        """Return what the hub knows about people; `None` if it does not run, or is closed."""
        return self.ask(HubRequest("follow"), starting=0.0) if self.exists else None

    def ask(self, request: HubRequest, *, starting: float = _PATIENCE) -> HubReply | None:
        """Ask the hub for something; `None` if it does not run, `ValueError` if it could not do it.

        A hub that is about to start is waited for, `starting` seconds. A request is taken back if
        the hub has not begun with it when we stop waiting for the answer.
        """
        deadline = time.monotonic() + starting
        while True:
            try:
                reply = HubReply(**json.loads(self._exchange(json.dumps(asdict(request)))))
                break
            except FileNotFoundError:  # the start of a hub removes it
                if time.monotonic() >= deadline:
                    return None
                time.sleep(0.1)
            except (OSError, ValueError):  # it was stopped, perhaps while it answered
                return None
        if reply.problem:
            raise ValueError(reply.problem)
        return reply

    def _exchange(self, line: str) -> bytes:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_PATIENCE)
            with open_folder(self._folder) as folder:
                connection.connect(socket_in(folder, SOCKET))
            connection.sendall(f"{line}\n".encode())
            with connection.makefile("rb") as answer:
                return answer.read()
