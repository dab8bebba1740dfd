"""What a widget, a panel or a grader asks of a ledger, on a day when nothing goes wrong."""

from __future__ import annotations

import enum
import json
import math
import os
import threading
from datetime import timedelta

import numpy as np
import pytest

from mlsys_widgets.ledger import (
    AlreadyCommitted,
    Ledger,
    LedgerError,
    NewerSchema,
    NotYours,
    Unreadable,
    ValueRefused,
)
from mlsys_widgets.ledger.events import LONGEST_LINE
from tests.ledger.making import (
    DESIGN,
    LAB,
    START,
    STUDENT,
    Clock,
    form_of_lab,
    opened,
    read_events,
    rechained,
    worked_through,
    write_events,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.jsonl"


def test_a_worked_through_lab(path):
    worked_through(path)
    state = Ledger.open(path).state()
    assert (state.lab, state.student) == (LAB, STUDENT)
    assert state.predictions["act1"].value == "C"
    assert state.predictions["act1"].confidence == 4
    assert state.predictions["act2"].value == 130_000
    why = state.reflections["act1_why"]
    assert [attempt.value for attempt in why.attempts] == ["A", "B"]
    assert (why.value, why.correct) == ("B", True)
    answer = state.answers["kws_utilization_pct"]
    assert (answer.value, answer.unit, answer.attempts) == (33.3, "percent", 2)
    assert answer.earlier[0].value == 30.0
    assert dict(state.designs[LAB]) == DESIGN
    assert state.uses["audit"].needs == ("act1",)
    assert state.uses["audit"].inputs == {"kernels": 1000}
    assert state.reflections["act2_text"].value == "Größe zählt – 크기 \u2028 🚀"
    assert Ledger.open(path).verify().ok


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


def test_opening_writes_nothing(path):
    led = opened(path)
    assert led.state().predictions == {}
    assert led.events() == ()
    assert led.head is None
    assert led.verify().ok
    assert not path.exists()


def test_a_second_commit_is_refused_and_says_what_stands(path):
    led, other = opened(path), opened(path)
    led.commit_prediction("act1", "C", confidence=4)
    before = path.read_bytes()
    for ledger in (led, other, opened(path)):
        with pytest.raises(
            AlreadyCommitted, match=r"act1 was committed as 'C' at 20.*stands"
        ) as no:
            ledger.commit_prediction("act1", "D")
        assert no.value.prediction.value == "C"
        assert no.value.prediction.confidence == 4
    assert path.read_bytes() == before


def test_a_state_is_of_its_moment_and_cannot_be_changed(path):
    led = opened(path)
    led.record_answer("shape", {"sides": [1, 2]})
    state = led.state()
    led.record_answer("other", 1)
    assert "other" not in state.answers
    assert state.answers["shape"].value["sides"] == (1, 2)
    with pytest.raises(TypeError):
        state.answers["shape"].value["sides"] = 3
    with pytest.raises(TypeError):
        state.answers["shape"] = None
    with pytest.raises(AttributeError):
        state.lab = "another"


def test_two_ledgers_on_one_file_see_each_other(path):
    one, two = opened(path), opened(path)
    one.record_answer("a", 1)
    two.record_answer("b", 2)
    one.record_answer("c", 3)
    for led in (one, two):
        assert {name: answer.value for name, answer in led.state().answers.items()} == {
            "a": 1,
            "b": 2,
            "c": 3,
        }
    assert one.head == two.head
    assert one.verify().ok


def test_threads_of_one_kernel_do_not_mix(path):
    led = opened(path)

    def work(name):
        for number in range(20):
            led.record_answer(f"{name}{number}", number)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(led.events()) == 81
    assert led.verify().ok


def test_the_same_answer_or_design_is_not_written_twice(path):
    led = worked_through(path)
    before = path.read_bytes()
    led.record_answer("kws_utilization_pct", 33.3, unit="percent")
    led.save_design(dict(reversed(DESIGN.items())), form_of_lab())
    opened(path).record_answer("break_even_images", 134_000)
    assert path.read_bytes() == before
    for value in (134_000.0, 1, 1.0, True, "1"):
        led.record_answer("break_even_images", value)
    assert led.state().answers["break_even_images"].attempts == 6
    assert led.state().answers["break_even_images"].value == "1"


def test_a_slider_may_report_every_move(path):
    led = opened(path)
    for number in range(500):
        led.record_use("audit", needs="act1", inputs={"kernels": number})
    assert led.state().uses["audit"].count == 1
    assert led.state().uses["audit"].needs == ("act1",)
    led.record_use("audit", needs=["act1", "act2"])
    assert led.state().uses["audit"].needs == ("act1", "act2")
    led.record_use("audit", needs=["act1"], every=0)
    use = led.state().uses["audit"]
    assert (use.count, use.needs, use.first_seq) == (3, ("act1", "act2"), 1)


def test_a_clock_that_is_set_back_does_no_harm(path):
    clock = Clock()
    led = opened(path, clock)
    led.record_answer("a", 1)
    clock.moment -= timedelta(days=2)
    led.record_answer("b", 2)
    clock.moment += timedelta(days=3)
    times = [event.time for event in led.events()]
    assert times == sorted(times)
    assert led.verify().ok


def test_a_relative_path_stays_where_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    led = opened("ledger.jsonl")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    led.record_answer("a", 1)
    assert (tmp_path / "ledger.jsonl").exists()


# ---- what is refused


class Options(enum.StrEnum):
    C = "C"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (0, 0),
        (-1.5, -1.5),
        (True, True),
        ("", ""),
        ((1, (2,)), [1, [2]]),
        ({"a": None}, {"a": None}),
        (np.float64(0.5), 0.5),
        (Options.C, "C"),
        (10**300, 10**300),
        (5e-324, 5e-324),
        ('\x00\n"\\', '\x00\n"\\'),
    ],
)
def test_plain_values_come_back_as_they_were(path, value, kept):
    opened(path).record_reflection("r", value)
    (event,) = (event for event in Ledger.open(path).events() if event.kind == "reflection")
    assert event.value["value"] == kept
    assert type(event.value["value"]) is type(kept)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (math.nan, r"^q is nan; it must be a finite number$"),
        ([1, {"deep": math.inf}], r"^q\[1\]\.deep is inf; it must be a finite number$"),
        (np.int64(3), r"^q is .*3.*; it must be text, a number"),
        ({1, 2}, r"^q is \{1, 2\}; it must be text"),
        (b"C", r"^q is b'C'; it must be text"),
        ({1: 2}, r"^a key of q is 1; it must be text$"),
        ("\ud800", r"half characters"),
        ({"\udfff": 1}, r"half characters"),
        (10**301, r"q has over 300 digits"),
        (None, r"^q is None; it must be what was predicted$"),
        (
            "x" * LONGEST_LINE,
            r"^q takes 1,000,\d{3} bytes; one event of a ledger may take 1,000,000",
        ),
    ],
)
def test_what_a_ledger_cannot_keep_is_refused_by_name(path, value, sentence):
    led = opened(path)
    led.record_answer("a", 1)
    before = path.read_bytes()
    with pytest.raises(ValueRefused, match=sentence) as no:
        led.commit_prediction("q", value)
    assert isinstance(no.value, LedgerError)
    assert path.read_bytes() == before
    assert "q" not in led.state().predictions


