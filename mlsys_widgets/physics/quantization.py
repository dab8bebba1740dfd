"""Weights in fewer bits: the error of a grid, the bytes it saves, and the time it takes or saves.

A grid has as many steps as its bits allow, and its scale decides how far they reach. Whoever shares
a scale shares its largest weight: a tensor, a channel (a row of the matrix), or a group of a few
weights. Lengths are in standard deviations of the weights, so errors are relative to the weights.

Examples
--------
What does a bit cost? With one scale for each group of 128 weights:

>>> from mlsys_widgets import physics as ph
>>> for bits in (8, 5, 4):
...     found = ph.quantization_error(bits, block=128)
...     print(bits, ph.format_quantity(found.error, "%"), f"{found.decibels:.1f} dB")
8 0.649% 43.8 dB
5 5.49% 25.2 dB
4 11.8% 18.6 dB
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import numpy as np

from mlsys_widgets.physics.device_calibration import DeviceCalibration, calibration_of
from mlsys_widgets.physics.devices import Device
from mlsys_widgets.physics.domain import (
    AT_LEAST_ONE,
    FRACTION,
    LARGEST,
    NON_NEGATIVE,
    POSITIVE,
    Domain,
    Numeric,
    square_root,
)
from mlsys_widgets.physics.model_kernels import SMALL_FAMILIES
from mlsys_widgets.physics.product_laws import product_family
from mlsys_widgets.physics.products import Product, product, storages
from mlsys_widgets.physics.provenance import Source
from mlsys_widgets.physics.result import Result, derived, given
from mlsys_widgets.physics.small_kernels import small_kernel, small_kernels
from mlsys_widgets.wording.choices import one_of

#: A symmetric grid needs two bits for one step to either side of zero.
BITS: Final = Domain(2.0, 16.0, "a number of bits between 2 and 16")

_KURTIC: Final = Source(
    "Kurtic et al., “Give Me BF16 or Give Me Death?”, ACL 2025", "2025-07", "measured"
)
#: What eight-bit weights and activations cost tasks of language models, tuned well, at most.
INT8_TASK_LOSS: Final = _KURTIC.fact(0.03, "1 to 3% of the score; fp8 lost nothing measurable")
#: Bits of the scale that a group keeps, and of its zero point.
SCALE_BITS: Final = Source("PyTorch's packed int4 weights", "2026-11", "course").fact(
    16.0, "a bf16 scale, and as many bits for a zero point"
)


@dataclass(frozen=True, repr=False)
class SharedReach(Result):
    """How far grids reach where one block in many holds an outlier."""

    ordinary: Numeric = given("r", "", "reach without the outlier", POSITIVE)
    outlier: Numeric = given("R", "", "reach with the outlier", POSITIVE)
    share: Numeric = given("s", "%", "fraction of the weights that share its scale", FRACTION)

    @derived("r_rms", "")
    def reach(self) -> Numeric:
        """Reach over all weights, root mean square."""
        return square_root((1 - self.share) * self.ordinary**2 + self.share * self.outlier**2)


@dataclass(frozen=True, repr=False)
class UniformGrid(Result):
    """A symmetric grid of equal steps around zero."""

    bits: Numeric = given("b", "", "bits", BITS)
    reach: Numeric = given("r", "", "end of the grid, in standard deviations", POSITIVE)

    @derived("n", "")
    def steps(self) -> Numeric:
        """Steps to either side of zero."""
        return 2 ** (self.bits - 1) - 1

    @derived("Δ", "")
    def step(self) -> Numeric:
        """Step of the grid, in standard deviations."""
        return self.reach / self.steps


@dataclass(frozen=True, repr=False)
class QuantizationError(Result):
    """The error of rounding weights to a grid, relative to the weights.

    ``quantization_error`` and ``float_error`` build one.

    Examples
    --------
    >>> from mlsys_widgets import physics as ph
    >>> print(ph.QuantizationError(step=0.4).derivation("rounding"))
    N_round = p × κ × Δ² / 12 = 100% × 1 × 0.4² / 12 = 0.0133   (squared error of rounding)
    """

    step: Numeric = given("Δ", "", "step of the grid, in standard deviations", POSITIVE)
    inside: Numeric = given("p", "%", "fraction of the weights inside the grid", FRACTION, 1.0)
    coarse: Numeric = given("κ", "", "correction of steps near a deviation", FRACTION, 1.0)
    cut_off: Numeric = given("N_cut", "", "squared error of weights cut off", NON_NEGATIVE, 0.0)

    @derived("N_round", "")
    def rounding(self) -> Numeric:
        """Squared error of rounding."""
        return self.inside * self.coarse * self.step**2 / 12

    @derived("e", "%")
    def error(self) -> Numeric:
        """Error of the weights, root mean square."""
        return square_root(self.rounding + self.cut_off)

    @property
    def decibels(self) -> Numeric:
        """Signal over noise: 6.02 dB more for every bit."""
        return -20 * np.log10(self.error) if np.ndim(self.error) else -20 * math.log10(self.error)


# The normal distribution, in a table: no library that the labs need has its integral.
_END: Final = 10.0
_PLACES: Final = np.linspace(0.0, _END, 4001)


def _beyond(t: float) -> float:
    """The probability that a normal weight is larger than ``t``, on one side."""
    return 0.5 * math.erfc(t / math.sqrt(2))


@cache
def _log_inside() -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Logarithm of the probability that a weight is no larger than each place, either side."""
    tails = np.array([2 * _beyond(float(t)) for t in _PLACES])
    with np.errstate(divide="ignore"):
        logarithms: np.ndarray[tuple[int], np.dtype[np.float64]] = np.log1p(-tails)
    return logarithms


