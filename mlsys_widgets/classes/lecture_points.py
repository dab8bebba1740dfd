"""What a lecturer should say next: what the class believes, and the lab's answer to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from mlsys_widgets.classes.class_charts import percent
from mlsys_widgets.classes.summary import BeliefCount, ClassSummary

_MOST: Final = 3
#: What students still answer after the lab matters more than what they predicted before it.
_ANSWERED: Final = 2
#: Sure answers are overconfident below this fraction.
_CALIBRATED: Final = 0.7
#: Fewer than this many answers prove nothing.
_ENOUGH: Final = 2


@dataclass(frozen=True)
class LecturePoint:
    """A misconception."""

    #: What they believe, and in which question it showed.
    belief: str
    where: str
    #: How many hold it, of those who answered.
    count: int
    of: int
    #: What the lab answers to it, with its own numbers.
    says: str


def lecture_points(summary: ClassSummary) -> tuple[LecturePoint, ...]:
    """Choose what most students believe, at most once for each question.

    Two come from answers and one from predictions, unless there are fewer of a kind.
    """
    answered = _most_common(
        _point(each.beliefs, f"answered in “{each.title}”", each.answered)
        for each in summary.questions
    )
    predicted = _most_common(
        _point(each.beliefs, f"predicted in “{each.title}”", each.count)
        for each in summary.predictions
    )
    room = _MOST - min(len(predicted), _MOST - _ANSWERED)
    chosen = answered[:room]
    return tuple(_most_common([*chosen, *predicted[: _MOST - len(chosen)]]))


def also(summary: ClassSummary) -> Iterator[str]:
    """Say what else matters: overconfidence, and the hardest question."""
    for what, found in (
        ("predictions", summary.prediction_calibration),
        ("quiz answers", summary.quiz_calibration),
    ):
        sure, right = found.among(4, 5)
        if sure >= _ENOUGH and right / sure < _CALIBRATED:
            yield (
                f"The class is overconfident: {percent(right, sure)} of the {what} that were given"
                " with a confidence of 4 or 5 are right."
            )
            break
    # What is deeper was left out by most, which says nothing about how hard it is.
    asked = [each for each in summary.questions if each.most and each.kind != "record"]
    if graded := [each for each in asked if each.mean_earned is not None]:
        least = min(graded, key=lambda each: each.mean_earned or 0.0)
        yield (
            f"The hardest question is “{least.title}”: {least.right:,} of the {least.answered:,}"
            " who answered have it right."
        )


def _point(beliefs: tuple[BeliefCount, ...], where: str, of: int) -> LecturePoint | None:
    if not beliefs or beliefs[0].count < _ENOUGH:
        return None
    return LecturePoint(beliefs[0].belief, where, beliefs[0].count, of, beliefs[0].explanation)


def _most_common(points: Iterable[LecturePoint | None]) -> list[LecturePoint]:
    return sorted(filter(None, points), key=lambda point: -point.count)
