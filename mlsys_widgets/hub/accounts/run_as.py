"""Runs a program as one of the hub's users: with that user's rights, and none of root's."""

from __future__ import annotations

import getpass
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.hub.hub_state import Account
from mlsys_widgets.hub.places import Role

#: Where the system keeps its programs.
SYSTEM_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: Others may do nothing with the files that a user creates.
UMASK: Final = 0o077
#: Others of the group may do everything, in the course that is closed to everybody else.
SHARED_UMASK: Final = 0o002
#: No program may take longer than this many seconds.
_LONGEST: Final = 300


def run_as(
    account: Account | None,
    command: Sequence[str | Path],
    *,
    home: Path,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run a program as a user (without an account, as whoever runs this), and wait for it.

    It runs in a folder, or else in the home, and has no more variables than it needs and is given.
    """
    return subprocess.run(
        [str(each) for each in command],
        **_settings(account, command, home, folder, environment), input=stdin,
        capture_output=True, text=True, check=False, timeout=_LONGEST,
    )  # fmt: skip


def start_as(
    account: Account | None,
    command: Sequence[str | Path],
    *,
    home: Path,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a program as a user, as `run_as` does; what it says goes where ours does."""
    return subprocess.Popen(
        [str(each) for each in command],
        **_settings(account, command, home, folder, environment),
        stdin=subprocess.DEVNULL,
    )


def _settings(
    account: Account | None,
    command: Sequence[str | Path],
    home: Path,
    folder: Path | None,
    environment: Mapping[str, str] | None,
) -> dict[str, Any]:
    """Return with what rights, where and with which variables a program runs."""
    name = account.name if account else getpass.getuser()
    rights: dict[str, Any] = {}
    if account:
        rights = {"user": account.uid, "group": account.gid, "extra_groups": groups_of(account)}
    variables = {
        "HOME": str(home), "USER": name, "LOGNAME": name,
        "PATH": os.pathsep.join([str(Path(command[0]).parent), SYSTEM_PATH]),
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        **(environment or {}),
    }  # fmt: skip
    umask = umask_of(account.role if account else "student")
    return {**rights, "umask": umask, "cwd": folder or home, "env": variables}


def groups_of(account: Account) -> list[int]:
    """Return the groups of somebody who teaches, besides their own; nobody else has any."""
    if account.role == "student":
        return []
    found = os.getgrouplist(account.name, account.gid)
    return [gid for gid in found if gid != account.gid]


def umask_of(role: Role) -> int:
    """Return what takes rights from others on files that somebody creates.

    Those who teach share the course, which is closed to everybody else by its own folder.
    """
    return UMASK if role == "student" else SHARED_UMASK


def reaches(account: Account, path: Path) -> bool:
    """Whether a user can list a folder or read a file, tried with that user's rights."""
    test = ["/bin/sh", "-c", 'test -r "$0" && { test ! -d "$0" || test -x "$0"; }', str(path)]
    return run_as(account, test, home=Path("/")).returncode == 0
