"""Lab 11 says nothing that is false for anybody, as far as its own numbers decide it."""

from __future__ import annotations

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.labs import load
from mlsys_widgets.measured import points
from tests.labs.rehearsal import ROOT

LAB = load(ROOT / "assignments" / "lab_11_roofline")
H200 = ph.devices["h200-sxm"]


def alone(n):
    """A square fp16 product that ran on an H200 with nothing beside it."""
    return points("h200-sxm", "fp16", "gemm", variant="graph", m=n, n=n, k=n)[0]


def test_no_conversation_outgrows_the_models_context():
    # Llama 3 ended at 8,192 tokens, the contracts at 16,384.
    context = ph.language_model("llama31-8b").context
    for name in ("chat_tokens", "sequence", "prompt"):
        assert max(LAB.parameters[name].values) <= context, name
    asked = LAB.items(LAB.draw("", variants=False))["beside_conversations"].ask
    assert "16,384 tokens" in asked
    assert context == 131_072


def test_one_small_product_alone_is_far_below_the_roof_that_its_batch_may_reach():
    """What Act 1 says about N = 192, and why it speaks of batches."""
    product = alone(192)
    roof = ph.roofline(product.intensity, H200.peak("fp16"), H200.bandwidth).attainable
    assert product.attained < 0.02 * roof
    # A third of the work takes nearly as long: what takes the time is not the arithmetic.
    assert alone(128).seconds == pytest.approx(product.seconds, rel=0.05)
    # Nobody's batched products are as small as that, and none reaches its rate alone.
    for reported in LAB.parameters["reported"].values:
        side = 3 * reported * 1e12 / ph.devices["h100-sxm"].bandwidth
        assert side > 192
        assert alone(384).attained < 0.2 * reported * 1e12
