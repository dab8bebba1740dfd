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
    """One call on a device, without its launches.

    ``kernel_time`` builds one. Without a floor and with full efficiencies ``time`` is ``textbook``.
    """

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
    """A call whose shorter term is not hidden completely behind the longer one.

    ``DeviceCalibration.time`` builds one, with everything that the law of the family says.

    Examples
    --------
    What stands between a product of 4,096 by 4,096 and the roof of an H200?

    >>> from mlsys_widgets import physics as ph
    >>> h200 = ph.calibration_of("h200-sxm")
    >>> real = h200.time(ph.product(4096, 4096, 4096), "products")
    >>> real.textbook < real.compute_time < real.time
    True
    >>> round(real.compute_efficiency, 1), round(real.exposed, 1), real.floor < 5e-6
    (0.7, 0.2, True)
    """

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
    """A matrix product cut into tiles that the multiprocessors compute in waves.

    ``waves`` builds one.
    """

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
    flops, bytes : float or array
        What the call does: operations in FLOP, data moved in bytes.
    peak : float or array, FLOP/s
        Peak rate of the device.
    bandwidth : float or array, B/s
        Its memory bandwidth.
    floor : float or array, s
        Time that even an empty kernel takes.
    kernels : float or array
        Kernels that the call runs.
    compute_efficiency, bandwidth_efficiency : float or array
        Fractions of either ceiling that are reached in practice. With 1 and no floor this is the
        textbook form, which ``.textbook`` always gives.

    Examples
    --------
    A layer norm over 1,024 rows of 768 on an H200, with a floor of 3 µs: how far from its roof?

    >>> from mlsys_widgets import physics as ph
    >>> norm, h200 = ph.elementwise(1024 * 768), ph.devices["h200-sxm"]
    >>> real = ph.kernel_time(norm.flops, norm.bytes, h200.peak("fp16"), h200.bandwidth, floor=3e-6)
    >>> ph.format_quantity(real.textbook, "s"), ph.format_quantity(real.time, "s")
    ('983 ns', '3.98 µs')
    >>> ph.format_quantity(real.roof_share, "%"), ph.format_quantity(real.attained, "FLOP/s")
    ('24.7%', '987.2 GFLOPS')
    >>> print(real.derivation("memory_time"))
    Q = p × b × n × f = 3 × 2 B × 786,432 × 100% = 4.72 MB   (data moved)
    t_memory = Q / (B × η_B) = 4.72 MB / (4.8 TB/s × 100%) = 983 ns   (time to move the data)
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

    Parameters
    ----------
    m, n : float or array
        Rows and columns of the result.
    units : float or array
        Multiprocessors.
    tile : float or array
        Side of a square tile.

    Examples
    --------
    Why is a product of 2,304 slower per operation than one of 2,048 on 132 multiprocessors?

    >>> from mlsys_widgets import physics as ph
    >>> ragged = ph.waves(2304, 2304, units=132)
    >>> print(ragged.derivation())
    tiles = ⌈M / a⌉ × ⌈N / a⌉ = ⌈2,304 / 128⌉ × ⌈2,304 / 128⌉ = 324   (tiles of the result)
    waves = ⌈tiles / U⌉ = ⌈324 / 132⌉ = 3   (waves in which the tiles are computed)
    η_waves = M × N / (waves × U × a²) = 2,304 × 2,304 / (3 × 132 × 128²) = 81.8%   (fraction of \
the tile slots that hold results)
    """
    return Waves(m=m, n=n, units=units, tile=tile)
