"""Inputs: what is refused and with which words, and that arrays do what numbers do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mlsys_widgets import physics as ph
from tests.physics.cases import CASES, OTHERS, Case, identify

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
        shown = nonsense[1] if isinstance(nonsense, list) else nonsense
        assert repr(shown) in str(refusal.value)
        assert "must be" in str(refusal.value)


#: Inputs that may be nothing at all: no formula divides by them.
MAY_BE_ZERO = {
    "activation_share",
    "compile_time",
    "compute_time",
    "floor",
    "flops",
    "gain",
    "latency",
    "launch_overhead",
    "memory_time",
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
    alone = case()
    for name, value in case.numbers.items():
        together = case(**{name: np.array([value, value, value])})
        for one, many in zip(_outputs(alone), _outputs(together), strict=True):
            # An output that does not depend on this input stays a single number.
            assert np.allclose(many, one, rtol=1e-12)
        listed = case(**{name: [value, value, value]})
        assert all(
            np.array_equal(a, b) for a, b in zip(_outputs(listed), _outputs(together), strict=True)
        )


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


def _outputs(result: object) -> list[float]:
    if isinstance(result, ph.Result):
        return [getattr(result, name) for name in result.outputs()]
    return [result]  # type: ignore[list-item]
