"""The instructor's notebook as nbgrader and JupyterLab want it, and what cannot be built."""

from __future__ import annotations

import nbformat
import pytest

from mlsys_widgets.authoring import Course, TextError, build, labs_of, new_lab
from mlsys_widgets.authoring.hidden import Checks
from mlsys_widgets.authoring.notebook import Notebook
from mlsys_widgets.authoring.text import read
from mlsys_widgets.labs import load
from tests.authoring.conftest import DEMO


@pytest.fixture
def made(home, course):
    def make(of=None):
        return Notebook(load(home), Checks(home / "checks.py"), of or course).make(
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


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        (
            "lab.py",
            '# %% record="commitments"\n',
            "",
            "gives points for commitments, which lab.py places 0 times",
        ),
        (
            "lab.py",
            '# %% card="takeaways"',
            '# %% record="commitments"\n\n# %% card="takeaways"',
            "places 2 times",
        ),
        (
            "lab.py",
            '# %% card="opening"',
            '# %% card="openning"',
            "cell 3: card='openning', and asks.py has no such item",
        ),
        (
            "lab.py",
            '# %% reveal="act1_bound"',
            '# %% reveal="limit"',
            "'limit', and asks.py has no such Prediction",
        ),
        (
            "lab.py",
            "# %% setup=true",
            '# %% show="imports"',
            "must have exactly one cell with setup=true",
        ),
        ("lab.py", "{{ q(", "{{ qq(", "cell 1: .* cannot be computed: name 'qq' is not defined"),
        ("lab.py", '# %% card="act1_why"', "", "'act1_why', which lab.py never shows; nobody"),
        ("lab.py", 'limit = "memory"', 'limits = "memory"', "must end with a line limit = …"),
        ("lab.py", 'limit = "memory"', 'limit = = "memory"', "invalid syntax, in its line 2"),
        ("asks.py", 'after=["act1_bound"]', 'after=["act1_bund"]', "comes after 'act1_bund'"),
        ("asks.py", "acts=(", "acts=((", "asks.py, line .*: "),
        (
            "checks.py",
            "def limit(",
            "def _limit(",
            "has no function limit, and the lab grades that answer",
        ),
        (
            "checks.py",
            "def limit(",
            "print()\n\n\ndef limit(",
            "checks.py, line .*: this is neither an import",
        ),
        ("asks.py", f'"{DEMO}"', '"lab_03"', "asks.py declares 'lab_03'; it must be 'lab_02_demo'"),
        ("asks.py", "lab = Lab(", "other = Lab(", "asks.py.*NameError"),
        (
            "asks.py",
            "def limit(p",
            "def act1_bound(p",
            "asks act1_bound twice; each id can be used once",
        ),
        (
            "asks.py",
            'f"Our service multiplies matrices of {p.side}',
            'f"{p.size}',
            "asks.py, line .*: .*no parameter 'size'",
        ),
        (
            "asks.py",
            '"compute": "the',
            '"Compute": "the',
            "option 'Compute' must be lowercase",
        ),
    ],
)
def test_what_cannot_be_built_is_told_in_a_sentence(course, change, file, old, new, sentence):
    change(file, old, new)
    with pytest.raises(TextError, match=sentence):
        build(course)
    assert not (course.root / "source").exists()
    assert not (course.root / "release").exists()


def test_a_solution_that_fails_is_told_and_nothing_is_built(course, change):
    change("lab.py", 'limit = "memory"', "limit = 1 / 0")
    with pytest.raises(TextError) as told:
        build(course)
    assert str(told.value) == (
        "lab_02_demo: the cell answer_limit fails when the solution is run: ZeroDivisionError:"
        " division by zero"
    )
    assert not (course.root / "source").exists()


def test_only_labs_that_exist_are_built(course):
    with pytest.raises(TextError, match=r"no lab 'lab_9' in assignments/; there are: lab_02_demo"):
        build(course, ["lab_9"])
    assert labs_of(course) == [DEMO]


@pytest.mark.parametrize(
    "name", ["", "ab", "Lab_02", "2_lab", "lab-02", "lab 02", "../lab", "l" * 51, "läb_02", "lab\n"]
)
def test_names_that_are_none_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match="it must be 3 to 50 small letters, digits and _"):
        new_lab(tmp_path, name)
    assert not any(tmp_path.iterdir())


def test_a_lab_that_is_there_is_never_overwritten(course, home):
    (home / "lab.py").write_text("mine", "utf-8")
    with pytest.raises(ValueError, match="is there already; choose another name"):
        new_lab(course.root, DEMO)
    assert (home / "lab.py").read_text("utf-8") == "mine"


def test_a_second_lab_keeps_the_settings_of_the_course(course):
    settings = course.root / "assignments" / "course.toml"
    settings.write_text("variants = false\n", "utf-8")
    new_lab(course.root, "lab_03_other")
    assert settings.read_text("utf-8") == "variants = false\n"
    assert Course.at(course.root) == Course(course.root, variants=False)
    assert labs_of(course) == [DEMO, "lab_03_other"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("variants = 1", "sets variants to 1; it must be true or false"),
        ('variants = "no"', "sets variants to 'no'; it must be true or false"),
        ("edition = 2027", "sets edition to 2027; it must be a text in quotes"),
        ("editon = '1'", "sets editon; it can set: variants, edition"),
        ("variants = ", "course.toml cannot be read: "),
    ],
)
def test_settings_that_are_wrong_are_told(course, text, sentence):
    (course.root / "assignments" / "course.toml").write_text(text, "utf-8")
    with pytest.raises(ValueError, match=sentence):
        Course.at(course.root)


def test_a_folder_without_assignments_is_no_course(tmp_path):
    with pytest.raises(ValueError, match=r"there is no folder assignments in .*--course"):
        Course.at(tmp_path)