@lru_cache(1024)
def _reach_of(block: float, cut: float) -> float:
    """``block_reach`` of single numbers."""
    with np.errstate(invalid="ignore"):
        larger = -np.expm1(block * _log_inside())  # that the largest of a block is beyond a place
    rises = 2 * _PLACES * larger
    squares = np.concatenate(([0.0], np.cumsum((rises[1:] + rises[:-1]) / 2 * _PLACES[1])))
    return math.sqrt(float(np.interp(min(cut, _END), _PLACES, squares)))


def block_reach(block: Numeric, cut: Numeric = LARGEST) -> Numeric:
    """How far the grid of a block reaches: to the largest of its normal weights.

    ``block`` weights share a scale, and a grid ends at ``cut`` standard deviations at the latest.
    Returns standard deviations, root mean square over all blocks.

    Examples
    --------
    How much of its grid does a group of 128 spare, beside a whole matrix of 4,096 by 4,096?

    >>> from mlsys_widgets import physics as ph
    >>> group, whole = (ph.block_reach(weights) for weights in (128, 4096**2))
    >>> round(group, 2), round(whole, 2)
    (2.85, 5.52)
    """
    block, cut = AT_LEAST_ONE.check("block", block), POSITIVE.check("cut", cut)
    if isinstance(block, float) and isinstance(cut, float):
        return _reach_of(block, cut)
    each: Numeric = np.vectorize(_reach_of, otypes=[float])(block, cut)
    return each


def _correction(step: float) -> float:
    """How much less than Δ²/12 normal weights lose to steps that are no longer fine.

    The squared error is periodic in a weight, so it is a sum of cosines, whose means over a normal
    distribution are known.
    """
    waves = (
        (1.0, -1.0)[k % 2] / k**2 * math.exp(-2 * (math.pi * k / step) ** 2) for k in range(1, 12)
    )
    return 1 + 12 / math.pi**2 * sum(waves)


def _overload(cut: float) -> float:
    """Squared error of normal weights beyond the end of the grid, which become its end."""
    density = math.exp(-(cut**2) / 2) / math.sqrt(2 * math.pi)
    return max(0.0, 2 * ((1 + cut**2) * _beyond(cut) - cut * density))


def quantization_error(
    bits: Numeric,
    block: Numeric,
    *,
    weights: Numeric | None = None,
    outlier: Numeric = 0.0,
    cut: Numeric = LARGEST,
) -> QuantizationError:
    """The error of normal weights on a grid of equal steps.

    Parameters
    ----------
    bits : float or array
        Bits of a weight.
    block : float or array
        Weights that share a scale, which reaches to the largest of them.
    weights : float or array, optional
        All weights; as many as a block holds, if not given.
    outlier : float or array
        The size of one outlier among them, in standard deviations; 0 for none.
    cut : float or array
        Where grids end at the latest, in standard deviations. Weights beyond become the end.

    Examples
    --------
    One weight in 17 million is four times as large as the largest other, in int8. Who pays for it?

    >>> from mlsys_widgets import physics as ph
    >>> whole = 4096**2
    >>> for block in (whole, 4096, 128):
    ...     clean = ph.quantization_error(8, block, weights=whole)
    ...     other = ph.quantization_error(8, block, weights=whole, outlier=22)
    ...     shown = [ph.format_quantity(each.error, "%") for each in (clean, other)]
    ...     print(f"{block:>8}", *shown, f"{other.error / clean.error:.2f} times")
    16777216 1.26% 5% 3.98 times
        4096 0.867% 0.871% 1.00 times
         128 0.649% 0.649% 1.00 times
    """
    block = AT_LEAST_ONE.check("block", block)
    weights = block if weights is None else AT_LEAST_ONE.check("weights", weights)
    outlier = NON_NEGATIVE.check("outlier", outlier)
    cut = POSITIVE.check("cut", cut)
    bits = BITS.check("bits", bits)
    if all(isinstance(each, float) for each in (bits, block, weights, outlier, cut)):
        return _error_of(bits, block, weights, outlier, cut)  # type: ignore[arg-type]
    each = np.broadcast_arrays(bits, block, weights, outlier, cut)
    found = [_error_of(*map(float, one)) for one in zip(*(a.ravel() for a in each), strict=True)]
    shape = each[0].shape
    return QuantizationError(
        **{
            name: np.array([float(getattr(one, name)) for one in found]).reshape(shape)
            for name in QuantizationError.inputs()
        }
    )


