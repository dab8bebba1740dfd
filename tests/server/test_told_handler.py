"""What a course tells reaches an open lab: asked for by the panel, and in the report for it."""

from __future__ import annotations

import getpass
import json
import shutil
from urllib.parse import quote

import pytest

from mlsys_widgets.files import TOLD
from tests.grading.classroom import LAB
from tests.grading.telling import CHANCE, ToldClass, in_days
from tests.grading.test_told_socket import service
from tests.waiting import wait_for

ME = getpass.getuser()


@pytest.fixture
def told_class(tmp_path):
    return ToldClass(tmp_path, 'feedback = "after due"', CHANCE, f"due = {in_days(1)}")


@pytest.fixture
def opened(server, told_class):
    """My lab below the root of a server, which knows the exchange; its folder and its path."""
    wrong, right = told_class.wrong(ME), told_class.right(ME)
    first, second = list(right)[:2]
    made = told_class.answer(ME, {first: wrong[first], second: right[second]})
    folder = server.folder / "told" / LAB
    shutil.rmtree(folder.parent, ignore_errors=True)
    shutil.copytree(made, folder)
    shutil.copy(told_class.root / "nbgrader_config.py", folder.parent)
    return folder, f"told/{LAB}/{LAB}.ipynb"


def ask(server, path):
    reply = server.ask("mlsys/told", method="POST", body={"path": path})
    return reply.json["asked"], reply.json["told"]


def results(server, path):
    return server.ask(f"mlsys/lab?path={quote(path, safe='')}").json["results"]


def test_results_are_fetched_once_the_due_time_has_passed(server, opened, told_class):
    folder, path = opened
    first, second = list(told_class.right(ME))[:2]
    assert ask(server, path) == (False, False)  # no judge runs
    told_class.submit(ME, folder)
    with service(told_class):
        assert ask(server, path) == (True, False)
        assert results(server, path) is None
        assert told_class.ask()["at_once"] is False
        told_class.settings('feedback = "after due"', CHANCE, f"due = {in_days(0)}")
        wait_for(lambda: ask(server, path) == (True, True))
        assert told_class.ask()["at_once"] is True
    found = results(server, path)
    assert set(found["questions"]) >= {first, second}
    assert first in found["again"]
    assert second not in found["again"]
    assert found["share"] == 0.5
    assert any("points" in words for words in found["words"])


def test_a_report_hears_of_what_is_told_and_believes_only_its_student(server, opened):
    folder, path = opened
    tag = server.ask(f"mlsys/lab?path={quote(path, safe='')}").headers["ETag"]
    report = {
        "format": 1, "lab": LAB, "student": ME, "share": None, "until": None, "later": "",
        "questions": [{
            "name": "intensity", "title": "", "points": 5, "kind": "answer", "answer": "3.0",
            "earned": 5, "credit": 1, "says": "", "again": False, "second": None,
        }],
    }  # fmt: skip
    (folder / TOLD).write_text(json.dumps(report))
    reply = server.ask(f"mlsys/lab?path={quote(path, safe='')}", If_None_Match=tag)
    assert reply.status == 200
    assert reply.json["results"]["questions"] == ["intensity"]
    (folder / TOLD).write_text(json.dumps({**report, "student": "somebody"}))
    assert results(server, path) is None


def test_practice_asks_nobody(server, opened):
    folder, path = opened
    book = json.loads((folder / f"{LAB}.ipynb").read_text())
    book["metadata"]["mlsys"]["way"] = "practice"
    (folder / f"{LAB}.ipynb").write_text(json.dumps(book))
    assert ask(server, path) == (False, False)
    stranger = server.ask("mlsys/told", method="POST", body={"path": path}, token=False)
    assert stranger.status in (302, 403)
