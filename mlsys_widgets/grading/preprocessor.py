"""For nbgrader's own autograde, as behind formgrader's button: notebooks run fast and shut in.

With these lines in ``nbgrader_config.py`` it runs each notebook in the forked, isolated child that
``mlsys grade`` uses, in place of a new kernel. All else stays nbgrader's::

    c.Execute.enabled = False
    c.Autograde.autograde_preprocessors.prepend(
        ["mlsys_widgets.grading.preprocessor.ExecuteShutIn"]
    )
"""

from __future__ import annotations

import atexit
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool

from mlsys_widgets.grading.submissions import read_folder
from mlsys_widgets.labs.course import Course
from mlsys_widgets.sandbox.isolation import CannotIsolate, Limits
from mlsys_widgets.sandbox.sanitizing import grade_id, is_locked
from mlsys_widgets.sandbox.worker import (
    FINISHED,
    HIDDEN,
    Job,
    Nursery,
    NurseryLost,
    Ran,
    run_notebook,
)


class DidNotFinish(RuntimeError):
    """A notebook that did not run to its end; nbgrader reports it and goes on with the next."""


class ExecuteShutIn(NbGraderPreprocessor):  # type: ignore[misc]
    """Runs a notebook in a child that is shut in."""

    isolate = Bool(
        True, help="Whether notebooks are shut in. Without, student code can do what you can."
    ).tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        folder, who = Path(resources["metadata"]["path"]), resources["nbgrader"]
        beside = dict(read_folder(folder, who["student"]).files)
        beside.pop(f"{who['notebook']}.ipynb", None)
        seconds = Course(folder, given=self.config).cell_seconds
        limits = replace(Limits(), cell=seconds)
        job = Job(who["student"], who["assignment"], beside, self.isolate, limits)
        try:
            ran = _run(nb, job)
        except CannotIsolate as problem:
            raise DidNotFinish(
                f"submissions cannot be shut in here: {problem.strerror}. To run them all the"
                " same: c.ExecuteShutIn.isolate = False"
            ) from None
        for remark in ran.remarks:
            self.log.warning("%s: %s", who["student"], remark)
        if ran.ended != FINISHED:
            # A test that was never reached has no error, for which nbgrader would give all points.
            raise DidNotFinish(f"{who['student']}: it did not run to its end: {ran.ended}")
        return nb, resources


_lock = threading.Lock()
_nurseries: list[Nursery] = []


def _run(book: Any, job: Job) -> Ran:
    """Run a notebook in this process's nursery; once more if that is lost."""
    # nbgrader has put the instructor's cells back by now, and what it keeps in them.
    tests = {
        number: cell
        for number, cell in enumerate(book.cells)
        if cell.cell_type == "code" and is_locked(cell) and HIDDEN.search(cell.source)
    }
    watched = {number: grade_id(cell) or "" for number, cell in tests.items()}
    hidden = {number: cell.source for number, cell in tests.items()}
    with _lock:
        try:
            return run_notebook(book, job, _nursery(), watched, hidden)
        except NurseryLost:
            _end()
            return run_notebook(book, job, _nursery(), watched, hidden)


def _nursery() -> Nursery:
    if not _nurseries:
        _nurseries.append(Nursery())
        atexit.register(_end)
    return _nurseries[0]


def _end() -> None:
    while _nurseries:
        _nurseries.pop().close()
