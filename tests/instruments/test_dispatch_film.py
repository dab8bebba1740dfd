"""The film of the first kernels shows what the timeline tells, at a pace for the eye."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments.dispatch_film import FIRST, SECONDS, film_of
from mlsys_widgets.instruments.dispatch_timeline import timeline

show = ph.format_quantity
WAYS = ("serial", "async", "graph")
passes = st.builds(
    ph.forward_pass,
    st.integers(1, 10_000).map(float),
    st.floats(1e-7, 1e-2),
    st.floats(1e-7, 1e-3),
    st.floats(0, 0.1),
    st.sampled_from(WAYS),
)


@given(passes)
def test_blocks_end_when_the_timeline_says(result: ph.ForwardPass) -> None:
    film, shown = film_of(result), timeline(result, FIRST)
    assert len(json.dumps(film.to_json())) < 5000
    assert len(film.actors) <= 40
    for tone, row in (("dispatch", shown.launches), ("gray", shown.idle)):
        blocks = [actor for actor in film.actors if actor.tone == tone]
        assert [actor.path[-1][0] / SECONDS for actor in blocks] == pytest.approx(
            [end / shown.end for _, end in row]
        )
        assert [actor.path[0][1] for actor in blocks] == pytest.approx(
            [start / shown.end for start, _ in row]
        )
    running = [actor for actor in film.actors if actor.tone == "compute"]
    assert [actor.path[-1][1] for actor in running] == pytest.approx(
        [start / shown.end for start, _ in shown.kernels]
    )
    share = float(result.compute / (result.compute + result.memory))
    assert [actor.path[-1][0] / SECONDS for actor in running] == pytest.approx(
        [(start + share * (end - start)) / shown.end for start, end in shown.kernels]
    )


@given(passes)
def test_moments_are_in_order_and_end_with_the_balance(result: ph.ForwardPass) -> None:
    film, shown = film_of(result), timeline(result, FIRST)
    times = [at for at, _ in film.moments]
    assert times == sorted(times)
    assert all(words.endswith(".") for _, words in film.moments)
    idle = sum(end - start for start, end in shown.idle)
    assert f"after {show(shown.end, 's')}" in film.moments[-1][1]
    assert f"idle for {show(idle, 's')}" in film.moments[-1][1]


def test_serial_asynchronous_and_graph_tell_different_stories() -> None:
    # Keyword spotting on an A100: launches of 10 µs, kernels of 5.5 µs; a graph adds 0.5 µs each.
    serial, ahead, graph = (film_of(ph.run("kws", "a100-sxm", launch=way)) for way in WAYS)
    assert serial.moments[2][1] == "At 15.5 µs, kernel 1 is done and launch 2 begins."
    assert ahead.moments[1][1] == (
        "At 10 µs, launch 2 begins and kernel 1 starts, after the GPU was idle for 10 µs."
    )
    assert graph.moments[0][1] == "At 0 s, the launch of the whole graph begins."
    assert graph.moments[3][1].endswith("kernel 2 starts, after the GPU was idle for 500 ns.")


def test_a_kernel_waits_between_the_lanes_while_the_gpu_is_busy() -> None:
    # Kernels of 50 µs, launched ahead every 10 µs: the second waits from 20 to 60 µs.
    film = film_of(ph.forward_pass(100, 50e-6, 10e-6, launch="async"))
    second = [actor for actor in film.actors if actor.tone == "compute"][1]
    heights = [place[2] for place in second.path]
    assert len(heights) == 5
    assert heights[0] > heights[1] == heights[2] > heights[3]
    assert second.path[2][0] / SECONDS == pytest.approx(60 / 260)
