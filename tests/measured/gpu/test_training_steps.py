"""Training steps: what a step does, in which order, and its memory by kind."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mlsys_widgets.measured.gpu import training_steps
from mlsys_widgets.measured.gpu.training_steps import GPTS, Trainer
from tests.measured.gpu.fake_torch import FakeBench, Tensor


class Loss:
    """A loss that notes when it is differentiated."""

    def __init__(self, model: Model, value: float) -> None:
        self.model, self.value = model, value

    def backward(self) -> None:
        self.model.done.append("backward")
        for weight in self.model.weights:
            weight.grad = Tensor(np.zeros_like(weight))

    def detach(self) -> Loss:
        return self

    def __float__(self) -> float:
        return self.value


class Model:
    """Two weights of bf16's size, and a diary."""

    loss = 4.5

    def __init__(self) -> None:
        self.done: list[str] = []
        self.weights: list[Any] = [Tensor(np.zeros(n, np.float16)) for n in (10, 30)]

    def to(self, dtype: Any) -> Model:
        return self

    def parameters(self) -> list[Any]:
        return self.weights

    def __call__(self, ids: Tensor, targets: Tensor) -> Loss:
        assert np.array_equal(ids[:, 1:], targets[:, :-1])
        self.done.append("forward")
        return Loss(self, self.loss)


class Adam:
    """An optimizer with two states per weight and a step count."""

    def __init__(self, weights: list[Any], lr: float, fused: bool) -> None:
        self.weights, self.state = weights, States()
        self.diary: list[str] = []

    def zero_grad(self, set_to_none: bool) -> None:
        assert not set_to_none
        self.diary.append("zero")

    def step(self) -> None:
        self.diary.append("step")
        for weight in self.weights:
            self.state.of[id(weight)] = {
                "step": Tensor(np.zeros((), np.float32)), "exp_avg": weight, "exp_avg_sq": weight,
                "name": "a word",
            }  # fmt: skip


class States:
    """States by weight; a fake tensor has no hash."""

    def __init__(self) -> None:
        self.of: dict[int, dict[str, Any]] = {}

    def __getitem__(self, weight: Tensor) -> dict[str, Any]:
        return self.of[id(weight)]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> FakeBench:
    made = FakeBench()
    pairs = made.torch.randint

    def randint(low: int, high: int, shape: tuple[int, ...], device: str) -> list[Tensor]:
        return [pairs(low, high, shape[1:]) for _ in range(shape[0])]

    made.torch.randint = randint
    made.torch.device = lambda name: nullcontext()
    made.torch.optim = SimpleNamespace(AdamW=Adam)
    made.torch.is_tensor = lambda value: isinstance(value, Tensor)
    monkeypatch.setattr(training_steps, "gpt", lambda torch, sizes: Model())
    return made


def test_a_step_zeroes_then_learns(bench: FakeBench) -> None:
    trainer = Trainer(bench, training_steps.TOY, 2, 8)
    assert float(trainer(0)) == 4.5
    assert trainer.model.done == ["forward", "backward"]
    assert trainer.optimizer.diary == ["zero", "step"]
    assert trainer.memory() is None  # a rehearsal has no allocator to ask


def test_steps_are_recorded(bench: FakeBench) -> None:
    training_steps.training(bench)
    assert bench.recorder.skipped == []
    (case,) = bench.recorded("training")
    assert set(case["shape"]) == {"model", "batch", "sequence", "vocabulary", "optimizer"}
    assert case["precision"] == "bf16"
    assert case["flops"] == training_steps.TOY.flops(2, 16)
    assert case["throughput"] == pytest.approx(32 / case["seconds"]["median"])
    assert "memory" not in case


def test_a_loss_out_of_bounds_is_refused(bench: FakeBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Model, "loss", float("nan"))
    training_steps.training(bench)
    assert bench.recorder.cases == []
    assert bench.recorder.skipped[0]["reason"] == "RuntimeError: the loss is nan"


def test_memory_is_the_peak_beyond_what_was_there(bench: FakeBench) -> None:
    bench.torch.cuda = SimpleNamespace(
        memory_allocated=lambda: 1000, reset_peak_memory_stats=lambda: None,
        max_memory_allocated=lambda: 5000, synchronize=lambda: None,
    )  # fmt: skip
    bench.cuda = True
    trainer = Trainer(bench, training_steps.TOY, 2, 8)
    trainer(0)
    assert trainer.memory() == {
        "weights": 80, "gradients": 80, "optimizer": 2 * 80 + 8, "activations": 4000 - 328,
        "peak": 4000,
    }  # fmt: skip


def test_the_sizes_are_gpt2s() -> None:
    small, medium = GPTS["gpt2"], GPTS["gpt2-medium"]
    # Positions, norms and biases are no products.
    assert small.linear == pytest.approx(124e6, rel=0.01)
    assert medium.linear == pytest.approx(355e6, rel=0.01)
    assert small.flops(2, 512) == 2 * small.flops(1, 512)
    assert small.flops(1, 1024) > 2 * small.flops(1, 512)
    for name, batch, sequence in training_steps.training_cases():
        assert 1 <= batch <= 32
        assert 128 <= sequence <= GPTS[name].positions
