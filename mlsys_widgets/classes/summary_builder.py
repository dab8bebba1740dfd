"""Summarizes a class: reads gradebook, graded log, checks and ledgers of a lab."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.classes import statistics as st
from mlsys_widgets.classes.class_members import class_members
from mlsys_widgets.classes.gradebook_reader import Grades, Standing, grades
from mlsys_widgets.classes.neighbor_keys import NeighborKeys, neighbor_keys
from mlsys_widgets.classes.prediction_distance import DISTANCES, SIDES, distance, is_right
from mlsys_widgets.classes.question_statistics import QuestionStatistics
from mlsys_widgets.classes.responses import key_of, numbers_used, response, second_chance
from mlsys_widgets.classes.study_record import StudyRecord, read_study_record
from mlsys_widgets.classes.summary import (
    BeliefCount,
    Calibration,
    ClassSummary,
    OwnWordsLine,
    PredictedOption,
    PredictionSummary,
    QuestionKind,
    QuestionSummary,
    SubmissionRow,
)
from mlsys_widgets.course.course import Course
from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.judging.flags import Flag
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.keys import Checks, Given, Key, NumberKey
from mlsys_widgets.labs import (
    Choice,
    Code,
    Essay,
    Item,
    Lab,
    Number,
    Parameters,
    Prediction,
    Quiz,
    Record,
    load,
)
from mlsys_widgets.labs.asked import Checked
from mlsys_widgets.labs.own_words import OWN_WORDS, own_words_name

#: How many students must type the same wrong number before the report mentions it.
_SEVERAL: Final = 3
_KINDS: Final[Mapping[type, QuestionKind]] = {
    Number: "number", Choice: "choice", Record: "record", Essay: "essay", Code: "code",
}  # fmt: skip
#: What became of an answer that somebody gave and that is graded.
_ANSWERED: Final = ("right", "partly", "wrong")


def class_summary(
    lab: str,
    course: str | os.PathLike[str] = ".",
    *,
    names: bool = False,
    now: datetime | None = None,
) -> ClassSummary:
    """Summarize how a class did in a lab.

    Parameters
    ----------
    lab : str
        The lab, for example ``lab_07_kernel_fusion``.
    names : bool
        Whether rows name their students. By default nothing in the summary names anybody.
    now : datetime
        The present, if it is not now: whoever has handed in nothing may still have time.

    Returns
    -------
    ClassSummary
        Scores, questions, predictions and flags, as plain data.

    Raises
    ------
    ValueError
        If there is no such lab, or the gradebook does not know it.

    Examples
    --------
    A lab that the gradebook knows, before anybody has handed it in:

    >>> from nbgrader.api import Gradebook
    >>> from mlsys_widgets.authoring import new_lab
    >>> from mlsys_widgets.authoring.environment import tools_on_path  # nbgrader calls alembic
    >>> lab = "lab_02_caches"
    >>> with tools_on_path():
    ...     _ = new_lab(folder, lab)
    ...     with Gradebook(f"sqlite:///{folder}/gradebook.db") as book:
    ...         _ = book.add_assignment(lab), book.add_notebook(lab, lab)
    ...         _ = book.add_grade_cell("limit", lab, lab, max_score=20, cell_type="code")
    ...     summary = class_summary(lab, folder)
    >>> summary, summary.most
    (<ClassSummary of lab_02_caches: 0 submissions>, 20.0)
    >>> [(question.title, question.mean_earned) for question in summary.questions]
    [('Would twice the side do?', None)]
    """
    root = Path(course)
    found = Course.at(root)
    home = found.folder("assignments", lab)
    if not home.is_dir():
        raise ValueError(f"there is no assignments/{lab} in {root.resolve()}")
    return _SummaryBuilder(found, lab, home).summary(names=names, now=now)


@dataclass
class _Submission:
    """Everything about one submission."""

    #: Whose it is, and what the gradebook says about it.
    student: str
    standing: Standing
    #: Its entry in the graded log; empty if ``mlsys grade`` did not see it.
    line: Mapping[str, Any]
    study: StudyRecord | None
    #: What the lab's checks need to compute this student's keys.
    given: Given
    #: Whether each of the student's predictions was right, by name.
    predictions: dict[str, bool] = field(default_factory=dict)
    #: What became of each answer, in the words of `QuestionSummary`.
    outcomes: dict[str, str] = field(default_factory=dict)
    #: What each graded answer earned that is not blank, and what it is worth: fraction and points.
    answered: dict[str, tuple[float, float]] = field(default_factory=dict)
    #: Whether the student held each idea that was asked, before and after.
    ideas: dict[str, tuple[bool, bool]] = field(default_factory=dict)

    @cached_property
    def scores(self) -> dict[str, Mapping[str, Any]]:
        """Return the judged answers, by question."""
        return {score["name"]: score for score in self.line.get("scores", ())}


class _SummaryBuilder:
    def __init__(self, course: Course, lab: str, home: Path) -> None:
        self._course, self._name = course, lab
        self._lab: Lab = load(home)
        self._checks: Checks = load_checks(home)
        nobodys = self._lab.draw("", variants=False)
        self._items, self._nobodys = self._lab.items(nobodys), Given(nobodys, home)
        self._grades: Grades = grades(course, lab)
        self._journal = GradedLog(course.home, lab).read()
        self._class = [
            self._submission(s, standing) for s, standing in self._grades.standings.items()
        ]

    def _submission(self, student: str, standing: Standing) -> _Submission:
        line = self._journal.get(student, {})
        # The graded copy of a submission holds no links; a check says so if a file is missing.
        copy = self._course.work("autograded", student, self._name)
        ledger = copy / LEDGER
        record = ledger.read_bytes() if ledger.is_file() else None
        owner = self._course.people.worked_as(student, record)
        p = self._lab.draw(owner, variants=self._course.variants, edition=self._course.edition)
        folder = self._course.work("submitted", student, self._name)
        # Where only the notebook was handed in, the copy has the ledger that it carries.
        study = read_study_record(folder, owner) or read_study_record(copy, owner)
        one = _Submission(student, standing, line, study, Given(p, copy))
        for name, most in self._grades.most.items():
            fraction = _fraction(one, name, most)
            one.outcomes[name] = outcome = _outcome(one, name, fraction, self._items.get(name))
            if outcome in _ANSWERED:
                one.answered[name] = (fraction, most)
        return one

    def summary(self, *, names: bool, now: datetime | None) -> ClassSummary:
        predictions = tuple(
            each
            for name, item in self._items.items()
            if isinstance(item, Prediction)
            for each in self._predictions(name, item)
        )
        most = self._grades.most
        whole = sum(most.values()) or 1.0
        order = [name for name in self._items if name in most]
        order += [name for name in most if name not in order]
        flags = Counter(label for one in self._class for label in _kinds(one.line.get("flags", ())))
        questions = tuple(each for name in order for each in self._questions(name, most[name]))
        rows = {one.student: self._row(one, names=names) for one in self._class}
        blank = {one.student: self._worth(one, "blank") / whole for one in self._class}
        return ClassSummary(
            self._name,
            self._lab.title,
            round(sum(most.values()), 2),
            tuple(sorted(rows.values(), key=lambda row: (-row.total, row.student))),
            questions,
            predictions,
            Calibration.of(list(self._sure_predictions())),
            Calibration.of(list(self._sure_quizzes())),
            tuple(flags.most_common()),
            sum(one.standing.seconds_late > 0 for one in self._class),
            sum(not one.line for one in self._class),
            self._neighbors(names=names),
            class_members(self._course, self._name, rows, blank, names=names, now=now),
        )

    def _row(self, one: _Submission, *, names: bool) -> SubmissionRow:
        flags: Sequence[Flag] = one.line.get("flags", ())
        due = self._course.calendar.dates(self._name, one.student).due
        answered = one.study.answered if one.study and due else ()
        left = [(due - moment).total_seconds() / 3600 for moment in answered if due]
        made = one.study.state.predictions if one.study else {}
        seconds = {name: second_chance(score) for name, score in one.scores.items()}
        return SubmissionRow(
            student=one.student if names else "",
            total=one.standing.total,
            penalty=one.standing.penalty,
            minutes=one.study.minutes if one.study else None,
            predicted=sum(name in self._items for name in made),
            predicted_right=sum(one.predictions.values()),
            waiting=bool(one.standing.waiting),
            flags=tuple(flag.sentence for flag in flags) if names else tuple(_kinds(flags)),
            points=one.standing.points,
            beliefs={n: s["belief"] for n, s in one.scores.items() if s.get("belief")},
            seconds_late=one.standing.seconds_late,
            open_points=self._worth(one, "waiting"),
            began=left[0] if left else None,
            half_done=left[(len(left) - 1) // 2] if left else None,
            ideas=one.ideas,
            second_credits={name: each.judged.credit for name, each in seconds.items() if each},
        )

    def _worth(self, one: _Submission, outcome: str) -> float:
        """Return what the answers are worth that turned out so."""
        return sum(of for name, of in self._grades.most.items() if one.outcomes[name] == outcome)

    # Questions.

    def _questions(self, name: str, most: float) -> Iterator[QuestionSummary]:
        """Summarize an item; each question of a pool on its own, with those who were asked it."""
        if name not in self._lab.pools:
            yield self._question(name, most, self._class, self._nobodys)
        questions = self._lab.questions(name, self._nobodys.p) if name in self._lab.pools else {}
        for asked, those, usual in self._asked(name):
            found = self._question(name, most, those, usual)
            title = _told_apart(found.title, questions, asked)
            yield replace(found, name=asked, title=title, item=name)

    def _asked(self, name: str) -> Iterator[tuple[str, list[_Submission], Given]]:
        """Each question of a pool, who was asked it, and nobody's numbers with it."""
        for asked in self._lab.pools.get(name, ()):
            those = [one for one in self._class if one.given.p.asked(name) == asked]
            usual = Parameters({**self._nobodys.p, name: asked})
            yield asked, those, Given(usual, self._nobodys.folder)

    def _question(
        self, name: str, most: float, those: Sequence[_Submission], nobodys: Given
    ) -> QuestionSummary:
        """Summarize what those students did who were asked this; ``nobodys`` has usual numbers."""
        item = self._items.get(name)
        outcomes = Counter(one.outcomes[name] for one in those)
        waiting = outcomes["waiting"]
        answered = [one.answered for one in those if name in one.answered]
        held: Counter[str] = Counter()
        says: dict[str, Counter[str]] = {}
        for one in those:
            score = one.scores.get(name)
            if score and score.get("belief"):
                held[score["belief"]] += 1
                says.setdefault(score["belief"], Counter())[score.get("says", "")] += 1
        return QuestionSummary(
            name,
            _title(name, item),
            _kind(item),
            most,
            # Blank essays are graded first, so until the rest is graded their scores mean nothing.
            mean_earned=None if waiting else st.mean([each[name][0] for each in answered]),
            discrimination=None if waiting else st.discrimination(name, answered),
            right=outcomes["right"],
            partly=outcomes["partly"],
            wrong=outcomes["wrong"],
            blank=outcomes["blank"],
            waiting=waiting,
            beliefs=tuple(
                BeliefCount(b, self._explained(name, b, says[b], nobodys), n)
                for b, n in held.most_common()
            ),
            unexplained=self._unexplained(name, those) if isinstance(item, Number) else (),
            statistics=QuestionStatistics() if waiting else self._statistics(name, those, nobodys),
        )

    def _statistics(
        self, name: str, those: Sequence[_Submission], nobodys: Given
    ) -> QuestionStatistics:
        check = self._checks.get(name)
        judged = isinstance(self._items.get(name), Checked)
        used = numbers_used(self._lab, name, check, nobodys) if judged else frozenset()
        found = []
        for one in those:
            if name not in one.answered:
                continue
            told = response(
                name, check, one.given, one.scores.get(name, {}), one.study,
                fraction=one.answered[name][0],
                rest=st.rest_score(name, one.answered),
                numbers={n: float(one.given.p[n]) for n in used},
            )  # fmt: skip
            found.append(told)
            for idea, (before, after) in told.ideas.items():
                was = one.ideas.get(idea, (False, False))
                one.ideas[idea] = (was[0] or before, was[1] or after)
        return QuestionStatistics.of(found)

    def _explained(self, name: str, belief: str, explanations: Counter[str], nobodys: Given) -> str:
        """Say what a belief is about, with the lab's own numbers instead of one student's.

        A belief that the lab's own numbers do not know is told as most students were told.
        """
        key = self._key(name, nobodys)
        usual = [each.says for each in key.beliefs if each.name == belief] if key else []
        return next(iter(usual), explanations.most_common(1)[0][0])

    def _unexplained(self, name: str, those: Sequence[_Submission]) -> tuple[tuple[str, int], ...]:
        """Wrong numbers that several students typed, as multiples of the right one."""
        times: Counter[str] = Counter()
        for one in those:
            answer, key = _unexplained_number(one.scores.get(name, {})), self._key(name, one.given)
            if answer is not None and isinstance(key, NumberKey) and key.value:
                times[f"{answer / key.value:.2g} times"] += 1
        return tuple((t, n) for t, n in times.most_common(3) if n >= _SEVERAL)

    def _neighbors(self, *, names: bool) -> tuple[NeighborKeys, ...]:
        """Who has wrong answers that are right for a classmate."""
        numbers = [name for name, item in self._items.items() if isinstance(item, Number)]
        wrong: dict[str, dict[str, float]] = {}
        for one in self._class:
            typed = {name: _unexplained_number(one.scores.get(name, {})) for name in numbers}
            if found := {name: value for name, value in typed.items() if value is not None}:
                wrong[one.student] = found
        keys = {
            name: {
                one.student: key
                for one in self._class
                if isinstance(key := self._key(name, one.given), NumberKey)
            }
            for name in {each for found in wrong.values() for each in found}
        }
        found_pairs = neighbor_keys(wrong, keys)
        titles = {name: _title(name, self._items.get(name)) for name in keys}
        return tuple(
            replace(
                each,
                student=each.student if names else "",
                neighbor=each.neighbor if names else "",
                questions=tuple(titles[name] for name in each.questions),
            )
            for each in found_pairs
        )

    def _key(self, name: str, given: Given) -> Key | None:
        return key_of(self._checks.get(name), given)

    # Predictions.

    def _predictions(self, name: str, item: Prediction) -> Iterator[PredictionSummary]:
        """Summarize a prediction; each question of a pool on its own, as `_questions` does."""
        if name not in self._lab.pools:
            yield self._prediction(name, item, self._class, self._nobodys)
        questions = self._lab.questions(name, self._nobodys.p) if name in self._lab.pools else {}
        for asked, those, usual in self._asked(name):
            question = questions[asked]
            assert isinstance(question, Prediction)
            found = self._prediction(name, question, those, usual)
            yield replace(found, name=asked, title=_told_apart(found.title, questions, asked))

    def _prediction(
        self, name: str, item: Prediction, those: Sequence[_Submission], nobodys: Given
    ) -> PredictionSummary:
        options = dict(item.options or {})
        chosen: Counter[str] = Counter()
        right: Counter[str] = Counter()
        judged = False
        words: list[OwnWordsLine] = []
        for one in those:
            made = one.study.state.predictions.get(name) if one.study else None
            if made is None:
                continue
            key = self._key(name, one.given)
            judged = judged or key is not None
            good = is_right(key, made.value)
            if options:
                known = isinstance(made.value, str) and made.value in options
                option = made.value if known else "?"
            else:
                option = distance(key, made.value)
            chosen[option] += 1
            if key is not None:
                one.predictions[name] = good
                right[option] += good
            if written := _own_words(one, name):
                words.append(OwnWordsLine(option, good, written))
        labels = options or {k: k for k in DISTANCES}
        listed = [*labels, *(k for k in chosen if k not in labels)]
        return PredictionSummary(
            name,
            item.title,
            item.question,
            tuple(
                PredictedOption(labels.get(k, k), chosen[k], right[k])
                for k in listed
                if options or chosen[k]
            ),
            judged,
            tuple(sorted(words, key=lambda line: (line.right, line.predicted))),
            tuple(self._predicted_beliefs(name, item, chosen - right, nobodys)),
        )

    def _predicted_beliefs(
        self, name: str, item: Prediction, off: Counter[str], nobodys: Given
    ) -> Iterator[BeliefCount]:
        """Say what those believed who were off, and what the lab answers to it."""
        if item.options:
            key = self._key(name, nobodys)
            for option, count in off.most_common():
                # An option that is right with the lab's own numbers has no answer to it.
                if option in item.feedback and key and not is_right(key, option):
                    yield BeliefCount(item.options[option], item.feedback[option], count)
            return
        sides = Counter({side: sum(off[each] for each in of) for side, of in SIDES.items()})
        for side, count in sides.most_common():
            if count and side in item.feedback:
                yield BeliefCount(f"a number that is too {side}", item.feedback[side], count)

    def _sure_predictions(self) -> Iterator[tuple[int, bool]]:
        for one in self._class:
            for name, good in one.predictions.items():
                assert one.study is not None
                sure = one.study.state.predictions[name].confidence
                if sure is not None:
                    yield sure, good

    def _sure_quizzes(self) -> Iterator[tuple[int, bool]]:
        rights = {
            kept: question.right
            for name, item in self._items.items()
            if isinstance(item, Quiz)
            for kept, question in zip(item.ledger_names(name), item.questions, strict=True)
        }
        for one in self._class:
            answers = one.study.state.answers if one.study else {}
            for name, right in rights.items():
                if name in answers:
                    first = (answers[name].earlier or (answers[name],))[0]
                    if first.confidence is not None:
                        yield first.confidence, first.value == right


