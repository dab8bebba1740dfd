"""The film of a line: everybody is served once, in order, and no server has two at a time."""

from __future__ import annotations

from itertools import pairwise

import pytest

from mlsys_widgets import QueueExplorer
from mlsys_widgets.instruments.queue_film import FIRST, SECONDS
from mlsys_widgets.instruments.queue_scenes import play


@pytest.mark.parametrize("load", [0.05, 0.8, 0.97])
@pytest.mark.parametrize("servers", [1, 3, 16])
def test_every_request_comes_and_leaves_in_time(load: float, servers: int) -> None:
    instrument = QueueExplorer(load=load, servers=servers)
    film = instrument.film(instrument.result)
    assert [actor.label for actor in film.actors] == [str(k + 1) for k in range(FIRST)]
    for actor in film.actors:
        assert actor.leaves is not None
        assert 0 <= actor.path[0][0] < actor.leaves <= SECONDS
        # From the left to the right, never back.
        lefts = [place[1] for place in actor.path]
        assert lefts == sorted(lefts)
    arrivals = [actor.path[0][0] for actor in film.actors]
    assert arrivals == sorted(arrivals)


@pytest.mark.parametrize("servers", [1, 3, 16])
def test_no_server_has_two_requests_at_once(servers: int) -> None:
    instrument = QueueExplorer(load=0.9, servers=servers)
    film = instrument.film(instrument.result)
    lanes: dict[float, list[tuple[float, float]]] = {}
    for actor in film.actors:
        (at, _, bottom, _, _), (gone, *_) = actor.path[-2:]
        lanes.setdefault(round(bottom, 6), []).append((at, gone))
    assert len(lanes) <= servers
    for visits in lanes.values():
        visits.sort()
        assert all(gone <= at for (_, gone), (at, _) in pairwise(visits))


def test_colors_tell_who_waited() -> None:
    instrument = QueueExplorer(load=0.9)
    run = play(instrument.result, closed=False)
    film = instrument.film(instrument.result)
    for actor, waited in zip(film.actors, run.wait[:FIRST], strict=True):
        assert actor.tone == ("green" if waited < 1e-9 else "orange" if waited <= 1 else "red")
    assert any(words.startswith("Request ") for _, words in film.moments)
