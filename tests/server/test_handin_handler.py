"""Handing in through a real server: what is missing, a file on a laptop, a submission on a hub."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from urllib.parse import quote

import pytest

from mlsys_widgets.handin.archive_reader import read_archive
from mlsys_widgets.handin.work import CannotHandIn, archived_names, read_work
from mlsys_widgets.labs.identity import student
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.receipt import read_receipt
from mlsys_widgets.server import handin_handler
from mlsys_widgets.server.handin_handler import submitted

LAB = "lab_11_roofline"
STEP = {"kind": "prediction", "id": "act1_wall", "act": 1, "title": "Which wall?"}


@pytest.fixture
def lab(server, request):
    """A lab of its own for each test; gives its folder and its path on the server."""
    folder = server.folder / request.node.name.partition("[")[0] / LAB
    folder.mkdir(parents=True)
    book = {
        "cells": [{"cell_type": "code", "metadata": {"mlsys": STEP}, "source": "", "outputs": []}],
        "metadata": {"mlsys": {"lab": LAB, "title": "Lab 11: The Roofline"}},
        "nbformat": 4,
    }
    (folder / f"{LAB}.ipynb").write_text(json.dumps(book))
    return folder, (folder / f"{LAB}.ipynb").relative_to(server.folder).as_posix()


def ask(server, path, **options):
    return server.ask(f"mlsys/hand-in?path={quote(path, safe='')}", **options)


def hand_in(server, path, **options):
    return server.ask("mlsys/hand-in", method="POST", body={"path": path}, **options)


def test_what_is_missing_is_said_first_and_nothing_is_made(server, lab):
    folder, path = lab
    who = student(folder).name
    led = Ledger.open(folder / "ledger.jsonl", lab=LAB, student=who)
    led.record_answer("something", 1)
    said = ask(server, path).json
    assert (said["lab"], said["student"], said["course"]) == (LAB, who, None)
    assert said["file"] == f"{LAB}-{who}.zip"
    words = [each["words"] for each in said["missing"] if each["kind"] == "step"]
    assert words == ["Act 1, prediction “Which wall?”: to do."]
    led.commit_prediction("act1_wall", "C", 3)
    assert not [each for each in ask(server, path).json["missing"] if each["kind"] == "step"]
    assert not list(folder.glob("*.zip"))


def test_one_file_is_made_beside_the_notebook(server, lab):
    folder, path = lab
    led = Ledger.open(folder / "ledger.jsonl", lab=LAB, student=student(folder).name)
    led.commit_prediction("act1_wall", "C", 3)
    receipt = hand_in(server, path).json
    made = server.folder / receipt["file"]
    assert made.parent == folder
    allowed = archived_names(LAB) | {"timestamp.txt"}
    files = read_archive(made.read_bytes(), LAB, allowed)
    assert sorted(files) == sorted(receipt["files"])
    assert read_receipt(files["ledger_receipt.json"]) == led.head
    assert receipt["time"].endswith("+00:00")
    # It can be downloaded from where the receipt says.
    assert server.ask(f"files/{quote(receipt['file'])}").body == made.read_bytes()


@pytest.mark.parametrize("path", ["../lab.ipynb", "/etc/passwd", ".hidden/lab.ipynb", "x.txt"])
def test_nothing_outside_is_handed_in(server, path):
    for answer in (ask(server, path), hand_in(server, path)):
        assert answer.status == 403
        assert answer.json["message"].endswith(".")


def test_what_cannot_be_handed_in_is_a_sentence(server, lab):
    folder, path = lab
    assert hand_in(server, f"{path}x.ipynb").status == 404
    (folder / f"{LAB}.ipynb").write_text("{}")
    for answer in (ask(server, path), hand_in(server, path)):
        assert answer.status == 409
        assert answer.json["message"] == f"{LAB}.ipynb does not say which lab it belongs to."
    assert server.ask("mlsys/hand-in", method="POST", body=[]).status == 400


def test_a_stranger_hands_in_nothing(server, lab):
    _, path = lab
    for answer in (ask(server, path, token=False), hand_in(server, path, token=False)):
        assert answer.status in (302, 403)


@pytest.fixture
def hub_home(server, lab, tmp_path):
    """Settings of a hub beside the lab: a course whose exchange takes it."""
    folder, path = lab
    exchange = tmp_path / "exchange"
    inbound, outbound = exchange / "mlsys" / "inbound", exchange / "mlsys" / "outbound" / LAB
    inbound.mkdir(parents=True)
    outbound.mkdir(parents=True)
    shutil.copy(folder / f"{LAB}.ipynb", outbound)
    for each in (exchange, inbound):
        each.chmod(0o777)
    (folder.parent / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        "c.CourseDirectory.course_id = 'mlsys'\n"
        f"c.Exchange.root = {str(exchange)!r}\n"
        f"c.Exchange.cache = {str(tmp_path / 'cache')!r}\n"
        "c.ExchangeFactory.submit = 'mlsys_widgets.server.submit.SubmitWithReceipt'\n"
    )
    return folder, path, inbound


def test_on_a_hub_it_is_submitted(server, hub_home):
    folder, path, inbound = hub_home
    led = Ledger.open(folder / "ledger.jsonl", lab=LAB, student=student(folder).name)
    led.commit_prediction("act1_wall", "C", 3)
    said = ask(server, path).json
    assert (said["course"], said["file"]) == ("mlsys", None)
    receipt = hand_in(server, path).json
    assert (receipt["course"], receipt["file"]) == ("mlsys", None)
    assert {f"{LAB}.ipynb", "ledger.jsonl", "ledger_receipt.json"} <= set(receipt["files"])
    (there,) = inbound.iterdir()
    assert receipt["time"] == (there / "timestamp.txt").read_text()
    assert read_receipt((there / "ledger_receipt.json").read_bytes()) == led.head
    assert not list(folder.glob("*.zip"))


def test_an_exchange_that_is_closed_says_so(server, hub_home):
    folder, path, inbound = hub_home
    (folder / f"{LAB}.ipynb").rename(folder / "mine.ipynb")
    refused = hand_in(server, path.replace(f"{LAB}.ipynb", "mine.ipynb"))
    assert refused.status == 409
    assert f"must be called {LAB}.ipynb" in refused.json["message"]
    (folder / "mine.ipynb").rename(folder / f"{LAB}.ipynb")
    shutil.rmtree(inbound)
    inbound.write_text("not a folder")
    # Without a folder to submit to, there is no exchange, so a file is made.
    assert hand_in(server, path).json["file"] is not None


def test_whatever_nbgrader_does_becomes_a_sentence(lab, monkeypatch):
    folder, _ = lab
    work = read_work(folder / f"{LAB}.ipynb")

    real = subprocess.run
    for code, words in (
        ('print(\'{"problem": "Not enrolled"}\')', "did not take it: Not enrolled"),
        ("raise SystemExit('boom')", "nbgrader could not submit: boom"),
    ):
        made = real([sys.executable, "-c", code], capture_output=True, check=False)
        monkeypatch.setattr(handin_handler.subprocess, "run", lambda *_, made=made, **__: made)
        with pytest.raises(CannotHandIn, match=words):
            submitted(work, "mlsys")

    def slow(*_, **__):
        raise subprocess.TimeoutExpired("submit", 120)

    monkeypatch.setattr(handin_handler.subprocess, "run", slow)
    with pytest.raises(CannotHandIn, match="did not answer within 120 s"):
        submitted(work, "mlsys")
    moved = folder.rename(folder.with_name("my_copy"))
    with pytest.raises(CannotHandIn, match=f"must be called {LAB}"):
        submitted(read_work(moved / f"{LAB}.ipynb"), "mlsys")
