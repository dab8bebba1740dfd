"""What only the whole class shows about a submission: shared work, and who is no student of it."""

from __future__ import annotations

from collections.abc import Iterator

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import MEASUREMENT
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.judging.flags import Flag, FlagKind
from mlsys_widgets.grading.judging.own_measurement import SharedMeasurements
from mlsys_widgets.grading.messages import JudgedSubmission
from mlsys_widgets.grading.reading.class_list import ClassList
from mlsys_widgets.grading.reading.ledger_origins import LedgerOrigins


class ClassFlags:
    """The flags that a submission gets for what others of its class handed in."""

    def __init__(self, course: Course, log: GradedLog) -> None:
        self._log = log
        logged = log.read()
        self._origins = LedgerOrigins.of_log(logged)
        self._measurements = SharedMeasurements.of_log(logged)
        # A stranger whom an earlier run has graded stays one.
        strangers = {
            student
            for student, line in logged.items()
            if any(each.kind is FlagKind.STRANGER for each in line.get("flags", ()))
        }
        known = ClassList.of(course.db_url)
        self._class = known.without(strangers - {*course.people.added})
        #: What was found about submissions after they were written: flags by student.
        self.later: dict[str, Flag] = {}

    def of(self, student: str, judged: JudgedSubmission) -> Iterator[Flag]:
        """Yield the flags of one more submission; who shares a measurement with it gets one too."""
        if shared := self._origins.shared(student, judged.origin):
            yield shared
        if other := self._measurements.other_owner(student, judged.measurement):
            yield _shared_measurement(other)
            self._flag_later(other, _shared_measurement(student))
        if words := self._class.stranger(student):
            yield Flag(FlagKind.STRANGER, student, words)

    def _flag_later(self, student: str, flag: Flag) -> None:
        """Flag somebody who is in the gradebook already; one such flag is enough."""
        line = self._log.read().get(student) if student not in self.later else None
        if line is not None and flag.kind not in {each.kind for each in line["flags"]}:
            flags = [each.as_data() for each in (*line["flags"], flag)]
            self._log.add_lines([{**line, "flags": flags}])
            self.later[student] = flag


def _shared_measurement(other: str) -> Flag:
    return Flag(FlagKind.SHARED_MEASUREMENT, other, MEASUREMENT)
