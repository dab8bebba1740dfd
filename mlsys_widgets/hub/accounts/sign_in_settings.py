"""Settings of who may say who somebody is: small TOML files, checked before a hub starts with them.

An identity provider (OpenID Connect) and a learning system (LTI 1.3) are declared in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Final, Self
from urllib.parse import urlsplit

from mlsys_widgets.course.loopback import is_loopback
from mlsys_widgets.hub.settings_file import read_settings_file

#: Below the hub's address: where people go, and where the provider sends them back.
OIDC_LOGIN: Final = "/oidc/login"
OIDC_CALLBACK: Final = "/oidc/callback"
#: The same for a learning system, which sends people to the first of its own accord.
LTI_LOGIN: Final = "/lti/login"
LTI_CALLBACK: Final = "/lti/callback"
#: Seconds that two clocks may differ.
LEEWAY: Final = 60
#: What the names of LTI's own claims begin with.
_LTI_CLAIM: Final = "https://purl.imsglobal.org/spec/lti/claim/"


@dataclass(frozen=True)
class SignInSettings:
    """What every such file has; see `OidcSettings` and `LtiSettings`."""

    #: What the other side calls itself.
    issuer: str
    #: What it calls this hub.
    client_id: str
    #: The address of the hub in browsers, as registered there with the callback after it.
    hub: str
    #: What names a person.
    login_claim: str
    #: If names are addresses: the only domain that is let in. It is cut off to get the login.
    allowed_domain: str = ""
    #: Logins by what the other side says, for those whose names differ.
    people: Mapping[str, str] = field(default_factory=dict)

    #: The option that names the file, where people are sent back, and settings that are addresses.
    option: ClassVar[str]
    below_hub: ClassVar[str]
    addresses: ClassVar[tuple[str, ...]] = ("issuer", "hub")

    @classmethod
    def read(cls, path: Path) -> Self:
        values = read_settings_file(
            path, cls.option, known=[each.name for each in fields(cls)],
            needed=[each.name for each in fields(cls)
                    if each.default is MISSING and each.default_factory is MISSING],
        )  # fmt: skip
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
        """Refuse addresses that anybody on the way could change."""
        for name in self.addresses:
            address = getattr(self, name)
            parts = urlsplit(address)
            local = parts.scheme == "http" and is_loopback(parts.hostname)
            if not (parts.scheme == "https" or local):
                raise ValueError(
                    f"{name} in {path} is {address!r}; it must begin with https:// (http only on"
                    " the loopback)"
                )
            if parts.query or parts.fragment:
                raise ValueError(f"{name} in {path} is {address!r}; it must not have ? or #")

    @property
    def callback(self) -> str:
        """Where people are sent back to."""
        return f"{self.hub.rstrip('/')}/hub{self.below_hub}"

    def login_of(self, claims: Mapping[str, Any]) -> str | None:
        """Return somebody's login, from what the other side has signed; `None` if nobody's."""
        value = self._named(claims)
        if not isinstance(value, str) or not value.strip():
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

    def _named(self, claims: Mapping[str, Any]) -> Any:
        return claims.get(self.login_claim)


@dataclass(frozen=True)
class OidcSettings(SignInSettings):
    """How people sign in with an identity provider (OpenID Connect).

    The `issuer` is its address, below which ``.well-known/openid-configuration`` is.
    """

    #: ``preferred_username``, ``email`` if the provider has verified it, or a claim of your own.
    login_claim: str = "preferred_username"
    #: A file with the secret that the provider gave to it, which only root can read.
    client_secret_file: str = field(kw_only=True)
    #: What the button says after "Sign in with".
    name: str = "your university"

    option = "--oidc"
    below_hub = OIDC_CALLBACK

    def check(self, path: Path) -> None:
        """Refuse such addresses, and a secret that others can read."""
        super().check(path)
        secret = Path(self.client_secret_file)
        if not secret.is_absolute():
            raise ValueError(f"client_secret_file in {path} must be a whole path, from /")
        if not secret.is_file() or not secret.read_text("utf-8").strip():
            raise ValueError(f"{secret} must be a file with the secret (client_secret_file)")
        if secret.stat().st_mode & 0o077:
            raise ValueError(f"others can read {secret}; close it: chmod 600 {secret}")

    def _named(self, claims: Mapping[str, Any]) -> Any:
        if self.login_claim == "email" and claims.get("email_verified") is not True:
            return None
        return super()._named(claims)


@dataclass(frozen=True)
class LtiSettings(SignInSettings):
    """How people come from a learning system (LTI 1.3)."""

    #: ``email``, ``sub``, or a part of one of LTI's own claims, such as ``ext.user_username`` and
    #: ``lis.person_sourcedid``.
    login_claim: str = "email"
    #: Where the learning system signs who somebody is.
    authorize_url: str = field(kw_only=True)
    #: Where its public keys are.
    jwks_url: str = field(kw_only=True)

    option = "--lti"
    below_hub = LTI_CALLBACK
    addresses = ("issuer", "hub", "authorize_url", "jwks_url")

    def _named(self, claims: Mapping[str, Any]) -> Any:
        claim, _, part = self.login_claim.partition(".")
        if not part:
            return super()._named(claims)
        found = claims.get(f"{_LTI_CLAIM}{claim}")
        return found.get(part) if isinstance(found, dict) else None


def sign_in_configuration(
    oidc: OidcSettings | None, lti: LtiSettings | None, mark: str
) -> dict[str, Any]:
    """Return what JupyterHub is told, by section: the file of a secret, and not the secret."""
    if oidc is None and lti is None:
        return {}
    hub: dict[str, Any] = {
        "authenticator_class": "mlsys_widgets.hub.accounts.sign_in.CourseAuthenticator"
    }
    ours: dict[str, Any] = {"mark": mark}
    if oidc:
        hub["template_paths"] = [str(Path(__file__).parent.parent / "template" / "login")]
        hub["template_vars"] = {"provider_name": oidc.name, "provider_login": OIDC_LOGIN}
        ours["provider_settings"] = asdict(oidc)
    made = {"JupyterHub": hub, "CourseAuthenticator": ours}
    if lti:
        ours["platform_settings"] = asdict(lti)
        made["LTI13LaunchValidator"] = {"time_leeway": LEEWAY}
    return made
