"""Asks the judge of a hub what this student is told, and puts it beside the ledger.

The judge knows from the kernel who asks, so nothing here names the student.
"""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.course.exchange_place import TOLD_SOCKET, exchange_folder, nbgrader_settings
from mlsys_widgets.files import TOLD, open_folder, socket_in, write_whole
from mlsys_widgets.handin.work import LabWork
from mlsys_widgets.labs.identity import student
from mlsys_widgets.labs.told import Told, ToldRefused, read_told

#: Seconds: more than the judge lets anybody wait.
_PATIENCE: Final = 40.0
_LARGEST: Final = 4_000_000


@dataclass(frozen=True)
class ToldReply:
    """What the judge of a hub says about a lab."""

    #: When this course tells students: "at hand-in", "after due" or "by hand".
    feedback: str
    #: Whether what is handed in now is judged and told at once.
    at_once: bool
    #: Whether what was asked about is judged.
    judged: bool
    told: dict[str, Any] | None


def ask_judge(work: LabWork, root: Path, since: str = "") -> ToldReply | None:
    """Ask about a lab, after a hand-in with its time; `None` where there is no judge."""
    try:
        exchange = exchange_folder(nbgrader_settings(root, work.folder.parent))
        if exchange is None:
            return None
        with (
            socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line,
            open_folder(exchange) as folder,
        ):
            line.settimeout(_PATIENCE)
            line.connect(socket_in(folder, TOLD_SOCKET))
            line.sendall(json.dumps({"lab": work.lab, "since": since}).encode() + b"\n")
            with line.makefile("rb") as answer:
                return ToldReply(**json.loads(answer.read(_LARGEST)))
    except (OSError, ValueError, TypeError):
        return None


def keep_told(work: LabWork, reply: ToldReply | None) -> Told | None:
    """Write what is told beside the ledger, where the cards find it; return what it says."""
    if reply is None or reply.told is None:
        return None
    content = json.dumps(reply.told).encode()
    try:
        told = read_told(content, work.lab, student(work.folder).name)
    except ToldRefused:
        return None
    path = work.folder / TOLD
    try:
        if not path.is_file() or path.read_bytes() != content:
            write_whole(path, content)
    except OSError:
        pass  # a full home: it is asked for again when the lab is opened
    return told
