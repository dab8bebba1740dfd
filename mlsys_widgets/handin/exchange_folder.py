"""Where nbgrader's exchange is, as the settings of this machine, this user and a folder say."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import NBGRADER_CONFIG
from mlsys_widgets.labs.course import read_config

#: Where nbgrader's own exchange is, if nobody says otherwise.
USUAL_EXCHANGE: Final = "/usr/local/share/nbgrader/exchange"


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


def exchange_of_course(config: Any) -> Path | None:
    """The folder of a course in the exchange; `None` where the exchange is no folder.

    Parameters
    ----------
    config
        What `nbgrader_settings` returns.
    """
    course = str(config.get("CourseDirectory", {}).get("course_id", ""))
    # Our own way to submit uses the same folder.
    if not course or set(config.get("ExchangeFactory", {})) - {"submit"}:
        return None
    folder = Path(str(config.get("Exchange", {}).get("root", USUAL_EXCHANGE))) / course
    return folder if folder.is_dir() else None
