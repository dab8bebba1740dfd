"""Signing in with an identity provider or from a learning system, beside the machine's password.

With ``--oidc`` the login page has a button as well: the provider says who somebody is (OpenID
Connect, authorization code with PKCE). Nobody is admitted whom the roster does not have.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from pathlib import Path
from typing import Any, Final

import jwt
from jupyterhub.auth import PAMAuthenticator
from oauthenticator.oauth2 import (
    OAuthCallbackHandler,
    OAuthenticator,
    OAuthLoginHandler,
    _deserialize_state,
    _serialize_state,
)
from tornado.web import HTTPError
from traitlets import Dict, Unicode

from mlsys_widgets.hub.accounts.roster_only import RosterOnly
from mlsys_widgets.hub.accounts.sign_in_settings import (
    LEEWAY,
    OIDC_CALLBACK,
    OIDC_LOGIN,
    LtiSettings,
    OidcSettings,
)

#: Ways to sign that prove who has signed; never "none", and no secret that both sides know.
_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")
#: Seconds after which the provider is asked for its addresses and keys again.
_KEPT: Final = 600.0
_REFUSED: Final = "The provider's answer cannot be trusted, so nobody was signed in."


class _LoginHandler(OAuthLoginHandler):
    """Sends people to the provider, with a number that its answer must repeat."""

    async def get(self) -> None:
        await self.authenticator.discover()
        self._nonce = secrets.token_urlsafe(32)
        super().get()

    def set_state_cookie(self, state_cookie_value: str) -> None:
        state = _deserialize_state(state_cookie_value) | {"nonce": self._nonce}
        super().set_state_cookie(_serialize_state(state))

    def authorize_redirect(self, *args: Any, extra_params: Any = None, **more: Any) -> None:
        super().authorize_redirect(
            *args, extra_params={**(extra_params or {}), "nonce": self._nonce}, **more
        )


class Provider(RosterOnly, OAuthenticator):
    """The identity provider: knows its addresses and keys, and checks what it has signed."""

    def __init__(self, settings: OidcSettings, mark: str, **more: Any) -> None:
        super().__init__(**more)
        self.settings, self._mark = settings, mark
        self.client_id = settings.client_id
        self.client_secret = Path(settings.client_secret_file).read_text("utf-8").strip()
        self.oauth_callback_url = settings.callback
        self.scope = ["openid", "profile", "email"]
        self.enable_pkce = True
        self._known: dict[str, Any] = {}
        self._keys: list[dict[str, Any]] = []
        self._until = 0.0
        self._one = asyncio.Lock()

    async def discover(self, *, again: bool = False) -> None:
        """Ask the provider for its addresses and its keys, if that was long ago."""
        async with self._one:
            if not again and time.monotonic() < self._until:
                return
            issuer = self.settings.issuer.rstrip("/")
            document = await self.httpfetch(f"{issuer}/.well-known/openid-configuration")
            # Or one provider could answer for another.
            if document.get("issuer") not in (issuer, f"{issuer}/"):
                raise HTTPError(502, "The provider calls itself by another name.")
            self._known = document
            self.authorize_url = document["authorization_endpoint"]
            self.token_url = document["token_endpoint"]
            self._keys = (await self.httpfetch(document["jwks_uri"])).get("keys", [])
            self._until = time.monotonic() + _KEPT

    async def authenticate(self, handler: Any, data: Any = None, **more: Any) -> Any:
        """Exchange the code for a signed answer, and check it."""
        await self.discover()
        nonce = _deserialize_state(handler.get_state_cookie()).get("nonce")
        params = self.build_access_tokens_request_params(handler, data)
        tokens = await self.get_token_info(handler, params)
        return self.admitted(await self.verified(tokens.get("id_token"), nonce))

    async def verified(self, token: Any, nonce: Any) -> dict[str, Any]:
        """Check what the provider has signed: for us, for this attempt, and not long ago."""
        try:
            return self._decoded(token, nonce)
        except _UnknownKey:  # it may have changed its keys
            await self.discover(again=True)
        try:
            return self._decoded(token, nonce)
        except _UnknownKey:
            raise HTTPError(403, _REFUSED) from None

    def _decoded(self, token: Any, nonce: Any) -> dict[str, Any]:
        try:
            head = jwt.get_unverified_header(token)
            allowed = self._known.get("id_token_signing_alg_values_supported", _ALGORITHMS)
            if head.get("alg") not in _ALGORITHMS or head["alg"] not in allowed:
                raise jwt.InvalidAlgorithmError(f"signed with {head.get('alg')}")
            keys = [each for each in self._keys if each.get("use", "sig") == "sig"]
            fitting = [each for each in keys if "kid" not in head or each.get("kid") == head["kid"]]
            if not fitting:
                raise _UnknownKey
            claims: dict[str, Any] = jwt.decode(
                token, jwt.PyJWK(fitting[0]).key, algorithms=[head["alg"]],
                audience=self.client_id, issuer=self._known["issuer"], leeway=LEEWAY,
                options={"require": ["exp", "iat", "iss", "aud", "sub", "nonce"]},
            )  # fmt: skip
            others = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
            if claims.get("azp", None if others else self.client_id) != self.client_id:
                raise jwt.InvalidAudienceError("meant for another program")
            if not nonce or not secrets.compare_digest(str(claims["nonce"]), str(nonce)):
                raise jwt.InvalidTokenError("of another attempt")
        except (jwt.PyJWTError, KeyError, TypeError, ValueError) as problem:
            self.log.warning("The answer of the identity provider is refused: %s", problem)
            raise HTTPError(403, _REFUSED) from None
        return claims


class _UnknownKey(Exception):
    """Signed with a key that we have not seen."""


class CourseAuthenticator(PAMAuthenticator):
    """PAM, and beside it an identity provider, a learning system, or both."""

    provider_settings = Dict(help="Of the identity provider; empty: none.").tag(config=True)
    platform_settings = Dict(help="Of the learning system; empty: none.").tag(config=True)
    mark = Unicode(help="The comment field of accounts of this hub.").tag(config=True)

    def get_handlers(self, app: Any) -> list[tuple[str, type]]:
        handlers: list[tuple[str, type]] = [*super().get_handlers(app)]
        if self.provider_settings:
            provider = Provider(OidcSettings(**self.provider_settings), self.mark, parent=self)
            ours = {"authenticator": provider}
            handlers += [
                (OIDC_LOGIN, type("OidcLoginHandler", (_LoginHandler,), ours)),
                (OIDC_CALLBACK, type("OidcCallbackHandler", (OAuthCallbackHandler,), ours)),
            ]
        if self.platform_settings:
            from mlsys_widgets.hub.accounts.lti_sign_in import launch_handlers

            settings = LtiSettings(**self.platform_settings)
            handlers += launch_handlers(settings, self.mark, parent=self)
        return handlers
