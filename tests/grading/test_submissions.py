"""Submissions are read as bytes, whatever lies in their folders."""

from __future__ import annotations

import os

from mlsys_widgets.grading import submissions
from mlsys_widgets.grading.submissions import Submission, read_folder, students
from mlsys_widgets.labs.course import Course
from mlsys_widgets.sandbox.remarks import RemarkKind


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
