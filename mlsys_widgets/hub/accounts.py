"""Users of the machine that a hub creates, recognizes and removes: its own, and no others.

nbgrader files work under the name of the system's user, so every student of the hub is one. An
account belongs to this hub when its comment field in ``/etc/passwd`` carries the hub's mark.
"""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from mlsys_widgets.hub.hub_state import Account, HubState
from mlsys_widgets.hub.places import PRIVATE, Places, Role
from mlsys_widgets.hub.run_as import SYSTEM_PATH

#: People log in to these accounts only through the hub.
_SHELL: Final = "/usr/sbin/nologin"
_PROGRAMS: Final = ("useradd", "userdel", "groupadd", "chpasswd")


def check_names(state: HubState, names: Sequence[str]) -> None:
    """Refuse, before anything is created, a name that belongs to somebody else on this machine."""
    for program in _PROGRAMS:
        if shutil.which(program, path=SYSTEM_PATH) is None:
            raise ValueError(
                f"{program} is missing, which manages users; on Debian: apt-get install passwd"
            )
    foreign = [name for name in names if (entry := _entry(name)) and not _ours(entry, state)]
    if foreign:
        one = len(foreign) == 1
        raise ValueError(
            f"this machine has {'a user' if one else 'users'} {', '.join(foreign)} that this hub"
            f" did not create; {'it is' if one else 'they are'} left alone. Choose other names in"
            " the roster, or with --instructor and --student"
        )


def make_accounts(
    places: Places,
    state: HubState,
    wanted: dict[str, Role],
    *,
    welcome: Callable[[Path], None],
) -> list[str]:
    """Create the users that are missing, with the ids that they had before.

    Parameters
    ----------
    places, state
        The hub's folder and what it knows about itself.
    wanted
        Each name with its role.
    welcome
        Puts the first files into a student's home.

    Returns
    -------
    names
        Who was created.
    """
    check_names(state, list(wanted))
    made = []
    for name, role in wanted.items():
        home = places.home(name)
        if _entry(name) is None:
            _add(name, home, state)
            made.append(name)
        entry = pwd.getpwnam(name)
        state.accounts[name] = Account(name, entry.pw_uid, entry.pw_gid, role)
        state.write(places.state)
        if not home.exists():
            _make_home(home, entry, welcome if role == "student" else None)
    return made


def removed_accounts(state: HubState) -> set[str]:
    """Names that the hub knows and that are no longer users of this machine."""
    return {name for name in state.accounts if _entry(name) is None}


def remove_accounts(state: HubState) -> list[str]:
    """Remove the users that this hub created; return the names of those it left alone."""
    left = []
    for account in state.accounts.values():
        entry = _entry(account.name)
        if entry is None:
            continue
        if not _ours(entry, state):
            left.append(account.name)
            continue
        end_processes(entry.pw_uid)
        _system("userdel", account.name)
    return left


def end_processes(uid: int, patience: float = 5.0) -> None:
    """End everything that runs as a user: with a request first, then by force."""
    for ask in (signal.SIGTERM, signal.SIGKILL):
        for process in _processes(uid):
            with suppress(ProcessLookupError):
                os.kill(process, ask)
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if not _processes(uid):
                return
            time.sleep(0.1)
    raise OSError(f"processes of user {uid} do not end: {_processes(uid)}")


def _processes(uid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (
                    entry.stat().st_uid == uid
                    and "\nState:\tZ" not in (entry / "status").read_text()
                ):
                    found.append(int(entry.name))
            except OSError:  # it has just ended
                continue
    return found


def _entry(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _ours(entry: pwd.struct_passwd, state: HubState) -> bool:
    known = state.accounts.get(entry.pw_name)
    return entry.pw_gecos == state.mark and (known is None or known.uid == entry.pw_uid)


def _add(name: str, home: Path, state: HubState) -> None:
    """Add a user; one we know gets the same ids as before, because its files carry them."""
    known = state.accounts.get(name)
    ids = ["--user-group"]
    if known:
        if not _has_group(name):
            _system("groupadd", "--gid", str(known.gid), name)
        ids = ["--uid", str(known.uid), "--gid", str(known.gid)]
    _system(
        "useradd", *ids, "--no-create-home", "--home-dir", str(home), "--shell", _SHELL,
        "--comment", state.mark, name,
    )  # fmt: skip


def _has_group(name: str) -> bool:
    try:
        return bool(grp.getgrnam(name))
    except KeyError:
        return False


def _make_home(
    home: Path, entry: pwd.struct_passwd, welcome: Callable[[Path], None] | None
) -> None:
    """Prepare a home beside its place and move it there when it is complete."""
    aside = home.with_name(f".{home.name}.unfinished")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(mode=PRIVATE)
    aside.chmod(PRIVATE)
    if welcome:
        welcome(aside)
    for path in (*aside.rglob("*"), aside):
        os.lchown(path, entry.pw_uid, entry.pw_gid)
    aside.rename(home)


def _system(program: str, *arguments: str) -> None:
    done = subprocess.run(
        [program, *arguments],
        env={**os.environ, "PATH": SYSTEM_PATH}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise OSError(f"{program} {arguments[-1]}: {done.stderr.strip() or done.returncode}")
