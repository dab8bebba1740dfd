"""Kill the hub, a server, a kernel; stop and start: a student's work is there afterward."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
from pathlib import Path

import pytest

from tests.hub.running import Hub, Person
from tests.hub.test_server_process import BACKGROUND
from tests.sampling import sample
from tests.waiting import wait_for

LAB = "lab_07_kernel_fusion"
#: What the first cells of the lab do; the card of a prediction and what waits for it.
OPEN = f"""
from mlsys_widgets import DispatchWaterfall, open_lab
lab = open_lab("{LAB}")
first, second = lab.card("act1_utilization"), lab.card("act1_real")
"""
COMMIT = OPEN + "first.commit(sorted(first.options)[1], 4); print(first.value, first.confidence)"
LOOK = OPEN + "print(first.value, first.confidence, first.is_open, second.value)"


def processes(person: Person, word: str) -> list[int]:
    """The processes of somebody whose command line holds a word."""
    mine, found = person.home.stat().st_uid, []
    for entry in Path("/proc").iterdir():
        try:
            mine_too = entry.name.isdigit() and entry.stat().st_uid == mine
            if mine_too and word in (entry / "cmdline").read_text():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.fixture(scope="module")
def trial(hub: Hub) -> Person:
    """Somebody in the middle of a lab: a prediction is committed, the next one is not."""
    person = Person(hub, hub.names["trial"]).arrive()
    person.assignment("fetch", LAB)
    return person


@pytest.fixture(scope="module")
def committed(trial: Person) -> str:
    """What was committed, as the lab says it."""
    kernel = trial.kernel(LAB)
    said = trial.run(kernel, COMMIT).strip()
    assert said.endswith(" 4"), said
    trial.ask("DELETE", f"api/kernels/{kernel}")
    return said


def continues(person: Person, committed: str) -> None:
    """In a new kernel the committed prediction stands and what waited for it is open."""
    kernel = person.kernel(LAB)
    assert person.run(kernel, LOOK).strip() == f"{committed} True None"
    refused = person.run(kernel, OPEN + "first.commit(sorted(first.options)[0], 1)")
    assert "AlreadyCommitted" in refused
    person.ask("DELETE", f"api/kernels/{kernel}")


def test_a_killed_kernel_comes_back_and_the_lab_continues(trial, committed):
    kernel = trial.kernel(LAB)
    trial.run(kernel, OPEN)
    (process,) = processes(trial, "ipykernel_launcher")
    os.kill(process, signal.SIGKILL)
    wait_for(lambda: processes(trial, "ipykernel_launcher") not in ([], [process]))
    wait_for(lambda: trial.ask("GET", f"api/kernels/{kernel}").json()["execution_state"] != "dead")
    assert trial.run(kernel, LOOK).strip() == f"{committed} True None"
    trial.ask("DELETE", f"api/kernels/{kernel}")


def test_a_killed_server_is_started_again_and_the_lab_continues(trial, committed):
    before = trial.ask("GET", f"api/contents/{LAB}/{LAB}.ipynb").json()["content"]
    (process,) = processes(trial, "jupyterhub.singleuser")
    os.kill(process, signal.SIGKILL)
    wait_for(lambda: not processes(trial, "jupyterhub.singleuser"))

    def arrived() -> bool:
        # Until the hub has looked, it thinks that the server runs; a page asks again as well.
        answer = trial.ask_hub("POST", f"users/{trial.name}/server")
        return answer.status_code in (201, 202)

    wait_for(arrived)
    trial.start_server()
    assert trial.ask("GET", f"api/contents/{LAB}/{LAB}.ipynb").json()["content"] == before
    continues(trial, committed)


def test_a_killed_hub_finds_its_servers_again(hub, trial, committed):
    kernel = trial.kernel(LAB)
    trial.run(kernel, "kept_in_memory = 42")
    (server,) = processes(trial, "jupyterhub.singleuser")
    hub.kill()
    # While there is no hub, students keep working.
    assert trial.run(kernel, "print(kept_in_memory)").strip() == "42"
    hub.start()
    assert processes(trial, "jupyterhub.singleuser") == [server]
    assert trial.run(kernel, "print(kept_in_memory)").strip() == "42"
    trial.ask("DELETE", f"api/kernels/{kernel}")
    said = trial.ask_hub("GET", f"users/{trial.name}").json()
    assert said["servers"][""]["ready"]
    continues(trial, committed)


def test_stopping_stops_everything_and_starting_again_loses_nothing(hub, trial, committed):
    people = {name: pwd.getpwnam(name) for name in hub.names.values()}
    passwords = {name: hub.password(name) for name in people}
    released = sorted(path.name for path in hub.places.exchange.glob("mlsys/outbound/*"))
    assert hub.stop() == 0
    for name in people:
        assert not processes(Person(hub, name), "jupyterhub.singleuser")
    refused_off_loopback(hub)
    a_rebuilt_machine_gets_the_same_users(hub, people)
    hub.start()
    assert {name: pwd.getpwnam(name) for name in people} == people
    assert {name: hub.password(name) for name in people} == passwords
    assert sorted(path.name for path in hub.places.exchange.glob("mlsys/outbound/*")) == released
    again = Person(hub, trial.name).arrive()
    continues(again, committed)


def family(pid: int) -> list[int]:
    """A process, and all that it has started."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    children = [int(each) for task in tasks for each in (task / "children").read_text().split()]
    return [pid, *(each for child in children for each in family(child))]


