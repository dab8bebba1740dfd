"""``mlsys new-lab``: a lab of your own, started from a small one that works."""

from __future__ import annotations

import argparse

from mlsys_widgets.authoring.new_lab import new_lab


def run_new_lab(arguments: argparse.Namespace) -> int:
    """Start a lab, and say what to do next."""
    folder = new_lab(arguments.course, arguments.name)
    print(f"Wrote {folder}: a small lab that works. Change its three files, then run:")
    print(f"  mlsys build {arguments.name}")
    print(f"  pytest --nbval source/{arguments.name}   # outputs are as they were built")
    print("  mlsys build --practice FOLDER   # copies that judge each answer at once, to try it")
    return 0
