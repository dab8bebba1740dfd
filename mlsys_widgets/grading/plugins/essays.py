"""For stock nbgrader: essays, written in their cards, appear in the cells that a person grades.

``mlsys grade`` does the same by itself. In ``nbgrader_config.py``::

    essays = "mlsys_widgets.grading.plugins.essays.EssaysFromLedger"
    c.Autograde.autograde_preprocessors.prepend([essays])
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor

from mlsys_widgets.grading.reading.recorded_answers import place_essays, recorded_essays
from mlsys_widgets.labs import load
from mlsys_widgets.labs.identity import worked_as


class EssaysFromLedger(NbGraderPreprocessor):  # type: ignore[misc]
    """Puts essays from the ledger beside a notebook into its cells."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        folder = Path(resources["metadata"]["path"])
        try:
            lab = load(folder)
        except ValueError:  # not a lab of ours
            return nb, resources
        owner = worked_as(resources["nbgrader"]["student"], folder)
        place_essays(nb.cells, recorded_essays(folder, lab, owner))
        return nb, resources
