"""The page on which essays are graded: answers side by side, and the rubric of a question.

A form holds all answers that are shown. Whatever cannot be saved comes back as it was typed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from http import HTTPStatus
from typing import Any, Final

from jupyter_server.auth.decorator import authorized
from tornado import web

from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.staff_page.staff_handlers import StaffHandler
from mlsys_widgets.grading.essays.essay_grading import EssayGrading, NewMark
from mlsys_widgets.grading.essays.rubric import state_digest
from mlsys_widgets.grading.gradebook.grade_history import who_runs
from mlsys_widgets.wording.local_time import local_time

#: Answers on a page.
_SHOWN: Final = 6


@dataclass(frozen=True)
class EssaysAddress:
    """What is shown: of which question, which answers, from which on; fields of the address."""

    lab: str
    question: str = ""
    all: str = ""
    mine: str = ""
    names: str = ""
    start: str = ""
    rubric: str = ""

    def at(self, **changes: str) -> dict[str, str]:
        """Return the fields of another place."""
        return {name: value for name, value in asdict(replace(self, **changes)).items() if value}


@dataclass(frozen=True)
class UnsavedMark:
    """What was typed about an answer and is not saved, and why not if it was to be."""

    mark: NewMark
    why: str = ""


class EssaysHandler(StaffHandler):
    """Shows essays, and takes what is given for them."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        await self.answer(self.place(self.get_query_argument))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        place = self.place(self.get_body_argument)
        if place.rubric:
            typed = {name: self.get_body_argument(name, "") for name in _ITEM}
            problem = await asyncio.to_thread(self.change_item, place, typed)
            if problem:
                await self.answer(place, typed=typed, problem=problem)
                return
        else:
            drafts, problem = await asyncio.to_thread(self.give, place)
            if drafts or problem:
                await self.answer(place, drafts=drafts, problem=problem)
                return
        self.redirect(self.address("essays", **place.at(), saved="1"), status=HTTPStatus.SEE_OTHER)

    def place(self, argument: Callable[[str, str], str]) -> EssaysAddress:
        """Return what is asked for."""
        return EssaysAddress(**{name: argument(name, "") for name in EssaysAddress.__match_args__})

    # Doing it; in a thread.

    def change_item(self, place: EssaysAddress, typed: Mapping[str, str]) -> str:
        """Change an item of the rubric as a form says; returns why not, if it cannot be."""
        number = next(_numbers([typed["number"]]), None)
        if typed["number"] and number is None:
            return "the rubric has no such item"
        try:
            points = float(typed["points"] or "0")
        except ValueError:
            return f"{typed['points']!r} is no number of points; write it like 2.5"
        try:
            EssayGrading(Course.at(self.root), place.lab).change_item(
                place.question, number, points, typed["text"],
                removed=typed["do"] == "remove", seen=typed["seen"],
            )  # fmt: skip
        except (OSError, ValueError) as problem:
            return str(problem)
        return ""

    def give(self, place: EssaysAddress) -> tuple[dict[str, UnsavedMark], str]:
        """Save the answer whose button was pressed, or all that were touched.

        Returns drafts that were touched and are not saved, by alias, and why nothing could be
        saved, if so.
        """
        which, touched = self.get_body_argument("save", ""), {}
        for alias in self.get_body_arguments("answer"):
            items = [*_numbers(self.get_body_arguments(f"item.{alias}"))]
            field = {n: self.get_body_argument(f"{n}.{alias}", "") for n in ("comment", "seen")}
            keep = bool(self.get_body_argument(f"keep.{alias}", ""))
            was = self.get_body_argument(f"was.{alias}", "")
            if which == alias or keep or was != _typed(items, field["comment"]):
                touched[alias] = NewMark(items, field["comment"], field["seen"], keep)
        wanted = {alias: each for alias, each in touched.items() if which in (alias, "*")}
        drafts = {alias: UnsavedMark(each) for alias, each in touched.items()}
        try:
            grading = EssayGrading(Course.at(self.root), place.lab)
            logins = {each.alias: each.student for each in grading.answers(place.question)}
            known = {logins[alias]: each for alias, each in wanted.items() if alias in logins}
            refused = grading.give(place.question, known) if known else {}
        except (OSError, ValueError) as problem:
            return drafts, str(problem)
        for alias, mark in wanted.items():
            if alias in logins and logins[alias] not in refused:
                del drafts[alias]
            else:
                why = refused.get(logins.get(alias, ""), "it is no longer in the gradebook")
                drafts[alias] = UnsavedMark(mark, why)
        return drafts, ""

    # Showing it.

    async def answer(self, place: EssaysAddress, **more: Any) -> None:
        """Answer with the page; what was typed and not saved is in it."""
        try:
            shown = await asyncio.to_thread(self.read, place, more.get("drafts", {}))
        except (OSError, ValueError) as problem:
            self.set_status(HTTPStatus.CONFLICT)
            self.show("base", "Essays", problem=problem, here="labs")
            return
        defaults = {"drafts": {}, "typed": {}, "problem": "", "saved": self.saved}
        template = "essay_rubric" if place.rubric and shown["question"] else "essays"
        self.show(template, f"Essays · {place.lab}", **{**defaults, **shown, **more}, here="labs")

    @property
    def saved(self) -> bool:
        """Whether the page follows a form that was saved."""
        return self.request.method == "GET" and bool(self.get_query_argument("saved", ""))

    def read(self, place: EssaysAddress, drafts: Mapping[str, UnsavedMark]) -> dict[str, Any]:
        """Read what the page shows; in a thread."""
        course = Course.at(self.root)
        grading = EssayGrading(course, place.lab)
        questions = grading.questions()
        place = replace(place, question=place.question or next((q.name for q in questions), ""))
        every = grading.answers(place.question) if place.question else []
        mine = {each.alias for each in every if each.grader == who_runs()}
        found = [
            each for each in every
            if each.alias in drafts
            or ((place.all or each.waiting) and (not place.mine or each.alias in mine))
        ]  # fmt: skip
        page = [each for each in found if each.alias >= place.start or each.alias in drafts]
        following = page[_SHOWN].alias if len(page) > _SHOWN else ""
        if following:
            page = [each for each in page if each.alias < following or each.alias in drafts]
        return {
            "place": place, "lab_title": grading.title, "questions": questions,
            "question": grading.question(place.question) if place.question else None,
            "answers": page, "every": every, "mine": mine, "found": len(found),
            "following": following, "typed_digest": _typed,
            "got": lambda number: [e for e in every if e.mark and number in e.mark.items],
            "time": lambda at: local_time(at, course.calendar.zone),
        }  # fmt: skip


_ITEM: Final = ("number", "points", "text", "seen", "do")


def _numbers(words: Iterable[str]) -> Iterator[int]:
    """Read numbers of items; what is none is left out."""
    return (int(each) for each in words if each.isdecimal() and len(each) < 9)


def _typed(items: list[int], comment: str) -> str:
    """Return a word for what an answer's fields hold, as a browser sends it."""
    return state_digest((sorted(items), comment.replace("\r\n", "\n").strip()))
