"""``mlsys regrade`` and ``mlsys history`` as they are typed."""

from __future__ import annotations

import json

import pytest

from mlsys_widgets.cli import main
from mlsys_widgets.course.kept_versions import kept_versions
from tests.grading.classroom import LAB, rows
from tests.grading.regrading import ESSAY, NUMBER, by_hand, change_key, graded_course


@pytest.fixture
def course(tmp_path, monkeypatch):
    made = graded_course(tmp_path / "course")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(made.root)
    return made


def test_from_a_changed_key_to_the_history(course, capsys):
    change_key(course, "tolerance=0.02", "tolerance=0.05")
    before = rows(course.root)
    assert main(["grade", LAB]) == 0
    assert "mlsys regrade" in capsys.readouterr().out
    assert main(["regrade", LAB]) == 0
    output = capsys.readouterr().out
    assert f"{NUMBER} 0 → 40" in output
    assert "3 submissions judged again: 1 would change." in output
    assert rows(course.root) == before
    assert main(["regrade", LAB, "--apply", "--reason", "too strict"]) == 0
    assert "1 changed" in capsys.readouterr().out
    assert main(["grade", LAB]) == 0
    assert "everything is graded" in capsys.readouterr().out
    by_hand(course, "cat", ESSAY, manual_score=3)
    assert main(["history", LAB, "--student", "cat", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["what"], each["total"]) for each in lines] == [
        ("graded", [None, 40]), ("regraded", [40, 80]), ("by hand", [80, 83]),
    ]  # fmt: skip
    assert main(["history", "cat"]) == 0
    output = capsys.readouterr().out
    assert "too strict" in output
    assert "ann" not in output


def test_another_sentence_changes_pages_and_no_points(course, capsys):
    change_key(course, "an element of fp16 has", "each element of fp16 has")
    before = rows(course.root)
    assert main(["regrade", LAB]) == 0
    output = capsys.readouterr().out
    assert "3 submissions judged again: 0 would change." in output
    assert "In words only, 1 page would change." in output
    assert "Nothing is changed yet" in output
    assert main(["regrade", LAB, "--apply", "--reason", "clearer"]) == 0
    output = capsys.readouterr().out
    assert "In words only, 1 page changed." in output
    assert "Feedback follows" in output
    assert rows(course.root) == before
    assert main(["regrade", LAB]) == 0
    assert "In words only" not in capsys.readouterr().out


def test_the_version_that_students_have_keeps_the_fixed_key(course, capsys):
    """A later fix of the text makes another version; copies of this one keep its keys."""
    change_key(course, "tolerance=0.02", "tolerance=0.05")
    assert main(["build", LAB]) == 0
    (kept,) = kept_versions(course.root, LAB)
    change_key(course, "tolerance=0.05", "tolerance=0.07")
    assert main(["regrade", LAB]) == 0
    assert "tolerance=0.05" in (kept.keys / "checks.py").read_text("utf-8"), "only shown so far"
    assert main(["regrade", LAB, "--apply", "--reason", "too strict"]) == 0
    assert "tolerance=0.07" in (kept.keys / "checks.py").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--apply"], "--apply needs --reason"),
        (["--apply", "--reason", "  "], "--apply needs --reason"),
        (["--reason", "words"], "--reason belongs to --apply"),
        (["--apply", "--reason", "x" * 301], "at most 300"),
        (["--students", "zoe"], "nobody whose name fits"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(course, capsys, words, sentence):
    before = rows(course.root)
    assert main(["regrade", LAB, *words]) == 1
    assert sentence in capsys.readouterr().err
    assert rows(course.root) == before


def test_a_history_that_was_edited_is_named(course, capsys):
    path = course.root / ".mlsys" / f"history-{LAB}.jsonl"
    path.write_text(path.read_text().replace('"mlsys grade"', '"a kind hand"', 1))
    assert main(["history", LAB]) == 3
    assert "Line 1 was changed after it was written." in capsys.readouterr().out
