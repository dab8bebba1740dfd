"""The calibration that ships: what the fit gives, from the cases that are fitted and no others."""

from __future__ import annotations

import copy
import json
from importlib import resources
from typing import Any

import pytest

from mlsys_widgets import measured
from mlsys_widgets import physics as ph
from mlsys_widgets.measured import calibrating
from mlsys_widgets.measured.calibrating import (
    LEAST,
    calibrate,
    device_of,
    fitted_launches,
    fitted_positions,
    usable,
    waiting_for_host,
)
from mlsys_widgets.measured.kernel_families import families
from mlsys_widgets.measured.power_fitting import is_fitted
from mlsys_widgets.measured.queries import cases
from mlsys_widgets.measured.recorder import Document

pytest.importorskip("scipy")


@pytest.fixture(scope="module")
def document() -> Document:
    return measured.load("h200-sxm")


@pytest.fixture(scope="module")
def found(document: Document) -> dict[str, Any]:
    return calibrate(document)


def test_what_ships_is_what_the_fit_gives(found: dict[str, Any]) -> None:
    """If this fails, run ``mlsys calibrate h200-sxm --out`` on the file; nobody edits it."""
    folder = resources.files("mlsys_widgets.physics").joinpath("calibrations")
    shipped = json.loads(folder.joinpath("h200-sxm.json").read_text("utf-8"))
    assert set(shipped) == set(found)
    for key in ("device", "source", "date", "units"):
        assert shipped[key] == found[key], key
    for key in ("launch", "training_launch"):
        assert shipped[key] == pytest.approx(found[key], rel=1e-3), key
    assert shipped["power"]["cases"] == found["power"]["cases"]
    assert shipped["power"]["parameters"] == pytest.approx(found["power"]["parameters"], rel=1e-3)
    assert list(shipped["laws"]) == list(found["laws"])
    for name, entry in shipped["laws"].items():
        fitted = found["laws"][name]
        assert {**entry, "parameters": 0} == {**fitted, "parameters": 0}, name
        assert entry["parameters"] == pytest.approx(fitted["parameters"], rel=1e-3), name


def labels_of_fitted(document: Document) -> set[str]:
    device = device_of(document)
    single = {
        family.members[position].label
        for family in families(document)
        if usable(family, device)
        for position in fitted_positions(len(family.members))
    }
    limit = device.power or 0.0
    power = {case.label for case in cases(document, kind="energy") if is_fitted(case, limit)}
    return single | power | {case.label for case in fitted_launches(document, fitted_positions)}


def slowed(document: Document, *, fitted: bool) -> tuple[Document, int]:
    """The document with ten times the times of its fitted or of its other cases."""
    changed, labels, count = copy.deepcopy(document), labels_of_fitted(document), 0
    for entry, case in zip(changed["cases"], cases(document), strict=True):
        if (case.label in labels) == fitted:
            count += 1
            for spread in (entry["seconds"], entry.get("enqueue")):
                for key in ("median", "q25", "q75") if spread else ():
                    spread[key] *= 10
    return changed, count


@pytest.fixture
def _seconds_for_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of a fit, give back what it would see: a fit takes a minute on a slow machine."""
    seen: Any = lambda law, family, ceilings: {"seconds": family.seconds.tolist()}  # noqa: E731
    monkeypatch.setattr(calibrating, "fit_law", seen)


@pytest.mark.usefixtures("_seconds_for_parameters")
def test_judged_cases_never_influence_the_fit(document: Document) -> None:
    changed, count = slowed(document, fitted=False)
    assert count > len(document["cases"]) / 2
    assert calibrate(changed) == calibrate(document)


@pytest.mark.usefixtures("_seconds_for_parameters")
def test_fitted_cases_do_influence_it(document: Document) -> None:
    changed, count = slowed(document, fitted=True)
    assert count > 100
    before, after = calibrate(document), calibrate(changed)
    assert after["launch"] == pytest.approx(10 * before["launch"])
    for name, law in before["laws"].items():
        seconds = [10 * each for each in law["parameters"]["seconds"]]
        assert after["laws"][name]["parameters"]["seconds"] == pytest.approx(seconds)
    # The same power over ten times the time: each byte and each operation took ten times as much.
    for name in ("byte_energy", "flop_energy"):
        power = (found["power"]["parameters"][name] for found in (after, before))
        assert next(power) == pytest.approx(10 * next(power), rel=1e-3)


def test_every_parameter_says_from_which_cases_it_comes(
    document: Document, found: dict[str, Any]
) -> None:
    sections = {entry["section"] for entry in document["cases"]}
    for name, entry in found["laws"].items():
        family = next(family for family in families(document) if family.name == name)
        assert entry["cases"] == len(fitted_positions(len(family.members))) >= LEAST / 2
        assert set(entry["from"].split(", ")) <= sections
    origins = [origin for *_, origin in ph.read_calibration(found).facts()]
    assert {origin.kind for origin in origins} == {"measured"}
    assert all(origin.note for origin in origins)


def test_half_of_the_cases_are_fitted() -> None:
    for count in range(1, 40):
        positions = fitted_positions(count)
        assert positions[0] == 0
        assert len(positions) == (count + 1) // 2


def test_the_cost_of_a_launch_comes_from_what_waits_for_the_host(
    document: Document, found: dict[str, Any]
) -> None:
    waiting = waiting_for_host(document, "layer", "serving", "training")
    assert waiting
    assert all(case.variant == "eager" for case in waiting)
    assert {case.label for case in fitted_launches(document, fitted_positions)} < {
        case.label for case in waiting
    }
    # Recording gradients takes the host longer.
    assert 1e-6 < found["launch"] < found["training_launch"] < 1e-4


def test_a_device_without_a_datasheet_has_the_best_of_its_measurement(document: Document) -> None:
    other = copy.deepcopy(document)
    other["device"]["key"] = "another-gpu"
    device, best = device_of(other), measured.ceilings(other)
    assert device.bandwidth == best.bandwidth
    assert {precision: device.peak(precision) for precision in device.precisions} == best.peaks
    assert device.provenance["bandwidth"].source == "the best of this measurement"


@pytest.mark.parametrize("kind", ["gemm", "copy"])
def test_a_document_without_a_roof_is_refused(small_document: Document, kind: str) -> None:
    document = copy.deepcopy(small_document)
    document["device"]["key"] = "mine"
    left = ("copy", "triad") if kind == "copy" else (kind,)
    document["cases"] = [case for case in document["cases"] if case["kind"] not in left]
    with pytest.raises(ValueError, match=r"mine: .* measure the sections copy and gemm"):
        calibrate(document)
