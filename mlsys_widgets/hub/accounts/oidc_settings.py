"""Settings of an identity provider: a small TOML file, checked before a hub starts with it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

from mlsys_widgets.course.loopback import is_loopback

#: Below the hub's address: where people go, and where the provider sends them back.
LOGIN: Final = "/oidc/login"
CALLBACK: Final = "/oidc/callback"


@dataclass(frozen=True)
class OidcSettings:
    """How people sign in with an identity provider (OpenID Connect).

    Parameters
    ----------
    issuer
        The provider's address, below which ``.well-known/openid-configuration`` is.
    client_secret_file
        A file with the secret that the provider gave to it, which only root can read.
    hub
        The address of the hub in browsers, as registered at the provider with
        ``/hub/oidc/callback`` after it.
    name
        What the button says after "Sign in with".
    login_claim
        What names a person: ``preferred_username``, ``email``, or a claim of your own.
    allowed_domain
        If names are addresses: the only domain that is let in. It is cut off to get the login.
    people
        Logins by what the provider says, for those whose names differ.
    """

    issuer: str
    client_id: str
    client_secret_file: str
    hub: str
    name: str = "your university"
    login_claim: str = "preferred_username"
    allowed_domain: str = ""
    people: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read and check a file of settings."""
        try:
            values = tomllib.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            raise ValueError(f"there is no {path} (--oidc)") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
            raise ValueError(f"{path} is not TOML: {problem}") from None
        known = {each.name for each in fields(cls)}
        if other := sorted(values.keys() - known):
            raise ValueError(f"{path} has {other[0]}; it can have: {', '.join(sorted(known))}")
        for name in ("issuer", "client_id", "client_secret_file", "hub"):
            if not values.get(name):
                raise ValueError(f"{path} lacks {name}")
        people = values.get("people", {})
        words = [value for name, value in values.items() if name != "people"]
        if not isinstance(people, dict) or not all(
            isinstance(each, str) for each in (*words, *people.values())
        ):
            raise ValueError(f"every value in {path} must be text, and people a table of texts")
        settings = cls(**values)
        settings.check(path)
        return settings

    def check(self, path: Path) -> None:
        """Refuse addresses that anybody on the way could change, and a secret that others read."""
        for name, address in (("issuer", self.issuer), ("hub", self.hub)):
            parts = urlsplit(address)
            local = parts.scheme == "http" and is_loopback(parts.hostname)
            if not (parts.scheme == "https" or local):
                raise ValueError(
                    f"{name} in {path} is {address!r}; it must begin with https:// (http only on"
                    " the loopback)"
                )
            if parts.query or parts.fragment:
                raise ValueError(f"{name} in {path} is {address!r}; it must not have ? or #")
        secret = Path(self.client_secret_file)
        if not secret.is_absolute():
            raise ValueError(f"client_secret_file in {path} must be a whole path, from /")
        if not secret.is_file() or not secret.read_text("utf-8").strip():
            raise ValueError(f"{secret} must be a file with the secret (client_secret_file)")
        if secret.stat().st_mode & 0o077:
            raise ValueError(f"others can read {secret}; close it: chmod 600 {secret}")

    @property
    def callback(self) -> str:
        """Where the provider sends people back."""
        return f"{self.hub.rstrip('/')}/hub{CALLBACK}"

    def login_of(self, claims: Mapping[str, Any]) -> str | None:
        """Return somebody's login, from what the provider has signed; `None` if they may not in.

        Examples
        --------
        >>> names = {"login_claim": "email", "allowed_domain": "example.edu"}
        >>> settings = OidcSettings("i", "c", "s", "h", **names, people={"lee@example.edu": "ann"})
        >>> settings.login_of({"email": "Ada@example.edu", "email_verified": True})
        'ada'
        >>> settings.login_of({"email": "lee@example.edu", "email_verified": True})
        'ann'
        >>> settings.login_of({"email": "ada@example.edu"})  # anybody can claim an address
        >>> settings.login_of({"email": "ada@example.edu.evil", "email_verified": True})
        """
        value = claims.get(self.login_claim)
        if not isinstance(value, str) or not value.strip():
            return None
        if self.login_claim == "email" and claims.get("email_verified") is not True:
            return None
        value = value.strip().lower()
        people = {each.lower(): login for each, login in self.people.items()}
        if value in people:
            return people[value]
        if self.allowed_domain:
            login, at, domain = value.rpartition("@")
            if not at or domain != self.allowed_domain.lower() or "@" in login:
                return None
            return login
        # An address of any domain would let everybody choose whose login it is.
        return None if "@" in value else value


def sign_in_configuration(settings: OidcSettings, mark: str) -> dict[str, Any]:
    """Return what JupyterHub is told, by section: the file of the secret, and not the secret."""
    return {
        "JupyterHub": {
            "authenticator_class": "mlsys_widgets.hub.accounts.sign_in.CourseAuthenticator",
            "template_paths": [str(Path(__file__).parent.parent / "template" / "login")],
            "template_vars": {"provider_name": settings.name, "provider_login": LOGIN},
        },
        "CourseAuthenticator": {"provider_settings": asdict(settings), "mark": mark},
    }
