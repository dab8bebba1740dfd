"""``pytest --nbval source``, as an instructor types it: no variable set, no copy made.

The command itself runs over all labs in ``make nbval``. Here a checkout stands in for it, so that
what is around the command can be varied: who runs it, and which physics it finds.
"""

from __future__ import annotations

import shutil

import nbformat
import pytest

from mlsys_widgets.authoring import Course, build, new_lab
from mlsys_widgets.authoring.notebook import CHECKED, VARIES
from mlsys_widgets.files import LEDGER, NBGRADER_CONFIG
from tests.labs.conftest import LABS
from tests.labs.rehearsal import ROOT, run_tool

pytestmark = pytest.mark.timeout(900)

#: Somebody whose login, remembered name and place at a hub say something else.
SOMEBODY = {"LOGNAME": "somebody", "USER": "somebody", "JUPYTERHUB_USER": "ta-7"}
OWN = "lab_02_own"
#: Also wants a file beside its notebook: what this machine measured.
WITH_A_FILE = "lab_11_roofline"


def nbval(course, *options, **variables):
    """Run the command of an instructor in a course."""
    return run_tool(
        course, "pytest", *(options or ("--nbval",)), "source", "-q",
        PYTEST_ADDOPTS="", HOME=str(course), **{**SOMEBODY, **variables},
    )  # fmt: skip


def files(course):
    """Every file of a course but pytest's and Python's caches."""
    kept = (p for p in course.rglob("*") if p.is_file())
    caches = {"__pycache__", ".pytest_cache", ".jupyter", ".local", ".ipython", ".cache"}
    return {p.relative_to(course): p.read_bytes() for p in kept if not caches & set(p.parts)}


def checkout(folder, *labs):
    """What a clone has around its notebooks."""
    for name in (NBGRADER_CONFIG, "pyproject.toml"):
        folder.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    for lab in labs:
        kept = shutil.ignore_patterns(LEDGER, "__pycache__")
        shutil.copytree(ROOT / "source" / lab, folder / "source" / lab, ignore=kept)
    return folder


def passed(done):
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
    assert "xfailed" not in done.stdout


def slow(value):
    return pytest.param(value, marks=pytest.mark.slow)


@pytest.mark.parametrize("name", [WITH_A_FILE, *(slow(n) for n in LABS if n != WITH_A_FILE)])
def test_outputs_are_the_same_whoever_runs_it_and_nothing_is_left_behind(tmp_path, name):
    course = checkout(tmp_path / "clone", name)
    before = files(course)
    passed(nbval(course))
    assert files(course) == before


def test_lax_compares_what_is_graded(tmp_path):
    course = checkout(tmp_path / "clone", LABS[0])
    before = files(course)
    passed(nbval(course, "--nbval-lax"))
    assert files(course) == before


@pytest.mark.parametrize("option", ["--nbval", slow("--nbval-lax")])
def test_a_change_in_physics_fails(tmp_path, option):
    """Once, with the first lab: another bandwidth, and the numbers of the notebook are others."""
    package = changed_physics(tmp_path / "changed", "3.35e12", "3.45e12")
    done = nbval(checkout(tmp_path / "clone", LABS[0]), option, PYTHONPATH=package)
    assert done.returncode == 1, done.stdout[-3000:]
    assert "Cell outputs differ" in done.stdout


def changed_physics(folder, old, new):
    """The package with another constant in its table of devices; returns where to import it."""
    package = folder / "mlsys_widgets"
    shutil.copytree(ROOT / "mlsys_widgets", package, ignore=shutil.ignore_patterns("__pycache__"))
    table = package / "physics" / "devices.py"
    text = table.read_text("utf-8")
    assert old in text
    table.write_text(text.replace(old, new), "utf-8")
    return str(folder)


def test_a_lab_of_ones_own_is_held_to_its_outputs_too(tmp_path):
    """What ``mlsys new-lab`` starts passes as it is built, and fails when a number changes."""
    course = tmp_path / "course"
    new_lab(course, OWN)
    build(Course.at(course))
    before = files(course)
    passed(nbval(course))
    assert files(course) == before
    path = course / "source" / OWN / f"{OWN}.ipynb"
    text = path.read_text("utf-8")
    path.write_text(text.replace("of 40 points", "of 41 points"), "utf-8")
    done = nbval(course)
    assert done.returncode == 1
    assert "Cell outputs differ" in done.stdout


def test_what_is_not_compared_says_so(lab):
    """Every code cell of source/ has its outputs, unless it carries nbval's tag."""
    book = nbformat.read(ROOT / "source" / lab / f"{lab}.ipynb", 4)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    varies = [cell for cell in code if VARIES in cell.metadata.get("tags", ())]
    assert 0 < len(varies) <= 2
    for cell in code:
        # nbval does not compare a cell that seems never to have run.
        assert (cell.execution_count is None) == (cell in varies), cell.id
        assert not (cell in varies and cell.outputs), cell.id
        if CHECKED in cell.metadata.get("tags", ()):
            assert cell.outputs, cell.id
