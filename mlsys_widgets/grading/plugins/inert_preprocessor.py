"""For stock nbgrader: what autograding writes runs nothing in the browser of whoever reads it.

``mlsys grade`` does the same by itself. In ``nbgrader_config.py``::

    inert = "mlsys_widgets.grading.plugins.inert_preprocessor.WithoutActiveContent"
    c.Autograde.autograde_preprocessors.extend([inert])
"""

from __future__ import annotations

from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor

from mlsys_widgets.grading.feedback.blind import make_blind
from mlsys_widgets.grading.feedback.inert import make_inert


class WithoutActiveContent(NbGraderPreprocessor):  # type: ignore[misc]
    """Takes scripts, frames, remote content and the student's name out of a notebook that ran."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        make_inert(nb)
        who = resources.get("nbgrader", {})
        if who.get("student") and who.get("assignment"):
            make_blind(nb, who["student"], who["assignment"])
        return nb, resources
