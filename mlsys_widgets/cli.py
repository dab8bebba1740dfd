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
    from mlsys_widgets.physics import CatalogEntry

_Run = Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``mlsys`` and return its exit code."""
    words = sys.argv[1:] if argv is None else argv
    parser = _parser(measuring="measure" in words)
    arguments = parser.parse_args(words)
    if "run" not in arguments:
        parser.print_help()
        return 0
    run: _Run = arguments.run
    try:
        return run(arguments)
    except KeyboardInterrupt:
        print("mlsys: interrupted", file=sys.stderr)
        return 130
    except ModuleNotFoundError as problem:
        if problem.name is None or problem.name.startswith("mlsys_widgets"):
            raise
        print(
            f"mlsys: this needs {problem.name}, which is not installed; the tools for teaching"
            " assistants bring it: pip install 'mlsys-widgets[ta]'",
            file=sys.stderr,
        )
        return 1
    except (ValueError, OSError) as problem:
        print(f"mlsys: {problem}", file=sys.stderr)
        return 1


def _parser(*, measuring: bool) -> argparse.ArgumentParser:
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
    if measuring:  # its options are known to a module that brings numpy with it
        from mlsys_widgets.measured import take

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
    _add_labs(commands)
    _add_ledger(commands)
    _add_courses(commands)
    _add_hub(commands)
    return parser


def _add_labs(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Commands about labs: of whoever writes, grades or works on them."""
    course = argparse.ArgumentParser(add_help=False)
    course.add_argument(
        "--course", type=Path, default=Path(), metavar="FOLDER",
        help="the folder that holds assignments/ (default: this one)",
    )  # fmt: skip

    build = commands.add_parser(
        "build", parents=[course], help="make the notebooks of labs from their text"
    )
    build.add_argument("labs", nargs="*", metavar="LAB", help="all labs if none is named")
    build.add_argument(
        "--bundle", nargs="?", type=Path, const=Path(), metavar="FILE",
        help="build what has changed, and pack all labs into one archive for mlsys course init"
        " (default: build/COURSE-VERSION.tar.gz)",
    )  # fmt: skip
    build.set_defaults(run=_build)

    new_lab = commands.add_parser(
        "new-lab", parents=[course], help="start a lab of your own from a small one that works"
    )
    new_lab.add_argument("name", metavar="NAME", help="as lab_02_caches")
    new_lab.set_defaults(run=_new_lab)

    variant = commands.add_parser(
        "variant", parents=[course], help="what a student saw in a lab, and the key to it"
    )
    variant.add_argument("lab", metavar="LAB")
    variant.add_argument("student", metavar="STUDENT", help="as nbgrader files the submission")
    variant.set_defaults(run=_variant)

    grade = commands.add_parser(
        "grade", parents=[course], help="grade a class: fast, isolated, into nbgrader's gradebook"
    )
    grade.add_argument("lab", metavar="LAB")
    grade.add_argument(
        "--students", default="*", metavar="GLOB", help="only those whose names fit, as 'a*'"
    )
    grade.add_argument(
        "--workers", type=int, metavar="N", help="submissions at a time (default: one per core)"
    )
    grade.add_argument(
        "--engine", default="local", metavar="local|ADDRESS",
        help="this machine, or the address of a Dask scheduler (default: local)",
    )  # fmt: skip
    grade.add_argument(
        "--sandbox", choices=("auto", "none"), default="auto",
        help="none: run student code without isolation (default: auto)",
    )  # fmt: skip
    grade.add_argument(
        "--resume", action="store_true", help="go on with a class that was interrupted"
    )
    grade.add_argument("--force", action="store_true", help="grade everything again")
    grade.add_argument("--json", action="store_true", help="a line of JSON for each submission")
    grade.add_argument("--verbose", "-v", action="store_true", help="a line for each submission")
    grade.set_defaults(run=_grade)

    simulate = commands.add_parser(
        "simulate", parents=[course], help="make up a class that has handed in a lab"
    )
    simulate.add_argument("lab", metavar="LAB")
    simulate.add_argument("--students", type=int, required=True, metavar="N", help="how many")
    simulate.add_argument(
        "--seed", type=int, default=0, metavar="K", help="the same seed gives the same class"
    )
    simulate.add_argument(
        "--kinds", metavar="KIND,KIND", help="only submissions of these kinds, as right,late"
    )
    simulate.add_argument(
        "--beside", type=Path, action="append", metavar="FILE",
        help="a file that everybody has beside the notebook, as a measurement",
    )  # fmt: skip
    simulate.add_argument(
        "--force", action="store_true", help="replace what these students handed in before"
    )
    simulate.set_defaults(run=_simulate)

    report = commands.add_parser(
        "report", parents=[course], help="a page about a class: points, misconceptions, time"
    )
    report.add_argument("lab", metavar="LAB")
    report.add_argument("--names", action="store_true", help="say whose each submission is")
    report.add_argument("--csv", action="store_true", help="write tables beside the page as well")
    report.add_argument(
        "--output", type=Path, metavar="FILE", help="the page (default: report-LAB.html)"
    )
    report.set_defaults(run=_report)

    export = commands.add_parser(
        "export", parents=[course], help="grades as CSV for another system"
    )
    export.add_argument("lab", metavar="LAB")
    export.add_argument(
        "--to", required=True, choices=("canvas", "moodle", "gradescope"), help="whose columns"
    )
    export.add_argument(
        "--output", type=Path, metavar="FILE", help="default: LAB-SYSTEM.csv; - for the terminal"
    )
    export.add_argument(
        "--column", metavar="NAME", help="what the assignment is called there (default: LAB)"
    )
    export.set_defaults(run=_export)

    whoami = commands.add_parser(
        "whoami", help="whose numbers labs use at this computer; with NAME, change it"
    )
    whoami.add_argument("name", nargs="?", metavar="NAME", help="as your course knows you")
    whoami.add_argument("--forget", action="store_true", help="forget what was said before")
    whoami.set_defaults(run=_whoami)


