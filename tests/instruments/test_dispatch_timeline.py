"""The timeline of the first kernels: the times of physics, drawn on an axis that stands still."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Blocks
from mlsys_widgets.instruments.dispatch_timeline import (
    MOST,
    axis_of,
    kernels_for,
    length,
    scene_of,
    timeline,
)
from tests.instruments.test_dispatch_film import WAYS, passes

TEXTBOOK = ph.run("kws", "a100-sxm")


@given(passes)
def test_the_timeline_ends_when_physics_says(result: ph.ForwardPass) -> None:
    shown = timeline(result)
    count = len(shown.kernels)
    assert 1 <= count <= 8
    few = replace(result, kernels=float(count), memory_time=result.memory * count / result.kernels)
    assert shown.end == pytest.approx(few.total)
    busy = sum(end - start for start, end in shown.kernels)
    idle = sum(end - start for start, end in shown.idle)
    assert busy + idle == pytest.approx(shown.end)
    assert idle == pytest.approx(few.dispatch, rel=1e-6, abs=1e-9 * shown.end)
    graph = isinstance(result, ph.GraphPass)
    assert len(shown.launches) == (1 if graph else count)
    # No kernel runs before it was launched.
    asked = shown.launches * count if graph else shown.launches
    pairs = zip(asked, shown.kernels, strict=True)
    assert all(start >= end for (_, end), (start, _) in pairs)


@given(passes)
def test_the_picture_shows_the_timeline_as_far_as_it_goes(result: ph.ForwardPass) -> None:
    shown, scene = timeline(result, MOST), scene_of(result, TEXTBOOK)
    until = scene.across.high
    blocks = {one.name: one.blocks for one in scene.marks if isinstance(one, Blocks)}
    work = blocks["launches and kernels"]
    tones = [tone for *_, tone in work]
    assert tones == ["dispatch"] * MOST + ["compute"] * MOST + ["memory"] * MOST
    assert all(0 <= left <= right <= until for left, _, right, *_ in (*work, *blocks["idle"]))
    starts = [block[0] for block in work[: len(shown.launches)]]
    assert starts == [min(start, until) for start, _ in shown.launches]
    starts = [block[0] for block in work[MOST : MOST + len(shown.kernels)]]
    assert starts == [min(start, until) for start, _ in shown.kernels]
    idle = [block[:3:2] for block in blocks["idle"][: len(shown.idle)]]
    assert idle == [(min(start, until), min(end, until)) for start, end in shown.idle]
    # What is launched and what runs first can be seen, if not all of it.
    assert float(result.launch_overhead) <= 1.06 * until
    assert length(result) <= 1.06 * until


def test_the_axis_stands_still_where_it_can() -> None:
    # Eight kernels of 5.5 µs after launches of 10 µs take 124 µs.
    assert axis_of(TEXTBOOK, TEXTBOOK).high == pytest.approx(125e-6)
    assert "of 1,000 kernels" in axis_of(TEXTBOOK, TEXTBOOK).label
    longer = replace(TEXTBOOK, launch_overhead=125e-6)
    assert axis_of(longer, TEXTBOOK) == axis_of(TEXTBOOK, TEXTBOOK)
    longest = replace(TEXTBOOK, launch_overhead=200e-6)
    assert axis_of(longest, TEXTBOOK).high == pytest.approx(1.25e-3)


def test_few_kernels_have_a_short_timeline() -> None:
    # Ten kernels, of which fusion leaves two.
    assert len(timeline(ph.run("kws", "a100-sxm", "compiled", kernels=10)).kernels) == 2


@pytest.mark.parametrize("launch", WAYS)
def test_the_kernels_that_end_one_at_a_time(launch: Any) -> None:
    now = ph.run("kws", "a100-sxm", launch=launch)
    wanted = kernels_for(now, 1000, 30e-6)
    then = ph.run("kws", "a100-sxm", launch=launch, kernels=wanted)
    assert timeline(then).kernels[0][1] == pytest.approx(30e-6)
    assert kernels_for(now, 1000, 0.0) > 1e6  # before its own launch: as many as there can be