def _own_words(one: _Submission, prediction: str) -> str:
    """Return what a student wrote about a prediction; empty if nothing that its box would take."""
    kept = one.study.state.answers.get(own_words_name(prediction)) if one.study else None
    try:
        return "" if kept is None else OWN_WORDS.read(kept.value)
    except ValueError:
        return ""


def _is_open(one: _Submission, name: str) -> bool:
    """Whether a cell waits for its first points, not for a second look at those it has."""
    score = one.scores.get(name)
    return one.standing.points.get(name, 0.0) == 0 and (score is None or score.get("auto") is None)


def _fraction(one: _Submission, name: str, most: float) -> float:
    """What a student earned of a question; of one that is deeper, what it would have been."""
    if most:
        return one.standing.points.get(name, 0.0) / most
    return one.scores.get(name, {}).get("credit") or 0.0


def _outcome(one: _Submission, name: str, fraction: float, item: Item | None) -> str:
    if name in one.standing.waiting and _is_open(one, name):
        return "waiting"
    if fraction > 0:
        return "right" if fraction >= 1 - 1e-9 else "partly"
    score = one.scores.get(name, {})
    # Without a person, only an essay without a word is graded, and code is never blank.
    empty = score.get("auto") is not None if isinstance(item, Essay) else score.get("judged")
    nothing = score.get("answer") is None and not score.get("belief")
    return "blank" if score.get("answer") == "" or (nothing and empty) else "wrong"


