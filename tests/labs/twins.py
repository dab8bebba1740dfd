"""Twins: students of a class who have exactly the same question, so that an answer can be copied.

python -m tests.labs.twins            # how many points a twin saves, by lab and item
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from unittest import mock

from mlsys_widgets.grading.judging.shared_keys import CLASS, drawn_keys
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import load
from mlsys_widgets.measured import queries
from tests.labs.rehearsal import ROOT


def twins(lab: str, students: Iterable[str] = CLASS) -> dict[str, float]:
    """Points that a twin saves on each item, on average over the class.

    A question is the same if its words and its key are; the order of its options does not matter,
    because twins compare words. What a student measures is nobody else's.
    """
    home = ROOT / "assignments" / lab
    declared, checks = load(home), load_checks(home)
    asked: dict[str, list[object]] = {}
    points: dict[str, float] = {}
    with mock.patch.object(queries, "load", cache(queries.load)):
        for student in students:
            p = declared.draw(student)
            items = declared.items(p)
            for name, key in drawn_keys(declared, checks, p).items():
                options = frozenset(getattr(items[name], "options", {}).items())
                asked.setdefault(name, []).append((items[name].ask, options, key.value))
                points[name] = items[name].points
    return {name: points[name] * _share(each) for name, each in asked.items()}


def _share(questions: list[object]) -> float:
    """What fraction of the class has a question that somebody else has."""
    return sum(n for n in Counter(questions).values() if n > 1) / len(questions)


def main() -> int:
    """Print the table."""
    for lab in sys.argv[1:] or sorted(
        each.parent.name for each in ROOT.glob("assignments/*/asks.py")
    ):
        found = twins(lab)
        print(f"{lab}: {sum(found.values()):.1f} points")
        for name, saved in sorted(found.items(), key=lambda pair: -pair[1]):
            if saved:
                print(f"  {name} {saved:.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
