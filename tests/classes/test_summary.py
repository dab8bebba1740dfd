"""A summary as data: what its parts count."""

from __future__ import annotations

from mlsys_widgets.classes.summary import (
    Calibration,
    ClassSummary,
    PredictedOption,
    PredictionSummary,
    QuestionSummary,
    SubmissionRow,
)


def test_calibration_counts_every_confidence() -> None:
    found = Calibration.of([(5, True), (5, False), (1, False)])
    assert found.counts[5] == (2, 1)
    assert found.counts[3] == (0, 0)
    assert found.among(4, 5) == (2, 1)


def test_a_question_counts_every_submission_once() -> None:
    question = QuestionSummary("q", "Q", "number", 5.0, right=3, partly=2, wrong=1, blank=4)
    assert question.count == 10


def test_a_prediction_adds_up_its_options() -> None:
    options = (PredictedOption("A", 3, 0), PredictedOption("B", 5, 5))
    prediction = PredictionSummary("p", "P", "Which one?", options, judged=True)
    assert (prediction.count, prediction.right) == (8, 5)


def test_a_class_counts_its_rows() -> None:
    rows = (
        SubmissionRow("", 9.0, 0.0, 30.0, 1, 1, True, (), {}, {}),
        SubmissionRow("", 4.0, 1.0, None, 0, 0, False, ("a flag",), {}, {}),
    )
    summary = ClassSummary("lab", "A lab", 10.0, rows=rows)
    assert summary.scores == (9.0, 4.0)
    assert summary.minutes == (30.0,)
    assert (summary.waiting, summary.flagged) == (1, 1)
    assert repr(summary) == "<ClassSummary of lab: 2 submissions>"
    assert repr(ClassSummary("lab", "A lab", 10.0, rows=rows[:1])).endswith("1 submission>")
