"""nbval runs an instructor's notebook again: a change in physics fails the build.

That every notebook gives the committed outputs when it is run again is tested where it is built;
here nbval itself is tried, with the first lab and, in the long suite, with all of them.
"""

from __future__ import annotations

import shutil

import pytest

from tests.labs.conftest import LABS
from tests.labs.rehearsal import ROOT, put_examples, run_tool

pytestmark = pytest.mark.timeout(900)


def nbval(folder, lab, **variables):
    """Run nbval over a copy of the committed notebook, as its instructor."""
    shutil.copytree(ROOT / "source" / lab, folder, ignore=shutil.ignore_patterns("ledger.jsonl"))
    put_examples(folder)
    (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    return run_tool(
        folder, "pytest", "-q", "--nbval-lax", "-p", "no:cacheprovider", f"{lab}.ipynb",
        PYTEST_ADDOPTS="", MLSYS_STUDENT="instructor", **variables,
    )  # fmt: skip


def slow(lab):
    return pytest.param(lab, marks=pytest.mark.slow)


@pytest.mark.parametrize("name", [LABS[0], *map(slow, LABS[1:])])
def test_every_notebook_runs_as_it_was_committed(tmp_path, name):
    done = nbval(tmp_path / name, name)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
    assert "failed" not in done.stdout


def test_a_change_in_physics_fails(tmp_path):
    """Once, with the first lab: another bandwidth, and the numbers of the notebook are others."""
    package = tmp_path / "changed" / "mlsys_widgets"
    shutil.copytree(ROOT / "mlsys_widgets", package, ignore=shutil.ignore_patterns("__pycache__"))
    table = package / "physics" / "devices.py"
    text = table.read_text("utf-8")
    assert "3.35e12" in text
    table.write_text(text.replace("3.35e12", "3.45e12"), "utf-8")
    done = nbval(tmp_path / "run", LABS[0], PYTHONPATH=str(package.parent))
    assert done.returncode == 1, done.stdout[-3000:]
    assert "Cell outputs differ" in done.stdout
