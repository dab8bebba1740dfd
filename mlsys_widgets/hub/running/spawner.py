"""How the hub starts a server: as its user, with the settings of the role, within limits."""

from __future__ import annotations

import asyncio
import os
import pwd
import resource
import stat
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final

from jupyterhub.spawner import LocalProcessSpawner
from traitlets import Dict, Integer, Unicode

from mlsys_widgets.course.own_dates import VARIABLE as DATES
from mlsys_widgets.files import START_PAGE, open_folder
from mlsys_widgets.hub.accounts.machine_users import end_processes
from mlsys_widgets.hub.accounts.run_as import umask_of
from mlsys_widgets.hub.hub_state import Account, HubState
from mlsys_widgets.hub.places import Places, Role
from mlsys_widgets.hub.running.settings import STAFF_ADDRESS
from mlsys_widgets.hub.running.student_limits import ControlGroups, StudentLimits
from mlsys_widgets.labs.identity import VARIABLE

#: Where JupyterLab keeps, below a home, what was open.
_WORKSPACES: Final = (".jupyter", "lab", "workspaces")


def lies_below(folder: Path, *names: str) -> bool:
    """Whether something lies below a folder, on a way without links.

    Asked as root: behind a link, the answer would tell a student what is there.
    """
    with ExitStack() as way:
        try:
            here = way.enter_context(open_folder(folder))
            for name in names[:-1]:
                here = way.enter_context(open_folder(name, dir_fd=here))
            return not stat.S_ISLNK(os.lstat(names[-1], dir_fd=here).st_mode)
        except OSError:
            return False


class CourseSpawner(LocalProcessSpawner):
    """Starts the servers of instructors in the course, and those of students in their homes."""

    folder = Unicode(help="The folder of the hub.").tag(config=True)
    memory = Integer(0, help="Bytes that a process of a user may use; 0: no limit.").tag(
        config=True
    )
    processes = Integer(0, help="Processes and threads of a student; 0: no limit.").tag(config=True)
    groups = Unicode(help="The control groups of students; empty: none.").tag(config=True)
    limits = Dict(help="What a student may use, if there are groups.").tag(config=True)
    variables = Dict(help="Environment of every server.").tag(config=True)

    @property
    def role(self) -> Role:
        return self.account.role if self.account else "student"

    @property
    def account(self) -> Account | None:
        """The account as it is now: people come and go while the hub runs."""
        state = HubState.read(self.places.state)
        return state.accounts.get(self.user.name) if state else None

    @property
    def places(self) -> Places:
        return Places(Path(self.folder))

    def prepare(self) -> None:
        """Choose where the server opens; refuse somebody whose account is closed."""
        account = self.account
        if account is not None and account.standing != "active":
            raise ValueError(f"{account.name} is {account.standing}")
        places, name = self.places, self.user.name
        self.notebook_dir = str(places.home(name) if self.role == "student" else places.course)
        self.default_url = self._first_page()

    async def start(self) -> Any:
        self.prepare()
        entry = pwd.getpwnam(self.user.name)
        self.places.make_sockets(entry.pw_name, entry.pw_uid, entry.pw_gid)
        return await super().start()

    async def stop(self, now: bool = False) -> None:
        await super().stop(now)
        account = self.account
        # What a student has started in a terminal would run on. Of those who teach, it may grade.
        if account is not None and account.role == "student":
            with suppress(OSError):  # the kernel does not let go of it
                await asyncio.to_thread(end_processes, account.uid)
            if self.groups:
                ControlGroups(self.groups).close(account.name)

    def _first_page(self) -> str:
        """Return where staff work; for students what to do, and later the work as left."""
        if self.role != "student":
            return f"/{STAFF_ADDRESS}"
        home = self.places.home(self.user.name)
        new = not lies_below(home, *_WORKSPACES)
        return f"/lab/tree/{START_PAGE}" if new and lies_below(home, START_PAGE) else "/lab"

    def _control_group(self) -> list[Path]:
        if not self.groups:
            return []
        try:
            return ControlGroups(self.groups).open(self.user.name, StudentLimits(**self.limits))
        except OSError as problem:  # better without limits than without a server
            self.log.warning("No limits for %s: %s", self.user.name, problem)
            return []

    def user_env(self, env: dict[str, str]) -> dict[str, str]:
        env = super().user_env(env)
        # The account's own shell lets nobody in.
        env["SHELL"] = "/bin/sh"
        env["JUPYTER_CONFIG_PATH"] = str(self.places.settings_of(self.role))
        env["JUPYTER_RUNTIME_DIR"] = str(self.places.sockets_of(self.user.name))
        env[DATES] = str(self.places.dates_of(self.user.name))
        if (account := self.account) is not None and account.numbers:
            env[VARIABLE] = account.numbers  # renamed, with the numbers and ledgers from before
        return env | self.variables

    def make_preexec_fn(self, name: str) -> Callable[[], None]:
        become_user = super().make_preexec_fn(name)
        teaching, memory, processes = self.role != "student", self.memory, self.processes
        umask = umask_of(self.role)
        folder = self.notebook_dir
        joining = [] if teaching else self._control_group()

        def preexec() -> None:
            os.umask(umask)
            for file in joining:
                file.write_text("0")  # itself
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if memory:
                resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
            if processes and not teaching:  # grading starts many processes, with their own limits
                resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
            become_user()
            os.chdir(folder)  # where terminals open

        return preexec
