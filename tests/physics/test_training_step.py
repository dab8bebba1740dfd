"""A training step: what it keeps in memory, what it launches, and how its time adds up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import physics as ph

MODELS = sorted(ph.trained_models)
BATCHES = st.integers(1, 64)
LENGTHS = st.integers(1, 1024)


@pytest.mark.parametrize(
    ("model", "parameters"),
    # OpenAI's own counts of the released models, 124M and 355M.
    [("gpt2", 124.4e6), ("gpt2-medium", 354.8e6)],
)
def test_parameters_are_those_of_the_released_models(model: str, parameters: float) -> None:
    assert ph.trained_models[model].parameters == pytest.approx(parameters, rel=1e-3)


@given(batch=BATCHES, length=LENGTHS, model=st.sampled_from(MODELS))
def test_memory_is_the_sum_of_its_kinds_and_grows(batch: int, length: int, model: str) -> None:
    kept = ph.training_memory(model, batch, length)
    kinds = kept.weights + kept.gradients + kept.optimizer + kept.activations
    assert kept.peak == pytest.approx(kinds)
    assert kept.gradients == kept.weights
    assert kept.optimizer == 2 * kept.weights
    assert ph.training_memory(model, batch + 1, length).peak >= kept.peak


@given(batch=BATCHES, length=LENGTHS)
def test_a_step_waits_for_the_slower_of_host_and_device(batch: int, length: int) -> None:
    step = ph.training_time("gpt2", "h200-sxm", batch, length)
    assert step.time == max(step.device_time, step.host_time)
    parts = step.forward + step.backward + step.update
    assert step.device_time == pytest.approx(parts + step.kernels * step.node_overhead)
    assert sum(float(use.total) for use in step.uses) == pytest.approx(parts)


def test_as_many_launches_as_a_profile_counts() -> None:
    # torch.profiler saw 591 to 659 kernels in a step of GPT-2, and 1,167 to 1,185 of GPT-2 medium.
    assert 560 <= ph.training_launches("gpt2") <= 660
    assert 1100 <= ph.training_launches("gpt2-medium") <= 1200


def test_an_odd_vocabulary_makes_the_logits_the_longest_kernel() -> None:
    step = ph.training_time("gpt2", "h200-sxm", batch=32, sequence=1024)
    assert step.dominant.use.name.startswith("Logits")
    assert step.dominant.use.family == "unaligned products"
