"""The charts of a question's statistics say what the numbers say, and nothing without numbers."""

from __future__ import annotations

import pytest
from PIL import ImageColor

from mlsys_widgets.classes import question_charts as qc
from mlsys_widgets.classes.question_statistics import (
    Judged,
    QuestionStatistics,
    Response,
    SecondTry,
)
from mlsys_widgets.classes.summary import ClassSummary, QuestionSummary, SubmissionRow
from mlsys_widgets.drawing import picture
from mlsys_widgets.drawing.charts import scene
from mlsys_widgets.drawing.theme import DARK, color
from tests.browser.contrast import ratio
from tests.classes.known_class import KnownClass, KnownQuestion


def question(name: str, known: KnownQuestion, seed: int, item: str = "") -> QuestionSummary:
    responses = KnownClass(known, 200, seed).responses()
    right = sum(each.last.right for each in responses)
    return QuestionSummary(
        name, name.title(), "number", 10, item, right=right, wrong=len(responses) - right,
        statistics=QuestionStatistics.of(responses),
    )  # fmt: skip


POOL = ClassSummary(
    "lab", "A lab", 30,
    questions=(
        question("easy", KnownQuestion(-1.5), 1, "easy"),
        question("hard", KnownQuestion(1.5), 2, "easy"),
        question("drawn", KnownQuestion(0.0, harder=4), 3),
    ),
)  # fmt: skip


def test_members_of_a_pool_and_drawn_numbers_that_differ_are_named() -> None:
    order, numbers = qc.difficulty(POOL)
    assert [bar.label for bar in order.bars] == ["Hard", "Drawn", "Easy"]
    assert order.finding.endswith("Not the same in a pool: “Hard” is harder than “Easy”.")
    assert numbers.finding.startswith("Harder with some numbers than with others: Drawn. All 9 ")
    assert numbers.bars[0].label == "Drawn: side 19–29"
    for bar in (*order.bars, *numbers.bars):
        assert bar.reach is not None
        assert bar.reach[0] <= bar.length <= bar.reach[1]


def test_every_interval_is_drawn_and_said() -> None:
    for chart in (*qc.difficulty(POOL), *qc.fifths(POOL), *qc.question_minutes(POOL)):
        (reaches,) = [mark for mark in scene(chart).marks if mark.name == "reaches"]
        assert len(reaches.paths) == len(chart.bars)
        assert "NaN" not in picture.svg((scene(chart),), chart.description)


@pytest.mark.parametrize("dark", [False, True])
def test_an_interval_is_seen_on_the_paper_and_on_its_bar(dark: bool) -> None:
    (chart, _) = qc.difficulty(POOL)
    (reaches,) = [mark for mark in scene(chart).marks if mark.name == "reaches"]
    line, paper = (
        ImageColor.getrgb(DARK[each] if dark else each) for each in (color(reaches.tone), "#ffffff")
    )
    bars = {tone for bar in chart.bars for _, tone in bar.parts}
    assert ratio(line, paper) > 4.5
    assert all(ratio(line, ImageColor.getrgb(color(tone))) > 2.9 for tone in bars)


def test_attempts_count_everybody_who_answered_once() -> None:
    (chart,) = qc.attempts(POOL)
    for bar, asked in zip(chart.bars, POOL.questions, strict=True):
        assert bar.length == asked.answered
    assert ("purple", "at the second chance") in chart.legend
    assert "The second chance added most in “" in chart.finding


def test_beliefs_before_and_after() -> None:
    half, right = Judged(0.5, "half"), Judged(1.0)
    tries = [Response(half, half)] * 2 + [Response(right, half)] * 3 + [Response(half, right)]
    tries.append(Response(half, half, SecondTry(right, 0.9)))
    found = QuestionSummary("q", "Q", "number", 10, statistics=QuestionStatistics.of(tries))
    (chart,) = qc.belief_changes(ClassSummary("lab", "A lab", 10, questions=(found,)))
    assert chart.bars[0].note == "2 kept, 1 took it up, 4 gave it up"
    assert chart.bars[0].length == 7


@pytest.mark.parametrize(
    ("hours", "span"), [(100, 0), (72, 0), (30, 1), (24, 1), (7, 2), (1, 3), (0, 3), (-1, 4)]
)
def test_pace_is_counted_from_the_due_time(hours: float, span: int) -> None:
    row = SubmissionRow("", 1, 0, None, 0, 0, False, (), {}, {}, half_done=hours)
    (chart,) = qc.pace(ClassSummary("lab", "A lab", 10, (row,)))
    assert [bar.length for bar in chart.bars] == [k == span for k in range(5)]
    assert chart.finding.startswith(f"{int(hours < 24)} of 1 student had half")


def test_nothing_is_shown_of_nobody() -> None:
    nobody = ClassSummary("lab", "A lab", 10, questions=(QuestionSummary("q", "Q", "number", 10),))
    for charts in (qc.difficulty, qc.fifths, qc.attempts, qc.belief_changes, qc.pace):
        assert list(charts(nobody)) == []
