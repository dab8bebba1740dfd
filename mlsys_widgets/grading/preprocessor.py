"""For nbgrader's own autograde, as behind formgrader's button: notebooks run fast and isolated.

With these lines in ``nbgrader_config.py`` it runs each notebook in the forked, isolated child that
``mlsys grade`` uses, in place of a new kernel. All else stays nbgrader's::

    c.Execute.enabled = False
    c.Autograde.autograde_preprocessors.prepend(
        ["mlsys_widgets.grading.preprocessor.ExecuteIsolated"]
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
from mlsys_widgets.sandbox.cell_metadata import HIDDEN, grade_id, is_locked
from mlsys_widgets.sandbox.fork_client import ForkServer, ForkServerLost
from mlsys_widgets.sandbox.isolation import CannotIsolate
from mlsys_widgets.sandbox.job import FINISHED, Job, RunResult
from mlsys_widgets.sandbox.limits import Limits
from mlsys_widgets.sandbox.worker import run_notebook


class DidNotFinish(RuntimeError):
    """A notebook that did not run to its end; nbgrader reports it and continues with the next."""


class ExecuteIsolated(NbGraderPreprocessor):  # type: ignore[misc]
    """Runs a notebook in an isolated child."""

    isolate = Bool(
        True, help="Whether notebooks are isolated. If not, student code can do what you can."
    ).tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        folder, who = Path(resources["metadata"]["path"]), resources["nbgrader"]
        beside = dict(read_folder(folder, who["student"]).files)
        beside.pop(f"{who['notebook']}.ipynb", None)
        seconds = Course(folder, given=self.config).cell_seconds
        limits = replace(Limits(), cell=seconds)
        job = Job(who["student"], who["assignment"], beside, self.isolate, limits)
        try:
            result = _run(nb, job)
        except CannotIsolate as problem:
            raise DidNotFinish(
                f"submissions cannot be isolated here: {problem.strerror}. To run them anyway:"
                f" c.{type(self).__name__}.isolate = False"
            ) from None
        for remark in result.remarks:
            self.log.warning("%s: %s", who["student"], remark.sentence)
        if result.ended != FINISHED:
            # A test that was never reached has no error, for which nbgrader would give all points.
            raise DidNotFinish(f"{who['student']}: it did not run to its end: {result.ended}")
        return nb, resources


class ExecuteShutIn(ExecuteIsolated):
    """`ExecuteIsolated` under its first name, which courses have in their settings."""


_lock = threading.Lock()
_servers: list[ForkServer] = []


def _run(book: Any, job: Job) -> RunResult:
    """Run a notebook with this process's fork server; once more if that is lost."""
    # nbgrader has restored the instructor's cells by now, and its metadata in them.
    tests = {
        number: cell
        for number, cell in enumerate(book.cells)
        if cell.cell_type == "code" and is_locked(cell) and HIDDEN.search(cell.source)
    }
    watched = {number: grade_id(cell) or "" for number, cell in tests.items()}
    hidden = {number: cell.source for number, cell in tests.items()}
    with _lock:
        try:
            return run_notebook(book, job, _fork_server(), watched, hidden)
        except ForkServerLost:
            _end()
            return run_notebook(book, job, _fork_server(), watched, hidden)


def _fork_server() -> ForkServer:
    if not _servers:
        _servers.append(ForkServer())
        atexit.register(_end)
    return _servers[0]


def _end() -> None:
    while _servers:
        _servers.pop().close()
