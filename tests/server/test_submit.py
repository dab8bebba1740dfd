"""Submitting through nbgrader, with a receipt that says where the ledger ends."""

from __future__ import annotations

import pytest

from mlsys_widgets.ledger import Head, Ledger, LedgerError
from mlsys_widgets.ledger.handed_in import read_hand_in
from mlsys_widgets.ledger.receipt import RECEIPT, read_receipt
from mlsys_widgets.server import submit as submit_module
from tests.grading.classroom import LAB, classroom
from tests.grading.submitting import submit

STOCK = "nbgrader.exchange.default.ExchangeSubmit"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return classroom(tmp_path_factory.mktemp("submit") / "course")


@pytest.fixture
def home(course, tmp_path):
    """A student's home with the lab in it, and a ledger with one prediction."""
    course.give(tmp_path / LAB)
    ledger = Ledger.open(tmp_path / LAB / "ledger.jsonl", lab=LAB, student="ann")
    ledger.commit_prediction("act1_bound", "B", 3)
    return tmp_path


def test_the_receipt_names_the_head(course, home):
    (home / LAB / "drafts.json").write_text("{}")
    (home / LAB / "settings.json").write_text("{}")
    collected = submit(course, "ann", home)
    head = Ledger.open(home / LAB / "ledger.jsonl").head
    assert isinstance(head, Head)
    assert read_receipt((collected / RECEIPT).read_bytes()) == head
    assert (collected / "timestamp.txt").is_file()
    note = read_hand_in(home / LAB)
    assert note is not None
    assert note.head == head
    assert note.time[:19].replace("T", " ") == (collected / "timestamp.txt").read_text()[:19]
    assert (note.course, note.file) == ("mlsys", None)
    assert (collected / f"{LAB}.ipynb").is_file()
    assert not (collected / "drafts.json").exists()
    assert not (collected / "settings.json").exists()


def test_without_a_ledger_there_is_no_receipt(course, home):
    (home / LAB / "ledger.jsonl").unlink()
    assert not (submit(course, "ann", home) / RECEIPT).exists()


def test_stock_nbgrader_writes_none(course, home):
    assert not (submit(course, "ann", home, submit=STOCK) / RECEIPT).exists()


@pytest.mark.parametrize("problem", [OSError("full"), LedgerError("odd")])
def test_whatever_goes_wrong_with_it_the_work_is_submitted(course, home, monkeypatch, problem):
    def failing(_folder):
        raise problem

    monkeypatch.setattr(submit_module, "write_receipt", failing)
    collected = submit(course, "ann", home)
    assert (collected / "ledger.jsonl").is_file()
    assert not (collected / RECEIPT).exists()
