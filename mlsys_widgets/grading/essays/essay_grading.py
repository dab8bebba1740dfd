"""Grading the essays of a lab by a rubric: the page of staff and ``mlsys essays`` do it with this.

Points and words go into nbgrader's gradebook, where formgrader, feedback, report and exports find
them. An item that changes is written again for everybody who got it, in one transaction. Whoever
saves says which state they have seen; if somebody else has changed it since, nothing is overwritten
and they are told who did.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, select

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.grading_shares import read_shares
from mlsys_widgets.files import ASKS
from mlsys_widgets.grading.essays.rubric import EssayMark, Rubric, RubricItem, state_digest
from mlsys_widgets.grading.essays.rubric_file import RubricFile
from mlsys_widgets.grading.feedback.blind import pseudonym
from mlsys_widgets.grading.gradebook import gradebook_schema as t
from mlsys_widgets.grading.gradebook.grade_history import BY_HAND, GradeHistory, now, who_runs
from mlsys_widgets.grading.gradebook.gradebook_writer import LabGradebook, update_all
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.gradebook.lab_grades import read_lab_grades
from mlsys_widgets.grading.gradebook.late_penalty import late_penalty
from mlsys_widgets.grading.judging.lab_copies import keys_of
from mlsys_widgets.grading.telling.judged_hand_ins import JudgedHandIns
from mlsys_widgets.handin.second_look import clean_words
from mlsys_widgets.labs import Essay, load
from mlsys_widgets.notebooks.cell_metadata import grade_id, text_of
from mlsys_widgets.notebooks.essay_cells import typed_text
from mlsys_widgets.wording.local_time import local_time
from mlsys_widgets.wording.plurals import counted

#: Seconds to wait for a colleague who saves at the same moment.
_PATIENCE: Final = 10.0
#: Bytes of a graded notebook; ours are far smaller.
_LARGEST: Final = 50_000_000


@dataclass(frozen=True)
class EssayQuestion:
    """An essay of a lab that gives points, with its rubric as it is now."""

    name: str
    title: str
    ask: str
    rubric: Rubric


@dataclass(frozen=True)
class EssayAnswer:
    """An essay of one student, and its mark."""

    student: str
    #: What the submission is called where nobody must know whose it is.
    alias: str
    #: The row of the notebook, by which formgrader shows it.
    notebook: str
    #: Reads what was written.
    read: Callable[[], str] = field(repr=False, compare=False)
    #: The TA who grades it, as ``mlsys course split`` has decided; empty if it was not split.
    grader: str
    waiting: bool
    #: What the gradebook has: points and comment of a person.
    points: float | None
    comment: str
    #: What was given by this rubric, if anything.
    mark: EssayMark | None
    #: The items and the comment from which whoever reads it again begins.
    given: tuple[list[int], str]
    #: Whether the gradebook has something else than this rubric gave, as from formgrader.
    is_foreign: bool

    @cached_property
    def text(self) -> str:
        """What was written; empty if nothing was."""
        return self.read()

    @property
    def seen(self) -> str:
        """The state, in a word that a form sends back: mark, text and what came from elsewhere."""
        elsewhere = (self.points, self.comment) if self.is_foreign else None
        return "-".join(state_digest(part) for part in (self.mark, self.text, elsewhere))


@dataclass(frozen=True)
class NewMark:
    """A new mark for an answer."""

    items: Collection[int]
    comment: str
    seen: str  # the state of the answer that they have seen
    keep: bool = False  # whether the comment becomes one that can be used again


class EssayGrading:
    """The essays of one lab."""

    def __init__(self, course: Course, lab: str) -> None:
        if "/" in lab or not (course.home / "assignments" / lab / ASKS).is_file():
            raise ValueError(f"there is no lab {lab} in this course")
        self._course, self._lab = course, lab
        self._book = LabGradebook(
            course.db_url, lab, late_penalty(course, lab), course.calendar,
            JudgedHandIns(course.home, lab).moments,
        )  # fmt: skip
        self._file = RubricFile(course.home, lab)
        declared = load(keys_of(course, lab))
        self.title = declared.title
        items = declared.items(declared.draw("", variants=False))
        self._essays = {
            name: item
            for name, item in items.items()
            if isinstance(item, Essay) and self._book.points.get(name, 0) > 0
        }

    # Reading.

    def questions(self) -> list[EssayQuestion]:
        """Return the essays that give points, in the order of the lab."""
        return [self.question(name) for name in self._essays]

    def question(self, name: str) -> EssayQuestion:
        """Return one essay."""
        essay = self._essays.get(name)
        if essay is None:
            known = ", ".join(self._essays) or "none: its essays, if any, give no points here"
            raise ValueError(f"{self._lab} has no essay {name!r} to grade; it has: {known}")
        items = self._file.items(name) or {
            number: RubricItem(number, points, text)
            for number, (points, text) in enumerate(essay.rubric, 1)
        }
        return EssayQuestion(
            name, essay.title, essay.ask, Rubric(self._book.points[name], [*items.values()])
        )

    def answers(self, name: str) -> list[EssayAnswer]:
        """Return everybody's answers, in an order that tells nothing about who they are."""
        rubric, marks = self.question(name).rubric, self._file.marks(name)
        present = {item.number for item in rubric.items}
        shares, gone = read_shares(self._course.home, self._lab), set(self._course.people.dropped)
        with self._book.connected() as db:
            grades = read_lab_grades(db, self._book.assignment)
            comments = self._comments(db, name)
        self._book.close()
        found = []
        for student, grade in grades.items():
            if name not in grade.cells or student in gone:
                continue
            cell, mark = grade.cells[name], marks.get(student)
            _, comment = comments.get(grade.notebook, ("", ""))
            ours = _in_gradebook(rubric, mark) if mark else (None, "")
            items = [n for n in mark.items if n in present] if mark else []
            found.append(EssayAnswer(
                student, pseudonym(student, self._lab), grade.notebook,
                partial(self._text, student, name), shares.get(student, ""), cell.waiting,
                cell.manual, comment, mark, (items, mark.comment if mark else comment),
                is_foreign=(cell.manual, comment) != ours,
            ))  # fmt: skip
        return sorted(found, key=lambda each: each.alias)

    def _text(self, student: str, question: str) -> str:
        """Return what a student wrote, from the notebook that graders read: it names nobody."""
        path = self._course.work("autograded", student, self._lab) / f"{self._lab}.ipynb"
        source = _source(path, question)
        untouched = self._book.blueprint.cells[question].source
        return "" if source.strip() == untouched.strip() else typed_text(source) or source.strip()

    def _comments(self, db: Connection, name: str) -> dict[str, tuple[str, str]]:
        """Return row and text of a person's comment, by notebook."""
        rows = db.execute(
            select(t.comment.c.notebook_id, t.comment.c.id, t.comment.c.manual_comment)
            .join(t.base_cell, t.base_cell.c.id == t.comment.c.cell_id)
            .join(t.notebook, t.notebook.c.id == t.base_cell.c.notebook_id)
            .where(t.base_cell.c.name == name, t.notebook.c.assignment_id == self._book.assignment)
        )
        return {notebook: (row, words or "") for notebook, row, words in rows}

    # Grading.

    def give(self, name: str, new: Mapping[str, NewMark]) -> dict[str, str]:
        """Grade answers; returns why some were not, by student. The others are saved."""
        with self._alone(f"essay {name}"):
            question, refused = self.question(name), {}
            known = {each.student: each for each in self.answers(name)}
            marks, kept = {}, [*question.rubric.every_item]
            removed = {item.number for item in question.rubric.removed}
            for student, each in new.items():
                numbers, comment = set(each.items), clean_words(each.comment)
                why = self._refusal(known.get(student), each, question.rubric)
                if why:
                    refused[student] = why
                    continue
                if each.keep and comment:
                    numbers, comment = numbers | {_reusable(comment, kept)}, ""
                before = known[student].mark
                # What was removed from the rubric can be put back for whoever had it.
                numbers |= {n for n in before.items if n in removed} if before else set()
                marks[student] = EssayMark(tuple(sorted(numbers)), comment, who_runs(), now())
            rubric = Rubric(question.rubric.most, kept)
            if marks:
                self._write(name, rubric, marks, read=True)
        return refused

    def _refusal(self, answer: EssayAnswer | None, new: NewMark, rubric: Rubric) -> str:
        """Say why an answer cannot be graded so; empty if it can."""
        if answer is None:
            return "it is no longer in the gradebook"
        if gone := [n for n in new.items if n not in {item.number for item in rubric.items}]:
            return f"the rubric has no item {gone[0]} any more"
        mark, text, _ = (*new.seen.split("-"), "", "")[:3]
        given = (sorted(new.items), clean_words(new.comment))
        twice = answer.mark and not answer.is_foreign and given == answer.given
        if new.seen == answer.seen or (twice and text == state_digest(answer.text)):
            return ""
        if answer.mark and mark != state_digest(answer.mark):
            when = local_time(answer.mark.time, self._course.calendar.zone)
            points = counted(rubric.points(answer.mark.items), "point")
            return f"{answer.mark.who} has given it {points} since ({when})"
        if text != state_digest(answer.text):
            return "the student has handed in another text since"
        points = "no points" if answer.points is None else counted(answer.points, "point")
        return f"somebody has given it {points} in formgrader since"

    def change_item(
        self,
        name: str,
        number: int | None,
        points: float,
        text: str,
        *,
        removed: bool = False,
        seen: str,
    ) -> str:
        """Change an item for all who got it, or add one; returns what happened, in sentences.

        Without a ``number`` it adds one. `ValueError` where points or text cannot be, or where
        somebody else has changed the item since it was as in ``seen`` (`RubricItem.seen`, empty for
        a new one).
        """
        new = RubricItem(number or 0, points, text, who_runs(), now(), removed)
        with self._alone(f"rubric of {name}: {new.shown}{' (removed)' if removed else ''}"):
            rubric = self.question(name).rubric
            present = rubric.item(number) if number is not None else None
            if number is not None and present is None:
                raise ValueError(f"the rubric has no item {number}")
            if present and present.seen != seen:
                raise ValueError(
                    f"{present.who or 'somebody'} has changed this item since; it is now:"
                    f" {present.shown}{' (removed)' if present.removed else ''}"
                )
            item = replace(new, number=number or rubric.next_number)
            items = {each.number: each for each in rubric.every_item} | {item.number: item}
            answers = [each for each in self.answers(name) if each.mark]
            ours = {a.student: a.mark for a in answers if a.mark and not a.is_foreign}
            self._write(name, Rubric(rubric.most, [*items.values()]), ours, read=False)
        got = [each for each in answers if each.mark and item.number in each.mark.items]
        stay = sum(each.is_foreign for each in got)
        words = f"{'Removed' if removed else 'Saved'}: {item.shown.rstrip('.')}."
        words += f" {counted(len(got) - stay, 'answer')} changed." if got else ""
        return f"{words} {stay} of formgrader's own points stay." if stay else words

    @contextmanager
    def _alone(self, why: str) -> Iterator[None]:
        """Change grades while nobody else does, and let the history say who did it and why."""
        history = GradeHistory(self._course.home, self._lab)
        with (
            GradedLog(self._course.home, self._lab).alone(_PATIENCE),
            history.during(BY_HAND, why, self._book.grades),
        ):
            yield

    def _write(
        self, name: str, rubric: Rubric, marks: Mapping[str, EssayMark], *, read: bool
    ) -> None:
        """Write the points and words of marks, and then what they follow from.

        Marks are new where a person has just ``read`` these answers.
        """
        known = self._file.items(name)
        with self._book.connected() as db:
            grades = read_lab_grades(db, self._book.assignment)
            rows = self._comments(db, name)
            points, words = [], []
            for student, mark in marks.items():
                score, comment = _in_gradebook(rubric, mark)
                new = {"row": grades[student].cells[name].row, "manual_score": score}
                points.append({**new, **({"needs_manual_grade": False} if read else {})})
                if grades[student].notebook in rows:
                    row = rows[grades[student].notebook][0]
                    words.append({"row": row, "manual_comment": comment})
            update_all(db, t.grade, points)
            update_all(db, t.comment, words)
            self._write_penalties(db, marks)
            changed = [item for item in rubric.every_item if known.get(item.number) != item]
            # The last thing before the gradebook has it: if it fails, neither has changed.
            self._file.add(name, changed, marks if read else {})
        self._book.close()

    def _write_penalties(self, db: Connection, students: Collection[str]) -> None:
        """Let what being late costs follow from the points as they are now."""
        penalties = []
        for student, grade in read_lab_grades(db, self._book.assignment).items():
            if student in students:
                _, cost = self._book.late(
                    student, grade.timestamp, grade.extension, grade.earned_by_cell
                )
                if cost != grade.penalty:
                    penalties.append({"row": grade.notebook, "late_submission_penalty": cost})
        update_all(db, t.submitted_notebook, penalties)


def _reusable(comment: str, items: list[RubricItem]) -> int:
    """Return the number of a comment that can be used again, which is added if it is new."""
    for item in items:
        if item.is_comment and not item.removed and item.text == comment:
            return item.number
    items.append(RubricItem(Rubric(0, items).next_number, 0, comment, who_runs(), now()))
    return items[-1].number


def _in_gradebook(rubric: Rubric, mark: EssayMark) -> tuple[float, str]:
    """Return points and comment as the gradebook has them for a mark."""
    return rubric.points(mark.items), rubric.words(mark.items, mark.comment)


def _source(notebook: Path, name: str) -> str:
    """Return the source of a graded cell; empty if there is no such notebook or cell."""
    try:
        with notebook.open("rb") as file:
            cells = json.loads(file.read(_LARGEST))["cells"]
        found: dict[str, Any] = next((cell for cell in cells if grade_id(cell) == name), {})
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return text_of(found.get("source", ""))
