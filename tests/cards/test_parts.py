"""What a card shows: each part for the browser, in plain text and on a still page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mlsys_widgets.cards import parts
from mlsys_widgets.cards.parts import (
    BesideLinks,
    Blanks,
    Buttons,
    Checkboxes,
    Confidence,
    FoldedProse,
    NumberedList,
    Numbers,
    Options,
    Part,
    Prose,
    RecordedAnswer,
    Rows,
    SealedAnswer,
    Steps,
    TextArea,
    TextBox,
)

TIME = "2026-02-03T09:30:12.000Z"
EVERY = [
    Prose("p", "One **strong**.\n\nTwo <b>.", tone="orange", label="Note."),
    FoldedProse("f", "One **step**.\n\nTwo <b>.", heading="Stuck?"),
    RecordedAnswer("q", "Recorded: **33 percent**", TIME),
    SealedAnswer("s", "Sealed: **C**", TIME),
    Options("o", "Which `limit`?", {"A": "memory", "B": "<b>units</b>"}, "A", lettered=True),
    Confidence("c", 4, about="question 2"),
    TextBox("t", "How many?", "Type a number.", "134k"),
    TextArea("a", "Why?", "A sentence.", "Because <b>."),
    Blanks("b", ("It waits for ", ("x", {"m": "memory"}, "m"), ".")),
    Checkboxes("k", "Check.", {"r": "find a **ridge**", "f": "fuse"}, {"r": "Day 6"}, ("r",)),
    Numbers("n", (("Right", "2 of 3", "green", "saved"),)),
    Steps("st", (("Act 1", (("Predict", True), ("Reflect", False))),)),
    NumberedList("l", (("Bytes cost", "Fuse."), ("", "Measure."))),
    Rows("r", (("Done", "a **prediction**"),)),
]
#: What a still page has no use for.
ONLY_LIVE = (Buttons, BesideLinks)
every_part = pytest.mark.parametrize("part", EVERY, ids=lambda part: type(part).__name__)


@every_part
def test_the_browser_knows_how_to_draw_it(part: Part, root: Path) -> None:
    script = (root / "labextension" / "src" / "widgets" / "card.js").read_text("utf-8")
    assert re.search(rf"^  {part.spec()['kind']}: \(part", script, re.M)
    assert part.spec()["key"] == part.key


def test_every_kind_of_part_is_tried_here() -> None:
    kinds = {k for k in vars(parts).values() if isinstance(k, type) and issubclass(k, Part)}
    bases = {Part, parts.InputField, parts.ChoiceField}
    assert kinds == {*bases, *ONLY_LIVE, *map(type, EVERY)}


@every_part
def test_what_is_written_is_no_html(part: Part) -> None:
    assert part.text()
    assert "**" not in part.text()
    assert "<b>" not in part.html()


def test_what_they_say() -> None:
    said = {type(part).__name__: part.text() for part in EVERY}
    assert said["Prose"].startswith("Note. One strong.")
    assert said["SealedAnswer"] == "Sealed: C (2026-02-03T09:30:12.000Z)"
    assert said["Options"].splitlines()[1:] == ["  (•) A: memory", "  ( ) B: <b>units</b>"]
    assert said["Confidence"] == "Confidence: 4 of 5"
    assert said["TextBox"] == "How many?\n  134k (Type a number.)"
    assert said["Blanks"] == "It waits for [memory]."
    assert said["Checkboxes"].splitlines()[1:] == ["  [x] find a ridge", "  [ ] fuse"]
    assert said["Numbers"] == "Right: 2 of 3 (saved)"
    assert said["Steps"].splitlines() == ["Act 1: 1 of 2", "  [x] Predict", "  [ ] Reflect"]
    assert said["NumberedList"].splitlines() == ["1. Bytes cost. Fuse.", "2. Measure."]
    assert said["Rows"] == "Done: a prediction"


def test_what_is_empty_says_so_or_nothing() -> None:
    assert Confidence("c").text() == Confidence("c").html() == ""
    assert "______" in TextBox("t", "How many?", "Type.").text()
    assert "______" in TextArea("a", "Why?").html()
    gap: tuple[str, dict[str, str], None] = ("x", {"m": "memory"}, None)
    assert Blanks("b", (gap,)).text() == "[______]"
    assert Buttons("b", (("save", "Save"),)).text() == ""


def test_a_tone_is_a_color_in_the_browser_and_an_edge_on_a_page() -> None:
    quiet, loud = Prose("p", "x"), Prose("p", "x", tone="red")
    assert quiet.spec()["tone"] == ""
    assert loud.spec()["tone"].startswith("#")
    assert "border-left" in loud.html()
    assert "border-left" not in quiet.html()
