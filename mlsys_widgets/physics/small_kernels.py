"""The small kernels of a transformer: little work on each element, so moving them sets the time.

Each entry counts what PyTorch's own kernels do when a model runs as it is written: operations and
trips through memory for every element, and how many kernels that takes.

Examples
--------
Why is the rotary embedding worth fusing?

>>> from mlsys_widgets import physics as ph
>>> rotary = ph.small_kernels["rotary"]
>>> rotary.launches, rotary.passes, rotary.provenance["passes"].note
(5, 10, 'two products, a negation of half, its concatenation, and a sum')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mlsys_widgets.physics.domain import AT_LEAST_ONE, POSITIVE, Numeric
from mlsys_widgets.physics.kernels import Kernel
from mlsys_widgets.physics.provenance import CatalogEntry, Source, catalog_entry, number
from mlsys_widgets.physics.result import derived, given
from mlsys_widgets.wording.choices import Catalog

_COUNT: Final = Source("reads and writes of PyTorch's kernels, counted", "2026-11", "estimate")


@dataclass(frozen=True, kw_only=True)
class SmallKernel(CatalogEntry):
    """The work of a small kernel on each element of its result."""

    flops_per_element: float = number("FLOP")
    #: Times that an element is read from or written to memory.
    passes: float
    #: Kernels that are launched.
    launches: float


def _small(
    key: str, name: str, flops: float, passes: float, launches: float, note: str
) -> SmallKernel:
    return catalog_entry(
        SmallKernel,
        key,
        name,
        flops_per_element=_COUNT.fact(flops),
        passes=_COUNT.fact(passes, note),
        launches=_COUNT.fact(launches),
    )


#: Kernels between the matrix products. An element is one number of the result.
small_kernels: Final[Catalog[SmallKernel]] = Catalog(
    "small kernel",
    _small("rmsnorm", "RMS norm", 4, 2, 1, "a row is read once and written once"),
    _small("layernorm", "Layer norm", 5, 2, 1, "a row is read once and written once"),
    _small("softmax", "Softmax", 5, 2, 1, "a row is read once and written once"),
    _small("residual", "Residual addition", 1, 3, 1, "two read, one written"),
    _small(
        "rotary", "Rotary embedding", 4, 10, 5,
        "two products, a negation of half, its concatenation, and a sum",
    ),
    _small("gated", "Gated activation", 5, 5, 2, "SiLU, then a product with it"),
    _small("gelu", "GELU", 8, 2, 1, "read and written"),
    _small("embedding", "Embedding", 0.1, 2, 1, "a row of the table is copied"),
    _small("cache_write", "Cache write", 0.1, 2, 2, "keys and values are copied"),
    _small("copy", "Rearrangement", 0.1, 2, 1, "read and written in another order"),
    _small(
        "conversion to int8", "Conversion to int8", 5, 8.5, 6,
        "magnitude, largest of a row, scale, rounding, limits, and a copy of half the size",
    ),
    _small(
        "conversion to fp8", "Conversion to fp8", 4, 6.5, 5,
        "magnitude, largest of a row, scale, limits, and a copy of half the size",
    ),
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class SmallKernelUse(Kernel):
    """A small kernel over rows of a tensor.

    ``small_kernel`` builds one.
    """

    rows: Numeric = given("r", "", "rows", AT_LEAST_ONE)
    columns: Numeric = given("c", "", "elements of a row", AT_LEAST_ONE)
    flops_per_element: Numeric = given("w", "FLOP", "operations per element", POSITIVE)
    passes: Numeric = given("p", "", "times each element crosses the memory bus", POSITIVE)
    bytes_per_element: Numeric = given("b", "B", "bytes per element", POSITIVE)

    @derived("W", "FLOP")
    def flops(self) -> Numeric:
        """Operations."""
        return self.flops_per_element * self.rows * self.columns

    @derived("Q", "B")
    def bytes(self) -> Numeric:
        """Data moved."""
        return self.passes * self.bytes_per_element * self.rows * self.columns


def small_kernel(
    kind: str, rows: Numeric, columns: Numeric, bytes_per_element: Numeric = 2
) -> SmallKernelUse:
    """A small kernel over a tensor of rows.

    ``kind`` is a key of ``small_kernels``, and ``rows`` and ``columns`` are the shape of its
    result. An element has 2 bytes in fp16.

    Examples
    --------
    What does the softmax over GPT-2's vocabulary move, for a batch of 8 sequences of 1,024 tokens?

    >>> from mlsys_widgets import physics as ph
    >>> softmax = ph.small_kernel("softmax", rows=8 * 1024, columns=50257)
    >>> ph.format_quantity(softmax.bytes, "B"), softmax.intensity
    ('1.65 GB', 1.25)
    >>> print(softmax.derivation("bytes"))
    Q = p × b × r × c = 2 × 2 B × 8,192 × 50,257 = 1.65 GB   (data moved)
    """
    counts = small_kernels[kind]
    return SmallKernelUse(
        rows=rows,
        columns=columns,
        flops_per_element=counts.flops_per_element,
        passes=counts.passes,
        bytes_per_element=bytes_per_element,
    )
