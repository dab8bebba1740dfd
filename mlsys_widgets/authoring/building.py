"""Making ``source/`` and ``release/`` from ``assignments/``, the same to the byte every time."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import nbformat

from mlsys_widgets.authoring.hidden import Checks
from mlsys_widgets.authoring.landing import write_landing
from mlsys_widgets.authoring.notebook import CHECKED, Notebook
from mlsys_widgets.authoring.text import TextError, read
from mlsys_widgets.files import ASKS, CHECKS, LAB_TEXT, LEDGER, NBGRADER_CONFIG
from mlsys_widgets.labs import load
from mlsys_widgets.labs.course import Course
from mlsys_widgets.labs.identity import VARIABLE

#: Whose numbers the outputs in ``source/`` show.
INSTRUCTOR: Final = "instructor"
_STEPS: Final = ("source", "release")


def labs_of(course: Course) -> list[str]:
    """The labs of a course, in order."""
    return sorted(path.parent.name for path in course.root.glob("assignments/*/lab.py"))


def build(
    course: Course,
    labs: Sequence[str] = (),
    *,
    into: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Build labs, all of them if none is named; either both notebooks of a lab change or none.

    Parameters
    ----------
    course
        Where the labs lie, and whether everyone has their own numbers.
    labs
        Which ones.
    into
        The folder in which ``source/`` and ``release/`` are made; that of the course if left out.
    say
        Told what is being done.

    Returns
    -------
    paths
        The notebooks that were made.
    """
    known = labs_of(course)
    for lab in labs:
        if lab not in known:
            listed = ", ".join(known) or "none yet"
            raise TextError(f"there is no lab {lab!r} in assignments/; there are: {listed}")
    for lab in labs or known:
        for step in _STEPS:
            ledger = (into or course.root) / step / lab / LEDGER
            if ledger.exists():
                raise TextError(
                    f"{ledger} is somebody's record of working there, and everything in that folder"
                    " goes to students; put it elsewhere, and try labs in a copy"
                )
    made = []
    for lab in labs or known:
        with TemporaryDirectory() as aside:
            workshop = Path(aside)
            say(f"{lab}: cells")
            _write_source(course, lab, workshop)
            say(f"{lab}: running the solution")
            _run(workshop / "source" / lab / f"{lab}.ipynb")
            say(f"{lab}: release")
            _release(course, lab, workshop)
            for step in _STEPS:
                target = (into or course.root) / step / lab
                _replace(workshop / step / lab, target)
                made.append(target / f"{lab}.ipynb")
    if made:
        write_landing((into or course.root) / "release")
    return made


def _write_source(course: Course, lab: str, workshop: Path) -> None:
    home, folder = course.folder("assignments", lab), workshop / "source" / lab
    with _blaming(home):
        declared = load(home)
        if declared.name != lab:
            raise TextError(f"{home / 'asks.py'} declares {declared.name!r}; it must be {lab!r}")
        notebook = Notebook(declared, Checks(home / CHECKS), course)
        book = notebook.make(read(home / LAB_TEXT))
    folder.mkdir(parents=True)
    shutil.copyfile(home / ASKS, folder / ASKS)
    _write(book, folder / f"{lab}.ipynb")


@contextmanager
def _blaming(home: Path) -> Iterator[None]:
    """Say of a mistake in an author's file where it is, instead of where it was noticed."""
    try:
        yield
    except TextError:
        raise
    except SyntaxError as problem:
        file = home / Path(problem.filename or "").name
        raise TextError(f"{file}, line {problem.lineno}: {problem.msg}") from problem
    except Exception as problem:
        calls = traceback.extract_tb(problem.__traceback__)
        theirs = [call for call in calls if Path(call.filename).parent == home.resolve()]
        where = (
            f"{home / Path(theirs[-1].filename).name}, line {theirs[-1].lineno}: " if theirs else ""
        )
        raise TextError(f"{where}{type(problem).__name__}: {problem}") from problem


def _write(book: nbformat.NotebookNode, path: Path) -> None:
    nbformat.validate(book)
    # Sorted keys, and a line end at the end, as nbformat writes by itself.
    path.write_text(nbformat.writes(book) + "\n", "utf-8")


