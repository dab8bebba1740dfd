"""Which versions a course keeps, and which of them count."""

from __future__ import annotations

import json

from mlsys_widgets.course.kept_versions import (
    KeptVersion,
    counted,
    kept_versions,
    note_release,
    versions_folder,
)

LAB = "lab_02_demo"


def keep(root, name, built):
    folder = versions_folder(root, LAB) / (name * 12)
    folder.mkdir(parents=True)
    return KeptVersion(folder, name * 12, built).write()


def names(versions):
    return [each.version[0] for each in versions]


def test_in_the_order_of_their_last_release(tmp_path):
    assert kept_versions(tmp_path, LAB) == []
    a, b = keep(tmp_path, "a", "2026-01-01T"), keep(tmp_path, "b", "2026-01-02T")
    assert names(kept_versions(tmp_path, LAB)) == ["a", "b"]
    # Nothing was released by a way that can be noted: all may have been handed out.
    assert names(counted(kept_versions(tmp_path, LAB))) == ["a", "b"]
    note_release(b, "a unit")
    assert names(counted(kept_versions(tmp_path, LAB))) == ["b"]
    note_release(a)
    assert names(counted(kept_versions(tmp_path, LAB))) == ["b", "a"]
    again = note_release(kept_versions(tmp_path, LAB)[0])
    assert (again.note, len(again.released)) == ("a unit", 2)
    assert names(kept_versions(tmp_path, LAB)) == ["a", "b"]


def test_what_is_no_version_is_left_alone(tmp_path):
    kept = keep(tmp_path, "a", "2026-01-01T")
    place = versions_folder(tmp_path, LAB)
    (place / "README").write_text("mine")
    (place / ".half").mkdir()
    (place / ("c" * 12)).mkdir()
    for words in ("", "[]", json.dumps({"released": 3})):
        (place / ("c" * 12) / "version.json").write_text(words)
        assert kept_versions(tmp_path, LAB) == [kept]
