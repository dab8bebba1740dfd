"""A release is noted whoever makes it, and students read what changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory

from mlsys_widgets.course.exchange_place import nbgrader_settings
from mlsys_widgets.course.kept_versions import kept_versions
from mlsys_widgets.course.lab_versions import changes_in, stamp_in, version_in
from mlsys_widgets.courses.lab_releases import (
    note_version,
    notice_release,
    outbound_of,
    release_lab,
)
from tests.courses.fixed_lab import LAB, NOTE, FixedLab, edit, fixed_lab

HOOK = "mlsys_widgets.courses.release_hook.ReleaseVersion"


@pytest.fixture
def fixed(tmp_path) -> FixedLab:
    return fixed_lab(tmp_path)


def forget(fixed: FixedLab) -> None:
    """As if nobody had noted a release."""
    for each in kept_versions(fixed.root, LAB):
        path = each.folder / "version.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "released": [], "note": ""}))


def release_with_nbgrader(fixed: FixedLab, note: str = "") -> None:
    """Release as formgrader and ``nbgrader release_assignment`` do, with the course's settings."""
    config = nbgrader_settings(fixed.root)
    config.CourseDirectory.root = str(fixed.root)
    config.CourseDirectory.assignment_id = LAB
    config.Exchange.force = True
    if note:
        config.ReleaseVersion.note = note
    course = CourseDirectory(config=config)
    ExchangeFactory(config=config).ReleaseAssignment(
        coursedir=course, authenticator=Authenticator(config=config), config=config
    ).start()


def in_exchange(fixed: FixedLab) -> dict:
    return json.loads((fixed.outbound / f"{LAB}.ipynb").read_bytes())


def test_the_exchange_has_the_new_version_and_says_what_changed(fixed):
    old, new = fixed.versions
    assert outbound_of(fixed.course, LAB) == fixed.outbound
    assert changes_in(in_exchange(fixed)) == [(old, ""), (new, NOTE)]
    # What students fetch is what its stamp says.
    assert version_in(fixed.outbound, LAB) == new
    assert [len(each.released) for each in kept_versions(fixed.root, LAB)] == [1, 1]


def test_again_is_the_same_version(fixed):
    done = release_lab(fixed.course, LAB)
    assert done.before == done.version.version == fixed.versions[1]
    assert done.version.note == NOTE
    assert len(done.version.released) == 2


def test_students_see_all_of_a_release_or_nothing(fixed, monkeypatch):
    """Whoever fetches a lab while it is being copied must not get half of it."""
    shutil.rmtree(fixed.outbound)
    with (fixed.root / "nbgrader_config.py").open("a") as settings:
        settings.write(f"\nc.ExchangeFactory.release_assignment = {HOOK!r}\n")

    def cut_off(src, dest, **_):
        Path(dest).mkdir()
        shutil.copy(Path(src) / f"{LAB}.ipynb", dest)
        assert not fixed.outbound.exists()
        raise OSError("the machine is gone")

    with monkeypatch.context() as patch:
        patch.setattr("nbgrader.exchange.default.exchange.shutil.copytree", cut_off)
        with pytest.raises(OSError, match="the machine is gone"):
            release_with_nbgrader(fixed)
    assert not fixed.outbound.exists()
    (fixed.root / "release" / LAB / "asks.py").chmod(0o600)
    readable = []
    rename = Path.rename

    def renamed(self, target):
        readable.extend(path.stat().st_mode & 0o004 for path in self.iterdir())
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", renamed)
    release_with_nbgrader(fixed)
    assert readable
    assert all(readable)
    assert version_in(fixed.outbound, LAB) == fixed.versions[1]
    assert [path.name for path in fixed.outbound.parent.iterdir()] == [LAB]


def test_what_is_not_built_is_not_released(fixed):
    before = in_exchange(fixed)
    edit(fixed.root / "assignments" / LAB / "asks.py", ("sides half", "sides a third"))
    with pytest.raises(ValueError, match=f"nothing was released: run mlsys build {LAB}"):
        release_lab(fixed.course, LAB, note="more")
    assert in_exchange(fixed) == before
    with pytest.raises(ValueError, match="one line of at most 500"):
        release_lab(fixed.course, LAB, note="x" * 501)
    with pytest.raises(ValueError, match="there is no lab 'nothing'"):
        release_lab(fixed.course, "nothing")
    with pytest.raises(ValueError, match="keeps no version"):
        note_version(fixed.course, LAB, "f" * 12)


def test_a_release_by_stock_nbgrader_is_noticed(fixed):
    forget(fixed)
    shutil.rmtree(fixed.outbound)
    assert notice_release(fixed.course, LAB) is None
    release_with_nbgrader(fixed)
    assert not any(each.released for each in kept_versions(fixed.root, LAB))
    assert notice_release(fixed.course, LAB) == fixed.versions[1]
    assert [bool(each.released) for each in kept_versions(fixed.root, LAB)] == [False, True]
    notice_release(fixed.course, LAB)
    assert len(kept_versions(fixed.root, LAB)[1].released) == 1
    assert note_version(fixed.course, LAB, fixed.versions[0]).released


def test_a_hub_notes_it_while_nbgrader_releases(fixed):
    forget(fixed)
    path = fixed.root / "nbgrader_config.py"
    path.write_text(f"{path.read_text()}c.ExchangeFactory.release_assignment = {HOOK!r}\n")
    release_with_nbgrader(fixed, note="A typo")
    assert [each.note for each in kept_versions(fixed.root, LAB) if each.released] == ["A typo"]
    assert changes_in(in_exchange(fixed)) == [(fixed.versions[1], "A typo")]
    assert outbound_of(fixed.course, LAB) == fixed.outbound


def test_a_course_without_an_exchange(fixed):
    shutil.rmtree(fixed.root.parent / "exchange")
    assert outbound_of(fixed.course, LAB) is None
    done = release_lab(fixed.course, LAB)
    assert done.place is None
    assert len(done.version.released) == 2
    assert (
        stamp_in((fixed.root / "release" / LAB / f"{LAB}.ipynb").read_bytes()) == fixed.versions[1]
    )
