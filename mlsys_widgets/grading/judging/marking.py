"""What a reader does with one submission: it reads and judges it, and lays out what is kept.

Everything in here runs in a limited process of its own. What it returns is small and plain; what
is large lies in files, whose names the coordinator knows.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, Final

import nbformat

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import LEDGER, lay_out
from mlsys_widgets.grading.feedback.blind import make_blind
from mlsys_widgets.grading.feedback.inert import make_inert
from mlsys_widgets.grading.gradebook.autograded import lay_out_fresh, replacement_notebook
from mlsys_widgets.grading.gradebook.gradebook_writer import GradebookEntry
from mlsys_widgets.grading.gradebook.graded_submission import BY_RECORD, RUN, GradedSubmission
from mlsys_widgets.grading.judging.by_record import (
    grades_no_code,
    result_by_record,
    saved_cells,
    why_run,
)
from mlsys_widgets.grading.judging.flags import Flag, FlagKind
from mlsys_widgets.grading.judging.lab_copies import Copies, EarlierVersion
from mlsys_widgets.grading.judging.outside_tests import place_verdicts, without_tests
from mlsys_widgets.grading.judging.own_measurement import asks_for_one, kept_timings
from mlsys_widgets.grading.judging.raised_flags import raise_flags, show_notes
from mlsys_widgets.grading.judging.scoring import Judge, Score
from mlsys_widgets.grading.messages import (
    DigestReply,
    DigestRequest,
    JudgeByRecord,
    JudgedSubmission,
    JudgeHandIn,
    JudgeRun,
    MustRun,
    PrepareRun,
    ReadyToRun,
)
from mlsys_widgets.grading.reading.hand_in_facts import HandInFacts
from mlsys_widgets.grading.reading.hand_in_time import HandInTime
from mlsys_widgets.grading.reading.ledger_heads import check_heads
from mlsys_widgets.grading.reading.ledger_origins import ledger_origin
from mlsys_widgets.grading.reading.ledger_record import LedgerRecord
from mlsys_widgets.grading.reading.practice_work import is_practice_work
from mlsys_widgets.grading.reading.readers import CannotRead, ReaderMessage
from mlsys_widgets.grading.reading.recorded_answers import (
    answers_in,
    notebook_of_essays,
    place_essays,
    recorded_answers,
    recorded_essays,
)
from mlsys_widgets.grading.reading.submissions import (
    Submission,
    collect,
    collect_handed_in,
    name_problem,
)
from mlsys_widgets.labs import Code, Item, Lab, Parameters
from mlsys_widgets.labs.practice import NOT_GRADED
from mlsys_widgets.notebooks.blueprint import Blueprint
from mlsys_widgets.notebooks.cell_metadata import cell_metadata, checksum, grade_id
from mlsys_widgets.notebooks.remarks import Remark, RemarkKind
from mlsys_widgets.sandbox.fork_client import child_content, split_report
from mlsys_widgets.sandbox.job import FINISHED, ChildReport
from mlsys_widgets.sandbox.worker import (
    NoUsableNotebook,
    RunnableNotebook,
    RunResult,
    apply_replies,
    apply_report,
    make_runnable,
)

#: In the folder of a submission that runs: what its child gets, what it reports, and the rest.
CONTENT, REPORT, _STATE = "content", "report", "state"
#: Remarks that are kept about one submission.
_MOST_REMARKS: Final = 50
#: Who hands in a blank notebook before anybody else is read.
_REHEARSING: Final = "rehearsing"
#: How the names of files end that may hold the notebook: then a person decides what counts.
_LIKE_NOTEBOOKS: Final = (".ipynb", ".ipynb.txt", ".ipynb.json", ".zip")


@dataclass(frozen=True)
class Marking:
    """What a reader knows before it reads: all that is the same for a whole class."""

    #: The course, the lab, and who decides.
    course: Course
    lab: Lab
    judge: Judge
    #: The notebook as it was released, hidden tests included.
    blueprint: Blueprint
    #: What each graded cell is worth, and the cells in which something is written.
    points: Mapping[str, float]
    answer_cells: frozenset[str]
    #: The instructor's files, which take the place of the student's.
    given: Mapping[str, bytes]
    #: The notebook as students get it; empty if the course has none.
    notebook: bytes = b""
    #: What is known of hand-ins besides what was handed in.
    facts: HandInFacts = field(default_factory=HandInFacts)
    #: The versions of the lab that a submission may be a copy of, and the same for each of those
    #: that were released before.
    copies: Copies = field(default_factory=Copies)
    earlier: Mapping[str, Marking] = field(default_factory=dict)
    #: Which version this is, and what a point of it is worth in the gradebook.
    version: str = ""
    scale: float = 1.0
    #: All cells of the gradebook that have points, also those that other versions have.
    graded_cells: frozenset[str] = frozenset()

    def with_earlier(self, versions: Iterable[EarlierVersion]) -> Marking:
        """Return the same, for a class in which some have earlier versions of the lab."""
        most = sum(self.points.values())
        earlier = {}
        for each in versions:
            own = sum(each.points.values())
            earlier[each.version] = replace(
                self, lab=each.lab, judge=each.judge, blueprint=each.blueprint, points=each.points,
                answer_cells=each.answer_cells, given=each.given, version=each.version,
                scale=most / own if own else 1.0,
            )  # fmt: skip
        return replace(self, earlier=earlier)

    def of_copy(self, submission: Submission, student: str) -> tuple[Marking, SubmissionNotes]:
        """Choose what judges a submission: the version of the lab that it is a copy of."""
        notebook = f"{self.lab.name}.ipynb"
        version, doubt = self.copies.of_submission(student, submission.files, notebook)
        notes = SubmissionNotes(submission.remarks, submission.digest, doubt)
        return self.earlier.get(version or "", self), notes

    def __call__(self, request: ReaderMessage) -> ReaderMessage:
        """Do what is asked for one student."""
        match request:
            case JudgeRun():
                state = RunState.load(request.place)
                return self.earlier.get(state.version, self)._judge_run(request, state)
            case DigestRequest():
                return DigestReply(self._collect(request.student).digest)
            case PrepareRun():
                submission = self._collect(request.student)
                marking, notes = self.of_copy(submission, request.student)
                return marking._prepare_run(request, submission, notes)
            case JudgeHandIn():
                place = request.inbound, request.folder
                submission = collect_handed_in(self.course, *place, self.lab.name, request.student)
                marking, notes = self.of_copy(submission, request.student)
                return marking._judge_by_record(request, submission, notes)
            case JudgeByRecord():
                submission = self._collect(request.student)
                marking, notes = self.of_copy(submission, request.student)
                return marking._judge_by_record(request, submission, notes)
        raise ValueError(f"nobody knows how to answer {type(request).__name__}")

    def _collect(self, student: str) -> Submission:
        if why := name_problem(student):
            raise CannotRead(why)
        return collect(self.course, self.lab.name, student)

    def precompute(self) -> None:
        """Work out what is the same for everybody, before readers are forked from this process."""
        _ = self.released, self.grades_no_code, self.blueprint.graded
        _ = [cell.visible for cell in self.blueprint.cells.values()]
        for each in self.earlier.values():
            each.precompute()

    def rehearse(self, fresh: Path) -> float:
        """Judge the notebook as it was released; return the processor time of that, or 0.

        What only the first submission would need, such as modules, is then there for all readers.
        """
        if not self.notebook or not self.grades_no_code:
            return 0.0
        blank = Submission(_REHEARSING, {f"{self.lab.name}.ipynb": self.notebook})
        seconds = 0.0
        with suppress(Exception):  # whatever it is, each submission will say it for itself
            for _ in range(2):
                began = process_time()
                marking, notes = self.of_copy(blank, _REHEARSING)
                request = JudgeByRecord(_REHEARSING, fresh, (), fresh / CONTENT)
                marking._judge_by_record(request, blank, notes)
                seconds = process_time() - began
        return seconds

    @cached_property
    def released(self) -> Blueprint:
        """The notebook as a child may see it."""
        return without_tests(self.blueprint, self.judge.judged)

    @cached_property
    def grades_no_code(self) -> bool:
        """Whether submissions can be judged by their records at all."""
        items = self.lab.items(self.lab.draw("", variants=False))
        return grades_no_code(self.blueprint, self.judge.judged, items)

    def _judge_by_record(
        self, request: JudgeByRecord, submission: Submission, notes: SubmissionNotes
    ) -> ReaderMessage:
        """Judge a submission if its notebook need not run; else say why it must.

        If functions have to be called, what their child gets is laid out.
        """
        if not self.grades_no_code:
            return MustRun("this version of the lab grades code")
        name = self.lab.name
        files, notes = self._completed(submission, notes)
        if is_practice_work(files, f"{name}.ipynb"):
            return self._of_practice(request, notes)
        try:
            runnable = make_runnable(name, files, self.released)
        except NoUsableNotebook as problem:
            return self._without_notebook(request, notes, files, problem)
        owner = self._worked_as(request.student, files.get(LEDGER))
        saved, items = saved_cells(files[f"{name}.ipynb"]), self._items(owner)
        with TemporaryDirectory(prefix="mlsys-ledger-") as aside:
            folder = Path(aside)
            # With those from before the lab was begun again.
            lay_out(folder, {n: each for n, each in files.items() if n.startswith(LEDGER)})
            ledger = self.judge.read_ledger(folder, owner, items)
            if ledger is None:
                return MustRun("the ledger cannot be read")
            if reason := why_run(items, self.blueprint, saved, runnable, ledger):
                return MustRun(reason)
            calls = self.judge.calls(owner, folder, answers_in(ledger), runs=False)
            result = result_by_record(request.student, items, saved, runnable, ledger)
            self._lay_out(request.fresh, files)
            if calls and not isinstance(request, JudgeHandIn):
                content = child_content(f"{owner}/{name}", {}, (), {}, {}, calls)
                return self._ready(request, content, RunState(
                    self.version, notes, runnable, tuple(calls), result
                ))  # fmt: skip
            return self._judge(request, notes, result, BY_RECORD, runnable.book, ledger)

    def _prepare_run(
        self, request: PrepareRun, submission: Submission, notes: SubmissionNotes
    ) -> ReaderMessage:
        """Lay out what a child gets, and what is needed when it has ended."""
        name = self.lab.name
        files, notes = self._completed(submission, notes)
        if is_practice_work(files, f"{name}.ipynb"):
            return self._of_practice(request, notes)
        try:
            runnable = make_runnable(name, files, self.released)
        except NoUsableNotebook as problem:
            return self._without_notebook(request, notes, files, problem)
        self._lay_out(request.fresh, files)
        beside = {n: content for n, content in files.items() if n != f"{name}.ipynb"}
        owner = self._worked_as(request.student, files.get(LEDGER))
        recorded = recorded_answers(request.fresh, self.lab, owner)
        calls = self.judge.calls(owner, request.fresh, recorded, runs=True)
        content = child_content(
            f"{owner}/{name}", beside, runnable.cells, runnable.read_after, runnable.hidden, calls
        )
        state = RunState(self.version, notes, runnable, tuple(calls))
        return self._ready(request, content, state, runnable.hidden)

    def _ready(
        self,
        request: JudgeByRecord,
        content: bytes,
        state: RunState,
        hidden: Mapping[int, str] | None = None,
    ) -> ReadyToRun:
        request.place.mkdir(mode=0o700, exist_ok=True)
        (request.place / CONTENT).write_bytes(content)
        state.save(request.place)
        return ReadyToRun(hidden or {})

    def _judge_run(self, request: JudgeRun, state: RunState) -> JudgedSubmission:
        """Judge what a child has reported."""
        told = (request.place / REPORT).read_bytes()
        lines, late = split_report(told, request.ending.late_from)
        report = ChildReport(lines, late, request.ending)
        notes = replace(state.notes, remarks=(*request.remarks, *state.notes.remarks))
        if state.recorded is not None:
            result = apply_replies(state.recorded, report, state.calls)
            return self._judge(request, notes, result, BY_RECORD, state.runnable.book)
        result = apply_report(request.student, state.runnable, report, state.calls)
        return self._judge(request, notes, result, RUN, state.runnable.book)

    def _of_practice(self, request: JudgeByRecord, notes: SubmissionNotes) -> JudgedSubmission:
        """Judge a copy for practice: nothing that was handed in counts, and somebody is told."""
        notes = replace(notes, doubt=None)  # it is a copy of no version that is graded
        remark = Remark(RemarkKind.PRACTICE, detail=NOT_GRADED.removesuffix("."))
        return self._without_notebook(request, notes, {}, NoUsableNotebook(FINISHED, remark))

    def _without_notebook(
        self,
        request: JudgeByRecord,
        notes: SubmissionNotes,
        files: Mapping[str, bytes],
        problem: NoUsableNotebook,
    ) -> JudgedSubmission:
        """Judge what there is besides the notebook."""
        self._lay_out(request.fresh, files)
        result = RunResult(request.student, ended=problem.ended, remarks=(problem.remark,))
        return self._judge(request, notes, result, BY_RECORD)

    def _worked_as(self, student: str, ledger: bytes | None) -> str:
        """Return whose numbers a student has: somebody who was renamed keeps those from before."""
        return self.course.people.worked_as(student, ledger)

    def _parameters(self, student: str) -> Parameters:
        course = self.course
        return self.lab.draw(student, variants=course.variants, edition=course.edition)

    def _items(self, student: str) -> Mapping[str, Item]:
        return self.lab.items(self._parameters(student))

    def _completed(
        self, submission: Submission, notes: SubmissionNotes
    ) -> tuple[dict[str, bytes], SubmissionNotes]:
        """Return the files of a submission with what the course adds, and the notes about it.

        Where the ledger was handed in alone, the released notebook takes the place of the one that
        is missing: the answers are in the ledger, and the notebook only shows them.
        """
        name = f"{self.lab.name}.ipynb"
        files = self._with_given(submission)
        # One that was handed in, and is too large or a link, is for a person to look at.
        some_notebook = any(each.casefold().endswith(_LIKE_NOTEBOOKS) for each in files) or any(
            remark.kind is RemarkKind.LEFT_OUT and remark.about == name for remark in notes.remarks
        )
        if self.notebook and LEDGER in files and not some_notebook:
            files[name] = self.notebook
            alone = Remark(RemarkKind.LEDGER_ALONE, name)
            notes = replace(notes, remarks=(*notes.remarks, alone))
        return files, notes

    def _with_given(self, submission: Submission) -> dict[str, bytes]:
        """Return the files of a submission, with the instructor's put over the student's."""
        taken = {f"{name}/" for name in self.given}
        taken |= {str(folder) for name in self.given for folder in Path(name).parents}
        kept = {
            name: content
            for name, content in submission.files.items()
            # A folder handed in where a file was given, or a file where a folder was.
            if name not in taken and not any(f"{p}/" in taken for p in Path(name).parents)
        }
        return {**kept, **self.given}

    def _lay_out(self, fresh: Path, files: Mapping[str, bytes]) -> None:
        # As nbgrader has it, no notebook but the lab's: its other commands would stop at them.
        # Nor a folder in its place, in which somebody may have handed in anything.
        inside = f"{self.lab.name}.ipynb/"
        kept = {
            name: content
            for name, content in files.items()
            if Path(name).suffix != ".ipynb" and not name.startswith(inside)
        }
        lay_out_fresh(fresh, kept, mode=self.course.permissions)

    def _judge(
        self,
        request: JudgeByRecord,
        notes: SubmissionNotes,
        result: RunResult,
        way: str,
        book: Any = None,
        ledger: LedgerRecord | None = None,
    ) -> JudgedSubmission:
        """Judge, write the notebook for people beside the other files, and tell the little else."""
        student, fresh = request.student, request.fresh
        record = fresh / LEDGER
        owner = self._worked_as(student, record.read_bytes() if record.is_file() else None)
        ledger = ledger or self.judge.read_ledger(fresh, owner, self._items(owner))
        essays = recorded_essays(fresh, self.lab, owner, ledger=ledger)
        if book is None:
            book = notebook_of_essays(self.blueprint, essays, result.remarks)
        else:
            place_essays(book.cells, essays)
        cells = {grade_id(cell) or "": cell for cell in book.cells} if book is not None else {}
        time = self.facts.time(fresh, student, last_saved=ledger.last_time if ledger else None)
        scores, doubts = self.judge.score(
            owner, {n: c for n, c in cells.items() if n in self.points}, self.points,
            result.answers, fresh, released=self.facts.released, handed_in=time.moment,
            ledger=ledger, told=request.told,
            shares=request.shares if isinstance(request, JudgeHandIn) else {},
        )  # fmt: skip
        if isinstance(request, JudgeHandIn):  # functions are called when the course is graded
            functions = {n for n, each in self._items(owner).items() if isinstance(each, Code)}
            uncalled = (functions & result.answers.keys()) - request.told.keys()
            scores = [score for score in scores if score.name not in uncalled]
        head, changes = check_heads(
            fresh, self.lab.name, owner, request.heads, noted=self.facts.of_student(student),
            zone=self.facts.zone, ledger=ledger.ledger if ledger else None,
        )  # fmt: skip
        found = [*_flags(result, scores), *doubts, *changes, *self._doubts(student, notes, time)]
        flags, remarks = raise_flags(found, (*notes.remarks, *result.remarks), scores)
        graded = GradedSubmission(
            student,
            tuple(_scaled(score, self.scale) for score in scores),
            remarks=remarks[:_MOST_REMARKS],
            flags=flags[:_MOST_REMARKS],
            seconds=result.seconds,
            way=way,
            version=self.version or self.copies.name,
        )
        self._write_notebook(fresh, book, graded, scores, result.remarks)
        return JudgedSubmission(
            graded,
            self._entry(graded, time.moment, cells),
            head,
            ledger_origin(fresh, self.lab, owner, ledger=ledger),
            notes.digest,
            dict(self._parameters(owner)),
            kept_timings(fresh) if asks_for_one(self._items(owner)) else "",
            result.own,
        )

    def _doubts(self, student: str, notes: SubmissionNotes, time: HandInTime) -> Iterator[Flag]:
        """Flag an uncertain version of the lab, an uncertain time, and one after the close."""
        if notes.doubt:
            yield notes.doubt
        if time.doubt:
            yield Flag(FlagKind.UNCERTAIN_TIME, detail=time.doubt)
        close = self.course.calendar.dates(self.lab.name, student).close
        if closed := self.facts.after_close(student, time.moment, close):
            yield Flag(FlagKind.AFTER_CLOSE, detail=closed)

    def _entry(
        self, graded: GradedSubmission, moment: datetime | None, cells: Mapping[str, Any]
    ) -> GradebookEntry:
        """Make the submission's entry in the gradebook."""
        written = {n: c for n, c in cells.items() if n in self.answer_cells}
        same = [n for n, c in written.items() if cell_metadata(c).get("checksum") == checksum(c)]
        answered = [n for n in written if n not in same]
        # What only other versions ask earns nothing, and waits for nobody.
        absent = [Score(n, 0.0, 0.0) for n in sorted(self.graded_cells - self.points.keys())]
        return GradebookEntry(graded.student, moment, [*graded.scores, *absent], same, answered)

    def _write_notebook(
        self,
        fresh: Path,
        book: Any,
        graded: GradedSubmission,
        scores: Sequence[Score],
        remarks: Iterable[Remark],
    ) -> None:
        """Write the notebook that people see, or one that says why there is none."""
        if book is None:
            book = replacement_notebook(remarks)
        else:
            place_verdicts(book.cells, self.blueprint, scores)
        show_notes(book, (*graded.flags, *graded.remarks))
        make_inert(book)
        make_blind(book, graded.student, self.lab.name)
        notebook = {f"{self.lab.name}.ipynb": _as_text(book).encode("utf-8", "replace")}
        lay_out(fresh, notebook, mode=self.course.permissions)


