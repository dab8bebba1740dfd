"""A scene on the screen: marks that stay and only change their data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mlsys_widgets.drawing.scene import Axis, Blocks, Line, Points, Scene, Strokes, Words
from mlsys_widgets.drawing.theme import LIVE, TONES
from mlsys_widgets.instruments.plot import PackedNumbers, Plot, _key

ACROSS = Axis("Time", 1.0, 100.0, True, (1.0, 10.0, 100.0), ("1 s", "10 s", "100 s"))
UP = Axis("Rate", 0.0, 5.0)


def scene(*marks: Any, across: Axis = ACROSS, up: Axis = UP, height: int = 200) -> Scene:
    return Scene(across, up, marks, height)


def messages(mark: Any) -> list[set[str]]:
    """The traits that are sent, message by message, from now on."""
    sent: list[set[str]] = []
    mark._send = lambda message, buffers=None: sent.append(set(message["state"]))
    return sent


def test_every_kind_of_mark_is_drawn_with_its_data() -> None:
    plot = Plot(
        scene(
            Line("line", (1.0, 2.0), (3.0, 4.0), "blue", "dashed"),
            Points("points", (1.0,), (2.0,), "red", "diamond", 50),
            Blocks("blocks", ((1.0, 0.0, 2.0, 1.0, "green"), (2.0, 0.0, 3.0, 1.0, "red")), 0.5),
            Strokes("strokes", (((1.0, 1.0), (2.0, 2.0), (3.0, 1.0)), ((1.0, 0.0), (2.0, 0.0)))),
            Words("words", (1.0,), (1.0,), ("here",)),
        )
    )
    assert list(plot.marks["line"].y) == [3, 4]
    assert plot.marks["line"].line_style == "dashed"
    assert plot.marks["points"].marker == "diamond"
    assert plot.marks["blocks"].fill_colors == [LIVE.get(t) or TONES[t] for t in ("green", "red")]
    # The shorter stroke repeats its last corner.
    assert plot.marks["strokes"].x.tolist() == [[1, 2, 3], [1, 2, 2]]
    assert list(plot.marks["words"].text) == ["here"]


@pytest.mark.parametrize(
    "empty",
    [
        Line("mark", (), (), "blue"),
        Points("mark", (), (), "blue"),
        Blocks("mark", ()),
        Strokes("mark", ()),
        Words("mark", (), (), ()),
    ],
    ids=lambda mark: type(mark).__name__,
)
def test_a_mark_without_places_is_hidden(empty: Any) -> None:
    drawn = Plot(scene(empty)).marks["mark"]
    assert drawn.visible is False
    assert np.isfinite(drawn.x).all()


def test_an_update_keeps_the_marks_and_changes_their_data() -> None:
    first = Line("line", (1.0, 2.0), (3.0, 4.0), "blue")
    still = Points("points", (1.0,), (2.0,), "red")
    plot = Plot(scene(first, still))
    marks = dict(plot.marks)
    moved, quiet = messages(marks["line"]), messages(marks["points"])
    plot.update(scene(replace(first, y=(5.0, 6.0)), still))
    assert plot.marks == marks
    assert list(marks["line"].y) == [5, 6]
    assert moved == quiet == []  # a mark sends nothing on its own
    numbers = PackedNumbers()
    ((place, state),) = plot.changed_state(numbers)
    assert plot.followers[place] is marks["line"]
    assert state == {"y": {"span": [0, 2]}}
    assert np.frombuffer(numbers.buffer, np.float32).tolist() == [5, 6]


def test_words_that_go_to_the_other_side_of_their_place_end_there() -> None:
    """As the note at a line does that is dragged to the edge of the plot."""
    right = Words("note", (2.0,), (1.0,), ("target",), align="start")
    plot = Plot(scene(right))
    plot.update(scene(replace(right, x=(1.9,), align="end")))
    assert plot.marks["note"].align == "end"
    ((_, state),) = plot.changed_state(PackedNumbers())
    assert state["align"] == "end"


def test_what_changed_once_travels_with_every_state() -> None:
    """A state is whole: whoever missed the one before has everything from the next."""
    first = Line("line", (1.0, 2.0), (3.0, 4.0), "blue")
    other = Line("other", (1.0, 2.0), (3.0, 4.0), "red")
    plot = Plot(scene(first, other))
    plot.update(scene(replace(first, y=(5.0, 6.0)), other))
    plot.update(scene(replace(first, y=(5.0, 6.0)), replace(other, x=(1.5, 2.5))))
    numbers = PackedNumbers()
    assert plot.changed_state(numbers) == [
        [0, {"y": {"span": [0, 2]}}],
        [1, {"x": {"span": [2, 2]}}],
    ]
    assert np.frombuffer(numbers.buffer, np.float32).tolist() == [5, 6, 1.5, 2.5]


def test_a_browser_that_asks_gets_everything() -> None:
    mark = Plot(scene(Line("line", (1.0, 2.0), (3.0, 4.0), "blue"))).marks["line"]
    sent = messages(mark)
    mark.send_state()
    assert {"x", "y", "colors"} <= sent[0]


def test_a_ghost_lies_behind_the_marks_and_leaves_without_a_trace() -> None:
    line = Line("line", (1.0, 2.0), (3.0, 4.0), "blue")
    plot = Plot(scene(line))
    plot.draw_pinned((replace(line, name="pinned line", tone="gray"),))
    behind, front = plot.figure.marks
    assert (behind.colors, front) == ([TONES["gray"]], plot.marks["line"])
    plot.draw_pinned(())
    assert plot.figure.marks == [front]


def test_the_frame_leaves_room_for_the_largest_symbol() -> None:
    """The numbers are bqplot's: half the square root of a symbol's size, rounded down, and one."""
    frame = Plot(scene(Points("points", (1.0,), (2.0,), "red", size=120))).frame
    assert frame == [[1.0, 100.0, True], [0.0, 5.0, False], [16 + 6, 24 + 6, 48 + 6, 78 + 6]]


def test_an_axis_follows_with_its_limits_and_labels() -> None:
    line = Line("line", (1.0, 2.0), (3.0, 4.0), "blue")
    plot = Plot(scene(line))
    further = replace(ACROSS, high=1000.0, ticks=(1.0, 1000.0), words=("1 s", "1000 s"))
    plot.update(scene(line, across=further))
    axis = plot.figure.axes[0]
    assert plot.figure.marks[0].scales["x"].max == 1000
    assert axis.tick_values.tolist() == [1, 1000]
    assert axis.tick_labels["1000"] == "1000 s"


@pytest.mark.parametrize(
    ("tick", "key"),
    [(0.0, "0"), (1.0, "1"), (0.1, "0.1"), (1e-6, "0.000001"), (1e-7, "1e-7"), (2.5e-9, "2.5e-9"),
     (1e20, "100000000000000000000"), (1e21, "1e+21"), (1.5e22, "1.5e+22")],
)  # fmt: skip
def test_a_tick_has_the_key_that_javascript_gives_it(tick: float, key: str) -> None:
    assert _key(tick) == key


def test_a_bare_scene_has_a_small_margin() -> None:
    bare = Axis("", 0.0, 1.0)  # nothing to write on either axis
    assert Plot(scene(across=bare, up=bare)).figure.fig_margin["left"] < 20
    assert Plot(scene()).figure.fig_margin["left"] > 50
