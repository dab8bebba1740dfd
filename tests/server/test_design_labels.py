"""The panel shows what the fields of a design say, for any lab, read from its notebook."""

from __future__ import annotations

import json

import nbformat
import pytest

from mlsys_widgets.authoring.notebook import Notebook
from mlsys_widgets.authoring.text import LabCell
from mlsys_widgets.course.course import Course
from mlsys_widgets.labs import Lab
from mlsys_widgets.ledger import DesignForm, Ledger
from mlsys_widgets.ledger.designs import choice, flag, number
from mlsys_widgets.server.design_labels import DesignLabel, design_labels
from mlsys_widgets.server.reports import report

NAME = "lab_97_mine"
DESIGN = {
    "tile": number("side of the tile", 1),
    "fits": flag("whether it fits"),
    "level": choice("where it lives", "l2", "hbm", called={"hbm": "HBM"}),
}
LABELS = {"tile": "side of the tile", "fits": "whether it fits"}


def book(about, path):
    path.write_text(json.dumps({"metadata": {"mlsys": about}}), "utf-8")


def test_the_lab_of_an_instructor_gets_the_same_panel(tmp_path):
    """What the builder writes into a notebook is what the panel shows, whoever wrote the lab."""
    lab = Lab(NAME, title="Mine", chapter=97, acts=(), design=DESIGN)
    built = Notebook(lab, None, Course(tmp_path)).make([LabCell("setup", "", "")])
    nbformat.write(built, tmp_path / "renamed by the student.ipynb")
    led = Ledger.open(tmp_path / "ledger.jsonl", lab=NAME, student="student-01")
    led.save_design({"fits": True, "tile": 64, "level": "hbm"}, DesignForm(NAME, 97, lab.design))
    assert report(led.path).design["fields"] == [
        {"name": "tile", "about": "side of the tile", "value": 64},
        {"name": "fits", "about": "whether it fits", "value": True},
        # In words, where the ledger has a code.
        {"name": "level", "about": "where it lives", "value": "HBM"},
    ]


def test_the_notebook_of_that_name_comes_first(tmp_path):
    book({"lab": NAME, "design": [["tile", "old words"]]}, tmp_path / "a copy.ipynb")
    book(
        {"lab": NAME, "design": [list(pair) for pair in LABELS.items()]}, tmp_path / f"{NAME}.ipynb"
    )
    assert {n: label.about for n, label in design_labels(tmp_path, NAME).items()} == LABELS
    assert list(design_labels(tmp_path, NAME)) == ["tile", "fits"]


@pytest.mark.parametrize(
    "about",
    [{"lab": "other", "design": [["tile", "x"]]}, {"lab": NAME}, {"lab": NAME, "design": 7}, 7, []],
)
def test_a_notebook_that_does_not_tell(tmp_path, about):
    book(about, tmp_path / f"{NAME}.ipynb")
    assert design_labels(tmp_path, NAME) == {}


def test_what_cannot_be_read_tells_nothing(tmp_path):
    assert design_labels(tmp_path / "gone", NAME) == {}
    (tmp_path / f"{NAME}.ipynb").write_text("{", "utf-8")
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "elsewhere.ipynb")
    assert design_labels(tmp_path, NAME) == {}
    odd = [["tile", "its side", 3], ["odd"], 7]
    book({"lab": NAME, "design": odd}, tmp_path / "z.ipynb")
    assert design_labels(tmp_path, NAME) == {"tile": DesignLabel("its side", {})}
