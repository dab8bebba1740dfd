"""JupyterHub's configuration, as data: it contains no code and no secret."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.course.loopback import is_loopback
from mlsys_widgets.hub.accounts.machine_users import removed_accounts
from mlsys_widgets.hub.accounts.sign_in_settings import (
    LtiSettings,
    OidcSettings,
    sign_in_configuration,
)
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.running.server_process import ending_with_its_parent, free_port
from mlsys_widgets.hub.running.slurm_settings import SlurmSettings, slurm_configuration
from mlsys_widgets.hub.running.student_limits import StudentLimits
from mlsys_widgets.hub.services.monitoring import monitor_role, monitor_service

#: The hub's own name for instructors, and for the service that looks after the course.
TEACHING: Final = "teaching"
COURSE_SERVICE: Final = "course-service"
#: Processes and threads that a student may have: a lab with its kernel has about forty.
_PROCESSES: Final = 512


@dataclass(frozen=True)
class Address:
    """Where people open the hub."""

    ip: str
    port: int
    cert: Path | None = None
    key: Path | None = None

    @property
    def loopback(self) -> bool:
        """Whether only this machine can open it."""
        return is_loopback(self.ip)

    @property
    def protected(self) -> bool:
        """Whether the connection is encrypted."""
        return self.cert is not None

    @property
    def bind(self) -> str:
        """The address that the proxy listens on."""
        return f"{'https' if self.protected else 'http'}://{_bracketed(self.ip)}:{self.port}"

    @property
    def url(self) -> str:
        """The address to open on this machine."""
        everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}
        host = _bracketed(everywhere.get(self.ip, self.ip))
        return f"{'https' if self.protected else 'http'}://{host}:{self.port}"


def hub_configuration(
    places: Places,
    state: HubState,
    address: Address,
    *,
    python: Path,
    proxy: Sequence[str],
    idle: int,
    limits: StudentLimits,
    groups: str = "",
    oidc: OidcSettings | None = None,
    lti: LtiSettings | None = None,
    slurm: SlurmSettings | None = None,
) -> dict[str, Any]:
    """Return JupyterHub's settings.

    A server that nobody uses is stopped after `idle` seconds, unless that is 0. Control groups of
    the name `groups` see to the limits of students; it is empty if this machine has none for us.
    People can sign in with `oidc` and `lti`, beside PAM, and students' servers run on `slurm`, if
    given.
    """
    programs = f"{python.parent}:/usr/local/bin:/usr/bin:/bin"
    hub: dict[str, Any] = {
        "bind_url": address.bind,
        "hub_port": state.hub_port,
        "db_url": f"sqlite:///{places.database / 'jupyterhub.sqlite'}",
        "cookie_secret_file": str(places.secrets / "cookie_secret"),
        "authenticator_class": "pam",
        "spawner_class": "mlsys_widgets.hub.running.spawner.CourseSpawner",
        "load_roles": _roles(state, culling=idle > 0),
        # Stopping the hub stops everything. If JupyterHub is killed, servers keep running, and the
        # next one finds them again.
        "cleanup_servers": True,
        "cleanup_proxy": True,
        # After a copy of the database was made, which JupyterHub does itself.
        "upgrade_db": True,
        "concurrent_spawn_limit": 4 * (os.cpu_count() or 1),
    }
    if address.protected:
        hub |= {"ssl_cert": str(address.cert), "ssl_key": str(address.key)}
    # A hub that is killed leaves no service behind.
    module = [*ending_with_its_parent(), str(python), "-P", "-m"]
    course = [*module, "mlsys_widgets.hub.services.course_service", str(places.root)]
    course.append(f"{limits.disk:g}")
    but = [address.port, state.hub_port, state.api_port]
    hub["services"] = [
        {"name": COURSE_SERVICE, "command": course},
        monitor_service(places, module, free_port(state.hub_port + 1, but=but)),
    ]
    admitted = state.accounts.keys() - removed_accounts(state) - state.closed()
    teaching = [each.name for each in state.of_role("instructor") if each.name in admitted]
    hub["load_groups"] = {TEACHING: {"users": teaching}}
    if idle:
        culler = [
            *ending_with_its_parent(), str(python), "-m", "jupyterhub_idle_culler",
            f"--timeout={idle}", f"--cull-every={max(10, min(300, idle // 4))}",
        ]  # fmt: skip
        hub["services"].append({"name": "idle-culler", "command": culler})
    chosen = sign_in_configuration(oidc, lti, state.mark)
    hub |= chosen.pop("JupyterHub", {})
    chosen |= slurm_configuration(slurm) if slurm else {}
    hub |= chosen.pop("JupyterHub", {})
    return {
        **chosen,
        "JupyterHub": hub,
        "ConfigurableHTTPProxy": {
            "command": list(proxy),
            "api_url": f"http://127.0.0.1:{state.api_port}",
            "pid_file": str(places.proxy_pid),
        },
        "Authenticator": {"allowed_users": sorted(admitted)},
        "CourseSpawner": {
            "cmd": [str(python), "-m", "jupyterhub.singleuser"],
            "folder": str(places.root),
            "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2,
            "processes": _PROCESSES,
            "groups": groups,
            "limits": asdict(limits),
            "variables": {"PATH": programs},
            "start_timeout": 180,
            "http_timeout": 180,
        },
    }


def _roles(state: HubState, *, culling: bool) -> list[dict[str, Any]]:
    # Instructors see who is there and can stop a server that hangs, but cannot look into it. They
    # are a group of the hub, because people come and go while it runs.
    scopes = ["admin-ui", "list:users", "read:users:activity", "servers"]
    people = ["admin:users", "admin:servers", "admin:groups"]
    roles: list[dict[str, Any]] = [
        {"name": "teaching", "groups": [TEACHING], "scopes": scopes},
        {"name": "people", "services": [COURSE_SERVICE], "scopes": people},
        monitor_role(),
    ]
    if culling:
        scopes = ["list:users", "read:users:activity", "read:servers", "delete:servers"]
        roles.append({"name": "culling", "services": ["idle-culler"], "scopes": scopes})
    return roles


def _bracketed(ip: str) -> str:
    return f"[{ip}]" if ":" in ip else ip
