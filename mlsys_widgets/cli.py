"""``mlsys``: the command line, a thin parser. What a command does is in its room's ``command.py``.

Every parser knows the exit codes of its command, so ``--help`` and the pages show them. An expected
failure prints one sentence, never a traceback.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

from mlsys_widgets import __version__

_Commands: TypeAlias = "argparse._SubParsersAction[CommandParser]"
_Run = Callable[[argparse.Namespace], int]

#: What every command may end with, unless its parser says it in other words.
EXIT_CODES: Final[Mapping[int, str]] = {
    0: "done",
    1: "it could not be done; a sentence on stderr says why",
    2: "the command was not understood; nothing was done",
    130: "interrupted with Ctrl-C",
}
_HUB_DISAGREES: Final = "it could not be done, or the hub reports a problem with this person"
_NOT_AGREED: Final = "it could not be done, or you did not agree; then nothing was changed"


class CommandParser(argparse.ArgumentParser):
    """A parser that knows with which codes its command ends, and says so in its help."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.exit_codes: dict[int, str] = dict(EXIT_CODES)

    def ends_with(self, codes: Mapping[int, str]) -> None:
        """Say what codes mean for this command; the usual ones stay as they are."""
        self.exit_codes = dict(sorted({**self.exit_codes, **codes}.items()))

    @property
    def actions(self) -> dict[str, CommandParser]:
        """The commands, actions or tasks below this one, by name."""
        for each in self._actions:
            if isinstance(each, argparse._SubParsersAction):
                return dict(each.choices)
        return {}

    @property
    def runs(self) -> bool:
        """Whether it does something itself, and not only what is below it."""
        below = (each for each in self._actions if isinstance(each, argparse._SubParsersAction))
        return not any(each.required for each in below)

    def format_help(self) -> str:
        """The help, with the exit codes at its end."""
        if not self.runs:
            return super().format_help()
        width = shutil.get_terminal_size().columns - 2
        lines = [
            textwrap.fill(words, width, initial_indent=f"  {code:<5}", subsequent_indent=" " * 7)
            for code, words in self.exit_codes.items()
        ]
        return super().format_help() + "\nexit codes:\n" + "\n".join(lines) + "\n"


