"""Opens labs when their time has come, and tells students their dates: a job of the course service.

The service runs as root, so this reads nothing of the course. Whenever the settings of the course
change, or the time of a lab has come, `calendar_tasks` does the work with the instructor's rights.
What that answers is untrusted: only dates that can be read as such are written, for accounts of
this hub, each into a file that belongs to root and that only its user can read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.course.own_dates import OwnDates
from mlsys_widgets.files import COURSE_SETTINGS, signature_of, write_whole
from mlsys_widgets.hub.accounts.run_as import run_as
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.services.calendar_tasks import CalendarReport

#: After this time, something that failed is tried again.
_AGAIN: Final = timedelta(minutes=1)
#: An answer of more characters is not read: a thousand students with thirty labs need 9 million.
_LONGEST: Final = 64 << 20
#: Root and the user's own group may read it, and root alone write.
_MODE: Final = 0o640

#: Does the work for a state of the hub, with the instructor's rights.
Work = Callable[[HubState], CalendarReport]


class LabReleaseWatch:
    """Looks whether there is something to do, and has the work done."""

    def __init__(
        self,
        places: Places,
        work: Work,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._places, self._work, self._now = places, work, now
        self._seen: object = None
        self._last: object = None
        self._next: datetime | None = None
        self._problem = ""

    def run(self) -> None:
        """Look once; raises what went wrong with the last work, until some has succeeded."""
        try:
            if report := self.look():
                self._problem = report.problem
                for lab in report.released:
                    print(f"released {lab}", flush=True)
        except (OSError, ValueError) as why:  # a full disk: it is tried again in a minute
            self._problem = str(why)
        if self._problem:
            raise ValueError(self._problem)

    def look(self) -> CalendarReport | None:
        """Do what is to be done now; `None` if that is nothing."""
        state = HubState.read(self._places.state)
        if state is None or not state.course_id:
            return None  # a hub that is just being made
        seen, before = self._signature(state), self._last
        self._last = seen
        due = self._next is not None and self._now() >= self._next
        # A lab that is being built, or settings that are being written, first come to rest.
        news = seen != self._seen and before in (None, seen)
        if not (news or due):
            return None
        # Noted first: what changes while we work is seen by the next look.
        self._seen, self._next = seen, self._now() + _AGAIN
        report = self._work(state)
        # Who is here now: somebody may have been forgotten while we worked.
        self._write(HubState.read(self._places.state) or state, report)
        if not report.problem:
            self._next = datetime.fromisoformat(report.next) if report.next else None
        return report

    def _signature(self, state: HubState) -> object:
        """Return what changes with the calendar, the labs built and released, and the accounts."""
        places, course = self._places, self._places.course
        outbound = places.exchange / state.course_id / "outbound"
        settings = course / "assignments" / COURSE_SETTINGS
        return [
            signature_of(each) for each in (settings, course / "release", places.state, outbound)
        ]

    def _write(self, state: HubState, report: CalendarReport) -> None:
        """Write everybody's dates, and remove those of accounts that are gone."""
        for name, text in report.dates.items():
            account = state.accounts.get(name)
            if account is None:
                continue
            try:
                dates = OwnDates.from_text(text).as_text()
            except ValueError as why:
                words = f"the dates of {name} are left as they were: {why}"
                print(words, file=sys.stderr, flush=True)
                continue
            path = self._places.dates_of(name)
            if not path.is_file() or path.read_text("utf-8") != dates:
                aside = path.with_name(f".{path.name}.new")
                write_whole(aside, dates, mode=_MODE)
                os.chown(aside, 0, account.gid)
                aside.replace(path)
        for path in self._places.dates.iterdir():
            if path.name.removesuffix(".json") not in state.accounts:
                path.unlink()


def as_instructor(places: Places, python: Path) -> Work:
    """Return what does the work in a process of the instructor's."""

    def work(state: HubState) -> CalendarReport:
        teacher = state.accounts[state.instructor]
        students = [each.name for each in state.of_role("student")]
        staff = sorted(state.accounts.keys() - set(students))
        try:
            done = run_as(
                teacher,
                [python, "-m", "mlsys_widgets.hub.services.calendar_tasks", places.course],
                home=places.home(teacher.name),
                folder=places.course,
                environment={"JUPYTER_CONFIG_PATH": str(places.settings_of("instructor"))},
                stdin=json.dumps({"students": students, "trial": staff}),
            )
        except (OSError, subprocess.SubprocessError) as why:
            return CalendarReport(problem=str(why))
        return read_report(done.stdout) or CalendarReport(problem=done.stderr.strip()[-500:])

    return work


def read_report(text: str) -> CalendarReport | None:
    """Read the last line that `calendar_tasks` printed; `None` if that is no report."""
    if len(text) > _LONGEST:
        return None
    try:
        last: Any = json.loads(text.rstrip("\n").rpartition("\n")[2])
        dates, released = dict(last["dates"]), list(last["released"])
        if last["next"]:
            following = datetime.fromisoformat(last["next"]).astimezone(UTC).isoformat()
        else:
            following = ""
        if not all(isinstance(text, str) for text in (*dates, *dates.values(), *released)):
            return None
        return CalendarReport(released, following, dates, str(last["problem"]))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
