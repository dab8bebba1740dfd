"""The note beside a ledger that its lab was handed in: what it covers, and what cannot be one."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.ledger import Head, Ledger
from mlsys_widgets.ledger.handed_in import HANDED_IN, HandIn, note_hand_in, read_hand_in

AT = datetime(2026, 11, 17, 14, 2, tzinfo=UTC)
TIME = "2026-11-17T14:02:00.000Z"


@pytest.fixture
def led(tmp_path):
    return Ledger.open(tmp_path / "ledger.jsonl", lab="lab", student="ann")


def test_it_covers_what_was_there(tmp_path, led):
    assert read_hand_in(tmp_path) is None
    note_hand_in(tmp_path, led.head, AT, file="lab-ann.zip")
    assert read_hand_in(tmp_path) == HandIn(TIME, None, file="lab-ann.zip")
    led.record_answer("ridge", 295)
    assert read_hand_in(tmp_path).covers(led.events()) == -1
    note_hand_in(tmp_path, led.head, AT, course="mlsys")
    led.record_answer("ridge", 296)
    assert read_hand_in(tmp_path).covers(led.events()) == 1
    led.begin_again()
    again = Ledger.open(led.path, lab="lab", student="ann")
    again.record_answer("ridge", 1)
    again.record_answer("ridge", 2)
    assert read_hand_in(tmp_path).covers(again.events()) == -1, "another ledger"


def test_a_folder_that_takes_no_note_changes_nothing(tmp_path):
    (tmp_path / HANDED_IN).mkdir()
    note_hand_in(tmp_path, None, AT, course="mlsys")
    assert read_hand_in(tmp_path) is None


def test_nothing_but_a_plain_file_is_read(tmp_path):
    """A pipe would stop the server, and a link could name any file."""
    (tmp_path / "elsewhere").write_text(json.dumps({"time": TIME, "head": None}))
    (tmp_path / HANDED_IN).symlink_to(tmp_path / "elsewhere")
    assert read_hand_in(tmp_path) is None
    (tmp_path / HANDED_IN).unlink()
    os.mkfifo(tmp_path / HANDED_IN)
    assert read_hand_in(tmp_path) is None


@pytest.mark.parametrize(
    "said",
    [
        {}, [], None, 3, {"time": 3}, {"time": "yesterday", "head": None, "course": "", "file": ""},
        {"time": TIME, "head": 3, "course": None, "file": None},
        {"time": TIME, "head": {"seq": -1, "hash": "a" * 64}, "course": None, "file": None},
        {"time": TIME, "head": {"seq": True, "hash": "a" * 64}, "course": None, "file": None},
        {"time": TIME, "head": {"seq": 1, "hash": "<b>"}, "course": None, "file": None},
        {"time": TIME, "head": None, "course": "x" * 5_000, "file": None},
    ],
)  # fmt: skip
def test_what_is_no_note_is_none(tmp_path, said):
    (tmp_path / HANDED_IN).write_text(json.dumps(said))
    assert read_hand_in(tmp_path) is None


@given(content=st.binary(max_size=60))
def test_no_bytes_stop_us(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("note")
    (folder / HANDED_IN).write_bytes(content)
    assert read_hand_in(folder) is None


def test_a_head_beyond_the_ledger_covers_nothing(led):
    led.record_answer("ridge", 295)
    assert HandIn(TIME, Head(10**9, "a" * 64)).covers(led.events()) == -1
