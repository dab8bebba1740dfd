"""Making a course from a bundle and the installed package alone.

It is made aside and put in its place when it is whole: an init that was interrupted leaves nothing
that looks like a course, and the next one starts over.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final

from packaging.version import InvalidVersion, Version

from mlsys_widgets import __version__
from mlsys_widgets.authoring.landing import write_landing
from mlsys_widgets.courses.bundle import MANIFEST, Manifest
from mlsys_widgets.courses.config import checked_id, name_course, own_gradebook
from mlsys_widgets.courses.enrolling import enter_students
from mlsys_widgets.courses.opening import Bundle, open_bundle
from mlsys_widgets.courses.registering import register_labs
from mlsys_widgets.courses.roster import hub_remarks, read_roster
from mlsys_widgets.files import NBGRADER_CONFIG, OWN_FOLDER
from mlsys_widgets.labs.course import Course

#: Where a course keeps what only tools read.
#: Nobody else reads solutions, keys and grades.
PRIVATE: Final = 0o700

_ELSEWHERE: Final = (
    "The gradebook is outside of this course, so it was left alone. Enter the class with mlsys"
    " course roster, and each lab with nbgrader generate_assignment LAB --force."
)

Say = Callable[[str], None]


def init_course(
    folder: Path,
    bundle: Path,
    *,
    roster: Path | None = None,
    course_id: str | None = None,
    say: Say = lambda _: None,
    remark: Say = lambda _: None,
) -> Path:
    """Make a course: labs, settings, a gradebook with the class, and a page for its TAs.

    Parameters
    ----------
    folder
        Where; it must be empty or not there yet.
    bundle
        What ``mlsys build --bundle`` made.
    roster
        The class, as CSV.
    course_id
        What nbgrader's exchange calls the course; that of the bundle if left out.
    say
        Told what is being done.
    remark
        Told what somebody should know.

    Returns
    -------
    folder
        The course.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; a course needs a folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(
            f"{folder} is not empty; name another folder, or for more students: mlsys course roster"
        )
    students = read_roster(roster) if roster else []
    opened = open_bundle(bundle)
    named = checked_id(course_id or opened.manifest.course or folder.resolve().name)
    _remark_on_version(opened.manifest.package, remark)
    for words in hub_remarks(students):
        remark(words)
    place = folder.resolve()
    place.parent.mkdir(parents=True, exist_ok=True)
    aside = place.with_name(f".{place.name}.unfinished")
    if aside.exists():
        shutil.rmtree(aside)
    aside.mkdir(mode=PRIVATE)
    try:
        _fill(aside, opened, named)
        if own_gradebook(aside) is None:
            remark(_ELSEWHERE)
        else:
            register_labs(aside, opened.manifest.labs, say=say)
            say("Labs and class into the gradebook")
            enter_students(aside, students)
        _settle(aside, place)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder


def _fill(root: Path, bundle: Bundle, course_id: str) -> None:
    """Everything but the gradebook."""
    bundle.extract(root)
    name_course(root, course_id)
    write_landing(root / "release")
    kept = root / OWN_FOLDER
    kept.mkdir()
    (kept / MANIFEST).write_bytes(bundle.manifest.as_bytes())
    said = {
        "course": Course(root).course_id,
        "version": __version__,
        "lab": bundle.manifest.labs[0],
        "labs": "\n".join(f"- `{lab}`" for lab in bundle.manifest.labs),
    }
    template = files("mlsys_widgets.courses") / "template"
    for name, source in (("README.md", "README.md"), (".gitignore", "gitignore")):
        text = (template / f"{source}.template").read_text("utf-8")
        (root / name).write_text(Template(text).substitute(said), "utf-8")


def _settle(made: Path, place: Path) -> None:
    """Put a course that is whole in its place."""
    if not place.exists():
        made.rename(place)
        return
    # A folder that is there keeps its owner and may be where somebody's shell stands. It is closed
    # before keys come into it. The settings come last: without them it is no course.
    place.chmod(stat.S_IMODE(place.stat().st_mode) & ~stat.S_IRWXO)
    for each in sorted(made.iterdir(), key=lambda path: (path.name == NBGRADER_CONFIG, path.name)):
        each.rename(place / each.name)


def is_newer(version: str) -> bool:
    """Whether a version is newer than the one that is installed."""
    try:
        return Version(version) > Version(__version__)
    except InvalidVersion:
        return False


def _remark_on_version(made_with: str, remark: Say) -> None:
    if is_newer(made_with):
        remark(
            f"The bundle was made with mlsys-widgets {made_with}, and {__version__} is installed."
            " Labs may ask for what it does not have: pip install --upgrade 'mlsys-widgets[ta]',"
            " then mlsys course doctor."
        )


def manifest_of(root: Path) -> Manifest | None:
    """What the bundle said of itself that a course was made from; none if it was made otherwise."""
    try:
        return Manifest.read((root / OWN_FOLDER / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return None


def labs_that_differ(root: Path, bundle: Path) -> list[str]:
    """Labs that a bundle has, and the bundle that a course was made from had not, or otherwise.

    Parameters
    ----------
    root
        The course.
    bundle
        What ``mlsys build --bundle`` made since.
    """
    made_from, offered = manifest_of(root), open_bundle(bundle).manifest
    before = made_from.files if made_from else {}
    other = {path for path, digest in offered.files.items() if before.get(path) != digest}
    return [lab for lab in offered.labs if any(f"/{lab}/" in path for path in other)]
