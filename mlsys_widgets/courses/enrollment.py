"""Students in the gradebook: added and renamed from a roster, never removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from mlsys_widgets.authoring.environment import tools_on_path
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.roster import RosterEntry
from mlsys_widgets.wording.system_errors import database_reason


@dataclass(frozen=True)
class Enrollment:
    """What a roster changed in the gradebook."""

    #: ``added``, ``changed``: who is new, and whose entry was corrected.
    added: tuple[str, ...]
    changed: tuple[str, ...]
    #: Who is in the gradebook but not in the roster; they stay, with all their grades.
    missing: tuple[str, ...]


def enter_students(course: Course, students: Sequence[RosterEntry]) -> Enrollment:
    """Enter students into the gradebook of a course: all of them, or none.

    What the roster leaves empty stays as it is in the gradebook.

    Examples
    --------
    >>> course = Course(folder)
    >>> _ = enter_students(course, [RosterEntry("ann"), RosterEntry("ben")])
    >>> enter_students(course, [RosterEntry("ann", "Ann", "Lee"), RosterEntry("cleo")])
    Enrollment(added=('cleo',), changed=('ann',), missing=('ben',))
    """
    from nbgrader import api
    from sqlalchemy.exc import SQLAlchemyError

    added, changed = [], []
    try:
        course_id = course.course_id or "default_course"
        with tools_on_path(), api.Gradebook(course.db_url, course_id) as book:
            known = {each.id: each for each in book.db.query(api.Student)}
            for student in students:
                given = {name: value for name, value in asdict(student).items() if value}
                row = known.get(student.id)
                if row is None:
                    book.db.add(api.Student(**given))
                    added.append(student.id)
                    continue
                new = {name: value for name, value in given.items() if getattr(row, name) != value}
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
        raise ValueError(
            f"the gradebook of {course.root} cannot be written: {database_reason(problem)}; mlsys"
            " course doctor says more"
        ) from None
    missing = sorted(set(known) - {each.id for each in students})
    return Enrollment(tuple(added), tuple(changed), tuple(missing))
