"""Whether there is an exchange that takes a lab: on a hub there is, on a laptop usually not."""

from __future__ import annotations

from pathlib import Path

from mlsys_widgets.handin.exchange_folder import exchange_of_course, nbgrader_settings


def course_that_takes(lab: str, *folders: Path) -> str | None:
    """The course to whose exchange a lab can be submitted; `None` if there is none.

    Parameters
    ----------
    lab
        The name of the assignment.
    folders
        Folders whose settings count, the last one most.
    """
    try:
        config = nbgrader_settings(*folders)
    except ValueError:
        return None
    course = str(config.get("CourseDirectory", {}).get("course_id", ""))
    if not course:
        return None
    # Our own ways to submit, list and fetch use the same folder.
    if set(config.get("ExchangeFactory", {})) - {"submit", "list", "fetch_assignment"}:
        return course
    folder = exchange_of_course(config)
    if folder is None or not (folder / "outbound" / lab).is_dir():
        return None
    return course if (folder / "inbound").is_dir() else None
