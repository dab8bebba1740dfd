"""Settings of an identity provider: a slip is named before a hub starts with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mlsys_widgets.hub.accounts.sign_in_settings import (
    LtiSettings,
    OidcSettings,
    sign_in_configuration,
)

GOOD = {
    "issuer": "https://login.example.edu", "client_id": "mlsys", "hub": "https://hub.example.edu/",
}  # fmt: skip


@pytest.fixture
def written(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    secret.chmod(0o600)

    def write(text="", **changed):
        values = GOOD | {"client_secret_file": str(secret)} | changed
        lines = [f'{name} = "{value}"' for name, value in values.items() if value is not None]
        (tmp_path / "oidc.toml").write_text("\n".join([*lines, text]))
        return tmp_path / "oidc.toml"

    return write


def test_good_settings_are_read_and_no_secret_reaches_the_configuration(written):
    settings = OidcSettings.read(written('[people]\n"Lovelace" = "ada"'))
    assert settings.callback == "https://hub.example.edu/hub/oidc/callback"
    assert settings.login_of({"preferred_username": "lovelace"}) == "ada"
    assert "s3cret" not in str(sign_in_configuration(settings, None, "mark"))


@pytest.mark.parametrize(
    ("changed", "text", "problem"),
    [
        ({"issuer": None}, "", "lacks issuer"),
        ({"issuer": "http://login.example.edu"}, "", "must begin with https"),
        ({"hub": "hub.example.edu"}, "", "must begin with https"),
        ({"issuer": "https://login.example.edu/?x"}, "", "must not have"),
        ({"isuer": "x"}, "", "has isuer; it can have"),
        ({"client_secret_file": "secret"}, "", "a whole path"),
        ({"client_secret_file": "/nowhere"}, "", "must be a file with the secret"),
        ({}, "[people]\nada = 1", "must be text"),
        ({}, "no toml", "is not TOML"),
    ],
)
def test_what_is_wrong_is_named(written, changed, text, problem):
    with pytest.raises(ValueError, match=problem):
        OidcSettings.read(written(text, **changed))


def test_a_secret_that_others_can_read_is_refused(written, tmp_path):
    path = written()
    (tmp_path / "secret").chmod(0o640)
    with pytest.raises(ValueError, match="chmod 600"):
        OidcSettings.read(path)
    with pytest.raises(ValueError, match="there is no"):
        OidcSettings.read(tmp_path / "missing")


def test_a_learning_system_is_declared_in_the_same_way(tmp_path):
    path = tmp_path / "lti.toml"
    text = "".join(f'{name} = "{value}"\n' for name, value in GOOD.items())
    path.write_text(text)
    with pytest.raises(ValueError, match="lacks authorize_url"):
        LtiSettings.read(path)
    text += 'authorize_url = "https://lms.example.edu/auth"\n'
    path.write_text(text + 'jwks_url = "http://lms.example.edu/keys"\n')
    with pytest.raises(ValueError, match=r"jwks_url .* must begin with https"):
        LtiSettings.read(path)
    path.write_text(text + 'jwks_url = "https://lms.example.edu/keys"\n')
    settings = LtiSettings.read(path)
    assert settings.callback == "https://hub.example.edu/hub/lti/callback"
    made = sign_in_configuration(None, settings, "mark")
    assert "template_vars" not in made["JupyterHub"], "there is no button: people come from there"
    assert LtiSettings(**made["CourseAuthenticator"]["platform_settings"]) == settings
    assert sign_in_configuration(None, None, "mark") == {}
    named = replace(settings, login_claim="ext.user_username")
    ext = "https://purl.imsglobal.org/spec/lti/claim/ext"
    assert named.login_of({ext: {"user_username": "ada"}, "sub": "17"}) == "ada"
    assert named.login_of({"sub": "17"}) is None


@pytest.mark.parametrize(
    ("settings", "claims", "login"),
    [
        ({}, {"preferred_username": "ada"}, "ada"),
        ({}, {"preferred_username": "ada@anywhere.example"}, None),
        ({}, {"preferred_username": ["ada"]}, None),
        ({}, {}, None),
        ({"allowed_domain": "x.edu"}, {"preferred_username": "Ada@X.edu"}, "ada"),
        ({"allowed_domain": "x.edu"}, {"preferred_username": "ada"}, None),
        ({"allowed_domain": "x.edu"}, {"preferred_username": "a@b@x.edu"}, None),
        ({"login_claim": "email", "allowed_domain": "x.edu"}, {"email": "ada@x.edu"}, None),
        (
            {"login_claim": "email", "allowed_domain": "x.edu"},
            {"email": "ada@x.edu", "email_verified": "true"},
            None,
        ),
        (
            {"login_claim": "email", "allowed_domain": "x.edu"},
            {"email": "ada@x.edu.evil", "email_verified": True},
            None,
        ),
        (
            {"login_claim": "email", "people": {"lee@x.edu": "ann"}},
            {"email": "Lee@x.edu", "email_verified": True},
            "ann",
        ),
    ],
)
def test_who_somebody_is(settings, claims, login):
    assert OidcSettings("i", "c", "h", **settings, client_secret_file="s").login_of(claims) == login
