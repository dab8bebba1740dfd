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
    *_, words = action.words(form)
    if words[0] != "nbgrader":
        command_parser().parse_args(words[1:])


def test_what_begins_with_a_dash_is_no_option():
    (words,) = ACTIONS["lock"].words({"student": "--folder=elsewhere"})
    assert command_parser().parse_args(words[1:]).student == "--folder=elsewhere"


def test_only_what_undoes_something_undoes():
    assert undoing(["lock", "ann"]) == [["mlsys_widgets", "course", "lock", "ann"]]
    assert command_parser().actions["course"].actions.keys() >= UNDOING
    for words in ([], ["forget", "ann", "--yes"]):
        with pytest.raises(ValueError, match="no such way back"):
            undoing(words)
