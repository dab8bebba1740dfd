"""The glossary explains words that the labs use, and the ideas on the map of the review."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mlsys_widgets import labs
from mlsys_widgets.instruments.concepts import ConceptGraph

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "students" / "glossary.md"
RELEASED = sorted((ROOT / "release").glob("lab_*"))
_BLOCK = re.compile(r"^```\{glossary\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: Ideas on the map that are no word of the field, and the terms that they are made of.
COVERED_BY = {
    "Why ML systems and compilers": ("bottleneck",),
    "Hardware limits": ("peak", "bandwidth"),
    "Software execution": ("kernel", "dispatch"),
    "How a GPU is built": ("multiprocessor", "thread", "register"),
    "Compute or bandwidth": ("compute-bound", "memory-bound"),
    "Which operations can fuse": ("barrier", "epilogue fusion"),
    "Levels from registers to HBM": ("register", "shared memory", "HBM"),
    "Dispatch of every operation": ("dispatch", "dispatcher"),
    "Roofline model": ("roofline",),
    "Compiler passes": ("fusion",),
    "Generated kernel code": ("Triton",),
}


@pytest.fixture(scope="module")
def terms() -> list[str]:
    text = PAGE.read_text("utf-8")
    return [
        line
        for block in _BLOCK.findall(text)
        for line in block.splitlines()
        if line and not line[0].isspace()
    ]


@pytest.fixture(scope="module")
def in_labs() -> str:
    """Everything that the labs say to a student, and the sources of their cells."""
    return "\n".join(words for folder in RELEASED for words in _words(folder)).casefold()


def _words(folder: Path) -> Iterator[str]:
    lab = labs.load(folder)
    yield from _texts(lab.items(lab.draw("ann")))
    yield from _texts(dict(lab.materials))
    for cell in json.loads((folder / f"{folder.name}.ipynb").read_bytes())["cells"]:
        yield "".join(cell["source"])


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _texts(getattr(value, field.name))
    elif isinstance(value, Mapping):
        yield from _texts([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def test_every_term_is_used_in_a_lab(terms, in_labs):
    assert [term for term in terms if not _occurs(term.casefold(), in_labs)] == []


def _occurs(term: str, text: str) -> bool:
    return re.search(rf"(?<![a-z]){re.escape(term)}", text) is not None


def test_a_term_that_no_lab_uses_is_found(in_labs):
    assert not _occurs("speculative decoding", in_labs)


def test_every_idea_on_the_map_of_the_review_is_explained(terms):
    graphs = [
        each
        for folder in RELEASED
        for each in labs.load(folder).materials.values()
        if isinstance(each, ConceptGraph)
    ]
    names = {concept.name for graph in graphs for concept in graph.concepts}
    assert len(names) > 10
    assert set(COVERED_BY) <= names
    known = {term.casefold() for term in terms}
    missing = {
        name: term
        for name in names
        for term in COVERED_BY.get(name, (name,))
        if term.casefold() not in known
    }
    assert missing == {}


def test_each_term_is_explained_once(terms):
    assert len(terms) == len({term.casefold() for term in terms})
