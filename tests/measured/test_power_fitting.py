"""What power depends on: found again where it is known, and judged on what was not fitted."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.measured import cases, load
from mlsys_widgets.measured.power_fitting import fit_power, is_fitted, work_of
from mlsys_widgets.measured.trial import ENERGY, POWER, Errors, Trial

H200 = ph.devices["h200-sxm"]


@pytest.fixture
def document() -> dict[str, Any]:
    whole = load("h200-sxm")
    whole["cases"] = [case for case in whole["cases"] if case["section"] == "energy"]
    return whole


def test_known_energies_are_found_again(document: dict[str, Any]) -> None:
    """Watts that follow the law exactly, up to the limit, give back its parameters."""
    idle, byte, flop = 100.0, 120e-12, 0.8e-12
    made = copy.deepcopy(document)
    for entry, case in zip(made["cases"], cases(document), strict=True):
        moved, computed = work_of(case) if case.variant != "idle" else (0.0, 0.0)
        watts = idle + (byte * moved + flop * computed) / case.seconds.median
        entry["energy"]["watts"] = min(H200.power, watts)
    found = fit_power(made, H200)["power"]["parameters"]
    assert found == pytest.approx(
        {"idle": idle, "byte_energy": byte, "flop_energy": flop, "limit": H200.power}, rel=1e-3
    )


def test_drawn_steps_launched_ones_and_those_at_the_limit_are_not_fitted(
    document: dict[str, Any],
) -> None:
    fitted = [case for case in cases(document, kind="energy") if is_fitted(case, 700.0)]
    assert fitted
    for case in fitted:
        assert case.variant == "graph"
        assert not case.shape.get("drawn")
        assert case.energy is not None
        assert case.energy["watts"] < 680.0
    assert fit_power(document, H200)["power"]["cases"] == len(fitted)


def test_too_little_measured_gives_no_law(document: dict[str, Any]) -> None:
    without = copy.deepcopy(document)
    without["cases"] = [case for case in without["cases"] if case["variant"] != "idle"]
    assert fit_power(without, H200) == {}
    few = copy.deepcopy(document)
    few["cases"] = few["cases"][:4]
    assert fit_power(few, H200) == {}
    assert fit_power(load("cpu-2core-server"), ph.devices["cortex-m7"]) == {}


def test_a_step_moves_what_its_kernels_move(document: dict[str, Any]) -> None:
    step = next(case for case in cases(document, kind="energy") if case.shape["work"] == "decode")
    moved, computed = work_of(step)
    # Beside the weights and the cache, which the document counts, only activations.
    assert 1.0 < moved / (step.bytes or 0.0) < 1.05
    assert computed == pytest.approx(step.flops, rel=0.02)
    copied = next(case for case in cases(document, kind="energy") if case.shape["work"] == "copy")
    assert work_of(copied) == (copied.bytes, 0.0)


def test_power_and_energy_are_judged_on_unseen_cases(h200: Trial) -> None:
    topics = {topic.name: topic for topic in h200.topics}
    power, energy = topics[POWER], topics[ENERGY]
    drawn = [verdict for verdict in power.verdicts if verdict.case.shape.get("drawn")]
    assert len(drawn) == 12
    assert not any(verdict.fitted for verdict in drawn)
    assert Errors.of(power.judged).mean < 0.08
    assert {verdict.unit for verdict in power.verdicts} == {"W"}
    assert {verdict.unit for verdict in energy.verdicts} == {"J"}
    goals = {goal.what: goal for goal in h200.goals}
    assert goals[f"{POWER}, mean"].limit == 0.08
    # A card that waits for the host does not draw what its datasheet allows.
    waiting = [verdict for verdict in power.verdicts if verdict.case.variant == "eager"]
    assert all(verdict.textbook_error > 0.3 for verdict in waiting)


def test_energy_is_measured_as_the_document_says() -> None:
    for case in cases("h200-sxm", kind="energy"):
        assert case.energy is not None
        assert case.energy["held"] >= 3.0
        calls = case.energy["held"] / (case.energy["joules"] / case.energy["watts"])
        assert calls == pytest.approx(round(calls), abs=1e-3)
        # The driver's own average over a second says the same, but for what it lags behind.
        assert case.energy["reported_watts"] == pytest.approx(case.energy["watts"], rel=0.05)
