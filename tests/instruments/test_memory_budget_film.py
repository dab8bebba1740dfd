"""The film of the cache ends where the memory budget says, and stops where memory is out."""

from __future__ import annotations

import json

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.film import Actor, Film
from mlsys_widgets.instruments.memory_budget import MemoryBudget

show = ph.format_quantity


def film(**inputs: object) -> tuple[MemoryBudget, Film]:
    instrument = MemoryBudget(**inputs)
    return instrument, instrument.film(instrument.result)


def actor(played: Film, label: str) -> Actor:
    return next(each for each in played.actors if each.label == label)


def width(each: Actor, time: float) -> float:
    return next(place[3] for place in reversed(each.path) if place[0] <= time)


def test_the_cache_ends_as_large_as_the_budget_says() -> None:
    instrument, played = film(batch=64, sequence=2048)
    device, cache = actor(played, "H100 SXM"), actor(played, "KV cache")
    assert cache.path[0][3] == 0
    # 17.2 GB of cache beside 80 GB of memory: PHYSICS.md.
    share = cache.path[-1][3] / device.path[0][3]
    assert share == pytest.approx(17.18e9 / 80e9, rel=1e-3)
    widths = [place[3] for place in cache.path]
    assert widths == sorted(widths)
    assert all(each.label != "Too much" for each in played.actors)
    assert show(instrument.result.total, "B") in played.moments[-1][1]


def test_the_prompt_is_read_at_once_and_the_answer_token_by_token() -> None:
    instrument, played = film(batch=64, sequence=2048)
    time, words = played.moments[1]
    assert words.startswith("Prefill: 64 prompts of 1,024 tokens are read at once")
    reading = ph.prefill("llama31-8b", "h100-sxm", 64, 1024, kv_heads=8)
    assert show(reading.time, "s") in words
    assert width(actor(played, "KV cache"), time) == pytest.approx(
        actor(played, "KV cache").path[-1][3] / 2
    )
    written = [words for _, words in played.moments if words.startswith("Decode")]
    assert ["512 tokens" in written[0], "1,024 tokens" in written[1]] == [True, True]
    assert show(instrument.decode.time, "s") in written[1]


def test_the_moment_at_which_memory_is_out() -> None:
    instrument, played = film(batch=64, sequence=2048, heads="full")
    fits = instrument.result.largest_sequence
    out = [(t, words) for t, words in played.moments if words.startswith("Out of memory")]
    assert len(out) == 1
    assert f"with {ph.counted(fits, 'token')}" in out[0][1]
    extra, device = actor(played, "Too much"), actor(played, "H100 SXM")
    assert extra.path[0][0] == out[0][0]
    assert extra.path[0][1:2] == device.path[0][3:4]  # it begins where the device ends
    # 12.7 GB over 80 GB: 92.7 GB with 32 heads, from PHYSICS.md's 68.7 GB of cache and 24 GB.
    assert extra.path[-1][3] / device.path[0][3] == pytest.approx(12.7e9 / 80e9, rel=5e-3)
    assert not any("Decode" in words for t, words in played.moments if t > out[0][0])
    assert "12.7 GB more than there is" in played.moments[-1][1]


def test_a_model_that_cannot_be_loaded_is_out_of_memory_from_the_start() -> None:
    _, played = film(device="cortex-m7")
    assert played.moments[0][1].startswith("Out of memory before the first token")
    assert len(played.moments) == 2


@pytest.mark.parametrize("batch", [1, 1024])
@pytest.mark.parametrize("sequence", [128, 131072])
@pytest.mark.parametrize("device", sorted(ph.devices))
def test_a_film_is_short_ordered_and_stays_on_its_stage(
    batch: int, sequence: int, device: str
) -> None:
    _, played = film(batch=batch, sequence=sequence, device=device)
    assert 3 <= played.seconds <= 8
    assert len(json.dumps(played.to_json())) < 5_000
    times = [time for time, _ in played.moments]
    assert times == sorted(times)
    for each in played.actors:
        for _, left, bottom, wide, high in each.path:
            assert 0 <= left <= left + wide <= 1
            assert 0 <= bottom <= bottom + high <= 1
