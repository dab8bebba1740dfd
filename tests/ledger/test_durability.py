"""Torn lines, full disks, read-only folders, vanished files: nothing lost, nothing claimed."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import subprocess
import traceback
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from mlsys_widgets.ledger import (
    DiskFull,
    Ledger,
    NotSaved,
    ReadOnly,
    Replaced,
    Unreadable,
    Vanished,
)
from mlsys_widgets.ledger.history import History
from tests.ledger.making import START, Clock, opened, read_events, worked_through

ROOT = os.geteuid() == 0
LATER = START + timedelta(hours=1)


# ---- torn tails


@pytest.mark.parametrize("step", [40, pytest.param(1, marks=pytest.mark.slow, id="every byte")])
def test_a_line_torn_at_any_byte_is_set_aside_and_the_rest_survives(path, step):
    worked_through(path)
    whole = path.read_bytes()
    cut = whole.rstrip(b"\n").rfind(b"\n") + 1
    # The first bytes and the last ones in any case: that is where lines begin and end.
    ends = {*range(cut, len(whole), step), cut + 1, *range(len(whole) - 2, len(whole) + 1)}
    for end in sorted(ends):
        path.write_bytes(whole[:end])
        piece = whole[cut:end]
        complete = end >= len(whole) - 1  # only the end of the line is missing, or nothing
        led = opened(path, Clock(LATER))
        assert len(led.events()) == (12 if complete else 11)
        assert path.read_bytes() == whole[:end], "reading changes nothing"
        assert bool(led.notices) == bool(piece and not complete)
        led.record_answer("more", end)
        events = read_events(path)
        assert len(events) == (13 if complete else 12)
        assert path.read_bytes().startswith(whole if complete else whole[:cut])
        assert led.verify().ok
        if piece and not complete:
            (aside,) = led.torn
            assert aside.read_bytes() == piece
            assert f"({len(piece)} bytes) was set aside in {aside.name}" in led.notices[-1]
            aside.unlink()
        else:
            assert led.torn == ()


@pytest.mark.parametrize("piece", [b"\0" * 4096, b"\xff\xfe{", b'{"seq":', b"\r", b"   "])
def test_whatever_stands_after_the_last_line_is_no_obstacle(path, piece):
    worked_through(path)
    whole = path.read_bytes()
    path.write_bytes(whole + piece)
    led = opened(path, Clock(LATER))
    assert len(led.events()) == 12
    led.record_answer("more", 1)
    assert path.read_bytes().startswith(whole + b"{")
    assert led.verify().ok
    assert [aside.read_bytes() for aside in led.torn] == ([piece] if piece.strip() else [])


def test_an_empty_file_is_a_new_ledger(path):
    path.touch()
    led = opened(path)
    assert led.state().predictions == {}
    led.commit_prediction("act1", "C")
    assert led.verify().ok


# ---- no room


def in_child(work: Callable[[], None]) -> None:
    """Run in a forked child, so that limits and identities stay there."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def commits_until_full(led: Ledger, text: str) -> int:
    for number in range(10_000):
        try:
            led.record_answer(f"answer_{number}", text)
        except DiskFull:
            return number
    raise AssertionError("never full")


@pytest.mark.parametrize("room", range(1000, 1700, 53))
def test_a_limit_on_file_sizes_leaves_whole_lines(path, room):
    def work() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        led = opened(path)
        saved = commits_until_full(led, "x" * 50)
        assert len(led.state().answers) == saved
        with pytest.raises(DiskFull, match=r"no room left for ledger\.jsonl"):
            led.commit_prediction("act1", "x" * 90)
        assert led.state().predictions == {}

    in_child(work)
    assert path.read_bytes().endswith(b"\n")
    led = opened(path)
    assert led.verify().ok
    assert not led.torn
    led.commit_prediction("act1", "C")
    assert led.verify().ok


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if not ROOT or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_leaves_whole_lines_and_writing_continues_when_there_is_room(small_disk):
    path, ballast = small_disk / "ledger.jsonl", small_disk / "ballast"
    ballast.write_bytes(b"\0" * 20_000)
    led = opened(path)
    saved = commits_until_full(led, "x" * 3000)
    assert saved > 3
    before = path.read_bytes()
    for _ in range(3):
        with pytest.raises(DiskFull, match="Delete files you do not need"):
            led.record_reflection("why", "x" * 9000)
    assert path.read_bytes() == before
    assert led.verify().ok
    ballast.unlink()
    led.record_reflection("why", "x" * 9000)
    again = Ledger.open(path)
    assert again.verify().ok
    assert len(again.state().answers) == saved
    assert again.state().reflections["why"].value == "x" * 9000


