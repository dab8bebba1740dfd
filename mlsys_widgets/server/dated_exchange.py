"""Labs that a student can fetch from nbgrader's exchange, by the calendar of the course.

A lab gets into the exchange when it opens for anybody. Whether it is open for this student, whose
section may have other dates, is decided here, on the student's own server. A lab that has closed is
no longer listed as one to fetch; what was fetched stays in the list, and in the student's folder.
With these lines in the ``nbgrader_config.py`` of students, which a hub writes by itself::

    c.ExchangeFactory.list = "mlsys_widgets.server.dated_exchange.ListByCalendar"
    c.ExchangeFactory.fetch_assignment = "mlsys_widgets.server.dated_exchange.FetchByCalendar"
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import (  # type: ignore[import-untyped]
    ExchangeFetchAssignment,
    ExchangeList,
)

from mlsys_widgets.course.due_words import due_words
from mlsys_widgets.course.own_dates import VARIABLE, read_dates


def why_not_to_fetch(lab: str) -> str | None:
    """Why this student cannot fetch a lab now, in a sentence; `None` if nothing is against it."""
    named = os.environ.get(VARIABLE)
    dates = read_dates(Path(named)) if named else None
    words = due_words(dates, lab, datetime.now(UTC)) if dates else None
    return words.headline if words and words.state in ("waiting", "closed") else None


class ListByCalendar(ExchangeList):  # type: ignore[misc]
    """nbgrader's list, without labs to fetch that are not open for this student."""

    def parse_assignments(self) -> list[dict[str, Any]]:
        """List the labs. Called by nbgrader."""
        found: list[dict[str, Any]] = super().parse_assignments()
        return [
            each
            for each in found
            if each["status"] != "released" or not why_not_to_fetch(each["assignment_id"])
        ]


class FetchByCalendar(ExchangeFetchAssignment):  # type: ignore[misc]
    """nbgrader's way to fetch, for labs that are open for this student."""

    def init_src(self) -> None:
        """Find the lab in the exchange. Called by nbgrader."""
        super().init_src()
        lab = self.coursedir.assignment_id
        if why := why_not_to_fetch(lab):
            self.fail(f"{lab} cannot be fetched now. {why}")
