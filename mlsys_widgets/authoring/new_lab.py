"""A new lab: a small one that works, for its author to change."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final

from mlsys_widgets.files import ASKS, CHECKS, COURSE_SETTINGS, LAB_TEXT, NBGRADER_CONFIG

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{2,49}")
_FILES: Final = (LAB_TEXT, ASKS, CHECKS)


def new_lab(root: Path, name: str) -> Path:
    """Write the files of a small lab that builds, runs and grades as it is.

    Examples
    --------
    >>> home = new_lab(folder, "lab_02_caches")
    >>> sorted(file.name for file in home.iterdir())
    ['asks.py', 'checks.py', 'lab.py']
    >>> new_lab(Path("course"), "Caches")
    Traceback (most recent call last):
    ...
    ValueError: the lab's name is 'Caches'; it must be 3 to 50 lowercase letters, digits and _,
    beginning with a letter, such as lab_02_caches
    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"the lab's name is {name!r}; it must be 3 to 50 lowercase letters, digits and _,"
            " beginning with a letter, such as lab_02_caches"
        )
    folder = root / "assignments" / name
    if folder.exists():
        raise ValueError(f"{folder} exists already; choose another name, or change that lab")
    title = name.replace("_", " ").capitalize()
    words = {"name": name, "title": title, "act": "What limits a matrix product?"}
    template = files("mlsys_widgets.authoring") / "template"
    folder.mkdir(parents=True)
    for each in _FILES:
        text = (template / f"{each}.template").read_text("utf-8")
        (folder / each).write_text(Template(text).substitute(words), "utf-8")
    for missing, source in (
        (folder.parent / COURSE_SETTINGS, COURSE_SETTINGS),
        (root / NBGRADER_CONFIG, NBGRADER_CONFIG),
    ):
        if not missing.exists():
            missing.write_text((template / f"{source}.template").read_text("utf-8"), "utf-8")
    return folder
