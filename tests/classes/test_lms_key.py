"""The key of a course: made once, kept private, and never in what leaves the course."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

from mlsys_widgets.classes.lms_key import load_key, make_key
from mlsys_widgets.cli import main
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.bundle import pack
from mlsys_widgets.files import lay_out
from tests.lms_platform import _decoded


def private(root: Path) -> Path:
    return root / ".mlsys" / "lms" / "key.pem"


def test_a_key_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    first, made = make_key(tmp_path)
    again, made_again = make_key(tmp_path)
    assert (made, made_again) == (True, False)
    assert first.jwks() == again.jwks() == load_key(tmp_path).jwks()
    assert private(tmp_path).stat().st_mode & 0o777 == 0o600
    assert private(tmp_path).parent.stat().st_mode & 0o777 == 0o700


def test_what_is_signed_verifies_with_what_is_published(tmp_path: Path) -> None:
    key, _ = make_key(tmp_path)
    head, body, signature = key.sign({"iss": "7"}).split(".")
    assert json.loads(_decoded(head)) == {"alg": "RS256", "kid": key.kid, "typ": "JWT"}
    assert json.loads(_decoded(body)) == {"iss": "7"}
    n, e = (int.from_bytes(_decoded(key.jwk()[name]), "big") for name in "ne")
    for public in (
        rsa.RSAPublicNumbers(e, n).public_key(),
        serialization.load_pem_public_key(key.pem().encode()),
    ):
        assert isinstance(public, rsa.RSAPublicKey)
        public.verify(
            _decoded(signature), f"{head}.{body}".encode(), padding.PKCS1v15(), hashes.SHA256()
        )


def test_without_a_key_it_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="make one with: mlsys push --keys"):
        load_key(tmp_path)


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    make_key(tmp_path)
    private(tmp_path).chmod(0o640)
    with pytest.raises(ValueError, match=r"others can read .*chmod 600"):
        load_key(tmp_path)


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    make_key(tmp_path)
    elsewhere = private(tmp_path).rename(tmp_path / "elsewhere.pem")
    private(tmp_path).symlink_to(elsewhere)
    with pytest.raises(ValueError, match=r"key\.pem cannot be read"):
        load_key(tmp_path)


@pytest.mark.parametrize("planted", ["link", "other user"])
def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path, planted: str) -> None:
    own = tmp_path / ".mlsys"
    own.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    if planted == "link":
        (own / "lms").symlink_to(elsewhere)
    else:
        if os.geteuid():
            pytest.skip("only root can give a folder away")
        (own / "lms").mkdir()
        os.chown(own / "lms", 65534, 65534)
    with pytest.raises(ValueError, match="is not yours; whoever made the course's key"):
        make_key(tmp_path)
    assert elsewhere.stat().st_mode & 0o777 == 0o755
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize("kind", ["nonsense", "elliptic", "short"])
def test_another_kind_of_key_is_refused(tmp_path: Path, kind: str) -> None:
    make_key(tmp_path)
    content = b"-----BEGIN PRIVATE KEY-----\nno\n-----END PRIVATE KEY-----\n"
    if kind != "nonsense":
        key = (
            ec.generate_private_key(ec.SECP256R1())
            if kind == "elliptic"
            else rsa.generate_private_key(public_exponent=65537, key_size=1024)
        )
        content = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    private(tmp_path).write_bytes(content)
    with pytest.raises(ValueError, match="not an RSA key of 2048 bits or more"):
        load_key(tmp_path)


def test_many_at_once_make_one_key(tmp_path: Path) -> None:
    def make(_: int) -> str:
        while True:
            try:
                return make_key(tmp_path)[0].kid
            except ValueError as busy:
                assert "another mlsys push is making the key" in str(busy)  # noqa: PT017

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(make, range(8))) == {load_key(tmp_path).kid}


def test_the_command_prints_the_public_half(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "assignments").mkdir()
    course = ["--course", str(tmp_path)]
    assert main(["push", "--keys", *course]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == load_key(tmp_path).jwks()
    assert "made now" in said.err
    assert main(["push", "--keys", "jwk", *course]) == 0
    assert json.loads(capsys.readouterr().out)["kid"] == load_key(tmp_path).kid
    assert main(["push", "--keys", "pem", *course]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("-----BEGIN PUBLIC KEY-----")
    assert "made before" in said.err


def test_no_bundle_and_no_repository_holds_it(tmp_path: Path) -> None:
    root = tmp_path / "course"
    assert main(["new-lab", "lab_02_demo", "--course", str(root)]) == 0
    for step in ("source", "release"):
        lay_out(root / step / "lab_02_demo", {"lab_02_demo.ipynb": b"{}"})
    make_key(root)
    bundle = pack(Course.at(root), tmp_path / "bundle.tar.gz")
    with tarfile.open(bundle) as archive:
        names = archive.getnames()
        contents = b"".join(archive.extractfile(name).read() for name in names)  # type: ignore[union-attr]
    assert not [name for name in names if ".mlsys" in name or "lms" in name]
    assert b"PRIVATE KEY" not in contents
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=root, check=True, env=clean)
    listed = subprocess.run(
        ["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True, env=clean
    ).stdout
    assert "assignments/" in listed
    assert ".mlsys/lms" not in listed
