"""When a course is on a hub, and how long it waits for an answer."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from types import SimpleNamespace

import pytest

from mlsys_widgets.courses import hub_link
from mlsys_widgets.courses.hub_link import SOCKET, HubLink, HubReply, HubRequest


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "course").mkdir()
    (tmp_path / "people").mkdir()
    (tmp_path / "hub.json").touch()
    return tmp_path / "people"


def test_without_a_hub_there_is_nobody_to_ask(tmp_path):
    link = HubLink(tmp_path / "course")
    (tmp_path / "people").mkdir()  # somebody's own folder
    assert not link.exists
    assert link.status() is None
    assert not link.closed


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder to somebody else")
def test_on_a_hub_only_instructors_can_ask(folder, tmp_path, monkeypatch):
    link = HubLink(tmp_path / "course")
    assert link.exists
    HubLink.of_instructor(tmp_path / "course")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert not link.exists
    with pytest.raises(ValueError, match="only an instructor"):
        HubLink.of_instructor(tmp_path / "course")
    assert link.status() is None


def test_a_hub_that_is_about_to_start_is_waited_for(folder, tmp_path):
    """The socket appears when it listens."""
    link, seen = HubLink(tmp_path / "course"), []
    assert link.status() is None

    def start() -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind(str(folder / ".new"))
            listening.listen()
            (folder / ".new").rename(folder / SOCKET)
            connection, _ = listening.accept()
            with connection, connection.makefile("rb") as stream:
                seen.append(json.loads(stream.readline()))
                connection.sendall(b'{"people": {"ada": {}}}')

    hub = threading.Timer(0.3, start)
    hub.start()
    assert link.ask(HubRequest("follow", ["ada"])) == HubReply(people={"ada": {}})
    hub.join()
    assert seen == [
        {"do": "follow", "logins": ["ada"], "words": [], "into": "", "labs": []}
    ]  # fmt: skip


@pytest.mark.parametrize("reply", [None, b"", b'{"people": {"a'])
def test_a_hub_that_was_stopped_is_not_waited_for(folder, tmp_path, monkeypatch, reply):
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: pytest.fail("it waits"))
    monkeypatch.setattr(hub_link, "time", clock)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(folder / SOCKET))

        def answer() -> None:
            connection, _ = listening.accept()
            with connection, connection.makefile("rb") as stream:
                stream.readline()
                connection.sendall(reply)

        hub = threading.Thread(target=answer)
        if reply is not None:
            listening.listen()
            hub.start()
        assert HubLink(tmp_path / "course").ask(HubRequest("forget", ["ada"])) is None
        if reply is not None:
            hub.join()
