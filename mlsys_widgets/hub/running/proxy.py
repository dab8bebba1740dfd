"""The proxy in front of the hub: configurable-http-proxy, found or installed with npm."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

PROGRAM: Final = "configurable-http-proxy"
VERSION: Final = "5.3.0"


def find_proxy(folder: Path, say: Callable[[str], None], *, patience: float = 300.0) -> list[str]:
    """Return the command that starts the proxy, which is installed if it is missing.

    npm retries a registry that it cannot reach for a very long time, hence `patience`.
    """
    installed = folder / "node_modules" / ".bin" / PROGRAM
    if found := shutil.which(PROGRAM):
        return [found]
    if installed.exists():
        return [str(installed)]
    npm = shutil.which("npm")
    if npm is None:
        raise ValueError(
            f"a hub needs {PROGRAM}, which needs Node.js: install npm (on Debian: apt-get install"
            f" npm), and the hub fetches it; or install it yourself: npm install -g {PROGRAM}"
        )
    say(f"Installing {PROGRAM} {VERSION} with npm")
    folder.mkdir(exist_ok=True)
    command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund",
               "--no-package-lock", "--loglevel=error", f"{PROGRAM}@{VERSION}"]  # fmt: skip
    try:
        done = subprocess.run(
            command, cwd=folder, umask=0o022, capture_output=True, text=True, check=False,
            timeout=patience,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ValueError(
            f"npm was still installing {PROGRAM} after {patience:g} seconds and was stopped: check"
            " that this machine reaches npm's registry (npm ping), then start the hub again"
        ) from None
    if done.returncode or not installed.exists():
        last = (done.stderr or done.stdout).strip().splitlines()[-3:]
        raise ValueError(f"npm could not install {PROGRAM}: {' '.join(last)}")
    return [str(installed)]


def end_stale_proxy(pid_file: Path, patience: float = 10.0) -> bool:
    """End the proxy of a hub that was killed; return whether there was one.

    JupyterHub would do so too, but complain about the port first.
    """
    try:
        pid = int(pid_file.read_text())
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return False
    if PROGRAM.encode() not in words:  # the number belongs to another process now
        return False
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + patience
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    pid_file.unlink(missing_ok=True)
    return True
