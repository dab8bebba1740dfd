"""Entering labs into nbgrader's gradebook, as ``nbgrader generate_assignment`` does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence

from mlsys_widgets.authoring.release import generate_release
from mlsys_widgets.course.course import Course
from mlsys_widgets.files import OWN_FOLDER


def register_labs(
    course: Course, labs: Sequence[str], *, say: Callable[[str], None] = lambda _: None
) -> None:
    """Enter labs and their cells into the gradebook; ``release/`` stays as it is."""
    # nbgrader writes what it releases, and that is there already.
    aside = course.home / OWN_FOLDER / "released"
    for lab in labs:
        say(f"{lab} into the gradebook")
        try:
            generate_release(
                course,
                lab,
                root=course.home,
                db_url=course.db_url,
                folder=str(aside.relative_to(course.home)),
            )
        finally:
            shutil.rmtree(aside, ignore_errors=True)
