"""The calendar of a course: read whole, or refused with a sentence."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.course.calendar import LatePolicy, read_calendar
from mlsys_widgets.course.course import Course

LABS = ("lab_01_magnitude", "lab_07_kernel_fusion")
TERM = """
timezone = "Europe/Berlin"

[late]
per_day = 10
grace_minutes = 15
at_most = 50

[labs.lab_01_magnitude]
release = 2026-10-19T08:00:00
due = 2026-10-26T23:59:00
weight = 2

[labs.lab_07_kernel_fusion]
release = 2026-10-26T08:00:00Z
due = 2026-11-02T23:59:00
late = { per_day = 0 }

[sections.evening]
students = ["eve"]
[sections.evening.labs.lab_01_magnitude]
due = 2026-10-28T23:59:00

[[extensions]]
student = "ben"
lab = "lab_01_magnitude"
days = 2
reason = "illness"

[[extensions]]
student = "eve"
due = 2026-11-01T12:00:00
reason = "a conference"
"""


def read(text: str):
    return read_calendar(tomllib.loads(text), LABS)


def test_a_term_is_read_with_its_zone():
    term = read(TERM)
    first, second = (term.dates(lab, "ada") for lab in LABS)
    # Berlin leaves summer time on 25 October 2026: UTC+2 before, UTC+1 after.
    assert first.release == datetime(2026, 10, 19, 6, 0, tzinfo=UTC)
    assert first.due == datetime(2026, 10, 26, 22, 59, tzinfo=UTC)
    assert second.release == datetime(2026, 10, 26, 8, 0, tzinfo=UTC)
    assert (first.weight, second.weight) == (2, 1)
    assert (first.late.per_day, second.late.per_day, second.late.grace_minutes) == (10, 0, 15)


def test_a_section_and_an_extension_move_the_due_time_and_nothing_else():
    term = read(TERM)
    lab = LABS[0]
    plain, ben, eve = (term.dates(lab, who) for who in ("ada", "ben", "eve"))
    assert ben.due - plain.due == timedelta(days=2)
    assert eve.due == datetime(2026, 11, 1, 11, 0, tzinfo=UTC), "the later of section and extension"
    assert term.dates(LABS[1], "eve").due == term.dates(LABS[1], "ada").due
    assert (ben.late, eve.release) == (plain.late, plain.release)
    assert (term.section("eve"), term.section("ada")) == ("evening", None)


def test_labs_open_at_their_time_and_one_without_a_date_is_open():
    term = read(TERM)
    assert not term.is_open(LABS[0], datetime(2026, 10, 19, 5, 59, tzinfo=UTC))
    assert term.is_open(LABS[0], datetime(2026, 10, 19, 6, 0, tzinfo=UTC))
    assert read("").is_open(LABS[0], datetime(2000, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('timezone = "Mars/Olympus"', "timezone is 'Mars/Olympus'; it must be a name such as"),
        ("[labs.lab_99]\n", "labs names lab_99; the labs of this course are: lab_01_magnitude"),
        ("[labs.lab_01_magnitude]\ndeu = 1", "sets deu; it can set: release, due, late, weight"),
        ('[labs.lab_01_magnitude]\ndue = "soon"', "due is 'soon'; it must be a time without quot"),
        ("[labs.lab_01_magnitude]\ndue = 2026-10-26", "it must be a time without quotes"),
        ("[late]\nper_day = 101", "late.per_day is 101; it must be a number, between 0 and 100"),
        ("[late]\nper_day = true", "late.per_day is True; it must be a number"),
        ("[late]\ngrace_minutes = -1", "it must be a number, 0 or more"),
        ("[late]\nper_day = nan", "late.per_day is nan; it must be a number"),
        ("late = 3", r"late is 3; it must be a table, under a line \[late\]"),
        (
            "[labs.lab_01_magnitude]\nrelease = 2026-10-26T08:00:00\ndue = 2026-10-25T08:00:00",
            "labs.lab_01_magnitude is due before it is released",
        ),
        ('[sections.a]\nstudents = "ada"', "sections.a.students is 'ada'; it must be a list"),
        (
            '[sections.a]\nstudents = ["ada"]\n[sections.b]\nstudents = ["ada"]',
            "ada is in the sections a and b; choose",
        ),
        ('[[extensions]]\nstudent = "ada"\ndays = 1', "extensions.reason is None; it must be"),
        (
            '[[extensions]]\nstudent = "ada"\nreason = "x"',
            "the extension of ada must have either days or due",
        ),
        (
            '[[extensions]]\nstudent = "ada"\nreason = "x"\nlab = "lab_9"\ndays = 1',
            "extensions.lab names lab_9; the labs",
        ),
        ('[extensions]\nstudent = "ada"', "extensions must be tables, each under a line"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_what_is_allowed(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        read(text)


def test_the_settings_of_a_course_hold_its_calendar(tmp_path):
    for lab in LABS:
        (tmp_path / "assignments" / lab).mkdir(parents=True)
    path = tmp_path / "assignments" / "course.toml"
    path.write_text(f"variants = false\n{TERM}", "utf-8")
    course = Course.at(tmp_path)
    assert not course.variants
    assert course.calendar == read(TERM)
    path.write_text("[labs.lab_02]\n", "utf-8")
    with pytest.raises(ValueError, match=r"course\.toml: labs names lab_02"):
        Course.at(tmp_path)
    path.write_text("varaints = true\n", "utf-8")
    with pytest.raises(
        ValueError, match="it can set: variants, edition, secret, student_codes, deeper"
    ):
        Course.at(tmp_path)


@given(
    st.floats(0, 100), st.floats(0, 1e4), st.floats(0, 100), st.floats(0, 200), st.floats(0, 1e7),
    st.floats(0, 1e6),
)  # fmt: skip
def test_a_penalty_never_exceeds_its_limit_and_never_falls_with_time(
    per_day, grace, most, score, late, longer
):
    policy = LatePolicy(per_day, grace, most)
    cost = policy.penalty(score, late)
    assert 0 <= cost <= score * most / 100 + 0.005
    assert policy.penalty(score, late + longer) >= cost
    assert policy.penalty(score, 0) == 0


CLOSING = """
[labs.lab_01_magnitude]
release = 2026-10-19T08:00:00
due = 2026-10-26T23:59:00
close = 2026-11-02T23:59:00

