"""In a fresh kernel, as nbgrader and nbval start one, a lab shows what was committed."""

from __future__ import annotations

import os
import subprocess
import sys

import nbformat
from nbclient import NotebookClient

from mlsys_widgets import PredictionLock

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
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    NotebookClient(book, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    plain = [cell.outputs[-1].data["text/plain"] for cell in book.cells]
    assert "Sealed: 70%, confidence 4 of 5" in plain[0]
    assert "37.9 percentage points above the model" in plain[1]
    assert plain[2] == "False"
    assert "[x] Prediction: How busy?" in plain[3]
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
