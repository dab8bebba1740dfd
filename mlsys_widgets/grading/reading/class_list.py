"""Who is in the class, as the gradebook knows it, and whose file an upload is.

A file says by its name and by its ledger whose work it is, and whoever sends it can write both. So
a name that nobody has becomes no student of its own, and a file that a website calls Eve's is not
taken for Ben's.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Final, Self

from sqlalchemy import exists, select
from sqlalchemy.exc import SQLAlchemyError

from mlsys_widgets.grading.gradebook import gradebook_schema as t
from mlsys_widgets.grading.gradebook.gradebook_connection import connected

#: What a website puts before the name of a file, up to the first of these, is who uploaded it.
_END: Final = re.compile(r"[_+]|(?<=\w)-(?=\d)")


class ClassList:
    """The students of a course by login, each with the names that websites may call them.

    ``names`` are first and last, or empty, by login. Without anybody the class is not known, and
    nobody is a stranger.
    """

    def __init__(self, names: Mapping[str, tuple[str, str]] | None = None) -> None:
        self._names = names or {}

    @classmethod
    def of(cls, db_url: str) -> Self:
        """Read the class from a gradebook; a class that nobody entered is not known.

        Grading enters whoever hands in. Only a roster enters people by name, or people who have
        handed in nothing yet.
        """
        handed_in = exists().where(t.submitted_assignment.c.student_id == t.student.c.id)
        known = select(t.student.c.id, t.student.c.first_name, t.student.c.last_name, handed_in)
        try:
            with connected(db_url) as db:
                rows = db.execute(known).all()
        except (SQLAlchemyError, ModuleNotFoundError):  # grading itself says what is wrong with it
            return cls()
        names = {login: (first or "", last or "") for login, first, last, _ in rows}
        entered = any(first or last or not done for _, first, last, done in rows)
        return cls(names if entered else None)

    def without(self, strangers: Collection[str]) -> ClassList:
        """Return the class without people who are in the gradebook only since they were graded.

        Whoever has a name was entered by somebody meanwhile.
        """
        return ClassList(
            {each: names for each, names in self._names.items()
             if each not in strangers or any(names)}
        )  # fmt: skip

    def stranger(self, student: str) -> str:
        """Say that somebody is not in the class, and whom they may mean; empty if they are."""
        if not self._names or student in self._names:
            return ""
        near = difflib.get_close_matches(student, self._names, 1)
        return f"{student} is not in this class.{f' Did they mean {near[0]}?' if near else ''}"

    def uploader(self, name: str, lab: str) -> str | None:
        """Return who uploaded a file, by what a website put before its name; `None` if unclear.

        Examples
        --------
        >>> known = ClassList({"eve": ("Eve", "Adams"), "yy": ("", "")})
        >>> (
        ...     known.uploader("eve_78_lab-yy.zip", "lab"),
        ...     known.uploader("adamseve_7_lab-yy.zip", "lab"),
        ... )
        ('eve', 'eve')
        >>> known.uploader("Eve Adams_78_assignsubmission_file_lab-yy.zip", "lab")
        'eve'
        >>> known.uploader("lab-yy.zip", "lab")
        """
        before = name.partition(lab)[0]
        first = _letters(_END.split(before)[0])
        if not first:
            return None
        found = [
            login for login, (given, family) in self._names.items()
            if first in {_letters(each) for each in (login, given + family, family + given)}
        ]  # fmt: skip
        return found[0] if len(found) == 1 else None


def _letters(words: str) -> str:
    """Return the letters and digits of a name, without accents and capitals."""
    plain = unicodedata.normalize("NFKD", words).casefold()
    return "".join(each for each in plain if each.isalnum())
