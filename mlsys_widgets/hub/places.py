"""Where everything of a hub lies: one folder, and who may look into which part of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

Role = Literal["instructor", "student"]

#: The folder of a hub if none is named, below the current one.
FOLDER: Final = "mlsys_hub"
#: Where it goes when the current folder is closed to users, as root's home is.
ELSEWHERE: Final = Path("/srv")
#: Where sockets are made: a socket's path has at most 107 characters, so it cannot be any folder.
_RUN: Final = Path("/run")

#: Users walk through these and change nothing.
_OPEN: Final = 0o755
#: Users walk through this to their own and do not see who else there is.
_PASSABLE: Final = 0o711
#: Root's, or that of one user.
PRIVATE: Final = 0o700
#: Everybody leaves work here and nobody moves what is another's: that is the sticky bit.
_SHARED: Final = 0o1777


@dataclass(frozen=True)
class Places:
    """The folder of a hub and what is in it.

    Examples
    --------
    >>> places = Places(Path("/srv/mlsys_hub"))
    >>> places.home("ada").as_posix()
    '/srv/mlsys_hub/homes/ada'
    """

    root: Path

    @property
    def memory(self) -> Path:
        """What the hub remembers of itself."""
        return self.root / "hub.json"

    @property
    def lock(self) -> Path:
        """Held while a hub runs."""
        return self.root / "running.lock"

    @property
    def course(self) -> Path:
        """The course; of its instructor alone."""
        return self.root / "course"

    @property
    def exchange(self) -> Path:
        """Nbgrader's exchange."""
        return self.root / "exchange"

    @property
    def homes(self) -> Path:
        """Homes of users."""
        return self.root / "homes"

    @property
    def database(self) -> Path:
        """JupyterHub's own records; root's alone."""
        return self.root / "database"

    @property
    def secrets(self) -> Path:
        """Keys and passwords; root's alone."""
        return self.root / "secrets"

    @property
    def logs(self) -> Path:
        """What the hub and all servers wrote; root's alone."""
        return self.root / "logs"

    @property
    def settings(self) -> Path:
        """What Jupyter reads for each role."""
        return self.root / "settings"

    @property
    def proxy(self) -> Path:
        """The proxy, if it was installed here."""
        return self.root / "proxy"

    @property
    def environment(self) -> Path:
        """The environment of users, if they cannot reach the one that runs this."""
        return self.root / "env"

    @property
    def log(self) -> Path:
        """The log of the hub."""
        return self.logs / "hub.log"

    @property
    def sockets(self) -> Path:
        """Where servers speak to kernels; the one thing outside of the folder, and never kept."""
        return _RUN / f"mlsys-{sha256(bytes(self.root)).hexdigest()[:8]}"

    def home(self, name: str) -> Path:
        """The home of a user."""
        return self.homes / name

    def sockets_of(self, name: str) -> Path:
        """The folder of a user's own sockets."""
        return self.sockets / name

    def settings_of(self, role: Role) -> Path:
        """The folder of settings that servers of a role are pointed to."""
        return self.settings / role

    @property
    def ours(self) -> tuple[Path, ...]:
        """All that a hub makes, and so all that a reset removes."""
        return (
            self.course, self.exchange, self.homes, self.database, self.secrets, self.logs,
            self.settings, self.proxy, self.environment, self.sockets, self.lock, self.memory,
        )  # fmt: skip

    def make_sockets(self, name: str, uid: int, gid: int) -> None:
        """Make a user's own folder for sockets; they are gone when the machine starts anew."""
        self.sockets.mkdir(parents=True, exist_ok=True)
        self.sockets.chmod(_PASSABLE)
        self.sockets_of(name).mkdir(mode=PRIVATE, exist_ok=True)
        os.chown(self.sockets_of(name), uid, gid)

    def make(self) -> None:
        """Make the folders that are missing; those that are there keep what they hold."""
        for folder, mode in (
            (self.root, _OPEN),
            (self.homes, _PASSABLE),
            (self.settings, _OPEN),
            (self.exchange, _SHARED),
            (self.database, PRIVATE),
            (self.secrets, PRIVATE),
            (self.logs, PRIVATE),
        ):
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(mode)


def default_folder() -> Path:
    """The folder of a hub if none is named.

    Root's own home is closed to users, and their homes lie in this folder: then it is made
    elsewhere.
    """
    here = Path.cwd()
    if os.geteuid() == 0 and closed_parent(here) is not None:
        return ELSEWHERE / FOLDER
    return here / FOLDER


def closed_parent(folder: Path) -> Path | None:
    """The first folder on the way to this one through which others may not go."""
    folder = folder.resolve()
    for each in (*reversed(folder.parents), folder):
        if each.exists() and not each.stat().st_mode & 0o001:
            return each
    return None