def test_a_disk_without_room_for_the_first_line(small_disk):
    path = small_disk / "ledger.jsonl"
    with pytest.raises(OSError, match="No space"):
        (small_disk / "ballast").write_bytes(b"\0" * 100_000)
    led = opened(path)
    with pytest.raises(DiskFull):
        led.commit_prediction("act1", "C")
    assert led.state().predictions == {}
    (small_disk / "ballast").unlink()
    led.commit_prediction("act1", "C")
    assert opened(path).verify().ok


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.EIO, NotSaved), (errno.ENOSPC, DiskFull), (errno.EDQUOT, DiskFull)],
)
def test_what_was_not_synced_was_not_saved(path, monkeypatch, number, kind):
    """Network disks report a full quota at the very end."""
    led = opened(path)
    led.commit_prediction("act1", "C")
    before = path.read_bytes()

    def fail(handle):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(kind, match=r"^Nothing was saved: "):
            led.commit_prediction("act2", "D")
    assert path.read_bytes() == before
    assert "act2" not in led.state().predictions
    led.commit_prediction("act2", "D")
    assert led.verify().ok


def test_an_interrupt_in_the_middle_of_a_write_leaves_nothing(path, monkeypatch):
    led = opened(path)
    led.commit_prediction("act1", "C")
    before, write = path.read_bytes(), os.write

    def interrupted(handle, data):
        write(handle, data[:40])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            led.commit_prediction("act2", "D")
    assert path.read_bytes() == before
    led.commit_prediction("act2", "D")
    assert led.verify().ok


def test_an_interrupt_while_reading_leaves_nothing_unread(path, monkeypatch):
    led, other = opened(path), opened(path)
    for number in range(5):
        other.record_answer(f"a{number}", number)
    take_line, taken = History.take_line, []

    def interrupted(history, line):
        if len(taken) == 3:
            raise KeyboardInterrupt
        taken.append(line)
        take_line(history, line)

    with monkeypatch.context() as patch:
        patch.setattr(History, "take_line", interrupted)
        with pytest.raises(KeyboardInterrupt):
            led.record_answer("b", 1)
    led.record_answer("b", 1)
    assert len(led.events()) == 7
    assert led.verify().ok


def test_an_interrupt_after_the_write_leaves_file_and_memory_in_step(path, monkeypatch):
    led = opened(path)
    led.record_answer("a", 1)

    def interrupted(history, event):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(History, "take", interrupted)
        with pytest.raises(KeyboardInterrupt):
            led.record_answer("b", 2)
    led.record_answer("c", 3)
    assert led.state().answers.keys() == {"a", "b", "c"}
    assert led.verify().ok


def test_a_write_that_falls_short_is_continued(path, monkeypatch):
    led, write = opened(path), os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda handle, data: write(handle, data[:100]))
        led.commit_prediction("act1", "C")
    assert Ledger.open(path).state().predictions["act1"].value == "C"
    assert led.verify().ok


def test_a_file_system_that_cannot_sync_is_accepted(path, monkeypatch):
    def fail(handle):
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", fail)
    led = opened(path)
    led.commit_prediction("act1", "C")
    assert led.verify().ok


# ---- not allowed


def as_nobody(work: Callable[[], None]) -> None:
    """Permissions mean nothing to root, so a child becomes somebody else."""

    def drop() -> None:
        if ROOT:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        work()

    in_child(drop)


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Path]:
    """A folder that somebody else can reach."""
    for folder in (tmp_path, *tmp_path.parents[:3]):
        if folder.owner() == Path.home().owner() and ROOT:
            folder.chmod(folder.stat().st_mode | 0o011)
    yield tmp_path
    tmp_path.chmod(0o755)


