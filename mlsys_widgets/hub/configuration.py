"""What JupyterHub is told, as data: nothing in it is run, and no secret is in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.hub.memory import Memory
from mlsys_widgets.hub.places import Places

PROXY_PID: Final = "proxy.pid"
#: Processes and threads of a student: a lab with its kernel has some forty.
_PROCESSES: Final = 512


@dataclass(frozen=True)
class Address:
    """Where the hub is opened.

    Examples
    --------
    >>> Address("127.0.0.1", 8000).url, Address("127.0.0.1", 8000).loopback
    ('http://127.0.0.1:8000', True)
    >>> Address("0.0.0.0", 443, cert=Path("c"), key=Path("k")).bind
    'https://0.0.0.0:443'
    """

    ip: str
    port: int
    cert: Path | None = None
    key: Path | None = None

    @property
    def loopback(self) -> bool:
        """Whether only this machine can open it."""
        if self.ip == "localhost":
            return True
        try:
            return ip_address(self.ip).is_loopback
        except ValueError:
            return False

    @property
    def protected(self) -> bool:
        """Whether what travels is encrypted."""
        return self.cert is not None

    @property
    def bind(self) -> str:
        """What the proxy listens at."""
        return f"{'https' if self.protected else 'http'}://{_bracketed(self.ip)}:{self.port}"

    @property
    def url(self) -> str:
        """What to open on this machine."""
        everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}
        host = _bracketed(everywhere.get(self.ip, self.ip))
        return f"{'https' if self.protected else 'http'}://{host}:{self.port}"


def hub_configuration(
    places: Places,
    memory: Memory,
    address: Address,
    *,
    python: Path,
    proxy: Sequence[str],
    idle: int,
) -> dict[str, Any]:
    """JupyterHub's settings.

    Parameters
    ----------
    places, memory
        Of the hub.
    address
        Where it is opened.
    python
        What servers of users are run with.
    proxy
        The command that starts the proxy.
    idle
        Seconds after which a server that nobody uses is stopped; 0 for never.
    """
    programs = f"{python.parent}:/usr/local/bin:/usr/bin:/bin"
    hub: dict[str, Any] = {
        "bind_url": address.bind,
        "hub_port": memory.hub_port,
        "db_url": f"sqlite:///{places.database / 'jupyterhub.sqlite'}",
        "cookie_secret_file": str(places.secrets / "cookie_secret"),
        "authenticator_class": "pam",
        "spawner_class": "mlsys_widgets.hub.spawner.CourseSpawner",
        "load_roles": _roles(memory, culling=idle > 0),
        # When the hub is stopped, so is everything. When it is killed, servers go on, and the
        # next hub finds them again.
        "cleanup_servers": True,
        "cleanup_proxy": True,
        "concurrent_spawn_limit": 4 * (os.cpu_count() or 1),
    }
    if address.protected:
        hub |= {"ssl_cert": str(address.cert), "ssl_key": str(address.key)}
    if idle:
        culler = [
            *_ending_with_its_parent(), str(python), "-m", "jupyterhub_idle_culler",
            f"--timeout={idle}", f"--cull-every={max(10, min(300, idle // 4))}",
        ]  # fmt: skip
        hub["services"] = [{"name": "idle-culler", "command": culler}]
    return {
        "JupyterHub": hub,
        "ConfigurableHTTPProxy": {
            "command": list(proxy),
            "api_url": f"http://127.0.0.1:{memory.api_port}",
            "pid_file": str(places.database / PROXY_PID),
        },
        "Authenticator": {"allowed_users": sorted(memory.accounts)},
        "CourseSpawner": {
            "cmd": [str(python), "-m", "mlsys_widgets.hub.user_server"],
            "instructors": [each.name for each in memory.of_role("instructor")],
            "folder": str(places.root),
            "memory": _half_of_memory(),
            "processes": _PROCESSES,
            "variables": {"PATH": programs},
            "start_timeout": 180,
            "http_timeout": 180,
        },
    }


def _roles(memory: Memory, *, culling: bool) -> list[dict[str, Any]]:
    # An instructor sees who is there and stops a server that hangs, and cannot look into it.
    teaching = [each.name for each in memory.of_role("instructor")]
    scopes = ["admin-ui", "list:users", "read:users:activity", "servers"]
    roles = [{"name": "teaching", "users": teaching, "scopes": scopes}]
    if culling:
        scopes = ["list:users", "read:users:activity", "read:servers", "delete:servers"]
        roles.append({"name": "culling", "services": ["idle-culler"], "scopes": scopes})
    return roles


def _ending_with_its_parent() -> list[str]:
    """What to start a program with, so that a hub that is killed leaves no culler behind."""
    setpriv = shutil.which("setpriv", path="/usr/bin:/bin")
    return [setpriv, "--pdeathsig", "TERM"] if setpriv else []


def _half_of_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _bracketed(ip: str) -> str:
    return f"[{ip}]" if ":" in ip else ip
