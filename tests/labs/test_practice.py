"""When an idea is mastered, by the verdicts that a ledger of practice holds."""

from __future__ import annotations

from collections import Counter

import pytest

from mlsys_widgets.labs.attempts import answer_name
from mlsys_widgets.labs.practice import (
    ELSEWHERE,
    Mastery,
    ideas_name,
    is_practice,
    judged_name,
    right_by_idea,
)
from mlsys_widgets.ledger import Ledger


@pytest.mark.parametrize(
    ("attempts", "right", "told"),
    [
        ([[False]], False, "not right yet"),
        ([[False, True]], True, "right, ○○ not mastered yet"),
        ([[True]], True, "●○ right at the first try once"),
        # What was right once stays done, whatever is answered on other numbers.
        ([[True, False]], True, "right before, ●○ right at the first try once"),
        ([[True], [False]], True, "right before, ●○ right at the first try once"),
        ([[False, True], [False]], True, "right before, ○○ not mastered yet"),
        ([[True], [False, True]], True, "●○ right at the first try once"),
        ([[False, True], [True], [False], [True]], True, "●● mastered"),
        ([[True], [True], [False]], True, "●● mastered"),
    ],
)
def test_two_first_tries_master_a_question(tmp_path, attempts, right, told):
    led = Ledger.open(tmp_path / "ledger.jsonl", lab="lab_02", student="ann")
    led.record_answer(judged_name("other"), True)
    for number, verdicts in enumerate(attempts):
        for verdict in verdicts:
            led.record_answer(judged_name(answer_name("ridge", number)), verdict)
    found = Mastery.by_item(led.state().answers)["ridge"]
    assert (found.right, found.told) == (right, told)
    assert is_practice(led.state().answers)


SPARSE, SIGN = "the sparse peak is the peak", "waiting counts as working"
ONCE = "●○ right at the first try once"
OTHERS = ", counting other questions on the same idea"


@pytest.mark.parametrize(
    ("judged", "elsewhere", "told"),
    [
        # Two questions on one idea master it together, and each by itself.
        ([("one", True, [SPARSE])], {}, ONCE),
        ([("one", True, [SPARSE]), ("two", True, [SPARSE])], {}, f"●● mastered{OTHERS}"),
        ([("one", True, [SPARSE]), ("two", True, [SIGN])], {}, ONCE),
        ([("one", True, [SPARSE]), ("two", True, [])], {}, ONCE),
        # Of a question on two ideas, the one that was right least often counts.
        ([("one", True, [SPARSE, SIGN]), ("two", True, [SPARSE])], {}, ONCE),
        # An earlier lab counts, too.
        ([("one", True, [SPARSE])], {SPARSE: 1}, f"●● mastered{OTHERS}"),
        ([("one", False, [SPARSE])], {SPARSE: 1}, f"not right yet, {ONCE}{OTHERS}"),
        # Who knows the idea, and got this one wrong, has still to get it right.
        ([("one", False, [SPARSE])], {SPARSE: 7}, f"not right yet, ●● mastered{OTHERS}"),
    ],
)
def test_questions_on_one_idea_master_it_together(tmp_path, judged, elsewhere, told):
    led = Ledger.open(tmp_path / "ledger.jsonl", lab="lab_02", student="ann")
    led.record_answer(ELSEWHERE, elsewhere)
    for name, right, ideas in judged:
        led.record_answer(ideas_name(name), ideas)
        led.record_answer(judged_name(name), right)
    answers = led.state().answers
    assert Mastery.by_item(answers)["one"].told == told
    # Only what was right here is handed on; what an earlier lab knew is its own.
    assert right_by_idea(answers) == Counter(
        idea for _, right, ideas in judged if right for idea in ideas
    )
