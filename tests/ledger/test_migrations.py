"""Ledgers of an earlier schema are read as of today, and their bytes stay as they are."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mlsys_widgets.ledger import Ledger, NewerSchema, export_ledgers, import_ledgers, migrations
from tests.ledger.making import LAB, START, Clock, opened, read_events, worked_through

LATER = START + timedelta(hours=1)


@pytest.fixture
def tomorrow(monkeypatch):
    """A package of version 3, in which confidences are called otherwise and ids have a prefix."""

    def to_2(event):
        if event.kind == "answer":
            return event._replace(id=f"answer_{event.id}")
        return event

    def to_3(event):
        if event.kind == "reflection":
            return event._replace(value={**event.value, "correct": None})
        return event

    monkeypatch.setattr(migrations, "VERSION", 3)
    monkeypatch.setitem(migrations.MIGRATIONS, 1, to_2)
    monkeypatch.setitem(migrations.MIGRATIONS, 2, to_3)


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "ledger.jsonl"
    worked_through(path)
    return path


def test_old_events_are_upgraded_when_read(old, request):
    before = old.read_bytes()
    request.getfixturevalue("tomorrow")
    led = opened(old)
    assert "answer_kws_utilization_pct" in led.state().answers
    assert led.state().reflections["act1_why"].correct is None
    assert led.state().predictions["act1"].confidence == 4
    assert led.verify(now=LATER).ok
    assert old.read_bytes() == before


def test_new_events_are_not_upgraded_and_the_change_is_marked(old, request):
    before = old.read_bytes()
    request.getfixturevalue("tomorrow")
    led = opened(old, Clock(LATER))
    led.record_answer("new", 1)
    led.record_reflection("why", "B", correct=True)
    assert old.read_bytes().startswith(before)
    events = read_events(old)
    assert [event.kind for event in events[12:]] == ["upgraded", "answer", "reflection"]
    assert events[12].value == {"schema": 3}
    assert events[12].id == events[0].id
    again = Ledger.open(old)
    assert "new" in again.state().answers
    assert "answer_new" not in again.state().answers
    assert again.state().reflections["why"].correct is True
    assert again.verify().ok


def test_an_edit_of_an_old_event_is_seen_through_the_upgrade(old, request):
    request.getfixturevalue("tomorrow")
    old.write_bytes(old.read_bytes().replace(b'"value":30.0', b'"value":33.0'))
    problem = opened(old).verify(now=LATER).first_problem
    assert (problem.kind, problem.seq) == ("edited", 3)


def test_an_old_ledger_travels_as_it_is(old, tmp_path, request):
    request.getfixturevalue("tomorrow")
    opened(old, Clock(LATER)).record_answer("new", 1)
    now = LATER + timedelta(hours=1)
    export = export_ledgers([old], tmp_path / "out.json", now=now)
    made = import_ledgers(export, tmp_path / "there", now=now)
    assert made[LAB].read_bytes() == old.read_bytes()


def test_yesterdays_package_refuses_tomorrows_ledger(old, request, monkeypatch):
    request.getfixturevalue("tomorrow")
    opened(old, Clock(LATER)).record_answer("new", 1)
    before = old.read_bytes()
    monkeypatch.setattr(migrations, "VERSION", 1)
    with pytest.raises(NewerSchema, match=r"schema 3; this one reads up to 1"):
        Ledger.open(old)
    assert old.read_bytes() == before


def test_a_kernel_of_yesterday_that_is_still_running_adds_nothing(old, request, monkeypatch):
    yesterday = opened(old, Clock(LATER))
    request.getfixturevalue("tomorrow")
    opened(old, Clock(LATER)).record_answer("new", 1)
    before = old.read_bytes()
    monkeypatch.setattr(migrations, "VERSION", 1)
    for _ in range(2):
        with pytest.raises(NewerSchema):
            yesterday.record_answer("mine", 1)
    assert old.read_bytes() == before
