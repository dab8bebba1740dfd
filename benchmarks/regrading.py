"""Regrading a class of Lab 07 after a tolerance was changed: from the command to its end.

The class is made by ``mlsys simulate`` and graded by ``mlsys grade`` into nbgrader's own gradebook;
then a key is changed, so that most of the class gets other points. What counts are the seconds of
``mlsys regrade`` as a person waits for them, start of Python included: to show what would change,
to apply it, and to show that nothing is left. ``--keep`` leaves the course for another look;
``--quick`` takes a few submissions.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import findings

from mlsys_widgets.classes.simulation import simulate

ROOT = Path(__file__).resolve().parent.parent
LAB = "lab_07_kernel_fusion"
HONEST = ("right", "mostly-right", "misconceived", "late")
GOAL = 10.0  # seconds for 1,000


def course(folder: Path, students: int) -> None:
    """A course with Lab 07 in nbgrader's gradebook, and a class that is graded."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("assignments", "source", "release"):
        shutil.copytree(ROOT / name / LAB, folder / name / LAB)
    shutil.copyfile(ROOT / "nbgrader_config.py", folder / "nbgrader_config.py")
    (folder / "assignments" / "course.toml").write_text(
        f"[late]\nper_day = 10\n[labs.{LAB}]\nrelease = 2026-09-01T08:00:00Z\n"
        "due = 2026-10-09T20:00:00Z\n"
    )
    run(folder, "nbgrader", "generate_assignment", LAB, "--force")
    simulate(folder, LAB, students, seed=7, kinds=HONEST)
    seconds, said = run(folder, "mlsys_widgets", "grade", LAB)
    print(f"graded {students} in {seconds:.1f} s: {said.splitlines()[-1] if said else ''}")


def run(folder: Path, module: str, *words: str) -> tuple[float, str]:
    """Run a program in the course; seconds, and what it says."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # An installed package is compiled.
    inherited = {n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=folder,
        env={**inherited, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - began
    if done.returncode not in (0, 3):
        sys.exit(f"{module} {' '.join(words)} fails:\n{done.stderr[-2000:]}")
    return seconds, done.stdout


def change_keys(folder: Path) -> int:
    """Give every question another tolerance, and every belief other credit."""
    checks = folder / "assignments" / LAB / "checks.py"
    text, number = re.subn(r"tolerance=([\d.]+)", r"tolerance=\1 * 2", checks.read_text())
    text, more = re.subn(r"credit=([\d.]+)", r"credit=\1 * 0.9", text)
    checks.write_text(text)
    return number + more


def measure(folder: Path, students: int) -> dict[str, Any]:
    """Show, apply, show again."""
    found: dict[str, Any] = {"students": students}
    print(f"load {os.getloadavg()[0]:.1f}; {change_keys(folder)} places of checks.py changed")
    apply = ("--apply", "--reason", "the tolerance was too small")
    steps = (("show", ()), ("apply", apply), ("show again", ()))
    for name, words in steps:
        seconds, said = run(folder, "mlsys_widgets", "regrade", LAB, *words)
        (line,) = (each for each in said.splitlines() if "judged again" in each)
        print(f"  {name:12} {seconds:6.1f} s   {line}")
        found[f"{name.replace(' ', '_')}_s"] = seconds
        found.setdefault("changed", int(line.partition("judged again: ")[2].split()[0]))
        if students == 1000 and seconds > GOAL:
            print(f"  the goal of {GOAL:g} s is not reached")
    seconds, _ = run(folder, "mlsys_widgets", "history", LAB)
    print(f"  {'history':12} {seconds:6.1f} s")
    return {**found, "history_s": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=1000)
    parser.add_argument("--quick", action="store_true", help="20 submissions")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="make the course there")
    parser.add_argument("--publish", action="store_true", help="for the pages to quote")
    arguments = parser.parse_args()
    under = findings.conditions()
    students = 20 if arguments.quick else arguments.students
    with TemporaryDirectory(prefix="mlsys-regrade-") as aside:
        folder = arguments.keep or Path(aside)
        if not (folder / "gradebook.db").exists():
            course(folder, students)
        found = measure(folder, students)
    if arguments.publish and not arguments.quick:
        findings.keep("regrading", "class", found, under)


if __name__ == "__main__":
    main()
