"""What a rubric gives, and what its items may be."""

from __future__ import annotations

import pytest

from mlsys_widgets.grading.essays.rubric import Rubric, RubricItem


def test_no_answer_gets_less_than_nothing_or_more_than_all():
    rubric = Rubric(10, [RubricItem(1, 8, "a"), RubricItem(2, 8, "b"), RubricItem(3, -9, "c")])
    assert [rubric.points(each) for each in ([1, 2], [1, 3], [], [1])] == [10, 0, 0, 8]


def test_a_removed_item_gives_nothing_and_keeps_its_number():
    rubric = Rubric(10, [RubricItem(1, 8, "a", removed=True), RubricItem(2, 3, "b")])
    assert (rubric.points([1, 2]), rubric.words([1], ""), rubric.next_number) == (
        3,
        "○ b (0 of 3)",
        3,
    )


@pytest.mark.parametrize("text", ["", " \n\t", "x" * 501])
def test_a_text_is_there_and_not_too_long(text):
    with pytest.raises(ValueError, match="1 to 500 characters"):
        RubricItem(1, 2, text)


def test_what_is_typed_is_cleaned_for_a_page_and_a_terminal():
    item = RubricItem(1, 2.004, "  names\x1b[31m it \r\n")
    assert (item.points, item.text) == (2.0, "names[31m it")
    assert item.seen != RubricItem(1, 2, "names it").seen
