"""The numbers of the serving explorer: time per token of every batch, in either form, and memory.

Writing a token depends on the length of the context through attention alone. So the kernels of all
batches are timed once for a device, and a new length times one kernel again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments.batches import BATCHES, LARGEST_BATCH, TICKS
from mlsys_widgets.measured import MeasurementError, cases
from mlsys_widgets.physics.domain import POSITIVE
from mlsys_widgets.physics.model_kernels import ACTIVATION_BYTES
from mlsys_widgets.physics.result import derived, given
from mlsys_widgets.physics.serving_time import ServingLaunch, TimedUse

Array = NDArray[np.float64]
Form = Literal["calibrated", "textbook"]
FORMS: Final[tuple[Form, ...]] = get_args(Form)

KEY: Final = "llama31-8b"
#: Every batch that can be set, those of a curve, and those of the bars.
WHOLE: Final = np.arange(1.0, LARGEST_BATCH + 1)
DRAWN: Final = np.unique(np.round(BATCHES))
BARS: Final = np.array(TICKS)
#: What the calibrated form is known to, as a fraction: numbers are shown with the digits it leaves.
KNOWN_ERROR: Final = 0.1
#: How far the context of a measured point may be from the one that is set, as a factor.
_NEAR: Final = 1.25
#: Launch modes by the name that measurements give them.
_VARIANTS: Final[dict[ServingLaunch, str]] = {"async": "eager", "graph": "graph"}


def rounded(value: ph.Numeric, error: float = KNOWN_ERROR) -> float:
    """A number with as many digits as an error leaves it."""
    digits = 1 + math.ceil(-math.log10(error))
    return float(f"{float(value):.{digits}g}")


@dataclass(frozen=True, eq=False)
class TokenTimes:
    """Seconds that one token takes with every whole batch, and what they are made of.

    Each is made once and equal to itself alone, so that what is drawn of it can be remembered.
    """

    seconds: Array
    #: What the time of a bar is made of, in the order in which it is stacked.
    parts: Mapping[str, Array]

    def at(self, batch: float) -> float:
        """Seconds of one batch."""
        return float(self.seconds[round(batch) - 1])

    def binds(self, batch: float) -> tuple[str, str]:
        """Return what binds at a batch, and the kernel that takes most of the time, if known."""
        raise NotImplementedError

    def replayed(self, batch: float) -> float | None:
        """Seconds of one batch when all kernels are replayed as a graph, if the form knows it."""
        return None

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """The limit at each bar."""
        return tuple(self.binds(batch)[0] for batch in BARS)


@dataclass(frozen=True, eq=False)
class CalibratedTokens(TokenTimes):
    """Time per token as the sum of kernels, each by its law."""

    #: A token of every whole batch.
    steps: ph.ServingTime
    #: Seconds of all kernels on the device: where a token takes more, launches bind.
    busy: Array

    def step(self, batch: float) -> ph.ServingTime:
        """A token of one batch, which can derive itself; its kernels stay with ``steps``."""
        k = round(batch) - 1
        inputs = {name: _one(getattr(self.steps, name), k) for name in self.steps.inputs()}
        return replace(self.steps, **inputs, uses=())

    def binds(self, batch: float) -> tuple[str, str]:
        """As a pass of a single batch says it (`ServingTime.reason`)."""
        k = round(batch) - 1
        if self.seconds[k] > self.busy[k]:
            return "launch", ""
        longest = max(self.steps.uses, key=lambda timed: _one(timed.total, k))
        one = longest.one
        terms = {
            "floor": _one(one.kernels * one.floor, k),
            "bandwidth": _one(one.memory_time, k),
            "arithmetic": _one(one.compute_time, k),
        }
        return max(terms, key=terms.__getitem__), longest.use.name

    def replayed(self, batch: float) -> float:
        """A graph leaves the time on the device."""
        return float(self.busy[round(batch) - 1])


@dataclass(frozen=True, eq=False)
class TextbookTokens(TokenTimes):
    """Time per token as all data over the bandwidth, or all operations over the peak."""

    memory_bound: NDArray[np.bool_]

    def binds(self, batch: float) -> tuple[str, str]:
        """One of two: the textbook knows no kernels."""
        return ("bandwidth" if self.memory_bound[round(batch) - 1] else "arithmetic"), ""


def _one(values: ph.Numeric, k: int) -> float:
    return float(values[k]) if isinstance(values, np.ndarray) else float(values)


@lru_cache(16)
def _with_one_cached_token(device: str, precision: str, launch: ServingLaunch) -> ph.ServingTime:
    return ph.serving_time(KEY, device, "decode", WHOLE, 1.0, precision, launch=launch)


def decode_steps(
    device: str, precision: str, sequence: float, launch: ServingLaunch
) -> ph.ServingTime:
    """A token of every whole batch in the calibrated form."""
    start, calibration = (
        _with_one_cached_token(device, precision, launch),
        ph.calibration_of(device),
    )
    k = next(k for k, timed in enumerate(start.uses) if timed.use.part == "attention")
    use = start.uses[k].use
    use = replace(use, kernel=replace(use.kernel, keys=sequence))  # type: ignore[call-arg]
    one = calibration.time(use.kernel, use.family, use.precision, use.launches)
    timed = TimedUse(use, one)
    uses = (*start.uses[:k], timed, *start.uses[k + 1 :])
    return replace(start, attention=timed.total, uses=uses)


@lru_cache(64)
def calibrated_times(
    device: str, precision: str, sequence: float, launch: ServingLaunch
) -> CalibratedTokens:
    """Time per token in the calibrated form."""
    step = decode_steps(device, precision, sequence, launch)
    seconds = np.asarray(step.time)
    # Bars of their own would be hairlines: logits are a product too, and norms are small kernels.
    parts = {
        "products": step.products + step.logits,
        "attention": step.attention,
        "small kernels": step.normalization + step.small_kernels + step.gaps,
        "waiting": seconds - step.device_time,
    }
    at = BARS.astype(int) - 1
    bars = {name: np.broadcast_to(part, seconds.shape)[at] for name, part in parts.items()}
    return CalibratedTokens(seconds, bars, step, np.asarray(step.device_time))


@lru_cache(64)
def textbook_times(device: str, precision: str, sequence: float) -> TextbookTokens:
    """Time per token in the textbook form."""
    step = ph.decode(KEY, device, WHOLE, sequence, precision)
    at = BARS.astype(int) - 1
    parts = {
        "weights": np.full(BARS.shape, step.weights / step.bandwidth),
        "cache": np.asarray(step.kv_cache / step.bandwidth)[at],
        "arithmetic": np.maximum(0.0, step.compute_time - step.memory_time)[at],
    }
    return TextbookTokens(np.asarray(step.time), parts, np.asarray(step.memory_bound))


@lru_cache(64)
def _prompts_read(
    device: str, precision: str, batch: float, sequence: float, launch: ServingLaunch
) -> ph.ServingTime:
    return ph.serving_time(KEY, device, "prefill", batch, sequence, precision, launch=launch)


@dataclass(frozen=True, repr=False)
class ServedFootprint(ph.Footprint):
    """A footprint whose weights are stored in fewer bytes than what is computed with them."""

    weight_bytes: ph.Numeric = given("b_w", "B", "bytes per weight", POSITIVE)

    @derived("weights", "B")
    def weights(self) -> ph.Numeric:
        """Size of the weights."""
        return self.parameters * self.weight_bytes

    @derived("activations", "B")
    def activations(self) -> ph.Numeric:
        """Size of the activations."""
        return self.activation_share * self.parameters * self.bytes_per_element


def memory_needed(
    form: Form, device: str, precision: str, batch: ph.Numeric, sequence: float
) -> ph.Footprint:
    """The memory of a served model, as the form counts it.

    The textbook stores everything in one precision. The calibrated form stores the weights in it,
    and cache and activations in 16 bits, as its kernels do.
    """
    if form == "textbook":
        element = ph.BYTES_PER_ELEMENT[precision]
        return ph.footprint(KEY, device, batch, sequence, element)
    wide = ph.footprint(KEY, device, batch, sequence, ACTIVATION_BYTES)
    fields = {name: getattr(wide, name) for name in wide.inputs()}
    return ServedFootprint(**fields, weight_bytes=ph.storages[precision].weight)


@lru_cache(64)
def measured_tokens(
    device: str, precision: str, launch: ServingLaunch
) -> tuple[tuple[float, float, float], ...]:
    """Batch, context length and seconds of tokens that were measured; empty if none were."""
    try:
        found = cases(
            device,
            kind="serving",
            precision=precision,
            variant=_VARIANTS[launch],
            model=KEY,
            phase="decode",
        )
    except MeasurementError:
        return ()
    return tuple(
        (float(case.shape["batch"]), float(case.shape["sequence"]), case.seconds.median)
        for case in found
    )


@dataclass(frozen=True)
class Serving:
    """A served model: the present batch, and all others beside it."""

    device: ph.Device
    form: Form
    precision: str
    launch: ServingLaunch
    batch: float
    sequence: float
    target: float
    times: TokenTimes
    #: The textbook beside the calibrated form, where it knows the precision.
    beside: TokenTimes | None
    #: Reading all prompts, each as long as the context.
    prefill: ph.ServingTime | ph.Generation
    memory: ph.Footprint
    #: Batch and seconds of tokens that were measured with about this context, if asked for.
    measured: tuple[tuple[float, float], ...] = ()

    @property
    def time(self) -> float:
        """Seconds that a token takes: of each conversation, all at once."""
        return self.times.at(self.batch)

    @property
    def tokens_per_second(self) -> float:
        """Tokens per second of the whole device."""
        return self.batch / self.time

    @property
    def first_token(self) -> float:
        """Seconds until all prompts are read."""
        return float(self.prefill.time)

    @property
    def fits(self) -> int:
        """The largest batch that memory holds; 0 if it holds none."""
        return int(self.memory.largest_batch)

    @property
    def out_of_memory(self) -> bool:
        """Whether the present batch does not fit."""
        return bool(self.memory.out_of_memory)

    @property
    def late(self) -> float:
        """Seconds by which a token misses the target; negative if it is early."""
        return self.time - self.target

    @cached_property
    def largest_batch(self) -> int:
        """The largest batch that can be set, fits and meets the target; 0 if none does."""
        early = np.flatnonzero(self.times.seconds[: self.fits] <= self.target)
        return int(early[-1]) + 1 if early.size else 0


def serve(
    device: str,
    form: Form,
    precision: str,
    launch: ServingLaunch,
    batch: float,
    sequence: float,
    target: float,
    measured: bool = False,
) -> Serving:
    """Serve the model; with ``measured``, tokens that were measured are held against it."""
    prefill: ph.ServingTime | ph.Generation
    times: TokenTimes
    beside: TokenTimes | None = None
    if form == "calibrated":
        times = calibrated_times(device, precision, sequence, launch)
        prefill = _prompts_read(device, precision, batch, sequence, launch)
        if precision in ph.devices[device].precisions:
            beside = textbook_times(device, precision, sequence)
    else:
        times = textbook_times(device, precision, sequence)
        prefill = ph.prefill(KEY, device, batch, sequence, precision)
    found = measured_tokens(device, precision, launch) if measured else ()
    return Serving(
        device=ph.devices[device],
        form=form,
        precision=precision,
        launch=launch,
        batch=batch,
        sequence=sequence,
        target=target,
        times=times,
        beside=beside,
        prefill=prefill,
        memory=memory_needed(form, device, precision, batch, sequence),
        measured=tuple((b, t) for b, s, t in found if 1 / _NEAR <= s / sequence <= _NEAR),
    )
