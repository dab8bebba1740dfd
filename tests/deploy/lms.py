"""A learning system on the loopback, as far as launching a tool goes: LTI 1.1 and LTI 1.3.

It signs as Canvas or Moodle would; the hub's own ltiauthenticator decides whether it believes it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import requests
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"


def _b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _number(value: int) -> str:
    return _b64(value.to_bytes((value.bit_length() + 7) // 8, "big"))


class LMS:
    """A platform with a key pair; the hub reads the public half at ``jwks``."""

    client = "10000000000001"

    def __init__(self, address: str):
        self.address = address
        self.jwks = f"{address}/jwks"
        self.authorize = f"{address}/authorize"
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def keys(self) -> dict[str, Any]:
        """The public key, as platforms publish it."""
        public = self.key.public_key().public_numbers()
        key = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "1"}
        return {"keys": [key | {"n": _number(public.n), "e": _number(public.e)}]}

    def sign(self, claims: dict[str, Any], key: rsa.RSAPrivateKey | None = None) -> str:
        """An id_token."""
        header = {"typ": "JWT", "alg": "RS256", "kid": "1"}
        body = f"{_b64(json.dumps(header).encode())}.{_b64(json.dumps(claims).encode())}"
        signer = key or self.key
        return f"{body}.{_b64(signer.sign(body.encode(), padding.PKCS1v15(), hashes.SHA256()))}"

    def launch(
        self, hub: str, login: str, *, key: rsa.RSAPrivateKey | None = None, **claims: Any
    ) -> tuple[requests.Session, requests.Response]:
        """Send somebody to the hub with LTI 1.3; their browser, and what the hub answered."""
        browser = requests.Session()
        target = f"{hub}/hub/spawn"
        begun = browser.post(
            f"{hub}/hub/lti13/oauth_login",
            data={
                "iss": self.address, "login_hint": login, "target_link_uri": target,
                "client_id": self.client,
            },
            allow_redirects=False, timeout=30,
        )  # fmt: skip
        if begun.status_code != 302:
            return browser, begun
        asked = parse_qs(urlsplit(begun.headers["Location"]).query)
        now = int(time.time())
        token = {
            "iss": self.address, "aud": self.client, "sub": f"sub-of-{login}",
            "iat": now, "exp": now + 300, "nonce": asked["nonce"][0],
            f"{CLAIM}version": "1.3.0", f"{CLAIM}message_type": "LtiResourceLinkRequest",
            f"{CLAIM}deployment_id": "1", f"{CLAIM}target_link_uri": target,
            f"{CLAIM}resource_link": {"id": "labs"}, f"{CLAIM}roles": [],
            f"{CLAIM}custom": {"login": login},
        }  # fmt: skip
        answer = {"id_token": self.sign(token | claims, key), "state": asked["state"][0]}
        done = browser.post(
            f"{hub}/hub/lti13/oauth_callback", data=answer, allow_redirects=False, timeout=30
        )
        return browser, done

    @staticmethod
    def launch_11(
        hub: str, login: str, *, key: str, secret: str, **fields: str
    ) -> tuple[requests.Session, requests.Response]:
        """Send somebody to the hub with LTI 1.1, signed with a shared secret."""
        url = f"{hub}/hub/lti/launch"
        form = {
            "lti_message_type": "basic-lti-launch-request", "lti_version": "LTI-1p0",
            "resource_link_id": "labs", "user_id": "17", "custom_login": login,
            "oauth_consumer_key": key, "oauth_signature_method": "HMAC-SHA1",
            "oauth_timestamp": str(int(time.time())), "oauth_nonce": uuid.uuid4().hex,
            "oauth_version": "1.0", "oauth_callback": "about:blank",
        } | fields  # fmt: skip
        pairs = "&".join(f"{_escape(k)}={_escape(v)}" for k, v in sorted(form.items()))
        base = "&".join(("POST", _escape(url), _escape(pairs)))
        mac = hmac.new(f"{_escape(secret)}&".encode(), base.encode(), hashlib.sha1)
        form["oauth_signature"] = base64.b64encode(mac.digest()).decode()
        browser = requests.Session()
        return browser, browser.post(url, data=form, allow_redirects=False, timeout=30)


def _escape(text: str) -> str:
    return quote(text, safe="-._~")


@contextmanager
def learning_system() -> Iterator[LMS]:
    """Run one until the end of the block."""

    class Keys(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            said = json.dumps(lms.keys()).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Keys) as server:
        lms = LMS(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield lms
        server.shutdown()
        thread.join(timeout=10)