[sections.evening]
students = ["eve"]
[sections.evening.labs.lab_01_magnitude]
release = 2026-10-21T18:00:00

[[extensions]]
student = "ben"
days = 14
reason = "illness"
"""


def at(month: int, day: int, hour: int = 0) -> datetime:
    return datetime(2026, month, day, hour, tzinfo=UTC)


def test_a_lab_closes_and_whoever_has_longer_can_hand_in_as_long_as_that_lasts():
    term = read(CLOSING)
    ada, ben, eve = (term.dates(LABS[0], name) for name in ("ada", "ben", "eve"))
    assert not ada.is_closed(at(11, 2, 23))
    assert ada.is_closed(at(11, 3))
    assert ben.close == ben.due == datetime(2026, 11, 9, 23, 59, tzinfo=UTC)
    assert eve.close == ada.close
    assert not term.dates(LABS[1], "ada").is_closed(at(12, 31))


def test_a_lab_opens_with_the_first_who_have_it():
    term = read(CLOSING)
    assert not term.dates(LABS[0], "eve").is_released(at(10, 20))
    assert term.is_open(LABS[0], at(10, 20))
    assert term.opens(LABS[0]) == at(10, 19, 8)
    assert term.next_release(at(10, 1)) == at(10, 19, 8)
    assert term.next_release(at(10, 19, 8)) == at(10, 21, 18)
    assert term.next_release(at(10, 22)) is None
    only_section = read(
        '[sections.evening]\nstudents = ["eve"]\n'
        "[sections.evening.labs.lab_01_magnitude]\nrelease = 2026-10-21T18:00:00\n"
    )
    assert not only_section.is_open(LABS[0], at(10, 20))
    assert only_section.is_open(LABS[0], at(10, 22))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("due = 2026-10-26T08:00:00\nclose = 2026-10-25T08:00:00", "closes before it is due"),
        ("release = 2026-10-26T08:00:00\nclose = 2026-10-25T08:00:00", "before it is released"),
        ('close = "Monday"', "labs.lab_01_magnitude.close is 'Monday'"),
    ],
)
def test_a_close_that_cannot_be_is_refused(lines: str, said: str):
    with pytest.raises(ValueError, match=said):
        read(f"[labs.lab_01_magnitude]\n{lines}\n")
