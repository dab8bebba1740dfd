"""A class is graded by jobs of a real Slurm, and a node dies meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.coordinator import GradingRun, Plan
from mlsys_widgets.sandbox import engine
from mlsys_widgets.sandbox.engine import open_engine
from tests.grading.classroom import LAB, LIMITS, classroom, hand_in, quiet, rows
from tests.hub.conftest import WHY_NOT
from tests.hub.slurm import Slurm, running_slurm
from tests.waiting import wait_for

pytestmark = [
    pytest.mark.needs("slurm"),
    pytest.mark.needs("munge"),
    pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT),
]


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    with running_slurm() as cluster:
        yield cluster


@pytest.fixture
def here(slurm: Slurm, monkeypatch: pytest.MonkeyPatch) -> Slurm:
    for name, value in slurm.environment.items():
        monkeypatch.setenv(name, value)
    return slurm


def _slowly(book: nbformat.NotebookNode, _folder: Path) -> None:
    """A cell of one's own has to be run, and no record knows it."""
    book.cells.append(nbformat.v4.new_code_cell("import time; time.sleep(0.5)", id="slow"))


def test_a_class_is_graded_on_both_nodes_until_one_dies(here: Slurm, tmp_path) -> None:
    course = classroom(tmp_path / "course")
    everybody = {f"student-{k}" for k in range(6)}
    for student in everybody:
        hand_in(course, student, _slowly, course.asked(student).right(), ledger=True)
    plan = Plan(Course(course.root), LAB, engine="slurm", workers=2, limits=LIMITS, force=True)
    graded = Counter[str]()
    with quiet():
        for each in GradingRun(plan).grade():
            graded[each.student] += 1
            if sum(graded.values()) == 1:
                wait_for(lambda: {node for _, node in here.jobs().values()} == {"left", "right"})
                here.kill("right")
    assert graded == Counter(everybody)
    assert {row[0] for row in rows(course.root)["submission"]} == everybody
    wait_for(lambda: not {"RUNNING", "PENDING"} & {state for state, _ in here.jobs().values()})
    here.start("right")


def test_a_full_cluster_is_told_in_a_sentence(here: Slurm, monkeypatch) -> None:
    monkeypatch.setattr(engine, "_QUEUE", 5)
    sleep = ("sbatch", "--parsable", "--output=/dev/null", "--wrap", "sleep inf")
    others = [here.ask(*sleep) for _ in range(4)]
    with quiet(), pytest.raises(ValueError, match="Slurm gave no worker a place"):
        open_engine("slurm", 1)
    here.ask("scancel", *others)
