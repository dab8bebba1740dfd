"""LTI 1.1: a launch that is signed with the shared secret, at a real hub."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .cluster import Cluster, Programs, cluster
from .lms import LMS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

KEY, SECRET = "a-consumer", "a-shared-secret-of-this-test"


@pytest.fixture(scope="module")
def hub_11(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLSYS_LTI_KEY", KEY)
        patch.setenv("MLSYS_LTI_SECRET", SECRET)
        state = tmp_path_factory.mktemp("lti11") / "run"
        here = {"LTI11Authenticator": {"uri_scheme": "http"}}
        with cluster(programs, state, ["values.yaml", "lti11.yaml"], here) as running:
            yield running


def test_whom_the_lms_sends_is_in_under_the_name_of_the_roster(hub_11: Cluster) -> None:
    browser, answer = LMS.launch_11(hub_11.url, "Bob.Ray", key=KEY, secret=SECRET)
    assert answer.status_code == 302, answer.text[-500:]
    assert hub_11.name(browser) == "bob.ray"


@pytest.mark.parametrize(
    ("key", "secret", "fields"),
    [
        (KEY, "another secret", {}),
        ("another consumer", SECRET, {}),
        (KEY, SECRET, {"oauth_timestamp": "1000000000"}),
    ],
)
def test_a_launch_with_a_wrong_signature_is_refused(
    hub_11: Cluster, key: str, secret: str, fields: dict[str, str]
) -> None:
    browser, answer = LMS.launch_11(hub_11.url, "bob", key=key, secret=secret, **fields)
    assert answer.status_code == 401
    assert browser.get(f"{hub_11.url}/hub/api/user", timeout=30).status_code == 403


def test_a_launch_counts_once(hub_11: Cluster) -> None:
    same = {"oauth_nonce": "the same"}
    first = LMS.launch_11(hub_11.url, "bob", key=KEY, secret=SECRET, **same)[1]
    again = dict(same, oauth_timestamp=_stamp(first.request.body))
    second = LMS.launch_11(hub_11.url, "bob", key=KEY, secret=SECRET, **again)[1]
    assert (first.status_code, second.status_code) == (302, 401)


def _stamp(body: str | bytes | None) -> str:
    text = body.decode() if isinstance(body, bytes) else body or ""
    return dict(pair.split("=", 1) for pair in text.split("&"))["oauth_timestamp"]
