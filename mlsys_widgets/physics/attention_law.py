"""The law of attention over a prompt: tiles of unequal length, spread over the multiprocessors."""

from __future__ import annotations

from dataclasses import dataclass

from mlsys_widgets.physics.attention import Attention
from mlsys_widgets.physics.domain import AT_LEAST_ONE, NON_NEGATIVE, SHARE, Numeric, round_up
from mlsys_widgets.physics.kernel_laws import Law, LawCeilings
from mlsys_widgets.physics.provenance import number
from mlsys_widgets.physics.result import Result, derived, given


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
    head_width: Numeric = given("d", "", "width of a head", AT_LEAST_ONE)
    half_width: Numeric = given("d_0", "", "width at which exponents take half", NON_NEGATIVE)
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
            * self.head_width
            / (self.steps * self.units * self.tile**2 * (self.head_width + self.half_width))
        )


@dataclass(frozen=True, kw_only=True)
class PromptAttentionLaw(Law):
    """Attention over a prompt: tiles of unequal length, spread over the multiprocessors."""

    #: What starting a tile of queries costs, in steps over a tile of keys.
    tile_cost: float
    #: Fraction of the longest tile that runs while other multiprocessors have finished.
    tail: float = number("%")
    #: Width of a head at which exponents take as long as products.
    half_width: float

    def compute_share_of(self, kernel: Attention, ceilings: LawCeilings) -> Numeric:
        """The fraction of the peak that the tiles leave."""
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
            head_width=kernel.head_width,
            half_width=self.half_width,
            best=self.compute_share,
        ).share
