"""The roofline: what a kernel of some intensity can attain on a machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets.physics.domain import POSITIVE, Numeric, lesser
from mlsys_widgets.physics.result import Result, derived, given

Regime = Literal["memory-bound", "compute-bound"]
MEMORY_BOUND: Final = "memory-bound"
COMPUTE_BOUND: Final = "compute-bound"


@dataclass(frozen=True, repr=False)
class Ridge(Result):
    """The corner of a roofline, where the two roofs meet.

    ``Device.ridge`` returns the ridge point alone.

    Examples
    --------
    How many operations per byte must a kernel do to keep an H100 busy, and what if its memory were
    as fast as an H200's?

    >>> from dataclasses import replace
    >>> from mlsys_widgets import physics as ph
    >>> h100, h200 = ph.devices["h100-sxm"], ph.devices["h200-sxm"]
    >>> corner = ph.Ridge(peak=h100.peak("fp16"), bandwidth=h100.bandwidth)
    >>> round(corner.ridge), round(replace(corner, bandwidth=h200.bandwidth).ridge)
    (295, 206)
    """

    peak: Numeric = given("P", "FLOP/s", "peak compute rate", POSITIVE)
    bandwidth: Numeric = given("B", "B/s", "memory bandwidth", POSITIVE)

    @derived("I*", "FLOP/B")
    def ridge(self) -> Numeric:
        """Ridge point."""
        return self.peak / self.bandwidth


@dataclass(frozen=True, repr=False)
class Roofline(Ridge):
    """The rate that the roofline allows one kernel.

    ``roofline`` builds one.

    Examples
    --------
    Is ResNet-50 bound by memory on an A100, and what fraction of the peak could it ever reach?

    >>> from mlsys_widgets import physics as ph
    >>> a100, net = ph.devices["a100-sxm"], ph.workloads["resnet50"]
    >>> best = ph.roofline(net.intensity, a100.peak("fp16"), a100.bandwidth)
    >>> best.regime, ph.format_quantity(best.mfu, "%")
    ('memory-bound', '5.13%')
    >>> ph.format_quantity(best.attainable, "FLOP/s"), ph.format_quantity(best.ridge, "FLOP/B")
    ('16 TFLOPS', '156 FLOP/B')
    >>> best.memory_bound
    True
    """

    intensity: Numeric = given("I", "FLOP/B", "arithmetic intensity", POSITIVE)

    @derived("A", "FLOP/s")
    def attainable(self) -> Numeric:
        """Attainable rate."""
        return lesser(self.peak, self.bandwidth * self.intensity)

    @derived("MFU", "%")
    def mfu(self) -> Numeric:
        """Fraction of the peak that is attainable."""
        return self.attainable / self.peak

    @derived("memory-bound", "")
    def memory_bound(self) -> bool | NDArray[np.bool_]:
        """Memory-bound if the intensity lies left of the ridge."""
        return self.intensity < self.ridge

    @property
    def regime(self) -> Regime | NDArray[np.str_]:
        """The regime in words, one for each case."""
        if isinstance(self.memory_bound, bool):
            return MEMORY_BOUND if self.memory_bound else COMPUTE_BOUND
        return np.where(self.memory_bound, MEMORY_BOUND, COMPUTE_BOUND)


def roofline(intensity: Numeric, peak: Numeric, bandwidth: Numeric) -> Roofline:
    """Attainable rate, ridge, regime and MFU of a kernel on a machine.

    ``intensity`` in FLOP/B, ``peak`` in FLOP/s, ``bandwidth`` in B/s.

    Examples
    --------
    >>> from mlsys_widgets import physics as ph
    >>> h100, kernel = ph.devices["h100-sxm"], ph.gemm(512, 512, 512, bytes_per_element=2)
    >>> r = ph.roofline(kernel.intensity, peak=h100.peak("fp16"), bandwidth=h100.bandwidth)
    >>> round(r.attainable / 1e12, 1), r.regime, round(r.mfu, 3)
    (571.7, 'memory-bound', 0.578)
    >>> print(r.derivation("mfu"))
    W = 2 × M × N × K = 2 × 512 × 512 × 512 = 268.4 MFLOP   (operations)
    Q = b × (M × N + N × K + M × K) = 2 B × (512 × 512 + 512 × 512 + 512 × 512) = 1.57 MB   (data \
moved)
    I = W / Q = 268.4 MFLOP / 1.57 MB = 170.7 FLOP/B   (arithmetic intensity)
    A = min(P, B × I) = min(989 TFLOPS, 3.35 TB/s × 170.7 FLOP/B) = 571.7 TFLOPS   (attainable rate)
    MFU = A / P = 571.7 TFLOPS / 989 TFLOPS = 57.8%   (fraction of the peak that is attainable)
    """
    return Roofline(peak=peak, bandwidth=bandwidth, intensity=intensity)
