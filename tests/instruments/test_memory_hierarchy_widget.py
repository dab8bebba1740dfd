"""Where a tensor lives and what its trips cost: the numbers on the screen are those of physics."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Blocks, Line, Points, Scene, Words
from mlsys_widgets.instruments.memory_hierarchy_widget import MemoryHierarchy

LEVELS = list(ph.memory_hierarchy)


def marks(instrument: MemoryHierarchy) -> dict[str, object]:
    scenes: tuple[Scene, ...] = instrument.scenes(instrument.result)
    return {mark.name: mark for scene in scenes for mark in scene.marks}


def test_the_levels_of_day_14() -> None:
    # Day 14, the memory hierarchy: registers, SRAM, L2 and HBM at about 20, 19, 6 and 2 TB/s.
    _, rows = MemoryHierarchy().table(MemoryHierarchy().result)
    assert [row[2] for row in rows[:4]] == ["20 TB/s", "19 TB/s", "6 TB/s", "2 TB/s"]
    assert [row[3] for row in rows[2:4]] == ["40 MB", "80 GB"]


@pytest.mark.parametrize(
    ("size", "level"),
    [(1, "registers"), (25e6, "registers"), (30e6, "l2"), (1e9, "hbm"), (1e12, "host")],
)
def test_the_fastest_level_that_holds_it(size: float, level: str) -> None:
    w = MemoryHierarchy(size=size)
    assert w.result.nearest.level is ph.memory_hierarchy[level]
    assert w.result.home is w.result.nearest
    assert w.result.fits
    assert w.cards(w.result)[0][1] == ph.memory_hierarchy[level].name


def test_times_slower_than_registers() -> None:
    # Day 14: HBM is ten times slower than registers. Lab 07: PCIe is more than 60 times slower
    # than HBM.
    slower = {cost.level.key: cost.slowdown for cost in MemoryHierarchy().result.levels}
    assert slower["registers"] == 1
    assert slower["hbm"] == pytest.approx(10)
    assert slower["host"] / slower["hbm"] == pytest.approx(62.5)


def test_trips_of_a_chain() -> None:
    w = MemoryHierarchy(size=100e6, operations=3)
    chain = w.result.home.chain
    assert (chain.unfused_tensors, chain.fused_tensors) == (6, 2)
    assert (chain.unfused_time, chain.fused_time) == (pytest.approx(300e-6), pytest.approx(100e-6))
    w.set(operand=True)
    # Each of three operations reads two tensors and writes one; fused: four in, one out.
    chain = w.result.home.chain
    assert (chain.unfused_tensors, chain.fused_tensors) == (9, 5)


def test_one_operation_has_nothing_to_fuse() -> None:
    w = MemoryHierarchy(operations=1)
    assert w.result.home.chain.speedup == 1
    assert w.cards(w.result)[-1][1] == "0 s"


def test_a_tensor_that_does_not_fit_says_by_how_much_and_where_it_goes() -> None:
    w = MemoryHierarchy(size=1e9, home="l2")
    assert not w.result.fits
    words, tone = w.alert(w.result) or ("", "")
    assert "25×" in words
    assert "HBM" in words
    assert tone == "red"
    w.set(size=40e6)
    assert w.alert(w.result) is None
    w.set(size=1e12, home="hbm")
    words, _ = w.alert(w.result) or ("", "")
    assert "host memory" in words


@given(
    st.floats(1, 1e12),
    st.integers(1, 32),
    st.booleans(),
    st.sampled_from(["nearest", *LEVELS]),
)
def test_plot_cards_sentence_and_table_agree(
    size: float, operations: int, operand: bool, home: str
) -> None:
    w = MemoryHierarchy(size=size, operations=operations, operand=operand, home=home)
    size = w.size  # brought to the end of the slider where it misses that by a digit
    result = w.result
    chain = ph.chain(*["add" if operand else "relu"] * operations)
    expected = ph.fuse(
        chain,
        size,
        1,
        bandwidth=result.home.level.bandwidth,
        launch_overhead=0,
        compute_time=0,
    )
    assert result.home.chain.unfused_time == expected.unfused_time
    assert result.home.trip.time == ph.transfer(size, result.home.level).time
    shown = ph.format_quantity(expected.unfused_time, "s")
    assert shown in w.sentence(result)
    row = w.table(result)[1][LEVELS.index(result.home.level.key)]
    assert row[7] == shown
    assert row[4] == ph.format_quantity(result.fits)
    assert (w.alert(result) is None) == result.fits
    drawn = marks(w)
    tensor, where = drawn["tensor"], drawn["home"]
    assert isinstance(tensor, Line)
    assert isinstance(where, Points)
    assert tuple(tensor.x) == (size, size)
    assert tuple(where.x) == (size,)
    unfused, fused, costs = drawn["unfused"], drawn["fused"], drawn["unfused costs"]
    assert isinstance(unfused, Blocks)
    assert isinstance(fused, Blocks)
    assert isinstance(costs, Words)
    one = result.levels[0].trip.time
    for cost, wide, narrow, text in zip(
        result.levels, unfused.blocks, fused.blocks, costs.text, strict=True
    ):
        assert wide[2] == pytest.approx(cost.chain.unfused_time / one)
        assert narrow[2] <= wide[2]
        assert text == ph.format_quantity(wide[2], "×")
        assert all(math.isfinite(edge) for edge in (*wide[:4], *narrow[:4]))


def test_a_typed_size_is_read_and_a_wrong_one_refused_with_nothing_lost() -> None:
    w = MemoryHierarchy()
    w.set(size="2 GB")
    assert w.size == 2e9
    before = w.inputs
    for wrong, words in ((0, "Tensor size is 0 B"), ("2 hours", "amount of data"), (1e13, "10 TB")):
        with pytest.raises(ValueError, match=words):
            w.set(size=wrong)
    with pytest.raises(ValueError, match="must be one of: nearest, registers"):
        w.set(home="tape", size=5)
    assert w.inputs == before
