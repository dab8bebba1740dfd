"""``mlsys devices``, ``workloads``, ``validate`` and ``calibrate``: numbers of the course."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from mlsys_widgets.files import write_whole
from mlsys_widgets.measured import load, report
from mlsys_widgets.measured.calibrating import calibrate
from mlsys_widgets.measured.progress import progress
from mlsys_widgets.measured.stability import PARTS, left_out
from mlsys_widgets.measured.trial import hold_trial
from mlsys_widgets.physics import Device, Workload, devices, workloads
from mlsys_widgets.wording.plurals import counted
from mlsys_widgets.wording.units import format_quantity


def run_devices(arguments: argparse.Namespace) -> int:
    """List all machines, or every number of one with its source."""
    if arguments.device:
        return _print_sources(devices[arguments.device])
    rows = [
        (
            device.key,
            device.peak_label(device.native),
            format_quantity(device.ridge(device.native), "FLOP/B"),
            format_quantity(device.bandwidth, "B/s"),
            format_quantity(device.memory, "B"),
            format_quantity(device.power, "W"),
            "–" if (launch := device.launch_overhead) is None else format_quantity(launch, "s"),
        )
        for device in devices.values()
    ]
    return _print_table(("key", "peak", "ridge", "bandwidth", "memory", "power", "launch"), rows)


def run_workloads(arguments: argparse.Namespace) -> int:
    """List all workloads, or every number of one with its source."""
    if arguments.workload:
        return _print_sources(workloads[arguments.workload])
    rows = []
    for workload in workloads.values():
        numbers = (f"{name} {format_quantity(v, unit)}" for name, v, unit, _ in workload.facts())
        rows.append((workload.key, workload.name, ", ".join(numbers)))
    return _print_table(("key", "name", "numbers"), rows)


def run_validate(arguments: argparse.Namespace) -> int:
    """Compare the model with a measurement."""
    document = load(arguments.measurement)
    trial = hold_trial(document)
    _print_table(report.TOPIC_HEADER, report.topic_rows(trial))
    if document["device"]["kind"] == "gpu":
        missed = [row for row in report.goal_rows(trial) if row[-1] != "met"]
        print(f"{len(trial.goals) - len(missed)} of {counted(len(trial.goals), 'goal')} met.")
        if missed:
            _print_table(report.GOAL_HEADER, missed)
    if warning := report.disturbed(trial):
        print(warning)
    if arguments.stability:
        parts = [f"without part {part + 1}" for part in range(PARTS)]
        found, results = [], left_out(document, trial)
        with progress(parts) as say:
            for name in parts:
                say(name)
                found.append(next(results))
        _print_table(report.STABILITY_HEADER, report.stability_rows(found))
    if arguments.cases:
        for topic in trial.topics:
            _print_table(report.CASE_HEADER, report.case_rows(topic))
    if arguments.report:
        print(f"Wrote {report.write(trial, arguments.report)}.")
    return 0


def run_calibrate(arguments: argparse.Namespace) -> int:
    """Fit the calibrated form to a measurement and write its parameters."""
    data = calibrate(load(arguments.measurement))
    path = write_whole(arguments.out, json.dumps(data, indent=1) + "\n")
    laws = counted(len(data["laws"]), "family", "families")
    print(f"Wrote {path}: {laws} of kernels of {data['device']}.")
    return 0


def _print_sources(entry: Device | Workload) -> int:
    rows = [
        (name, format_quantity(value, unit), origin.kind, f"{origin.source}, {origin.date}",
         origin.note)
        for name, value, unit, origin in entry.facts()
    ]  # fmt: skip
    return _print_table(("number", "value", "kind", "source", "note"), rows)


def _print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    table = Table(*header, box=None, header_style="bold")
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    return 0
