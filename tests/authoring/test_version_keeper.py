"""Every version is kept with what judges it, for instructors alone."""

from __future__ import annotations

import shutil
import stat

import pytest

from mlsys_widgets.authoring import version_keeper
from mlsys_widgets.authoring.version_keeper import keep_version
from mlsys_widgets.course.kept_versions import kept_versions, versions_folder
from mlsys_widgets.course.lab_versions import version_in
from tests.courses.fixed_lab import LAB, FixedLab, edit, fixed_lab


@pytest.fixture
def fixed(tmp_path) -> FixedLab:
    return fixed_lab(tmp_path)


def test_a_build_keeps_what_it_replaces(fixed):
    old, new = kept_versions(fixed.root, LAB)
    assert (old.version, new.version) == fixed.versions
    for each, word in ((old, "def limit"), (new, "def waits")):
        assert word in (each.keys / "checks.py").read_text()
        assert word in (each.release / "asks.py").read_text()
        assert "BEGIN HIDDEN TESTS" in (each.source / f"{LAB}.ipynb").read_text()
        assert "BEGIN SOLUTION" not in (each.source / f"{LAB}.ipynb").read_text()
        assert "HIDDEN TESTS" not in (each.release / f"{LAB}.ipynb").read_text()
        assert version_in(each.release, LAB) == each.version
    for path in (versions_folder(fixed.root, LAB), *versions_folder(fixed.root, LAB).rglob("*")):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o007, path


def test_a_fixed_key_takes_the_place_of_the_old_one(fixed):
    """The copies are the same, so all of them are judged with it."""
    checks = fixed.root / "assignments" / LAB / "checks.py"
    edit(checks, ("tolerance=0.02", "tolerance=0.05"))
    kept = keep_version(fixed.course, LAB)
    assert kept is not None
    assert kept.version == fixed.versions[1]
    assert "0.05" in (kept.keys / "checks.py").read_text()
    assert "0.02" in (kept_versions(fixed.root, LAB)[0].keys / "checks.py").read_text()
    assert keep_version(fixed.course, LAB) == kept


def test_questions_that_are_not_built_yet_are_no_part_of_a_version(fixed):
    edit(fixed.root / "assignments" / LAB / "asks.py", ("sides half", "sides a third"))
    kept = keep_version(fixed.course, LAB)
    assert kept is not None
    assert "sides half" in (kept.keys / "asks.py").read_text()
    # Once the questions have changed, nobody knows whether the keys have, too.
    shutil.rmtree(versions_folder(fixed.root, LAB))
    assert keep_version(fixed.course, LAB) is None


def test_what_is_no_lab_of_ours(fixed):
    assert keep_version(fixed.course, "nothing") is None
    (fixed.root / "assignments" / LAB / "checks.py").unlink()
    assert keep_version(fixed.course, LAB) is None


def test_drafts_do_not_pile_up(fixed, monkeypatch):
    monkeypatch.setattr(version_keeper, "_MOST_DRAFTS", 2)
    path = fixed.root / "release" / LAB / "data.txt"
    for k in range(5):
        path.write_text(str(k))
        assert keep_version(fixed.course, LAB) is not None
    kept = kept_versions(fixed.root, LAB)
    assert set(fixed.versions) <= {each.version for each in kept}
    assert len(kept) == 2 + 3
