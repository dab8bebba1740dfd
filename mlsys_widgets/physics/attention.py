"""Attention as a kernel: over a whole prompt, or of one new token over a KV cache.

The tiled form keeps its scores on the chip and moves only queries, keys, values and the result. The
naive form writes the scores of every pair of tokens to memory and reads them back, twice.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlsys_widgets.physics.domain import AT_LEAST_ONE, POSITIVE, SHARE, Numeric
from mlsys_widgets.physics.kernels import Kernel
from mlsys_widgets.physics.result import derived, given


@dataclass(frozen=True, repr=False)
class Attention(Kernel):
    """Tiled attention: scores are computed, used and forgotten tile by tile.

    ``attention`` builds one. Its bytes are queries, keys, values and the result; the scores of all
    pairs never leave the chip.
    """

    batch: Numeric = given("batch", "", "sequences at once", AT_LEAST_ONE)
    heads: Numeric = given("H", "", "heads that ask", AT_LEAST_ONE)
    kv_heads: Numeric = given("H_kv", "", "heads that keep keys and values", AT_LEAST_ONE)
    queries: Numeric = given("S_q", "", "tokens that attend", AT_LEAST_ONE)
    keys: Numeric = given("S", "", "tokens attended to", AT_LEAST_ONE)
    head_width: Numeric = given("d", "", "width of a head", AT_LEAST_ONE)
    bytes_per_element: Numeric = given("b", "B", "bytes per element", POSITIVE)
    seen_share: Numeric = given("f", "%", "fraction of the pairs that count", SHARE, 1.0)

    @derived("pairs", "")
    def pairs(self) -> Numeric:
        """Pairs of tokens, over all heads and sequences."""
        return self.batch * self.heads * self.queries * self.keys * self.seen_share

    @derived("W", "FLOP")
    def flops(self) -> Numeric:
        """Operations: a score and its share of the sum, a multiply-add per element each."""
        return 4 * self.pairs * self.head_width

    @derived("Q_kv", "B")
    def cache_bytes(self) -> Numeric:
        """Keys and values, read once for all heads of a group."""
        return 2 * self.batch * self.kv_heads * self.keys * self.head_width * self.bytes_per_element

    @derived("Q_q", "B")
    def query_bytes(self) -> Numeric:
        """Queries read and results written."""
        return 2 * self.batch * self.heads * self.queries * self.head_width * self.bytes_per_element

    @derived("Q", "B")
    def bytes(self) -> Numeric:
        """Data moved."""
        return self.query_bytes + self.cache_bytes


@dataclass(frozen=True, repr=False)
class NaiveAttention(Attention):
    """Attention as three kernels that pass the scores through memory.

    ``attention(..., naive=True)`` builds one.

    Examples
    --------
    What fraction of the traffic is scores, which tiling would never write?

    >>> from mlsys_widgets import physics as ph
    >>> naive = ph.attention(1, heads=32, queries=4096, keys=4096, head_width=128, naive=True)
    >>> ph.format_quantity(naive.score_bytes, "B"), round(naive.score_bytes / naive.bytes, 2)
    ('4.29 GB', 0.97)
    """

    @derived("Q_scores", "B")
    def score_bytes(self) -> Numeric:
        """Scores: written by a product, read and written by softmax, read by a product."""
        return 4 * self.batch * self.heads * self.queries * self.keys * self.bytes_per_element

    @derived("Q", "B")
    def bytes(self) -> Numeric:
        """Data moved, scores included."""
        return self.query_bytes + self.cache_bytes + self.score_bytes


def attention(
    batch: Numeric,
    heads: Numeric,
    queries: Numeric,
    keys: Numeric,
    head_width: Numeric,
    bytes_per_element: Numeric = 2,
    *,
    kv_heads: Numeric | None = None,
    causal: bool = False,
    naive: bool = False,
) -> Attention:
    """Attention of ``queries`` tokens to ``keys`` tokens.

    Parameters
    ----------
    batch, heads, head_width : float or array
        Sequences at once, heads of each, and the width of a head.
    queries, keys : float or array
        Tokens that attend and tokens attended to: both the length of the prompt when it is read,
        1 and the length of the cache when one token is written.
    bytes_per_element : float or array, B
        2 for fp16.
    kv_heads : float or array, optional
        Heads that keep keys and values; by default each head its own.
    causal : bool
        Whether a token attends only to those before it, which is half of all pairs.
    naive : bool
        Whether the scores go through memory. The naive form computes all pairs and masks half.

    Returns
    -------
    Attention
        A ``NaiveAttention`` if ``naive``.

    Examples
    --------
    A prompt of 4,096 tokens: how much data moves, and which side of the H100's ridge is that?

    >>> from mlsys_widgets import physics as ph
    >>> prompt = ph.attention(
    ...     1, heads=32, queries=4096, keys=4096, head_width=128, kv_heads=8, causal=True
    ... )
    >>> ph.format_quantity(prompt.bytes, "B"), ph.format_quantity(prompt.flops, "FLOP")
    ('83.9 MB', '137.4 GFLOP')
    >>> prompt.intensity > ph.devices["h100-sxm"].ridge("fp16")
    True
    >>> print(prompt.derivation("cache_bytes"))
    Q_kv = 2 × batch × H_kv × S × d × b = 2 × 1 × 8 × 4,096 × 128 × 2 B = 16.8 MB   (keys and \
values, read once for all heads of a group)
    """
    kind = NaiveAttention if naive else Attention
    return kind(
        batch=batch,
        heads=heads,
        kv_heads=heads if kv_heads is None else kv_heads,
        queries=queries,
        keys=keys,
        head_width=head_width,
        bytes_per_element=bytes_per_element,
        seen_share=0.5 if causal and not naive else 1.0,
    )
