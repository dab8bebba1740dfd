"""What the fusion explorer draws: every block and label is a number of the result."""

from __future__ import annotations

from typing import Any

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Scene
from mlsys_widgets.instruments import fusion_scenes

CHAIN = ph.chain(("mul", "w"), ("add", "b"), "relu", "sigmoid")
RESULT = ph.fuse(CHAIN, 1e6, 2)


def mark(scene: Scene, name: str) -> Any:
    return next(one for one in scene.marks if one.name == name)


def test_every_tensor_that_moves_is_a_block() -> None:
    scene = fusion_scenes.traffic(CHAIN, RESULT)
    blocks = mark(scene, "tensors").blocks
    fused = [block for block in blocks if block[1] < 0]
    assert len(blocks) == RESULT.unfused_tensors + RESULT.fused_tensors
    assert len(fused) == RESULT.fused_tensors
    assert [tone for *_, tone in fused].count("green") == CHAIN.fused_reads
    assert max(right for _, _, right, _, _ in blocks) <= RESULT.unfused_traffic
    labels = [text.strip() for text in mark(scene, "traffic labels").text]
    assert labels[-2:] == [
        ph.format_quantity(q, "B") for q in (RESULT.unfused_traffic, RESULT.fused_traffic)
    ]
    assert scene.up.words == ("Fused", "Sigmoid", "ReLU", "Add", "Multiply")


@pytest.mark.parametrize("ridge", [1.0, 156.0])
def test_intensities_stand_against_the_ridge(ridge: float) -> None:
    scene = fusion_scenes.intensity(RESULT, ridge, "Ridge")
    assert mark(scene, "unfused intensity").x == (RESULT.unfused_intensity,)
    assert mark(scene, "fused intensity").x == (RESULT.fused_intensity,)
    memory, compute = mark(scene, "zones").blocks
    assert memory[2] == compute[0] == ridge


def test_the_parts_of_a_bar_add_up_to_its_time() -> None:
    scene = fusion_scenes.times(RESULT, {"claim": ("Claim", 5.0), "measured": ("Measured", None)})
    blocks = mark(scene, "times").blocks
    assert blocks[2][2] == pytest.approx(RESULT.unfused_time)
    assert blocks[5][2] == pytest.approx(RESULT.fused_time)
    # A claim stands where it would end the fused bar; what is unknown is not drawn.
    assert mark(scene, "claim").x == (RESULT.unfused_time / 5,)
    assert mark(scene, "measured").x == ()
    assert [words for words, _, _ in scene.legend][3:] == ["Claim: 5× faster"]
