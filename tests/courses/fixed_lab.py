"""A course whose lab was fixed after its release: two versions, an exchange, and work on both."""

from __future__ import annotations

import functools
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from mlsys_widgets.authoring import build, new_lab
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.lab_releases import release_lab
from tests.grading.classroom import made_once

LAB = "lab_02_demo"
NOTE = "Bytes are counted for fp32, and the last question is another one."

#: What the fix changes: a question and its key, its points, and one question for another.
_ASKS = (
    (" in fp16?", " in fp32?"),
    ("points=40", "points=50"),
    ("def limit(p: Parameters)", "def waits(p: Parameters)"),
    ("points=20,\n        title=\"Would twice", "points=30,\n        title=\"Would half"),
    ("sides twice as long", "sides half as long"),
)  # fmt: skip
_CHECKS = (
    ("right = _fused(side)", "right = _fused(side) / 2"),
    ("def limit(given", "def waits(given"),
    ("_fused(2 * given.p.side)", "_fused(given.p.side // 2)"),
)
_TEXT = (
    ('answer="limit"', 'answer="waits"'),
    ('limit = "compute" if 2 * ', 'waits = "compute" if '),
    ("/ (4 * matrix)", "/ (8 * matrix)"),
)


@dataclass(frozen=True)
class FixedLab:
    """The course, and what its two versions are called."""

    root: Path

    @property
    def course(self) -> Course:
        return Course.at(self.root)

    @property
    def versions(self) -> tuple[str, str]:
        first, second = json.loads((self.root / "versions.json").read_text())
        return first, second

    @property
    def outbound(self) -> Path:
        return self.root.parent / "exchange" / "demo" / "outbound" / LAB

    def copy(self, number: int, target: Path) -> Path:
        """What a student fetched of a version; returns the notebook."""
        kept = self.root / ".mlsys" / "versions" / LAB / self.versions[number] / "release"
        shutil.copytree(kept, target)
        return target / f"{LAB}.ipynb"


def edit(path: Path, *changes: tuple[str, str]) -> None:
    """Change a text, or fail if it is not as expected."""
    text = path.read_text("utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text, "utf-8")


def fix(root: Path) -> None:
    """Change the lab's text, questions and keys."""
    home = root / "assignments" / LAB
    edit(home / "asks.py", *_ASKS)
    edit(home / "checks.py", *_CHECKS)
    edit(home / "lab.py", *_TEXT)


def _make(folder: Path) -> None:
    root, exchange = folder / "course", folder / "exchange"
    root.mkdir()
    exchange.mkdir()
    exchange.chmod(0o777)
    new_lab(root, LAB)
    course = Course.at(root)
    build(course, [LAB])
    _settings(root, exchange)
    first = release_lab(Course.at(root), LAB).version.version
    (root / "first_gradebook.db").write_bytes((root / "gradebook.db").read_bytes())
    fix(root)
    build(Course.at(root), [LAB])
    second = release_lab(Course.at(root), LAB, note=NOTE).version.version
    (root / "versions.json").write_text(json.dumps([first, second]))


def _settings(root: Path, exchange: Path) -> None:
    path = root / "nbgrader_config.py"
    kept = [line for line in path.read_text().splitlines() if "EXCHANGE" not in line]
    kept += [
        f"c.Exchange.root = {str(exchange)!r}  # EXCHANGE",
        'c.CourseDirectory.course_id = "demo"',
    ]
    path.write_text("\n".join(kept) + "\n")


@functools.cache
def _original() -> Path:
    return made_once("fixed-lab", _make)


def fixed_lab(target: Path) -> FixedLab:
    """A copy of the course with both versions released, in a folder that does not exist."""
    shutil.copytree(_original(), target, dirs_exist_ok=True)
    _settings(target / "course", target / "exchange")
    # Rehearsed work is done in the days before tests hand it in.
    noted = target / "course" / ".mlsys" / "released.json"
    noted.write_text(json.dumps({LAB: "2026-10-01T08:00:00Z"}))
    return FixedLab(target / "course")
