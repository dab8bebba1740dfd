"""What one kernel does: its operations, the bytes it moves, and their ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mlsys_widgets.physics.domain import AT_LEAST_ONE, POSITIVE, SHARE, Catalog, Numeric
from mlsys_widgets.physics.provenance import CatalogEntry, Source, catalog_entry, number
from mlsys_widgets.physics.result import Result, derived, given

_ELEMENT_BYTES = ("b", "B", "bytes per element", POSITIVE)


@dataclass(frozen=True, repr=False)
class Kernel(Result):
    """Base of the kernels; each kind counts its own operations and bytes."""

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
    """A matrix product, each matrix moved once."""

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
    """A linear layer: activations [batch, sequence, width] times weights [width, width]."""

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
    """A kernel that passes over its elements a few times and does little with each."""

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
    passes=_COURSE.fact(3.0, "load, intermediate, store"),
)


@dataclass(frozen=True, kw_only=True)
class FusionStrategy(CatalogEntry):
    """How much of the elementwise traffic a fusion strategy leaves."""

    traffic_share: float = number("%")


#: The fusion strategies of the LLM-service act in lab 11.
fusion_strategies: Final[Catalog[FusionStrategy]] = Catalog(
    "fusion strategy",
    {
        strategy.key: strategy
        for strategy in (
            catalog_entry(
                FusionStrategy,
                "none",
                "Separate kernels",
                traffic_share=_COURSE.fact(1.0, "every kernel reads and writes its tensors"),
            ),
            catalog_entry(
                FusionStrategy,
                "partial",
                "Softmax and layer norm fused",
                traffic_share=_COURSE.fact(0.5, "one round trip fewer each"),
            ),
            catalog_entry(
                FusionStrategy,
                "full",
                "All elementwise kernels fused",
                traffic_share=_COURSE.fact(0.35, "two round trips fewer"),
            ),
        )
    },
)


def gemm(m: Numeric, n: Numeric, k: Numeric, bytes_per_element: Numeric = 2) -> Gemm:
    """A matrix product ``[m, k] x [k, n]``.

    Examples
    --------
    >>> kernel = gemm(512, 512, 512, bytes_per_element=2)
    >>> round(kernel.intensity, 2)
    170.67
    """
    return Gemm(m=m, n=n, k=k, bytes_per_element=bytes_per_element)


def projection(
    batch: Numeric, sequence: Numeric, width: Numeric, bytes_per_element: Numeric = 2
) -> Projection:
    """A projection ``[batch, sequence, width] x [width, width]``.

    Examples
    --------
    >>> round(projection(batch=1, sequence=1, width=4096).intensity, 3)
    1.0
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
    elements
        How many elements the tensor has.
    bytes_per_element
        2 for fp16, 4 for fp32.
    flops_per_element
        Operations on each element.
    passes
        How often each element is read or written: 2 for a simple map such as ReLU.
    traffic_share
        Fraction of the traffic that fusion leaves; see ``fusion_strategies``.

    Examples
    --------
    >>> round(elementwise(1e6).intensity, 3)
    0.833
    >>> elementwise(1e6, bytes_per_element=4, flops_per_element=1, passes=2).intensity
    0.125
    """
    return Elementwise(
        elements=elements,
        bytes_per_element=bytes_per_element,
        flops_per_element=flops_per_element,
        passes=passes,
        traffic_share=traffic_share,
    )
