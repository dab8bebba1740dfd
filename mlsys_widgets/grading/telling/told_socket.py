"""Answers students' servers that ask what their student is told: each only about themselves.

Who asks is the kernel's word about the other end of the socket. A question names a lab and, after a
hand-in, the time of that; then the answer waits until it is judged, or for a while.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import (
    COURSE_SETTINGS,
    open_folder,
    signature_of,
    socket_in,
    user_named,
)
from mlsys_widgets.grading.telling.judged_hand_ins import JudgedHandIns

#: Bytes of a question, and seconds until it must have been asked.
_LONGEST: Final = 1000
_PATIENCE: Final = 5.0
#: Seconds that an answer waits at most, and between two looks.
_LONGEST_WAIT: Final = 30.0
_LOOK: Final = 0.1
#: Connections of one user, and of all.
_OF_ONE, _OF_ALL = 4, 2000
#: A process, its user and its group, as the kernel tells them.
_PEER: Final = struct.Struct("3i")


@dataclass
class _Caller:
    """One connection."""

    line: socket.socket
    user: int
    since: float = field(default_factory=time.monotonic)
    heard: bytes = b""
    question: Mapping[str, Any] | None = None
    reply: bytes = b""


class ToldSocket:
    """A socket in a folder of the exchange, for everybody who can reach it."""

    def __init__(
        self,
        folder: Path,
        name: str,
        course: Path,
        named: Callable[[int], str | None] | None = None,
    ) -> None:
        self._root, self._named = course, named or user_named
        self._settings_file = course / "assignments" / COURSE_SETTINGS
        self._course, self._settings = Course.at(course), signature_of(self._settings_file)
        self._kept: dict[str, JudgedHandIns] = {}
        self._callers: dict[int, _Caller] = {}
        self._of_user: Counter[int] = Counter()
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with open_folder(folder) as handle:
            # Aside until it listens: then whoever finds it is heard.
            aside = f".{name}.new"
            with suppress(FileNotFoundError):
                os.unlink(aside, dir_fd=handle)
            self._listening.bind(socket_in(handle, aside))
            os.chmod(aside, 0o666, dir_fd=handle)
            self._listening.listen(512)
            os.rename(aside, name, src_dir_fd=handle, dst_dir_fd=handle)
        self._listening.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listening, selectors.EVENT_READ)

    def serve(self) -> None:
        """Answer until the process ends."""
        while True:
            self.look()

    def look(self) -> None:
        """Hear who asks, answer whom there is an answer for."""
        for key, _ in self._selector.select(_LOOK):
            if key.fileobj is self._listening:
                self._accept()
            else:
                self._hear(self._callers[key.fd])
        if (found := signature_of(self._settings_file)) != self._settings:
            with suppress(ValueError):  # settings that are being written; the last ones hold
                self._course, self._settings = Course.at(self._root), found
        for caller in list(self._callers.values()):
            self._answer(caller)

    def _accept(self) -> None:
        with suppress(OSError):
            line, _ = self._listening.accept()
            line.setblocking(False)
            peer = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
            user = _PEER.unpack(peer)[1]
            if self._of_user[user] >= _OF_ONE or len(self._callers) >= _OF_ALL:
                line.close()
                return
            self._of_user[user] += 1
            self._callers[line.fileno()] = _Caller(line, user)
            self._selector.register(line, selectors.EVENT_READ)

    def _hear(self, caller: _Caller) -> None:
        try:
            piece = caller.line.recv(_LONGEST)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        caller.heard += piece
        if not piece or len(caller.heard) > _LONGEST:  # gone, or nobody of ours
            self._end(caller)
            return
        if caller.question is None and b"\n" in caller.heard:
            try:
                question = json.loads(caller.heard.partition(b"\n")[0])
                caller.question = {
                    "lab": str(question["lab"]), "since": str(question["since"])
                }  # fmt: skip
            except (ValueError, TypeError, KeyError, RecursionError):
                self._end(caller)

    def _answer(self, caller: _Caller) -> None:
        waited = time.monotonic() - caller.since
        if caller.question is None:
            if waited > _PATIENCE:
                self._end(caller)
            return
        if not caller.reply:
            found = self._found(caller, waited < _LONGEST_WAIT)
            if found is None:
                return
            caller.reply = json.dumps(found).encode() + b"\n"
        try:
            caller.reply = caller.reply[caller.line.send(caller.reply) :]
        except BlockingIOError:
            pass
        except OSError:
            caller.reply = b""
        if not caller.reply or waited > _LONGEST_WAIT + _PATIENCE:
            self._end(caller)

    def _found(self, caller: _Caller, can_wait: bool) -> dict[str, Any] | None:
        """Return the answer; `None` while it is waited for."""
        assert caller.question is not None
        lab, since = caller.question["lab"], caller.question["since"]
        student = self._named(caller.user)
        if student is None or not self._has(lab):
            return {"feedback": "by hand", "at_once": False, "judged": False, "told": None}
        dates = self._course.calendar.dates(lab, student)
        kept = self._kept.setdefault(lab, JudgedHandIns(self._course.home, lab))
        last = kept.of_student(student).last
        told = last.told if last else None
        judged = last is not None and last.says >= since
        at_once = dates.tells_at_once(datetime.now(UTC))
        if since and not judged and at_once and can_wait:
            return None
        return {
            "feedback": dates.feedback, "at_once": at_once, "judged": judged, "told": told,
        }  # fmt: skip

    def _has(self, lab: str) -> bool:
        return lab.isidentifier() and (self._course.home / "assignments" / lab).is_dir()

    def _end(self, caller: _Caller) -> None:
        self._callers.pop(caller.line.fileno(), None)
        self._selector.unregister(caller.line)
        caller.line.close()
        self._of_user[caller.user] -= 1
        if not self._of_user[caller.user]:
            del self._of_user[caller.user]
