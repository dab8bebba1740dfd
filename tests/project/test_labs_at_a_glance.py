"""The page for instructors says what the labs are today, and names cells that exist."""

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


def test_it_maps_every_promise_to_a_cell_that_exists(glance, found, root):
    parts = sections(glance.page(found))
    assert len(parts) == len(found) == len(list((root / "source").glob("*/asks.py")))
    for each in found:
        part = parts[each.lab.title]
        path = root / "source" / each.lab.name / f"{each.lab.name}.ipynb"
        ids = {cell.id for cell in nbformat.read(path, 4).cells}
        kinds = ("card_", "reveal_", "instrument_", "question_", "check_", "answer_", "show_")
        named = set(re.findall(r"`([A-Za-z0-9_-]+)`", part))
        assert {name for name in named if name.startswith(kinds)} <= ids | set(each.lab.design)
        for heading in ("Minutes", "Goals", "Predictions", "Instruments", "Failure states",
                        "Ledger fields", "Points"):  # fmt: skip
            assert f"**{heading}**" in part, (each.lab.name, heading)
        # Every committed prediction is compared with something.
        for name, item in each.items.items():
            if isinstance(item, Prediction):
                assert f"| `card_{name}` | `reveal_{name}` |" in part, name
        assert all(f"| `{field}` |" in part for field in each.lab.design)
        instruments = part.split("**Instruments**")[1].split("**")[0]
        shown = re.findall(r"\| `(instrument_\S+)` \|$", instruments, re.M)
        assert sorted(shown) == sorted(i for i in ids if i.startswith("instrument_"))


def test_points_add_up_and_minutes_are_those_of_the_notebook(glance, found):
    for each in found:
        points = sum(float(row[2]) for row in glance._points(each))
        assert points == sum(each.lab.points(each.lab.draw("", variants=False)).values()) == 100
        assert each.minutes.sittings


def test_moves_limits_and_constraints_are_read_from_the_code(glance, tmp_path):
    """A lab that does everything at once, as its notebook has it."""
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
    code = {
        "card_guess": 'lab.card("guess")',
        "instrument_Budget": 'b = MemoryBudget(lock=lab.card("guess"))\n'
        'b.targets = [Target("total", 1, "x"), Target(name, 1, "y")]',
        "reveal_guess": 'lab.reveal("guess", moves=[Move("Raise N", b, n=2), Move("Lower N", b)])',
        "show_hud": 'lab.hud(constraints={"Memory": b, **more})',
    }
    cells = [nbformat.v4.new_markdown_cell("# X\n\n## Act 1: One")]
    for name, source in code.items():
        about = {"mlsys": {"kind": "instrument", "title": "Budget"}} if "Budget" in name else {}
        cells.append(nbformat.v4.new_code_cell(source, id=name, metadata=about))
    metadata = {"mlsys": {"minutes": {"sittings": [[1, 20], [1, 30]], "deeper": [[1, 5]]}}}
    book = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    (folder / "lab_x.ipynb").write_text(nbformat.writes(book), "utf-8")
    page = glance.page(glance.labs(tmp_path))
    for row in (
        "| Act 1: One (after a break) | 30 |",
        "| deeper, Act 1: One | 5 |",
        "| A guess | 1 | `card_guess` | `reveal_guess` | Raise N; Lower N |",
        "| Budget | `MemoryBudget` | Act 1: One | A guess | `instrument_Budget` |",
        "| target on `total` | lamp of the design | `instrument_Budget` |",
        "| Out of memory: by how much | `MemoryBudget` | `instrument_Budget` |",
        "| Memory | HUD | `show_hud` |",
    ):
        assert row in page, row
    assert "Lab X: it \\| breaks" in page
