"""One upload is read in a process with limits, which says whose it is and what is in it."""

from __future__ import annotations

import hashlib
import json
import resource
import zipfile
from pathlib import Path

import pytest

from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.reading.readers import CannotRead, Readers
from mlsys_widgets.grading.reading.uploads import (
    LIMITS,
    ReadUpload,
    UnpackUploads,
    UploadReader,
    whose,
)
from mlsys_widgets.handin.archive_reader import ArchiveRefused
from mlsys_widgets.ledger import Ledger

LAB = "lab_07_kernel_fusion"
NOTEBOOK = f"{LAB}.ipynb"


@pytest.fixture
def ledger(tmp_path: Path) -> bytes:
    path = tmp_path / LEDGER
    Ledger.open(path, lab=LAB, student="ann").record_answer("limit", "memory")
    return path.read_bytes()


@pytest.fixture
def reader() -> UploadReader:
    return UploadReader(LAB, {NOTEBOOK, LEDGER})


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("name", [f"{LAB}-ann.zip", f"Lee_12_{LAB}-ann (1).zip", "ledger.jsonl"])
def test_an_upload_says_whose_it_is_and_the_hash_of_each_file(tmp_path, reader, ledger, name):
    path = tmp_path / "inbox" / name
    path.parent.mkdir()
    if name.endswith(".zip"):
        zipped(path, {LEDGER: ledger})
    else:
        path.write_bytes(ledger)
    found = reader(ReadUpload(path))
    assert (found.student, found.digests) == ("ann", {LEDGER: hashlib.sha256(ledger).hexdigest()})


def test_what_belongs_together_is_put_into_one_folder_once(tmp_path, reader, ledger):
    book = json.dumps({"metadata": {"mlsys": {"lab": LAB}}, "cells": []}).encode()
    (tmp_path / "a.ipynb").write_bytes(book)
    (tmp_path / "a.jsonl").write_bytes(ledger)
    paths = tmp_path / "a.ipynb", tmp_path / "a.jsonl"
    there, fresh = tmp_path / "there" / LAB, tmp_path / "fresh"
    assert not reader(UnpackUploads("ann", paths, there, there)).known
    assert {each.name: each.read_bytes() for each in there.iterdir()} == {
        NOTEBOOK: book,
        LEDGER: ledger,
    }
    assert reader(UnpackUploads("ann", paths, fresh, there)).known
    assert not fresh.exists()


def test_an_archive_whose_name_and_ledger_disagree_is_refused(ledger):
    with pytest.raises(ArchiveRefused, match="from eve, but the ledger in it belongs to ann"):
        whose(f"{LAB}-eve.zip", LAB, {LEDGER: ledger})


def test_what_takes_gigabytes_to_read_is_refused_in_a_process_of_its_own(tmp_path, reader):
    """JSON of 40 MB that becomes twelve million lists, 770 MB; read here, it would stay here."""
    content = b"[" + b"[],[1]," * 6_000_000 + b"0]"
    path = zipped(tmp_path / f"{LAB}-eve.zip", {NOTEBOOK: content})
    readers = Readers(reader, 1, tmp_path, LIMITS)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CannotRead, match=r"reading it takes more than 0\.7 GB"):
        readers.ask(ReadUpload(path))
    readers.close()
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert spent < 40_000, "kilobytes: not even the archive was read here"
