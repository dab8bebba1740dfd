"""What a student can reach of others with everything a real server gives: files, code, a shell.

Whatever ada tries to reach exists for its owner, which the tests assert as well: otherwise a path
that does not exist could pass for one that is closed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests
from nbformat.v4 import new_code_cell, new_notebook

from tests.hub.running import Hub, Person

LAB = "lab_07_kernel_fusion"
COMMIT = f"""
from mlsys_widgets import open_lab
lock = open_lab("{LAB}").card("act1_utilization")
lock.commit(next(iter(lock.options)), 3)
print("committed")
"""
READ = """
import os
for path in {paths!r}:
    try:
        print("READ", path, os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1))
    except OSError as refusal:
        print("refused", path, type(refusal).__name__)
"""
WRITE = """
import os, shutil
def attempt(what, path):
    try:
        what(path)
        print("DONE", path)
    except OSError as refusal:
        print("refused", path, type(refusal).__name__)
for path in {folders!r}:
    attempt(lambda path: open(os.path.join(path, "planted"), "w"), path)
for path in {entries!r}:
    attempt(lambda path: os.rename(path, path + ".moved"), path)
"""
#: Joins every port of the loopback, also those that open later, and keeps what is said there. By
#: default kernels talk unencrypted to whoever joins.
EAVESDROP = """
import threading, time, zmq
context = zmq.Context()
control = context.socket(zmq.PUB)
control.bind_to_random_port("tcp://127.0.0.1")
ear = context.socket(zmq.SUB)
ear.subscribe(b"")
heard, joined = [], set()
def listen():
    while True:
        for line in open("/proc/net/tcp").readlines()[1:]:
            words = line.split()
            port = int(words[1].rpartition(":")[2], 16)
            if words[3] == "0A" and port not in joined:
                joined.add(port)
                ear.connect(f"tcp://127.0.0.1:{port}")
        control.send(b"something to hear")
        while ear.poll(20):
            heard.append(b" ".join(ear.recv_multipart()))
threading.Thread(target=listen, daemon=True).start()
"""
#: Everything that was said before the ear heard the control again has been heard, too.
HEARD = """
before, deadline = len(heard), time.monotonic() + 60
while time.monotonic() < deadline:
    if sum(b"something to hear" in message for message in heard[before:]) > 20:
        break
    time.sleep(0.05)
for words in (b"something to hear", b"own secret", b"validated secret"):
    print(any(words in message for message in list(heard)))
