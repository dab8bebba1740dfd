"""The film of a fusion counts what the result counts, at one pace for both passes."""

from __future__ import annotations

import json

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments.fusion_explorer import FusionExplorer

show = ph.format_quantity
LONGEST = dict(zip((f"step{k}" for k in range(1, 7)), ("mul", "add") * 3, strict=True))


@pytest.mark.parametrize(
    "inputs",
    [{}, {"chain": "sigmoid-relu", "device": "orin-nx"}, {"chain": "own", **LONGEST},
     {"chain": "own", "step1": "relu", "step2": "none", "step3": "none", "launch_overhead": 0}],
)  # fmt: skip
def test_times_and_counts_are_those_of_the_result(inputs: dict[str, object]) -> None:
    w = FusionExplorer(**inputs)
    result, film = w.result, w.film(w.result)
    count = len(w.operations.links)
    # A launch, what is read, what is written: for every kernel, and for the fused one.
    assert len(film.actors) == 3 * (count + 1)
    starts = [actor.path[0][0] for actor in film.actors[::3]]
    ends = [actor.path[-1][0] for actor in film.actors[2::3]]
    pace = (ends[-1] - starts[-1]) / float(result.fused_time)
    assert ends[-2] - starts[0] == pytest.approx(pace * float(result.unfused_time))
    assert ends[-1] == pytest.approx(film.seconds)
    # Kernels of one pass follow each other without a gap.
    assert starts[1:-1] == pytest.approx(ends[:-2])
    *steps, last = (words for _, words in film.moments)
    assert len(steps) == 1 + count
    assert show(result.unfused_traffic, "B") in steps[-1]
    assert show(result.unfused_time, "s") in steps[-1]
    for value, unit in (
        (result.unfused_traffic, "B"), (result.fused_traffic, "B"),
        (result.unfused_time, "s"), (result.fused_time, "s"),
    ):  # fmt: skip
        assert show(value, unit) in last
    # What is read travels down to the chip, what is written back up to memory.
    for launch, read, written in zip(*(film.actors[k::3] for k in range(3)), strict=True):
        assert launch.tone == "dispatch"
        assert read.path[0][2] > read.path[-1][2]
        assert written.path[0][2] < written.path[-1][2]
        assert read.leaves is not None


def test_the_longest_film_is_short_enough_to_send() -> None:
    w = FusionExplorer(chain="own", **LONGEST)
    film = w.film(w.result)
    assert 3 <= film.seconds <= 8
    assert len(json.dumps(film.to_json())) < 5_000
    assert all(
        x >= -1e-9 and x + width <= 1 + 1e-9
        for actor in film.actors
        for _, x, _, width, _ in actor.path
    )
