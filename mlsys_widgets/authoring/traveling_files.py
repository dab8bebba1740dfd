"""The files of a lab that go to students beside its notebook."""

from __future__ import annotations

from pathlib import Path

from mlsys_widgets.authoring.student_source import student_asks, student_module
from mlsys_widgets.files import ASKS, LAB_TEXT
from mlsys_widgets.labs.lab_modules import modules_beside


def traveling(home: Path, lab: str) -> dict[str, str]:
    """The files that go to students beside the notebook, as they go there."""
    asks = student_asks((home / ASKS).read_text("utf-8"), lab)
    beside = modules_beside(home, ASKS, LAB_TEXT).values()
    return {
        ASKS: asks,
        **{path.name: student_module(path.read_text("utf-8"), lab) for path in beside},
    }
