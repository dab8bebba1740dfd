"""The socket on which instructors ask the hub for something; `HubLink` is the other end."""

from __future__ import annotations

import json
import os
import select
import socket
import struct
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Final

from mlsys_widgets.courses.hub_link import SOCKET, HubReply, HubRequest
from mlsys_widgets.files import open_folder, socket_in
from mlsys_widgets.wording.system_errors import error_sentence

#: Seconds to wait for somebody who asks, and for each step of a conversation.
_WAIT: Final = 1.0
_PATIENCE: Final = 5.0
#: Bytes of a request.
_LARGEST: Final = 100_000
#: A process, its user and its group, as the kernel tells them.
_PEER: Final = struct.Struct("3i")

Answer = Callable[[HubRequest], HubReply]


class RequestSocket:
    """Takes requests, one at a time, of those who are in the group of a folder."""

    def __init__(self, folder: Path) -> None:
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listening.settimeout(_WAIT)
        # Aside until it listens: a socket at which nobody listens means that the hub was stopped.
        aside = folder / f".{SOCKET}.new"
        aside.unlink(missing_ok=True)
        with open_folder(folder) as handle:
            self._listening.bind(socket_in(handle, aside.name))
        os.chown(aside, -1, folder.stat().st_gid)
        aside.chmod(0o660)
        self._listening.listen()
        aside.rename(folder / SOCKET)

    def close(self) -> None:
        self._listening.close()

    def answer_next(self, allowed: Collection[int], answer: Answer) -> None:
        """Wait a moment for a request of root or of a user who is allowed, and answer it."""
        try:
            connection, _ = self._listening.accept()
        except TimeoutError:
            return
        with connection, suppress(OSError):  # whoever asked may leave at any time
            connection.settimeout(_PATIENCE)
            reply = _reply(connection, {0, *allowed}, answer)
            connection.sendall(json.dumps(asdict(reply), default=str).encode())


def _reply(connection: socket.socket, allowed: Collection[int], answer: Answer) -> HubReply:
    peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    if _PEER.unpack(peer)[1] not in allowed:
        return HubReply("on this hub only an instructor can do that")
    with connection.makefile("rb") as stream:
        line = stream.readline(_LARGEST)
    # Nobody sends more than a line, so there is more to read only if they have hung up.
    if select.select([connection], [], [], 0)[0]:
        return HubReply("nobody waits for the answer")
    try:
        return answer(HubRequest(**json.loads(line)))
    except (ValueError, OSError, KeyError, TypeError, RecursionError) as problem:
        return HubReply(f"the hub could not do that: {error_sentence(problem)}")
