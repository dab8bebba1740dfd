"""Lab 11 says nothing that is false for anybody, as far as its own numbers decide it."""

from __future__ import annotations

import itertools

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.judging import Given
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import load
from mlsys_widgets.measured import points
from tests.labs.rehearsal import ROOT

HOME = ROOT / "assignments" / "lab_11_roofline"
LAB, CHECKS = load(HOME), load_checks(HOME)
DRAWN = [LAB.draw(f"student-{k}") for k in range(400)]
H100, H200 = ph.devices["h100-sxm"], ph.devices["h200-sxm"]
#: How much better the right option of a choice is than the next, at least.
MARGIN = 1.1


def alone(n):
    """A square fp16 product that ran on an H200 with nothing beside it."""
    return points("h200-sxm", "fp16", "gemm", variant="graph", m=n, n=n, k=n)[0]


def key(name, p):
    return CHECKS[name](Given(p, HOME))


def ahead(times):
    """How much better the best of several is than the next; less time is better."""
    first, second, *_ = sorted(times.values())
    return second / first


def test_the_best_lever_is_a_tenth_ahead_and_merging_helps_everybody():
    peak, bandwidth = H100.peak("fp16"), H100.bandwidth
    for p in DRAWN:
        n = p.lever_n
        rates = {
            "bandwidth": min(peak, p.more_bandwidth * bandwidth * n / 3),
            "peak": min(p.more_peak * peak, bandwidth * n / 3),
            "int8": min(H100.peak("int8"), bandwidth * 2 * n / 3),
        }
        times = {lever: 1 / rate for lever, rate in rates.items()}
        assert ahead(times) > MARGIN
        assert key("best_lever", p).value == min(times, key=lambda lever: times[lever])
        # “Size did what three weeks in the loop could not.”
        assert key("merged_gain_times", p).value > MARGIN
        # “That is twice the dashboard's figure.”
        shown = p.reported * 1e14 / H100.peak("fp16", sparse=True)
        asked = {"dense_share_pct": 2 * shown, "goal_gain_times": p.goal_pct / (2 * shown)}
        found = key("dense_share_pct", p).value
        assert found == pytest.approx(asked[p.dense_share_pct], rel=1e-3)
        # The director wants more than there is.
        assert p.goal_pct / (2 * shown) > 1.2


def test_the_offers_for_a_layer_are_a_tenth_apart_in_the_order_that_is_graded():
    llama = ph.language_model("llama31-8b")
    gone = (1 - ph.fusion_strategies["full"].traffic_share) / H100.bandwidth
    for p in DRAWN:
        tokens, times = p.prompts * p.prompt, []
        for precision in ("fp16", "int8"):
            kernel = ph.projection(tokens, 1, llama.width, ph.BYTES_PER_ELEMENT[precision])
            roof = min(H100.peak(precision), H100.bandwidth * kernel.intensity)
            times.append(kernel.flops / roof)
        saved = {
            "p": times[0] - times[1],
            "n": gone * ph.elementwise(tokens * llama.width).bytes,
            "s": gone * ph.elementwise(tokens * llama.heads * p.prompt).bytes,
        }
        order = sorted(saved, key=lambda offer: -saved[offer])
        assert key("kernel_to_fund", p).value == "".join(order)
        for better, worse in itertools.pairwise(order):
            assert saved[better] > MARGIN * saved[worse]


def test_no_conversation_outgrows_the_models_context():
    # Llama 3 ended at 8,192 tokens, the contracts at 16,384.
    context = ph.language_model("llama31-8b").context
    for name in ("chat_tokens", "sequence", "prompt"):
        assert max(LAB.parameters[name].values) <= context, name
    asked = LAB.items(LAB.draw("", variants=False))["beside_conversations"].ask
    assert "16,384 tokens" in asked
    assert context == 131_072


def test_what_fits_beside_the_contracts_fills_the_memory_and_no_more():
    llama, token = ph.language_model("llama31-8b"), ph.kv_cache("llama31-8b", 1, 1)
    asked = set()
    for p in DRAWN:
        found = key("beside_conversations", p).value
        conversations, tokens = {
            "beside_conversations": (found, p.sequence),
            "conversation_tokens": (p.kept, found),
        }[p.beside_conversations]
        assert tokens <= llama.context
        # The contracts are in the same cache, so they are conversations of another length.
        kept = ph.footprint(llama, H100, 1, conversations * tokens + p.documents * 16384)
        one_more = {"beside_conversations": p.sequence, "conversation_tokens": p.kept}
        left = kept.memory - kept.total
        assert 0 <= left < one_more[p.beside_conversations] * token
        asked.add(p.beside_conversations)
    assert asked == {"beside_conversations", "conversation_tokens"}


def test_one_small_product_alone_is_far_below_the_roof_that_its_batch_may_reach():
    """What Act 1 says about N = 192, and why it speaks of batches."""
    product = alone(192)
    roof = ph.roofline(product.intensity, H200.peak("fp16"), H200.bandwidth).attainable
    assert product.attained < 0.02 * roof
    # A third of the work takes nearly as long: what takes the time is not the arithmetic.
    assert alone(128).seconds == pytest.approx(product.seconds, rel=0.05)
    # Nobody's batched products are as small as that, and none reaches its rate alone.
    least = min(LAB.parameters["reported"].values) * 1e12
    assert 3 * least / H100.bandwidth > 192
    assert alone(384).attained < 0.2 * least


def test_no_wrong_try_opens_the_message_that_takes_the_answer_for_granted():
    items = LAB.items(DRAWN[0])
    assert items["act3_launch"].opens == "right"
    assert list(items["act3_same"].after) == ["act3_launch"]