"""


@dataclass(frozen=True)
class Belongings:
    """What belongs to Ben: files, his submission, and his processes."""

    person: Person
    kernel: str
    handed_in: Path

    @property
    def folder(self) -> Path:
        return self.person.home / LAB

    @property
    def processes(self) -> list[int]:
        owner = self.person.home.stat().st_uid
        found = [each for each in Path("/proc").iterdir() if each.name.isdigit()]
        return [int(each.name) for each in found if each.exists() and each.stat().st_uid == owner]


@pytest.fixture(scope="module")
def bens(hub: Hub, ben: Person) -> Belongings:
    """Ben has fetched a lab, committed a prediction and submitted."""
    ben.assignment("fetch", LAB)
    kernel = ben.kernel(LAB)
    assert "committed" in ben.run(kernel, COMMIT)
    ben.assignment("submit", LAB)
    (handed_in,) = hub.places.exchange.glob(f"mlsys/inbound/{ben.name}+{LAB}+*")
    return Belongings(ben, kernel, handed_in)


def closed(hub: Hub, bens: Belongings) -> list[Path]:
    """Everything that only its owner may see."""
    places = hub.places
    teacher = places.home(hub.names["teacher"])
    return [
        bens.person.home, bens.folder, bens.folder / f"{LAB}.ipynb", bens.folder / "ledger.jsonl",
        places.sockets, places.sockets_of(bens.person.name),
        teacher, places.course, places.course / "gradebook.db", places.course / "source",
        places.course / "source" / LAB / f"{LAB}.ipynb",
        places.course / "assignments" / LAB / "checks.py",
        places.homes, places.exchange / "mlsys" / "inbound",
        places.secrets, places.secrets / "passwords.json", places.secrets / "cookie_secret",
        places.secrets / "jupyterhub_config.json", places.secrets / "configproxy_auth_token",
        places.database, places.database / "jupyterhub.sqlite", places.logs, places.log,
        places.state, places.lock, Path("/etc/shadow"),
    ]  # fmt: skip


def test_code_reads_nothing_of_others(hub, ada, bens):
    paths = [str(path) for path in closed(hub, bens)]
    assert all(Path(path).exists() for path in paths)
    kernel = ada.kernel()
    said = ada.run(kernel, READ.format(paths=paths))
    ada.ask("DELETE", f"api/kernels/{kernel}")
    assert said.splitlines() == [f"refused {path} PermissionError" for path in paths]


def test_the_same_code_reads_what_is_ones_own(ada, ben, bens):
    own = [str(bens.folder / "ledger.jsonl"), str(bens.folder)]
    said = ben.run(bens.kernel, READ.format(paths=own))
    assert [line.split()[0] for line in said.splitlines()] == ["READ", "READ"]


def test_code_changes_nothing_of_others(hub, ada, bens):
    places = hub.places
    folders = [places.root, places.homes, bens.person.home, bens.folder, places.course,
               places.settings, places.settings / "student", hub.python.parent,
               places.exchange / "mlsys", places.exchange / "mlsys" / "outbound" / LAB]  # fmt: skip
    entries = [places.exchange / "mlsys", places.exchange / "mlsys" / "outbound",
               places.homes / bens.person.name, places.course]  # fmt: skip
    assert all(path.exists() for path in [*folders, *entries])
    kernel = ada.kernel()
    code = WRITE.format(folders=[str(p) for p in folders], entries=[str(p) for p in entries])
    said = ada.run(kernel, code)
    ada.ask("DELETE", f"api/kernels/{kernel}")
    assert said.splitlines() == [f"refused {path} PermissionError" for path in folders + entries]


def test_what_was_handed_in_is_found_by_nobody(hub, ada, bens):
    """nbgrader lets everybody read a submission whose name they know; part of it is random."""
    drawn = bens.handed_in.name.split("+", 3)[3]
    assert len(drawn) >= 12
    shown = ada.terminal(f"ls {hub.places.exchange}/mlsys/inbound/*; echo $?")
    assert "cannot access" in shown or "Permission denied" in shown
    assert drawn not in shown


def test_processes_of_others_tell_and_obey_nobody(hub, ada, bens):
    servers = [*bens.processes, hub.hub_pid]
    assert len(servers) >= 3  # his server, his kernel, the hub
    paths = [f"/proc/{pid}/{what}" for pid in servers for what in ("environ", "maps", "fd", "cwd")]
    code = READ.format(paths=paths) + (
        f"for pid in {servers!r}:\n"
        "    try:\n        os.kill(pid, 0); print('KILL', pid)\n"
        "    except OSError as refusal: print('refused', pid, type(refusal).__name__)\n"
        f"words = b''.join(open(f'/proc/{{pid}}/cmdline', 'rb').read() for pid in {servers!r})\n"
        "print('token' in words.decode().lower())"
    )
    kernel = ada.kernel()
    said = ada.run(kernel, code).splitlines()
    ada.ask("DELETE", f"api/kernels/{kernel}")
    assert said[-1] == "False", "a command line, which everybody can read, holds a token"
    assert said[:-1] == [f"refused {each} PermissionError" for each in (*paths, *servers)]


def test_a_shell_gets_no_further(hub, ada, bens):
    shown = ada.terminal(
        f"cat {bens.folder}/ledger.jsonl; cp -r {hub.places.course} x; "
        f"ln -s {bens.person.home} {ada.home}/bens; ls {ada.home}/bens/; sudo -n id; "
        f"printf 'x\\n' | su {bens.person.name} -c id"
    )
    assert shown.count("Permission denied") >= 3
    assert "uid=" not in shown


@pytest.mark.parametrize(
    "path",
    ["../{ben}/{lab}/ledger.jsonl", "%2e%2e/{ben}/{lab}/ledger.jsonl", "..%2f{ben}",
     "bens/{lab}/ledger.jsonl", "bens/{lab}/{lab}.ipynb", "bens"],
)  # fmt: skip
def test_the_file_browser_shows_nothing_of_others(ada, bens, path):
    link = ada.home / "bens"
    if not link.is_symlink():
        link.symlink_to(bens.person.home)
    asked = path.format(ben=bens.person.name, lab=LAB)
    for address in ("api/contents/", "files/"):
        answer = ada.ask("GET", f"{address}{asked}")
        assert answer.status_code in (400, 403, 404, 500), (address, answer.text[:300])
        assert "act1_utilization" not in answer.text


def test_the_panel_shows_nothing_of_others(ada, bens):
    link = ada.home / "bens"
    if not link.is_symlink():
        link.symlink_to(bens.person.home)
    answer = ada.ask("GET", f"mlsys/lab?path=bens/{LAB}/{LAB}.ipynb")
    assert answer.status_code in (403, 404)
    assert bens.person.name not in ada.ask("GET", "mlsys/ledgers").text


def addresses(hub: Hub, bens: Belongings) -> list[str]:
    """Ben's server, through the proxy and at its own door."""
    said = hub.places.log.read_text()
    doors = re.findall(rf"user {bens.person.name} to proxy \S+ => (http://127\.0\.0\.1:\d+)", said)
    return [hub.url, doors[-1]]


