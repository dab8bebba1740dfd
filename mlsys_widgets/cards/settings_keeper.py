"""Instruments stand where a student left them: after a restart, a crash or a reload.

Cells make instruments, and nobody tells a lab which. So the lab looks at what each cell shows: an
instrument is set as it was left, and followed from then on.
"""

from __future__ import annotations

import asyncio
import atexit
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet

from traitlets import TraitError

from mlsys_widgets.instruments.instrument import Instrument
from mlsys_widgets.ledger import Ledger, LedgerError
from mlsys_widgets.ledger.kept_settings import KeptSettings

#: So many seconds after the last move it is written: a slider under a hand moves all the time.
_REST: Final = 0.4


class SettingsKeeper:
    """Sets the instruments of a lab as they were left, and keeps how they are left.

    Known by their titles, which differ within a lab. What follows a prediction is not touched by
    this: a prediction is about the settings that an instrument was made with, and a reset returns
    to those.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._kept = ledger, KeptSettings(ledger.path)
        self._known: WeakSet[Instrument] = WeakSet()
        #: The cell that showed the instrument of a title.
        self._cells: dict[str, str | None] = {}
        #: What is not written yet, with the ledger that it belongs to.
        self._changes: dict[str, Mapping[str, Any] | None] = {}
        self._belongs_to = ""
        self._timer: asyncio.TimerHandle | None = None

    def after_cell(self, result: Any) -> None:
        """Look at what a cell has shown; IPython calls this."""
        shown = result.result
        if isinstance(shown, Instrument):
            self.follow(shown, getattr(result.info, "cell_id", None))

    def follow(self, instrument: Instrument, cell: str | None = None) -> None:
        """Set an instrument as it was left, and keep every later change.

        One that has the title of another cell's is a student's own, who made it as it is to be.
        """
        title = instrument.title
        if instrument in self._known or self._cells.setdefault(title, cell) != cell:
            return
        self._known.add(instrument)
        if left := self._kept.read(self._ledger_id()).get(title):
            # An instrument whose controls have changed since keeps its defaults.
            with suppress(ValueError, TypeError, TraitError):
                instrument.set(**left)
        instrument.observe(self._moved, names=list(instrument.controls))

    def _moved(self, change: Any) -> None:
        instrument = change["owner"]
        inputs = instrument.inputs
        # Where a reset leads there is nothing to keep.
        self._changes[instrument.title] = None if inputs == instrument.usual else inputs
        self._belongs_to = self._ledger_id()
        if self._timer is not None:
            self._timer.cancel()
        try:
            self._timer = asyncio.get_running_loop().call_later(_REST, self.write)
        except RuntimeError:  # nothing to wait in
            self.write()

    def write(self) -> None:
        """Write what changed; where that cannot be done, it lasts as long as the kernel."""
        changes, self._changes, self._timer = self._changes, {}, None
        if changes:
            with suppress(OSError, ValueError):
                self._kept.keep(changes, self._belongs_to)

    def _ledger_id(self) -> str:
        with suppress(LedgerError):
            return self._ledger.state().ledger_id or ""
        return ""


#: What looks at the cells of a shell; the cell that opens the lab can be run again.
_LOOKING: Final[WeakKeyDictionary[Any, SettingsKeeper]] = WeakKeyDictionary()


def keep_settings(ledger: Ledger) -> None:
    """Keep the settings of the instruments that this kernel's cells show; nothing elsewhere."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return
    if before := _LOOKING.pop(shell, None):
        before.write()
        shell.events.unregister("post_run_cell", before.after_cell)
        atexit.unregister(before.write)
    keeper = _LOOKING[shell] = SettingsKeeper(ledger)
    shell.events.register("post_run_cell", keeper.after_cell)
    atexit.register(keeper.write)