def test_nesting_has_an_end(path):
    value: object = 1
    for _ in range(32):
        value = [value]
    opened(path).record_answer("deep", value)
    with pytest.raises(ValueRefused, match="nested too deeply; 32 levels"):
        opened(path).record_answer("deeper", [value])


@pytest.mark.parametrize("confidence", [0, 6, 3.0, "4", True, -1])
def test_confidence_goes_from_1_to_5(path, confidence):
    with pytest.raises(ValueRefused, match=r"confidence is .*; it must be a whole number from 1"):
        opened(path).commit_prediction("q", "A", confidence=confidence)
    assert not path.exists()


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 201, None, 7, "\ud800"])
def test_an_id_is_a_short_printable_text(path, name):
    led = opened(path)
    for method in (led.commit_prediction, led.record_reflection, led.record_answer):
        with pytest.raises(ValueRefused, match=r"_id is "):
            method(name, "A")
    with pytest.raises(ValueRefused, match="instrument_id is "):
        led.record_use(name)
    with pytest.raises(ValueRefused, match="student is " if name is not None else "not known"):
        Ledger.open(path, lab=LAB, student=name).record_answer("a", 1)
    assert not path.exists()


@pytest.mark.parametrize("lab", ["", "../up", "a/b", ".hidden", "lab 1", "lab\n", 7])
def test_a_lab_is_named_like_a_folder(path, lab):
    with pytest.raises(ValueRefused, match="lab is "):
        Ledger.open(path, lab=lab, student=STUDENT)


