"""A small course to grade in: made once, copied for each test that changes something in it."""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import nbformat
import pytest

from mlsys_widgets.authoring import new_lab
from mlsys_widgets.course.course import Course
from mlsys_widgets.files import LEDGER, StillHeld, acquire
from mlsys_widgets.grading import coordinator
from mlsys_widgets.grading.coordinator import GradingRun, Plan
from mlsys_widgets.grading.gradebook.graded_submission import GradedSubmission
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.sandbox.engine import LocalEngine
from mlsys_widgets.sandbox.limits import Limits
from tests.labs.rehearsal import Workshop, nbgrader, run_tool, typed, work_through

LAB = "lab_02_demo"
#: Enough for honest work on a busy machine, and soon over for what never ends.
LIMITS = Limits(cell=20, wall=40, cpu=30, memory=400_000_000, disk=20_000_000, output=3_000_000)
Change = Callable[[nbformat.NotebookNode, Path], None]


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """A folder that is made once for all processes of a test run, and removed by the last of them.

    Each process that uses it holds a shared lock; whoever can lock it alone at the end removes it.
    """
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    root = Path(tempfile.gettempdir()) / f"mlsys-{name}-{run}"
    root.mkdir(exist_ok=True)
    with (root / "making.lock").open("ab") as making:
        acquire(making.fileno(), patience=900)
        users = (root / "users.lock").open("ab")
        acquire(users.fileno(), shared=True)
        if not (root / "made").is_dir():
            (root / "part").mkdir()
            make(root / "part")
            (root / "part").rename(root / "made")
    atexit.register(_leave, root, users)
    return root / "made"


def _leave(root: Path, users: BinaryIO) -> None:
    with users, contextlib.suppress(StillHeld, OSError):
        acquire(users.fileno())
        shutil.rmtree(root, ignore_errors=True)


@functools.cache
def _original() -> Path:
    return made_once("classroom", _make)


def _make(root: Path) -> None:
    asks = new_lab(root, LAB) / "asks.py"
    # So small that the second question has one key: then everybody knows a wrong answer to it.
    text = asks.read_text("utf-8")
    assert "steps(128, 440, 8)" in text
    asks.write_text(text.replace("steps(128, 440, 8)", "steps(128, 288, 8)"), "utf-8")
    built = run_tool(root, "mlsys_widgets", "build", LAB)
    assert built.returncode == 0, built.stderr
    nbgrader(root, ["generate_assignment", LAB, "--force"])


def classroom(root: Path) -> Workshop:
    """A copy of the course, in a folder that does not exist or is empty."""
    shutil.copytree(_original(), root, dirs_exist_ok=True)
    return Workshop(root, LAB)


def hand_in(
    course: Workshop,
    student: str,
    change: Change = lambda *_: None,
    answers: Mapping[str, Any] | None = None,
    *,
    ledger: bool = False,
    essay: str = "",
    when: str = "2026-11-01 10:00:00.000000 UTC",
) -> Path:
    """Hand in the release with answers typed in, and whatever is changed about it."""
    folder = course.begin(student)
    if ledger:
        work_through(folder, student, course.course)
    book = typed(course.notebook("release"), answers or {})
    if essay:
        next(c for c in book.cells if c.id == "answer_advice").source = essay
    (folder / "timestamp.txt").write_text(when)
    change(book, folder)
    target = folder / f"{course.lab}.ipynb"
    if target.is_file() and target.read_bytes() == _release(course).read_bytes():
        target.write_text(json.dumps(book), "utf-8")  # as it is, valid or not
    return folder


def record(
    course: Workshop,
    student: str,
    answers: Mapping[str, Any] | None = None,
    change: Change = lambda *_: None,
) -> Path:
    """Hand in the release with answers entered in its cards, right ones unless others are given."""
    folder = hand_in(course, student, change, ledger=True)
    given = course.asked(student).right() if answers is None else answers
    ledger = Ledger.open(folder / LEDGER)
    for name, value in given.items():
        ledger.record_answer(name, value)
    (folder / "timestamp.txt").write_text(right_now())  # nothing is recorded after the hand-in
    return folder


def right_now() -> str:
    """The present as nbgrader writes it down."""
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f} UTC"


def _release(course: Workshop) -> Path:
    return course.root / "release" / course.lab / f"{course.lab}.ipynb"


def running(code: str, *, first: bool = False, cell_id: str = "mine") -> Change:
    """A change that puts a cell with code of the student's own below the one that opens the lab."""

    def change(book: nbformat.NotebookNode, _folder: Path) -> None:
        place = 0 if first else 1 + next(n for n, c in enumerate(book.cells) if c.id == "setup")
        book.cells.insert(place, nbformat.v4.new_code_cell(code, id=cell_id))

    return change


