"""Measured kernels as the physics core counts them, sorted into the families that share a law."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets import physics as ph
from mlsys_widgets.measured.queries import Case, cases
from mlsys_widgets.measured.recorder import Document

#: Variants that time the device alone, by kind of machine.
ON_DEVICE: Final = {"gpu": "graph", "cpu": "numpy"}


@dataclass(frozen=True)
class KernelFamily:
    """Cases that follow one law, and one kernel of arrays that holds them all."""

    name: str
    members: tuple[Case, ...]
    kernel: ph.Kernel
    launches: NDArray[np.float64]
    precision: str

    @property
    def seconds(self) -> NDArray[np.float64]:
        """Measured times."""
        return np.array([case.seconds.median for case in self.members])

    @property
    def law(self) -> str:
        """The law that the family follows, a key of ``LAWS``."""
        return max((law for law in ph.LAWS if self.name.startswith(law)), key=len)

    def some(self, positions: Sequence[int]) -> KernelFamily:
        """Return the family with only some of its cases."""
        return _family(self.name, [self.members[position] for position in positions])


def families(document: Document) -> list[KernelFamily]:
    """Return all families of which the document has timed kernels on the device alone."""
    variant = ON_DEVICE[document["device"]["kind"]]
    found: dict[str, list[Case]] = {}
    for case in cases(document, variant=variant):
        name = _family_name(case)
        if name is not None and _counts(case):
            found.setdefault(name, []).append(case)
    return [
        _family(name, sorted(members, key=lambda case: (case.flops or 0.0, case.bytes or 0.0)))
        for name, members in found.items()
    ]


def _counts(case: Case) -> bool:
    return bool(case.bytes) and case.flops is not None and case.precision is not None


def _family_name(case: Case) -> str | None:
    """Return the family of a case: which kernel a library takes depends on the size too."""
    if case.kind in ("gemm", "projection"):
        return _product_family(case)
    if case.kind == "attention" and case.shape["form"] == "tiled":
        return "prompt attention"
    if case.kind == "decode_attention":
        return "cache attention"
    if case.kind in ("rmsnorm", "layernorm", "softmax"):
        size = ph.BYTES_PER_ELEMENT[case.precision or ""]
        return ph.row_family(case.kind, float(case.shape["columns"]), size)
    if case.kind in _SMALL:
        return f"small kernels of {_SMALL[case.kind]}"
    return None


def _product_family(case: Case) -> str:
    n, k = float(case.shape["n"]), float(case.shape["k"])
    return f"{ph.product_family(n, k, case.precision or '')} {case.precision}"


#: Small kernels by the family whose law they follow; simple maps of a tensor are all alike.
_SMALL: Final = {
    "elementwise": "elementwise",
    "residual": "elementwise",
    "rotary": "rotary",
    "gated": "gated",
    "embedding": "embedding",
    "cache_write": "cache_write",
    "conversion": "conversion",
}


def _family(name: str, members: Sequence[Case]) -> KernelFamily:
    build = _BUILDERS[max((start for start in _BUILDERS if name.startswith(start)), key=len)]
    return KernelFamily(
        name,
        tuple(members),
        build(members),
        np.array([float(case.kernels or 1) for case in members]),
        members[0].precision or "fp16",
    )


def _sides(members: Iterable[Case], *names: str) -> dict[str, NDArray[np.float64]]:
    chosen = list(members)
    return {name: np.array([float(case.shape[name]) for case in chosen]) for name in names}


def _products(members: Sequence[Case]) -> ph.Kernel:
    stored = ph.storages[members[0].precision or ""]
    return ph.Product(
        **_sides(members, "m", "n", "k"),
        weight_bytes=stored.weight,
        activation_bytes=stored.activation,
        result_bytes=stored.result,
    )


def _attention(members: Sequence[Case]) -> ph.Kernel:
    naive = members[0].shape.get("form") == "naive"
    kind = ph.NaiveAttention if naive else ph.Attention
    causal = [bool(case.shape.get("causal")) and not naive for case in members]
    return kind(
        **_sides(members, "batch", "heads", "kv_heads", "queries", "keys", "head_width"),
        bytes_per_element=_bytes(members),
        seen_share=np.where(causal, 0.5, 1.0),
    )


def _rows(members: Sequence[Case]) -> ph.Kernel:
    counts = ph.small_kernels[members[0].kind]
    return ph.SmallKernelUse(
        **_sides(members, "rows", "columns"),
        flops_per_element=counts.flops_per_element,
        passes=counts.passes,
        bytes_per_element=_bytes(members),
    )


def _small(members: Sequence[Case]) -> ph.Kernel:
    """Kernels of many kinds: what counts is how much they move, and whether that is one row."""
    moved = np.array([float(case.traffic or case.bytes or 0.0) for case in members])
    flops = np.array([max(float(case.flops or 0.0), 1.0) for case in members])
    elements = moved / _bytes(members)
    rows = np.array([_row_count(case) for case in members])
    return ph.SmallKernelUse(
        rows=rows,
        columns=elements / rows,
        flops_per_element=flops / elements,
        passes=1.0,
        bytes_per_element=_bytes(members),
    )


def _row_count(case: Case) -> float:
    """Return the rows of the tensor; a tensor without rows is as good as many."""
    for name in ("rows", "tokens"):
        if name in case.shape:
            return float(case.shape[name]) * float(case.shape.get("batch", 1))
    return 2.0


def _bytes(members: Sequence[Case]) -> NDArray[np.float64]:
    return np.array([float(ph.BYTES_PER_ELEMENT[case.precision or ""]) for case in members])


_BUILDERS: Final[dict[str, Callable[[Sequence[Case]], Any]]] = {
    "products": _products,
    "unaligned products": _products,
    "weight-only products": _products,
    "prompt attention": _attention,
    "cache attention": _attention,
    "rows of": _rows,
    "short rows of": _rows,
    "ragged rows of": _rows,
    "small kernels of embedding": _rows,
    "small kernels": _small,
}
