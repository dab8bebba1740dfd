"""Grading a class: which submissions to grade, what each one earned, and writing it all down.

This is the only process that sees the gradebook. It runs nothing of a student's and reads nothing
of it either: readers do that, in limited processes, and what comes from them is small.

One submission's way: this file asks with `grading.messages`, `reading.readers` passes it on,
`judging.marking` does it, with `judging.scoring` for the points, and `gradebook.gradebook_writer`
writes them down. What must run goes through `sandbox.engine` in between.
"""

from __future__ import annotations

import os
import secrets
import shutil
import statistics
import threading
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.audit import compare, draw_sample
from mlsys_widgets.grading.bounded_map import map_bounded
from mlsys_widgets.grading.class_flags import ClassFlags
from mlsys_widgets.grading.gradebook.autograded import forget_fresh, fresh_beside, put_in_place
from mlsys_widgets.grading.gradebook.grade_history import GRADED, GradeHistory
from mlsys_widgets.grading.gradebook.gradebook_writer import EntryRefused
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.gradebook.graded_submission import GradedSubmission
from mlsys_widgets.grading.gradebook.lab_grades import LabGrade
from mlsys_widgets.grading.gradebook.lost_records import is_whole, lost_records
from mlsys_widgets.grading.judging.flags import Flag, FlagKind
from mlsys_widgets.grading.judging.marking import CONTENT, REPORT
from mlsys_widgets.grading.lab_to_grade import CannotGrade, LabToGrade
from mlsys_widgets.grading.messages import (
    DigestReply,
    DigestRequest,
    JudgeByRecord,
    JudgedSubmission,
    JudgeRun,
    MustRun,
    NotJudged,
    PrepareRun,
    ReadyToRun,
)
from mlsys_widgets.grading.reading.readers import (
    CannotRead,
    PutOff,
    ReaderMessage,
    Readers,
    ReadingLimits,
)
from mlsys_widgets.grading.reading.submissions import handed_in_at, name_problem, students
from mlsys_widgets.grading.telling.told_hand_in import after_grading
from mlsys_widgets.ledger import Head
from mlsys_widgets.notebooks.remarks import Remark, RemarkKind
from mlsys_widgets.sandbox.engine import LOCAL, Engine, NotRun, open_engine
from mlsys_widgets.sandbox.isolation import visible
from mlsys_widgets.sandbox.job import YIELDED, Parcel
from mlsys_widgets.sandbox.leftovers import own_folder, sweep
from mlsys_widgets.sandbox.limits import Limits

#: Seconds that a submission may run while others wait; more where everybody takes long.
_ALLOWANCE: Final = 20.0
_TIMES_USUAL: Final = 4
#: Seconds that what a hand-in earned may take to be written.
_JUDGE_HOLDS: Final = 10.0


@dataclass(frozen=True)
class Plan:
    """The submissions to grade, and how."""

    course: Course
    lab: str
    #: A pattern that names must fit.
    students: str = "*"
    #: Where submissions run, and how many at a time.
    engine: str = LOCAL
    workers: int | None = None
    #: Whether they are isolated from this machine.
    isolate: bool = True
    #: Leave out what an interrupted run has graded, if nothing of it has changed.
    resume: bool = False
    #: Grade everything again.
    force: bool = False
    #: What one submission may use.
    limits: Limits = field(default_factory=Limits)
    #: Run every submission, also those that could be judged by their records.
    run: bool = False
    #: The fraction of submissions that are run to compare, even if judged by their records; `None`
    #: for the usual few, where submissions can be isolated.
    audit: float | None = 0.0
    #: Students who are left out.
    skip: tuple[str, ...] = ()
    #: What reading one submission may use.
    reading: ReadingLimits = field(default_factory=ReadingLimits)


