"""The monitor among JupyterHub's services: what it is called, where it is, what it may do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mlsys_widgets.hub.places import Places

MONITOR: Final = "monitor"
#: In the folder of secrets: what opens the numbers.
TOKEN: Final = "monitoring_token"
#: What the service itself may do at the hub: read numbers, and count people.
_SCOPES: Final = ("read:metrics", "list:users", "read:users:activity", "read:servers")


def monitor_service(places: Places, command: Sequence[str], port: int) -> dict[str, Any]:
    """Return the service as JupyterHub's configuration has it; `command` runs our modules."""
    return {
        "name": MONITOR,
        "url": f"http://127.0.0.1:{port}",
        "command": [*command, "mlsys_widgets.hub.services.monitor", str(places.root)],
        "display": False,
    }


def monitor_role() -> dict[str, Any]:
    """Return what the service may do at the hub."""
    return {"name": "monitoring", "services": [MONITOR], "scopes": list(_SCOPES)}