@dataclass(frozen=True)
class _RoomCommand:
    """A command as ``room.module:function``, imported only when it runs: rooms load slowly."""

    place: str

    def __call__(self, arguments: argparse.Namespace) -> int:
        module, _, function = self.place.partition(":")
        command: _Run = getattr(import_module(f"mlsys_widgets.{module}"), function)
        return command(arguments)


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``mlsys`` and return its exit code."""
    words = sys.argv[1:] if argv is None else argv
    parser = command_parser(measuring="measure" in words)
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
            f"mlsys: this needs {problem.name}, which is not installed; it comes with the tools for"
            " teaching assistants: pip install 'mlsys-widgets[ta]'",
            file=sys.stderr,
        )
        return 1
    except (ValueError, OSError) as problem:
        print(f"mlsys: {problem}", file=sys.stderr)
        return 1


def _in_room(name: str) -> _RoomCommand:
    return _RoomCommand(name)


def command_parser(*, measuring: bool = True) -> CommandParser:
    """The parser of all commands; without ``measuring``, that of ``mlsys measure`` stays empty."""
    parser = CommandParser(
        prog="mlsys", description="Interactive, gradable machine-learning-systems labs."
    )
    parser.add_argument("--version", action="version", version=f"mlsys {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_physics(commands)
    _add_measurements(commands, measuring=measuring)
    course = CommandParser(add_help=False)
    course.add_argument(
        "--course", type=Path, default=Path(), metavar="FOLDER",
        help="the folder that holds assignments/ (default: this one)",
    )  # fmt: skip
    _add_authoring(commands, course)
    _add_grading(commands, course)
    _add_regrading(commands, course)
    _add_classes(commands, course)
    _add_push(commands, course)
    _add_identity(commands)
    _add_hand_in(commands)
    _add_ledger(commands)
    _add_courses(commands)
    _add_hub(commands)
    return parser


def _add_physics(commands: _Commands) -> None:
    devices = commands.add_parser("devices", help="the machines of the course and their numbers")
    devices.add_argument("device", nargs="?", metavar="DEVICE", help="one machine, with sources")
    devices.set_defaults(run=_in_room("measured.command:run_devices"))

    workloads = commands.add_parser("workloads", help="the workloads of the course")
    workloads.add_argument("workload", nargs="?", metavar="WORKLOAD", help="one, with sources")
    workloads.set_defaults(run=_in_room("measured.command:run_workloads"))


def _add_measurements(commands: _Commands, *, measuring: bool) -> None:
    measure = commands.add_parser("measure", help="measure the roofline of this machine")
    if measuring:  # the module that knows its options imports numpy
        from mlsys_widgets.measured import measurement

        measurement.add_arguments(measure)
        measure.set_defaults(run=measurement.run)
    measure.ends_with({130: "interrupted; nothing was saved", 143: "terminated; nothing was saved"})

    validate = commands.add_parser("validate", help="compare the model with a measurement")
    validate.add_argument(
        "measurement", nargs="?", default="h200-sxm", metavar="MEASUREMENT",
        help="a file, or the name of one that ships (default: %(default)s)",
    )  # fmt: skip
    validate.add_argument("--cases", action="store_true", help="show every case")
    validate.add_argument(
        "--report", type=Path, metavar="FOLDER", help="write a page with tables and plots there"
    )
    validate.add_argument(
        "--stability", action="store_true",
        help="fit ten times more, each time without a tenth of the cases (some minutes)",
    )  # fmt: skip
    validate.set_defaults(run=_in_room("measured.command:run_validate"))
    calibrate = commands.add_parser(
        "calibrate", help="fit the calibrated form to a measurement of a GPU"
    )
    calibrate.add_argument("measurement", metavar="MEASUREMENT", help="a file, or what ships")
    calibrate.add_argument("--out", type=Path, required=True, metavar="FILE", help="where to save")
    calibrate.set_defaults(run=_in_room("measured.command:run_calibrate"))


def _add_authoring(commands: _Commands, course: CommandParser) -> None:
    build = commands.add_parser(
        "build", parents=[course], help="build the notebooks of labs from their text"
    )
    build.add_argument("labs", nargs="*", metavar="LAB", help="their names (default: all labs)")
    build.add_argument(
        "--bundle", nargs="?", type=Path, const=Path(), metavar="FILE",
        help="build what has changed, and pack all labs into one archive for mlsys course init"
        " (default: build/COURSE-VERSION.tar.gz)",
    )  # fmt: skip
    build.add_argument(
        "--without-people", action="store_true",
        help="pack no names: sections without students, no extensions, no staff; for another class",
    )  # fmt: skip
    build.set_defaults(run=_in_room("courses.command:run_build"))

    new_lab = commands.add_parser(
        "new-lab", parents=[course], help="start a lab of your own from a small one that works"
    )
    new_lab.add_argument("name", metavar="NAME", help="such as lab_02_caches")
    new_lab.set_defaults(run=_in_room("authoring.command:run_new_lab"))


def _add_grading(commands: _Commands, course: CommandParser) -> None:
    variant = commands.add_parser(
        "variant", parents=[course], help="show what a student saw in a lab, and the key to it"
    )
    variant.add_argument("lab", metavar="LAB", help="its name, such as lab_01_magnitude")
    variant.add_argument("student", metavar="STUDENT", help="as nbgrader files the submission")
    variant.set_defaults(run=_in_room("grading.judging.student_view:run"))

    grade = commands.add_parser(
        "grade", parents=[course], help="grade a class: fast, isolated, into nbgrader's gradebook"
    )
    grade.add_argument("lab", metavar="LAB", help="its name, such as lab_01_magnitude")
    grade.add_argument(
        "--from", dest="handed_in", type=Path, metavar="FOLDER",
        help="first take in the files that students made with mlsys hand-in",
    )  # fmt: skip
    grade.add_argument(
        "--students", default="*", metavar="GLOB", help="only names that match, such as 'a*'"
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
        "--resume", action="store_true", help="continue with a class that was interrupted"
    )
    grade.add_argument("--force", action="store_true", help="grade everything again")
    grade.add_argument(
        "--skip", action="append", default=[], metavar="STUDENT",
        help="leave a student out; can be given several times",
    )  # fmt: skip
    grade.add_argument(
        "--run", dest="run_all", action="store_true",
        help="run every notebook, also where the ledger has all answers",
    )  # fmt: skip
    grade.add_argument(
        "--audit", default="0%", metavar="PERCENT",
        help="run a sample of those graded by record and compare, such as 5%%",
    )  # fmt: skip
    grade.add_argument("--json", action="store_true", help="a line of JSON for each submission")
    grade.add_argument("--verbose", "-v", action="store_true", help="a line for each submission")
    grade.set_defaults(run=_grade)
    grade.ends_with(
        {
            3: "graded, and a person must look: at something flagged, or a file that was refused",
            130: "interrupted; what is graded is kept, and --resume continues",
        }
    )


def _add_regrading(commands: _Commands, course: CommandParser) -> None:
    regrade = commands.add_parser(
        "regrade", parents=[course], help="apply changed keys to a graded class; runs nothing"
    )
    regrade.add_argument("lab", metavar="LAB", help="its name, such as lab_01_magnitude")
    regrade.add_argument(
        "--students", default="*", metavar="GLOB", help="only names that match, such as 'a*'"
    )
    regrade.add_argument(
        "--apply", action="store_true", help="do it (default: show who changes by how much)"
    )
    regrade.add_argument("--reason", metavar="WORDS", help="why; kept with every changed grade")
    regrade.add_argument("--json", action="store_true", help="a line of JSON for each submission")
    regrade.set_defaults(run=_regrade)
    regrade.ends_with(
        {
            3: "done, and a person must look: some answers could not be judged again, or were not"
            " kept"
        }
    )

    history = commands.add_parser(
        "history", parents=[course], help="every change of a grade: who, when, why, from, to"
    )
    history.add_argument(
        "name", nargs="?", metavar="LAB|STUDENT", help="one lab, or one student (default: all)"
    )
    history.add_argument("--student", metavar="STUDENT", help="only this student")
    history.add_argument("--json", action="store_true", help="a line of JSON for each change")
    history.set_defaults(run=_in_room("grading.regrading.regrade_command:run_history"))
    history.ends_with({3: "shown, and a person must look: the history itself does not fit"})

    looks = commands.add_parser(
        "second-looks", parents=[course], help="what students ask somebody to look at again"
    )
    looks.add_argument(
        "lab", nargs="?", metavar="LAB", help="one lab, or the word close (default: all labs)"
    )
    looks.add_argument("words", nargs="*", metavar="NUMBER ANSWER",
        help="after close: which request, and what the student is told",
    )  # fmt: skip
    looks.add_argument("--all", action="store_true", help="closed ones as well")
    looks.add_argument("--section", metavar="NAME", help="only students of this section")
    looks.add_argument("--json", action="store_true", help="a line of JSON for each")
    looks.set_defaults(run=_in_room("grading.feedback.second_looks_command:run"))


def _add_classes(commands: _Commands, course: CommandParser) -> None:
    simulate = commands.add_parser(
        "simulate", parents=[course], help="invent a class that has submitted a lab"
    )
    simulate.add_argument("lab", metavar="LAB", help="its name, such as lab_01_magnitude")
    simulate.add_argument("--students", type=int, required=True, metavar="N", help="how many")
    simulate.add_argument(
        "--seed", type=int, default=0, metavar="K", help="the same seed gives the same class"
    )
    simulate.add_argument(
        "--kinds", metavar="KIND,KIND", help="only submissions of these kinds, such as right,late"
    )
    simulate.add_argument(
        "--beside", type=Path, action="append", metavar="FILE",
        help="a file that everybody has beside the notebook, such as a measurement",
    )  # fmt: skip
    simulate.add_argument(
        "--force", action="store_true", help="replace what these students submitted before"
    )
    simulate.set_defaults(run=_in_room("classes.simulation:run"))

    report = commands.add_parser(
        "report", parents=[course], help="a page about a class: points, misconceptions, time"
    )
    report.add_argument("lab", nargs="?", metavar="LAB", help="without it, the whole course")
    report.add_argument("--names", action="store_true", help="say whose each submission is")
    report.add_argument("--csv", action="store_true", help="write tables beside the page as well")
    report.add_argument(
        "--output", type=Path, metavar="FILE", help="the page (default: report-LAB.html)"
    )
    report.set_defaults(run=_in_room("classes.command:run"))

    export = commands.add_parser(
        "export", parents=[course], help="grades as CSV for another system"
    )
    export.add_argument(
        "lab", nargs="?", metavar="LAB", help="without it, all labs and the course's total"
    )
    export.add_argument(
        "--to", required=True, choices=("canvas", "moodle", "gradescope", "csv"),
        help="whose columns; csv: all labs for a spreadsheet",
    )  # fmt: skip
    export.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="where to write, - for the terminal (default: LAB-SYSTEM.csv)",
    )
    export.add_argument(
        "--column", metavar="NAME", help="what the assignment is called there (default: LAB)"
    )
    export.set_defaults(run=_in_room("classes.export:run"))


def _add_push(commands: _Commands, course: CommandParser) -> None:
    push = commands.add_parser(
        "push",
        parents=[course],
        help="send grades to the learning system; shows first what differs",
    )
    push.add_argument("labs", nargs="*", metavar="LAB", help="one or more")
    push.add_argument("--apply", action="store_true", help="send; without it nothing is changed")
    push.add_argument(
        "--overwrite", action="store_true",
        help="with --apply: send also where somebody changed the score in the learning system",
    )  # fmt: skip
    push.add_argument("--json", action="store_true", help="the comparison as JSON")
    push.add_argument(
        "--keys", nargs="?", const="jwks", choices=("jwks", "jwk", "pem"),
        help="print the course's public key for the administrator, and make it if there is none",
    )  # fmt: skip
    push.set_defaults(run=_in_room("classes.lms_command:run"))
    push.ends_with(
        {
            1: "something could not be sent, or nothing could; sentences say what",
            3: "a person must look: the learning system does not know a student, or has another"
            " score than was sent",
        }
    )


def _add_identity(commands: _Commands) -> None:
    whoami = commands.add_parser(
        "whoami", help="whose numbers labs use on this computer; with NAME, change it"
    )
    whoami.add_argument("name", nargs="?", metavar="NAME", help="as your course knows you")
    whoami.add_argument("--forget", action="store_true", help="forget the name you gave before")
    whoami.set_defaults(run=_in_room("labs.command:run_whoami"))


def _add_hand_in(commands: _Commands) -> None:
    hand_in = commands.add_parser(
        "hand-in", help="say what is missing in a lab, and make one file to hand in"
    )
    hand_in.add_argument(
        "lab", nargs="?", type=Path, default=Path(), metavar="LAB",
        help="the folder of the lab, or its notebook (default: this folder)",
    )  # fmt: skip
    hand_in.add_argument("--anyway", action="store_true", help="do not ask, whatever is missing")
    hand_in.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="where the file goes (default: beside the lab)",
    )
    hand_in.set_defaults(run=_in_room("handin.command:run"))
    hand_in.ends_with({1: "nothing was handed in: you did not agree, or it could not be done"})


def _add_ledger(commands: _Commands) -> None:
    about = commands.add_parser("ledger", help="export, import or verify a student's record")
    actions = about.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    paths = CommandParser(add_help=False)
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
    verify.ends_with({1: "a ledger does not verify, or cannot be read"})
    about.set_defaults(run=_in_room("ledger.command:run"))


def _add_courses(commands: _Commands) -> None:
    about = commands.add_parser("course", help="make a course from a bundle; look after one")
    actions = about.add_subparsers(title="actions", metavar="ACTION", required=True)

    init = actions.add_parser("init", help="make a course from a bundle")
    init.add_argument("folder", type=Path, metavar="FOLDER", help="empty, or not there yet")
    init.add_argument(
        "--from", dest="bundle", type=Path, required=True, metavar="BUNDLE",
        help="the archive that mlsys build --bundle wrote",
    )  # fmt: skip
    init.add_argument("--roster", type=Path, metavar="CSV", help="the class")
    init.add_argument(
        "--course-id", metavar="ID", help="what nbgrader calls the course (default: the bundle's)"
    )
    init.set_defaults(run=_in_room("courses.command:run_init"))

    roster = actions.add_parser("roster", help="add students and correct names; removes nobody")
    roster.add_argument("folder", type=Path, metavar="FOLDER", help="the course")
    roster.add_argument("roster", type=Path, metavar="CSV", help="the class")
    roster.set_defaults(run=_in_room("courses.command:run_roster"))

    here = CommandParser(add_help=False)
    here.add_argument(
        "folder", nargs="?", type=Path, default=Path(), metavar="FOLDER",
        help="the course (default: this folder)",
    )  # fmt: skip
    calendar = actions.add_parser(
        "calendar", parents=[here], help="when labs open and are due, and for whom"
    )
    calendar.add_argument("--student", metavar="NAME", help="as this student has it")
    calendar.set_defaults(run=_in_room("courses.term:run_calendar"))

    extend = actions.add_parser("extend", help="give one student more time, with a reason")
    extend.add_argument("student", metavar="STUDENT", help="who")
    extend.add_argument("lab", metavar="LAB", help="for which lab; '*' for all")
    time = extend.add_mutually_exclusive_group(required=True)
    time.add_argument("--days", type=float, metavar="N", help="so many days more")
    time.add_argument(
        "--due", type=_moment, metavar="TIME",
        help="until then, such as 2026-11-09T23:59, in the course's time zone",
    )  # fmt: skip
    extend.add_argument("--reason", required=True, metavar="TEXT", help="kept in the settings")
    extend.add_argument(
        "--folder", type=Path, default=Path(), metavar="FOLDER",
        help="the course (default: this folder)",
    )  # fmt: skip
    extend.set_defaults(run=_in_room("courses.term:run_extend"))

    _add_versions(actions)
    _add_people(actions)

    doctor = actions.add_parser(
        "doctor", parents=[here], help="what is wrong here, and how to fix it"
    )
    doctor.add_argument("--json", action="store_true", help="the findings as JSON")
    doctor.set_defaults(run=_in_room("courses.command:run_doctor"))
    doctor.ends_with({1: "something must be fixed; the findings say how"})


def _add_versions(actions: _Commands) -> None:
    here = CommandParser(add_help=False)
    here.add_argument("lab", metavar="LAB", help="its name, such as lab_01_magnitude")
    here.add_argument(
        "--folder", type=Path, default=Path(), metavar="FOLDER",
        help="the course (default: this folder)",
    )  # fmt: skip
    versions = actions.add_parser(
        "versions", parents=[here], help="which versions of a lab there are, and who has which"
    )
    versions.add_argument("--json", action="store_true", help="the same as JSON")
    versions.set_defaults(run=_in_room("courses.version_list:run_versions"))
    release = actions.add_parser(
        "release", parents=[here], help="release a lab, also again after it was fixed"
    )
    release.add_argument("--note", metavar="TEXT", help="what changed, in a line for students")
    release.add_argument(
        "--version", metavar="VERSION", help="only note that students have this version"
    )
    release.set_defaults(run=_in_room("courses.version_list:run_release"))


def _add_people(actions: _Commands) -> None:
    folder = CommandParser(add_help=False)
    folder.add_argument(
        "--folder", type=Path, default=Path(), metavar="FOLDER",
        help="the course (default: this folder)",
    )  # fmt: skip
    asking = CommandParser(add_help=False)
    asking.add_argument("--yes", action="store_true", help="do not ask")
    student = CommandParser(add_help=False)
    student.add_argument("student", metavar="STUDENT", help="the login")

    people = actions.add_parser("people", parents=[folder], help="who is in the course")
    people.set_defaults(run=_in_room("courses.people_command:run_people"))
    add = actions.add_parser("add", parents=[folder, student], help="add a student, or take back")
    add.add_argument("--name", metavar="NAME", help="first and last name")
    add.add_argument("--email", metavar="EMAIL", help="kept in the gradebook")
    add.add_argument("--section", metavar="SECTION", help="made if there is none of this name")
    add.set_defaults(run=_in_room("courses.people_command:run_add"))
    add.ends_with({1: _HUB_DISAGREES})
    for name, words in (
        ("drop", "let a student leave; work and grades are kept"),
        ("lock", "let a student not log in for now"),
        ("unlock", "let a student log in again"),
    ):
        action = actions.add_parser(name, parents=[folder, student], help=words)
        action.set_defaults(run=_in_room(f"courses.people_command:run_{name}"))
        action.ends_with({1: _HUB_DISAGREES})
    rename = actions.add_parser(
        "rename", parents=[folder], help="give a student another login; work stays valid"
    )
    rename.add_argument("old", metavar="OLD", help="the login until now")
    rename.add_argument("new", metavar="NEW", help="the login from now on; nobody may have it")
    rename.set_defaults(run=_in_room("courses.people_command:run_rename"))
    rename.ends_with({1: _HUB_DISAGREES})
    merge = actions.add_parser(
        "merge", parents=[folder, asking], help="make one student of two logins; asks first"
    )
    merge.add_argument("source", metavar="FROM", help="the login that goes away")
    merge.add_argument("into", metavar="INTO", help="whose work counts where both have some")
    merge.set_defaults(run=_in_room("courses.people_command:run_merge"))
    merge.ends_with({1: _NOT_AGREED})
    staff = actions.add_parser("staff", parents=[folder], help="let somebody teach")
    staff.add_argument("name", metavar="NAME", help="the login")
    staff.add_argument(
        "--role", choices=("instructor", "ta"), help="an instructor may do everything; a TA grades"
    )
    staff.add_argument(
        "--section", action="append", default=[], metavar="SECTION",
        help="whose work a TA grades first; can be given several times",
    )  # fmt: skip
    staff.add_argument("--remove", action="store_true", help="they no longer teach")
    staff.set_defaults(run=_in_room("courses.people_command:run_staff"))
    staff.ends_with({1: _HUB_DISAGREES})
    split = actions.add_parser(
        "split", parents=[folder], help="split what a person grades in a lab among TAs"
    )
    split.add_argument("lab", metavar="LAB", help="its name, such as lab_01_magnitude")
    split.add_argument("--names", action="store_true", help="say whose each submission is")
    split.set_defaults(run=_in_room("courses.grading_split:run"))
    forget = actions.add_parser(
        "forget", parents=[folder, student, asking],
        help="remove a person everywhere; says where, and asks",
    )  # fmt: skip
    forget.set_defaults(run=_in_room("courses.person_files:run_forget"))
    forget.ends_with({1: "you did not agree, or something could not be removed; it is named"})
    copy = actions.add_parser(
        "copy", parents=[folder, student], help="write all that is kept about a person to a file"
    )
    copy.add_argument("--to", type=Path, required=True, metavar="FILE", help="a new zip file")
    copy.set_defaults(run=_in_room("courses.person_files:run_copy"))


def _moment(said: str) -> datetime:
    try:
        return datetime.fromisoformat(said)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{said!r} is not a time; write it like 2026-11-09T23:59"
        ) from None


def _add_hub(commands: _Commands) -> None:
    hub = commands.add_parser("hub", help="run a JupyterHub for a course on this machine")
    hub.add_argument(
        "--folder",
        type=Path,
        metavar="FOLDER",
        help="where everything is kept (default: mlsys_hub)",
    )
    hub.add_argument(
        "--from", dest="bundle", type=Path, metavar="BUNDLE",
        help="make the course from the archive that mlsys build --bundle wrote",
    )  # fmt: skip
    hub.add_argument(
        "--course", type=Path, metavar="FOLDER",
        help="make it from the labs of another course (default: this folder)",
    )  # fmt: skip
    hub.add_argument("--roster", type=Path, metavar="CSV", help="create a user for each student")
    hub.add_argument("--instructor", metavar="NAME", help="who teaches (default: instructor)")
    hub.add_argument("--student", metavar="NAME", help="to try it with (default: student)")
    hub.add_argument(
        "--ip", default="127.0.0.1", metavar="IP",
        help="listen there; other machines reach 0.0.0.0 (default: %(default)s)",
    )  # fmt: skip
    hub.add_argument(
        "--port", type=int, metavar="N", help="where it listens (default: 8000, with --single 8888)"
    )
    hub.add_argument("--cert", type=Path, metavar="FILE", help="certificate for https, with --key")
    hub.add_argument("--key", type=Path, metavar="FILE", help="its key")
    hub.add_argument(
        "--behind-proxy", action="store_true", help="something in front of the hub handles https"
    )
    hub.add_argument(
        "--idle", type=int, default=60, metavar="MINUTES",
        help="stop servers that nobody uses (default: %(default)s; 0: never)",
    )  # fmt: skip
    hub.add_argument(
        "--python", type=Path, metavar="FILE",
        help="run servers with it (default: the one of mlsys, or a copy that users can reach)",
    )  # fmt: skip
    hub.add_argument(
        "--single", action="store_true", help="a course for yourself alone, without root"
    )
    hub.add_argument("--passwords", action="store_true", help="print them, to hand out")
    hub.add_argument("--reset", action="store_true", help="remove all of it; asks first")
    hub.add_argument("--yes", action="store_true", help="with --reset: do not ask")
    hub.add_argument(
        "--oidc", type=Path, metavar="FILE",
        help="settings of an identity provider to sign in with, too"
        " (docs/administrators/hub_service.md)",
    )  # fmt: skip
    hub.set_defaults(run=_in_room("hub.command:run"))
    hub.ends_with({1: "it could not be done, or with --reset you did not agree"})
    _add_hub_tasks(hub)


def _add_hub_tasks(hub: CommandParser) -> None:
    """What is done with a hub besides running it; options of the hub come before, or after."""
    folder = CommandParser(add_help=False)
    folder.add_argument(
        "--folder", type=Path, default=argparse.SUPPRESS, metavar="FOLDER",
        help="the hub's folder (default: mlsys_hub)",
    )  # fmt: skip
    tasks = hub.add_subparsers(dest="task", metavar="TASK", title="tasks")
    backup = tasks.add_parser(
        "backup", parents=[folder], help="copy everything into one file, while the hub runs"
    )
    backup.add_argument("file", type=Path, metavar="FILE", help="a new file, as mlsys.tar.gz")
    restore = tasks.add_parser(
        "restore", parents=[folder], help="a hub with its users from such a file"
    )
    restore.add_argument("file", type=Path, metavar="FILE", help="what mlsys hub backup wrote")
    tasks.add_parser(
        "upgrade", parents=[folder],
        help="make a running hub use the version that is installed now; students keep working",
    )  # fmt: skip
    health = tasks.add_parser("health", parents=[folder], help="ask a running hub how it is")
    health.ends_with({1: "the hub is not well, or does not run"})
    service = tasks.add_parser(
        "service", parents=[folder], help="let systemd start the hub, with the options before this"
    )
    service.add_argument(
        "action", choices=("install", "remove", "show"),
        help="write the unit and start it; stop it and remove the unit; or only print the unit",
    )  # fmt: skip
    service.add_argument(
        "--name", default="mlsys-hub", metavar="NAME", help="of the unit (default: %(default)s)"
    )


def _grade(arguments: argparse.Namespace) -> int:
    from mlsys_widgets.course.course import Course
    from mlsys_widgets.grading import command
    from mlsys_widgets.grading.judging.lab_copies import is_noted

    course = Course.at(arguments.course)
    if not is_noted(course, arguments.lab):  # what does that takes long to import
        from mlsys_widgets.courses.lab_releases import notice_release

        notice_release(course, arguments.lab)
    return command.run(arguments, course)


def _regrade(arguments: argparse.Namespace) -> int:
    from mlsys_widgets.grading.regrading import regrade_command

    code = regrade_command.run_regrade(arguments)
    if arguments.apply:
        # With the version that students have: after the next one, its copies are still judged.
        from mlsys_widgets.authoring.version_keeper import keep_version
        from mlsys_widgets.course.course import Course

        keep_version(Course.at(arguments.course), arguments.lab)
    return code
