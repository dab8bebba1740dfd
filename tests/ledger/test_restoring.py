"""A ledger comes back from the notebook that carries it, and nothing is ever overwritten."""

from __future__ import annotations

import json
import os

import pytest

from mlsys_widgets.ledger import Ledger, restoring
from mlsys_widgets.ledger.restoring import restore_ledger
from tests.ledger.test_carried_record import LAB, STUDENT, carrying, ledger_of, notebook


@pytest.fixture
def place(tmp_path):
    """Where a ledger is missing beside a notebook."""

    def write(book):
        (tmp_path / f"{LAB}.ipynb").write_text(json.dumps(book))
        return tmp_path / "ledger.jsonl", tmp_path / f"{LAB}.ipynb"

    return write


def real(tmp_path, student=STUDENT, lab=LAB) -> bytes:
    led = Ledger.open(tmp_path / "elsewhere.jsonl", lab=lab, student=student)
    led.commit_prediction("act1_bound", "B", 3)
    return led.path.read_bytes()


def test_a_missing_ledger_comes_back(place, tmp_path):
    content = real(tmp_path)
    path, book = place(carrying(content))
    notice = restore_ledger(path, book, LAB, STUDENT)
    assert path.read_bytes() == content
    assert "restored from the record" in notice
    led = Ledger.open(path, lab=LAB, student=STUDENT)
    assert led.verify().ok
    assert led.events()[-1].time in notice
    assert restore_ledger(path, book, LAB, STUDENT) is None, "now there is one"


def test_nothing_is_overwritten(place, tmp_path):
    path, book = place(carrying(real(tmp_path)))
    path.write_bytes(b"")
    assert restore_ledger(path, book, LAB, STUDENT) is None
    assert path.read_bytes() == b""
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    assert restore_ledger(path, book, LAB, STUDENT) is None
    assert not (tmp_path / "nowhere").exists()


def test_a_lab_that_was_begun_again_stays_begun_again(place, tmp_path):
    content = real(tmp_path)
    path, book = place(carrying(content))
    path.write_bytes(content)
    Ledger.open(path).begin_again()
    assert restore_ledger(path, book, LAB, STUDENT) is None
    assert not path.exists()


@pytest.mark.parametrize(("student", "lab"), [("bob", LAB), (STUDENT, "lab_03")])
def test_what_belongs_elsewhere_is_not_taken_over(place, tmp_path, student, lab):
    path, book = place(carrying(real(tmp_path, student, lab)))
    notice = restore_ledger(path, book, LAB, STUDENT)
    assert f"the record of {student}" in notice
    assert not path.exists()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda content: content.replace(b'"B"', b'"C"'), "is not intact"),
        (lambda content: content.split(b"\n", 1)[1], "does not say whose it is"),
        (lambda content: content + content, "is not intact"),
        (lambda content: b"nonsense\n", "does not say whose it is"),
        (lambda content: ledger_of("2026").replace(b"2026-02", b"2999-02"), "is not intact"),
    ],
)
def test_what_is_not_intact_is_not_restored(place, tmp_path, change, why):
    path, book = place(carrying(change(real(tmp_path))))
    assert why in restore_ledger(path, book, LAB, STUDENT)
    assert not path.exists()


@pytest.mark.parametrize("text", ["", "{", '"record"' + "[" * 100_000, '{"record": 3}', "\0"])
def test_a_notebook_without_a_record_is_not_mentioned(tmp_path, text):
    path, book = tmp_path / "ledger.jsonl", tmp_path / f"{LAB}.ipynb"
    assert restore_ledger(path, book, LAB, STUDENT) is None, "nor one that is not there"
    book.write_text(text)
    assert restore_ledger(path, book, LAB, STUDENT) is None


def test_no_link_and_no_pipe_is_read(place, tmp_path):
    path, book = place(carrying(real(tmp_path)))
    book.rename(tmp_path / "other.ipynb")
    book.symlink_to(tmp_path / "other.ipynb")
    assert restore_ledger(path, book, LAB, STUDENT) is None
    book.unlink()
    os.mkfifo(book)
    assert restore_ledger(path, book, LAB, STUDENT) is None


def test_a_folder_that_cannot_be_written_is_named(place, tmp_path, monkeypatch):
    path, book = place(carrying(real(tmp_path)))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(restoring, "write_new", full)
    assert "No space left on device" in restore_ledger(path, book, LAB, STUDENT)


# Back to a machine on which an older one lies.


@pytest.fixture
def older(place, tmp_path):
    """A ledger, and a notebook that carries two events more."""
    path, _ = place(notebook())
    path.write_bytes(real(tmp_path))
    before = path.read_bytes()
    newer = Ledger.open(tmp_path / "elsewhere.jsonl")
    newer.record_answer("ridge", 295)
    newer.record_answer("ridge", 296)
    after = newer.path.read_bytes()
    place(carrying(after))
    return path, before, after


def test_what_was_done_elsewhere_is_added(older, tmp_path):
    path, _, after = older
    notice = restore_ledger(path, tmp_path / f"{LAB}.ipynb", LAB, STUDENT)
    assert "was older than the record" in notice
    assert path.read_bytes() == after
    led = Ledger.open(path)
    assert led.verify().ok
    led.record_answer("ridge", 297)
    assert led.verify().ok
    assert restore_ledger(path, tmp_path / f"{LAB}.ipynb", LAB, STUDENT) is None


def test_a_ledger_that_went_another_way_stays_and_that_is_said(older, tmp_path):
    path, before, _ = older
    Ledger.open(path).record_answer("ridge", 3)
    kept = path.read_bytes()
    assert kept.startswith(before)
    notice = restore_ledger(path, tmp_path / f"{LAB}.ipynb", LAB, STUDENT)
    assert "have gone different ways" in notice
    assert path.read_bytes() == kept


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.replace(b"296", b"299"),
        lambda content: content + content,
        lambda content: content.replace(b'"ann"', b'"bob"'),
        lambda content: b"nonsense",
    ],
)
def test_nothing_is_added_that_is_not_intact_and_ones_own(older, place, change):
    path, before, after = older
    _, book = place(carrying(change(after)))
    restore_ledger(path, book, LAB, STUDENT)
    assert path.read_bytes() == before


def test_nothing_is_added_to_what_is_not_ones_own_or_not_finished(older, tmp_path):
    path, before, _ = older
    book = tmp_path / f"{LAB}.ipynb"
    for content in (ledger_of(student="bob"), b"", b"nonsense", before + b'{"seq":'):
        path.write_bytes(content)
        assert restore_ledger(path, book, LAB, STUDENT) is None
        assert path.read_bytes() == content


def test_a_lab_that_was_begun_again_gets_nothing_of_the_one_before(older, tmp_path):
    path, *_ = older
    Ledger.open(path).begin_again()
    path.write_bytes(ledger_of(1))
    assert restore_ledger(path, tmp_path / f"{LAB}.ipynb", LAB, STUDENT) is None
    assert path.read_bytes() == ledger_of(1)


def test_a_ledger_that_cannot_be_written_is_named(older, tmp_path, monkeypatch):
    path, before, _ = older

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mlsys_widgets.ledger.journal.os.write", full)
    notice = restore_ledger(path, tmp_path / f"{LAB}.ipynb", LAB, STUDENT)
    assert notice.startswith("This notebook carries newer entries than ledger.jsonl. ")
    assert path.read_bytes() == before
