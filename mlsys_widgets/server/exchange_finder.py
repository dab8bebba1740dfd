"""Whether there is an exchange that takes a lab: on a hub there is, on a laptop usually not."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import NBGRADER_CONFIG
from mlsys_widgets.labs.course import read_config

#: Where nbgrader's own exchange is, if nobody says otherwise.
_USUAL: Final = "/usr/local/share/nbgrader/exchange"
_OURS: Final = "mlsys_widgets.server."


def nbgrader_settings(*folders: Path) -> Any:
    """The settings as nbgrader merges them: the machine's, this user's, those of the folders.

    Raises
    ------
    ValueError
        When a file of settings cannot be run.
    """
    from jupyter_core.paths import jupyter_config_path
    from traitlets.config import Config

    config: Any = Config()
    places: list[Path | str] = [*reversed(jupyter_config_path()), *folders]
    for place in places:
        for name in (NBGRADER_CONFIG, "nbgrader_config.json"):
            config.merge(read_config(Path(place) / name))
    return config


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
    parts = config.get("ExchangeFactory", {}).items()
    if any(name != "submit" and not str(part).startswith(_OURS) for name, part in parts):
        return course
    root = Path(str(config.get("Exchange", {}).get("root", _USUAL)))
    released = root / course / "outbound" / lab
    return course if released.is_dir() and (root / course / "inbound").is_dir() else None
