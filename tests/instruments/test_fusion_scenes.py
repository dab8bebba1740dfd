"""What the fusion explorer draws: every block and label is a number of the result."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Scene
from mlsys_widgets.instruments import fusion_scenes
from mlsys_widgets.instruments.fusion_scenes import Speedups
from tests.instruments.drawn import mark

CHAIN = ph.chain(("mul", "w"), ("add", "b"), "relu", "sigmoid")
RESULT = ph.fuse(CHAIN, 1e6, 2)
SIZES = np.geomspace(1e3, 1e9, 7)
KNOWN = Speedups(SIZES, ph.fuse(CHAIN, SIZES, 2).speedup)  # type: ignore[arg-type]


def wide(scene: Scene) -> tuple[int, int]:
    """How many tensors are read and written, of those that have a size."""
    read = [block for block in mark(scene, "tensors read").blocks if block[2] > block[0]]
    written = [path for path in mark(scene, "tensors written").paths if len(set(path)) > 1]
    return len(read), len(written)


def test_every_tensor_that_moves_is_drawn() -> None:
    apart = fusion_scenes.traffic(CHAIN, RESULT, fused=False)
    fused = fusion_scenes.traffic(CHAIN, RESULT, fused=True)
    # Day 14: six reads and four writes become three reads and one write.
    assert wide(apart) == (CHAIN.unfused_reads, CHAIN.unfused_writes) == (6, 4)
    assert wide(fused) == (CHAIN.fused_reads, CHAIN.fused_writes) == (3, 1)
    for scene, total in ((apart, RESULT.unfused_traffic), (fused, RESULT.fused_traffic)):
        (handle,) = scene.handles
        assert (handle.x, handle.control) == (pytest.approx(total), "elements")
        assert mark(scene, "traffic labels").text[-1].strip() == ph.format_quantity(total, "B")
        assert scene.up.words == ("Sigmoid", "ReLU", "Add", "Multiply")


def test_the_switch_moves_tensors_and_makes_none() -> None:
    apart, fused = (fusion_scenes.traffic(CHAIN, RESULT, on) for on in (False, True))
    assert [one.name for one in apart.marks] == [one.name for one in fused.marks]
    assert apart.across == fused.across
    for name, parts in (("tensors read", "blocks"), ("tensors written", "paths")):
        before, after = (getattr(mark(scene, name), parts) for scene in (apart, fused))
        assert len(before) == len(after)
    # ReLU neither reads nor writes memory inside a fused kernel.
    assert [text.strip() for text in mark(fused, "traffic labels").text][2] == "stays on chip"
    # Each picture says what the other one would move.
    assert mark(apart, "other total").x[0] == RESULT.fused_traffic
    assert mark(fused, "other total").x[0] == RESULT.unfused_traffic


def test_a_tensor_that_two_steps_read_is_read_once_when_fused() -> None:
    twice = ph.chain(("mul", "w"), ("add", "w"))
    scene = fusion_scenes.traffic(twice, ph.fuse(twice, 1e6), fused=True)
    assert wide(scene) == (twice.fused_reads, 1) == (2, 1)


@given(st.floats(1e-6, 1e12))
def test_an_axis_stands_still_between_two_steps(longest: float) -> None:
    low, high = fusion_scenes.span(longest)
    assert low < longest <= high * (1 + 1e-6)
    # Steps of 1, 2, 5: the next axis is at most two and a half times as long.
    assert 1.9 < high / low < 2.6
    between = (low * high) ** 0.5
    assert fusion_scenes.span(between) == pytest.approx((low, high))


@pytest.mark.parametrize("ridge", [1.0, 156.0])
def test_intensities_stand_against_the_ridge(ridge: float) -> None:
    scene = fusion_scenes.intensity(RESULT, ridge, "Ridge")
    assert mark(scene, "intensities").x == (RESULT.unfused_intensity, RESULT.fused_intensity)
    memory, compute = mark(scene, "zones").blocks
    assert memory[2] == compute[0] == ridge


def test_a_ridge_beyond_the_axis_leaves_it_to_memory() -> None:
    scene = fusion_scenes.intensity(RESULT, 1e6, "Ridge")
    memory, _ = mark(scene, "zones").blocks
    assert memory[2] == scene.across.high
    assert mark(scene, "ridge").x == ()


def test_the_parts_of_a_bar_add_up_to_its_time() -> None:
    scene = fusion_scenes.times(RESULT)
    blocks = mark(scene, "times").blocks
    assert blocks[2][2] == pytest.approx(RESULT.unfused_time)
    assert blocks[5][2] == pytest.approx(RESULT.fused_time)
    (handle,) = scene.handles
    assert handle.x == blocks[0][2] == RESULT.unfused_launches * RESULT.launch_overhead


def test_speedups_lie_on_one_axis() -> None:
    scene = fusion_scenes.speedups(RESULT, KNOWN)
    assert mark(scene, "speedup now").x == (RESULT.elements,)
    assert mark(scene, "speedup now").y == (RESULT.speedup,)
    assert mark(scene, "speedup").y == tuple(KNOWN.modeled)
    assert mark(scene, "claim").x == mark(scene, "prediction").x == mark(scene, "measured").x == ()
    more = Speedups(SIZES, KNOWN.modeled, 5.0, ((1e6, 2.4),), "Measured", 3.0)
    scene = fusion_scenes.speedups(RESULT, more)
    assert set(mark(scene, "claim").y) == {5.0}
    assert set(mark(scene, "prediction").y) == {3.0}
    assert (mark(scene, "measured").x, mark(scene, "measured").y) == ((1e6,), (2.4,))
    assert ("Your prediction, 3×", "prediction", "dashed") in scene.legend


@pytest.mark.parametrize(("predicted", "drawn"), [(0.5, True), (12.0, True), (1000.0, False)])
def test_a_prediction_lies_within_the_axis_or_is_not_drawn(predicted: float, drawn: bool) -> None:
    known = Speedups(SIZES, KNOWN.modeled, predicted=predicted)
    scene = fusion_scenes.speedups(RESULT, known)
    assert bool(mark(scene, "prediction").x) == drawn
    assert any(tone == "prediction" for _, tone, _ in scene.legend) == drawn
    assert not drawn or predicted <= scene.up.high


def test_one_color_means_one_thing() -> None:
    known = Speedups(SIZES, KNOWN.modeled, 5.0, ((1e6, 2.4),), "Measured", 3.0)
    scenes = (
        fusion_scenes.traffic(CHAIN, RESULT, False),
        fusion_scenes.intensity(RESULT, 156, "Ridge"),
        fusion_scenes.times(RESULT),
        fusion_scenes.speedups(RESULT, known),
    )
    words = {
        tone: {words for scene in scenes for words, t, _ in scene.legend if t == tone}
        for scene in scenes
        for _, tone, _ in scene.legend
    }
    assert words["dispatch"] == {"Launches"}
    assert words["compute"] == {"Arithmetic", "Compute-bound"}
    assert words["measured"] == {"Measured"}
    assert words["prediction"] == {"Your prediction, 3×"}
    assert set(words) == {"dispatch", "compute", "memory", "measured", "prediction", "ink"}
