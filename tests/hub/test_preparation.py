"""What a hub needs before it can start: its course, keys and ports."""

from __future__ import annotations

import socket

import pytest

from mlsys_widgets.authoring import Course, build, new_lab
from mlsys_widgets.courses import RosterEntry, pack
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.preparation import check_roster, choose_ports, make_course, make_keys


def test_keys_are_made_once(places):
    first = make_keys(places)
    assert make_keys(places) == first
    assert all(len(bytes.fromhex(key)) == 32 for key in first.values())
    assert not any(key in places.state.name for key in first.values())


def test_names_that_no_user_can_have_are_refused_before_anything_is_made():
    check_roster([RosterEntry("ada"), RosterEntry("ben_2")])
    with pytest.raises(ValueError, match="Ada"):
        check_roster([RosterEntry("ada"), RosterEntry("Ada")])
    with pytest.raises(ValueError, match="4711"):
        check_roster([RosterEntry("4711")])


def test_a_folder_without_a_course_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="--from"):
        make_course(tmp_path / "course", bundle=None, origin=None, say=print)


def test_a_newer_bundle_is_mentioned_and_changes_nothing(tmp_path):
    root, lab = tmp_path / "written", "lab_02_demo"
    new_lab(root, lab)
    build(Course.at(root))
    bundle = pack(Course(root), tmp_path / "first.tar.gz")
    course, messages = tmp_path / "course", []
    make_course(course, bundle=bundle, origin=None, say=messages.append)
    messages.clear()
    make_course(course, bundle=bundle, origin=None, say=messages.append)
    assert messages == []
    with (root / "assignments" / lab / "lab.py").open("a", encoding="utf-8") as text:
        text.write("\n# %% [markdown]\n# One more thing.\n")
    before = (course / "source" / lab / f"{lab}.ipynb").read_bytes()
    make_course(
        course,
        bundle=pack(Course(root), tmp_path / "next.tar.gz"),
        origin=None,
        say=messages.append,
    )
    assert len(messages) == 1
    assert f"next.tar.gz differs in {lab};" in messages[0]
    assert (course / "source" / lab / f"{lab}.ipynb").read_bytes() == before
    # What was needed once may be gone at a later start.
    messages.clear()
    make_course(course, bundle=tmp_path / "gone.tar.gz", origin=None, say=messages.append)
    assert messages == []


def test_ports_stay_the_same_while_they_are_free():
    state = HubState.new("hub", "i", "s")
    choose_ports(state, 8081)
    before = state.hub_port, state.api_port
    assert 8081 not in before
    assert len(set(before)) == 2
    choose_ports(state, 8081)
    assert (state.hub_port, state.api_port) == before
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", state.api_port))
        taken.listen()
        choose_ports(state, 8081)
    assert state.hub_port == before[0]
    assert state.api_port not in before
