"""Where a how-to starts: one function for each kind, made once and copied for each how-to."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.howto.follower import private
from tests.hub.running import Hub

#: A hub with ann and ben, whose folder, address and users are its own on this machine.
A_RUNNING_HUB = "a running hub"
ROOT = Path(__file__).resolve().parents[2]
LAB = "lab_01_magnitude"
ROSTER = """\
username,first name,last name,email
ann,Ann,Lee,ann@example.edu
ben,Ben,Ray,ben@example.edu
cleo,Cleo,Wu,cleo@example.edu
"""

CALENDAR = f"""
[labs.{LAB}]
release = 2026-10-19T08:00:00Z
due = 2027-02-01T23:59:00Z
"""


@dataclass(frozen=True)
class Place:
    """A folder to work in, and a home that belongs to nobody else."""

    folder: Path
    home: Path
    #: Words of the page, and what they are here.
    instead: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return private(self.home, ROOT)

    def mlsys(self, *commands: str) -> None:
        """Run commands of ours, all in one process; 3 says that somebody should look."""
        code = (
            "from mlsys_widgets.cli import main\n"
            f"for words in {[each.split() for each in commands]!r}:\n"
            "    assert main(words) in (0, None, 3), words\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"


class UnknownStart(Exception):
    """A page names a start that is not here."""


class Starts:
    """Makes each start once, in a folder that lives as long as the test run."""

    def __init__(self, base: Path, hub: Callable[[], Hub]) -> None:
        self._base, self._hub = base, hub
        self._made: dict[str, Place] = {}

    def place(self, kind: str, where: Path) -> Place:
        """A fresh copy of a start; all that need a hub share one."""
        if kind == A_RUNNING_HUB:
            return self._beside_hub(where)
        made = self._once(kind)
        folder, home = where / made.folder.name, where / "home"
        shutil.copytree(made.folder, folder, symlinks=True)
        shutil.copytree(made.home, home, symlinks=True)
        return Place(folder, home)

    def _beside_hub(self, where: Path) -> Place:
        hub = self._hub()
        place = Place(where / "work", where / "home", {
            "/srv/mlsys_hub": str(hub.places.root), "127.0.0.1:8000": f"127.0.0.1:{hub.port}",
            "ann": hub.names["ann"], "ben": hub.names["ben"],
        })  # fmt: skip
        place.folder.mkdir()
        place.home.mkdir()
        return place

    def _once(self, kind: str) -> Place:
        if kind not in KINDS:
            known = ", ".join(sorted([*KINDS, A_RUNNING_HUB]))
            raise UnknownStart(f"no start is called “{kind}”: {known}")
        if kind not in self._made:
            base = self._base / kind.replace(" ", "_")
            before, name, make = KINDS[kind]
            if before:
                place = self.place(before, base)
                if place.folder.name != name:
                    place = Place(place.folder.rename(base / name), place.home)
            else:
                place = Place(base / name, base / "home")
                place.folder.mkdir(parents=True)
                place.home.mkdir()
            make(place)
            self._made[kind] = place
        return self._made[kind]


def an_empty_folder(place: Place) -> None:
    """Nothing at all."""


def a_bundle(place: Place) -> None:
    """What a professor begins with: the course in one file, and a list of the class.

    A course of one lab, because each lab costs seconds; tests/courses/test_wheel.py has them all.
    """
    from mlsys_widgets.course.course import Course
    from mlsys_widgets.courses import pack

    small = place.home / "small"
    for part in ("assignments", "source", "release"):
        shutil.copytree(ROOT / part / LAB, small / part / LAB)
    for name in ("assignments/course.toml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, small / name)
    pack(Course(small), place.folder / "course.tar.gz")
    shutil.rmtree(small)
    (place.folder / "students.csv").write_text(ROSTER, "utf-8")


def a_new_course(place: Place) -> None:
    """A course with ann, ben and cleo, without dates; nothing is released."""
    bundle = place.folder / "course.tar.gz"
    roster = place.folder / "students.csv"
    for each in (bundle, roster):  # a course is made in an empty folder
        each.rename(place.home / each.name)
    place.mlsys(
        f"course init . --from {place.home / bundle.name} --roster {place.home / roster.name}"
        " --course-id mlsys-2027"
    )


def a_course(place: Place) -> None:
    """The same with a date for its first lab, which students can fetch."""
    with (place.folder / "assignments" / "course.toml").open("a", encoding="utf-8") as settings:
        settings.write(CALENDAR)
    place.mlsys("course calendar", f"course release {LAB}")


def a_class_that_handed_in(place: Place) -> None:
    """Invented students have handed in the first lab of a new course."""
    place.mlsys(f"simulate {LAB} --students 6 --kinds right,mostly-right,misconceived,late,copied")


def a_graded_class(place: Place) -> None:
    """The same, graded."""
    place.mlsys(f"grade {LAB}")


def a_graded_class_with_essays(place: Place) -> None:
    """The same where deeper parts count, so that essays wait for a person."""
    with (place.folder / "assignments" / "course.toml").open("a", encoding="utf-8") as settings:
        settings.write('\ndeeper = "required"\n')
    place.mlsys(f"build {LAB}", f"course release {LAB}")
    a_class_that_handed_in(place)
    a_graded_class(place)


def a_fetched_lab(place: Place) -> None:
    """The folder of ann, who has fetched a lab and done nothing in it yet."""
    shutil.copytree(ROOT / "release" / LAB, place.folder / LAB)
    place.mlsys("whoami ann")


def a_lab_in_progress(place: Place) -> None:
    """The same folder, once ann has committed her first prediction."""
    from mlsys_widgets.ledger import Ledger

    ledger = Ledger.open(place.folder / LAB / "ledger.jsonl", lab=LAB, student="ann")
    ledger.commit_prediction("act1_gap", "B", 3)


def a_lab_of_your_own(place: Place) -> None:
    """A new lab, built and not changed yet."""
    place.mlsys("new-lab lab_02_caches", "build")


#: What each start is called: what it is made from, the name of its folder, and what makes it.
KINDS: dict[str, tuple[str | None, str, Callable[[Place], None]]] = {
    "an empty folder": (None, "work", an_empty_folder),
    "a bundle": (None, "work", a_bundle),
    "a new course": ("a bundle", "my_course", a_new_course),
    "a course": ("a new course", "my_course", a_course),
    "a class that handed in": ("a new course", "my_course", a_class_that_handed_in),
    "a graded class": ("a class that handed in", "my_course", a_graded_class),
    "a graded class with essays": ("a new course", "my_course", a_graded_class_with_essays),
    "a fetched lab": ("an empty folder", "labs", a_fetched_lab),
    "a lab in progress": ("a fetched lab", "labs", a_lab_in_progress),
    "a lab of your own": ("an empty folder", "my_course", a_lab_of_your_own),
}
