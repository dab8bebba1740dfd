"""The hub notes which copy is in whose home, and nothing that a student puts there leads astray."""

from __future__ import annotations

import json
import os
import stat

import pytest

from mlsys_widgets.course.copy_notes import handed_out_beside, read_copies, read_handed_out
from mlsys_widgets.hub.services.copy_watch import CopyWatch

LAB, ONE, TWO = "lab_02_demo", "0" * 12, "1" * 12


@pytest.fixture
def watch(tmp_path):
    (tmp_path / "hand_ins").mkdir(mode=0o750)
    (tmp_path / "outbound" / LAB).mkdir(parents=True)
    for name in ("ann", "ben"):
        (tmp_path / "homes" / name).mkdir(parents=True)
    notes = tmp_path / "hand_ins" / "copies.json"
    return CopyWatch(tmp_path / "homes", tmp_path / "outbound", notes, named=lambda _: "ann")


def copy(tmp_path, version, *, student="ann", lab=LAB):
    folder = tmp_path / "homes" / student / lab
    folder.mkdir(exist_ok=True)
    about = {"lab": lab, **({"lab_version": version} if version else {})}
    text = json.dumps({"cells": [{"source": f'"lab_version": "{TWO}"'}], "metadata": about})
    (folder / f"{lab}.ipynb").write_text(text)
    return folder / f"{lab}.ipynb"


def release(tmp_path, version):
    notebook = {"cells": [], "metadata": {"mlsys": {"lab_version": version}}}
    (tmp_path / "outbound" / LAB / f"{LAB}.ipynb").write_text(json.dumps(notebook))


def test_copies_are_noted_as_they_change(tmp_path, watch):
    notes = tmp_path / "hand_ins" / "copies.json"
    assert watch.look() == {LAB: {}}
    copy(tmp_path, ONE)
    copy(tmp_path, ONE, student="ben")  # whose home belongs to somebody else
    copy(tmp_path, ONE, lab="not_released")
    assert watch.look() == {LAB: {"ann": ONE}}
    assert read_copies(notes) == {LAB: {"ann": ONE}}
    assert stat.S_IMODE(notes.stat().st_mode) == 0o640
    written = notes.stat().st_mtime_ns
    assert watch.look() == {LAB: {"ann": ONE}}
    assert notes.stat().st_mtime_ns == written
    copy(tmp_path, TWO)
    assert watch.look() == {LAB: {"ann": TWO}}
    copy(tmp_path, "")
    assert watch.look() == {LAB: {"ann": ""}}
    (tmp_path / "homes" / "ann" / LAB / f"{LAB}.ipynb").unlink()
    assert watch.look() == {LAB: {}}


def test_what_can_be_fetched_is_noted_whatever_a_copy_says(tmp_path, watch):
    notes = tmp_path / "hand_ins" / "copies.json"
    release(tmp_path, ONE)
    watch.look()  # nobody has a copy
    assert read_handed_out(handed_out_beside(notes)) == {}
    release(tmp_path, TWO)
    copy(tmp_path, ONE)  # from a friend, or with another stamp
    watch.look()
    assert read_handed_out(handed_out_beside(notes)) == {LAB: {"ann": [TWO]}}
    again = CopyWatch(tmp_path / "homes", tmp_path / "outbound", notes, named=lambda _: "ann")
    release(tmp_path, ONE)  # which was right after all
    again.look()
    assert read_handed_out(handed_out_beside(notes)) == {LAB: {"ann": [TWO, ONE]}}


@pytest.mark.parametrize("kind", ["file", "folder", "pipe"])
def test_no_link_is_followed_and_no_pipe_is_waited_for(tmp_path, watch, kind):
    secret = copy(tmp_path, ONE, student="ben")
    target = copy(tmp_path, TWO)
    target.unlink()
    if kind == "file":
        target.symlink_to(secret)
    elif kind == "pipe":
        os.mkfifo(target)
    else:
        target.parent.rmdir()
        target.parent.symlink_to(secret.parent)
    assert watch.look() == {LAB: {}}


def test_a_large_notebook_is_read_at_its_end(tmp_path, watch):
    path = copy(tmp_path, ONE)
    end = path.read_bytes()
    with path.open("r+b") as file:
        file.truncate(40_000_000_000)  # sparse
        file.seek(0, os.SEEK_END)
        file.write(end)
    assert watch.look() == {LAB: {"ann": ONE}}


def test_notes_that_are_no_notes(tmp_path):
    path = tmp_path / "copies.json"
    assert read_copies(path) == {}
    for words in ("", "[]", '{"lab": 1}', "[" * 100_000):
        path.write_text(words)
        assert read_copies(path) == {}
    path.write_text(json.dumps({LAB: {"ann": ONE, "eve": "<script>", "ben": 3}}))
    assert read_copies(path) == {LAB: {"ann": ONE}}
