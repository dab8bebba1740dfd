"""What students get is the same program without remarks."""

from __future__ import annotations

import ast
import io
import json
import tokenize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.authoring import build
from mlsys_widgets.authoring.student_source import student_asks, student_prose, student_source
from mlsys_widgets.labs import load
from tests.authoring.conftest import DEMO
from tests.labs.rehearsal import ROOT


def remarks(code: str) -> list[str]:
    """Every comment of a program, and every string that stands alone in it."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    alone = [
        node.value.value
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    return comments + alone


@pytest.mark.parametrize(
    ("code", "made"),
    [
        ("x = 1  # one\n", "x = 1\n"),
        ("# all of it\n", ""),
        ('"""What it is."""\n\nx = 1\n', "x = 1\n"),
        ('def f():\n    """Says."""\n\n    return 1\n', "def f():\n    return 1\n"),
        ('def f():\n    """Says\n    more."""\n', "def f():\n    pass\n"),
        ('def f(): "Says."\n', "def f(): pass\n"),
        ('def f():\n    "Says."; return 1\n', "def f():\n    pass; return 1\n"),
        ("class A:\n    # why\n    x = 1\n", "class A:\n    x = 1\n"),
        ('x = 1\n"""Attribute."""\ny = 2\n', "x = 1\ny = 2\n"),
        ("a = [\n    # first\n    1,  # one\n\n    2,\n]\n", "a = [\n    1,\n\n    2,\n]\n"),
        ('"µ"; µ = 1  # µ\n', "pass; µ = 1\n"),
        ('x = "# no comment"\n', 'x = "# no comment"\n'),
        ('x = """\n\n\n\n# in a text\n"""\n', 'x = """\n\n\n\n# in a text\n"""\n'),
        ('if x:\n    "one"\n    "two"\nelse:\n    y = 1\n', "if x:\n    pass\nelse:\n    y = 1\n"),
        ("x = 1  # no line end", "x = 1"),
        ("", ""),
    ],
)
def test_remarks_go_and_everything_else_stays(code, made):
    assert student_source(code) == made


def test_empty_lines_between_definitions_stay_as_they_were():
    code = "x = 1\n\n\n# Act 2\n\n\ndef f():\n    return 1\n"
    assert student_source(code) == "x = 1\n\n\ndef f():\n    return 1\n"


def test_a_cell_still_shows_its_last_string():
    assert student_source('"not"\n"shown"', cell=True) == '"shown"'
    assert student_source('"shown"') == ""


def test_magics_of_a_cell_stay():
    code = "%matplotlib inline\n# why\nif x:\n    !ls  \n"
    assert student_source(code, cell=True) == "%matplotlib inline\nif x:\n    !ls  \n"
    many = "".join(f"%magic {k}\n" for k in range(12))
    assert student_source(f"{many}# why\n", cell=True) == many


def test_code_that_is_none_is_left_to_whoever_runs_it():
    for cell in (False, True):
        assert student_source("x = = 1  # why", cell=cell) == "x = = 1  # why"


@given(st.lists(st.sampled_from([
    "x = 1", "# why", "", '"""text"""', "def f():", "    return 2", '    "doc"', "    # in",
    "y = (", "    3,", ")", "if x:", "    pass", "x = 'µ'  # µ",
])))  # fmt: skip
def test_whatever_python_it_is_it_means_the_same(lines):
    code = "\n".join(lines)
    try:
        ast.parse(code)
    except SyntaxError:
        return
    made = student_source(code)
    assert remarks(made) == []
    ast.parse(made)


def test_comments_in_prose_go():
    text = "One. <!-- the key is\n156 -->\n\nTwo < three - - four.\n<!---->"
    assert student_prose(text) == "One.\n\nTwo < three - - four.\n"


@pytest.mark.parametrize("lab", sorted(p.parent.name for p in ROOT.glob("assignments/*/asks.py")))
def test_our_own_labs_ask_the_same_without_remarks(lab, tmp_path):
    home = ROOT / "assignments" / lab
    made = student_asks((home / "asks.py").read_text("utf-8"), lab)
    header, rest = made.split("\n", 1)
    assert header.startswith(f"# What {lab} asks.")
    assert remarks(rest) == []
    (tmp_path / "asks.py").write_text(made, "utf-8")
    one, other = load(home), load(tmp_path)
    for student in ("student-1", "Müller"):
        p = one.draw(student)
        assert other.draw(student) == p
        assert {n: type(i) for n, i in one.items(p).items()} == {
            n: type(i) for n, i in other.items(p).items()
        }
        texts = [
            {n: (getattr(i, "ask", ""), getattr(i, "options", "")) for n, i in lab.items(p).items()}
            for lab in (one, other)
        ]
        assert texts[0] == texts[1]


def test_a_lab_of_ones_own_is_built_without_remarks(course, change, home):
    """Questions, prose and cells that students can unfold."""
    change("asks.py", "@lab.asks\ndef limit(", "# memory, for everyone\n@lab.asks\ndef limit(")
    change(
        "lab.py", '# %% card="opening"', '# <!-- memory, for everyone -->\n\n# %% card="opening"'
    )
    shown = '# %% show="Note"\n# memory, for everyone\n"a note"  # memory, for everyone\n\n'
    change("lab.py", '# %% card="takeaways"', f'{shown}# %% card="takeaways"')
    build(course)
    for step in ("source", "release"):
        for path in (course.root / step / DEMO).iterdir():
            assert "memory, for everyone" not in path.read_text("utf-8"), path
        book = json.loads((course.root / step / DEMO / f"{DEMO}.ipynb").read_text("utf-8"))
        (note,) = (c for c in book["cells"] if c["id"] == "show_Note")
        assert "".join(note["source"]) == '# Note\n"a note"'
    assert "memory, for everyone" in (home / "asks.py").read_text("utf-8")
