"""The machine of a roofline: a device as it is, or with another peak or bandwidth."""

from __future__ import annotations

from dataclasses import dataclass

from mlsys_widgets import physics as ph
from mlsys_widgets.physics.domain import POSITIVE, Numeric, lesser
from mlsys_widgets.physics.result import Result, derived, given

_show = ph.format_quantity


@dataclass(frozen=True, repr=False)
class ScaledPeak(Result):
    """A peak as a multiple of the device's."""

    device_peak: Numeric = given("P_device", "FLOP/s", "peak of the device", POSITIVE)
    share: Numeric = given("x_P", "", "multiple of the peak", POSITIVE)

    @derived("P", "FLOP/s")
    def peak(self) -> Numeric:
        """Peak compute rate."""
        return self.share * self.device_peak


@dataclass(frozen=True, repr=False)
class ScaledIntegerPeak(ScaledPeak):
    """The same for integers, whose operations are not floating-point."""

    device_peak: Numeric = given("P_device", "OP/s", "peak of the device", POSITIVE)

    @derived("P", "OP/s")
    def peak(self) -> Numeric:
        """Peak compute rate."""
        return self.share * self.device_peak


@dataclass(frozen=True, repr=False)
class ScaledBandwidth(Result):
    """A bandwidth as a multiple of the device's."""

    device_bandwidth: Numeric = given("B_device", "B/s", "bandwidth of the device", POSITIVE)
    share: Numeric = given("x_B", "", "multiple of the bandwidth", POSITIVE)

    @derived("B", "B/s")
    def bandwidth(self) -> Numeric:
        """Memory bandwidth."""
        return self.share * self.device_bandwidth


@dataclass(frozen=True, repr=False)
class IntegerRoofline(ph.Roofline):
    """A roofline whose rates are operations per second, not floating-point operations."""

    peak: Numeric = given("P", "OP/s", "peak compute rate", POSITIVE)

    @derived("A", "OP/s")
    def attainable(self) -> Numeric:
        """Attainable rate."""
        return lesser(self.peak, self.bandwidth * self.intensity)


def is_integer(precision: str) -> bool:
    """Whether rates of a precision are OPS, not FLOPS."""
    return precision.startswith("int")


def rate(value: float, precision: str, *, pad: bool = False) -> str:
    """A rate as people read it: TFLOPS, or TOPS for integers.

    Examples
    --------
    >>> rate(571.7e12, "fp16"), rate(571.7e12, "int8")
    ('571.7 TFLOPS', '571.7 TOPS')
    """
    return _show(value, "OP/s" if is_integer(precision) else "FLOP/s", pad=pad)


@dataclass(frozen=True)
class Machine:
    """A device at one precision, its peak and bandwidth multiplied by what somebody asks for."""

    device: ph.Device
    precision: str
    sparse: bool = False
    peak_share: float = 1.0
    bandwidth_share: float = 1.0

    @property
    def device_peak(self) -> float:
        """The peak that the device has."""
        return self.device.peak(self.precision, self.sparse)

    @property
    def peak(self) -> float:
        """The peak; where it is not the device's, it explains itself."""
        if self.peak_share == 1:
            return self.device_peak
        kind = ScaledIntegerPeak if is_integer(self.precision) else ScaledPeak
        return kind(device_peak=self.device_peak, share=self.peak_share).peak  # type: ignore[return-value]

    @property
    def bandwidth(self) -> float:
        """The bandwidth; where it is not the device's, it explains itself."""
        own = self.device.bandwidth
        if self.bandwidth_share == 1:
            return own
        return ScaledBandwidth(device_bandwidth=own, share=self.bandwidth_share).bandwidth  # type: ignore[return-value]

    @property
    def real(self) -> bool:
        """Whether it is the device as it is."""
        return self.peak_share == self.bandwidth_share == 1

    @property
    def name(self) -> str:
        """The device, with what is different about it.

        Examples
        --------
        >>> Machine(ph.devices["h100-sxm"], "fp16", bandwidth_share=2).name
        'H100 SXM with 2× its bandwidth'
        """
        shares = {"peak": self.peak_share, "bandwidth": self.bandwidth_share}
        other = [f"{_show(share, '×')} its {what}" for what, share in shares.items() if share != 1]
        return f"{self.device.name} with {' and '.join(other)}" if other else self.device.name

    @property
    def peak_label(self) -> str:
        """The peak in words, as a device writes its own."""
        if self.peak_share == 1:
            return self.device.peak_label(self.precision, self.sparse)
        kind = "with 2:4 sparsity" if self.sparse else "dense"
        return f"{rate(self.peak, self.precision)} {self.precision} {kind}"

    def roof(self, intensity: Numeric) -> ph.Roofline:
        """Return what the machine allows a kernel of some intensity."""
        if is_integer(self.precision):
            return IntegerRoofline(peak=self.peak, bandwidth=self.bandwidth, intensity=intensity)
        return ph.roofline(intensity, self.peak, self.bandwidth)
