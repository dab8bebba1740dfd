"""The history of grades: no change is missed, whoever makes it, and no entry is edited."""

from __future__ import annotations

import json

import pytest

from mlsys_widgets.grading.gradebook.grade_history import GRADED, GradeHistory
from mlsys_widgets.grading.gradebook.lab_grades import CellGrade, LabGrade
from mlsys_widgets.grading.judging.told_answers import JudgedAnswer, SecondAnswer, ToldAnswer


def of(student: str, *, penalty: float | None = None, **cells: CellGrade) -> dict[str, LabGrade]:
    return {student: LabGrade(student, "row", penalty=penalty, cells=cells)}


def auto(points: float, **more: float) -> CellGrade:
    return CellGrade("row", points, **more)


@pytest.fixture
def history(tmp_path):
    return GradeHistory(tmp_path, "lab_02_demo")


def told(history):
    changes, problems = history.read()
    assert problems == []
    return [(c.student, c.what, c.total) for c in changes]


def test_what_a_command_changes_is_its_own_and_the_rest_is_not(history):
    book = of("ann", a=auto(1))
    history.notice(book)
    book |= of("ann", a=auto(1, manual=4))
    with history.during(GRADED, "mlsys grade", lambda: book):
        book |= of("bob", a=auto(3))
    book |= of("ann", a=auto(2, manual=4, extra=1))
    book |= of("bob", a=auto(3), penalty=0.5)
    history.notice(book)
    del book["bob"]
    history.notice(book)
    assert told(history) == [
        ("ann", "found", (None, 1)),
        ("ann", "by hand", (1, 4)),
        ("bob", "graded", (None, 3)),
        ("ann", "elsewhere", (4, 4)),
        ("ann", "by hand", (4, 5)),
        ("bob", "elsewhere", (3, 2.5)),
        ("bob", "removed", (2.5, None)),
    ]
    assert history.notice(book) == []


def test_a_command_that_was_killed_is_still_named(history):
    book = of("ann", a=auto(1))
    running = history.during(GRADED, "mlsys grade --force", lambda: book)
    running.__enter__()  # and never leaves
    book |= of("ann", a=auto(2))
    (change,) = GradeHistory(history._path.parents[1], "lab_02_demo").notice(book)
    assert (change.what, change.why, change.total) == (GRADED, "mlsys grade --force", (1, 2))


def test_a_line_that_was_edited_or_taken_out_is_noticed(history):
    for points in (1, 2, 3, 4):
        history.notice(of("ann", a=auto(points)))
    lines = history._path.read_text().splitlines(keepends=True)
    line = json.loads(lines[1])
    line["body"]["total"] = [1, 40]
    history._path.write_text("".join([lines[0], json.dumps(line) + "\n", *lines[2:]]))
    assert history.read()[1] == ["Line 2 was changed after it was written."]
    history._path.write_text("".join([lines[0], *lines[2:]]))
    assert history.read()[1] == ["Line 2 does not continue the one before it."]
    history._path.write_text("".join([lines[0], "{\n", *lines[1:]]))
    assert history.read()[1] == ["Line 2 cannot be read."]


def test_half_a_line_was_never_written(history):
    history.notice(of("ann", a=auto(1)))
    whole = history._path.read_bytes()
    history._path.write_bytes(whole + b'{"seq": 2, "pre')
    assert told(history) == [("ann", "found", (None, 1))]
    history.notice(of("ann", a=auto(2)))
    assert history._path.read_bytes().startswith(whole)
    assert told(history)[1:] == [("ann", "elsewhere", (1, 2))]


def test_a_student_is_forgotten_and_the_chain_holds(history):
    history.notice(of("ann", a=auto(1)) | of("bob", a=auto(2)))
    history.notice(of("ann", a=auto(3)) | of("bob", a=auto(2)))
    assert history.forget("ann") == 2
    assert "ann" not in history._path.read_text()
    history.notice(of("bob", a=auto(2)))
    assert told(history) == [("bob", "found", (None, 2))]


def test_a_command_that_fails_says_why_and_not_that_the_gradebook_is_gone(history):
    book = of("ann", a=auto(1))
    history.notice(book)

    looks = []

    def read():
        looks.append(1)
        if len(looks) > 1:
            raise OSError("no gradebook")
        return book

    with (
        pytest.raises(ValueError, match="the first reason"),
        history.during(GRADED, "mlsys grade", read),
    ):
        raise ValueError("the first reason")
    book |= of("ann", a=auto(2))
    assert [each.what for each in history.notice(book)] == [GRADED]


def test_a_student_is_renamed_and_the_chain_holds(history):
    history.notice(of("ann", a=auto(1)) | of("bob", a=auto(2)))
    assert history.rename("ann", "anna") == 1
    assert history.rename("ann", "anna") == 0
    assert history.notice(of("anna", a=auto(1)) | of("bob", a=auto(2))) == []
    assert told(history) == [("anna", "found", (None, 1)), ("bob", "found", (None, 2))]
    text = history._path.read_text()
    history._path.write_text(text.replace("found", "lost", 1))
    with pytest.raises(ValueError, match="was changed after it was written"):
        history.rename("anna", "ann")


def test_both_answers_of_a_second_chance_have_one_entry(history):
    first = JudgedAnswer(("float", "1.0"), "1.0", 0.5, "Too low.")
    again = SecondAnswer(("float", "2.0"), "2.0", 0.25, "Far too low.", share=0.9)
    chances = {"ann": {"limit": ToldAnswer(first, again), "side": ToldAnswer(first)}}
    history.notice_second_chances(chances)  # who has no grade has no history
    book = of("ann", limit=auto(3))
    history.notice(book)
    for _ in range(2):
        history.notice_second_chances(chances)
        assert history.notice(book) == []
    changes, problems = history.read()
    assert problems == []
    assert [(c.what, c.total, dict(c.credits)) for c in changes] == [
        ("found", (None, 3), {}),
        ("second chance", (3, 3), {"limit": (0.5, 0.25)}),
    ]
    assert changes[1].why == (
        "limit: the first answer earns 50% of the points, the second 25% at 90%;"
        " the better one counts"
    )


def test_nobody_else_may_read_it(history):
    history.notice(of("ann", a=auto(1)))
    assert history._path.stat().st_mode & 0o077 == 0
