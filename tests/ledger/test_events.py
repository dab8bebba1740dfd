"""One event per line: what is written, what is read, and what an editor may do to it."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta, timezone

import pytest

from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.events import (
    GENESIS,
    LONGEST_LINE,
    Malformed,
    chained,
    digest,
    from_line,
    repeats_a_key,
    timestamp,
    to_line,
)
from tests.ledger.making import LAB, START, STUDENT, Clock, opened, worked_through


def test_the_file_is_one_event_a_line_with_the_promised_fields(path):
    worked_through(path)
    lines = path.read_bytes().decode("ascii").splitlines()
    assert len(lines) == 12
    for seq, line in enumerate(lines):
        event = json.loads(line)
        assert list(event) == ["seq", "time", "lab", "kind", "id", "value", "prev", "hash"]
        assert event["seq"] == seq
    first = json.loads(lines[0])
    assert first["kind"] == "opened"
    assert first["value"] == {"schema": 1, "student": STUDENT}
    assert first["time"] == "2026-02-03T09:30:01.000Z"


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.removesuffix(b"\n"),
        lambda data: data.replace(b"\n", b"\r\n").removesuffix(b"\r\n"),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data + b"\n\n",
        lambda data: data + b"  ",
        lambda data: data.replace(b'":', b'": '),
        lambda data: data.replace(b"\n", b"\n\n"),
    ],
    ids=["crlf", "no end", "crlf, no end", "mark", "blank lines", "blanks", "spaces", "double"],
)
def test_an_editor_that_changes_no_meaning_does_no_harm(path, edit):
    led = worked_through(path, Clock())
    before = led.state()
    path.write_bytes(edit(path.read_bytes()))
    for ledger in (led, opened(path, led._clock)):
        assert ledger.state() == before
        assert ledger.verify().ok
        assert not ledger.torn
    led = opened(path, led._clock)
    led.record_answer("more", 1)
    again = Ledger.open(path)
    assert len(again.events()) == 13
    assert again.state().answers["more"].value == 1
    assert again.verify(now=START + timedelta(days=1)).ok
    assert not again.torn


def test_lines_that_are_no_events_are_left_out_and_told(path):
    led = worked_through(path, Clock())
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:4], b"what is this\n", b"[1]\n", *lines[4:]]))
    led = opened(path, Clock(START + timedelta(hours=1)))
    assert len(led.events()) == 12
    assert any("lines that are not events" in notice for notice in led.notices)
    led.record_answer("more", 1)
    assert opened(path).state().answers["more"].value == 1


def test_a_hash_made_of_digits_is_still_a_text(path):
    worked_through(path)
    first, *rest = path.read_bytes().splitlines(keepends=True)
    for field in (b"prev", b"hash"):
        odd = re.sub(b'"%s":"[0-9a-f]+"' % field, b'"%s":%s' % (field, b"1" * 64), first)
        path.write_bytes(b"".join([odd, *rest]))
        assert opened(path).verify(now=START + timedelta(hours=2)).first_problem.kind == "broken"


EVENT = chained(
    GENESIS, 0, "2026-02-03T09:30:00.000Z", LAB, "answer", "größe", {"b": 1, "a": [2.5]}
)


def test_a_line_is_read_as_it_was_written():
    line = to_line(EVENT)
    assert line.isascii()
    assert line.endswith(b"\n")
    assert from_line(line) == EVENT
    assert digest(EVENT) == EVENT.hash


def test_the_hash_is_over_the_content_and_not_the_typing():
    shuffled = EVENT._replace(value={"a": [2.5], "b": 1})
    assert digest(shuffled) == EVENT.hash
    for change in ({"seq": 1}, {"id": "x"}, {"value": {"b": 1, "a": [2]}}, {"prev": "f" * 64}):
        assert digest(EVENT._replace(**change)) != EVENT.hash


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", "is not JSON"),
        (b'{"seq": NaN}', "is not JSON"),
        (b"[" * 15_000, "is nested too deeply"),
        (b"[" * 30_000, "has 30,000 brackets, and an event has at most 20,000"),
        (b"[" * 60 + b"]" * 60, "is nested too deeply"),
        (b"9" * 302, "is not JSON"),
        (b"7", "is not a JSON object"),
        (b'{"value": "\\uD83D"}', "has half a character"),
        (b"{}", "must have the fields seq, time"),
        (b"x" * (LONGEST_LINE + 1), "has 1,000,001 bytes"),
    ],
)
def test_what_is_no_event_says_why(line, why):
    with pytest.raises(Malformed, match=why):
        from_line(line)


def test_a_repeated_key_is_seen_at_any_depth():
    assert not repeats_a_key(b'{"a": {"b": 1}, "b": 2}')
    assert repeats_a_key(b'{"a": 1, "a": 1}')
    assert repeats_a_key(b'{"a": [{"b": 1, "b": 2}]}')


def test_times_sort_as_moments_do():
    moment = datetime(2026, 2, 3, 9, 30, tzinfo=UTC)
    elsewhere = moment.astimezone(timezone(timedelta(hours=9)))
    assert timestamp(elsewhere) == timestamp(moment) == "2026-02-03T09:30:00.000Z"
    assert timestamp(moment) < timestamp(moment + timedelta(milliseconds=1))
