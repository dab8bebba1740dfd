"""From the files of a course to what is known about a class."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.classes import statistics as st
from mlsys_widgets.classes.gradebook_reader import Grades, Standing, grades
from mlsys_widgets.classes.summary import (
    Calibration,
    ClassSummary,
    Guess,
    Held,
    Question,
    QuestionKind,
    Row,
    Said,
)
from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.graded_log import Journal
from mlsys_widgets.grading.keys import Checks, ChoiceKey, Given, Key, NumberKey
from mlsys_widgets.grading.loading import load_checks
from mlsys_widgets.labs import (
    Choice,
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
from mlsys_widgets.labs.course import Course
from mlsys_widgets.ledger import Event, Ledger, LedgerError, State

#: A pause longer than this, in minutes, is not work.
LONGEST_PAUSE: Final = 10.0
#: What flags begin with or hold, and what they are called where no name may be said.
_FLAGS: Final = (
    ("ledger: The ledger is of ", "the ledger is somebody else's"),
    ("ledger: ", "the ledger does not fit together"),
    ("did not run to its end", "the notebook did not run to its end"),
    (" is missing", "a graded cell is missing"),
    ("by the notebook's own test", "the notebook's own test gave other points"),
)
_OTHER_FLAG: Final = "something else"
#: How far a predicted number is from the true one, as a multiple of it.
_FAR: Final = (
    (0.1, "less than a tenth"),
    (1 / 3, "a tenth to a third"),
    (1.0, "too low, but not by three times"),
    (3.0, "too high, but not by three times"),
    (10.0, "3 to 10 times as much"),
    (math.inf, "more than 10 times as much"),
)
_CLOSE: Final = "close to it"
#: So many must type the same before it is worth a look.
_SEVERAL: Final = 3


def class_summary(
    lab: str, course: str | os.PathLike[str] = ".", *, names: bool = False
) -> ClassSummary:
    """What is known about a class in a lab.

    Parameters
    ----------
    lab : str
        The lab, as ``lab_07_kernel_fusion``.
    course : path
        The folder of the course.
    names : bool
        Whether rows say whose they are. Without, nothing in the summary names a student.

    Raises
    ------
    ValueError
        With a sentence, when there is no such lab or the gradebook does not know it.
    """
    root = Path(course)
    found = Course.at(root)
    home = found.folder("assignments", lab)
    if not home.is_dir():
        raise ValueError(f"there is no assignments/{lab} in {root.resolve()}")
    return _Gathering(found, lab, home).summary(names=names)


@dataclass(frozen=True)
class _Studied:
    """What a student's own ledger says."""

    state: State
    minutes: float


@dataclass
class _One:
    """Everything about one submission."""

    student: str
    standing: Standing
    line: Mapping[str, Any]
    studied: _Studied | None
    p: Parameters
    given: Given
    foreseen: dict[str, bool] = field(default_factory=dict)

    @property
    def scores(self) -> dict[str, Mapping[str, Any]]:
        """What was judged, by question."""
        return {score["name"]: score for score in self.line.get("scores", ())}


