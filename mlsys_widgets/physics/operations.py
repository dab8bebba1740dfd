"""The operations that chains are built from: what kind each is, and its work per element.

Examples
--------
Which operations need a whole row, and which the whole tensor, before they can give one number?

>>> from mlsys_widgets import physics as ph
>>> [op.key for op in ph.ops.values() if op.kind == "row-reduction"]
['layernorm', 'softmax']
>>> [op.key for op in ph.ops.values() if op.kind == "reduction"]
['sum', 'max']
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from mlsys_widgets.physics.provenance import CatalogEntry, Source, catalog_entry, number
from mlsys_widgets.wording.choices import Catalog

OpKind = Literal["elementwise", "row-reduction", "reduction", "matmul"]


@dataclass(frozen=True, kw_only=True)
class Op(CatalogEntry):
    """An operation: what kind it is, and for elementwise ones the work per element.

    ``ops`` holds those that a chain can be built from.

    Examples
    --------
    >>> from mlsys_widgets import physics as ph
    >>> sigmoid = ph.ops["sigmoid"]
    >>> sigmoid.kind, sigmoid.flops_per_element, sigmoid.provenance["flops_per_element"].note
    ('elementwise', 4, 'negate, exponent, add, divide')
    >>> ph.ops["add"].operands, ph.ops["relu"].operands
    (1, 0)
    """

    kind: OpKind  #: How much of its input one number of its result depends on.
    flops_per_element: float = number("FLOP")  #: Work per number of the result (FLOP).
    operands: int  #: Tensors it reads besides the one that flows through the chain.


_COUNT: Final = Source("operations counted per output element", "2026-11", "estimate")
_OPERANDS: Final = Source("definition of the operation", "2026-11", "course")


def _op(key: str, name: str, kind: OpKind, flops: float, operands: int = 0, note: str = "") -> Op:
    return catalog_entry(
        Op,
        key,
        name,
        kind=kind,
        flops_per_element=_COUNT.fact(flops, note),
        operands=_OPERANDS.fact(operands),
    )


#: The operations a chain can be built from. Dropout counts its random number, so that the
#: LayerNorm, Dropout, ReLU chain has the ten operations per element that the course gives it.
ops: Final[Catalog[Op]] = Catalog(
    "op",
    _op("relu", "ReLU", "elementwise", 1),
    _op("add", "Add", "elementwise", 1, operands=1),
    _op("mul", "Multiply", "elementwise", 1, operands=1),
    _op("scale", "Scale", "elementwise", 1),
    _op("sigmoid", "Sigmoid", "elementwise", 4, note="negate, exponent, add, divide"),
    _op("tanh", "Tanh", "elementwise", 6),
    _op("gelu", "GELU", "elementwise", 8, note="tanh form"),
    _op("dropout", "Dropout", "elementwise", 4, note="random number, compare, scale"),
    _op("layernorm", "LayerNorm", "row-reduction", 5),
    _op("softmax", "Softmax", "row-reduction", 5),
    _op("sum", "Sum", "reduction", 1),
    _op("max", "Max", "reduction", 1),
    _op("matmul", "Matrix product", "matmul", 2, 1, "per multiply-add of each output"),
)
