"""Inputs: what is refused and with which words, and that arrays do what numbers do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mlsys_widgets import physics as ph
from tests.physics.cases import CASES, OTHERS, Case, identify

LLAMA = ph.language_model("llama31-8b")
NONSENSE = [-1.0, math.nan, math.inf, -math.inf, 1e31, "many", True, [1.0, math.nan], 1j, {}]
every_case = pytest.mark.parametrize("case", CASES, ids=identify)


def test_every_public_function_is_covered() -> None:
    functions = {n for n in ph.__all__ if type(getattr(ph, n)).__name__ == "function"}
    assert functions == {case.name for case in CASES} | OTHERS


@every_case
@pytest.mark.parametrize("nonsense", NONSENSE, ids=str)
def test_nonsense_is_refused_by_name(case: Case, nonsense: object) -> None:
    for name in case.numbers:
        with pytest.raises(ValueError, match=rf"^{name} is ") as refusal:
            case(**{name: nonsense})
        # Of several values, the first that is refused: a chance may exclude certainty, too.
        shown = nonsense if isinstance(nonsense, list) else [nonsense]
        assert any(repr(each) in str(refusal.value) for each in shown)
        assert "must be" in str(refusal.value)


#: Inputs that may be nothing at all: no formula divides by them.
MAY_BE_ZERO = {
    "activation_share",
    "beside",
    "compile_time",
    "compute_time",
    "floor",
    "flops",
    "gain",
    "guess",
    "idle",
    "kept",
    "latency",
    "launch_overhead",
    "memory_time",
    "outlier",
    "price",
    "right",
    "think",
    "variation",
}


@every_case
def test_zero_is_refused_where_a_division_follows(case: Case) -> None:
    for name in case.numbers:
        if name in MAY_BE_ZERO:
            assert not any(math.isnan(output) for output in _outputs(case(**{name: 0})))
        else:
            with pytest.raises(ValueError, match=rf"^{name} is 0; it must be"):
                case(**{name: 0})


@every_case
def test_arrays_give_what_numbers_give(case: Case) -> None:
    for name, value in case.numbers.items():
        values = [value, value / 2, value]
        together = _outputs(case(**{name: np.array(values)}))
        listed = _outputs(case(**{name: values}))
        assert all(np.array_equal(a, b) for a, b in zip(listed, together, strict=True))
        for place, alone in enumerate(values):
            for one, many in zip(_outputs(case(**{name: alone})), together, strict=True):
                # An output that does not depend on this input stays a single number.
                assert np.allclose(np.broadcast_to(many, 3)[place], one, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: ph.devices["h1000"], "device is 'h1000'; it must be one of: a100-sxm"),
        (lambda: ph.iron_law(1e8, 4e9, "tpu"), "device is 'tpu'"),
        (lambda: ph.devices["a100-sxm"].peak("fp8"), "A100 SXM has no dense fp8 peak"),
        (lambda: ph.devices["orin-nx"].ridge("int8"), "it has: fp16, int8 sparse"),
        (lambda: ph.run("bert", "a100-sxm"), "workload is 'bert'; it must be one of: kws"),
        (lambda: ph.run("llama31-8b", "a100-sxm"), "a forward pass is known for: kws, resnet50"),
        (lambda: ph.run("kws", "mobile-npu"), "Mobile NPU has no launch overhead on record"),
        (lambda: ph.run("kws", "a100-sxm", mode="fast"), "mode is 'fast'"),
        (lambda: ph.run("kws", "a100-sxm", launch="late"), "serial, async, graph"),
        (lambda: ph.kv_cache("kws", 1, 1), "language models on record: llama31-8b"),
        (lambda: ph.decode("llama31-8b", "h100-sxm", 1, 1, "fp4"), "precision is 'fp4'"),
        (ph.chain, "at least one op"),
        (lambda: ph.chain("conv"), "op is 'conv'"),
        (lambda: ph.chain(("relu", "w")), "relu reads 0 more tensors"),
        (lambda: ph.deployment(30, 1450, per_day=1, days=1), "either compiled_rate or gain"),
        (lambda: ph.iron_law(1e8, 4e9), "give a device, or both bandwidth and rate"),
        (lambda: ph.can_fuse("relu", "relu", "cousins"), "relation is 'cousins'"),
        (lambda: ph.product(1, 8, 8, "fp6"), "precision is 'fp6'; it must be one of: fp64, fp32"),
        (lambda: ph.small_kernel("conv", 1, 1), "small kernel is 'conv'; it must be one of: rms"),
        (lambda: ph.layer_kernels(LLAMA, "dream", 1, 1), "phase is 'dream'; it must be one of: pr"),
        (lambda: ph.model_kernels(LLAMA, "decode", 1, 1, "fp6"), "precision is 'fp6'; it must be"),
        (lambda: ph.training_memory("gpt9", 1, 1), "trained model is 'gpt9'; it must be one of"),
        (lambda: ph.training_time("gpt2", "a100-sxm", 1, 128), "no measurement is on record"),
        (lambda: _served(model="gpt-9"), "workload is 'gpt-9'; it must be one of: "),
        (lambda: _served(model="kws"), "language models on record: llama31-8b"),
        (lambda: _served(device="h1000"), "device is 'h1000'; it must be one of: "),
        (lambda: _served(device="a100-sxm"), "the calibrated form knows: h200-sxm"),
        (lambda: _served(phase="dream"), "phase is 'dream'; it must be one of: prefill, decode"),
        (lambda: _served(precision="fp64"), "precision is 'fp64'; it must be one of: fp16, bf16"),
        (lambda: _served(launch="serial"), "launch is 'serial'; it must be one of: async, graph"),
    ],
)
def test_unknown_names_are_refused_with_what_is_known(call, sentence) -> None:
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        call()
    assert sentence in str(refusal.value)


def test_catalogs_behave_like_read_only_mappings() -> None:
    assert "a100-sxm" in ph.devices
    assert "nope" not in ph.devices
    assert ph.devices.get("nope") is None
    assert len(ph.devices) == 6
    with pytest.raises(TypeError):
        ph.devices["mine"] = ph.devices["a100-sxm"]  # type: ignore[index]


def _served(**changed: str) -> ph.ServingTime:
    asked = {"model": "llama31-8b", "device": "h200-sxm", "phase": "decode"}
    return ph.serving_time(**{**asked, "batch": 1, "sequence": 128, **changed})  # type: ignore[arg-type]


def _outputs(result: object) -> list[float]:
    if isinstance(result, ph.Result):
        return [getattr(result, name) for name in result.outputs()]
    return [result]  # type: ignore[list-item]
