"""``mlsys``: the command line, a thin parser. What a command does is in its room's ``command.py``.

Every parser knows the exit codes of its command, so ``--help`` and the pages show them. An expected
failure prints one sentence, never a traceback.
"""

from __future__ import annotations

import argparse
import faulthandler
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mlsys_widgets import __version__

if TYPE_CHECKING:
    from mlsys_widgets.course.course import Course
    from mlsys_widgets.sandbox.engine import Engine

_Commands: TypeAlias = "argparse._SubParsersAction[CommandParser]"
_Run = Callable[[argparse.Namespace], int]

#: What every command may end with, unless its parser says it in other words.
EXIT_CODES: Final[Mapping[int, str]] = {
    0: "done",
    1: "it could not be done; a sentence on stderr says why",
    2: "the command was not understood; nothing was done",
    130: "interrupted with Ctrl-C",
}


def _amount(text: str) -> float:
    try:
        if 0 <= (amount := float(text)) < 1e6:
            return amount
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is not an amount; write it like 2 or 1.5")


#: How a value is read, by what stands for it in the help.
_KINDS: Final[Mapping[str, Callable[[str], Any]]] = {
    **dict.fromkeys(("FOLDER", "FILE", "CSV", "BUNDLE"), Path),
    **dict.fromkeys(("N", "K", "MINUTES", "MB"), int),
    **dict.fromkeys(("GIB", "CORES"), _amount),
}
_HUB_DISAGREES: Final = "it could not be done, or the hub reports a problem with this person"
_NOT_AGREED: Final = "it could not be done, or you did not agree; then nothing was changed"


