"""The laws of the calibrated form: how each family of kernels falls short of its ceilings, and why.

A law has a few parameters, each of which stands for something: the floor below which no kernel
finishes, the shares of peak and bandwidth that are reached at best, and the reason why a given size
reaches less. The values come from a measurement of a device (see ``device_calibration``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mlsys_widgets.physics.attention import Attention
from mlsys_widgets.physics.domain import (
    AT_LEAST_ONE,
    NON_NEGATIVE,
    POSITIVE,
    SHARE,
    Numeric,
    greater,
    round_up,
)
from mlsys_widgets.physics.kernel_time import CalibratedTime
from mlsys_widgets.physics.kernels import Kernel
from mlsys_widgets.physics.products import Product
from mlsys_widgets.physics.provenance import CatalogEntry, number
from mlsys_widgets.physics.result import Result, derived, given
from mlsys_widgets.physics.small_kernels import SmallKernelUse


@dataclass(frozen=True)
class LawCeilings:
    """What a device could do at best in one precision."""

    peak: float
    bandwidth: float
    units: float


@dataclass(frozen=True, kw_only=True)
class Law(CatalogEntry):
    """A floor and constant shares of both ceilings."""

    floor: float = number("s")
    bandwidth_share: float = number("%")
    compute_share: float = number("%")
    #: Fraction of the shorter of moving and computing that the longer does not hide.
    exposed: float = number("%")

    def time(self, kernel: Kernel, ceilings: LawCeilings, launches: float = 1.0) -> CalibratedTime:
        """How long a kernel takes."""
        return CalibratedTime(
            flops=kernel.flops,
            bytes=kernel.bytes,
            peak=ceilings.peak,
            bandwidth=ceilings.bandwidth,
            kernels=launches,
            exposed=self.exposed,
            floor=self.floor_of(kernel, ceilings),
            compute_efficiency=self.compute_share_of(kernel, ceilings),
            bandwidth_efficiency=self.bandwidth_share_of(kernel, ceilings),
        )

    def floor_of(self, kernel: Any, ceilings: LawCeilings) -> Numeric:
        """Seconds below which this kernel does not finish."""
        return self.floor

    def compute_share_of(self, kernel: Any, ceilings: LawCeilings) -> Numeric:
        """Fraction of the peak that a kernel of this size reaches."""
        return self.compute_share

    def bandwidth_share_of(self, kernel: Any, ceilings: LawCeilings) -> Numeric:
        """Fraction of the bandwidth that a kernel of this size reaches."""
        return self.bandwidth_share


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


@dataclass(frozen=True, kw_only=True)
class RowLaw(Law):
    """Norms and softmax: every row is reduced before any of it is written."""

    row_time: float = number("s")
    #: Fraction of that bandwidth where rows are no whole number of 16-byte pieces.
    ragged_share: float = number("%")

    def floor_of(self, kernel: SmallKernelUse, ceilings: LawCeilings) -> Numeric:
        """The floor, and the cost of the rows."""
        return RowFloor(
            floor=self.floor, rows=kernel.rows, units=ceilings.units, row_time=self.row_time
        ).total

    def bandwidth_share_of(self, kernel: SmallKernelUse, ceilings: LawCeilings) -> Numeric:
        """Less for rows that cannot be read in pieces of 16 bytes."""
        ragged = np.mod(kernel.columns * kernel.bytes_per_element, 16) != 0
        return _chosen(ragged, self.bandwidth_share * self.ragged_share, self.bandwidth_share)


#: Tiles that libraries cut a product into: rows and columns of the result.
TILES: Final = ((8, 128), (16, 128), (32, 128), (64, 64), (64, 128), (128, 128), (128, 256))
_SIDES: Final = np.array(TILES, dtype=np.float64).T
#: From so many shapes on, tiles are tried one after the other, which needs less memory.
_MANY: Final = 4096


@dataclass(frozen=True, repr=False)
class TileShare(Result):
    """A product cut into tiles: full tiles keep the units busy, and large ones reuse their data."""

    m: Numeric = given("M", "", "rows of the result", AT_LEAST_ONE)
    n: Numeric = given("N", "", "columns of the result", AT_LEAST_ONE)
    units: Numeric = given("U", "", "multiprocessors", AT_LEAST_ONE)
    tile_rows: Numeric = given("a", "", "rows of a tile", AT_LEAST_ONE)
    tile_columns: Numeric = given("c", "", "columns of a tile", AT_LEAST_ONE)
    half_tile: Numeric = given("h", "", "reuse at which a tile runs at half rate", POSITIVE)
    best: Numeric = given("η_P", "%", "fraction of the peak at best", SHARE)

    @derived("tiles", "")
    def tiles(self) -> Numeric:
        """Tiles of the result."""
        return round_up(self.m / self.tile_rows) * round_up(self.n / self.tile_columns)

    @derived("waves", "")
    def waves(self) -> Numeric:
        """Waves in which the tiles are computed."""
        return round_up(self.tiles / self.units)

    @derived("η_waves", "%")
    def filled(self) -> Numeric:
        """Fraction of the tile slots that hold results."""
        return self.m * self.n / (self.waves * self.units * self.tile_rows * self.tile_columns)

    @derived("R", "")
    def reuse(self) -> Numeric:
        """How often a tile uses each element that it loads."""
        return self.tile_rows * self.tile_columns / (self.tile_rows + self.tile_columns)

    @derived("η_tile", "%")
    def share(self) -> Numeric:
        """Fraction of the peak that this tiling reaches."""
        return self.best * self.filled * self.reuse / (self.reuse + self.half_tile)


@dataclass(frozen=True, kw_only=True)
class ProductLaw(Law):
    """Products with weights: tiles, waves of them, and sizes that tensor cores cannot take."""

    #: Reuse (elements per element loaded) at which a tile runs at half the rate.
    half_tile: float
    #: Fractions of the peak for sizes that are even but no multiple of 16 bytes, and odd ones.
    even_share: float = number("%")
    odd_share: float = number("%")
    #: Seconds more when there are too few tiles for all units and each is split along K.
    split_time: float = number("s")

    def floor_of(self, kernel: Product, ceilings: LawCeilings) -> Numeric:
        """The floor, and a second kernel that adds up the parts of a split product."""
        few = kernel.n / 128 * round_up(kernel.m / 128) < ceilings.units
        return _chosen(few, self.floor + self.split_time, self.floor)

    def compute_share_of(self, kernel: Product, ceilings: LawCeilings) -> Numeric:
        """The best of all tilings; far less for sizes that are not aligned."""
        best = self._best_tiling(kernel.m, kernel.n, ceilings.units)
        piece = 16 / kernel.weight_bytes
        whole = (kernel.n % piece == 0) & (kernel.k % piece == 0)
        even = (kernel.n % 2 == 0) & (kernel.k % 2 == 0)
        slow = _chosen(even, self.even_share, self.odd_share)
        return _chosen(whole, best, best * slow)

    def _tiling(self, m: Numeric, n: Numeric, units: float, tile: Any) -> Numeric:
        """The fraction of the peak with one tile, or with several along a first axis."""
        rows, columns = tile
        return TileShare(
            m=m,
            n=n,
            units=units,
            tile_rows=rows,
            tile_columns=columns,
            half_tile=self.half_tile,
            best=self.compute_share,
        ).share

    def _best_tiling(self, m: Numeric, n: Numeric, units: float) -> Numeric:
        """The fraction of the peak with the best of all tiles."""
        if max(np.size(m), np.size(n)) > _MANY:
            best = self._tiling(m, n, units, TILES[0])
            for tile in TILES[1:]:
                best = greater(best, self._tiling(m, n, units, tile))
            return best
        below = (1,) * max(np.ndim(m), np.ndim(n))
        if below:
            # Few shapes: asking for all tiles at once takes a fraction of the time.
            shares = self._tiling(m, n, units, (side.reshape(-1, *below) for side in _SIDES))
            return np.max(shares, axis=0)  # type: ignore[no-any-return]

        def rate(tile: tuple[int, int]) -> float:
            # What ``TileShare`` says, in plain numbers: only the best tile need explain itself.
            area, around = tile[0] * tile[1], tile[0] + tile[1]
            tiles = math.ceil(m / tile[0]) * math.ceil(n / tile[1])
            reuse = area / around
            return reuse / (reuse + self.half_tile) / (math.ceil(tiles / units) * area)

        return self._tiling(m, n, units, max(TILES, key=rate))


@dataclass(frozen=True, repr=False)
class AttentionTiles(Result):
    """Attention cut into tiles of queries, each of which walks over the keys it may see."""

    batch: Numeric = given("batch", "", "sequences at once", AT_LEAST_ONE)
    heads: Numeric = given("H", "", "heads", AT_LEAST_ONE)
    queries: Numeric = given("S_q", "", "tokens that attend", AT_LEAST_ONE)
    keys: Numeric = given("S", "", "tokens attended to", AT_LEAST_ONE)
    seen_share: Numeric = given("f", "%", "fraction of the pairs that count", SHARE)
    units: Numeric = given("U", "", "multiprocessors", AT_LEAST_ONE)
    tile: Numeric = given("a", "", "side of a tile", AT_LEAST_ONE)
    tile_cost: Numeric = given("c", "", "start of a query tile, in key tiles", NON_NEGATIVE)
    tail: Numeric = given("τ", "%", "fraction of the longest walk that runs alone", NON_NEGATIVE)
    best: Numeric = given("η_P", "%", "fraction of the peak at best", SHARE)

    @derived("walk", "")
    def longest(self) -> Numeric:
        """Key tiles that the last query tile walks over."""
        return round_up(self.keys / self.tile)

    @derived("walks", "")
    def walks(self) -> Numeric:
        """Query tiles of all heads and sequences."""
        return self.batch * self.heads * round_up(self.queries / self.tile)

    @derived("mean", "")
    def mean_walk(self) -> Numeric:
        """Key tiles that a query tile walks over, on average, the cut diagonal ones whole."""
        return self.longest * self.seen_share + (1 - self.seen_share)

    @derived("steps", "")
    def steps(self) -> Numeric:
        """Tile steps on each multiprocessor, one after the other."""
        return (
            self.walks * (self.mean_walk + self.tile_cost) / self.units + self.tail * self.longest
        )

    @derived("η", "%")
    def share(self) -> Numeric:
        """Fraction of the peak that is reached."""
        return (
            self.best
            * self.batch
            * self.heads
            * self.queries
            * self.keys
            * self.seen_share
            / (self.steps * self.units * self.tile**2)
        )


@dataclass(frozen=True, kw_only=True)
class PromptAttentionLaw(Law):
    """Attention over a prompt: tiles of unequal length, spread over the multiprocessors."""

    #: What starting a tile of queries costs, in steps over a tile of keys.
    tile_cost: float
    #: Fraction of the longest tile that runs while other multiprocessors have finished.
    tail: float = number("%")

    def compute_share_of(self, kernel: Attention, ceilings: LawCeilings) -> Numeric:
        """What the tiles leave of the peak."""
        return AttentionTiles(
            batch=kernel.batch,
            heads=kernel.heads,
            queries=kernel.queries,
            keys=kernel.keys,
            seen_share=kernel.seen_share,
            units=ceilings.units,
            tile=128.0,
            tile_cost=self.tile_cost,
            tail=self.tail,
            best=self.compute_share,
        ).share


def _chosen(condition: Any, yes: Numeric, no: Numeric) -> Numeric:
    """One of two numbers, for single cases and arrays alike."""
    if np.ndim(condition) == 0:
        return yes if condition else no
    return np.where(condition, yes, no)
