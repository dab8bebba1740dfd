"""Notes of hand-ins as a file: whole lines are read, and files that others could write are not."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import pytest

from mlsys_widgets.ledger import Head
from mlsys_widgets.ledger.hand_in_notes import HandInNote, notes_beside, read_notes

NOTE = HandInNote(
    "ann", "lab_07", "ann+lab_07+x", Head(3, "ab" * 32), datetime(2026, 11, 1, 10, tzinfo=UTC),
    "2026-11-01 10:00:00 UTC", True,
)  # fmt: skip


@pytest.fixture
def notes(tmp_path):
    path = notes_beside(tmp_path / "course")
    path.parent.mkdir()
    path.write_bytes(NOTE.to_line())
    path.chmod(0o640)
    return path


def test_a_line_that_broke_off_hides_no_other(notes):
    line = NOTE.to_line()
    notes.write_bytes(line + line[:40] + b"\n" + line)
    assert list(read_notes(notes)) == [NOTE, NOTE]


def test_notes_that_somebody_else_could_write_are_not_believed(notes, tmp_path):
    assert list(read_notes(notes)) == [NOTE]
    notes.chmod(0o666)
    assert list(read_notes(notes)) == []
    notes.chmod(0o640)
    (tmp_path / "link.jsonl").symlink_to(notes)
    assert list(read_notes(tmp_path / "link.jsonl")) == []
    assert list(read_notes(tmp_path / "nowhere.jsonl")) == []
    if os.geteuid() == 0:
        os.chown(notes, 12345, -1)
        assert len(list(read_notes(notes))) == 0


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[]", b"null", b'{"student": "ann"}', b"[" * 90_000, b"\xff\n",
     b'{"student":1,"lab":"l","folder":"f","head":null,"noted":"2026-01-01T00:00:00Z","says":""}',
     b'{"student":"a","lab":"l","folder":"f","head":[1],"noted":"2026-01-01T00:00:00Z","says":""}',
     b'{"student":"a","lab":"l","folder":"f","head":[1,2],"noted":"2026-01-01T00:00:00Z","says":""}'],
)  # fmt: skip
def test_a_line_that_is_no_note_is_left_out(line):
    assert HandInNote.from_line(line) is None