def _error_of(
    bits: float, block: float, weights: float, outlier: float, cut: float
) -> QuantizationError:
    """``quantization_error`` of single numbers."""
    block, weights = min(block, weights), max(block, weights)
    ordinary = _reach_of(block, cut)
    reach: Numeric = ordinary
    coarse = _correction(ordinary / (2 ** (bits - 1) - 1))
    cut_off, tail = 0.0, 0.0
    if cut < _reach_of(weights, LARGEST):
        cut_off, tail = _overload(cut), 2 * _beyond(cut)
    if outlier > ordinary:
        end, share = min(outlier, cut), block / weights
        reach = SharedReach(ordinary=ordinary, outlier=end, share=share).reach
        far = _correction(end / (2 ** (bits - 1) - 1))
        lost = (1 - share) * ordinary**2 * coarse + share * end**2 * far
        coarse = lost / float(reach) ** 2
        cut_off += (outlier - end) ** 2 / weights
    grid = UniformGrid(bits=bits, reach=reach)
    return QuantizationError(
        step=grid.step, inside=1 - tail, coarse=min(1.0, max(0.0, coarse)), cut_off=cut_off
    )


#: Bits of the fraction of fp8 (e4m3), the power of its smallest normal number, and its largest.
_FRACTION_BITS, _LEAST_POWER, _FLOAT_LARGEST = 3, -6, 448.0


def float_error(reach: Numeric) -> QuantizationError:
    """The error of normal weights in fp8 (e4m3), whose steps grow with the weights.

    The largest weight, ``reach``, is scaled to the largest number of the format.

    Examples
    --------
    An outlier of 22 deviations costs int8 two bits. And fp8?

    >>> from mlsys_widgets import physics as ph
    >>> clean, other = ph.float_error(5.5), ph.float_error(22)
    >>> ph.format_quantity(clean.error, "%"), ph.format_quantity(other.error, "%")
    ('2.65%', '2.65%')
    """
    reach = POSITIVE.check("reach", reach)
    if isinstance(reach, float):
        return QuantizationError(step=_float_step(reach))
    return QuantizationError(step=np.vectorize(_float_step, otypes=[float])(reach))


@lru_cache(1024)
def _float_step(reach: float) -> float:
    """Root mean square of the steps that normal weights meet."""
    one = reach / _FLOAT_LARGEST
    powers = range(_LEAST_POWER, math.ceil(math.log2(_FLOAT_LARGEST)))
    squares = (2 * _beyond(0.0) - 2 * _beyond(one * 2.0**_LEAST_POWER)) * (
        one * 2.0 ** (_LEAST_POWER - _FRACTION_BITS)
    ) ** 2
    for power in powers:
        share = 2 * _beyond(one * 2.0**power) - 2 * _beyond(one * 2.0 ** (power + 1))
        squares += share * (one * 2.0 ** (power - _FRACTION_BITS)) ** 2
    return math.sqrt(squares)


# Bytes.


@dataclass(frozen=True, repr=False)
class StoredWeights(Result):
    """Weights in groups, each group with a scale and a zero point beside it.

    ``stored_weights`` builds one.
    """

    weights: Numeric = given("P", "", "weights", AT_LEAST_ONE)
    bits: Numeric = given("b", "", "bits of a weight", BITS)
    group: Numeric = given("g", "", "weights that share a scale", AT_LEAST_ONE)
    beside: Numeric = given("b_s", "", "bits of scale and zero point", NON_NEGATIVE)

    @derived("b_w", "")
    def bits_per_weight(self) -> Numeric:
        """Bits per weight, with its part of scale and zero point."""
        return self.bits + self.beside / self.group

    @derived("W", "B")
    def size(self) -> Numeric:
        """Size of the weights."""
        return self.weights * self.bits_per_weight / 8


