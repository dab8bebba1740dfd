"""When something was handed in: zones are read right, and no file is a free pass."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbgrader import utils

from mlsys_widgets.grading.reading.hand_in_time import hand_in_time, read_time

NOW = datetime(2026, 11, 16, 12, 0)


@given(st.datetimes(datetime(1901, 1, 1), datetime(8999, 12, 30)),
       st.sampled_from([" UTC", "", " GMT", " +0000"]))  # fmt: skip
def test_times_are_read_as_nbgrader_reads_them(moment, zone):
    words = moment.strftime("%Y-%m-%d %H:%M:%S.%f").zfill(26)
    assert read_time(words + zone) == utils.parse_utc(words + zone) == moment


@given(st.datetimes(datetime(2000, 1, 2), datetime(2037, 1, 1)),
       st.sampled_from([" CET", " America/New_York", " EST", " Europe/Berlin"]))  # fmt: skip
def test_names_of_the_zone_database_are_read_as_nbgrader_reads_them(moment, zone):
    words = moment.strftime("%Y-%m-%d %H:%M:%S.%f")
    assert read_time(words + zone) == utils.parse_utc(words + zone)


@given(st.datetimes(datetime(2020, 1, 2), datetime(2037, 1, 1)),
       st.sampled_from(["Europe/Berlin", "Europe/London", "America/New_York", "America/Chicago",
                        "America/Los_Angeles", "Asia/Shanghai", "Asia/Kolkata", "Asia/Tokyo",
                        "America/Sao_Paulo", "Australia/Sydney", "Asia/Jerusalem"]))  # fmt: skip
def test_what_nbgrader_writes_in_the_zone_of_the_course_is_read_right(moment, zone):
    local = moment.replace(tzinfo=UTC).astimezone(ZoneInfo(zone))
    if local.fold:  # the hour that a clock shows twice: nothing in the words tells which
        return
    words = local.strftime("%Y-%m-%d %H:%M:%S.%f %Z")
    assert read_time(words, zone) == moment


@pytest.mark.parametrize(
    ("words", "hours"),
    [
        ("2026-11-15 10:00:00 CET", 1),
        ("2026-07-15 10:00:00 CEST", 2),
        ("2026-11-15 10:00:00.000000 PST", -8),
        ("2026-07-15 10:00:00 PDT", -7),
        ("2026-11-15 10:00:00 Europe/Berlin", 1),
        ("2026-07-15 10:00:00 Europe/Berlin", 2),
        ("2026-07-15 10:00:00 EDT", -4),
        ("2026-11-15 10:00:00 IST", 5.5),
        ("2026-11-15 10:00:00 CST", -6),
        ("2026-11-15 10:00:00 -03", -3),
        ("2026-11-15 10:00:00 +0530", 5.5),
        ("2026-11-15 10:00:00 +05:30", 5.5),
        ("2026-11-15T10:00:00+02:00", 2),
        ("2026-11-15T10:00:00Z", 0),
        ("2026-11-15 10:00:00", 0),
        ("Nov 15 2026 10:00 AM", 0),
        ("2026-11-15 10:00:00 America/Argentina/Buenos_Aires", -3),
    ],
)
def test_zones(words, hours):
    month = 7 if "-07-" in words else 11
    zone = timezone(timedelta(hours=hours))
    wanted = datetime(2026, month, 15, 10, tzinfo=zone).astimezone(UTC).replace(tzinfo=None)
    assert read_time(words) == wanted


@pytest.mark.parametrize("local", ["America/Los_Angeles", "Asia/Shanghai", "Europe/Berlin"])
def test_the_zone_of_the_graders_machine_does_not_matter(local, monkeypatch):
    import time

    monkeypatch.setenv("TZ", local)
    time.tzset()
    try:
        assert read_time("2026-11-15 10:00:00 CST") == datetime(2026, 11, 15, 16)
        assert read_time("2026-11-15 10:00:00 LMT") is None
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    "words",
    ["yesterday", "10", "10:00", "2026", "2026-11", "2026-13-15 10:00:00", "now", "\x00", "é" * 30,
     "2026-11-15 10:00:00 NOPE", "2026-11-15 10:00:00 Nowhere/At_All", "2026-11-15",
     "2026-11-15 10:00:00 ../../etc/localtime", "2026-11-15 10:00:00 /etc/localtime",
     "0001-01-01 00:00:00 +2300"],
)  # fmt: skip
def test_what_is_no_time_is_mentioned_and_never_a_free_pass(words):
    last = datetime(2026, 11, 15, 23, 59)
    found = hand_in_time(words.encode(), known=[last], now=NOW)
    assert found.moment == last
    assert "which is not a time; what is known is that it was handed in 2026-11-15 23:59" in (
        found.doubt
    )
    assert hand_in_time(words.encode(), now=NOW).moment is None


def test_a_file_that_is_missing_is_mentioned_where_it_matters():
    last = datetime(2026, 11, 15, 23, 59, tzinfo=UTC)
    missing = hand_in_time(None, known=[last, last - timedelta(days=1)], now=NOW)
    assert missing.moment == last.replace(tzinfo=None)
    assert missing.doubt.startswith("timestamp.txt is missing; what is known is that")
    assert "for you to decide" in hand_in_time(None, now=NOW).doubt
    assert "is empty" in hand_in_time(b" \n", now=NOW).doubt
    without = hand_in_time(None, due=False, known=[last], now=NOW)
    assert (without.moment, without.doubt) == (None, "")


def test_a_time_that_is_yet_to_come_is_mentioned():
    assert hand_in_time(b"2026-11-16 12:04:00 UTC", now=NOW).doubt == ""
    assert "yet to come" in hand_in_time(b"2026-11-16 12:06:00 UTC", now=NOW).doubt


def test_an_abbreviation_of_several_zones_is_mentioned_unless_the_course_settles_it():
    doubtful = hand_in_time(b"2026-11-15 10:00:00 CST", now=NOW)
    assert doubtful.moment == datetime(2026, 11, 15, 16)
    assert "CST is the name of several zones; it is read as 2026-11-15 16:00" in doubtful.doubt
    settled = hand_in_time(b"2026-11-15 10:00:00 CST", zone="Asia/Shanghai", now=NOW)
    assert (settled.moment, settled.doubt) == (datetime(2026, 11, 15, 2), "")
    plain = hand_in_time(b"2026-11-15 10:00:00 CET", now=NOW)
    assert (plain.moment, plain.doubt) == (datetime(2026, 11, 15, 9), "")


@given(st.text(max_size=40) | st.binary(max_size=40).map(lambda b: b.decode("latin-1")))
def test_no_time_stops_us(words):
    read_time(words)
    read_time(words, "Europe/Berlin")
    hand_in_time(words.encode("utf-8", "replace"))
    hand_in_time(words.encode("utf-8", "replace"), zone=words)


@pytest.mark.parametrize("words", ["9999-12-31 23:59:59 UTC", "0001-01-01 00:00:00 UTC"])
def test_the_ends_of_time_are_no_time(words):
    """A day more than the last one raises, wherever it is added."""
    assert read_time(words) is None
    found = hand_in_time(words.encode(), now=NOW)
    assert found.moment is None
    assert "is not a time" in found.doubt


def test_a_time_yet_to_come_does_not_count():
    found = hand_in_time(b"2027-11-16 12:06:00 UTC", now=NOW, known=[datetime(2026, 11, 15)])
    assert found.moment == datetime(2026, 11, 15)


def test_the_day_comes_first_with_dots_and_is_not_guessed_with_slashes():
    assert read_time("12.11.2026 10:00") == datetime(2026, 11, 12, 10)
    assert read_time("13/11/2026 10:00") == datetime(2026, 11, 13, 10)
    assert read_time("11/11/2026 10:00") == datetime(2026, 11, 11, 10)
    assert read_time("12/11/2026 10:00") is None
