"""Whether handing in now is on time, and what it costs if it is not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from mlsys_widgets.course.due_words import as_data, lateness_words
from mlsys_widgets.course.own_dates import dates_here
from mlsys_widgets.handin.work import LabWork


def due_now(work: LabWork) -> dict[str, Any] | None:
    """Return when the lab is due for whoever hands it in, as data; `None` if nobody knows."""
    dates = dates_here(work.folder)
    due = as_data(dates, work.lab, datetime.now(UTC)) if dates else None
    return due and {**due, "own": dates is not None and dates.own}


def lateness(work: LabWork, at: datetime) -> str | None:
    """Say in a sentence whether something was handed in late; `None` if nobody knows."""
    dates = dates_here(work.folder)
    return lateness_words(dates, work.lab, at) if dates else None
