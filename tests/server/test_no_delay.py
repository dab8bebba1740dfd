"""Messages of a kernel reach the browser at once: no packet waits for an acknowledgment.

Asked of the running server's own socket, and not of a clock.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import sys
from pathlib import Path

import pytest
from websocket import create_connection

PIDFD_GETFD = 438  # the same number on every architecture

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")


def socket_of(process: int, peer: tuple[str, int]) -> socket.socket:
    """A duplicate of another process's socket that is connected to ours."""
    handle = os.pidfd_open(process)
    try:
        for entry in Path(f"/proc/{process}/fd").iterdir():
            if not str(entry.readlink()).startswith("socket:"):
                continue
            number = ctypes.CDLL(None, use_errno=True).syscall(
                PIDFD_GETFD, handle, int(entry.name), 0
            )
            if number < 0:
                pytest.skip(f"sockets of others cannot be seen: {os.strerror(ctypes.get_errno())}")
            found = socket.socket(fileno=number)
            try:
                if found.getpeername() == peer:
                    return found
            except OSError:  # it listens, and is connected to nobody
                pass
            found.close()
    finally:
        os.close(handle)
    raise AssertionError(f"the server has no socket that is connected to {peer}")


def test_what_a_kernel_says_is_sent_at_once(server):
    kernel = server.ask("api/kernels", method="POST", body={"name": "python3"}).json["id"]
    address = f"{server.url.replace('http', 'ws', 1)}api/kernels/{kernel}/channels"
    key = [f"Authorization: token {server.token}"]
    browser = create_connection(address, header=key, timeout=60)
    try:
        json.loads(browser.recv())  # the kernel has begun to speak
        with socket_of(server.process, browser.sock.getsockname()) as served:
            assert served.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    finally:
        browser.close()
        server.ask(f"api/kernels/{kernel}", method="DELETE")
