"""nbgrader's exchange: the folder through which labs reach students and come back."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.exchange_place import is_folder, nbgrader_settings
from mlsys_widgets.courses.doctor.finding import Finding, ok, problem, warning
from mlsys_widgets.files import NBGRADER_CONFIG

_ABOUT: Final = "exchange"
_OTHERS_ALL: Final = 0o007
_COLLECT: Final = "mlsys_widgets.grading.plugins.collect.CollectByDescriptor"


def exchange(course: Course) -> Iterator[Finding]:
    """Whether the exchange exists and everybody can use it."""
    from nbgrader.exchange.default import Exchange

    config = nbgrader_settings(course.home)
    if not is_folder(config):
        yield ok(_ABOUT, "not a folder but another kind, which is not checked here")
        return
    named = config.get("Exchange", {}).get("root")
    folder = Path(named or Exchange.root.default_value)
    make = f"mkdir -p {folder} && chmod ugo+rwx {folder}"
    if not folder.is_dir() and not named:
        yield warning(
            _ABOUT,
            "there is none, so students cannot fetch labs from here; you can hand them out"
            " yourself",
            f"to have one, set c.Exchange.root in {NBGRADER_CONFIG}, or {make} (as root)",
        )
        return
    if not folder.is_dir():
        yield problem(
            _ABOUT,
            f"there is no folder {folder}",
            f"{make} (as root if you may not); or set c.Exchange.root to another folder",
        )
        return
    closed = [each for each in folder.resolve().parents if not each.stat().st_mode & stat.S_IXOTH]
    mode = stat.S_IMODE(folder.stat().st_mode)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as trouble:
        yield problem(_ABOUT, f"{folder} cannot be written by this user: {trouble.strerror}", make)
        return
    if closed:
        yield problem(
            _ABOUT,
            f"students cannot reach {folder}: {closed[0]} is closed to others",
            f"put the exchange elsewhere, or chmod o+x {closed[0]}",
        )
    elif config.get("CourseDirectory", {}).get("groupshared"):
        yield ok(_ABOUT, f"{folder}, shared by a group")
    elif mode & _OTHERS_ALL != _OTHERS_ALL:
        yield problem(
            _ABOUT,
            f"{folder} has mode {mode:o}; nbgrader wants everybody to read, write and enter it",
            f"chmod ugo+rwx {folder}",
        )
    else:
        yield ok(_ABOUT, str(folder))
    if config.get("ExchangeFactory", {}).get("collect") != _COLLECT:
        yield warning(
            "collecting",
            "nbgrader follows links, so a link that a student hands in can bring a key or another's"
            " work along",
            f'add to {NBGRADER_CONFIG}: c.ExchangeFactory.collect = "{_COLLECT}"',
        )
    if os.geteuid() == 0:
        yield warning(
            "user",
            "you are root: others cannot change what root releases and collects",
            "run this again as the user who teaches",
        )
