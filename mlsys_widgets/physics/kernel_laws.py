"""The laws of the calibrated form: how a family of kernels falls short of its ceilings, and why.

A law has a few parameters, each of which stands for something: the floor below which no kernel
finishes, the shares of peak and bandwidth that are reached at best, and the reason why a given size
reaches less. The values come from a measurement of a device (see ``device_calibration``). This
module holds what all laws share and the simplest of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mlsys_widgets.physics.domain import Numeric
from mlsys_widgets.physics.kernel_time import CalibratedTime
from mlsys_widgets.physics.kernels import Kernel
from mlsys_widgets.physics.provenance import CatalogEntry, number
from mlsys_widgets.physics.small_kernels import SmallKernelUse


@dataclass(frozen=True)
class LawCeilings:
    """The best a device could do in one precision.

    Examples
    --------
    How much of an H200's peak is within reach of a product of one row, and of one of 4,096 rows?

    >>> from mlsys_widgets import physics as ph
    >>> h200 = ph.calibration_of("h200-sxm")
    >>> best = ph.LawCeilings(h200.device.peak("fp16"), h200.device.bandwidth, h200.units)
    >>> best.units
    132.0
    >>> law = h200.law("products", "fp16")
    >>> few, many = (law.compute_share_of(ph.product(m, 4096, 4096), best) for m in (1, 4096))
    >>> few < 0.05 < 0.6 < many
    True
    """

    peak: float  #: Peak compute rate (FLOP/s).
    bandwidth: float  #: Memory bandwidth (B/s).
    units: float  #: Multiprocessors, over which tiles and rows are spread.


@dataclass(frozen=True, kw_only=True)
class Law(CatalogEntry):
    """A floor and constant shares of both ceilings.

    The simplest law; subclasses say why a given size reaches less. The laws of a device are in the
    ``laws`` of its ``DeviceCalibration``.

    Examples
    --------
    Suppose a law with a floor of 3 µs and 80% of either ceiling. How long does the attention of one
    token to 2,048 others take on an A100?

    >>> from mlsys_widgets import physics as ph
    >>> guess = ph.Source("a guess", "2026-11", "estimate")
    >>> law = ph.catalog_entry(
    ...     ph.Law,
    ...     "cache attention",
    ...     "cache attention",
    ...     floor=guess.fact(3e-6),
    ...     bandwidth_share=guess.fact(0.8),
    ...     compute_share=guess.fact(0.8),
    ...     exposed=guess.fact(0.0),
    ... )
    >>> a100 = ph.devices["a100-sxm"]
    >>> ceilings = ph.LawCeilings(a100.peak("fp16"), a100.bandwidth, units=108)
    >>> token = ph.attention(1, heads=32, queries=1, keys=2048, head_width=128, kv_heads=8)
    >>> timed = law.time(token, ceilings)
    >>> ph.format_quantity(timed.textbook, "s"), ph.format_quantity(timed.time, "s")
    ('4.2 µs', '8.25 µs')
    """

    floor: float = number("s")  #: Time below which no kernel of the family finishes (s).
    #: ``bandwidth_share``, ``compute_share``: fractions of the bandwidth and of the peak that are
    #: reached at best.
    bandwidth_share: float = number("%")
    compute_share: float = number("%")
    #: Fraction of the shorter of moving and computing that the longer does not hide.
    exposed: float = number("%")

    def time(
        self, kernel: Kernel, ceilings: LawCeilings, launches: Numeric = 1.0
    ) -> CalibratedTime:
        """How long a kernel takes.

        Each of the ``launches``, the kernels that the call runs, pays the floor.
        """
        return CalibratedTime(
            flops=kernel.flops,
            bytes=kernel.bytes,
            peak=ceilings.peak,
            bandwidth=ceilings.bandwidth,
            kernels=launches,
            exposed=self.exposed,
            floor=self.floor_of(kernel, ceilings),
            compute_efficiency=self.compute_share_of(kernel, ceilings),
            bandwidth_efficiency=self.bandwidth_share_of(kernel, ceilings),
        )

    def floor_of(self, kernel: Any, ceilings: LawCeilings) -> Numeric:
        """Seconds below which this kernel does not finish."""
        return self.floor

    def compute_share_of(self, kernel: Any, ceilings: LawCeilings) -> Numeric:
        """Fraction of the peak that a kernel of this size reaches."""
        return self.compute_share

    def bandwidth_share_of(self, kernel: Any, ceilings: LawCeilings) -> Numeric:
        """Fraction of the bandwidth that a kernel of this size reaches."""
        return self.bandwidth_share


@dataclass(frozen=True, kw_only=True)
class SmallLaw(Law):
    """Kernels that visit every element: a single row lies in one piece and finishes sooner."""

    #: Fraction of the floor that a single row takes.
    single_row: float = number("%")

    def floor_of(self, kernel: SmallKernelUse, ceilings: LawCeilings) -> Numeric:
        """The floor; lower for a single row."""
        return chosen(kernel.rows <= 1, self.floor * self.single_row, self.floor)


def chosen(condition: Any, yes: Numeric, no: Numeric) -> Numeric:
    """One of two numbers, for single cases and arrays alike."""
    if isinstance(condition, np.ndarray):
        return np.where(condition, yes, no)
    return yes if condition else no
