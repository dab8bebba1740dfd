"""The cover of a lab: its question, how long it takes, how far one is, and whose lab it is."""

from __future__ import annotations

import pytest

from mlsys_widgets import MovingPicture, QueueExplorer
from mlsys_widgets.cards.welcome import GoOn, Welcome
from mlsys_widgets.labs import Lab, Student
from mlsys_widgets.labs.lab_minutes import LabMinutes, Sitting
from mlsys_widgets.labs.student_steps import StudentStep


def welcome(led, lab, student, *, notices=list, steps=(), **more):
    return Welcome(lab, student, points=0, ledger=led, notices=notices, steps=steps, **more)


def test_the_cover_counts_what_is_done(led):
    steps = [StudentStep(name, "answer", 1, name, (name,)) for name in ("t", "u")]
    lab = Lab("x", title="X", chapter=0, acts=("A",))
    cover = welcome(led, lab, Student("ada", "here"), variants=False, steps=steps)
    assert "0 of 2 steps done." in cover.text()
    (begin,) = (part for part in cover.parts() if isinstance(part, GoOn))
    assert (begin.words, begin.leads) == ("Begin", True)
    led.record_answer("t", 30.0)
    cover.refresh()
    assert "1 of 2 steps done." in cover.text()
    (begin,) = (part for part in cover.parts() if isinstance(part, GoOn))
    assert (begin.words, begin.leads) == ("Go on", False)
    led.record_answer("u", 30.0)
    cover.refresh()
    assert "All steps are done." in cover.text()


@pytest.mark.parametrize(
    ("acts", "words"),
    [((), "0 points, about 20 minutes."), (("A",), "one act:"), (("A", "B"), "2 acts:")],
)
def test_a_lab_says_what_it_takes(led, acts, words):
    lab = Lab("x", title="X", chapter=0, acts=acts, minutes="20")
    said = welcome(led, lab, Student("ada", "your login at the hub"), variants=False)
    assert words in said.text()
    assert "This is the lab of ada, known from your login at the hub." in said.text()
    assert "yours alone" not in said.text()
    assert "whoami" not in said.text()


def test_the_cover_says_how_long_each_act_takes(led):
    lab = Lab("x", title="X", chapter=0, acts=("A", "B"))
    core = (Sitting(1, 13), Sitting(2, 21), Sitting(0, 9))
    minutes = LabMinutes(core, deeper=(Sitting(2, 21),))
    said = welcome(led, lab, Student("ada", "here"), variants=False, minutes=minutes).text()
    assert "about 45 minutes, and about 20 more if you go deeper; 2 acts:" in said
    assert "1. A (about 15 minutes)" in said
    assert "2. B (about 20 minutes, and 20 deeper)" in said
    assert "What follows the last act takes about 10 minutes." in said
    assert "You can stop after each act" in said
    # A lab that nobody has counted promises nothing.
    assert "minute" not in welcome(led, lab, Student("ada", "here"), variants=False).text()


def test_a_name_that_may_be_wrong_is_asked_about(led):
    lab = Lab("x", title="X", chapter=0, acts=())
    student = Student("laptop", "your login on this computer", uncertain=True)
    said = welcome(led, lab, student, variants=True, notices=lambda: ["Careful."]).text()
    assert "mlsys whoami NAME" in said
    assert "yours alone" in said
    assert "Careful." in said


def test_the_question_of_a_lab_is_its_headline(led):
    lab = Lab("x", title="The Lab", chapter=0, acts=(), question="What holds it back?")
    cover = welcome(led, lab, Student("ada", "here"), variants=False)
    assert (cover.title, cover.kind) == ("What holds it back?", "The Lab")


def test_the_picture_of_a_lab_follows_its_headline_and_moves_on_a_page_too(led):
    lab = Lab("x", title="X", chapter=0, acts=())
    picture = MovingPicture("Requests stand in line.", QueueExplorer, load=0.5)
    cover = welcome(led, lab, Student("ada", "here"), variants=False, picture=picture)
    spec = cover.parts()[0].spec()
    assert (spec["kind"], spec["words"]) == ("moving", "Requests stand in line.")
    assert spec["svg"] == picture.svg
    assert f"{picture.svg}<figcaption>Requests stand in line.</figcaption>" in cover.html()
    assert "Requests stand in line." in cover.text()
