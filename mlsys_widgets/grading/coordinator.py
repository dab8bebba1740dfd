"""Grading a class: which submissions to grade, what each one earned, and writing it all down.

This is the only process that sees the gradebook, the checks and all submissions, and it runs
nothing of a student's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat

from mlsys_widgets import __version__
from mlsys_widgets.files import LEDGER, TIMESTAMP, lay_out
from mlsys_widgets.grading.autograded import replacement_notebook, write_autograded
from mlsys_widgets.grading.checks_file import load_checks
from mlsys_widgets.grading.flags import Flag, FlagKind
from mlsys_widgets.grading.full_disk import is_full_disk
from mlsys_widgets.grading.gradebook_writer import Book, GradebookEntry
from mlsys_widgets.grading.graded_log import GradedLog
from mlsys_widgets.grading.graded_submission import GradedSubmission
from mlsys_widgets.grading.inert import make_inert
from mlsys_widgets.grading.late_penalty import late_penalty
from mlsys_widgets.grading.ledger_heads import check_heads
from mlsys_widgets.grading.outside_tests import place_verdicts, without_tests
from mlsys_widgets.grading.raised_flags import raise_flags, show_notes
from mlsys_widgets.grading.recorded_answers import place_essays, recorded_essays
from mlsys_widgets.grading.saved_essays import notebook_of_essays
from mlsys_widgets.grading.scoring import Judge, Score
from mlsys_widgets.grading.student_names import name_problem
from mlsys_widgets.grading.submissions import Submission, collect, students
from mlsys_widgets.labs import Lab, load
from mlsys_widgets.labs.course import Course
from mlsys_widgets.ledger import Head
from mlsys_widgets.sandbox.cell_metadata import cell_metadata, checksum, grade_id
from mlsys_widgets.sandbox.engine import LOCAL, Engine
from mlsys_widgets.sandbox.isolation import visible
from mlsys_widgets.sandbox.job import FINISHED, LOST, Job, RunResult
from mlsys_widgets.sandbox.limits import Limits

_ASSIGNMENTS, _SOURCE = "assignments", "source"


@dataclass(frozen=True)
class Plan:
    """What is graded, and how.

    Parameters
    ----------
    course
        The course.
    lab
        The lab.
    students
        A pattern that names must fit.
    engine, workers
        Where submissions run, and how many at a time.
    isolate
        Whether they are isolated from this machine.
    resume
        Leave out what an interrupted run has graded, if nothing of it has changed.
    force
        Grade everything again.
    limits
        What one submission may use.
    """

    course: Course
    lab: str
    students: str = "*"
    engine: str = LOCAL
    workers: int | None = None
    isolate: bool = True
    resume: bool = False
    force: bool = False
    limits: Limits = field(default_factory=Limits)


class CannotGrade(ValueError):
    """A class that cannot be graded as it is, and what to do about it."""


class GradingRun:
    """The submissions of one lab, about to be graded.

    Parameters
    ----------
    plan
        What, and how.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._course = course = plan.course
        home = self._course.home / _ASSIGNMENTS / plan.lab
        if not home.is_dir():
            raise CannotGrade(
                f"there is no {_ASSIGNMENTS}/{plan.lab} in {course.root}; grade in the folder of"
                " the course, where the lab's checks are"
            )
        self._lab: Lab = load(home)
        self._judge = Judge(
            self._lab, load_checks(home), variants=course.variants, edition=course.edition
        )
        self._book = Book(course.db_url, plan.lab, late_penalty(course))
        self._released = without_tests(self._book.blueprint, self._judge.judged)
        self._log = GradedLog(course.home, plan.lab)
        self._heads = self._log.heads()
        self._given = _files_of(self._course.home / _SOURCE / plan.lab)
        self._version = _digest_of(home, repr(self._book.blueprint))
        if plan.isolate and plan.engine == LOCAL:
            self._refuse_a_visible_course()
        self.students = self._to_grade()

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
        if plan.force:
            return names
        if plan.resume:
            done = self._log.read()
            return [name for name in names if not self._is_done(name, done.get(name))]
        return [name for name in names if self._is_new(name)]

    def _is_done(self, student: str, line: Mapping[str, Any] | None) -> bool:
        """Whether an interrupted run has graded this very submission with this very lab."""
        if line is None or line.get("version") != self._version:
            return False
        folder = self._course.work("autograded", student, self._plan.lab)
        handed_in = collect(self._course, self._plan.lab, student)
        return folder.is_dir() and line.get("digest") == handed_in.digest

    def _is_new(self, student: str) -> bool:
        """Nbgrader's rule: not graded yet, or handed in again since."""
        graded = self._course.work("autograded", student, self._plan.lab)
        if not graded.is_dir():
            return True
        old, new = (
            collect_time(self._course.work(step, student, self._plan.lab))
            for step in ("autograded", "submitted")
        )
        return old is not None and new is not None and new > old

    def grade(self, on_start: Callable[[int], None] = lambda _: None) -> Iterator[GradedSubmission]:
        """Grade, and yield each submission once it is in the gradebook.

        Parameters
        ----------
        on_start
            Called with the number of submissions that run at a time, when the first one can.
        """
        with self._log.alone():
            yield from self._grade(on_start)

    def _grade(self, on_start: Callable[[int], None]) -> Iterator[GradedSubmission]:
        engine = Engine(self._plan.engine, self._plan.workers)
        try:
            reason = engine.why_not_isolated()
            if self._plan.isolate and reason:
                raise CannotGrade(
                    f"submissions cannot be isolated here: {reason}. Student code would see and"
                    " change everything you can. To grade anyway: --sandbox none"
                )
            on_start(engine.slots)
            yield from self._refused_names()
            handed_in: dict[str, Submission] = {}
            for result in engine.run(self._jobs(handed_in), self._released):
                yield self._write(handed_in.pop(result.student), result)
        finally:
            engine.close()
            self._book.close()

    def _refused_names(self) -> Iterator[GradedSubmission]:
        """Those whose names no gradebook can hold; that is theirs alone."""
        for student in self.students:
            if why := name_problem(student):
                yield self._not_graded(Submission(student, {}), RunResult(student), why)

    def _jobs(self, handed_in: dict[str, Submission]) -> Iterator[Job]:
        limits = replace(self._plan.limits, cell=self._course.cell_seconds)
        for student in self.students:
            if name_problem(student):
                continue
            submission = collect(self._course, self._plan.lab, student)
            handed_in[student] = submission
            files = self._with_given(submission)
            yield Job(student, self._plan.lab, files, self._plan.isolate, limits)

    def _with_given(self, submission: Submission) -> dict[str, bytes]:
        """The files of a submission, with the instructor's files in place of the student's."""
        taken = {f"{name}/" for name in self._given}
        taken |= {str(folder) for name in self._given for folder in Path(name).parents}
        kept = {
            name: content
            for name, content in submission.files.items()
            # A folder handed in where a file was given, or a file where a folder was.
            if name not in taken and not any(f"{p}/" in taken for p in Path(name).parents)
        }
        return {**kept, **self._given}

    def _write(self, submission: Submission, result: RunResult) -> GradedSubmission:
        if result.ended == LOST:
            return self._not_graded(submission, result, result.remarks[0].sentence)
        try:
            result = self._with_essays(submission, result)
            graded, entry, head = self._judged(submission, result)
            result = self._as_people_see_it(result, graded)
        except Exception as problem:  # one submission that cannot be judged must not stop a class
            if is_full_disk(problem):
                raise
            return self._not_graded(submission, result, f"{type(problem).__name__}: {problem}")
        # In this order: what is in the gradebook and not yet in its folder is graded again by the
        # next run.
        graded = replace(graded, late=self._book.write(entry))
        self._write_files(submission, result)
        which = {"digest": submission.digest, "version": self._version}
        self._log.add(graded, head, which)
        return graded

    def _with_essays(self, submission: Submission, result: RunResult) -> RunResult:
        """Show essays, which are written in cards, where a person grades them."""
        if LEDGER not in submission.files:
            return result
        with TemporaryDirectory(prefix="mlsys-essays-") as aside:
            folder = Path(aside)
            lay_out(folder, {LEDGER: submission.files[LEDGER]})
            essays = recorded_essays(folder, self._lab, result.student)
        if not result.notebook:
            saved = notebook_of_essays(self._book.blueprint, essays, result.remarks)
            return replace(result, notebook=nbformat.writes(saved) + "\n") if saved else result
        if not essays:
            return result
        book = nbformat.v4.to_notebook_json(json.loads(result.notebook))
        place_essays(book.cells, essays)
        return replace(result, notebook=nbformat.v4.writes_json(book) + "\n")

    def _as_people_see_it(self, result: RunResult, graded: GradedSubmission) -> RunResult:
        """Write verdicts under the cells, and take out what a browser would run."""
        if not result.notebook:
            return result
        book = json.loads(result.notebook)
        place_verdicts(book["cells"], self._book.blueprint, graded.scores)
        show_notes(book, (*graded.flags, *graded.remarks))
        make_inert(book)
        shown = json.dumps(book, ensure_ascii=False, indent=1, sort_keys=True)
        return replace(result, notebook=f"{shown}\n")

    def _judged(
        self, submission: Submission, result: RunResult
    ) -> tuple[GradedSubmission, GradebookEntry, Head | None]:
        student, points = result.student, self._book.points
        cells = _cells_of(result.notebook, {*points, *self._book.answer_cells})
        with TemporaryDirectory(prefix="mlsys-judge-") as aside:
            folder = Path(aside)
            lay_out(folder, self._with_given(submission))
            scores, doubts = self._judge.score(
                student, {n: c for n, c in cells.items() if n in points}, points, result.answers,
                folder,
            )  # fmt: skip
            known = self._heads.get(student, ())
            head, changed = check_heads(folder, self._plan.lab, student, known)
        flags, remarks = raise_flags(
            _flags(result, scores, [*doubts, *changed]),
            (*submission.remarks, *result.remarks),
            scores,
        )
        graded = GradedSubmission(student, tuple(scores), remarks, flags, result.seconds)
        written = {n: c for n, c in cells.items() if n in self._book.answer_cells}
        same = [n for n, c in written.items() if cell_metadata(c).get("checksum") == checksum(c)]
        entry = GradebookEntry(
            student,
            submission.timestamp,
            scores,
            no_response=same,
            answered=[n for n in written if n not in same],
        )
        return graded, entry, head

    def _not_graded(self, submission: Submission, result: RunResult, why: str) -> GradedSubmission:
        """Write nothing, so that the next run finds the submission as new as it was."""
        remarks = (*submission.remarks, *result.remarks)
        flag = Flag(FlagKind.NOT_GRADED, detail=why)
        return GradedSubmission(result.student, (), remarks, (flag,), result.seconds)

    def _write_files(self, submission: Submission, result: RunResult) -> None:
        # As nbgrader has it, no notebook but the lab's: its other commands would stop at them.
        given = self._with_given(submission)
        files = {name: content for name, content in given.items() if Path(name).suffix != ".ipynb"}
        notebook = result.notebook or replacement_notebook(result.remarks)
        files[f"{self._plan.lab}.ipynb"] = notebook.encode("utf-8", "replace")
        target = self._course.work("autograded", result.student, self._plan.lab)
        write_autograded(target, files, mode=self._course.permissions)


def _cells_of(notebook: str, names: Set[str]) -> dict[str | None, Any]:
    """Pick some cells of a notebook that a worker has put together; the others are not read."""
    if not notebook:
        return {}
    raw = json.loads(notebook)
    raw["cells"] = [
        cell for cell in raw["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade_id") in names
    ]  # fmt: skip
    return {grade_id(cell): cell for cell in nbformat.v4.to_notebook_json(raw).cells}


def collect_time(folder: Path) -> Any:
    """When a submission was handed in, from its folder."""
    path = folder / TIMESTAMP
    content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    return Submission("", {TIMESTAMP: content}).timestamp


def _flags(result: RunResult, scores: Sequence[Score], doubts: Sequence[Flag]) -> Iterator[Flag]:
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
    yield from doubts


def _files_of(folder: Path) -> dict[str, bytes]:
    """Read what the instructor released beside the notebook; it replaces what was handed in."""
    if not folder.is_dir():
        return {}
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in (".ipynb", ".pyc")
    }


def _digest_of(folder: Path, more: str) -> str:
    digest = hashlib.sha256(f"{__version__}\x00{more}\x00".encode())
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + b"\x00" + path.read_bytes())
    return digest.hexdigest()
