"""The table of students fits on a screen, whatever they are called and however many there are."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from mlsys_widgets.grading.feedback.student_table import (
    MOST_STUDENTS,
    StudentRow,
    print_students,
    short_name,
)


def printed(*rows: StudentRow, width: int = 80) -> list[str]:
    out = io.StringIO()
    print_students(Console(file=out, width=width), rows, "mlsys report lab --names lists all flags")
    blank, *lines = out.getvalue().splitlines() or [""]
    assert blank == ""
    return [line.rstrip() for line in lines]


def test_flags_come_first_then_the_late_then_remarks():
    lines = printed(
        StudentRow("ann", 60, remarks=("saved as UTF-16",)),
        StudentRow("bob", 50, late="2 days late: 50 → 40 points"),
        StudentRow("cat", 40),
        StudentRow("dan", None, ("not graded: why",), ("a remark",), "1 day late, no penalty"),
    )
    assert [line.split() for line in lines] == [
        ["student", "points", "what", "to", "know"],
        ["dan", "–", "!", "not", "graded:", "why"],
        ["1", "day", "late,", "no", "penalty"],
        ["a", "remark"],
        ["bob", "50", "2", "days", "late:", "50", "→", "40", "points"],
        ["ann", "60", "saved", "as", "UTF-16"],
    ]


def test_a_large_class_fills_no_terminal():
    rows = [StudentRow(f"s{k:03}", 1.0, remarks=("a remark",)) for k in range(300)]
    rows.append(StudentRow("zoe", 1.0, flags=("a flag",)))
    lines = printed(*rows)
    assert len(lines) == MOST_STUDENTS + 2
    assert lines[1].split()[0] == "zoe"
    assert lines[-1] == "and 281 more students; mlsys report lab --names lists all flags"


def test_one_submission_fills_no_terminal():
    row = StudentRow("ann", 1.0, flags=tuple(f"flag {k}" for k in range(40)))
    lines = printed(row)
    assert len(lines) == 5
    assert lines[-1].strip() == "and 37 more"


def test_nothing_to_say_is_no_table():
    assert printed(StudentRow("ann", 60)) == []


@pytest.mark.parametrize(
    "name",
    [
        "x" * 255,
        "\x1b[2J\x1b[31mred",
        "a\tb\nc\rd",
        "ev\u202ell",
        "bad\udcff",
        "[bold]m[/]",
        "=1+1",
    ],
)
def test_a_name_moves_no_cursor(name):
    shown = short_name(name)
    assert shown.isprintable()
    assert len(shown) <= 24
    lines = printed(StudentRow(name, 1.0, remarks=("a remark",)))
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)
    assert shown in lines[1]
    lines[1].encode()


def test_a_sentence_that_is_long_stays_in_its_column():
    lines = printed(StudentRow("ann", 60, flags=("word " * 50,)))
    assert all(len(line) <= 80 for line in lines)
    assert all(line.startswith(" " * 10) for line in lines[2:])
