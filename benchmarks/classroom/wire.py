"""A kernel's websocket as JupyterLab speaks it: frames of v1.kernel.websocket.jupyter.org."""

from __future__ import annotations

import asyncio
import json
import struct
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, websocket_connect

#: Seconds after which a browser, or the proxy before it, has given up.
PATIENCE = 120.0
PROTOCOL = "v1.kernel.websocket.jupyter.org"


@dataclass(frozen=True)
class Message:
    """What came from a kernel. Its content is read only if somebody asks for it."""

    channel: str
    kind: str
    parent: str
    raw: bytes

    @cached_property
    def content(self) -> dict[str, Any]:
        return dict(json.loads(self.raw))


def packed(channel: str, parts: Sequence[bytes]) -> bytes:
    """A frame: how many offsets there are, the offsets, then the channel and the parts.

    >>> unpacked(packed("shell", [b"{}", b"{}", b"{}", b"[1]"]))
    ['shell', b'{}', b'{}', b'{}', b'[1]']
    """
    pieces = [channel.encode(), *parts]
    start = 8 * (len(pieces) + 2)
    offsets = [start]
    for piece in pieces:
        offsets.append(offsets[-1] + len(piece))
    return struct.pack(f"<{len(offsets) + 1}Q", len(offsets), *offsets) + b"".join(pieces)


def unpacked(frame: bytes) -> list[Any]:
    """The channel and the parts of a frame: header, parent, metadata, content, buffers."""
    (count,) = struct.unpack_from("<Q", frame)
    offsets = struct.unpack_from(f"<{count}Q", frame, 8)
    channel, *parts = (frame[start:end] for start, end in pairwise(offsets))
    return [channel.decode(), *parts]


class Sent(NamedTuple):
    """A message on its way: its name, and when the last of its answers came."""

    name: str
    done: asyncio.Future[float]


class Gone(ConnectionError):
    """The kernel or its server closed the connection."""


class Wire:
    """A connection to a kernel. ``hear`` gets every message that comes."""

    def __init__(self, hear: Callable[[Message], None]) -> None:
        self._hear = hear
        self._socket: WebSocketClientConnection | None = None
        self._session = str(uuid.uuid4())
        #: What is still to come for a message that was sent, and the future that waits for it.
        self._open: dict[str, tuple[set[str], asyncio.Future[float]]] = {}
        self.bytes = 0

    async def connect(self, address: str, token: str) -> None:
        """Open the connection; the address is that of the kernel below the server's."""
        address = address.replace("http", "ws", 1) + f"/channels?session_id={self._session}"
        request = HTTPRequest(
            address,
            headers={"Authorization": f"token {token}"},
            connect_timeout=PATIENCE,
            request_timeout=PATIENCE,
        )
        try:
            self._socket = await websocket_connect(
                request, on_message_callback=self._came, subprotocols=[PROTOCOL]
            )
        except HTTPClientError as problem:
            raise Gone(f"no connection to the kernel: {problem.message}") from None
        if self._socket.selected_subprotocol != PROTOCOL:
            raise Gone(f"the server does not speak {PROTOCOL}")

    def send(
        self,
        kind: str,
        content: dict[str, Any],
        *,
        channel: str = "shell",
        subshell: str | None = None,
        until: Iterable[str] = ("idle",),
    ) -> Sent:
        """Send a message; what comes back has the time at which the last of ``until`` came back.

        ``until`` names kinds of messages; ``idle`` is the status that ends what the message caused.
        """
        name = str(uuid.uuid4())
        header = {
            "date": datetime.now(UTC).isoformat(),
            "msg_id": name,
            "msg_type": kind,
            "session": self._session,
            "username": "",
            "version": "5.2",
        }
        if subshell:
            header["subshell_id"] = subshell
        done: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        if self._socket is None:
            raise Gone("the connection to the kernel is closed")
        self._open[name] = (set(until), done)
        parts = [json.dumps(each).encode() for each in (header, {}, {}, content)]
        try:
            written = self._socket.write_message(packed(channel, parts), binary=True)
        except WebSocketClosedError:
            raise Gone("the connection to the kernel is closed") from None
        # What cannot be written any more is noticed when the connection closes.
        written.add_done_callback(lambda done: done.exception())
        return Sent(name, done)

    def close(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.close()
        self._lose()

    def _lose(self) -> None:
        for _, done in self._open.values():
            if not done.done():
                done.set_exception(Gone("the connection to the kernel was closed"))
                done.exception()  # nobody may be waiting any more
        self._open.clear()

    def _came(self, frame: bytes | str | None) -> None:
        now = time.perf_counter()
        if frame is None:
            self._socket = None
            self._lose()
            return
        assert isinstance(frame, bytes)
        self.bytes += len(frame)
        channel, header, parent, _, content, *_ = unpacked(frame)
        message = Message(
            channel, json.loads(header)["msg_type"], json.loads(parent).get("msg_id", ""), content
        )
        self._hear(message)
        waiting = self._open.get(message.parent)
        if waiting is None:
            return
        rest, done = waiting
        if message.kind == "status":
            if message.content["execution_state"] == "idle":
                rest.discard("idle")
        else:
            rest.discard(message.kind)
        if not rest:
            del self._open[message.parent]
            if not done.done():
                done.set_result(now)
