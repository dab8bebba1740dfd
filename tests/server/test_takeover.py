"""A lab is replaced whole or not at all, with the ledger as it was, and there is a way back."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest

from mlsys_widgets.ledger import Ledger
from mlsys_widgets.server import takeover
from mlsys_widgets.server.carry_over import CannotTakeOver
from mlsys_widgets.server.takeover import (
    BACKUPS,
    kept_files,
    lab_files,
    recover_all,
    replaced,
    take_over,
    way_back,
)

LAB, ONE, TWO = "lab_02_demo", "1" * 12, "2" * 12


def release(folder: Path, version: str) -> Path:
    """A version of a lab in which every file says which one it is."""
    folder.mkdir(parents=True)
    said = {"grade_id": "essay", "solution": True, "grade": False, "locked": False, "checksum": "x"}
    essay = {
        "cell_type": "markdown",
        "id": "essay",
        "source": "*here*",
        "metadata": {"nbgrader": said},
    }
    prose = {
        "cell_type": "markdown",
        "id": "p",
        "source": version * 5000,
        "metadata": {"editable": False},
    }
    about = {"mlsys": {"lab": LAB, "lab_version": version}}
    made = {"cells": [prose, essay], "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    (folder / f"{LAB}.ipynb").write_text(json.dumps(made))
    for name in ("asks.py", "helper.py"):
        (folder / name).write_text(f"# {version}\n" * 2000)
    (folder / "data").mkdir()
    (folder / "data" / "table.csv").write_text(version)
    return folder


@pytest.fixture
def versions(tmp_path):
    return {each: release(tmp_path / "exchange" / each, each) for each in (ONE, TWO)}


@pytest.fixture
def notebook(tmp_path, versions):
    """A student's folder: the old version, a ledger, and things of their own."""
    folder = tmp_path / "home" / LAB
    shutil.copytree(versions[ONE], folder)
    ledger = Ledger.open(folder / "ledger.jsonl", lab=LAB, student="ann")
    ledger.commit_prediction("gap", "A", confidence=3)
    (folder / "mine").mkdir()
    (folder / "mine" / "notes.txt").write_text("notes")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "x.ipynb").write_text("{}")
    (folder / "linked").symlink_to("mine")
    path = folder / f"{LAB}.ipynb"
    write(path, "My words")
    return path


def write(notebook: Path, words: str) -> None:
    book = json.loads(notebook.read_bytes())
    book["cells"][1]["source"] = words
    notebook.write_text(json.dumps(book))


def version_of(folder: Path) -> str:
    """The version that a folder holds; fails if it is not one whole version with all work."""
    text = (folder / f"{LAB}.ipynb").read_text()
    (version,) = (each for each in (ONE, TWO) if f'"{each}"' in text)
    book = json.loads(text)
    assert book["cells"][0]["source"] == version * 5000
    assert book["cells"][1]["source"] == "My words"
    for name in ("asks.py", "helper.py"):
        assert (folder / name).read_text() == f"# {version}\n" * 2000
    assert (folder / "data" / "table.csv").read_text() == version
    assert (folder / "mine" / "notes.txt").read_text() == "notes"
    assert str((folder / "linked").readlink()) == "mine"
    ledger = Ledger.open(folder / "ledger.jsonl", lab=LAB, student="ann")
    assert ledger.verify(student="ann", lab=LAB).ok
    assert ledger.state().predictions["gap"].value == "A"
    return version


def test_there_and_back(notebook, versions):
    folder = notebook.parent
    inode = (folder / "ledger.jsonl").stat().st_ino
    assert way_back(notebook) is None
    done = take_over(notebook, LAB, lab_files(versions[TWO], LAB))
    assert (done.version, done.cells) == (TWO, 1)
    assert version_of(folder) == TWO
    assert (folder / "ledger.jsonl").stat().st_ino == inode
    assert not (folder / ".ipynb_checkpoints").exists()
    assert version_of(done.backup) == ONE
    assert done.backup.is_relative_to(folder.parent / BACKUPS)
    # Back again, with what was done since.
    Ledger.open(folder / "ledger.jsonl").record_answer("later", 7)
    (folder / "later.txt").write_text("later")
    back = way_back(notebook)
    assert back is not None
    assert (back.before, back.after) == (ONE, TWO)
    take_over(notebook, LAB, kept_files(notebook, LAB, back))
    assert version_of(folder) == ONE
    assert (folder / "later.txt").read_text() == "later"
    assert Ledger.open(folder / "ledger.jsonl").state().answers["later"].value == 7
    for k in range(12):
        take_over(notebook, LAB, lab_files(versions[(TWO, ONE)[k % 2]], LAB))
    assert len(replaced(folder)) == 5
    assert version_of(folder) == ONE


def test_a_kernel_that_runs_meanwhile_loses_nothing(notebook, versions):
    """It writes to its ledger by name; both names are the same file, or the new folder has it."""
    ledger = Ledger.open(notebook.parent / "ledger.jsonl", lab=LAB, student="ann")
    stop, count = threading.Event(), [0]

    def work() -> None:
        while not stop.is_set():
            ledger.record_answer("count", count[0] + 1)
            count[0] += 1

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for k in range(10):
            take_over(notebook, LAB, lab_files(versions[(TWO, ONE)[k % 2]], LAB))
    finally:
        stop.set()
        worker.join()
    state = Ledger.open(notebook.parent / "ledger.jsonl").state()
    assert state.answers["count"].value == count[0] > 0
    assert version_of(notebook.parent) == ONE


