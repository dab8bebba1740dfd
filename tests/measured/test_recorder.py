"""A failure in one case or section never costs the others, and nothing unfit gets in."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.measured.recorder import Recorder, Skip, Spread, one_line, spread

ONE = Spread(1.0, 1.0, 1.0, 1)


def recorder(budget: float = math.inf) -> Recorder:
    return Recorder(device={}, software={}, method={}, budget=budget)


def test_a_failure_is_noted_and_the_rest_goes_on() -> None:
    record = recorder()
    with record.within("first"):
        with record.attempt("a case"):
            raise RuntimeError("no such thing\nand more of it")
        with record.attempt("another"):
            raise Skip("not here")
        record.add("copy", "numpy", None, {}, ONE)
        raise MemoryError("the section itself")
    with record.within("second"):
        record.add("copy", "out", None, {}, ONE)
    assert [entry["reason"] for entry in record.skipped] == [
        "RuntimeError: no such thing",
        "not here",
        "MemoryError: the section itself",
    ]
    assert [case["section"] for case in record.cases] == ["first", "second"]
    assert [part["name"] for part in record.sections] == ["first", "second"]


def test_an_interruption_is_not_swallowed() -> None:
    record = recorder()
    with pytest.raises(KeyboardInterrupt), record.within("first"), record.attempt("a case"):
        raise KeyboardInterrupt


def test_what_is_not_finite_or_was_there_is_skipped() -> None:
    record = recorder()
    record.add("copy", "numpy", None, {"n": 1}, ONE)
    record.add("copy", "numpy", None, {"n": 1}, ONE)
    record.add("copy", "numpy", None, {"n": 2}, ONE, flops=math.nan)
    assert len(record.cases) == 1
    assert [entry["reason"] for entry in record.skipped] == [
        "measured already",
        "flops is not finite",
    ]


def test_memory_is_kept_where_it_was_measured() -> None:
    record = recorder()
    record.add("training", "eager", "bf16", {"n": 1}, ONE, memory={"peak": 3.0})
    record.add("training", "eager", "bf16", {"n": 2}, ONE)
    record.add("training", "eager", "bf16", {"n": 3}, ONE, memory={"peak": math.inf})
    assert record.cases[0]["memory"] == {"peak": 3.0}
    assert "memory" not in record.cases[1]
    assert [entry["reason"] for entry in record.skipped] == ["memory is not finite"]


def test_a_section_leaves_time_for_the_others() -> None:
    record = recorder(budget=100.0)
    with record.within("greedy", reserve=95.0):
        with record.attempt("long"):
            record.need(50)
            record.add("copy", "numpy", None, {}, ONE)
        with record.attempt("short"):
            record.need(1)
            record.add("copy", "out", None, {}, ONE)
    assert [case["variant"] for case in record.cases] == ["out"]


@given(st.lists(st.floats(1e-9, 1e3), min_size=1))
def test_quartiles_are_in_order(samples: list[float]) -> None:
    found = spread(samples)
    assert min(samples) <= found.q25 <= found.median <= found.q75 <= max(samples) * (1 + 1e-12)


@pytest.mark.parametrize("samples", [[], [0.0], [-1.0], [math.nan], [1.0, math.inf]])
def test_impossible_timings_are_refused(samples: list[float]) -> None:
    with pytest.raises(ValueError, match="samples must be positive finite seconds"):
        spread(samples)


@given(st.text())
def test_plain_is_one_short_line(text: str) -> None:
    assert 1 <= len(one_line(text)) <= 240
    assert "\n" not in one_line(text)
