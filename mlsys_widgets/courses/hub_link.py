"""What a course says to the hub that it is on, and what the hub answers.

Accounts are root's. The hub reads ``course.toml`` and acts on it; beside the course it keeps a
folder ``people`` that only instructors can look into, with what it has done and what they ask for.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import COURSE_SETTINGS

#: The folder, beside that of the course, and what is in it.
PEOPLE_FOLDER: Final = "people"
STATUS: Final = "status.json"
REQUESTS: Final = "requests"
ANSWER: Final = ".answer"
#: Seconds to wait for the hub: ending somebody's server takes some.
_PATIENCE: Final = 90.0
#: Seconds after which a hub that did not look is taken for stopped.
_STALE: Final = 60.0


def digest(settings: bytes) -> str:
    """What tells one state of the settings from another."""
    return hashlib.sha256(settings).hexdigest()


@dataclass(frozen=True)
class HubStatus:
    """What the hub has done.

    Parameters
    ----------
    settings
        The `digest` of the settings that it followed last.
    problems
        What it could not do, a sentence each.
    people
        By login: ``role`` and ``standing``.
    passwords
        Of accounts that it made while it ran, until their owners change them.
    """

    settings: str = ""
    problems: tuple[str, ...] = ()
    people: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    passwords: Mapping[str, str] = field(default_factory=dict)


class HubLink:
    """The hub of a course.

    Parameters
    ----------
    course
        The folder of the course.
    """

    def __init__(self, course: Path) -> None:
        self._course = course.resolve()
        self._folder = self._course.parent / PEOPLE_FOLDER

    @property
    def exists(self) -> bool:
        """Whether the course is on a hub, and this person may ask it for something."""
        return os.access(self._folder / REQUESTS, os.W_OK | os.X_OK)

    @property
    def closed(self) -> bool:
        """Whether the course is on a hub that only instructors may ask."""
        return self._folder.is_dir() and not self.exists

    def status(self) -> HubStatus | None:
        """What the hub has done last; `None` without a hub."""
        try:
            said = json.loads((self._folder / STATUS).read_text("utf-8"))
        except (OSError, ValueError):
            return None
        return HubStatus(
            said["settings"], tuple(said["problems"]), said["people"], said["passwords"]
        )

    def _runs(self) -> bool:
        """Whether the hub has looked lately, as it notes every time, or is about to start."""
        try:
            return time.time() - (self._folder / STATUS).stat().st_mtime < _STALE
        except FileNotFoundError:  # which a start removes
            return True
        except OSError:
            return False

    def wait_for_settings(self) -> HubStatus | None:
        """Wait until the hub has followed the settings as they are; `None` if it does not run."""
        path = self._course / "assignments" / COURSE_SETTINGS
        wanted = digest(path.read_bytes() if path.is_file() else b"")
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline and self._runs():
            status = self.status()
            if status and status.settings == wanted:
                return status
            time.sleep(0.1)
        return None

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """Ask the hub for something that only root can do; `None` if it does not run.

        A request that is not answered is taken back.
        """
        name = secrets.token_hex(8)
        path = self._folder / REQUESTS / f"{name}.json"
        aside = path.with_suffix(".new")
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(dict(request), file)
        aside.rename(path)
        answer = path.with_suffix(ANSWER)
        deadline = time.monotonic() + _PATIENCE
        try:
            while time.monotonic() < deadline and self._runs():
                try:
                    said: dict[str, Any] = json.loads(answer.read_text("utf-8"))
                except (OSError, ValueError):
                    time.sleep(0.1)
                    continue
                return said
        finally:
            path.unlink(missing_ok=True)
        return None
