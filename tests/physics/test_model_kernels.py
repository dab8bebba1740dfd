"""A model as a list of kernels: nothing is missing, nothing is counted twice."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from tests.physics.strategies import whole

LLAMA = ph.language_model("llama31-8b")
phases = st.sampled_from(["prefill", "decode"])
precisions = st.sampled_from(["fp16", "bf16", "fp8", "int8", "int4"])


def total(uses: Iterable[ph.KernelUse], count: str, *parts: str) -> float:
    return sum(use.times * getattr(use.kernel, count) for use in uses if use.part in parts)


@given(whole(1024), whole(32_768))
def test_the_products_hold_every_weight_once(batch: int, sequence: int) -> None:
    uses = ph.model_kernels(LLAMA, "decode", batch, sequence)
    weights = sum(
        use.times * use.kernel.n * use.kernel.k
        for use in uses
        if isinstance(use.kernel, ph.Product)
    )
    # What is left are the table of embeddings, of which a few rows are read, and the norms. The
    # textbook says "8 billion" and means 8.03.
    table = LLAMA.vocabulary * LLAMA.width
    assert weights + table == pytest.approx(LLAMA.parameters, rel=0.005)


@given(whole(1024), whole(32_768))
def test_a_decode_step_does_the_operations_of_the_textbook(batch: int, sequence: int) -> None:
    uses = ph.model_kernels(LLAMA, "decode", batch, sequence)
    plain, counted = (
        ph.decode(LLAMA, "h200-sxm", batch, sequence, attention=attention).flops
        for attention in (False, True)
    )
    assert total(uses, "flops", "attention") == pytest.approx(counted - plain, rel=1e-9)
    # The textbook counts the table of embeddings as if it were multiplied.
    table = 2 * batch * LLAMA.vocabulary * LLAMA.width
    assert total(uses, "flops", "products", "logits") == pytest.approx(plain - table, rel=0.005)


@given(whole(1024), whole(32_768))
def test_attention_reads_the_whole_cache(batch: int, sequence: int) -> None:
    uses = ph.model_kernels(LLAMA, "decode", batch, sequence)
    read = sum(
        use.times * use.kernel.cache_bytes for use in uses if isinstance(use.kernel, ph.Attention)
    )
    assert math.isclose(read, ph.kv_cache(LLAMA, batch, sequence))


@given(phases, whole(64), whole(8192), precisions)
def test_a_model_is_its_layers_between_embedding_and_logits(
    phase: str, batch: int, sequence: int, precision: str
) -> None:
    model = ph.model_kernels(LLAMA, phase, batch, sequence, precision)
    layer = ph.layer_kernels(LLAMA, phase, batch, sequence, precision)
    inner = [use for use in model if use.times == LLAMA.layers]
    assert [use.name for use in inner] == [use.name for use in layer]
    assert [use.name for use in model if use.times == 1] == ["Embedding", "Last RMS norm", "Logits"]
    assert all(a.kernel == b.kernel for a, b in zip(inner, layer, strict=True))


@pytest.mark.parametrize(("precision", "conversions"), [("fp16", 0), ("int4", 0), ("int8", 4)])
def test_only_eight_bits_convert_what_they_multiply(precision: str, conversions: int) -> None:
    uses = ph.layer_kernels(LLAMA, "decode", 4, 512, precision)
    assert sum(use.name.startswith("Conversion: ") for use in uses) == conversions


@given(phases, precisions)
def test_every_kernel_has_a_law_on_the_measured_device(phase: str, precision: str) -> None:
    calibration = ph.calibration_of("h200-sxm")
    for use in ph.model_kernels(LLAMA, phase, 4, 512, precision):
        assert isinstance(calibration.law(use.family, use.precision), ph.Law)


def test_logits_are_needed_of_the_last_token_only() -> None:
    for phase in ("prefill", "decode"):
        logits = ph.model_kernels(LLAMA, phase, 3, 2048)[-1]
        assert (logits.part, logits.kernel.m, logits.kernel.n) == ("logits", 3, LLAMA.vocabulary)


def test_many_batches_at_once_are_each_on_their_own() -> None:
    batches = np.array([1.0, 7.0, 64.0])
    many = ph.model_kernels(LLAMA, "decode", batches, 2048)
    for place, batch in enumerate(batches.tolist()):
        one = ph.model_kernels(LLAMA, "decode", batch, 2048)
        for a, b in zip(many, one, strict=True):
            assert np.broadcast_to(a.kernel.flops, 3)[place] == b.kernel.flops
            assert np.broadcast_to(a.kernel.bytes, 3)[place] == b.kernel.bytes
