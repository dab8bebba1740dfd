"""The tamper table: what was done to a ledger, and from which event on verify calls it broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

import pytest

from mlsys_widgets.ledger import Head, Ledger
from mlsys_widgets.ledger.events import Event, chained, to_line
from tests.ledger.making import (
    LAB,
    START,
    STUDENT,
    Clock,
    opened,
    read_events,
    rechained,
    worked_through,
    write_events,
)

NOW = START + timedelta(hours=2)


class Edit(NamedTuple):
    name: str
    kind: str
    seq: int
    do: Callable[[list[Event]], list[Event]]


def changed(at: int, **fields: object) -> Callable[[list[Event]], list[Event]]:
    """With a text editor: the event says something else, everything around it stays."""
    return lambda events: [*events[:at], events[at]._replace(**fields), *events[at + 1 :]]


def rehashed(at: int, **fields: object) -> Callable[[list[Event]], list[Event]]:
    """With a little Python: the event is hashed again, those after it are not."""

    def do(events: list[Event]) -> list[Event]:
        e = events[at]._replace(**fields)
        new = chained(e.prev, e.seq, e.time, e.lab, e.kind, e.id, e.value)
        return [*events[:at], new, *events[at + 1 :]]

    return do


def recomputed(do: Callable[[list[Event]], list[Event]]) -> Callable[[list[Event]], list[Event]]:
    """With more Python: the whole chain is recomputed afterward."""
    return lambda events: rechained(do(events))


def without(*places: int) -> Callable[[list[Event]], list[Event]]:
    return lambda events: [event for i, event in enumerate(events) if i not in places]


def renumbered(events: list[Event]) -> list[Event]:
    return [event._replace(seq=seq) for seq, event in enumerate(events)]


def moved(start: int, end: int) -> Callable[[list[Event]], list[Event]]:
    def do(events: list[Event]) -> list[Event]:
        rest = without(start)(events)
        return [*rest[:end], events[start], *rest[end:]]

    return do


def extra(
    at: int, *, rightly_hashed: bool, number: int | None = None
) -> Callable[..., list[Event]]:
    """A line that was never written, put before the event that stands at this place."""

    def do(events: list[Event]) -> list[Event]:
        before = events[at - 1]
        seq = before.seq + 1 if number is None else number
        value = {"value": "D", "confidence": 5}
        new = chained(before.hash, seq, before.time, LAB, "prediction", "act0", value)
        if not rightly_hashed:
            new = new._replace(hash=events[at].hash)
        return [*events[:at], new, *events[at:]]

    return do


PREDICTION = {"value": "A", "confidence": 4}
TABLE = [
    # a value, a confidence, an id, a kind, a number, a hash
    Edit("the value of a prediction", "broken", 1, changed(1, value=PREDICTION)),
    Edit(
        "a confidence off the scale", "broken", 1, changed(1, value={**PREDICTION, "confidence": 9})
    ),
    Edit("the last event", "broken", 11, changed(11, value={})),
    Edit("the first event", "broken", 0, changed(0, value={"schema": 1, "student": "x"})),
    Edit("an id", "broken", 1, changed(1, id="act9")),
    Edit("a kind", "broken", 5, changed(5, kind="answer")),
    Edit("a hash", "broken", 4, changed(4, hash="0" * 64)),
    Edit("a prev", "broken", 4, changed(4, prev="0" * 64)),
    Edit("an earlier time", "broken", 5, changed(5, time="2026-02-03T09:00:00.000Z")),
    Edit("a later time", "broken", 5, changed(5, time="2026-02-03T09:59:00.000Z")),
    # an event that is hashed again fits, and the next one does not
    Edit("a value, its own hash recomputed", "broken", 2, rehashed(1, value=PREDICTION)),
    Edit("the first event, its own hash recomputed", "broken", 1, rehashed(0, id="f" * 32)),
    # lines taken out
    Edit("one line", "broken", 4, without(4)),
    Edit("three lines", "broken", 4, without(4, 5, 6)),
    Edit("the first line", "broken", 0, without(0)),
    Edit("one line, the rest renumbered", "broken", 4, lambda e: renumbered(without(4)(e))),
    Edit("four, the rest renumbered", "broken", 3, lambda e: renumbered(without(3, 4, 5, 6)(e))),
    # lines moved
    Edit("neighbors swapped", "broken", 4, moved(4, 5)),
    Edit("moved down", "broken", 3, moved(3, 8)),
    Edit("moved up", "broken", 3, moved(8, 3)),
    Edit("moved to the end", "broken", 3, moved(3, 11)),
    Edit("upside down", "broken", 0, lambda e: e[::-1]),
    # lines put in; one that is hashed rightly fits, and the next one does not
    Edit("an invented line", "broken", 4, extra(4, rightly_hashed=False)),
    Edit("an invented line, hashed", "broken", 5, extra(4, rightly_hashed=True)),
    Edit("invented, any number", "broken", 4, extra(4, rightly_hashed=True, number=77)),
    Edit(
        "invented, the rest renumbered",
        "broken",
        5,
        lambda e: renumbered(extra(4, rightly_hashed=True)(e)),
    ),
    Edit("before the last line", "broken", 11, extra(11, rightly_hashed=False)),
    Edit("one line twice", "broken", 5, lambda e: [*e[:5], *e[4:]]),
    Edit("one line again at the end", "broken", 12, lambda e: [*e, e[4]]),
    Edit("the whole file twice", "broken", 12, lambda e: [*e, *e]),
    # time
    Edit(
        "an earlier time, all recomputed",
        "forged time",
        5,
        recomputed(changed(5, time="2026-02-03T09:00:00.000Z")),
    ),
    Edit(
        "a time to come, all recomputed",
        "forged time",
        11,
        recomputed(changed(11, time="2026-02-04T00:00:00.000Z")),
    ),
    Edit("moved up, all recomputed", "forged time", 2, recomputed(moved(7, 1))),
    # whose and what
    Edit(
        "another student's name, all recomputed",
        "other student",
        0,
        recomputed(changed(0, value={"schema": 1, "student": "student-02"})),
    ),
    Edit(
        "one event of another lab, all recomputed",
        "other lab",
        3,
        recomputed(changed(3, lab="lab_11_roofline")),
    ),
    Edit(
        "a second commit, all recomputed",
        "second commit",
        8,
        recomputed(lambda e: [*e[:8], e[7]._replace(value=PREDICTION), *e[8:]]),
    ),
    Edit(
        "committed late, all recomputed",
        "late prediction",
        2,
        recomputed(
            lambda e: [
                e[0],
                e[2]._replace(time=e[1].time),
                e[1]._replace(time=e[2].time),
                *e[3:],
            ]
        ),
    ),
    Edit(
        "an unknown kind, all recomputed", "wrong schema", 3, recomputed(changed(3, kind="grade"))
    ),
    Edit(
        "an odd value, all recomputed",
        "wrong schema",
        1,
        recomputed(changed(1, value={"value": "A"})),
    ),
    Edit("no first event, all recomputed", "wrong schema", 0, recomputed(without(0))),
    Edit(
        "a second first event, all recomputed",
        "wrong schema",
        4,
        recomputed(lambda e: [*e[:4], e[0]._replace(time=e[3].time), *e[4:]]),
    ),
    Edit(
        "a schema to come, all recomputed",
        "wrong schema",
        0,
        recomputed(changed(0, value={"schema": 9, "student": STUDENT})),
    ),
]


@pytest.mark.parametrize("edit", TABLE, ids=lambda edit: edit.name)
def test_what_was_done_shows(tmp_path, edit):
    path = tmp_path / "ledger.jsonl"
    worked_through(path)
    led = opened(path)
    events = read_events(path)
    tampered = edit.do(events)
    assert tampered != events
    write_events(path, tampered)
    problem = led.verify(now=NOW).first_problem
    assert problem is not None
    assert (problem.kind, problem.seq) == (edit.kind, edit.seq), problem
    # Two sentences are about the ledger as a whole.
    named = (f"vent {edit.seq}", "This ")
    assert any(words in problem.sentence for words in named)
    assert problem.sentence.endswith(".")
    assert str(problem) == problem.sentence


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", "torn"),
        (b"oops", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[]", "is not a JSON object"),
        (b"{}", "must have the fields"),
        (b"[" * 15_000, "nested too deeply"),
        (b" " + b"x" * 1_000_001, "has 1,000,002 bytes"),
        (b'{"seq": ' + b"9" * 5000 + b"}", "is not JSON"),
    ],
)
def test_a_line_that_is_no_event_is_named(tmp_path, line, why):
    path = tmp_path / "ledger.jsonl"
    worked_through(path)
    lines = path.read_bytes().splitlines(keepends=True)
    if why == "torn":
        path.write_bytes(b"".join(lines)[:-20])
        problem = opened(path).verify(now=NOW).first_problem
        assert (problem.kind, problem.seq) == ("torn", 11)
        return
    path.write_bytes(b"".join([*lines[:4], line, b"\n", *lines[4:]]))
    verdict = opened(path).verify(now=NOW)
    problem = verdict.first_problem
    assert (problem.kind, problem.seq) == ("broken", 4)
    assert "line 5" in problem.sentence
    assert why in problem.sentence
    assert len(verdict.problems) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"seq":1,', b'"seq":1.0,'),
        (b'"seq":1,', b'"seq":-1,'),
        (b'"seq":1,', b'"seq":true,'),
        (b'"kind":"prediction"', b'"kind":7'),
        (b'"id":"act1"', b'"id":""'),
        (b'"id":"act1"', b'"id":"a\\nb"'),
        (b'"id":"act1"', b'"id":["act1"]'),
        (b'"lab":"lab_07', b'"lab":"../lab_07'),
        (b'"prev":"', b'"prev":' + b"1" * 64 + b',"other":"'),
        (b"09:30:01.000Z", b"09:30:01.000"),
        (b'"confidence":4', b'"confidence":NaN'),
        (b'"confidence":4', b'"confidence":1e999'),
        (b'"value":"C"', b'"value":"A","value":"C"'),
        (b'"id":"act1"', b'"id":"act2","id":"act1"'),
    ],
)
def test_a_field_that_cannot_be_is_named(tmp_path, old, new):
    path = tmp_path / "ledger.jsonl"
    worked_through(path)
    lines = path.read_bytes().splitlines(keepends=True)
    assert old in lines[1]
    path.write_bytes(b"".join([lines[0], lines[1].replace(old, new), *lines[2:]]))
    problem = opened(path).verify(now=NOW).first_problem
    assert (problem.kind, problem.seq) == ("broken", 1), problem
    opened(path).state()


def test_half_characters_do_not_stop_the_grader(tmp_path):
    path = tmp_path / "ledger.jsonl"
    worked_through(path)
    write_events(
        path, rechained(changed(1, value={"value": "\ud800", "confidence": 1})(read_events(path)))
    )
    (problem,) = opened(path).verify(now=NOW).problems
    assert "line 2 has half a character" in problem.sentence
    # What no page and no file can hold counts no more than a torn line; the rest counts.
    state = opened(path).state()
    assert "act1" not in state.predictions
    assert state.answers


def test_one_edit_is_one_problem(tmp_path):
    """A grader reads all of them, so what follows a break must not be blamed for it."""
    path = tmp_path / "ledger.jsonl"
    worked_through(path)
    events = read_events(path)
    for do in (
        changed(1, value=PREDICTION),
        without(4),
        moved(4, 5),
        extra(4, rightly_hashed=True),
    ):
        write_events(path, do(events))
        assert len(opened(path).verify(now=NOW).problems) == 1
    both = changed(1, value=PREDICTION)(changed(5, id="another")(events))
    write_events(path, both)
    assert [p.seq for p in opened(path).verify(now=NOW).problems] == [1]


def test_the_rules_hold_behind_a_break_as_well(tmp_path):
    path = tmp_path / "ledger.jsonl"
    worked_through(path)
    events = read_events(path)
    late = [*changed(1, id="act9")(events), events[7]._replace(time="2026-02-04T00:00:00.000Z")]
    write_events(path, late)
    kinds = [problem.kind for problem in opened(path).verify(now=NOW).problems]
    assert kinds == ["broken", "forged time", "second commit"]


def test_a_noted_event_behind_a_break_is_still_found(tmp_path):
    """What was noted is there; that the chain is broken is said once."""
    path = tmp_path / "ledger.jsonl"
    head = worked_through(path).head
    write_events(path, changed(1, value=PREDICTION)(read_events(path)))
    verdict = opened(path).verify(now=NOW, heads=[head])
    assert [problem.kind for problem in verdict.problems] == ["broken"]
    assert not verdict.unlike_noted


def test_whose_ledger_it_should_be(tmp_path):
    path = tmp_path / "ledger.jsonl"
    worked_through(path)
    led = Ledger.open(path)
    assert led.verify(now=NOW).ok
    assert led.verify(now=NOW, student=STUDENT, lab=LAB).ok
    theirs = led.verify(now=NOW, student="student-02").first_problem
    assert theirs.kind == "other student"
    assert theirs.sentence == "This is the ledger of 'student-01', not of 'student-02'."
    assert led.verify(now=NOW, lab="lab_01_magnitude").first_problem.kind == "other lab"
    assert opened(path, student="student-02").verify(now=NOW).first_problem.kind == "other student"


def test_the_course_knows_which_instrument_waits_for_what(tmp_path):
    """A student could leave the needs out; the grader hands in its own."""
    path = tmp_path / "ledger.jsonl"
    led = opened(path, Clock())
    led.record_use("audit")
    led.commit_prediction("act1", "C")
    assert led.verify(now=NOW).ok
    problem = led.verify(now=NOW, locks={"audit": ["act1"]}).first_problem
    assert (problem.kind, problem.seq) == ("late prediction", 2)
    assert "act1 (event 2)" in problem.sentence
    assert "audit was used (event 1)" in problem.sentence


def test_clocks_may_differ_a_little(tmp_path):
    path = tmp_path / "ledger.jsonl"
    led = worked_through(path)
    assert led.verify(now=START - timedelta(minutes=4)).ok
    assert led.verify(now=START - timedelta(minutes=6)).first_problem.kind == "forged time"


def test_what_cannot_be_seen_in_the_file_alone(tmp_path):
    """The limit: a recomputed chain and a cut at the end both fit; a noted head shows them."""
    path = tmp_path / "ledger.jsonl"
    led = worked_through(path)
    head, events = led.head, read_events(path)

    write_events(path, rechained(changed(1, value=PREDICTION)(events)))
    assert led.verify(now=NOW).ok
    problem = led.verify(now=NOW, heads=[head]).first_problem
    assert (problem.kind, problem.seq) == ("rewritten", 11)

    write_events(path, events[:9])
    assert led.verify(now=NOW).ok
    problem = led.verify(now=NOW, heads=[Head(3, events[3].hash), head]).first_problem
    assert (problem.kind, problem.seq) == ("cut off", 11)

    write_events(path, events)
    assert led.verify(now=NOW, heads=[Head(e.seq, e.hash) for e in events]).ok


def test_a_ledger_that_is_gone_is_named(tmp_path):
    path = tmp_path / "ledger.jsonl"
    led = worked_through(path)
    path.unlink()
    problem = led.verify().first_problem
    assert problem.kind == "missing"
    assert "is gone" in problem.sentence


def test_a_forked_chain_is_named(tmp_path):
    """Two kernels on a file system without locks may both follow the same event."""
    path = tmp_path / "ledger.jsonl"
    worked_through(path)
    events = read_events(path)
    other = chained(
        events[-2].hash,
        11,
        events[-1].time,
        LAB,
        "answer",
        "x",
        {"value": 1, "unit": None, "confidence": None},
    )
    path.write_bytes(path.read_bytes() + to_line(other))
    problem = opened(path).verify(now=NOW).first_problem
    assert (problem.kind, problem.seq) == ("broken", 12)
    led = opened(path, Clock(START + timedelta(minutes=5)))
    led.record_answer("y", 1)
    assert led.state().answers.keys() >= {"x", "y"}
    assert len(led.verify(now=NOW).problems) == 1


def test_verify_reads_the_file_and_not_the_memory(tmp_path):
    path = tmp_path / "ledger.jsonl"
    led = worked_through(path)
    assert led.verify(now=NOW).ok
    lines = path.read_bytes()
    path.write_bytes(lines.replace(b'"value":"C"', b'"value":"A"'))
    assert led.verify(now=NOW).first_problem.kind == "broken"
    assert json.loads(path.read_bytes().splitlines()[1])["value"]["value"] == "A"
