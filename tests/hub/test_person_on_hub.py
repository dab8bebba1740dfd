"""Forgetting somebody on a hub: their own things go, and nothing of anybody else."""

from __future__ import annotations

import json
import pwd
import sqlite3

import pytest

from mlsys_widgets.courses.personal_data import KnownNames
from mlsys_widgets.hub.accounts.passwords import Passwords
from mlsys_widgets.hub.accounts.person_on_hub import PersonOnHub
from mlsys_widgets.hub.hub_state import HubState
from tests.hub.people import hub_without_server, needs_root
from tests.hub.test_people_changes import RecordingHub

pytestmark = needs_root


def test_everything_of_one_person_goes(tmp_path):
    with hub_without_server() as (places, state):
        name, other = state.student, state.instructor
        state.course_id = "demo"
        inbound = places.exchange / "demo" / "inbound"
        for each in (name, other, f"{name}s"):
            (inbound / f"{each}+lab_01+t").mkdir(parents=True)
        (inbound / f"{name}+lab_01+t" / "link").symlink_to(places.secrets)
        (places.home(name) / "work").write_text("x")
        notes = places.notes / "notes.jsonl"
        lines = [json.dumps({"student": each, "lab": "lab_01"}) for each in (name, other)]
        notes.write_text("\n".join(lines) + "\n")
        (places.logs / "hub.log").write_text(f"in: {name}\nin: {other}\n")
        Passwords(places.secrets / "passwords.json").make([name, other])
        book = places.database / "jupyterhub.sqlite"
        with sqlite3.connect(book) as db:
            db.execute("create table users (name text)")
            db.executemany("insert into users values (?)", [(name,), (other,)])
            db.commit()
            db.execute("delete from users where name = ?", [name])
        db.close()
        person = PersonOnHub(places, state, KnownNames((name,), ()))
        about = person.about()
        assert about["accounts"][0]["name"] == name
        assert about["hand_ins"] == [{"student": name, "lab": "lab_01"}]
        assert about["records"]["logs/hub.log"] == [f"in: {name}"]
        assert "password" not in json.dumps(about)
        hub = RecordingHub()
        hub.inside = {name, other}
        assert person.forget(hub) == []
        assert hub.inside == {other}
        with pytest.raises(KeyError):
            pwd.getpwnam(name)
        left = [
            path for path in places.root.rglob("*")
            if path.name.split("+")[0] == name or (path.is_file() and path != places.state
                                                   and name.encode() in path.read_bytes())
        ]  # fmt: skip
        assert left == []
        assert sorted(each.name for each in inbound.iterdir()) == sorted(
            [f"{other}+lab_01+t", f"{name}s+lab_01+t"]
        )
        kept = HubState.read(places.state)
        assert kept is not None
        assert set(kept.accounts) == {other}
        assert (places.logs / "hub.log").read_text() == f"in: {'*' * len(name)}\nin: {other}\n"
        assert places.secrets.is_dir()
