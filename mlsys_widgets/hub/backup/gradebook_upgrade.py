"""Brings a gradebook to the form that the installed nbgrader reads, after a copy was made.

Runs with the instructor's rights, because the gradebook is the instructor's. A form is a revision
of nbgrader's own migrations; most versions of nbgrader change nothing.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from mlsys_widgets.course.course import Course
from mlsys_widgets.files import write_whole


def upgrade_gradebook(course: Course) -> Path | None:
    """Upgrade the gradebook of a course if its form is old; return a copy of it as it was.

    Returns `None` if there was nothing to do, or it is on a server. Raises `ValueError` if it is
    newer than the installed nbgrader, or cannot be upgraded; then it is as it was.
    """
    gradebook = course.gradebook
    if gradebook is None or not gradebook.exists():
        return None
    from alembic.script import ScriptDirectory
    from nbgrader.dbutil import ALEMBIC_DIR, write_alembic_ini

    script = ScriptDirectory(ALEMBIC_DIR)
    now, wanted = _revision(gradebook), script.get_current_head()
    if now is None or now == wanted:
        return None
    if now not in {each.revision for each in script.walk_revisions()}:
        raise ValueError(
            f"{gradebook} was written by a newer nbgrader (revision {now}); install that one, or"
            " restore a backup"
        )
    with closing(sqlite3.connect(gradebook)) as source, closing(sqlite3.connect(":memory:")) as to:
        source.backup(to)
        before = to.serialize()
    copy = gradebook.with_name(f"{gradebook.name}.before-{wanted}")
    write_whole(copy, before, mode=0o600)
    with TemporaryDirectory() as aside:
        settings = Path(aside) / "alembic.ini"
        write_alembic_ini(str(settings), f"sqlite:///{gradebook}")
        done = subprocess.run(
            [sys.executable, "-m", "alembic", "-c", str(settings), "upgrade", "head"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode or _revision(gradebook) != wanted:
        write_whole(gradebook, before, mode=gradebook.stat().st_mode & 0o777)
        reasons = done.stderr.strip().splitlines() or ["no reason given"]
        raise ValueError(f"{gradebook} could not be upgraded and is as it was: {reasons[-1]}")
    return copy


def _revision(gradebook: Path) -> str | None:
    """Return the form of a gradebook; `None` if it says nothing about it."""
    with closing(sqlite3.connect(gradebook, timeout=30)) as db:
        try:
            found = db.execute("select version_num from alembic_version").fetchone()
        except sqlite3.OperationalError:
            return None
    return str(found[0]) if found else None
