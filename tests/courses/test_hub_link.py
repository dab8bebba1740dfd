"""What a course says to its hub, and when it does not wait for an answer."""

from __future__ import annotations

import json
import os
import threading
import time

import pytest

from mlsys_widgets.courses.hub_link import ANSWER, REQUESTS, STATUS, HubLink, HubStatus, digest


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "course" / "assignments").mkdir(parents=True)
    (tmp_path / "people" / REQUESTS).mkdir(parents=True)
    return tmp_path / "people"


def say(folder, settings: bytes = b"", **more) -> None:
    said = {"settings": digest(settings), "problems": [], "people": {}, "passwords": {}, **more}
    (folder / STATUS).write_text(json.dumps(said))


def test_without_a_hub_there_is_nobody_to_ask(tmp_path):
    link = HubLink(tmp_path)
    assert not link.exists
    assert not link.closed
    assert link.status() is None


def test_it_waits_until_the_hub_has_followed_the_settings(folder, tmp_path):
    (tmp_path / "course" / "assignments" / "course.toml").write_bytes(b"# new\n")
    say(folder, b"# old\n")
    later = threading.Timer(0.3, say, (folder, b"# new\n"), {"people": {"ada": {}}})
    later.start()
    assert HubLink(tmp_path / "course").wait_for_settings() == HubStatus(
        digest(b"# new\n"), people={"ada": {}}
    )


def test_a_hub_that_was_stopped_is_not_waited_for(folder, tmp_path):
    say(folder, b"# old\n")
    os.utime(folder / STATUS, (0, 0))
    link, begun = HubLink(tmp_path / "course"), time.monotonic()
    assert link.exists
    assert link.wait_for_settings() is None
    assert link.ask({"do": "forget"}) is None
    assert list((folder / REQUESTS).iterdir()) == []
    assert time.monotonic() - begun < 5


def test_a_request_is_private_and_taken_back_when_it_was_answered(folder, tmp_path):
    say(folder)
    seen = []

    def answer() -> None:
        while not (found := list((folder / REQUESTS).glob("*.json"))):
            time.sleep(0.01)
        seen.append((found[0].stat().st_mode & 0o777, json.loads(found[0].read_text())))
        found[0].with_suffix(ANSWER).write_text('{"done": true}')

    threading.Thread(target=answer).start()
    assert HubLink(tmp_path / "course").ask({"do": "copy"}) == {"done": True}
    assert seen == [(0o600, {"do": "copy"})]
    assert not list((folder / REQUESTS).glob("*.json"))
