"""From an empty folder, or one that was used before, to a hub that runs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from mlsys_widgets.courses import Student, read_roster
from mlsys_widgets.hub.accounts import check_names, make_accounts
from mlsys_widgets.hub.acting import reaches
from mlsys_widgets.hub.configuration import PROXY_PID, Address, hub_configuration
from mlsys_widgets.hub.interpreter import clone, interpreter_for, runs
from mlsys_widgets.hub.memory import Memory, write_private
from mlsys_widgets.hub.passwords import Passwords, defaults_among, hashes, is_locked
from mlsys_widgets.hub.places import Places, Role, closed_parent
from mlsys_widgets.hub.preparing import (
    check_origin,
    check_roster,
    choose_ports,
    hand_over,
    make_course,
    make_keys,
    run_errands,
)
from mlsys_widgets.hub.proxy import end_stale_proxy, find_proxy
from mlsys_widgets.hub.serving import Server, check_port, held, interruptible
from mlsys_widgets.hub.settings import welcome, write_settings

#: Who a hub is tried with.
INSTRUCTOR: Final = "instructor"
STUDENT: Final = "student"


@dataclass(frozen=True)
class Wishes:
    """What a hub is asked for.

    Parameters
    ----------
    bundle, origin
        What the course is made from, the first time.
    roster
        The class, as CSV.
    instructor, student
        Names of the two to try it with, the first time.
    python
        What users' servers are run with, if it is not for us to find.
    idle
        Seconds after which servers and kernels that nobody uses are stopped; 0 for never.
    """

    bundle: Path | None = None
    origin: Path | None = None
    roster: Path | None = None
    instructor: str | None = None
    student: str | None = None
    python: Path | None = None
    idle: int = 3600


def run_hub(places: Places, address: Address, wishes: Wishes) -> int:
    """Prepare what is missing, and serve until somebody stops it."""
    students = read_roster(wishes.roster) if wishes.roster else []
    check_roster(students)
    if closed := closed_parent(places.root):
        raise ValueError(
            f"users cannot go through {closed}, and their homes would be in {places.root}; name"
            " another place with --folder, as /srv/mlsys_hub"
        )
    memory = _remembered(places, wishes)
    wanted = _everybody(memory, students)
    check_names(memory, list(wanted))
    check_origin(places.course, bundle=wishes.bundle, origin=wishes.origin)
    places.make()
    with interruptible(), held(places.lock, "a hub") as lock:
        proxy = find_proxy(places.proxy, _say)
        passwords = _make_people(places, memory, wanted)
        if not address.loopback:
            _refuse_defaults(list(wanted), passwords)
        if end_stale_proxy(places.database / PROXY_PID):
            _say("Ended the proxy of a hub that was killed; servers of users go on")
        check_port(address.ip, address.port)
        python = _python(places, memory, wishes)
        _make_course(places, memory, wishes)
        _write_settings(places, memory, wishes)
        _warn_of_what_students_can_read(memory, wishes)
        configuration = _configure(places, memory, address, wishes, python, proxy)
        with _start(places, configuration, python, lock) as server:
            _hand_out(places, memory, python, students)  # takes as long as the hub to start
            server.wait_until_ready(f"{address.url}/hub/health")
            _introduce(places, address, memory, passwords)
            if server.serve():
                raise OSError(f"the hub ended; the end of {places.log}:\n{server.last_words()}")
    print("Stopped. Everything is kept; mlsys hub starts it again.")
    return 0


def _remembered(places: Places, wishes: Wishes) -> Memory:
    memory = Memory.read(places.memory)
    if memory is None:
        return Memory.new("hub", wishes.instructor or INSTRUCTOR, wishes.student or STUDENT)
    if memory.kind != "hub":
        raise ValueError(f"{places.root} is a course of one person; name another with --folder")
    return memory


def _everybody(memory: Memory, students: Sequence[Student]) -> dict[str, Role]:
    """Who is to be a user: those of before, the two to try it with, and the class."""
    wanted: dict[str, Role] = {each.id: "student" for each in students}
    wanted |= {name: each.role for name, each in memory.accounts.items()}
    return wanted | {memory.student: "student", memory.instructor: "instructor"}


def _make_people(places: Places, memory: Memory, wanted: dict[str, Role]) -> Passwords:
    memory.write(places.memory)
    passwords = Passwords(places.secrets / "passwords.json")
    passwords.make(wanted)
    made = make_accounts(places, memory, wanted, welcome=welcome)
    if made:
        shown = ", ".join(made[:5]) + (f" and {len(made) - 5} more" if len(made) > 5 else "")
        _say(f"Made users of this machine: {shown}")
    known = hashes()
    passwords.give([name for name in wanted if is_locked(known.get(name, "!"))])
    return passwords


def _refuse_defaults(names: Sequence[str], passwords: Passwords) -> None:
    if said := defaults_among(names, passwords, hashes()):
        raise ValueError(
            "a hub that other machines can reach starts with no default password:\n"
            + "\n".join(said)
        )


def _python(places: Places, memory: Memory, wishes: Wishes) -> Path:
    trying = memory.accounts[memory.student]
    home = places.home(trying.name)
    if wishes.python is None:
        return interpreter_for(trying, home, places.environment, _say)
    if not runs(wishes.python.absolute(), trying, home):
        raise ValueError(
            f"{trying.name} cannot run {wishes.python} with mlsys-widgets[hub] in it; install that"
            " where everybody can reach it, or leave --python out"
        )
    return wishes.python.absolute()


def _make_course(places: Places, memory: Memory, wishes: Wishes) -> None:
    if not places.course.is_dir():
        _say("Making the course")
    memory.course_id = make_course(
        places.course, bundle=wishes.bundle, origin=wishes.origin, say=_say
    )
    instructor = memory.accounts[memory.instructor]
    if places.course.stat().st_uid != instructor.uid:
        hand_over(places.course, instructor)
    memory.write(places.memory)


def _write_settings(places: Places, memory: Memory, wishes: Wishes) -> None:
    roles: tuple[Role, ...] = ("instructor", "student")
    for role in roles:
        write_settings(
            places.settings_of(role), role, course_id=memory.course_id,
            exchange=places.exchange, course=places.course, idle=wishes.idle, sockets=True,
        )  # fmt: skip


def _hand_out(places: Places, memory: Memory, python: Path, students: Sequence[Student]) -> None:
    """Enter the class into the gradebook, and release labs."""
    known = {each.id for each in students}
    trying = [] if memory.student in known else [Student(memory.student)]
    teacher = memory.accounts[memory.instructor]
    done = run_errands(places, teacher, places.home(teacher.name), python, [*students, *trying])
    for lab in done["released"]:
        _say(f"Released {lab}")
    for lab in done["changed"]:
        _say(f"{lab} was built anew since it was released; the formgrader releases it again")


def _warn_of_what_students_can_read(memory: Memory, wishes: Wishes) -> None:
    here = clone()
    keys = [wishes.bundle, wishes.origin, here and here / "assignments", here and here / "source"]
    for path in dict.fromkeys(each.resolve() for each in keys if each and each.exists()):
        if reaches(memory.accounts[memory.student], path):
            print(
                f"! Students can read {path}, which holds keys. Close it: chmod o-rx {path}",
                file=sys.stderr, flush=True,
            )  # fmt: skip


def _configure(
    places: Places,
    memory: Memory,
    address: Address,
    wishes: Wishes,
    python: Path,
    proxy: Sequence[str],
) -> Path:
    """Write what JupyterHub is told; ports are chosen last, so that they are still free."""
    choose_ports(memory, address.port)
    memory.write(places.memory)
    configuration = hub_configuration(
        places, memory, address, python=python, proxy=proxy, idle=wishes.idle
    )
    path = places.secrets / "jupyterhub_config.json"
    write_private(path, json.dumps(configuration, indent=1))
    return path


def _start(places: Places, configuration: Path, python: Path, lock: IO[str]) -> Server:
    _say("Starting JupyterHub")
    # Which modules root's own Python finds is nothing for the hub's.
    inherited = {name: each for name, each in os.environ.items() if not name.startswith("PYTHON")}
    return Server(
        [str(python), "-m", "jupyterhub", "--config", str(configuration)],
        environment=inherited | make_keys(places),
        log=places.log, lock=lock, folder=places.database,
    )  # fmt: skip


def _introduce(places: Places, address: Address, memory: Memory, passwords: Passwords) -> None:
    """Say where to go, as whom, and how to stop."""
    known, others = hashes(), len(memory.accounts) - 2
    rows = [
        ("Open", address.url),
        ("Teach as", f"{memory.instructor}   {passwords.shown(memory.instructor, known)}"),
        ("Learn as", f"{memory.student}   {passwords.shown(memory.student, known)}"),
        *([("Class", f"{others} more; mlsys hub --passwords prints a sheet")] if others else []),
        ("State", f"{places.root}"),
        ("Log", f"{places.log}"),
        ("Stop", "Ctrl-C; starting again loses nothing"),
    ]
    print(f"\nThe hub of {memory.course_id} is running.\n")
    for what, words in rows:
        print(f"  {what:9} {words}")
    print(flush=True)


def _say(words: str) -> None:
    print(f"· {words}", flush=True)
