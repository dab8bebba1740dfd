"""How long one kernel takes: the textbook form, and the form that real hardware follows.

The textbook divides work by peak and data by bandwidth and takes the longer. Real kernels also
have a floor below which no launch finishes, reach only a fraction of either ceiling, and run in
waves: work that does not fill the last wave leaves multiprocessors idle. Without a floor and with
full efficiencies, which is the default, this is the textbook form.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlsys_widgets.physics.domain import (
    AT_LEAST_ONE,
    FRACTION,
    NON_NEGATIVE,
    POSITIVE,
    SHARE,
    Numeric,
    greater,
    lesser,
    round_up,
)
from mlsys_widgets.physics.result import Result, derived, given


@dataclass(frozen=True, repr=False)
class KernelTime(Result):
    """One call on a device, without its launches."""

    flops: Numeric = given("W", "FLOP", "operations", NON_NEGATIVE)
    bytes: Numeric = given("Q", "B", "data moved", POSITIVE)
    peak: Numeric = given("P", "FLOP/s", "peak compute rate", POSITIVE)
    bandwidth: Numeric = given("B", "B/s", "memory bandwidth", POSITIVE)
    floor: Numeric = given("t_floor", "s", "time of a kernel that does nothing", NON_NEGATIVE, 0.0)
    kernels: Numeric = given("k", "", "kernels of the call", AT_LEAST_ONE, 1.0)
    compute_efficiency: Numeric = given("η_P", "%", "fraction of the peak reached", SHARE, 1.0)
    bandwidth_efficiency: Numeric = given("η_B", "%", "fraction of the bandwidth", SHARE, 1.0)

    @derived("t_textbook", "s")
    def textbook(self) -> Numeric:
        """Time by the roofline alone."""
        return greater(self.bytes / self.bandwidth, self.flops / self.peak)

    @derived("t_memory", "s")
    def memory_time(self) -> Numeric:
        """Time to move the data."""
        return self.bytes / (self.bandwidth * self.bandwidth_efficiency)

    @derived("t_compute", "s")
    def compute_time(self) -> Numeric:
        """Time to compute."""
        return self.flops / (self.peak * self.compute_efficiency)

    @derived("t", "s")
    def time(self) -> Numeric:
        """Time of the call."""
        return self.kernels * self.floor + greater(self.memory_time, self.compute_time)

    @derived("A", "FLOP/s")
    def attained(self) -> Numeric:
        """Rate attained."""
        return self.flops / self.time

    @derived("share", "%")
    def roof_share(self) -> Numeric:
        """Fraction of the roof that is reached."""
        return self.textbook / self.time


@dataclass(frozen=True, repr=False)
class CalibratedTime(KernelTime):
    """A call whose shorter term is not hidden completely behind the longer one."""

    exposed: Numeric = given("ω", "%", "fraction of the shorter term not hidden", FRACTION, 0.0)

    @derived("t", "s")
    def time(self) -> Numeric:
        """Time of the call."""
        return (
            self.kernels * self.floor
            + greater(self.memory_time, self.compute_time)
            + self.exposed * lesser(self.memory_time, self.compute_time)
        )


@dataclass(frozen=True, repr=False)
class Waves(Result):
    """A matrix product cut into tiles that the multiprocessors compute in waves."""

    m: Numeric = given("M", "", "rows of the result", AT_LEAST_ONE)
    n: Numeric = given("N", "", "columns of the result", AT_LEAST_ONE)
    units: Numeric = given("U", "", "multiprocessors", AT_LEAST_ONE)
    tile: Numeric = given("a", "", "side of a square tile", AT_LEAST_ONE, 128.0)

    @derived("tiles", "")
    def tiles(self) -> Numeric:
        """Tiles of the result."""
        return round_up(self.m / self.tile) * round_up(self.n / self.tile)

    @derived("waves", "")
    def waves(self) -> Numeric:
        """Waves in which the tiles are computed."""
        return round_up(self.tiles / self.units)

    @derived("η_waves", "%")
    def efficiency(self) -> Numeric:
        """Fraction of the tile slots that hold results."""
        return self.m * self.n / (self.waves * self.units * self.tile**2)


def kernel_time(
    flops: Numeric,
    bytes: Numeric,
    peak: Numeric,
    bandwidth: Numeric,
    *,
    floor: Numeric = 0.0,
    kernels: Numeric = 1.0,
    compute_efficiency: Numeric = 1.0,
    bandwidth_efficiency: Numeric = 1.0,
) -> KernelTime:
    """The time of one call on a device.

    Parameters
    ----------
    flops, bytes
        What the call does.
    peak, bandwidth
        What the device can do.
    floor, kernels
        Seconds that even an empty kernel takes, and how many kernels the call runs.
    compute_efficiency, bandwidth_efficiency
        Fractions of either ceiling that are reached in practice. With 1 and no floor this is the
        textbook form, which ``.textbook`` always gives.

    Examples
    --------
    >>> real = kernel_time(2**31, 6 * 2**20, 989e12, 4.8e12, floor=3e-6, compute_efficiency=0.65)
    >>> round(real.textbook * 1e6, 1), round(real.time * 1e6, 1)  # microseconds
    (2.2, 6.3)
    """
    return KernelTime(
        flops=flops,
        bytes=bytes,
        peak=peak,
        bandwidth=bandwidth,
        floor=floor,
        kernels=kernels,
        compute_efficiency=compute_efficiency,
        bandwidth_efficiency=bandwidth_efficiency,
    )


def waves(m: Numeric, n: Numeric, units: Numeric, tile: Numeric = 128) -> Waves:
    """How well a matrix product fills the multiprocessors of a device.

    Examples
    --------
    >>> full, ragged = waves(2048, 2048, units=132), waves(2304, 2304, units=132)
    >>> round(full.efficiency, 2), round(ragged.efficiency, 2)
    (0.97, 0.82)
    """
    return Waves(m=m, n=n, units=units, tile=tile)
