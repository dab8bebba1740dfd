"""A lab walked from top to bottom, with everything that is on the screen at each step.

A student presses *Start*, which runs all cells: prose of the whole notebook is there, cards whose
gates are open, and instruments whose locks are. Then one thing after the other is committed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from mlsys_widgets.authoring import Course, templates
from mlsys_widgets.authoring.text import LabCell, read
from mlsys_widgets.cards.card import LabWidget
from mlsys_widgets.cards.parts import Options, in_words
from mlsys_widgets.cards.reveal import Reveal
from mlsys_widgets.labs import (
    Checklist,
    Choice,
    Essay,
    Item,
    Measurement,
    Myths,
    Number,
    Prediction,
    Quiz,
    Reflection,
)
from tests.labs import rehearsal
from tests.labs.opened_lab import OpenedLab, open_lab_of
from tests.labs.rehearsal import ROOT, Asked, asked
from tests.labs.shown_numbers import texts

#: What a student commits to before seeing more.
COMMITMENT = Prediction | Number | Choice


@dataclass
class LabWalk:
    """One student on the way through a lab."""

    found: OpenedLab
    asked: Asked
    cells: list[LabCell]
    prose: dict[str, str]
    reveals: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, lab: str, student: str, folder: Path) -> LabWalk:
        """Open a lab with nothing done."""
        found = open_lab_of(lab, student, folder)
        cells = read(ROOT / "assignments" / lab / "lab.py")
        declared = found.lab.lab
        known = templates.names(declared, declared.draw("", variants=False))
        prose = {
            f"prose {k}": templates.fill(cell.body, known)
            for k, cell in enumerate(cells, 1)
            if cell.kind == "prose"
        }
        return cls(found, asked(Course.at(ROOT), lab, student, work=folder), cells, prose)

    def screen(self, but: str) -> Iterator[tuple[str, str]]:
        """Place and text of all that can be read now, apart from one item's own card."""
        yield from self.prose.items()
        placed = [c.name for c in self.cells if c.kind in ("card", "answer", "essay")]
        for name in placed:
            if name != but:
                yield f"card {name}", _said(self.found.lab.card(name))
        for name, reveal in self.reveals.items():
            yield f"reveal {name}", _said(reveal)
        for k, instrument in enumerate(self.found.instruments, 1):
            for place, text in texts(instrument):
                yield f"instrument {k} “{instrument.title}”, {place}", text

    def commitments(self) -> Iterator[tuple[str, Item]]:
        """Stop before each commitment, in order; then do it and go on."""
        for cell in self.cells:
            if cell.kind == "reveal":
                self._run(cell)
            elif cell.kind in ("card", "answer"):
                item = self.found.lab.items[cell.name]
                if isinstance(item, COMMITMENT):
                    yield cell.name, item
                with contextlib.redirect_stdout(None):
                    self._do(cell.name, item)

    def _run(self, cell: LabCell) -> None:
        made: list[Any] = []
        first = Reveal.__init__

        def noted(reveal: Any, *given: Any, **options: Any) -> None:
            first(reveal, *given, **options)
            made.append(reveal)

        with mock.patch.object(Reveal, "__init__", noted), contextlib.redirect_stdout(None):
            exec(compile(cell.body, cell.where, "exec"), self.found.names)
        if made:
            self.reveals[cell.name] = made[-1]
            if made[-1].is_sealed and not made[-1].missing:
                made[-1].compare()

    def _do(self, name: str, item: Item) -> None:
        lab = self.found.lab
        card = lab.card(name)
        match item:
            case Prediction():
                card.commit(rehearsal._prediction(item), 3)
            case Reflection():
                card.answer(rehearsal._reflection(item))
            case Quiz():
                card.answer({q.key: (q.right, 4) for q in item.questions})
            case Myths():
                for myth in item.myths:
                    card.commit(myth.key, "doubt")
            case Checklist():
                card.save(item.skills)
            case Measurement():
                if card.document is not None:
                    card.adopt()
            case Number() | Choice():
                lab.answer(name, self.asked.keys[name].value)
            case Essay():
                pass


def _said(card: Any) -> str:
    """What a card says; the options that can still be chosen tell nothing by themselves."""
    if isinstance(card, LabWidget):
        if card.blocked_by is not None:
            return ""  # it names only what opens it
        return in_words([part for part in card._shown() if not isinstance(part, Options)])
    said: str = "" if getattr(card, "_closed", "") else card.text()
    return said
