"""The dates of a lab beside its released notebook: for students whose server knows no others."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mlsys_widgets.course.calendar import Calendar
from mlsys_widgets.course.own_dates import LAB_DATES, OwnDates
from mlsys_widgets.files import write_whole
from mlsys_widgets.labs.about_lab import title_of


def write_lab_dates(calendar: Calendar, release: Path, labs: Iterable[str]) -> list[str]:
    """Write the dates of labs that are built, without sections, extensions or anybody's name.

    Returns the labs whose file changed.
    """
    changed = []
    for lab in labs:
        if not (release / lab).is_dir():
            continue
        path = release / lab / LAB_DATES
        dates = OwnDates.of(calendar, {lab: title_of(release / lab)})
        before = path.read_text("utf-8") if path.is_file() else None
        text = dates.as_text() if dates.labs else None
        if text == before:
            continue
        if text is None:
            path.unlink()
        else:
            write_whole(path, text).chmod(0o644)  # it goes to students
        changed.append(lab)
    return changed
