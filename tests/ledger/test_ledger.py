"""What a widget, a panel or a grader asks of a ledger, on a day when nothing goes wrong."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from mlsys_widgets.ledger import (
    AlreadyCommitted,
    Ledger,
    NewerSchema,
    NotYours,
    Unreadable,
    ValueRefused,
)
from tests.ledger.making import (
    DESIGN,
    LAB,
    STUDENT,
    Clock,
    form_of_lab,
    opened,
    read_events,
    rechained,
    worked_through,
    write_events,
)


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


@pytest.mark.parametrize("lab", ["", "../up", "a/b", ".hidden", "lab 1", "lab\n", 7])
def test_a_lab_is_named_like_a_folder(path, lab):
    with pytest.raises(ValueRefused, match="lab is "):
        Ledger.open(path, lab=lab, student=STUDENT)


@pytest.mark.parametrize(("given", "asked"), [({}, "lab"), ({"lab": LAB}, "student")])
def test_a_new_ledger_asks_whose_it_is(path, given, asked):
    led = Ledger.open(path, **given)
    with pytest.raises(ValueRefused, match=f"^{asked} is not known; pass it to Ledger.open"):
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
    with pytest.raises(Unreadable, match="is not a ledger"):
        led.record_answer("a", 1)
    assert path.read_text() == "milk\nbread\n"


def test_a_newer_ledger_asks_for_an_upgrade(path):
    running = worked_through(path)
    first, *rest = read_events(path)
    newer = first._replace(value={"schema": 2, "student": STUDENT})
    write_events(path, rechained([newer, *rest]))
    before = path.read_bytes()
    with pytest.raises(NewerSchema, match=r"schema 2; this one reads up to 1.*Upgrade"):
        Ledger.open(path)
    for _ in range(2):  # nor does a kernel that had it open add anything
        with pytest.raises(NewerSchema):
            running.record_answer("mine", 1)
    assert path.read_bytes() == before


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
