"""The file of a backup: whatever students call their files and put into them."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile

import pytest

from mlsys_widgets.hub.backup.backup_archive import ArchiveWriter, new_file, open_archive
from mlsys_widgets.hub.backup.safe_walk import walk

NAMES = ("plain", "two\nlines", " spaces ", "é", os.fsdecode(b"\xff\xfe"), "x" * 250, "-rf")


def packed(folder, target):
    with new_file(target) as stream:
        writer = ArchiveWriter(stream)
        for entry in walk(folder, "homes", lambda path, why: None):
            writer.add(entry)
        writer.finish()
    return writer


def test_names_and_contents_come_back(tmp_path):
    folder = tmp_path / "from"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_bytes(os.fsencode(name))
    packed(folder, tmp_path / "b.tar.gz")
    with open_archive(tmp_path / "b.tar.gz") as tar:
        found = {
            info.name.removeprefix("homes/"): tar.extractfile(info).read()
            for info in tar
            if info.isreg()
        }
    del found["end.json"]
    assert found == {name: os.fsencode(name) for name in NAMES}
    # Any tar can read it.
    listed = subprocess.run(
        ["tar", "-tzf", tmp_path / "b.tar.gz"], capture_output=True, check=True
    ).stdout
    assert b"homes/plain\n" in listed


def test_holes_take_neither_time_nor_room_and_come_back_as_holes(tmp_path, monkeypatch):
    folder = tmp_path / "from"
    folder.mkdir()
    with (folder / "sparse").open("wb") as file:
        file.write(b"begin")
        file.seek(1 << 42)  # four terabytes
        file.write(b"end")
    read, pread = [], os.pread
    monkeypatch.setattr(
        os, "pread", lambda handle, most, at: read.append(most) or pread(handle, most, at)
    )
    packed(folder, tmp_path / "b.tar.gz")
    assert sum(read) < 100_000, "holes are not read"
    assert (tmp_path / "b.tar.gz").stat().st_size < 100_000
    with open_archive(tmp_path / "b.tar.gz") as tar:
        (info,) = [each for each in tar if each.name == "homes/sparse"]
        assert info.size == (1 << 42) + 3
        assert info.sparse[-1][0] + info.sparse[-1][1] == info.size
    # tar itself understands it: only data is written.
    (tmp_path / "to").mkdir()
    subprocess.run(["tar", "-xzf", tmp_path / "b.tar.gz", "-C", tmp_path / "to"], check=True)
    with (tmp_path / "to" / "homes" / "sparse").open("rb") as file:
        assert file.read(5) == b"begin"
        file.seek(1 << 42)
        assert file.read() == b"end"


def test_many_names_of_one_file_are_stored_once(tmp_path):
    folder = tmp_path / "from"
    folder.mkdir()
    (folder / "a").write_bytes(os.urandom(2_000_000))
    for number in range(50):
        (folder / f"link{number}").hardlink_to(folder / "a")
    packed(folder, tmp_path / "b.tar.gz")
    assert (tmp_path / "b.tar.gz").stat().st_size < 3_000_000


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (b'{"a": 1}\n{"b": 2}\n', b'{"a": 1}\n{"b": 2}\n'),
        (b'{"a": 1}\n{"b": ', b'{"a": 1}\n'),
        (b'{"a": 1}\n{"b": 2}', b'{"a": 1}\n{"b": 2}'),  # somebody's own data, whole
        (b'{"a"', b""),
        (b'{"a": 1}\n' + b"[" * 100_000, b'{"a": 1}\n'),  # deeper than Python reads
        (b"", b""),
    ],
)
def test_a_journal_ends_with_its_last_whole_line(tmp_path, written, kept):
    folder = tmp_path / "from"
    folder.mkdir()
    (folder / "ledger.jsonl").write_bytes(written)
    packed(folder, tmp_path / "b.tar.gz")
    with open_archive(tmp_path / "b.tar.gz") as tar:
        (info,) = [each for each in tar if each.name == "homes/ledger.jsonl"]
        assert tar.extractfile(info).read() == kept


def test_a_file_that_shrinks_meanwhile_is_named_and_breaks_nothing(tmp_path):
    folder = tmp_path / "from"
    folder.mkdir()
    (folder / "a").write_bytes(b"x" * 5_000_000)
    (folder / "b").write_text("after it")
    with new_file(tmp_path / "b.tar.gz") as stream:
        writer = ArchiveWriter(stream)
        for entry in walk(folder, "homes", lambda path, why: None):
            if entry.path == "homes/a":
                os.truncate(folder / "a", 1000)
            writer.add(entry)
        writer.finish()
    assert writer.changed == ["homes/a"]
    with open_archive(tmp_path / "b.tar.gz") as tar:
        sizes = {info.name: info.size for info in tar}
    assert sizes["homes/a"] == 5_000_000
    assert sizes["homes/b"] == len("after it")


def test_a_file_is_there_when_it_is_complete_or_not_at_all(tmp_path):
    def fail():
        with new_file(tmp_path / "f") as stream:
            stream.write(b"half")
            raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        fail()
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "f").write_text("of somebody")

    def replace():
        with new_file(tmp_path / "f") as stream:
            stream.write(b"other")

    with pytest.raises(FileExistsError):
        replace()
    assert (tmp_path / "f").read_text() == "of somebody"
    assert [each.name for each in tmp_path.iterdir()] == ["f"]


def test_what_is_no_archive_is_refused_with_a_sentence(tmp_path):
    (tmp_path / "x").write_bytes(b"no archive")
    with pytest.raises(ValueError, match="is not a whole backup"), open_archive(tmp_path / "x"):
        pass
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        tar.addfile(tarfile.TarInfo("a"))
    (tmp_path / "x").write_bytes(data.getvalue()[:-10])
    with (
        pytest.raises(ValueError, match="is not a whole backup"),
        open_archive(tmp_path / "x") as tar,
    ):
        list(tar)
