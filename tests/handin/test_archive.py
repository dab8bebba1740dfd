"""The one file that is handed in: the same bytes for the same work, and nothing but the work."""

from __future__ import annotations

import io
import json
import os
import zipfile
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.handin.archive import archive_name, gather, hand_in, pack, student_named
from mlsys_widgets.handin.archive_reader import read_archive
from mlsys_widgets.handin.work import CannotHandIn, archived_names, find_work
from mlsys_widgets.ledger.carried_record import carried
from mlsys_widgets.ledger.handed_in import HandIn, read_hand_in
from mlsys_widgets.ledger.receipt import read_receipt
from tests.handin.conftest import LAB

MOMENT = datetime(2026, 11, 15, 10, 30, tzinfo=UTC)


def test_it_holds_the_work_and_nothing_else(folder, ledger_in):
    led = ledger_in(folder)
    (folder / "machine.json").write_text("{}")
    (folder / "diary.txt").write_text("private")
    (folder / "asks.py").write_text("lab = None")
    done = hand_in(find_work(folder), "ann", moment=MOMENT)
    assert done.path == folder / f"{LAB}-ann.zip"
    with zipfile.ZipFile(done.path) as archive:
        assert archive.testzip() is None
        found = {name: archive.read(name) for name in archive.namelist()}
    assert set(found) == {
        f"{LAB}.ipynb", "ledger.jsonl", "ledger_receipt.json", "machine.json", "timestamp.txt",
    }  # fmt: skip
    assert found["ledger.jsonl"] == (folder / "ledger.jsonl").read_bytes()
    assert read_receipt(found["ledger_receipt.json"]) == led.head
    assert found["timestamp.txt"] == b"2026-11-15 10:30:00.000000 UTC"
    note = read_hand_in(folder)
    assert note == HandIn("2026-11-15T10:30:00.000Z", led.head, file=f"{LAB}-ann.zip")
    assert done.files == {name: len(content) for name, content in found.items()}
    allowed = archived_names(LAB) | {"timestamp.txt"}
    assert read_archive(done.path.read_bytes(), LAB, allowed) == found


def test_the_same_work_gives_the_same_bytes(folder, ledger_in, tmp_path):
    ledger_in(folder)
    first = hand_in(find_work(folder), "ann", moment=MOMENT).path.read_bytes()
    os.utime(folder / f"{LAB}.ipynb", (1, 1))
    (folder / f"{LAB}.ipynb").chmod(0o600)
    again = hand_in(find_work(folder), "ann", moment=MOMENT, into=tmp_path)
    assert again.path == tmp_path / f"{LAB}-ann.zip"
    assert again.path.read_bytes() == first


def test_its_notebook_carries_the_record_as_it_is_now(folder, ledger_in):
    """Also if the notebook was last saved before anything was recorded."""
    before = (folder / f"{LAB}.ipynb").read_bytes()
    ledger_in(folder)
    files = gather(find_work(folder), "ann", MOMENT)
    book = json.loads(files[f"{LAB}.ipynb"])
    assert carried(book) == files["ledger.jsonl"]
    assert (folder / f"{LAB}.ipynb").read_bytes() == before, "the student's own file stays"
    del book["metadata"]["mlsys"]["record"]
    assert book == json.loads(before)


def test_somebody_elses_ledger_does_not_get_into_the_notebook(folder, ledger_in):
    ledger_in(folder)
    files = gather(find_work(folder), "bob", MOMENT)
    assert carried(json.loads(files[f"{LAB}.ipynb"])) is None


def test_a_renamed_notebook_gets_the_name_that_graders_look_for(folder):
    (folder / f"{LAB}.ipynb").rename(folder / "mine.ipynb")
    assert set(gather(find_work(folder), "ann", MOMENT)) == {f"{LAB}.ipynb", "timestamp.txt"}


def test_a_link_is_not_followed(folder, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (folder / "machine.json").symlink_to(tmp_path / "secret")
    assert "machine.json" not in gather(find_work(folder), "ann", MOMENT)


def test_a_ledger_that_cannot_be_read_goes_along_without_a_receipt(folder):
    (folder / "ledger.jsonl").write_bytes(b'{"v": 999}\n')
    files = gather(find_work(folder), "ann", MOMENT)
    assert files["ledger.jsonl"] == b'{"v": 999}\n'


def test_a_folder_that_cannot_be_written_is_named(folder):
    with pytest.raises(CannotHandIn, match=rf"{LAB}-ann\.zip cannot be written"):
        hand_in(find_work(folder), "ann", into=folder / "none")


def test_without_the_notebook_nothing_is_handed_in(folder):
    work = find_work(folder)
    work.notebook.unlink()
    with pytest.raises(CannotHandIn, match="save the notebook first"):
        hand_in(work, "ann")
    assert list(folder.iterdir()) == []


@given(st.text(st.characters(codec="utf-8", exclude_categories=("C",)), min_size=1, max_size=30))
def test_a_name_survives_the_name_of_a_file(student):
    name = archive_name(LAB, student)
    assert not set(name) & set('<>:"/\\|?*')
    if LAB not in student:
        assert student_named(name, LAB) == student
        assert student_named(f"Lee_123_{name}", LAB) == student


@pytest.mark.parametrize(
    "name", ["ann.zip", f"{LAB}-.zip", f"x{LAB}-ann.zip", f"{LAB}-ann.tar", f"{LAB}.zip"]
)
def test_a_name_that_says_nobody(name):
    assert student_named(name, LAB) is None


@given(st.dictionaries(st.sampled_from("abcdef"), st.binary(max_size=200), max_size=6))
def test_packing_forgets_the_order(files):
    packed = pack(files)
    assert packed == pack(dict(reversed(files.items())))
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files
