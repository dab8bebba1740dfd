"""A made-up class that was graded, once for all tests of a run."""

from __future__ import annotations

import functools
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

from mlsys_widgets.classes.simulation import record_path, simulate
from tests.grading.classroom import LAB, classroom, grade, made_once

#: Enough for one of every kind.
STUDENTS = 40
DUE = "2026-10-09 20:00:00.000000"


@functools.cache
def graded_class() -> Path:
    """The course; whoever changes something in it takes a copy."""
    return made_once("simulated", _make)


def _make(root: Path) -> None:
    course = classroom(root)
    sql(root, "update assignment set duedate = ?", DUE)
    simulate(root, LAB, STUDENTS, seed=7)
    grade(course)


def copy_of_class(root: Path) -> Path:
    """The graded class, to change something in."""
    shutil.copytree(graded_class(), root, dirs_exist_ok=True)
    return root


def made(root: Path) -> dict[str, dict[str, Any]]:
    """What the simulation says that it made."""
    summary = json.loads(record_path(root, LAB).read_text("utf-8"))
    return {each["student"]: each for each in summary["students"]}


def of_kind(root: Path, kind: str) -> list[str]:
    """Who handed in something of a kind."""
    return [name for name, each in made(root).items() if each["kind"] == kind]


def sql(root: Path, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """Ask or change the gradebook."""
    with sqlite3.connect(root / "gradebook.db") as db:
        found = db.execute(query, values).fetchall()
    db.close()
    return found


def work_of(root: Path, student: str) -> Path:
    """The folder of a submission."""
    return root / "submitted" / student / LAB
