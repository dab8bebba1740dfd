"""What the report reads about each answer: first, last, second, its time and its numbers."""

from __future__ import annotations

import csv
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from mlsys_widgets.classes import ClassSummary, class_summary, csv_tables
from mlsys_widgets.classes.class_charts import chart_groups
from mlsys_widgets.classes.question_statistics import BeliefChange, QuestionStatistics, Response
from mlsys_widgets.classes.responses import response, second_chance
from mlsys_widgets.classes.study_record import minutes_by_answer
from mlsys_widgets.classes.summary import QuestionSummary
from mlsys_widgets.course.course import Course
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.keys import Belief, Given, NumberKey
from mlsys_widgets.judging.verdicts import judge
from mlsys_widgets.labs import Parameters, load
from mlsys_widgets.ledger import Ledger
from tests.classes.test_study_record import event_at
from tests.grading.classroom import LAB
from tests.grading.simulated import copy_of_class, graded_class, of_kind, work_of

pytestmark = pytest.mark.timeout(600)
NAME = "intensity_flop_per_byte"
CLEAN = ("right", "mostly-right", "misconceived")


@pytest.fixture(scope="module")
def summary() -> ClassSummary:
    return class_summary(LAB, graded_class())


def number(summary: ClassSummary) -> QuestionSummary:
    return next(each for each in summary.questions if each.name == NAME)


def test_first_answers_are_those_of_the_ledgers(summary: ClassSummary) -> None:
    """Counted again from the ledgers' own events, for everybody with a ledger of their own."""
    root, course = graded_class(), Course.at(graded_class())
    home = root / "assignments" / LAB
    lab, check = load(home), load_checks(home)[NAME]
    changed = 0
    for kind in CLEAN:
        for name in of_kind(root, kind):
            folder = work_of(root, name)
            p = lab.draw(name, variants=course.variants, edition=course.edition)
            said = [
                judge(check(Given(p, folder)), event.value["value"]).right
                for event in Ledger.open(folder / "ledger.jsonl").events()
                if event.kind == "answer" and event.id == NAME
            ]
            changed += len(said) > 1 and said[-1] and not said[0]
    found = number(summary).statistics
    assert changed > 0
    # Those who are late, stopped or began again may have changed an answer as well.
    assert changed <= found.in_the_end <= changed + 8
    assert found.at_first + found.in_the_end == number(summary).right
    assert found.first is not None
    assert found.last is not None
    assert found.first.value < found.last.value
    assert any(each.lost for each in found.changes)


def test_numbers_that_the_question_uses_are_its_regions(summary: ClassSummary) -> None:
    regions = number(summary).statistics.regions
    assert {each.parameter for each in regions} == {"side"}
    assert [each.name for each in regions] == ["low", "middle", "high"]
    assert all(one.high < other.low for one, other in pairwise(regions))
    assert sum(each.count for each in regions) == number(summary).answered
    essay = next(each for each in summary.questions if each.name == "advice")
    assert essay.statistics.regions == ()


def test_a_second_chance_in_the_log_is_told_apart_from_what_was_handed_in(
    summary: ClassSummary, tmp_path: Path
) -> None:
    root = copy_of_class(tmp_path / "course")
    path = root / ".mlsys" / f"grade-{LAB}.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    again = 0
    for line in lines:
        for score in line["scores"]:
            if score["name"] == NAME and score.get("belief"):
                again += 1
                score["second"] = {
                    "attempt": 1, "credit": 1.0, "says": "Right.", "belief": None,
                    "answer": "1", "data": ["int", "1"], "share": 0.9,
                }  # fmt: skip
                score["credit"] = 0.9
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    assert again >= 5
    after = class_summary(LAB, root)
    before, found = number(summary).statistics, number(after).statistics
    table = csv.DictReader(csv_tables.submissions(after).splitlines())
    assert sum(row[f"{NAME}_second"] == "1" for row in table) == again
    assert found.by_second == again
    assert (found.at_first, found.in_the_end) == (before.at_first, before.in_the_end)
    assert found.mean_at_hand_in == before.mean_at_hand_in
    assert found.second is not None
    assert (found.second.value, found.second.count) == (1.0, again)
    assert found.gain is not None
    assert 0 < found.gain.value <= 0.9
    keys = [c.key for g in chart_groups(after) for c in g.charts]
    assert {"attempts", "difficulty", f"fifths:{NAME}", "changes", "minutes"} <= set(keys)


@pytest.mark.parametrize("kept", [{}, {"credit": "much"}, [1], {"credit": None}, "x"])
def test_a_damaged_log_has_no_second_chance(kept: Any) -> None:
    assert not second_chance({"second": kept})


IDEA, OTHER = "launches cost nothing", "bytes cost nothing"


def pooled_check(given: Given) -> NumberKey:
    """Two questions of a pool, which call the same idea differently; the third asks another one."""
    belief = {"q": ("left out", IDEA), "other": ("forgotten", IDEA), "third": ("free", OTHER)}
    name, idea = belief[given.p.asked("q")]
    return NumberKey(20, 0.01, [Belief(name, 10, credit=0, says="No.", idea=idea)])


