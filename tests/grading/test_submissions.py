"""Submissions are read as bytes, whatever lies in their folders."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.reading import submissions
from mlsys_widgets.grading.reading.hand_in_time import read_time
from mlsys_widgets.grading.reading.submissions import (
    Submission,
    collect,
    handed_in_at,
    read_folder,
    students,
)
from mlsys_widgets.notebooks.remarks import RemarkKind
from tests.link_swapper import swapping


def test_links_and_special_files_are_left_out(tmp_path):
    folder = tmp_path / "lab"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "own.txt").write_bytes(b"mine")
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "folder").symlink_to("/etc")
    os.mkfifo(folder / "pipe")
    found = read_folder(folder, "ann")
    assert found.files == {"deep/own.txt": b"mine"}
    assert {(r.kind, r.about) for r in found.remarks} == {
        (RemarkKind.LEFT_OUT, name) for name in ("link", "folder", "pipe")
    }


def test_what_is_too_large_or_too_deep_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(submissions, "LARGEST", 10)
    folder = tmp_path / "lab"
    deep = folder.joinpath(*"d" * 30)
    deep.mkdir(parents=True)
    (deep / "end").write_bytes(b"x")
    (folder / "a").write_bytes(b"12345678")
    (folder / "b").write_bytes(b"12345678")
    found = read_folder(folder, "ann")
    assert set(found.files) == {"a"}
    assert [remark.kind for remark in found.remarks] == [RemarkKind.LEFT_OUT, RemarkKind.TOO_DEEP]


def test_a_submission_is_told_from_every_other_by_its_content():
    one = Submission("ann", {"a": b"1", "b": b"2"})
    assert one.digest == Submission("bob", {"b": b"2", "a": b"1"}).digest
    assert one.digest != Submission("ann", {"a": b"1", "b": b"3"}).digest
    assert one.digest != Submission("ann", {"a": b"1b", "": b"2"}).digest


def test_students_are_folders_that_fit_a_pattern(tmp_path):
    for name in ("ann", "bob", "amy"):
        (tmp_path / "submitted" / name / "lab").mkdir(parents=True)
    (tmp_path / "submitted" / "eve").symlink_to("ann")
    (tmp_path / "submitted" / "file").write_text("x")
    assert students(Course(tmp_path), "lab", "a*") == ["amy", "ann"]
    assert "bob" in students(Course(tmp_path), "lab")


# A folder that is swapped for a link while it is read.


@pytest.mark.parametrize("level", ["student", "lab", "folder"])
def test_no_moment_lets_a_link_lead_elsewhere(tmp_path, level):
    """Somebody swaps a folder for a link and back as fast as they can."""
    folder = tmp_path / "submitted" / "ann" / "lab"
    (folder / "deep").mkdir(parents=True)
    secret = tmp_path / "assignments" / "lab"
    for place in (folder, folder / "deep", secret, secret / "deep", secret / "lab"):
        place.mkdir(parents=True, exist_ok=True)
        (place / "a.txt").write_text("secret" if secret in (place, *place.parents) else "mine")
    swapped = {"student": folder.parent, "lab": folder, "folder": folder / "deep"}[level]
    link = tmp_path / "link"
    link.symlink_to(secret)
    read = 0
    with swapping(swapped, tmp_path / "own", link):
        for _ in range(400):
            found = collect(Course(tmp_path), "lab", "ann").files
            assert set(found.values()) <= {b"mine"}, found
            read += bool(found)
    assert read, "it was never there"


def test_what_counts_is_read_before_everything_else(tmp_path, monkeypatch):
    monkeypatch.setattr(submissions, "LARGEST", 100)
    monkeypatch.setattr(submissions, "_MOST_FILES", 3)
    folder = tmp_path / "lab"
    folder.mkdir()
    for name in ("a", "b", "c", "d"):
        (folder / name).write_bytes(b"x" * 60)
    (folder / "lab.ipynb").write_bytes(b"y" * 1000)
    (folder / "ledger.jsonl").write_bytes(b"z" * 80)
    found = read_folder(folder, "ann")
    assert set(found.files) == {"lab.ipynb", "ledger.jsonl"}
    assert len(found.remarks) == 4


def test_a_folder_with_too_many_names_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(submissions, "_MOST_NAMES", 10)
    folder = tmp_path / "lab"
    (folder / "many").mkdir(parents=True)
    for k in range(11):
        (folder / "many" / f"{k}").touch()
    (folder / "one").touch()
    found = read_folder(folder, "ann")
    assert set(found.files) == {"one"}
    assert [r.sentence for r in found.remarks] == [
        "“many/” was left out: there are more than 10 files and folders in all"
    ]


def test_folders_share_the_number_of_names_that_are_looked_at(tmp_path, monkeypatch):
    """Thousands of folders cost as little as one with thousands of files."""
    monkeypatch.setattr(submissions, "_MOST_NAMES", 10)
    folder, looked = tmp_path / "lab", []
    for name in ("a", "b", "c", "d"):
        (folder / name).mkdir(parents=True)
        for k in range(5):
            (folder / name / f"{k}").touch()
    (folder / "lab.ipynb").write_text("{}")
    scandir = os.scandir

    @contextmanager
    def counting(place):
        with scandir(place) as entries:
            yield (looked.append(entry) or entry for entry in entries)

    monkeypatch.setattr(os, "scandir", counting)
    found = read_folder(folder, "ann")
    assert set(found.files) == {"lab.ipynb", *(f"a/{k}" for k in range(5))}
    assert [r.about for r in found.remarks] == ["b/", "c/", "d/"]
    assert len(looked) == 5 + 5 + 1 + 1 + 1


def test_a_notebook_with_too_many_cells_keeps_those_of_the_lab(tmp_path):
    own = [{"cell_type": "raw", "metadata": {}, "source": ""}] * 9_000
    last = {"cell_type": "code", "metadata": {"nbgrader": {}}, "source": "1"}
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "lab.ipynb").write_text(json.dumps({"cells": [*own, last]}))
    found = read_folder(tmp_path / "lab", "ann")
    cells = json.loads(found.files["lab.ipynb"])["cells"]
    assert (len(cells), cells[-1]) == (501, last)
    assert [r.sentence for r in found.remarks] == [
        "the notebook has 9,001 cells, so of those that are not the lab's all but the first 500"
        " were left out"
    ]


def test_a_folder_that_is_a_link_is_not_read(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.txt").touch()
    (tmp_path / "lab").symlink_to("other")
    found = read_folder(tmp_path / "lab", "ann")
    assert found.files == {}
    assert [r.sentence for r in found.remarks] == ["its folder was not read: it is a link"]


def test_when_it_was_handed_in_is_read_from_the_first_bytes(tmp_path):
    folder = tmp_path / "submitted" / "ann" / "lab"
    folder.mkdir(parents=True)
    course = Course(tmp_path)
    assert handed_in_at(course, "submitted", "lab", "ann") is None
    path = folder / "timestamp.txt"
    path.write_text("2026-11-15 10:00:00 UTC")
    assert handed_in_at(course, "submitted", "lab", "ann").hour == 10
    os.truncate(path, 8_000_000_000)
    assert handed_in_at(course, "submitted", "lab", "ann") in (None, read_time("2026-11-15 10:00"))
    path.unlink()
    os.mkfifo(path)
    assert handed_in_at(course, "submitted", "lab", "ann") is None
