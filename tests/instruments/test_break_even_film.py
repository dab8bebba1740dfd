"""The film of the traffic: a debt that shrinks at the pace of the result."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments.break_even_film import (
    BEYOND,
    BLOCKS,
    COMPILING,
    SECONDS,
    TRAFFIC,
    film_of,
)

show = ph.format_quantity
INPUTS = {
    "compile_time": st.floats(0.1, 600),
    "eager_rate": st.floats(0.1, 1e6),
    "gain": st.one_of(st.just(0.0), st.floats(1e-6, 3)),
    "per_day": st.floats(1, 1e9),
    "days": st.floats(1 / 1440, 365),
}
deployments = st.builds(ph.deployment, **INPUTS)


@given(deployments)
def test_the_debt_is_paid_when_the_result_says(result: ph.Deployment) -> None:
    film = film_of(result)
    assert len(json.dumps(film.to_json())) < 5000
    times = [at for at, _ in film.moments]
    assert times == sorted(times)
    assert sum(actor.tone == "blue" for actor in film.actors) == BLOCKS
    (debt,) = (actor for actor in film.actors if actor.tone == "red")
    full, last = debt.path[1][3], debt.path[-1]
    if result.roi_positive:
        end = min(result.days, BEYOND * result.days_to_break_even)
        even = COMPILING + TRAFFIC * result.days_to_break_even / end
        assert last[0] == debt.leaves == pytest.approx(even)
        assert last[3] == pytest.approx(0, abs=1e-9)
        assert "net." in film.moments[-1][1]
    else:
        assert last[0] == SECONDS
        assert last[3] / full == pytest.approx(1 - result.saved / result.compile_time)
        left = show(-result.net_saved, "s")
        assert f"the service ends: {left} are not paid back." in film.moments[-1][1]
        assert all(actor.tone != "green" for actor in film.actors)


def test_resnet50_in_the_cloud() -> None:
    # 30 s / (1/1,450 - 1/2,150) s = 133,607 inferences, 19.2 min at 10 million a day.
    film = film_of(ph.deployment(30, 1450, 2150, per_day=1e7, days=30))
    assert [words for _, words in film.moments][2:] == [
        "After 9.62 min and 66,804 inferences, 15 s of 30 s are paid back.",
        "After 19.2 min and 133,607 inferences, the compile time is paid back: break-even.",
        "After 28.9 min and 200,411 inferences, compiling has saved 15 s net.",
    ]
    (saved,) = (actor for actor in film.actors if actor.tone == "green")
    (debt,) = (actor for actor in film.actors if actor.tone == "red")
    # Half of what was owed has been earned, and is drawn to the same scale.
    assert saved.path[-1][3] == pytest.approx(debt.path[1][3] / 2)


def test_a_service_that_ends_soon_after_its_break_even() -> None:
    film = film_of(ph.deployment(30, 1450, 2150, per_day=133_607.2, days=1.1))
    assert film.title == "The first 26.4 hours of traffic"
    assert "when the service ends, compiling has saved 3 s net." in film.moments[-1][1]
