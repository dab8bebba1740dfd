"""Grades to a learning system: what differs there, and sending that and nothing else.

What the LMS shows is compared with the gradebook. A score that somebody changed in the LMS is left
as it is unless asked otherwise. Pushing again after that, or after a kill, sends what is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from mlsys_widgets.classes.gradebook_reader import Grades, Standing
from mlsys_widgets.classes.lms_http import LmsError, LmsRefusal, LmsSilence
from mlsys_widgets.classes.lms_journal import REFUSED, SENDING, SENT, PushJournal, SentScores
from mlsys_widgets.classes.lms_people import LmsUser
from mlsys_widgets.classes.lms_services import LineItem, LmsResult, LmsScore, LmsServices

#: send: differs, goes there. same: nothing to do. empty: nothing was handed in. waiting: a person
#: has to grade first. changed: somebody changed it there. unknown: not found there. sent, failed:
#: how it went.
Step = Literal["send", "same", "empty", "waiting", "changed", "unknown", "sent", "failed"]

#: Platforms compare whole seconds, and refuse a score that is not later than the one they have.
_LATER: Final = timedelta(seconds=1)
#: After so many students in a row without an answer, the others are not tried.
_SILENCES: Final = 3


@dataclass(frozen=True)
class PushRow:
    """One student of one lab."""

    #: The student, and the id in the LMS; empty if unknown.
    student: str
    user: str
    #: Points in the gradebook after penalties, and in the LMS on the same scale; ``None`` if none.
    here: float | None
    there: float | None
    step: Step
    why: str = ""
    handed_in: datetime | None = None


@dataclass(frozen=True)
class LabPush:
    """A lab beside its column in the LMS."""

    #: The lab, and what it is worth.
    lab: str
    most: float
    #: Its column; ``None`` if it has to be made.
    item: LineItem | None
    rows: tuple[PushRow, ...]

    def count(self, *steps: Step) -> int:
        """Count the students at one of these steps."""
        return sum(each.step in steps for each in self.rows)


def compare(
    lab: str,
    found: Grades,
    users: Mapping[str, LmsUser],
    services: LmsServices,
    journal: PushJournal,
    *,
    overwrite: bool = False,
) -> LabPush:
    """Compare a lab with its column in the LMS; nothing is changed.

    With `overwrite`, what somebody changed in the LMS is to be sent as well. Raises `ValueError` if
    the lab has no points, or the LMS cannot be read.
    """
    most = sum(found.most.values())
    if most <= 0:
        raise ValueError(f"{lab} is worth no points, so an LMS can hold no score for it")
    item = services.line_item_of(lab)
    results = services.results(item) if item else {}
    sent = journal.read()
    rows = []
    for each in found.people:
        user = users[each.id]
        result = results.get(user.id, LmsResult(None)) if user.id else LmsResult(None)
        known = sent.get((item.id, user.id), SentScores()) if item else SentScores()
        standing = found.standings.get(each.id)
        row = _row(each.id, user, standing, result, known, most)
        if row.step == "changed" and overwrite:
            row = replace(row, step="send", why=f"replaces what is there: {row.why}")
        rows.append(row)
    return LabPush(lab, most, item, tuple(rows))


def _row(
    student: str,
    user: LmsUser,
    standing: Standing | None,
    result: LmsResult,
    known: SentScores,
    most: float,
) -> PushRow:
    there = None if result.score is None else round(result.score * most / result.most, 2)
    here = standing.total if standing else None
    row = PushRow(
        student, user.id, here, there, "same", handed_in=standing.timestamp if standing else None
    )
    if standing is None:
        why = "" if there is None else "handed in nothing here; the score there stays"
        return replace(row, step="empty", why=why)
    if not user.id:
        return replace(row, step="unknown", why=user.problem)
    if standing.waiting:
        # A score without points would clear what the LMS has, and one that is not final may be
        # ignored there: neither can be told from the results afterward.
        words = f"waits for a person to grade {', '.join(standing.waiting)}"
        return replace(row, step="waiting", why=words)
    fraction = standing.total / most
    if result.twice:
        return replace(row, step="changed", why="the LMS has two scores that differ")
    if result.score is None:
        if known.confirmed is not None and known.is_ours(fraction):
            return replace(row, step="changed", why="it was sent, and the LMS shows none")
        return replace(row, step="send", why="new")
    shown = result.score / result.most
    if _is_equal(shown, fraction, most, most):
        return row
    if _is_equal(shown, fraction, result.most, most):
        # A coarse scale hides small changes, so what was sent last decides.
        stale = known.confirmed is not None and not known.is_ours(fraction)
        return replace(row, step="send", why="changed here") if stale else row
    rounded = any(_is_equal(shown, each, result.most, most) for each in known.ours)
    if known.is_ours(shown) or rounded:
        return replace(row, step="send", why="changed here")
    return replace(row, step="changed", why="changed in the LMS, or never sent from here")


def _is_equal(shown: float, fraction: float, their_most: float, most: float) -> bool:
    """Whether two fractions are one score, rounded to hundredths of a point on either scale."""
    hundredth = 0.01 / min(their_most, most)
    return math.isclose(shown, fraction, abs_tol=0.505 * hundredth)


def apply(
    push: LabPush,
    services: LmsServices,
    journal: PushJournal,
    *,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> LabPush:
    """Send what differs, student by student, and say how each went.

    What is refused is that student's alone. After several in a row without any answer the rest is
    left for another time. `progress` is told how many are done, and of how many.
    """
    due = [row for row in push.rows if row.step == "send"]
    if not due:
        return push
    item = push.item or services.create_line_item(push.lab, push.most)
    sent, silent, stopped, done = journal.read(), 0, "", {}
    for count, row in enumerate(due):
        progress(count, len(due))
        if stopped:
            done[row.student] = replace(row, step="failed", why=stopped)
            continue
        last = sent.get((item.id, row.user), SentScores()).at
        try:
            _deliver(push, row, item, last, services, journal)
        except LmsRefusal as problem:
            silent, why = 0, f"the LMS says {problem}"
        except LmsSilence as problem:
            silent, why = silent + 1, str(problem)
            if silent == _SILENCES:
                stopped = "not tried, because the LMS is silent"
        except LmsError as problem:
            stopped = why = str(problem)
        else:
            silent, why = 0, ""
        done[row.student] = replace(row, step="failed" if why else "sent", why=why)
    progress(len(due), len(due))
    rows = tuple(done.get(row.student, row) for row in push.rows)
    return replace(push, item=item, rows=rows)


def _deliver(
    push: LabPush,
    row: PushRow,
    item: LineItem,
    last: datetime | None,
    services: LmsServices,
    journal: PushJournal,
) -> None:
    """Send one score, and once more with a later time if the LMS has it for an old one."""
    for again in (False, True):
        at = _time(services.now(), last)
        score = LmsScore(row.user, row.here or 0.0, push.most, at, row.handed_in)
        journal.add(SENDING, push.lab, row.student, item.id, score)
        try:
            services.send(item, score)
        except LmsRefusal as refusal:
            if _is_about_time(refusal) and _arrived(row, push.most, item, services):
                # An earlier attempt came through, though its answer did not.
                pass
            elif _is_about_time(refusal) and not again:
                last = at + _LATER
                continue
            else:
                journal.add(REFUSED, push.lab, row.student, item.id, score)
                raise
        journal.add(SENT, push.lab, row.student, item.id, score)
        return


def _time(now: datetime, last: datetime | None) -> datetime:
    """A time that is later than the last one, in whole seconds."""
    return max(now, last + _LATER) if last else now


def _is_about_time(refusal: LmsRefusal) -> bool:
    return refusal.status == 409 or (refusal.status == 400 and "timestamp" in refusal.words.lower())


def _arrived(row: PushRow, most: float, item: LineItem, services: LmsServices) -> bool:
    try:
        found = services.results(item, row.user).get(row.user, LmsResult(None))
    except LmsError:
        return False
    return found.score is not None and _is_equal(
        found.score / found.most, (row.here or 0.0) / most, found.most, most
    )