def _run(path: Path) -> None:
    """Run the solution as its instructor, and keep what graded cells print for nbval."""
    from nbclient import NotebookClient

    book = nbformat.read(path, 4)
    metadata = deepcopy(book.metadata)
    with TemporaryDirectory() as aside:  # the ledger of this run stays behind
        here = Path(shutil.copytree(path.parent, Path(aside) / path.parent.name))
        for name, example in load(here).examples.items():
            (here / name).write_bytes(example())
        with _environment({VARIABLE: INSTRUCTOR, "NBGRADER_EXECUTION": None}):
            client = NotebookClient(
                book, timeout=120, allow_errors=True, resources={"metadata": {"path": str(here)}}
            )
            # A kernel's own remarks to its terminal are not for whoever builds a lab.
            client.execute(stderr=subprocess.DEVNULL)
    for cell in book.cells:
        if cell.cell_type != "code":
            continue
        for output in cell.outputs:
            if output.output_type == "error":
                raise TextError(
                    f"{path.stem}: the cell {cell.id} fails when the solution is run:"
                    f" {output.ename}: {output.evalue}"
                )
            if output.output_type == "execute_result":
                output.execution_count = None
        _complain_of_lost_points(path.stem, cell)
        checked = CHECKED in cell.metadata.get("tags", ())
        cell.outputs = _joined(cell.outputs) if checked else []
        # nbval refuses outputs of a cell that was not run; which number it has is all the same.
        cell.execution_count = 1 if checked else None
        cell.metadata.pop("execution", None)
    book.metadata = metadata  # without the state of widgets and the version of this Python
    _write(book, path)


def _joined(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Outputs in which what was printed stands together: a busy machine sends it in pieces."""
    kept: list[nbformat.NotebookNode] = []
    for output in outputs:
        last = kept[-1] if kept else None
        if last is not None and "stream" == last.output_type == output.output_type:
            last.text += output.text
        else:
            kept.append(output)
    return kept


def _complain_of_lost_points(lab: str, cell: nbformat.NotebookNode) -> None:
    """Refuse a solution that its own check does not give all points."""
    points = cell.metadata.get("nbgrader", {}).get("points")
    if CHECKED not in cell.metadata.get("tags", ()) or points is None:
        return
    earned = [o.data["text/plain"] for o in cell.outputs if o.output_type == "execute_result"]
    if [float(each) for each in earned] != [float(points)]:
        said = "".join(o.text for o in cell.outputs if o.output_type == "stream").strip()
        raise TextError(
            f"{lab}: the solution of {cell.metadata.nbgrader.grade_id} is not right: {said}\n"
            f"It was run with the numbers of {INSTRUCTOR!r}; solutions take numbers from lab.p. To"
            f" see these numbers and the key: mlsys variant {lab} {INSTRUCTOR}"
        )


def _release(course: Course, lab: str, workshop: Path) -> None:
    """Have nbgrader make the student's notebook, with the settings of the course."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config
    from traitlets.config.loader import PyFileConfigLoader

    settings = course.root / NBGRADER_CONFIG
    config = PyFileConfigLoader(str(settings)).load_config() if settings.is_file() else Config()
    config.CourseDirectory.root = str(workshop)
    config.CourseDirectory.assignment_id = lab
    config.CourseDirectory.db_url = f"sqlite:///{workshop / 'gradebook.db'}"
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    converter.log.setLevel(logging.ERROR)
    # nbgrader runs alembic, which is installed beside this interpreter.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    with _environment({"PATH": path}):
        converter.start()
    released = workshop / "release" / lab
    for made in released.iterdir():
        # nbgrader makes what it releases read-only for others; git and copies want plain files.
        made.chmod(0o644)


def _replace(made: Path, target: Path) -> None:
    """Put what was made in place of what was there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for old in target.glob("*") if target.exists() else ():
        if old.is_file() and not (made / old.name).exists():
            old.unlink()
    shutil.copytree(made, target, dirs_exist_ok=True, copy_function=shutil.copyfile)


@contextmanager
def _environment(changes: dict[str, str | None]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in changes}
    _set(changes)
    try:
        yield
    finally:
        _set(before)


def _set(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
