"""The cost of grading a submission, for the plan: processor, the one writer's time, and disk."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import grading  # the benchmark beside this one: the same class, the same measure

from classroom.servers import LAB

#: Two classes of these sizes: their difference leaves out what every run costs.
FEW, MANY = 4, 24


def measure(folder: Path) -> dict[str, Any]:
    """Grade a class with ``mlsys grade``; return the cost of one more submission."""
    folder.mkdir()
    course = grading.course(folder / "course", MANY)
    few = _cpu(grading.copy_of(course, "few"), "--students", f"student-00[1-{FEW}]")
    target = grading.copy_of(course, "many")
    many = _cpu(target)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Dask, about ports
        writer = grading.overhead(course)
    return {
        "submissions": MANY,
        "cpu_s_per_submission": round((many - few) / (MANY - FEW), 3),
        "writer_s_per_submission": round(writer, 4),
        "gradebook_kb_per_submission": round(_size(target / "gradebook.db") / MANY / 1e3, 1),
        "files_kb_per_submission": round(
            sum(_size(each / LAB) for step in ("submitted", "autograded")
                for each in (target / step).iterdir()) / MANY / 1e3,
        ),
    }  # fmt: skip


def _cpu(course: Path, *words: str) -> float:
    """Seconds of processor time of a run of ``mlsys grade`` and of all it started."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mlsys_widgets", "grade", LAB, *words],
        cwd=course,
        env=grading.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        raise OSError(f"mlsys grade ends with {process.returncode}: {said.decode()[-500:]}")
    return used.ru_utime + used.ru_stime


def _size(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