def stored_weights(
    weights: Numeric, bits: Numeric, group: Numeric, *, beside: Numeric = 2 * SCALE_BITS.value
) -> StoredWeights:
    """The size of weights in groups with a scale each.

    Parameters
    ----------
    weights : float or array
        How many.
    bits : float or array
        Bits of each.
    group : float or array
        Weights that share a scale.
    beside : float or array
        Bits that a group keeps beside its weights; 16 for a scale and 16 for a zero point.

    Examples
    --------
    How many bits does a weight of 4 bits have?

    >>> from mlsys_widgets import physics as ph
    >>> for group in (32, 128):
    ...     kept = ph.stored_weights(8e9, 4, group)
    ...     print(group, float(kept.bits_per_weight), ph.format_quantity(kept.size, "B"))
    32 5.0 5 GB
    128 4.25 4.25 GB
    """
    return StoredWeights(weights=weights, bits=bits, group=group, beside=beside)


# Time.


@dataclass(frozen=True, repr=False)
class ProductSpeed(Result):
    """A product with weights in fewer bits beside the same product in fp16.

    ``product_speed`` builds one.
    """

    fp16_time: Numeric = given("t_fp16", "s", "the product in fp16", POSITIVE)
    product_time: Numeric = given("t_product", "s", "the product in fewer bits", POSITIVE)
    conversion: Numeric = given("t_convert", "s", "converting its activations", NON_NEGATIVE)

    @derived("t", "s")
    def time(self) -> Numeric:
        """Time of the product, with the conversion before it."""
        return self.product_time + self.conversion

    @derived("speedup", "×")
    def speedup(self) -> Numeric:
        """How many times as fast as fp16."""
        return self.fp16_time / self.time


def _product(
    rows: Numeric, columns: Numeric, depth: Numeric, precision: str, group: Numeric
) -> Product:
    """A product whose weights have scales in groups where their kernel knows groups."""
    made = product(rows, columns, depth, precision)
    if storages[precision].arithmetic == precision:
        return made
    bits = stored_weights(1, 4, group).bits_per_weight
    return Product(
        m=made.m, n=made.n, k=made.k, weight_bytes=bits / 8,
        activation_bytes=made.activation_bytes, result_bytes=made.result_bytes,
    )  # fmt: skip


def product_speed(
    rows: Numeric,
    columns: float,
    depth: float,
    precision: str,
    *,
    group: Numeric = 128,
    device: Device | str = "h200-sxm",
    calibration: DeviceCalibration | None = None,
) -> ProductSpeed:
    """A product in fewer bits on a device that was measured, in the calibrated form.

    Eight bits multiply in eight bits, so activations are converted first, by a kernel of its own;
    four bits are widened inside the product.

    Parameters
    ----------
    rows : float or array
        Rows of activations: conversations of a decode step, or tokens of a prompt.
    columns, depth : float
        The sides of the weights.
    precision : {"fp16", "fp8", "int8", "int4"}
        How weights are stored.
    group : float or array
        Weights of 4 bits that share a scale.
    device : Device or str
        A device that was measured, or its key.
    calibration : DeviceCalibration, optional
        In place of the one on record for the device.

    Examples
    --------
    int4 has a quarter of the bytes. How many times as fast is Llama's down product?

    >>> from mlsys_widgets import physics as ph
    >>> for rows in (1, 16, 256):
    ...     print(rows, f"{ph.product_speed(rows, 4096, 14336, 'int4').speedup:.2f}")
    1 1.88
    16 0.46
    256 0.05
    """
    one_of("precision", precision, ("fp16", "fp8", "int8", "int4"))
    measured = calibration_of(device) if calibration is None else calibration
    rows, group = AT_LEAST_ONE.check("rows", rows), AT_LEAST_ONE.check("group", group)

    # Bare numbers: three kernels that all explain a “time of the call” would be told apart by none.
    def timed(stored: str) -> Numeric:
        kernel = _product(rows, columns, depth, stored, group)
        return measured.time(kernel, product_family(columns, depth, stored), stored).time + 0.0

    conversion: Numeric = 0.0
    if storages[precision].activation == 1:
        kind = f"conversion to {precision}"
        family = f"small kernels of {SMALL_FAMILIES[kind]}"
        launches = small_kernels[kind].launches
        converted = measured.time(small_kernel(kind, rows, depth), family, "fp16", launches)
        conversion = converted.time + 0.0
    return ProductSpeed(
        fp16_time=timed("fp16"), product_time=timed(precision), conversion=conversion
    )


def crossing_rows(
    columns: float, depth: float, precision: str = "int4", *, group: float = 128,
    device: Device | str = "h200-sxm", most: int = 4096,
) -> int:  # fmt: skip
    """The fewest rows with which fp16 is at least as fast; 0 if there are none up to ``most``.

    Examples
    --------
    >>> from mlsys_widgets import physics as ph
    >>> ph.crossing_rows(4096, 14336)
    7
    """
    rows = np.arange(1.0, most + 1)
    fewer = product_speed(rows, columns, depth, precision, group=group, device=device)
    slower = np.flatnonzero(np.asarray(fewer.speedup) <= 1)
    return int(rows[slower[0]]) if slower.size else 0
