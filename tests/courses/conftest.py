"""A small course of one lab, built once, its bundle, and a course made from that."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from mlsys_widgets.authoring import Course, build, new_lab
from mlsys_widgets.cli import main
from mlsys_widgets.courses import init_course, pack
from mlsys_widgets.courses.course_id import name_course

LAB = "lab_02_demo"
CLASS = "username,first name,last name\nann,Ann,Lee\nbob,Bob,Ray\n"


def students(course: Path) -> dict[str, tuple[str | None, ...]]:
    """Who is in the gradebook of a course: names, email, id in the learning system."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        return {s.id: (s.first_name, s.last_name, s.email, s.lms_user_id) for s in book.students}


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course as a TA has it who wrote a lab; nobody may change it."""
    root = tmp_path_factory.mktemp("built") / "course"
    new_lab(root, LAB)
    name_course(Course(root), "demo")
    build(Course.at(root))
    return root


@pytest.fixture
def written(built: Path, tmp_path: Path) -> Path:
    """A copy of that course, to be changed."""
    return Path(shutil.copytree(built, tmp_path / "written"))


@pytest.fixture(scope="session")
def bundle(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its bundle."""
    return pack(Course(built), tmp_path_factory.mktemp("bundle") / "demo.tar.gz")


@pytest.fixture(scope="session")
def made(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course made from the bundle, with two students; nobody may change it."""
    folder = tmp_path_factory.mktemp("made")
    roster = folder / "roster.csv"
    roster.write_text(CLASS, "utf-8")
    return init_course(folder / "course", bundle, roster=roster)


@pytest.fixture
def course(made: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of the course that was made, to be broken, with an exchange that works."""
    root = Path(shutil.copytree(made, tmp_path / "course"))
    # Reachable for everybody, which pytest's own folders are not.
    exchange = Path(f"/tmp/mlsystest-exchange-{os.getpid()}")
    shutil.rmtree(exchange, ignore_errors=True)
    exchange.mkdir()
    exchange.chmod(0o777)
    with (root / "nbgrader_config.py").open("a") as config:
        config.write(f'\nc.Exchange.root = "{exchange}"\n')
    yield root
    shutil.rmtree(exchange, ignore_errors=True)


@pytest.fixture(scope="session")
def graded_once(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course in which three invented students handed in, and were graded."""
    root = Path(shutil.copytree(made, tmp_path_factory.mktemp("people") / "course"))
    assert main(["simulate", LAB, "--students", "3", "--course", str(root)]) == 0
    assert main(["grade", LAB, "--course", str(root)]) == 0
    return root


@pytest.fixture
def graded(graded_once: Path, tmp_path: Path) -> Path:
    root = Path(shutil.copytree(graded_once, tmp_path / "course"))
    exchange = tmp_path / "exchange"
    inbound = exchange / "demo" / "inbound"
    inbound.mkdir(parents=True)
    for student in (each.name for each in (root / "submitted").iterdir()):
        shutil.copytree(
            root / "submitted" / student / LAB, inbound / f"{student}+{LAB}+2026-11-01 UTC+abc"
        )
    with (root / "nbgrader_config.py").open("a") as config:
        config.write(f'\nc.Exchange.root = "{exchange}"\n')
    return root


class Disk:
    """A small disk of its own, where we may mount one."""

    def __init__(self, place: Path, size: str) -> None:
        if os.geteuid() != 0:
            pytest.skip("only root can mount a small disk")
        place.mkdir()
        self.place = place
        made = self._mount("-t", "tmpfs", "-o", f"size={size},mode=755", "mlsystest", str(place))
        if made.returncode:
            pytest.skip(f"this machine lets nobody mount: {made.stderr.strip()}")

    def _mount(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["mount", *words], check=False, capture_output=True, text=True)

    def close_to_writers(self) -> None:
        """Nobody writes there any more, not even root."""
        done = self._mount("-o", "remount,ro", str(self.place))
        assert done.returncode == 0, done.stderr

    def fill(self) -> None:
        """Leave no room on it."""
        with suppress(OSError), (self.place / "filler").open("wb", buffering=0) as filler:
            for _ in range(100_000):
                filler.write(bytes(1024))

    def remove(self) -> None:
        """Unmount it."""
        subprocess.run(["umount", self.place], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Disk]:
    """A disk of 64 kB."""
    disk = Disk(tmp_path / "small", "64k")
    yield disk
    disk.remove()


@pytest.fixture
def course_disk(tmp_path: Path) -> Iterator[Disk]:
    """A disk on which a course has room, and little more."""
    disk = Disk(tmp_path / "large", "8m")
    yield disk
    disk.remove()
