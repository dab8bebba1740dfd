"""Whatever metadata was submitted, what is kept is valid."""

from __future__ import annotations

import json

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlsys_widgets.notebooks.sanitizing import read

ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=5,
)
NAMES = st.sampled_from(
    ["nbgrader", "jupyter", "execution", "collapsed", "scrolled", "name", "format", "tags", "x"]
)
TAGS = st.lists(st.sampled_from(["a", "b", "a,b", "", "\n"]) | ANY, max_size=4)
CELL = st.dictionaries(NAMES, ANY | TAGS, max_size=4) | ANY
KERNEL = st.dictionaries(st.sampled_from(["name", "display_name", "language"]), ANY)
LANGUAGE = st.dictionaries(
    st.sampled_from(["name", "codemirror_mode", "file_extension", "mimetype", "pygments_lexer"]),
    ANY,
)
BOOK = st.fixed_dictionaries(
    {},
    optional={
        "kernelspec": KERNEL | ANY, "language_info": LANGUAGE | ANY, "orig_nbformat": ANY,
        "title": ANY, "authors": ANY,
    },
)  # fmt: skip
IDS = st.sampled_from(["a", "", "a b", "é", "a" * 65, "\x1b[2J", "=1", "a"]) | ANY
KINDS = st.sampled_from(["code", "markdown", "raw"])


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(BOOK | ANY, st.lists(st.tuples(KINDS, CELL, IDS), max_size=4), st.sampled_from([4, 5, 99]))
def test_any_metadata_gives_a_valid_notebook(metadata, cells, version):
    raw = {
        "nbformat": version,
        "nbformat_minor": {"odd": 1},
        "metadata": metadata,
        "cells": [
            {"cell_type": kind, "metadata": metadata, "id": name, "source": ["x\n", 3]}
            for kind, metadata, name in cells
        ],
    }
    nbformat.validate(read(json.dumps(raw).encode()))


@pytest.mark.parametrize(
    "cell", [{"cell_type": "code", "input": "x = 1", "outputs": [], "language": "python"},
             {"cell_type": "heading", "level": 2, "source": "Hi"},
             {"cell_type": "markdown", "metadata": {"tags": 5}, "source": ["a", "b"]}],
)  # fmt: skip
def test_a_notebook_of_an_old_version_is_valid_too(cell):
    raw = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": "", "title": 4},
           "worksheets": [{"cells": [{"metadata": {}, **cell}], "metadata": {}}]}  # fmt: skip
    book = read(json.dumps(raw).encode())
    nbformat.validate(book)
    assert len(book.cells) == 1


def test_what_is_valid_stays():
    cell = {"tags": ["a", "b"], "name": "n", "jupyter": {"source_hidden": True}, "mlsys": {"a": 1}}
    raw = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"title": "T", "mlsys": {"lab": "x"}},
           "cells": [{"cell_type": "raw", "id": "c", "metadata": cell, "source": ""}]}  # fmt: skip
    book = read(json.dumps(raw).encode())
    assert book.metadata == raw["metadata"]
    assert book.cells[0].metadata == cell
    assert book.cells[0].id == "c"
