"""The kinds of submissions of a simulated class, and how many of each it has."""

from __future__ import annotations

from collections import Counter

import pytest

from mlsys_widgets.classes.submission_kinds import KINDS, allot


def test_the_shares_add_up_and_every_kind_is_told_apart() -> None:
    assert sum(kind.share for kind in KINDS.values()) == pytest.approx(100)
    assert len({kind.about for kind in KINDS.values()}) == len(KINDS)


@pytest.mark.parametrize("count", [1, 2, 15, 31, 32, 60, 1000])
def test_a_class_has_as_many_as_asked_for(count: int) -> None:
    found = Counter(allot(count, (), seed=1))
    assert found.total() == count
    if count >= 2 * len(KINDS):
        assert set(found) == set(KINDS)
    if count == 1000:
        assert 180 <= found["right"] <= 220


def test_only_some_kinds() -> None:
    assert Counter(allot(4, ("late", "copied"), seed=0)).keys() == {"late", "copied"}
    assert Counter(allot(1, ("blank",), seed=0)) == {"blank": 1}