@dataclass(frozen=True)
class SubmissionNotes:
    """What is still needed of a submission, apart from its files, when it is judged."""

    #: What was odd about its files.
    remarks: tuple[Remark, ...]
    #: What tells it from others.
    digest: str
    #: What is doubtful about the version of the lab that it says it is.
    doubt: Flag | None


@dataclass(frozen=True)
class RunState(ReaderMessage):
    """What one reader leaves in a folder for the next, while a submission runs.

    It is as large as the notebook, so the coordinator never has it. Nobody but readers can reach
    the folder, so it is written as Python itself does it, a fourth of what JSON takes.
    """

    version: str
    notes: SubmissionNotes
    runnable: RunnableNotebook
    #: The names of the replies that are to come.
    calls: tuple[str, ...] = ()
    #: What the record says, if nothing runs but its functions.
    recorded: RunResult | None = None

    def save(self, place: Path) -> None:
        """Write it into the folder of the run."""
        (place / _STATE).write_bytes(marshal.dumps(self.as_data()))

    @classmethod
    def load(cls, place: Path) -> RunState:
        """Read what `save` wrote."""
        state = ReaderMessage.from_data(marshal.loads((place / _STATE).read_bytes()))
        assert isinstance(state, cls)
        book = nbformat.from_dict(state.runnable.book)
        return replace(state, runnable=replace(state.runnable, book=book))


