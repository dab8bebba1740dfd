"""Where the work on a notebook is kept: beside it, or out of the way for the instructor's own.

nbgrader copies whatever is in ``source/<lab>`` to students and over their submissions, so running
an instructor's notebook there must leave nothing behind: neither a ledger nor an example file.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Final

from mlsys_widgets.labs.identity import is_instructors
from mlsys_widgets.labs.lab import load

#: Where Jupyter tells a kernel for which notebook it was started.
_SESSION: Final = "JPY_SESSION_NAME"
_PREFIX: Final = "mlsys-instructor-"
#: After this many seconds, what a killed kernel left behind is removed: a week.
_LEFT_BEHIND: Final = 7 * 24 * 3600.0

#: The temporary folder for each ``source/``, so that labs lie side by side as they do for students.
_aside: dict[Path, Path] = {}


def working_folder(folder: str | os.PathLike[str] = ".") -> Path:
    """The folder that holds the ledger and other files that belong to the work on a notebook.

    For an instructor's notebook, that is a temporary folder that lasts as long as the process. The
    example files of the lab are in it, so that the solution runs as it does for a student.

    Parameters
    ----------
    folder : path
        Where the notebook is.
    """
    here = Path(folder).resolve()
    if not is_instructors(here):
        return here
    aside = _temporary(here.parent) / here.name
    if not aside.is_dir():
        aside.mkdir()
        for name, example in load(here).examples.items():
            (aside / name).write_bytes(example())
    return aside


def notebook_here(folder: str | os.PathLike[str], lab: str) -> Path:
    """The notebook that runs in this kernel; the one that is named after the lab if nobody says so.

    Parameters
    ----------
    folder : path
        Where the notebook is.
    lab : str
        The name of the lab.
    """
    here = Path(folder).resolve()
    session = here / Path(os.environ.get(_SESSION, "")).name
    known = session.suffix == ".ipynb" and session.is_file()
    return session if known else here / f"{lab}.ipynb"


def _temporary(source: Path) -> Path:
    made = _aside.get(source)
    if made is None or not made.is_dir():
        _remove_leftovers()
        made = _aside[source] = Path(tempfile.mkdtemp(prefix=_PREFIX))
        atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def _remove_leftovers() -> None:
    """Remove what kernels left behind that were killed, as nbval does with its own.

    Those of other users cannot be removed, and need not be.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            old = time.time() - left.stat().st_mtime > _LEFT_BEHIND
        except OSError:  # gone meanwhile
            continue
        if old:
            shutil.rmtree(left, ignore_errors=True)
