"""Speeds of the memory budget in the calibrated form, fast enough for a slider."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments.serving_curve import KEY, WHOLE
from mlsys_widgets.physics.language_model import language_model

MODEL: Final = language_model(KEY)
#: The model by how many of its heads keep keys and values: its own number, or all.
SERVED: Final = {heads: replace(MODEL, kv_heads=heads) for heads in (MODEL.kv_heads, MODEL.heads)}
#: How the kernels of a step are launched.
REPLAYED: Final = "replayed as a graph"


@lru_cache(8)
def _with_one_cached_token(device: str, precision: str, kv_heads: float) -> ph.ServingTime:
    """A token of every batch. Only its attention depends on how long the sequences are."""
    return ph.serving_time(SERVED[kv_heads], device, "decode", WHOLE, 1.0, precision)


def calibrated_speeds(
    device: str, precision: str, kv_heads: float, batch: float, sequence: float
) -> tuple[float, float]:
    """Tokens per second of decode and prefill, as ``serving_time`` has them.

    Examples
    --------
    >>> written, read = calibrated_speeds("h200-sxm", "fp16", 8, 16.0, 2048.0)
    >>> step = ph.serving_time("llama31-8b", "h200-sxm", "decode", 16, 2048)
    >>> abs(written / step.tokens_per_second - 1) < 1e-9
    True
    """
    every = _with_one_cached_token(device, precision, kv_heads)
    use = next(timed.use for timed in every.uses if timed.use.part == "attention")
    kernel = replace(use.kernel, batch=batch, keys=sequence)  # type: ignore[call-arg]
    one = ph.calibration_of(device).time(kernel, use.family, use.precision, use.launches)
    others = _others(device, precision, kv_heads)[round(batch) - 1]
    prefill = ph.serving_time(SERVED[kv_heads], device, "prefill", batch, sequence, precision)
    return batch / (others + use.times * float(one.time)), float(prefill.tokens_per_second)


@lru_cache(8)
def _others(device: str, precision: str, kv_heads: float) -> tuple[float, ...]:
    """Return the time of a token of every batch besides attention."""
    every = _with_one_cached_token(device, precision, kv_heads)
    return tuple((every.device_time - every.attention).tolist())  # type: ignore[union-attr]
