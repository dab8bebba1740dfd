"""What a student's day must come to: a model of boxes, of what is recorded and what handed in.

It knows nothing of a browser, a kernel or a file; see random_days.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


class Disagreement(AssertionError):
    """The page, a file or the grader says something else than what was done."""


@dataclass(frozen=True)
class Box:
    """A question, and what may be entered: the value that is recorded then, or `None`."""

    title: str
    entries: Mapping[str, Any]
    words: Callable[[Any], str]
    #: What stands in the box when nothing does.
    empty: str | None = ""


@dataclass
class Expected:
    """What a day has come to."""

    boxes: Mapping[str, Box]
    #: What stands in a box and is not recorded there.
    drafts: dict[str, str] = field(default_factory=dict)
    #: The entry that is recorded, and those of them that were recorded since handing in.
    recorded: dict[str, str] = field(default_factory=dict)
    newer: set[str] = field(default_factory=set)
    handed_in: dict[str, str] | None = None

    def stands(self, name: str) -> str | None:
        """What stands in a box."""
        return self.drafts.get(name, self.recorded.get(name, self.boxes[name].empty))

    def type(self, name: str, entry: str) -> None:
        self.drafts[name] = entry
        if entry == self.recorded.get(name, self.boxes[name].empty):
            del self.drafts[name]

    def record(self, name: str) -> bool:
        """Record what stands in a box, and tell whether that can be done."""
        entry = self.stands(name)
        if entry is None or self.boxes[name].entries.get(entry) is None:
            return False
        self.drafts.pop(name, None)
        if self.recorded.get(name) != entry:
            self.recorded[name] = entry
            self.newer.add(name)
        return True

    def hand_in(self) -> None:
        self.handed_in = dict(self.recorded)
        self.newer.clear()

    def answers(self, given: Mapping[str, str]) -> dict[str, Any]:
        return {name: self.boxes[name].entries[entry] for name, entry in given.items()}

    # What the page says about it.

    def step(self, name: str) -> str:
        """The word of the panel about a step."""
        if name not in self.recorded:
            return "to do"
        if self.handed_in is None:
            return "recorded"
        return "recorded, not in the file yet" if name in self.newer else "in the file"

    def card(self, name: str) -> dict[str, Any]:
        """What a card says."""
        box, entry = self.boxes[name], self.recorded.get(name)
        was_handed_in = entry is not None and self.handed_in is not None
        return {
            "box": self.stands(name),
            "recorded": "" if entry is None else box.words(box.entries[entry]),
            "not recorded yet": name in self.drafts,
            "in the file": was_handed_in and name not in self.newer,
            "changed since": was_handed_in and name in self.newer,
        }

    def panel(self) -> dict[str, Any]:
        """What the panel and the status bar say."""
        made = self.handed_in is not None
        return {
            "steps": {name: self.step(name) for name in self.boxes},
            "file": made,
            "is whole": made and not self.newer,
            "is older": made and bool(self.newer),
            "status": "" if not made else "changed since" if self.newer else "made",
        }


def same(about: str, found: Any, expected: Any) -> None:
    """Fail with the differences."""
    if found != expected:
        raise Disagreement(f"{about}: " + "; ".join(_differences(found, expected)))


def _differences(found: Any, expected: Any, at: str = "") -> Iterable[str]:
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for key in sorted({*found, *expected}):
            yield from _differences(found.get(key), expected.get(key), f"{at} {key}")
    elif found != expected:
        yield f"{at.strip()} is {found!r}, not {expected!r}"
