"""``mlsys course calendar``, ``dates`` and ``extend``: the dates of a course."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from textwrap import wrap
from typing import Final

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from mlsys_widgets.authoring import Course, labs_of
from mlsys_widgets.course.calendar import Calendar, Extension, LabDates, read_calendar
from mlsys_widgets.course.due_words import span
from mlsys_widgets.course.settings_tables import settings_of
from mlsys_widgets.courses.calendar_sync import follow_calendar
from mlsys_widgets.courses.change_history import ChangeHistory
from mlsys_widgets.courses.lab_releases import check_lab, withdrawn_labs
from mlsys_widgets.courses.settings_editor import SettingsEditor
from mlsys_widgets.grading.patient_console import print_plain
from mlsys_widgets.labs.about_lab import title_of
from mlsys_widgets.wording.local_time import local_time
from mlsys_widgets.wording.plurals import counted

#: Characters of a title in a line, unless the lab's name is longer.
_TITLE: Final = 20
_NO_DATES = (
    "This course has no dates. Give its labs some in assignments/course.toml:\n\n"
    "[labs.{lab}]\nrelease = {release:%Y-%m-%dT%H:%M:%S}\ndue = {due:%Y-%m-%dT%H:%M:%S}\n"
)


def run_calendar(arguments: argparse.Namespace) -> int:
    """Show when labs open and are due: for everybody, or as one student has it."""
    console, now = Console(), datetime.now(UTC)
    course = Course.at(arguments.folder)
    calendar, labs = course.calendar, labs_of(course)
    if not calendar.labs:
        week = now.replace(hour=8, minute=0, second=0)
        lab = labs[0] if labs else "lab_01"
        print_plain(console, _NO_DATES.format(lab=lab, release=week, due=week + timedelta(days=7)))
        return 0
    student = arguments.student or ""
    if student:
        section = calendar.section(student)
        print_plain(
            console, f"As {student} has it{f', in the section {section}' if section else ''}:"
        )
    # In a narrow terminal the rest goes on in the next line; a lab's name stays whole.
    columns = ("opens", "due", "closes", "now", "late", "weight")
    folding = (Column(header, overflow="fold") for header in columns)
    table = Table(Column("lab", no_wrap=True), *folding, box=None, header_style="bold")
    withdrawn = withdrawn_labs(course)
    for lab in labs:
        dates = calendar.dates(lab, student)
        state = "withdrawn" if lab in withdrawn else state_of(dates, now)
        row = (_called(course, lab), *_when(dates, calendar), state, str(dates.late))
        table.add_row(*(Text(each) for each in row), f"{dates.weight:g}")
    console.print(table)
    for line in () if student else _what_differs(calendar):
        print_plain(console, line)
    for line in follow_calendar(course).sentences:
        print_plain(console, line)
    return 0


def _called(course: Course, lab: str) -> str:
    """Return a lab's name, and its title below it."""
    title = title_of(course.folder("release", lab))
    return "\n".join([lab, *wrap(title, max(_TITLE, len(lab)))])


def state_of(dates: LabDates, now: datetime) -> str:
    """Say where a lab stands, in words.

    Examples
    --------
    >>> due = datetime(2026, 11, 9, 23, 59, tzinfo=UTC)
    >>> for day in (1, 5, 9, 10):
    ...     state_of(
    ...         LabDates(datetime(2026, 11, 2, tzinfo=UTC), due), due.replace(day=day, hour=12)
    ...     )
    'opens in 11 hours'
    'open, 4 days left'
    'open, 11 hours left'
    'due 13 hours ago'
    """
    if dates.release and now < dates.release:
        return f"opens in {span(dates.release - now)}"
    if dates.is_closed(now):
        return "closed"
    if dates.due is None:
        return "open"
    if now <= dates.due:
        return f"open, {span(dates.due - now)} left"
    return f"due {span(now - dates.due)} ago"


#: The dates of a lab, in the order in which they come.
DATES: Final = ("release", "due", "close")


