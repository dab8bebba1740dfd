"""What the lecture hall sees: no group of fewer than five, whatever the class did."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mlsys_widgets import cli
from mlsys_widgets.classes.lecture_page import lecture_page
from mlsys_widgets.classes.summary import (
    BeliefCount,
    ClassSummary,
    PredictedOption,
    PredictionSummary,
    QuestionSummary,
    SubmissionRow,
)
from tests.classes.html_page import Page


def some_class(chance: random.Random, students: int) -> ClassSummary:
    def split(parts: int) -> list[int]:
        cuts = sorted(chance.randint(0, students) for _ in range(parts - 1))
        return [b - a for a, b in zip([0, *cuts], [*cuts, students], strict=True)]

    def question(k: int) -> QuestionSummary:
        right, partly, wrong, blank = split(4)
        held = (BeliefCount(f"belief {'abc'[k]}", "Why.", chance.randint(0, partly + wrong)),)
        return QuestionSummary(
            "q", f"Question {'abc'[k]}", "number", 10, right=right, partly=partly, wrong=wrong,
            blank=blank, beliefs=held,
        )  # fmt: skip

    options = tuple(PredictedOption(f"option {'abcd'[k]}", n, 0) for k, n in enumerate(split(4)))
    rows = [SubmissionRow("", 70, 0, None, 0, 0, False, (), {}, {})] * students
    return ClassSummary(
        "lab", "A lab", 100, tuple(rows), tuple(question(k) for k in range(3)),
        (PredictionSummary("p", "Predicted", "Which?", options, judged=False),),
    )  # fmt: skip


@pytest.mark.parametrize("students", [5, 8, 12, 31, 80])
def test_no_group_of_fewer_than_five_is_on_the_page(students: int) -> None:
    chance = random.Random(students)
    for _ in range(150):
        made = lecture_page(some_class(chance, students))
        shown = Page(made).text
        for count, of in re.findall(r"(\d+) of (\d+), ", shown):
            assert int(count) >= 5
            assert int(of) - int(count) == 0 or int(of) - int(count) >= 5
        for count in re.findall(r"· (\d+)(?: \(|$)", shown):
            assert int(count) >= 5
        for share in re.findall(r"(\d+)% all points", shown):
            assert round(int(share) * students / 100) >= 5
        # Bars have widths, from which a number could be read as well.
        for bar in re.findall(r"<li>Question.*?</li>", made):
            widths = [float(each) for each in re.findall(r"width: ([\d.]+)%", bar)]
            assert all(round(each * students / 100) >= 5 for each in widths)


def test_a_very_small_class_is_not_shown() -> None:
    shown = Page(lecture_page(some_class(random.Random(1), 4))).text
    assert "too few to show" in shown
    assert "Question" not in shown


def test_what_is_for_staff_is_refused_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["report", "--for-lecture", "--course", str(tmp_path)]) == 1
    assert "is a page about one lab; name it" in capsys.readouterr().err
    for other in ("--names", "--csv"):
        asked = ["report", "lab_01_one", "--for-lecture", other, "--course", str(tmp_path)]
        assert cli.main(asked) == 1
        assert "--for-lecture is for everybody to see" in capsys.readouterr().err


def test_words_are_shown_without_the_marks_of_markdown() -> None:
    made = some_class(random.Random(1), 80)
    (asked,) = made.predictions
    option, *others = asked.options
    marked = replace(
        asked,
        question="Is it **2×** faster?",
        options=(replace(option, label="`fuse` *first*", count=80), *others),
    )
    shown = Page(lecture_page(replace(made, predictions=(marked,)))).text
    assert "Is it 2× faster?" in shown
    assert "fuse first" in shown
    assert re.search(r"80 handed in; the median is 70 of 100 points\.", shown)
