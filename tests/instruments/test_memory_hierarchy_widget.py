"""Where a tensor lives and what its trips cost: the numbers on the screen are those of physics."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Blocks, Line, Points, Scene, Words
from mlsys_widgets.instruments.controls import Slider
from mlsys_widgets.instruments.memory_hierarchy_widget import MemoryHierarchy
from mlsys_widgets.instruments.target import Target
from tests.instruments.drawn import handle

LEVELS = list(ph.memory_hierarchy)


def marks(instrument: MemoryHierarchy) -> dict[str, object]:
    scenes: tuple[Scene, ...] = instrument.scenes(instrument.result)
    return {mark.name: mark for scene in scenes for mark in scene.marks}


def test_the_levels_of_day_14() -> None:
    # Day 14, the memory hierarchy: registers, SRAM, L2 and HBM at about 20, 19, 6 and 2 TB/s.
    _, rows = MemoryHierarchy().table(MemoryHierarchy().result)
    assert [row[2] for row in rows[:4]] == ["117 TB/s", "19 TB/s", "6 TB/s", "2 TB/s"]
    assert [row[3] for row in rows[2:4]] == ["40 MB", "80 GB"]


@pytest.mark.parametrize(
    ("size", "level"),
    [(1, "registers"), (2e3, "sram"), (163e3, "sram"), (30e6, "l2"), (1e9, "hbm"), (1e12, "host")],
)
def test_the_fastest_level_that_holds_it(size: float, level: str) -> None:
    w = MemoryHierarchy(size=size)
    assert w.result.nearest.level is ph.memory_hierarchy[level]
    assert w.result.home is w.result.nearest
    assert w.result.fits
    assert w.cards(w.result)[0][1] == ph.memory_hierarchy[level].name


def test_times_slower_than_registers() -> None:
    # 117 TB/s of registers over 2 TB/s of HBM. Lab 07: PCIe is more than 60 times slower than HBM.
    slower = {cost.level.key: cost.slowdown for cost in MemoryHierarchy().result.levels}
    assert slower["registers"] == 1
    assert slower["hbm"] == pytest.approx(58.5)
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


def test_a_tensor_that_does_not_fit_says_by_how_much() -> None:
    w = MemoryHierarchy(size=1e9, home="l2")
    assert not w.result.fits
    words, tone = w.alert(w.result) or ("", "")
    assert "25× as large, 0.96 GB too much" in words  # 1 GB against the 40 MB of the L2 cache
    assert "the L2 cache of the whole GPU" in words
    assert tone == "red"
    for remedy in ("HBM", "tile", "trip"):
        assert remedy not in words
    w.set(size=40e6)
    assert w.alert(w.result) is None


def test_where_it_would_fit_is_a_hint() -> None:
    w = MemoryHierarchy(size=1e9, home="l2")
    assert "HBM as a whole, where a trip takes 3 times as long" in w.hint(w.result)  # 6 over 2 TB/s
    assert "25 tiles" in w.hint(w.result)
    w.set(size=1e12, home="hbm")
    assert "host memory" in w.hint(w.result)
    assert "tile" not in w.hint(w.result)
    w.set(size=1e6, home="hbm")
    assert "It would fit into the L2 cache" in w.hint(w.result)
    w.set(home="nearest")
    assert w.hint(w.result) == ""


def test_a_larger_level_holds_more_and_is_no_faster() -> None:
    w = MemoryHierarchy(size=300e6)
    assert w.result.nearest.level.key == "hbm"
    before = w.result.levels[2].trip.time
    w.set(l2=400e6)
    assert w.result.nearest.level.key == "l2"
    assert w.result.home.trip.time == before
    row = w.table(w.result)[1][2]
    assert row[3:6] == ("400 MB", "400 MB", "yes")
    w.set(l2=40e6, registers=10.2e3)
    # Ten times the registers in each thread are ten times those of the chip: 27.6 MB before.
    assert w.table(w.result)[1][0][3:5] == ("10.2 KB", "276.5 MB")


# What can be dragged.


@pytest.mark.parametrize("level", ["registers", "sram", "l2", "hbm"])
def test_the_end_of_a_level_is_its_size(level: str) -> None:
    w = MemoryHierarchy()
    start = handle(w, level)
    w.drag(level, start.x * 3, start.y)
    assert handle(w, level).x == pytest.approx(3 * start.x, rel=5e-3)
    slider = w.controls[level]
    assert isinstance(slider, Slider)
    w.drag(level, 1.0, start.y)
    assert handle(w, level).x == slider.low
    w.drag(level, 1e13, start.y)
    assert handle(w, level).x == slider.high


def test_the_line_of_the_tensor_moves_it_from_level_to_level() -> None:
    w = MemoryHierarchy()
    homes = []
    for size in (500, 50e3, 5e6, 5e9, 5e11):
        w.drag("size", size, 5.5)
        assert handle(w, "size").x == size
        homes.append(w.result.home.level.key)
    assert homes == LEVELS
    assert w.home == "nearest"
    w.drag("size", 1e13, 5.5)
    assert w.size == 1e12


def test_a_tensor_is_dropped_on_a_level() -> None:
    w = MemoryHierarchy(size=100e6)
    # In the row where it lives anyway it goes on to live in the fastest level that holds it.
    w.drag("tensor", 200e6, handle(w, "tensor").y)
    assert (w.size, w.home) == (200e6, "nearest")
    w.drag("tensor", 200e6, 3.1)  # the row of the L2 cache
    assert (w.size, w.home, w.result.fits) == (200e6, "l2", False)
    assert (handle(w, "tensor").x, handle(w, "tensor").y) == (200e6, 3)
    w.drag("tensor", 1e13, 0.5)
    assert (w.size, w.home) == (1e12, "host")
    w.drag("tensor", 1.0, 5.5)
    assert (w.size, w.home, w.result.fits) == (1, "registers", True)


def test_a_tensor_held_in_a_row_stays_there_when_it_outgrows_the_level() -> None:
    w = MemoryHierarchy(size=30e6)
    row = handle(w, "tensor").y
    w.drag("tensor", 60e6, row)
    assert (w.home, w.result.fits, handle(w, "tensor").y) == ("l2", False, row)


def test_the_math_is_that_of_the_level_it_lives_in() -> None:
    w = MemoryHierarchy(size=100e6)
    assert list(w.explanations) == ["One trip, HBM", "The chain"]
    assert "50 µs" in str(w.explanations["One trip, HBM"].derivation())
    chain = w.explanations["The chain"]
    assert w.dominant(chain) in chain.outputs()


def test_each_plot_explains_its_own_colors() -> None:
    w = MemoryHierarchy(size=1e9, home="l2")
    for scene in w.scenes(w.result):
        tones = {tone for _, tone, _ in scene.legend}
        blocks = [mark for mark in scene.marks if isinstance(mark, Blocks)]
        assert {block[4] for mark in blocks for block in mark.blocks} <= tones


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
    assert row[8] == shown
    assert row[5] == ph.format_quantity(result.fits)
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


def test_targets_for_room_and_for_a_trip() -> None:
    """76 MB fit into 80 GB at 2 TB/s, 38 µs, and into the host's memory at 32 GB/s, 2.38 ms."""
    w = MemoryHierarchy(size=76e6, home="hbm")
    w.targets = lambda: [
        Target("size", w.result.home.capacity, "room"),
        Target("trip", 100e-6, "a trip in 100 µs"),
    ]
    assert [lamp.short for lamp in w.lamps] == ["fits", "in time"]
    w.set(home="host")
    assert [lamp.short for lamp in w.lamps] == ["fits", "too late"]
    w.set(home="sram")
    assert [lamp.short for lamp in w.lamps] == ["does not fit", "in time"]
    assert w.cards(w.result)[-1] == ("Fusion saves", "does not fit", "red")


def test_the_line_of_the_tensor_is_clear_of_words_beside_a_short_bar() -> None:
    w = MemoryHierarchy(size=100e6, home="sram")
    edge = marks(w)["levels at the edge"]
    assert isinstance(edge, Words)
    assert [text.split(" (")[0] for text in edge.text] == ["1.02 KB", "163 KB"]
    w.set(size=300e3)
    edge = marks(w)["levels at the edge"]
    assert isinstance(edge, Words)
    assert [text.split(" (")[0] for text in edge.text] == ["1.02 KB"]
