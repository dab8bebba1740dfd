"""The hub's own service: jobs go on whatever happens to one, and instructors can ask it."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mlsys_widgets.courses.hub_link import HubLink, HubRequest
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.services.course_service import poll_forever, run_jobs
from mlsys_widgets.ledger.hand_in_notes import notes_beside, read_notes
from tests.waiting import wait_for


class Stop(BaseException):
    """Stands for the signal that ends the service."""


def test_trouble_is_told_when_it_begins_changes_and_ends(capsys):
    looks = iter(
        [None, OSError("disk full"), OSError("disk full"), ValueError("no table"), KeyError("x"),
         None, None]
    )  # fmt: skip

    def look() -> None:
        try:
            trouble = next(looks)
        except StopIteration:
            raise Stop from None
        if trouble:
            raise trouble

    with pytest.raises(Stop):
        poll_forever(look, 0.0, "nothing is noted")
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["nothing is noted: disk full", "nothing is noted: no table"]
    assert lines[2].startswith("nothing is noted: Traceback")
    assert "KeyError: 'x'" in lines
    assert lines[-1] == "nothing is noted: no longer"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_no_job_waits_for_another_or_ends_with_it():
    failed_often, looks = threading.Event(), []

    def hang() -> None:
        looks.append(failed_often.wait(60))
        raise SystemExit  # which ends a thread

    def fail() -> None:
        looks.append("failed")
        if len(looks) > 3:
            failed_often.set()
            raise SystemExit
        raise RuntimeError

    run_jobs([(hang, 0.0, "hangs"), (fail, 0.0, "fails")])
    assert looks == [*["failed"] * 4, True]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the service")
def test_the_service_notes_and_answers_even_without_its_hub(places: Path):
    """JupyterHub does not answer, so people are not followed; everything else goes on."""
    me = pwd.getpwuid(os.getuid()).pw_name
    state = HubState.new("hub", "teacher", "trial")
    state.course_id = "demo"
    state.write(places.state)
    places.people.mkdir()
    inbound = places.exchange / "demo" / "inbound"
    inbound.mkdir(parents=True)
    (places.course / "assignments").mkdir(parents=True)
    command = [
        sys.executable, "-m", "mlsys_widgets.hub.services.course_service", str(places.root), "5",
    ]  # fmt: skip
    hub = {"JUPYTERHUB_API_URL": "http://127.0.0.1:1/hub/api", "JUPYTERHUB_API_TOKEN": "t"}
    with subprocess.Popen(command, env=os.environ | hub) as service:
        try:
            reply = HubLink(places.course).ask(HubRequest("follow"))
            assert reply is not None
            assert "the hub does not answer" in reply.problems[0]
            (inbound / f"{me}+lab_01+x").mkdir()
            (inbound / f"{me}+lab_01+x" / "timestamp.txt").write_text("now")
            (note,) = wait_for(lambda: list(read_notes(notes_beside(places.course))))
            assert (note.student, note.folder) == (me, f"{me}+lab_01+x")
            assert service.poll() is None
        finally:
            service.terminate()
    assert service.returncode == -signal.SIGTERM
    # The socket of a hub that was stopped stays, and nobody waits for an answer.
    assert HubLink(places.course).ask(HubRequest("follow")) is None
