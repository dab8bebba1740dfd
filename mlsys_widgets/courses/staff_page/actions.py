"""What the page can do: commands of the package and of nbgrader, filled in from a form.

Values go to a command as arguments of their own, never through a shell; what begins with a dash is
no option there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

#: Words of a command line, without the Python that runs it.
Words = list[str]
#: Where the page keeps the files that commands make, in the folder of the course.
FILES: Final = "reports"
#: What stands for all labs in a form.
ALL: Final = "*"
#: What the history may take back; the words after it are those of ``mlsys course``.
UNDOING: Final = frozenset({
    "add", "drop", "lock", "unlock", "staff", "dates", "extend", "release", "withdraw",
})  # fmt: skip


@dataclass(frozen=True)
class Action:
    """A command, and the fields of a form that it takes."""

    label: str
    #: Its words; ``nbgrader`` at the beginning means that program, and only labs are its values.
    command: str
    #: Fields that it takes as they are, in this order; without a lab, it is about all of them.
    values: Sequence[str] = ()
    #: Fields that are options of the same name, each with what an empty field means: a word, or
    #: nothing, and then the option is left out.
    options: Mapping[str, str] = field(default_factory=dict)
    switches: Sequence[str] = ()  # options without a value, set when the field of that name is
    before: str = ""  # a command of nbgrader that runs first
    #: The switch that makes it happen. Without it, the command says what would happen.
    asks: str = ""
    later: Sequence[str] = ()  # options that go with that switch only
    typed: str = ""  # the field whose value has to be typed once more before something is lost
    #: The file that it makes from a form, as an option of the command.
    writes: Callable[[Mapping[str, str]], str] | None = None
    notes: str = ""  # what the history says about it, if the command itself notes nothing
    for_tas: bool = False  # whether a TA may do it
    fails: str = "not done"  # what the page calls it when the command fails

    def words(self, form: Mapping[str, str]) -> list[Words]:
        """Return the commands to run, one after the other.

        Examples
        --------
        >>> ACTIONS["lock"].words({"student": "ben"})
        [['mlsys_widgets', 'course', 'lock', '--', 'ben']]
        """
        given = {name: form.get(name, "").strip() or empty for name, empty in self.options.items()}
        goes_ahead = bool(self.asks and form.get(self.asks))
        wanted = [name for name in given if goes_ahead or name not in self.later]
        options = [f"--{name}={given[name]}" for name in wanted if given[name]]
        options += [f"--{name}" for name in self.switches if form.get(name)]
        options += [f"--{self.asks}"] if goes_ahead else []
        options += [self.writes(form)] if self.writes else []
        values = [form.get(name, "").strip() for name in self.values]
        if self.command in _ABOUT_ALL_LABS:
            values = [each for each in values if each != ALL]
        first = [[*self.before.split(), *values]] if self.before else []
        words = self.command.split()
        if words[0] == "nbgrader":
            return [*first, [*words, *values]]
        return [*first, ["mlsys_widgets", *words, *options, "--", *values]]


def undoing(words: Sequence[str]) -> list[Words]:
    """Return the command that takes a change back, as the history has it."""
    if not words or words[0] not in UNDOING:
        raise ValueError("the history has no such way back")
    return [["mlsys_widgets", "course", *words]]


def as_process(words: Words) -> Words:
    """Return a command as a process is started: with the Python that runs this."""
    return [sys.executable, "-P", "-m", *words]


def _report(form: Mapping[str, str]) -> str:
    names = "-names" if form.get("names") else ""
    return f"--output={FILES}/report-{_about(form)}{names}.html"


def _lecture(form: Mapping[str, str]) -> str:
    return f"--output={FILES}/lecture-{form.get('lab', '')}.html"


def _grades(form: Mapping[str, str]) -> str:
    return f"--output={FILES}/{_about(form)}-{form.get('to', '')}.csv"


def _person(form: Mapping[str, str]) -> str:
    # The command writes a new file only, so the name says when. It ends with the login, by which
    # forgetting somebody finds the copy, too.
    login = form.get("student", "").replace("/", "-")
    return f"--to={FILES}/copy-{datetime.now():%Y-%m-%d-%H%M%S}-{login}.zip"


def _about(form: Mapping[str, str]) -> str:
    lab = form.get("lab", "")
    return "course" if lab == ALL else lab


#: Commands that are about the whole course if they are given no lab.
_ABOUT_ALL_LABS: Final = frozenset({"report", "export"})
_NONE: Final = "none"
ACTIONS: Final[Mapping[str, Action]] = {
    "dates": Action("Set dates", "course dates", ["lab"],
                    {"release": _NONE, "due": _NONE, "close": _NONE, "section": ""}),
    "extend": Action("Give more time", "course extend", ["student", "lab"],
                     {"days": "", "due": "", "reason": ""}, ["remove"]),
    "add": Action("Add a student", "course add", ["student"],
                  {"name": "", "email": "", "section": ""}),
    "drop": Action("Drop", "course drop", ["student"]),
    "lock": Action("Lock", "course lock", ["student"]),
    "unlock": Action("Unlock", "course unlock", ["student"]),
    "rename": Action("Rename", "course rename", ["old", "new"]),
    "merge": Action("Merge", "course merge", ["source", "into"], asks="yes", typed="source"),
    "staff": Action("Staff", "course staff", ["name"], {"role": "", "section": ""}, ["remove"]),
    "release": Action("Release", "course release", ["lab"], {"note": ""}),
    "withdraw": Action("Withdraw", "course withdraw", ["lab"]),
    "grade": Action("Grade", "grade --verbose", ["lab"], {"students": ""}, ["force"],
                    for_tas=True),
    "collect": Action("Collect and grade", "grade --verbose", ["lab"],
                      before="nbgrader collect --update", for_tas=True),
    "feedback": Action("Return feedback", "nbgrader release_feedback", ["lab"],
                       before="nbgrader generate_feedback --force", for_tas=True,
                       notes="Feedback for {lab} is returned to students."),
    "close": Action("Answer", "second-looks close", ["number", "answer"], for_tas=True),
    "roster": Action("Enter a class", "course roster .", ["roster"]),
    "split": Action("Split grading", "course split", ["lab"], for_tas=True),
    "copy": Action("Copy", "course copy", ["student"], writes=_person),
    "forget": Action("Forget", "course forget", ["student"], asks="yes", typed="student",
                     fails="something is left"),
    "report": Action("Report", "report", ["lab"], switches=["names", "csv"], writes=_report,
                     for_tas=True),
    "lecture": Action("Page for the lecture", "report --for-lecture", ["lab"], writes=_lecture,
                      for_tas=True),
    "export": Action("Export grades", "export", ["lab"], {"to": "", "column": ""}, writes=_grades,
                     for_tas=True),
    "push": Action("Send grades", "push", ["lab"], switches=["overwrite"], asks="apply",
                   notes="Grades of {lab} are sent to the learning system."),
    "regrade": Action("Regrade", "regrade", ["lab"], {"students": "", "reason": ""}, asks="apply",
                      later=["reason"], for_tas=True),
    "build": Action("Build", "build", ["lab"], notes="{lab} is built from its text."),
    "versions": Action("Versions", "course versions", ["lab"], for_tas=True),
    "variant": Action("What a student is asked", "variant", ["lab", "student"], for_tas=True),
    "doctor": Action("Check the course", "course doctor", for_tas=True,
                     fails="something must be fixed"),
    "bundle": Action("Pack the course", "build --without-people",
                     writes=lambda _: f"--bundle={FILES}/next-term.tar.gz"),
}  # fmt: skip
