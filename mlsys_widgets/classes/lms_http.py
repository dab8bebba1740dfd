"""Requests to a learning system that may be slow, busy, broken or not itself.

What can pass is tried again with growing pauses, a bounded number of times. What cannot is one
sentence. An answer has a limit in bytes and in time, and a redirect never takes a token elsewhere.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import httpx

from mlsys_widgets import __version__
from mlsys_widgets.classes.lms_settings import same_origin
from mlsys_widgets.course.loopback import is_loopback

#: Answers that say: not now.
_LATER: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_MOST_REDIRECTS: Final = 3
#: A clock that differs more than this is wrong, and is not followed.
_CLOCKS_DIFFER: Final = timedelta(minutes=10)
#: Some platforms write typographic quotes around ``next``.
_LINK: Final = re.compile(r"<([^<>]*)>([^<]*)")
_NEXT: Final = re.compile(r"rel\s*=\s*[\"'“”]?\s*next\b", re.IGNORECASE)


class LmsError(ValueError):
    """The LMS cannot be used like this; its one sentence says why."""


class LmsRefusal(LmsError):
    """The LMS understood, and said no."""

    def __init__(self, status: int, words: str) -> None:
        self.status, self.words = status, words
        reason = HTTPStatus(status).phrase if status in set(HTTPStatus) else "no known reason"
        super().__init__(f"{status} {reason}" + (f": {words}" if words else ""))


class LmsSilence(LmsError):
    """The LMS gave no answer that can be used, however often it was asked."""


@dataclass(frozen=True)
class Patience:
    """Limits on how long to wait for what."""

    #: How often a request is made before giving up.
    attempts: int = 5
    #: Seconds before the second attempt, which double from there, and the most that the LMS can ask
    #: for.
    first_wait: float = 1.0
    longest_wait: float = 60.0
    timeout: float = 30.0
    #: Seconds for one answer from its first byte.
    deadline: float = 120.0
    most_bytes: int = 16_000_000
    #: How many pages a list may have.
    most_pages: int = 1_000


@dataclass(frozen=True)
class LmsAnswer:
    """An answer that came whole: where from, what it says, and where more of it is."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    def data(self) -> Any:
        """Return its JSON; `LmsError` if it is none."""
        try:
            return json.loads(self.body, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            raise LmsError(f"{_place(self.url)} answered with something that is not JSON") from None

    @property
    def next_page(self) -> str | None:
        """Where the list continues."""
        for address, rest in _LINK.findall(self.headers.get("link", "")):
            if _NEXT.search(rest):
                return _joined(self.url, address)
        return None


class LmsClient:
    """Asks, waits, and asks again; an LMS on this machine is never reached through a proxy."""

    def __init__(self, address: str, patience: Patience | None = None) -> None:
        self.patience = patience or Patience()
        self._ahead = timedelta()
        self._client = httpx.Client(
            timeout=self.patience.timeout,
            follow_redirects=False,
            trust_env=not is_loopback(urlsplit(address).hostname),
            headers={"User-Agent": f"mlsys-widgets/{__version__}"},
        )

    def __enter__(self) -> LmsClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def now(self) -> datetime:
        """Return the time, by whichever clock is ahead: ours or that of the LMS."""
        return datetime.now(UTC) + max(self._ahead, timedelta())

    def ask(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: Callable[[], bytes] | None = None,
        settled: Callable[[], bool] | None = None,
    ) -> LmsAnswer:
        """Make a request until it is answered with yes or no.

        `body` makes what is sent, again for every attempt. `settled` is asked before another
        attempt: whether an earlier one did its work after all. Raises `LmsRefusal` when the answer
        is no, `LmsSilence` when none comes, and `LmsError` when it cannot be used.
        """
        wait, most, trouble = self.patience.first_wait, self.patience.attempts, ""
        for attempt in range(1, most + 1):
            try:
                answer = self._redirected(method, url, headers, body)
            except httpx.TimeoutException:
                trouble, asked = "it took too long", 0.0
            except httpx.HTTPError as problem:
                _refuse_certificate(url, problem)
                trouble, asked = f"the connection failed ({printable(str(problem))})", 0.0
            except httpx.InvalidURL as problem:
                raise LmsError(
                    f"{printable(url)} is no address: {printable(str(problem))}"
                ) from None
            else:
                self._compare_clocks(answer)
                if 200 <= answer.status < 300:
                    return answer
                if not _is_for_later(answer):
                    raise LmsRefusal(answer.status, _words(answer))
                trouble, asked = f"it answered {answer.status}", _retry_after(answer)
                if asked > self.patience.longest_wait:
                    raise LmsSilence(
                        f"{_place(url)} asks to wait {asked:,.0f} seconds; run the command again"
                        " then, and it continues"
                    )
            if attempt < most:
                # Not all in step: others wait for the same machine.
                time.sleep(max(asked, wait * random.uniform(0.75, 1.25)))
                wait = min(2 * wait, self.patience.longest_wait)
                if settled and settled():
                    break
        raise LmsSilence(f"{_place(url)} gave no usable answer, asked {most} times: {trouble}")

    def _redirected(
        self, method: str, url: str, headers: Mapping[str, str], body: Callable[[], bytes] | None
    ) -> LmsAnswer:
        for _ in range(_MOST_REDIRECTS + 1):
            answer = self._once(method, url, headers, body() if body else None)
            if answer.status not in {301, 302, 303, 307, 308}:
                return answer
            target = _joined(url, answer.headers.get("location", ""))
            if not same_origin(url, target):
                raise LmsError(
                    f"{_place(url)} redirects to {_place(target)}, which is another host; nothing"
                    " was sent there. If that is right, put the address into [lms]"
                )
            if method != "GET":
                raise LmsError(
                    f"{_place(url)} redirects what was sent to {printable(target)}; put the right"
                    " address into [lms]"
                )
            url = target
        raise LmsError(f"{_place(url)} redirects in a circle")

    def _once(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None
    ) -> LmsAnswer:
        most, deadline = self.patience.most_bytes, self.patience.deadline
        with self._client.stream(method, url, headers=dict(headers), content=content) as response:
            began, held, size = time.monotonic(), [], 0
            for chunk in response.iter_bytes():
                held.append(chunk)
                size += len(chunk)
                if size > most:
                    raise LmsError(
                        f"{_place(url)} sent more than {most:,} bytes; the rest was refused"
                    )
                if time.monotonic() - began > deadline:
                    raise httpx.ReadTimeout("the answer does not end")
        return LmsAnswer(url, response.status_code, response.headers, b"".join(held))

    def _compare_clocks(self, answer: LmsAnswer) -> None:
        there = _date(answer.headers.get("date", ""))
        if there is not None:
            ahead = there - datetime.now(UTC)
            self._ahead = ahead if abs(ahead) < _CLOCKS_DIFFER else timedelta()


def printable(text: str, most: int = 200) -> str:
    r"""Make what a stranger wrote safe to print on a terminal.

    Examples
    --------
    >>> printable("no\n\x1b[31m such   user")
    'no [31m such user'
    """
    words = "".join(each if each.isprintable() else " " for each in text[: 10 * most]).split()
    joined = " ".join(words)
    return joined if len(joined) <= most else joined[: most - 1] + "…"


def _words(answer: LmsAnswer) -> str:
    """Return what an error says: in the fields that platforms use, or as it is."""
    try:
        loaded = json.loads(answer.body)
    except (ValueError, RecursionError):
        loaded = None
    if isinstance(loaded, Mapping):
        found = [loaded.get(name) for name in ("error", "error_description", "message", "errors")]
        if isinstance(errors := found[3], Mapping):
            found[3] = errors.get("message")
        if texts := [each for each in found if isinstance(each, str)]:
            return printable(": ".join(texts))
    text = answer.body.decode("utf-8", "replace")
    return "" if "<html" in text.lower() else printable(text)


def _is_for_later(answer: LmsAnswer) -> bool:
    # Canvas has said 403 where others say 429.
    limited = answer.status == 403 and b"rate limit exceeded" in answer.body[:1000].lower()
    return answer.status in _LATER or limited


def _retry_after(answer: LmsAnswer) -> float:
    value = answer.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    at = _date(value)
    return max(0.0, (at - datetime.now(UTC)).total_seconds()) if at else 0.0


def _date(text: str) -> datetime | None:
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _refuse_certificate(url: str, problem: httpx.HTTPError) -> None:
    if "CERTIFICATE_VERIFY_FAILED" in str(problem):
        raise LmsError(
            f"{_place(url)} has a certificate that this machine does not trust; grades are not sent"
            " there"
        ) from None


def _joined(url: str, address: str) -> str:
    try:
        return urljoin(url, address)
    except ValueError:  # such as a bracket that is not closed
        return address


def _place(url: str) -> str:
    try:
        return printable(urlsplit(url).netloc) or printable(url)
    except ValueError:
        return printable(url)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