def answered_again(asked: str, belief: str | None) -> Response:
    """The first question with the first belief, and then another question of the pool."""
    second = {"credit": 0.0 if belief else 1.0, "belief": belief, "parameters": {"q": asked}}
    return response(
        "q", pooled_check, Given(Parameters({"q": "q"}), Path()),
        {"credit": 0.0, "belief": "left out", "second": second}, None,
        fraction=0.0, rest=None, numbers={},
    )  # fmt: skip


def test_a_second_answer_is_judged_by_the_beliefs_of_its_own_question() -> None:
    held = answered_again("other", "forgotten")
    assert held.ideas == {IDEA: (True, True)}
    given_up = answered_again("other", None)
    assert given_up.ideas == {IDEA: (True, False)}
    # A question that does not ask about an idea says nothing of who gave it up.
    elsewhere = answered_again("third", "free")
    assert elsewhere.ideas == {IDEA: (True, True), OTHER: (False, True)}
    found = QuestionStatistics.of([held, given_up, elsewhere])
    assert set(found.changes) == {
        BeliefChange("left out", kept=1, lost=2, gained=0),
        BeliefChange("free", kept=0, lost=0, gained=1),
    }


@pytest.mark.parametrize("numbers", [{}, None, {"renamed": 1}])
def test_a_second_answer_without_its_numbers_is_judged_by_the_first_key(numbers: Any) -> None:
    given = Given(Parameters({"q": "q", "side": 8}), Path())

    def check(given: Given) -> NumberKey:
        assert given.p.side
        return pooled_check(given)

    found = second_chance(
        {"second": {"credit": 0.0, "belief": "left out", "parameters": numbers}}, check, given
    )
    assert found
    assert found.judged.idea == IDEA


def test_an_idea_that_is_still_held_is_not_lost_by_another_name(tmp_path: Path) -> None:
    root = copy_of_class(tmp_path / "course")
    home = root / "assignments" / LAB
    for name, code in (
        ("asks.py", "\n\n@lab.asks(instead_of='limit')\ndef other(p):\n    return limit(p)\n"),
        ("checks.py", OTHER_CHECK),
    ):
        with (home / name).open("a") as file:
            file.write(code)
    course, lab = Course.at(root), load(home)
    path = root / ".mlsys" / f"grade-{LAB}.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    again = set()
    for line in lines:
        p = lab.draw(line["student"], variants=course.variants, edition=course.edition)
        for score in line["scores"]:
            if score["name"] == "limit" and score.get("belief"):
                again.add(line["student"])
                first = p.asked("limit")
                score["belief"] = f"{first}: {score['belief']}"
                second = "other" if first == "limit" else "limit"
                belief = score["belief"].replace(first, second, 1)
                score["second"] = {"credit": 0.0, "belief": belief, "share": 0.9,
                                   "parameters": {**p, "limit": second}}  # fmt: skip
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    assert len(again) >= 5
    found = class_summary(LAB, root, names=True)
    held = {row.student: row.ideas["which limit"] for row in found.rows if row.ideas}
    assert {student: held[student] for student in again} == dict.fromkeys(again, (True, True))
    changes = [c for q in found.questions if q.item == "limit" for c in q.statistics.changes]
    assert sum(each.kept for each in changes) == len(again)
    assert not any(each.gained for each in changes)


#: Both questions of a pool recognize the same wrong answers, each with words of its own.
OTHER_CHECK = """

from dataclasses import replace as _replace

_limit = limit


def _named(given, name):
    key = _limit(given)
    beliefs = [_replace(b, name=f"{name}: {b.name}", idea="which limit") for b in key.beliefs]
    return _replace(key, beliefs=beliefs)


def limit(given):
    return _named(given, "limit")


def other(given):
    return _named(given, "other")
"""


def test_time_is_that_since_the_entry_before() -> None:
    events = [
        event_at(0, "opened", LAB), event_at(3, "use", "plot"), event_at(5, "answer", "x"),
        event_at(6, "answer", "y"), event_at(7.5, "answer", "x"), event_at(40, "answer", "y"),
    ]  # fmt: skip
    assert minutes_by_answer(events) == {"x": 3.5, "y": 1.0}


def test_statistics_as_a_table(summary: ClassSummary) -> None:
    header, *rows = csv.reader(csv_tables.statistics(summary).splitlines())
    assert header == [
        "question", "title", "item", "measure", "group", "value", "low", "high", "students",
    ]  # fmt: skip
    own = {row[3]: row for row in rows if row[0] == NAME}
    found = number(summary).statistics
    assert found.first is not None
    assert found.mean_at_hand_in is not None
    assert float(own["right_at_first"][5]) == pytest.approx(found.first.value, abs=1e-5)
    assert {
        "mean_at_hand_in",
        "spread_at_hand_in",
        "discrimination",
        "right_with_number",
        "minutes",
    } <= set(own)
    fifths = [row for row in rows if row[0] == NAME and row[3] == "right_in_fifth"]
    # The rest of this lab has few points, so several fifths are equal and fall together.
    assert {row[4] for row in fifths} <= set("12345")
    # Whoever answered nothing else is in no fifth.
    assert found.discrimination is not None
    assert sum(int(row[8]) for row in fifths) == found.discrimination.count
