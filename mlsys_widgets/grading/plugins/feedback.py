"""For nbgrader's feedback: the page that a student gets, without the tests that are hidden.

nbgrader shows them there. With these lines in ``nbgrader_config.py`` it does not, and text that
would keep it busy for hours is shown as it was typed::

    c.GenerateFeedback.preprocessors = [
        "nbgrader.preprocessors.GetGrades",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
        "mlsys_widgets.grading.plugins.feedback.WithoutHiddenTests",
    ]

What a hidden test printed stays: the points, and the sentence about the belief that was recognized.
A scratch cell that nobody used gets no "No response.", because the answer is in the card above it.
Above everything else the page says how to ask for a second look, and what was answered.
"""

from __future__ import annotations

from typing import Any

import nbformat
from nbgrader import utils
from nbgrader.preprocessors import ClearHiddenTests

from mlsys_widgets.grading.feedback.blind import unmake_blind
from mlsys_widgets.grading.feedback.plain_markdown import (
    MOST_IN_NOTEBOOK,
    limited,
    shortened,
    too_long_to_color,
)
from mlsys_widgets.grading.feedback.second_looks_page import second_looks_of
from mlsys_widgets.notebooks.cell_metadata import cell_metadata, grade_id, is_locked


class WithoutHiddenTests(ClearHiddenTests):  # type: ignore[misc]
    """Takes hidden tests out of what is shown, and out of the errors that they raised."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        nb, resources = super().preprocess(nb, resources)
        who = resources.get("nbgrader", {})
        if who.get("student") and who.get("assignment"):
            unmake_blind(nb, who["student"], who["assignment"])
        _hush_scratch_cells(nb.cells)
        left = MOST_IN_NOTEBOOK
        for cell in nb.cells:
            # Here too, because stock nbgrader may have graded it without our other preprocessor.
            if cell.cell_type == "markdown":
                cell.source, left = limited(shortened(cell.source), left)
            elif cell.cell_type == "code" and too_long_to_color(cell.source):
                cell.metadata.magics_language = "text"
        about = resources.get("nbgrader", {})
        paragraph = about and second_looks_of(self.config, about["assignment"], about["student"])
        if paragraph:
            nb.cells.insert(0, nbformat.v4.new_markdown_cell(paragraph, id="second-looks"))
        return nb, resources

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        # Only the instructor's cells: what students write between such words is theirs.
        if utils.is_grade(cell) and is_locked(cell) and self._remove_hidden_test_region(cell):
            cell.source = cell.source.rstrip()
            for output in cell.get("outputs", ()):
                if output.output_type == "error":
                    _say_only_what(output)
        return cell, resources


def _hush_scratch_cells(cells: Any) -> None:
    """Have nothing said about unused cells below a question whose answer the card keeps."""
    asked = {f"{grade_id(cell)}_answer" for cell in cells if "lab.answered(" in cell.source}
    for cell in cells:
        metadata = cell_metadata(cell)
        if metadata.get("comment") == "No response." and grade_id(cell) in asked:
            metadata["comment"] = None


def _say_only_what(error: Any) -> None:
    """Leave an error's last line: the frames above it quote the test."""
    last_line = f"{error.ename}: {error.evalue}" if error.evalue else error.ename
    error.traceback = [last_line]
