"""A learning system on the loopback, as far as grades go, written from the specifications.

It has LTI 1.3's access tokens, Assignment and Grade Services 2.0 and Names and Role Provisioning
Services 2.0. It checks what a platform checks: signatures, audiences, token ids that come twice,
scopes, media types, members, times. It can be told to misbehave: see `LearningPlatform.fail`.
"""

from __future__ import annotations

import base64
import json
import secrets
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, urlencode, urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

AGS = "https://purl.imsglobal.org/spec/lti-ags/scope/"
NRPS = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
SCOPES = frozenset({f"{AGS}lineitem", f"{AGS}result.readonly", f"{AGS}score", NRPS})
LEARNER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"
INSTRUCTOR = "http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"
LIS = "application/vnd.ims.lis."
ACTIVITY = {"Initialized", "Started", "InProgress", "Submitted", "Completed"}
GRADING = {"FullyGraded", "Pending", "PendingManual", "Failed", "NotReady"}

#: What a platform does with a score that is not newer than the one it has: Moodle compares whole
#: seconds and answers 409, Canvas answers 400 to an older one, others say nothing and keep theirs.
Stale = Literal["conflict", "bad request", "ignore"]


class Refused(Exception):
    def __init__(self, status: int, words: str, **headers: str) -> None:
        super().__init__(words)
        self.status, self.words, self.headers = status, words, headers


@dataclass
class Fault:
    """A way to misbehave, for requests that match, a number of times."""

    kind: str
    method: str
    part: str
    times: int
    after: int
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    when: Callable[[bytes], bool] = lambda body: True


@dataclass
class Held:
    """A score that the platform holds."""

    score: float | None
    most: float
    at: datetime


@dataclass(frozen=True)
class Asked:
    """A request that came."""

    method: str
    path: str
    body: bytes
    headers: Mapping[str, str]


