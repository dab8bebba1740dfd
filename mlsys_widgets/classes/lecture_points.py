"""What a lecturer should say next: at most three sentences about a class, each with its picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from mlsys_widgets.classes.class_charts import chart_groups, percent
from mlsys_widgets.classes.summary import ClassSummary
from mlsys_widgets.drawing.charts import Chart
from mlsys_widgets.wording.plurals import counted

_MOST: Final = 3
#: Bars that a picture of the first page has room for.
_BARS: Final = 3
#: A prediction is a surprise, and sure answers are overconfident, below these fractions.
_SURPRISE, _CALIBRATED = 0.6, 0.7
#: Fewer than this many answers prove nothing.
_ENOUGH: Final = 2


@dataclass(frozen=True)
class LecturePoint:
    """A sentence, and the chart that shows it."""

    sentence: str
    chart: Chart


def lecture_points(summary: ClassSummary) -> tuple[LecturePoint, ...]:
    """Choose what matters most: a misconception, a surprise, and overconfidence or a hard question.

    Examples
    --------
    >>> lecture_points(ClassSummary("lab_02_caches", "Caches", 100))
    ()
    """
    charts = {chart.key: chart for group in chart_groups(summary) for chart in group.charts}
    return tuple(_points(summary, charts))[:_MOST]


def _points(summary: ClassSummary, charts: dict[str, Chart]) -> Iterator[LecturePoint]:
    yield from _misconception(summary, charts)
    yield from _surprise(summary, charts)
    yield from _overconfidence(summary, charts)
    yield from _hardest(summary, charts)


def _misconception(summary: ClassSummary, charts: dict[str, Chart]) -> Iterator[LecturePoint]:
    held = [(belief, asked) for asked in summary.questions for belief in asked.beliefs]
    most, asked = max(held, key=lambda pair: pair[0].count, default=(None, None))
    if most is None or asked is None or most.count < _ENOUGH:
        return
    share = percent(most.count, len(summary.rows))
    sentence = f"{share} of the class made the same mistake in “{asked.title}”: {most.belief}."
    chart = charts["beliefs"]
    yield LecturePoint(sentence, replace(chart, bars=chart.bars[:_BARS]))


def _surprise(summary: ClassSummary, charts: dict[str, Chart]) -> Iterator[LecturePoint]:
    judged = [each for each in summary.predictions if each.judged and each.count >= _ENOUGH]
    least = min(judged, key=lambda each: each.right / each.count, default=None)
    if least is not None and least.right / least.count < _SURPRISE:
        few = "Only " if least.right else ""
        sentence = (
            f"{few}{percent(least.right, least.count)} predicted what happens in “{least.title}”."
        )
        yield LecturePoint(sentence, charts[f"prediction:{least.name}"])


def _overconfidence(summary: ClassSummary, charts: dict[str, Chart]) -> Iterator[LecturePoint]:
    for key, what, found in (
        ("predictions", "predictions", summary.prediction_calibration),
        ("quizzes", "quiz answers", summary.quiz_calibration),
    ):
        sure, right = found.among(4, 5)
        if sure >= _ENOUGH and right / sure < _CALIBRATED:
            sentence = (
                f"The class is overconfident: {percent(right, sure)} of the {what} that were given"
                " with a confidence of 4 or 5 are right."
            )
            yield LecturePoint(sentence, charts[f"confidence:{key}"])
            return


def _hardest(summary: ClassSummary, charts: dict[str, Chart]) -> Iterator[LecturePoint]:
    # What is deeper was left out by most, which says nothing about how hard it is.
    asked = [each for each in summary.questions if each.most]
    graded = [each for each in asked if each.mean is not None and each.count]
    shown = [each for each in graded if f"question:{each.name}" in charts]
    least = min(shown, key=lambda each: each.mean or 0.0, default=None)
    if least is not None:
        whole = counted(least.count, "student")
        sentence = f"The hardest question is “{least.title}”: {least.right:,} of {whole} solved it."
        yield LecturePoint(sentence, charts[f"question:{least.name}"])
