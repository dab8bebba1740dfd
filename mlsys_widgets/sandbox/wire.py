"""Messages between a worker, its fork server and the child that runs a submission.

Each message is JSON behind its length. A job travels with an open socket, which the fork server
passes on to the child: everything about the submission goes over that one.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO, Final

_LENGTH: Final = struct.Struct(">I")
#: What a message to a fork server begins with: a job, that the child has sent too much, or that
#: it must leave its place to others.
_JOB, ENOUGH, LEAVE = b"J", b"!", b"~"
#: The argument of a fork server whose children call functions and run no cells.
ONLY_FUNCTIONS: Final = "--functions"
#: What a child reports right before a student's code runs: all that follows may be the student's.
STARTED: Final = b'{"started": true}\n'


def send(stream: BinaryIO, message: Mapping[str, Any]) -> None:
    """Write one message."""
    stream.write(framed(message))
    stream.flush()


def receive(stream: BinaryIO) -> dict[str, Any] | None:
    """Read one message; `None` at the end."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(head)
    body = stream.read(size)
    if len(body) < size:
        return None
    message: dict[str, Any] = json.loads(body)
    return message


def send_job(to: socket.socket, job: Mapping[str, Any], line: socket.socket) -> None:
    """Give a fork server a job, and the socket on which its child gets the rest."""
    socket.send_fds(to, [_JOB], [line.fileno()])
    to.sendall(framed(job))


def receive_job(jobs: socket.socket) -> tuple[dict[str, Any], int] | None:
    """Read one job and the descriptor of its socket; `None` when there are no more."""
    word, lines, _, _ = socket.recv_fds(jobs, 1, 1)
    while word in (ENOUGH, LEAVE):  # about a child that has ended since
        word, lines, _, _ = socket.recv_fds(jobs, 1, 1)
    if word != _JOB or not lines:
        return None
    (size,) = _LENGTH.unpack(jobs.recv(_LENGTH.size, socket.MSG_WAITALL))
    body = jobs.recv(size, socket.MSG_WAITALL)
    return (json.loads(body), lines[0]) if len(body) == size else None


def unframed(received: bytes | bytearray) -> dict[str, Any] | None:
    """Return the message that was read so far; `None` if some of it is yet to come."""
    if len(received) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack_from(received)
    if len(received) < _LENGTH.size + size:
        return None
    message: dict[str, Any] = json.loads(received[_LENGTH.size : _LENGTH.size + size])
    return message


def framed(message: Mapping[str, Any]) -> bytes:
    """Return a message as it is written: its length, and JSON."""
    body = json.dumps(message).encode()
    return _LENGTH.pack(len(body)) + body
