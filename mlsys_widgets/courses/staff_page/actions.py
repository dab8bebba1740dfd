"""What the page can do: commands of the package and of nbgrader, filled in from a form.

Values go to a command as arguments of their own, never through a shell; what begins with a dash is
no option there.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

#: Words of a command line, without the Python that runs it.
Words = list[str]
#: What the history may take back; the words after it are those of ``mlsys course``.
UNDOING: Final = frozenset({
    "add", "drop", "lock", "unlock", "staff", "dates", "extend", "release", "withdraw",
})  # fmt: skip


@dataclass(frozen=True)
class Action:
    """A command, and the fields of a form that it takes.

    Parameters
    ----------
    command
        Its words; ``nbgrader`` at the beginning means that program, and only labs are its values.
    values
        Fields that it takes as they are, in this order.
    options
        Fields that are options of the same name, each with what an empty field means: a word, or
        nothing, and then the option is left out.
    switches
        Options without a value, set when the field of that name is.
    before
        A command of nbgrader that runs first.
    asks
        Whether it says first what would happen, and wants ``yes``.
    """

    label: str
    command: str
    values: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    switches: Sequence[str] = ()
    before: str = ""
    asks: bool = False

    def words(self, form: Mapping[str, str]) -> list[Words]:
        """Return the commands to run, one after the other.

        Examples
        --------
        >>> ACTIONS["lock"].words({"student": "ben"})
        [['mlsys_widgets', 'course', 'lock', '--', 'ben']]
        """
        given = {name: form.get(name, "").strip() or empty for name, empty in self.options.items()}
        options = [f"--{name}={value}" for name, value in given.items() if value]
        options += [f"--{name}" for name in self.switches if form.get(name)]
        values = [form.get(name, "").strip() for name in self.values]
        first = [[*self.before.split(), *values]] if self.before else []
        words = self.command.split()
        if words[0] == "nbgrader":
            return [*first, [*words, *values]]
        return [*first, ["mlsys_widgets", *words, *options, "--", *values]]


def undoing(words: Sequence[str]) -> list[Words]:
    """Return the command that takes a change back, as the history has it.

    Raises
    ------
    ValueError
        For a command that takes nothing back.
    """
    if not words or words[0] not in UNDOING:
        raise ValueError("the history has no such way back")
    return [["mlsys_widgets", "course", *words]]


def as_process(words: Words) -> Words:
    """Return a command as a process is started: with the Python that runs this."""
    return [sys.executable, "-P", "-m", *words]


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
    "merge": Action("Merge", "course merge", ["source", "into"], switches=["yes"], asks=True),
    "staff": Action("Staff", "course staff", ["name"], {"role": "", "section": ""}, ["remove"]),
    "release": Action("Release", "course release", ["lab"], {"note": ""}),
    "withdraw": Action("Withdraw", "course withdraw", ["lab"]),
    "grade": Action("Grade", "grade --verbose", ["lab"], switches=["force"]),
    "collect": Action("Collect and grade", "grade --verbose", ["lab"],
                      before="nbgrader collect --update"),
    "feedback": Action("Return feedback", "nbgrader release_feedback", ["lab"],
                       before="nbgrader generate_feedback --force"),
    "close": Action("Answer", "second-looks close", ["number", "answer"]),
}  # fmt: skip