@pytest.mark.parametrize(("given", "asked"), [({}, "lab"), ({"lab": LAB}, "student")])
def test_a_new_ledger_asks_whose_it_is(path, given, asked):
    led = Ledger.open(path, **given)
    with pytest.raises(ValueRefused, match=f"^{asked} is not known; give it to Ledger.open"):
        led.record_answer("a", 1)
    assert not path.exists()


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({"student": "student-02"}, "ledger of the student 'student-01', not of 'student-02'"),
        ({"lab": "lab_11_roofline"}, "ledger of the lab 'lab_07_kernel_fusion', not of 'lab_11_"),
    ],
)
def test_nothing_is_added_to_somebody_elses_ledger(path, other, sentence):
    worked_through(path)
    before = path.read_bytes()
    led = opened(path, **other)
    assert led.state().predictions["act1"].value == "C"
    with pytest.raises(NotYours, match=sentence):
        led.record_answer("a", 1)
    assert path.read_bytes() == before
    assert not led.verify().ok


def test_something_else_than_a_ledger_is_left_alone(path):
    path.write_text("milk\nbread\n")
    led = opened(path)
    assert led.notices
    with pytest.raises(Unreadable, match="holds something else than a ledger"):
        led.record_answer("a", 1)
    assert path.read_text() == "milk\nbread\n"


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(Unreadable, match="is not a file"):
        opened(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Unreadable, match="is not a file"):
        opened(tmp_path / "pipe")


def test_a_newer_ledger_asks_for_an_upgrade(path):
    worked_through(path)
    first, *rest = read_events(path)
    newer = first._replace(value={"schema": 2, "student": STUDENT})
    write_events(path, rechained([newer, *rest]))
    with pytest.raises(NewerSchema, match=r"schema 2; this one reads up to 1.*Upgrade"):
        Ledger.open(path)


# ---- what editors do to files


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
    assert any("lines that are no events" in notice for notice in led.notices)
    led.record_answer("more", 1)
    assert opened(path).state().answers["more"].value == 1


# ---- beginning again


def test_beginning_again_keeps_the_old_ledger_aside(path):
    led = worked_through(path)
    first = path.read_bytes()
    assert led.begin_again() == path.with_name("ledger.jsonl.old-1")
    assert led.state().predictions == {}
    assert led.begin_again() is None
    led.commit_prediction("act1", "A")
    second = path.read_bytes()
    assert led.begin_again() == path.with_name("ledger.jsonl.old-2")
    assert [aside.read_bytes() for aside in led.earlier] == [first, second]
    led.commit_prediction("act1", "B")
    assert Ledger.open(path).state().predictions["act1"].value == "B"
    assert led.verify().ok
    assert len({event.id for event in (read_events(p)[0] for p in (path, *led.earlier))}) == 3


def test_it_shows_itself(path):
    assert repr(worked_through(path)) == f"<Ledger ledger.jsonl: {LAB}, {STUDENT}, 12 events>"
