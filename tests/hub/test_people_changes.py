"""Accounts that follow a course's settings: real users of this machine, and a hub that records."""

from __future__ import annotations

import json
import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mlsys_widgets.courses.people_moves import MERGED_INBOUND
from mlsys_widgets.hub.accounts import people_changes
from mlsys_widgets.hub.accounts.machine_users import make_groups, rename_account
from mlsys_widgets.hub.accounts.passwords import Passwords, hashes, is_locked
from mlsys_widgets.hub.accounts.people_changes import PeopleChanges, give_files, people_in
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.services.hub_api import HubApi
from tests.hub.people import foreigner, hub_without_server, needs_root, new_name

pytestmark = needs_root


class RecordingHub(HubApi):
    """Who is let in; test_people_watch has a real one."""

    def __init__(self) -> None:
        self.inside: set[str] = set()
        self.groups: dict[str, list[str]] = {}
        self.stopped: list[str] = []
        self.down = False

    def admit(self, name: str) -> None:
        if self.down:
            raise OSError("the hub does not answer")
        self.inside.add(name)

    def turn_away(self, name: str) -> None:
        if self.down:
            raise OSError("the hub does not answer")
        self.inside.discard(name)

    def stop_server(self, name: str) -> None:
        self.stopped.append(name)

    def set_group(self, group: str, members: list[str]) -> None:
        self.groups[group] = members


class HubFolder:
    """A hub's folder whose accounts follow settings."""

    def __init__(self, places: Places, state: HubState) -> None:
        self.places, self.state, self.hub = places, state, RecordingHub()
        self.admitted: dict[str, bool] = {}

    @property
    def changes(self) -> PeopleChanges:
        python = Path("/usr/bin/python3")
        return PeopleChanges(self.places, self.state, self.hub, python, self.admitted)

    def follow(self, text: str) -> list[str]:
        problems = self.changes.follow(text.encode())
        kept = HubState.read(self.places.state)
        assert kept == self.state
        return problems


@pytest.fixture
def followed() -> Iterator[HubFolder]:
    with hub_without_server() as (places, state):
        state.course_id = "demo"
        make_groups(places, state)
        (places.exchange / "demo" / "inbound").mkdir(parents=True)
        yield HubFolder(places, state)


def test_people_come_go_and_come_back_with_the_same_password(followed):
    ada, mia = new_name("a"), new_name("m")
    added = f'[people]\nadded = ["{ada}"]\n'
    assert followed.follow(f'{added}[staff.{mia}]\nrole = "ta"\n') == []
    assert {ada, mia} <= followed.hub.inside
    before = hashes()[ada]
    assert not is_locked(before)
    assert followed.follow(f'{added}locked = ["{ada}"]\n[staff.{mia}]\nrole = "instructor"\n') == []
    assert ada not in followed.hub.inside
    assert is_locked(hashes()[ada])
    assert followed.state.accounts[ada].standing == "locked"
    assert mia in followed.hub.groups["teaching"]
    assert mia in followed.hub.stopped
    assert followed.follow(added) == []
    assert hashes()[ada] == before
    assert ada in followed.hub.inside
    assert followed.state.accounts[mia].standing == "dropped"
    assert mia not in followed.hub.inside


