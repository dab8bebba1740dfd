"""The charts of a class: bars that agree with the summary, and sentences that read well."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mlsys_widgets.classes.class_charts import chart_groups, flag_chart, percent
from mlsys_widgets.classes.summary import (
    BeliefCount,
    Calibration,
    ClassSummary,
    PredictedOption,
    PredictionSummary,
    QuestionSummary,
    SubmissionRow,
)
from mlsys_widgets.drawing.charts import Chart


def row(total: float, **more: object) -> SubmissionRow:
    values: dict[str, object] = {
        "student": "", "total": total, "penalty": 0.0, "minutes": 25.0, "predicted": 1,
        "predicted_right": 1, "waiting": False, "flags": (), "points": {}, "beliefs": {},
    }  # fmt: skip
    return SubmissionRow(**{**values, **more})  # type: ignore[arg-type]


QUESTION = QuestionSummary(
    "time", "How long?", "number", 10.0, mean_earned=0.5, right=2, wrong=3, blank=1,
    beliefs=(BeliefCount("adds the launches", "Launches overlap.", 2),),
    unexplained=(("7 times", 3),),
)  # fmt: skip
CLASS = ClassSummary(
    "lab", "A lab", 10.0,
    rows=(row(9), row(9), row(2, waiting=True, open_points=6.0), row(0, minutes=None)),
    questions=(QUESTION,),
    predictions=(
        PredictionSummary(
            "p", "First guess", "Which one?",
            (PredictedOption("A: memory", 3, 3), PredictedOption("B: compute", 1, 0)), judged=True,
        ),
    ),
    prediction_calibration=Calibration.of([(5, True), (5, False), (1, False)]),
    flags=(("a graded cell is missing", 1),),
)  # fmt: skip


def chart(key: str, summary: ClassSummary = CLASS) -> Chart:
    charts = [each for group in chart_groups(summary) for each in group.charts]
    return next(each for each in charts if each.key == key)


def test_what_has_no_data_has_no_chart() -> None:
    assert chart_groups(ClassSummary("lab", "A lab", 10.0)) == ()
    assert [group.key for group in chart_groups(CLASS)] == [
        "scores", "questions", "beliefs", "predictions", "confidence", "time", "question",
    ]  # fmt: skip


def test_scores_count_every_student() -> None:
    scores = chart("scores")
    assert sum(bar.length for bar in scores.bars) == 4
    assert scores.bars[-1].note == "2"
    assert scores.finding.startswith("4 students, median 5.5 and mean 5 of 10 points.")


def test_bins_hold_whole_points() -> None:
    scores = chart("scores", replace(CLASS, most=28.0, rows=(row(28), row(3), row(2.5))))
    assert [bar.label for bar in scores.bars] == [
        "0–3", "3–6", "6–9", "9–12", "12–15", "15–18", "18–21", "21–24", "24–27", "27–28",
    ]  # fmt: skip
    assert [bar.length for bar in scores.bars] == [1, 1, 0, 0, 0, 0, 0, 0, 0, 1]


def test_a_misconception_is_counted_among_those_who_answered() -> None:
    beliefs = chart("beliefs")
    assert "held by 2 of the 5 who answered “How long?”." in beliefs.finding
    assert [bar.note for bar in beliefs.bars] == ["2 (40%)"]


def test_scores_with_and_without_ungraded_essays() -> None:
    # Of the third student's 10 points, an essay for 6 waits: 2 of 10, and 2 of 4 without it.
    assert "the median is 70% of what is graded" in chart("scores").finding
    assert [bar.note for bar in chart("scores:graded").bars if bar.note] == ["1", "1", "2"]
    assert chart("scores:graded").bars[5].note == "1"
    graded = replace(CLASS, rows=(row(9),))
    assert "scores:graded" not in [c.key for g in chart_groups(graded) for c in g.charts]


def test_one_student_is_not_students() -> None:
    alone = ClassSummary("lab", "A lab", 10.0, rows=(row(5),))
    assert chart("scores", alone).finding.startswith("1 student, ")


def test_a_question_shows_what_became_of_every_answer() -> None:
    question = chart("question:time")
    assert [(bar.label, bar.length) for bar in question.bars] == [
        ("Right", 2), ("adds the launches", 2), ("Something else", 1), ("Left blank", 1),
    ]  # fmt: skip
    assert "3 students typed about 7 times the key" in question.bars[2].explanation
    assert question.most == QUESTION.count


def test_the_legend_names_only_what_is_there() -> None:
    assert chart("questions").legend == (
        ("green", "all points"), ("red", "none"), ("gray", "left blank"),
    )  # fmt: skip


def test_predictions_that_came_true() -> None:
    prediction = chart("prediction:p")
    assert prediction.bars[0].parts == ((3.0, "green"),)
    assert prediction.bars[1].parts == ((1.0, "purple"),)
    assert "3 of 4 predictions came true (75%)" in prediction.finding


def test_confidence_is_a_percentage() -> None:
    confidence = chart("confidence:predictions")
    assert confidence.percent
    assert [bar.note for bar in confidence.bars] == ["0 of 1", "", "", "", "1 of 2"]
    assert "Sure and wrong: 1 of 3." in confidence.finding


def test_time_leaves_out_who_has_no_ledger() -> None:
    time = chart("time")
    assert sum(bar.length for bar in time.bars) == 3
    assert "1 student left no ledger" in time.finding


def test_flags_are_counted_against_the_class() -> None:
    flags = flag_chart(CLASS)
    assert flags.bars[0].note == "1 (25%)"
    assert flags.most == 4


@pytest.mark.parametrize(("part", "whole", "shown"), [(1, 4, "25%"), (0, 0, "–")])
def test_percent(part: int, whole: int, shown: str) -> None:
    assert percent(part, whole) == shown