@pytest.mark.parametrize(
    "path", ["api/contents", "api/kernels", "api/terminals", "lab", "files/START_HERE.md"]
)
def test_the_server_of_another_is_closed(hub, ada, bens, path):
    for origin in addresses(hub, bens):
        address = f"{origin}/user/{bens.person.name}/{path}"
        token = requests.get(
            address, headers={"Authorization": f"token {ada.token}"}, timeout=30,
            proxies={"http": ""}, allow_redirects=False,
        )  # fmt: skip
        assert token.status_code in (302, 403)  # 302: to the login of whom it belongs to
        cookies = ada.session.get(address, timeout=30)
        # 404: at its own door the way to the hub's login leads nowhere.
        assert cookies.status_code in ({403} if origin == hub.url else {403, 404})
        assert "Assignment List" not in cookies.text
        own = requests.get(
            address, headers={"Authorization": f"token {bens.person.token}"}, timeout=30,
            proxies={"http": ""},
        )  # fmt: skip
        assert own.status_code == 200


def test_a_kernel_of_another_takes_no_code(ada, bens):
    thief = Person(ada.hub, bens.person.name)
    thief.token = ada.token
    with pytest.raises(Exception, match="403"):
        thief.run(bens.kernel, "print('in')")
    assert "in" in bens.person.run(bens.kernel, "print('in')")


def test_nobody_listens_in_on_kernels(ada, bens):
    kernel, ben = ada.kernel(), bens.person
    ada.run(kernel, EAVESDROP)
    assert ben.run(bens.kernel, "print('own' + ' secret')") == "own secret\n"
    book = new_notebook(cells=[new_code_cell("print('validated' + ' secret')")])
    saved = ben.ask(
        "PUT", "api/contents/secret.ipynb",
        json={"type": "notebook", "format": "json", "content": book},
    )  # fmt: skip
    assert saved.status_code == 201
    validated = ben.ask("POST", "assignments/validate", json={"path": "secret.ipynb"})
    assert validated.json()["success"], validated.text
    assert "error" not in validated.text.lower()
    heard = ada.run(kernel, HEARD).split()
    ada.ask("DELETE", f"api/kernels/{kernel}")
    assert heard == ["True", "False", "False"]


def test_the_hub_gives_nothing_of_others(hub, ada, bens):
    ben = bens.person.name
    for method, path in (
        ("GET", f"users/{ben}"), ("POST", f"users/{ben}/server"), ("DELETE", f"users/{ben}/server"),
        ("POST", f"users/{ben}/tokens"), ("GET", f"users/{ben}/tokens"), ("GET", "users"),
        ("GET", "proxy"), ("POST", "shutdown"), ("DELETE", f"users/{ben}"),
    ):  # fmt: skip
        assert ada.ask_hub(method, path).status_code in (403, 404), (method, path)


def test_the_door_of_the_proxy_is_closed(hub, ada):
    port = json.loads(hub.places.state.read_text())["api_port"]
    for key in ("", ada.token):
        answer = requests.get(
            f"http://127.0.0.1:{port}/api/routes", headers={"Authorization": f"token {key}"},
            timeout=30, proxies={"http": ""},
        )  # fmt: skip
        assert answer.status_code == 403
