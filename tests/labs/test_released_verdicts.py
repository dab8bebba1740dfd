"""No released byte gives a verdict away: no remark of an author, no sentence of the checks, no key.

What a student can open is read here as a student would read it: the questions beside the notebook,
and every cell of the notebook, folded ones too.
"""

from __future__ import annotations

import ast
import inspect
import io
import json
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mlsys_widgets.authoring.text import read
from mlsys_widgets.judging import ChoiceKey, NumberKey
from mlsys_widgets.labs import Choice, Parameters
from mlsys_widgets.labs.lab import module_at
from tests.labs.rehearsal import ROOT, Asked, Workshop, asked
from tests.sampling import sample

pytestmark = [pytest.mark.timeout(300), pytest.mark.usefixtures("read_once")]

STUDENTS = sample([f"student-{k}" for k in range(30)], 6)
#: A remark or a sentence with fewer words is a heading or a formula, and says nothing.
WORDS = 6


def plain(words: str) -> str:
    """Words alone, one space apart, as a search would see them through markup and line breaks."""
    return " ".join(re.findall(r"[\w%]+", words.lower()))


@cache
def _released(folder: Path) -> dict[str, str]:
    found = {}
    for path in sorted(folder.iterdir()):
        text = path.read_text("utf-8")
        if path.suffix == ".ipynb":
            text = "\n".join(_of_notebook(json.loads(text)))
        elif path.suffix == ".py":
            # Python joins neighboring strings; so does whoever reads them.
            text += "\n" + "\n".join(_joined_strings(text))
        found[path.name] = plain(text)
    return found


def _of_notebook(book: dict[str, Any]) -> Iterator[str]:
    yield json.dumps(book["metadata"], ensure_ascii=False)
    for cell in book["cells"]:
        source = "".join(cell["source"])
        yield source
        if cell["cell_type"] == "code":
            yield from _joined_strings(source)
        yield json.dumps(cell["metadata"], ensure_ascii=False)


