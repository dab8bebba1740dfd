"""Times of the ledger are shown on the clock of whoever reads them."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from mlsys_widgets.wording.local_time import local_time, with_local_times


@pytest.fixture
def clock_of(monkeypatch):
    """Set the clock of this machine to another zone."""

    def move(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("zone", "words"),
    [
        ("UTC0", "Tue 3 Feb 2015, 09:30 UTC"),
        ("CET-1", "Tue 3 Feb 2015, 10:30 CET"),
        ("PST8", "Tue 3 Feb 2015, 01:30 PST"),
        ("LINT-14", "Tue 3 Feb 2015, 23:30 LINT"),
    ],
)
def test_the_clock_of_the_machine(clock_of, zone, words):
    clock_of(zone)
    assert local_time("2015-02-03T09:30:12.000Z") == words
    said = with_local_times("Saved 2015-02-03T09:30:12.000Z, and 2015-02-03T09:30:12Z again.")
    assert said == f"Saved {words}, and {words} again."


def test_the_year_is_named_when_it_is_another(clock_of):
    now = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert local_time("2026-01-01T10:00:00Z", UTC, now) == "Thu 1 Jan, 10:00 UTC"
    assert local_time("2025-12-31T10:00:00Z", UTC, now) == "Wed 31 Dec 2025, 10:00 UTC"


def test_what_is_no_time_stays_as_it_is():
    for words in ("2026-02-31T09:30:12.000Z", "2026-02-03", "at 09:30", "0001-01-01T00:00:00"):
        assert with_local_times(words) == words
