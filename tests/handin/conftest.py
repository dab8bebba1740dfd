"""A student's folder with a small lab in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlsys_widgets.ledger import Ledger

LAB = "lab_02_demo"
STUDENT = "ann"


def step(kind: str, name: str, **more: Any) -> dict[str, Any]:
    said = {"kind": kind, "id": name, "title": name.replace("_", " ").capitalize(), **more}
    return {"cell_type": "code", "metadata": {"mlsys": said}, "source": "", "outputs": []}


STEPS = [
    step("prediction", "act1_bound", act=1),
    step("reflection", "act1_why"),
    step("instrument", "curve"),
    step("scratch", "scratch"),
    step("quiz", "what_do_you_know", act=2, needs=["quiz.1", "quiz.2"]),
    step("measurement", "measurement", title="Measure this machine"),
    step("design", "design", act=0, title="What you pass on"),
]


def notebook(lab: str = LAB, cells: list[Any] | None = None, **more: Any) -> str:
    about = {"lab": lab, "title": "Lab 02: A demonstration", **more}
    return json.dumps({"metadata": {"mlsys": about}, "cells": STEPS if cells is None else cells})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a notebook that has a step of every kind."""
    made = tmp_path / LAB
    made.mkdir()
    (made / f"{LAB}.ipynb").write_text(notebook(), "utf-8")
    return made


@pytest.fixture
def ledger_in() -> Callable[..., Ledger]:
    """A ledger with one prediction."""

    def made(folder: Path, student: str = STUDENT, lab: str = LAB) -> Ledger:
        led = Ledger.open(folder / "ledger.jsonl", lab=lab, student=student)
        led.commit_prediction("act1_bound", "B", 3)
        return led

    return made
