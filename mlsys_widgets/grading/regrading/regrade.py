"""Judging a class again with other keys, from the answers that were kept: nothing is run or read.

First it is said who changes by how much. Applying it writes the gradebook in one transaction, then
the words in the autograded notebooks, then the log. Whoever kills it in between loses nothing: the
points come from the kept answers again, so the next run finds what is left and finishes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from sqlalchemy import bindparam

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.gradebook import gradebook_schema as t
from mlsys_widgets.grading.gradebook.grade_history import REGRADED, GradeHistory
from mlsys_widgets.grading.gradebook.gradebook_writer import LabGradebook
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.gradebook.lab_grades import CellGrade, LabGrade, read_lab_grades
from mlsys_widgets.grading.gradebook.late_penalty import Lateness, late_penalty
from mlsys_widgets.grading.judging.kept_answers import KeptAnswers
from mlsys_widgets.grading.judging.lab_copies import (
    Copies,
    checks_of,
    earlier_versions,
    judged_with,
    keys_of,
)
from mlsys_widgets.grading.judging.scoring import Score
from mlsys_widgets.grading.regrading.regraded_notebook import rewrite_notebook
from mlsys_widgets.grading.telling.judged_hand_ins import JudgedHandIns
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import load

#: Stands for a student in the path of an autograded folder, which is worked out once.
_ANYBODY: Final = "\x00"


@dataclass(frozen=True)
class ProposedGrade:
    """What one student has, and what they would have with the keys as they are now."""

    student: str
    #: All points, with what people gave, extra credit and the late penalty.
    before: float
    after: float
    #: The cells whose automatic points change, before and after.
    questions: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    #: Those of them where points that a person gave stand all the same.
    by_person: tuple[str, ...] = ()
    #: Why cells that could not be judged again keep their points, by name.
    kept: Mapping[str, str] = field(default_factory=dict)
    #: The verdicts.
    scores: tuple[Score, ...] = ()
    #: Whether no points change, but the words on the page: a sentence of a key is another one, an
    #: answer gives no points, or a regrade was killed before it came to the pages.
    only_words: bool = False

    @property
    def changes(self) -> bool:
        """Whether anything in the gradebook changes."""
        return bool(self.questions) or self.before != self.after


@dataclass(frozen=True)
class RegradeProposal:
    """A class, judged again."""

    #: Everybody whose answers were kept.
    grades: Sequence[ProposedGrade]
    #: Who is in the gradebook, but without answers to judge.
    not_kept: Sequence[str] = ()
    #: Graded code cells that only the notebook's own tests judge; they keep their points.
    by_notebook: Sequence[str] = ()
    #: Who has another version of the lab; they are judged with the keys of that.
    other_version: Sequence[str] = ()

    @property
    def changes(self) -> list[ProposedGrade]:
        """Whose grade changes."""
        return [each for each in self.grades if each.changes]


class Regrade:
    """One lab of a course, to be judged again."""

    def __init__(self, course: Course, lab: str, students: str = "*") -> None:
        self._course, self._lab, self._pattern = course, lab, students
        self._home = course.home / "assignments" / lab
        if not self._home.is_dir():
            raise ValueError(
                f"there is no assignments/{lab} in {course.root}; regrade in the folder of the"
                " course, where the lab's checks are"
            )
        keys = keys_of(course, lab)
        load(keys)  # what is wrong with the lab is said before anything else
        self._checks = load_checks(keys)
        earlier = earlier_versions(course, lab, Copies.of(course, lab))
        self._earlier = {each.version: each for each in earlier}
        self._earlier_checks = {each: checks_of(course, lab, each) for each in self._earlier}
        penalty = late_penalty(course, lab)
        moments = JudgedHandIns(course.home, lab).moments
        self._gradebook = LabGradebook(course.db_url, lab, penalty, course.calendar, moments)
        self._log = GradedLog(course.home, lab)
        self._history = GradeHistory(course.home, lab)
        self._lines: dict[str, dict[str, Any]] = {}
        self._old: dict[str, KeptAnswers] = {}
        self._autograded = str(course.work("autograded", _ANYBODY, lab))

    def propose(self) -> RegradeProposal:
        """Judge everybody again; changes nothing."""
        return self._propose(self._gradebook.grades())

    def _propose(self, found: Mapping[str, LabGrade]) -> RegradeProposal:
        self._lines = self._log.read()
        grades = {n: g for n, g in found.items() if fnmatchcase(n, self._pattern)}
        if not grades:
            who = "nobody" if self._pattern == "*" else f"nobody whose name fits {self._pattern!r}"
            raise ValueError(f"{who} is graded in this lab; grade first: mlsys grade {self._lab}")
        proposed, not_kept, other = [], [], []
        for name, grade in grades.items():
            line = self._lines.get(name)
            if line is None:
                not_kept.append(name)
                continue
            answers = KeptAnswers(line)
            version = self._version(name)
            other += [name] if version in self._earlier else []
            self._old[name] = answers
            proposed.append(self._proposed(grade, answers, version))
        cells = self._gradebook.blueprint.cells
        checked = {s.name for each in proposed for s in each.scores if s.judged}
        code = [n for n in self._gradebook.points if cells[n].kind == "code" and n not in checked]
        return RegradeProposal(proposed, not_kept, code if proposed else (), other)

    def _version(self, student: str) -> str:
        """Return the version of the lab somebody was judged as; empty without versions."""
        return str(self._lines[student].get("lab_version", ""))

    def _proposed(self, grade: LabGrade, answers: KeptAnswers, version: str) -> ProposedGrade:
        folder = self._folder(grade.student)
        if version in self._earlier:
            # What its cells are worth in the gradebook is in the log.
            again = answers.judge(self._earlier_checks[version], {}, folder)
        else:
            again = answers.judge(self._checks, self._gradebook.points, folder)
        questions: dict[str, tuple[float | None, float | None]] = {}
        by_person, cells = [], dict(grade.cells)
        for score in again.scores:
            cell = grade.cells.get(score.name)
            if cell is None or not score.judged or score.name in again.kept:
                continue
            if cell.auto != score.auto:
                questions[score.name] = cell.auto, score.auto
                cells[score.name] = _with(cell, score.auto)
                by_person += [score.name] if cell.manual is not None else []
        new = self._with_penalty(replace(grade, cells=cells))[0]
        return ProposedGrade(
            grade.student, grade.total, new.total, questions, tuple(by_person), again.kept,
            again.scores, only_words=not questions and again.scores != answers.scores,
        )  # fmt: skip

    def _with_penalty(self, grade: LabGrade) -> tuple[LabGrade, Lateness | None]:
        late, penalty = self._gradebook.late(
            grade.student, grade.timestamp, grade.extension, grade.earned_by_cell
        )
        return replace(grade, penalty=penalty), late

    def _folder(self, student: str) -> Path:
        """Return the autograded folder of a student."""
        return Path(self._autograded.replace(_ANYBODY, student))

    # Doing it.

    def apply(self, reason: str) -> RegradeProposal:
        """Judge everybody again, and write it down.

        The ``reason`` is in the history of every grade that changes.
        """
        with self._log.alone(), self._history.during(REGRADED, reason, self._gradebook.grades):
            grades = self._gradebook.grades()
            proposal = self._propose(grades)
            late = self._write_gradebook(proposal, grades)
            self._write_notebooks(proposal)
            self._write_log(proposal, late)
        return proposal

    def _write_gradebook(
        self, proposal: RegradeProposal, before: Mapping[str, LabGrade]
    ) -> dict[str, Lateness | None]:
        """Write all points in one transaction; penalties from what is there then."""
        new = {each.student: each for each in proposal.grades}
        late: dict[str, Lateness | None] = {}
        with self._gradebook.connected() as db:
            rows = [
                {
                    "row": before[each.student].cells[name].row,
                    "auto_score": points,
                    # As nbgrader has it: what a person gave stands, and waits for another look.
                    "needs_manual_grade": before[each.student].cells[name].manual is not None,
                }
                for each in proposal.changes
                for name, (_, points) in each.questions.items()
            ]
            if rows:
                db.execute(t.grade.update().where(t.grade.c.id == bindparam("row")), rows)
            penalties = []
            for name, grade in read_lab_grades(db, self._gradebook.assignment).items():
                if name in new:
                    after, late[name] = self._with_penalty(grade)
                    if after.penalty != grade.penalty:
                        value = {"row": grade.notebook, "late_submission_penalty": after.penalty}
                        penalties.append(value)
            if penalties:
                table = t.submitted_notebook
                db.execute(table.update().where(table.c.id == bindparam("row")), penalties)
        self._gradebook.close()
        return late

    def _write_notebooks(self, proposal: RegradeProposal) -> None:
        for each in proposal.grades:
            old = {score.name: score for score in self._old[each.student].scores}
            changed = {
                score.name: (old[score.name], score)
                for score in each.scores
                if score.judged and score != old[score.name]
            }
            if changed:
                rewrite_notebook(self._folder(each.student) / f"{self._lab}.ipynb", changed)

    def _write_log(self, proposal: RegradeProposal, late: Mapping[str, Lateness | None]) -> None:
        present = judged_with(keys_of(self._course, self._lab), self._gradebook.blueprint)
        lines = []
        for each in proposal.grades:
            line = self._lines[each.student]
            cost = late.get(each.student)
            new = {
                **line,
                "flags": [flag.as_data() for flag in line["flags"]],
                "scores": [score.as_data() for score in each.scores],
                "late": cost.as_data() if cost else None,
            }
            if not each.kept:  # keys that could not be applied are for grading from scratch
                own = self._earlier.get(self._version(each.student))
                new["version"] = own.judged_with if own else present
            if new != {**line, "flags": new["flags"]}:
                lines.append(new)
        if lines:
            self._log.add_lines(lines)


def _with(cell: CellGrade, auto: float | None) -> CellGrade:
    return replace(cell, auto=auto)
