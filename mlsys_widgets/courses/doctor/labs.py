"""The course itself: its settings, and whether its labs are built from their text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from mlsys_widgets import __version__
from mlsys_widgets.authoring import Course, labs_of
from mlsys_widgets.courses.bundle_reader import is_newer, manifest_of
from mlsys_widgets.courses.course_id import checked_id
from mlsys_widgets.courses.doctor.finding import Finding, ok, problem, warning
from mlsys_widgets.courses.freshness import stale_labs, start_page_is_stale
from mlsys_widgets.files import ASKS, NBGRADER_CONFIG, START_PAGE
from mlsys_widgets.grading.judging.early_hints import early_hint_problems
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import load

_INERT: Final = "mlsys_widgets.grading.plugins.autograde.WithoutActiveContent"
_ESSAYS: Final = "mlsys_widgets.grading.plugins.autograde.EssaysFromLedger"
#: Whose numbers are tried.
_STUDENTS: Final = tuple(f"student-{k:02}" for k in range(10))


def settings(course: Course) -> Iterator[Finding]:
    """Whether nbgrader's settings can be read and name the course."""
    if not (course.root / NBGRADER_CONFIG).is_file():
        yield problem(
            "settings",
            f"there is no {NBGRADER_CONFIG}",
            "make the course with mlsys course init, or copy the file of another course",
        )
        return
    try:
        name = course.course_id
    except ValueError as trouble:
        yield problem("settings", str(trouble), f"fix {NBGRADER_CONFIG}; it is Python")
        return
    if not name:
        yield problem(
            "settings",
            "the course has no id, and the exchange needs one",
            f'add to {NBGRADER_CONFIG}: c.CourseDirectory.course_id = "my-course"',
        )
        return
    try:
        yield ok("settings", f"the course is {checked_id(name)}")
    except ValueError as trouble:
        yield problem("settings", str(trouble), f"change course_id in {NBGRADER_CONFIG}")
    config = (course.root / NBGRADER_CONFIG).read_text("utf-8")
    if "WithoutActiveContent" not in config:
        yield warning(
            "active content",
            "after stock autograding, formgrader would run scripts that students hand in",
            f'add to {NBGRADER_CONFIG}: c.Autograde.autograde_preprocessors.extend(["{_INERT}"])',
        )
    if "EssaysFromLedger" not in config:
        yield warning(
            "essays",
            "stock nbgrader would not see essays, which students write in cards",
            f'add to {NBGRADER_CONFIG}: c.Autograde.autograde_preprocessors.prepend(["{_ESSAYS}"])',
        )


def limits(course: Course) -> Iterator[Finding]:
    """Whether cards point out errors of form, and nothing else."""
    found = 0
    for name in labs_of(course):
        home = course.root / "assignments" / name
        lab = load(home)
        with TemporaryDirectory() as aside:
            for file, example in lab.examples.items():
                (Path(aside) / file).write_bytes(example())
            troubles = list(early_hint_problems(lab, load_checks(home), Path(aside), _STUDENTS))
        for trouble in troubles[:1]:
            found += 1
            yield warning("hints", f"{name}: {trouble}", f"change assignments/{name}/{ASKS}")
    if not found:
        yield ok("hints", "cards point out errors of form and nothing else")


def freshness(course: Course) -> Iterator[Finding]:
    """Whether the labs are built from what their text says now, by this package."""
    course = Course.at(course.root, given=course.nbgrader)  # with the settings of labs
    labs = labs_of(course)
    if not labs:
        yield problem("labs", "there are none in assignments/", "start one: mlsys new-lab NAME")
        return
    stale = stale_labs(course)
    for lab, reason in stale.items():
        yield problem(
            "labs",
            f"{lab}: {reason}",
            f"mlsys build {lab}; then nbgrader generate_assignment {lab} --force",
        )
    if not stale and start_page_is_stale(course):
        yield warning("labs", f"release/{START_PAGE} does not match the labs", "mlsys build")
    elif not stale:
        yield ok("labs", f"{len(labs)} built from their text")
    manifest = manifest_of(course)
    made_with = manifest.package if manifest else ""
    if is_newer(made_with):
        yield warning(
            "bundle",
            f"made with mlsys-widgets {made_with}, and {__version__} is installed",
            "pip install --upgrade 'mlsys-widgets[ta]'",
        )
