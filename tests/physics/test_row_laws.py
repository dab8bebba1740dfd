"""Norms, softmax and tables: rows cost something, long rows differ, few rows are copied in turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.physics.row_laws import (
    BLOCK_ROW,
    FEW_ROWS,
    LONG_ROW,
    WARP_ROW,
    GatherLaw,
    RowFloor,
    RowLaw,
    RowWalk,
    SoftmaxLaw,
)
from tests.physics.laws import LESS, MEASURED, seconds, takes_no_less
from tests.physics.strategies import multiples, whole

norms = st.sampled_from(["rmsnorm", "layernorm"])
rows = whole(10**6)
#: Columns that a softmax kernel holds in one place, so that more of them only mean more work.
held = st.one_of(
    st.integers(1, WARP_ROW - 1),
    st.integers(WARP_ROW + 1, BLOCK_ROW - 1),
    st.integers(BLOCK_ROW + 1, 10**5),
)


@given(norms, rows, multiples(8, 10**5), st.integers(0, 7), st.sampled_from(["rows", "columns"]))
def test_norms_of_more_elements_never_take_less(
    kind: str, count: int, aligned: int, ragged: int, side: str
) -> None:
    columns = aligned + ragged
    sizes = {"rows": count, "columns": columns}
    # A row that is 16 bytes longer is aligned as the one before and follows the same law.
    larger = {side: sizes[side] + (8 if side == "columns" else 1)}
    family = ph.row_family(kind, columns, 2)

    def make(**shape: int) -> ph.Kernel:
        return ph.small_kernel(kind, **shape)

    assert takes_no_less(make, sizes, larger, family)
    timed = MEASURED.time(make(**sizes), family)
    assert timed.time >= LESS * timed.textbook


@given(rows, held, st.sampled_from(["rows", "columns"]))
def test_softmax_of_more_elements_never_takes_less(count: int, columns: int, side: str) -> None:
    sizes = {"rows": count, "columns": columns}

    def make(**shape: int) -> ph.Kernel:
        return ph.small_kernel("softmax", **shape)

    family = ph.row_family("softmax", columns, 2)
    assert takes_no_less(make, sizes, {side: sizes[side] + 1}, family)
    timed = MEASURED.time(make(**sizes), family)
    assert timed.time >= LESS * timed.textbook


def test_softmax_takes_another_kernel_for_rows_beyond_the_registers() -> None:
    """The one place where a longer row is faster: the kernel changes, and so does its share."""
    law = MEASURED.law("rows of softmax", "fp16")
    assert isinstance(law, SoftmaxLaw)
    last, first = (
        MEASURED.time(ph.small_kernel("softmax", 4096, columns), law.key)
        for columns in (BLOCK_ROW, BLOCK_ROW + 1)
    )
    assert last.bandwidth_efficiency == pytest.approx(law.bandwidth_share * law.block_share)
    assert first.bandwidth_efficiency == law.bandwidth_share


@given(whole(10**5), st.integers(1, 10**5))
def test_a_longer_table_row_never_takes_less(count: int, columns: int) -> None:
    def make(**shape: int) -> ph.Kernel:
        return ph.small_kernel("embedding", **shape)

    sizes = {"rows": count, "columns": columns}
    family = "small kernels of embedding"
    assert takes_no_less(make, sizes, {"columns": columns + 1}, family)
    if count != FEW_ROWS:
        assert takes_no_less(make, sizes, {"rows": count + 1}, family)


def test_a_few_rows_of_a_table_are_copied_in_turn() -> None:
    """One row more than a few is faster: from there on they are gathered side by side."""
    law = MEASURED.law("small kernels of embedding", "fp16")
    assert isinstance(law, GatherLaw)
    few, more = (
        MEASURED.time(ph.small_kernel("embedding", count, 4096), law.key).floor
        for count in (FEW_ROWS, FEW_ROWS + 1)
    )
    assert few == pytest.approx(law.floor + FEW_ROWS * law.row_time)
    assert more == law.floor


def test_a_norm_reads_long_rows_a_second_time() -> None:
    law = MEASURED.law("rows of rmsnorm", "fp16")
    assert isinstance(law, RowLaw)
    short, long = (
        MEASURED.time(ph.small_kernel("rmsnorm", 4096, columns), law.key)
        for columns in (LONG_ROW, LONG_ROW + 8)
    )
    assert short.bandwidth_efficiency == law.bandwidth_share
    assert long.bandwidth_efficiency == pytest.approx(law.bandwidth_share * law.long_share)
    assert seconds(ph.small_kernel("rmsnorm", 1, 64), law.key) > law.floor


@given(st.floats(0, 1e-3), rows, whole(256), st.floats(0, 1e-6))
def test_rows_are_shared_by_the_multiprocessors(
    floor: float, count: int, units: int, each: float
) -> None:
    found = RowFloor(floor=floor, rows=count, units=units, row_time=each)
    assert found.total == pytest.approx(floor + count * each / units)
    assert found.total >= floor


@given(rows, whole(10**5))
def test_a_walk_takes_its_time_unless_the_peak_takes_longer(count: int, columns: int) -> None:
    walk = RowWalk(flops=4.0 * count * columns, peak=1e15, columns=columns, column_time=1e-9)
    assert 0 < walk.share <= 1
    computing = walk.flops / (walk.peak * walk.share)
    assert computing == pytest.approx(max(walk.walk, walk.flops / walk.peak))
