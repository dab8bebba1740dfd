"""Forms become commands, and nothing else."""

from __future__ import annotations

import pytest

from mlsys_widgets.cli import command_parser
from mlsys_widgets.courses.staff_page.actions import ACTIONS, UNDOING, undoing


@pytest.mark.parametrize("name", ACTIONS)
def test_every_action_is_a_command_with_these_arguments(name):
    action = ACTIONS[name]
    values = {"lab": "lab_01", "number": "3", "days": "", "due": "", "release": "", "close": ""}
    form = dict.fromkeys((*action.values, *action.options), "word") | values | {"role": "ta"}
    form |= {"days": "2"} if name == "extend" else {}
    form |= {"to": "canvas"} if name == "export" else {}
    for goes_ahead in {"", action.asks}:
        *_, words = action.words({**form, goes_ahead: "1"})
        if words[0] != "nbgrader":
            command_parser().parse_args(words[1:])


def test_what_begins_with_a_dash_is_no_option():
    (words,) = ACTIONS["lock"].words({"student": "--folder=elsewhere"})
    assert command_parser().parse_args(words[1:]).student == "--folder=elsewhere"


def test_a_command_that_asks_goes_ahead_only_when_it_is_told_to():
    form = {"lab": "lab_01", "reason": "too strict"}
    (words,) = ACTIONS["regrade"].words(form)
    assert words[2:] == ["--", "lab_01"]
    (words,) = ACTIONS["regrade"].words({**form, "apply": "1"})
    assert words[2:] == ["--reason=too strict", "--apply", "--", "lab_01"]


def test_no_lab_means_the_whole_course_and_a_file_of_its_own():
    (words,) = ACTIONS["report"].words({"lab": "*", "names": "1"})
    assert words[1:] == ["report", "--names", "--output=reports/report-course-names.html", "--"]
    (words,) = ACTIONS["lecture"].words({"lab": "lab_01"})
    assert words[1:] == [
        "report", "--for-lecture", "--output=reports/lecture-lab_01.html", "--", "lab_01",
    ]  # fmt: skip
    (words,) = ACTIONS["copy"].words({"student": "../../ann"})
    assert command_parser().parse_args(words[1:]).to.parent.name == "reports"


def test_only_what_undoes_something_undoes():
    assert undoing(["lock", "ann"]) == [["mlsys_widgets", "course", "lock", "ann"]]
    assert command_parser().actions["course"].actions.keys() >= UNDOING
    for words in ([], ["forget", "ann", "--yes"]):
        with pytest.raises(ValueError, match="no such way back"):
            undoing(words)
