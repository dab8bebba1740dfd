"""Which student of the gradebook is which user of the learning system. Nothing is guessed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mlsys_widgets.classes.gradebook_reader import GradebookStudent
from mlsys_widgets.classes.lms_services import LmsMember


@dataclass(frozen=True)
class LmsUser:
    """A student's id in the LMS, or why there is none."""

    #: The id; empty if nobody is meant for certain.
    id: str
    #: What is missing, and what to do.
    problem: str = ""


def match_people(
    students: Iterable[GradebookStudent], members: Sequence[LmsMember] | None
) -> dict[str, LmsUser]:
    """Find the students in the LMS.

    Without the LMS's own list of `members`, the ids in the gradebook count.
    """
    index = None if members is None else _MemberIndex(members)
    found = {each.id: index.find(each) if index else _by_id(each) for each in students}
    taken = Counter(each.id for each in found.values() if each.id)
    for student, user in found.items():
        if taken[user.id] > 1:
            others = [name for name, one in found.items() if one.id == user.id and name != student]
            found[student] = LmsUser("", f"is the same person in the LMS as {', '.join(others)}")
    return found


def _by_id(student: GradebookStudent) -> LmsUser:
    known = student.lms_user_id.strip()
    if known:
        return LmsUser(known)
    return LmsUser(
        "",
        'has no id of the LMS in the gradebook; a roster with the column "lms user id" enters it',
    )


class _MemberIndex:
    """Members by everything that can identify them."""

    def __init__(self, members: Sequence[LmsMember]) -> None:
        self._by: dict[str, dict[str, list[LmsMember]]] = {}
        for each in members:
            if not each.user_id:
                continue
            self._add("id", each.user_id, each)
            self._add("student number", each.sourcedid, each)
            self._add("login", each.login.lower(), each)
            self._add("email", each.email.lower(), each)

    def _add(self, kind: str, key: str, member: LmsMember) -> None:
        if key:
            self._by.setdefault(kind, {}).setdefault(key, []).append(member)

    def find(self, student: GradebookStudent) -> LmsUser:
        asked = {
            "id": student.lms_user_id.strip(),
            "student number": student.lms_user_id.strip(),
            "login": student.id.lower(),
            "email": student.email.strip().lower(),
        }
        hits = {
            kind: one
            for kind, key in asked.items()
            if key and (one := self._by.get(kind, {}).get(key))
        }
        meant = {each.user_id: each for those in hits.values() for each in those}
        if not meant:
            # An id may be a student number, too, and is named once.
            named = [kind for kind, key in asked.items() if key and kind != "student number"]
            tried = ", ".join(f"{kind} {asked[kind]}" for kind in named)
            return LmsUser("", f"is not in the LMS's course under {tried}")
        if len(meant) > 1:
            return LmsUser(
                "", f"could be {len(meant)} people in the LMS's course, by {', '.join(hits)}"
            )
        (member,) = meant.values()
        if not member.active:
            return LmsUser("", "is no longer active in the LMS's course")
        if not member.learner:
            return LmsUser("", "is in the LMS's course, but not as a student")
        return LmsUser(member.user_id)
