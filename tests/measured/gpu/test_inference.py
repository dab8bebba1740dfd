"""Whole models on a GPU: what is recorded, and that a compiled model must agree with its own."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mlsys_widgets.measured.gpu import inference
from tests.measured.gpu.fake_torch import FakeBench, Tensor


class Model:
    """Doubles its input, with one small parameter."""

    def to(self, *places: object, **options: object) -> Model:
        return self

    def parameters(self) -> list[Tensor]:
        return [Tensor(np.zeros(10, np.float32))]

    def __call__(self, x: Tensor) -> Tensor:
        return x * 2.0


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> FakeBench:
    small = replace(inference.WORKLOADS["kws"], build=lambda torch: Model())
    monkeypatch.setitem(inference.WORKLOADS, "kws", small)
    monkeypatch.setattr(inference.models, "settle", lambda torch, model, example: None)
    monkeypatch.setattr(inference, "_flops", lambda torch, model, example: 123.0)
    monkeypatch.setattr(inference, "warm_compiler", lambda bench: None)
    monkeypatch.setattr(inference, "cold_cache", lambda torch: nullcontext())
    return FakeBench()


def test_a_model_is_measured_eager_and_compiled(bench: FakeBench) -> None:
    inference.infer(bench, "kws")
    assert bench.recorder.skipped == []
    found = {case["variant"]: case for case in bench.recorded("model")}
    assert set(found) == {"eager", "compiled", "compiled_graph"}
    for variant, case in found.items():
        assert case["flops"] == 123.0
        assert case["throughput"] == pytest.approx(2 / case["seconds"]["median"])
        assert case["shape"]["input"] == "2x1x49x10"
        assert case["shape"]["parameter_bytes"] == 40
        assert (case["compile_seconds"] is not None) == (variant != "eager")


def test_a_compiled_model_that_differs_is_not_measured(bench: FakeBench) -> None:
    def spoiled(function: Any, **options: object) -> Any:
        return lambda x: function(x) * 1.2

    bench.torch.compile = spoiled
    inference.infer(bench, "kws")
    assert [case["variant"] for case in bench.recorded("model")] == ["eager"]
    assert all("compiled and eager differ" in e["reason"] for e in bench.recorder.skipped)


def test_a_model_without_finite_output_is_not_measured(
    bench: FakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Model, "__call__", lambda self, x: x * float("inf"))
    inference.infer(bench, "kws")
    assert bench.recorder.cases == []
    assert "not finite" in bench.recorder.skipped[0]["reason"]
