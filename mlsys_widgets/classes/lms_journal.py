"""A journal of what was sent to the learning system: a push that was killed continues from it.

A line is written before a score leaves and another when the LMS has taken it, each on the disk
before anything else happens. The LMS's own results say whether what lies between them arrived.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.classes.lms_key import lms_folder
from mlsys_widgets.classes.lms_services import LmsScore
from mlsys_widgets.files import held
from mlsys_widgets.grading.gradebook.grade_history import who_runs
from mlsys_widgets.grading.gradebook.private_lines import append_lines, read_lines

SENDING, SENT, REFUSED = "sending", "sent", "refused"
_STATES: Final = (SENDING, SENT, REFUSED)


@dataclass
class SentScores:
    """A score that was sent for one student in one column, as fractions of full marks."""

    #: The last that the LMS has taken.
    confirmed: float | None = None
    #: What may or may not have arrived since then.
    tried: list[float] = field(default_factory=list)
    #: The latest time that any of them was sent with.
    at: datetime | None = None

    @property
    def ours(self) -> list[float]:
        """All that the LMS may show because we sent it."""
        return [*self.tried, *([] if self.confirmed is None else [self.confirmed])]

    def is_ours(self, fraction: float) -> bool:
        """Whether this is a score that we sent, and nobody has changed since."""
        return any(math.isclose(each, fraction, abs_tol=5e-5) for each in self.ours)


class PushJournal:
    """The lines, in the course's own folder; a line that breaks off was never written."""

    def __init__(self, root: Path) -> None:
        self._folder = lms_folder(root)
        self._path = self._folder / "sent.jsonl"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep a second push of this course out; a process that dies lets go of it."""
        refusal = "grades are being pushed by another mlsys push; wait until it is done"
        with held(self._folder / "push.lock", refusal):
            yield

    def read(self) -> dict[tuple[str, str], SentScores]:
        """Return what is known, by column and by user of the LMS."""
        found: dict[tuple[str, str], SentScores] = {}
        for line in self._lines():
            known = found.setdefault((line["item"], line["user"]), SentScores())
            fraction = line["given"] / line["most"]
            at = datetime.fromisoformat(line["timestamp"])
            known.at = at if known.at is None else max(known.at, at)
            if line["state"] == SENDING:
                known.tried.append(fraction)
            elif line["state"] == SENT:
                known.confirmed, known.tried = fraction, []
        return found

    def add(self, state: str, lab: str, student: str, item: str, score: LmsScore) -> None:
        """Add a line about a column (`item`); it is on the disk when this returns."""
        line = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "by": who_runs(),
            "state": state,
            "lab": lab,
            "student": student,
            "user": score.user_id,
            "given": score.given,
            "most": score.most,
            "timestamp": score.at.isoformat(timespec="milliseconds"),
            "item": item,
        }
        append_lines(self._path, json.dumps(line).encode() + b"\n")

    def _lines(self) -> Iterator[Mapping[str, Any]]:
        for _, line in read_lines(self._path):
            try:
                whole = (
                    line["state"] in _STATES
                    and all(isinstance(line[name], str) for name in ("item", "user"))
                    and line["most"] > 0
                    and line["given"] >= 0
                    and datetime.fromisoformat(line["timestamp"]).tzinfo is not None
                )
            except (ValueError, TypeError, KeyError):
                continue
            if whole:
                yield line