class _Gathering:
    def __init__(self, course: Course, lab: str, home: Path) -> None:
        self._course, self._name = course, lab
        self._lab: Lab = load(home)
        self._checks: Checks = load_checks(home)
        self._items = self._lab.items(self._lab.draw("", variants=False))
        self._grades: Grades = grades(course, lab)
        self._journal = Journal(course.home, lab).read()
        self._class = [self._one(s, standing) for s, standing in self._grades.standings.items()]

    def _one(self, student: str, standing: Standing) -> _One:
        line = self._journal.get(student, {})
        p = self._lab.draw(student, variants=self._course.variants, edition=self._course.edition)
        # The graded copy of a submission holds no links; what it lacks the check says.
        copy = self._course.work("autograded", student, self._name)
        folder = self._course.work("submitted", student, self._name)
        return _One(student, standing, line, studied(folder, student), p, Given(p, copy))

    def summary(self, *, names: bool) -> ClassSummary:
        guesses = tuple(
            self._guess(name, item)
            for name, item in self._items.items()
            if isinstance(item, Prediction)
        )
        most = self._grades.most
        order = [name for name in self._items if name in most]
        order += [name for name in most if name not in order]
        flags = Counter(kind for one in self._class for kind in _kinds(one.line.get("flags", ())))
        rows = sorted(
            (self._row(one, names=names) for one in self._class),
            key=lambda row: (-row.total, row.student),
        )
        return ClassSummary(
            self._name,
            self._lab.title,
            round(sum(most.values()), 2),
            tuple(rows),
            tuple(self._question(name, most[name]) for name in order),
            guesses,
            Calibration.of(list(self._sure_predictions())),
            Calibration.of(list(self._sure_quizzes())),
            tuple(flags.most_common()),
            sum(one.standing.seconds_late > 0 for one in self._class),
            sum(not one.line for one in self._class),
        )

    def _row(self, one: _One, *, names: bool) -> Row:
        flags = tuple(one.line.get("flags", ()))
        return Row(
            student=one.student if names else "",
            total=one.standing.total,
            penalty=one.standing.penalty,
            minutes=one.studied.minutes if one.studied else None,
            predicted=len(one.studied.state.predictions) if one.studied else 0,
            foreseen=sum(one.foreseen.values()),
            waiting=bool(one.standing.waiting),
            flags=flags if names else tuple(_kinds(flags)),
            points=one.standing.points,
            beliefs={n: s["belief"] for n, s in one.scores.items() if s.get("belief")},
        )

    # Questions.

    def _question(self, name: str, most: float) -> Question:
        item = self._items.get(name)
        graded = [
            one for one in self._class if name not in one.standing.waiting or not _open(one, name)
        ]
        shares = [one.standing.points.get(name, 0.0) / most if most else 0.0 for one in graded]
        rest = [one.standing.earned - one.standing.points.get(name, 0.0) for one in graded]
        outcomes = Counter(
            _outcome(share, one.scores.get(name)) for share, one in zip(shares, graded, strict=True)
        )
        waiting = len(self._class) - len(graded)
        held: Counter[str] = Counter()
        says: dict[str, Counter[str]] = {}
        for one in self._class:
            score = one.scores.get(name)
            if score and score.get("belief"):
                held[score["belief"]] += 1
                says.setdefault(score["belief"], Counter())[score.get("says", "")] += 1
        return Question(
            name,
            _title(name, item),
            _kind(item),
            most,
            # Those that nobody wrote are graded first: while others wait, they say nothing.
            mean=None if waiting else st.mean(shares),
            discrimination=None if waiting else st.correlation(shares, rest),
            right=outcomes["right"],
            partly=outcomes["partly"],
            wrong=outcomes["wrong"],
            blank=outcomes["blank"],
            waiting=waiting,
            held=tuple(Held(b, says[b].most_common(1)[0][0], n) for b, n in held.most_common()),
            unexplained=self._unexplained(name) if isinstance(item, Number) else (),
        )

    def _unexplained(self, name: str) -> tuple[tuple[str, int], ...]:
        """Wrong numbers that several typed, as multiples of what would have been right."""
        times: Counter[str] = Counter()
        for one in self._class:
            score = one.scores.get(name, {})
            if score.get("auto") != 0 or score.get("belief") or not score.get("answer"):
                continue
            answer, key = _number(score["answer"]), self._key(name, one)
            if answer is not None and isinstance(key, NumberKey) and key.value:
                times[f"{answer / key.value:.2g} times"] += 1
        return tuple((t, n) for t, n in times.most_common(3) if n >= _SEVERAL)

    def _key(self, name: str, one: _One) -> Key | None:
        try:
            return self._checks[name](one.given)
        except (KeyError, ValueError):
            return None

    # Predictions.

    def _guess(self, name: str, item: Prediction) -> Guess:
        options = dict(item.options or {})
        said: Counter[str] = Counter()
        right: Counter[str] = Counter()
        judged = False
        for one in self._class:
            made = one.studied.state.predictions.get(name) if one.studied else None
            if made is None:
                continue
            key = self._key(name, one)
            judged = judged or key is not None
            good = _is_right(key, made.value)
            if options:
                what = made.value if made.value in options else "?"
            else:
                what = _CLOSE if good else _how_far(key, made.value)
            said[what] += 1
            if key is not None:
                one.foreseen[name] = good
                right[what] += good
        words = {k: f"{k}: {w}" for k, w in options.items()} if options else _bands()
        listed = [*words, *(k for k in said if k not in words)]
        return Guess(
            name,
            item.title,
            item.question,
            tuple(Said(words.get(k, k), said[k], right[k]) for k in listed if options or said[k]),
            judged,
        )

    def _sure_predictions(self) -> Iterator[tuple[int, bool]]:
        for one in self._class:
            for name, good in one.foreseen.items():
                assert one.studied is not None
                sure = one.studied.state.predictions[name].confidence
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
            answers = one.studied.state.answers if one.studied else {}
            for name, right in rights.items():
                if name in answers:
                    first = (answers[name].earlier or (answers[name],))[0]
                    if first.confidence is not None:
                        yield first.confidence, first.value == right


