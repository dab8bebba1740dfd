"""Access tokens: a signed request that a platform can check, and a token used until it ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from mlsys_widgets.classes.lms_http import LmsClient, LmsError, LmsSilence
from mlsys_widgets.classes.lms_key import make_key
from mlsys_widgets.classes.lms_token import TokenSource
from tests.classes.lms_class import QUICK, settings_of
from tests.lms_platform import AGS, NRPS, SCOPES, LearningPlatform, _decoded

Source = Callable[..., TokenSource]


@pytest.fixture
def platform() -> Iterator[LearningPlatform]:
    with LearningPlatform() as running:
        yield running


@pytest.fixture
def client(platform: LearningPlatform) -> Iterator[LmsClient]:
    with LmsClient(platform.address, QUICK) as made:
        yield made


@pytest.fixture
def source(platform: LearningPlatform, client: LmsClient, tmp_path: Path) -> Source:
    """Makes sources whose key the platform does not know."""

    def make(**changes: str) -> TokenSource:
        key, _ = make_key(tmp_path)
        return TokenSource(replace(settings_of(platform), **changes), key, client)

    return make


@pytest.fixture
def known(platform: LearningPlatform, source: Source, tmp_path: Path) -> Source:
    """The same, and the platform knows the key."""
    platform.register(make_key(tmp_path)[0].jwks())
    return source


def requests(platform: LearningPlatform) -> list[dict[str, str]]:
    found = [each for each in platform.asked if each.path == "/token"]
    return [{k: v[0] for k, v in parse_qs(each.body.decode()).items()} for each in found]


def test_a_token_is_used_until_it_ends(platform: LearningPlatform, known: Source) -> None:
    tokens = known()
    assert tokens.get() == tokens.get()
    assert len(requests(platform)) == 1
    renewed = tokens.get(renewed=True)
    assert tokens.get() == renewed
    assert len(requests(platform)) == 2


def test_a_short_token_is_renewed_before_it_ends(
    platform: LearningPlatform, known: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr("mlsys_widgets.classes.lms_token.monotonic", lambda: clock[0])
    platform.token_seconds = 40
    tokens = known()
    first = tokens.get()
    clock[0] += 19
    assert tokens.get() == first
    clock[0] += 2
    assert tokens.get() != first


def test_what_is_signed(platform: LearningPlatform, known: Source) -> None:
    known().get()
    (form,) = requests(platform)
    claims = json.loads(_decoded(form["client_assertion"].split(".")[1]))
    assert claims["iss"] == claims["sub"] == platform.client_id
    assert claims["aud"] == f"{platform.address}/token"
    assert 0 < claims["exp"] - claims["iat"] <= 310
    assert set(form["scope"].split()) == SCOPES
    # A platform that has no list of members may not permit one either.
    known(memberships_url="").get()
    assert NRPS not in requests(platform)[-1]["scope"]


def test_another_audience_where_the_platform_wants_one(
    platform: LearningPlatform, known: Source
) -> None:
    with pytest.raises(LmsError, match="invalid_client: audience"):
        known(audience="https://issuer.edu").get()


def test_no_request_is_made_twice_with_the_same_id(
    platform: LearningPlatform, known: Source
) -> None:
    # The platform has seen the id of the request whose answer was lost.
    platform.fail("drop after", "/token")
    assert known().get()
    assert len(requests(platform)) == 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"client_id": "8"}, "invalid_client: issuer"),
        ({"deployment_id": "8"}, "invalid_client: deployment"),
    ],
)
def test_a_wrong_setting_is_answered_with_what_to_register(
    platform: LearningPlatform, known: Source, changes: dict[str, str], said: str
) -> None:
    with pytest.raises(LmsError) as problem:
        known(**changes).get()
    assert said in str(problem.value)
    assert "mlsys push --keys" in str(problem.value)


def test_a_key_that_the_platform_does_not_know(source: Source) -> None:
    with pytest.raises(LmsError, match=r"401 Unauthorized: invalid_client.*register the key"):
        source().get()


def test_a_scope_that_is_not_permitted_is_named(platform: LearningPlatform, known: Source) -> None:
    platform.permitted.remove(f"{AGS}score")
    with pytest.raises(LmsError, match="does not permit score; its administrator can"):
        known().get()
    platform.permitted.clear()
    with pytest.raises(LmsError, match="invalid_scope"):
        known().get()


@pytest.mark.parametrize(
    "body",
    [
        b"{}", b"[]", b'{"access_token": 7}', b'{"access_token": "a\\nb"}',
        b'{"access_token": "\xc3\xa4"}',
    ],
)  # fmt: skip
def test_an_answer_without_a_token(platform: LearningPlatform, known: Source, body: bytes) -> None:
    platform.fail("body", "/token", body=body)
    with pytest.raises(LmsError, match="without an access token"):
        known().get()


def test_a_token_endpoint_that_is_down(platform: LearningPlatform, known: Source) -> None:
    platform.fail("status", "/token", times=99, status=503)
    with pytest.raises(LmsSilence, match="asked 3 times: it answered 503"):
        known().get()
