"""Labels keep their distance and their order."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.instruments.label_places import Place, apart

places = st.lists(st.tuples(st.floats(0, 3), st.floats(0, 3)), max_size=6)


@given(places)
def test_no_label_lies_on_another_and_none_moves_up_or_sideways(wanted: list[Place]) -> None:
    found = apart(wanted, 1.0, 0.5)
    for (x, y), (u, v) in itertools.combinations(found, 2):
        assert abs(x - u) >= 1.0 or abs(y - v) >= 0.5 - 1e-9
    assert [x for x, _ in found] == [x for x, _ in wanted]
    assert all(y <= before for (_, y), (_, before) in zip(found, wanted, strict=True))


def test_labels_with_room_stay_where_they_are() -> None:
    assert apart([(0.0, 1.0), (0.0, 2.0)], 1.0, 0.5) == [(0.0, 1.0), (0.0, 2.0)]
