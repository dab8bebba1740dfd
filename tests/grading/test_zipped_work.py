"""A zip is read in memory, and what is odd about it is left out."""

from __future__ import annotations

import io
import stat
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.grading.reading.zipped_work import unzipped


def zipped(*entries: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return packed.getvalue()


def test_plain_files_come_out():
    assert unzipped(zipped(("a.txt", b"1"), ("b/", b""), ("b/c.txt", b"2"))) == {
        "a.txt": b"1",
        "b/c.txt": b"2",
    }


def _link() -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("link")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


@pytest.mark.parametrize("name", ["../out", "/etc/passwd", "a/../../out", "a\\b", _link()])
def test_what_leads_elsewhere_is_left_out(name):
    assert unzipped(zipped((name, b"x"), ("kept", b"y"))) == {"kept": b"y"}


def test_a_bomb_is_unpacked_only_as_far_as_there_is_room(monkeypatch):
    bomb = zipped(*((f"f{k}", bytes(30_000_000)) for k in range(5)))
    unpacked: list[bytes] = []
    read = zipfile.ZipExtFile._read1

    def counted(file: zipfile.ZipExtFile, size: int) -> bytes:
        unpacked.append(read(file, size))
        return unpacked[-1]

    monkeypatch.setattr(zipfile.ZipExtFile, "_read1", counted)
    assert sum(map(len, unzipped(bomb).values())) <= 50_000_000
    assert sum(map(len, unpacked)) <= 50_000_000


def test_too_many_files_are_not_even_listed():
    assert unzipped(zipped(*((f"f{k}", b"") for k in range(201)))) == {}


def test_a_size_that_lies_is_not_believed():
    packed = bytearray(zipped(("a", bytes(100_000))))
    at = packed.rindex(b"PK\x01\x02") + 24
    packed[at : at + 4] = (10).to_bytes(4, "little")
    assert all(len(content) <= 10 for content in unzipped(bytes(packed)).values())


@given(st.binary(max_size=200), st.integers(0, 120), st.integers(0, 255))
def test_damage_stops_nobody(rest, at, byte):
    packed = bytearray(zipped(("a", b"1"), ("b", b"2")))
    packed[at % len(packed)] = byte
    assert isinstance(unzipped(bytes(packed) + rest), dict)
