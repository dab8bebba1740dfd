"""Which pairs fuse, and why; what a chain reads and writes."""

from __future__ import annotations

import pytest

from mlsys_widgets import physics as ph


@pytest.mark.parametrize(
    ("first", "second", "relation", "same_shape", "kind"),
    [
        # Day 14, the fusion decision: one row for each leaf of the tree
        ("relu", "sigmoid", "producer", True, "pointwise"),
        ("add", "mul", "producer", False, "vertical"),
        ("matmul", "relu", "producer", True, "epilogue"),
        ("matmul", "matmul", "producer", True, "none"),
        ("relu", "add", "shared-input", True, "horizontal"),
        ("matmul", "matmul", "shared-input", True, "horizontal"),
        ("matmul", "relu", "shared-input", True, "none"),
        ("relu", "gelu", "unrelated", True, "none"),
        # Day 14, question 7: x / x.sum()
        ("sum", "mul", "producer", False, "barrier"),
        ("sum", "max", "producer", True, "barrier"),
        # A reduction takes its elementwise producer along; a row on chip goes on
        ("mul", "sum", "producer", True, "vertical"),
        ("layernorm", "dropout", "producer", True, "vertical"),
        ("matmul", "softmax", "producer", True, "barrier"),
        ("gelu", "matmul", "producer", True, "none"),
        ("softmax", "layernorm", "producer", False, "barrier"),
    ],
)
def test_verdict(first: str, second: str, relation: str, same_shape: bool, kind: str) -> None:
    verdict = ph.can_fuse(first, second, relation, same_shape=same_shape)  # type: ignore[arg-type]
    assert verdict.kind == kind
    assert verdict.fusible == (kind not in ("barrier", "none"))
    assert verdict.reason.endswith(".")


def test_every_pair_gets_a_verdict_that_names_an_operation() -> None:
    for first in ph.ops.values():
        for second in ph.ops.values():
            for relation in ("producer", "shared-input", "unrelated"):
                reason = ph.can_fuse(first, second, relation).reason
                assert first.name in reason or second.name in reason


def test_a_chain_agrees_with_the_verdicts_of_its_pairs() -> None:
    chain = ph.chain("layernorm", "dropout", "relu")
    pairs = zip(chain.links, chain.links[1:], strict=False)
    assert all(ph.can_fuse(a.op, b.op).fusible for a, b in pairs)


def test_a_tensor_named_twice_is_read_once_when_fused() -> None:
    residual = ph.chain("gelu", ("add", "x"))
    assert (residual.unfused_reads, residual.fused_reads) == (3, 1)
    two = ph.chain(("mul", "w"), ("add", "w"))
    assert (two.unfused_reads, two.fused_reads) == (4, 2)


def test_tensors_without_names_are_different_tensors() -> None:
    assert ph.chain("add", "add").fused_reads == 3


def test_chain_name() -> None:
    assert ph.chain("layernorm", "dropout", "relu").name == "LayerNorm → Dropout → ReLU"


def test_compute_time_follows_the_work_and_the_device() -> None:
    short, long = (ph.fuse(ph.chain(*["relu"] * k), 1e6, device="a100-sxm") for k in (1, 4))
    assert long.compute_time == pytest.approx(4 * short.compute_time)
    # A microcontroller cannot compute faster than its own peak.
    slow = ph.fuse(ph.chain("relu"), 1e6, device="cortex-m7")
    assert slow.compute_time == pytest.approx(1e6 / ph.devices["cortex-m7"].peak("fp32"))
