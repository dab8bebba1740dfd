"""A course with two graded labs, written straight into its gradebook."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import create_engine

from mlsys_widgets.course.trial_accounts import note_trial_accounts
from mlsys_widgets.grading.gradebook import gradebook_schema as t

ONE, TWO, THREE = "lab_01_one", "lab_02_two", "lab_03_three"
NOW = datetime.now(UTC).replace(microsecond=0)
#: Student, lab: points of 10, handed in this many days after the due date, and the penalty.
GRADED = {
    ("ann", ONE): (8, -1, 0),
    ("ann", TWO): (5, -1, 0),
    ("ben", ONE): (10, 2, 2),
    ("student", ONE): (10, -1, 0),
}


def day(days: float) -> datetime:
    return NOW + timedelta(days=days)


def two_labs(root: Path, graded: Mapping[tuple[str, str], tuple[float, float, float]]) -> Path:
    """Make a course whose first lab is over, whose second is open, and whose third nobody has."""
    for lab in (ONE, TWO, THREE):
        (root / "assignments" / lab).mkdir(parents=True)
        (root / "assignments" / lab / "lab.py").touch()
    (root / "nbgrader_config.py").write_text("c = get_config()\n")
    lines = [
        f"[labs.{lab}]\ndue = {due:%Y-%m-%dT%H:%M:%S}Z\nweight = {weight}\n"
        for lab, due, weight in ((ONE, day(-3), 1), (TWO, day(4), 3))
    ]
    (root / "assignments" / "course.toml").write_text(
        "".join(lines) + '[sections.evening]\nstudents = ["eve"]\n'
        f"[sections.evening.labs.{ONE}]\ndue = {day(2):%Y-%m-%dT%H:%M:%S}Z\n"
    )
    engine = create_engine(f"sqlite:///{root / 'gradebook.db'}")
    t.assignment.metadata.create_all(engine)
    with engine.begin() as db:
        for name in ("ann", "ben", "eve", "student"):
            db.execute(t.student.insert().values(id=name, first_name=name.title()))
        for lab, due in ((ONE, day(-3)), (TWO, None), (THREE, None)):
            naive = due and due.replace(tzinfo=None)
            db.execute(t.assignment.insert().values(id=lab, name=lab, duedate=naive))
            db.execute(t.notebook.insert().values(id=f"n-{lab}", name=lab, assignment_id=lab))
            db.execute(
                t.base_cell.insert().values(
                    id=f"c-{lab}", name="q", notebook_id=f"n-{lab}", type="GradeCell"
                )
            )
            db.execute(t.grade_cells.insert().values(id=f"c-{lab}", max_score=10.0))
        for (who, lab), (points, late, penalty) in graded.items():
            one, when = f"{who}-{lab}", day(-3 + late).replace(tzinfo=None)
            db.execute(
                t.submitted_assignment.insert().values(
                    id=one, assignment_id=lab, student_id=who, timestamp=when
                )
            )
            db.execute(
                t.submitted_notebook.insert().values(
                    id=f"n-{one}", assignment_id=one, notebook_id=f"n-{lab}", flagged=False,
                    late_submission_penalty=float(penalty),
                )
            )  # fmt: skip
            db.execute(
                t.grade.insert().values(
                    id=f"g-{one}", cell_id=f"c-{lab}", notebook_id=f"n-{one}",
                    auto_score=float(points), needs_manual_grade=False,
                )
            )  # fmt: skip
    engine.dispose()
    note_trial_accounts(root, ["student", "teacher"])
    return root
