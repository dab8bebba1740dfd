"""A ledger in a browser's storage: written whole, read again, compared, and by one tab only."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from mlsys_widgets.ledger import Busy, DiskFull, Ledger, NotSaved, Unreadable
from mlsys_widgets.ledger.journal import in_folder, keep_with
from mlsys_widgets.lite.page import stored_journal as stored
from mlsys_widgets.lite.page.stored_journal import StoredJournal
from mlsys_widgets.lite.page.tab import ELSEWHERE, NOBODY, NOT_READY, Tab
from mlsys_widgets.lite.page.visitor import introduce

LAB = "lab_07_kernel_fusion"


@pytest.fixture
def tab(tmp_path, monkeypatch):
    """A tab that writes in the folder of a test, where somebody has said who works there."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    introduce("ann")
    made = Tab()
    made.folder, made.writes = tmp_path, True
    keep_with(lambda path, patience: StoredJournal(path, made, patience=patience))
    yield made
    keep_with(in_folder)


def opened(folder: Path) -> Ledger:
    return Ledger.open(folder / "ledger.jsonl", lab=LAB, student="ann")


def test_what_is_saved_is_in_the_file_and_verifies(tab, tmp_path):
    led = opened(tmp_path)
    led.commit_prediction("gap", "C", confidence=4)
    led.record_answer("ridge", 295)
    again = opened(tmp_path)
    assert again.state().answers["ridge"].value == 295
    assert again.verify().ok
    assert (tmp_path / "ledger.jsonl").read_bytes().count(b"\n") == 3


def test_it_is_the_same_file_as_in_a_folder(tab, tmp_path):
    opened(tmp_path).record_answer("ridge", 295)
    keep_with(in_folder)
    opened(tmp_path).record_answer("ridge", 296)
    keep_with(lambda path, patience: StoredJournal(path, tab, patience=patience))
    led = opened(tmp_path)
    led.record_answer("ridge", 297)
    assert [each.value for each in (*led.state().answers["ridge"].earlier,)] == [295, 296]
    assert led.verify().ok


@pytest.mark.parametrize("kept", [b"", b"half"])
def test_a_browser_that_keeps_something_else_is_caught(tab, tmp_path, monkeypatch, kept):
    """A write that reports nothing and leaves nothing, or a part, is not called saved."""
    led = opened(tmp_path)
    led.record_answer("ridge", 295)
    before = led.path.read_bytes()

    def store(path: Path, start: bytes, _lines: bytes) -> None:
        path.write_bytes(start + kept)

    monkeypatch.setattr(stored, "write_behind", store)
    with pytest.raises(NotSaved, match="the browser has not kept what was written"):
        led.record_answer("ridge", 296)
    assert led.path.read_bytes() == before
    monkeypatch.undo()
    assert "ridge" in led.state().answers
    assert led.state().answers["ridge"].value == 295


def test_a_record_that_the_browser_no_longer_gives_back_is_told(tab, tmp_path, monkeypatch):
    """Storage that is cleared under an open page fails when the record is read, not written."""
    led = opened(tmp_path)
    led.record_answer("ridge", 295)
    led.path.touch()

    def gone(*_: object) -> None:
        raise OSError(errno.EIO, "I/O error")

    monkeypatch.setattr(StoredJournal, "_catch_up", gone)
    with pytest.raises(Unreadable, match=r"^Nothing was saved: .*Load the page again"):
        led.record_answer("ridge", 296)


def test_a_full_browser_says_so_and_the_record_stays(tab, tmp_path, monkeypatch):
    led = opened(tmp_path)
    led.record_answer("ridge", 295)

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(stored, "write_behind", refuse)
    with pytest.raises(DiskFull, match="no room left"):
        led.record_answer("ridge", 296)
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    led.record_answer("ridge", 297)
    assert led.state().answers["ridge"].value == 297


def test_the_second_tab_reads_says_so_and_writes_once_the_first_is_gone(tab, tmp_path):
    opened(tmp_path).record_answer("ridge", 295)
    tab.writes = False
    led = opened(tmp_path)
    assert led.state().answers["ridge"].value == 295
    assert led.notices == (ELSEWHERE,)
    with pytest.raises(Busy, match="Nothing was saved: This lab is open in another tab"):
        led.record_answer("ridge", 296)
    with pytest.raises(Busy):
        led.begin_again()
    tab.writes = True
    led.record_answer("ridge", 297)
    assert (led.notices, led.state().answers["ridge"].value) == ((), 297)


def test_nothing_is_written_before_the_page_is_there_and_somebody_is_known(
    tab, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nobody"))
    with pytest.raises(Busy, match=NOBODY):
        opened(tmp_path).record_answer("ridge", 295)
    introduce("ann")
    tab.folder = None
    with pytest.raises(Busy, match=NOT_READY):
        opened(tmp_path).record_answer("ridge", 295)
    assert not (tmp_path / "ledger.jsonl").exists()


def test_an_unfinished_line_is_set_aside(tab, tmp_path):
    led = opened(tmp_path)
    led.record_answer("ridge", 295)
    with led.path.open("ab") as file:
        file.write(b'{"half')
    led.record_answer("ridge", 296)
    assert [each.read_bytes() for each in led.torn] == [b'{"half']
    assert led.verify().ok
