"""A bundle that somebody tampered with, or that was damaged on the way, is refused."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlsys_widgets.courses.bundle_reader import LARGEST, open_bundle
from tests.courses.conftest import LAB


def members(bundle: Path) -> list[tuple[tarfile.TarInfo, bytes]]:
    with tarfile.open(bundle) as archive:
        return [(member, archive.extractfile(member).read()) for member in archive]  # type: ignore[union-attr]


class Forge:
    """A bundle with something changed, and a manifest that is changed to fit."""

    def __init__(self, bundle: Path, target: Path) -> None:
        self.files = {member.name: content for member, content in members(bundle)}
        self.said: dict[str, Any] = json.loads(self.files.pop("bundle.json"))
        self.more: list[tuple[tarfile.TarInfo, bytes]] = []
        self.target = target

    def add(self, name: str, content: bytes = b"x", *, kind: bytes = tarfile.REGTYPE, to: str = ""):
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, to
        member.size = len(content) if kind == tarfile.REGTYPE else 0
        self.more.append((member, content))
        self.said["files"][name] = hashlib.sha256(content).hexdigest()

    def write(self) -> Path:
        said = json.dumps(self.said).encode()
        with tarfile.open(self.target, "w:gz") as archive:
            for name, content in {"bundle.json": said, **self.files}.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
            for member, content in self.more:
                archive.addfile(member, io.BytesIO(content))
        return self.target


@pytest.fixture
def forge(bundle: Path, tmp_path: Path) -> Forge:
    return Forge(bundle, tmp_path / "forged.tar.gz")


def refused(path: Path) -> str:
    with pytest.raises(ValueError, match=r"cannot be used|is not a bundle") as problem:
        open_bundle(path)
    return str(problem.value)


def test_what_was_packed_comes_out(bundle: Path, built: Path, tmp_path: Path, forge: Forge):
    open_bundle(bundle).extract(tmp_path / "out")
    out = {p.relative_to(tmp_path / "out"): p.read_bytes() for p in (tmp_path / "out").rglob("*.*")}
    assert out == {path: (built / path).read_bytes() for path in out}
    assert Path(f"assignments/{LAB}/checks.py") in out
    # The forge itself does no harm: nothing below is refused for another reason.
    assert open_bundle(forge.write()).files == open_bundle(bundle).files


@pytest.mark.parametrize(
    "name",
    [
        "../escaped.py",
        "/tmp/escaped.py",
        "assignments/../../escaped.py",
        "assignments/..",
        "assignments/./x.py",
        "assignments//x.py",
        "assignments/a\\..\\b.py",
        "assignments/C:x.py",
        "assignments/a\nb.py",
        "assignments",
        "gradebook.db",
        ".bashrc",
        "submitted/ann/x.ipynb",
        "assignments/" + "x" * 300,
    ],
)
def test_paths_that_lead_out_of_a_course(forge: Forge, name: str):
    forge.add(name)
    assert "is not a path in a course" in refused(forge.write())


@pytest.mark.parametrize(
    ("kind", "to"),
    [
        (tarfile.SYMTYPE, "/etc/passwd"),
        (tarfile.LNKTYPE, "nbgrader_config.py"),
        (tarfile.CHRTYPE, ""),
        (tarfile.BLKTYPE, ""),
        (tarfile.FIFOTYPE, ""),
        (tarfile.DIRTYPE, ""),
    ],
)
def test_what_is_no_plain_file(forge: Forge, kind: bytes, to: str):
    forge.add("assignments/lab_x/data", kind=kind, to=to)
    assert "is not a plain file" in refused(forge.write())


def test_a_file_that_is_there_twice(forge: Forge):
    forge.add("nbgrader_config.py")
    assert "'nbgrader_config.py' is in it twice" in refused(forge.write())


def test_a_file_that_was_changed(forge: Forge):
    forge.files[f"assignments/{LAB}/checks.py"] += b"\n"
    assert "checks.py in it is not what its manifest says" in refused(forge.write())


def test_a_file_that_the_manifest_does_not_know(forge: Forge):
    forge.add("assignments/more.py")
    del forge.said["files"]["assignments/more.py"]
    assert "assignments/more.py in it is not what its manifest says" in refused(forge.write())


def test_a_file_that_is_missing(forge: Forge):
    del forge.files["nbgrader_config.py"]
    assert "nbgrader_config.py is missing from it" in refused(forge.write())


def test_a_lab_without_its_parts(forge: Forge):
    forge.said["labs"].append("lab_03_more")
    assert "the lab lab_03_more has no assignments/lab_03_more/lab.py" in refused(forge.write())


def test_a_format_of_the_future(forge: Forge):
    forge.said |= {"format": 2, "package": "7.1"}
    words = refused(forge.write())
    assert "it has format 2" in words
    assert "reads format 1; install the package that made it: mlsys-widgets 7.1" in words


@pytest.mark.parametrize(
    "change",
    [
        {"format": "1"},
        {"files": []},
        {"labs": []},
        {"labs": "x"},
        {"labs": [1]},
        {"package": None},
        {"course": 5},
    ],
)
def test_a_manifest_that_is_none(forge: Forge, change: dict[str, Any]):
    forge.said |= change
    assert "its bundle.json" in refused(forge.write())


def test_an_archive_without_a_manifest(tmp_path: Path):
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz"):
        pass
    assert "it has no bundle.json" in refused(tmp_path / "x.tar.gz")


def test_a_bomb(tmp_path: Path):
    """A few hundred kilobytes that would fill a disk are not unpacked."""
    path = tmp_path / "bomb.tar.gz"
    with gzip.open(path, "wb", compresslevel=9) as packed:
        member = tarfile.TarInfo("assignments/bomb.bin")
        member.size = LARGEST
        packed.write(member.tobuf())
        for _ in range(LARGEST // 1_000_000 + 1):
            packed.write(bytes(1_000_000))
    assert path.stat().st_size < 1_000_000
    assert "unpacked it is larger than 256 MB" in refused(path)


def test_too_many_files(forge: Forge):
    for number in range(10_001):
        forge.add(f"assignments/x/{number}", b"")
    assert "more than 10,000 files" in refused(forge.write())


def test_half_of_a_bundle_and_no_bundle_at_all(bundle: Path, tmp_path: Path):
    half = tmp_path / "half.tar.gz"
    half.write_bytes(bundle.read_bytes()[:5000])
    assert "or only part of one; get it again" in refused(half)
    half.write_text("not an archive", "utf-8")
    assert "is not a bundle" in refused(half)
    with pytest.raises(ValueError, match=r"there is no bundle .*; in the folder of a course"):
        open_bundle(tmp_path / "nowhere.tar.gz")


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_one_wrong_bit_is_harmless_or_found(bundle: Path, tmp_path: Path, place: float, bit: int):
    content = bytearray(bundle.read_bytes())
    content[int(place * len(content))] ^= 1 << bit
    path = tmp_path / "flipped.tar.gz"
    path.write_bytes(content)
    try:
        files = open_bundle(path).files
    except ValueError:
        return
    assert files == open_bundle(bundle).files


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.integers(0, 4095), st.integers(0, 255)), max_size=9))
def test_wrong_bytes_of_an_archive_that_unpacks_are_found(
    bundle: Path, tmp_path: Path, changes: list[tuple[int, int]]
):
    """In its first blocks, where names, kinds and lengths of its members stand."""
    content = bytearray(gzip.decompress(bundle.read_bytes()))
    for place, value in changes:
        content[place] = value
    path = tmp_path / "changed.tar.gz"
    path.write_bytes(gzip.compress(content, compresslevel=1))
    try:
        files = open_bundle(path).files
    except ValueError:
        return
    assert files == open_bundle(bundle).files


def test_a_manifest_that_is_nested_too_deep(tmp_path: Path):
    with tarfile.open(tmp_path / "deep.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("bundle.json")
        member.size = 100_000
        archive.addfile(member, io.BytesIO(b"[" * member.size))
    assert "its bundle.json is not JSON" in refused(tmp_path / "deep.tar.gz")
