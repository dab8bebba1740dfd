"""One submission that was graded: what it earned, and what there is to say about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from mlsys_widgets.grading.gradebook.late_penalty import Lateness
from mlsys_widgets.grading.judging.flags import Flag
from mlsys_widgets.grading.judging.scoring import Score
from mlsys_widgets.notebooks.remarks import Remark

#: How a submission was graded: from its record alone, by running it, or in both ways.
BY_RECORD: Final = "record"
RUN: Final = "run"
AUDITED: Final = "audited"


@dataclass(frozen=True)
class GradedSubmission:
    """One submission that is in the gradebook now."""

    student: str
    #: What each graded cell earned; empty if it could not be graded.
    scores: tuple[Score, ...]
    #: What was wrong with it and could be dealt with.
    remarks: tuple[Remark, ...] = ()
    #: What a TA should look at.
    flags: tuple[Flag, ...] = ()
    #: How long it ran.
    seconds: float = 0.0
    #: How it was graded: ``record``, ``run``, or ``audited`` if by its record and then run too.
    way: str = RUN
    #: How late it was handed in, and what that cost; `None` if it was in time.
    late: Lateness | None = None
    #: The version of the lab that it was judged as; empty if that has no name.
    version: str = ""

    @property
    def earned(self) -> float:
        """Points so far, without what a person gives."""
        return round(sum(score.auto or 0.0 for score in self.scores), 2)

    @property
    def most(self) -> float:
        """Points there are."""
        return sum(score.most for score in self.scores)

    @property
    def by_hand(self) -> int:
        """Cells that wait for a person."""
        return sum(score.auto is None for score in self.scores)

    @property
    def sentences(self) -> tuple[str, ...]:
        """All there is to say about it, flags first."""
        return tuple(note.sentence for note in (*self.flags, *self.remarks))

    def as_data(self) -> dict[str, Any]:
        """Return the submission as JSON has it."""
        return {
            "student": self.student,
            "scores": [score.as_data() for score in self.scores],
            "remarks": [remark.as_data() for remark in self.remarks],
            "flags": [flag.as_data() for flag in self.flags],
            "seconds": self.seconds,
            "way": self.way,
            "late": self.late.as_data() if self.late else None,
            "lab_version": self.version,
        }
