"""Places, settings, addresses, ports and the proxy, each on its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from mlsys_widgets.authoring import Course, build, new_lab
from mlsys_widgets.courses import RosterEntry, pack
from mlsys_widgets.hub.configuration import Address, hub_configuration
from mlsys_widgets.hub.hub_state import Account, HubState
from mlsys_widgets.hub.places import Places, closed_parent
from mlsys_widgets.hub.preparation import check_roster, choose_ports, make_course, make_keys
from mlsys_widgets.hub.proxy import end_stale_proxy, find_proxy
from mlsys_widgets.hub.server_process import ServerProcess, check_port, free_port, held


@pytest.fixture
def places(tmp_path: Path) -> Places:
    made = Places(tmp_path / "hub")
    made.make()
    return made


def test_what_is_remembered_comes_back_and_a_broken_file_is_named(places):
    state = HubState.new("hub", "instructor", "student")
    state.accounts["student"] = Account("student", 1001, 1001, "student")
    state.write(places.state)
    assert HubState.read(places.state) == state
    places.state.write_text("{")
    with pytest.raises(ValueError, match=r"hub\.json cannot be read"):
        HubState.read(places.state)
    places.state.write_text('{"format": 99}')
    with pytest.raises(ValueError, match="another version"):
        HubState.read(places.state)


def test_a_closed_folder_on_the_way_is_found(tmp_path):
    tmp_path.chmod(0o700)
    assert closed_parent(tmp_path / "hub" / "deeper") is not None
    assert closed_parent(Path("/usr")) is None


def test_keys_are_made_once(places):
    first = make_keys(places)
    assert make_keys(places) == first
    assert all(len(bytes.fromhex(key)) == 32 for key in first.values())
    assert not any(key in places.state.name for key in first.values())


def test_no_secret_is_in_the_configuration(places):
    state = HubState.new("hub", "instructor", "student")
    keys = make_keys(places)
    made = hub_configuration(
        places, state, Address("127.0.0.1", 8000), python=Path("/x/python"), proxy=["p"], idle=60
    )
    text = json.dumps(made)
    assert not any(key in text for key in keys.values())


@pytest.mark.parametrize(
    ("ip", "loopback"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True),
     ("0.0.0.0", False), ("::", False), ("192.0.2.7", False), ("", False), ("host", False)],
)  # fmt: skip
def test_only_the_loopback_is_the_loopback(ip, loopback):
    assert Address(ip, 8000).loopback is loopback


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
    course, said = tmp_path / "course", []
    make_course(course, bundle=bundle, origin=None, say=said.append)
    said.clear()
    make_course(course, bundle=bundle, origin=None, say=said.append)
    assert said == []
    with (root / "assignments" / lab / "lab.py").open("a", encoding="utf-8") as text:
        text.write("\n# %% [markdown]\n# One more thing.\n")
    build(Course.at(root))
    before = (course / "source" / lab / f"{lab}.ipynb").read_bytes()
    make_course(course, bundle=pack(Course(root), tmp_path / "next.tar.gz"), origin=None, say=said.append)
    assert len(said) == 1
    assert f"next.tar.gz differs in {lab};" in said[0]
    assert (course / "source" / lab / f"{lab}.ipynb").read_bytes() == before
    # What was needed once may be gone at a later start.
    said.clear()
    make_course(course, bundle=tmp_path / "gone.tar.gz", origin=None, say=said.append)
    assert said == []


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


def test_a_taken_port_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"port {port}.*--port"):
            check_port("127.0.0.1", port)
        assert free_port(port) != port


def test_without_npm_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="apt-get install npm"):
        find_proxy(tmp_path / "proxy", print)


def test_a_process_that_has_a_stale_number_by_now_is_left_alone(tmp_path):
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        (tmp_path / "proxy.pid").write_text(str(sleeper.pid))
        assert not end_stale_proxy(tmp_path / "proxy.pid")
        assert sleeper.poll() is None
    finally:
        sleeper.kill()
        sleeper.wait()


def test_a_folder_is_held_by_one_and_by_what_it_has_started(places):
    with held(places.lock, "a hub") as lock:
        with pytest.raises(ValueError, match="already runs"), held(places.lock, "a hub"):
            pass
        server = ServerProcess(
            ["sleep", "60"], environment=dict(os.environ), log=places.log, lock=lock,
            folder=places.root,
        )  # fmt: skip
    # Whoever started it is gone; it goes on, and the folder is still its own.
    with pytest.raises(ValueError, match=f"kill {server.process.pid}"), held(places.lock, "a hub"):
        pass
    server.stop()
    with held(places.lock, "a hub"):
        pass


def test_a_polite_end_stops_what_was_started(places):
    code = f"""
import os
from pathlib import Path
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.server_process import ServerProcess, held, interruptible
places = Places(Path({str(places.root)!r}))
with interruptible(), held(places.lock, "a hub") as lock:
    with ServerProcess(["sleep", "60"], environment=os.environ, log=places.log, lock=lock,
                folder=places.root) as server:
        print(server.process.pid, flush=True)
        server.wait_until_ready("http://127.0.0.1:9/")
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as starter:
        assert starter.stdout
        started = Path("/proc") / starter.stdout.readline().strip()
        assert started.exists()
        starter.terminate()
        starter.wait(30)
    assert not started.exists()
    with held(places.lock, "a hub"):
        pass


def test_a_server_that_ends_while_it_starts_is_quoted(places):
    with held(places.lock, "a hub") as lock:
        command = [sys.executable, "-c", "print('no such thing'); raise SystemExit(3)"]
        with ServerProcess(
            command, environment=dict(os.environ), log=places.log, lock=lock, folder=places.root
        ) as server, pytest.raises(OSError, match="no such thing"):  # fmt: skip
            server.wait_until_ready("http://127.0.0.1:9/")
    assert places.log.stat().st_mode & 0o777 == 0o600
