"""Measured kernels find their family, and are counted as the document counts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from mlsys_widgets import measured
from mlsys_widgets import physics as ph
from mlsys_widgets.measured.kernel_families import KernelFamily, families
from mlsys_widgets.measured.queries import cases
from mlsys_widgets.measured.recorder import Document
from mlsys_widgets.physics.attention_law import PromptAttentionLaw
from mlsys_widgets.physics.kernel_laws import SmallLaw
from mlsys_widgets.physics.product_laws import ProductLaw, UnalignedLaw
from mlsys_widgets.physics.row_laws import GatherLaw, RowLaw, SoftmaxLaw


@pytest.fixture(scope="module")
def document() -> Document:
    return measured.load("h200-sxm")


@pytest.fixture(scope="module")
def found(document: Document) -> dict[str, KernelFamily]:
    return {family.name: family for family in families(document)}


def made(kind: str, precision: str | None = "fp16", **shape: Any) -> dict[str, Any]:
    """A case of one kernel, as a document holds it."""
    seconds = {"median": 1e-5, "q25": 1e-5, "q75": 1e-5, "repetitions": 9}
    counts: Mapping[str, Any] = {"flops": 1e6, "bytes": 1e5, "traffic": 1e5, "kernels": 1}
    rest = dict.fromkeys(("gpu_busy", "compile_seconds", "throughput"))
    return {
        "section": "made", "kind": kind, "variant": "graph", "precision": precision,
        "shape": shape, "seconds": seconds, **counts, **rest,
    }  # fmt: skip


def family_of(entry: dict[str, Any]) -> str | None:
    found = families({"device": {"kind": "gpu"}, "cases": [entry]})
    return found[0].name if found else None


PRODUCT = {"m": 64, "n": 4096, "k": 4096}
ATTENTION = {
    "batch": 1, "heads": 32, "kv_heads": 8, "queries": 256, "keys": 256, "head_width": 128,
    "causal": True,
}  # fmt: skip
ROWS = {"rows": 128, "columns": 4096}
KINDS = [
    (made("gemm", **PRODUCT), "products fp16"),
    (made("projection", "bf16", **PRODUCT), "products bf16"),
    (made("gemm", **PRODUCT | {"m": 63}), "products fp16"),  # rows of activations need no aligning
    (made("gemm", **PRODUCT | {"n": 4095}), "unaligned products fp16"),
    (made("gemm", **PRODUCT | {"k": 4098}), "unaligned products fp16"),
    (made("gemm", "fp32", **PRODUCT | {"n": 4100}), "products fp32"),  # 16 bytes are four of them
    (made("gemm", "int8", **PRODUCT), "products int8"),
    (made("gemm", "int4", **PRODUCT), "weight-only products int4"),
    (made("attention", form="tiled", **ATTENTION), "prompt attention"),
    (made("attention", form="naive", **ATTENTION), None),  # judged as a sum of its kernels
    (made("decode_attention", **ATTENTION | {"queries": 1}), "cache attention"),
    (made("softmax", **ROWS | {"columns": 2048}), "short rows of softmax"),
    (made("softmax", **ROWS | {"columns": 2049}), "rows of softmax"),
    (made("rmsnorm", **ROWS), "rows of rmsnorm"),
    (made("rmsnorm", **ROWS | {"columns": 4097}), "ragged rows of rmsnorm"),
    (made("layernorm", **ROWS), "rows of layernorm"),
    (made("layernorm", **ROWS | {"columns": 4100}), "ragged rows of layernorm"),
    (made("elementwise", elements=1000), "small kernels of elementwise"),
    (made("residual", **ROWS), "small kernels of elementwise"),
    (made("rotary", tokens=7), "small kernels of rotary"),
    (made("gated", **ROWS), "small kernels of gated"),
    (made("embedding", **ROWS), "small kernels of embedding"),
    (made("cache_write", batch=4, tokens=7), "small kernels of cache_write"),
    (made("conversion", to="int8", **ROWS), "small kernels of conversion"),
    (made("launch", None), None),
    (made("serving", model="llama31-8b"), None),
]


@pytest.mark.parametrize(
    ("entry", "name"), KINDS, ids=[f"{entry['kind']}, {name}" for entry, name in KINDS]
)
def test_a_kernel_finds_its_family(entry: dict[str, Any], name: str | None) -> None:
    assert family_of(entry) == name


def test_a_case_that_waits_for_the_host_belongs_to_no_family() -> None:
    assert family_of(made("gemm", **PRODUCT) | {"variant": "eager"}) is None
    assert family_of(made("gemm", **PRODUCT) | {"bytes": None}) is None


def test_every_family_follows_a_law_of_its_own_name(found: dict[str, KernelFamily]) -> None:
    laws = {name: ph.LAWS[family.law] for name, family in found.items()}
    assert laws["products fp16"] is ProductLaw
    assert laws["unaligned products fp16"] is UnalignedLaw
    assert laws["weight-only products int4"] is laws["cache attention"] is ph.Law
    assert laws["prompt attention"] is PromptAttentionLaw
    assert laws["rows of softmax"] is SoftmaxLaw
    assert laws["short rows of softmax"] is laws["ragged rows of rmsnorm"] is RowLaw
    assert laws["small kernels of embedding"] is GatherLaw
    assert laws["small kernels of rotary"] is SmallLaw


def test_no_kernel_is_lost_or_counted_twice(
    document: Document, found: dict[str, KernelFamily]
) -> None:
    labels = [case.label for family in found.values() for case in family.members]
    assert len(labels) == len(set(labels))
    sums = {
        *("attention naive", "batched_gemm", "copy", "triad", "launch", "dispatch", "fusion"),
        *("layer", "serving", "energy", "verification", "replay"),
    }
    left = {
        f"{case.kind} {case.shape.get('form', '')}" if case.kind == "attention" else case.kind
        for case in cases(document, variant="graph")
        if case.label not in labels
    }
    assert left == sums


def counted(family: KernelFamily, what: str) -> np.ndarray:
    return np.broadcast_to(getattr(family.kernel, what), len(family.members))


def test_kernels_rebuilt_from_shapes_are_what_the_document_counts(
    found: dict[str, KernelFamily],
) -> None:
    for name, family in found.items():
        flops, bytes_, traffic = (
            np.array([getattr(case, what) for case in family.members])
            for what in ("flops", "bytes", "traffic")
        )
        if "products" in name:
            assert np.array_equal(counted(family, "flops"), flops), name
            assert np.array_equal(counted(family, "bytes"), traffic), name
            if family.precision in ("fp16", "bf16", "fp32", "tf32"):
                assert np.array_equal(traffic, bytes_), name
        elif "attention" in name:
            assert np.array_equal(counted(family, "flops"), flops), name
            assert np.array_equal(counted(family, "bytes"), bytes_), name
        else:
            # The document counts the places that rows are looked up at, the core does not.
            near = 1e-3 if "embedding" in name else 1e-12
            assert np.allclose(counted(family, "bytes"), traffic, rtol=near), name


def test_members_are_in_the_order_of_their_work(found: dict[str, KernelFamily]) -> None:
    for family in found.values():
        work = [(case.flops, case.bytes) for case in family.members]
        assert work == sorted(work)


def test_some_of_a_family_are_the_same_kernels(found: dict[str, KernelFamily]) -> None:
    family = found["rows of softmax"]
    some = family.some([1, 4, 9])
    assert some.name == family.name
    assert [case.label for case in some.members] == [
        family.members[position].label for position in (1, 4, 9)
    ]
    for whole, part in (
        (counted(family, "bytes"), counted(some, "bytes")),
        (family.seconds, some.seconds),
        (family.launches, some.launches),
    ):
        assert np.array_equal(whole[[1, 4, 9]], part)


def test_a_cpu_has_families_too() -> None:
    names = {family.name for family in families(measured.load("cpu-2core-server"))}
    assert {"products fp32", "products fp64", "small kernels of elementwise"} <= names
