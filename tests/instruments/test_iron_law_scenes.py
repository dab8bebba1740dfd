"""What the iron law draws: bars, curves and memories are numbers of the law."""

from __future__ import annotations

import numpy as np
import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments import iron_law_scenes as scenes
from tests.instruments.drawn import mark

#: ResNet-50 on the H100: 100 MB at 3.35 TB/s are 29.85 µs, 8.2 GFLOP at 989 TFLOPS 8.29 µs.
LAW = ph.iron_law(100e6, 8.2e9, "h100-sxm", latency=10e-6)


def test_the_bars_lie_end_to_end_and_make_the_total() -> None:
    blocks = mark(scenes.bars(LAW, False), "terms").blocks
    assert [block[2] - block[0] for block in blocks[:3]] == pytest.approx(
        [29.85e-6, 8.29e-6, 10e-6], rel=2e-3
    )
    assert blocks[5][2] == pytest.approx(LAW.total)


@pytest.mark.parametrize("overlapped", [False, True])
@pytest.mark.parametrize("term", ["memory", "compute", "latency"])
def test_a_place_and_a_time_are_inverse(term: str, overlapped: bool) -> None:
    law = ph.iron_law(100e6, 8.2e9, "h100-sxm", latency=10e-6, overlapped=overlapped)
    handle = next(h for h in scenes.bars(law, overlapped).handles if h.name == term)
    time = scenes.term_at(law, law, overlapped, term, handle.x)
    assert time == pytest.approx(scenes.term_time(law, term))


@pytest.mark.parametrize("total", [1e-9, 0.74e-6, 0.75e-6, 2.2e-6, 2.3e-6, 0.74, 1e5])
def test_the_bars_fill_a_quarter_of_their_axis_or_more(total: float) -> None:
    law = ph.iron_law(1.0, 1.0, bandwidth=1e30, rate=1e30, latency=total)
    across = scenes.bars(law, False).across
    assert 0.2 <= total / across.high <= 0.75


def test_the_curve_passes_through_this_batch() -> None:
    totals = np.asarray(
        ph.iron_law(100e6, 8.2e9, "h100-sxm", latency=10e-6, batch=scenes.BATCHES).total
    )
    scene = scenes.curves(LAW, totals / scenes.BATCHES, None)
    assert mark(scene, "now").y == (LAW.total,)
    assert mark(scene, "total per inference").y[0] == pytest.approx(LAW.total)
    assert mark(scene, "prediction").x == ()
    for outside in (0.5, 5000.0):
        assert mark(scenes.curves(LAW, totals, outside), "prediction").x == ()


@pytest.mark.parametrize(("data", "tone"), [(384e3, "memory"), (385e3, "red")])
def test_the_weights_fit_up_to_the_reserve(data: float, tone: str) -> None:
    scene = scenes.memories("cortex-m7", data, 448e3, 64e3)
    memory, reserved, weights = mark(scene, "weights").blocks
    assert (reserved[0], reserved[2]) == (384e3, 448e3)
    assert (weights[2], weights[4]) == (data, tone)
    assert scene.legend[0][1] == tone
    assert (": too large" in scene.legend[0][0]) == (tone == "red")
    assert mark(scene, "memory sizes").text[-1] == "448 KB"
    # The board of the catalog has 512 KB; the one that was set is drawn over it.
    assert memory[2] == 448e3
    assert memory[3] > memory[1]
    usual = mark(scenes.memories("cortex-m7", data, 512e3, 0), "weights").blocks
    assert usual[0][1] == usual[0][3]  # flat
    assert usual[1][0] == usual[1][2]


def test_every_device_has_its_row() -> None:
    scene = scenes.memories("h100-sxm", 1e8, 80e9, 0)
    blocks = mark(scene, "memories").blocks
    assert [block[2] for block in blocks] == [device.memory for device in ph.devices.values()]
    rows = [scenes.device_at((low + high) / 2) for _, low, _, high, _ in blocks]
    assert rows == list(ph.devices)
    assert scenes.device_at(-1) == rows[-1]
    assert scenes.device_at(99) == rows[0]
