"""Judges what students hand in on a hub, and keeps what they are told.

The hub notes every hand-in where no student can write. What is noted and not kept as judged is
judged here, in order: so nothing is lost when this is stopped, and nothing is judged twice. Readers
read, as for `mlsys grade`: within limits, by descriptor, and what takes long waits for the others.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any, Final

from mlsys_widgets.course.calendar import LabDates
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.exchange_place import exchange_folder, nbgrader_settings
from mlsys_widgets.files import COURSE_SETTINGS, signature_of
from mlsys_widgets.grading.bounded_map import map_bounded
from mlsys_widgets.grading.gradebook.grade_history import GRADED, GradeHistory
from mlsys_widgets.grading.gradebook.gradebook_writer import EntryRefused
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.grading.judging.told_answers import JudgedAnswer, SecondAnswer
from mlsys_widgets.grading.lab_to_grade import LabToGrade
from mlsys_widgets.grading.messages import JudgedSubmission, JudgeHandIn, MustRun
from mlsys_widgets.grading.reading.readers import (
    CannotRead,
    PutOff,
    ReaderMessage,
    Readers,
    ReadingLimits,
)
from mlsys_widgets.grading.telling.judged_hand_ins import (
    JudgedHandIn,
    JudgedHandIns,
    StudentHandIns,
)
from mlsys_widgets.grading.telling.told_hand_in import first_judged, report_on
from mlsys_widgets.grading.telling.told_report import LATER, TO_RUN, nothing_told
from mlsys_widgets.labs.practice import NOT_GRADED
from mlsys_widgets.ledger.hand_in_notes import HandInNote, notes_beside, read_notes
from mlsys_widgets.sandbox.leftovers import own_folder

#: Hand-ins that are judged before the gradebook and those who wait are written to.
_BATCH: Final = 8
#: Why nothing is told about a hand-in that came too late.
_CLOSED: Final = "The lab was closed when this was handed in; your instructor decides what counts."
_WHY: Final = "handed in"
#: Seconds after which all is looked at again, changed or not: a due time may have passed.
_REST: Final = 5.0


@dataclass
class _OpenLab:
    """A lab with readers, as long as nothing about it changes."""

    lab: LabToGrade
    readers: Readers
    history: GradeHistory
    log: GradedLog
    signature: object

    def close(self) -> None:
        self.readers.close()
        self.lab.gradebook.close()


@dataclass
class HandInJudge:
    """Judges the hand-ins of a course."""

    root: Path
    readers: int = 2
    now: Callable[[], datetime] = lambda: datetime.now(UTC)  # tells the time
    limits: ReadingLimits = field(default_factory=lambda: ReadingLimits(wall=60.0, cpu=20))

    def __post_init__(self) -> None:
        self._course = Course.at(self.root)
        exchange = exchange_folder(nbgrader_settings(self.root))
        if exchange is None:
            raise ValueError("the course has no exchange that is a folder")
        self._exchange = exchange
        self._settings: object = None
        self._notes_seen: object = None
        #: What was there when nothing waited, and until when nobody looks at all of it again.
        self._nothing_waits: object = None
        self._rest = 0.0
        self._notes: list[HandInNote] = []
        self._kept: dict[str, JudgedHandIns] = {}
        self._open: dict[str, _OpenLab] = {}
        self._scratch = own_folder("told")

    def close(self) -> None:
        """End the readers."""
        for each in self._open.values():
            each.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def look(self) -> int:
        """Judge some of what waits, one hand-in of each student at most; return how many."""
        self._follow_course()
        there = self._settings, signature_of(notes_beside(self._course.home))
        if there == self._nothing_waits and monotonic() < self._rest:
            return 0
        by_lab: dict[str, list[HandInNote]] = {}
        for note in self.waiting():
            by_lab.setdefault(note.lab, []).append(note)
        if not by_lab:
            self._nothing_waits, self._rest = there, monotonic() + _REST
        problems = []
        done = 0
        for lab, notes in by_lab.items():
            try:
                done += self._judge(lab, notes)
            except ValueError as problem:  # of a lab that cannot be graded; others can
                problems.append(f"{lab}: {problem}")
        if problems and not done:
            raise ValueError("; ".join(problems))
        return done

    # What waits.

    def _follow_course(self) -> None:
        found = signature_of(self._course.home / "assignments" / COURSE_SETTINGS)
        if found != self._settings:
            self._course, self._settings = Course.at(self.root), found

    def _kept_of(self, lab: str, student: str) -> StudentHandIns:
        kept = self._kept.setdefault(lab, JudgedHandIns(self._course.home, lab))
        return kept.of_student(student)

    def waiting(self) -> Iterator[HandInNote]:
        """Yield the hand-in of each student and lab that is to be judged next."""
        notes = notes_beside(self._course.home)
        if (found := signature_of(notes)) != self._notes_seen:
            self._notes, self._notes_seen = list(read_notes(notes)), found
        of: dict[tuple[str, str], list[HandInNote]] = {}
        for note in self._notes:
            of.setdefault((note.lab, note.student), []).append(note)
        for (lab, student), theirs in of.items():
            if lab not in self._course.calendar.labs and not self._has(lab):
                continue
            known = self._kept_of(lab, student).folders
            last = max((k for k, note in enumerate(theirs) if note.folder in known), default=-1)
            dates = self._course.calendar.dates(lab, student)
            following = _next(theirs[last + 1 :], dates, self.now())
            if following is not None:
                yield following

    def _has(self, lab: str) -> bool:
        # A student names the folder in the exchange.
        return "/" not in lab and (self._course.home / "assignments" / lab).is_dir()

    # Judging.

    def _judge(self, name: str, notes: list[HandInNote]) -> int:
        opened = self._opened(name)
        waiting, turns = deque(notes), Counter[str]()

        def ask(note: HandInNote) -> ReaderMessage | str | None:
            dates = self._course.calendar.dates(name, note.student)
            if dates.is_closed(note.noted):
                return _CLOSED
            turn = turns[note.folder] if waiting else None
            return self._ask(opened, note, dates, turn)

        found: list[tuple[HandInNote, JudgedSubmission | str]] = []
        done = 0
        for note, reply in map_bounded(ask, waiting, lambda: 2 * opened.readers.count):
            if reply is None:
                turns[note.folder] += 1
                waiting.append(note)
                continue
            later = TO_RUN if isinstance(reply, MustRun) else LATER
            found.append((note, reply if isinstance(reply, JudgedSubmission | str) else later))
            if len(found) >= _BATCH or not waiting:
                done += len(found)
                self._keep(opened, found)
                found = []
        done += len(found)
        self._keep(opened, found)
        return done

    def _ask(
        self, opened: _OpenLab, note: HandInNote, dates: LabDates, turn: int | None
    ) -> ReaderMessage | str | None:
        fresh = Path(tempfile.mkdtemp(dir=self._scratch)) / "fresh"
        chance, before = dates.second_chance, opened.lab.told.of_student(note.student)
        shares = {
            name: chance.share for name, told in before.since.items()
            if chance and chance.is_open(dates.due, note.noted)
            and datetime.fromisoformat(told) <= note.noted
        }  # fmt: skip
        heads = (note.head,) if note.head else ()
        run, inbound = fresh.parent / "run", self._exchange / "inbound"
        request = JudgeHandIn(
            note.student, fresh, heads, run, inbound, note.folder, shares, told=before.answers
        )  # fmt: skip
        try:
            return opened.readers.ask(request, turn=turn)
        except PutOff:
            return None
        except CannotRead:
            return LATER
        finally:
            shutil.rmtree(fresh.parent, ignore_errors=True)

    def _opened(self, name: str) -> _OpenLab:
        """Return the lab as it is now; with readers that know it."""
        home = self._course.home
        signature = (
            self._settings,
            *(signature_of(path) for path in sorted((home / "assignments" / name).glob("*"))),
            *(signature_of(home / each / name) for each in ("source", "release")),
            *(signature_of(path) for path in sorted((home / "release" / name).glob("*.ipynb"))),
        )
        known = self._open.get(name)
        if known is not None and known.signature == signature:
            return known
        if known is not None:
            self._open.pop(name).close()
        lab = LabToGrade.of(self._course, name)
        usual = lab.marking.rehearse(self._scratch / "rehearsal")
        readers = Readers(lab.marking, self.readers, self._scratch, self.limits, usual)
        history, log = GradeHistory(home, name), GradedLog(home, name)
        self._open[name] = _OpenLab(lab, readers, history, log, signature)
        return self._open[name]

    # Keeping it.

    def _keep(
        self, opened: _OpenLab, found: list[tuple[HandInNote, JudgedSubmission | str]]
    ) -> None:
        """Write the gradebook, and then what the students are told."""
        # Somebody may have been forgotten, or renamed, since the judge looked.
        noted = {note.folder for note in read_notes(notes_beside(self._course.home))}
        found = [(note, reply) for note, reply in found if note.folder in noted]
        if not found:
            return
        told = opened.lab.told
        lines = []
        with ExitStack() as stack:
            with suppress(ValueError):  # `mlsys grade` runs, and records what it finds changed
                stack.enter_context(opened.log.alone())
                book = opened.lab.gradebook
                stack.enter_context(opened.history.during(GRADED, _WHY, book.grades))
            for note, reply in found:
                why = reply if isinstance(reply, str) else ""
                if isinstance(reply, JudgedSubmission):
                    try:
                        opened.lab.gradebook.write(reply.entry)
                    except EntryRefused:
                        why = LATER
                before = told.of_student(note.student)
                lines.append(self._line(opened, note, reply, why, before))
        told.add(lines)
        if any(line.seconds for line in lines):
            with suppress(ValueError), opened.log.alone():  # or `mlsys grade` does it
                opened.history.notice_second_chances(told.with_second_chance())

    def _line(
        self,
        opened: _OpenLab,
        note: HandInNote,
        reply: JudgedSubmission | str,
        why: str,
        before: StudentHandIns,
    ) -> JudgedHandIn:
        answers: dict[str, JudgedAnswer] = {}
        seconds: dict[str, SecondAnswer] = {}
        if isinstance(reply, JudgedSubmission) and not why:
            answers = first_judged(reply, before)
            for score in reply.graded.scores:
                known = before.answers.get(score.name)
                if score.second and known and known.second is None:
                    seconds[score.name] = score.second
            practice = any(flag.kind is FlagKind.PRACTICE for flag in reply.graded.flags)
            later = NOT_GRADED if practice else ""
            told = report_on(self._course, opened.lab.marking, reply, self.now(), later)
        else:
            last: Mapping[str, Any] = before.last.told if before.last else {}
            owner = self._course.people.worked_as(note.student, None)
            told = nothing_told(note.lab, owner, last, why)
        judged = self.now().isoformat()
        return JudgedHandIn(
            note.student, note.folder, note.says, judged, note.head, answers, seconds, told
        )


def _next(notes: list[HandInNote], dates: LabDates, now: datetime) -> HandInNote | None:
    """Return the first of these hand-ins that is told about now; `None` if none is."""
    if not notes or not dates.tells_at_once(now):
        return None
    if dates.feedback == "at hand-in" or dates.due is None:
        return notes[0]
    # Nobody was told before, so the last one in time is the one that counts.
    in_time = [note for note in notes if note.noted <= dates.due]
    return in_time[-1] if in_time else notes[0]
