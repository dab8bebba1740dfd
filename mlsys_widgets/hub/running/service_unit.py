"""``mlsys hub service``: systemd starts the hub with the machine, and again if it dies.

The unit runs the very command line that you would type. It takes away only what no part of a hub
needs: a hub creates users, becomes them, and ``mlsys grade`` isolates submissions in namespaces.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mlsys_widgets.files import write_whole
from mlsys_widgets.hub.accounts.run_as import SYSTEM_PATH
from mlsys_widgets.hub.places import Places

UNITS: Final = Path("/etc/systemd/system")
#: Exists where systemd is the first process.
_RUNNING: Final = Path("/run/systemd/system")
#: The first line: a file without it belongs to somebody else.
_MARK: Final = "# Written by mlsys hub service install; it is replaced by the next one."
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9:_.-]{0,99}")

_UNIT: Final = """\
{mark}
[Unit]
Description=JupyterHub of a course ({folder_shown})
Documentation=man:systemd.service(5)
Wants=network-online.target
After=network-online.target
RequiresMountsFor={folder}
StartLimitIntervalSec=10min
StartLimitBurst=5

[Service]
Type=notify
NotifyAccess=main
ExecStart={command}
# Takes a new version into use; the servers of students keep running.
ExecReload=/bin/kill -USR1 $MAINPID
Environment={path}
WorkingDirectory=/
UMask=0022
Restart=on-failure
RestartSec=5s
# The first start may install an environment; a stop waits for everybody's server.
TimeoutStartSec=30min
TimeoutStopSec=2min
# Only mlsys hub is asked to stop, and it stops the rest. If it is killed, students keep working,
# and the next start finds their servers again.
KillMode=process
# A kernel that runs out of memory must not end the hub of a whole class.
OOMPolicy=continue
TasksMax=infinity
LimitNOFILE=65536

# What no part of a hub needs. Not here, because something does need it: NoNewPrivileges (passwd in
# a terminal), a read-only /etc (useradd), RestrictNamespaces, ProtectKernelTunables,
# ProtectKernelLogs and ProtectProc (the isolation of submissions mounts a /proc of its own, which
# the kernel allows only where nothing hides a part of it), and PrivateDevices (labs that measure).
ProtectSystem=true
ProtectKernelModules=true
RestrictRealtime=true
LockPersonality=true
SystemCallArchitectures=native
CapabilityBoundingSet=~CAP_SYS_MODULE CAP_SYS_RAWIO CAP_SYS_BOOT CAP_SYS_TIME CAP_SYSLOG
CapabilityBoundingSet=~CAP_MAC_ADMIN CAP_MAC_OVERRIDE CAP_WAKE_ALARM CAP_BLOCK_SUSPEND

[Install]
WantedBy=multi-user.target
"""


def hub_command(places: Places, arguments: argparse.Namespace) -> list[str]:
    """Return the command that starts a hub with the options that ``mlsys hub`` has read.

    Files are named by their whole paths, and options that have no effect are left out.
    """
    command = [sys.executable, "-m", "mlsys_widgets", "hub", "--folder", str(places.root)]
    names = ["roster", "cert", "key", "oidc", "lti", "slurm", "python", "ip", "port", "idle"]
    names += ["memory", "cores", "disk"]
    if not places.state.exists():  # the others count at the first start alone
        names += ["bundle", "course", "instructor", "student"]
    for name in names:
        value = getattr(arguments, name)
        if value is not None:
            # Not resolved: certificates are links that change, and so is an environment's Python.
            whole = value.absolute() if isinstance(value, Path) else value
            command += ["--from" if name == "bundle" else f"--{name}", str(whole)]
    return command + ["--behind-proxy"] * bool(arguments.behind_proxy)


def unit_text(places: Places, command: Sequence[str]) -> str:
    """Return the unit file that runs a command."""
    # Where programs are found now, for npm and the proxy may be outside the system's places.
    tools = filter(None, map(shutil.which, ("node", "configurable-http-proxy")))
    path = dict.fromkeys([*map(os.path.dirname, tools), *SYSTEM_PATH.split(os.pathsep)])
    return _UNIT.format(
        mark=_MARK,
        folder=_quoted(str(places.root)),
        folder_shown=str(places.root).replace("%", "%%"),
        command=" ".join(map(_quoted, command)),
        path=_quoted(f"PATH={os.pathsep.join(path)}"),
    )


def install(name: str, text: str, *, units: Path = UNITS, running: Path = _RUNNING) -> None:
    """Write a unit, and start it where systemd runs."""
    path = _unit(name, units)
    if path.exists() and not _ours(path):
        raise ValueError(
            f"{path} was not written by mlsys; choose another name with --name, or remove it"
        )
    units.mkdir(parents=True, exist_ok=True)
    write_whole(path, text, mode=0o644)
    print(f"Wrote {path}")
    if running.exists():
        _systemctl("daemon-reload")
        _systemctl("enable", f"{name}.service")
        _systemctl("restart", f"{name}.service")
        print(f"It runs. Look after it with: systemctl status {name}; journalctl -u {name}")
    else:
        print("systemd does not run here. On a machine where it does:")
        print(f"  systemctl daemon-reload && systemctl enable --now {name}")


def remove(name: str, *, units: Path = UNITS, running: Path = _RUNNING) -> None:
    """Stop a unit and remove it; the hub's folder stays."""
    path = _unit(name, units)
    if not path.exists():
        raise ValueError(f"there is no {path}; name the service with --name")
    if not _ours(path):
        raise ValueError(f"{path} was not written by mlsys, and is left alone")
    if running.exists():
        _systemctl("disable", "--now", f"{name}.service")
    path.unlink()
    if running.exists():
        _systemctl("daemon-reload")
    print(f"Removed {path}. The hub's folder and its users stay.")


def notify(words: str) -> bool:
    """Tell systemd something, such as ``READY=1``; return whether it was listening."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return False
    # An @ stands for the zero byte of an address that is not a file.
    where = f"\0{address[1:]}" if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
        try:
            sock.sendto(words.encode(), where)
        except OSError:
            return False
    return True


def _unit(name: str, units: Path) -> Path:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"a service cannot be called {name!r}; letters, digits and :_.- are allowed"
        )
    return units / f"{name.removesuffix('.service')}.service"


def _ours(path: Path) -> bool:
    return path.read_text("utf-8", errors="replace").startswith(_MARK)


def _systemctl(*arguments: str) -> None:
    done = subprocess.run(["systemctl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"systemctl {' '.join(arguments)}: {done.stderr.strip()}")


def _quoted(word: str) -> str:
    r"""Write a word as systemd reads it.

    Examples
    --------
    >>> print(_quoted("/srv/my hub"), _quoted("100%"), _quoted('a"$b'))
    "/srv/my hub" 100%% "a\"$$b"
    """
    if "\n" in word or "\0" in word:
        raise ValueError(f"systemd cannot be told {word!r}: it has more than one line")
    word = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return word if re.fullmatch(r"[\w/.,:=+@%-]+", word) else f'"{word}"'
