"""What a simulated student leaves behind: a notebook, answers, and a ledger that verifies."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mlsys_widgets.classes.released_lab import ReleasedLab, steps_of, text_of
from mlsys_widgets.classes.simulated_answers import NONSENSE, SimulatedStudent
from mlsys_widgets.classes.simulated_work import SimulatedWork, work
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import load
from mlsys_widgets.ledger import Ledger
from tests.grading.classroom import LAB, classroom

END = datetime(2026, 2, 3, 20, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> ReleasedLab:
    root = classroom(tmp_path_factory.mktemp("course") / "course").root
    lab = load(root / "assignments" / LAB)
    notebook = (root / "release" / LAB / f"{LAB}.ipynb").read_text("utf-8")
    steps = steps_of(json.loads(notebook), lab.items(lab.draw("", variants=False)))
    return ReleasedLab(
        lab, load_checks(root / "assignments" / LAB), notebook, {}, {}, steps, False, ""
    )


def worked(released: ReleasedLab, folder: Path, **more: object) -> SimulatedWork:
    student = SimulatedStudent("ann", "1", **{"skill": 5.0, **more})  # type: ignore[arg-type]
    return work(released, student, END, folder)


def test_the_ledger_is_the_students_and_ends_on_time(released: ReleasedLab, tmp_path: Path) -> None:
    done = worked(released, tmp_path)
    ledger = Ledger.open(tmp_path / "ledger.jsonl")
    assert ledger.verify(student="ann", lab=LAB).ok
    last = datetime.fromisoformat(ledger.events()[-1].time)
    assert timedelta(0) <= END - last < timedelta(milliseconds=10)
    assert done.files["ledger.jsonl"] == (tmp_path / "ledger.jsonl").read_bytes()
    assert set(ledger.state().predictions) == {"act1_bound"}


def test_answers_and_essays_are_in_the_ledger(released: ReleasedLab, tmp_path: Path) -> None:
    done = worked(released, tmp_path)
    recorded = Ledger.open(tmp_path / "ledger.jsonl").state().answers
    assert set(done.answers) == {"intensity_flop_per_byte", "limit"}
    items = released.lab.items(released.lab.draw("ann"))
    for name, typed in done.answers.items():
        assert recorded[name].value == items[name].read(typed.text)
    assert len(recorded["advice"].value.split()) > 5


def test_who_types_nonsense_leaves_it_in_scratch_cells(
    released: ReleasedLab, tmp_path: Path
) -> None:
    done = worked(released, tmp_path, nonsense=True)
    cells = {cell.get("id"): text_of(cell) for cell in done.book["cells"]}
    for name, typed in done.answers.items():
        assert typed.text in NONSENSE
        assert cells[f"answer_{name}"] == typed.text


def test_who_stops_early_does_less(released: ReleasedLab, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "some").mkdir()
    worked(released, tmp_path / "all")
    worked(released, tmp_path / "some", does=0.3)
    every, some = (
        len(Ledger.open(tmp_path / name / "ledger.jsonl").events()) for name in ("all", "some")
    )
    assert some < every


def test_who_restarts_leaves_the_old_ledger(released: ReleasedLab, tmp_path: Path) -> None:
    done = worked(released, tmp_path, again=True)
    ledger = Ledger.open(tmp_path / "ledger.jsonl")
    (earlier,) = ledger.earlier
    assert {earlier.name, "ledger.jsonl"} == set(done.files)
    before, after = (each.state().predictions for each in (Ledger.open(earlier), ledger))
    assert before
    assert all(after[name].value == made.value for name, made in before.items())
