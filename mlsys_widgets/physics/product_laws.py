"""Laws of products: tiles, waves of them, and sizes that tensor cores cannot take as they are."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from mlsys_widgets.physics.domain import AT_LEAST_ONE, POSITIVE, SHARE, Numeric, greater, round_up
from mlsys_widgets.physics.kernel_laws import Law, LawCeilings, chosen
from mlsys_widgets.physics.products import Product, storages
from mlsys_widgets.physics.provenance import number
from mlsys_widgets.physics.result import Result, derived, given

#: Tiles that libraries cut a product into: rows and columns of the result.
TILES: Final = ((8, 128), (16, 128), (32, 128), (64, 64), (64, 128), (128, 128), (128, 256))
#: Kernels for sizes that are not aligned know no small tiles.
UNALIGNED_TILES: Final = ((32, 64), (64, 64), (128, 128))
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


@functools.cache
def _rated(
    tiles: tuple[tuple[int, int], ...], half_tile: float
) -> tuple[tuple[float, float, float, float], ...]:
    """Rows, columns and area of tiles, and the fraction of the rate that their reuse allows."""
    sides = [(float(rows), float(columns)) for rows, columns in tiles]
    reused = [rows * columns / (rows + columns) for rows, columns in sides]
    return tuple(
        (rows, columns, rows * columns, reuse / (reuse + half_tile))
        for (rows, columns), reuse in zip(sides, reused, strict=True)
    )


def _best_tile(
    rated: tuple[tuple[float, float, float, float], ...], m: float, n: float, units: float
) -> tuple[float, float]:
    """Rows and columns of the tile whose ``TileShare.share`` is the largest."""
    best, found = -1.0, (1.0, 1.0)
    for rows, columns, area, rate in rated:
        waves = math.ceil(math.ceil(m / rows) * math.ceil(n / columns) / units)
        reached = rate / (waves * area)
        if reached > best:
            best, found = reached, (rows, columns)
    return found


@dataclass(frozen=True, kw_only=True)
class ProductLaw(Law):
    """Products with weights: tiles, waves of them, and sizes that tensor cores cannot take."""

    #: Reuse (elements per element loaded) at which a tile runs at half the rate.
    half_tile: float
    #: Seconds more when there are too few tiles for all units and each is split along K.
    split_time: float = number("s")

    def floor_of(self, kernel: Product, ceilings: LawCeilings) -> Numeric:
        """The floor, and a second kernel that adds up the parts of a split product."""
        few = kernel.n / 128 * round_up(kernel.m / 128) < ceilings.units
        return chosen(few, self.floor + self.split_time, self.floor)

    def compute_share_of(self, kernel: Product, ceilings: LawCeilings) -> Numeric:
        """The best of all tilings."""
        return self._best(TILES, kernel, ceilings)

    def _best(
        self, tiles: tuple[tuple[int, int], ...], kernel: Product, ceilings: LawCeilings
    ) -> Numeric:
        """The share of the tiling that suits the product best."""
        m, n, units = kernel.m, kernel.n, ceilings.units

        def cut(rows: Numeric, columns: Numeric) -> TileShare:
            return TileShare(
                m=m,
                n=n,
                units=units,
                tile_rows=rows,
                tile_columns=columns,
                half_tile=self.half_tile,
                best=self.compute_share,
            )

        if isinstance(m, float) and isinstance(n, float):
            # Only the best tile need explain itself.
            return cut(*_best_tile(_rated(tiles, self.half_tile), m, n, units)).share
        if max(np.size(m), np.size(n)) > _MANY:
            any_tile = cut(*tiles[0])

            def share(tile: tuple[int, int]) -> Numeric:
                one = any_tile.varied(tile_rows=tile[0], tile_columns=tile[1])
                reached = one.share
                # A result and its numbers refer to each other, so its arrays would stay for long.
                vars(one).clear()
                return reached

            return functools.reduce(greater, map(share, tiles))
        # Few shapes: asking for all tiles at once takes a fraction of the time.
        below = (1,) * max(np.ndim(m), np.ndim(n))
        sides = np.array(tiles, dtype=np.float64).T
        return np.asarray(np.max(cut(*(s.reshape(-1, *below) for s in sides)).share, axis=0))


@dataclass(frozen=True, kw_only=True)
class UnalignedLaw(ProductLaw):
    """Products whose rows are no whole number of 16-byte pieces, as tensor cores want them."""

    #: Fraction of the rate that is left when a side is odd.
    odd_share: float = number("%")

    def compute_share_of(self, kernel: Product, ceilings: LawCeilings) -> Numeric:
        """The best of the few tilings that take such sizes."""
        best = self._best(UNALIGNED_TILES, kernel, ceilings)
        even = (np.mod(kernel.n, 2) == 0) & (np.mod(kernel.k, 2) == 0)
        return chosen(even, best, best * self.odd_share)


def product_family(n: float, k: float, precision: str) -> str:
    """The family of a product: which kernel a library takes depends on how rows are aligned.

    ``n`` are the columns of the weights, ``k`` is the length of each dot product, ``precision`` a
    key of ``storages``, and the result a key of ``LAWS``.

    Examples
    --------
    GPT-2's vocabulary of 50,257 is odd, so its logits cannot use the fast kernels:

    >>> product_family(4096, 4096, "fp16"), product_family(50257, 768, "fp16")
    ('products', 'unaligned products')
    """
    stored = storages[precision]
    if stored.arithmetic != precision:
        return "weight-only products"
    piece = 16 / stored.weight
    return "products" if n % piece == 0 and k % piece == 0 else "unaligned products"
