"""The key with which a course proves to a learning system who it is.

The private half stays in the course's folder, readable by its owner alone; the public half is given
to the LMS's administrator. Both are made once, by ``mlsys push --keys``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from mlsys_widgets.files import LMS_FOLDER, OWN_FOLDER, held, open_no_follow, write_whole

_BITS: Final = 2048
_MOST_BYTES: Final = 64_000


def lms_folder(root: Path) -> Path:
    """Make the folder of a course's key and of what was sent; only its owner can look inside.

    Raises `ValueError` if it belongs to somebody else.
    """
    folder = _folder(root)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode) or (os.name == "posix" and about.st_uid != os.geteuid()):
        raise ValueError(
            f"{folder} is not yours; whoever made the course's key with mlsys push --keys pushes"
            " its grades"
        )
    if about.st_mode & 0o077:
        folder.chmod(0o700)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        # A course is often a repository, and neither a key nor a grade belongs in one.
        write_whole(ignore, "*\n")
    return folder


class ToolKey:
    """An RSA key that signs with RS256."""

    def __init__(self, private: rsa.RSAPrivateKey) -> None:
        self._private = private
        public = RSAAlgorithm.to_jwk(private.public_key(), as_dict=True)
        self._public = {name: public[name] for name in ("e", "kty", "n")}
        # The thumbprint of RFC 7638: another key has another name.
        spelled = json.dumps(self._public, sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(spelled.encode()).digest()
        self.kid = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    def jwk(self) -> dict[str, str]:
        return {**self._public, "alg": "RS256", "use": "sig", "kid": self.kid}

    def jwks(self) -> dict[str, list[dict[str, str]]]:
        return {"keys": [self.jwk()]}

    def pem(self) -> str:
        public = self._private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return public.decode()

    def sign(self, claims: Mapping[str, Any]) -> str:
        return jwt.encode(dict(claims), self._private, "RS256", {"kid": self.kid})


def make_key(root: Path) -> tuple[ToolKey, bool]:
    """Return the key of a course, made if there is none, and whether it was made now."""
    folder = lms_folder(root)
    with held(folder / "key.lock", "another mlsys push is making the key; try again"):
        if not _path(root).exists():
            private = rsa.generate_private_key(public_exponent=65537, key_size=_BITS)
            content = private.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            write_whole(_path(root), content, mode=0o600)
            return ToolKey(private), True
    return load_key(root), False


def load_key(root: Path) -> ToolKey:
    """Read the key of a course; `ValueError` if there is none, or others can read it."""
    path = _path(root)
    try:
        handle = open_no_follow(path)
    except FileNotFoundError:
        raise ValueError(
            "this course has no key yet; make one with: mlsys push --keys, and give what it prints"
            " to the administrator of the LMS"
        ) from None
    except OSError as problem:
        raise ValueError(
            f"{path} cannot be read: {problem.strerror}; only the user who made it can push grades"
        ) from None
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise ValueError(f"{path} is no file; it must hold the course's private key")
        if os.name == "posix" and about.st_mode & 0o077:
            raise ValueError(f"others can read {path}, the course's private key; chmod 600 {path}")
        content = file.read(_MOST_BYTES)
    try:
        private = serialization.load_pem_private_key(content, None)
    except (ValueError, TypeError):
        private = None
    if not isinstance(private, rsa.RSAPrivateKey) or private.key_size < _BITS:
        raise ValueError(
            f"{path} is not an RSA key of {_BITS} bits or more; delete it and make another with:"
            " mlsys push --keys"
        )
    return ToolKey(private)


def _folder(root: Path) -> Path:
    return root.resolve() / OWN_FOLDER / LMS_FOLDER


def _path(root: Path) -> Path:
    return _folder(root) / "key.pem"
