"""What a student reads about a due time, moment by moment."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from mlsys_widgets.course.calendar import LabDates, LatePolicy
from mlsys_widgets.course.due_words import as_data, due_words, lateness_words
from mlsys_widgets.course.own_dates import OwnDates
from mlsys_widgets.course.page_dates import EMPTY, page_dates, with_page_dates

LAB = "lab_01_first"
BERLIN = ZoneInfo("Europe/Berlin")
RELEASE = datetime(2026, 10, 19, 8, tzinfo=BERLIN)
DUE = datetime(2026, 10, 26, 23, 59, tzinfo=BERLIN)
CLOSE = datetime(2026, 11, 2, 23, 59, tzinfo=BERLIN)
POLICY = LatePolicy(10, 15, 30)


def own(**more) -> OwnDates:
    dates = LabDates(**{"release": RELEASE, "due": DUE, "late": POLICY, "close": CLOSE, **more})
    return OwnDates({LAB: dates}, BERLIN, own=True)


@pytest.mark.parametrize(
    ("after", "state", "headline", "more"),
    [
        (timedelta(days=-10), "waiting", "Opens Monday, October 19, 08:00 CEST (in 2 days).",
         "Due Monday, October 26, 23:59 CET."),
        (timedelta(days=-2), "open", "Due Monday, October 26, 23:59 CET (in 2 days).",
         "It closes Monday, November 2, 23:59 CET; nothing can be handed in after that."),
        (timedelta(hours=-3), "soon", "Due Monday, October 26, 23:59 CET (in 3 hours).",
         "After that, each day begun costs 10% of what you earn, at most 30%; the first 15 minutes"
         " are free."),
        (timedelta(minutes=14), "grace", "Was due Monday, October 26, 23:59 CET (14 minutes ago).",
         "Handing in until 00:14 still costs nothing."),
        (timedelta(hours=5), "late", "Was due Monday, October 26, 23:59 CET (5 hours ago).",
         "Handing in now costs 10% of what you earn, and 20% after Tuesday, 23:59."),
        (timedelta(days=5), "late", "Was due Monday, October 26, 23:59 CET (5 days ago).",
         "Handing in now costs 30% of what you earn."),
        (timedelta(days=8), "closed",
         "Closed since Monday, November 2, 23:59 CET; nothing can be handed in any more.",
         "Your work stays as it is; if you need more time, ask your instructor."),
    ],
)  # fmt: skip
def test_every_state_has_its_words(after, state, headline, more):
    said = due_words(own(), LAB, (DUE + after).astimezone(UTC))
    assert (said.state, said.headline) == (state, headline)
    assert more in said.more


def test_states_change_at_their_very_second():
    second = timedelta(seconds=1)

    def state(moment):
        return due_words(own(), LAB, moment).state

    assert [state(RELEASE - second), state(RELEASE)] == ["waiting", "open"]
    assert [state(DUE), state(DUE + second)] == ["soon", "grace"]
    grace = DUE + timedelta(minutes=15)
    assert [state(grace), state(grace + second)] == ["grace", "late"]
    assert [state(CLOSE - second), state(CLOSE)] == ["late", "closed"]


def test_an_extension_is_named_and_without_dates_nothing_is():
    dates = OwnDates({LAB: LabDates(due=DUE + timedelta(days=2))}, BERLIN, {LAB: DUE}, own=True)
    more = due_words(dates, LAB, DUE).more
    assert "That is your extension; for others it is due Monday, October 26, 23:59 CET." in more
    assert due_words(dates, "another", DUE) is None
    assert due_words(OwnDates({LAB: LabDates(RELEASE)}), LAB, DUE) is None
    assert due_words(OwnDates({LAB: LabDates(close=CLOSE)}, BERLIN), LAB, DUE).state == "open"
    assert lateness_words(OwnDates(), LAB, DUE) is None


def test_a_lab_that_was_withdrawn_is_not_open_whatever_its_dates():
    for dates in (own(), OwnDates({LAB: LabDates()})):
        gone = due_words(replace(dates, withdrawn=frozenset({LAB})), LAB, RELEASE)
        assert gone.state == "closed"
        assert gone.headline.startswith("Withdrawn by your course")


def test_another_year_is_said():
    said = due_words(own(), LAB, datetime(2025, 12, 31, 12, tzinfo=UTC)).headline
    assert "October 19, 2026, 08:00" in said


def test_without_a_penalty_late_costs_nothing():
    free = own(late=LatePolicy())
    assert "Handing in late costs nothing." in due_words(free, LAB, DUE + timedelta(hours=1)).more
    words = lateness_words(free, LAB, DUE + timedelta(minutes=5))
    assert words == "5 minutes late: it costs nothing."


def test_the_panel_gets_the_due_time_on_the_clock_of_the_course():
    said = as_data(own(), LAB, DUE)
    assert said["due"] == "2026-10-26T23:59:00+01:00"
    assert as_data(OwnDates(), LAB, DUE) is None


def test_a_page_keeps_everything_but_its_list():
    page = f"# Mine\n\n{EMPTY}\nMy own notes.\n"
    dated = with_page_dates(page, page_dates([own()], DUE - timedelta(days=2)))
    line = "- **Lab 01 first**: Due Monday, October 26, 23:59 CET (in 2 days)."
    assert line in dated
    assert dated.startswith("# Mine\n")
    assert dated.endswith("My own notes.\n")
    assert with_page_dates(dated, EMPTY) == page
    fixed = page_dates([replace(own(), titles={LAB: "Orders of magnitude"})])
    assert "**Orders of magnitude**: opens Monday, October 19, 2026, 08:00 CEST; due" in fixed
    assert page_dates([]) == EMPTY