def _joined_strings(code: str) -> list[str]:
    return [
        node.value
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


@pytest.fixture
def released(made: Workshop, lab) -> dict[str, str]:
    """What students get, file by file, in plain words."""
    return _released(made.root / "release" / lab)


@pytest.fixture
def people(made: Workshop, lab, tmp_path) -> dict[str, Asked]:
    """What some students are asked, with the keys."""
    folder = made.give(tmp_path / "x" / lab)
    return {student: asked(made.course, lab, student, work=folder) for student in STUDENTS}


def comments(code: str) -> Iterator[str]:
    """The comments of a program; those on neighboring lines are one."""
    block: list[str] = []
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != last + 1 and block:
                yield " ".join(block)
                block = []
            block.append(token.string)
            last = token.start[0]
    if block:
        yield " ".join(block)


def docstrings(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            yield ast.get_docstring(node) or ""


def sentences(words: str) -> Iterator[str]:
    """The sentences of a text that are long enough to say something."""
    for each in re.split(r"(?<=[.!?:])\s", words):
        found = plain(each)
        if len(found.split()) >= WORDS:
            yield found


def absent(wanted: dict[str, str], released: dict[str, str]) -> None:
    """Fail with everything that is there although it must not be."""
    found = [
        f"{file}: “{sentence}” ({whose})"
        for sentence, whose in wanted.items()
        for file, text in released.items()
        if f" {sentence} " in f" {text} "
    ]
    assert not found, "\n".join(found)


def test_no_remark_of_an_author_is_released(released, lab):
    home, wanted = ROOT / "assignments" / lab, {}
    for name in ("asks.py", "checks.py"):
        code = (home / name).read_text("utf-8")
        for remark in (*comments(code), *docstrings(code)):
            wanted.update(dict.fromkeys(sentences(remark), name))
    for cell in read(home / "lab.py"):
        if cell.kind not in ("prose", "deeper", "essay"):
            remarks = (*comments(cell.body), *docstrings(cell.body))
            wanted.update({s: cell.where for r in remarks for s in sentences(r)})
    absent(wanted, released)


def test_no_sentence_of_the_checks_is_released(released, lab):
    """As it is typed in checks.py, without the numbers that are computed into it."""
    code = (ROOT / "assignments" / lab / "checks.py").read_text("utf-8")
    typed = [each for text in _joined_strings(code) for each in sentences(text)]
    absent(dict.fromkeys(typed, "checks.py"), released)


def test_no_verdict_on_a_student_is_released(released, people, lab):
    """Nor what the checks say to thirty students with their numbers in it."""
    wanted = {}
    for student, found in people.items():
        for name in found.graded:
            key = found.keys[name]
            for words in (key.says, *(belief.says for belief in key.beliefs)):
                wanted.update(dict.fromkeys(sentences(words), f"{name} of {student}"))
    absent(wanted, released)


def test_no_right_option_is_named_outside_of_its_question(made: Workshop, people, lab):
    """Neither set in code beside the name of its question, nor told by another item."""
    code = (made.root / "release" / lab / "asks.py").read_text("utf-8")
    functions = {n.name: n for n in ast.parse(code).body if isinstance(n, ast.FunctionDef)}
    cells = "\n".join(cell.source for cell in made.notebook("release").cells)
    told = []
    for student, found in people.items():
        for name in found.of(Choice):
            right = found.keys[name].value
            # The record of an answer, a default, a dictionary of keys.
            for given in (rf"{name}\s*=\s*", rf"[\"']{name}[\"']\s*[:,]\s*"):
                if re.search(rf"{given}[\"']{re.escape(right)}[\"']", code + cells):
                    told.append(f"{name} is set to {right!r}")
            words = plain(found.items[name].options[right])
            for other, node in functions.items():
                if other != name and len(words.split()) >= WORDS:
                    texts = [
                        plain(n.value)
                        for n in ast.walk(node)
                        if isinstance(n, ast.Constant) and isinstance(n.value, str)
                    ]
                    if any(words in text for text in texts):
                        told.append(f"{other} says “{words}”, right in {name} of {student}")
    assert not told, "\n".join(sorted(set(told)))


def helpers(path: Path) -> dict[str, Any]:
    """Functions of a student's parameters in a lab's questions that are no questions."""
    module = module_at(path)
    asks = set(module.lab._asks)
    found = {}
    for name, value in vars(module).items():
        if inspect.isfunction(value) and value.__module__ == module.__name__ and name not in asks:
            needed = [
                each
                for each in inspect.signature(value).parameters.values()
                if each.default is inspect.Parameter.empty
            ]
            if len(needed) == 1:
                found[name] = value
    return found


def values_in(result: Any) -> Iterator[Any]:
    """The numbers and words that a function returns, in whatever they are packed."""
    if isinstance(result, dict):
        yield from values_in(tuple(result.values()))
    elif isinstance(result, list | tuple | set | frozenset):
        for each in result:
            yield from values_in(each)
    elif isinstance(result, str):
        yield result
    elif isinstance(result, int | float) and not isinstance(result, bool):
        yield float(result)


def test_no_helper_of_the_questions_computes_a_key(made: Workshop, people, lab):
    """A student can call whatever is beside the notebook with ``lab.p``."""
    found = helpers(made.root / "release" / lab / "asks.py")
    hits: dict[tuple[str, str], int] = defaultdict(int)
    kinds = defaultdict(set)
    for each in people.values():
        for helper, function in found.items():
            for name in each.graded:
                key = each.keys[name]
                kinds[name].add(str(key.value))
                hits[helper, name] += gives(function, each.p, key)
    # Numbers may meet by accident once; a verdict that is one for everybody is no secret of theirs.
    told = [
        f"{helper}(p) gives {name} to {count} of {len(people)} students"
        for (helper, name), count in hits.items()
        if count > len(people) / 3 and len(kinds[name]) > 1
    ]
    assert not told, "\n".join(told)


def gives(function: Any, p: Parameters, key: NumberKey | ChoiceKey) -> bool:
    """Whether a function of a student's parameters returns the key, alone or beside little else."""
    try:
        values = list(values_in(function(p)))
    except Exception:  # a function of something else, which may fail in any way
        return False
    if isinstance(key, NumberKey):
        return any(isinstance(v, float) and key.reaches(key.value, v) for v in values)
    return [v for v in values if isinstance(v, str)] == [key.value]


def test_what_is_looked_for_would_be_found(tmp_path, lab):
    """The search sees through comments, joined strings, markup and line breaks."""
    lines = ["x = 1  # fp16 never *fits*,", "# and int8 always does"]
    lines += ['y = ("launches run "', '    "ahead always")']
    (tmp_path / "asks.py").write_text("\n".join(lines))
    cell = {"cell_type": "markdown", "source": ["torch.compile\n", "is **right** here"]}
    book = {"metadata": {}, "cells": [{**cell, "metadata": {"said": "leave the box eager"}}]}
    (tmp_path / "x.ipynb").write_text(json.dumps(book))
    found = _released(tmp_path)
    for sentence in ("fp16 never fits and int8 always does", "launches run ahead always",
                     "torch.compile is right here", "leave the box eager"):  # fmt: skip
        with pytest.raises(AssertionError):
            absent({plain(sentence): "a test"}, found)
    absent({plain("compile nothing at all"): "a test"}, found)
    assert gives(lambda p: {"a": [1, "b"]}, Parameters({}), NumberKey(1.0, 0.01))
    assert not gives(lambda p: p.missing, Parameters({}), NumberKey(1.0, 0.01))
    assert gives(lambda p: "both", Parameters({}), ChoiceKey("both"))
    assert not gives(lambda p: ["both", "edge"], Parameters({}), ChoiceKey("both"))
