"""Flags are data; sentences are made where people read them, and never read back."""

from __future__ import annotations

import ast
import json
import string
import subprocess
import sys
from pathlib import Path

import pytest

import mlsys_widgets.grading
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.gradebook.graded_submission import GradedSubmission
from mlsys_widgets.grading.judging.flags import Flag, FlagKind
from mlsys_widgets.ledger import Head
from tests.labs.rehearsal import ROOT

#: Only nbgrader itself imports these, as its plugins.
PLUGINS = {"feedback", "preprocessor"}


@pytest.mark.parametrize("kind", FlagKind)
def test_every_kind_has_a_sentence_and_a_name_without_names(kind):
    fields = {name for _, name, _, _ in string.Formatter().parse(kind.template) if name}
    assert fields <= {"about", "detail"}
    flag = Flag(kind, "cell", "why")
    assert flag.sentence
    assert "{" not in flag.sentence
    assert kind.summary
    assert "{" not in kind.summary


@pytest.mark.parametrize("kind", FlagKind)
def test_a_flag_travels_as_json(kind):
    flag = Flag(kind, "cell", "why {not}")
    assert Flag.from_data(json.loads(json.dumps(flag.as_data()))) == flag


def test_flags_of_a_later_version_are_read(tmp_path):
    (tmp_path / ".mlsys").mkdir()
    lines = [
        {"student": "bob", "flags": [{"kind": "of tomorrow", "sentence": "new"}]},
        {"student": "cat"},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / ".mlsys" / "grade-lab.jsonl").write_text(text + '{"stud')
    log = GradedLog(tmp_path, "lab")
    found = {student: line["flags"] for student, line in log.read().items()}
    assert found == {
        "bob": (Flag(FlagKind.OTHER, detail="new"),),
        "cat": (),
    }
    assert log.heads() == {}


def test_the_log_keeps_flags_and_every_head(tmp_path):
    log = GradedLog(tmp_path, "lab")
    flags = (Flag(FlagKind.MISSING_CELL, "limit"),)
    for head in (Head(1, "a"), Head(4, "b"), None):
        log.add(GradedSubmission("ann", (), flags=flags), head, {"digest": "x"})
    assert log.read()["ann"]["flags"] == flags
    assert log.heads() == {"ann": {Head(1, "a"), Head(4, "b")}}


def test_grading_brings_no_ipython():
    """An answer is judged without a notebook: importing one would cost a second."""
    folder = Path(mlsys_widgets.grading.__file__).parent
    names = sorted(path.stem for path in folder.glob("*.py") if path.stem not in PLUGINS)
    modules = [f"mlsys_widgets.grading.{name}" for name in names if name != "__init__"]
    code = (
        "import sys, importlib\n"
        f"for name in {modules}:\n"
        "    importlib.import_module(name)\n"
        "    found = {'IPython', 'ipywidgets', 'bqplot'} & set(sys.modules)\n"
        "    assert not found, (name, found)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_no_sentence_is_recognized_by_its_words():
    """Whoever looks at flags or remarks asks for their kind."""
    for room in ("grading", "sandbox", "classes"):
        for path in (ROOT / "mlsys_widgets" / room).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Attribute) and node.attr == "sentence":
                    continue
                match node:
                    case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[looked_in]):
                        assert "sentence" not in ast.unparse(looked_in), (path, node.lineno)
                    case ast.Call(func=ast.Attribute(value=words, attr="startswith" | "endswith")):
                        assert "sentence" not in ast.unparse(words), (path, node.lineno)
