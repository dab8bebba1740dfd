"""Instruments that share inputs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import MemoryBudget, RooflineWidget, link


def pair():
    return RooflineWidget(workload="llm", batch=4, sequence=1024), MemoryBudget()


def test_the_others_start_where_the_first_one_is():
    roofline, budget = pair()
    link(roofline, budget, on=("batch", "sequence"))
    assert (budget.batch, budget.sequence) == (4, 1024)


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(1, 512), st.integers(128, 8192)), max_size=8)
)
def test_whoever_moves_takes_the_other_along(moves):
    instruments = pair()
    link(*instruments, on=("batch", "sequence"))
    for who, batch, sequence in moves:
        instruments[who].set(batch=batch, sequence=sequence)
        assert {(each.batch, each.sequence) for each in instruments} == {(batch, sequence)}
    assert instruments[1].result.batch == instruments[1].batch


def test_one_input_may_be_named_alone_and_the_rest_stays():
    roofline, budget = pair()
    link(roofline, budget, on="batch")
    roofline.set(batch=32, sequence=512)
    assert (budget.batch, budget.sequence) == (32, 2048)


def test_where_a_range_ends_the_other_goes_on_alone():
    roofline, budget = pair()
    link(roofline, budget, on="sequence")
    roofline.set(sequence=1)  # a decode step; the budget starts at 128 tokens
    assert (roofline.sequence, budget.sequence) == (1, 1024)
    roofline.set(sequence=256)
    assert budget.sequence == 256


def test_only_what_moved_moves_the_others():
    roofline, budget = pair()
    link(roofline, budget, on=("batch", "sequence"))
    roofline.set(sequence=1)
    budget.set(batch=32)
    assert (roofline.batch, roofline.sequence) == (32, 1)


def test_they_can_part():
    roofline, budget = pair()
    part = link(roofline, budget, on="batch")
    part()
    roofline.set(batch=64)
    assert budget.batch == 4


@pytest.mark.parametrize(
    ("arguments", "on", "says"),
    [
        ((RooflineWidget(),), ("batch",), "two instruments or more"),
        (pair(), (), "two instruments or more"),
        (pair(), ("batch", "words"), "RooflineWidget has no input words; it has: device"),
    ],
)
def test_what_cannot_be_linked(arguments, on, says):
    with pytest.raises(ValueError, match=says):
        link(*arguments, on=on)
