"""From a measurement to a calibration: every family of kernels fitted to half of its cases.

The other half is never seen by a fit; the model is judged on it. What ships as the calibration of
a device is exactly what was judged.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any, Final

from mlsys_widgets import physics as ph
from mlsys_widgets.measured.fitting import fit_law
from mlsys_widgets.measured.kernel_families import KernelFamily, families
from mlsys_widgets.measured.power_fitting import fit_power
from mlsys_widgets.measured.queries import Case, cases, ceilings
from mlsys_widgets.measured.recorder import Document

#: The fewest cases of a family for which fitting half of them means anything.
LEAST: Final = 6

Chosen = Callable[[int], Sequence[int]]


def fitted_positions(count: int) -> Sequence[int]:
    """Return the positions of the cases that are fitted: every other one, the smallest included."""
    return range(0, count, 2)


def device_of(document: Document) -> ph.Device:
    """Return the device of a document, with its datasheet or the best that was measured."""
    device = document["device"]
    if device["key"] in ph.devices:
        return ph.devices[device["key"]]
    found = ceilings(document)
    if found.bandwidth is None or not found.peaks:
        raise ValueError(
            f"{device['key']}: no copy past the last cache or no matrix product was measured, "
            "so there is no roof to judge by; measure the sections copy and gemm"
        )
    best = ph.Source("the best of this measurement", document["date"][:7], "measured")
    peaks = {precision: best.fact(peak) for precision, peak in found.peaks.items()}
    return ph.make_device(
        device["key"],
        device["name"],
        max(found.peaks, key=lambda precision: found.peaks[precision]),
        peaks,
        bandwidth=best.fact(found.bandwidth),
        memory=best.fact(device["memory_bytes"]),
        power=None,
        launch_overhead=None if found.launch is None else best.fact(found.launch),
    )


def usable(family: KernelFamily, device: ph.Device) -> bool:
    """Whether a family has enough cases, and the device a peak to hold them against."""
    arithmetic = ph.storages[family.precision].arithmetic
    return len(family.members) >= LEAST and arithmetic in device.peaks


def calibrate(document: Document, chosen: Chosen = fitted_positions) -> dict[str, Any]:
    """Fit all laws to a measurement.

    ``chosen`` are the numbers of the cases of a family that are fitted. Returns plain data, as
    ``physics.read_calibration`` reads it and ``mlsys calibrate`` writes it.
    """
    device, units = device_of(document), float(document["device"]["units"])
    launch = _launch(document, chosen, ("layer", "serving")) or device.launch_overhead or 0.0
    laws = {}
    for family in families(document):
        if not usable(family, device):
            continue
        fitted = family.some(chosen(len(family.members)))
        peak = device.peak(ph.storages[family.precision].arithmetic)
        parameters = fit_law(
            ph.LAWS[family.law], fitted, ph.LawCeilings(peak, device.bandwidth, units)
        )
        laws[family.name] = {
            "law": family.law,
            "cases": len(fitted.members),
            "from": ", ".join(sorted({case.section for case in fitted.members})),
            "parameters": parameters,
        }
    return {
        "device": device.key,
        "source": f"mlsys_widgets/measured/data/{device.key}.json",
        "date": document["date"][:7],
        "units": units,
        "launch": launch,
        "training_launch": _launch(document, chosen, ("training",)) or launch,
        "laws": laws,
    } | fit_power(document, device)


def waiting_for_host(document: Document, *kinds: str) -> list[Case]:
    """Layers, models or training steps of which the host takes longer than the device."""
    return [
        case
        for kind in kinds
        for case in cases(document, kind=kind, variant="eager")
        if case.enqueue and case.enqueue.median > 0.9 * case.seconds.median
    ]


def fitted_launches(document: Document, chosen: Chosen) -> list[Case]:
    """Return the cases from which the cost of a launch is taken."""
    found = []
    for kinds in (("layer", "serving"), ("training",)):
        waiting = waiting_for_host(document, *kinds)
        found += [waiting[position] for position in chosen(len(waiting))]
    return found


def _launch(document: Document, chosen: Chosen, kinds: tuple[str, ...]) -> float | None:
    """Return the seconds in which the host launches a kernel, from what waits for it."""
    each = [
        case.enqueue.median / launches
        for case in fitted_launches(document, chosen)
        if case.kind in kinds and case.enqueue and (launches := _launches(case))
    ]
    return statistics.median(each) if each else None


def _launches(case: Case) -> float | None:
    """Return the launches of a case as the core counts them, if it knows the model."""
    name = str(case.shape["model"])
    if case.kind == "training":
        return ph.training_launches(name) if name in ph.trained_models else None
    if name not in ph.workloads:
        return None
    phase: Any = case.shape["phase"]
    kernels = ph.layer_kernels if case.kind == "layer" else ph.model_kernels
    uses = kernels(ph.language_model(name), phase, 1.0, 1.0)
    return sum(use.launches * use.times for use in uses)
