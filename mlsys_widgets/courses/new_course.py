"""A new course, made from a bundle and the installed package alone.

It is made in a folder beside its place and moved there when it is complete: an init that was
interrupted leaves nothing that looks like a course, and the next one starts over.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final

from mlsys_widgets import __version__
from mlsys_widgets.authoring.start_page import write_start_page
from mlsys_widgets.authoring.version_keeper import keep_version
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.bundle import MANIFEST
from mlsys_widgets.courses.bundle_reader import Bundle, is_newer, open_bundle
from mlsys_widgets.courses.course_id import checked_id, name_course
from mlsys_widgets.courses.course_secret import give_secret
from mlsys_widgets.courses.enrollment import enter_students
from mlsys_widgets.courses.gradebook_registration import register_labs
from mlsys_widgets.courses.roster import hub_remarks, read_roster
from mlsys_widgets.files import NBGRADER_CONFIG, OWN_FOLDER
from mlsys_widgets.labs.about_lab import title_of

#: Nobody else may read solutions, keys and grades.
PRIVATE: Final = 0o700

_ELSEWHERE: Final = (
    "The gradebook is outside this course, so it was left alone. Enter the class with mlsys course"
    " roster, and each lab with nbgrader generate_assignment LAB --force."
)
_NEWER: Final = (
    f"The bundle was made with mlsys-widgets {{}}, and {__version__} is installed, which may lack"
    " what the labs need: pip install --upgrade 'mlsys-widgets[ta]', then mlsys course doctor."
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

    The folder must be empty or not exist yet; nothing is left behind when this fails. The exchange
    calls the course by the bundle's id unless ``course_id`` is given.

    Examples
    --------
    >>> import nbformat
    >>> from mlsys_widgets.authoring import new_lab
    >>> from mlsys_widgets.courses import pack
    >>> lab = "lab_02_caches"
    >>> _ = new_lab(folder / "labs", lab)
    >>> labs = Course.at(folder / "labs")
    >>> for step in ("source", "release"):  # in place of what mlsys build writes
    ...     labs.folder(step, lab).mkdir(parents=True)
    ...     notebook = labs.folder(step, lab) / f"{lab}.ipynb"
    ...     nbformat.write(nbformat.v4.new_notebook(), notebook)
    >>> bundle = pack(labs, folder / "labs.tar.gz")
    >>> made = init_course(folder / "mlsys", bundle, course_id="mlsys-2027", say=print)
    lab_02_caches into the gradebook
    Labs and class into the gradebook
    >>> Course.at(made).course_id, (made / "gradebook.db").is_file()
    ('mlsys-2027', True)
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; a course needs a folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(
            f"{folder} is not empty; name another folder. To add students: mlsys course roster"
        )
    students = read_roster(roster) if roster else []
    opened = open_bundle(bundle)
    named = checked_id(course_id or opened.manifest.course or folder.resolve().name)
    if is_newer(opened.manifest.package):
        remark(_NEWER.format(opened.manifest.package))
    for words in hub_remarks(students):
        remark(words)
    place = folder.resolve()
    place.parent.mkdir(parents=True, exist_ok=True)
    aside = place.with_name(f".{place.name}.unfinished")
    if aside.exists():
        shutil.rmtree(aside)
    aside.mkdir(mode=PRIVATE)
    try:
        course = give_secret(_fill(aside, opened, named), opened.manifest.labs)
        if course.gradebook is None:
            remark(_ELSEWHERE)
        else:
            register_labs(course, opened.manifest.labs, say=say)
            say("Labs and class into the gradebook")
            enter_students(course, students)
        for lab in opened.manifest.labs:
            keep_version(course, lab)  # before anybody changes its questions or keys
        _settle(aside, place)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder


def _fill(root: Path, bundle: Bundle, course_id: str) -> Course:
    """Write everything but the gradebook."""
    bundle.extract(root)
    course = name_course(Course(root), course_id)
    write_start_page(root / "release")
    kept = root / OWN_FOLDER
    kept.mkdir()
    (kept / MANIFEST).write_bytes(bundle.manifest.as_bytes())
    values = {
        "course": course.course_id,
        "version": __version__,
        "lab": bundle.manifest.labs[0],
        "labs": "\n".join(_listed(root / "release" / lab) for lab in bundle.manifest.labs),
    }
    template = files("mlsys_widgets.courses") / "template"
    for name, source in (("README.md", "README.md"), (".gitignore", "gitignore")):
        text = (template / f"{source}.template").read_text("utf-8")
        (root / name).write_text(Template(text).substitute(values), "utf-8")
    return course


def _listed(lab: Path) -> str:
    """Return a lab as the course's page lists it: by its title, and by the name to type."""
    title = title_of(lab)
    return f"- {title} (`{lab.name}`)" if title else f"- `{lab.name}`"


def _settle(made: Path, place: Path) -> None:
    """Move a complete course into its place."""
    if not place.exists():
        made.rename(place)
        return
    # A folder that exists keeps its owner, and somebody's shell may be in it. It is closed to
    # others before keys arrive. The settings come last: without them it is not a course.
    place.chmod(stat.S_IMODE(place.stat().st_mode) & ~stat.S_IRWXO)
    for each in sorted(made.iterdir(), key=lambda path: (path.name == NBGRADER_CONFIG, path.name)):
        each.rename(place / each.name)
