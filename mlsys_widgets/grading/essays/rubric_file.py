"""Where a course keeps the rubrics of a lab's essays, and who got which items.

The file only grows: a line for every item as somebody changed it, and for every answer as somebody
graded it. The last line about each counts; the others are its history.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from mlsys_widgets.files import OWN_FOLDER
from mlsys_widgets.grading.essays.rubric import EssayMark, RubricItem
from mlsys_widgets.grading.gradebook.private_lines import append_lines, read_lines


class RubricFile:
    """The rubrics of one lab."""

    def __init__(self, home: Path, lab: str) -> None:
        self._path = home / OWN_FOLDER / f"essays-{lab}.jsonl"

    def items(self, question: str) -> dict[int, RubricItem]:
        """Return the items by number; empty as long as nobody has graded with them."""
        found: dict[int, RubricItem] = {}
        for line in self._lines("item", question):
            item = RubricItem(**{name: line[name] for name in RubricItem.__match_args__})
            found[item.number] = item
        return found

    def marks(self, question: str) -> dict[str, EssayMark]:
        """Return what each student was given."""
        found: dict[str, EssayMark] = {}
        for line in self._lines("mark", question):
            mark = EssayMark(**{name: line[name] for name in EssayMark.__match_args__})
            found[line["student"]] = replace(mark, items=tuple(mark.items))
        return found

    def _lines(self, kind: str, question: str) -> Iterator[dict[str, Any]]:
        for _, line in read_lines(self._path):
            match line:
                # What was about somebody who was forgotten is empty.
                case {**kinds} if isinstance(about := kinds.get(kind), dict):
                    if about.get("question") == question:
                        yield about

    def add(
        self,
        question: str,
        items: Sequence[RubricItem] = (),
        marks: Mapping[str, EssayMark] | None = None,
    ) -> None:
        """Note changed items and new marks; they are on the disk when this returns."""
        lines = [{"item": {"question": question, **asdict(item)}} for item in items]
        lines += [
            {"mark": {"question": question, "student": student, **asdict(mark)}}
            for student, mark in (marks or {}).items()
        ]
        append_lines(self._path, b"".join(json.dumps(each).encode() + b"\n" for each in lines))
