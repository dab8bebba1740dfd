"""Every lab, from its release to a notebook that validates, as a student goes through it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from mlsys_widgets.labs.identity import VARIABLE
from tests.browser.lab_path import Student
from tests.browser.pages import in_theme, no_serious_violation, restart_and_run_all, settled
from tests.sampling import EXAMPLE, keeps_pictures

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
LABS = sorted(path.parent.name for path in ROOT.glob("release/*/asks.py"))


@pytest.fixture(scope="module")
def workspace(lab_server) -> Path:
    """Where the student keeps the labs side by side: later ones look for earlier ones."""
    folder = lab_server.folder / "my_labs"
    folder.mkdir()
    return folder


WALKS = [EXAMPLE, *(pytest.param(lab, marks=pytest.mark.slow) for lab in LABS if lab != EXAMPLE)]


@pytest.mark.parametrize("lab", WALKS)
def test_a_student_goes_through_a_lab(lab, workspace, lab_server, open_notebook, run_all):
    notebook = Path(shutil.copytree(ROOT / "release" / lab, workspace / lab)) / f"{lab}.ipynb"
    page = open_notebook(notebook)
    run_all(page)
    student = Student(page, ROOT / "assignments" / lab, notebook.parent, lab_server.student)

    # Nothing is answered: everything runs, says what it waits for, and gives nothing away.
    assert student.trouble() == []
    locked = page.locator(".mlsys-locked")
    expect(locked).not_to_have_count(0)
    expect(page.get_by_text("Opens after you")).not_to_have_count(0)
    look(page, student, "begun", themes=("Light",))

    # Wrong, malformed or missing three times out of four; counts agree at every answer.
    student.errs = True
    student.work_through()
    student.agrees()
    assert student.trouble() == []

    # Then a typo where code is written: it stops nothing.
    student.leave_a_typo()
    restart_and_run_all(page)
    student.agrees()
    student.answer_again()
    student.fix_the_typo()
    assert student.trouble() == []
    student.finds_everything()
    look(page, student, "done")
    no_serious_violation(page, ".jp-OutputArea-output")

    # A new kernel, then a new page: everything is found again.
    restart_and_run_all(page)
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    assert student.trouble() == []
    student.finds_everything()
    page.reload()
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.content?.notebookConfig")
    student.finds_everything()
    assert "Success! Your notebook passes all the tests." in validated(notebook, lab_server.student)


@pytest.mark.slow
def test_a_slow_machine_shows_everything_again_after_a_reload(
    workspace, lab_server, open_notebook, run_all
):
    lab = "lab_07_kernel_fusion"
    folder = Path(shutil.copytree(ROOT / "release" / lab, workspace / "slow" / lab))
    page = open_notebook(folder / f"{lab}.ipynb")
    run_all(page)
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    cards = page.locator(".mlsys-lab-frame, .mlsys-locked")
    shown = cards.count()
    # Then outputs are drawn before the kernel has told about their widgets.
    slow = page.context.new_cdp_session(page)
    slow.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.reload()
    expect(cards).to_have_count(shown, timeout=90_000)
    expect(page.get_by_text("model not found")).to_have_count(0)


def validated(notebook: Path, student: str) -> str:
    """What nbgrader says to the file that was saved."""
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "validate", notebook.name],
        cwd=notebook.parent,
        env={**os.environ, VARIABLE: student},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def look(page: Page, student: Student, when: str, themes=("Light", "Dark")) -> None:
    """Keep pictures of the top, of each part and of the end, to be looked at."""
    if not keeps_pictures():
        in_theme(page, themes[-1])
        return
    folder = ROOT / "build" / "screenshots" / "labs"
    folder.mkdir(parents=True, exist_ok=True)
    cells = enumerate(student.book.cells)
    parts = [k for k, c in cells if c.cell_type == "markdown" and re.match("##? ", c.source)]
    page.set_viewport_size({"width": 1400, "height": 2400})
    for theme in themes:
        in_theme(page, theme)
        for number, index in enumerate([*parts, len(student.book.cells) - 1]):
            student.cell(index).evaluate("cell => cell.scrollIntoView()")
            settled(page)
            name = f"{student.lab.name}-{when}-{theme.lower()}-{number:02d}.png"
            page.screenshot(path=folder / name)
    page.set_viewport_size({"width": 1400, "height": 1000})
