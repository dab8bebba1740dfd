"""The film of a cache: everybody has one place at a time, and nobody two users' places."""

from __future__ import annotations

from itertools import combinations

import pytest

from mlsys_widgets import PagedCache
from mlsys_widgets.drawing.film import Actor
from mlsys_widgets.instruments.cache_film import FIRST, SECONDS

every_cache = pytest.mark.parametrize(
    "cache",
    [
        {"policy": "static"},
        {"policy": "continuous", "memory": "810 MB"},
        {"policy": "paged", "memory": "810 MB"},
        {"policy": "paged", "memory": "810 MB", "block": 256, "load": 40},
    ],
    ids=lambda cache: "-".join(map(str, cache.values())),
)


def held(cache: dict[str, object]) -> list[Actor]:
    instrument = PagedCache(**cache)
    return [a for a in instrument.film(instrument.result).actors if a.tone == "orange"]


@every_cache
def test_all_of_the_first_requests_are_there_and_leave(cache: dict[str, object]) -> None:
    instrument = PagedCache(**cache)
    film = instrument.film(instrument.result)
    came = [actor for actor in film.actors if actor.tone == "blue"]
    assert len(came) >= FIRST
    numbers = {actor.label for actor in came}
    # In low rows a number would be cut off.
    assert numbers == ({""} if film.height > 230 else {str(k + 1) for k in range(FIRST)})
    for actor in film.actors:
        assert actor.leaves is None or actor.path[-1][0] <= actor.leaves <= SECONDS


@every_cache
def test_no_two_hold_the_same_place_at_the_same_time(cache: dict[str, object]) -> None:
    for one, other in combinations(held(cache), 2):
        assert one.leaves is not None
        assert other.leaves is not None
        apart_in_time = one.leaves <= other.path[0][0] or other.leaves <= one.path[0][0]
        (_, left, low, wide, _), (_, start, bottom, width, _) = one.path[-1], other.path[-1]
        apart = low != bottom or left + wide <= start + 1e-9 or start + width <= left + 1e-9
        assert apart_in_time or apart


def test_tokens_lie_in_what_is_held_and_a_room_is_as_wide_as_the_cache() -> None:
    instrument = PagedCache(policy="continuous")
    film = instrument.film(instrument.result)
    rooms = [actor for actor in film.actors if actor.tone == "orange"]
    tokens = [actor for actor in film.actors if actor.tone == "blue"]
    for room, inside in zip(rooms, tokens, strict=True):
        assert room.path[-1][1] + room.path[-1][3] == pytest.approx(1)
        assert room.path[-1][1:3] == inside.path[-1][1:3]
        assert inside.path[-1][3] < room.path[-1][3]


def test_pages_share_rows() -> None:
    rows = {actor.path[-1][2] for actor in held({"policy": "paged"})}
    assert len(rows) < FIRST / 2


def test_it_tells_who_waited() -> None:
    static, paged = (
        instrument.film(instrument.result).moments[-1][1]
        for instrument in (PagedCache(policy="static"), PagedCache(policy="paged"))
    )
    assert "the longest wait for a place took" in static
    assert f"at most {FIRST} were in the cache at once" in static
    assert paged != static


@pytest.mark.parametrize(
    ("memory", "rows", "words"),
    [
        ("1.61 GB", 8, "all rooms are drawn"),
        ("6.44 GB", 32, "all rooms"),
        ("13 GB", 32, "32 of 64"),
    ],
)
def test_every_room_is_drawn_and_named_or_the_caption_says_how_many(memory, rows, words) -> None:
    instrument = PagedCache(policy="continuous", memory=memory)
    film = instrument.film(instrument.result)
    assert len({actor.path[0][2] for actor in film.actors if actor.tone == "gray"}) == rows
    assert [name for _, name in film.rows] == ["room 1", f"room {rows}"]
    assert words in film.moments[0][1]
