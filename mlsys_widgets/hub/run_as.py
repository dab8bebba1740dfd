"""Runs a program as one of the hub's users: with that user's rights, and none of root's."""

from __future__ import annotations

import getpass
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.hub.hub_state import Account

#: Where the system keeps its programs.
SYSTEM_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: Others may do nothing with the files that a user creates.
UMASK: Final = 0o077
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
    """Run a program as a user, and wait for it.

    Parameters
    ----------
    account
        The user; whoever runs this if `None`.
    command
        The program and its arguments.
    home
        The user's home.
    folder
        Where it runs; the home if omitted.
    environment
        Variables beyond the few that every program needs.
    stdin
        Text for its standard input.
    """
    name = account.name if account else getpass.getuser()
    rights: dict[str, Any] = {}
    if account:
        rights = {"user": account.uid, "group": account.gid, "extra_groups": []}
    variables = {
        "HOME": str(home), "USER": name, "LOGNAME": name,
        "PATH": os.pathsep.join([str(Path(command[0]).parent), SYSTEM_PATH]),
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        **(environment or {}),
    }  # fmt: skip
    return subprocess.run(
        [str(each) for each in command],
        **rights, umask=UMASK, cwd=folder or home, env=variables, input=stdin,
        capture_output=True, text=True, check=False, timeout=_LONGEST,
    )  # fmt: skip


def reaches(account: Account, path: Path) -> bool:
    """Whether a user can list a folder or read a file, tried with that user's rights."""
    test = ["/bin/sh", "-c", 'test -r "$0" && { test ! -d "$0" || test -x "$0"; }', str(path)]
    return run_as(account, test, home=Path("/")).returncode == 0
