"""A student's own dates: nobody else's in them, and no harm from a file that is something else."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from mlsys_widgets.course.calendar import read_calendar
from mlsys_widgets.course.own_dates import (
    LAB_DATES,
    VARIABLE,
    OwnDates,
    dates_here,
    read_dates,
)

LAB, OTHER = "lab_01_first", "lab_02_second"
TERM = """
timezone = "Europe/Berlin"
[late]
per_day = 10
[labs.lab_01_first]
due = 2026-10-26T23:59:00
close = 2026-11-02T23:59:00
[sections.evening]
students = ["eve"]
[sections.evening.labs.lab_01_first]
due = 2026-10-28T23:59:00
[[extensions]]
student = "ben"
lab = "lab_01_first"
days = 2
reason = "a private matter"
"""


@pytest.fixture
def term():
    return read_calendar(tomllib.loads(TERM), [LAB, OTHER])


def test_everybody_has_their_own_and_nothing_of_others(term):
    own = {
        name: OwnDates.of(term, {LAB: "First", OTHER: ""}, name) for name in ("ada", "ben", "eve")
    }
    due = {name: each.labs[LAB].due.astimezone(UTC).day for name, each in own.items()}
    assert due == {"ada": 26, "ben": 28, "eve": 28}
    assert [name for name, each in own.items() if each.usual] == ["ben"]
    assert own["ben"].usual[LAB] == own["ada"].labs[LAB].due
    for each in own.values():
        assert list(each.labs) == [LAB]  # the other has no dates
        text = each.as_text()
        assert not [word for word in ("ada", "ben", "eve", "private") if word in text]
        assert OwnDates.from_text(text) == replace(each, labs=OwnDates.from_text(text).labs)
        assert OwnDates.from_text(text).labs[LAB].close == each.labs[LAB].close
        assert str(OwnDates.from_text(text).zone) == "Europe/Berlin"
    assert not OwnDates.of(term, {LAB: "First"}).own


def test_a_withdrawn_lab_is_named_also_without_dates(term):
    kept = OwnDates.of(term, {LAB: "First", OTHER: "Second"}, "ada", {OTHER, "gone"})
    again = OwnDates.from_text(kept.as_text())
    assert again.withdrawn == {OTHER}
    assert again.titles == {LAB: "First", OTHER: "Second"}


def test_the_hubs_file_comes_before_the_one_beside_the_lab(term, tmp_path, monkeypatch):
    folder, own = tmp_path / LAB, tmp_path / "own.json"
    folder.mkdir()
    monkeypatch.delenv(VARIABLE, raising=False)
    assert dates_here(folder) is None
    (folder / LAB_DATES).write_text(OwnDates.of(term, {LAB: "First"}).as_text())
    assert not dates_here(folder).own
    monkeypatch.setenv(VARIABLE, str(own))
    assert not dates_here(folder).own  # the hub has not written it yet
    own.write_text(OwnDates.of(term, {LAB: "First"}, "ben").as_text())
    assert dates_here(folder).own
    assert dates_here(folder).usual


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "null", '{"format": 2}', "\x00", "[" * 5000,
        '{"format": 1, "timezone": "Nowhere/At", "own": true, "labs": {}}',
        '{"format": 1, "timezone": "../../etc/passwd", "own": true, "labs": {}}',
        '{"format": 1, "timezone": "UTC", "own": true, "labs": {"a": {"release": null,'
        ' "due": "2026-10-26T23:59:00", "close": null, "late": {}}}}',
        '{"format": 1, "timezone": "UTC", "own": true, "labs": {"a": {"release": null,'
        ' "due": null, "close": null, "late": {"eval": 1}}}}',
    ],
)  # fmt: skip
def test_what_is_no_file_of_dates_is_none(text, tmp_path):
    (tmp_path / LAB_DATES).write_text(text)
    assert read_dates(tmp_path / LAB_DATES) is None
    with pytest.raises(ValueError, match="no dates of labs"):
        OwnDates.from_text(text)


def test_a_folder_or_an_endless_file_is_none(tmp_path):
    assert read_dates(tmp_path) is None
    (tmp_path / LAB_DATES).write_text(" " * (1 << 19))
    assert read_dates(tmp_path / LAB_DATES) is None


def test_times_keep_their_moment(term):
    kept = OwnDates.from_text(OwnDates.of(term, {LAB: "First"}, "ada").as_text())
    # Berlin leaves summer time on 25 October 2026: 23:59 there is 22:59 UTC.
    assert kept.labs[LAB].due == datetime(2026, 10, 26, 22, 59, tzinfo=UTC)
