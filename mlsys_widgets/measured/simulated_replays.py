"""Replayed traces of requests: what a real engine did, and what the simulated engine says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

import numpy as np
from numpy.typing import NDArray

from mlsys_widgets import physics as ph
from mlsys_widgets.measured.queries import Case
from mlsys_widgets.physics.domain import Numeric
from mlsys_widgets.physics.model_kernels import Phase
from mlsys_widgets.physics.serving_simulation import (
    Policy,
    ServedTrace,
    ServingRequest,
    simulate_serving,
    step_times,
)

_Array = NDArray[np.float64]
#: In seconds; twice what rounding to microseconds can add.
_MICROSECOND = 2e-6


def columns(case: Case, part: str) -> Mapping[str, _Array]:
    """Return the ``"requests"`` or the ``"steps"`` of a replay as arrays."""
    if case.timeline is None:
        raise ValueError(f"{case.label} is no replay: it has no timeline")
    return {name: np.array(values) for name, values in case.timeline[part].items()}


def response(case: Case) -> _Array:
    """Return the seconds of each request from its arrival to the end of its answer."""
    requests = columns(case, "requests")
    return requests["ended"] - requests["arrival"]


def filled(case: Case) -> float:
    """Return the part of the reserved cache that held a token of use, while the engine ran.

    A request has its prompt in the cache from when it is read, and a token more with each step
    that writes, until its answer is complete.
    """
    requests, steps = columns(case, "requests"), columns(case, "steps")
    began, seconds, writes = steps["began"], steps["seconds"], steps["prompt"] == 0
    kept = 0.0
    for started, prompt, ended in zip(
        requests["started"], requests["prompt"], requests["ended"], strict=True
    ):
        # Moments are noted to a microsecond.
        here = (began > started - _MICROSECOND) & (began + seconds < ended + _MICROSECOND)
        kept += float((seconds[here] * (prompt + np.cumsum(writes[here]))).sum())
    return kept / float(seconds.sum()) / (int(case.shape["slots"]) * int(case.shape["room"]))


def trace(case: Case, faster: float = 1.0) -> list[ServingRequest]:
    """Return the requests of a replay, as if they came so many times as fast."""
    requests = columns(case, "requests")
    return [
        ServingRequest(float(arrival) / faster, int(prompt), int(answer))
        for arrival, prompt, answer in zip(
            requests["arrival"], requests["prompt"], requests["answer"], strict=True
        )
    ]


def calibrated(
    case: Case, calibration: ph.DeviceCalibration, policy: Policy | None = None
) -> ServedTrace:
    """Replay the trace with the steps of the calibrated form; nothing is fitted to replays.

    With another policy, the same requests meet the same cache under that one.
    """
    model, device = str(case.shape["model"]), calibration.device
    return _simulated(
        case,
        lambda phase, batch, tokens: (
            ph.serving_time(
                model,
                device,
                phase,
                batch,
                tokens,
                case.precision or "fp16",
                calibration=calibration,
            ).time
        ),
        policy,
    )


def textbook(case: Case, device: ph.Device) -> ServedTrace:
    """Replay the trace with the steps of the textbook form."""
    model, forms = str(case.shape["model"]), {"prefill": ph.prefill, "decode": ph.decode}
    return _simulated(
        case,
        lambda phase, batch, tokens: (
            forms[phase](model, device, batch, tokens, case.precision or "fp16").time
        ),
    )


def _simulated(
    case: Case, taken: Callable[[Phase, int, _Array], Numeric], policy: Policy | None = None
) -> ServedTrace:
    recorded = sorted({int(rows) for rows in columns(case, "steps")["rows"]})
    return simulate_serving(
        trace(case),
        step_times(taken, recorded),
        int(case.shape["slots"]),
        int(case.shape["room"]),
        policy or cast(Policy, case.shape["policy"]),
    )
