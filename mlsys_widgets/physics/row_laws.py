"""Laws of kernels that work row by row: norms, softmax, and rows looked up in a table.

A row is reduced by one block of threads before any of it is written. Which kernel a library takes
depends on the length of the row and on how it is aligned, so each has a law of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mlsys_widgets.physics.domain import AT_LEAST_ONE, NON_NEGATIVE, POSITIVE, Numeric, lesser
from mlsys_widgets.physics.kernel_laws import Law, LawCeilings, chosen
from mlsys_widgets.physics.provenance import number
from mlsys_widgets.physics.result import Result, derived, given
from mlsys_widgets.physics.small_kernels import SmallKernelUse


@dataclass(frozen=True, repr=False)
class RowFloor(Result):
    """Rows that are reduced one by one on each multiprocessor, at a cost apiece."""

    floor: Numeric = given("t_0", "s", "time of an empty kernel", NON_NEGATIVE)
    rows: Numeric = given("r", "", "rows", AT_LEAST_ONE)
    units: Numeric = given("U", "", "multiprocessors", AT_LEAST_ONE)
    row_time: Numeric = given("t_row", "s", "reducing a row, whatever its length", NON_NEGATIVE)

    @derived("t_floor", "s")
    def total(self) -> Numeric:
        """Time that does not depend on the length of the rows."""
        return self.floor + self.rows * self.row_time / self.units


@dataclass(frozen=True, repr=False)
class RowWalk(Result):
    """A row is walked by one block of threads, however few rows there are."""

    flops: Numeric = given("W", "FLOP", "operations", POSITIVE)
    peak: Numeric = given("P", "FLOP/s", "peak compute rate", POSITIVE)
    columns: Numeric = given("c", "", "elements of a row", AT_LEAST_ONE)
    column_time: Numeric = given("t_col", "s", "walking one element further", POSITIVE)

    @derived("t_walk", "s")
    def walk(self) -> Numeric:
        """Time to walk one row from end to end."""
        return self.columns * self.column_time

    @derived("η_walk", "%")
    def share(self) -> Numeric:
        """Fraction of the peak that is left while rows are walked."""
        return lesser(1.0, self.flops / (self.peak * self.walk))


#: Elements of the longest row that stays on the chip between reading and writing.
LONG_ROW: Final = 8192


@dataclass(frozen=True, kw_only=True)
class RowLaw(Law):
    """Norms: every row is reduced by one block before any of it is written."""

    row_time: float = number("s")
    column_time: float = number("s")
    #: Fraction of that bandwidth for rows that must be read a second time.
    long_share: float = number("%")

    def floor_of(self, kernel: SmallKernelUse, ceilings: LawCeilings) -> Numeric:
        """The floor, and the cost of the rows."""
        return RowFloor(
            floor=self.floor, rows=kernel.rows, units=ceilings.units, row_time=self.row_time
        ).total

    def compute_share_of(self, kernel: SmallKernelUse, ceilings: LawCeilings) -> Numeric:
        """The fraction of the peak that walking the rows leaves."""
        return RowWalk(
            flops=kernel.flops,
            peak=ceilings.peak,
            columns=kernel.columns,
            column_time=self.column_time,
        ).share

    def bandwidth_share_of(self, kernel: SmallKernelUse, ceilings: LawCeilings) -> Numeric:
        """Less for rows that are too long to stay on the chip until they are written."""
        long = kernel.columns > LONG_ROW
        return chosen(long, self.bandwidth_share * self.long_share, self.bandwidth_share)


#: The longest rows of softmax that one warp holds, and that one block holds in its registers.
WARP_ROW: Final = 2048
BLOCK_ROW: Final = 9216


@dataclass(frozen=True, kw_only=True)
class SoftmaxLaw(RowLaw):
    """Softmax of rows that a block holds in its registers or, if they are longer, elsewhere."""

    #: Fraction of that bandwidth for rows held in the registers of a block.
    block_share: float = number("%")

    def bandwidth_share_of(self, kernel: SmallKernelUse, ceilings: LawCeilings) -> Numeric:
        """Less for rows that a block reads piece by piece into its registers."""
        held = kernel.columns <= BLOCK_ROW
        return chosen(held, self.bandwidth_share * self.block_share, self.bandwidth_share)


#: Rows that PyTorch gathers one after the other rather than side by side.
FEW_ROWS: Final = 16


@dataclass(frozen=True, kw_only=True)
class GatherLaw(Law):
    """Rows looked up in a table: a few of them are copied one after the other."""

    row_time: float = number("s")

    def floor_of(self, kernel: SmallKernelUse, ceilings: LawCeilings) -> Numeric:
        """The floor, and rows copied one by one where there are few."""
        one_by_one = RowFloor(
            floor=self.floor, rows=kernel.rows, units=1.0, row_time=self.row_time
        ).total
        return chosen(kernel.rows <= FEW_ROWS, one_by_one, self.floor)


def row_family(kind: str, columns: float, bytes_per_element: float) -> str:
    """The family of a norm or softmax: which kernel a library takes depends on the row.

    The ``kind`` is ``"softmax"``, ``"layernorm"`` or ``"rmsnorm"``, and ``columns`` are the
    elements of a row. The result names a law in ``DeviceCalibration.laws``.

    Examples
    --------
    >>> row_family("softmax", 512, 2), row_family("rmsnorm", 4096, 2), row_family("rmsnorm", 999, 2)
    ('short rows of softmax', 'rows of rmsnorm', 'ragged rows of rmsnorm')
    """
    if kind == "softmax":
        return f"{'short rows' if columns <= WARP_ROW else 'rows'} of softmax"
    return f"{'ragged rows' if columns * bytes_per_element % 16 else 'rows'} of {kind}"
