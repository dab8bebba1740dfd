"""The course's folder for several people: who may do what, tried with their rights."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mlsys_widgets.hub.accounts.machine_users import make_accounts, make_groups
from mlsys_widgets.hub.accounts.run_as import run_as
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.preparation import hand_over
from mlsys_widgets.hub.running.shared_course import course_settings, share_course
from tests.hub.people import hub_without_server, needs_root, new_name

pytestmark = needs_root


@pytest.fixture
def shared() -> Iterator[tuple[Places, HubState, str, str]]:
    """A course with two instructors and a TA."""
    with hub_without_server() as (places, state):
        second, ta = new_name("j"), new_name("t")
        make_accounts(places, state, {second: "instructor", ta: "ta"}, welcome=lambda home: None)
        make_groups(places, state)
        state.course_id = "demo"
        for name in ("assignments/lab_01/checks.py", "assignments/course.toml", "gradebook.db",
                     "nbgrader_config.py", ".mlsys/released.json", "submitted/ada/x"):  # fmt: skip
            (places.course / name).parent.mkdir(parents=True, exist_ok=True)
            (places.course / name).write_text("x = 1\n")
        (places.course / "link").symlink_to("/etc/passwd")
        hand_over(places.course, state.accounts[state.instructor])
        share_course(places, state)
        yield places, state, second, ta


def allowed(places: Places, state: HubState, name: str, command: str) -> bool:
    account = state.accounts[name]
    done = run_as(account, ["/bin/sh", "-c", command], home=places.home(name), folder=places.root)
    return done.returncode == 0


def test_instructors_change_the_course_and_tas_grade_in_it(shared):
    places, state, second, ta = shared
    assert Path("/etc/passwd").stat().st_gid == 0  # the link was not followed
    for command, may in (
        ("cat course/assignments/lab_01/checks.py", "both"),
        ("echo x >> course/gradebook.db", "both"),
        ("echo x > course/gradebook.db-journal && rm course/gradebook.db-journal", "both"),
        ("mkdir course/submitted/$USER course/submitted/ada/$USER", "both"),
        ("echo x > course/.mlsys/$USER && mv course/.mlsys/$USER course/.mlsys/released.json",
         "both"),
        ("ls exchange/demo/inbound && touch exchange/demo/feedback/$USER", "both"),
        ("ls exchange/demo/second_looks", "both"),
        ("echo x > exchange/demo/second_look_answers/$USER", "both"),
        ("ls exchange/demo/second_look_answers", "both"),
        ("echo x >> course/assignments/course.toml", "instructor"),
        ("mv course/assignments/lab_01 course/assignments/lab_02 &&"
         " mv course/assignments/lab_02 course/assignments/lab_01", "instructor"),
        ("echo x >> course/nbgrader_config.py", "instructor"),
        ("touch exchange/demo/outbound/$USER", "instructor"),
        ("ls people", "instructor"),
        ("mv course/assignments course/mine", "nobody"),
        ("touch people/$USER", "nobody"),
    ):  # fmt: skip
        assert allowed(places, state, second, command) is (may != "nobody"), command
        assert allowed(places, state, ta, command) is (may == "both"), command
        if "inbound" not in command:
            assert not allowed(places, state, state.student, command), command
    assert not allowed(places, state, state.student, "ls course || ls exchange/demo/inbound")


def test_all_who_teach_empty_the_box_into_which_students_put_requests(shared):
    places, state, second, ta = shared
    box = "exchange/demo/second_looks"
    for who in (second, ta, state.instructor):
        assert allowed(places, state, state.student, f"umask 022; echo x > {box}/drawn")
        assert allowed(places, state, who, f"cat {box}/* && rm {box}/*"), who
    assert not allowed(places, state, state.student, f"ls {box}")


def test_settings_that_somebody_else_could_have_written_are_not_followed(shared):
    places, state, second, ta = shared
    trusted = {state.accounts[name].uid for name in (state.instructor, second)}
    assert course_settings(places.course, trusted) == b"x = 1\n"
    # The second instructor's file, as a whole write leaves it.
    command = "echo '# y' > course/assignments/n && mv course/assignments/n"
    assert allowed(places, state, second, f"{command} course/assignments/course.toml")
    assert course_settings(places.course, trusted)
    settings = places.course / "assignments" / "course.toml"
    os.chown(settings, state.accounts[ta].uid, -1)
    with pytest.raises(ValueError, match="does not belong to an instructor"):
        course_settings(places.course, trusted)
    settings.unlink()
    settings.symlink_to("/etc/shadow")
    with pytest.raises(ValueError, match="cannot be read"):
        course_settings(places.course, trusted)
    settings.unlink()
    assert course_settings(places.course, trusted) == b""


def test_who_no_longer_teaches_is_in_no_group(shared):
    places, state, _, ta = shared
    state.accounts[ta] = replace(state.accounts[ta], standing="dropped")
    make_groups(places, state)
    assert not allowed(places, state, ta, "ls course")
