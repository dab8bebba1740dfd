"""Documents and trials that several modules test with."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.measured import load
from mlsys_widgets.measured.recorder import Document
from mlsys_widgets.measured.trial import Trial, hold_trial


@pytest.fixture(scope="session")
def _shipped() -> dict[str, Any]:
    return load("cpu-2core-server")


@pytest.fixture
def document(_shipped: dict[str, Any]) -> dict[str, Any]:
    """A real document, short enough to be mutated many times."""
    short = copy.deepcopy(_shipped)
    short["cases"] = short["cases"][:6]
    return short


@pytest.fixture(scope="session")
def h200() -> Trial:
    """The trial of the H200 that ships; nobody changes its document.

    With the calibration that ships, which test_calibrating holds to the fit: a fit takes a minute
    on a slow machine, and every process of the tests would pay for it.
    """
    return hold_trial(load("h200-sxm"), calibration=ph.calibration_of("h200-sxm"))


@pytest.fixture(scope="session")
def cpu() -> Trial:
    """The trial of the CPU that ships, fitted here; nobody changes its document."""
    pytest.importorskip("scipy")
    return hold_trial(load("cpu-2core-server"))


def is_square(shape: Mapping[str, Any]) -> bool:
    return len({shape[side] for side in ("m", "n", "k")}) == 1


@pytest.fixture(scope="session")
def small_document() -> Document:
    """Square products and copies of the CPU alone: the fewest cases that can be judged."""
    small = copy.deepcopy(load("cpu-2core-server"))
    small["cases"] = [
        case
        for case in small["cases"]
        if case["kind"] in ("copy", "triad", "launch")
        or (case["kind"] == "gemm" and case["precision"] == "fp32" and is_square(case["shape"]))
    ]
    return small
