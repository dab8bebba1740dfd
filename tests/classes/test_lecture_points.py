"""What to say in the lecture: what most of the class believes, with the lab's answer to it."""

from __future__ import annotations

from dataclasses import replace

from mlsys_widgets.classes.lecture_points import LecturePoint, also, lecture_points
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
    believed = (BeliefCount("B: compute", "The units wait.", wrong),)
    return PredictionSummary(
        name, f"Guess {name}", "Which one?", options, judged=True, beliefs=believed
    )


def question(name: str, right: int, wrong: int, *beliefs: int) -> QuestionSummary:
    held = tuple(BeliefCount(f"{name} {k}", "No.", count) for k, count in enumerate(beliefs))
    mean = right / (right + wrong)
    return QuestionSummary(
        name, f"How {name}?", "number", 10.0, mean_earned=mean, right=right, wrong=wrong, blank=2,
        beliefs=held,
    )  # fmt: skip


CLASS = ClassSummary(
    "lab", "A lab", 20.0, rows=(row(9),) * 10,
    questions=(question("easy", 7, 1, 1), question("hard", 1, 7, 4, 3), question("long", 5, 3, 3)),
    predictions=(prediction("first", 7, 3), prediction("second", 2, 8)),
    prediction_calibration=Calibration({4: (6, 3), 5: (4, 1)}),
)  # fmt: skip


def test_two_mistakes_and_a_prediction_the_most_common_first():
    assert lecture_points(CLASS) == (
        LecturePoint("B: compute", "predicted in “Guess second”", 8, 10, "The units wait."),
        # Of the eight who answered: two left it blank.
        LecturePoint("hard 0", "answered in “How hard?”", 4, 8, "No."),
        LecturePoint("long 0", "answered in “How long?”", 3, 8, "No."),
    )


def test_the_other_kind_fills_the_page():
    without = lecture_points(replace(CLASS, questions=CLASS.questions[:2]))
    assert [point.belief for point in without] == ["B: compute", "hard 0", "B: compute"]
    answers = (*CLASS.questions, question("wide", 6, 2, 2))
    alone = lecture_points(replace(CLASS, questions=answers, predictions=()))
    assert [point.belief for point in alone] == ["hard 0", "long 0", "wide 0"]


def test_overconfidence_and_the_hardest_question():
    sure, hardest = also(CLASS)
    assert "overconfident: 40% of the predictions" in sure
    assert hardest == "The hardest question is “How hard?”: 1 of the 8 who answered have it right."


def test_one_student_proves_nothing():
    one = replace(
        CLASS, questions=CLASS.questions[:1], predictions=(prediction("first", 0, 1),),
        prediction_calibration=Calibration({5: (1, 0)}),
    )  # fmt: skip
    assert lecture_points(one) == ()
    assert len(list(also(one))) == 1
