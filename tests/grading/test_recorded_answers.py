"""Answers and essays come from the student's own ledger, for both ways to grade."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from mlsys_widgets.grading.plugins.autograde import EssaysFromLedger
from mlsys_widgets.grading.reading.recorded_answers import (
    place_essays,
    recorded_answers,
    recorded_essays,
)
from mlsys_widgets.labs import load
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.notebooks.cell_metadata import checksum
from mlsys_widgets.notebooks.essay_cells import as_typed, typed_text
from tests.grading.classroom import LAB, classroom


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return classroom(tmp_path_factory.mktemp("course") / "course").root


@pytest.fixture
def folder(root: Path, tmp_path: Path) -> Path:
    (tmp_path / "asks.py").write_bytes((root / "assignments" / LAB / "asks.py").read_bytes())
    return tmp_path


def essay_cell(root: Path) -> nbformat.NotebookNode:
    book = nbformat.read(root / "release" / LAB / f"{LAB}.ipynb", 4)
    return next(cell for cell in book.cells if cell.id == "answer_advice")


def recorded(folder: Path, student: str = "ann", **answers: object) -> None:
    led = Ledger.open(folder / "ledger.jsonl", lab=LAB, student=student)
    for name, value in answers.items():
        led.record_answer(name, value)


def test_only_the_students_own_ledger_counts(folder: Path) -> None:
    lab = load(folder)
    assert recorded_answers(folder, lab, "ann") == {}
    recorded(folder, "bob", limit="memory", advice="Buy memory.")
    assert recorded_answers(folder, lab, "ann") == {}
    assert recorded_answers(folder, lab, "bob")["limit"] == "memory"
    assert recorded_essays(folder, lab, "bob") == {"advice": "Buy memory."}


def test_a_broken_ledger_holds_nothing(folder: Path) -> None:
    (folder / "ledger.jsonl").write_bytes(b"\xff\x00 nonsense\n" * 3)
    assert recorded_answers(folder, load(folder), "ann") == {}


def test_an_essay_that_is_no_text_is_left_out(folder: Path) -> None:
    recorded(folder, advice={"not": "a text"})
    assert recorded_essays(folder, load(folder), "ann") == {}


def test_an_essay_replaces_the_placeholder(root: Path) -> None:
    cell = essay_cell(root)
    place_essays([cell], {"advice": "Buy memory."})
    assert typed_text(cell.source) == "Buy memory."
    assert cell.metadata.nbgrader.checksum != checksum(cell)  # nbgrader asks a person


def test_what_was_written_into_the_cell_stays(root: Path) -> None:
    cell = essay_cell(root)
    cell.source = "Written in the cell."
    place_essays([cell], {"advice": "Buy memory."})
    assert typed_text(cell.source) == "Written in the cell.\n\nBuy memory."


def test_what_the_panel_wrote_before_a_change_is_replaced(root: Path) -> None:
    cell = essay_cell(root)
    cell.source = as_typed("Buy a faster GPU.")
    place_essays([cell], {"advice": "Buy memory."})
    assert cell.source == as_typed("Buy memory.")


def test_stock_nbgrader_shows_the_essay(root: Path, folder: Path) -> None:
    recorded(folder, advice="Buy memory.")
    book = nbformat.v4.new_notebook(cells=[essay_cell(root)])
    about = {"metadata": {"path": str(folder)}, "nbgrader": {"student": "ann"}}
    EssaysFromLedger().preprocess(book, about)
    assert typed_text(book.cells[0].source) == "Buy memory."
    (folder / "asks.py").unlink()  # a notebook that is no lab of ours
    EssaysFromLedger().preprocess(book, about)
