"""A course that others can read, or that is on a full disk: diagnosed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mlsys_widgets.courses.doctor import folders
from tests.courses.conftest import Disk
from tests.courses.doctor.findings import (
    is_broken,
    is_well,
)

pytestmark = pytest.mark.timeout(300)


def test_a_course_that_others_can_read(course: Path):
    is_well(folders.privacy, course, "privacy")
    course.chmod(0o755)
    said = "others on this machine can read assignments, source, .mlsys, gradebook.db"
    is_broken(folders.privacy, course, "privacy", said, f"chmod o-rwx {course}")
    for name in ("assignments", "source", ".mlsys"):
        (course / name).chmod(0o700)
    (course / "gradebook.db").chmod(0o600)
    is_well(folders.privacy, course, "privacy")
    (course / "source").chmod(0o711)  # whoever knows a name reads it
    is_broken(folders.privacy, course, "privacy", "can read source$", "chmod o-rwx")


def test_a_disk_that_is_full(course: Path, course_disk: Disk):
    is_well(folders.disk, course, "disk")
    place = course_disk.place / "course"
    shutil.copytree(course, place)
    course_disk.fill()
    is_broken(
        folders.disk, place, "disk", "^0 MB and .* files are left for the course",
        f"free some space on the disk of {place}",
    )  # fmt: skip
