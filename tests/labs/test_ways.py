"""The way through each lab: a checklist stands at its instrument, a comparison before questions."""

from __future__ import annotations

from mlsys_widgets.authoring.text import LabCell, read
from mlsys_widgets.authoring.ways import explored_on, has_moves
from tests.labs.rehearsal import ROOT


def test_every_checklist_stands_directly_at_an_instrument(lab):
    cells = read(ROOT / "assignments" / lab / "lab.py")
    asking = [cell.name for cell in cells if cell.kind == "reveal" and has_moves(cell)]
    found = explored_on(cells)
    assert asking
    assert [name for names in found.values() for name in names] == asking


def test_a_comparison_comes_before_the_questions_that_follow_its_prediction(lab):
    """Between a prediction and its comparison nothing else is asked that gives points."""
    cells = read(ROOT / "assignments" / lab / "lab.py")
    places = {cell.name: k for k, cell in enumerate(cells) if cell.kind == "card"}
    for k, cell in enumerate(cells):
        if cell.kind == "reveal":
            between = cells[places[cell.name] : k]
            graded = [each.name for each in between if each.kind in ("answer", "essay")]
            assert not graded, f"{cell.name} comes after {graded}"


def test_a_checklist_apart_from_its_instrument_is_explored_nowhere():
    cells = [
        LabCell("instrument", "Roofline", "roof", "1"),
        LabCell("prose", "", "Words.", "2"),
        LabCell("reveal", "bound", "lab.reveal('bound', moves=[large])", "3"),
        LabCell("reveal", "broken", "lab.reveal(", "4"),
    ]
    assert explored_on(cells) == {}