class LearningPlatform:
    """A platform with one course; in a ``with`` block it listens.

    Parameters
    ----------
    page
        How many entries a page of a list has; 0 for all.
    stale
        What happens to a score that is not newer.
    """

    client_id = "10000000000007"
    deployment_id = "7:course"

    def __init__(self, *, page: int = 0, stale: Stale = "conflict") -> None:
        self.page, self.stale = page, stale
        self.permitted = set(SCOPES)
        self.token_seconds = 3600
        #: What the gradebook keeps of a score.
        self.digits = 5
        self.items: dict[int, dict[str, Any]] = {}
        self.scores: dict[int, dict[str, Held]] = {}
        self.members: dict[str, dict[str, Any]] = {}
        self.asked: list[Asked] = []
        self._keys: dict[str, rsa.RSAPublicKey] = {}
        self._seen: set[str] = set()
        self._tokens: dict[str, tuple[float, set[str]]] = {}
        self._faults: deque[Fault] = deque()
        self._lock = threading.RLock()
        #: Requests that hang wait for this.
        self.released = threading.Event()
        self.hanging = threading.Event()

    # Running it.

    def start(self) -> LearningPlatform:
        handler = type("Handler", (_Handler,), {"platform": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )
        self._thread.start()
        return self

    def stop(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=10)

    def __enter__(self) -> LearningPlatform:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # What an administrator does.

    def register(self, jwks: Mapping[str, Any]) -> None:
        """Take the public key of a tool, as ``mlsys push --keys`` prints it."""
        for key in jwks["keys"]:
            assert key["kty"] == "RSA"
            assert not {"d", "p", "q"} & set(key)
            n, e = (int.from_bytes(_decoded(key[name]), "big") for name in ("n", "e"))
            self._keys[key["kid"]] = rsa.RSAPublicNumbers(e, n).public_key()

    def enroll(self, user_id: str, *, role: str = LEARNER, status: str = "Active", **more: Any):
        """Put somebody into the course."""
        self.members[user_id] = {"user_id": user_id, "roles": [role], "status": status, **more}

    def settings(self, *, memberships: bool = True) -> str:
        """The table [lms] that belongs to this platform."""
        lines = {
            "issuer": self.address,
            "client_id": self.client_id,
            "deployment_id": self.deployment_id,
            "token_url": f"{self.address}/token",
            "lineitems_url": f"{self.address}/5/lineitems?type_id=3",
        }
        if memberships:
            lines["memberships_url"] = f"{self.address}/5/memberships"
        return "\n[lms]\n" + "".join(f'{name} = "{value}"\n' for name, value in lines.items())

    # What a test looks at.

    def results(self, lab: str) -> dict[str, float | None]:
        """What the gradebook shows for a lab, by user."""
        with self._lock:
            for number, item in self.items.items():
                if item.get("resourceId") == lab:
                    return {user: held.score for user, held in self.scores[number].items()}
        return {}

    def sent(self, part: str = "/scores", method: str = "POST") -> list[Any]:
        """The bodies of requests whose path has a part, as data."""
        return [
            json.loads(each.body)
            for each in self.asked
            if each.method == method and part in each.path
        ]

    def change(self, lab: str, user: str, score: float | None) -> None:
        """A teacher changes a score in the platform itself."""
        with self._lock:
            for number, item in self.items.items():
                if item.get("resourceId") == lab:
                    held = self.scores[number].setdefault(
                        user, Held(None, item["scoreMaximum"], datetime.now().astimezone())
                    )
                    held.score = score

    # Misbehaving.

    def fail(
        self, kind: str, part: str = "/scores", *, method: str = "", times: int = 1, after: int = 0,
        status: int = 0, body: bytes = b"", when: Callable[[bytes], bool] = lambda body: True,
        **headers: str,
    ) -> None:  # fmt: skip
        """Misbehave.

        Kinds: ``status`` answers with one and does nothing; ``hang`` does nothing and does not
        answer; ``hang after`` does it and does not answer; ``drop`` and ``drop after`` close the
        connection; ``broken`` answers with half a JSON; ``truncated`` breaks off; ``endless`` never
        stops; ``redirect`` sends elsewhere (``Location``); ``expire`` forgets all tokens first.
        """
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._faults.append(Fault(kind, method, part, times, after, status, named, body, when))

    def fault(self, method: str, path: str, body: bytes) -> Fault | None:
        with self._lock:
            for each in self._faults:
                if each.part in path and each.method in ("", method) and each.when(body):
                    if each.after > 0:
                        each.after -= 1
                        continue
                    if each.times > 0:
                        each.times -= 1
                        return each
        return None

    def expire(self) -> None:
        self._tokens.clear()

    # What it answers.

    def answer(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, str, Any, dict[str, str]]:
        parts = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        place = parts.path
        with self._lock:
            if place == "/token" and method == "POST":
                return 200, "application/json", self._token(headers, body), {}
            if place == "/5/memberships" and method == "GET":
                self._permit(headers, NRPS)
                media = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
                self._accept(headers, media)
                page, more = self._paged(list(self.members.values()), place, query)
                return 200, media, {"id": place, "context": {"id": "5"}, "members": page}, more
            if place.startswith("/5/lineitems") and query.get("type_id") != "3":
                raise Refused(404, "no such tool in this course")
            if place == "/5/lineitems":
                return self._line_items(method, headers, body, query)
            words = place.removeprefix("/5/lineitems/").split("/")
            if len(words) == 3 and words[1] == "lineitem" and words[0].isdigit():
                number = int(words[0])
                if number not in self.items:
                    raise Refused(404, "no such line item")
                if words[2] == "results" and method == "GET":
                    return self._results(number, headers, query, place)
                if words[2] == "scores" and method == "POST":
                    return self._score(number, headers, body)
        raise Refused(404, "nothing here")

    def _token(self, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        if headers.get("content-type") != "application/x-www-form-urlencoded":
            raise Refused(400, '{"error": "invalid_request"}')
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        if (
            form.get("grant_type") != "client_credentials"
            or form.get("client_assertion_type")
            != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        ):
            raise Refused(400, '{"error": "unsupported_grant_type"}')
        claims = self._verified(form.get("client_assertion", ""))
        now = time.time()
        audience = claims.get("aud")
        problem = (
            "issuer" if not claims.get("iss") == claims.get("sub") == self.client_id
            else "audience" if f"{self.address}/token" not in (
                audience if isinstance(audience, list) else [audience])
            else "expired" if not now < claims.get("exp", 0) <= now + 3600
            else "issued in the future" if claims.get("iat", now + 999) > now + 60
            else "no jti" if not claims.get("jti")
            else "jti was used" if claims["jti"] in self._seen
            else "deployment" if claims.get(
                "https://purl.imsglobal.org/spec/lti/claim/deployment_id", self.deployment_id
            ) != self.deployment_id
            else ""
        )  # fmt: skip
        if problem:
            raise Refused(
                400, json.dumps({"error": "invalid_client", "error_description": problem})
            )
        self._seen.add(claims["jti"])
        granted = set(form.get("scope", "").split()) & self.permitted
        if not granted:
            raise Refused(400, '{"error": "invalid_scope"}')
        token = secrets.token_urlsafe(24)
        self._tokens[token] = (now + self.token_seconds, granted)
        return {
            "access_token": token, "token_type": "Bearer", "expires_in": self.token_seconds,
            "scope": " ".join(sorted(granted)),
        }  # fmt: skip

    def _verified(self, token: str) -> dict[str, Any]:
        try:
            head, body, signature = token.split(".")
            header, claims = json.loads(_decoded(head)), json.loads(_decoded(body))
            assert header["alg"] == "RS256"
            self._keys[header["kid"]].verify(
                _decoded(signature), f"{head}.{body}".encode(), padding.PKCS1v15(), hashes.SHA256()
            )
        except (ValueError, KeyError, AssertionError, InvalidSignature):
            raise Refused(401, '{"error": "invalid_client"}') from None
        return dict(claims)

    def _permit(self, headers: Mapping[str, str], scope: str) -> None:
        kind, _, token = headers.get("authorization", "").partition(" ")
        until, scopes = self._tokens.get(token, (0.0, set()))
        if kind != "Bearer" or until < time.time():
            raise Refused(401, '{"error": "invalid_token"}')
        if scope not in scopes:
            raise Refused(403, '{"error": "insufficient_scope"}')

    @staticmethod
    def _accept(headers: Mapping[str, str], media: str) -> None:
        # Exactly, as Moodle compares it.
        if headers.get("accept") != media:
            raise Refused(406, f"only {media}")

    @staticmethod
    def _content(headers: Mapping[str, str], body: bytes, media: str) -> dict[str, Any]:
        if headers.get("content-type") != media:
            raise Refused(415, f"only {media}")
        try:
            said = json.loads(body)
        except ValueError:
            raise Refused(400, "no JSON") from None
        if not isinstance(said, dict):
            raise Refused(400, "no object")
        return said

    def _paged(
        self, entries: list[Any], place: str, query: Mapping[str, str]
    ) -> tuple[list[Any], dict[str, str]]:
        size = min(filter(None, (self.page, int(query.get("limit", "0")))), default=0)
        if not size:
            return entries, {}
        begin = int(query.get("from", "0"))
        if begin + size >= len(entries):
            return entries[begin:], {}
        following = f"{self.address}{place}?{urlencode({**query, 'from': begin + size})}"
        first = f"{self.address}{place}?{urlencode({**query, 'from': 0})}"
        return entries[begin : begin + size], {
            "Link": f'<{first}>; rel="first", <{following}>; rel="next"'
        }

    def _line_items(
        self, method: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, str]
    ) -> tuple[int, str, Any, dict[str, str]]:
        self._permit(headers, f"{AGS}lineitem")
        if method == "GET":
            self._accept(headers, f"{LIS}v2.lineitemcontainer+json")
            names = {
                "resource_id": "resourceId",
                "tag": "tag",
                "resource_link_id": "resourceLinkId",
            }
            found = [
                each for each in self.items.values()
                if all(each.get(names[k]) == v for k, v in query.items() if k in names)
            ]  # fmt: skip
            page, more = self._paged(found, "/5/lineitems", query)
            return 200, f"{LIS}v2.lineitemcontainer+json", page, more
        if method != "POST":
            raise Refused(405, "no")
        said = self._content(headers, body, f"{LIS}v2.lineitem+json")
        most = said.get("scoreMaximum")
        if not said.get("label") or not isinstance(most, int | float) or most <= 0:
            raise Refused(400, "a line item needs a label and a scoreMaximum")
        return 201, f"{LIS}v2.lineitem+json", self.add_line_item(**said), {}

    def add_line_item(self, **said: Any) -> dict[str, Any]:
        number = len(self.items) + 1
        self.items[number] = {
            **said, "id": f"{self.address}/5/lineitems/{number}/lineitem?type_id=3"
        }  # fmt: skip
        self.scores[number] = {}
        return self.items[number]

    def _results(
        self, number: int, headers: Mapping[str, str], query: Mapping[str, str], place: str
    ) -> tuple[int, str, Any, dict[str, str]]:
        self._permit(headers, f"{AGS}result.readonly")
        self._accept(headers, f"{LIS}v2.resultcontainer+json")
        item = self.items[number]
        found = []
        for user, held in self.scores[number].items():
            if query.get("user_id", user) == user:
                shown = {} if held.score is None else {"resultScore": held.score}
                found.append(
                    {"id": f"{item['id']}#{user}", "scoreOf": item["id"], "userId": user,
                     "resultMaximum": item["scoreMaximum"], **shown}
                )  # fmt: skip
        page, more = self._paged(found, place, query)
        return 200, f"{LIS}v2.resultcontainer+json", page, more

    def _score(
        self, number: int, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, str, Any, dict[str, str]]:
        self._permit(headers, f"{AGS}score")
        said = self._content(headers, body, f"{LIS}v1.score+json")
        member = self.members.get(said.get("userId", ""))
        if member is None or LEARNER not in member["roles"] or member["status"] != "Active":
            raise Refused(422, json.dumps({"errors": {"message": "User not found in course"}}))
        if (
            said.get("activityProgress") not in ACTIVITY
            or said.get("gradingProgress") not in GRADING
        ):
            raise Refused(400, "unknown progress")
        given, most = said.get("scoreGiven"), said.get("scoreMaximum")
        if given is not None and (
            not isinstance(given, int | float) or given < 0
            or not isinstance(most, int | float) or most <= 0
        ):  # fmt: skip
            raise Refused(400, "a score needs a scoreMaximum, and neither is negative")
        at = self._time(said.get("timestamp"))
        if handed_in := said.get("submission", {}).get("submittedAt"):
            self._time(handed_in)
        item, known = self.items[number], self.scores[number].get(said["userId"])
        if known is not None and not self._is_newer(known.at, at):
            return 200, "application/json", {}, {}
        scaled = None
        if given is not None and said["gradingProgress"] == "FullyGraded":
            scaled = round(given * item["scoreMaximum"] / most, self.digits)
        self.scores[number][said["userId"]] = Held(scaled, item["scoreMaximum"], at)
        return 200, "application/json", {"resultUrl": f"{item['id']}#{said['userId']}"}, {}

    @staticmethod
    def _time(said: Any) -> datetime:
        try:
            at = datetime.fromisoformat(said)
        except (ValueError, TypeError):
            at = None
        if at is None or at.tzinfo is None or "." not in said:
            raise Refused(400, "a timestamp needs parts of a second and a zone")
        return at

    def _is_newer(self, known: datetime, at: datetime) -> bool:
        if self.stale == "conflict" and int(at.timestamp()) <= int(known.timestamp()):
            raise Refused(409, "Refusing score with an earlier timestamp")
        if self.stale == "bad request" and at < known:
            raise Refused(400, f"Provided timestamp of {at} before last updated timestamp")
        return at > known


class _Handler(BaseHTTPRequestHandler):
    platform: LearningPlatform
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_PUT = do_DELETE = do_GET

    def _serve(self) -> None:
        platform = self.platform
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        platform.asked.append(Asked(self.command, self.path, body, headers))
        fault = platform.fault(self.command, self.path, body)
        kind = fault.kind if fault else ""
        if fault and kind == "expire":
            platform.expire()
        if fault and kind in {"status", "redirect"}:
            self._send(fault.status, "text/plain", fault.body, dict(fault.headers))
            return
        if kind in {"hang", "drop"}:
            self._end(kind)
            return
        try:
            status, media, said, more = platform.answer(self.command, self.path, headers, body)
            content = json.dumps(said).encode()
        except Refused as refused:
            status, media, more = refused.status, "application/json", dict(refused.headers)
            content = refused.words.encode()
        if kind in {"hang after", "drop after"}:
            self._end(kind.removesuffix(" after"))
        elif kind == "endless":
            self._endless(media)
        elif kind == "truncated":
            self._send(status, media, content, {**more, "Content-Length": str(len(content) + 99)})
            self._end("drop")
        elif kind == "broken":
            self._send(status, media, content[: len(content) // 2] + b'"', more)
        elif kind == "body":
            assert fault is not None
            self._send(status, media, fault.body, {**more, **fault.headers})
        else:
            self._send(status, media, content, more)

    def _send(self, status: int, media: str, content: bytes, headers: dict[str, str]) -> None:
        with suppress(OSError):
            self.send_response(status)
            for name, value in {
                "Content-Type": media, "Content-Length": str(len(content)), **headers
            }.items():  # fmt: skip
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

    def _endless(self, media: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        with suppress(OSError):
            while not self.platform.released.is_set():
                self.wfile.write(b" " * 65536)

    def _end(self, how: str) -> None:
        self.close_connection = True
        if how == "hang":
            self.platform.hanging.set()
            self.platform.released.wait(60)
        with suppress(OSError):
            # A reset, not a polite end.
            self.wfile.flush()
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@contextmanager
def learning_platform(**how: Any) -> Iterator[LearningPlatform]:
    """Run one until the end of the block."""
    with LearningPlatform(**how) as platform:
        yield platform