def _add_ledger(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """``mlsys ledger …``: carry a student's record to another machine, or verify one."""
    about = commands.add_parser("ledger", help="export, import or verify a student's record")
    actions = about.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    paths = argparse.ArgumentParser(add_help=False)
    paths.add_argument(
        "paths", nargs="*", type=Path, default=[Path()], metavar="PATH",
        help="a ledger, the folder of a lab, or a folder of labs (default: this one)",
    )  # fmt: skip

    export = actions.add_parser(
        "export", parents=[paths], help="pack a student's ledgers into one file"
    )
    export.add_argument(
        "--output", type=Path, default=Path("ledgers.json"), metavar="FILE",
        help="a new file (default: %(default)s)",
    )  # fmt: skip

    unpack = actions.add_parser("import", help="unpack such a file; overwrites no ledger")
    unpack.add_argument("file", type=Path, metavar="FILE", help="what mlsys ledger export wrote")
    unpack.add_argument(
        "folder", nargs="?", type=Path, default=Path(), metavar="FOLDER",
        help="the folder of the labs (default: this one)",
    )  # fmt: skip

    verify = actions.add_parser(
        "verify", parents=[paths], help="check whether ledgers are unbroken; changes nothing"
    )
    verify.add_argument(
        "--head", metavar="HASH", help="the ledger must still hold this event, noted earlier"
    )
    for action in (unpack, verify):
        action.add_argument("--student", metavar="STUDENT", help="whose they must be")
    about.set_defaults(run=_ledger)


def _add_courses(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """``mlsys course …``: a course from a bundle, its class, and its doctor."""
    about = commands.add_parser("course", help="make a course from a bundle; look after one")
    actions = about.add_subparsers(title="actions", metavar="ACTION", required=True)

    init = actions.add_parser("init", help="make a course from a bundle")
    init.add_argument("folder", type=Path, metavar="FOLDER", help="empty, or not there yet")
    init.add_argument(
        "--from", dest="bundle", type=Path, required=True, metavar="BUNDLE",
        help="what mlsys build --bundle made",
    )  # fmt: skip
    init.add_argument("--roster", type=Path, metavar="CSV", help="the class")
    init.add_argument(
        "--course-id", metavar="ID", help="what nbgrader calls the course (default: the bundle's)"
    )
    init.set_defaults(run=_course_init)

    roster = actions.add_parser("roster", help="add students and correct names; removes nobody")
    roster.add_argument("folder", type=Path, metavar="FOLDER", help="the course")
    roster.add_argument("roster", type=Path, metavar="CSV", help="the class")
    roster.set_defaults(run=_course_roster)

    doctor = actions.add_parser("doctor", help="what is wrong here, and how to mend it")
    doctor.add_argument(
        "folder", nargs="?", type=Path, default=Path(), metavar="FOLDER",
        help="the course (default: this folder)",
    )  # fmt: skip
    doctor.add_argument("--json", action="store_true", help="the findings as JSON")
    doctor.set_defaults(run=_course_doctor)


def _add_hub(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """``mlsys hub``: a JupyterHub for a course on this machine."""
    hub = commands.add_parser("hub", help="run a JupyterHub for a course on this machine")
    hub.add_argument(
        "--folder", type=Path, metavar="FOLDER", help="where all of it is kept (default: mlsys_hub)"
    )
    hub.add_argument(
        "--from", dest="bundle", type=Path, metavar="BUNDLE",
        help="make the course from what mlsys build --bundle made",
    )  # fmt: skip
    hub.add_argument(
        "--course", type=Path, metavar="FOLDER",
        help="make it from the labs of another course (default: this folder)",
    )  # fmt: skip
    hub.add_argument("--roster", type=Path, metavar="CSV", help="make a user for each student")
    hub.add_argument("--instructor", metavar="NAME", help="who teaches (default: instructor)")
    hub.add_argument("--student", metavar="NAME", help="to try it with (default: student)")
    hub.add_argument(
        "--ip", default="127.0.0.1", metavar="IP",
        help="listen there; other machines reach 0.0.0.0 (default: %(default)s)",
    )  # fmt: skip
    hub.add_argument("--port", type=int, metavar="N", help="default: 8000; --single: 8888")
    hub.add_argument("--cert", type=Path, metavar="FILE", help="certificate for https, with --key")
    hub.add_argument("--key", type=Path, metavar="FILE", help="its key")
    hub.add_argument(
        "--behind-proxy", action="store_true", help="something in front of it speaks https"
    )
    hub.add_argument(
        "--idle", type=int, default=60, metavar="MINUTES",
        help="stop servers that nobody uses (default: %(default)s; 0: never)",
    )  # fmt: skip
    hub.add_argument(
        "--python", type=Path, metavar="FILE",
        help="run servers with it (default: the one of mlsys, or one like it that users reach)",
    )  # fmt: skip
    hub.add_argument(
        "--single", action="store_true", help="a course for yourself alone, without root"
    )
    hub.add_argument("--passwords", action="store_true", help="print them, to hand out")
    hub.add_argument("--reset", action="store_true", help="remove all of it; asks first")
    hub.add_argument("--yes", action="store_true", help="with --reset: do not ask")
    hub.set_defaults(run=_hub)


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


def _build(arguments: argparse.Namespace) -> int:
    _spare_two_seconds()
    from rich.console import Console

    from mlsys_widgets.authoring import Course, build
    from mlsys_widgets.grading.advice import advise

    console = Console()
    course = Course.at(arguments.course)
    bundling = arguments.bundle is not None
    with console.status("Building") as status:
        if bundling:
            from mlsys_widgets.courses.command import to_build

            labs = to_build(course, arguments.labs)
            made = build(course, labs, say=status.update) if labs else []
        else:
            made = build(course, arguments.labs, say=status.update)
    for path in made:
        console.print(f"Wrote {path}", highlight=False)
    for lab in dict.fromkeys(path.parent.name for path in made):
        folder = course.folder("assignments", lab)
        for words in advise(folder, variants=course.variants, edition=course.edition):
            console.print(f"{lab}: {words}", style="yellow", highlight=False, markup=False)
    if bundling:
        from mlsys_widgets.courses.command import write_bundle

        return write_bundle(course, arguments.bundle)
    return 0


def _new_lab(arguments: argparse.Namespace) -> int:
    from mlsys_widgets.authoring import new_lab

    folder = new_lab(arguments.course, arguments.name)
    print(f"Wrote {folder}: a small lab that works. Change its three files, then run:")
    print(f"  mlsys build {arguments.name}")
    return 0


def _variant(arguments: argparse.Namespace) -> int:
    from mlsys_widgets.grading.student_view import student_view
    from mlsys_widgets.labs.course import Course

    course, student = Course.at(arguments.course), arguments.student
    work = course.root / "submitted" / student / arguments.lab
    shown = student_view(
        course.folder("assignments", arguments.lab), student,
        variants=course.variants, edition=course.edition, work=work if work.is_dir() else None,
    )  # fmt: skip
    _table(("parameter", "value", "unit", "is"), shown.parameters)
    for name, ask, key in shown.questions:
        print(f"\n{name}: {ask}\n  key: {key}")
        for belief in shown.beliefs.get(name, ()):
            print(f"    {belief}")
    return 0


def _spare_two_seconds() -> None:
    """Do without a parser of web addresses that jsonschema imports where it is installed."""
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


def _grade(arguments: argparse.Namespace) -> int:
    _spare_two_seconds()
    from mlsys_widgets.grading import command
    from mlsys_widgets.labs.course import Course

    return command.run(arguments, Course.at(arguments.course))


def _simulate(arguments: argparse.Namespace) -> int:
    from mlsys_widgets.classes.simulation import run

    return run(arguments)


def _report(arguments: argparse.Namespace) -> int:
    from mlsys_widgets.classes.command import run

    return run(arguments)


def _export(arguments: argparse.Namespace) -> int:
    from mlsys_widgets.classes.export import run

    return run(arguments)


def _ledger(arguments: argparse.Namespace) -> int:
    _spare_two_seconds()
    from mlsys_widgets.ledger.command import run

    return run(arguments)


def _course_init(arguments: argparse.Namespace) -> int:
    _spare_two_seconds()
    from mlsys_widgets.courses.command import init

    return init(arguments)


def _course_roster(arguments: argparse.Namespace) -> int:
    _spare_two_seconds()
    from mlsys_widgets.courses.command import roster

    return roster(arguments)


def _course_doctor(arguments: argparse.Namespace) -> int:
    _spare_two_seconds()
    from mlsys_widgets.courses.command import doctor

    return doctor(arguments)


def _hub(arguments: argparse.Namespace) -> int:
    _spare_two_seconds()
    from mlsys_widgets.hub.command import run

    return run(arguments)


def _whoami(arguments: argparse.Namespace) -> int:
    from mlsys_widgets.labs import identity

    if arguments.forget:
        identity.forget()
    if arguments.name:
        kept = identity.remember(arguments.name)
        print(f"Kept in {kept}. Restart the kernel of a lab that is open.")
    known = identity.student()
    print(f"Labs here are those of {known.name}, known from {known.known_from}.")
    return 0


def _sources(entry: CatalogEntry) -> int:
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
