"""Starts a hub, from an empty folder or one that was used before."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from mlsys_widgets.courses import RosterEntry, read_roster
from mlsys_widgets.courses.roster import listed
from mlsys_widgets.hub.accounts.machine_users import (
    check_names,
    end_all_processes,
    make_accounts,
    make_groups,
    removed_accounts,
)
from mlsys_widgets.hub.accounts.passwords import Passwords, defaults_among, hashes, is_locked
from mlsys_widgets.hub.accounts.run_as import reaches
from mlsys_widgets.hub.accounts.sign_in_settings import LtiSettings, OidcSettings
from mlsys_widgets.hub.hub_state import HubState, write_private
from mlsys_widgets.hub.places import Places, Role, SettingsKind, closed_parent
from mlsys_widgets.hub.preparation import (
    check_origin,
    check_roster,
    choose_ports,
    hand_over,
    make_course,
    make_keys,
    run_instructor_tasks,
)
from mlsys_widgets.hub.running.configuration import Address, hub_configuration
from mlsys_widgets.hub.running.environments import current_environment, folder_for, remove_others
from mlsys_widgets.hub.running.interpreter import (
    NOBODY,
    CannotInstall,
    clone,
    interpreter_for,
    runs,
)
from mlsys_widgets.hub.running.proxy import end_stale_proxy, find_proxy
from mlsys_widgets.hub.running.running_hub import Restart, restartable
from mlsys_widgets.hub.running.server_process import (
    ServerProcess,
    check_port,
    hold_folder,
    interruptible,
)
from mlsys_widgets.hub.running.service_unit import notify
from mlsys_widgets.hub.running.settings import welcome, write_settings
from mlsys_widgets.hub.running.shared_course import share_course
from mlsys_widgets.hub.running.slurm_settings import SlurmSettings
from mlsys_widgets.hub.running.student_limits import ControlGroups, StudentLimits

#: The two users to try a hub with.
INSTRUCTOR: Final = "instructor"
STUDENT: Final = "student"


@dataclass(frozen=True)
class HubOptions:
    """Options of a hub on the command line."""

    #: What the course is made from the first time.
    bundle: Path | None = None
    origin: Path | None = None
    roster: Path | None = None
    #: The names of the two users to try it with, set the first time.
    instructor: str | None = None
    student: str | None = None
    #: What runs users' servers; found automatically if omitted.
    python: Path | None = None
    #: Seconds after which servers and kernels that nobody uses are stopped; 0 for never.
    idle: int = 3600
    #: The settings of an identity provider, and of a learning system, to sign in with, too.
    oidc: OidcSettings | None = None
    lti: LtiSettings | None = None
    #: The settings of a cluster on which students' servers run.
    slurm: SlurmSettings | None = None
    #: What each student may use of the machine.
    limits: StudentLimits = field(default_factory=StudentLimits)


def run_hub(places: Places, address: Address, options: HubOptions) -> int:
    """Prepare what is missing, and serve until somebody stops it."""
    students = read_roster(options.roster) if options.roster else []
    check_roster(students)
    if closed := closed_parent(places.root):
        raise ValueError(
            f"users cannot pass through {closed}, and their homes would be in {places.root}; choose"
            " another place with --folder, such as /srv/mlsys_hub"
        )
    state = _read_state(places, options)
    wanted = _everybody(state, students)
    check_names(state, list(wanted))
    check_origin(places.course, bundle=options.bundle, origin=options.origin)
    first = not places.root.exists()
    places.make()
    with interruptible(), restartable() as restart, hold_folder(places.lock, "a hub") as lock:
        if not address.loopback:
            _refuse_defaults(list(state.accounts), Passwords(places.passwords))
        # What has to be installed comes before people: if it cannot be, nobody is a user yet.
        try:
            python = _python(places, options)
        except CannotInstall:
            if first:
                shutil.rmtree(places.root, ignore_errors=True)
            raise
        proxy = find_proxy(places.proxy, _say)
        passwords = _create_people(places, state, wanted)
        _mention_who_is_missing(places, state, wanted, students)
        if not address.loopback:
            _refuse_defaults(list(wanted), passwords)
        if end_stale_proxy(places.proxy_pid):
            _say("Ended the proxy of a hub that was killed; servers of users keep running")
        check_port(address.ip, address.port)
        _make_course(places, state, options)
        _write_settings(places, state, options)
        _warn_about_readable_keys(state, options)
        configuration = _configure(places, state, address, options, python, proxy)
        with _start(places, configuration, python, lock) as server:
            # This takes about as long as the hub takes to start.
            _enter_and_release(places, state, python, students)
            server.wait_until_ready(f"{address.url}/hub/health")
            _introduce(places, address, state, passwords)
            remove_others(places, python)
            _serve(server, restart)
    if restart.asked:
        print("Starting again with the version that is installed now", flush=True)
        restart.now()
    print("Stopped. Everything is kept; mlsys hub starts it again.")
    return 0


def _serve(server: ServerProcess, restart: Restart) -> None:
    notify("READY=1")
    if server.serve(lambda: restart.asked):
        raise OSError(f"the hub ended; the end of {server.log}:\n{server.last_lines()}")
    if restart.asked:
        # Not asked to stop, or it would stop the servers of users; the next one finds them.
        server.process.kill()
        server.process.wait()
    else:
        notify("STOPPING=1")


def _read_state(places: Places, options: HubOptions) -> HubState:
    state = HubState.read(places.state)
    if state is None:
        return HubState.new("hub", options.instructor or INSTRUCTOR, options.student or STUDENT)
    if state.kind != "hub":
        raise ValueError(f"{places.root} is a course for one person; name another with --folder")
    for role, asked, known in (
        ("instructor", options.instructor, state.instructor),
        ("student", options.student, state.student),
    ):
        if asked not in (None, known):
            raise ValueError(
                f"the {role} of this hub is {known}, as chosen at its first start; omit --{role},"
                f" or begin another hub with --folder"
            )
    return state


def _everybody(state: HubState, students: Sequence[RosterEntry]) -> dict[str, Role]:
    """Return who will be a user: everybody from before, the two to try it with, and the class.

    Somebody who was removed from this machine comes back only with the roster. On a new machine
    nobody is a user yet, and everybody comes along.
    """
    wanted: dict[str, Role] = {each.id: "student" for each in students}
    gone = removed_accounts(state)
    moved = len(gone) == len(state.accounts)
    wanted |= {n: each.role for n, each in state.accounts.items() if moved or n not in gone}
    earlier = {each.numbers for each in state.accounts.values()}
    wanted = {name: role for name, role in wanted.items() if name not in earlier}
    return wanted | {state.student: "student", state.instructor: "instructor"}


def _mention_who_is_missing(
    places: Places, state: HubState, wanted: Mapping[str, Role], students: Sequence[RosterEntry]
) -> None:
    removed = [name for name in state.accounts if name not in wanted]
    if removed:
        _say(
            f"Removed from this machine, and left so: {listed(removed)}. Their work is kept in"
            f" {places.homes}; who is in the roster comes back"
        )
    closed = sorted(state.closed() & {each.id for each in students})
    if closed:
        _say(f"Locked or dropped, and still so: {listed(closed)}; mlsys course people says who")
    listed_now = {each.id for each in students} | {state.student}
    others = [each.name for each in state.of_role("student") if each.name not in listed_now]
    staying = [name for name in others if name in wanted]
    if students and staying:
        _say(f"Not in this roster, and still here with their work: {listed(staying)}")


def _create_people(places: Places, state: HubState, wanted: dict[str, Role]) -> Passwords:
    state.write(places.state)
    passwords = Passwords(places.passwords)
    passwords.make(wanted)
    made = make_accounts(places, state, wanted, welcome=welcome)
    if made:
        _say(f"Created users of this machine: {listed(made)}")
    known = hashes()
    closed = state.closed()
    passwords.give([n for n in wanted if n not in closed and is_locked(known.get(n, "!"))])
    make_groups(places, state)
    return passwords


def _refuse_defaults(names: Sequence[str], passwords: Passwords) -> None:
    if defaults := defaults_among(names, passwords, hashes()):
        raise ValueError(
            "a hub that other machines can reach does not start with default passwords:\n"
            + "\n".join(defaults)
        )


def _python(places: Places, options: HubOptions) -> Path:
    if options.python is None:
        try:
            return interpreter_for(NOBODY, Path("/"), folder_for(places), _say)
        except CannotInstall as problem:
            before = current_environment(places)
            if before is None:
                raise
            raise ValueError(
                f"{problem}. The environment of the version before is as it was; to start with it,"
                f" add --python {before / 'bin' / 'python'}"
            ) from None
    if not runs(options.python.absolute(), NOBODY, Path("/")):
        raise ValueError(
            f"users cannot run {options.python}, or it lacks mlsys-widgets[hub]; install that where"
            " everybody can reach it, or omit --python"
        )
    return options.python.absolute()


def _make_course(places: Places, state: HubState, options: HubOptions) -> None:
    if not places.course.is_dir():
        _say("Making the course")
    state.course_id = make_course(
        places.course, bundle=options.bundle, origin=options.origin, say=_say
    )
    instructor = state.accounts[state.instructor]
    if places.course.stat().st_uid != instructor.uid:
        hand_over(places.course, instructor)
    share_course(places, state)
    state.write(places.state)


def _write_settings(places: Places, state: HubState, options: HubOptions) -> None:
    roles: tuple[SettingsKind, ...] = ("instructor", "student")
    for role in roles:
        write_settings(
            places.settings_of(role), role, course_id=state.course_id,
            exchange=places.exchange, course=places.course, idle=options.idle, sockets=True,
            shared=True,
        )  # fmt: skip


def _enter_and_release(
    places: Places, state: HubState, python: Path, students: Sequence[RosterEntry]
) -> None:
    known = {each.id for each in students}
    trying = [] if state.student in known else [RosterEntry(state.student, "(trial)", "Account")]
    trial = [each.id for each in trying] + [each.name for each in state.of_role("instructor")]
    teacher = state.accounts[state.instructor]
    home = places.home(teacher.name)
    run_instructor_tasks(places, teacher, home, python, [*students, *trying], _say, trial)


def _warn_about_readable_keys(state: HubState, options: HubOptions) -> None:
    here = clone()
    keys = [options.bundle, options.origin, here and here / "assignments", here and here / "source"]
    for path in dict.fromkeys(each.resolve() for each in keys if each and each.exists()):
        if reaches(state.accounts[state.student], path):
            print(
                f"! Students can read {path}, which holds keys. Close it: chmod o-rx {path}",
                file=sys.stderr, flush=True,
            )  # fmt: skip


def _configure(
    places: Places,
    state: HubState,
    address: Address,
    options: HubOptions,
    python: Path,
    proxy: Sequence[str],
) -> Path:
    """Write JupyterHub's configuration; ports are chosen last, so that they are still free."""
    choose_ports(state, address.port)
    state.write(places.state)
    configuration = hub_configuration(
        places, state, address, python=python, proxy=proxy, idle=options.idle,
        oidc=options.oidc, lti=options.lti, slurm=options.slurm,
        limits=options.limits, groups=_prepare_groups(state, options.limits),
    )  # fmt: skip
    write_private(places.configuration, json.dumps(configuration, indent=1))
    return places.configuration


