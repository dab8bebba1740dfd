"""A lab of one student with its instruments, opened without a notebook."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from mlsys_widgets.authoring import Course
from mlsys_widgets.authoring.environment import environment_variables
from mlsys_widgets.authoring.text import LabCell, read
from mlsys_widgets.cards.open_lab import OpenLab
from mlsys_widgets.instruments.instrument import Instrument
from mlsys_widgets.labs import Prediction
from mlsys_widgets.labs.identity import VARIABLE
from tests.labs.rehearsal import ROOT, put_examples, work_through

#: Cells that make instruments, what instruments need, and the entry that keeps their settings.
RUN = ("setup", "show", "instrument", "design")


@dataclass
class OpenedLab:
    """A lab of one student whose instruments are there."""

    lab: OpenLab
    names: dict[str, Any]
    instruments: list[Instrument] = field(default_factory=list)

    def behind(self, name: str) -> list[Instrument]:
        """The instruments that a prediction opens."""
        return [each for each in self.instruments if each.lock is self.lab.card(name)]

    def commit(self, name: str, value: Any) -> None:
        """Commit a prediction, after all that comes before it."""
        self._do_first(name)
        self.lab.card(name).commit(value, 3)

    def open(self, name: str) -> None:
        """Do a card and all that comes before it."""
        card = self.lab.card(name)
        if card.is_open:
            return
        self._do_first(name)
        item = self.lab.items[name]
        if isinstance(item, Prediction):
            card.commit(next(iter(item.options)) if item.options else max(item.low, 1.0), 3)
        elif hasattr(item, "questions"):
            card.answer({q.key: (q.right, 4) for q in item.questions})
        else:
            card.answer(item.right)

    def _do_first(self, name: str) -> None:
        for each in self.lab.items[name].after:
            self.open(each)


def open_lab_of(
    lab: str, student: str, folder: Path, *, done: bool = False, kinds: Sequence[str] = RUN
) -> OpenedLab:
    """Open a lab in an empty folder; with ``done``, everything that a ledger keeps is done."""
    folder.mkdir(exist_ok=True)
    home = ROOT / "assignments" / lab
    (folder / "asks.py").write_bytes((home / "asks.py").read_bytes())
    put_examples(folder)
    if done:
        work_through(folder, student, Course.at(ROOT), design=False)
    with environment_variables({VARIABLE: student, "NBGRADER_EXECUTION": None}):
        begun = OpenLab(lab, variants=True, edition="", deeper="optional", folder=folder)
    found = OpenedLab(begun, {"lab": begun, "Path": Path})
    run_cells(found, read(home / "lab.py"), folder, kinds)
    return found


def run_cells(
    found: OpenedLab, cells: Sequence[LabCell], folder: Path, kinds: Sequence[str] = RUN
) -> None:
    """Run the cells of a lab that make instruments, and note the instruments."""
    first = Instrument.__init__

    def noted(self: Instrument, **options: Any) -> None:
        first(self, **options)
        found.instruments.append(self)

    with (
        mock.patch.object(Instrument, "__init__", noted),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(None),
    ):
        for cell in cells:
            if cell.kind in kinds and "lab.hud(" not in cell.body:
                exec(compile(cell.body, cell.where, "exec"), found.names)
