"""The folder of an autograded submission, where formgrader and feedback look for it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import nbformat

from mlsys_widgets.files import lay_out
from mlsys_widgets.sandbox.remarks import Remark


def write_autograded(target: Path, files: Mapping[str, bytes], *, mode: int) -> None:
    """Replace the folder of a submission: all of it, or nothing.

    Parameters
    ----------
    target
        The folder.
    files
        Paths below it, and their contents.
    mode
        Permissions of each file.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    lay_out(fresh, files, mode=mode)
    old = target.with_name(f".{target.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    with suppress(FileNotFoundError):
        target.rename(old)
    fresh.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def replacement_notebook(remarks: Iterable[Remark]) -> str:
    """Make a notebook that says why there is none, for formgrader and for feedback."""
    why = "; ".join(remark.sentence for remark in remarks)
    cell = nbformat.v4.new_markdown_cell(f"**This notebook could not be graded**: {why}.", id="why")
    return nbformat.writes(nbformat.v4.new_notebook(cells=[cell])) + "\n"
