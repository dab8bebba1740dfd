"""Fits the parameters of the calibrated form to the kernels of a measurement."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets import physics as ph
from mlsys_widgets.measured.kernel_families import KernelFamily

_TRIED: Final = ph.Source("a fit in progress", "", "measured")

#: Lowest, first guess and highest of each parameter; times in shares of the shortest case.
_RANGES: Final[Mapping[str, tuple[float, float, float]]] = {
    "floor": (1e-3, 0.8, 4.0),
    "split_time": (1e-4, 0.3, 1.5),
    "row_time": (1e-4, 0.02, 10.0),
    "column_time": (1e-6, 1e-4, 0.1),
    "bandwidth_share": (0.02, 0.8, 1.0),
    "compute_share": (0.02, 0.65, 1.0),
    "exposed": (1e-4, 0.1, 1.0),
    "half_tile": (0.1, 10.0, 200.0),
    "odd_share": (0.02, 0.7, 1.0),
    "single_row": (0.1, 0.6, 1.0),
    "block_share": (0.05, 0.6, 1.0),
    "long_share": (0.2, 0.7, 1.0),
    "half_width": (0.1, 60.0, 500.0),
    "tile_cost": (1e-3, 1.0, 10.0),
    "tail": (1e-3, 0.5, 2.0),
}
#: How much a parameter that is off its first guess by a factor of e counts, as a relative error:
#: too little to matter where cases say something, enough where they do not.
PULL: Final = 0.02
#: Points from which a fit starts, besides the first guess.
STARTS: Final = 6
_SECONDS: Final = ("floor", "split_time", "row_time", "column_time")
#: What a parameter is when nothing depends on it.
_NEUTRAL: Final = {
    "split_time": 0.0,
    "row_time": 0.0,
    "bandwidth_share": 1.0,
    "compute_share": 1.0,
    "exposed": 0.0,
    "half_tile": 0.1,
    "odd_share": 1.0,
    "single_row": 1.0,
    "block_share": 1.0,
    "long_share": 1.0,
    "half_width": 0.0,
    "tile_cost": 0.0,
    "tail": 0.0,
}


def parameters_of(law: type[ph.Law]) -> tuple[str, ...]:
    """Return the parameters of a law."""
    return tuple(entry.name for entry in fields(law) if entry.name in _RANGES)


def predicted(
    kind: type[ph.Law],
    values: Mapping[str, float],
    family: KernelFamily,
    ceilings: ph.LawCeilings,
) -> NDArray[np.float64]:
    """Return the times that a law with these parameters predicts for the cases of a family."""
    facts = {name: _TRIED.fact(value) for name, value in values.items()}
    law = ph.catalog_entry(kind, family.name, family.name, **facts)
    return np.asarray(law.time(family.kernel, ceilings, family.launches).time)


def fit_law(kind: type[ph.Law], family: KernelFamily, ceilings: ph.LawCeilings) -> dict[str, float]:
    """Fit the parameters of a law to all cases of a family.

    Logarithms of predicted over measured are made small, so that too long and too short weigh the
    same, with a loss that is smooth near zero and linear beyond, so that one odd kernel does not
    bend the whole fit. A parameter on which no case depends is left neutral.
    """
    try:
        from scipy.optimize import least_squares
    except ImportError:
        raise ValueError(
            "judging the model needs scipy: install it with pip install 'mlsys-widgets[ta]'"
        ) from None
    names = parameters_of(kind)
    shortest = float(np.min(family.seconds / family.launches))
    scale = np.array([shortest if name in _SECONDS else 1.0 for name in names])
    low, first, high = (
        np.log(np.array([_RANGES[name][which] for name in names]) * scale) for which in range(3)
    )

    def unpack(point: NDArray[np.float64]) -> dict[str, float]:
        return dict(zip(names, np.exp(point).tolist(), strict=True))

    def residuals(point: NDArray[np.float64]) -> NDArray[np.float64]:
        off = np.log(predicted(kind, unpack(point), family, ceilings) / family.seconds)
        return np.concatenate([off, PULL * (point - first)])

    # Several starts, always the same ones: the residuals have more than one valley.
    chance = np.random.default_rng(15)
    starts = [first, *(first + 0.4 * (bound - first) * chance.random(len(names))
                       for _ in range(STARTS // 2) for bound in (low, high))]  # fmt: skip
    found = min(
        (
            least_squares(residuals, start, bounds=(low, high), loss="soft_l1", f_scale=0.05)
            for start in starts
        ),
        key=lambda each: float(each.cost),
    )
    values = unpack(found.x)
    best = predicted(kind, values, family, ceilings)
    for name in names:
        if name in _NEUTRAL:
            without = values | {name: _NEUTRAL[name]}
            if np.allclose(predicted(kind, without, family, ceilings), best, rtol=1e-4):
                values = without
    return {name: _rounded(value) for name, value in values.items()}


def _rounded(value: float) -> float:
    """Round to four significant digits: no parameter is known better."""
    return 0.0 if value == 0 else round(value, 3 - math.floor(math.log10(abs(value))))
