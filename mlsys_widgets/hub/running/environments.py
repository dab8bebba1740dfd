"""Where the environment of users goes when the installed version changes.

Servers that run keep the files that they have: an environment in use is never changed. The new
version gets a folder of its own, and the old one stays until nobody uses it and the new one has
started a hub. If the new one cannot be made, nothing has happened.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from mlsys_widgets.hub.places import Places
from mlsys_widgets.hub.running.interpreter import STAMP, differs_in_package_alone, is_fresh
from mlsys_widgets.hub.running.running_hub import uses


def folder_for(places: Places) -> Path:
    """Return a folder for the installed version: an environment that has it, or a free one."""
    made = [each for each in places.environments if (each / STAMP).exists()]
    for folder in made:
        if is_fresh(folder):
            return folder
    current = current_environment(places)
    if current and differs_in_package_alone(current) and not uses(current):
        return current  # replacing one package takes seconds, and pip undoes what fails
    for folder in places.environments:
        if folder != current and not uses(folder):
            # It may be old, or have broken off: begin from nothing.
            (folder / STAMP).unlink(missing_ok=True)
            return folder
    raise ValueError(
        "all environments of this hub are in use by servers of older versions; stop some on the"
        " hub's admin page, then start it again"
    )


def current_environment(places: Places) -> Path | None:
    """Return the environment that was complete last; `None` before the first."""
    made = [each for each in places.environments if (each / STAMP).exists()]
    return max(made, key=lambda each: (each / STAMP).stat().st_mtime, default=None)


def remove_others(places: Places, python: Path) -> list[Path]:
    """Remove environments that nobody uses any more; return which."""
    gone = []
    for folder in places.environments:
        if folder.exists() and not python.is_relative_to(folder) and not uses(folder):
            shutil.rmtree(folder, ignore_errors=True)
            gone.append(folder)
    return gone
