"""Fits give back the parameters that made the times."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from mlsys_widgets import measured
from mlsys_widgets import physics as ph
from mlsys_widgets.measured.fitting import fit_law, parameters_of, predicted
from mlsys_widgets.measured.kernel_families import KernelFamily, families
from mlsys_widgets.measured.recorder import Spread
from mlsys_widgets.physics.row_laws import GatherLaw, SoftmaxLaw

pytest.importorskip("scipy")

CEILINGS = ph.LawCeilings(peak=989e12, bandwidth=4.8e12, units=132.0)
COMMON = {"floor": 3e-6, "bandwidth_share": 0.7, "compute_share": 0.55, "exposed": 0.2}
#: A family whose shapes are used, the parameters that make its times, and those that no case of
#: the family shows well enough to be found again.
MACHINES: list[tuple[str, Mapping[str, float], set[str]]] = [
    ("weight-only products int4", {}, set()),
    ("small kernels of elementwise", {"single_row": 0.7}, {"compute_share", "exposed"}),
    ("products fp16", {"half_tile": 20.0, "split_time": 2e-6}, set()),
    # Most of them are split, so the floor and the split share their sum as they like.
    (
        "unaligned products fp16",
        {"half_tile": 15.0, "split_time": 2e-6, "odd_share": 0.5},
        {"floor", "split_time", "exposed"},
    ),
    (
        "prompt attention",
        {"tile_cost": 2.0, "tail": 0.4, "half_width": 40.0},
        {"bandwidth_share", "exposed"},
    ),
    (
        "rows of rmsnorm",
        {"row_time": 5e-8, "column_time": 5e-10, "long_share": 0.6},
        {"compute_share", "exposed"},
    ),
    (
        "rows of softmax",
        {"row_time": 5e-8, "column_time": 5e-10, "long_share": 0.6, "block_share": 0.5},
        {"compute_share", "exposed", "long_share", "row_time"},
    ),
    ("small kernels of embedding", {"row_time": 4e-7}, {"compute_share", "exposed"}),
]


@pytest.fixture(scope="module")
def shapes() -> dict[str, KernelFamily]:
    return {family.name: family for family in families(measured.load("h200-sxm"))}


def timed(family: KernelFamily, truth: Mapping[str, float]) -> KernelFamily:
    """The family with the times that its law predicts from these parameters."""
    times = predicted(ph.LAWS[family.law], truth, family, CEILINGS)
    members = (
        replace(case, seconds=Spread(time, time, time, 9))
        for case, time in zip(family.members, times.tolist(), strict=True)
    )
    return replace(family, members=tuple(members))


def test_every_law_has_a_machine_here(shapes: dict[str, KernelFamily]) -> None:
    tried = {ph.LAWS[shapes[name].law] for name, _, _ in MACHINES}
    assert tried == set(ph.LAWS.values())


@pytest.mark.parametrize(("name", "own", "hidden"), MACHINES, ids=[name for name, *_ in MACHINES])
def test_a_known_machine_is_found_again(
    shapes: dict[str, KernelFamily], name: str, own: Mapping[str, float], hidden: set[str]
) -> None:
    family, truth = shapes[name], COMMON | own
    kind = ph.LAWS[family.law]
    assert set(truth) == set(parameters_of(kind))
    made = timed(family, truth)
    found = fit_law(kind, made, CEILINGS)
    again = predicted(kind, found, made, CEILINGS)
    assert np.allclose(again, made.seconds, rtol=0.01)
    for parameter in set(truth) - hidden:
        assert found[parameter] == pytest.approx(truth[parameter], rel=0.03), parameter


def test_what_no_case_depends_on_stays_neutral(shapes: dict[str, KernelFamily]) -> None:
    # Rows that are looked up compute nothing, and the law of softmax knows no second reading.
    gathered = shapes["small kernels of embedding"]
    found = fit_law(GatherLaw, timed(gathered, COMMON | {"row_time": 4e-7}), CEILINGS)
    assert (found["compute_share"], found["exposed"]) == (1.0, 0.0)
    softmax, own = next((shapes[name], own) for name, own, _ in MACHINES if "softmax" in name)
    assert fit_law(SoftmaxLaw, timed(softmax, COMMON | own), CEILINGS)["long_share"] == 1.0


def test_one_odd_kernel_does_not_bend_the_fit(shapes: dict[str, KernelFamily]) -> None:
    made = timed(shapes["weight-only products int4"], COMMON)
    first, *rest = made.members
    odd = replace(first, seconds=Spread(*(3 * first.seconds.median,) * 3, 9))
    found = fit_law(ph.Law, replace(made, members=(odd, *rest)), CEILINGS)
    assert found["floor"] == pytest.approx(COMMON["floor"], rel=0.1)
    assert found["bandwidth_share"] == pytest.approx(COMMON["bandwidth_share"], rel=0.05)


def test_the_same_cases_give_the_same_fit(shapes: dict[str, KernelFamily]) -> None:
    family = shapes["rows of softmax"]
    kind = ph.LAWS[family.law]
    assert fit_law(kind, family, CEILINGS) == fit_law(kind, family, CEILINGS)


def test_parameters_have_four_digits(shapes: dict[str, KernelFamily]) -> None:
    found = fit_law(ph.Law, shapes["cache attention"], CEILINGS)
    for value in found.values():
        assert value == float(f"{value:.4g}")


def test_without_scipy_there_is_a_sentence(
    shapes: dict[str, KernelFamily], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ValueError, match=r"needs scipy: install it with pip install"):
        fit_law(ph.Law, shapes["cache attention"], CEILINGS)
