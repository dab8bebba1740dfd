"""A disturbed measurement is noticed, and a quiet one is left alone."""

from __future__ import annotations

import copy
import os

import pytest

from mlsys_widgets.measured import load
from mlsys_widgets.measured.cpu.machine import load_note
from mlsys_widgets.measured.disturbances import disturbances, product_rates

QUIET = load("cpu-2core-server")
SIDES = list(product_rates(QUIET))


def slowed(times, *sides):
    """The same, with products of some sides slower."""
    made = copy.deepcopy(QUIET)
    for case in made["cases"]:
        if case["kind"] == "gemm" and case["shape"]["n"] in sides:
            for name in ("median", "q25", "q75"):
                case["seconds"][name] *= times
    return made


def noted(note):
    return {**QUIET, "method": {**QUIET["method"], "notes": ["Something else.", note]}}


@pytest.mark.parametrize("n", SIDES[2:-1])
def test_a_size_far_below_both_neighbors_is_named(n):
    (said,) = disturbances(slowed(4, n))
    assert said.startswith(f"The product of N = {n:,} came out at ")
    assert "far below its neighbors" in said


def test_the_largest_size_has_one_neighbor():
    (said,) = disturbances(slowed(2, SIDES[-1]))
    assert said.endswith(f"far below that of N = {SIDES[-2]:,}.")


def test_all_large_sizes_may_be_slow_together():
    assert "The largest products came out slower than a small one." in disturbances(
        slowed(3, *SIDES[-3:])
    )


@pytest.mark.parametrize("n", SIDES)
def test_a_little_slower_is_no_disturbance(n):
    assert disturbances(slowed(1.1, n)) == []


@pytest.mark.parametrize(
    ("note", "busy"),
    [
        ("Load before: 0.40 on 2 cores.", False),
        ("Load before: 1.50 on 2 cores.", False),
        ("Load before: 1.60 on 2 cores.", True),
        ("Load before: 20.00 on 64 cores.", False),
        ("Load before: 9.00 on 0 cores.", True),
        ("Load before: much on 2 cores.", False),
    ],
)
def test_a_load_when_it_began_is_told(note, busy):
    said = disturbances(noted(note))
    assert bool(said) == busy
    if busy:
        assert "other programs were running" in said[0]


def test_the_load_is_noted_where_the_system_counts_it(monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (3.14159, 1.0, 1.0), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert load_note() == "Load before: 3.14 on 2 cores."
    assert disturbances(noted(load_note()))

    def unknown():
        raise OSError

    monkeypatch.setattr(os, "getloadavg", unknown, raising=False)
    assert load_note() == ""
    monkeypatch.delattr(os, "getloadavg")
    assert load_note() == ""
