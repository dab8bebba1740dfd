"""Who can ask the hub for something, and what it does with requests that are none."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from mlsys_widgets.courses.hub_link import SOCKET, HubLink, HubReply, HubRequest
from mlsys_widgets.files import open_folder, socket_in
from mlsys_widgets.hub.services.request_socket import RequestSocket

ME = os.geteuid()


@pytest.fixture
def folder(tmp_path):
    """A folder with a path that is too long for a socket."""
    root = tmp_path / ("x" * 100)
    (root / "course").mkdir(parents=True)
    (root / "hub.json").touch()
    (root / "people").mkdir(mode=0o750)
    return root / "people"


@pytest.fixture
def requests(folder):
    made = RequestSocket(folder)
    yield made
    made.close()


def knock(folder) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(60)
    with open_folder(folder) as handle:
        connection.connect(socket_in(handle, SOCKET))
    return connection


def test_a_request_is_answered(folder, requests):
    seen = []

    def answer(request: HubRequest) -> HubReply:
        seen.append(request)
        return HubReply(about={"home": folder})

    serving = threading.Thread(target=lambda: requests.answer_next({ME}, answer))
    serving.start()
    reply = HubLink(folder.parent / "course").ask(HubRequest("copy", ["ada"], ["Ada L"]))
    serving.join()
    assert seen == [HubRequest("copy", ["ada"], ["Ada L"], labs=[])]
    assert reply == HubReply(problems=[], about={"home": str(folder)}, left=[])
    about = (folder / SOCKET).stat()
    assert stat.S_IMODE(about.st_mode) == 0o660
    assert about.st_gid == folder.stat().st_gid
    assert [path.name for path in folder.iterdir()] == [SOCKET]


def test_what_cannot_be_done_is_a_problem(folder, requests):
    def refuse(_: HubRequest) -> HubReply:
        raise ValueError("ada is not here")

    serving = threading.Thread(target=lambda: requests.answer_next({ME}, refuse))
    serving.start()
    with pytest.raises(ValueError, match=r"^the hub could not do that: ada is not here$"):
        HubLink(folder.parent / "course").ask(HubRequest("forget", ["ada"]))
    serving.join()


@pytest.mark.skipif(os.geteuid() != 0, reason="asks as somebody else")
def test_who_is_no_instructor_is_refused_whatever_folders_let_them(folder, requests):
    """As one who no longer teaches, and whose server still has the group."""
    code = (
        "import os, socket\n"
        "os.setuid(12345)\n"
        "line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)\n"
        f"line.connect('{SOCKET}')\n"
        "print(line.recv(1000).decode())\n"
    )
    folder.chmod(0o777)
    (folder / SOCKET).chmod(0o777)
    done = []
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, text=True
    ) as stranger:
        while stranger.poll() is None:
            requests.answer_next({ME, 54321}, lambda request: done.append(request) or HubReply())
        reply = json.loads(stranger.stdout.read())
    assert reply["problem"] == "on this hub only an instructor can do that"
    assert done == []


@pytest.mark.parametrize(
    "line",
    [b"\n", b"[]\n", b"no JSON\n", b"[" * 90_000 + b"\n", b"x" * 150_000 + b"\n", b"{}\n",
     b'{"do": "forget", "more": 1}\n'],
)  # fmt: skip
def test_what_is_no_request_is_not_followed(folder, requests, line):
    done = []
    with knock(folder) as connection:
        connection.sendall(line)
        requests.answer_next({ME}, lambda request: done.append(request) or HubReply())
        with suppress(ConnectionResetError):  # of a line that was not read to its end
            assert json.loads(connection.makefile("rb").read())["problem"]
    assert done == []


def test_a_request_is_taken_back_by_who_hangs_up(folder, requests):
    done = []
    with knock(folder) as connection:
        connection.sendall(b'{"do": "forget", "logins": ["ada"]}\n')
    requests.answer_next({ME}, lambda request: done.append(request) or HubReply())
    assert done == []


def test_a_new_socket_takes_the_place_of_an_old_one(folder, requests):
    requests.close()
    assert HubLink(folder.parent / "course").ask(HubRequest("follow")) is None
    again = RequestSocket(folder)
    with knock(folder):
        again.answer_next({ME}, lambda _: HubReply())
    again.close()
