"""Hidden tests: cut out of checks.py with everything they use, and nothing else."""

from __future__ import annotations

import ast

import pytest

from mlsys_widgets.authoring import TextError
from mlsys_widgets.authoring.hidden_tests import CheckSource, region

CHECKS = '''\
"""A docstring with a name: unused."""

from __future__ import annotations

import math
import numpy as np
import os.path
from math import sqrt as root, floor
from mlsys_widgets.physics import (
    devices,
    gemm,  # a comment
)

A, B = 1, 2
'''

GOOD = (
    CHECKS.replace("A, B = 1, 2\n", "")
    + '''
LIMIT: int = 3
UNUSED = devices
LONG = """\\
first
    second of {name}
"""


def _deep(x):
    return root(x) * LIMIT


def _helper(x):
    return _deep(x) + np.float64(1)


def _unused(x):
    return floor(x)


def answer(given):
    text = f"""one {_helper(4):g}
two {given}
  three"""

    def inner(y):
        return y + 1

    return text, inner(LIMIT), LONG


def recursive(given):
    return recursive(given - 1) if given else math.pi


def plain(given):
    return 1
'''
)


@pytest.fixture
def checks(tmp_path):
    def of(text):
        path = tmp_path / "checks.py"
        path.write_text(text, "utf-8")
        return CheckSource(path)

    return of


def test_everything_that_is_used_comes_along_and_nothing_else(checks):
    cut = checks(GOOD).cut("answer")
    defined = {n.id for n in ast.walk(ast.parse(cut)) if isinstance(n, ast.Name)}
    for name in ("LIMIT", "LONG", "root", "np"):
        assert name in defined
    for name in ("_unused", "UNUSED", "devices", "gemm", "floor", "os", "recursive", "__future__"):
        assert name not in cut
    assert "from math import sqrt as root" in cut
    assert "import numpy as np" in cut
    assert cut.index("def _deep") < cut.index("def _helper") < cut.index("def answer")


def test_what_is_cut_runs_as_the_file_does(checks):
    known = checks(GOOD)
    whole: dict = {}
    exec(compile(GOOD, "checks.py", "exec"), whole)
    for name, given in (("answer", 7), ("recursive", 3), ("plain", 0)):
        found: dict = {}
        exec(region(known.cut(name), f"{name}({given})").split("\n", 1)[1], found)
        assert found["_points"]() == whole[name](given)
        assert name not in found, "the answer's name must stay the notebook's"


def test_texts_over_several_lines_keep_their_shape(checks):
    found: dict = {}
    exec(region(checks(GOOD).cut("answer"), "answer('x')"), found)
    text, three, long = found["_points"]()
    assert text == "one 7\ntwo x\n  three"
    assert three == 4
    assert long == "first\n    second of {name}\n"


def test_one_line_for_each_module(checks):
    cut = checks(GOOD).cut("answer", also=[("mlsys_widgets.grading", "award"), ("math", "e")])
    lines = [line for line in cut.splitlines() if line.startswith(("from", "import"))]
    assert lines == [
        "import numpy as np",
        "from math import e, sqrt as root",
        "from mlsys_widgets.grading import award",
    ]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("from math import *", "line 1: this imports everything; name what it uses"),
        ("A, B = 1, 2", "line 1: this is neither an import nor a function nor a constant"),
        ("if True:\n    pass", "line 1: this is neither"),
        ("from .other import x", "line 1: this is neither"),
        ("print('hello')", "line 1: this is neither"),
        ("def broken(:", "cannot be read: "),
    ],
)
def test_what_cannot_be_cut_is_refused(checks, line, sentence):
    with pytest.raises(TextError, match=sentence) as told:
        checks(f"{line}\n")
    assert "checks.py" in str(told.value)


def test_a_missing_check_and_a_missing_file(checks, tmp_path):
    with pytest.raises(TextError, match="has no function other, and the lab grades that answer"):
        checks(GOOD).cut("other")
    with pytest.raises(TextError, match="cannot be read: there is no "):
        CheckSource(tmp_path / "nowhere.py")
