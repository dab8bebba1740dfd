"""Grading a class: who is to be graded, what each earned, and writing it down, one after another.

The only process that sees gradebook, checks and all submissions. It runs nothing of a student's.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat

from mlsys_widgets import __version__
from mlsys_widgets.files import TIMESTAMP, lay_out
from mlsys_widgets.grading.book import Book, Entry
from mlsys_widgets.grading.graded_log import Journal
from mlsys_widgets.grading.late_penalty import late_penalty
from mlsys_widgets.grading.loading import load_checks
from mlsys_widgets.grading.scoring import Judge, Score
from mlsys_widgets.grading.submissions import Submission, collect, students
from mlsys_widgets.labs import Lab, load
from mlsys_widgets.labs.course import Course
from mlsys_widgets.sandbox.engine import LOCAL, Engine
from mlsys_widgets.sandbox.isolation import Limits, visible
from mlsys_widgets.sandbox.sanitizing import checksum, flags, grade_id
from mlsys_widgets.sandbox.worker import FINISHED, LOST, Job, Ran

_ASSIGNMENTS, _SOURCE = "assignments", "source"


@dataclass(frozen=True)
class Graded:
    """One submission that is in the gradebook now.

    Parameters
    ----------
    student
        Whose.
    scores
        What each graded cell earned.
    remarks
        What was wrong with it and could be dealt with.
    flags
        What a TA should look at: a doubtful ledger, two verdicts, a run that did not end.
    seconds
        How long it ran.
    """

    student: str
    scores: tuple[Score, ...]
    remarks: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    seconds: float = 0.0

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


@dataclass(frozen=True)
class Plan:
    """What is graded, and how.

    Parameters
    ----------
    root
        The folder of the course.
    lab
        The lab.
    students
        A pattern that names must fit.
    engine, workers
        Where submissions run, and how many at a time.
    isolate
        Whether they are shut in.
    resume
        Leave out what an interrupted run has graded, if nothing of it has changed.
    force
        Grade everything again.
    variants, edition
        As the course builds its labs.
    """

    root: Path
    lab: str
    students: str = "*"
    engine: str = LOCAL
    workers: int | None = None
    isolate: bool = True
    resume: bool = False
    force: bool = False
    variants: bool = True
    edition: str = ""
    limits: Limits = field(default_factory=Limits)


class CannotGrade(ValueError):
    """A class that cannot be graded as it is, and what to do about it."""


class Class:
    """The submissions of one lab, about to be graded.

    Parameters
    ----------
    plan
        What, and how.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._course = Course(plan.root)
        home = self._course.home / _ASSIGNMENTS / plan.lab
        if not home.is_dir():
            raise CannotGrade(
                f"there is no {_ASSIGNMENTS}/{plan.lab} in {plan.root}; grade in the folder of the"
                " course, where the lab's checks are"
            )
        self._lab: Lab = load(home)
        self._judge = Judge(
            self._lab, load_checks(home), variants=plan.variants, edition=plan.edition
        )
        self._book = Book(self._course.db_url, plan.lab, late_penalty(self._course))
        self._journal = Journal(self._course.home, plan.lab)
        self._given = _files_of(self._course.home / _SOURCE / plan.lab)
        self._version = _digest_of(home, repr(self._book.blueprint))
        if plan.isolate and plan.engine == LOCAL:
            self._look_where_it_lies()
        self.students = self._to_grade()

    def _look_where_it_lies(self) -> None:
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
            done = self._journal.read()
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

    def grade(self, on_start: Callable[[int], None] = lambda _: None) -> Iterator[Graded]:
        """Grade, and give each submission when it is in the gradebook.

        Parameters
        ----------
        on_start
            Called with the number of submissions that run at a time, when the first one can.
        """
        with self._journal.alone():
            yield from self._grade(on_start)

    def _grade(self, on_start: Callable[[int], None]) -> Iterator[Graded]:
        engine = Engine(self._plan.engine, self._plan.workers)
        try:
            reason = engine.why_not_isolated()
            if self._plan.isolate and reason:
                raise CannotGrade(
                    f"submissions cannot be shut in here: {reason}. Student code would see and"
                    " change everything you can. To grade all the same: --sandbox none"
                )
            on_start(engine.slots)
            handed_in: dict[str, Submission] = {}
            for ran in engine.run(self._jobs(handed_in), self._book.blueprint):
                yield self._write(handed_in.pop(ran.student), ran)
        finally:
            engine.close()
            self._book.close()

    def _jobs(self, handed_in: dict[str, Submission]) -> Iterator[Job]:
        limits = replace(self._plan.limits, cell=self._course.cell_seconds)
        for student in self.students:
            submission = collect(self._course, self._plan.lab, student)
            handed_in[student] = submission
            files = self._with_given(submission)
            yield Job(student, self._plan.lab, files, self._plan.isolate, limits)

    def _with_given(self, submission: Submission) -> dict[str, bytes]:
        """The files of a submission with those of the instructor put over them."""
        taken = {f"{name}/" for name in self._given}
        taken |= {str(folder) for name in self._given for folder in Path(name).parents}
        kept = {
            name: content
            for name, content in submission.files.items()
            # A folder handed in where a file was given, or a file where a folder was.
            if name not in taken and not any(f"{p}/" in taken for p in Path(name).parents)
        }
        return {**kept, **self._given}

    def _write(self, submission: Submission, ran: Ran) -> Graded:
        if ran.ended == LOST:
            return self._not_graded(submission, ran, ran.remarks[0])
        try:
            graded, entry = self._judged(submission, ran)
        except Exception as problem:  # one submission that cannot be judged must not stop a class
            return self._not_graded(submission, ran, f"{type(problem).__name__}: {problem}")
        # In this order: what is in the gradebook and not yet in its folder is graded again by
        # whoever goes on from here.
        self._book.write(entry)
        self._write_files(submission, ran)
        self._journal.add({**asdict(graded), "digest": submission.digest, "version": self._version})
        return graded

    def _judged(self, submission: Submission, ran: Ran) -> tuple[Graded, Entry]:
        points = self._book.blueprint.graded
        cells = _cells_of(ran.notebook, {*points, *self._book.answer_cells})
        with TemporaryDirectory(prefix="mlsys-judge-") as aside:
            folder = Path(aside)
            lay_out(folder, self._with_given(submission))
            scores, doubts = self._judge.score(
                ran.student, {n: c for n, c in cells.items() if n in points}, points, ran.answers,
                folder,
            )  # fmt: skip
        graded = Graded(
            ran.student,
            tuple(scores),
            remarks=_readable((*submission.remarks, *ran.remarks)),
            flags=_readable(_flags(ran, scores, doubts)),
            seconds=ran.seconds,
        )
        written = {n: c for n, c in cells.items() if n in self._book.answer_cells}
        same = [n for n, c in written.items() if flags(c).get("checksum") == checksum(c)]
        entry = Entry(
            ran.student,
            submission.timestamp,
            scores,
            no_response=same,
            answered=[n for n in written if n not in same],
        )
        return graded, entry

    def _not_graded(self, submission: Submission, ran: Ran, why: str) -> Graded:
        """Nothing is written, so that the next run finds it as new as it was."""
        said = f"not graded: {why}"
        remarks = (*submission.remarks, *ran.remarks)
        return Graded(ran.student, (), _readable(remarks), _readable((said,)), ran.seconds)

    def _write_files(self, submission: Submission, ran: Ran) -> None:
        """Put the autograded submission where formgrader looks for it: all of it, or nothing."""
        name = f"{self._plan.lab}.ipynb"
        target = self._course.work("autograded", ran.student, self._plan.lab)
        # As nbgrader has it, no notebook but the lab's: its other commands would stop at them.
        given = self._with_given(submission)
        files = {each: content for each, content in given.items() if Path(each).suffix != ".ipynb"}
        files[name] = (ran.notebook or _instead(ran)).encode("utf-8", "replace")
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(f".{target.name}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        lay_out(fresh, files, mode=self._course.permissions)
        old = target.with_name(f".{target.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        with suppress(FileNotFoundError):
            target.rename(old)
        fresh.rename(target)
        shutil.rmtree(old, ignore_errors=True)


def _instead(ran: Ran) -> str:
    """A notebook that says why there is none, for formgrader and for feedback."""
    said = f"**This notebook could not be graded**: {'; '.join(_readable(ran.remarks))}."
    cell = nbformat.v4.new_markdown_cell(said, id="why")
    return nbformat.writes(nbformat.v4.new_notebook(cells=[cell])) + "\n"


def _cells_of(notebook: str, names: Set[str]) -> dict[str | None, Any]:
    """Some cells of a notebook that a worker has put together; the others are never looked at."""
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


def _flags(ran: Ran, scores: list[Score], doubts: list[str]) -> Iterator[str]:
    if ran.ended != FINISHED:
        yield f"did not run to its end: {ran.ended}"
    for name in ran.missing:
        yield f"the graded cell {name} is missing"
    for score in scores:
        if score.by_notebook is not None:
            yield (
                f"{score.name}: {score.auto:g} points here, {score.by_notebook:g} by the notebook's"
                " own test"
            )
    yield from (f"ledger: {doubt}" for doubt in doubts)


def _files_of(folder: Path) -> dict[str, bytes]:
    """What the instructor released beside the notebook; it is put over what was handed in."""
    if not folder.is_dir():
        return {}
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in (".ipynb", ".pyc")
    }


def _readable(remarks: Iterable[str]) -> tuple[str, ...]:
    """Remarks for a terminal: what students wrote in them moves no cursor and fits on a line."""
    shown = (
        "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in r) for r in remarks
    )
    return tuple(dict.fromkeys(words[:300] for words in shown))


def _digest_of(folder: Path, more: str) -> str:
    digest = hashlib.sha256(f"{__version__}\x00{more}\x00".encode())
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + b"\x00" + path.read_bytes())
    return digest.hexdigest()
