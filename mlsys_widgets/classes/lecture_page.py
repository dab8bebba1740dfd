"""The report for the lecture hall: what a class may see of itself, and nobody in it.

No group of fewer than five students is shown, and none that can be found by subtracting: small
groups are merged until they have five.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from mlsys_widgets.classes import statistics as st
from mlsys_widgets.classes.class_charts import OUTCOMES, percent
from mlsys_widgets.classes.ideas import SMALLEST, merged
from mlsys_widgets.classes.lecture_points import LecturePoint, lecture_points
from mlsys_widgets.classes.question_charts import parts, used
from mlsys_widgets.classes.report_page import STYLE, figure, point
from mlsys_widgets.classes.summary import ClassSummary, PredictionSummary, QuestionSummary
from mlsys_widgets.drawing.charts import Bar, Chart, ChartGroup
from mlsys_widgets.drawing.markup import plain
from mlsys_widgets.drawing.whole_page import whole_page

_TOGETHER = ("blue", "smaller groups")
TOO_FEW: Final = f"Fewer than {SMALLEST} students have a graded submission: too few to show."


def lecture_page(summary: ClassSummary) -> str:
    """Write the page."""
    return whole_page(f"{summary.title}: the class", "\n".join(_body(summary)), STYLE)


def may_be_shown(point: LecturePoint) -> bool:
    """Whether those who hold a belief, and those who do not, are groups that may be shown."""
    rest = point.of - point.count
    return point.count >= SMALLEST and (rest == 0 or rest >= SMALLEST)


def _body(summary: ClassSummary) -> Iterator[str]:
    yield f"<h1>{escape(summary.title)}</h1>"
    if len(summary.rows) < SMALLEST:
        yield f"<p>{TOO_FEW}</p>"
        return
    middle = st.median(summary.scores)
    median = "" if middle is None else f"; the median is {middle:.3g} of {summary.most:g} points"
    yield f"<p>{len(summary.rows):,} handed in{median}.</p>"
    yield f'<p class="quiet">Groups of fewer than {SMALLEST} students are shown together.</p>'
    if points := [each for each in lecture_points(summary) if may_be_shown(each)]:
        yield "<h2>What the class believes, and what to say</h2>"
        yield f'<ol class="lecture">{"".join(map(point, points))}</ol>'
    for group in lecture_charts(summary):
        yield f"<h2>{group.title}</h2>"
        for chart in group.charts:
            if chart.title != group.title:
                yield f"<h3>{escape(chart.title)}</h3><p>{escape(chart.finding)}</p>"
            yield figure(chart)


def lecture_charts(summary: ClassSummary) -> tuple[ChartGroup, ...]:
    """Every chart that may be shown; groups without any data are left out."""
    if len(summary.rows) < SMALLEST:
        return ()
    predictions = (_prediction(each) for each in summary.predictions)
    groups = (
        ChartGroup("questions", "Questions", tuple(_questions(summary))),
        ChartGroup("predictions", "Predictions", tuple(filter(None, predictions))),
    )
    return tuple(group for group in groups if group.charts)


def _questions(summary: ClassSummary) -> Iterator[Chart]:
    if bars := [bar for each in summary.questions if (bar := _question(each))]:
        most = float(max(bar.length for bar in bars))
        legend = used(bars, (*((tone, words) for _, tone, words in OUTCOMES), _TOGETHER))
        yield Chart("questions", "Questions", "", tuple(bars), most=most, legend=legend)


def _question(question: QuestionSummary) -> Bar | None:
    counts = [getattr(question, name) for name, *_ in OUTCOMES]
    shown, together = merged(counts, SMALLEST)
    if not any(shown):  # a single group of everybody says nothing, and a small one too much
        return None
    tones = zip(shown, (tone for _, tone, _ in OUTCOMES), strict=True)
    bars = parts(*tones, (together, _TOGETHER[0]))
    return Bar(question.title, bars, f"{percent(shown[0], sum(counts))} all points"
               if shown[0] else "")  # fmt: skip


def _prediction(prediction: PredictionSummary) -> Chart | None:
    shown, together = merged([each.count for each in prediction.options], SMALLEST)
    if not any(shown):
        return None
    bars = [
        Bar(plain(each.label), ((float(n), "blue"),), f"{n:,} ({percent(n, prediction.count)})")
        for n, each in zip(shown, prediction.options, strict=True)
        if n
    ]
    if together:
        bars.append(Bar("anything else", ((float(together), "gray"),), f"{together:,}"))
    most = float(prediction.count)
    return Chart(f"prediction:{prediction.name}", prediction.title, plain(prediction.question),
                 tuple(bars), most=most)  # fmt: skip