def _prepare_groups(state: HubState, limits: StudentLimits) -> str:
    """Return the name of the control groups of students; empty if there are none, which is said."""
    if not (limits.memory or limits.cores):
        return ""
    if why := ControlGroups(state.control_groups).why_not():
        _say(
            "No limits of memory and processor time per student, because control groups cannot be"
            f" made here ({why}). A process may still fill no more than half of the memory"
        )
        return ""
    return state.control_groups


def _start(places: Places, configuration: Path, python: Path, lock: IO[str]) -> ServerProcess:
    _say("Starting JupyterHub")
    # Settings of root's own Python must not affect the hub's.
    inherited = {name: each for name, each in os.environ.items() if not name.startswith("PYTHON")}
    return ServerProcess(
        [str(python), "-m", "jupyterhub", "--config", str(configuration)],
        environment=inherited | make_keys(places),
        log=places.log, lock=lock, folder=places.database,
        # Killed, a service is started again, and the next hub finds the servers of users.
        when_killed="KILL" if os.environ.get("NOTIFY_SOCKET") else "TERM",
        leftovers=lambda: _end_leftovers(places),
    )  # fmt: skip


def _end_leftovers(places: Places) -> None:
    """End what JupyterHub did not: it may have been killed, and programs outlive a server."""
    end_stale_proxy(places.proxy_pid)
    state = HubState.read(places.state)  # as it is now: people came and went
    if state:
        end_all_processes(state)
        ControlGroups(state.control_groups).remove()


def _introduce(places: Places, address: Address, state: HubState, passwords: Passwords) -> None:
    """Say where to go, whom to log in as, and how to stop."""
    known, others = hashes(), len(state.accounts.keys() - removed_accounts(state)) - 2
    rows = [
        ("Open", address.url),
        ("Teach as", f"{state.instructor}   {passwords.shown(state.instructor, known)}"),
        ("Learn as", f"{state.student}   {passwords.shown(state.student, known)}"),
        *([("Class", f"{others} more; mlsys hub --passwords prints a sheet")] if others else []),
        ("State", f"{places.root}"),
        ("Log", f"{places.log}"),
        (
            "Monitor",
            f"{address.url}/services/monitor/health and /metrics;"
            " docs/administrators/hub_service.md",
        ),
        ("Stop", "Ctrl-C; starting again loses nothing"),
    ]
    print(f"\nThe hub of {state.course_id} is running.\n")
    for what, words in rows:
        print(f"  {what:9} {words}")
    print(flush=True)


def _say(words: str) -> None:
    print(f"· {words}", flush=True)
