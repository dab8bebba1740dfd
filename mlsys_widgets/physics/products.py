"""Products with stored weights, in the precision they are stored in.

Weights of 8 bits are multiplied with activations of 8 bits, which must be converted first; weights
of 4 bits are widened inside the kernel and multiplied in 16 bits.

Examples
--------
How many bytes do a weight, an activation and a result take, and in which precision do they meet?

>>> from mlsys_widgets import physics as ph
>>> for stored in [ph.storages[key] for key in ("fp16", "int8", "int4")]:
...     print(stored.key, stored.weight, stored.activation, stored.result, stored.arithmetic)
fp16 2 2 2 fp16
int8 1 1 4 int8
int4 0.53125 2 2 bf16
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mlsys_widgets.physics.domain import AT_LEAST_ONE, POSITIVE, Numeric
from mlsys_widgets.physics.kernels import Kernel
from mlsys_widgets.physics.provenance import CatalogEntry, Source, catalog_entry, number
from mlsys_widgets.physics.result import derived, given
from mlsys_widgets.wording.choices import Catalog

_STORED: Final = Source(
    "PyTorch 2.11, operand and result types of its products", "2026-11", "course"
)


@dataclass(frozen=True, kw_only=True)
class Storage(CatalogEntry):
    """How a product stores its operands, and the precision it multiplies in."""

    weight: float = number("B")
    activation: float = number("B")
    result: float = number("B")
    #: The precision whose peak bounds the product.
    arithmetic: str


def _storage(
    key: str, weight: float, activation: float, result: float, arithmetic: str = "", note: str = ""
) -> Storage:
    return catalog_entry(
        Storage,
        key,
        key,
        weight=_STORED.fact(weight, note),
        activation=_STORED.fact(activation),
        result=_STORED.fact(result),
        arithmetic=arithmetic or key,
    )


#: Bytes per element of each precision's products.
storages: Final[Catalog[Storage]] = Catalog(
    "precision",
    _storage("fp64", 8, 8, 8),
    _storage("fp32", 4, 4, 4),
    _storage("tf32", 4, 4, 4),
    _storage("fp16", 2, 2, 2),
    _storage("bf16", 2, 2, 2),
    _storage("fp8", 1, 1, 2),
    _storage("int8", 1, 1, 4),
    _storage("int4", 0.53125, 2, 2, "bf16", "half a byte, and scale and zero of 128"),
)


@dataclass(frozen=True, repr=False)
class Product(Kernel):
    """Activations [M, K] times weights [K, N].

    ``product`` builds one.
    """

    m: Numeric = given("M", "", "rows of activations", AT_LEAST_ONE)
    n: Numeric = given("N", "", "columns of weights", AT_LEAST_ONE)
    k: Numeric = given("K", "", "length of each dot product", AT_LEAST_ONE)
    weight_bytes: Numeric = given("b_w", "B", "bytes per weight", POSITIVE)
    activation_bytes: Numeric = given("b_a", "B", "bytes per activation", POSITIVE)
    result_bytes: Numeric = given("b_r", "B", "bytes per result", POSITIVE)

    @derived("W", "FLOP")
    def flops(self) -> Numeric:
        """Operations."""
        return 2 * self.m * self.n * self.k

    @derived("Q", "B")
    def bytes(self) -> Numeric:
        """Data moved."""
        return (
            self.n * self.k * self.weight_bytes
            + self.m * self.k * self.activation_bytes
            + self.m * self.n * self.result_bytes
        )


def product(m: Numeric, n: Numeric, k: Numeric, precision: str = "fp16") -> Product:
    """A product of ``m`` rows of activations with weights ``[k, n]``.

    ``precision`` is a key of ``storages``.

    Examples
    --------
    Do weights of 4 bits help when one token is written, and when a prompt of 2,048 is read?

    >>> from mlsys_widgets import physics as ph
    >>> for rows in (1, 2048):
    ...     half, four = (ph.product(rows, 4096, 4096, p) for p in ("fp16", "int4"))
    ...     print(rows, f"{half.bytes / four.bytes:.1f}× fewer bytes,", half.flops == four.flops)
    1 3.8× fewer bytes, True
    2048 1.6× fewer bytes, True
    """
    stored = storages[precision]
    return Product(
        m=m,
        n=n,
        k=k,
        weight_bytes=stored.weight,
        activation_bytes=stored.activation,
        result_bytes=stored.result,
    )
