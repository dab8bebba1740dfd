"""What the power of a card depends on: fitted to the listed cases of section `energy`.

Its power at rest is measured as it is. What a byte and an operation cost is fitted to the steps
that the card ran without holding itself back. Those that were drawn, and those that wait for the
host, are never fitted: the law is judged on them.
"""

from __future__ import annotations

import statistics
from typing import Any, Final

import numpy as np

from mlsys_widgets import physics as ph
from mlsys_widgets.measured.queries import Case, cases
from mlsys_widgets.measured.recorder import Document

#: The share of its limit from which a card may be slowing its clocks.
HELD_BACK: Final = 0.97
#: The fewest cases that two parameters are fitted to.
LEAST: Final = 4
SERVING: Final = ("decode", "prefill")


def work_of(case: Case) -> tuple[float, float]:
    """Return the bytes and the operations of a case: of a step, those of its kernels."""
    shape = case.shape
    if shape["work"] not in SERVING:
        return case.bytes or 0.0, case.flops or 0.0
    model = ph.language_model(str(shape["model"]))
    phase: Any = shape["work"]
    uses = ph.model_kernels(
        model, phase, float(shape["batch"]), float(shape["sequence"]), case.precision or "fp16"
    )
    moved = sum(float(use.times * use.kernel.bytes) for use in uses)
    return moved, sum(float(use.times * use.kernel.flops) for use in uses)


def is_fitted(case: Case, limit: float) -> bool:
    """Whether the law is fitted to a case: listed, recorded, and not at the card's limit."""
    return (
        case.variant == "graph"
        and not case.shape.get("drawn")
        and case.energy is not None
        and case.energy["watts"] < HELD_BACK * limit
    )


def fit_power(document: Document, device: ph.Device) -> dict[str, Any]:
    """Return what a calibration says of power; nothing if too little of it was measured."""
    measured = [case for case in cases(document, kind="energy") if case.energy]
    resting = [case.energy["watts"] for case in measured if case.variant == "idle" and case.energy]
    highest = max((case.energy["watts"] for case in measured if case.energy), default=0.0)
    limit = device.power or highest
    fitted = [case for case in measured if is_fitted(case, limit)]
    if not resting or len(fitted) < LEAST:
        return {}
    idle = statistics.mean(resting)
    watts = np.array([case.energy["watts"] for case in fitted if case.energy])
    seconds = np.array([case.seconds.median for case in fitted])
    rates = np.array([work_of(case) for case in fitted]) / seconds[:, None]
    # Relative errors, so that a step of 500 W counts as much as one of 700 W.
    found, *_ = np.linalg.lstsq(rates / watts[:, None], (watts - idle) / watts, rcond=None)
    names = ("byte_energy", "flop_energy")
    energies = {
        name: float(f"{max(0.0, each):.4g}") for name, each in zip(names, found, strict=True)
    }
    return {
        "power": {
            "cases": len(fitted),
            "from": "energy",
            "parameters": {"idle": float(f"{idle:.4g}"), **energies, "limit": limit},
        }
    }
