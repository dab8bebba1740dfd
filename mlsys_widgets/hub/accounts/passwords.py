"""Passwords of a hub's users: generated, kept for root, and compared with common defaults.

The system keeps only hashes of passwords. The generated ones are kept with the hub's other secrets,
so that an instructor can hand them out. If users change theirs, the kept one no longer counts.
"""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, cast

from mlsys_widgets.hub.accounts.run_as import SYSTEM_PATH
from mlsys_widgets.hub.hub_state import write_private

SHADOW: Final = Path("/etc/shadow")
#: What an intruder tries first, along with the name of the account.
DEFAULTS: Final = (
    "password", "passwort", "mlsys", "jupyter", "jupyterhub", "changeme", "student", "instructor",
    "admin", "guest", "test", "secret", "letmein", "123456", "12345678", "1234",
)  # fmt: skip

_CONSONANTS: Final = "bdfghjklmnprstvz"  # 16: four bits each
_VOWELS: Final = "aiou"  # two bits each
_GROUPS: Final = 4


def make_password() -> str:
    """Return a password of 64 bits that can be read aloud, such as ``bakid-lomut-zasir-hupog``."""
    return "-".join(
        "".join(secrets.choice(letters) for letters in (_CONSONANTS, _VOWELS) * 2)
        + secrets.choice(_CONSONANTS)
        for _ in range(_GROUPS)
    )


class Passwords:
    """The generated passwords, in a file that only root can read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: dict[str, str] = json.loads(path.read_text("utf-8")) if path.exists() else {}

    def make(self, names: Iterable[str]) -> None:
        """Generate one for everybody who has none, and keep them."""
        new = {name: make_password() for name in names if name not in self._kept}
        if new:
            self._kept |= new
            self._write()

    def _write(self) -> None:
        write_private(self._path, json.dumps(self._kept, indent=1) + "\n")

    def give(self, names: Iterable[str]) -> None:
        """Set the kept passwords of accounts, with the system's own program."""
        set_passwords({name: self._kept[name] for name in names})

    def rename(self, old: str, new: str) -> None:
        if old in self._kept and new not in self._kept:
            self._kept[new] = self._kept.pop(old)
            self._write()

    def forget(self, name: str) -> None:
        if self._kept.pop(name, None) is not None:
            self._write()

    def shown(self, name: str, known: Mapping[str, str]) -> str:
        """Return a password to show to people, or the reason why there is none."""
        valid = self.counts(name, known.get(name, "!"))
        return self._kept[name] if valid else "(changed by its owner)"

    def counts(self, name: str, hashed: str) -> bool:
        """Whether the kept password is still that of the account."""
        return name in self._kept and fits(self._kept[name], hashed)


def set_passwords(known: Mapping[str, str], *options: str) -> None:
    """Set passwords of accounts, with the system's own program."""
    lines = "".join(f"{name}:{password}\n" for name, password in known.items())
    if not lines:
        return
    done = subprocess.run(
        ["chpasswd", *options], input=lines, env={**os.environ, "PATH": SYSTEM_PATH},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise OSError(f"the passwords could not be set: {done.stderr.strip()}")


def hashes(path: Path = SHADOW) -> dict[str, str]:
    """Read the hash of every account's password, as the system keeps it."""
    rows = (line.split(":") for line in path.read_text("utf-8").splitlines())
    return {row[0]: row[1] for row in rows if len(row) > 1}


def is_locked(hashed: str) -> bool:
    """Whether nobody can log in with a password."""
    return hashed.startswith(("!", "*"))


def fits(password: str, hashed: str) -> bool:
    """Whether a password matches a hash, according to the library that the login uses.

    PAM would give the same answer, but waits for seconds after each wrong guess.
    """
    if not hashed:
        return not password
    if is_locked(hashed):
        return False
    made = _crypt()(password.encode(), hashed.encode())
    return made == hashed.encode()


def default_password(name: str, hashed: str) -> str | None:
    """Return the default password that opens an account; `None` if none does."""
    if not hashed:
        return "empty"
    if is_locked(hashed):
        return None
    if fits(name, hashed):
        return "the name of the account"
    return next((f"{word!r}" for word in DEFAULTS if fits(word, hashed)), None)


def defaults_among(names: Iterable[str], kept: Passwords, known: Mapping[str, str]) -> list[str]:
    """Return a sentence for every account that a default password opens.

    An account that still has its generated password needs no guessing; `known` has the hashes.
    """
    sentences = []
    for name in names:
        hashed = known.get(name, "!")
        if kept.counts(name, hashed):
            continue
        if found := default_password(name, hashed):
            sentences.append(f"the password of {name} is {found}; change it with: passwd {name}")
    return sentences


def _crypt() -> Callable[[bytes, bytes], bytes | None]:
    try:
        crypt = ctypes.CDLL("libcrypt.so.1").crypt
    except OSError:
        raise OSError(
            "libcrypt.so.1 is missing, so passwords cannot be checked; on Debian:"
            " apt-get install libcrypt1"
        ) from None
    crypt.restype, crypt.argtypes = ctypes.c_char_p, [ctypes.c_char_p, ctypes.c_char_p]
    return cast("Callable[[bytes, bytes], bytes | None]", crypt)
