"""Requests to a platform that is busy, broken, endless or somebody else."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import pytest

from mlsys_widgets.classes import lms_http
from mlsys_widgets.classes.lms_http import LmsAnswer, LmsClient, LmsError, LmsRefusal, LmsSilence
from tests.classes.lms_class import QUICK
from tests.lms_platform import LearningPlatform

PART = "/5/lineitems"


@pytest.fixture(scope="module")
def running() -> Iterator[LearningPlatform]:
    with LearningPlatform() as platform:
        yield platform


@pytest.fixture
def platform(running: LearningPlatform) -> LearningPlatform:
    running._faults.clear()
    running.asked.clear()
    return running


@pytest.fixture
def client(platform: LearningPlatform) -> Iterator[LmsClient]:
    with LmsClient(platform.address, QUICK) as made:
        yield made


def get(client: LmsClient, platform: LearningPlatform) -> LmsAnswer:
    return client.ask("GET", f"{platform.address}{PART}", headers={})


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_passes_is_tried_again(
    client: LmsClient, platform: LearningPlatform, status: int
) -> None:
    platform.fail("status", PART, times=2, status=status)
    platform.fail("status", PART, status=200, body=b"[]")
    assert get(client, platform).data() == []
    assert len(platform.asked) == 3


@pytest.mark.parametrize("kind", ["hang", "drop", "truncated"])
def test_a_lost_answer_is_asked_for_again(platform: LearningPlatform, kind: str) -> None:
    platform.fail(kind, PART)
    platform.fail("status", PART, status=200, body=b"[]")
    patience = replace(QUICK, timeout=2) if kind == "hang" else QUICK
    with LmsClient(platform.address, patience) as client:
        assert get(client, platform).data() == []


@pytest.mark.parametrize(("kind", "said"), [("hang", "took too long"), ("drop", "connection")])
def test_it_gives_up_after_some_attempts(platform: LearningPlatform, kind: str, said: str) -> None:
    platform.fail(kind, PART, times=99)
    with (
        LmsClient(platform.address, replace(QUICK, timeout=0.3)) as client,
        pytest.raises(LmsSilence, match=f"asked 3 times: .*{said}"),
    ):
        get(client, platform)
    assert len(platform.asked) == 3


def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with LmsClient(address, QUICK) as client, pytest.raises(LmsSilence, match="connection failed"):
        client.ask("GET", address, headers={})


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_it_waits_as_long_as_it_is_asked_to(
    platform: LearningPlatform, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    naps: list[float] = []
    clock = SimpleNamespace(sleep=naps.append, monotonic=time.monotonic)
    monkeypatch.setattr(lms_http, "time", clock)
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
    asked = "40" if form == "seconds" else at
    platform.fail("status", PART, status=429, Retry_After=asked)
    platform.fail("status", PART, status=200)
    with LmsClient(platform.address, replace(QUICK, longest_wait=60)) as client:
        get(client, platform)
    (nap,) = naps
    assert nap == 40 if form == "seconds" else 0 < nap <= 40


def test_it_does_not_wait_for_hours(client: LmsClient, platform: LearningPlatform) -> None:
    platform.fail("status", PART, status=429, Retry_After="7200")
    with pytest.raises(LmsSilence, match="asks to wait 7,200 seconds; run the command again"):
        get(client, platform)


def test_a_wait_that_makes_no_sense_is_none(client: LmsClient, platform: LearningPlatform) -> None:
    for said in ("soon", "-1", "1e9", "Mon, 99 Foo 2026 00:00:00 GMT"):
        platform.fail("status", PART, status=503, Retry_After=said)
        platform.fail("status", PART, status=200)
        assert get(client, platform).status == 200


def test_a_limit_that_comes_as_403(client: LmsClient, platform: LearningPlatform) -> None:
    platform.fail("status", PART, status=403, body=b"403 Forbidden (Rate Limit Exceeded)")
    platform.fail("status", PART, status=200)
    assert get(client, platform).status == 200


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (403, b'{"error": "insufficient_scope"}', "403 Forbidden: insufficient_scope"),
        (404, b"<!DOCTYPE html><html>not here</html>", "404 Not Found"),
        (422, b'{"errors": {"message": "no such user"}}', "no such user"),
        (400, b"\x1b[31mred\x00\xff" * 999, "400 Bad Request: [31mred"),
        (499, b"", "499 no known reason"),
    ],
)
def test_a_no_is_said_once_and_in_plain_words(
    client: LmsClient, platform: LearningPlatform, status: int, body: bytes, said: str
) -> None:
    platform.fail("status", PART, status=status, body=body)
    with pytest.raises(LmsRefusal) as refusal:
        get(client, platform)
    assert said in str(refusal.value)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 300
    assert len(platform.asked) == 1


def test_an_endless_answer_ends(platform: LearningPlatform) -> None:
    platform.fail("endless", "/token", times=2)
    with (
        LmsClient(platform.address, replace(QUICK, most_bytes=1_000_000)) as client,
        pytest.raises(LmsError, match="sent more than 1,000,000 bytes"),
    ):
        client.ask("POST", f"{platform.address}/token", headers={}, body=lambda: b"")
    slow = replace(QUICK, most_bytes=10**12, deadline=0.2, attempts=1)
    with LmsClient(platform.address, slow) as client, pytest.raises(LmsSilence, match="too long"):
        client.ask("POST", f"{platform.address}/token", headers={}, body=lambda: b"")


@pytest.mark.parametrize("body", [b"{", b"", b"NaN", b"[" * 100_000, b"\xff\xfe"])
def test_broken_json_is_a_sentence(
    client: LmsClient, platform: LearningPlatform, body: bytes
) -> None:
    platform.fail("status", PART, status=200, body=body)
    with pytest.raises(LmsError, match="not JSON"):
        get(client, platform).data()


def test_a_redirect_elsewhere_takes_nothing_along(
    client: LmsClient, platform: LearningPlatform
) -> None:
    with LearningPlatform() as other:
        for target in (
            f"{other.address}/x",
            "https://evil.example/x",
            "http://[",
            "//evil.example",
        ):
            platform.fail("redirect", PART, status=302, Location=target)
            with pytest.raises(LmsError, match="another host; nothing was sent there"):
                client.ask(
                    "GET", f"{platform.address}{PART}", headers={"Authorization": "Bearer t"}
                )
        assert other.asked == []


def test_a_redirect_at_home(client: LmsClient, platform: LearningPlatform) -> None:
    platform.fail("redirect", PART, status=301, Location="/elsewhere")
    platform.fail("status", "/elsewhere", status=200, body=b"[1]")
    assert get(client, platform).data() == [1]
    platform.fail("redirect", PART, status=307, Location="/elsewhere")
    with pytest.raises(LmsError, match="redirects what was sent"):
        client.ask("POST", f"{platform.address}{PART}", headers={}, body=lambda: b"{}")
    platform.fail("redirect", PART, times=99, status=302, Location=PART)
    with pytest.raises(LmsError, match="in a circle"):
        get(client, platform)


@pytest.mark.parametrize(
    ("link", "found"),
    [
        ('<https://lms.edu/b?from=2>; rel="next"', "https://lms.edu/b?from=2"),
        ('<https://lms.edu/a>; rel="first", </c?d=1,2>; rel=next', "https://lms.edu/c?d=1,2"),
        ("<https://lms.edu/b>; rel=“next”", "https://lms.edu/b"),
        ('<https://lms.edu/b>; rel="last"', None),
        ('<https://lms.edu/next>; rel="prev"', None),
        ("nonsense", None),
    ],
)
def test_where_a_list_continues(link: str, found: str | None) -> None:
    assert LmsAnswer("https://lms.edu/a", 200, {"link": link}, b"").next_page == found


def test_the_clock_that_is_ahead_counts(client: LmsClient, platform: LearningPlatform) -> None:
    def date(**ahead: float) -> str:
        return format_datetime(datetime.now(UTC) + timedelta(**ahead), usegmt=True)

    def ahead() -> float:
        return (client.now() - datetime.now(UTC)).total_seconds()

    # http.server has a Date of its own, so these do not come from there.
    for said, least, most in (
        (date(minutes=5), 290, 301),
        (date(minutes=-5), -1, 1),
        (date(days=400), -1, 1),  # a clock that is wrong
    ):
        answer = LmsAnswer(platform.address, 200, {"date": said}, b"")
        client._compare_clocks(answer)
        assert least < ahead() < most
