"""Steps of a notebook's lab, read again only if the notebook was saved since."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mlsys_widgets.server.reports import Signature, signature

if TYPE_CHECKING:
    from mlsys_widgets.labs.student_steps import StudentStep

#: How many notebooks are remembered.
_KEPT: Final = 64


class LabSteps:
    """Steps of notebooks. May be asked from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Path, tuple[Signature, tuple[StudentStep, ...]]] = OrderedDict()

    def of(self, notebook: Path) -> tuple[StudentStep, ...]:
        """Return what there is to do in a notebook; nothing if it is no lab.

        While Jupyter saves a notebook, in place, it cannot be read: what was known before stays.
        """
        # Here, because it brings numpy along, which a server without labs never needs.
        from mlsys_widgets.handin.work import CannotHandIn, read_work

        seen = signature(notebook)
        if seen is None:
            return ()
        with self._lock:
            before, kept = self._kept.get(notebook, (None, ()))
            if seen == before:
                self._kept.move_to_end(notebook)
                return kept
        try:
            steps = read_work(notebook).steps
        except CannotHandIn:
            steps = kept
        with self._lock:
            self._kept[notebook] = (seen, steps)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return steps
