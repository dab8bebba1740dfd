"""The page for instructors says what the labs are today."""

from __future__ import annotations

import re

import nbformat
import pytest

from mlsys_widgets.labs import Prediction


@pytest.fixture(scope="module")
def glance(tool):
    pytest.importorskip("bqplot")
    return tool("labs_at_a_glance")


@pytest.fixture(scope="module")
def found(glance, root):
    return glance.labs(root / "source")


def test_the_page_is_current(glance, found, root):
    kept = (root / "docs" / "instructors" / "labs-at-a-glance.md").read_text("utf-8")
    stale = "the page is stale: run .venv/bin/python tools/labs_at_a_glance.py"
    assert kept == glance.page(found), stale


def sections(page):
    """The parts of the page, by the title of their lab."""
    return {part.splitlines()[0]: part for part in re.split(r"^## ", page, flags=re.M)[1:]}


def test_it_names_every_prediction_instrument_and_graded_item(glance, found, root):
    parts = sections(glance.page(found))
    assert len(parts) == len(found) == len(list((root / "source").glob("*/asks.py")))
    for each in found:
        part = parts[each.lab.title]
        names = [item.title for item in each.items.values() if isinstance(item, Prediction)]
        names += [item.title for deeper in (False, True) for item in glance.graded(each, deeper)]
        names += [cell.title for cell in each.cells if cell.is_instrument]
        assert [name for name in names if name not in part] == []


def test_points_add_up_and_minutes_are_those_of_the_notebook(glance, found):
    for each in found:
        points = sum(
            item.points for deeper in (False, True) for item in glance.graded(each, deeper)
        )
        assert points == sum(each.lab.points(each.lab.draw("", variants=False)).values()) == 100
        assert each.minutes.sittings


def test_acts_are_read_from_the_notebook(glance, tmp_path):
    folder = tmp_path / "lab_x"
    folder.mkdir()
    (folder / "asks.py").write_text(
        "from mlsys_widgets.labs import Lab, Prediction\n"
        'lab = Lab("lab_x", title="Lab X: it | breaks", chapter=0, acts=("One",))\n'
        "@lab.asks\n"
        "def guess(p):\n"
        '    return Prediction("?", {"A": "a", "B": "b"}, answer="A", title="A guess", act=1)\n',
        "utf-8",
    )
    about = {"mlsys": {"kind": "instrument", "title": "Budget"}}
    cells = [
        nbformat.v4.new_markdown_cell("# X\n\n## Act 1: One"),
        nbformat.v4.new_code_cell("MemoryBudget()", id="instrument_Budget", metadata=about),
    ]
    metadata = {"mlsys": {"minutes": {"sittings": [[1, 20], [1, 30]], "deeper": [[1, 5]]}}}
    book = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    (folder / "lab_x.ipynb").write_text(nbformat.writes(book), "utf-8")
    page = glance.page(glance.labs(tmp_path))
    assert "| 1: One | 50, 5 deeper |  | A guess | Budget |" in page
    assert "Lab X: it \\| breaks" in page
