"""The wheel and a bundle, and nothing of this repository, from nothing to grades."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.courses import pack

pytestmark = pytest.mark.timeout(600)

LAB = "lab_01_magnitude"


class Elsewhere:
    """An environment with our wheel, in a folder from which this repository cannot be seen.

    The libraries that the wheel needs are those of this environment, so that nothing is fetched.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        self._run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", folder, root)
        self._run(sys.executable, "-m", "venv", "--without-pip", folder / "env")
        self.python = folder / "env" / "bin" / "python"
        (wheel,) = folder.glob("*.whl")
        here = ("-m", "pip", "--python", self.python, "install", "--no-deps", "--no-index")
        self._run(sys.executable, *here, wheel)
        import nbgrader

        (site,) = (folder / "env").glob("lib/python*/site-packages")
        (site / "libraries.pth").write_text(f"{Path(nbgrader.__file__).parent.parent}\n", "utf-8")

    def _run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        ours = [str(self.folder / "env/bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        done = subprocess.run(
            words,
            cwd=self.folder,
            env={**environment, "PATH": os.pathsep.join(ours), "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, 3), f"{words}\n{done.stdout}\n{done.stderr}"
        return done

    def say(self, code: str) -> str:
        """What a line of Python prints there."""
        return self._run(self.python, "-c", code).stdout.strip()

    def mlsys(self, *words: str | Path) -> str:
        """What ``mlsys`` prints there."""
        return self._run(self.folder / "env" / "bin" / "mlsys", *words).stdout


@pytest.fixture(scope="module")
def elsewhere(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Elsewhere:
    return Elsewhere(root, tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(scope="module")
def course(elsewhere: Elsewhere, root: Path) -> Path:
    """A course of our labs, made there."""
    pack(Course(root), elsewhere.folder / "mlsys.tar.gz")
    (elsewhere.folder / "class.csv").write_text("username,last name\nann,Lee\n", "utf-8")
    told = elsewhere.mlsys(
        "course", "init", "course", "--from", "mlsys.tar.gz", "--roster", "class.csv"
    )
    assert "Made course: the course mlsys." in told
    return elsewhere.folder / "course"


def test_the_package_is_that_of_the_wheel(elsewhere: Elsewhere):
    place = elsewhere.say("import mlsys_widgets; print(mlsys_widgets.__file__)")
    assert Path(place).is_relative_to(elsewhere.folder / "env")


def test_nobody_sees_this_repository(elsewhere: Elsewhere, root: Path):
    assert str(root) not in elsewhere.say("import sys; print(sys.path)").split("'")


def test_a_class_is_graded(elsewhere: Elsewhere, course: Path):
    elsewhere.mlsys(
        "simulate", LAB, "--students", "4", "--kinds", "right,blank", "--course", course
    )
    elsewhere.mlsys("grade", LAB, "--course", course)
    assert len(list((course / "autograded").glob(f"*/{LAB}/{LAB}.ipynb"))) == 4
    grades = elsewhere.mlsys(
        "export", LAB, "--to", "canvas", "--output", "-", "--course", course
    ).splitlines()
    assert len(grades) == 2 + 5  # headings and points possible; four, and ann, who is in the roster
    elsewhere.mlsys("report", LAB, "--course", course)


@pytest.mark.slow
def test_a_changed_lab_goes_into_a_bundle_of_the_next_edition(elsewhere: Elsewhere, course: Path):
    """What the page for TAs says, done there."""
    settings = course / "assignments" / "course.toml"
    text = settings.read_text("utf-8")
    only = {path.name for path in (course / "assignments").iterdir() if path.is_dir()} - {LAB}
    for lab in only:  # three more labs would only take longer
        for each in (course / "assignments" / lab).iterdir():
            if each.is_file():
                each.unlink()
    settings.write_text(text.replace('edition = ""', 'edition = "2028"'), "utf-8")
    told = elsewhere.mlsys("build", "--course", course, "--bundle", "next.tar.gz")
    assert f"source/{LAB}/{LAB}.ipynb" in told
    elsewhere.mlsys("course", "init", "next", "--from", "next.tar.gz", "--course-id", "mlsys-2028")
    following = elsewhere.folder / "next"
    assert not (following / "submitted").exists()
    assert 'edition = "2028"' in (following / "assignments" / "course.toml").read_text("utf-8")
    assert "2028" in (following / "source" / LAB / f"{LAB}.ipynb").read_text("utf-8")
