"""A notebook with thousands of cells or megabytes of output is cut down before it is looked at."""

from __future__ import annotations

import json

import pytest

from mlsys_widgets.grading.reading.slim_notebook import MOST_CELLS, slimmed


def cell(name: str, *, marked: bool = False, outputs: object = ()) -> dict:
    metadata = {"nbgrader": {"grade_id": name}} if marked else {}
    return {"cell_type": "code", "id": name, "metadata": metadata, "outputs": outputs}


def book(*cells: object) -> bytes:
    return json.dumps({"cells": cells, "metadata": {"a": 1}, "nbformat": 4}).encode()


def ids(content: bytes) -> list[str]:
    return [each["id"] for each in json.loads(content)["cells"]]


OWN = [cell(f"own{k}") for k in range(3 * MOST_CELLS)]
LAB = [cell(f"lab{k}", marked=True) for k in range(4)]


@pytest.mark.parametrize(
    "content",
    [
        book(*LAB, *OWN[: MOST_CELLS - 4]), b"", b"{}", b"[", b"[]", b"\xff" * 9,
        b'{"cells": 7, "x": [' + b'"cell_type",' * 2 * MOST_CELLS + b"0]}",
        b'{"cells": "' + b"x" * 5_000_001 + b'"}',
        b'{"cells": {}, "x": [' + b'"cell_type",' * 2 * MOST_CELLS + b"0]}",
        b'"cell_type"' * 2 * MOST_CELLS, b" " * 5_000_001, b"[" * 5_000_001,
        # The word stands in an answer, and there are few cells.
        book(cell("a", outputs=["cell_type"] * 2 * MOST_CELLS)),
    ],
)  # fmt: skip
def test_what_is_usual_or_no_notebook_stays_as_it_is(content):
    assert slimmed(content) == (content, 0)


def test_cells_of_the_lab_stay_wherever_they_are(tmp_path):
    first, second, third, last = LAB
    slim, had = slimmed(book(first, *OWN[:700], second, third, *OWN[700:], last))
    assert had == len(OWN) + 4
    own = [each["id"] for each in OWN[:MOST_CELLS]]
    assert ids(slim) == ["lab0", *own, "lab1", "lab2", "lab3"]
    assert json.loads(slim)["metadata"] == {"a": 1}
    assert slimmed(slim) == (slim, 0), "doing it twice changes nothing"


def test_cells_that_only_say_they_are_the_labs_are_limited_too():
    many = [cell(f"m{k}", marked=True) for k in range(2 * MOST_CELLS)]
    slim, had = slimmed(book(*many, *LAB))
    assert had == len(many) + 4
    assert ids(slim)[-4:] == ["lab0", "lab1", "lab2", "lab3"]
    assert len(ids(slim)) == MOST_CELLS


def test_things_that_are_no_cells_are_counted_as_such():
    slim, had = slimmed(book(*LAB, *[None, [], 7, {"cell_type": "x"}] * MOST_CELLS))
    assert had == 4 * MOST_CELLS + 4
    assert len(json.loads(slim)["cells"]) == MOST_CELLS + 4


def test_a_large_one_loses_its_outputs_and_nothing_else():
    slim, had = slimmed(book(*LAB, cell("big", outputs=["x" * 5_000_000])))
    assert had == 0
    assert ids(slim) == ["lab0", "lab1", "lab2", "lab3", "big"]
    assert len(slim) < 10_000
