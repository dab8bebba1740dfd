"""How long "Run All" takes: every lab's release in a fresh kernel, from start to the last cell.

Compared with a notebook that only imports ipywidgets and bqplot and shows a slider and a figure,
in turns in the same run: the ratio says what the lab itself adds to starting Jupyter's machinery.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 3
BARE = [
    "import bqplot\nimport ipywidgets",
    "ipywidgets.FloatSlider()",
    "bqplot.Figure(marks=[bqplot.Lines(x=[1.0, 2.0], y=[1.0, 2.0], "
    "scales={'x': bqplot.LogScale(), 'y': bqplot.LogScale()})])",
]


def bare() -> nbformat.NotebookNode:
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in BARE])
    book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    return book


def seconds(book: nbformat.NotebookNode, folder: Path) -> float:
    """Start a kernel, run all cells, end the kernel."""
    client = NotebookClient(book, timeout=120, resources={"metadata": {"path": str(folder)}})
    start = time.perf_counter()
    client.execute(stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    os.environ["MLSYS_STUDENT"] = "student-01"
    print(f"Run all cells in a fresh kernel, median of {ROUNDS} (goal: at most 8 s)")
    for release in sorted((ROOT / "release").glob("*/*.ipynb")):
        ours, theirs = [], []
        for _ in range(ROUNDS):
            with TemporaryDirectory() as folder:
                here = Path(shutil.copytree(release.parent, Path(folder) / release.stem))
                ours.append(seconds(nbformat.read(release, 4), here))
                theirs.append(seconds(bare(), here))
        a, b = statistics.median(ours), statistics.median(theirs)
        print(f"  {release.stem:24} {a:5.2f} s   {a / b:4.1f}× only the libraries ({b:.2f} s)")


if __name__ == "__main__":
    main()
