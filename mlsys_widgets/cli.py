"""``mlsys``: the command line, a thin layer over the package.

Exit codes: 0 for success, 1 when the work could not be done, 2 when the command was not
understood. An expected failure prints one sentence, never a traceback.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlsys_widgets import __version__

if TYPE_CHECKING:
    from mlsys_widgets.physics import Record

_Run = Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``mlsys`` and return its exit code."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if "run" not in arguments:
        parser.print_help()
        return 0
    run: _Run = arguments.run
    try:
        return run(arguments)
    except KeyboardInterrupt:
        print("mlsys: interrupted", file=sys.stderr)
        return 130
    except (ValueError, OSError) as problem:
        print(f"mlsys: {problem}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    from mlsys_widgets.measured import take

    parser = argparse.ArgumentParser(
        prog="mlsys", description="Interactive, gradable machine-learning-systems labs."
    )
    parser.add_argument("--version", action="version", version=f"mlsys {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    devices = commands.add_parser("devices", help="the machines of the course and their numbers")
    devices.add_argument("device", nargs="?", metavar="DEVICE", help="one machine, with sources")
    devices.set_defaults(run=_devices)

    workloads = commands.add_parser("workloads", help="the workloads of the course")
    workloads.add_argument("workload", nargs="?", metavar="WORKLOAD", help="one, with sources")
    workloads.set_defaults(run=_workloads)

    measure = commands.add_parser("measure", help="take the roofline of this machine")
    take.add_arguments(measure)
    measure.set_defaults(run=take.run)

    validate = commands.add_parser("validate", help="hold the model against a measurement")
    validate.add_argument(
        "measurement", nargs="?", default="h200-sxm", metavar="MEASUREMENT",
        help="a file, or the name of one that ships (default: %(default)s)",
    )  # fmt: skip
    validate.add_argument("--cases", action="store_true", help="show every case")
    validate.add_argument(
        "--report", type=Path, metavar="FOLDER", help="write a page with tables and plots there"
    )
    validate.set_defaults(run=_validate)
    return parser


def _devices(arguments: argparse.Namespace) -> int:
    from mlsys_widgets.physics import devices, format_quantity

    if arguments.device:
        return _sources(devices[arguments.device])
    rows = []
    for device in devices.values():
        launch = device.launch_overhead
        rows.append(
            (
                device.key,
                device.peak_label(device.native),
                format_quantity(device.ridge(device.native), "FLOP/B"),
                format_quantity(device.bandwidth, "B/s"),
                format_quantity(device.memory, "B"),
                format_quantity(device.power, "W"),
                "–" if launch is None else format_quantity(launch, "s"),
            )
        )
    return _table(("key", "peak", "ridge", "bandwidth", "memory", "power", "launch"), rows)


def _workloads(arguments: argparse.Namespace) -> int:
    from mlsys_widgets.physics import format_quantity, workloads

    if arguments.workload:
        return _sources(workloads[arguments.workload])
    rows = []
    for workload in workloads.values():
        numbers = (f"{name} {format_quantity(v, unit)}" for name, v, unit, _ in workload.facts())
        rows.append((workload.key, workload.name, ", ".join(numbers)))
    return _table(("key", "name", "numbers"), rows)


def _validate(arguments: argparse.Namespace) -> int:
    from mlsys_widgets.measured import load, report
    from mlsys_widgets.measured.trial import hold_trial

    trial = hold_trial(load(arguments.measurement))
    _table(report.TOPIC_HEADER, report.topic_rows(trial))
    if arguments.cases:
        for topic in trial.topics:
            _table(report.CASE_HEADER, report.case_rows(topic))
    if arguments.report:
        print(f"Wrote {report.write(trial, arguments.report)}.")
    return 0


def _sources(entry: Record) -> int:
    """Print every number of an entry with its source."""
    from mlsys_widgets.physics import format_quantity

    rows = [
        (name, format_quantity(value, unit), origin.kind, f"{origin.source}, {origin.date}",
         origin.note)
        for name, value, unit, origin in entry.facts()
    ]  # fmt: skip
    return _table(("number", "value", "kind", "source", "note"), rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    from rich.console import Console
    from rich.table import Table

    table = Table(*header, box=None, header_style="bold")
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    return 0
