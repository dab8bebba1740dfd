"""Builds ``source/`` and ``release/`` from ``assignments/``, the same to the byte every time."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import nbformat

from mlsys_widgets.authoring.environment import environment_variables
from mlsys_widgets.authoring.hidden_tests import CheckSource
from mlsys_widgets.authoring.lab_dates import write_lab_dates
from mlsys_widgets.authoring.notebook import CHECKED, VARIES, Notebook
from mlsys_widgets.authoring.practice_copies import turn_into_practice
from mlsys_widgets.authoring.release import generate_release
from mlsys_widgets.authoring.start_page import write_start_page
from mlsys_widgets.authoring.text import TextError, read
from mlsys_widgets.authoring.traveling_files import traveling
from mlsys_widgets.authoring.version_keeper import keep_version
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.lab_versions import STAMP, version_in
from mlsys_widgets.files import ASKS, CHECKS, LAB_TEXT, LEDGER, NBGRADER_CONFIG
from mlsys_widgets.labs import load
from mlsys_widgets.labs.identity import INSTRUCTOR, VARIABLE
from mlsys_widgets.labs.lab import LabMistake, mistake_in, module_at
from mlsys_widgets.labs.lab_modules import modules_beside

#: Another one in every run, which nbval does not compare.
_WIDGET: Final = "application/vnd.jupyter.widget-view+json"
#: What an author writes into a cell whose output depends on the time or the machine.
_VARIES: Final = "# NBVAL_IGNORE_OUTPUT"
_STEPS: Final = ("source", "release")


def labs_of(course: Course) -> list[str]:
    """The labs of a course, in order: the folders of ``assignments/`` with a ``lab.py``.

    Examples
    --------
    >>> from mlsys_widgets.authoring import new_lab
    >>> for name in ("lab_02_caches", "lab_01_latency"):
    ...     _ = new_lab(folder, name)
    >>> labs_of(Course.at(folder))
    ['lab_01_latency', 'lab_02_caches']
    """
    return sorted(path.parent.name for path in course.root.glob("assignments/*/lab.py"))


def build(
    course: Course,
    labs: Sequence[str] = (),
    *,
    into: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Build labs, all of them if you name none. Both notebooks of a lab change, or neither does.

    The folder ``into`` gets ``source/`` and ``release/``; the course's own by default. `TextError`
    has the file and the line to fix: a mistake in its files, or a solution that fails or does not
    earn all of its points.

    Examples
    --------
    Building runs the solution in a kernel, which takes some seconds for each lab. What is wrong
    with its files is said before that, at the line where its author made the mistake:

    >>> from mlsys_widgets.authoring import new_lab
    >>> home = new_lab(folder, "lab_02_caches")
    >>> _ = (home / "asks.py").write_text("from mlsys_widgets.labs import Lab, Numbers")
    >>> build(Course.at(folder), say=print)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    mlsys_widgets.authoring.text.TextError: .../lab_02_caches/asks.py, line 1: ImportError: cannot
    import name 'Numbers' from 'mlsys_widgets.labs' (...)
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
                    " goes to students; move it elsewhere, and try labs in a copy"
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
            if course.is_practice(lab):
                turn_into_practice(course, lab, workshop / "release" / lab)
            stamp(lab, workshop)
            for step in _STEPS:
                target = (into or course.root) / step / lab
                _replace(workshop / step / lab, target)
                made.append(target / f"{lab}.ipynb")
        if into is None:
            keep_version(course, lab)
    if made:
        release = (into or course.root) / "release"
        write_lab_dates(course.calendar, release, known)
        write_start_page(release)
    return made


def _write_source(course: Course, lab: str, workshop: Path) -> None:
    home, folder = course.folder("assignments", lab), workshop / "source" / lab
    _refuse_names_of_python(home)
    with _blaming(home):
        declared = load(home)
        if declared.name != lab:
            raise TextError(f"{home / 'asks.py'} declares {declared.name!r}; it must be {lab!r}")
        notebook = Notebook(declared, CheckSource(home / CHECKS), course)
        book = notebook.make(read(home / LAB_TEXT))
        _refuse_modules_of_checks(home)
        module_at(home / CHECKS)  # as the grader will
    folder.mkdir(parents=True)
    # nbgrader copies them to students and over their submissions, so both get the same files.
    for name, code in traveling(home, lab).items():
        (folder / name).write_text(code, "utf-8")
    _write(book, folder / f"{lab}.ipynb")


def _refuse_names_of_python(home: Path) -> None:
    """A module finds Python's own of its name here, and hides it in a student's notebook."""
    for path in sorted(home.glob("*.py")):
        if path.stem in sys.stdlib_module_names:
            raise TextError(
                f"{path} has the name of a module of Python's standard library, so an import of"
                f" {path.stem} could mean either; rename it, to lab_{path.name} for example"
            )


def _refuse_modules_of_checks(home: Path) -> None:
    """Hidden tests run beside the files that students have, and beside no others."""
    travels = modules_beside(home, ASKS, LAB_TEXT)
    for name in modules_beside(home, CHECKS):
        if name not in travels and f"{name}.py" not in (ASKS, LAB_TEXT):
            raise TextError(
                f"{home / CHECKS} imports {name}.py, which students do not get, so a hidden test"
                f" could not run. Checks may import from {ASKS}, from modules that {ASKS} or"
                f" {LAB_TEXT} import too, and from installed packages; move the rest into {CHECKS}"
            )


@contextmanager
def _blaming(home: Path) -> Iterator[None]:
    """Point at the line of an author's file where a mistake is, not at where we noticed it."""
    try:
        yield
    except TextError:
        raise
    except LabMistake as problem:
        raise TextError(str(problem)) from problem
    except Exception as problem:
        raise TextError(mistake_in(home, problem)) from problem


