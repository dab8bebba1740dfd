"""Plots and instruments have one name each: in the text, in the panel and on the instrument."""

from __future__ import annotations

import re

from mlsys_widgets.authoring.text import read
from mlsys_widgets.labs import load
from tests.labs.lab_texts import strings
from tests.labs.opened_lab import open_lab_of
from tests.labs.rehearsal import ROOT

#: A plot that is called by its place. Where it stands depends on the window.
BY_PLACE = re.compile(
    r"\b(?:first|second|third|fourth|last|upper|lower|top|bottom|left|right|middle)"
    r"(?:most|-hand)? (?:plot|chart|picture|panel)s?\b"
    r"|\b(?:plot|chart|picture)s? (?:at|on|to) the (?:top|bottom|left|right)\b",
    re.IGNORECASE,
)


def test_no_text_calls_a_plot_by_its_place(lab):
    home = ROOT / "assignments" / lab
    found = load(home)
    items = found.items(found.draw("", variants=False))
    texts = [(cell.where, cell.body) for cell in read(home / "lab.py")]
    texts += [each for name, item in items.items() for each in strings(item, name)]
    wrong = [f"{where}: {hit[0]}" for where, text in texts if (hit := BY_PLACE.search(text))]
    assert not wrong


def test_the_panel_and_the_instrument_have_the_same_title(lab, tmp_path):
    cells = read(ROOT / "assignments" / lab / "lab.py")
    named = [cell.name for cell in cells if cell.kind == "instrument"]
    made = open_lab_of(lab, "student-07", tmp_path / lab).instruments
    assert [instrument.title for instrument in made] == named


def test_instruments_that_a_text_names_in_bold_are_there(lab):
    """**The name of an instrument** is that of a cell, from the first to the last word."""
    home = ROOT / "assignments" / lab
    cells = read(home / "lab.py")
    named = {cell.name for cell in cells if cell.kind == "instrument"}
    for cell in cells:
        for bold in re.findall(r"\*\*([^*]+)\*\*", cell.body if cell.kind == "prose" else ""):
            words = " ".join(bold.split())
            longer = [name for name in named if name.startswith(f"{words} ")]
            assert not longer, f"{cell.where} says {words!r}; the instrument is {longer[0]!r}"


def test_a_place_is_recognized():
    for text in ("in the third plot", "Plot at the bottom", "the lower chart", "right-hand plot"):
        assert BY_PLACE.search(text)
    for text in ("a plot of all batches", "the plot *Memory*", "the right answer"):
        assert not BY_PLACE.search(text)