def run_dates(arguments: argparse.Namespace) -> int:
    """Say when a lab opens, is due and closes; what is not named stays."""
    course, lab, section = Course.at(arguments.folder), arguments.lab, arguments.section or ""
    check_lab(course, lab)
    if section and section not in course.calendar.sections:
        there = ", ".join(course.calendar.sections) or "none yet"
        raise ValueError(f"there is no section {section!r}; course.toml has: {there}")
    given = {name: getattr(arguments, name) for name in DATES}
    edit = SettingsEditor(course.root)
    table = edit.settings.get("sections", {}).get(section, {}) if section else edit.settings
    before = table.get("labs", {}).get(lab, {})
    edit.set_dates(lab, {name: at or None for name, at in given.items() if at is not None}, section)
    if not edit.changed:
        print_plain(Console(), "These are its dates already; nothing was written.")
        return 0
    edit.write()
    course = Course.at(arguments.folder)
    calendar = course.calendar
    dates = (calendar.of_sections[section] if section else calendar.labs)[lab]
    times = (("opens", dates.release), ("is due", dates.due), ("closes", dates.close))
    parts = [f"{what} {_shown(at, calendar)}" for what, at in times if at]
    who = f" for the section {section}" if section else ""
    words = f"{lab} {', '.join(parts) or 'has no dates'}{who}."
    old = {name: at.isoformat() if (at := before.get(name)) else "none" for name in DATES}
    back = [f"--{name}={old[name]}" for name in DATES if given[name] is not None]
    back += [f"--section={section}"] if section else []
    ChangeHistory(course.home).note(words, "dates", lab, *back)
    print_plain(Console(), words)
    for line in follow_calendar(course).sentences:
        print_plain(Console(), line)
    return 0


def run_extend(arguments: argparse.Namespace) -> int:
    """Give one student more time, with a reason, in the settings of the course."""
    course = Course.at(arguments.folder)
    if arguments.remove:
        return _take_back(course, arguments.student, arguments.lab)
    if arguments.reason is None:
        raise ValueError("give a reason, which is kept in the settings: --reason TEXT")
    given = {name: getattr(arguments, name) for name in settings_of(Extension)}
    values = {name: value for name, value in given.items() if value is not None}
    edit, console = SettingsEditor(course.root), Console()
    zone = {name: edit.settings[name] for name in ("timezone",) if name in edit.settings}
    (longer,) = read_calendar({**zone, "extensions": [values]}, labs_of(course)).extensions
    if values in edit.settings.get("extensions", ()):
        print_plain(console, "The course has this extension already; nothing was written.")
        return 0
    edit.add_extension(values)
    edit.write()
    changed = Course.at(arguments.folder).calendar
    for lab in labs_of(course) if longer.lab == "*" else [longer.lab]:
        old, new = (c.dates(lab, longer.student).due for c in (course.calendar, changed))
        if new is None:
            words = "has no due time, so nothing changes yet"
        elif new == old:
            words = f"stays due {_shown(new, changed)}: that is no later than before"
        else:
            words = f"is due {_shown(new, changed)} for {longer.student}"
        print_plain(console, f"{lab} {words}.")
    undo = ("extend", longer.student, longer.lab, "--remove")
    ChangeHistory(course.home).note(f"{_more_time(longer, changed)}: {longer.reason}.", *undo)
    print_plain(console, f"To take it back: mlsys course {shlex.join(undo)}")
    follow_calendar(Course.at(arguments.folder))
    return 0


def _take_back(course: Course, student: str, lab: str) -> int:
    edit = SettingsEditor(course.root)
    edit.remove_extensions(student, lab)
    if not edit.changed:
        raise ValueError(
            f"{student} has no extension for {lab}; mlsys course calendar shows who has one"
        )
    edit.write()
    words = f"{student} has no more time for {'all labs' if lab == '*' else lab} than the others."
    ChangeHistory(course.home).note(words)
    print_plain(Console(), words)
    follow_calendar(Course.at(course.root))
    return 0


def _more_time(longer: Extension, calendar: Calendar) -> str:
    more = f"until {_shown(longer.due, calendar)}" if longer.due else f"{longer.days:g} days more"
    return f"{longer.student} has {more} for {'all labs' if longer.lab == '*' else longer.lab}"


def _when(dates: LabDates, calendar: Calendar) -> tuple[str, str, str]:
    times = (dates.release, dates.due, dates.close)
    opens, due, closes = (_shown(at, calendar) if at else "–" for at in times)
    return opens, due, closes


def _shown(at: datetime, calendar: Calendar) -> str:
    return local_time(at.isoformat(), calendar.zone)


def _what_differs(calendar: Calendar) -> Iterator[str]:
    for name, students in calendar.sections.items():
        yield f"Section {name}: {counted(len(students), 'student')}"
        for lab, dates in calendar.of_sections[name].items():
            opens, due, closes = _when(dates, calendar)
            shown = f", closes {closes}" if dates.close else ""
            yield f"  {lab}: opens {opens}, due {due}{shown}"
    for each in calendar.extensions:
        yield f"{_more_time(each, calendar)}: {each.reason}"