def _scaled(score: Score, scale: float) -> Score:
    """Return what a cell earned, as it counts in a gradebook that knows another full score."""
    if scale == 1:
        return score
    auto = None if score.auto is None else round(score.auto * scale, 2)
    return replace(score, auto=auto, most=score.most * scale)


def _as_text(book: Any) -> str:
    """Return a notebook as a file, with a line for each cell.

    Not with nbformat, which takes ten times as long: what it would validate was checked output by
    output.
    """
    cells = ",\n".join(json.dumps(cell, ensure_ascii=False, sort_keys=True) for cell in book.cells)
    rest = {name: value for name, value in book.items() if name != "cells"}
    about = json.dumps(rest, ensure_ascii=False, sort_keys=True)
    return f'{{"cells": [\n{cells}\n],\n{about[1:]}\n'


def _flags(result: RunResult, scores: Sequence[Score]) -> Iterator[Flag]:
    if result.ended != FINISHED:
        yield Flag(FlagKind.NOT_FINISHED, detail=result.ended)
    for name in result.missing:
        yield Flag(FlagKind.MISSING_CELL, name)
    for score in scores:
        if score.by_notebook is not None:
            detail = (
                f"{score.auto:g} points here, {score.by_notebook:g} by nbgrader: its cell failed"
            )
            yield Flag(FlagKind.TWO_VERDICTS, score.name, detail)
