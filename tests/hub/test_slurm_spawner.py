"""A course on a real Slurm of two nodes: a whole way of a lab, and what clusters do to servers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hub.running import Hub, Person, running_hub
from tests.hub.slurm import NODES, Slurm, running_slurm
from tests.hub.test_hub import LAB, plain
from tests.waiting import wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("slurm"),
    pytest.mark.needs("munge"),
    pytest.mark.timeout(1500),
]

WHERE = "import os; print(os.environ.get('SLURMD_NODENAME', 'here'), os.environ[{!r}])"
SETTINGS = 'hub = "127.0.0.1"\npartition = "course"\nmemory = "1500M"\nwait = 1\n'


@pytest.fixture(scope="module")
def slurm(hub_is_possible: None) -> Iterator[Slurm]:
    with running_slurm() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def hub(slurm: Slurm) -> Iterator[Hub]:
    (slurm.folder / "slurm.toml").write_text(SETTINGS)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in slurm.environment.items():
            patch.setenv(name, value)
        with running_hub(("ada", "ben"), "--slurm", str(slurm.folder / "slurm.toml")) as running:
            yield running


@pytest.fixture(scope="module")
def ada(hub: Hub) -> Person:
    return Person(hub, hub.names["ada"]).arrive()


@pytest.fixture(scope="module")
def teacher(hub: Hub) -> Person:
    return Person(hub, hub.names["teacher"]).arrive()


def where(person: Person, variable: str = "HOME") -> tuple[str, Path]:
    """The node on which somebody's kernels run, and a folder that a variable names there."""
    kernel = person.kernel()
    node, folder = person.run(kernel, WHERE.format(variable)).split()
    person.ask("DELETE", f"api/kernels/{kernel}")
    return node, Path(folder)


def running_job(slurm: Slurm, node: str) -> str:
    (job,) = [job for job, found in slurm.jobs().items() if found == ("RUNNING", node)]
    return job


def told(person: Person) -> list[str]:
    """Ask for a server; what its student reads until it runs, or is not to be."""
    answer = person.ask_hub("POST", f"users/{person.name}/server")
    assert answer.status_code in (201, 202), answer.text
    shown = person.ask_hub("GET", f"users/{person.name}/server/progress")  # ends with the start
    lines = [line for line in shown.text.splitlines() if line.startswith("data:")]
    return [json.loads(line.removeprefix("data:"))["message"] for line in lines]


def is_gone(person: Person) -> bool:
    model = person.ask_hub("GET", f"users/{person.name}").json()
    server = model.get("servers", {}).get("", {})
    return not server.get("ready") and not server.get("pending")


def test_a_command_runs_on_both_nodes(slurm: Slurm) -> None:
    said = slurm.ask("srun", "-N2", "-n2", "sh", "-c", "echo $SLURMD_NODENAME")
    assert sorted(said.split()) == sorted(NODES)


def test_a_lab_is_fetched_and_handed_in_on_a_node_and_graded(
    hub: Hub, ada: Person, teacher: Person
) -> None:
    assert where(ada)[0] in NODES
    assert where(ada)[1] == ada.home
    assert where(teacher)[0] == "here"
    ada.assignment("fetch", LAB)
    (ada.home / LAB / "mine.txt").write_text("written here, read there")
    kernel = ada.kernel(LAB)
    said = ada.run(
        kernel,
        "import os, getpass; open('new.txt', 'w').close(); mode = os.stat('new.txt').st_mode\n"
        "print(getpass.getuser(), oct(mode & 0o777), open('mine.txt').read())",
    )
    assert said.strip() == f"{ada.name} 0o600 written here, read there"
    ada.assignment("submit", LAB)
    shown = plain(
        teacher.terminal(f"nbgrader collect {LAB} && mlsys grade {LAB}; mlsys course people")
    )
    assert ada.name in shown
    graded = hub.places.course / "autograded" / ada.name / LAB / f"{LAB}.ipynb"
    assert graded.owner() == teacher.name, shown


def test_a_student_says_a_port_to_the_hub_and_nothing_else(ada: Person) -> None:
    for body in ({"exec_prefix": ""}, {"port": 80}, {"port": "8080"}, {"port": 8080, "ip": "x"}):
        answer = ada.ask_hub("POST", "batchspawner", json=body)
        assert answer.status_code == 400, body


def test_a_node_dies_with_a_student_on_it(slurm: Slurm, hub: Hub, ada: Person) -> None:
    ada.start_server()
    node, sockets = where(ada, "JUPYTER_RUNTIME_DIR")
    slurm.kill(node)
    shutil.rmtree(sockets)  # a machine that starts again has an empty /tmp
    wait_for(lambda: is_gone(ada), lambda: hub.places.log.read_text()[-3000:])
    said = told(ada)
    assert "The machine that your last server ran on failed. What you had" in " ".join(said), said
    (other,) = NODES.keys() - {node}
    assert where(ada)[0] == other
    slurm.start(node)


def test_a_server_ends_when_its_time_is_up(slurm: Slurm, hub: Hub, ada: Person) -> None:
    ada.start_server()
    job = running_job(slurm, where(ada)[0])
    slurm.ask("scontrol", "update", f"JobId={job}", "TimeLimit=1")
    wait_for(lambda: is_gone(ada), lambda: hub.places.log.read_text()[-3000:])
    said = told(ada)
    assert "Your last server ended because its time was up (4:00:00)." in " ".join(said), said
    assert where(ada)[0] in NODES


def test_a_full_cluster_is_told_in_a_sentence(slurm: Slurm, hub: Hub) -> None:
    sleep = ("sbatch", "--parsable", "--output=/dev/null", "--wrap", "sleep inf")
    others = [slurm.ask(*sleep) for _ in range(4)]  # of which some wait, too
    ben = Person(hub, hub.names["ben"])
    assert ben.login().status_code == 302
    said = told(ben)
    assert "The cluster is full. Your server starts when there is a place;" in " ".join(said), said
    assert "there was no place for your server within 1 minute." in said[-1], said
    slurm.ask("scancel", *others)
    ben.arrive()
    assert where(ben)[0] in NODES


def test_stopping_the_hub_ends_all_jobs(slurm: Slurm, hub: Hub, ada: Person) -> None:
    ada.start_server()
    _, sockets = where(ada, "JUPYTER_RUNTIME_DIR")
    hub.stop()
    wait_for(lambda: not {"RUNNING", "PENDING"} & {state for state, _ in slurm.jobs().values()})
    wait_for(lambda: not sockets.exists())
