"""The hub's own notes of hand-ins: what is seen, and what a student can do about it: nothing."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from datetime import timedelta

import pytest

from mlsys_widgets.files import write_whole
from mlsys_widgets.hub.services import hand_in_watch
from mlsys_widgets.hub.services.hand_in_watch import HandInWatch, notes_locked
from mlsys_widgets.ledger import Head, Ledger
from mlsys_widgets.ledger.hand_in_notes import read_notes

LAB = "lab_07_kernel_fusion"
SAYS = "2026-11-01 10:00:00.000000 UTC"


@pytest.fixture
def inbound(tmp_path):
    (tmp_path / "inbound").mkdir()
    return tmp_path / "inbound"


@pytest.fixture
def notes(tmp_path):
    (tmp_path / "hand_ins").mkdir(mode=0o750)
    return tmp_path / "hand_ins" / "notes.jsonl"


@pytest.fixture
def watch(inbound, notes):
    made = HandInWatch(inbound, notes, named=lambda uid: "ann" if uid == os.getuid() else None)
    assert made.look() == []
    return made


def hand_in(inbound, name=f"ann+{LAB}+2026-11-01 10:00:00 UTC+abc", *, says=SAYS, events=2):
    folder = inbound / name
    folder.mkdir()
    ledger = Ledger.open(folder / "ledger.jsonl", lab=LAB, student="ann")
    for k in range(events):
        ledger.record_answer(f"answer{k}", k)
    if says:
        (folder / "timestamp.txt").write_text(says)
    return folder, ledger


def test_a_hand_in_is_noted_once_with_its_head(inbound, notes, watch):
    folder, ledger = hand_in(inbound)
    (note,) = watch.look()
    kept = next(read_notes(notes))
    assert abs(note.noted - kept.noted) < timedelta(milliseconds=2)
    assert replace(note, noted=kept.noted) == kept
    assert (note.student, note.lab, note.folder) == ("ann", LAB, folder.name)
    assert (note.head, note.says, note.watched) == (ledger.head, SAYS, True)
    assert watch.look() == []
    # Nor after the service was started again.
    assert HandInWatch(inbound, notes, named=lambda _: "ann").look() == []
    assert len(list(read_notes(notes))) == 1


def test_what_the_student_does_afterward_changes_no_note(inbound, notes, watch):
    folder, ledger = hand_in(inbound)
    watch.look()
    before, noted = ledger.head, notes.read_bytes()
    ledger.record_answer("later", 1)
    (folder / "timestamp.txt").write_text("2026-10-01 10:00:00 UTC")
    assert watch.look() == []
    assert notes.read_bytes() == noted
    assert next(read_notes(notes)).head == before != ledger.head


def test_a_folder_that_is_still_being_copied_is_looked_at_again(inbound, watch, monkeypatch):
    folder, ledger = hand_in(inbound, says="")
    assert watch.look() == []
    ledger.record_answer("more", 1)
    (folder / "timestamp.txt").write_text(SAYS)
    (note,) = watch.look()
    assert note.head == ledger.head
    # One that never gets a time is noted in the end.
    hand_in(inbound, f"ann+{LAB}+other", says="")
    assert watch.look() == []
    monkeypatch.setattr(hand_in_watch, "_PATIENCE", 0.0)
    (note,) = watch.look()
    assert note.says == ""


def test_what_was_there_before_is_noted_as_such(inbound, notes):
    hand_in(inbound)
    (note,) = HandInWatch(inbound, notes, named=lambda _: "ann").look()
    assert not note.watched


def test_a_renamed_folder_is_another_hand_in(inbound, notes, watch):
    folder, _ = hand_in(inbound)
    watch.look()
    folder.rename(inbound / f"ann+{LAB}+again")
    (note,) = watch.look()
    assert note.folder.endswith("+again")


def test_a_folder_under_somebody_elses_name_is_not_noted(inbound, watch):
    hand_in(inbound, f"bob+{LAB}+x")
    assert watch.look() == []


def test_what_takes_the_place_of_something_else_is_noted(inbound, watch):
    name = f"ann+{LAB}+x"
    (inbound / name).write_text("a file first")
    assert watch.look() == []
    (inbound / name).unlink()
    _, ledger = hand_in(inbound, name)
    (note,) = watch.look()
    assert note.head == ledger.head


def test_a_note_after_one_that_broke_off_is_whole(inbound, notes, watch):
    hand_in(inbound)
    watch.look()
    notes.write_bytes(notes.read_bytes() + b'{"student": "an')
    hand_in(inbound, f"ann+{LAB}+second")
    watch.look()
    assert [note.folder[-6:] for note in read_notes(notes)] == ["TC+abc", "second"]


def test_links_pipes_and_files_lead_nowhere(inbound, tmp_path, watch):
    secret, _ = hand_in(tmp_path, "elsewhere")
    (inbound / f"ann+{LAB}+link").symlink_to(secret)
    (inbound / f"ann+{LAB}+file").write_text("x")
    linked = inbound / f"ann+{LAB}+inside"
    linked.mkdir()
    (linked / "ledger.jsonl").symlink_to(secret / "ledger.jsonl")
    (linked / "timestamp.txt").write_text(SAYS)
    piped = inbound / f"ann+{LAB}+piped"
    piped.mkdir()
    os.mkfifo(piped / "ledger.jsonl")
    (piped / "timestamp.txt").write_text(SAYS)
    assert [(note.folder[-6:], note.head) for note in watch.look()] == [
        ("inside", None), ("+piped", None),
    ]  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file to somebody else")
def test_a_ledger_of_somebody_else_is_not_read(inbound, watch):
    folder, _ = hand_in(inbound)
    os.chown(folder / "ledger.jsonl", 12345, 12345)
    (note,) = watch.look()
    assert note.head is None


@pytest.mark.parametrize(
    ("content", "seq"),
    [
        (lambda good: good + b'{"seq": 3, "ti', 2),
        (lambda good: good + b"\n\n", 2),
        (lambda good: good.rstrip(b"\n"), 2),
        (lambda good: good.replace(b"\n", b"\r\n"), 2),
        (lambda good: good + b"nonsense\n", None),
        (lambda good: b"\n" * 3_000_000, None),
        (lambda good: b"[" * 3_000_000, None),
        (lambda good: b"x" * 5_000_000 + b"\n" + good, 2),
        (lambda good: b"", None),
    ],
)
def test_the_head_is_that_of_the_last_whole_line(inbound, watch, content, seq):
    _, ledger = hand_in(inbound)
    ledger.path.write_bytes(content(ledger.path.read_bytes()))
    (note,) = watch.look()
    assert note.head == (None if seq is None else Head(seq, ledger.events()[-1].hash))


def test_a_sparse_giant_is_not_read_whole(inbound, watch):
    folder, _ = hand_in(inbound)
    for name in ("ledger.jsonl", "timestamp.txt"):
        with (folder / name).open("r+b") as file:
            file.truncate(8 << 30)
    (note,) = watch.look()
    assert note.head is None
    assert len(note.says) <= 100


def test_only_root_writes_the_notes_and_only_the_group_reads_them(inbound, notes, watch):
    hand_in(inbound)
    watch.look()
    about = notes.stat()
    assert stat.S_IMODE(about.st_mode) == 0o640
    assert about.st_gid == notes.parent.stat().st_gid


def test_what_was_renamed_is_not_noted_again(tmp_path):
    """Not even if the new file of notes has the number of the old one."""
    inbound, notes = tmp_path / "inbound", tmp_path / "notes.jsonl"
    inbound.mkdir()
    watch = HandInWatch(inbound, notes, lambda _: name)
    for old, new in (("ann", "ada"), ("ada", "eve")):
        name = old
        if old == "ann":
            (inbound / "ann+lab_01+x").mkdir()
            (inbound / "ann+lab_01+x" / "timestamp.txt").write_text("now")
            assert len(watch.look()) == 1
        with notes_locked(notes):
            text = notes.read_text().replace(old, new)
            for _ in range(2):
                write_whole(notes, text)
            (inbound / f"{old}+lab_01+x").rename(inbound / f"{new}+lab_01+x")
        name = new
        assert watch.look() == []
    assert [note.student for note in read_notes(notes)] == ["eve"]


@pytest.mark.skipif(os.geteuid() != 0, reason="gives folders to others")
def test_a_heap_of_folders_of_one_student_delays_nobody_else(inbound, notes, monkeypatch):
    """What counts is the work of one look: what is opened, and how often the disk is waited for."""
    owners = {"ann": 1001, "eve": 1002, "zoe": 1003}
    whose = {number: name for name, number in owners.items()}
    watch = HandInWatch(inbound, notes, named=whose.get)
    assert watch.look() == []
    for number in range(300):
        # In her own name, and in that of others.
        name = ("eve", "ann")[number % 2]
        folder = inbound / f"{name}+{LAB}+{number:05}"
        folder.mkdir()
        (folder / "timestamp.txt").write_text(SAYS)
        for path in (folder, folder / "timestamp.txt"):
            os.chown(path, owners["eve"], -1)
    for name in ("ann", "zoe"):
        folder, _ = hand_in(inbound, f"{name}+{LAB}+x")
        for path in (folder, *folder.iterdir()):
            os.chown(path, owners[name], -1)
    opened, waited = [], []
    open_folder, fsync = hand_in_watch.open_folder, os.fsync
    monkeypatch.setattr(
        hand_in_watch, "open_folder",
        lambda name, **more: opened.append(name) or open_folder(name, **more),
    )  # fmt: skip
    monkeypatch.setattr(os, "fsync", lambda handle: waited.append(handle) or fsync(handle))
    first = [note.student for note in watch.look()]
    assert {"ann", "zoe"} <= set(first)
    assert len(opened) <= 1 + 20 + 2  # the exchange, her turns, and theirs
    assert len(waited) == 1
    # Hers come, too, past those that can never be noted.
    found = [note.student for _ in range(20) for note in watch.look()]
    assert first.count("eve") + found.count("eve") == 150
    assert set(found) == {"eve"}


def test_what_lay_there_before_is_noted_as_such_in_later_turns_too(inbound, notes):
    for number in range(30):
        hand_in(inbound, f"ann+{LAB}+{number}", events=1)
    watch = HandInWatch(inbound, notes, named=lambda _: "ann")
    found = [note for _ in range(2) for note in watch.look()]
    assert len(found) == 30
    assert not any(note.watched for note in found)
