"""What an identity provider has signed is believed only if all of it fits.

The whole way, with a browser's redirects and a running hub, is in test_hub_service.
"""

from __future__ import annotations

import asyncio
import subprocess
import time

import pytest

from mlsys_widgets.hub.accounts.sign_in_settings import LtiSettings, OidcSettings
from tests.hub.identity_provider import IdentityProvider, Key
from tests.hub.people import hub_without_server, needs_root

pytest.importorskip("oauthenticator", reason="pip install 'mlsys-widgets[hub]'")


@pytest.fixture
def issuer():
    made = IdentityProvider("mlsys", "secret")
    yield made
    made.close()


@pytest.fixture
def provider(issuer, tmp_path):
    from mlsys_widgets.hub.accounts.sign_in import Provider

    (tmp_path / "secret").write_text("secret")
    settings = OidcSettings(
        issuer.issuer, "mlsys", "http://localhost", client_secret_file=str(tmp_path / "secret")
    )
    return Provider(settings, "mlsys hub test")


def verified(provider, token, nonce="n"):
    async def ask():
        await provider.discover()
        return await provider.verified(token, nonce)

    return asyncio.run(ask())


def claims(issuer, **changed):
    now = int(time.time())
    fields = {"iss": issuer.issuer, "aud": "mlsys", "sub": "1", "iat": now, "exp": now + 300,
            "nonce": "n", "preferred_username": "ada", **changed}  # fmt: skip
    return {name: value for name, value in fields.items() if value is not None}


def test_what_fits_is_believed(provider, issuer):
    found = verified(provider, issuer.key.signed(claims(issuer)))
    assert found["preferred_username"] == "ada"
    several = claims(issuer, aud=["mlsys", "other"], azp="mlsys")
    assert verified(provider, issuer.key.signed(several))


@pytest.mark.parametrize(
    "changed",
    [
        {"aud": "other"}, {"aud": ["mlsys", "other"]}, {"azp": "other"}, {"aud": None},
        {"iss": "https://evil.example"}, {"exp": 1}, {"exp": None}, {"iat": None},
        {"iat": int(time.time()) + 86400}, {"nonce": "m"}, {"nonce": None}, {"sub": None},
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(provider, issuer, changed):
    from tornado.web import HTTPError

    with pytest.raises(HTTPError) as refused:
        verified(provider, issuer.key.signed(claims(issuer, **changed)))
    assert refused.value.status_code == 403


def test_an_attempt_without_a_nonce_is_refused(provider, issuer):
    from tornado.web import HTTPError

    with pytest.raises(HTTPError):
        verified(provider, issuer.key.signed(claims(issuer)), nonce=None)


def test_only_keys_of_the_provider_count_and_new_ones_are_fetched(provider, issuer):
    from tornado.web import HTTPError

    for token in (
        Key("first").signed(claims(issuer)),
        Key("x").signed(claims(issuer)),
        None,
        "a.b",
    ):
        with pytest.raises(HTTPError):
            verified(provider, token)
    for algorithm in ("none", "HS256"):
        with pytest.raises(HTTPError):
            verified(provider, issuer.key.signed(claims(issuer), alg=algorithm))
    issuer.key = Key("second")
    assert verified(provider, issuer.key.signed(claims(issuer)))


def test_a_provider_that_speaks_for_another_is_refused(provider, issuer, monkeypatch):
    from tornado.web import HTTPError

    document = issuer.discovery() | {"issuer": "https://other.example"}
    monkeypatch.setattr(issuer, "discovery", lambda: document)
    with pytest.raises(HTTPError):
        asyncio.run(provider.discover())


@needs_root
def test_whoever_comes_from_a_learning_system_is_in_the_roster():
    pytest.importorskip("ltiauthenticator", reason="pip install 'mlsys-widgets[hub]'")
    from mlsys_widgets.hub.accounts.lti_sign_in import Platform

    lms = "https://lms.example.edu"
    settings = LtiSettings(
        lms, "mlsys", "http://localhost", "sub", authorize_url=lms, jwks_url=lms,
        people={"17": "root"},
    )  # fmt: skip
    with hub_without_server() as (_, state):
        subprocess.run(["chpasswd"], input=f"{state.student}:a-pass", text=True, check=True)
        platform = Platform(settings, state.mark)
        found = [
            asyncio.run(platform.authenticate(None, {"sub": name}))
            for name in (state.student, "17", "nobody-we-know", "")
        ]
        assert found == [{"name": state.student}, None, None, None]


@needs_root
def test_only_users_of_this_hub_that_are_not_locked(provider):
    with hub_without_server() as (_, state):
        provider._mark = state.mark
        name = state.student
        subprocess.run(["chpasswd"], input=f"{name}:a-password", text=True, check=True)
        assert provider.admits(name)
        assert not provider.admits("root")
        assert not provider.admits("nobody we know")
        subprocess.run(["usermod", "--lock", name], check=True)
        assert not provider.admits(name)
        provider._mark = "mlsys hub other"
        assert not provider.admits(name)
