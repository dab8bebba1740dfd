"""An identity provider on the loopback, written from the specification of OpenID Connect.

Core 1.0 with the authorization code and PKCE (RFC 7636), Discovery 1.0, and keys as RFC 7517 has
them. It asks nobody for a password: whoever is set as ``person`` is signed in. ``twist`` changes
the claims before they are signed, so that tests can see what a hub refuses.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa


def coded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value: int) -> str:
    return coded(value.to_bytes((value.bit_length() + 7) // 8, "big"))


class Key:
    """A key that signs."""

    def __init__(self, kid: str) -> None:
        self.kid = kid
        self._private = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @property
    def public(self) -> dict[str, str]:
        numbers = self._private.public_key().public_numbers()
        return {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": self.kid,
                "n": number(numbers.n), "e": number(numbers.e)}  # fmt: skip

    def signed(self, claims: dict[str, Any], **head: Any) -> str:
        parts = [{"alg": "RS256", "kid": self.kid, "typ": "JWT"} | head, claims]
        text = ".".join(coded(json.dumps(part).encode()) for part in parts)
        proof = self._private.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{text}.{coded(proof)}"


class IdentityProvider:
    """The provider, running until it is closed."""

    def __init__(self, client_id: str, client_secret: str) -> None:
        self.client_id, self.client_secret = client_id, client_secret
        self.key = Key("first")
        self.person: dict[str, Any] = {}
        self.twist: Callable[[dict[str, Any]], Any] = lambda claims: None
        self.state_changed = False
        #: The signed answer, if a test wants one of its own.
        self.answer: Callable[[dict[str, Any]], str] | None = None
        self._waiting: dict[str, dict[str, str]] = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                where = urlsplit(self.path)
                asked = {name: each[0] for name, each in parse_qs(where.query).items()}
                match where.path:
                    case "/.well-known/openid-configuration":
                        self._say(200, provider.discovery())
                    case "/keys":
                        self._say(200, {"keys": [provider.key.public]})
                    case "/authorize":
                        self.send_response(302)
                        self.send_header("Location", provider.authorize(asked))
                        self.end_headers()
                    case _:
                        self._say(404, {})

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                form = parse_qs(self.rfile.read(length).decode())
                self._say(*provider.token({name: each[0] for name, each in form.items()}))

            def _say(self, code: int, content: dict[str, Any]) -> None:
                body = json.dumps(content).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser goes next: back, with a code."""
        assert asked["response_type"] == "code"
        assert asked["client_id"] == self.client_id
        assert "openid" in asked["scope"].split()
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self._waiting[code] = asked
        back = {"code": code, "state": asked["state"]}
        if self.state_changed:
            back["state"] = coded(json.dumps({"state_id": "another"}).encode())
        return f"{asked['redirect_uri']}?{urlencode(back)}"

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Exchange a code, once."""
        asked = self._waiting.pop(form.get("code", ""), None)
        if asked is None or form["redirect_uri"] != asked["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        proof = coded(hashlib.sha256(form["code_verifier"].encode()).digest())
        if proof != asked["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        given = (form.get("client_id"), form.get("client_secret"))
        if given != (self.client_id, self.client_secret):
            return 401, {"error": "invalid_client"}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": self.client_id, "sub": "1", "iat": now,
                  "exp": now + 300, "nonce": asked.get("nonce"), **self.person}  # fmt: skip
        self.twist(claims)
        token = self.answer(claims) if self.answer else self.key.signed(claims)
        return 200, {"access_token": "x", "token_type": "Bearer", "id_token": token}
