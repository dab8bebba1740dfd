"""Find the system packages that the project needs, and install them where that is possible.

Runs before any environment exists, so it uses the standard library only. A package that stays
missing is named in one sentence and never fails the build: the tests that need it are skipped with
the same sentence. The table below is the only list; the tests read it too. It names commands and
Debian's packages, which are the same on every processor.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Requirement:
    """Something the system must provide: how to see it, which package has it, who needs it."""

    name: str
    package: str
    needed_for: str
    command: str = ""
    module: str = ""
    file: str = ""

    def present(self) -> bool:
        """Whether the command is on the path, a file matches the pattern, or the module exists."""
        if self.command:
            return shutil.which(self.command) is not None
        if self.file:
            return any(Path("/").glob(self.file))
        return importlib.util.find_spec(self.module) is not None

    @property
    def sentence(self) -> str:
        """The sentence for a person who has to install it."""
        return (
            f"{self.name} is missing: {self.needed_for} need it; "
            f"install the package {self.package} (apt-get install {self.package})."
        )


# Debian packages ensurepip apart from Python, under the name of the exact version.
VENV = Requirement(
    "venv",
    package=f"python{sys.version_info.major}.{sys.version_info.minor}-venv",
    needed_for="virtual environments",
    module="ensurepip",
)

FOR_TESTS = [
    Requirement("chromium", package="chromium", needed_for="the browser tests", command="chromium"),
    # On Debian, firefox is another package, and not there in a stable release.
    Requirement(
        "firefox",
        package="firefox-esr",
        needed_for="the tests of a site in a second browser",
        command="firefox-esr",
    ),
    # Debian keeps the server's own programs off the path, in a folder for each version.
    Requirement(
        "postgresql",
        package="postgresql",
        needed_for="the tests of a gradebook on a server",
        file="usr/lib/postgresql/*/bin/initdb",
    ),
    Requirement("npm", package="npm", needed_for="the proxy of the hub's tests", command="npm"),
    Requirement(
        "slurm", package="slurm-wlm", needed_for="the tests of a cluster", command="slurmctld"
    ),
    Requirement("munge", package="munge", needed_for="the tests of a cluster", command="munged"),
]

TABLE = {requirement.name: requirement for requirement in [VENV, *FOR_TESTS]}


def can_install() -> bool:
    """Whether this is root on Debian or a system derived from it."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt_get(*arguments: str) -> bool:
    """Run apt-get without questions, and show what it does; return whether it succeeded."""
    command = ["apt-get", "-o", "Acquire::Retries=2", *arguments]
    print("+", " ".join(command), flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(command, env=environment, check=False).returncode == 0


def provide(
    requirements: Sequence[Requirement], install: Callable[..., bool] | None = None
) -> list[Requirement]:
    """Install what is missing if we may, say what is still missing, and return that.

    Parameters
    ----------
    requirements
        What to look for.
    install
        Called as ``install("update")`` and ``install("install", …)``; by default ``apt_get`` where
        this process may install, and nothing elsewhere.
    """
    if install is None and can_install():
        install = apt_get
    missing = [requirement for requirement in requirements if not requirement.present()]
    if missing and install:
        # A failed update may mean a single stale source: known packages may still install.
        install("update", "-q")
        packages = [requirement.package for requirement in missing]
        install("install", "-q", "-y", "--no-install-recommends", *packages)
        importlib.invalidate_caches()
        missing = [requirement for requirement in missing if not requirement.present()]
    for requirement in missing:
        print(requirement.sentence, flush=True)
    return missing


def main(names: Sequence[str]) -> int:
    """Provide the named requirements, or all that the tests need."""
    unknown = [name for name in names if name not in TABLE]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; known: {', '.join(TABLE)}", file=sys.stderr)
        return 2
    provide([TABLE[name] for name in names] or FOR_TESTS)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