def test_however_a_hub_is_stopped_everything_ends(hub, trial):
    """Also what a student has detached from a terminal; nothing waits for the clock."""
    hub.stop()
    # The hardest in each run; the test above stops a hub in the usual way.
    for through, how in sample([([], "SIGKILL"), (BACKGROUND, "SIGINT"), ([], "SIGTERM")], 1):
        hub.start(through=through)
        person = Person(hub, trial.name).arrive()
        person.kernel(LAB)
        person.terminal("(setsid sleep 5000 &)")
        wait_for(lambda: processes(person, "5000"))  # noqa: B023
        everything = {*family(hub.process.pid), *processes(person, "")}
        assert {hub.hub_pid, int((hub.places.proxy_pid).read_text())} < everything
        hub.process.send_signal(signal.Signals[how])
        assert hub.process.wait() == (-9 if how == "SIGKILL" else 0)
        wait_for(lambda: not [pid for pid in everything if Path(f"/proc/{pid}").exists()])  # noqa: B023
    hub.start()


@pytest.mark.slow
def test_what_somebody_decided_between_two_starts_stays_decided(hub, trial, committed):
    """A lab is withdrawn, a student is removed, the roster is shorter, the instructor another."""
    outbound = hub.places.exchange / "mlsys" / "outbound"
    ada, ben = hub.names["ada"], hub.names["ben"]
    roster = hub.places.root.with_name("roster.csv")
    known = pwd.getpwnam(ben)
    assert hub.stop() == 0
    withdrawn = outbound / LAB
    withdrawn.rename(hub.places.root / "aside")
    subprocess.run(["userdel", ben], check=True, capture_output=True)
    shorter = hub.places.root.with_name("shorter.csv")
    shorter.write_text(f"username\n{hub.names['trial']}\n")
    other = subprocess.run(
        hub.command("--instructor", "somebody_else", "--port", str(hub.port)),
        env=hub.environment, capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    assert other.returncode == 1
    assert f"the instructor of this hub is {hub.names['teacher']}" in other.stderr
    before = len(hub.output.read_text())
    hub.start("--roster", str(shorter))
    said = hub.output.read_text()[before:]
    assert f"{LAB} was withdrawn, and stays so" in said
    assert not withdrawn.exists()
    assert f"Removed from this machine, and left so: {ben}." in said
    assert f"Not in this roster, and still here with their work: {ada}" in said
    with pytest.raises(KeyError):
        pwd.getpwnam(ben)
    assert hub.stop() == 0
    (hub.places.root / "aside").rename(withdrawn)
    hub.start("--roster", str(roster))
    assert pwd.getpwnam(ben) == known, "whoever is in the roster comes back, with the same ids"
    continues(Person(hub, trial.name).arrive(), committed)


def refused_off_loopback(hub: Hub) -> None:
    """No default password, and none in the open; nothing listens before that is settled."""
    name = hub.names["ben"]

    def start(*options: str) -> tuple[int, str]:
        done = subprocess.run(
            hub.command("--ip", "0.0.0.0", "--port", str(hub.port), *options),
            env=hub.environment, capture_output=True, text=True, check=False, timeout=100,
        )  # fmt: skip
        return done.returncode, done.stderr

    code, said = start()
    assert code == 1
    assert "--cert" in said
    for password in (name, "changeme"):
        subprocess.run(["chpasswd"], input=f"{name}:{password}", text=True, check=True)
        code, said = start("--behind-proxy")
        assert code == 1
        assert f"passwd {name}" in said
        assert hub.names["ada"] not in said
    kept = f"{name}:{hub.password(name)}"
    subprocess.run(["chpasswd"], input=kept, text=True, check=True)


def a_rebuilt_machine_gets_the_same_users(hub: Hub, people: dict[str, pwd.struct_passwd]) -> None:
    """The folder survived, but the users of the machine did not."""
    for name in people:
        subprocess.run(["userdel", name], check=True, capture_output=True)


def test_a_reset_of_a_running_hub_is_refused(hub):
    done = subprocess.run(
        hub.command("--reset", "--yes"), capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 1
    assert "already runs" in done.stderr
    assert hub.places.course.is_dir()
