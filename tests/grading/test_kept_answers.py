"""Answers as the log keeps them, judged with keys of now."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from mlsys_widgets.grading.judging.kept_answers import KeptAnswers
from mlsys_widgets.grading.judging.scoring import Score
from mlsys_widgets.judging.keys import Given, NumberKey
from mlsys_widgets.sandbox.answer_data import to_data


def line(*scores: Score, **parameters: float) -> dict:
    return {"scores": [asdict(score) for score in scores], "parameters": parameters}


def typed(value: object, auto: float = 0.0) -> Score:
    return Score("number", auto, 10, "Old.", answer=repr(value), judged=True, data=to_data(value))


def number(given: Given) -> NumberKey:
    return NumberKey(2 * given.p.side, tolerance=0.01, says="Twice the side.")


@pytest.mark.parametrize(
    ("value", "points"), [(8.0, 10), (8.05, 10), (9, 0), (..., 0), ("8", 0), (1e999, 0), ([], 0)]
)
def test_an_answer_is_judged_with_the_numbers_that_were_given(value, points, tmp_path):
    kept = KeptAnswers(line(typed(value), side=4.0))
    (score,) = kept.judge({"number": number}, {"number": 10}, tmp_path).scores
    assert score.auto == points


def test_points_follow_what_a_cell_is_worth_now(tmp_path):
    record = Score("kept", 4.0, 8, "Missing.", judged=True)
    essay = Score("essay", None, 5)
    kept = KeptAnswers(line(typed(8.0), record, essay, side=4))
    again = kept.judge({"number": number}, {"number": 6, "kept": 16, "essay": 5}, tmp_path)
    assert [(score.auto, score.most) for score in again.scores] == [(6, 6), (8, 16), (None, 5)]


def test_a_file_is_looked_at_where_it_was_graded(tmp_path):
    def about_file(given: Given) -> NumberKey:
        return NumberKey(float((given.folder / "machine.json").read_text()), tolerance=0)

    kept = KeptAnswers(line(typed(8.0), side=4))
    (tmp_path / "machine.json").write_text("8")
    judged = kept.judge({"number": about_file}, {"number": 10}, tmp_path)
    assert (judged.scores[0].auto, judged.kept) == (10, {})
    (tmp_path / "machine.json").write_bytes(b" " * (2 << 20))
    judged = kept.judge({"number": about_file}, {"number": 10}, tmp_path)
    assert (judged.scores[0].auto, "1 MiB" in judged.kept["number"]) == (0, True)


def test_a_check_that_refuses_what_was_made_gives_nothing(tmp_path):
    def refuses(given: Given) -> NumberKey:
        raise ValueError("There is no measurement.")

    kept = KeptAnswers(line(typed(8.0, 10.0), side=4))
    (score,) = kept.judge({"number": refuses}, {"number": 10}, tmp_path).scores
    assert (score.auto, score.says) == (0, "There is no measurement.")