def grade(
    course: Workshop,
    *,
    limits: Limits = LIMITS,
    own_engine: bool = False,
    settings: bool = False,
    **more: Any,
) -> dict[str, GradedSubmission]:
    """Grade in this process; each submission by its student.

    Starting an engine takes seconds, so one is shared unless a test needs its own. The course's
    ``course.toml`` holds if ``settings`` says so.
    """
    found = Course.at(course.root) if settings else Course(course.root)
    plan = Plan(found, course.lab, limits=limits, **{"workers": 2, **more})
    engine = contextlib.nullcontext() if own_engine else shared_engine()
    with quiet(), engine:
        return {each.student: each for each in GradingRun(plan).grade()}


@contextlib.contextmanager
def shared_engine() -> Iterator[None]:
    """Have runs of this process use one engine, which stays open until `close_engine`."""
    if not _engines:
        _engines.append(LocalEngine(workers=2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coordinator, "open_engine", lambda *_, **__: _Lent(_engines[0]))
        yield


_engines: list[LocalEngine] = []


class _Lent:
    """An engine that whoever borrows it cannot close."""

    def __init__(self, engine: LocalEngine) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def close(self) -> None:
        pass


@atexit.register
def close_engine() -> None:
    """End the shared engine, if there is one."""
    with quiet():
        while _engines:
            _engines.pop().close()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Dask's own warnings, for example about a port in use, are not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def rows(root: Path) -> dict[str, list[tuple[Any, ...]]]:
    """The gradebook, without the ids that are drawn at random."""
    queries = {
        "submission": "select student_id, timestamp, extension from submitted_assignment",
        "notebook": (
            "select a.student_id, n.late_submission_penalty, n.flagged from submitted_notebook n"
            " join submitted_assignment a on n.assignment_id = a.id"
        ),
        "grade": (
            "select a.student_id, c.name, g.auto_score, g.manual_score, g.extra_credit,"
            " g.needs_manual_grade from grade g join submitted_notebook n on g.notebook_id = n.id"
            " join submitted_assignment a on n.assignment_id = a.id"
            " join base_cell c on c.id = g.cell_id"
        ),
        "comment": (
            "select a.student_id, c.name, k.auto_comment, k.manual_comment from comment k"
            " join submitted_notebook n on k.notebook_id = n.id"
            " join submitted_assignment a on n.assignment_id = a.id"
            " join base_cell c on c.id = k.cell_id"
        ),
        "student": "select id from student",
    }
    with contextlib.closing(sqlite3.connect(root / "gradebook.db")) as db:
        return {name: sorted(db.execute(q).fetchall(), key=repr) for name, q in queries.items()}


def of(student: str, found: Mapping[str, list[tuple[Any, ...]]]) -> dict[str, list[Any]]:
    """The rows of one student."""
    return {name: [row for row in all_ if row[0] == student] for name, all_ in found.items()}


def fingerprint(root: Path, *, without: tuple[str, ...] = ()) -> dict[str, str]:
    """Every file below a folder, by its content."""
    return {
        str(path.relative_to(root)): (
            f"-> {path.readlink()}" if path.is_symlink()
            else hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "special"
        )
        for path in sorted(root.rglob("*"))
        if (path.is_symlink() or not path.is_dir())
        and not str(path.relative_to(root)).startswith(without)
    }  # fmt: skip


def autograded(course: Workshop, student: str) -> nbformat.NotebookNode:
    """The notebook as formgrader shows it; valid, or this fails."""
    book = course.graded_work(student)
    nbformat.validate(book)
    return book


def shown(book: nbformat.NotebookNode, cell_id: str = "mine") -> str:
    """All that a cell put out, as text."""
    (cell,) = (c for c in book.cells if c.id == cell_id)
    parts = []
    for output in cell.outputs:
        parts += [output.get("text", ""), str(output.get("data", "")), output.get("evalue", "")]
    return "".join(parts)


def joined(cell: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A cell with neighboring outputs of one stream made one, as a kernel may split them."""
    outputs: list[Any] = []
    for output in cell.get("outputs", ()):
        last = outputs[-1] if outputs else {}
        if output.output_type == "stream" and last.get("name") == output.name:
            last["text"] += output.text
        else:
            outputs.append(output)
    if "outputs" in cell:
        cell.outputs = outputs
    return cell


def small(**changes: Any) -> Limits:
    """Limits with some changed."""
    return replace(LIMITS, **changes)