def test_a_folder_that_may_not_be_written(shared):
    shared.chmod(0o555)

    def work() -> None:
        led = opened(shared / "ledger.jsonl")
        with pytest.raises(ReadOnly, match=r"may not be written .*Copy the lab's folder"):
            led.commit_prediction("act1", "C")
        assert led.state().predictions == {}

    as_nobody(work)
    assert list(shared.iterdir()) == []


def test_a_file_that_may_not_be_written_can_be_read(shared):
    path = shared / "ledger.jsonl"
    worked_through(path)
    before = path.read_bytes()
    path.chmod(0o444)

    def work() -> None:
        led = opened(path, Clock(LATER))
        assert led.state().predictions["act1"].value == "C"
        assert led.verify().ok
        led.record_answer("kws_utilization_pct", 33.3, unit="percent")  # stands already
        with pytest.raises(ReadOnly):
            led.record_answer("more", 1)

    as_nobody(work)
    assert path.read_bytes() == before


def test_a_file_that_may_not_be_read(shared):
    path = shared / "ledger.jsonl"
    worked_through(path)
    path.chmod(0o000)

    def work() -> None:
        with pytest.raises(Unreadable, match=r"cannot be read .*Check who may read it"):
            opened(path)

    as_nobody(work)


def test_a_disk_that_is_mounted_read_only(small_disk):
    path = small_disk / "ledger.jsonl"
    led = worked_through(path, Clock())
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(ReadOnly, match="Read-only file system"):
        led.record_answer("more", 1)
    assert "more" not in led.state().answers
    assert led.verify().ok
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    led.record_answer("more", 1)
    assert led.verify().ok


# ---- gone


def test_a_file_that_vanished_is_not_silently_replaced(path):
    led = worked_through(path, Clock())
    kept = path.read_bytes()
    path.unlink()
    assert led.state().predictions["act1"].value == "C"
    for _ in range(2):
        with pytest.raises(Vanished, match=r"ledger\.jsonl is gone from .*Put it back"):
            led.record_answer("more", 1)
    assert not path.exists()
    path.write_bytes(kept)
    led.record_answer("more", 1)
    assert led.verify().ok


def test_a_folder_that_vanished(tmp_path):
    folder = tmp_path / "lab"
    folder.mkdir()
    fresh, led = opened(folder / "other.jsonl"), worked_through(folder / "ledger.jsonl", Clock())
    shutil.rmtree(folder)
    for ledger in (fresh, led):
        with pytest.raises(Vanished, match=r"lab is gone\. Put the folder back"):
            ledger.record_answer("more", 1)
    folder.mkdir()
    fresh.record_answer("more", 1)
    assert fresh.verify().ok


def test_a_file_that_was_replaced_by_an_older_one_is_told_once(path):
    led = worked_through(path, Clock())
    older = b"".join(path.read_bytes().splitlines(keepends=True)[:5])
    path.with_name("older").write_bytes(older)
    path.with_name("older").replace(path)
    with pytest.raises(Replaced, match=r"lacks events that were saved before\. Try again"):
        led.record_answer("more", 1)
    assert path.read_bytes() == older
    led.record_answer("more", 1)
    assert len(read_events(path)) == 6
    assert led.verify().ok


@pytest.mark.parametrize("look", [True, False], ids=["state asked first", "at once"])
def test_a_file_that_was_cut_in_place_is_told(path, look):
    led = worked_through(path, Clock())
    whole = path.read_bytes()
    with path.open("r+b") as stream:
        stream.truncate(whole.find(b"\n") + 1)
    if look:
        assert led.state().predictions == {}
    with pytest.raises(Replaced):
        led.record_answer("more", 1)
    led.record_answer("more", 1)
    assert led.verify().ok


def test_a_file_that_was_rewritten_with_the_same_events_is_the_same_ledger(path):
    """Editors, file synchronizers and version control save by replacing the file."""
    led = worked_through(path, Clock())
    path.with_name("copy").write_bytes(path.read_bytes())
    path.with_name("copy").replace(path)
    led.record_answer("more", 1)
    assert len(led.events()) == 13
    assert led.verify().ok


def test_the_folder_was_moved_and_the_notebook_with_it(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    worked_through(here / "ledger.jsonl")
    here.rename(there)
    led = opened(there / "ledger.jsonl", Clock(LATER))
    led.record_answer("more", 1)
    assert led.verify().ok
