"""The pictures of docs/physics/serving.md show what the core computes and what was measured."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from mlsys_widgets import measured
from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Blocks, Line, Points

NAMES = ("one_step", "against_batch", "against_prompt", "shares", "binding", "agreement")


@pytest.fixture(scope="module")
def pictures(tool):
    return tool("serving_pictures")


@pytest.fixture(scope="module")
def figures(pictures):
    return {make.__name__: make() for make in pictures.FIGURES}


def marks(figure, kind):
    return [mark for scene in figure.scenes for mark in scene.marks if isinstance(mark, kind)]


def test_every_picture_is_on_the_page(pictures, figures, root):
    page = (root / "docs" / "physics" / "serving.md").read_text("utf-8")
    assert tuple(figures) == NAMES
    for name in NAMES:
        assert f"draw(sp.{name}())" in page


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_also_told_in_words(figures, name):
    figure = figures[name]
    drawn = ET.fromstring(figure.svg())
    assert drawn.get("role") == "img"
    title = drawn.find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == figure.alternative
    assert figure.heading in figure.alternative
    assert any(letter.isdigit() for letter in figure.alternative)
    assert "nan" not in figure.svg()


@pytest.mark.parametrize("launch", ["graph", "async"])
def test_the_parts_of_a_bar_are_the_whole(pictures, launch):
    done = pictures.modeled("decode", 16, 1000, launch)
    for pieces in (pictures.components(done), pictures.causes(done)):
        assert sum(pieces.values()) == pytest.approx(done.time)
        assert min(pieces.values()) >= 0


def test_bars_of_one_step_are_as_high_as_the_times(pictures, figures):
    stacked, plain = marks(figures["one_step"], Blocks)
    tops = [block[3] for block in plain.blocks]
    book = float(ph.decode("llama31-8b", "h200-sxm", 1, 2048).time)
    real = [
        case.seconds.median
        for variant in ("graph", "eager")
        for case in measured.cases(
            "h200-sxm", kind="serving", variant=variant, precision="fp16",
            phase="decode", batch=1, sequence=2048,
        )
    ]  # fmt: skip
    assert tops == pytest.approx([book, real[0], book, real[1]])
    # The last part on top ends where the pass does.
    ends = [stacked.blocks[place * len(pictures.PARTS) - 1][3] for place in (1, 2)]
    times = [pictures.modeled("decode", 1, 2048, launch).time for launch in ("graph", "async")]
    assert ends == pytest.approx(times)


def test_lines_are_the_forms_and_points_are_measured(pictures, figures):
    for name, phase in (("against_batch", "decode"), ("against_prompt", "prefill")):
        known = {case.seconds.median for case in measured.cases("h200-sxm", kind="serving")}
        found = [second for mark in marks(figures[name], Points) for second in mark.y]
        assert found
        assert set(found) <= known
        book, graph, launched = marks(figures[name], Line)[:3]
        assert all(a < b <= c for a, b, c in zip(book.y, graph.y, launched.y, strict=True))
        size = float(book.x[0])
        asked = (size, 2048) if phase == "decode" else (1, size)
        assert book.y[0] == pictures.textbook(phase, *asked)


@pytest.mark.parametrize("name", ["shares", "binding"])
def test_columns_are_whole(figures, name):
    for mark in marks(figures[name], Blocks):
        lefts = sorted({block[0] for block in mark.blocks})
        tops = [max(block[3] for block in mark.blocks if block[0] == left) for left in lefts]
        assert tops == pytest.approx([1.0] * len(lefts))


def test_everything_that_is_drawn_fits_into_memory(pictures):
    for batch, context in (
        *((batch, pictures.ONE_CONTEXT) for batch in pictures.BATCHES),
        *((pictures.CONTEXT_BATCH, context) for context in pictures.CONTEXTS),
    ):
        assert not ph.footprint("llama31-8b", "h200-sxm", batch, context).out_of_memory


def test_the_table_has_every_part(pictures):
    rows = pictures.part_table().splitlines()
    assert [row.split("|")[1].strip() for row in rows[2:]] == [
        *(words for words, _ in pictures.PARTS.values()),
        "together",
    ]


def test_every_measured_pass_is_in_the_picture_of_agreement(figures):
    points = marks(figures["agreement"], Points)
    passes = measured.cases("h200-sxm", kind="serving", precision="fp16")
    assert sum(len(mark.x) for mark in points) == 2 * len(passes)
    assert all(ratio < 1 for mark in points if mark.name.startswith("textbook") for ratio in mark.y)
