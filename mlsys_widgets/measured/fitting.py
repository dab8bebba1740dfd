"""Fits the floor and the achievable fractions of a device's ceilings to measured kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets import physics as ph
from mlsys_widgets.measured.queries import Case

_SMALLEST_FRACTION = 0.02


@dataclass(frozen=True)
class Ceiling:
    """The most a device can do in one precision."""

    peak: float
    bandwidth: float
    units: int


@dataclass(frozen=True)
class Fit:
    """Parameters of the extended kernel model."""

    floor: float
    compute_efficiency: float
    bandwidth_efficiency: float
    waves: bool

    def kernel_time(self, case: Case, ceiling: Ceiling) -> ph.KernelTime:
        """The time that the model predicts for a case."""
        share = self.compute_efficiency
        if self.waves:
            share *= _wave_efficiency(case, ceiling)
        return ph.kernel_time(
            case.flops or 0.0,
            case.bytes or 0.0,
            ceiling.peak,
            ceiling.bandwidth,
            floor=self.floor,
            kernels=case.kernels or 1,
            compute_efficiency=share,
            bandwidth_efficiency=self.bandwidth_efficiency,
        )

    def __str__(self) -> str:
        parts = [f"floor {ph.format_quantity(self.floor, 's')}"]
        if self.bandwidth_efficiency < 1:
            parts.append(f"{ph.format_quantity(self.bandwidth_efficiency, '%')} of the bandwidth")
        if self.compute_efficiency < 1:
            parts.append(f"{ph.format_quantity(self.compute_efficiency, '%')} of the peak")
        return ", ".join([*parts, *(["waves of tiles"] if self.waves else [])])


def _wave_efficiency(case: Case, ceiling: Ceiling) -> float:
    return float(ph.waves(float(case.shape["m"]), float(case.shape["n"]), ceiling.units).efficiency)


def fit_kernel(members: Sequence[Case], ceiling: Ceiling, *, waves: bool = False) -> Fit:
    """Fit the extended model to measured kernels.

    With ``waves``, the model with wave quantization is tried as well and kept if it describes
    these cases better.
    """
    plain = _solve(members, ceiling, waves=False)
    if not waves or ceiling.units <= 1:
        return plain
    quantized = _solve(members, ceiling, waves=True)
    return min(plain, quantized, key=lambda fit: _loss(fit, members, ceiling))


def _loss(fit: Fit, members: Sequence[Case], ceiling: Ceiling) -> float:
    return float(np.sum(np.abs(_residuals(fit, members, ceiling))))


def _residuals(fit: Fit, members: Sequence[Case], ceiling: Ceiling) -> NDArray[np.float64]:
    """Logarithms of modeled over measured, so that too long and too short weigh the same."""
    pairs = [(fit.kernel_time(case, ceiling).time, case.seconds.median) for case in members]
    return np.array([math.log(modeled / measured) for modeled, measured in pairs])


def _solve(members: Sequence[Case], ceiling: Ceiling, *, waves: bool) -> Fit:
    try:
        from scipy.optimize import least_squares
    except ImportError:
        raise ValueError(
            "judging the model needs scipy: install it with pip install 'mlsys-widgets[ta]'"
        ) from None
    shortest = min(case.seconds.median for case in members)

    def unpack(point: NDArray[np.float64]) -> Fit:
        floor, compute, bandwidth = (float(math.exp(value)) for value in point)
        return Fit(floor, min(compute, 1.0), min(bandwidth, 1.0), waves)

    def residuals(point: NDArray[np.float64]) -> NDArray[np.float64]:
        return _residuals(unpack(point), members, ceiling)

    low = [math.log(shortest / 1e3), math.log(_SMALLEST_FRACTION), math.log(_SMALLEST_FRACTION)]
    high = [math.log(shortest * 2), 0.0, 0.0]
    start = [math.log(shortest / 2), math.log(0.6), math.log(0.8)]
    # An absolute loss, smooth near zero: one odd kernel must not bend the whole fit.
    found = least_squares(
        residuals,
        start,
        bounds=(low, high),
        loss="soft_l1",
        f_scale=0.05,
    )
    return _without_idle_fractions(unpack(found.x), members, ceiling)


def _without_idle_fractions(fit: Fit, members: Sequence[Case], ceiling: Ceiling) -> Fit:
    """Reset a fraction to 1 if no case depends on it, because the fit says nothing about it."""
    timed = [fit.kernel_time(case, ceiling) for case in members]
    if all(t.memory_time >= t.compute_time for t in timed):
        fit = replace(fit, compute_efficiency=1.0)
    if all(t.compute_time >= t.memory_time for t in timed):
        fit = replace(fit, bandwidth_efficiency=1.0)
    return fit
