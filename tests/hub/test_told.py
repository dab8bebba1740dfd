"""On a real hub: what a student hands in is judged as the course and told, to nobody else."""

from __future__ import annotations

import json
import os

import pytest

from mlsys_widgets.files import TOLD
from tests.hub.running import Person, running_hub
from tests.waiting import wait_for

LAB = "lab_01_magnitude"
ANSWER = """
from mlsys_widgets.labs import Choice, Number, load
from mlsys_widgets.ledger import Ledger
lab = load(".")
items = lab.items(lab.draw({name!r}))
name, item = next((n, i) for n, i in items.items() if isinstance(i, Choice) and i.points)
ledger = Ledger.open("ledger.jsonl", lab=lab.name, student={name!r})
ledger.record_answer(name, list(item.options)[0])
print("answered", name)
"""
SPY = """
import json, socket
with socket.socket(socket.AF_UNIX) as line:
    line.connect({path!r})
    line.sendall(json.dumps({{"lab": {lab!r}, "since": "", "student": {ada!r}}}).encode() + b"\\n")
    print("heard", line.makefile().read())
"""


@pytest.mark.timeout(900)
@pytest.mark.skipif(os.geteuid() != 0, reason="a hub for many is root's")
def test_a_course_that_says_nothing_tells_a_student_at_the_hand_in_and_nobody_else():
    with running_hub() as hub:
        ada, ben = (Person(hub, hub.names[each]).arrive() for each in ("ada", "ben"))
        ada.assignment("fetch", LAB)
        kernel = ada.kernel(LAB)
        said = ada.run(kernel, ANSWER.format(name=ada.name))
        assert "answered" in said, said
        name = said.split()[-1]
        about = f"{LAB}/{LAB}.ipynb"

        def outlook():
            return ada.ask("GET", f"mlsys/hand-in?path={about}").json()

        wait_for(lambda: outlook()["told_at_once"], lambda: hub.places.log.read_text()[-3000:])
        answered = ada.ask("POST", "mlsys/hand-in", json={"path": about})
        assert answered.status_code == 200, answered.text
        path = ada.home / LAB / TOLD
        wait_for(
            lambda: outlook() and path.is_file(),
            lambda: f"{answered.text} {hub.places.log.read_text()[-3000:]}",
        )
        told = json.loads(path.read_bytes())
        (question,) = (each for each in told["questions"] if each["kind"] == "answer")
        assert (told["student"], question["name"]) == (ada.name, name)
        # The judge is the course's account; ben hears nothing of ada and has no place to look.
        kept = hub.places.course / ".mlsys" / f"told-{LAB}.jsonl"
        assert kept.stat().st_uid == hub.places.course.stat().st_uid != 0
        door = hub.places.exchange / "mlsys" / "told.sock"
        heard = ben.run(ben.kernel(), SPY.format(path=str(door), lab=LAB, ada=ada.name))
        assert json.loads(heard.split(maxsplit=1)[1])["told"] is None
        assert "denied" in ben.terminal(f"cat {kept}; mv {door} {door}.x")
        assert door.is_socket()
