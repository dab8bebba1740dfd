"""For nbgrader's own autograde, as behind formgrader's button: what ``mlsys grade`` does by itself.

In ``nbgrader_config.py``::

    plugins = "mlsys_widgets.grading.plugins.autograde"
    c.Autograde.autograde_preprocessors.prepend([f"{plugins}.EssaysFromLedger"])
    c.Autograde.autograde_preprocessors.extend([f"{plugins}.WithoutActiveContent"])

With two more lines each notebook runs in the forked, isolated child that ``mlsys grade`` uses, in
place of a new kernel. Where the course has the lab's checks, hidden tests stay outside of that
child. All else stays nbgrader's::

    c.Execute.enabled = False
    c.Autograde.autograde_preprocessors.prepend([f"{plugins}.ExecuteIsolated"])
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import LEDGER, write_whole
from mlsys_widgets.grading.feedback.blind import make_blind
from mlsys_widgets.grading.feedback.inert import make_inert
from mlsys_widgets.grading.judging.outside_tests import show_verdict
from mlsys_widgets.grading.judging.scoring import Judge
from mlsys_widgets.grading.reading.record_candidates import find_record
from mlsys_widgets.grading.reading.recorded_answers import (
    place_essays,
    recorded_answers,
    recorded_essays,
)
from mlsys_widgets.grading.reading.submissions import read_folder
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import load
from mlsys_widgets.labs.identity import worked_as
from mlsys_widgets.notebooks.cell_metadata import HIDDEN, cell_metadata, grade_id, is_locked
from mlsys_widgets.sandbox.fork_client import ForkServer
from mlsys_widgets.sandbox.isolation import CannotIsolate
from mlsys_widgets.sandbox.job import FINISHED, FunctionCall, Job
from mlsys_widgets.sandbox.limits import Limits
from mlsys_widgets.sandbox.process_pool import ProcessPool
from mlsys_widgets.sandbox.worker import RunResult, run_notebook


class EssaysFromLedger(NbGraderPreprocessor):  # type: ignore[misc]
    """Puts essays, which are written in their cards, into the cells that a person grades.

    Where only the notebook was handed in, the ledger that it carries is laid out first, so that the
    test cells find it.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        folder = Path(resources["metadata"]["path"])
        try:
            lab = load(folder)
        except ValueError:  # not a lab of ours
            return nb, resources
        student = resources["nbgrader"]["student"]
        _lay_out_record(self.log, folder, nb, student)
        owner = worked_as(student, folder)
        place_essays(nb.cells, recorded_essays(folder, lab, owner))
        return nb, resources


class WithoutActiveContent(NbGraderPreprocessor):  # type: ignore[misc]
    """Takes scripts, frames, remote content and the student's name out of a notebook that ran."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        make_inert(nb)
        who = resources.get("nbgrader", {})
        if who.get("student") and who.get("assignment"):
            make_blind(nb, who["student"], who["assignment"])
        return nb, resources


class DidNotFinish(RuntimeError):
    """A notebook that did not run to its end; nbgrader reports it and continues with the next."""


class ExecuteIsolated(NbGraderPreprocessor):  # type: ignore[misc]
    """Runs a notebook in an isolated child."""

    isolate = Bool(
        True, help="Whether notebooks are isolated. If not, student code can do what you can."
    ).tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        folder, who = Path(resources["metadata"]["path"]), resources["nbgrader"]
        _lay_out_record(self.log, folder, nb, who["student"])
        beside = dict(read_folder(folder, who["student"]).files)
        beside.pop(f"{who['notebook']}.ipynb", None)
        seconds = Course(folder, given=self.config).cell_seconds
        limits = replace(Limits(), cell=seconds)
        job = Job(
            worked_as(who["student"], folder), who["assignment"], beside, self.isolate, limits
        )
        try:
            result = _run(nb, job, _judge_of(self.config, who["assignment"]), folder)
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
        make_inert(nb)
        return nb, resources


def _lay_out_record(log: Any, folder: Path, book: Any, student: str) -> None:
    """Have the ledger that counts beside a notebook, and log where it comes from."""
    files = read_folder(folder, student).files
    found = find_record(files, folder.name, {student, worked_as(student, folder)}, book)
    if found.content is not None and found.content != files.get(LEDGER):
        write_whole(folder / LEDGER, found.content)
    for remark in found.remarks:
        log.warning("%s: %s", student, remark.sentence)


_servers: Final = ProcessPool(ForkServer)


def _judge_of(config: Any, lab: str) -> Judge | None:
    """Make the judge of a lab; `None` where the course has no checks of it."""
    root = Path(config.CourseDirectory.get("root") or ".")
    home = root / "assignments" / lab
    if not (home / "checks.py").is_file():
        return None
    course = Course.at(root)
    return Judge(load(home), load_checks(home), variants=course.variants, edition=course.edition)


def _calls(judge: Judge | None, job: Job, folder: Path) -> dict[str, FunctionCall]:
    if judge is None:
        return {}
    recorded = recorded_answers(folder, load(folder), job.student)
    return judge.calls(job.student, folder, recorded, runs=True)


def _run(book: Any, job: Job, judge: Judge | None, folder: Path) -> RunResult:
    """Run a notebook with this process's fork server; once more if that is lost."""
    # nbgrader has restored the instructor's cells by now, and its metadata in them.
    tests = {
        number: cell
        for number, cell in enumerate(book.cells)
        if cell.cell_type == "code" and is_locked(cell) and HIDDEN.search(cell.source)
    }
    watched = {number: grade_id(cell) or "" for number, cell in tests.items()}
    sources = {number: cell.source for number, cell in tests.items()}
    judged = {n for n, name in watched.items() if judge and name in judge.judged}
    for number in judged:
        tests[number].source = HIDDEN.sub("", sources[number])
    hidden = {n: source for n, source in sources.items() if n not in judged}
    calls = _calls(judge, job, folder)
    result = _servers.run(lambda server, _: run_notebook(book, job, server, watched, hidden, calls))
    if judge and result.ended == FINISHED:
        cells = {watched[number]: tests[number] for number in judged}
        points = {name: float(cell_metadata(cell)["points"]) for name, cell in cells.items()}
        scores, _ = judge.score(job.student, cells, points, result.answers, folder)
        for number, score in zip(judged, scores, strict=True):
            show_verdict(tests[number], sources[number], score)
    return result
