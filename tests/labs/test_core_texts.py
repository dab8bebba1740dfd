"""The core of a lab sends nobody to an instrument that only the deeper parts have."""

from __future__ import annotations

import re

import pytest

from mlsys_widgets.authoring.act_minutes import with_deeper
from mlsys_widgets.authoring.text import LabCell, read
from tests.labs.lab_texts import LabTexts
from tests.labs.rehearsal import ROOT

#: What texts call an instrument, by the name of its class. A word that is also an idea of the
#: course, such as “roofline” or “memory hierarchy”, may mean either and is left out.
CALLED = {
    "BreakEvenTimeline": ("timeline",),
    "CompilationSpectrum": ("spectrum",),
    "ConceptMap": ("concept map",),
    "DispatchWaterfall": ("waterfall",),
    "FusionDecision": ("tree",),
    "FusionExplorer": ("explorer", "film"),
    "MagnitudeLandscape": ("landscape", "ladder"),
    "ServingExplorer": ("explorer",),
}
#: Enough for every question of a pool.
STUDENTS = [f"student-{k}" for k in range(10)]


def only_deeper(cells: list[LabCell]) -> set[str]:
    """The words that name instruments of the deeper parts, and none of the core.

    If a title has the word, an instrument with another title is not what a reader looks for.
    """
    named: dict[str, list[tuple[bool, bool]]] = {}
    for cell, deeper in with_deeper(cells):
        if cell.kind == "instrument":
            for kind in set(re.findall(r"\w+", cell.body)) & set(CALLED):
                for word in CALLED[kind]:
                    named.setdefault(word, []).append((word in cell.name.lower(), deeper))
    return {
        word
        for word, places in named.items()
        if all(deeper for by_title, deeper in places if by_title or not any(t for t, _ in places))
    }


def core_texts(lab: str, folder):
    """What somebody reads who leaves out everything deeper, each text with its place."""
    texts = LabTexts(lab, folder)
    for student in STUDENTS:
        items = texts.items(student)
        for where, text in (*texts.texts(student), *texts.verdicts(student)):
            name = re.match(r"\w+", where)[0]
            if not items[name].deeper:
                yield where, text
    for cell, deeper in with_deeper(read(ROOT / "assignments" / lab / "lab.py")):
        if cell.kind == "prose" and not deeper:
            yield cell.where.rpartition("/")[2], cell.body


def test_the_core_names_no_instrument_that_is_only_deeper(lab, tmp_path):
    words = only_deeper(list(read(ROOT / "assignments" / lab / "lab.py")))
    named = re.compile(rf"\b(?:{'|'.join(sorted(words))})\b" if words else r"(?!)", re.I)
    wrong = {
        f"{where}: “{text[max(0, found.start() - 40) : found.end() + 20]}”"
        for where, text in core_texts(lab, tmp_path)
        if (found := named.search(text))
    }
    assert not wrong, "\n".join(sorted(wrong))


def _instrument(title: str, kind: str) -> LabCell:
    return LabCell("instrument", title, f"it = {kind}()")


@pytest.mark.parametrize(
    ("core", "deeper", "words"),
    [
        ([], [("Fusion explorer", "FusionExplorer")], {"explorer", "film"}),
        ([("Fusion explorer", "FusionExplorer")], [("Again", "FusionExplorer")], set()),
        # Of one class, under a title that does not have the word.
        (
            [("How?", "CompilationSpectrum")],
            [("Compilation spectrum", "CompilationSpectrum")],
            {"spectrum"},
        ),
        ([("Fusion", "FusionExplorer")], [], set()),
        ([("Roofline", "RooflineWidget")], [("Real", "RooflineWidget")], set()),
    ],
)
def test_which_words_name_only_something_deeper(core, deeper, words):
    cells = [
        *(_instrument(*each) for each in core),
        LabCell("deeper", "", "### Deeper"),
        *(_instrument(*each) for each in deeper),
    ]
    assert only_deeper(cells) == words
