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
    """What a device could do at best in one precision."""

    peak: float
    bandwidth: float
    units: float


@dataclass(frozen=True, kw_only=True)
class Law(CatalogEntry):
    """A floor and constant shares of both ceilings."""

    floor: float = number("s")
    bandwidth_share: float = number("%")
    compute_share: float = number("%")
    #: Fraction of the shorter of moving and computing that the longer does not hide.
    exposed: float = number("%")

    def time(
        self, kernel: Kernel, ceilings: LawCeilings, launches: Numeric = 1.0
    ) -> CalibratedTime:
        """How long a kernel takes."""
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
