"""A lab with every kind of malformed entry runs from top to bottom, and loses nothing."""

from __future__ import annotations

import shutil
from itertools import cycle
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from mlsys_widgets.authoring.environment import environment_variables
from mlsys_widgets.labs.identity import VARIABLE
from mlsys_widgets.ledger import Ledger
from tests.labs.conftest import LABS
from tests.labs.rehearsal import ROOT
from tests.sampling import EXAMPLE

#: What students leave in a scratch cell, with the name of the answer in place of NAME.
LEFT = (
    "883,036 images",
    "33%",
    "NAME = 3.94 µs",
    "NAME = ...",
    'lab.answer("NAME", "a third")',
    'lab.answer("NAME", ...)',
    'lab.answer("NAME", [1, 2])',
    'lab.answer("NAME", float("nan"))',
    'lab.answer("no_such_question", 3)',
    "1 / 0",
    "undefined_name",
)


#: Cards take what is typed, and they are the same in every lab: one is run in each suite.
RUN = [EXAMPLE, *(pytest.param(lab, marks=pytest.mark.slow) for lab in LABS if lab != EXAMPLE)]


@pytest.mark.parametrize("name", RUN)
def test_nothing_that_is_typed_stops_a_lab(name: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(ROOT / "release" / name, tmp_path / name))
    path = folder / f"{name}.ipynb"
    book = nbformat.read(path, 4)
    scratch = [c for c in book.cells if c.metadata.get("mlsys", {}).get("kind") == "scratch"]
    for cell, left in zip(scratch, cycle(LEFT), strict=False):
        cell.source = left.replace("NAME", cell.id.removeprefix("answer_"))
    with environment_variables({VARIABLE: "student-07", "NBGRADER_EXECUTION": None}):
        NotebookClient(book, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    failed = [
        cell.id
        for cell in book.cells
        if cell not in scratch
        for output in cell.get("outputs", ())
        if output.output_type == "error"
    ]
    assert failed == []
    assert not Ledger.open(folder / "ledger.jsonl").state().answers
