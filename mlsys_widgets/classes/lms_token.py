"""Access tokens of a learning system: a signed request is exchanged for one, which then serves.

This is OAuth 2's client-credentials grant with a signed assertion, as LTI 1.3 has it. A token is
kept in memory until shortly before it expires, and never written down.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from time import monotonic
from typing import Final
from urllib.parse import urlencode

from mlsys_widgets.classes.lms_http import LmsAnswer, LmsClient, LmsError, LmsRefusal
from mlsys_widgets.classes.lms_key import ToolKey
from mlsys_widgets.course.course_settings import LmsSettings

AGS: Final = "https://purl.imsglobal.org/spec/lti-ags/scope/"
#: What a tool may do: manage its columns, read results, send scores.
LINE_ITEM: Final = f"{AGS}lineitem"
RESULT: Final = f"{AGS}result.readonly"
SCORE: Final = f"{AGS}score"
MEMBERSHIPS: Final = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"

_DEPLOYMENT: Final = "https://purl.imsglobal.org/spec/lti/claim/deployment_id"
_ASSERTION: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_ASSERTION_SECONDS: Final = 300
#: A token that ends within so many seconds is not used any more.
_TOO_CLOSE: Final = 30.0


class TokenSource:
    """Gives the token that requests carry, and renews it; the LMS must know the course's key."""

    def __init__(self, settings: LmsSettings, key: ToolKey, client: LmsClient) -> None:
        self._settings, self._key, self._client = settings, key, client
        self._scopes = [LINE_ITEM, RESULT, SCORE]
        self._scopes += [MEMBERSHIPS] if settings.memberships_url else []
        self._token, self._until = "", 0.0

    def get(self, *, renewed: bool = False) -> str:
        """Return a token that is valid now; `renewed`, another one than the LMS has just refused.

        Raises `LmsError` when the LMS gives none, or one that does not permit what is needed.
        """
        if renewed or monotonic() > self._until:
            self._read(self._exchange())
        return self._token

    def _exchange(self) -> LmsAnswer:
        try:
            return self._client.ask(
                "POST",
                self._settings.token_url,
                headers={
                    "Content-Type": "application/x-www-form-urlencoded",
                    "Accept": "application/json",
                },
                body=self._request,
            )
        except LmsRefusal as refusal:
            raise LmsError(
                f"the LMS gives no access token ({refusal}); the administrator must register the"
                f" key that mlsys push --keys prints for the client {self._settings.client_id},"
                f" with these scopes: {_listed(self._scopes)}"
            ) from None

    def _request(self) -> bytes:
        now = int(self._client.now().timestamp())
        claims = {
            "iss": self._settings.client_id,
            "sub": self._settings.client_id,
            "aud": self._settings.audience or self._settings.token_url,
            "iat": now - 5,  # a clock there may be behind
            "exp": now + _ASSERTION_SECONDS,
            "jti": uuid.uuid4().hex,
        }
        if self._settings.deployment_id:
            claims[_DEPLOYMENT] = self._settings.deployment_id
        form = {
            "grant_type": "client_credentials",
            "client_assertion_type": _ASSERTION,
            "client_assertion": self._key.sign(claims),
            "scope": " ".join(self._scopes),
        }
        return urlencode(form).encode()

    def _read(self, answer: LmsAnswer) -> None:
        loaded = answer.data()
        token = loaded.get("access_token") if isinstance(loaded, dict) else None
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise LmsError("the LMS answered without an access token; check lms.token_url")
        granted = loaded.get("scope")
        if isinstance(granted, str) and (missing := set(self._scopes) - set(granted.split())):
            raise LmsError(
                f"the LMS does not permit {_listed(sorted(missing))}; its administrator can, where"
                " the tool is registered"
            )
        seconds = loaded.get("expires_in")
        lasts = float(seconds) if isinstance(seconds, int | float) and seconds > 0 else 3600.0
        self._token = token
        self._until = monotonic() + max(lasts - _TOO_CLOSE, lasts / 2)


def _listed(scopes: Iterable[str]) -> str:
    """Scopes by their last words, as administrators' pages have them."""
    return ", ".join(each.rpartition("/")[2] for each in scopes)
