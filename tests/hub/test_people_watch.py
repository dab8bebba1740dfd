"""A hub that runs while people come, go, and are renamed; nobody else notices."""

from __future__ import annotations

import json
import pwd
import re
import shlex
import subprocess
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from mlsys_widgets.courses.hub_link import SOCKET, HubLink
from mlsys_widgets.hub.accounts.run_as import groups_of, run_as, umask_of
from mlsys_widgets.hub.hub_state import Account, HubState
from tests.hub.conftest import WHY_NOT
from tests.hub.running import Hub, Person, running_hub
from tests.waiting import wait_for

LAB = "lab_01_magnitude"


class Output(NamedTuple):
    """What a command printed."""

    code: int
    out: str
    err: str


class Terminal:
    """Commands of one user, with their rights, in one process: imports take seconds."""

    LOOP = """
import contextlib, io, json, sys
from mlsys_widgets import cli
for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.main(json.loads(line))
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""

    def __init__(self, course: Course, name: str) -> None:
        account, places = course.account(name), course.places
        self.process = subprocess.Popen(
            [str(course.hub.python), "-c", self.LOOP],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=places.course,
            user=account.uid, group=account.gid, extra_groups=groups_of(account),
            umask=umask_of(account.role),
            env={"HOME": str(places.home(name)), "USER": name, "LOGNAME": name, "COLUMNS": "200",
                 "PATH": f"{course.hub.python.parent}:/usr/bin:/bin", "LANG": "C.UTF-8",
                 "JUPYTER_CONFIG_PATH": str(places.settings_of(account.role))},
        )  # fmt: skip

    def run(self, *words: str) -> Output:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        return Output(*json.loads(self.process.stdout.readline()))

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(60)
        assert self.process.stdout
        self.process.stdout.close()


class Course:
    """The course of a hub, in the terminals of those who teach there."""

    def __init__(self, hub: Hub) -> None:
        self.hub, self.places = hub, hub.places
        self.root = hub.places.course
        self.terminals: dict[str, Terminal] = {}

    def account(self, name: str) -> Account:
        state = HubState.read(self.places.state)
        assert state is not None
        return state.accounts[name]

    def as_user(self, name: str, *command: str) -> subprocess.CompletedProcess[str]:
        account = self.account(name)
        return run_as(
            account, command, home=self.places.home(name),
            folder=self.root if account.role != "student" else None,
            environment={"JUPYTER_CONFIG_PATH": str(self.places.settings_of(account.role)),
                         "COLUMNS": "200"},
        )  # fmt: skip

    def mlsys(self, *words: str, who: str = "teacher") -> str:
        """A command in the terminal of somebody who teaches; it must succeed."""
        done = self.attempt(*words, who=who)
        assert done.code == 0, (words, done)
        return done.out

    def attempt(self, *words: str, who: str = "teacher") -> Output:
        """A command in the terminal of somebody who teaches."""
        if who not in self.terminals:
            self.terminals[who] = Terminal(self, self.hub.names[who])
        return self.terminals[who].run(*words)

    def password(self, shown: str) -> str:
        found = re.search(r"Password until they change it: (\S+)", shown)
        assert found, shown
        return found[1]


@pytest.fixture(scope="module")
def course(tool: Callable[[str], ModuleType]) -> Iterator[Course]:
    if WHY_NOT:
        pytest.skip(WHY_NOT)
    with running_hub(("ada", "ben", "kim")) as hub:
        tag = hub.names["ada"].removesuffix("ada")
        hub.names |= {each: f"{tag}{each}" for each in ("tom", "zoe", "adal", "ira")}
        course = Course(hub)
        yield course
        for terminal in course.terminals.values():
            terminal.close()


@pytest.fixture(scope="module")
def kim(course: Course) -> Person:
    """A student who works while others come and go."""
    return Person(course.hub, course.hub.names["kim"]).arrive()


@pytest.fixture(scope="module")
def tom(course: Course) -> Person:
    """A TA, who was hired while the hub ran."""
    name = course.hub.names["tom"]
    shown = course.mlsys("course", "staff", name, "--role", "ta")
    assert f"{name} is now a TA." in shown
    person = Person(course.hub, name)
    assert person.login(course.password(shown)).status_code == 302
    return person


def knocking(course: Course) -> str:
    """A command that connects to the socket on which instructors ask."""
    address = course.places.people / SOCKET
    code = f"import socket; socket.socket(socket.AF_UNIX).connect({str(address)!r})"
    return shlex.join([str(course.hub.python), "-c", code])


def server_of(course: Course, name: str) -> set[int]:
    uid = pwd.getpwnam(name).pw_uid
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
                if entry.stat().st_uid == uid and b"jupyterhub.singleuser" in command:
                    found.add(int(entry.name))
            except OSError:
                continue
    return found


def test_a_ta_grades_and_changes_neither_keys_nor_people(course: Course, tom: Person) -> None:
    shell = ["/bin/sh", "-c"]
    root = course.root
    for command in (
        f"echo x >> {root}/assignments/course.toml",
        f"echo x > {root}/assignments/{LAB}/checks.py",
        f"mv {root}/assignments {root}/mine",
        f"rm {root}/nbgrader_config.py",
        f"echo x >> {root}/nbgrader_config.py",
        f"ls {course.places.people}",
        knocking(course),
        f"cat {course.places.secrets}/passwords.json",
        f"touch {course.places.exchange}/mlsys/outbound/x",
    ):
        done = course.as_user(tom.name, *shell, command)
        assert done.returncode != 0, command
    for command in (
        f"cat {root}/assignments/{LAB}/checks.py",
        f"ls {course.places.exchange}/mlsys/inbound",
        f"touch {root}/submitted_by_hand.txt {root}/.mlsys/x.json; rm {root}/.mlsys/x.json",
    ):
        done = course.as_user(tom.name, *shell, command)
        assert done.returncode == 0, (command, done.stderr)
    refused = course.attempt("course", "add", "eve", who="tom")
    assert refused.code == 1
    assert refused.err == "mlsys: on this hub only an instructor can do that\n"
    assert "tom" in course.mlsys("course", "people", who="tom")


def test_both_grade_one_class_and_a_student_sees_nothing_of_it(course: Course, tom: Person) -> None:
    hub = course.hub
    course.mlsys("simulate", LAB, "--students", "2", "--kinds", "right")
    for who in ("teacher", "tom", "teacher"):
        done = course.attempt("grade", LAB, "--force", who=who)
        assert (done.code, done.err) == (0, ""), done
    assert f"{tom.name}: grading/{LAB}/{tom.name}.md" in course.mlsys("course", "split", LAB)
    done = course.as_user(hub.names["ben"], "/bin/ls", str(course.root))
    assert done.returncode != 0


def test_a_student_who_is_added_can_log_in_at_once(course: Course, kim: Person) -> None:
    before = server_of(course, kim.name)
    name = course.hub.names["zoe"]
    shown = course.mlsys("course", "add", name, "--name", "Zoe Ray", "--section", "evening")
    zoe = Person(course.hub, name)
    assert zoe.login("not-her-password").status_code != 302
    assert zoe.login(course.password(shown)).status_code == 302
    assert course.account(name).role == "student"
    assert "Zoe Ray" in course.mlsys("course", "people")
    assert server_of(course, kim.name) == before != set()


def test_who_is_locked_is_out_at_once_and_back_when_unlocked(course: Course) -> None:
    ben = Person(course.hub, course.hub.names["ben"]).arrive()
    assert ben.ask("GET", "api/status").status_code == 200
    assert server_of(course, ben.name)
    shown = course.mlsys("course", "lock", ben.name)
    assert "On the hub: student, locked." in shown
    assert not server_of(course, ben.name)
    assert ben.ask("GET", "api/status", allow_redirects=False).status_code != 200
    assert ben.ask_hub("GET", f"users/{ben.name}").status_code in (401, 403)
    assert Person(course.hub, ben.name).login().status_code != 302
    course.mlsys("course", "unlock", ben.name)
    assert Person(course.hub, ben.name).login().status_code == 302
    course.mlsys("course", "drop", ben.name)
    assert Person(course.hub, ben.name).login().status_code != 302
    assert course.places.home(ben.name).is_dir()


def test_a_renamed_student_keeps_home_password_hand_ins_and_numbers(course: Course) -> None:
    old, new = course.hub.names["ada"], course.hub.names["adal"]
    python, password = str(course.hub.python), course.hub.password(old)
    for action in ("fetch_assignment", "submit"):
        done = course.as_user(old, python, "-m", "nbgrader", action, LAB, "--course=mlsys")
        assert done.returncode == 0, done.stderr
    notes = course.places.notes / "notes.jsonl"
    wait_for(lambda: notes.is_file() and old in notes.read_text(), "the hand-in is not noted")
    uid = course.account(old).uid
    course.mlsys("course", "rename", old, new)
    account = course.account(new)
    assert (account.uid, account.numbers, account.role) == (uid, old, "student")
    assert Person(course.hub, old).login(password).status_code != 302
    renamed = Person(course.hub, new)
    assert renamed.login().status_code == 302
    assert course.hub.password(new) == password
    assert (course.places.home(new) / LAB / f"{LAB}.ipynb").is_file()
    folders = [each.name for each in (course.places.exchange / "mlsys" / "inbound").iterdir()]
    assert [name.split("+")[0] for name in folders] == [new]
    noted = [json.loads(line) for line in notes.read_text().splitlines()]
    assert [(each["student"], each["folder"]) for each in noted] == [(new, folders[0])]
    renamed.arrive()
    kernel = renamed.kernel(LAB)
    shown = renamed.run(kernel, "from mlsys_widgets import labs; print(labs.student('.').name)")
    assert shown.strip() == old


def test_requests_of_others_and_of_nobody_are_not_followed(course: Course) -> None:
    victim = course.account(course.hub.names["kim"])
    for name, allowed in ((victim.name, False), (course.hub.names["teacher"], True)):
        done = course.as_user(name, "/bin/sh", "-c", knocking(course))
        assert (done.returncode == 0) is allowed, done.stderr
    settings = course.root / "assignments" / "course.toml"
    before = settings.read_text()
    settings.write_text(
        before + f'\n[staff.root]\nrole = "ta"\n[staff.{victim.name}]\nrole = "ta"\n'
    )

    def problems() -> Sequence[str]:
        status = HubLink(course.root).status()
        assert status is not None
        return status.problems

    wait_for(lambda: len(problems()) == 2, "not both are refused")
    assert any(words.startswith("root: this machine has a user root") for words in problems())
    assert any("somebody who teaches needs another login" in words for words in problems())
    settings.write_text(before)
    wait_for(lambda: not problems(), "the problems stay")
    refused = course.attempt("course", "lock", course.hub.names["trial"])
    assert refused.code == 1
    assert "belongs to the hub itself" in refused.out
    settings.write_text(before)


def test_nothing_names_who_was_forgotten(course: Course, tom: Person) -> None:
    hub = course.hub
    old, new = hub.names["ada"], hub.names["adal"]
    course.mlsys("course", "extend", new, LAB, "--days", "2", "--reason", "illness")
    target = course.places.home(hub.names["teacher"]) / "copy.zip"
    course.mlsys("course", "copy", new, "--to", str(target))
    with zipfile.ZipFile(target) as archive:
        about = json.loads(archive.read("hub.json"))
        assert about["accounts"][0]["name"] == new
        assert about["hand_ins"][0]["lab"] == LAB
        assert json.loads(archive.read("settings.json"))["extensions"][0]["reason"] == "illness"
        assert json.loads(archive.read("gradebook.json"))["student"]["first_name"] == "Ada"
    target.unlink()
    shown = course.mlsys("course", "forget", new, "--yes")
    assert shown.endswith("Removed.\n"), shown
    with pytest.raises(KeyError):
        pwd.getpwnam(new)
    assert not course.places.home(new).exists()
    names = re.compile(rb"(?<![a-z0-9])(" + old.encode() + rb"|" + new.encode() + rb")(?![a-z0-9])")

    def content(path: Path) -> bytes:
        with suppress(FileNotFoundError):  # a hub that runs removes files, too
            return path.read_bytes()
        return b""

    def named() -> list[str]:
        return [
            str(path.relative_to(course.places.root))
            for path in course.places.root.rglob("*")
            if names.search(str(path.relative_to(course.places.root)).encode())
            or (path.is_file() and not path.is_symlink() and names.search(content(path)))
        ]

    # Whoever wrote dates at that very moment looks again, and removes them.
    hub.wait(lambda: named() == [], "nothing names who was forgotten")
    assert Person(hub, new).login("anything").status_code != 302


def test_others_worked_on_all_the_while(course: Course, kim: Person) -> None:
    assert kim.ask("GET", "api/status").status_code == 200
    assert len(server_of(course, kim.name)) == 1