def _write(book: nbformat.NotebookNode, path: Path) -> None:
    nbformat.validate(book)
    # Sorted keys and a final line end, as nbformat itself writes them.
    path.write_text(nbformat.writes(book) + "\n", "utf-8")


def _run(path: Path) -> None:
    """Run the solution as its instructor will, and keep what the cells show for nbval."""
    from nbclient import NotebookClient

    book = nbformat.read(path, 4)
    metadata = deepcopy(book.metadata)
    with TemporaryDirectory() as aside:
        # A course of its own: its place in source/ makes a notebook the instructor's.
        (Path(aside) / NBGRADER_CONFIG).touch()
        here = Path(shutil.copytree(path.parent, Path(aside) / "source" / path.parent.name))
        with environment_variables({VARIABLE: None, "NBGRADER_EXECUTION": None}):
            client = NotebookClient(
                book, timeout=120, allow_errors=True, resources={"metadata": {"path": str(here)}}
            )
            # What a kernel remarks on its terminal does not concern whoever builds a lab.
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
            if "data" in output:
                output.data.pop(_WIDGET, None)
                output.metadata = {}
        _require_all_points(path.stem, cell)
        varies = VARIES in cell.metadata.get("tags", ()) or _VARIES in cell.source
        cell.outputs = [] if varies else _joined(cell.outputs)
        # nbval refuses outputs of a cell that never ran; any execution count will do.
        cell.execution_count = None if varies else 1
        cell.metadata.pop("execution", None)
    book.metadata = metadata  # without the state of widgets and the version of this Python
    _write(book, path)


def _joined(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Join neighboring pieces of one stream: a busy machine sends one print in several."""
    kept: list[nbformat.NotebookNode] = []
    for output in outputs:
        last = kept[-1] if kept else None
        # Only streams have names.
        if last is not None and "name" in last and last.name == output.get("name"):
            last.text += output.text
        else:
            kept.append(output)
    return kept


def _require_all_points(lab: str, cell: nbformat.NotebookNode) -> None:
    """Refuse a solution that does not earn all points from its own check."""
    points = cell.metadata.get("nbgrader", {}).get("points")
    if CHECKED not in cell.metadata.get("tags", ()) or points is None:
        return
    earned = [o.data["text/plain"] for o in cell.outputs if o.output_type == "execute_result"]
    if [float(each) for each in earned] != [float(points)]:
        feedback = "".join(o.text for o in cell.outputs if o.output_type == "stream").strip()
        raise TextError(
            f"{lab}: the solution of {cell.metadata.nbgrader.grade_id} is not right: {feedback}\n"
            f"It ran with the numbers of {INSTRUCTOR!r}; a solution must take its numbers from"
            f" lab.p. To see these numbers and the key: mlsys variant {lab} {INSTRUCTOR}"
        )


def _release(course: Course, lab: str, workshop: Path) -> None:
    """Have nbgrader make the student's notebook, with the settings of the course."""
    db_url = f"sqlite:///{workshop / 'gradebook.db'}"
    generate_release(course, lab, root=workshop, db_url=db_url)
    for made in (workshop / "release" / lab).iterdir():
        # nbgrader makes what it releases read-only for others; git and copies want plain files.
        made.chmod(0o644)


def stamp(lab: str, workshop: Path) -> None:
    """Have both notebooks say which version they are: nbgrader's own release then says it too."""
    version = version_in(workshop / "release" / lab, lab)
    assert version is not None
    for step in _STEPS:
        path = workshop / step / lab / f"{lab}.ipynb"
        book = nbformat.read(path, 4)
        book.metadata.setdefault("mlsys", {})[STAMP] = version
        if step == "source":
            _write(book, path)
        else:
            path.write_text(nbformat.writes(book) + "\n", "utf-8")


def _replace(made: Path, target: Path) -> None:
    """Replace what is in the folder with what was built."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for old in target.glob("*") if target.exists() else ():
        if old.is_file() and not (made / old.name).exists():
            old.unlink()
    shutil.copytree(made, target, dirs_exist_ok=True, copy_function=shutil.copyfile)
