"""Notebooks that tests make: cells of code that Python 3 runs."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode

#: Without a name JupyterLab asks which kernel to start.
PYTHON = {"name": "python3", "display_name": "Python 3", "language": "python"}


def notebook_of(*cells: str | NotebookNode, **metadata: object) -> NotebookNode:
    """Return a notebook of these cells; a text is a cell of code."""
    made = [nbformat.v4.new_code_cell(each) if isinstance(each, str) else each for each in cells]
    return nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": PYTHON, **metadata})


def write_notebook(path: Path, *cells: str | NotebookNode, **metadata: object) -> Path:
    """Write such a notebook."""
    nbformat.write(notebook_of(*cells, **metadata), path)
    return path