class NotIsolated(CannotGrade):
    """Submissions must run, and this machine cannot isolate them."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"submissions cannot be isolated here: {reason}. Student code would see and change"
            " everything you can. To grade anyway: --sandbox none"
        )
        self.reason = reason


class GradingRun:
    """The submissions of one lab, about to be graded.

    An ``engine`` that was started already runs them; it is closed with the rest.
    """

    def __init__(self, plan: Plan, engine: Engine | None = None) -> None:
        self._plan = plan
        self._course = course = plan.course
        found = LabToGrade.of(course, plan.lab)
        self._gradebook, self._told = found.gradebook, found.told
        self._log = GradedLog(course.home, plan.lab)
        self._heads = self._log.heads()
        self.class_flags = ClassFlags(course, self._log)
        #: Why the usual audit was left out; empty if it was not.
        self.not_audited = ""
        self._version, self._earlier = found.version, found.earlier
        self._history = GradeHistory(course.home, plan.lab)
        if plan.isolate and plan.engine == LOCAL:
            self._refuse_a_visible_course()
        self._marking = found.marking
        sweep()
        self._scratch = own_folder("grade")
        self._clean = weakref.finalize(self, shutil.rmtree, self._scratch, ignore_errors=True)
        usual = self._marking.rehearse(self._scratch / "rehearsal")
        count = readers_for(plan.workers)
        self._readers = Readers(self._marking, count, self._scratch, plan.reading, usual)
        self._engine = engine
        #: What calls functions, where nothing else of a submission has to run.
        self._callers: Engine | None = None
        self._opening = threading.Lock()
        self._seconds: list[float] = []
        self._cut_short: set[str] = set()
        self.students = self._to_grade()
        #: What is missing of the records of earlier runs, a sentence each.
        self.lost = tuple(lost_records(course.home, plan.lab, leaving_out=self.students))

    def grades(self) -> dict[str, LabGrade]:
        """Return what the gradebook holds about the lab, by student."""
        return self._gradebook.grades()

    def _refuse_a_visible_course(self) -> None:
        """Submissions see the system and the interpreter: the course must not lie in there."""
        for folder in visible():
            if self._course.home.is_relative_to(folder):
                raise CannotGrade(
                    f"the course lies in {folder}, which submissions can read while they run; move"
                    " it to a folder of its own"
                )

    def _to_grade(self) -> list[str]:
        plan = self._plan
        names = students(self._course, plan.lab, plan.students)
        if not names:
            folder = self._course.work("submitted", plan.students, plan.lab)
            raise CannotGrade(f"nothing was handed in: there is no {folder}")
        unknown = [name for name in plan.skip if name not in names]
        if unknown:
            raise CannotGrade(
                f"--skip names {', '.join(unknown)}, and nobody of that name has handed in"
                f" {plan.lab}; write it as the folder is called"
            )
        names = [name for name in names if name not in plan.skip]
        if plan.force:
            return names
        if plan.resume:
            done = self._done(names)
            return [name for name in names if name not in done]
        return [name for name in names if self._is_new(name)]

    def _done(self, names: list[str]) -> set[str]:
        """Return those whose very submission was graded before, with this very lab."""
        known = self._log.read()
        maybe = deque(
            name
            for name in names
            if name in known and self._is_current(known[name]) and self._is_there(name)
        )

        def digest(name: str) -> str | None:
            try:
                reply = self._readers.ask(DigestRequest(name))
            except CannotRead:
                return None
            return reply.digest if isinstance(reply, DigestReply) else None

        found = map_bounded(digest, maybe, lambda: self._readers.count)
        return {name for name, digest in found if digest and digest == known[name].get("digest")}

    def _is_current(self, graded: Mapping[str, Any]) -> bool:
        """Whether something was graded with what its version of the lab is judged with now."""
        now = self._earlier.get(graded.get("lab_version", ""), self._version)
        return graded.get("version") == now

    def _is_new(self, student: str) -> bool:
        """Nbgrader's rule: not graded yet, or handed in again since."""
        if not self._is_there(student):
            return True
        old, new = (
            handed_in_at(self._course, step, self._plan.lab, student)
            for step in ("autograded", "submitted")
        )
        return old is not None and new is not None and new > old

    def _is_there(self, student: str) -> bool:
        """Whether somebody has an autograded folder, with a whole notebook in it."""
        target = self._target(student)
        if target.is_dir() and not is_whole(target / f"{self._plan.lab}.ipynb"):
            self._cut_short.add(student)
        return target.is_dir() and student not in self._cut_short

    def graded_before_a_change(self) -> list[str]:
        """Return who was graded with other questions, keys or versions than there are now."""
        known = self._log.read()
        names = students(self._course, self._plan.lab, self._plan.students)
        return [
            name for name in names
            if name in known and not self._is_current(known[name])
        ]  # fmt: skip

    def flagged_before(self) -> list[str]:
        """Whom an earlier run has flagged, among those whom this one does not grade again."""
        now, there = set(self.students), students(self._course, self._plan.lab, self._plan.students)
        known = self._log.read()
        return [n for n in there if n not in now and n in known and known[n].get("flags")]

    def _target(self, student: str) -> Path:
        return self._course.work("autograded", student, self._plan.lab)

    # Grading.

    def running(self) -> list[tuple[str, float]]:
        """Return whose submissions are running, and for how many seconds; the longest first."""
        found: dict[str, float] = {}
        for engine in (self._callers, self._engine):
            found |= engine.running() if engine is not None else {}
        return sorted(found.items(), key=lambda each: -each[1])

    def grade(self, on_start: Callable[[str], None] = lambda _: None) -> Iterator[GradedSubmission]:
        """Grade, and yield each submission once it is in the gradebook.

        ``on_start`` is called with a few words when one way of grading begins.
        """
        why = "grade --force" if self._plan.force else "grade"
        # The judge of hand-ins holds it for a moment.
        with self._log.alone(patience=_JUDGE_HOLDS):
            with self._history.during(GRADED, f"mlsys {why}", self._gradebook.grades):
                yield from self._grade(on_start)
            self._history.notice_second_chances(self._told.with_second_chance())

    def _grade(self, on_start: Callable[[str], None]) -> Iterator[GradedSubmission]:
        unnamable = {name: why for name in self.students if (why := name_problem(name))}
        named = [name for name in self.students if name not in unnamable]
        to_run: deque[str] = deque(named)
        audits: dict[str, JudgedSubmission] = {}
        try:
            for name, why in unnamable.items():
                yield self._not_graded(name, why)
            if self._marking.grades_no_code and not self._plan.run:
                on_start("by record")
                to_run.clear()
                yield from self._by_record(named, to_run, audits)
                # In the order of the class, whichever was read first.
                to_run = deque(sorted(to_run, key=self.students.index))
            if to_run:
                try:
                    self._open_engine(on_start)
                except NotIsolated as why:
                    if self._plan.audit is not None or len(audits) < len(to_run):
                        raise
                    # Nobody asked for an audit, and nothing else has to run.
                    self.not_audited = why.reason
                    yield from (self._write(name, audits[name]) for name in to_run)
                else:
                    yield from self._by_running(to_run, audits)
        finally:
            for engine in (self._callers, self._engine):
                if engine is not None:
                    engine.close()
            self._readers.close()
            self._gradebook.close()
            self._clean()
            sweep()

    def _by_record(
        self, names: list[str], to_run: deque[str], audits: dict[str, JudgedSubmission]
    ) -> Iterator[GradedSubmission]:
        """Grade those whose record is enough; the others, and some to compare, are to be run."""
        sample = draw_sample(names, self._plan.audit, isolated=self._plan.isolate)
        waiting = deque(names)
        turns = _Turns(waiting)

        def judge(student: str) -> ReaderMessage | None:
            return self._judge(student, JudgeByRecord, fresh_beside(self._target(student)), turns)

        lanes = 2 * self._readers.count  # one is judged, one is written
        for student, reply in map_bounded(judge, waiting, lambda: lanes):
            if reply is None:
                turns.put_off(student)
            elif isinstance(reply, MustRun):
                to_run.append(student)
                if student in sample:  # somebody else takes the place
                    others = [name for name in waiting if name not in sample]
                    sample.update(secrets.choice(others) for _ in others[:1])
            elif student in sample and isinstance(reply, JudgedSubmission):
                audits[student] = reply
                to_run.append(student)
            else:
                yield self._write(student, reply)

    def _open_engine(self, on_start: Callable[[str], None]) -> None:
        engine = self._engine or open_engine(self._plan.engine, self._plan.workers)
        self._engine = engine
        self._refuse_without_isolation(engine)
        on_start(f"{engine.slots} at a time")

    def _open_callers(self) -> Engine:
        """Return what calls functions; the first time it is needed, it starts."""
        with self._opening:
            if self._callers is None:
                plan = self._plan
                engine = open_engine(plan.engine, plan.workers, only_functions=True)
                try:
                    self._refuse_without_isolation(engine)
                except ValueError:
                    engine.close()
                    raise
                self._callers = engine
                if plan.engine != LOCAL:  # the workers of a cluster do both
                    self._engine = engine
            return self._callers

    def _refuse_without_isolation(self, engine: Engine) -> None:
        reason = engine.why_not_isolated()
        if self._plan.isolate and reason:
            raise NotIsolated(reason)

    def _by_running(
        self, waiting: deque[str], audits: Mapping[str, JudgedSubmission]
    ) -> Iterator[GradedSubmission]:
        engine = self._engine
        assert engine is not None

        turns = _Turns(waiting)

        def run(student: str) -> ReaderMessage | None:
            if student not in audits:
                return self._judge(student, PrepareRun, fresh_beside(self._target(student)), turns)
            with TemporaryDirectory(dir=self._scratch) as aside:
                return self._judge(student, PrepareRun, Path(aside) / "audit", turns)

        for student, reply in map_bounded(run, waiting, lambda: engine.lanes):
            if reply is None:
                turns.put_off(student)
                continue
            judged = audits.get(student)
            graded = self._write(student, compare(judged, reply) if judged else reply)
            self._seconds.append(graded.seconds)
            yield graded

    def _usual(self) -> float:
        """Return how long a submission may run while others wait."""
        usual = statistics.median(self._seconds) if self._seconds else 0.0
        return max(_ALLOWANCE, _TIMES_USUAL * usual)

    def _judge(
        self, student: str, way: type[JudgeByRecord], fresh: Path, turns: _Turns
    ) -> ReaderMessage | None:
        """Have a submission read, run as far as it must, and judged.

        `None` if it has left its place to others, in reading or in running. A reader judges it by
        its record or prepares a run, as ``way`` asks; its autograded files are put together in
        ``fresh``.
        """
        place = self._scratch / f"run-{secrets.token_hex(8)}"
        heads, turn = self._known_heads(student), turns.of(student)
        told = self._told.of_student(student).answers
        ready = self._ask(way(student, fresh, heads, place, told=told), turn)
        if ready is None:
            turns.read_later.add(student)
        if not isinstance(ready, ReadyToRun):
            return ready
        try:
            engine = self._engine if way is PrepareRun else self._open_callers()
            assert engine is not None
            # Who has run too long while others waited runs after them, and then may stay.
            allowance = self._usual() if turn == 0 else None
            limits = replace(self._plan.limits, cell=self._course.cell_seconds)
            isolate = self._plan.isolate
            parcel = Parcel(student, place / CONTENT, ready.hidden, isolate, limits, allowance)
            ending, remarks = engine.run(parcel, place / REPORT)
            if ending.ended == YIELDED:
                return None
            if turns.taken[student] and student not in turns.read_later:
                remarks = (*remarks, Remark(RemarkKind.RUN_LATER))
            judge = JudgeRun(student, fresh, heads, place, ending, remarks, told=told)
            return self._ask(judge)
        except NotRun as problem:
            return NotJudged(str(problem))
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def _known_heads(self, student: str) -> tuple[Head, ...]:
        return tuple(sorted(self._heads.get(student, ())))

    def _ask(self, request: ReaderMessage, turn: int | None = None) -> ReaderMessage | None:
        """Have a request done; `None` if it takes longer than it may while others wait."""
        try:
            return self._readers.ask(request, turn=turn)
        except PutOff:
            return None
        except CannotRead as problem:
            return NotJudged(str(problem))

    # Writing it down.

    def _write(self, student: str, reply: ReaderMessage) -> GradedSubmission:
        if isinstance(reply, NotJudged):
            return self._not_graded(student, reply.why)
        assert isinstance(reply, JudgedSubmission)
        graded = reply.graded
        graded = replace(graded, flags=(*graded.flags, *self.class_flags.of(student, reply)))
        if student in self._cut_short:
            again = Remark(RemarkKind.GRADED_AGAIN)
            graded = replace(graded, remarks=(*graded.remarks, again))
        # In this order: what is in the gradebook and not yet in its folder is graded again by the
        # next run.
        try:
            late = self._gradebook.write(reply.entry)
        except EntryRefused as problem:
            return self._not_graded(student, str(problem))
        graded = replace(graded, late=late)
        self._put_in_place(student)
        more = {
            "digest": reply.digest,
            "origin": reply.origin,
            "version": self._earlier.get(graded.version, self._version),
            "parameters": reply.parameters,
            "measurement": reply.measurement,
        }
        self._log.add(graded, reply.head, more)
        self._tell(reply)
        return graded

    def _tell(self, reply: JudgedSubmission) -> None:
        """Tell a student of a hub what had to wait for this run."""
        before = self._told.of_student(reply.graded.student)
        line = after_grading(self._course, self._marking, reply, before, datetime.now(UTC))
        self._told.add([line] if line else [])

    def _put_in_place(self, student: str) -> None:
        target = self._target(student)
        put_in_place(fresh_beside(target), target)

    def _not_graded(self, student: str, why: str) -> GradedSubmission:
        """Write nothing, so that the next run finds the submission as new as it was."""
        forget_fresh(fresh_beside(self._target(student)))
        return GradedSubmission(student, (), flags=(Flag(FlagKind.NOT_GRADED, detail=why),))


@dataclass
class _Turns:
    """Who still waits, and how often whom was put off for reading or running too long."""

    waiting: deque[str]
    taken: Counter[str] = field(default_factory=Counter)
    #: Who was put off for reading.
    read_later: set[str] = field(default_factory=set)

    def of(self, student: str) -> int | None:
        """Return how often somebody was put off before; `None` if nobody waits for the place."""
        return self.taken[student] if self.waiting else None

    def put_off(self, student: str) -> None:
        """Let everybody else go first."""
        self.taken[student] += 1
        self.waiting.append(student)


def readers_for(workers: int | None) -> int:
    """Return how many readers a class needs: as many as there are cores, or fewer if asked for."""
    return workers or os.cpu_count() or 1
