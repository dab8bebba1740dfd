"""What is committed in source/ and release/ is what the labs' text gives, and says nothing more."""

from __future__ import annotations

import ast
import json
import re

import nbformat
import pytest

from mlsys_widgets.authoring import Course, builder
from mlsys_widgets.authoring.start_page import start_page
from mlsys_widgets.judging import NumberKey
from mlsys_widgets.labs import Number
from tests.labs.conftest import LABS
from tests.labs.rehearsal import ROOT, Workshop, asked
from tests.sampling import sample

pytestmark = pytest.mark.timeout(900)

STALE = "is not what assignments/ gives; run mlsys build, look at the difference and commit it"


def test_source_and_release_are_not_stale(made: Workshop, lab, tmp_path, monkeypatch):
    """Everything but the outputs is built here: ``make nbval`` runs the solution and compares."""

    def give_committed_outputs(path):
        book, committed = nbformat.read(path, 4), made.notebook("source")
        shown = {cell.id: cell for cell in committed.cells if cell.cell_type == "code"}
        for cell in book.cells:
            if cell.cell_type == "code" and cell.id in shown:
                cell.outputs = shown[cell.id].outputs
                cell.execution_count = shown[cell.id].execution_count
        builder._write(book, path)

    monkeypatch.setattr(builder, "_run", give_committed_outputs)
    builder.build(Course.at(ROOT), [lab], into=tmp_path)
    fresh = {
        path.relative_to(tmp_path).as_posix(): path.read_bytes()
        for path in tmp_path.glob(f"*/{lab}/*")
    }
    assert sorted(made.built) == sorted(fresh), f"{lab} {STALE}"
    for name, content in fresh.items():
        assert made.built[name] == content, f"{name} {STALE}"


def test_no_lab_is_committed_that_has_no_text():
    for step in ("source", "release"):
        found = sorted(path.name for path in (ROOT / step).iterdir() if path.is_dir())
        assert found == LABS, f"{step}/ {STALE}"


def test_the_page_to_start_at_is_not_stale():
    page = (ROOT / "release" / "START_HERE.md").read_text("utf-8")
    assert page == start_page(ROOT / "release"), f"release/START_HERE.md {STALE}"


def released(made: Workshop, lab) -> dict[str, str]:
    """Every file that a student gets."""
    start = f"release/{lab}/"
    found = {n: c.decode() for n, c in made.built.items() if n.startswith(start)}
    assert f"{start}{lab}.ipynb" in found
    return found


def test_the_release_has_no_solutions_tests_or_outputs(made: Workshop, lab):
    for name, text in released(made, lab).items():
        for word in ("BEGIN SOLUTION", "END SOLUTION", "HIDDEN TESTS", "award(", "_points"):
            assert word not in text, (name, word)
    for cell in made.notebook("release").cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


def test_the_release_has_no_line_of_a_solution(made: Workshop, lab):
    """Neither the code of an answer nor a sentence of a model answer."""
    shown = {line.strip() for c in made.notebook("release").cells for line in c.source.splitlines()}
    for cell in made.notebook("source").cells:
        hidden = re.search(r"### BEGIN SOLUTION\n(.*)\n### END SOLUTION", cell.source, re.S)
        for line in hidden[1].splitlines() if hidden else ():
            # A line of brackets alone says nothing.
            assert not re.search(r"\w", line) or line.strip() not in shown, line


def beliefs_in_words(lab) -> set[str]:
    """What checks.py says to beliefs, as far as it is typed there."""
    tree = ast.parse((ROOT / "assignments" / lab / "checks.py").read_text("utf-8"))
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    beliefs = [n for n in calls if isinstance(n.func, ast.Name) and n.func.id == "Belief"]
    texts = {n.value for each in beliefs for n in ast.walk(each) if isinstance(n, ast.Constant)}
    return {t for t in texts if isinstance(t, str) and len(t.split()) >= 5}


def test_the_release_tells_no_belief(made: Workshop, lab):
    for name, text in released(made, lab).items():
        for sentence in beliefs_in_words(lab):
            assert sentence not in text, name
            assert json.dumps(sentence, ensure_ascii=False)[1:-1] not in text, name


def test_the_release_has_no_function_of_the_checks(made: Workshop, lab):
    tree = ast.parse((ROOT / "assignments" / lab / "checks.py").read_text("utf-8"))
    bodies = {
        ast.unparse(statement)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        for statement in node.body
        if isinstance(statement, ast.Return) and len(ast.unparse(statement)) > 40
    }
    asks = ast.parse(released(made, lab)[f"release/{lab}/asks.py"])
    there = {ast.unparse(n) for n in ast.walk(asks) if isinstance(n, ast.stmt)}
    assert not bodies & there


def written(value: float) -> set[str]:
    """A number as people write it with four digits or more."""
    ways = {f"{value:.{digits}g}" for digits in (4, 5, 6)} | {repr(float(value))}
    ways |= {f"{value:,.0f}", f"{value:.0f}"} if value >= 1000 else set()
    return {w for w in ways if "e" not in w and len(re.sub(r"\D", "", w).strip("0")) >= 4}


@pytest.mark.usefixtures("read_once")
def test_the_release_has_no_key(made: Workshop, lab, tmp_path):
    """None of the instructor and of some students, to four digits."""
    folder = made.give(tmp_path / "x" / lab)
    known = {}
    for student in ("instructor", *sample([f"student-{k}" for k in range(20)], 5)):
        found = asked(made.course, lab, student, work=folder)
        for name in found.of(Number):
            key = found.keys[name]
            assert isinstance(key, NumberKey)
            known.update(dict.fromkeys(written(float(key.value)), (name, student)))
    for file, text in released(made, lab).items():
        typed = set(re.findall(r"(?<![\w.,#-])\d[\d,]*(?:\.\d+)?(?![\w%])", text))
        assert not {n: known[n] for n in typed & set(known)}, file


def test_notebooks_are_valid_and_name_the_lab(made: Workshop, lab):
    for step in ("source", "release"):
        book = made.notebook(step)
        nbformat.validate(book)
        assert book.metadata.mlsys.lab == lab
        assert len({cell.id for cell in book.cells}) == len(book.cells)
