"""The folder of an autograded submission, where formgrader and feedback look for it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import nbformat

from mlsys_widgets.files import lay_out
from mlsys_widgets.notebooks.new_cells import markdown_cell, notebook_of
from mlsys_widgets.notebooks.remarks import Remark


def fresh_beside(target: Path) -> Path:
    """Return where the folder of a submission is put together, before it takes its place."""
    return target.with_name(f".{target.name}.new")


def lay_out_fresh(fresh: Path, files: Mapping[str, bytes], *, mode: int) -> None:
    """Lay out files in a folder that is not in its place yet, and nothing else in it.

    What a run that broke off has left there is removed.
    """
    shutil.rmtree(fresh, ignore_errors=True)
    lay_out(fresh, files, mode=mode)


def put_in_place(fresh: Path, target: Path) -> None:
    """Replace the folder of a submission: all of it, or nothing."""
    old = target.with_name(f".{target.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    with suppress(FileNotFoundError):
        target.rename(old)
    fresh.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def forget_fresh(fresh: Path) -> None:
    """Remove a folder that will not take its place, and the one around it if nothing is left."""
    shutil.rmtree(fresh, ignore_errors=True)
    with suppress(OSError):
        fresh.parent.rmdir()


def replacement_notebook(remarks: Iterable[Remark]) -> nbformat.NotebookNode:
    """Make a notebook that says why there is none, for formgrader and for feedback."""
    why = "; ".join(remark.sentence for remark in remarks)
    return notebook_of([markdown_cell(f"**This notebook could not be graded**: {why}.", "why")])
