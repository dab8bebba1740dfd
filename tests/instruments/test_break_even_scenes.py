"""The picture of the break-even: axes on a ladder, lines that end where they leave the plot."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Line, Points, Words
from mlsys_widgets.instruments import break_even_scenes as scenes
from tests.instruments.test_break_even_film import deployments


def test_ladders_climb_in_steps_that_keep_things_visible() -> None:
    # A step of five leaves the break-even at a fifth of its axis at least.
    spans = scenes._DAYS
    assert list(spans) == sorted(spans)
    assert all(b / a <= 5 * (1 + 1e-9) for a, b in itertools.pairwise(spans))
    # The latest break-even that is drawn, and the shortest with 1e9 inferences a day.
    assert spans[-1] >= scenes._FAR * 365
    assert spans[0] <= 0.1 / 1e9


@given(deployments)
def test_axes_are_rungs_and_hold_what_is_drawn(result: ph.Deployment) -> None:
    scene = scenes.crossing_of(result, None)
    assert min(abs(scene.across.high / rung - 1) for rung in scenes._DAYS) < 1e-6
    assert min(abs(scene.up.high / rung - 1) for rung in scenes._SECONDS[1:]) < 1e-6
    for mark in scene.marks:
        if isinstance(mark, Line | Points):
            assert all(0 <= x <= scene.across.high * (1 + 1e-6) for x in mark.x), mark.name
            assert all(0 <= y <= scene.up.high * (1 + 1e-6) for y in mark.y), mark.name
    # One of the two places has the words.
    words = [mark for mark in scene.marks if isinstance(mark, Words)]
    assert sorted(len(mark.text) for mark in words) == [0, 2]
    assert all(0 <= y <= scene.up.high for mark in words for y in mark.y)


@given(deployments, st.floats(0, 1))
def test_the_volume_for_a_place_breaks_even_there(result: ph.Deployment, part: float) -> None:
    if not scenes.is_near(result):
        return
    until = scenes._across(result)
    volume = scenes.volume_for(result, part * until)
    days = float(result.break_even) / volume
    assert 0 < days <= until
    if 0.001 * until < part * until < min(0.99 * until, 0.99 * scenes._FAR * result.days):
        assert days == pytest.approx(part * until)


def test_the_latest_and_the_earliest_are_kept_on_the_strip() -> None:
    never = ph.deployment(30, 1450, gain=0.0, per_day=1000, days=1)
    assert math.isinf(never.break_even)
    strip = scenes.strip_of(never, 1e12)
    marks = {mark.name: mark for mark in strip.marks}
    guess = marks["prediction on the strip"]
    assert isinstance(guess, Line)
    assert guess.x == (strip.across.high,) * 2
    moment = marks["break-even moment"]
    assert isinstance(moment, Points)
    assert moment.x == ()


def test_each_plot_names_its_own_signs() -> None:
    # 2,258 inferences at 2,400 a day: 22.6 hours, of which the service has 12.
    late = ph.deployment(10, 64.5, gain=0.4, per_day=2400, days=0.5)
    crossing, strip = scenes.crossing_of(late, 1000), scenes.strip_of(late, 1000)
    names = [words for words, _, _ in crossing.legend]
    assert names == [
        "Compile time, 10 s",
        "Time saved so far",
        "Break-even",
        "End of service",
        "Your prediction, 1,000 inferences",
    ]
    assert [words for words, _, _ in strip.legend] == [
        "Not yet recovered",
        "Earning",
        "End of service, 12 hours",
        "Break-even",
        "Your prediction, 1,000 inferences",
    ]
