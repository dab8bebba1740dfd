"""What the server knows of the steps of a lab, also while its notebook is being saved."""

from __future__ import annotations

import pytest

from mlsys_widgets.server.lab_steps import LabSteps
from tests.handin.conftest import LAB, STEPS, notebook


@pytest.mark.parametrize("half", ["", notebook()[:200]], ids=["empty", "half"])
def test_steps_stay_known_while_a_notebook_is_saved(tmp_path, half):
    path = tmp_path / f"{LAB}.ipynb"
    steps = LabSteps()
    path.write_text(notebook())
    known = steps.of(path)
    assert known
    path.write_text(half)
    assert steps.of(path) == known
    path.write_text(notebook(cells=STEPS[:1]))
    assert len(steps.of(path)) == 1


def test_what_was_never_a_lab_has_no_steps(tmp_path):
    path = tmp_path / "other.ipynb"
    path.write_text("{}")
    assert LabSteps().of(path) == ()
