"""The file of a ledger: its locks, its size, what lies beside it."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from datetime import timedelta

import pytest

from mlsys_widgets import files
from mlsys_widgets.ledger import Busy, NotSaved, Unreadable, journal
from tests.ledger.making import START, Clock, opened, worked_through

LATER = START + timedelta(hours=1)


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(Unreadable, match="is not a file"):
        opened(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Unreadable, match="is not a file"):
        opened(tmp_path / "pipe")


def test_several_torn_lines_are_kept_apart(path):
    led = worked_through(path, Clock())
    for number in range(1, 12):
        with path.open("ab") as stream:
            stream.write(b"torn %d" % number)
        led.record_answer("again", number)
    assert [aside.read_bytes() for aside in led.torn] == [b"torn %d" % n for n in range(1, 12)]
    assert led.verify().ok


def test_a_ledger_does_not_grow_without_end(path, monkeypatch):
    monkeypatch.setattr(journal, "LARGEST_FILE", 2000)
    led = opened(path)
    for number in range(5):
        led.record_answer("a", number)
    with pytest.raises(NotSaved, match="would grow beyond 2,000 bytes"):
        led.record_answer("long", "x" * 900)
    assert led.verify().ok
    path.write_bytes(b"\n" * 2001)
    with pytest.raises(Unreadable, match=r"2,001 bytes, more than any lab writes"):
        opened(path)


def test_a_kernel_that_holds_the_file_is_not_waited_for_for_ever(path):
    led = opened(path, patience=0.05)
    led.record_answer("a", 1)
    with path.open("r+b") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(Busy, match=r"another kernel has held ledger\.jsonl for 0\.05 s"):
            led.record_answer("b", 2)
        assert "b" not in led.state().answers
    led.record_answer("b", 2)
    assert led.verify().ok


def test_a_reader_waits_for_a_line_that_is_being_written(path):
    """Half a line under a lock is a line in the making, and no torn one."""
    led = worked_through(path, Clock())
    whole = path.read_bytes()
    cut = len(whole) - 50
    path.write_bytes(whole[:cut])
    code = (
        "import fcntl, os, sys, time\n"
        "handle = os.open(sys.argv[1], os.O_RDWR | os.O_APPEND)\n"
        "fcntl.flock(handle, fcntl.LOCK_EX)\n"
        "print(flush=True)\n"
        "time.sleep(0.2)\n"
        "os.write(handle, sys.argv[2].encode())\n"
    )
    command = [sys.executable, "-c", code, str(path), whole[cut:].decode()]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        fresh = opened(path)
        assert len(fresh.events()) == 12
        assert fresh.notices == ()
        assert led.verify(now=LATER).ok


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_locks_is_used_and_told(path, monkeypatch, number):
    def no_locks(handle, mode):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files.fcntl, "flock", no_locks)
    led = opened(path)
    led.record_answer("a", 1)
    assert any("open this lab in one kernel only" in notice for notice in led.notices)
    assert led.verify().ok


def test_windows_has_no_flock(path, monkeypatch):
    monkeypatch.setattr(files, "fcntl", None)
    led = opened(path)
    led.record_answer("a", 1)
    assert led.notices
    assert led.verify().ok


def test_no_lock_is_left_behind(path):
    worked_through(path)
    assert [entry.name for entry in path.parent.iterdir()] == ["ledger.jsonl"]


def test_news_is_what_was_added_since_the_last_look(path):
    reader = journal.Journal(path)
    assert reader.news() is None
    path.write_bytes(b"one\ntwo\nthr")
    assert reader.news() == journal.News([b"one", b"two"], from_start=True)
    assert reader.tail == b"thr"
    assert reader.news() == journal.News([], from_start=False)
    with path.open("ab") as stream:
        stream.write(b"ee\n")
    assert reader.news() == journal.News([b"three"], from_start=False)
    path.write_bytes(b"another\n")
    assert reader.news() == journal.News([b"another"], from_start=True)


def test_what_is_put_beside_a_file_is_numbered(path):
    for number in (1, 2, 10):
        path.with_name(f"{path.name}.torn-{number}").touch()
    path.with_name(f"{path.name}.torn-x").touch()
    assert journal.write_beside(path, "torn", b"piece").name == "ledger.jsonl.torn-3"
    path.write_bytes(b"whole")
    assert journal.move_beside(path, "old").read_bytes() == b"whole"
    assert not path.exists()
    numbers = [each.suffix for each in journal.beside(path, "torn")]
    assert numbers == [".torn-1", ".torn-2", ".torn-3", ".torn-10"]
    assert journal.beside(path.parent / "gone" / "ledger.jsonl", "torn") == ()
