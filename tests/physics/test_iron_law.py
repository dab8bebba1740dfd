"""Three terms, how they combine, and which of them binds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from mlsys_widgets import physics as ph
from tests.physics.strategies import positive


@given(positive(1, 1e12), positive(1, 1e15), positive(1e6, 1e13), positive(1e6, 1e16))
def test_overlap_saves_at_most_the_smaller_term(
    data: float, operations: float, bandwidth: float, rate: float
) -> None:
    terms = {"data": data, "operations": operations, "bandwidth": bandwidth, "rate": rate}
    added, overlapped = (ph.iron_law(**terms, overlapped=o) for o in (False, True))
    smaller = min(added.memory_time, added.compute_time)
    assert math.isclose(added.total, overlapped.total + smaller, rel_tol=1e-9)
    assert added.binding == overlapped.binding


def test_the_binding_term_of_many_cases_is_that_of_each() -> None:
    batches = np.array([1.0, 7.0, 8.0, 512.0])
    many = ph.iron_law(100e6, 4e9, "h100-sxm", batch=batches).binding
    each = [ph.iron_law(100e6, 4e9, "h100-sxm", batch=batch).binding for batch in batches]
    assert list(many) == each == ["memory", "memory", "compute", "compute"]
    assert ph.iron_law(1e3, 1e6, "h100-sxm", latency=1.0).binding == "latency"


def test_the_compute_bound_batch_is_the_first_at_which_compute_takes_as_long() -> None:
    batch = ph.iron_law(100e6, 4e9, "h100-sxm").compute_bound_batch
    before, there = (ph.iron_law(100e6, 4e9, "h100-sxm", batch=b) for b in (batch - 1, batch))
    assert before.compute_time < before.memory_time
    assert there.compute_time >= there.memory_time
    # What is compute-bound already is so from a batch of one.
    assert ph.iron_law(1.0, 4e12, "h100-sxm").compute_bound_batch == 1


def test_numbers_replace_those_of_the_device_one_by_one() -> None:
    h100 = ph.devices["h100-sxm"]
    slow = ph.iron_law(1e8, 4e9, h100, bandwidth=1e12)
    assert (slow.bandwidth, slow.rate) == (1e12, h100.peak("fp16"))
    assert ph.iron_law(1e8, 4e9, h100, precision="int8").rate == h100.peak("int8")


def test_what_fills_a_memory_exactly_fits() -> None:
    h100 = ph.devices["h100-sxm"]
    full = ph.capacity(h100.memory, h100)
    assert (full.fill, full.out_of_memory) == (1, False)
    assert ph.capacity(h100.memory * 1.0001, h100).out_of_memory is True
    assert ph.capacity([1e9, 1e12], h100).out_of_memory == pytest.approx([False, True])
