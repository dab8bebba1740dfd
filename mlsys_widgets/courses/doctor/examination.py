"""All checks, in the order in which you would fix what they find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.doctor import exchange, folders, gradebook, labs, software
from mlsys_widgets.courses.doctor.finding import Finding, problem
from mlsys_widgets.files import NBGRADER_CONFIG

Check = Callable[[Course], Iterator[Finding]]

#: What is checked, with a word for whoever waits.
_OF_THE_MACHINE: Final[tuple[tuple[str, Check], ...]] = (
    ("packages", software.packages),
    ("extensions", software.extensions),
    ("kernel", software.kernel),
    ("sandbox", software.sandbox),
    ("disk", folders.disk),
    ("settings", labs.settings),
)
#: What can be checked once the settings of the course can be read.
_OF_THE_COURSE: Final[tuple[tuple[str, Check], ...]] = (
    ("labs", labs.freshness),
    ("hints", labs.limits),
    ("gradebook", gradebook.gradebook),
    ("exchange", exchange.exchange),
    ("privacy", folders.privacy),
)


def examine(root: Path, *, say: Callable[[str], None] = lambda _: None) -> list[Finding]:
    """Check an installation and the course in a folder.

    Examples
    --------
    It tries everything a class needs, even a kernel and a sandbox, so it takes some seconds; and
    it starts only where there is a course:

    >>> examine(folder, say=print)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: there is no course in ...; name its folder, or make one with: mlsys course init
    FOLDER --from BUNDLE
    """
    if not (root / "assignments").is_dir() and not (root / NBGRADER_CONFIG).is_file():
        raise ValueError(
            f"there is no course in {root.resolve()}; name its folder, or make one with: mlsys"
            " course init FOLDER --from BUNDLE"
        )
    course = Course(root)  # its settings are read once, for all checks
    found: list[Finding] = []
    checks = _OF_THE_MACHINE + (_OF_THE_COURSE if _can_be_read(course) else ())
    for about, check in checks:
        say(about)
        try:
            found += check(course)
        except Exception as trouble:  # one broken thing must not hide what else is broken
            # A ValueError is a sentence of ours.
            kind = "" if isinstance(trouble, ValueError) else f"{type(trouble).__name__}: "
            found.append(problem(about, f"{kind}{trouble}", "fix this, then check again"))
    return found


def _can_be_read(course: Course) -> bool:
    try:
        _ = course.nbgrader
    except ValueError:
        return False
    return True
