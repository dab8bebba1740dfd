"""Students in the gradebook: added and renamed from a roster, never removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from mlsys_widgets.courses.config import gradebook_url
from mlsys_widgets.courses.environment import tools_on_path
from mlsys_widgets.courses.roster import Student
from mlsys_widgets.labs.course import Course


@dataclass(frozen=True)
class Enrolment:
    """What a roster changed in the gradebook.

    Parameters
    ----------
    added, changed
        Who is new, and of whom something else is known now.
    missing
        Who is in the gradebook and not in the roster; they stay, with all their grades.
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    missing: tuple[str, ...]


def enter_students(course_root: Path, students: Sequence[Student]) -> Enrolment:
    """Enter students into the gradebook of a course: all of them, or none.

    What a roster does not say is left as it is.

    Parameters
    ----------
    course_root
        The folder of the course.
    students
        The class.
    """
    from nbgrader import api
    from sqlalchemy.exc import SQLAlchemyError

    added, changed = [], []
    try:
        url = gradebook_url(course_root)
        course_id = Course(course_root).course_id or "default_course"
        with tools_on_path(), api.Gradebook(url, course_id) as book:
            known = {each.id: each for each in book.db.query(api.Student)}
            for student in students:
                said = {name: value for name, value in asdict(student).items() if value}
                row = known.get(student.id)
                if row is None:
                    book.db.add(api.Student(**said))
                    added.append(student.id)
                    continue
                new = {name: value for name, value in said.items() if getattr(row, name) != value}
                for name, value in new.items():
                    setattr(row, name, value)
                if new:
                    changed.append(student.id)
            book.db.commit()
    except ModuleNotFoundError as problem:
        if problem.name != "psycopg":
            raise
        raise ValueError(
            "the gradebook is on a PostgreSQL server: pip install 'mlsys-widgets[postgres]'"
        ) from None
    except SQLAlchemyError as problem:
        cause = getattr(problem, "orig", None) or problem
        said_first = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
        raise ValueError(
            f"the gradebook of {course_root} cannot be written: {said_first}; mlsys course doctor"
            " says more"
        ) from None
    missing = sorted(set(known) - {each.id for each in students})
    return Enrolment(tuple(added), tuple(changed), tuple(missing))