def test_a_file_that_appears_while_the_folder_is_made(notebook, versions, monkeypatch):
    """As the ledger of a student who commits the very first prediction at that moment."""
    real = takeover._exchange
    (notebook.parent / "ledger.jsonl").rename(notebook.parent / "aside")

    def late(folder: Path, made: Path) -> None:
        (folder / "aside").rename(folder / "ledger.jsonl")
        real(folder, made)

    monkeypatch.setattr(takeover, "_exchange", late)
    take_over(notebook, LAB, lab_files(versions[TWO], LAB))
    assert version_of(notebook.parent) == TWO


def kill_at_random(notebook, versions, times):
    """Have a process replace the lab over and over, and kill it at some moment."""
    chance = random.Random(7)
    files = [lab_files(versions[each], LAB) for each in (TWO, ONE)]
    for _ in range(times):
        ready, tell = os.pipe()
        child = os.fork()
        if not child:
            try:
                while True:
                    for new in files:
                        take_over(notebook, LAB, new)
                        os.write(tell, b".")
            finally:
                os._exit(1)
        os.close(tell)
        # From the first replacement on: whatever was begun before is put right by it.
        assert os.read(ready, 1) == b"."
        time.sleep(chance.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
        os.close(ready)
        yield


def test_a_kill_at_any_moment_leaves_one_version_whole(notebook, versions):
    for _ in kill_at_random(notebook, versions, 15):
        version_of(notebook.parent)  # before anything is put right
    recover_all(notebook.parent.parent)
    assert version_of(notebook.parent) in (ONE, TWO)
    place = notebook.parent.parent / BACKUPS / LAB
    numbers = {path.name for path in place.iterdir() if path.name.isdigit()}
    assert numbers == {str(each.number) for each in replaced(notebook.parent)}
    assert len(numbers) <= 6


def cannot(*_: Path) -> None:
    raise OSError(errno.EINVAL, "no")


def test_a_kill_where_folders_cannot_be_exchanged_is_put_right(notebook, versions, monkeypatch):
    monkeypatch.setattr(takeover, "_exchange_at_once", cannot)
    for _ in kill_at_random(notebook, versions, 8):
        recover_all(notebook.parent.parent)
        version_of(notebook.parent)


def test_each_moment_between_renames_is_put_right(notebook, versions, monkeypatch):
    """The three steps that stand for one, stopped after each of them."""

    class Killed(BaseException):
        pass

    real, left = Path.rename, [0]

    def rename(path: Path, target: Path) -> Path:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        return real(path, target)

    monkeypatch.setattr(takeover, "_exchange_at_once", cannot)
    for after, expected in ((0, ONE), (1, TWO), (2, TWO)):
        left[0] = after
        with monkeypatch.context() as patch:
            patch.setattr(Path, "rename", rename)
            with pytest.raises(Killed):
                take_over(notebook, LAB, lab_files(versions[TWO], LAB))
        recover_all(notebook.parent.parent)
        assert version_of(notebook.parent) == expected
        if expected == TWO:
            take_over(notebook, LAB, lab_files(versions[ONE], LAB))
        assert version_of(notebook.parent) == ONE


def test_what_cannot_be_taken_over_changes_nothing(notebook, versions, monkeypatch):
    folder = notebook.parent
    new = lab_files(versions[TWO], LAB)
    notebook.write_text("{")
    with pytest.raises(CannotTakeOver, match="not a notebook"):
        take_over(notebook, LAB, new)
    notebook.write_bytes(lab_files(versions[ONE], LAB)[f"{LAB}.ipynb"])
    write(notebook, "My words")
    (folder / "helper.py").unlink()
    (folder / "helper.py").mkdir()
    with pytest.raises(CannotTakeOver, match=r"something else called helper\.py"):
        take_over(notebook, LAB, new)
    (folder / "helper.py").rmdir()
    shutil.copy(versions[ONE] / "helper.py", folder)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(takeover, "sync", full)
        with pytest.raises(CannotTakeOver, match="no room"):
            take_over(notebook, LAB, new)
    with monkeypatch.context() as patch:
        patch.setattr(os, "link", full)
        with pytest.raises(CannotTakeOver, match="two names"):
            take_over(notebook, LAB, new)
    with monkeypatch.context() as patch:
        patch.setattr(takeover, "_MOST_FILES", 3)
        with pytest.raises(CannotTakeOver, match="more than 3 files"):
            take_over(notebook, LAB, new)
    assert version_of(folder) == ONE
    assert replaced(folder) == []
    take_over(notebook, LAB, new)
    assert version_of(folder) == TWO


def test_a_release_that_is_half_there(tmp_path):
    with pytest.raises(CannotTakeOver, match="try again"):
        lab_files(tmp_path, LAB)
