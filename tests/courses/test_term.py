"""The dates of a course on a terminal, and more time for one student."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from mlsys_widgets import cli
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.change_history import ChangeHistory
from mlsys_widgets.courses.first_releases import note_release

LAB, OTHER = "lab_01_first", "lab_02_second"


@pytest.fixture
def course(tmp_path):
    for lab in (LAB, OTHER):
        (tmp_path / "assignments" / lab).mkdir(parents=True)
        (tmp_path / "assignments" / lab / "lab.py").touch()
    return tmp_path


def settings(course, text: str):
    path = course / "assignments" / "course.toml"
    path.write_text(text, "utf-8")
    return path


def week(lab: str, opened: int) -> str:
    """A lab that opened so many days ago and is due a week later."""
    release = datetime.now(UTC) - timedelta(days=opened, minutes=5)
    due = release + timedelta(days=7)
    times = (f"{each:%Y-%m-%dT%H:%M:%S}Z" for each in (release, due))
    return "[labs.{}]\nrelease = {}\ndue = {}\n".format(lab, *times)


def test_without_dates_it_says_how_to_give_them(course, capsys):
    assert cli.main(["course", "calendar", str(course)]) == 0
    said = capsys.readouterr().out
    assert "This course has no dates." in said
    example = said.split("\n\n", 1)[1]
    settings(course, example)
    assert Course.at(course).calendar.labs[LAB].due is not None


def test_a_narrow_terminal_cuts_nothing_off(course, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    settings(course, "[late]\nper_day = 10\n" + week(LAB, 9) + week(OTHER, 2))
    assert cli.main(["course", "calendar", str(course)]) == 0
    said = capsys.readouterr().out
    assert "…" not in said
    assert LAB in said
    assert OTHER in said


def test_the_calendar_has_titles_and_says_what_was_withdrawn(course, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "150")
    settings(course, week(LAB, 2) + week(OTHER, 2))
    for lab, title in ((LAB, "A first look at the caches"), (OTHER, "Second")):
        (course / "release" / lab).mkdir(parents=True)
        book = {"metadata": {"mlsys": {"title": title}}}
        (course / "release" / lab / f"{lab}.ipynb").write_text(json.dumps(book))
        note_release(course, lab)
    (course / "exchange" / "demo" / "outbound" / OTHER).mkdir(parents=True)
    (course / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.course_id = 'demo'\n"
        f"c.Exchange.root = '{course}/exchange'\n"
    )
    assert cli.main(["course", "calendar", str(course)]) == 0
    first, wrapped, *_, second, title = [
        line for line in capsys.readouterr().out.splitlines() if line.strip()
    ][1:6]
    assert LAB in first
    assert "withdrawn" in first
    assert "A first look at the" in wrapped
    assert "open, 4 days left" in second
    assert "Second" in title


def test_the_calendar_shows_where_each_lab_stands_and_who_differs(course, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "150")
    settings(
        course,
        '[late]\nper_day = 10\n' + week(LAB, 9) + week(OTHER, 2)
        + '[sections.evening]\nstudents = ["eve"]\n'
        + '[[extensions]]\nstudent = "ben"\nlab = "lab_02_second"\ndays = 2\nreason = "illness"\n',
    )  # fmt: skip
    assert cli.main(["course", "calendar", str(course)]) == 0
    said = capsys.readouterr().out
    assert "due 2 days ago" in said
    assert "open, 4 days left" in said
    assert "10% per day" in said
    assert "Section evening: 1 student" in said
    assert "ben has 2 days more for lab_02_second: illness" in said
    assert cli.main(["course", "calendar", str(course), "--student", "ben"]) == 0
    said = capsys.readouterr().out
    assert "As ben has it:" in said
    assert "open, 6 days left" in said


def test_an_extension_is_written_with_its_reason_and_everything_else_stays(course, capsys):
    path = settings(course, "# our term\n" + week(LAB, 9))
    before = Course.at(course).calendar.dates(LAB, "ben").due
    command = ["course", "extend", "ben", LAB, "--days", "3", "--reason", 'a "cold"']
    assert cli.main([*command, "--folder", str(course)]) == 0
    assert f"{LAB} is due" in capsys.readouterr().out
    assert path.read_text().startswith("# our term\n")
    calendar = Course.at(course).calendar
    assert calendar.dates(LAB, "ben").due - before == timedelta(days=3)
    assert calendar.dates(LAB, "ada").due == before
    assert calendar.extensions[0].reason == 'a "cold"'


def test_the_same_extension_twice_is_written_once(course, capsys):
    path = settings(course, week(LAB, 9))
    command = ["course", "extend", "ben", LAB, "--days", "3", "--reason", "illness"]
    assert cli.main([*command, "--folder", str(course)]) == 0
    once = path.read_text()
    capsys.readouterr()
    assert cli.main([*command, "--folder", str(course)]) == 0
    assert "already; nothing was written." in capsys.readouterr().out
    assert path.read_text() == once


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["ben", "lab_99", "--days", "1", "--reason", "x"],
            "names lab_99; the labs of this course",
        ),
        (["ben", LAB, "--days", "-1", "--reason", "x"], "days is -1"),
        (["ben", LAB, "--days", "1", "--reason", " "], "reason is ' '; it must be a text"),
        (["ben", LAB, "--days", "nan", "--reason", "x"], "days is nan"),
    ],
)
def test_what_cannot_be_is_refused_and_the_settings_stay(course, capsys, arguments, sentence):
    path = settings(course, week(LAB, 1))
    before = path.read_text()
    assert cli.main(["course", "extend", *arguments, "--folder", str(course)]) == 1
    assert sentence in capsys.readouterr().err
    assert path.read_text() == before


def test_a_time_that_is_none_is_named_with_what_is_allowed(course, capsys):
    command = ["course", "extend", "ben", LAB, "--due", "soon", "--reason", "x"]
    with pytest.raises(SystemExit) as ended:
        cli.main([*command, "--folder", str(course)])
    assert ended.value.code == 2
    assert "'soon' is not a time; write it like 2026-11-09T23:59" in capsys.readouterr().err


def test_dates_are_set_undone_as_the_history_says_and_everything_else_stays(course, capsys):
    path = settings(course, f"# our term\n[labs.{LAB}]  # short\nweight = 2\n")
    here = ["--folder", str(course)]
    dates = ["course", "dates", LAB, *here]
    assert cli.main([*dates, "--release=2027-01-25T08:00", "--due=2027-02-01T23:59"]) == 0
    assert f"{LAB} opens Mon 25 Jan" in capsys.readouterr().out
    assert cli.main([*dates, "--due=2027-02-08T23:59", "--close=2027-02-09T12:00"]) == 0
    found = Course.at(course).calendar.labs[LAB]
    assert (found.release.day, found.due.day, found.close.day) == (25, 8, 9)
    assert path.read_text().startswith(f"# our term\n[labs.{LAB}]  # short\nweight = 2\n")
    latest = ChangeHistory(course).read()[0]
    assert latest.words.startswith(f"{LAB} opens Mon 25 Jan")
    assert cli.main(["course", *latest.undo, *here]) == 0
    found = Course.at(course).calendar.labs[LAB]
    assert (found.due.day, found.close) == (1, None)


def test_a_date_that_cannot_be_gets_a_sentence_and_nothing_changes(course, capsys):
    path = settings(course, week(LAB, 1))
    before = path.read_text()
    here = ["--folder", str(course)]
    assert cli.main(["course", "dates", LAB, "--close=2020-01-01T00:00", *here]) == 1
    assert f"labs.{LAB} closes before it is due" in capsys.readouterr().err
    assert cli.main(["course", "dates", "lab_99", "--due=none", *here]) == 1
    assert "there is no lab 'lab_99'" in capsys.readouterr().err
    assert path.read_text() == before
    assert not ChangeHistory(course).read()


def test_a_section_has_dates_of_its_own(course):
    settings(course, week(LAB, 1) + '[sections.evening]\nstudents = ["eve"]\n')
    command = ["course", "dates", LAB, "--due=2099-02-01T23:59", "--section=evening"]
    assert cli.main([*command, "--folder", str(course)]) == 0
    calendar = Course.at(course).calendar
    assert calendar.dates(LAB, "eve").due.year == 2099
    assert calendar.dates(LAB, "ada").due.year != 2099


def test_an_extension_is_taken_back(course, capsys):
    path = settings(course, week(LAB, 9))
    before = path.read_text()
    extend = ["course", "extend", "ben", LAB, "--folder", str(course)]
    assert cli.main([*extend, "--days=3"]) == 1
    assert "give a reason" in capsys.readouterr().err
    assert cli.main([*extend, "--days=3", "--reason=illness"]) == 0
    assert ChangeHistory(course).read()[0].undo == ("extend", "ben", LAB, "--remove")
    assert cli.main([*extend, "--remove"]) == 0
    assert path.read_text().rstrip() == before.rstrip()
    assert cli.main([*extend, "--remove"]) == 1
    assert "ben has no extension" in capsys.readouterr().err
