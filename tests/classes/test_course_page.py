"""Misconceptions that come back, on the page about a course."""

from __future__ import annotations

from datetime import UTC

from mlsys_widgets.classes.course_page import course_page
from mlsys_widgets.classes.course_totals import CourseTotals
from mlsys_widgets.classes.ideas import IdeaInLab
from tests.classes.html_page import Page

IDEAS = {
    "sparse is the peak": (
        IdeaInLab("one", "One", kept=tuple(f"k{n}" for n in range(9)), lost=("ann", "ben")),
        IdeaInLab("two", "Two", kept=("k0", "k1", "k2", "k3", "k4", "k5"), regained=("ann",)),
    )
}


def shown(*, names: bool) -> str:
    return Page(
        course_page(CourseTotals((), (), {}), "A course", {}, UTC, names=names, ideas=IDEAS)
    ).text


def test_staff_see_who_and_others_no_small_group() -> None:
    staff, hall = shown(names=True), shown(names=False)
    assert "1 have it again" in staff
    assert "1 student had it again after giving it up." in staff
    assert "ann, ben" in staff
    assert "ann" not in hall
    assert "2 gave it up" not in hall
    assert "11 in smaller groups" in hall
    assert "Fewer than 5 had it again after giving it up, in each lab." in hall


def test_a_course_without_shared_ideas_says_nothing_of_them() -> None:
    page = course_page(CourseTotals((), (), {}), "A course", {}, UTC, names=True, ideas={})
    assert "come back" not in Page(page).text
