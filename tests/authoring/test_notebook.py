"""The instructor's notebook as nbgrader and JupyterLab want it, and what cannot be built."""

from __future__ import annotations

import nbformat
import pytest

from mlsys_widgets.authoring import Course
from mlsys_widgets.authoring.hidden_tests import CheckSource
from mlsys_widgets.authoring.notebook import VARIES, Notebook
from mlsys_widgets.authoring.text import read
from mlsys_widgets.labs import load
from tests.authoring.conftest import DEMO


@pytest.fixture
def made(home, course):
    def make(of=None):
        return Notebook(load(home), CheckSource(home / "checks.py"), of or course).make(
            read(home / "lab.py")
        )

    return make


def test_it_is_a_valid_notebook_with_nbgraders_metadata(made):
    from nbgrader.nbgraderformat import MetadataValidator

    book = made()
    nbformat.validate(book)
    validator = MetadataValidator()
    for cell in book.cells:
        if "nbgrader" in cell.metadata:
            assert cell.metadata.nbgrader.schema_version == 3
            validator.validate_cell(cell)
    ids = [cell.metadata.nbgrader.grade_id for cell in book.cells if "nbgrader" in cell.metadata]
    assert len(set(ids)) == len(ids)
    assert len({cell.id for cell in book.cells}) == len(book.cells)
    assert all(cell.cell_type == "markdown" or not cell.outputs for cell in book.cells)


def test_cells_are_locked_folded_or_open_as_they_should_be(made):
    for cell in made().cells:
        said = cell.metadata.get("nbgrader")
        if said is None:  # prose
            assert cell.metadata == {"deletable": False, "editable": False}
        elif said.solution:
            assert not said.locked
            assert "jupyter" not in cell.metadata
        else:
            assert said.locked
            assert said.grade or cell.metadata.jupyter == {"source_hidden": True}


def test_widget_cells_are_one_or_two_lines(made):
    for cell in made().cells:
        if cell.metadata.get("jupyter", {}).get("source_hidden") and cell.id != "setup":
            said, *code = cell.source.splitlines()
            assert said.startswith("# ")  # what JupyterLab shows of a folded cell
            assert len(code) <= 2


def test_points_are_those_of_the_lab(made, home):
    lab = load(home)
    said = {
        c.metadata.nbgrader.grade_id: c.metadata.nbgrader.points
        for c in made().cells
        if c.metadata.get("nbgrader", {}).get("grade")
    }
    assert said == lab.points(lab.draw("x"))
    assert all(isinstance(points, int) for points in said.values())


def test_ids_stay_when_a_cell_is_inserted_above(made, change):
    before = [cell.id for cell in made().cells]
    change("lab.py", "# %% setup=true", "# %% [markdown]\n# A new paragraph.\n\n# %% setup=true")
    after = [cell.id for cell in made().cells]
    (new,) = set(after) - set(before)
    assert [each for each in after if each != new] == before


def test_two_cells_that_say_the_same_have_ids_of_their_own(made, change):
    twice = '# %% show="Where you stand"\nlab.hud()\n'
    change("lab.py", twice, f"{twice}\n{twice}")
    assert [c.id for c in made().cells][-2:] == ["show_Where-you-stand", "show_Where-you-stand-2"]


def test_variants_and_edition_are_built_in(made, home, course):
    told = made(Course(course.root, variants=False, edition="2027 'b'"))
    sources = {cell.id: cell.source for cell in told.cells}
    built_in = """variants=False, edition="2027 'b'")"""
    assert f'open_lab("{DEMO}", {built_in}' in sources["setup"]
    assert f"award(limit, globals(), points=20, {built_in}" in sources["check_limit"]
    assert "variants" not in sources["check_commitments"]
    assert "variants" not in "".join(cell.source for cell in made().cells)


def test_minutes_are_counted_when_it_is_built_unless_its_author_knows(made, change):
    book = made()
    ((act, minutes),) = book.metadata.mlsys.minutes.sittings[:1]
    assert (act, 10 <= minutes <= 30) == (1, True)
    (setup,) = (cell for cell in book.cells if cell.id == "setup")
    assert setup.source.endswith(f"lab.welcome(minutes={dict(book.metadata.mlsys.minutes)})")
    change("asks.py", "chapter=0,", 'chapter=0, minutes="25",')
    book = made()
    assert "minutes" not in book.metadata.mlsys
    (setup,) = (cell for cell in book.cells if cell.id == "setup")
    assert setup.source.endswith("lab.welcome()")
    change("lab.py", "# %% setup=true", "# %% setup=true\ncover = None")
    (setup,) = (cell for cell in made().cells if cell.id == "setup")
    assert setup.source.endswith("lab.welcome(cover)")


def test_what_depends_on_the_time_is_not_compared_by_nbval(made):
    tagged = {cell.id for cell in made().cells if VARIES in cell.metadata.get("tags", ())}
    assert tagged == {"show_Where-you-stand"}


def test_a_question_says_which_instruments_above_it_names(made, change):
    assert not any("reads" in cell.metadata.get("mlsys", {}) for cell in made().cells)
    change("asks.py", "What would limit the fused kernel", "Look at the roofline. What would limit")
    reads = {cell.id: cell.metadata.get("mlsys", {}).get("reads") for cell in made().cells}
    assert {name: titles for name, titles in reads.items() if titles} == {
        "question_limit": ["The roofline"]
    }