class CommandParser(argparse.ArgumentParser):
    """A parser that knows with which codes its command ends, and says so in its help."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.exit_codes: dict[int, str] = dict(EXIT_CODES)

    def option(self, words: str, about: str, **more: Any) -> None:
        """Add an argument; see `_option`."""
        _option(self, words, about, **more)

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
        """Return the help, with the exit codes at its end."""
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
    if not faulthandler.is_enabled() and sys.stderr is sys.__stderr__:
        faulthandler.enable()  # so that a library that crashes says where
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
        from mlsys_widgets.wording.system_errors import error_sentence

        print(f"mlsys: {error_sentence(problem)}", file=sys.stderr)
        return 1


def _option(parser: argparse._ActionsContainer, words: str, about: str, **more: Any) -> None:
    """Add an argument: its name, then what stands for its value in the help.

    An option without a value is a switch; what is called ``FILE`` or ``N`` is read as such.
    """
    name, _, metavar = words.partition(" ")
    if metavar:
        more = {"metavar": metavar, "type": _KINDS.get(metavar), **more}
    elif "choices" not in more:
        more["action"] = "store_true"
    parser.add_argument(name, help=about, **more)


def _command(
    commands: _Commands, name: str, run: str | _Run, about: str, *parents: CommandParser
) -> CommandParser:
    """Add a command that runs a function of a room; without one, what is below it runs."""
    parser = commands.add_parser(name, help=about, parents=parents)
    if run:
        parser.set_defaults(run=_RoomCommand(run) if isinstance(run, str) else run)
    return parser


def command_parser(*, measuring: bool = True) -> CommandParser:
    """Return the parser of all commands; only with ``measuring`` it knows those of ``measure``."""
    parser = CommandParser(
        prog="mlsys", description="Interactive, gradable machine-learning-systems labs."
    )
    parser.add_argument("--version", action="version", version=f"mlsys {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_physics(commands)
    _add_measurements(commands, measuring=measuring)
    course = CommandParser(add_help=False)
    course.option(
        "--course FOLDER", "the folder that holds assignments/ (default: this one)", default=Path()
    )
    _add_authoring(commands, course)
    _add_grading(commands, course)
    _add_regrading(commands, course)
    _add_essays(commands, course)
    _add_classes(commands, course)
    _add_push(commands, course)
    _add_identity(commands)
    _add_hand_in(commands)
    _add_ledger(commands)
    _add_courses(commands)
    _add_hub(commands)
    return parser


# One argument after the other: its name, what it is for, and the rest.
# fmt: off


def _add_physics(commands: _Commands) -> None:
    devices = _command(commands, "devices", "measured.command:run_devices",
                       "the machines of the course and their numbers")
    devices.option("device DEVICE", "one machine, with sources", nargs="?")

    workloads = _command(commands, "workloads", "measured.command:run_workloads",
                         "the workloads of the course")
    workloads.option("workload WORKLOAD", "one, with sources", nargs="?")


def _add_measurements(commands: _Commands, *, measuring: bool) -> None:
    measure = _command(commands, "measure", "", "measure the roofline of this machine")
    if measuring:  # the module that knows its options imports numpy
        from mlsys_widgets.measured import measurement

        measurement.add_arguments(measure)
        measure.set_defaults(run=measurement.run)
    measure.ends_with({130: "interrupted; nothing was saved", 143: "terminated; nothing was saved"})

    validate = _command(commands, "validate", "measured.command:run_validate",
                        "compare the model with a measurement")
    validate.option("measurement MEASUREMENT", "a file, or the name of one that ships (default:"
                    " %(default)s)", nargs="?", default="h200-sxm")
    validate.option("--cases", "show every case")
    validate.option("--report FOLDER", "write a page with tables and plots there")
    validate.option("--stability", "fit ten times more, each time without a tenth of the cases"
                    " (some minutes)")
    calibrate = _command(commands, "calibrate", "measured.command:run_calibrate",
                         "fit the calibrated form to a measurement of a GPU")
    calibrate.option("measurement MEASUREMENT", "a file, or what ships")
    calibrate.option("--out FILE", "where to save", required=True)


def _add_authoring(commands: _Commands, course: CommandParser) -> None:
    build = _command(commands, "build", "courses.command:run_build",
                     "build the notebooks of labs from their text", course)
    build.option("labs LAB", "their names (default: all labs)", nargs="*")
    build.option("--bundle FILE", "build what has changed, and pack all labs into one archive for"
                 " mlsys course init (default: build/COURSE-VERSION.tar.gz)", nargs="?",
                 const=Path())
    build.option("--practice FOLDER", "and lay out copies for practice there, with their checks")
    build.option("--without-people", "pack no names: sections without students, no extensions, no"
                 " staff; for another class")

    new_lab = _command(commands, "new-lab", "authoring.command:run_new_lab",
                       "start a lab of your own from a small one that works", course)
    new_lab.option("name NAME", "such as lab_02_caches")


def _add_grading(commands: _Commands, course: CommandParser) -> None:
    variant = _command(commands, "variant", "grading.judging.student_view:run",
                       "show what a student saw in a lab, and the key to it", course)
    variant.option("lab LAB", "its name, such as lab_01_magnitude")
    variant.option("student STUDENT", "as nbgrader files the submission")

    grade = _command(commands, "grade", _grade, "grade a class: fast, isolated, into nbgrader's"
                     " gradebook", course)
    grade.option("lab LAB", "its name, such as lab_01_magnitude")
    grade.option("--from FOLDER", "first take in the files that students made with mlsys hand-in",
                 dest="handed_in")
    grade.option("--strangers", "with --from, take in people who are not in the gradebook, too")
    grade.option("--students GLOB", "only names that match, such as 'a*'", default="*")
    grade.option("--workers N", "submissions at a time (default: one per core)")
    grade.option("--engine local|slurm|ADDRESS", "this machine, jobs of a Slurm cluster, or the"
                 " address of a Dask scheduler (default: local)", default="local")
    grade.option("--sandbox", "none: run student code without isolation (default: auto)",
                 choices=("auto", "none"), default="auto")
    grade.option("--resume", "continue with a class that was interrupted")
    grade.option("--force", "grade everything again")
    grade.option("--skip STUDENT", "leave a student out; can be given several times",
                 action="append", default=[])
    grade.option("--run", "run every notebook, also where the ledger has all answers",
                 dest="run_all")
    grade.option("--audit PERCENT", "run a random sample of those graded by record and compare,"
                 " such as 5%%; 0%% for none (default: 2%%, and at least two)")
    grade.option("--json", "a line of JSON for each submission")
    grade.add_argument("--verbose", "-v", action="store_true", help="a line for each submission")
    grade.ends_with(
        {
            3: "graded, and a person must look: at something flagged, or a file that was refused",
            130: "interrupted; what is graded is kept, and --resume continues",
        }
    )


def _add_regrading(commands: _Commands, course: CommandParser) -> None:
    regrade = _command(commands, "regrade", _regrade, "apply changed keys to a graded class; runs"
                       " nothing", course)
    regrade.option("lab LAB", "its name, such as lab_01_magnitude")
    regrade.option("--students GLOB", "only names that match, such as 'a*'", default="*")
    regrade.option("--apply", "do it (default: show who changes by how much)")
    regrade.option("--reason WORDS", "why; kept with every changed grade")
    regrade.option("--json", "a line of JSON for each submission")
    regrade.ends_with(
        {
            3: "done, and a person must look: some answers could not be judged again, or were not"
            " kept"
        }
    )

    history = _command(commands, "history", "grading.regrading.regrade_command:run_history",
                       "every change of a grade: who, when, why, from, to", course)
    history.option("name LAB|STUDENT", "one lab, or one student (default: all)", nargs="?")
    history.option("--student STUDENT", "only this student")
    history.option("--json", "a line of JSON for each change")
    history.ends_with({3: "shown, and a person must look: the history itself does not fit"})

    looks = _command(commands, "second-looks", "grading.feedback.second_looks_command:run",
                     "what students ask somebody to look at again", course)
    looks.option("lab LAB", "one lab, or the word close (default: all labs)", nargs="?")
    looks.option("words NUMBER ANSWER", "after close: which request, and what the student is told",
                 nargs="*")
    looks.option("--all", "closed ones as well")
    looks.option("--section NAME", "only students of this section")
    looks.option("--json", "a line of JSON for each")


def _add_essays(commands: _Commands, course: CommandParser) -> None:
    essays = _command(commands, "essays", "", "read essays, and grade them by a rubric")
    actions = essays.add_subparsers(title="actions", metavar="ACTION", required=True)
    place = "grading.essays.essays_command"
    here = CommandParser(add_help=False)
    here.option("lab LAB", "its name, such as lab_01_magnitude")

    shown = _command(actions, "list", f"{place}:run_list", "rubrics, and answers to read", course,
                     here)
    shown.option("question QUESTION", "one essay (default: all of the lab)", nargs="?")
    shown.option("--all", "also those that somebody has read")
    shown.option("--mine", "only what mlsys course split gives you")
    shown.option("--names", "whose they are")

    question = CommandParser(add_help=False)
    question.option("question QUESTION", "the name of the essay")
    give = _command(actions, "give", f"{place}:run_give", "grade one answer", course, here,
                    question)
    give.option("submission SUBMISSION", "as mlsys essays list calls it, or a student")
    give.option("--item N", "an item that it gets; can be given several times", type=int,
                action="append", default=[])
    give.option("--comment TEXT", "for this answer alone", default="")
    give.option("--keep", "keep the comment in the rubric, to use it again")
    give.option("--again", "also if somebody has read it")

    item = _command(actions, "item", f"{place}:run_item",
                    "change an item of a rubric for all who got it, or add one", course, here,
                    question)
    item.option("number N", "which (default: a new one)", nargs="?", type=int)
    item.option("--points POINTS", "what it gives, or takes if negative; 0 for a comment",
                type=float)
    item.option("--text TEXT", "what the student reads")
    item.option("--remove", "nobody gets it any more; without this, it is put back")


def _add_classes(commands: _Commands, course: CommandParser) -> None:
    simulate = _command(commands, "simulate", "classes.simulation:run",
                        "invent a class that has submitted a lab", course)
    simulate.option("lab LAB", "its name, such as lab_01_magnitude")
    simulate.option("--students N", "how many", required=True)
    simulate.option("--seed K", "the same seed gives the same class", default=0)
    simulate.option("--kinds KIND,KIND", "only submissions of these kinds, such as right,late")
    simulate.option("--beside FILE", "a file that everybody has beside the notebook, such as a"
                    " measurement", action="append")
    simulate.option("--force", "replace what these students submitted before")

    report = _command(commands, "report", "classes.command:run",
                      "a page about a class: points, misconceptions, time", course)
    report.option("lab LAB", "without it, the whole course", nargs="?")
    report.option("--names", "say whose each submission is")
    report.option("--csv", "write tables beside the page as well")
    report.option("--for-lecture", "of a lab: one page to show, without any group of under five")
    report.option("--output FILE", "the page (default: report-LAB.html, or lecture-LAB.html)")

    export = _command(commands, "export", "classes.export:run", "grades as CSV for another system",
                      course)
    export.option("lab LAB", "without it, all labs and the course's total", nargs="?")
    export.option("--to", "whose columns; csv: all labs for a spreadsheet", required=True,
                  choices=("canvas", "moodle", "gradescope", "csv"))
    export.option("--output FILE", "where to write, - for the terminal (default: LAB-SYSTEM.csv)")
    export.option("--column NAME", "what the assignment is called there (default: LAB)")


def _add_push(commands: _Commands, course: CommandParser) -> None:
    push = _command(commands, "push", "classes.lms_command:run",
                    "send grades to the learning system; shows first what differs", course)
    push.option("labs LAB", "one or more", nargs="*")
    push.option("--apply", "send; without it nothing is changed")
    push.option("--overwrite", "with --apply: send also where somebody changed the score in the"
                " learning system")
    push.option("--json", "the comparison as JSON")
    push.option("--keys", "print the course's public key for the administrator, and make it if"
                " there is none", nargs="?", const="jwks", choices=("jwks", "jwk", "pem"))
    push.ends_with(
        {
            1: "something could not be sent, or nothing could; sentences say what",
            3: "a person must look: the learning system does not know a student, or has another"
            " score than was sent",
        }
    )


def _add_identity(commands: _Commands) -> None:
    whoami = _command(commands, "whoami", "labs.command:run_whoami",
                      "whose numbers labs use on this computer; with NAME, change it")
    whoami.option("name NAME", "as your course knows you", nargs="?")
    whoami.option("--forget", "forget the name you gave before")


def _add_hand_in(commands: _Commands) -> None:
    hand_in = _command(commands, "hand-in", "handin.command:run",
                       "say what is missing in a lab, and make one file to hand in")
    hand_in.option("lab LAB", "the folder of the lab, or its notebook (default: this folder)",
                   nargs="?", type=Path, default=Path())
    hand_in.option("--anyway", "do not ask, whatever is missing")
    hand_in.option("--output FOLDER", "where the file goes (default: beside the lab)")
    hand_in.ends_with({1: "nothing was handed in: you did not agree, or it could not be done"})


def _add_ledger(commands: _Commands) -> None:
    about = _command(commands, "ledger", "ledger.command:run",
                     "export, import or verify a student's record")
    actions = about.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    paths = CommandParser(add_help=False)
    paths.option("paths PATH", "a ledger, the folder of a lab, or a folder of labs (default: this"
                 " one)", nargs="*", type=Path, default=[Path()])

    export = _command(actions, "export", "", "pack a student's ledgers into one file", paths)
    export.option("--output FILE", "a new file (default: %(default)s)",
                  default=Path("ledgers.json"))

    unpack = _command(actions, "import", "", "unpack such a file; overwrites no ledger")
    unpack.option("file FILE", "what mlsys ledger export wrote")
    unpack.option("folder FOLDER", "the folder of the labs (default: this one)", nargs="?",
                  default=Path())

    verify = _command(actions, "verify", "", "check whether ledgers are unbroken; changes nothing",
                      paths)
    verify.option("--head HASH", "the ledger must still hold this event, noted earlier")
    for action in (unpack, verify):
        action.option("--student STUDENT", "whose they must be")
    verify.ends_with({1: "a ledger does not verify, or cannot be read"})


def _add_courses(commands: _Commands) -> None:
    about = _command(commands, "course", "", "make a course from a bundle; look after one")
    actions = about.add_subparsers(title="actions", metavar="ACTION", required=True)

    init = _command(actions, "init", "courses.command:run_init", "make a course from a bundle")
    init.option("folder FOLDER", "empty, or not there yet")
    init.option("--from BUNDLE", "the archive that mlsys build --bundle wrote", dest="bundle",
                required=True)
    init.option("--roster CSV", "the class")
    init.option("--course-id ID", "what nbgrader calls the course (default: the bundle's)")

    roster = _command(actions, "roster", "courses.command:run_roster",
                      "add students and correct names; removes nobody")
    roster.option("folder FOLDER", "the course")
    roster.option("roster CSV", "the class")

    here = CommandParser(add_help=False)
    here.option("folder FOLDER", "the course (default: this folder)", nargs="?", default=Path())
    calendar = _command(actions, "calendar", "courses.term:run_calendar",
                        "when labs open and are due, and for whom", here)
    calendar.option("--student NAME", "as this student has it")

    dates = _command(actions, "dates", "courses.term:run_dates",
                     "say when a lab opens, is due and closes; what is not named stays")
    dates.option("lab LAB", "its name, such as lab_01_magnitude")
    for name, what in (("release", "when students can fetch it"), ("due", "when it is due"),
                       ("close", "from when on nothing is handed in")):
        dates.option(f"--{name} TIME", f"{what}, such as 2026-11-09T23:59, or none",
                     type=_moment_or_none)
    dates.option("--section NAME", "only for this section")
    dates.option("--folder FOLDER", "the course (default: this folder)", default=Path())

    extend = _command(actions, "extend", "courses.term:run_extend",
                      "give one student more time, with a reason")
    extend.option("student STUDENT", "who")
    extend.option("lab LAB", "for which lab; '*' for all")
    time = extend.add_mutually_exclusive_group(required=True)
    _option(time, "--days N", "so many days more", type=float)
    _option(time, "--due TIME", "until then, such as 2026-11-09T23:59, in the course's time zone",
            type=_moment)
    _option(time, "--remove", "take it back: as much time as the others")
    extend.option("--reason TEXT", "kept in the settings; not needed with --remove")
    extend.option("--folder FOLDER", "the course (default: this folder)", default=Path())

    progress = _command(actions, "progress", "courses.live_counts:run",
                        "how far the class is with a lab: who has it, who handed in, each question")
    progress.option("lab LAB", "its name, such as lab_01_magnitude")
    progress.option("--folder FOLDER", "the course (default: this folder)", default=Path())

    _add_versions(actions)
    _add_people(actions)

    doctor = _command(actions, "doctor", "courses.command:run_doctor",
                      "what is wrong here, and how to fix it", here)
    doctor.option("--json", "the findings as JSON")
    doctor.ends_with({1: "something must be fixed; the findings say how"})


def _add_versions(actions: _Commands) -> None:
    here = CommandParser(add_help=False)
    here.option("lab LAB", "its name, such as lab_01_magnitude")
    here.option("--folder FOLDER", "the course (default: this folder)", default=Path())
    versions = _command(actions, "versions", "courses.version_list:run_versions",
                        "which versions of a lab there are, and who has which", here)
    versions.option("--json", "the same as JSON")
    release = _command(actions, "release", "courses.version_list:run_release",
                       "release a lab, also again after it was fixed", here)
    release.option("--note TEXT", "what changed, in a line for students")
    release.option("--version VERSION", "only note that students have this version")
    _command(actions, "withdraw", "courses.version_list:run_withdraw",
             "let nobody fetch a lab any more; copies and hand-ins stay", here)


def _add_people(actions: _Commands) -> None:
    folder = CommandParser(add_help=False)
    folder.option("--folder FOLDER", "the course (default: this folder)", default=Path())
    asking = CommandParser(add_help=False)
    asking.option("--yes", "do not ask")
    student = CommandParser(add_help=False)
    student.option("student STUDENT", "the login")

    _command(actions, "people", "courses.people_command:run_people", "who is in the course", folder)
    codes = _command(actions, "codes", "courses.code_list:run",
                     "what each student draws with on a page without a server", folder)
    codes.option("students LOGIN", "whose codes (default: everybody in the gradebook)", nargs="*")
    add = _command(actions, "add", "courses.people_command:run_add", "add a student, or take back",
                   folder, student)
    add.option("--name NAME", "first and last name")
    add.option("--email EMAIL", "kept in the gradebook")
    add.option("--section SECTION", "made if there is none of this name")
    add.ends_with({1: _HUB_DISAGREES})
    for name, words in (
        ("drop", "let a student leave; work and grades are kept"),
        ("lock", "let a student not log in for now"),
        ("unlock", "let a student log in again"),
    ):
        action = _command(actions, name, f"courses.people_command:run_{name}", words, folder,
                          student)
        action.ends_with({1: _HUB_DISAGREES})
    rename = _command(actions, "rename", "courses.people_command:run_rename",
                      "give a student another login; work stays valid", folder)
    rename.option("old OLD", "the login until now")
    rename.option("new NEW", "the login from now on; nobody may have it")
    rename.ends_with({1: _HUB_DISAGREES})
    merge = _command(actions, "merge", "courses.people_command:run_merge",
                     "make one student of two logins; asks first", folder, asking)
    merge.option("source FROM", "the login that goes away")
    merge.option("into INTO", "whose work counts where both have some")
    merge.ends_with({1: _NOT_AGREED})
    staff = _command(actions, "staff", "courses.people_command:run_staff", "let somebody teach",
                     folder)
    staff.option("name NAME", "the login")
    staff.option("--role", "an instructor may do everything; a TA grades",
                 choices=("instructor", "ta"))
    staff.option("--section SECTION", "whose work a TA grades first; can be given several times",
                 action="append", default=[])
    staff.option("--remove", "they no longer teach")
    staff.ends_with({1: _HUB_DISAGREES})
    split = _command(actions, "split", "courses.grading_split:run",
                     "split what a person grades in a lab among TAs", folder)
    split.option("lab LAB", "its name, such as lab_01_magnitude")
    split.option("--names", "say whose each submission is")
    forget = _command(actions, "forget", "courses.person_files:run_forget",
                      "remove a person everywhere; says where, and asks", folder, student, asking)
    forget.ends_with({1: "you did not agree, or something could not be removed; it is named"})
    copy = _command(actions, "copy", "courses.person_files:run_copy",
                    "write all that is kept about a person to a file", folder, student)
    copy.option("--to FILE", "a new zip file", required=True)


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time; write it like 2026-11-09T23:59"
        ) from None


def _moment_or_none(text: str) -> datetime | str:
    """Read a time; the word none gives an empty text, and nothing at all `None`."""
    return "" if text == "none" else _moment(text)


def _add_hub(commands: _Commands) -> None:
    hub = _command(commands, "hub", "hub.command:run", "run a JupyterHub for a course on this"
                   " machine")
    hub.option("--folder FOLDER", "where everything is kept (default: mlsys_hub)")
    hub.option("--from BUNDLE", "make the course from the archive that mlsys build --bundle wrote",
               dest="bundle")
    hub.option("--course FOLDER", "make it from the labs of another course (default: this folder)")
    hub.option("--roster CSV", "create a user for each student")
    hub.option("--instructor NAME", "who teaches (default: instructor)")
    hub.option("--student NAME", "to try it with (default: student)")
    hub.option("--ip IP", "listen there; other machines reach 0.0.0.0 (default: %(default)s)",
               default="127.0.0.1")
    hub.option("--port N", "where it listens (default: 8000, with --single 8888)")
    hub.option("--cert FILE", "certificate for https, with --key")
    hub.option("--key FILE", "its key")
    hub.option("--behind-proxy", "something in front of the hub handles https")
    hub.option("--idle MINUTES", "stop servers that nobody uses (default: %(default)s; 0: never)",
               default=60)
    hub.option("--memory GIB", "that a student may use, in all programs together (default:"
               " %(default)s; 0: no limit)", default=2.0)
    hub.option("--cores CORES", "that a student may use (default: %(default)s; 0: no limit)",
               default=2.0)
    hub.option("--disk GIB", "above which the log names a student's home (default: %(default)s;"
               " 0: never)", default=5.0)
    hub.option("--python FILE", "run servers with it (default: the one of mlsys, or a copy that"
               " users can reach)")
    hub.option("--single", "a course for yourself alone, without root")
    hub.option("--passwords", "print them, to hand out")
    hub.option("--reset", "remove all of it; asks first")
    hub.option("--yes", "with --reset: do not ask")
    hub.option("--oidc FILE", "settings of an identity provider to sign in with, too"
               " (docs/administrators/hub_service.md)")
    hub.option("--lti FILE", "settings of a learning system to come from, too (LTI 1.3)")
    hub.option("--slurm FILE", "settings of a cluster on which students' servers run"
               " (docs/administrators/cluster.md)")
    hub.ends_with({1: "it could not be done, or with --reset you did not agree"})
    _add_hub_tasks(hub)


def _add_hub_tasks(hub: CommandParser) -> None:
    """Add what is done with a hub besides running it; options of the hub come before, or after."""
    folder = CommandParser(add_help=False)
    folder.option("--folder FOLDER", "the hub's folder (default: mlsys_hub)",
                  default=argparse.SUPPRESS)
    tasks = hub.add_subparsers(dest="task", metavar="TASK", title="tasks")
    backup = _command(tasks, "backup", "", "copy everything into one file, while the hub runs",
                      folder)
    backup.option("file FILE", "a new file, as mlsys.tar.gz")
    restore = _command(tasks, "restore", "", "a hub with its users from such a file", folder)
    restore.option("file FILE", "what mlsys hub backup wrote")
    _command(tasks, "upgrade", "", "make a running hub use the version that is installed now;"
             " students keep working", folder)
    health = _command(tasks, "health", "", "ask a running hub how it is", folder)
    health.ends_with({1: "the hub is not well, or does not run"})
    service = _command(tasks, "service", "", "let systemd start the hub, with the options before"
                       " this", folder)
    service.option("action", "write the unit and start it; stop it and remove the unit; or only"
                   " print the unit", choices=("install", "remove", "show"))
    service.option("--name NAME", "of the unit (default: %(default)s)", default="mlsys-hub")


# fmt: on


def _grade(arguments: argparse.Namespace) -> int:
    from mlsys_widgets.course.course import Course

    course = Course.at(arguments.course)
    engine = _early_engine(arguments, course)
    try:
        from mlsys_widgets.grading import command
        from mlsys_widgets.grading.judging.lab_copies import is_noted

        if not is_noted(course, arguments.lab):  # what does that takes long to import
            from mlsys_widgets.courses.lab_releases import notice_release

            notice_release(course, arguments.lab)
        return command.run(arguments, course, engine)
    finally:
        if engine is not None:
            engine.close()


def _early_engine(arguments: argparse.Namespace, course: Course) -> Engine | None:
    """Start what runs submissions, if all of them will run: while it imports, so does the rest."""
    usable = arguments.workers is None or arguments.workers > 0
    if not (arguments.run_all and usable and course.folder("assignments", arguments.lab).is_dir()):
        return None
    from mlsys_widgets.sandbox.engine import LOCAL, LocalEngine

    return LocalEngine(arguments.workers) if arguments.engine == LOCAL else None


def _regrade(arguments: argparse.Namespace) -> int:
    from mlsys_widgets.grading.regrading import regrade_command

    code = regrade_command.run_regrade(arguments)
    if arguments.apply:
        # With the version that students have: after the next one, its copies are still judged.
        from mlsys_widgets.authoring.version_keeper import keep_version
        from mlsys_widgets.course.course import Course

        keep_version(Course.at(arguments.course), arguments.lab)
    return code
