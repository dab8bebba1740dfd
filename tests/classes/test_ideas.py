"""Misconceptions that come back: who held, lost and regained them, and what the lecture sees."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from mlsys_widgets.classes.ideas import SMALLEST, IdeaInLab, idea_charts, ideas_over_labs, merged
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.keys import Given
from mlsys_widgets.labs import load

HOME = Path(__file__).parents[2] / "assignments"
REVIEW = "lab_review_foundations"


def test_everybody_who_was_asked_is_in_one_state() -> None:
    """A class whose truth is known: each student holds, gives up and takes up at random."""
    chance, truth = random.Random(3), []
    for lab in ("one", "two", "three"):
        students = {
            f"s{k}": {"idea": (chance.random() < 0.5, chance.random() < 0.5)}
            for k in range(50)
            if chance.random() < 0.8
        }
        truth.append((lab, lab.title(), students))
    found = ideas_over_labs(truth)["idea"]
    past: dict[str, list[bool]] = {}
    for (_, _, students), each in zip(truth, found, strict=True):
        states = {s: n for n in ("free", "lost", "kept", "regained") for s in getattr(each, n)}
        assert set(states) == set(students)
        assert each.asked == len(students)
        for student, held in students.items():
            before, after = held["idea"]
            had = past.setdefault(student, [])
            assert (states[student] in ("kept", "regained")) == after
            if states[student] == "regained":
                assert had
                assert not had[-1]
                assert True in had
            if states[student] == "free":
                assert not before
            had += [before, after]


def test_an_idea_of_one_lab_alone_is_not_followed() -> None:
    assert ideas_over_labs([("one", "One", {"ann": {"idea": (True, True)}})]) == {}


def test_no_group_of_fewer_than_five_is_shown_in_the_lecture() -> None:
    chance = random.Random(8)
    for _ in range(2_000):
        counts = [chance.choice((0, 1, 2, 3, 4, 5, 6, 20)) for _ in range(4)]
        shown, together = merged(counts, SMALLEST)
        assert sum(shown) + together == sum(counts)
        assert all(n == 0 or n >= SMALLEST for n in shown)
        assert together == 0 or together >= SMALLEST or not any(shown)
        names = [tuple(f"s{k}" for k in range(n)) for n in counts]
        lab = IdeaInLab("one", "One", *names)
        if not lab.asked:
            continue
        (chart,) = idea_charts({"idea": [lab]}, least=SMALLEST)
        (bar,) = chart.bars
        assert all(length >= SMALLEST for length, _ in bar.parts)
        numbers = [int(n) for n in re.findall(r"\d+", bar.note)]
        assert all(n >= SMALLEST for n in numbers)


@pytest.fixture(scope="module")
def asked() -> dict[str, set[str]]:
    """The ideas that the keys of each lab know, for several students."""
    found: dict[str, set[str]] = {}
    for home in sorted(path.parent for path in HOME.glob("*/checks.py")):
        lab, checks = load(home), load_checks(home)
        ideas = found.setdefault(home.name, set())
        for student in ("", "ann", "ben", "cem", "dora", "eve"):
            given = Given(lab.draw(student), home)
            for check in checks.values():
                try:
                    ideas |= {belief.idea for belief in check(given).beliefs if belief.idea}
                except ValueError:  # about a measurement that lies beside the notebook
                    continue
    return found


def test_the_review_asks_ideas_of_earlier_labs_again(asked: dict[str, set[str]]) -> None:
    earlier = set().union(*(ideas for lab, ideas in asked.items() if lab != REVIEW))
    assert len(asked[REVIEW] & earlier) >= 3
    assert all(asked.values())


def test_an_idea_comes_back_in_another_lab(asked: dict[str, set[str]]) -> None:
    labs = Counter(idea for ideas in asked.values() for idea in ideas)
    assert [idea for idea, many in labs.items() if many == 1] == []


def test_an_idea_is_spelled_alike_wherever_it_is_known() -> None:
    """Ideas are told apart by their words, so one that a single belief names may be a slip."""
    named: Counter[str] = Counter()
    for checks in HOME.glob("*/checks.py"):
        named.update(re.findall(r'idea="(.+)"', checks.read_text()))
    assert named
    assert [idea for idea, times in named.items() if times == 1] == []
