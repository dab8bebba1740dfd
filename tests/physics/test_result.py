"""Results: frozen, checked, and ordinary numbers that can explain themselves."""

from __future__ import annotations

import math
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.physics.domain import recovered_after
from tests.physics.cases import CASES, Case, identify

every_case = pytest.mark.parametrize("case", CASES, ids=identify)


@every_case
def test_results_are_frozen_and_survive_pickling(case: Case) -> None:
    result = case()
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    if isinstance(result, ph.Result):
        with pytest.raises(AttributeError):
            result.anything = 1.0  # type: ignore[attr-defined]


def test_shapes_that_do_not_fit_are_named() -> None:
    with pytest.raises(ValueError, match=r"m has shape \(2,\), n has shape \(3,\)"):
        ph.gemm(np.ones(2), np.ones(3), 8)


def test_inputs_of_a_result_cannot_be_changed_behind_its_back() -> None:
    sizes = np.array([128.0, 256.0])
    kernel = ph.gemm(sizes, sizes, sizes)
    with pytest.raises(ValueError, match="read-only"):
        kernel.m[0] = 1.0  # type: ignore[index]


def test_explained_numbers_are_ordinary_numbers() -> None:
    n = ph.break_even(30, 1450, 2150)
    assert isinstance(n, float)
    assert type(n * 2) is float
    assert math.floor(n) == 133_607
    assert f"{n:,.0f}" == "133,607"
    assert recovered_after(30.0, 0.0) == math.inf


def test_repr_shows_inputs_and_outputs() -> None:
    assert repr(ph.capacity(1e8, "cortex-m7")) == (
        "Capacity(size=100 MB, memory=512 KB -> fill=195.3×, out_of_memory=yes)"
    )
    assert "intensity=<array 2>" in repr(ph.gemm(np.array([1.0, 2.0]), 2, 2))


def test_arrays_have_no_single_derivation() -> None:
    with pytest.raises(ValueError, match="a derivation explains one case"):
        ph.gemm(np.array([1.0, 2.0]), 2, 2).derivation()


def test_what_if_computes_again() -> None:
    tiny = ph.forward_pass(1000, 5e-6, 10e-6)
    assert tiny.utilization < 1  # computed once, and kept
    assert replace(tiny, launch_overhead=0.0).utilization == 1
    with pytest.raises(ValueError, match="launch_overhead is -1"):
        replace(tiny, launch_overhead=-1.0)


def test_a_subclass_derives_in_place_of_its_base() -> None:
    serial, ahead = (ph.forward_pass(10, 5e-6, 1e-5, launch=how) for how in ("serial", "async"))
    assert list(serial.outputs()) == ["compute", "total", "dispatch", "utilization"]
    assert set(ahead.outputs()) == {*serial.outputs(), "device_time"}
    assert serial.outputs()["total"].about != ahead.outputs()["total"].about


def test_an_explained_number_survives_pickling_with_its_derivation() -> None:
    n = pickle.loads(pickle.dumps(ph.break_even(30, 1450, 2150)))
    assert isinstance(n, ph.Explained)
    assert str(n.derivation()) == str(ph.break_even(30, 1450, 2150).derivation())


@every_case
def test_a_varied_result_is_the_replaced_one(case: Case) -> None:
    result = case()
    if not isinstance(result, ph.Result):
        return
    for name in result.inputs():
        value = getattr(result, name)
        if isinstance(value, np.ndarray) or value * 0.5 == value:
            continue
        try:
            expected = replace(result, **{name: value * 0.5})
        except ValueError as refusal:
            with pytest.raises(ValueError, match=re.escape(str(refusal))):
                result.varied(**{name: value * 0.5})
            continue
        varied = result.varied(**{name: value * 0.5})
        assert varied == expected
        assert repr(varied) == repr(expected)
        assert getattr(result, name) is value
