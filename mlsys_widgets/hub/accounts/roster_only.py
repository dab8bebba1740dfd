"""Who may sign in without a password: people of the roster, whoever says who they are."""

from __future__ import annotations

import pwd
from collections.abc import Mapping
from typing import Any

from mlsys_widgets.hub.accounts.passwords import hashes, is_locked
from mlsys_widgets.hub.accounts.sign_in_settings import SignInSettings


class RosterOnly:
    """A part of an authenticator whose parent is the hub's own."""

    settings: SignInSettings
    _mark: str
    parent: Any
    log: Any

    def admitted(self, claims: Mapping[str, Any]) -> dict[str, str] | None:
        """Return somebody as JupyterHub wants it, by claims that were checked."""
        name = self.settings.login_of(claims)
        if name is None or not self.admits(name):
            # Not who: the log is long, and a stranger's address is nobody's business.
            self.log.warning("Somebody whom the roster does not have tried to sign in")
            return None
        return {"name": name}

    def admits(self, name: str) -> bool:
        """Whether a name is a user that this hub created and that is not locked."""
        try:
            entry = pwd.getpwnam(name)
        except (KeyError, ValueError):
            return False
        return entry.pw_gecos == self._mark and not is_locked(hashes().get(name, "!"))

    async def check_allowed(self, username: str, auth_model: Any) -> bool:
        """Whether the hub lets them in. Called by JupyterHub."""
        # The list of the hub itself: it may have changed since the start.
        return username in self.parent.allowed_users

    def check_blocked_users(self, username: str, authentication: Any = None) -> Any:
        """Whether the hub keeps them out. Called by JupyterHub."""
        return self.parent.check_blocked_users(username, authentication)
