"""Where a hub keeps everything: one folder, and who may look into which part of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from mlsys_widgets.courses.hub_link import HUB_STATE, PEOPLE_FOLDER
from mlsys_widgets.ledger.hand_in_notes import notes_beside

Role = Literal["instructor", "ta", "student"]
#: The two kinds of settings: TAs have those of instructors.
SettingsKind = Literal["instructor", "student"]

#: The default folder of a hub, below the current one.
FOLDER: Final = "mlsys_hub"
#: Where it goes when the current folder is closed to users, as root's home is.
ELSEWHERE: Final = Path("/srv")
#: Where sockets go: a socket's path has at most 107 characters, so not every folder will do.
_RUN: Final = Path("/run")

#: Users pass through these and change nothing.
_OPEN: Final = 0o755
#: Users pass through this to their own folder and do not see who else there is.
_PASSABLE: Final = 0o711
#: Only for root, or for one user.
PRIVATE: Final = 0o700
#: For root, and for a group that may look.
READ_BY_GROUP: Final = 0o750
#: Everybody leaves work here, and the sticky bit keeps them from moving anybody else's.
_SHARED: Final = 0o1777


class _Place:
    """A file or folder of a hub, by its path below the hub's own."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __get__(self, places: Places, _: object) -> Path:
        return places.root / self._path


@dataclass(frozen=True)
class Places:
    """The folder of a hub and what is in it."""

    root: Path

    #: The hub's memory between two starts.
    state = _Place(HUB_STATE)
    #: Held while a hub runs.
    lock = _Place("running.lock")
    #: The course; only for those who teach.
    course = _Place("course")
    #: Nbgrader's exchange.
    exchange = _Place("exchange")
    #: When labs are due, a file for each user that only this user can read.
    dates = _Place("dates")
    #: Where instructors reach the hub's service, for changes of accounts.
    people = _Place(PEOPLE_FOLDER)
    #: Homes of users.
    homes = _Place("homes")
    #: JupyterHub's own records; only for root.
    database = _Place("database")
    proxy_pid = _Place("database/proxy.pid")
    #: Keys and passwords; only for root.
    secrets = _Place("secrets")
    passwords = _Place("secrets/passwords.json")
    #: What JupyterHub is started with.
    configuration = _Place("secrets/jupyterhub_config.json")
    #: The logs of the hub and all servers; only for root.
    logs = _Place("logs")
    log = _Place("logs/hub.log")
    #: What Jupyter reads for each role.
    settings = _Place("settings")
    #: The proxy, if the hub installed it.
    proxy = _Place("proxy")
    #: The environment of users, if they cannot reach the one that runs this.
    environment = _Place("env")

    @property
    def notes(self) -> Path:
        """The hub's notes about hand-ins; those who teach read them, and root alone writes."""
        return notes_beside(self.course).parent

    @property
    def environments(self) -> tuple[Path, ...]:
        """Where it can be: beside one that is in use, a new version gets a folder of its own."""
        return (self.environment, self.root / "env-b", self.root / "env-c")

    @property
    def sockets(self) -> Path:
        """Where servers talk to kernels; the one thing outside the folder, and never kept."""
        return _RUN / f"mlsys-{sha256(bytes(self.root)).hexdigest()[:8]}"

    def home(self, name: str) -> Path:
        return self.homes / name

    def dates_of(self, name: str) -> Path:
        """Return the file with the dates of a user's own labs."""
        return self.dates / f"{name}.json"

    def sockets_of(self, name: str) -> Path:
        return self.sockets / name

    def settings_of(self, role: Role) -> Path:
        """Return the folder of settings for servers of a role; TAs have those of instructors."""
        kind: SettingsKind = "student" if role == "student" else "instructor"
        return self.settings / kind

    @property
    def ours(self) -> tuple[Path, ...]:
        """Everything that a hub creates, and so everything that a reset removes."""
        return (
            self.course, self.exchange, self.notes, self.dates, self.people, self.homes,
            self.database, self.secrets, self.logs, self.settings, self.proxy, *self.environments,
            self.sockets, self.lock, self.state,
        )  # fmt: skip

    def make_sockets(self, name: str, uid: int, gid: int) -> None:
        """Create a user's own folder for sockets, which is gone after a reboot."""
        self.sockets.mkdir(parents=True, exist_ok=True)
        self.sockets.chmod(_PASSABLE)
        self.sockets_of(name).mkdir(mode=PRIVATE, exist_ok=True)
        os.chown(self.sockets_of(name), uid, gid)

    def make(self) -> None:
        """Create the folders that are missing; the others keep what they hold."""
        for folder, mode in (
            (self.root, _OPEN),
            (self.homes, _PASSABLE),
            (self.dates, _PASSABLE),
            (self.settings, _OPEN),
            (self.exchange, _SHARED),
            (self.database, PRIVATE),
            (self.secrets, PRIVATE),
            (self.logs, PRIVATE),
            (self.notes, READ_BY_GROUP),
        ):
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(mode)


def default_folder() -> Path:
    """Return the folder of a hub if nobody names one.

    Root's own home is closed to users, whose homes are in the hub's folder: then it goes elsewhere.
    """
    here = Path.cwd()
    if os.geteuid() == 0 and closed_parent(here) is not None:
        return ELSEWHERE / FOLDER
    return here / FOLDER


def closed_parent(folder: Path) -> Path | None:
    """Return the first folder on the way to this one that others may not pass through."""
    folder = folder.resolve()
    for each in (*reversed(folder.parents), folder):
        if each.exists() and not each.stat().st_mode & 0o001:
            return each
    return None
