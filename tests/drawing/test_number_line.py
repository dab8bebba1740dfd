"""Numbers on one axis: everything inside the picture, in order, and no words on other words."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.drawing.number_line import (
    NARROW,
    WIDE,
    Area,
    NumberMark,
    lay_out,
    svg,
    text_width,
)
from mlsys_widgets.wording.units import format_quantity

UNITS = ("%", "×", "s", "images", "tokens/s", "B", "")
TONES = ("model", "textbook", "measured")
NAMES = ("The model", "Textbook", "Calibrated", "Measured", "A form with quite a long name")
VALUES = st.one_of(
    st.floats(0, 1),
    st.floats(allow_nan=False),
    st.sampled_from([0.0, 1.0, 5e-324, 1e308, -1e308, 1e-6, 133_607.0, math.inf, -math.inf]),
)


def a_mark(name, value, tone, unit):
    return NumberMark(name, value, format_quantity(value, unit), tone)


@st.composite
def lines(draw):
    unit, width = draw(st.sampled_from(UNITS)), draw(st.sampled_from((WIDE, NARROW)))
    mine = a_mark("You", draw(VALUES), "prediction", unit)
    others = [
        a_mark(draw(st.sampled_from(NAMES)), draw(VALUES), draw(st.sampled_from(TONES)), unit)
        for _ in range(draw(st.integers(1, 4)))
    ]
    # The same number twice is the case in which labels are most in each other's way.
    if draw(st.booleans()):
        others.append(a_mark("Measured", others[0].value, "measured", unit))
    return lay_out(mine, others, unit=unit, counts=others[0], distance="a factor of 2", width=width)


def overlap(one, other):
    beside = one.right <= other.left or other.right <= one.left
    return not beside and one.top < other.bottom and other.top < one.bottom


def words(line):
    ticks = (label for _, label in line.ticks if label)
    distance = [line.distance_label] if line.distance_label else []
    return [*line.labels, *ticks, *distance]


@given(lines())
def test_everything_is_inside_and_no_words_meet(line):
    whole = Area(-0.01, 0, line.width + 0.01, line.height)
    for label in words(line):
        assert whole.left <= label.box.left <= label.box.right <= whole.right
        assert 0 <= label.box.top <= label.box.bottom <= line.height
    for one, other in combinations(words(line), 2):
        assert not overlap(one.box, other.box), (one, other)
    for _, x in line.marks:
        assert 9 <= x <= line.width - 9
    for x, _ in line.ticks:
        assert 0 <= x <= line.width


@given(lines())
def test_the_order_on_the_axis_is_that_of_the_numbers(line):
    places = [x for _, x in sorted(line.marks, key=lambda pair: pair[0].value)]
    assert all(a <= b + 1e-6 for a, b in pairwise(places))
    ticks = [x for x, _ in line.ticks]
    assert ticks == sorted(ticks)


@given(lines())
def test_it_is_a_picture_without_a_hole(line):
    drawn = svg(line, 'Said "so" <b>')
    assert ET.fromstring(drawn).get("aria-label") == 'Said "so" <b>'
    assert not re.search(r"\b(nan|inf)\b", re.sub(r"<text.*?</text>", "", drawn), re.IGNORECASE)


def test_equal_factors_are_equally_long_where_the_span_is_large():
    marks = [a_mark("The model", value, "model", "images") for value in (1e4, 1e6)]
    line = lay_out(a_mark("You", 1e2, "prediction", "images"), marks, unit="images")
    first, second, third = (x for _, x in line.marks)
    assert second - first == pytest.approx(third - second)


def test_what_is_not_far_apart_is_drawn_from_zero():
    line = lay_out(
        a_mark("You", 2, "prediction", "s"), [a_mark("The model", 4, "model", "s")], unit="s"
    )
    assert [label.shown for _, label in line.ticks if label] == ["0", "1", "2", "3", "4"]


def test_small_percentages_are_not_drawn_on_top_of_each_other():
    mine, model = a_mark("You", 0.013, "prediction", "%"), a_mark("The model", 0.052, "model", "%")
    line = lay_out(mine, [model], unit="%")
    assert [label.shown for _, label in line.ticks if label] == ["0%", "2%", "4%", "6%"]
    whole = lay_out(mine, [a_mark("The model", 0.7, "model", "%")], unit="%")
    assert [label.shown for _, label in whole.ticks if label][-1] == "100%"


def test_the_distance_ends_at_what_counts_and_vanishes_where_there_is_none():
    mine, model = a_mark("You", 0.7, "prediction", "%"), a_mark("The model", 0.3, "model", "%")
    timed = a_mark("Measured", 0.2, "measured", "%")
    line = lay_out(mine, [model, timed], unit="%", counts=timed, distance="50 percentage points")
    assert line.distance == (line.marks[0][1], line.marks[2][1])
    assert line.distance_label.shown == "50 percentage points"
    assert lay_out(mine, [mine], unit="%", counts=mine).distance is None
    near = a_mark("The model", 0.69, "model", "%")
    short = lay_out(mine, [near], unit="%", counts=near, distance="1 percentage point")
    assert short.distance
    assert short.distance_label is None


def test_a_value_beyond_every_number_is_at_the_end_behind_an_arrow():
    never = a_mark("The model", math.inf, "model", "images")
    line = lay_out(a_mark("You", 1e3, "prediction", "images"), [never], unit="images", counts=never)
    assert line.is_open
    assert line.marks[1][1] > max(x for x, _ in line.ticks)


def test_bold_words_are_wider():
    assert text_width("42%", 16, strong=True) > text_width("42%", 16)
