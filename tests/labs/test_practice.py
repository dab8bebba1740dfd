"""When a question is mastered, by the verdicts that a ledger of practice holds."""

from __future__ import annotations

import pytest

from mlsys_widgets.labs.attempts import answer_name
from mlsys_widgets.labs.practice import Mastery, is_practice, judged_name
from mlsys_widgets.ledger import Ledger


@pytest.mark.parametrize(
    ("attempts", "reached", "right", "words"),
    [
        ([], False, False, "○○ not mastered yet"),
        ([[False]], False, False, "○○ not mastered yet"),
        ([[False, True]], False, True, "○○ not mastered yet"),
        ([[True]], False, True, "●○ right at the first try once"),
        ([[True, False]], False, False, "●○ right at the first try once"),
        ([[True], [False, True]], False, True, "●○ right at the first try once"),
        ([[False, True], [True], [False], [True]], True, True, "●● mastered"),
        ([[True], [True], [False]], True, False, "●● mastered"),
    ],
)
def test_two_first_tries_master_a_question(tmp_path, attempts, reached, right, words):
    led = Ledger.open(tmp_path / "ledger.jsonl", lab="lab_02", student="ann")
    led.record_answer(judged_name("other"), True)
    for number, verdicts in enumerate(attempts):
        for verdict in verdicts:
            led.record_answer(judged_name(answer_name("ridge", number)), verdict)
    found = Mastery(led.state().answers, "ridge")
    assert (found.is_reached, found.right, found.words) == (reached, right, words)
    assert found.begun == bool(attempts)
    assert is_practice(led.state().answers)
