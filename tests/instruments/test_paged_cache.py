"""The paged cache: pages hold what rooms keep empty, until they run out."""

from __future__ import annotations

import pytest

from mlsys_widgets import PagedCache, Target
from mlsys_widgets.measured.cache_runs import TOKEN

ALL, QUARTER = "6.44 GB", "1.61 GB"


def card(instrument: PagedCache, label: str) -> str:
    return {each: value for each, value, _ in instrument.cards(instrument.result)}[label]


def test_the_memory_is_that_of_the_rooms_or_pages() -> None:
    reserved = PagedCache(policy="continuous", memory=ALL)
    assert card(reserved, "Rooms") == "32"
    assert reserved.result.handed_out == pytest.approx(1, rel=1e-3)
    paged = PagedCache(policy="paged", memory=QUARTER, block=64)
    steps = paged.run.served.columns
    assert (steps["held"] % 64 == 0).all()
    assert (steps["held"] * TOKEN <= paged.memory).all()


def test_pages_serve_with_a_quarter_of_the_memory() -> None:
    rooms_of_all, rooms_of_quarter, pages = (
        PagedCache(policy=policy, memory=memory)
        for policy, memory in (("continuous", ALL), ("continuous", QUARTER), ("paged", QUARTER))
    )
    assert rooms_of_quarter.wait > 20 * rooms_of_all.wait
    assert pages.wait < 2 * rooms_of_all.wait
    assert pages.result.used > 0.95


def test_pages_run_out_and_that_is_said() -> None:
    instrument = PagedCache(policy="paged", memory="810 MB")
    again = instrument.run.served.again
    assert again > 0
    alert = instrument.alert(instrument.result)
    assert alert is not None
    assert f"{again} times an answer lost its pages" in alert[0]
    assert PagedCache(policy="continuous").alert(instrument.result) is None


def test_large_pages_hold_less() -> None:
    used = [PagedCache(policy="paged", block=block).result.used for block in (1, 16, 64, 256)]
    assert used[0] == 1
    assert used == sorted(used, reverse=True)


def test_fewer_at_once_write_faster_and_let_more_wait() -> None:
    few, many = (PagedCache(policy="paged", load=40, most=most) for most in (16, 256))
    assert few.pace < many.pace
    assert few.wait > many.wait


def test_the_line_of_the_memory_is_dragged_up_and_down() -> None:
    instrument = PagedCache()
    instrument.drag("memory", 0, 3e9)
    assert instrument.memory == 3e9
    cache, _ = instrument.scenes(instrument.result)
    (handle,) = cache.handles
    assert (handle.along, handle.y) == ("y", 3e9)


def test_a_prediction_is_a_part_of_the_memory_where_it_was_made() -> None:
    instrument = PagedCache(policy="static", prediction=0.5)
    cache, _ = instrument.scenes(instrument.result)
    (line,) = (mark for mark in cache.marks if mark.name == "prediction")
    assert set(line.y) == {0.5 * instrument.memory}
    assert "You predicted 50%." in instrument.text()
    instrument.set(policy="paged")
    assert instrument.prediction is None


def test_a_promise_is_a_lamp() -> None:
    wanted = [
        Target("wait", 1.0, "first token within 1 s"),
        Target("memory", 2e9, "2 GB of cache"),
        Target("load", 16, "16 requests per second", "at least"),
    ]
    instrument = PagedCache(policy="continuous", memory=QUARTER, targets=wanted)
    assert len(instrument.misses) == 1
    assert instrument.misses[0].startswith("First token within 1 s: ")
    instrument.set(policy="paged")
    assert not instrument.misses


def test_rooms_are_handed_out_before_anybody_comes() -> None:
    instrument = PagedCache(policy="static")
    _, rows = instrument.table(instrument.result)
    assert {row[1] for row in rows} == {"100%"}
