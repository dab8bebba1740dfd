"""``mlsys hub --reset``: says what would be lost, asks, and removes what the hub created."""

from __future__ import annotations

import shutil

from mlsys_widgets.courses.plain_terminal import agreed
from mlsys_widgets.hub.accounts.machine_users import remove_accounts
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.running.proxy import end_stale_proxy
from mlsys_widgets.hub.running.server_process import hold_folder


def run_reset(places: Places, *, yes: bool) -> int:
    """Remove a hub after asking; do nothing if the answer is no."""
    state = HubState.read(places.state)
    if state is None:
        raise ValueError(f"there is no hub in {places.root}; name its folder with --folder")
    with hold_folder(places.lock, "a hub"):
        print(f"This permanently removes, in {places.root}:")
        for line in _losses(places, state):
            print(f"  - {line}")
        if not yes and not agreed("Remove all of this? Type yes: "):
            print("Nothing was removed.")
            return 1
        end_stale_proxy(places.proxy_pid)
        left = remove_accounts(state)
        for path in places.ours:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    for name in left:
        print(f"The user {name} is no longer marked as this hub's, and was left alone.")
    if any(places.root.iterdir()):
        print(f"Removed. {places.root} holds other files, which stay.")
    else:
        places.root.rmdir()
        print("Removed.")
    return 0


def _losses(places: Places, state: HubState) -> list[str]:
    """Return what would be lost, a line for each."""
    submitted = len(list(places.course.glob("submitted/*/*")))
    waiting = len(list(places.exchange.glob("*/inbound/*")))
    losses = [
        f"the course {state.course_id} with its labs, its gradebook and"
        f" collected submissions ({submitted})",
        f"submissions in the exchange ({waiting}), and all feedback",
    ]
    if state.accounts:
        names = sorted(state.accounts)
        shown = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
        losses.append(f"{len(names)} users of this machine and all files in their homes: {shown}")
    losses.append("passwords, keys, logs, and the hub's own records")
    return losses