def test_a_rename_keeps_uid_password_home_and_notes(followed):
    ada, new = new_name("a"), new_name("n")
    followed.follow(f'[people]\nadded = ["{ada}"]\n')
    uid, hashed = pwd.getpwnam(ada).pw_uid, hashes()[ada]
    kept = json.loads((followed.places.secrets / "passwords.json").read_text())[ada]
    inbound = followed.places.exchange / "demo" / "inbound"
    (inbound / f"{ada}+lab_01+t").mkdir()
    notes = followed.places.notes / "notes.jsonl"
    notes.write_text(json.dumps({"student": ada, "lab": "lab_01", "folder": f"{ada}+lab_01+t"}))
    text = f'[people]\nadded = ["{new}"]\n[names.{new}]\nnumbers = "{ada}"\n'
    followed.hub.down = True
    assert "the hub does not answer" in followed.follow(text)[0]
    followed.hub.down = False
    # The machine was cut off after the account had its new name.
    rename_account(followed.places, followed.state, followed.state.accounts[ada], new)
    assert followed.follow(text) == []
    entry = pwd.getpwnam(new)
    assert (entry.pw_uid, entry.pw_dir) == (uid, str(followed.places.home(new)))
    assert hashes()[new] == hashed
    assert Passwords(followed.places.secrets / "passwords.json").counts(new, hashed)
    assert json.loads((followed.places.secrets / "passwords.json").read_text())[new] == kept
    assert [each.name for each in inbound.iterdir()] == [f"{new}+lab_01+t"]
    assert json.loads(notes.read_text())["folder"] == f"{new}+lab_01+t"
    assert followed.state.accounts[new].numbers == ada
    assert ada not in followed.state.accounts
    third = new_name("q")
    assert followed.follow(f'[names.{third}]\nnumbers = "{ada}"\n') == []
    assert followed.state.accounts[third].numbers == ada


def test_hand_ins_change_hands_when_nothing_of_either_person_runs(followed, monkeypatch):
    ada, ben = new_name("a"), new_name("b")
    followed.follow(f'[people]\nadded = ["{ada}", "{ben}"]\n')
    giver, taker = followed.state.accounts[ada], followed.state.accounts[ben]
    inbound = followed.places.exchange / "demo" / "inbound"
    for lab in ("lab_01", "lab_02"):
        folder = inbound / f"{ada}+{lab}+t"
        folder.mkdir()
        (folder / "work").touch()
        for path in (folder, folder / "work"):
            os.chown(path, giver.uid, giver.gid)
    running = [
        subprocess.Popen(["sleep", "600"], user=each.uid, group=each.gid, extra_groups=[])
        for each in (giver, taker)
    ]
    asked = []

    def give(*arguments, **named):
        asked.append([process.poll() for process in running])
        give_files(*arguments, **named)

    monkeypatch.setattr(people_changes, "give_files", give)
    followed.changes.merge_hand_ins(ada, taker, {"lab_01"})
    assert asked == [[-signal.SIGTERM] * 2]
    assert followed.hub.stopped == [ada, ben]
    (kept,) = inbound.iterdir()
    assert kept.name == f"{ben}+lab_01+t"
    assert {kept.stat().st_uid, (kept / "work").stat().st_uid} == {taker.uid}
    (lost,) = (inbound.parent / MERGED_INBOUND).iterdir()
    assert lost.stat().st_uid == giver.uid


def test_names_of_others_and_of_the_hub_itself_are_refused(followed):
    teacher, trial = followed.state.instructor, followed.state.student
    with foreigner() as name:
        problems = followed.follow(
            f'[people]\nadded = ["{name}", "Not Fit", "root"]\nlocked = ["{trial}"]\n'
            f'[names.other]\nnumbers = "{teacher}"\n'
        )
        assert pwd.getpwnam(name).pw_gecos == "Somebody"
    for words in ("did not create", "not a valid user name", "belongs to the hub itself"):
        assert any(words in each for each in problems), (words, problems)
    assert followed.state.accounts[trial].standing == "active"
    assert set(followed.state.accounts) == {teacher, trial}


@pytest.mark.parametrize("text", ["[staff", "staff = 3", '[staff.x]\nrole = "king"', "\udcff"])
def test_settings_that_make_no_sense_change_nothing(followed, text):
    content = text.encode("utf-8", "surrogateescape")
    with pytest.raises(ValueError, match=r"."):
        people_in(content)
    before = dict(followed.state.accounts)
    changes = PeopleChanges(followed.places, followed.state, followed.hub, Path(sys.executable), {})
    assert "is not followed" in changes.follow(content)[0]
    assert followed.state.accounts == before