def _title(name: str, item: Item | None) -> str:
    """Return the title of a question, or the name of its answer if it has no title."""
    title: str = getattr(item, "title", "") or "Question"
    own = title != getattr(type(item), "title", "Question")
    return title if own else f"{title}: {name.replace('_', ' ')}"


def _told_apart(title: str, questions: Mapping[str, Item], asked: str) -> str:
    """The title of a question of a pool, whose questions all have the same one.

    Whoever has read the lab knows a question by its unit; where all have the same, it is numbered.
    """
    units = [getattr(each, "unit", "") for each in questions.values()]
    place = list(questions).index(asked)
    if all(units) and len(set(units)) == len(units):
        return f"{title} (in {units[place]})"
    return f"{title} (question {place + 1} of {len(units)})"


def _kind(item: Item | None) -> QuestionKind:
    return next((name for kind, name in _KINDS.items() if isinstance(item, kind)), "other")


def _kinds(flags: Sequence[Flag]) -> list[str]:
    """Return what flags are about, without whatever names they hold."""
    return list(dict.fromkeys(flag.kind.summary for flag in flags))


def _unexplained_number(score: Mapping[str, Any]) -> float | None:
    """Return a wrong number that no belief explains; `None` if there is none."""
    if score.get("auto") != 0 or score.get("belief") or not score.get("answer"):
        return None
    try:
        value = float(score["answer"])
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None
