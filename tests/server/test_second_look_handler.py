"""Asking for a second look through a real server."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from mlsys_widgets.course.exchange_place import ANSWERS, BOX
from mlsys_widgets.handin.second_look import read_request, write_answer
from mlsys_widgets.server.second_look_handler import notebook_of

LAB = "lab_11_roofline"
CELLS = [
    {"mlsys": {"kind": "answer", "id": "ridge", "act": 1, "title": "Where is the ridge?"}},
    {"nbgrader": {"grade": True, "grade_id": "ridge"}},
    {"nbgrader": {"grade": True, "grade_id": "work_kept"}},
    {"nbgrader": {"grade": False, "grade_id": "setup"}},
]


@pytest.fixture
def page(server, request, tmp_path):
    """A feedback page of a lab of its own, and the exchange of its course."""
    folder = server.folder / request.node.name.partition("[")[0] / LAB
    feedback = folder / "feedback" / "2026-11-16 10:00:00.000000 UTC"
    feedback.mkdir(parents=True, exist_ok=True)
    cells = [{"cell_type": "code", "metadata": m, "source": "", "outputs": []} for m in CELLS]
    about = {"mlsys": {"lab": LAB, "title": "Lab 11: The Roofline"}}
    book = {"cells": cells, "metadata": about, "nbformat": 4}
    (folder / f"{LAB}.ipynb").write_text(json.dumps(book))
    (feedback / f"{LAB}.html").write_text("<p>7 of 8</p>")
    (folder.parent / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        f"c.CourseDirectory.course_id = 'demo'\nc.Exchange.root = {str(tmp_path)!r}\n"
    )
    for name in (BOX, ANSWERS):
        (tmp_path / "demo" / name).mkdir(parents=True)
    return (feedback / f"{LAB}.html").relative_to(server.folder).as_posix(), tmp_path / "demo"


def look(server, path, **options):
    return server.ask(f"mlsys/second-look?path={quote(path, safe='')}", **options)


def ask(server, path, question="ridge", words="Why?", **options):
    body = {"path": path, "question": question, "words": words}
    return server.ask("mlsys/second-look", method="POST", body=body, **options)


def test_from_the_feedback_page_to_the_answer(server, page):
    path, exchange = page
    shown = look(server, path).json
    assert shown["questions"] == [
        {"name": "ridge", "title": "Where is the ridge?"},
        {"name": "work_kept", "title": "work kept"},
    ]
    asked = ask(server, path, words="Is\x1b it not 295?").json["asked"]
    assert [(each["words"], each["answer"]) for each in asked] == [("Is it not 295?", None)]
    (file,) = (exchange / BOX).iterdir()
    request = read_request(file.read_bytes())
    assert (request.lab, request.question) == (LAB, "ridge")
    again = ask(server, path)
    assert again.status == 409
    assert again.json["message"] == (
        "You have asked about this question already; wait for the answer."
    )
    write_answer(exchange, request.ticket, "It is.", "2026-11-16T12:00:00+00:00")
    (answered,) = look(server, notebook_of(path)).json["asked"]  # the same from the lab itself
    assert answered["answer"]["answer"] == "It is."
    assert ask(server, path, words="And now?").status == 200


@pytest.mark.parametrize(
    ("question", "words", "sentence"),
    [
        ("ridge", " \x00\n", "Write what should be looked at"),
        ("ridge", "x" * 2001, "Your words are too long"),
        ("setup", "Why?", "The lab has no such question"),
        ("../../x", "Why?", "The lab has no such question"),
    ],
)
def test_what_cannot_be_asked_is_said_in_a_sentence(server, page, question, words, sentence):
    path, exchange = page
    answer = ask(server, path, question, words)
    assert answer.status == 409
    assert answer.json["message"].startswith(sentence)
    assert list((exchange / BOX).iterdir()) == []


@pytest.fixture(autouse=True)
def fresh(server):
    """What was asked before is another test's."""
    (server.folder.parent / "data" / "mlsys" / "second-looks.json").unlink(missing_ok=True)


def test_without_a_box_or_a_right_there_is_none(server, page):
    path, exchange = page
    assert look(server, path, token=False).status in (401, 403)
    assert look(server, "../x/feedback/t/x.html").status == 403
    assert look(server, "no/such/lab.ipynb").status == 404
    wrong = server.ask("mlsys/second-look", method="POST", body={"path": path, "words": 7})
    assert wrong.status == 400
    (exchange / BOX).rmdir()
    answer = look(server, path)
    assert answer.status == 409
    assert answer.json["message"].endswith("write to your instructor instead.")
