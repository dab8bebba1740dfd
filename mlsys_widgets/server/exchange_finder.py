"""Whether there is an exchange that takes a lab: on a hub there is, on a laptop usually not."""

from __future__ import annotations

from pathlib import Path

from mlsys_widgets.course.exchange_place import (
    course_id_in,
    exchange_folder,
    is_folder,
    nbgrader_settings,
)


def course_that_takes(lab: str, *folders: Path) -> str | None:
    """Find the course to whose exchange a lab can be submitted; `None` if there is none.

    The settings in some folders count, those of the last one most.
    """
    try:
        config = nbgrader_settings(*folders)
    except ValueError:
        return None
    course = course_id_in(config)
    if course and not is_folder(config):
        return course
    place = exchange_folder(config)
    if place is None:
        return None
    released = place / "outbound" / lab
    return course if released.is_dir() and (place / "inbound").is_dir() else None


def released_folder(lab: str, *folders: Path) -> Path | None:
    """Find where a lab can be fetched from; `None` if nowhere, or from no folder."""
    try:
        place = exchange_folder(nbgrader_settings(*folders))
    except ValueError:
        return None
    released = place / "outbound" / lab if place else None
    return released if released and released.is_dir() else None
