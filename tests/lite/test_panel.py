"""The Lab panel asks a kernel: the answers of a server, one request after the other."""

from __future__ import annotations

import base64
import io
import json
import secrets
import zipfile
from pathlib import Path
from typing import Any

import pytest

from mlsys_widgets.ledger import Ledger
from mlsys_widgets.lite.page.new_release import Releases
from mlsys_widgets.lite.page.panel import PagePanel

LAB = "lab_02_demo"
BOOK = {
    "cells": [
        {
            "cell_type": "code",
            "metadata": {"mlsys": {"kind": "prediction", "id": "gap", "act": 1, "title": "Gap"}},
            "source": "",
            "outputs": [],
            "execution_count": None,
        }
    ],
    "metadata": {"mlsys": {"lab": LAB, "title": "A demo"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture
def drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A drive with one lab, in which nobody has worked, and nobody has said who they are."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".mlsys"))
    for name in ("MLSYS_STUDENT", "JUPYTERHUB_USER"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / LAB).mkdir()
    (tmp_path / LAB / f"{LAB}.ipynb").write_text(json.dumps(BOOK), "utf-8")
    return tmp_path


@pytest.fixture
def panel(drive: Path) -> PagePanel:
    return panel_of(drive)


def panel_of(drive: Path) -> PagePanel:
    """The panel of a kernel whose site says nothing."""
    return PagePanel(drive, Releases(lambda address: None))


def asked(
    panel: PagePanel, method: str, address: str, tag: str | None = None, **given: Any
) -> tuple[int, Any, str]:
    """Ask as the page asks, about the lab: a status, what is said, and the tag."""
    number = secrets.token_hex(4)
    request = {"id": number, "method": method, "address": address, "tag": tag}
    path = {"path": f"{LAB}/{LAB}.ipynb"}
    request |= {"query": path, "body": None} if method == "GET" else {"body": {**path, **given}}
    reply = json.loads(json.dumps(panel.reply(request)))
    assert reply["id"] == number
    return reply["status"], reply["body"], reply["tag"]


def ledger(drive: Path, student: str = "ann") -> Ledger:
    return Ledger.open(drive / LAB / "ledger.jsonl", lab=LAB, student=student)


def test_it_asks_once_who_works_here(panel):
    assert asked(panel, "GET", "who")[1] == {"name": None}
    status, said, _ = asked(panel, "POST", "who", name="ann/bob")
    assert status == 409
    assert "1 to 200 printable characters without slashes" in said["message"]
    assert asked(panel, "POST", "who", name=" ann ", code="")[1] == {"name": "ann"}
    assert asked(panel_of(panel.answers.root.folder), "GET", "who")[1] == {"name": "ann"}
    status, said, _ = asked(panel, "POST", "who", name="bob", code="no", by_code=True)
    assert (status, asked(panel, "GET", "who")[1]) == (409, {"name": "ann"})
    assert said["message"].startswith("That code is not one of 'bob'")


def test_it_reports_what_a_server_reports_and_what_is_in_no_file(panel, drive):
    asked(panel, "POST", "who", name="ann")
    status, report, tag = asked(panel, "GET", "lab")
    assert (status, report["you"], report["events"]) == (200, "ann", 0)
    assert report["kept"] == {"visitor": "ann", "exported": None, "newer": 0, "since": None}
    assert [(step["id"], step["left"]) for step in report["steps"]] == [("gap", True)]
    assert asked(panel, "GET", "lab", tag) == (304, None, tag)
    ledger(drive).commit_prediction("gap", "B")
    status, report, _ = asked(panel, "GET", "lab", tag)
    assert (status, report["predictions"]["gap"]["value"]) == (200, "B")
    assert report["kept"]["newer"] == 2
    assert asked(panel, "GET", "ledgers")[1]["ledgers"][0]["student"] == "ann"


def test_it_hands_in_a_file_that_the_page_saves(panel, drive):
    asked(panel, "POST", "who", name="ann")
    led = ledger(drive)
    led.commit_prediction("gap", "B")
    status, said, _ = asked(panel, "GET", "hand-in")
    assert (status, said["file"], said["course"]) == (200, f"{LAB}-ann.zip", None)
    status, receipt, _ = asked(panel, "POST", "hand-in")
    assert status == 200
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(receipt["content"]))) as packed:
        assert packed.read("ledger.jsonl") == led.path.read_bytes()
        assert set(packed.namelist()) == set(receipt["files"])
    assert asked(panel, "GET", "lab")[1]["handed_in"]["file"] == f"{LAB}-ann.zip"


def test_a_question_that_is_asked_again_is_answered_and_not_done_again(panel, drive):
    """The page asks again when an answer was lost, as around the restart of a kernel."""
    ledger(drive).record_answer("ridge", 1)
    body = {"path": f"{LAB}/{LAB}.ipynb"}
    request = {"id": "page.1", "method": "POST", "address": "begin-again", "body": body}
    said = panel.reply(request)
    ledger(drive).record_answer("ridge", 2)
    assert panel.reply(request) == said
    assert ledger(drive).state().answers["ridge"].value == 2


def test_practice_is_not_handed_in(panel, drive):
    book = json.loads(json.dumps(BOOK))
    book["metadata"]["mlsys"]["way"] = "practice"
    (drive / LAB / f"{LAB}.ipynb").write_text(json.dumps(book), "utf-8")
    for method in ("GET", "POST"):
        status, said, _ = asked(panel, method, "hand-in")
        assert (status, "This is practice" in said["message"]) == (409, True)


def test_it_keeps_drafts_and_begins_again(panel, drive):
    draft = {"window": "w", "value": "33", "over": None, "at": 1.0}
    change = {"item": "ridge", "box": "number", "window": "w", "draft": draft}
    assert asked(panel, "PUT", "drafts", changes=[change])[0] == 200
    assert asked(panel, "GET", "drafts")[1]["drafts"]["ridge"]["number"][0]["value"] == "33"
    assert asked(panel, "PUT", "drafts", changes=[{"item": 3}])[0] == 409
    ledger(drive).record_answer("ridge", 1)
    assert asked(panel, "POST", "begin-again")[1] == {"aside": f"{LAB}/ledger.jsonl.old-1"}
    assert asked(panel, "GET", "drafts")[1]["drafts"] == {}


@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("GET", "nothing", 404),
        ("DELETE", "lab", 404),
        ("GET", "second-look", 409),
        ("GET", "new-version", 409),
        ("POST", "new-version", 409),
    ],
)
def test_what_it_cannot_do_is_a_sentence(panel, method, address, status):
    found, said, _ = asked(panel, method, address)
    assert found == status
    assert said["message"].endswith(".")


@pytest.mark.parametrize("path", ["../elsewhere.ipynb", "/etc/passwd", "lab/none.ipynb", ""])
def test_a_path_that_leads_elsewhere_is_refused(panel, path):
    for address in ("lab", "drafts", "hand-in"):
        reply = panel.reply({"id": 1, "method": "GET", "address": address, "query": {"path": path}})
        assert reply["status"] in (403, 404)
