"""What the memory budget draws: every block and line is a number of the footprint."""

from __future__ import annotations

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Blocks, Words
from mlsys_widgets.instruments import memory_budget_scenes as scenes
from tests.instruments.drawn import mark

#: PHYSICS.md, reference values: 41.2 GB needed, of which 17.2 GB are cache.
KEPT = ph.footprint("llama31-8b", "h100-sxm", batch=64, sequence=2048)


def test_the_parts_lie_end_to_end_and_the_cache_is_last() -> None:
    blocks = mark(scenes.bar(KEPT, "H100 SXM"), "parts").blocks
    assert [left for left, *_ in blocks[1:]] == [right for _, _, right, _, _ in blocks[:-1]]
    assert blocks[-1][2] == pytest.approx(KEPT.total)
    assert blocks[-1][2] - blocks[-1][0] == pytest.approx(17.2e9, rel=2e-3)
    assert ("KV cache, 17.2 GB", "orange", "block") in scenes.bar(KEPT, "H100 SXM").legend


@pytest.mark.parametrize("batch", [1, 64, 208, 209, 500, 1024])
def test_the_place_of_the_end_and_the_batch_are_inverse(batch: int) -> None:
    kept = ph.footprint("llama31-8b", "h100-sxm", batch=batch, sequence=2048)
    assert scenes.batch_at(kept, float(kept.total)) == pytest.approx(batch)


def test_what_the_device_has_stays_in_sight() -> None:
    for batch in (1, 200, 300, 1024):
        kept = ph.footprint("llama31-8b", "h100-sxm", batch=batch, sequence=4096)
        scene = scenes.bar(kept, "H100 SXM")
        assert max(kept.total, kept.memory) <= scene.across.high
        assert (("Too much", "red", "solid") in scene.legend) == kept.out_of_memory


def test_the_largest_batch_stands_under_the_limit() -> None:
    need = [float(v) for v in ph.footprint("llama31-8b", "h100-sxm", scenes.BATCHES, 2048).total]
    scene = scenes.curve(KEPT, "H100 SXM", need, need, 32, None)
    last = mark(scene, "last")
    assert tuple(last.x) == (208, 208)  # PHYSICS.md: 208 at 2,048 tokens
    assert last.y[1] == 80e9
    assert tuple(mark(scene, "prediction").x) == ()


def test_one_color_means_one_thing() -> None:
    need = [float(v) for v in ph.footprint("llama31-8b", "h100-sxm", scenes.BATCHES, 2048).total]
    both = scenes.bar(KEPT, "H100 SXM"), scenes.curve(KEPT, "H100 SXM", need, need, 32, 100.0)
    for scene in both:
        named = {tone for _, tone, _ in scene.legend}
        for each in scene.marks:
            if isinstance(each, Blocks):
                assert {block[4] for block in each.blocks} <= named
            elif not isinstance(each, Words):
                assert each.tone in named
    parts = {tone for _, _, tone in scenes.PARTS}
    assert not parts & {tone for _, tone, _ in both[1].legend}
