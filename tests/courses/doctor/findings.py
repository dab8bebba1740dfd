"""What the doctor says about one thing, for tests that break it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from mlsys_widgets.course.course import Course
from mlsys_widgets.courses import Finding

Check = Callable[[Course], Iterator[Finding]]


def the_one(check: Check, root: Path, about: str) -> Finding:
    """The finding about one thing."""
    (found,) = (each for each in check(Course(root)) if each.about == about)
    return found


def is_broken(check: Check, root: Path, about: str, said: str, fix: str) -> None:
    found = the_one(check, root, about)
    assert found.level == "problem", found
    assert re.search(said, found.said), found
    assert fix in found.fix, found


def is_doubtful(check: Check, root: Path, about: str, said: str, fix: str) -> None:
    found = the_one(check, root, about)
    assert found.level == "warning", found
    assert re.search(said, found.said), found
    assert fix in found.fix, found


def is_well(check: Check, root: Path, about: str) -> Finding:
    found = the_one(check, root, about)
    assert (found.level, found.fix) == ("ok", ""), found
    return found


def doctor_elsewhere(root: Path, *before: str, **environment: str) -> dict[str, dict[str, str]]:
    """Run the doctor in a process of its own; return its findings by what they are about."""
    done = subprocess.run(
        [*before, sys.executable, "-m", "mlsys_widgets", "course", "doctor", root, "--json"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    return {each["about"]: each for each in json.loads(done.stdout)}


def name_gradebook(course: Path, url: str) -> None:
    with (course / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.CourseDirectory.db_url = {url!r}\n")
