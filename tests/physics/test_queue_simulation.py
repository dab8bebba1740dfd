"""Requests played one by one: reproducible, in order, and never two at one server."""

from __future__ import annotations

import numpy as np

from mlsys_widgets import physics as ph
from mlsys_widgets.physics.queue_simulation import serve

S = 10e-3
STEPS = [1e-3, 1.5e-3, 2.5e-3]


def test_the_same_seed_gives_the_same_requests() -> None:
    for run in (
        lambda seed: ph.simulate_queue(80, S, 2, requests=50, seed=seed),
        lambda seed: ph.simulate_closed_loop(3, S, S, requests=50, seed=seed),
        lambda seed: ph.simulate_batches(80, 3, STEPS, requests=50, seed=seed),
    ):
        assert np.array_equal(run(1).ended, run(1).ended)
        assert not np.array_equal(run(1).ended, run(2).ended)


def test_nobody_is_served_before_arriving_and_no_server_works_twice() -> None:
    for servers in (1, 3):
        played = ph.simulate_queue(servers * 90, S, servers, requests=2000, seed=4)
        assert (played.wait >= 0).all()
        assert (np.diff(played.began) >= 0).all()  # first come, first served
        # As many as there are servers are worked on at once, and never more.
        events = np.concatenate([played.began, played.ended])
        change = np.concatenate([np.ones(2000), -np.ones(2000)])
        at_once = np.cumsum(change[np.lexsort((change, events))])
        assert at_once.max() == servers


def test_a_batch_has_room_for_so_many_and_leaves_nobody_behind() -> None:
    played = ph.simulate_batches(900, 3, STEPS, requests=2000, seed=4)
    assert (played.wait >= 0).all()
    assert (played.ended > played.began).all()
    inside = (played.began[:, None] <= played.began) & (played.ended[:, None] > played.began)
    assert inside.sum(axis=0).max() == len(STEPS)


def test_one_client_waits_for_nobody_and_two_for_each_other() -> None:
    one, two = (ph.simulate_closed_loop(n, S, 0, requests=500, seed=1) for n in (1, 2))
    assert one.wait.max() == 0
    assert (two.wait[5:] > 0).all()
    line = serve(one.arrived, one.ended - one.began)
    assert np.allclose(line.ended, one.ended)
