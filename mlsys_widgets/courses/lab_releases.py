"""Releasing a lab, the first time and when it was fixed, and noticing what others released."""

from __future__ import annotations

import logging
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mlsys_widgets.authoring import labs_of
from mlsys_widgets.authoring.version_keeper import keep_version
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.exchange_place import exchange_folder, nbgrader_settings
from mlsys_widgets.course.kept_versions import KeptVersion, kept_versions, note_release
from mlsys_widgets.course.lab_versions import stamp_in, version_in
from mlsys_widgets.courses.first_releases import note_release as note_first_release
from mlsys_widgets.courses.first_releases import releases
from mlsys_widgets.courses.freshness import why_stale
from mlsys_widgets.courses.gradebook_registration import register_labs
from mlsys_widgets.grading.gradebook.version_cells import enter_version, has_submissions
from mlsys_widgets.grading.judging.lab_copies import blueprint_of
from mlsys_widgets.labs.about_lab import title_of

_LONGEST_NOTE: Final = 500


@dataclass(frozen=True)
class LabRelease:
    """The outcome of a release."""

    version: KeptVersion
    #: The version that students could fetch before; `None` if there was none.
    before: str | None
    #: Where they fetch it now; `None` in a course without an exchange.
    place: Path | None


def release_lab(course: Course, lab: str, *, note: str | None = None) -> LabRelease:
    """Release what ``release/`` holds of a lab: into the gradebook, to students, into the notes.

    Each step can be done again, so an interrupted release is finished by the next one. The `note`
    tells students what changed. Raises `ValueError` when the lab is not built from what its text
    says, or the exchange does not take it.
    """
    _check(course, lab, note)
    notice_release(course, lab)
    kept = keep_version(course, lab)
    assert kept is not None  # it is built
    outbound = outbound_of(course, lab)
    before = _released_in(outbound, lab) if outbound else None
    if has_submissions(course.db_url, lab):
        # nbgrader refuses other cells now.
        enter_version(course.db_url, lab, blueprint_of(kept.source / f"{lab}.ipynb", lab))
    else:
        register_labs(course, [lab])
    if outbound is None:
        note_first_release(course.home, lab)
        return LabRelease(note_release(kept, note), before, None)
    _into_exchange(course, lab, note or "")
    (released,) = (e for e in kept_versions(course.root, lab) if e.version == kept.version)
    return LabRelease(released, before, outbound)


def withdraw_lab(course: Course, lab: str) -> None:
    """Let nobody fetch a lab any more; copies that students have and hand-ins stay.

    Raises `ValueError` when there is nothing to withdraw.
    """
    outbound = outbound_of(course, lab)
    if outbound is None or not outbound.is_dir():
        raise ValueError(f"{lab} is not released, so there is nothing to withdraw")
    notice_release(course, lab)  # so that copies of it are still judged, and no hub releases it
    note_first_release(course.home, lab, outbound.stat().st_mtime)
    shutil.rmtree(outbound)


def check_lab(course: Course, lab: str) -> None:
    """Refuse a lab that the course does not have."""
    if lab not in (known := labs_of(course)):
        listed = ", ".join(known) or "none yet"
        raise ValueError(f"there is no lab {lab!r} in assignments/; there are: {listed}")


def _check(course: Course, lab: str, note: str | None) -> None:
    check_lab(course, lab)
    if note is not None and (len(note) > _LONGEST_NOTE or "\n" in note.strip()):
        raise ValueError(
            f"the note has {len(note)} characters; it must be one line of at most {_LONGEST_NOTE}"
        )
    if stale := why_stale(course, lab):
        raise ValueError(f"{stale}; nothing was released: run mlsys build {lab} first")


def outbound_of(course: Course, lab: str) -> Path | None:
    """Return where students fetch a lab from; `None` if the exchange is no folder, or none."""
    place = exchange_folder(nbgrader_settings(course.home))
    return place / "outbound" / lab if place and place.parent.is_dir() else None


def lab_titles(course: Course) -> dict[str, str]:
    """Return the labs of a course with their titles, or their names until they are built."""
    return {lab: title_of(course.folder("release", lab)) or lab for lab in labs_of(course)}


def withdrawn_labs(course: Course) -> set[str]:
    """Return labs that were released once and that students can no longer fetch."""
    place = exchange_folder(nbgrader_settings(course.home))
    if place is None or not place.is_dir():
        return set()
    return {lab for lab in releases(course.home) or () if not (place / "outbound" / lab).is_dir()}


def _into_exchange(course: Course, lab: str, note: str) -> None:
    from nbgrader.auth import Authenticator
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.exchange import ExchangeError

    from mlsys_widgets.courses.release_hook import ReleaseVersion

    config = nbgrader_settings(course.home)
    config.CourseDirectory.root = str(course.home)
    config.CourseDirectory.assignment_id = lab
    config.Exchange.force = True
    release = ReleaseVersion(
        coursedir=CourseDirectory(config=config),
        authenticator=Authenticator(config=config),
        config=config,
        note=note,
    )
    release.force = True
    release.log.setLevel(logging.CRITICAL)
    try:
        release.start()
    except ExchangeError as problem:
        raise ValueError(f"the exchange does not take {lab}: {problem}") from None


def notice_release(course: Course, lab: str) -> str | None:
    """Keep what is built, and note what lies in the exchange, whoever put it there.

    Returns the version that students can fetch; `None` if that is nothing, or not known.
    """
    keep_version(course, lab)
    outbound = outbound_of(course, lab)
    version = _released_in(outbound, lab) if outbound else None
    known = kept_versions(course.root, lab)
    found = next((each for each in known if each.version == version), None)
    if outbound is None or found is None:
        return version
    released = [each for each in known if each.released]
    if not released or released[-1].version != version:
        at = datetime.fromtimestamp(outbound.stat().st_mtime, UTC)
        note_first_release(course.home, lab, at.timestamp())
        note_release(found)
    return version


def _released_in(outbound: Path, lab: str) -> str | None:
    """Return the version in the exchange: what it says, or what it is if it says nothing."""
    try:
        stamp = stamp_in((outbound / f"{lab}.ipynb").read_bytes())
    except OSError:
        return None
    return stamp or version_in(outbound, lab)


def note_version(course: Course, lab: str, version: str, note: str | None = None) -> KeptVersion:
    """Note that students have a version that was handed out by other means than the exchange.

    Raises `ValueError` when the course keeps no such version.
    """
    found = [each for each in kept_versions(course.root, lab) if each.version == version]
    if not found:
        raise ValueError(
            f"the course keeps no version {version} of {lab}; mlsys course versions {lab} lists"
            " those that there are"
        )
    note_first_release(course.home, lab)
    return note_release(found[0], note)
