"""What a student's ledger tells, and which ledgers tell nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.classes.study_record import read_study_record, time_on_task
from mlsys_widgets.ledger import Event, Ledger
from tests.grading.classroom import LAB

START = datetime(2026, 2, 3, 9, 30, tzinfo=UTC)


def test_ledgers_that_are_no_ledgers(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    assert read_study_record(tmp_path, "ann") is None
    path.write_bytes(b"\x00\xff not a ledger\n")
    assert read_study_record(tmp_path, "ann") is None
    path.unlink()
    Ledger.open(path, lab=LAB, student="bob").record_answer("x", 1)
    assert read_study_record(tmp_path, "ann") is None
    found = read_study_record(tmp_path, "bob")
    assert found is not None
    assert found.minutes == 0
    path.rename(tmp_path / "elsewhere.jsonl")
    path.symlink_to(tmp_path / "elsewhere.jsonl")
    assert read_study_record(tmp_path, "bob") is None


@given(st.lists(st.floats(0, 40), min_size=1, max_size=12))
def test_pauses_are_not_work(gaps: list[float]) -> None:
    moments = [START]
    for gap in gaps:
        moments.append(moments[-1] + timedelta(minutes=round(gap, 3)))
    events = [
        _event(moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
        for moment in moments
    ]
    work = [(b - a).total_seconds() / 60 for a, b in pairwise(moments)]
    expected = sum(gap for gap in work if gap <= 10)
    assert time_on_task(events) == pytest.approx(expected, abs=0.01)


def _event(time: str) -> Event:
    return Event(0, time, LAB, "answer", "x", {}, "0" * 64, "0" * 64)


def event_at(minutes: float, kind: str, name: str) -> Event:
    """An entry so many minutes after the start."""
    moment = (START + timedelta(minutes=minutes)).isoformat(timespec="milliseconds")
    return _event(moment.replace("+00:00", "Z"))._replace(kind=kind, id=name)
