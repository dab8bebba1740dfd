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
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from mlsys_widgets.hub.accounts.run_as import SYSTEM_PATH
from mlsys_widgets.hub.hub_state import Account, HubState
from mlsys_widgets.hub.places import PRIVATE, Places, Role

#: People log in to these accounts only through the hub.
_SHELL: Final = "/usr/sbin/nologin"
_PROGRAMS: Final = (
    "useradd", "userdel", "usermod", "groupadd", "groupmod", "groupdel", "gpasswd", "chpasswd",
)  # fmt: skip


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
    """Create the users that are missing, with the ids that they had before; return their names.

    The first files in a student's home come from `welcome`.
    """
    check_names(state, list(wanted))
    made = []
    for name, role in wanted.items():
        home = places.home(name)
        if _entry(name) is None:
            _add(name, home, state)
            made.append(name)
        entry = pwd.getpwnam(name)
        known = state.accounts.get(name) or Account(name, entry.pw_uid, entry.pw_gid, role)
        state.accounts[name] = replace(known, uid=entry.pw_uid, gid=entry.pw_gid, role=role)
        state.write(places.state)
        if not home.exists():
            _make_home(home, entry, welcome if role == "student" else None)
    return made


def removed_accounts(state: HubState) -> set[str]:
    """Return names that the hub knows and that are no longer users of this machine."""
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
    for group in state.groups:
        if _has_group(group):
            _system("groupdel", group)
    return left


def make_groups(places: Places, state: HubState) -> None:
    """Create the two groups of a hub, with the numbers that they had before, and fill them."""
    for group in (state.staff_group, state.teaching_group):
        if not _has_group(group):
            known = state.groups.get(group)
            _system("groupadd", *(("--gid", str(known)) if known else ()), group)
        state.groups[group] = grp.getgrnam(group).gr_gid
    state.write(places.state)
    fill_groups(state)


def fill_groups(state: HubState) -> None:
    """Let those who teach, and can log in, be in the groups: nobody else."""
    teaching = [each.name for each in state.of_role("instructor") if each.standing == "active"]
    tas = [each.name for each in state.of_role("ta") if each.standing == "active"]
    for group, members in ((state.teaching_group, teaching), (state.staff_group, teaching + tas)):
        there = [name for name in members if _entry(name) is not None]
        if sorted(grp.getgrnam(group).gr_mem) != sorted(there):
            _system("gpasswd", "--members", ",".join(there), group)


def close_account(state: HubState, account: Account) -> None:
    """Let nobody log in with an account, and end what runs; everything in it is kept."""
    entry = _own_entry(state, account)
    if entry is None:
        return
    _system("usermod", "--lock", "--expiredate", "1", account.name)
    end_processes(entry.pw_uid)


def open_account(state: HubState, account: Account) -> None:
    """Let somebody log in again, with the password that they had."""
    if _own_entry(state, account) is not None:
        _system("usermod", "--expiredate", "", account.name)
        with suppress(OSError):  # an account that never had a password
            _system("usermod", "--unlock", account.name)


def rename_account(places: Places, state: HubState, account: Account, new: str) -> Account:
    """Give an account another name: its home, password and number stay. Can be done again.

    Nothing of that user may run.
    """
    renamed = replace(account, name=new)
    if _entry(account.name) is not None:
        if _own_entry(state, account) is None:
            raise ValueError(f"{account.name} is no longer marked as this hub's; it is left alone")
        check_names(state, [new])
        end_processes(account.uid)
        _system("usermod", "--login", new, "--home", str(places.home(new)), account.name)
    elif _own_entry(state, renamed) is None:
        raise ValueError(f"{account.name} is not a user of this machine, and {new} is not either")
    if _has_group(account.name) and not _has_group(new):
        _system("groupmod", "--new-name", new, account.name)
    if places.home(account.name).is_dir() and not places.home(new).exists():
        places.home(account.name).rename(places.home(new))
    return renamed


def delete_account(places: Places, state: HubState, account: Account) -> None:
    """Remove an account of this hub, with its home."""
    entry = _own_entry(state, account)
    if entry is not None:
        end_processes(entry.pw_uid)
        _system("userdel", account.name)
    if _has_group(account.name) and grp.getgrnam(account.name).gr_gid == account.gid:
        _system("groupdel", account.name)
    shutil.rmtree(places.home(account.name), ignore_errors=True)
    shutil.rmtree(places.sockets_of(account.name), ignore_errors=True)


def _own_entry(state: HubState, account: Account) -> pwd.struct_passwd | None:
    """Return the account's line in the system's list, if it is this hub's."""
    entry = _entry(account.name)
    ours = entry is not None and entry.pw_gecos == state.mark and entry.pw_uid == account.uid
    return entry if ours else None


def end_all_processes(state: HubState) -> None:
    """End everything that runs as a user of this hub."""
    own = (_own_entry(state, account) for account in state.accounts.values())
    end_processes(*(entry.pw_uid for entry in own if entry))


def end_processes(*uids: int, patience: float = 5.0) -> None:
    """End everything that runs as one of these users: with a request first, then by force."""
    for ask in (signal.SIGTERM, signal.SIGKILL):
        for process in _processes(uids):
            with suppress(ProcessLookupError):
                os.kill(process, ask)
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if not _processes(uids):
                return
            time.sleep(0.1)
    raise OSError(f"processes of users do not end: {_processes(uids)}")


def _processes(uids: Collection[int]) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (
                    entry.stat().st_uid in uids
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
