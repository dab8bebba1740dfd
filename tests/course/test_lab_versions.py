"""A version changes with what students get, and with nothing else."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from mlsys_widgets.authoring import labs_of
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.lab_versions import (
    changes_in,
    files_beside,
    lab_version,
    stamp_in,
    version_in,
)
from tests.labs.rehearsal import ROOT

CELL = {
    "cell_type": "code", "source": "1", "id": "a", "outputs": [], "execution_count": None,
    "metadata": {"nbgrader": {"grade_id": "a", "points": 2, "checksum": "x"}},
}  # fmt: skip
BOOK = {"cells": [CELL], "metadata": {"mlsys": {"lab": "lab_02"}}, "nbformat": 4}
FILES = {"asks.py": b"lab = 1"}


def test_what_an_editor_adds_is_no_other_version():
    other = copy.deepcopy(BOOK)
    other["metadata"]["language_info"] = {"name": "python", "version": "3.12"}
    other["metadata"]["mlsys"] |= {"lab_version": "0" * 12, "changes": [["0" * 12, "x"]]}
    other["cells"][0] |= {"source": ["1"], "execution_count": 3, "outputs": [{}]}
    other["cells"][0]["metadata"] |= {"collapsed": True, "execution": {}}
    other["cells"][0]["metadata"]["nbgrader"]["checksum"] = "y"
    assert lab_version(other, FILES) == lab_version(BOOK, FILES)


@pytest.mark.parametrize("change", ["source", "points", "cell", "about", "file", "more files"])
def test_what_students_get_is(change):
    book, files = copy.deepcopy(BOOK), dict(FILES)
    match change:
        case "source":
            book["cells"][0]["source"] = "2"
        case "points":
            book["cells"][0]["metadata"]["nbgrader"]["points"] = 3
        case "cell":
            book["cells"].append(copy.deepcopy(CELL))
        case "about":
            book["metadata"]["mlsys"]["title"] = "Another"
        case "file":
            files["asks.py"] += b"\n"
        case _:
            files["helper.py"] = b""
    assert lab_version(book, files) != lab_version(BOOK, FILES)


@pytest.mark.parametrize("lab", labs_of(Course.at(ROOT)))
def test_committed_labs_say_what_they_are(lab):
    folder = ROOT / "release" / lab
    stamps = {
        stamp_in((ROOT / s / lab / f"{lab}.ipynb").read_bytes()) for s in ("source", "release")
    }
    assert stamps == {version_in(folder, lab)}
    book = json.loads((folder / f"{lab}.ipynb").read_bytes())
    assert changes_in(book) == []


def test_what_lies_beside(tmp_path: Path):
    for name in (
        "asks.py",
        "data/x.csv",
        ".hidden",
        "__pycache__/asks.pyc",
        "ledger.jsonl",
        "lab.ipynb",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert list(files_beside(tmp_path, "lab")) == ["asks.py", "data/x.csv"]


def test_no_notebook_no_version(tmp_path: Path):
    assert version_in(tmp_path, "lab") is None
    for words in ("{", "[]", '{"cells": 3}', '{"cells": [3]}', "[" * 100_000):
        (tmp_path / "lab.ipynb").write_text(words)
        assert version_in(tmp_path, "lab") is None


def test_the_last_stamp_counts_and_no_text_is_one():
    assert (
        stamp_in(b'{"lab_version": "0123456789ab", "lab_version" : "ba9876543210"}')
        == "ba9876543210"
    )
    for words in (
        b"",
        b'"lab_version": "0123456789"',
        b'"lab_version": 3',
        b'"lab_version": "0123456789AB"',
    ):
        assert stamp_in(words) is None