def studied(folder: Path, student: str) -> _Studied | None:
    """What a student's ledger says; none if there is none, or if it is not theirs."""
    path = folder / LEDGER
    if path.is_symlink() or not path.is_file():
        return None
    try:
        ledger = Ledger.open(path)
        state, events = ledger.state(), list(ledger.events())
        if state.student != student:
            return None
        minutes = on_task(events)
        for earlier in ledger.earlier:
            if not earlier.is_symlink():
                minutes += on_task(Ledger.open(earlier).events())
    except LedgerError:
        return None
    return _Studied(state, minutes)


def on_task(events: Sequence[Event]) -> float:
    """Minutes between events, without the pauses."""
    times = [datetime.fromisoformat(event.time) for event in events]
    gaps = ((after - before).total_seconds() / 60 for before, after in pairwise(times))
    return sum(gap for gap in gaps if 0 <= gap <= LONGEST_PAUSE)


def _open(one: _One, name: str) -> bool:
    """Whether a cell waits for its first points, and not for a second look at those it has."""
    score = one.scores.get(name)
    return one.standing.points.get(name, 0.0) == 0 and (score is None or score.get("auto") is None)


def _outcome(share: float, score: Mapping[str, Any] | None) -> str:
    if share >= 1 - 1e-9:
        return "right"
    if share > 0:
        return "partly"
    blank = score is not None and (
        score.get("answer") == "" or (score.get("answer") is None and not score.get("belief"))
    )
    return "blank" if blank else "wrong"


def _title(name: str, item: Item | None) -> str:
    """What people call a question; with the name of its answer where nobody gave it a title."""
    title: str = getattr(item, "title", "") or "Question"
    own = title != getattr(type(item), "title", "Question")
    return title if own else f"{title}: {name.replace('_', ' ')}"


def _kind(item: Item | None) -> QuestionKind:
    match item:
        case Number():
            return "number"
        case Choice():
            return "choice"
        case Record():
            return "record"
        case Essay():
            return "essay"
    return "other"


def _kinds(flags: Sequence[str]) -> list[str]:
    """What flags are about, without whatever names they hold."""
    found = [next((words for part, words in _FLAGS if part in flag), _OTHER_FLAG) for flag in flags]
    return list(dict.fromkeys(found))


def _number(answer: str) -> float | None:
    try:
        value = float(answer)
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def _is_right(key: Key | None, value: Any) -> bool:
    if isinstance(key, ChoiceKey):
        return bool(value == key.value)
    if isinstance(key, NumberKey) and isinstance(value, int | float):
        return math.isfinite(value) and key.reaches(key.value, value)
    return False


def _bands() -> dict[str, str]:
    words = [words for _, words in _FAR]
    return {word: word for word in (*words[:3], _CLOSE, *words[3:])}


def _how_far(key: Key | None, value: Any) -> str:
    if not isinstance(key, NumberKey) or not isinstance(value, int | float):
        return "predicted" if key is None else "something else"
    if not key.value or value / key.value < 0:
        return "something else"
    times = value / key.value
    return next(words for limit, words in _FAR if times <= limit)
