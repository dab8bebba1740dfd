"""Cells that a notebook has lost are recognized where they are, or restored where they were."""

from __future__ import annotations

import nbformat
import pytest

from mlsys_widgets.notebooks.blueprint import Blueprint, SourceCell
from mlsys_widgets.notebooks.cell_metadata import grade_id
from mlsys_widgets.notebooks.lost_cells import NOT_THERE, recognize, restore_cells
from mlsys_widgets.notebooks.remarks import RemarkKind
from mlsys_widgets.notebooks.sanitizing import sanitize

TEST = "limit = read()\n### BEGIN HIDDEN TESTS\nassert limit\n### END HIDDEN TESTS"
BLUEPRINT = Blueprint(
    "lab",
    {"name": "python3", "display_name": "Python 3"},
    {
        "setup": SourceCell("code", "lab = open_lab()", "a", True),
        "limit_answer": SourceCell("code", "# Compute here.\n", "b", False, solution=True),
        "limit": SourceCell("code", TEST, "c", True, graded=True, metadata={"points": 5.0}),
        "card": SourceCell("code", "lab.card()", "d", True),
        "essay": SourceCell(
            "markdown", "*Here.*", "e", False, graded=True, solution=True, metadata={"points": 2.0}
        ),
        "end": SourceCell("code", "lab.hud()", "f", True),
    },
)


def cell(source: str, kind: str = "code", **metadata):
    made = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
    return made(source, metadata=metadata)


def stripped(*, but: tuple[str, ...] = (), **texts: str) -> nbformat.NotebookNode:
    """The lab as an editor saves it that drops all metadata; some cells have other texts."""
    released = {
        name: source.source.split("\n### BEGIN")[0] for name, source in BLUEPRINT.cells.items()
    }
    cells = [
        cell(texts.get(name, text), BLUEPRINT.cells[name].kind)
        for name, text in released.items()
        if name not in but
    ]
    return nbformat.v4.new_notebook(cells=cells)


def names(book) -> list[str | None]:
    return [grade_id(each) for each in book.cells]


def test_every_cell_is_recognized_by_its_text_or_its_place():
    book = stripped(limit_answer="limit = 3", essay="Buy more memory.")
    assert set(recognize(book, BLUEPRINT)) == set(BLUEPRINT.cells)
    assert names(book) == list(BLUEPRINT.cells)
    assert book.cells[1].source == "limit = 3"


def test_white_space_does_not_matter():
    book = stripped(setup="lab=open_lab( )  \n", essay="My text.")
    recognize(book, BLUEPRINT)
    assert names(book)[0] == "setup"


def test_a_sound_notebook_is_left_alone():
    book = stripped()
    recognize(book, BLUEPRINT)
    before = nbformat.from_dict(book)
    assert recognize(book, BLUEPRINT) == ()
    assert restore_cells(book, BLUEPRINT) == ()
    assert book == before


def test_where_two_cells_could_be_meant_none_is_taken():
    book = stripped(limit_answer="limit = 3")
    book.cells.insert(2, cell("other = 4"))
    recognize(book, BLUEPRINT)
    assert names(book) == ["setup", None, None, "limit", "card", "essay", "end"]


def test_of_two_cells_the_one_that_begins_as_released_is_taken():
    book = stripped(limit_answer="# Compute here.\nlimit = 3")
    book.cells.insert(1, cell("other = 4"))
    recognize(book, BLUEPRINT)
    assert names(book)[:4] == ["setup", None, "limit_answer", "limit"]


def test_text_of_the_lab_is_not_taken_for_an_essay():
    book = stripped(but=("essay",))
    book.cells.insert(4, cell("## The lab's own words", "markdown", editable=False))
    recognize(book, BLUEPRINT)
    assert "essay" not in names(book)


@pytest.mark.parametrize("gone", ["setup", "card", "end"])
def test_the_labs_own_code_comes_back_where_it_was(gone):
    book = stripped(but=(gone,))
    recognize(book, BLUEPRINT)
    assert restore_cells(book, BLUEPRINT) == (gone,)
    assert names(book) == list(BLUEPRINT.cells)
    nbformat.validate(book)


def test_it_comes_below_what_a_student_wrote_there():
    book = stripped(but=("card",))
    recognize(book, BLUEPRINT)
    book.cells.insert(3, cell("mine = 1"))
    restore_cells(book, BLUEPRINT)
    assert [each.source for each in book.cells[3:5]] == ["mine = 1", "lab.card()"]


def test_a_deleted_test_does_not_come_back_and_a_written_answer_waits_for_a_person():
    book = stripped(but=("limit", "essay", "limit_answer"))
    recognize(book, BLUEPRINT)
    assert restore_cells(book, BLUEPRINT) == ("essay",)
    assert names(book) == ["setup", "card", "essay", "end"]
    assert book.cells[2].source == NOT_THERE


def test_what_is_graded_and_missing_is_still_said():
    sane = sanitize(stripped(but=("limit", "essay")), BLUEPRINT)
    assert sane.missing == ("limit", "essay")
    assert {remark.kind for remark in sane.remarks} >= {
        RemarkKind.MISSING_CELL,
        RemarkKind.LOST_METADATA,
    }
    assert RemarkKind.RESTORED_CELL not in {remark.kind for remark in sane.remarks}


def test_a_deleted_set_up_is_named():
    sane = sanitize(stripped(but=("setup", "card")), BLUEPRINT)
    (remark,) = (each for each in sane.remarks if each.kind is RemarkKind.RESTORED_CELL)
    assert "were missing (setup, card). They were restored" in remark.sentence


def test_restored_cells_have_points_and_checksum_again():
    sane = sanitize(stripped(limit_answer="limit = 3", essay="Mine."), BLUEPRINT)
    metadata = {grade_id(each): each.metadata.nbgrader for each in sane.notebook.cells}
    assert metadata["limit"]["points"] == 5.0
    assert {name: each["checksum"] for name, each in metadata.items()} == {
        name: source.checksum for name, source in BLUEPRINT.cells.items()
    }
    assert RemarkKind.OTHER_METADATA not in {remark.kind for remark in sane.remarks}


def test_ids_stay_unique():
    book = stripped(but=("setup",))
    book.cells[0].id = "setup"
    recognize(book, BLUEPRINT)
    restore_cells(book, BLUEPRINT)
    assert len({each.id for each in book.cells}) == len(book.cells)
