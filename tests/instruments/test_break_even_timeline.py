"""The break-even timeline says what physics says, and its remedies are remedies."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments.break_even_scenes import crossing_of
from mlsys_widgets.instruments.break_even_timeline import (
    BreakEvenTimeline,
    gain_needed,
    left_to_earn,
    remedies,
)
from mlsys_widgets.instruments.controls import Slider
from mlsys_widgets.instruments.live_math import live_math
from mlsys_widgets.wording.units import in_one_unit
from tests.instruments.drawn import handles, mark
from tests.instruments.test_break_even_film import INPUTS

show = ph.format_quantity
PRESETS = ("resnet50-cloud", "kws-cloud", "kws-edge", "kws-service", "ci-run")

inputs = st.fixed_dictionaries(INPUTS)


def test_resnet50_in_the_cloud() -> None:
    w = BreakEvenTimeline()
    assert round(w.result.break_even) == 133_607
    assert show(w.result.days_to_break_even, "days") == "19.2 min"
    assert mark(w, "break-even label").text == ("133,607 inferences", "after 19.2 min")


def test_the_keyword_spotting_challenge() -> None:
    w = BreakEvenTimeline(preset="kws-service")
    assert round(w.result.break_even) == 2258
    assert show(w.result.days_to_break_even, "days") == "22.6 hours"
    assert not w.result.roi_positive  # finding the length that pays is the student's part
    w.set(days=w.result.days_to_break_even * 1.001)
    assert w.result.roi_positive


def test_the_edge_runs_the_spotter_at_the_pace_of_its_own_device() -> None:
    w = BreakEvenTimeline(preset="kws-edge")
    assert w.eager_rate == pytest.approx(1 / float(ph.run("kws", "orin-nx").total))
    assert w.result.break_even < BreakEvenTimeline(preset="kws-service").result.break_even / 4


@pytest.mark.parametrize("preset", PRESETS)
def test_the_days_left_to_earn_are_those_after_the_break_even(preset: str) -> None:
    w = BreakEvenTimeline(preset=preset)
    result, left = w.result, left_to_earn(w.result)
    cards = {label: value for label, value, _ in w.cards(result)}
    assert cards["Left to earn"] == show(left, "days", pad=True)
    assert (left > 0) == bool(result.roi_positive) == ("left to earn" in w.sentence(result))
    if result.roi_positive:
        assert left + result.days_to_break_even == pytest.approx(result.days)


@given(inputs)
def test_result_lines_table_and_words_agree(chosen: dict[str, Any]) -> None:
    w = BreakEvenTimeline(**chosen)
    result = w.result
    kept = {name: w.inputs[name] for name in chosen}  # a slider snaps to its ends
    assert result == ph.deployment(**kept)
    crossing = w.scenes(result)[0]
    # The line of time saved runs through the result's own points.
    saved = mark(w, "time saved")
    slope = result.per_day * result.saved_per_inference
    assert saved.y[1] == pytest.approx(saved.x[1] * slope)
    cost = mark(w, "compile cost")
    assert tuple(cost.y) == (result.compile_time,) * 2
    point = mark(w, "break-even")
    if len(point.x):
        assert point.x[0] == result.days_to_break_even
        # To the last digit: one of them is a sum, the other a product.
        assert crossing.across.high >= point.x[0] * (1 - 1e-12)
    # Both lines are well inside the plot.
    assert result.compile_time <= 0.8 * crossing.up.high
    assert result.compile_time >= 0.2 * crossing.up.high
    cards = {label: value for label, value, _ in w.cards(result)}
    assert cards["Compiling"] == ("pays off" if result.roi_positive else "not justified")
    assert cards["Break-even"] == ph.counted(result.break_even, "inference")
    assert cards["Net time saved"] == show(result.net_saved, "s", pad=True)
    header, rows = w.table(result)
    assert rows[1][header.index("Inferences")] == show(result.break_even)
    assert rows[2][header.index("Net of compile time")] == show(result.net_saved, "s")
    said = w.sentence(result)
    if math.isinf(result.break_even):
        assert "never pays" in said
    else:
        assert show(result.break_even, "inferences") in said
    assert "inf" not in said.replace("inferences", "").replace("inference", "")
    assert (w.alert(result) is None) == bool(result.roi_positive)


@given(inputs)
def test_each_remedy_would_pay(chosen: dict[str, Any]) -> None:
    result = BreakEvenTimeline(**chosen).result
    if result.roi_positive:
        return
    assert remedies(result)
    a_little_more = 1 + 1e-6
    if math.isfinite(result.break_even):
        assert replace(result, days=result.days_to_break_even * a_little_more).roi_positive
        volume = result.break_even / result.days
        assert replace(result, per_day=volume * a_little_more).roi_positive
        assert replace(result, compile_time=result.saved / a_little_more).roi_positive
    gain = gain_needed(result)
    if gain < 1e6:
        rate = result.eager_rate * (1 + gain * a_little_more)
        # 1 + gain keeps only what of a tiny gain is larger than the last digit of 1.
        rounded = 1e-5 + 4 * sys.float_info.epsilon / gain
        assert replace(result, compiled_rate=rate).net_saved > -rounded * result.compile_time
        assert f"a throughput gain of {show(gain, '%')}" in remedies(result)


def test_no_gain_is_enough_for_too_few_inferences() -> None:
    once = ph.deployment(30, 1450, gain=0.48, per_day=1000, days=1)
    assert gain_needed(once) == math.inf
    assert not any("gain" in one for one in remedies(once))


def test_not_justified_says_by_how_much_and_the_hint_what_would_help() -> None:
    w = BreakEvenTimeline(preset="ci-run")
    words, tone = w.alert(w.result) or ("", "")
    assert tone == "red"
    assert "not justified" in words
    assert f"saves only {in_one_unit('s', w.result.compile_time, w.result.saved)[1]}" in words
    assert f"{show(-w.result.net_saved, 's')} are not recovered" in words
    found = remedies(w.result)
    assert found
    for remedy in found:
        assert remedy not in words
        assert remedy in w.hint(w.result)
    assert show(w.result.days_to_break_even, "days") in w.hint(w.result)
    w.set(preset="resnet50-cloud")
    assert w.hint(w.result) == ""


def test_a_prediction_is_drawn_when_that_many_were_served() -> None:
    # 10,000 inferences at 10 million a day: 86.4 s.
    w = BreakEvenTimeline(prediction=10_000)
    crossing, strip = w.scenes(w.result)
    assert mark(w, "prediction").x == pytest.approx((86.4 / 86_400,) * 2)
    assert mark(w, "prediction on the strip").x == pytest.approx((86.4 / 86_400,) * 2)
    named = ("Your prediction, 10,000 inferences", "prediction", "dash_dotted")
    assert named in crossing.legend
    assert named in strip.legend
    assert "Your prediction of 10,000 inferences is served after 86.4 s." in w.sentence(w.result)
    header, rows = w.shown_table
    assert rows[-1][:2] == ("Your prediction", "10,000 inferences")
    assert header[1] == "Inferences"
    assert w.code == "BreakEvenTimeline(prediction=10000)"
    # 10 million take a day, which the strip shows and the crossing, around 19 minutes, does not.
    late = BreakEvenTimeline(prediction=1e7)
    assert mark(late, "prediction").x == ()
    assert mark(late, "prediction on the strip").x == pytest.approx((1.0, 1.0))
    assert all(tone != "prediction" for _, tone, _ in late.scenes(late.result)[0].legend)
    late.set(per_day=1e6, days=300)  # the same compiling, in another service
    assert mark(late, "prediction on the strip").x == pytest.approx((10.0, 10.0))
    late.set(gain=0)  # another compiler, about which nothing was predicted
    assert mark(late, "prediction on the strip").x == ()
    assert "Your prediction of" not in late.sentence(late.result)
    assert mark(BreakEvenTimeline(), "prediction").x == ()


def test_every_handle_moves_its_input() -> None:
    w = BreakEvenTimeline()
    moved = {handle.name: (handle.control, handle.along) for handle in handles(w).values()}
    assert moved == {
        "compile time": ("compile_time", "y"),
        "break-even point": ("per_day", "x"),
        "end of service": ("days", "x"),
    }
    w.drag("break-even point", 30 / 24 / 60, 0)  # half an hour
    assert w.result.days_to_break_even == pytest.approx(30 / 24 / 60, rel=5e-3)
    assert handles(w)["break-even point"].x == w.result.days_to_break_even
    assert (w.compile_time, w.days) == (30, 30)
    w.drag("compile time", 0, 35.2)
    assert w.compile_time == handles(w)["compile time"].y == 35.2
    w.drag("end of service", 0.5, 0)
    assert w.days == handles(w)["end of service"].x == 0.5
    w.drag("end of service", 1e5, 0)
    assert w.days == 365
    w.drag("end of service", 1e-5, 0)
    assert w.days == pytest.approx(1 / 1440)


@given(inputs, st.sampled_from(("break-even point", "compile time")), st.floats(0, 1))
def test_a_drag_follows_the_pointer_and_moves_no_axis(
    chosen: dict[str, Any], name: str, part: float
) -> None:
    w = BreakEvenTimeline(**chosen)
    before = handles(w).get(name)
    if before is None:
        assert name == "break-even point"
        assert w.result.days_to_break_even > 20 * w.days  # too far to be drawn
        return
    scene = w.scenes(w.result)[0]
    axis = scene.across if before.along == "x" else scene.up
    w.drag(name, part * scene.across.high, part * scene.up.high, held=True)
    now = w.scenes(w.result)[0]
    control = w.controls[before.control]
    assert isinstance(control, Slider)
    at_end = getattr(w, before.control) in (control.low, control.high)
    assert (now.across, now.up) == (scene.across, scene.up)
    after = handles(w).get(name)
    if 0.01 < part < 0.79 and not at_end and part * axis.high < 19 * w.days:
        assert after is not None
        place = after.x if before.along == "x" else after.y
        assert place == pytest.approx(part * axis.high, rel=0.011)
    # Let go, it has the axes of its numbers.
    w.set()
    assert w.scenes(w.result)[0] == crossing_of(w.result, None)


def test_the_math_marks_what_decides() -> None:
    w = BreakEvenTimeline()
    assert w.dominant(w.result) == "inferences"
    assert "depends most on" in live_math(w)["most"]
    w.set(preset="ci-run")
    assert w.dominant(w.result) == "break_even"
    w.set(gain=0)  # never: nothing to say about percentages of it
    assert live_math(w)["most"] == ""


def test_never_is_a_word() -> None:
    w = BreakEvenTimeline(gain=0)
    assert w.result.break_even == math.inf
    assert {label: value for label, value, _ in w.cards(w.result)}["Break-even"] == ph.NEVER
    assert mark(w, "break-even").x == ()
    assert "never recovered" in mark(w, "break-even label").text
    w.set(compile_time=600, gain=1e-5, per_day=1)  # ages from now
    assert mark(w, "break-even moment").x == ()


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_sets_the_rest_and_a_change_makes_it_your_own(preset: str) -> None:
    w = BreakEvenTimeline(compile_time=77)
    assert w.preset == "custom"
    w.set(preset=preset)
    assert w.preset == preset
    assert w.inputs == BreakEvenTimeline(preset=preset).inputs
    w.set(days=123)
    assert w.preset == "custom"
    again = eval(w.code, {"BreakEvenTimeline": BreakEvenTimeline})
    assert again.preset == "custom"
    assert again.result.break_even == pytest.approx(w.result.break_even, rel=1e-4)


def test_a_preset_with_a_change_keeps_the_change() -> None:
    w = BreakEvenTimeline(preset="kws-service", days=2)
    assert w.days == 2
    assert w.preset == "custom"
    assert w.compile_time == ph.workloads["kws-service"].compile_time


def test_numbers_are_read_as_people_write_them() -> None:
    w = BreakEvenTimeline(compile_time="2 min", per_day="100 per hour", days="1 week", gain="40%")
    assert (w.compile_time, w.per_day, w.days, w.gain) == (120, 2400, 7, 0.4)
    assert w.controls["per_day"].shown(1e7) == "10 million"
