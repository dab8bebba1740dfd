"""An archive comes from outside: whatever is odd about it is refused with a sentence."""

from __future__ import annotations

import io
import json
import stat
import struct
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.handin import archive_reader
from mlsys_widgets.handin.archive_reader import ArchiveRefused, read_archive
from mlsys_widgets.ledger import Ledger

LAB = "lab_02_demo"
NOTEBOOK = json.dumps({"cells": [], "metadata": {"mlsys": {"lab": LAB}}}).encode()
ALLOWED = {f"{LAB}.ipynb", "ledger.jsonl", "ledger_receipt.json", "timestamp.txt", "machine.json"}


def zipped(*entries, method=zipfile.ZIP_DEFLATED) -> bytes:
    """An archive with these entries, names or descriptions with contents; odd ones too."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for entry, content in entries:
            archive.writestr(entry, content)
    return made.getvalue()


def entry(name: str, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = mode << 16
    return info


GOOD = (f"{LAB}.ipynb", NOTEBOOK)


def refusal(content: bytes) -> str:
    with pytest.raises(ArchiveRefused) as refused:
        read_archive(content, LAB, ALLOWED)
    said = str(refused.value)
    assert said.endswith(".")
    return said


def test_what_was_packed_is_read():
    ledger = b'{"seq": 1}\n'
    found = read_archive(zipped(GOOD, ("ledger.jsonl", ledger)), LAB, ALLOWED)
    assert found == {f"{LAB}.ipynb": NOTEBOOK, "ledger.jsonl": ledger}


@pytest.mark.parametrize(
    "name",
    [
        "../lab_02_demo.ipynb",
        "../../etc/passwd",
        "/etc/passwd",
        "a/../../b",
        "..\\windows",
        "C:\\windows",
        "C:evil",
        "//host/share",
        "..",
    ],
)
def test_a_path_that_leads_out_is_refused(name):
    assert "leads out of" in refusal(zipped(GOOD, (name, b"x")))


@pytest.mark.parametrize("name", ["sub/ledger.jsonl", "sub/", "./ledger.jsonl", "__MACOSX/x"])
def test_a_folder_is_refused(name):
    assert "is in a folder" in refusal(zipped(GOOD, (name, b"")))


@pytest.mark.parametrize(
    "name", ["numpy.py", "asks.py", "other.ipynb", "LEDGER.JSONL", ".bashrc", "ledger.jsonl "]
)
def test_a_foreign_name_is_refused(name):
    said = refusal(zipped(GOOD, (name, b"x")))
    assert repr(name) in said
    assert "ledger.jsonl" in said, "it says what can be there"


def test_names_that_fool_the_eye_are_refused():
    # A zero ends a name for some readers and not for others.
    content = zipped(GOOD, ("ledgerXjsonl", b"x")).replace(b"ledgerXjsonl", b"ledger\0jsonl")
    assert refusal(content)
    assert "\u202e" not in refusal(zipped(GOOD, ("ledger\u202elnosj.txt", b"x")))


@pytest.mark.parametrize(
    "mode", [stat.S_IFLNK | 0o777, stat.S_IFIFO | 0o644, stat.S_IFCHR | 0o644, stat.S_IFDIR | 0o755]
)
def test_a_link_or_a_special_file_is_refused(mode):
    said = refusal(zipped(GOOD, (entry("ledger.jsonl", mode), b"/etc/passwd")))
    assert "a link, a folder or a special file" in said


def test_a_name_that_comes_twice_is_refused():
    with pytest.warns(UserWarning, match="Duplicate"):
        content = zipped(GOOD, GOOD)
    assert "twice" in refusal(content)


def test_many_files_are_refused_before_they_are_listed(monkeypatch):
    content = zipped(GOOD, *((f"f{k}", b"") for k in range(2000)))
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("it was listed"))
    assert "too many files" in refusal(content)


def test_a_few_too_many_files_are_refused():
    assert "too many files" in refusal(zipped(GOOD, *((f"f{k}", b"") for k in range(30))))


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch):
    bomb = zipped(GOOD, ("ledger.jsonl", bytes(50_000_000)))
    assert len(bomb) < 100_000
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_: pytest.fail("it was unpacked"))
    assert "times as large" in refusal(bomb)


def test_one_that_is_too_large_altogether_is_refused(monkeypatch):
    monkeypatch.setattr(archive_reader, "LARGEST", 1000)
    big = bytes(range(256)) * 3
    stored = zipped(GOOD, ("ledger.jsonl", big), ("machine.json", big), method=zipfile.ZIP_STORED)
    assert "larger than" in refusal(stored)
    small = zipped(GOOD, ("ledger.jsonl", b"ab" * 600))
    assert len(small) < 1000
    assert "larger than" in refusal(small)


def test_a_size_that_lies_does_not_help():
    """The size that is declared is small, and what comes out would be large."""
    content = bytearray(zipped(GOOD, ("ledger.jsonl", bytes(5_000_000))))
    true, small = struct.pack("<L", 5_000_000), struct.pack("<L", 1000)
    assert content.count(true) == 2
    content = content.replace(true, small)
    assert "damaged" in refusal(bytes(content))


def test_a_damaged_one_is_refused():
    content = bytearray(zipped(GOOD, method=zipfile.ZIP_STORED))
    at = content.index(b"metadata")
    content[at : at + 8] = b"METADATA"
    assert "damaged" in refusal(bytes(content))


def test_a_password_is_refused():
    content = bytearray(zipped(GOOD))
    at = content.index(b"PK\x01\x02") + 8
    content[at] |= 1
    assert "password" in refusal(bytes(content))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_unusual_compression_is_refused(method):
    assert "compressed in a way" in refusal(zipped(GOOD, method=method))


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"not a zip", NOTEBOOK, b"Rar!\x1a\x07", b"PK\x03\x04" + bytes(40)]
)
def test_what_is_no_zip_is_refused(content):
    assert "not a zip file" in refusal(content)


def test_one_with_only_the_ledger_is_read():
    ledger = b'{"seq": 1}\n'
    assert read_archive(zipped(("ledger.jsonl", ledger)), LAB, ALLOWED) == {"ledger.jsonl": ledger}


def test_one_with_only_the_ledger_of_another_lab_is_refused(tmp_path):
    led = Ledger.open(tmp_path / "ledger.jsonl", lab="lab_99", student="ann")
    led.record_answer("ridge", 295)
    packed = zipped(("ledger.jsonl", led.path.read_bytes()))
    assert refusal(packed) == f"Its ledger belongs to lab_99, not to {LAB}."


def test_one_with_neither_is_refused():
    said = refusal(zipped(("timestamp.txt", b"")))
    assert said == f"Neither {LAB}.ipynb nor ledger.jsonl is in it."


def test_the_notebook_of_another_lab_is_refused():
    other = NOTEBOOK.replace(LAB.encode(), b"lab_07_kernel_fusion")
    assert "belongs to lab_07_kernel_fusion" in refusal(zipped((f"{LAB}.ipynb", other)))


@pytest.mark.parametrize("broken", [b"{", b"[]", b"\xff", b'{"metadata": 3}', b"[" * 100_000])
def test_a_notebook_that_cannot_be_read_is_for_the_grader_to_judge(broken):
    name = f"{LAB}.ipynb"
    assert read_archive(zipped((name, broken)), LAB, ALLOWED) == {name: broken}


@given(st.binary(max_size=400), st.integers(0, 300), st.integers(0, 40))
def test_no_bytes_whatever_do_more_than_be_refused(noise, at, cut):
    content = zipped(GOOD, ("ledger.jsonl", b"abc"))
    changed = content[: max(0, at)] + noise + content[at + cut :]
    for each in (noise, changed):
        try:
            found = read_archive(each, LAB, ALLOWED)
        except ArchiveRefused:
            continue
        assert set(found) <= ALLOWED
