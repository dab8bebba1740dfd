"""Coming to a hub from a course page of a learning system: a launch as LTI 1.3 has it.

The learning system sends a browser here, is asked back who that is, and signs the answer;
``jupyterhub-ltiauthenticator`` speaks the protocol and checks signature, audience, nonce and age.
Here is who may in: the same people as with an identity provider.
"""

from __future__ import annotations

from typing import Any

from ltiauthenticator.lti13.auth import LTI13Authenticator
from ltiauthenticator.lti13.handlers import LTI13CallbackHandler, LTI13LoginInitHandler

from mlsys_widgets.hub.accounts.roster_only import RosterOnly
from mlsys_widgets.hub.accounts.sign_in_settings import LTI_CALLBACK, LTI_LOGIN, LtiSettings


class _LaunchHandler(LTI13LoginInitHandler):
    """Asks the learning system who somebody is; as this hub, whatever the request says."""

    def get_redirect_uri(self) -> str:
        callback: str = self.authenticator.settings.callback
        return callback

    def authorize_redirect(self, *args: Any, **more: Any) -> None:
        more["client_id"] = self.authenticator.settings.client_id
        super().authorize_redirect(*args, **more)

    def _set_oauth_cookie(self, key: str, value: str) -> None:
        # The answer is sent from another site, and browsers keep cookies back unless told so.
        secure = self.authenticator.settings.hub.startswith("https:")
        across = {"samesite": "None", "secure": True} if secure else {}
        self._set_cookie(key, value, expires_days=1, httponly=True, encrypted=True, **across)


class Platform(RosterOnly, LTI13Authenticator):
    """The learning system."""

    def __init__(self, settings: LtiSettings, mark: str, **more: Any) -> None:
        super().__init__(**more)
        self.settings, self._mark = settings, mark
        self.issuer, self.client_id = settings.issuer, {settings.client_id}
        self.authorize_url, self.jwks_endpoint = settings.authorize_url, settings.jwks_url

    async def authenticate(self, handler: Any, data: Any = None, **more: Any) -> Any:
        """Return who somebody is, by claims that were checked."""
        return self.admitted(data or {})


def launch_handlers(settings: LtiSettings, mark: str, parent: Any) -> list[tuple[str, type]]:
    """Return what answers a learning system, below the hub's address."""
    ours = {"authenticator": Platform(settings, mark, parent=parent)}
    return [
        (LTI_LOGIN, type("LtiLaunchHandler", (_LaunchHandler,), ours)),
        (LTI_CALLBACK, type("LtiCallbackHandler", (LTI13CallbackHandler,), ours)),
    ]
