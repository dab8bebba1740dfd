"""Waiting, measured: a real little server, and two ways to send the same requests to it.

The server is a thread that reads requests from a socket of this machine, one after the other, and
keeps each as long as the request says, as a server does that waits for a device. An open loop sends
at random times, whatever has been answered by then, as users do. A closed loop sends the next
request only when it has the answer to the one before, as many benchmarks do.

The requests are drawn once and the same everywhere. What a run should have shown is simulated from
the times at which requests were really sent and the times for which they were really served, so the
error of the simulation is known, and so is what disturbed the run.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import struct
import threading
import time
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets.physics import queue, simulate_queue
from mlsys_widgets.physics.queue_simulation import ServedRequests, serve

from ..recorder import Value, spread
from .timing import CpuBench

Array = NDArray[np.float64]

#: Mean seconds for which a request is served.
SERVICE: Final = 2.5e-3
#: How busy the server is to be, how requests are sent, and how many.
RUNS: Final = ((0.8, "open", 1800), (0.8, "closed", 1800), (0.5, "open", 600))
#: The requests are the first draw whose mean and p99 are this close to those of the formulas. Any
#: other draw of so few would be as real, and would tell as much about its seed as about waiting.
_CLOSE: Final = 0.05
#: The last part of a wait in which a thread looks at the clock again and again: a system wakes a
#: sleeping thread a little late.
_AWAKE: Final = 3e-4
#: A request: its number and its seconds of service. An answer: its number.
_REQUEST: Final = struct.Struct("!Id")
_ANSWER: Final = struct.Struct("!I")
#: Seconds without an answer after which a run is given up.
_PATIENCE: Final = 30.0


@cache
def drawn(busy: float, requests: int) -> tuple[Array, Array]:
    """Return when each request is sent and how long it is served, in seconds."""
    rate = busy / SERVICE
    theory = queue(rate, SERVICE)
    for seed in itertools.count():
        found = simulate_queue(rate, SERVICE, requests=requests, seed=seed)
        pairs = (found.mean, theory.response), (found.tail(0.01), theory.tail)
        if all(abs(one / float(other) - 1) < _CLOSE for one, other in pairs):
            return found.arrived, found.ended - found.began
    raise AssertionError  # some draw is as close


def until(moment: float) -> None:
    """Wait for a moment of the performance counter: asleep, and awake at the end."""
    left = moment - time.perf_counter()
    if left > _AWAKE:
        time.sleep(left - _AWAKE)
    while time.perf_counter() < moment:
        pass


class LittleServer:
    """A server for one client on a socket of this machine, which notes when it does what."""

    def __init__(self, requests: int) -> None:
        self.began, self.ended = np.zeros(requests), np.zeros(requests)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(_PATIENCE)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def client(self) -> socket.socket:
        """Connect to it."""
        line = socket.create_connection(self._listener.getsockname(), timeout=_PATIENCE)
        # Small packets must not wait for each other.
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return line

    def close(self) -> None:
        """Stop serving, once the client has gone."""
        self._listener.close()
        self._thread.join(_PATIENCE)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            line, _ = self._listener.accept()
            with line:
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                # Whatever has arrived meanwhile waits in the socket: that is the queue.
                while request := read(line, _REQUEST.size):
                    number, seconds = _REQUEST.unpack(request)
                    self.began[number] = time.perf_counter()
                    until(self.began[number] + seconds)
                    self.ended[number] = time.perf_counter()
                    line.sendall(_ANSWER.pack(number))


def read(line: socket.socket, size: int) -> bytes:
    """Read so many bytes; none if the other side has gone."""
    data = b""
    while len(data) < size:
        more = line.recv(size - len(data))
        if not more:
            return b""
        data += more
    return data


def open_loop(line: socket.socket, arrived: Array, seconds: Array) -> tuple[Array, Array]:
    """Send each request when its time has come; return when each was sent and answered."""
    sent, answered = np.zeros_like(arrived), np.zeros_like(arrived)

    def listen() -> None:
        with contextlib.suppress(OSError):
            for _ in range(arrived.size):
                if not (answer := read(line, _ANSWER.size)):
                    return
                answered[_ANSWER.unpack(answer)[0]] = time.perf_counter()

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    start = time.perf_counter() + _AWAKE
    for number, (moment, length) in enumerate(zip(arrived.tolist(), seconds.tolist(), strict=True)):
        until(start + moment)
        sent[number] = time.perf_counter()
        line.sendall(_REQUEST.pack(number, length))
    listener.join(_PATIENCE)
    return sent, answered


def closed_loop(line: socket.socket, seconds: Array, think: float) -> tuple[Array, Array]:
    """Send each request a pause after the answer to the one before."""
    sent, answered = np.zeros_like(seconds), np.zeros_like(seconds)
    for number, length in enumerate(seconds.tolist()):
        sent[number] = time.perf_counter()
        line.sendall(_REQUEST.pack(number, length))
        if not read(line, _ANSWER.size):
            break
        answered[number] = time.perf_counter()
        until(answered[number] + think)
    return sent, answered


@contextlib.contextmanager
def little_server(requests: int) -> Iterator[tuple[LittleServer, socket.socket]]:
    """A server and the line to it, for one run."""
    server = LittleServer(requests)
    try:
        with server.client() as line:
            yield server, line
    finally:
        server.close()


def waiting(bench: CpuBench) -> None:
    """Load a little server in an open and in a closed loop, and hold a simulation against it."""
    for busy, variant, requests in RUNS:
        with bench.recorder.attempt(f"{variant} loop, {busy:.0%} busy"):
            arrived, seconds = drawn(busy, requests)
            with little_server(requests) as (server, line):
                if variant == "open":
                    sent, answered = open_loop(line, arrived, seconds)
                else:
                    think = SERVICE * (1 - busy) / busy
                    sent, answered = closed_loop(line, seconds, think)
            if not answered.all():
                raise RuntimeError(f"{np.count_nonzero(answered == 0)} requests had no answer")
            shape = facts(arrived, seconds, sent, server.began, server.ended, answered)
            shape |= {"busy": busy, "requests": requests, "clients": int(variant == "closed")}
            bench.recorder.add(
                "waiting", variant, None, shape, spread((answered - sent).tolist()),
                throughput=(requests - 1) / float(answered[-1] - answered[0]),
            )  # fmt: skip


def facts(
    arrived: Array, seconds: Array, sent: Array, began: Array, ended: Array, answered: Array
) -> dict[str, Value]:
    """Return what a run showed, what it should have shown, and what disturbed it, in seconds."""
    response, served = answered - sent, ended - began
    played: ServedRequests = serve(sent, served)
    late: Any = np.diff(sent) - np.diff(arrived)
    return {
        "service": float(served.mean()),
        "drawn_service": float(seconds.mean()),
        "mean": float(response.mean()),
        "p99": float(np.quantile(response, 0.99)),
        "simulated_mean": played.mean,
        "simulated_p99": played.tail(0.01),
        "utilization": float(served.sum() / (answered[-1] - sent[0])),
        "late": float(np.abs(late).mean()),
    }
