"""Essays of a submission whose notebook cannot be used: a person can still read and grade them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import nbformat

from mlsys_widgets.grading.feedback.inert import inert_markdown
from mlsys_widgets.notebooks.blueprint import Blueprint
from mlsys_widgets.notebooks.lost_cells import flags_of
from mlsys_widgets.notebooks.remarks import Remark


def notebook_of_essays(
    blueprint: Blueprint, essays: Mapping[str, str], remarks: Iterable[Remark]
) -> nbformat.NotebookNode | None:
    """Make a notebook of recorded essays, in the cells that a person grades; `None` without any.

    Parameters
    ----------
    blueprint
        As the lab was released.
    essays
        What the ledger holds, by name.
    remarks
        Why there is no other notebook.
    """
    cells: list[nbformat.NotebookNode] = []
    for name, source in blueprint.cells.items():
        if name in essays and source.graded and source.kind == "markdown":
            said = {**flags_of(name, source), **source.metadata, "checksum": source.checksum}
            text = inert_markdown(essays[name])
            cells.append(nbformat.v4.new_markdown_cell(text, id=f"essay-{len(cells)}"))
            cells[-1].metadata["nbgrader"] = said
    if not cells:
        return None
    why = "; ".join(remark.sentence for remark in remarks)
    words = f"**This notebook could not be graded**: {why}. What its ledger records was graded."
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(words, id="why"), *cells])
