"""Misconceptions that come back, on the page about a course."""

from __future__ import annotations

import random
import re
from datetime import UTC

from mlsys_widgets.classes.course_page import course_page
from mlsys_widgets.classes.course_totals import CourseTotals, LabGrades
from mlsys_widgets.classes.gradebook_reader import GradebookStudent, Standing
from mlsys_widgets.classes.ideas import IdeaInLab
from tests.classes.html_page import Page

IDEAS = {
    "sparse is the peak": (
        IdeaInLab("one", "One", kept=tuple(f"k{n}" for n in range(9)), lost=("ann", "ben")),
        IdeaInLab("two", "Two", kept=("k0", "k1", "k2", "k3", "k4", "k5"), regained=("ann",)),
    )
}


NOBODY_YET = CourseTotals((), tuple(GradebookStudent(f"s{k}") for k in range(20)), {})


def shown(*, names: bool) -> str:
    return Page(course_page(NOBODY_YET, "A course", {}, UTC, names=names, ideas=IDEAS)).text


def a_course(students: int, graded: int, late: int) -> CourseTotals:
    """Students of whom some handed in a lab, and some of these late; each has other points."""
    people = tuple(GradebookStudent(f"s{k}") for k in range(students))
    standings = {
        f"s{k}": Standing(
            {"q": 50 + 0.1 * k + 3 * (k < late)},
            penalty=3.0 * (k < late),
            seconds_late=60.0 * (k < late),
        )
        for k in range(graded)
    }
    counts = {each.id: frozenset({"one"} if each.id in standings else ()) for each in people}
    return CourseTotals((LabGrades("one", 100, 1, standings),), people, counts)


def row_of(page: str) -> list[str]:
    """How many handed in and were late, the mean, and the penalties."""
    cells = re.findall(r"<td>(.*?)</td>", page)
    return cells[3:]


def test_without_names_no_count_is_small_and_none_can_be_subtracted() -> None:
    chance = random.Random(5)
    for _ in range(300):
        students = chance.choice((5, 9, 30))
        graded = chance.randint(0, students)
        late = chance.randint(0, graded)
        page = course_page(
            a_course(students, graded, late), "A course", {"one": "One"}, UTC, names=False
        )
        whole = students
        for words in row_of(page)[:2]:
            if words.isdigit():
                assert int(words) == 0 or int(words) >= 5
                assert whole - int(words) == 0 or whole - int(words) >= 5
                whole = int(words)
        assert ("points<" in page) == (late >= 5)
        assert ("The median is" in page) == (graded >= 5)
        assert "range" not in page


def test_staff_read_the_range_and_every_count() -> None:
    page = course_page(a_course(30, 28, 2), "A course", {"one": "One"}, UTC, names=True)
    assert "totals range from 50.0% to 52.7%" in page
    assert row_of(page)[:2] == ["28", "2"]
    assert "−6 points" in page
    hall = course_page(a_course(30, 28, 2), "A course", {"one": "One"}, UTC, names=False)
    assert row_of(hall)[:2] == ["nearly all", "fewer than 5"]
    assert "−6 points" not in hall


def test_a_very_small_course_is_for_staff_only() -> None:
    few = a_course(4, 4, 1)
    hall = Page(course_page(few, "A course", {"one": "One"}, UTC, names=False)).text
    assert "too few to show" in hall
    assert "One" not in hall
    assert "One" in Page(course_page(few, "A course", {"one": "One"}, UTC, names=True)).text


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
