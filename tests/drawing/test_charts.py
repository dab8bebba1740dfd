"""Charts become scenes: bars as long as their numbers, labels that fit, words for who sees none."""

from __future__ import annotations

import pytest

from mlsys_widgets.drawing.charts import Bar, Chart, scene
from mlsys_widgets.drawing.picture import WIDTH, svg
from mlsys_widgets.drawing.scene import BARE_MARGIN, Blocks, Scene, Words

#: A letter of the widest usual font at the size of the words.
LETTER = 7.4


def marks(drawn: Scene) -> tuple[Blocks, Words]:
    bars, words = drawn.marks
    assert isinstance(bars, Blocks)
    assert isinstance(words, Words)
    return bars, words


def rows(**more: object) -> Chart:
    bars = (
        Bar("**First** `x < 1`", ((2.0, "green"), (1.0, "red")), "3 (75%)", "Because."),
        Bar("Second", (), "0 (0%)"),
    )
    values: dict[str, object] = {"most": 4.0, "legend": (("green", "right"), ("red", "wrong"))}
    return Chart("answers", "Answers", "3 of 4.", bars, **{**values, **more})  # type: ignore[arg-type]


def columns(labels: list[str], **more: object) -> Chart:
    bars = tuple(Bar(label, ((k + 1.0, "blue"),), f"{k + 1}") for k, label in enumerate(labels))
    most = float(len(labels))
    return Chart("scores", "Scores", "Many.", bars, columns=True, most=most, **more)  # type: ignore[arg-type]


def test_pieces_of_a_row_follow_each_other() -> None:
    bars, words = marks(scene(rows()))
    (left, low, middle, high, _), (start, *_, end, _, tone) = bars.blocks[:2]
    assert (left, middle, start, end, tone) == (0.0, 2.0, 2.0, 3.0, "red")
    assert high > low
    assert words.text[0] == "First x < 1 · 3 (75%)"


def test_the_legend_lies_above_the_rows() -> None:
    bars, words = marks(scene(rows()))
    assert words.text[-2:] == ("right", "wrong")
    assert min(words.y[-2:]) > max(words.y[:-2])
    assert {block[4] for block in bars.blocks[-2:]} == {"green", "red"}
    assert "right" not in marks(scene(rows(legend=())))[1].text


def test_a_scene_grows_with_its_rows() -> None:
    few, many = (
        scene(Chart("k", "T", "F", tuple(Bar(f"{k}", ()) for k in range(count))))
        for count in (2, 40)
    )
    assert many.height - few.height == 38 * 44


def test_long_labels_are_cut_to_the_width() -> None:
    chart = Chart("k", "T", "F", (Bar("word " * 60, ((1.0, "red"),)),))
    (text,) = marks(scene(chart))[1].text
    assert text.endswith("…")
    assert len(text) * LETTER < WIDTH - 2 * BARE_MARGIN


def test_columns_stand_side_by_side() -> None:
    drawn = scene(columns(["a", "b", "c"], across="points", measure="students"))
    bars, words = marks(drawn)
    assert [top for _, _, _, top, _ in bars.blocks] == [1.0, 2.0, 3.0]
    assert words.y == (1.0, 2.0, 3.0)
    assert drawn.across.words == ("a", "b", "c")
    assert drawn.up.high > 3.0


def test_fractions_are_written_as_percentages() -> None:
    bars = (Bar("5", ((0.5, "purple"),), "1 of 2"),)
    chart = Chart("k", "T", "F", bars, columns=True, percent=True)
    assert scene(chart).up.words == ("0%", "20%", "40%", "60%", "80%", "100%")


@pytest.mark.parametrize("count", [2, 10, 14, 30])
def test_labels_below_columns_never_collide(count: int) -> None:
    axis = scene(columns([f"{120 * k}–{120 * (k + 1)}" for k in range(count)])).across
    room = (WIDTH - 102) / (axis.high - axis.low)
    places = [tick * room for tick in axis.ticks]
    for left, right, word in zip(places, places[1:], axis.words, strict=False):
        assert right - left > 0.9 * LETTER * len(word)


def test_the_description_says_everything_without_marks() -> None:
    words = rows().description
    assert words == "Answers. 3 of 4. First x < 1: 3 (75%); Second: 0 (0%)"
    assert Chart("k", "Why?", "F.", ()).description == "Why? F."


@pytest.mark.parametrize("chart", [rows(), columns(["a"]), Chart("k", "T", "F", ())])
def test_every_chart_can_be_drawn(chart: Chart) -> None:
    assert svg((scene(chart),), chart.description).endswith("</svg>")


@pytest.mark.parametrize("most", [1, 2, 7, 12, 100])
def test_counts_have_whole_ticks(most: int) -> None:
    chart = Chart("k", "T", "F", (Bar("a", ((1.0, "blue"),)),), columns=True, most=float(most))
    axis = scene(chart).up
    assert len(axis.ticks) >= 2
    assert all(tick == int(tick) for tick in axis.ticks)
    assert axis.high > most
