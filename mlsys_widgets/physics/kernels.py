"""One kernel: its operations, the bytes it moves, and their ratio.

Examples
--------
How does the course count a layer norm or a softmax, and where does that count come from?

>>> from mlsys_widgets import physics as ph
>>> ph.normalization.flops_per_element, ph.normalization.passes
(5.0, 3.0)
>>> ph.normalization.provenance["passes"].note
'as separate steps: read for the statistics, read again, written'

What does each fusion strategy of lab 11 do to the intensity of such a kernel?

>>> for strategy in ph.fusion_strategies.values():
...     kernel = ph.elementwise(1e6, traffic_share=strategy.traffic_share)
...     print(f"{strategy.name}: {ph.format_quantity(kernel.intensity, 'FLOP/B')}")
Separate kernels: 0.833 FLOP/B
Softmax and layer norm fused: 1.25 FLOP/B
All elementwise kernels fused: 2.5 FLOP/B
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mlsys_widgets.physics.domain import AT_LEAST_ONE, POSITIVE, SHARE, Numeric
from mlsys_widgets.physics.provenance import CatalogEntry, Source, catalog_entry, number
from mlsys_widgets.physics.result import Result, derived, given
from mlsys_widgets.wording.choices import Catalog

_ELEMENT_BYTES = ("b", "B", "bytes per element", POSITIVE)


@dataclass(frozen=True, repr=False)
class Kernel(Result):
    """Base of the kernels; each kind counts its own operations and bytes.

    ``gemm``, ``projection``, ``elementwise``, ``attention``, ``product`` and ``small_kernel`` build
    them.

    Examples
    --------
    Which of a transformer's kernels lie left of an A100's ridge?

    >>> from mlsys_widgets import physics as ph
    >>> kernels = {
    ...     "projection": ph.projection(batch=8, sequence=1024, width=4096),
    ...     "attention": ph.attention(8, heads=32, queries=1024, keys=1024, head_width=128),
    ...     "layer norm": ph.elementwise(8 * 1024 * 4096),
    ... }
    >>> all(isinstance(kernel, ph.Kernel) for kernel in kernels.values())
    True
    >>> ridge = ph.devices["a100-sxm"].ridge("fp16")
    >>> [name for name, kernel in kernels.items() if kernel.intensity < ridge]
    ['layer norm']
    """

    @derived("W", "FLOP")
    def flops(self) -> Numeric:
        """Operations."""
        raise NotImplementedError

    @derived("Q", "B")
    def bytes(self) -> Numeric:
        """Data moved."""
        raise NotImplementedError

    @derived("I", "FLOP/B")
    def intensity(self) -> Numeric:
        """Arithmetic intensity."""
        return self.flops / self.bytes


@dataclass(frozen=True, repr=False)
class Gemm(Kernel):
    """A matrix product, each matrix moved once.

    ``gemm`` builds one.
    """

    m: Numeric = given("M", "", "rows of the result", AT_LEAST_ONE)
    n: Numeric = given("N", "", "columns of the result", AT_LEAST_ONE)
    k: Numeric = given("K", "", "length of each dot product", AT_LEAST_ONE)
    bytes_per_element: Numeric = given(*_ELEMENT_BYTES)

    @derived("W", "FLOP")
    def flops(self) -> Numeric:
        """Operations."""
        return 2 * self.m * self.n * self.k

    @derived("Q", "B")
    def bytes(self) -> Numeric:
        """Data moved."""
        return self.bytes_per_element * (self.m * self.n + self.n * self.k + self.m * self.k)


@dataclass(frozen=True, repr=False)
class Projection(Kernel):
    """A linear layer: activations [batch, sequence, width] times weights [width, width].

    ``projection`` builds one.
    """

    batch: Numeric = given("batch", "", "sequences at once", AT_LEAST_ONE)
    sequence: Numeric = given("S", "", "tokens in a sequence", AT_LEAST_ONE)
    width: Numeric = given("D", "", "model width", AT_LEAST_ONE)
    bytes_per_element: Numeric = given(*_ELEMENT_BYTES)

    @derived("W", "FLOP")
    def flops(self) -> Numeric:
        """Operations."""
        return 2 * self.batch * self.sequence * self.width**2

    @derived("Q", "B")
    def bytes(self) -> Numeric:
        """Data moved."""
        return self.bytes_per_element * (
            2 * self.batch * self.sequence * self.width + self.width**2
        )


@dataclass(frozen=True, repr=False)
class Elementwise(Kernel):
    """A kernel that passes over its elements a few times and does little with each.

    ``elementwise`` builds one.
    """

    elements: Numeric = given("n", "", "elements", AT_LEAST_ONE)
    flops_per_element: Numeric = given("w", "FLOP", "operations per element", POSITIVE)
    passes: Numeric = given("p", "", "times each element crosses the memory bus", POSITIVE)
    bytes_per_element: Numeric = given(*_ELEMENT_BYTES)
    traffic_share: Numeric = given("f", "%", "fraction of the traffic left by fusion", SHARE, 1.0)

    @derived("W", "FLOP")
    def flops(self) -> Numeric:
        """Operations."""
        return self.flops_per_element * self.elements

    @derived("Q", "B")
    def bytes(self) -> Numeric:
        """Data moved."""
        return self.passes * self.bytes_per_element * self.elements * self.traffic_share


@dataclass(frozen=True, kw_only=True)
class Normalization(CatalogEntry):
    """Counts that layer norm and softmax share in the course: work and passes per element."""

    flops_per_element: float = number("FLOP")
    passes: float


_COURSE: Final = Source("ML Systems course, lab 11", "2026-03", "course")

#: Layer norm and softmax, as the course counts them.
normalization: Final = catalog_entry(
    Normalization,
    "normalization",
    "Layer norm and softmax",
    flops_per_element=_COURSE.fact(5.0, "subtract, scale, accumulate, root or exponent, divide"),
    passes=_COURSE.fact(3.0, "as separate steps: read for the statistics, read again, written"),
)


@dataclass(frozen=True, kw_only=True)
class FusionStrategy(CatalogEntry):
    """How often an element of a layer norm or softmax still crosses memory."""

    crossings: float = number()

    @property
    def traffic_share(self) -> float:
        """Fraction of the traffic that is left."""
        return self.crossings / normalization.passes


_COUNTED: Final = Source("reads and writes counted per element", "2026-11", "estimate")

#: The fusion strategies of the LLM-service act in lab 11, each by what it leaves of a norm's three
#: crossings. As one kernel, a norm is a link of a chain like any other: one read, one write.
fusion_strategies: Final[Catalog[FusionStrategy]] = Catalog(
    "fusion strategy",
    catalog_entry(
        FusionStrategy,
        "none",
        "Separate kernels",
        crossings=_COUNTED.fact(3.0, "read for the statistics, read again, written"),
    ),
    catalog_entry(
        FusionStrategy,
        "partial",
        "Softmax and layer norm fused",
        crossings=_COUNTED.fact(2.0, "one kernel each: read once and written once"),
    ),
    catalog_entry(
        FusionStrategy,
        "full",
        "All elementwise kernels fused",
        crossings=_COUNTED.fact(1.0, "a neighbor hands it over on the chip: written only"),
    ),
)


def gemm(m: Numeric, n: Numeric, k: Numeric, bytes_per_element: Numeric = 2) -> Gemm:
    """A matrix product ``[m, k] x [k, n]``.

    ``bytes_per_element`` is 2 for fp16, 4 for fp32.

    Examples
    --------
    From which size on is a square product compute-bound on an H100?

    >>> from mlsys_widgets import physics as ph
    >>> h100 = ph.devices["h100-sxm"]
    >>> sizes = (256, 512, 1024, 2048)
    >>> [n for n in sizes if ph.gemm(n, n, n).intensity > h100.ridge("fp16")]
    [1024, 2048]
    >>> print(ph.gemm(1024, 1024, 1024).derivation("intensity").steps[-1].shown)
    341.3 FLOP/B
    """
    return Gemm(m=m, n=n, k=k, bytes_per_element=bytes_per_element)


def projection(
    batch: Numeric, sequence: Numeric, width: Numeric, bytes_per_element: Numeric = 2
) -> Projection:
    """A projection ``[batch, sequence, width] x [width, width]``.

    ``width`` is that of the model, and ``bytes_per_element`` 2 for fp16, 4 for fp32.

    Examples
    --------
    Why does batching help when one token is written at a time?

    >>> from mlsys_widgets import physics as ph
    >>> for batch in (1, 8, 64):
    ...     token = ph.projection(batch=batch, sequence=1, width=4096)
    ...     print(batch, ph.format_quantity(token.bytes, "B"), round(token.intensity, 1))
    1 33.6 MB 1.0
    8 33.7 MB 8.0
    64 34.6 MB 62.1
    """
    return Projection(
        batch=batch, sequence=sequence, width=width, bytes_per_element=bytes_per_element
    )


def elementwise(
    elements: Numeric,
    bytes_per_element: Numeric = 2,
    flops_per_element: Numeric = normalization.flops_per_element,
    passes: Numeric = normalization.passes,
    traffic_share: Numeric = 1.0,
) -> Elementwise:
    """A kernel that touches every element; layer norm and softmax unless told otherwise.

    Parameters
    ----------
    elements : float or array
        How many elements the tensor has.
    bytes_per_element : float or array, B
        2 for fp16, 4 for fp32.
    flops_per_element : float or array, FLOP
        Operations on each element.
    passes : float or array
        How often each element is read or written: 2 for a simple map such as ReLU.
    traffic_share : float or array
        Fraction of the traffic that fusion leaves; see ``fusion_strategies``.

    Examples
    --------
    How long does an A100 need at least for a ReLU over 100 million fp16 numbers?

    >>> from mlsys_widgets import physics as ph
    >>> relu = ph.elementwise(100e6, flops_per_element=1, passes=2)
    >>> a100 = ph.devices["a100-sxm"]
    >>> ph.format_quantity(relu.bytes / a100.bandwidth, "s"), relu.intensity
    ('200 µs', 0.25)
    """
    return Elementwise(
        elements=elements,
        bytes_per_element=bytes_per_element,
        flops_per_element=flops_per_element,
        passes=passes,
        traffic_share=traffic_share,
    )
