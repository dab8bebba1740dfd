"""What the serving explorer draws: every point and block is a number of the curve."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from mlsys_widgets.drawing.scene import Blocks, Scene, Words
from mlsys_widgets.instruments import serving_scenes as scenes
from mlsys_widgets.instruments.serving_curve import BARS, Serving
from tests.instruments.drawn import mark
from tests.instruments.test_serving_curve import served


def drawn(serving: Serving, **predicted: float) -> Scene:
    return scenes.tradeoff(serving, predicted.get)


def test_a_point_of_the_curve_is_a_time_and_a_rate() -> None:
    serving = served()
    curve = mark(drawn(serving), "curve")
    assert curve.x[0] == serving.times.at(1)
    assert curve.y[0] == 1 / serving.times.at(1)
    assert curve.x[-1] == serving.times.at(serving.fits)  # it ends where memory ends
    assert curve.y[-1] == pytest.approx(serving.fits / serving.times.at(serving.fits))
    now = mark(drawn(serving), "now")
    assert (now.x[0], now.y[0]) == (serving.time, serving.tokens_per_second)


def test_the_textbook_stands_beside_the_calibrated_form_and_is_named() -> None:
    serving = served()
    scene = drawn(serving)
    assert serving.beside is not None
    assert mark(scene, "beside").x[0] == serving.beside.at(1)
    assert mark(scene, "name of the curve").text == ("calibrated",)
    assert mark(scene, "name of the curve beside").text == ("textbook",)
    alone = drawn(served(form="textbook"))
    assert mark(alone, "beside").x == ()
    assert mark(alone, "name of the curve").text == ("textbook",)
    assert mark(alone, "name of the curve beside").text == ()


def test_the_knee_lies_where_a_larger_batch_begins_to_cost_time() -> None:
    serving = served(launch="async")
    knee = mark(drawn(serving), "knee")
    assert knee.text == ("knee",)
    # Before it a token takes hardly longer, behind it hardly more are written.
    time = knee.x[0] * 1.02
    assert time < 1.2 * serving.times.at(1)
    assert serving.fits / serving.times.at(serving.fits) < 2 * knee.y[0]


def test_memory_ends_at_a_wall_that_names_its_batch() -> None:
    serving = served()
    scene = drawn(serving)
    assert tuple(mark(scene, "wall").x) == (serving.times.at(serving.fits),) * 2
    assert mark(scene, "wall note").text == ("memory is full", f"at batch {serving.fits}")
    short = drawn(served(sequence=128.0))  # everything fits
    assert mark(short, "wall").x == ()
    left, _, right, _, _ = mark(short, "no memory zone").blocks[0]
    assert left == right == short.across.high
    none = drawn(served(device="orin-nx", form="textbook"))
    assert mark(none, "wall note").text == ("nothing fits", "into memory")
    assert mark(none, "curve").x == ()


def test_the_target_is_a_line_and_the_largest_batch_lies_before_it() -> None:
    serving = served()
    scene = drawn(serving)
    assert tuple(mark(scene, "target").x) == (20e-3, 20e-3)
    best = mark(scene, "largest")
    assert best.x[0] == serving.times.at(serving.largest_batch)
    assert best.x[0] <= 20e-3
    beyond = drawn(served(target=1.0))
    assert mark(beyond, "target").x[0] == beyond.across.high
    assert mark(scene, "target note").text == ("target 20 ms",)
    assert mark(beyond, "target note").text == ("target 1 s (beyond the chart)",)


def test_words_of_the_bars_without_memory_are_no_wider_than_a_bar() -> None:
    serving = served()  # of six bars the last does not fit
    words, zone = (
        mark(scenes.stack(serving), name) for name in ("out of memory", "no memory zone of bars")
    )
    assert words.text == ("out of", "memory")
    left, _, right, _, _ = zone.blocks[0]
    assert left < words.x[0] < right
    # Everything fits, so nothing is said.
    assert mark(scenes.stack(served(sequence=128.0)), "out of memory").text == ()


@pytest.mark.parametrize("batch", [1, 5, 16, 60, 200, 430])
@pytest.mark.parametrize("form", ["calibrated", "textbook"])
def test_a_batch_is_found_at_its_place(batch: int, form: str) -> None:
    serving = served(batch=float(batch), form=form)
    place = next(h for h in drawn(serving).handles if h.name == "batch")
    assert scenes.nearest_batch(served(form=form), place.x, place.y) == batch
    assert scenes.batch_at(scenes.place_of(batch)) == pytest.approx(batch)


def test_axes_stand_still_while_batch_and_target_move() -> None:
    first = drawn(served())
    for batch in (1.0, 100.0, 435.0, 436.0, 1024.0):
        for target in (1e-3, 20e-3, 1.0):
            serving = served(batch=batch, target=target)
            scene = drawn(serving)
            assert (scene.across, scene.up) == (first.across, first.up)
            bars = scenes.stack(serving)
            assert bars.up == scenes.stack(served()).up
            for handle in (*scene.handles, *bars.handles):
                part = scene if handle.name in ("batch", "target") else bars
                assert part.across.low <= handle.x <= part.across.high
                assert part.up.low <= handle.y <= part.up.high


def test_batches_are_named_at_their_points() -> None:
    for sequence in (128.0, 2048.0, 16384.0, 131072.0):
        serving = served(sequence=sequence)
        scene = drawn(serving)
        names, points = mark(scene, "batch names"), mark(scene, "batches")
        assert len(names.text) == len(points.x) > 0
        for text, x in zip(names.text, points.x, strict=True):
            assert x == serving.times.at(float(text.replace(",", "")))


def test_names_of_batches_stand_where_fewer_measurements_lie() -> None:
    """On either side of the curve, whichever the measurements leave free."""
    slower = [(batch, 1.1 * time) for batch, time in _points()]
    faster = [(batch, time / 1.1) for batch, time in _points()]
    for measured, align in ((slower, "end"), (faster, "start"), ((), "start")):
        scene = drawn(replace(served(), measured=tuple(measured)))
        names, points = mark(scene, "batch names"), mark(scene, "batches")
        assert names.align == align
        for name, point in zip(names.x, points.x, strict=True):
            assert (name < point) == (align == "end")


def _points() -> list[tuple[float, float]]:
    """Batches that are named, with the times of the curve."""
    return [(batch, served().times.at(batch)) for batch in (1.0, 4.0, 16.0, 64.0)]


@pytest.mark.parametrize(
    ("predicted", "name", "words"),
    [
        ({"tokens_per_second": 3000.0}, "prediction", "Your prediction, 3,000 tokens/s"),
        ({"time_per_token": 8e-3}, "prediction", "Your prediction, 8 ms per token"),
        ({"largest_batch": 100.0}, "predicted batch", "Your prediction, batch 100"),
    ],
)
def test_a_prediction_is_drawn_and_named(
    predicted: dict[str, float], name: str, words: str
) -> None:
    scene = drawn(served(), **predicted)
    assert len(mark(scene, name).x) > 0
    assert words in [entry for entry, tone, _ in scene.legend if tone == "prediction"]


@pytest.mark.parametrize(
    "predicted", [{"tokens_per_second": 1e9}, {"time_per_token": 9.0}, {"largest_batch": 5000.0}]
)
def test_a_prediction_beyond_the_chart_is_left_to_the_base(predicted: dict[str, float]) -> None:
    scene = drawn(served(), **predicted)
    assert mark(scene, "prediction").x == mark(scene, "predicted batch").x == ()
    assert all(tone != "prediction" for _, tone, _ in scene.legend)


@pytest.mark.parametrize("form", ["calibrated", "textbook"])
def test_bars_are_stacked_to_the_time_of_a_token(form: str) -> None:
    serving = served(form=form)
    blocks = mark(scenes.stack(serving), "parts").blocks
    tops = [max(high for left, _, _, high, _ in blocks if left < k < left + 1) for k in range(5)]
    assert tops == pytest.approx([serving.times.at(batch) for batch in BARS[:5]])
    # The last batch does not fit: its blocks have no height, and no word is over it.
    assert all(low == high for left, low, _, high, _ in blocks if left > 4.5)
    over = mark(scenes.stack(serving), "what binds")
    assert over.text == tuple(scenes.REASONS[reason] for reason in serving.times.reasons[:5])


def test_blocks_never_change_their_number_or_color() -> None:
    looks = set()
    for form, sequence in (("calibrated", 128.0), ("textbook", 128.0), ("calibrated", 131072.0)):
        scene = scenes.stack(served(form=form, sequence=sequence))
        looks.add(tuple(tone for *_, tone in mark(scene, "parts").blocks))
    assert len(looks) == 1


def test_what_fits_lies_before_the_wall_of_bars() -> None:
    for sequence in (300.0, 2048.0, 5000.0, 16384.0, 100000.0):
        serving = served(sequence=sequence)
        wall = mark(scenes.stack(serving), "no memory zone of bars").blocks[0][0]
        fits = min(serving.fits, 1024)
        assert scenes.place_of(fits) <= wall + 1e-9
        assert wall >= math.floor(scenes.place_of(fits)) + 0.3


def test_every_sign_is_in_its_legend_or_has_words_of_its_own() -> None:
    worded = {"target", "wall", "beside", "no memory zone", "no memory zone of bars"}
    for serving in (served(), served(form="textbook"), served(sequence=16384.0, batch=500.0)):
        for scene in (drawn(serving, largest_batch=20.0), scenes.stack(serving)):
            named = {tone for _, tone, _ in scene.legend}
            for each in scene.marks:
                if each.name in worded:
                    continue
                if isinstance(each, Blocks):
                    visible = {b[4] for b in each.blocks if b[0] < b[2] and b[1] < b[3]}
                    assert visible <= named, each.name
                elif not isinstance(each, Words) and len(each.x):
                    assert each.tone in named, each.name


@pytest.mark.parametrize("form", ["calibrated", "textbook"])
def test_what_stands_still_is_made_once(form: str) -> None:
    moving = {"target", "now", "largest", "prediction", "predicted batch", "now in bars",
              "target note"}  # fmt: skip
    first, other = served(form=form), served(form=form, batch=100.0, target=5e-3)
    for draw in (drawn, scenes.stack):
        before, after = draw(first), draw(other)
        for one, same in zip(before.marks, after.marks, strict=True):
            assert one.name == same.name
            assert (one is same) is (one.name not in moving), one.name
        assert before.across is after.across
        assert before.up is after.up
    # Another context has curves of its own.
    longer = drawn(served(form=form, sequence=8192.0))
    assert mark(longer, "curve") != mark(drawn(first), "curve")
