"""One layer and a whole model: eager and as a graph, in tokens per second."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from mlsys_widgets.measured.gpu import llama_steps
from mlsys_widgets.measured.gpu.transformer import TOY, PlainLlama
from tests.measured.gpu.fake_torch import FakeBench


def test_a_layer_is_measured_in_both_phases() -> None:
    bench = FakeBench()
    llama_steps.layers(bench)
    assert bench.recorder.skipped == []
    found = bench.recorded("layer")
    assert {(case["shape"]["phase"], case["variant"]) for case in found} == {
        (phase, variant) for phase in ("prefill", "decode") for variant in ("eager", "graph")
    }
    for case in found:
        shape = case["shape"]
        tokens = shape["batch"] * (shape["sequence"] if shape["phase"] == "prefill" else 1)
        assert case["throughput"] == pytest.approx(tokens / case["seconds"]["median"])
        assert ("enqueue" in case) == (case["variant"] == "eager")


def test_a_model_is_served_in_two_precisions() -> None:
    bench = FakeBench()
    llama_steps.serving(bench)
    assert bench.recorder.skipped == []
    found = bench.recorded("serving")
    assert {case["precision"] for case in found} == {"fp16", "bf16"}
    assert {case["variant"] for case in found} == {"eager", "graph"}
    for case in found:
        shape = case["shape"]
        assert set(shape) == {"model", "phase", "batch", "sequence"}
        tokens = shape["sequence"] if shape["phase"] == "prefill" else 1
        assert case["flops"] == TOY.flops(shape["batch"], tokens, shape["sequence"], 2, True)
        assert case["bytes"] == TOY.bytes(shape["batch"], tokens, shape["sequence"], 2, True)
    assert sum("relative error of the logits" in note for note in bench.recorder.notes) == 2


def test_logits_that_are_not_finite_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = FakeBench()
    step = PlainLlama.step
    monkeypatch.setattr(PlainLlama, "check", lambda model: 0.0)

    def spoiled(model: PlainLlama, *operands: Any) -> Any:
        return step(model, *operands) * float("inf")

    monkeypatch.setattr(PlainLlama, "step", spoiled)
    llama_steps.serving(bench)
    assert bench.recorder.cases == []
    assert {entry["reason"] for entry in bench.recorder.skipped} == {
        "RuntimeError: the logits are not finite"
    }


def test_a_model_that_decodes_wrongly_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(model: PlainLlama) -> float:
        raise RuntimeError("decoding differs from reading the prompt: error 1")

    monkeypatch.setattr(PlainLlama, "check", wrong)
    bench = FakeBench()
    with bench.recorder.within("layer"):
        llama_steps.layers(bench)
    llama_steps.serving(bench)
    assert bench.recorder.cases == []
    assert len(bench.recorder.skipped) == 3


def test_a_small_device_leaves_out_what_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = FakeBench()
    steps = [("decode", 2, 16), ("decode", 1, 300)]
    monkeypatch.setattr(llama_steps, "TOYS", steps)
    room = 2 * (TOY.weights(2) + 100 * TOY.cached(2)) / 0.75
    bench.torch.cuda = SimpleNamespace(mem_get_info=lambda: (room, room))
    made = llama_steps.cache_attention(bench)
    monkeypatch.setattr(PlainLlama, "check", lambda model: 0.0)
    monkeypatch.setattr(made.__class__, "chosen", lambda way, bench: nullcontext())
    bench.cuda = True
    model = llama_steps.build(bench, steps, "fp16")
    assert 99 <= model.room <= 100
    bench.cuda = False
    with bench.recorder.attempt("too large"):
        llama_steps._whole(bench, model, "fp16", "decode", 1, 300)
    assert "the cache has room for" in bench.recorder.skipped[0]["reason"]


def test_the_caches_of_the_listed_steps_fit_an_h200() -> None:
    most = max(batch * sequence for _, batch, sequence in llama_steps.SERVING)
    assert 2 * 65536 * most < 75e9
    assert {phase for phase, _, _ in llama_steps.SERVING} == {"prefill", "decode"}
    assert any(sequence % 2 for _, _, sequence in llama_steps.SERVING)
    assert set(llama_steps.OTHER) <= set(llama_steps.SERVING)
