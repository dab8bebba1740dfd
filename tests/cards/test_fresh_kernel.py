"""In a fresh kernel, as nbgrader and nbval start one, a lab shows what was committed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from mlsys_widgets import PredictionLock
from tests.made_notebooks import notebook_of

pytestmark = pytest.mark.long

CELLS = [
    """\
from mlsys_widgets import LabHUD, PredictionLock, RooflineWidget
from mlsys_widgets.ledger import Ledger
led = Ledger.open("ledger.jsonl", lab="lab_07_kernel_fusion", student="student-01")
lock = PredictionLock("act1", question="How busy?", unit="%", ledger=led)
lock""",
    "lock.reveal(model=0.321)",
    "RooflineWidget(lock=lock).locked",
    'LabHUD("Lab 07", ledger=led, acts={"Act 1": [lock]})',
]


def test_nbclient_and_nbval_find_the_commit(led, tmp_path):
    PredictionLock("act1", question="How busy?", unit="%", ledger=led).commit("70%", 4)
    book = notebook_of(*CELLS)
    NotebookClient(book, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    plain = [cell.outputs[-1].data["text/plain"] for cell in book.cells]
    assert "Sealed: 70%, confidence 4 of 5" in plain[0]
    assert "37.9 percentage points above the model" in plain[1]
    assert plain[2] == "False"
    assert "✓ Done: Prediction: How busy?" in plain[3]
    assert "Sealed" in book.cells[0].outputs[-1].data["text/html"]

    nbformat.write(book, tmp_path / "lab.ipynb")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--nbval", "-p", "no:cacheprovider", "lab.ipynb"],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert [event.kind for event in led.events()] == ["opened", "prediction"]


def nbgrader(course: Path, *arguments: str) -> None:
    """Run nbgrader in a course as a TA would, apart from the user's own settings."""
    # nbgrader looks for alembic on the path.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=course,
        env={**os.environ, "JUPYTER_CONFIG_DIR": str(course / ".jupyter"), "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def graded(cell: nbformat.NotebookNode, name: str, *, points: int) -> nbformat.NotebookNode:
    """Mark a cell as one that nbgrader gives points for."""
    cell.metadata["nbgrader"] = {
        "grade": True,
        "grade_id": name,
        "locked": True,
        "points": points,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }
    return cell


def test_nbgrader_finds_the_commit(led, tmp_path):
    """The ledger travels with the notebook, so autograding shows and grades what was committed."""
    PredictionLock("act1", question="How busy?", unit="%", ledger=led).commit("70%", 4)
    check = nbformat.v4.new_code_cell("assert lock.is_open and led.verify().ok")
    book = notebook_of(*CELLS, graded(check, "committed", points=2))
    course, name = tmp_path / "course", "lab"
    source, handed_in = course / "source" / name, course / "submitted" / "student-01" / name
    for folder in (source, handed_in):
        folder.mkdir(parents=True)
    nbformat.write(book, source / "lab.ipynb")
    nbgrader(course, "generate_assignment", name)
    shutil.copy(course / "release" / name / "lab.ipynb", handed_in)
    shutil.copy(led.path, handed_in)
    nbgrader(course, "autograde", name)

    done = course / "autograded" / "student-01" / name
    shown = nbformat.read(done / "lab.ipynb", 4).cells
    assert "Sealed: 70%, confidence 4 of 5" in shown[0].outputs[-1].data["text/plain"]
    assert not any(output.output_type == "error" for cell in shown for output in cell.outputs)
    assert (done / "ledger.jsonl").read_bytes() == led.path.read_bytes()
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book_of_grades:
        assert book_of_grades.find_submission(name, "student-01").score == 2
