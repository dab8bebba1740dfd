"""The sections of a language model: shapes as the model reads them, counts, and drawn sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mlsys_widgets.measured.cpu import numpy_kernels as nk
from mlsys_widgets.measured.cpu import small_sections
from mlsys_widgets.measured.cpu import transformer_sections as sections

from .instant_bench import SECONDS, InstantBench, instant_bench, recorded


@pytest.fixture
def roomy() -> Any:
    made = instant_bench(arena=128 << 20)
    yield made
    made.close()


def test_attention_over_prompts(bench: InstantBench) -> None:
    sections.prompts(bench)
    assert not bench.recorder.skipped
    found = recorded(bench, "attention")
    assert len(found) == len(sections.prompt_sizes(quick=True))
    for case in found:
        s = case["shape"]
        assert set(s) == {
            "batch", "heads", "kv_heads", "queries", "keys", "head_width", "causal", "form",
            "threads",
        }  # fmt: skip
        assert s["queries"] == s["keys"]
        assert s["form"] == "naive"
        assert s["threads"] == 2
        pairs = s["batch"] * s["heads"] * s["queries"] * s["keys"]
        assert case["flops"] == 4 * pairs * s["head_width"]
        vectors = 2 * s["batch"] * s["head_width"] * s["keys"] * (s["heads"] + s["kv_heads"])
        assert case["bytes"] == 4 * (vectors + 4 * pairs)
        assert case["error"] < 1e-5


def test_attention_of_new_tokens(roomy: InstantBench) -> None:
    sections.cached_tokens(roomy)
    assert not roomy.recorder.skipped
    for case in recorded(roomy, "decode_attention"):
        s = case["shape"]
        assert (s["queries"], s["form"]) == (1, "grouped")
        assert case["flops"] == 4 * s["batch"] * s["heads"] * s["keys"] * s["head_width"]
        vectors = 2 * s["batch"] * s["head_width"] * (s["heads"] + s["kv_heads"] * s["keys"])
        assert case["bytes"] == 4 * vectors
        assert case["error"] < 1e-5


def test_products_of_few_rows(bench: InstantBench) -> None:
    sections.few_rows(bench)
    assert not bench.recorder.skipped
    for case in recorded(bench, "gemm"):
        m, n, k = (case["shape"][side] for side in "mnk")
        assert case["shape"] == {
            "m": m, "n": n, "k": k, "result": "float32", "transposed": True, "threads": 2,
        }  # fmt: skip
        assert case["flops"] == 2 * m * n * k
        assert case["bytes"] == case["traffic"] == 4 * (m * n + n * k + m * k)
        assert case["error"] < 1e-5


def test_one_layer(roomy: InstantBench) -> None:
    sections.layers(roomy)
    assert not roomy.recorder.skipped
    found = recorded(roomy, "layer")
    assert {case["shape"]["phase"] for case in found} == {"prefill", "decode"}
    for case in found:
        s = case["shape"]
        assert (s["model"], s["width"]) == ("small-transformer", 512)
        tokens = s["batch"] * (s["sequence"] if s["phase"] == "prefill" else 1)
        assert case["throughput"] == pytest.approx(tokens / SECONDS)
        assert case["error"] < 1e-5


@pytest.mark.parametrize(
    "section", [sections.prompts, sections.cached_tokens, sections.few_rows, sections.layers]
)
def test_what_does_not_fit_is_left_out_with_the_reason(
    section: Callable[[Any], None],
) -> None:
    small = instant_bench(arena=1 << 16)
    try:
        section(small)
    finally:
        small.close()
    assert small.recorder.skipped
    assert {entry["reason"] for entry in small.recorder.skipped} == {"too little memory"}


def test_a_wrong_result_is_left_out(bench: InstantBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A softmax that forgets to divide gives finite numbers, and every one of them is wrong."""

    def unnormalized(x: Any, out: Any) -> Any:
        return np.exp(x, out=out)

    monkeypatch.setattr(nk, "softmax", unnormalized)
    sections.prompts(bench)
    assert not bench.recorder.cases
    assert all("the result is wrong" in entry["reason"] for entry in bench.recorder.skipped)


@pytest.mark.parametrize(
    ("sizes", "length", "least", "most"),
    [
        (sections.prompt_sizes, 4, 16, 1024),
        (sections.cache_sizes, 4, 64, 16384),
        (sections.product_sizes, 1, 64, 4096),
        (sections.layer_sizes, 2, 16, 16384),
    ],
)
def test_sizes_are_drawn_with_a_seed_and_odd_ones_are_among_them(
    sizes: Callable[[bool], list[tuple[Any, ...]]], length: int, least: int, most: int
) -> None:
    full = sizes(False)
    assert full == sizes(False)
    assert len(set(full)) == len(full) >= 20
    drawn = [case[length] for case in full]
    assert least <= min(drawn) <= 4 * least
    assert max(drawn) <= most
    assert sum(value % 2 for value in drawn) >= 5
    assert len(sizes(True)) <= 3


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_all_sizes_are_right_and_no_number_overflows() -> None:
    """Results that became inputs again and again would grow without limit."""
    bench = instant_bench(quick=False, arena=256 << 20)
    try:
        for section in (
            sections.prompts, sections.cached_tokens, small_sections.kernels, sections.few_rows,
            sections.layers,
        ):  # fmt: skip
            section(bench)
    finally:
        bench.close()
    assert not bench.recorder.skipped
    assert max(case["error"] for case in bench.recorder.cases) < 1e-5


def test_scores_and_caches_stay_small() -> None:
    for batch, heads, _, _, length, _ in sections.prompt_sizes(quick=False):
        assert batch * heads * length**2 <= sections.MOST_SCORES
    for batch, _, kv_heads, width, keys in sections.cache_sizes(quick=False):
        assert 2 * 4 * batch * kv_heads * keys * width < 1 << 30
