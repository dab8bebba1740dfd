"""The charts of a class. The page and the widget show the same ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from mlsys_widgets.classes import question_charts as qc
from mlsys_widgets.classes import statistics as st
from mlsys_widgets.classes.question_charts import parts, signed, used
from mlsys_widgets.classes.summary import (
    BeliefCount,
    Calibration,
    ClassSummary,
    PredictionSummary,
    QuestionSummary,
)
from mlsys_widgets.drawing.charts import Bar, Chart, ChartGroup
from mlsys_widgets.wording.plurals import counted

#: How an answer can turn out, its tone, and what the legend calls it.
OUTCOMES: Final = (
    ("right", "green", "all points"),
    ("partly", "orange", "some"),
    ("wrong", "red", "none"),
    ("blank", "gray", "left blank"),
    ("waiting", "purple", "not graded yet"),
)
#: Bins of a histogram at most, and how many points one may hold.
_BINS: Final = 10
_WIDTHS: Final = (0.1, 0.2, 0.5, 1, 2, 3, 4, 5, 10, 20, 50)
#: How many beliefs one chart shows.
_MOST_BELIEFS: Final = 12


def chart_groups(summary: ClassSummary) -> tuple[ChartGroup, ...]:
    """Every chart of a class; groups without any data are left out."""
    predictions = tuple(_prediction(each) for each in summary.predictions if each.count)
    groups = (
        ChartGroup("scores", "Scores", tuple(_scores(summary))),
        ChartGroup("questions", "Questions", (*_questions(summary), *qc.attempts(summary))),
        ChartGroup("difficulty", "Difficulty", tuple(qc.difficulty(summary))),
        ChartGroup("fifths", "Fifths of the class", tuple(qc.fifths(summary))),
        ChartGroup("beliefs", "Misconceptions", (*_beliefs(summary), *qc.belief_changes(summary))),
        ChartGroup("predictions", "Predictions", predictions),
        ChartGroup("confidence", "Confidence", tuple(_confidence(summary))),
        ChartGroup(
            "time",
            "Time",
            (*_time(summary), *qc.pace(summary), *qc.question_minutes(summary)),
        ),
        ChartGroup("question", "Each question", tuple(_each_question(summary))),
    )
    return tuple(group for group in groups if group.charts)


def flag_chart(summary: ClassSummary) -> Chart:
    """Chart what a TA should look at, and in how many submissions."""
    whole = len(summary.rows)
    bars = tuple(_count_bar(label, count, whole, "orange") for label, count in summary.flags)
    finding = f"{counted(summary.flagged, 'submission')} of {whole:,} flagged."
    return Chart("flags", "To look at", finding, bars, most=float(whole or 1))


def percent(part: float, whole: float) -> str:
    """A part of a whole as a percentage; a dash if the whole is empty."""
    return f"{part / whole:.0%}" if whole else "–"


def _of(count: int, whole: int) -> str:
    return f"{count:,} ({percent(count, whole)})"


def _count_bar(label: str, count: int, whole: int, tone: str, words: str = "") -> Bar:
    return Bar(label, ((float(count), tone),), _of(count, whole), words)


def _scores(summary: ClassSummary) -> Iterator[Chart]:
    scores = summary.scores
    if not scores:
        return
    most = summary.most or 1.0
    width = next((each for each in _WIDTHS if each * _BINS >= most), most / _BINS)
    edges = [min(width * k, most) for k in range(math.ceil(round(most / width, 9)) + 1)]
    counts = st.histogram(scores, edges)
    finding = (
        f"{counted(len(scores), 'student')}, median {st.median(scores):.3g} and mean"
        f" {st.mean(scores):.3g} of {most:g} points."
    )
    if summary.waiting:
        finding = f"{finding} {essay_words(summary)}".strip()
    labels = [f"{low:g}–{high:g}" for low, high in pairwise(edges)]
    yield _histogram("scores", "How many points", finding, labels, counts, "points")
    if summary.waiting:
        tens = [100.0 * k / _BINS for k in range(_BINS + 1)]
        counts = st.histogram(summary.graded_percents, tens)
        labels = [f"{low:g}–{high:g}%" for low, high in pairwise(tens)]
        finding = "What each submission earned of what is graded in it."
        title = "How many points, without ungraded essays"
        yield _histogram("scores:graded", title, finding, labels, counts, "of what is graded")


def essay_words(summary: ClassSummary) -> str:
    """Say what ungraded essays do to scores; empty if there are none."""
    graded = st.median(summary.graded_percents)
    if not summary.waiting or graded is None:
        return ""
    return (
        f"{counted(summary.waiting, 'submission')} {'has' if summary.waiting == 1 else 'have'} an"
        f" ungraded essay, which counts 0 in these points; without ungraded essays, the median is"
        f" {graded:.0f}% of what is graded."
    )


def _questions(summary: ClassSummary) -> Iterator[Chart]:
    asked = [each for each in summary.questions if each.count]
    if not asked:
        return
    # What was recorded is complete or not, and neither hard nor easy.
    judged = [each for each in asked if each.kind != "record"]
    graded = [each for each in judged if each.mean_earned is not None and each.most]
    hardest = min(graded, key=lambda each: each.mean_earned or 0.0, default=None)
    finding = "No question is graded yet."
    if hardest is not None:
        easiest = max(graded, key=lambda each: each.mean_earned or 0.0)
        finding = (
            f"Hardest: “{hardest.title}” ({hardest.mean_earned or 0:.0%} of its points). Easiest:"
            f" “{easiest.title}” ({easiest.mean_earned or 0:.0%})."
        )
    low = [
        f"“{e.title}”" for e in judged if e.discrimination is not None and e.discrimination < 0.1
    ]
    if low:
        finding += f" Hardly related to the rest of the lab: {', '.join(low)}."
    bars = tuple(
        Bar(
            each.title if each.most else f"{each.title} (deeper)",
            parts(*((getattr(each, outcome), tone) for outcome, tone, _ in OUTCOMES)),
            _result(each),
        )
        for each in asked
    )
    most = float(max(each.count for each in asked))
    legend = used(bars, ((tone, words) for _, tone, words in OUTCOMES))
    yield Chart("questions", "Question by question", finding, bars, most=most, legend=legend)


def _result(question: QuestionSummary) -> str:
    result = "–" if question.mean_earned is None else f"{question.mean_earned:.0%}"
    if question.waiting:
        result = f"{question.waiting:,} not graded yet"
    if question.discrimination is not None:
        result += f", r\N{NO-BREAK SPACE}{signed(question.discrimination)}"
    return result


def _beliefs(summary: ClassSummary) -> Iterator[Chart]:
    found = [(belief, question) for question in summary.questions for belief in question.beliefs]
    if not found:
        return
    found.sort(key=lambda pair: -pair[0].count)
    first, question = found[0]
    finding = (
        f"Most often: “{first.belief}”, held by {first.count:,} of the {question.answered:,} who"
        f" answered “{question.title}”."
    )
    bars = tuple(
        _belief_bar(each, asked.answered, f"{each.belief} ({asked.title})")
        for each, asked in found[:_MOST_BELIEFS]
    )
    most = float(max(first.count, 1))
    yield Chart("beliefs", "What the class believes", finding, bars, most=most)


def _belief_bar(belief: BeliefCount, whole: int, label: str) -> Bar:
    return _count_bar(label, belief.count, whole, "red", belief.explanation)


def _each_question(summary: ClassSummary) -> Iterator[Chart]:
    for each in summary.questions:
        if each.kind not in ("number", "choice") or not each.count:
            continue
        recognized = sum(belief.count for belief in each.beliefs)
        others = max(each.partly + each.wrong - recognized, 0)
        whole = each.count
        bars = [_count_bar("Right", each.right, whole, "green")]
        bars += [_belief_bar(belief, whole, belief.belief) for belief in each.beliefs]
        if others:
            repeated = "; ".join(
                f"{counted(count, 'student')} typed about {times} the key"
                for times, count in each.unexplained
            )
            hint = f"Of these, {repeated}: perhaps a misconception that the checks do not know yet."
            words = hint if repeated else ""
            bars.append(_count_bar("Something else", others, whole, "orange", words))
        if each.blank:
            bars.append(_count_bar("Left blank", each.blank, whole, "gray"))
        finding = f"{each.right:,} of the {each.answered:,} who answered have it right."
        if each.beliefs:
            finding += f" The most frequent mistake: “{each.beliefs[0].belief}”."
        yield Chart(f"question:{each.name}", each.title, finding, tuple(bars), most=float(whole))


def _prediction(prediction: PredictionSummary) -> Chart:
    count, right = prediction.count, prediction.right
    tone = "purple" if prediction.judged else "blue"
    bars = tuple(
        Bar(
            option.label,
            parts((option.right, "green"), (option.count - option.right, tone)),
            _of(option.count, count),
        )
        for option in prediction.options
    )
    finding = f"{counted(count, 'student')} predicted."
    if prediction.judged:
        finding = f"{right:,} of {count:,} predictions came true ({percent(right, count)})."
    legend = (("green", "true"), ("purple", "not true")) if prediction.judged else ()
    return Chart(
        f"prediction:{prediction.name}", prediction.title, f"{prediction.question} {finding}",
        bars, most=float(count), legend=legend,
    )  # fmt: skip


def _confidence(summary: ClassSummary) -> Iterator[Chart]:
    for key, title, found in (
        ("predictions", "How sure, and how right: predictions", summary.prediction_calibration),
        ("quizzes", "How sure, and how right: quizzes", summary.quiz_calibration),
    ):
        if found.count:
            yield _calibration(f"confidence:{key}", title, found)


def _calibration(key: str, title: str, found: Calibration) -> Chart:
    sure, of_sure = found.among(4, 5)
    unsure, of_unsure = found.among(1, 2)
    finding = (
        f"Of the answers with a confidence of 4 or 5, {percent(of_sure, sure)} were right; of those"
        f" with 1 or 2, {percent(of_unsure, unsure)}. Sure and wrong: {sure - of_sure:,} of"
        f" {found.count:,}."
    )
    bars = tuple(
        Bar(
            str(each),
            ((right / count, "purple"),) if count else (),
            f"{right} of {count}" if count else "",
        )
        for each, (count, right) in found.counts.items()
    )
    return Chart(
        key, title, finding, bars, columns=True, across="confidence, from a guess to certain",
        measure="right", percent=True,
    )  # fmt: skip


def _time(summary: ClassSummary) -> Iterator[Chart]:
    minutes = summary.minutes
    if not minutes:
        return
    width = next(w for w in (5, 10, 20, 30, 60, 120) if max(minutes) / w <= 14 or w == 120)
    bins = max(1, min(int(max(minutes) // width) + 1, 14))
    counts = st.histogram(minutes, [width * k for k in range(bins + 1)])
    labels = [f"{width * k}–{width * (k + 1)}" for k in range(bins)]
    finding = f"Median {st.median(minutes):.0f} minutes, by the events in the ledgers."
    if without := len(summary.rows) - len(minutes):
        finding += f" {counted(without, 'student')} left no ledger that could be read."
    yield _histogram("time", "Time on task", finding, labels, counts, "minutes")


def _histogram(
    key: str, title: str, finding: str, labels: Sequence[str], counts: Sequence[int], across: str
) -> Chart:
    bars = tuple(
        Bar(label, parts((count, "blue")), f"{count:,}" if count else "")
        for label, count in zip(labels, counts, strict=True)
    )
    most = float(max(counts, default=0)) or 1.0
    return Chart(
        key, title, finding, bars, columns=True, across=across, measure="students", most=most
    )
