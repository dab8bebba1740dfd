"""Submissions that cost whoever reads them: small or odd files that take hours or gigabytes.

Each changes the folder of a submission whose recorded answers are right. What must come of it is
what its author still deserves, or a sentence; and the coordinator must hardly notice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mlsys_widgets.files import LEDGER, TIMESTAMP
from mlsys_widgets.ledger.events import GENESIS, chained, to_line
from tests.grading.classroom import LAB

NOTEBOOK = f"{LAB}.ipynb"


@dataclass(frozen=True)
class Costly:
    """What is put into a folder, and whether it is still graded as if it were not there."""

    change: Callable[[Path], None]
    graded: bool = False


def millions_of_cells(folder: Path) -> None:
    cell = '{"cell_type":"code","metadata":{},"source":"","outputs":[],"execution_count":null}'
    _put_cells(folder, ",".join([cell] * 1_000_000))


def millions_of_tiny_cells(folder: Path) -> None:
    _put_cells(folder, ",".join(['{"cell_type":"raw"}'] * 2_000_000))


def outputs_that_are_lists(folder: Path) -> None:
    book = json.loads((folder / NOTEBOOK).read_bytes())
    code = next(cell for cell in book["cells"] if cell["cell_type"] == "code")
    code["outputs"] = [[]] * 1_500_000
    (folder / NOTEBOOK).write_text(json.dumps(book, separators=(",", ":")))


def nested_notebook(folder: Path) -> None:
    _put_cells(folder, "[" * 200_000 + "]" * 200_000)


def far_event(folder: Path) -> None:
    """An event whose number lies so far ahead that nobody should count up to it."""
    _put_event(folder, 10**15)


def endless_number(folder: Path) -> None:
    line = (folder / LEDGER).read_bytes().splitlines()[0]
    event = json.loads(line)
    event["seq"] = 0
    text = json.dumps(event).replace('"seq": 0', '"seq": ' + "9" * 4_000_000)
    with (folder / LEDGER).open("ab") as file:
        file.write(text.encode() + b"\n")


def quadratic_needs(folder: Path) -> None:
    """Instruments that wait for thousands of predictions each, thousands of times."""
    names = [f"p{k}" for k in range(3_000)]
    with (folder / LEDGER).open("ab") as file:
        for k in range(600):
            value = {"needs": names, "inputs": {}}
            event = chained(GENESIS, k, "2026-10-01T10:00:00.000Z", LAB, "use", f"i{k}", value)
            file.write(to_line(event))


def newlines(folder: Path) -> None:
    (folder / LEDGER).write_bytes(b"\n" * 19_500_000)


def nested_ledger(folder: Path) -> None:
    with (folder / LEDGER).open("ab") as file:
        file.write(b"[" * 900_000 + b"\n")


def million_lines_in_the_record(folder: Path) -> None:
    _put_record(folder, {"lines": ["x"] * 1_000_000})


def large_record_alone(folder: Path) -> None:
    _put_record(folder, {"lines": ["x" * 1_000_000] * 40})
    (folder / LEDGER).unlink()


def sparse_timestamp(folder: Path) -> None:
    os.truncate(folder / TIMESTAMP, 8_000_000_000)


def sparse_notebook(folder: Path) -> None:
    os.truncate(folder / NOTEBOOK, 8_000_000_000)


def extra_files(folder: Path) -> None:
    for k in range(20_000):
        (folder / f"a{k}.txt").touch()


def data_before_the_notebook(folder: Path) -> None:
    with (folder / "a.bin").open("wb") as file:
        file.truncate(99_960_000)


def _put_cells(folder: Path, cells: str) -> None:
    head = '{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":['
    (folder / NOTEBOOK).write_text(f"{head}{cells}]}}")


def _put_record(folder: Path, record: object) -> None:
    book = json.loads((folder / NOTEBOOK).read_bytes())
    book["metadata"]["mlsys"]["record"] = record
    (folder / NOTEBOOK).write_text(json.dumps(book))


def _put_event(folder: Path, seq: int) -> None:
    event = chained(GENESIS, seq, "2026-10-01T10:00:00.000Z", LAB, "answer", "limit", 1)
    with (folder / LEDGER).open("ab") as file:
        file.write(to_line(event))


KINDS = {
    "millions-of-cells": Costly(millions_of_cells),
    "millions-of-tiny-cells": Costly(millions_of_tiny_cells),
    "outputs-that-are-lists": Costly(outputs_that_are_lists, graded=True),
    "nested-notebook": Costly(nested_notebook),
    "far-event": Costly(far_event),
    "endless-number": Costly(endless_number),
    "quadratic-needs": Costly(quadratic_needs),
    "newlines": Costly(newlines),
    "nested-ledger": Costly(nested_ledger),
    "million-lines-in-the-record": Costly(million_lines_in_the_record, graded=True),
    "large-record-alone": Costly(large_record_alone),
    "sparse-timestamp": Costly(sparse_timestamp, graded=True),
    "sparse-notebook": Costly(sparse_notebook),
    "extra-files": Costly(extra_files, graded=True),
    "data-before-the-notebook": Costly(data_before_the_notebook, graded=True),
}
