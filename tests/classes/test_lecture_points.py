"""What to say in the lecture: at most three sentences, each true of the class, with its picture."""

from __future__ import annotations

from dataclasses import replace

from mlsys_widgets.classes.lecture_points import lecture_points
from mlsys_widgets.classes.summary import (
    BeliefCount,
    Calibration,
    ClassSummary,
    PredictedOption,
    PredictionSummary,
    QuestionSummary,
)
from tests.classes.test_class_charts import row


def prediction(name: str, right: int, wrong: int) -> PredictionSummary:
    options = (PredictedOption("A: memory", right, right), PredictedOption("B: compute", wrong, 0))
    return PredictionSummary(name, f"Guess {name}", "Which one?", options, judged=True)


HARD = QuestionSummary(
    "hard", "How long?", "number", 10.0, mean=0.2, right=1, wrong=9,
    beliefs=tuple(BeliefCount(f"belief {k}", "No.", 5 - k) for k in range(4)),
)  # fmt: skip
EASY = QuestionSummary("easy", "How many?", "number", 10.0, mean=0.9, right=9, wrong=1)
CLASS = ClassSummary(
    "lab", "A lab", 20.0, rows=(row(9),) * 10, questions=(EASY, HARD),
    predictions=(prediction("first", 7, 3), prediction("second", 2, 8)),
    prediction_calibration=Calibration({4: (6, 3), 5: (4, 1)}),
)  # fmt: skip


def test_a_misconception_a_surprise_and_overconfidence():
    mistake, surprise, sure = lecture_points(CLASS)
    assert mistake.sentence == "50% of the class made the same mistake in “How long?”: belief 0."
    assert len(mistake.chart.bars) == 3
    assert surprise.sentence == "Only 20% predicted what happens in “Guess second”."
    assert surprise.chart.key == "prediction:second"
    assert "overconfident: 40% of the predictions" in sure.sentence


def test_a_class_without_surprises_hears_of_its_hardest_question():
    calm = replace(CLASS, predictions=(), prediction_calibration=Calibration())
    *_, hardest = lecture_points(calm)
    assert hardest.sentence == "The hardest question is “How long?”: 1 of 10 students solved it."
    assert hardest.chart.key == "question:hard"


def test_one_student_proves_nothing():
    one = replace(
        CLASS,
        rows=(row(9),),
        questions=(replace(EASY, beliefs=(BeliefCount("alone", "", 1),)),),
        predictions=(prediction("first", 0, 1),),
        prediction_calibration=Calibration({5: (1, 0)}),
    )
    assert [point.chart.key for point in lecture_points(one)] == ["question:easy"]
