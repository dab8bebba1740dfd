"""Where nbgrader's exchange is, by the settings of whoever asks, and what of ours is in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from mlsys_widgets.course.course import read_config
from mlsys_widgets.files import NBGRADER_CONFIG

#: Beside nbgrader's folders: where requests for second looks go, and where answers come from.
BOX: Final = "second_looks"
ANSWERS: Final = "second_look_answers"
#: There, on a hub: whoever asks at this socket hears what they are told about a lab.
TOLD_SOCKET: Final = "told.sock"
#: Where nbgrader's own exchange is, if nobody says otherwise.
_USUAL: Final = "/usr/local/share/nbgrader/exchange"
#: Our own ways to submit, list, fetch and release use the same folder.
_OURS: Final = "mlsys_widgets."


def nbgrader_settings(*folders: Path) -> Any:
    """Read settings as nbgrader merges them: the machine's, this user's, those of the folders."""
    from jupyter_core.paths import jupyter_config_path
    from traitlets.config import Config

    config: Any = Config()
    places: list[Path | str] = [*reversed(jupyter_config_path()), *folders]
    for place in places:
        for name in (NBGRADER_CONFIG, "nbgrader_config.json"):
            config.merge(read_config(Path(place) / name))
    return config


def course_id_in(config: Any) -> str:
    """Return what nbgrader calls the course; empty if it has no name."""
    return str(config.get("CourseDirectory", {}).get("course_id", ""))


def is_folder(config: Any) -> bool:
    """Whether the exchange is nbgrader's own, a folder, and not another kind."""
    parts = config.get("ExchangeFactory", {}).items()
    return all(name == "submit" or str(part).startswith(_OURS) for name, part in parts)


def exchange_folder(config: Any) -> Path | None:
    """Return a course's folder in the exchange, which may not exist; `None` if there cannot be one.

    Examples
    --------
    >>> from traitlets.config import Config
    >>> config = Config({"CourseDirectory": {"course_id": "ml"}, "Exchange": {"root": "/srv/ex"}})
    >>> exchange_folder(config).as_posix()
    '/srv/ex/ml'
    """
    course = course_id_in(config)
    if not course or not is_folder(config):
        return None
    return Path(str(config.get("Exchange", {}).get("root", _USUAL))) / course
