"""Passwords: hard to guess, easy to read, and common ones are found."""

from __future__ import annotations

import math
import stat
import subprocess

import pytest

from mlsys_widgets.hub.accounts import passwords as p

#: Some of the passwords that an intruder tries first.
WEAK = ("password", "mlsys", "jupyter", "changeme", "student")


def hashed(password: str) -> str:
    """As the system's login would keep it."""
    return p._crypt()(password.encode(), b"$6$rounds=1000$salted$").decode()


def test_a_made_up_password_has_sixty_bits_and_no_letter_that_looks_like_another():
    made = [p.make_password() for _ in range(200)]
    assert len(set(made)) == 200
    assert math.log2(16**12 * 4**8) >= 60
    assert not set("".join(made)) & set("01lceqwxy0O ") - set("l")
    assert all(len(each.split("-")) == 4 for each in made)


@pytest.mark.parametrize("word", WEAK)
def test_what_everybody_tries_first_is_found(word):
    assert p.default_password("ada", hashed(word)) == repr(word)


def test_the_own_name_and_no_password_are_found_and_a_locked_account_is_closed():
    assert p.default_password("ada", hashed("ada")) == "the name of the account"
    assert p.default_password("ada", "") == "empty"
    assert p.default_password("ada", "!") is None
    assert p.default_password("ada", "*") is None
    assert p.default_password("ada", hashed(p.make_password())) is None


def test_accounts_are_named_with_how_to_fix_them(tmp_path):
    kept = p.Passwords(tmp_path / "passwords.json")
    kept.make(["ada", "ben", "cy"])
    known = {"ada": hashed("ada"), "ben": hashed("a-good-one-of-his"), "cy": ""}
    sentences = p.defaults_among(["ada", "ben", "cy"], kept, known)
    assert sentences == [
        "the password of ada is the name of the account; change it with: passwd ada",
        "the password of cy is empty; change it with: passwd cy",
    ]


def test_they_are_kept_for_their_owner_alone_and_made_once(tmp_path):
    path = tmp_path / "passwords.json"
    kept = p.Passwords(path)
    kept.make(["ada"])
    first = path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    p.Passwords(path).make(["ada"])
    assert path.read_text() == first


def test_a_failure_of_the_system_is_told(tmp_path):
    kept = p.Passwords(tmp_path / "passwords.json")
    kept.make(["mlsystestnobody"])
    with pytest.raises(OSError, match="could not be set"):
        kept.give(["mlsystestnobody"])


def test_hashes_are_read_as_the_system_writes_them(tmp_path):
    shadow = tmp_path / "shadow"
    shadow.write_text("ada:$y$x:19000:0:99999:7:::\nben:!:19000::::::\n")
    assert p.hashes(shadow) == {"ada": "$y$x", "ben": "!"}


def test_the_library_agrees_with_the_programs_of_the_system():
    done = subprocess.run(
        ["openssl", "passwd", "-6", "-salt", "salted", "changeme"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip("openssl is missing, which makes a hash to compare with")
    assert p.fits("changeme", done.stdout.strip())
    assert not p.fits("other", done.stdout.strip())
