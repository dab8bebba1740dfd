"""What a ledger says, as plain data for the panel.

Reading and verifying a long ledger takes a while, so a report is kept until the file changes. One
``stat`` is enough to see that it has not.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.ledger import Design, Ledger, LedgerError
from mlsys_widgets.server.design_labels import design_labels

#: How many reports are kept.
KEPT: Final = 256

Signature = tuple[int, ...]


def signature(ledger: Path) -> Signature | None:
    """A value that changes whenever the file does; `None` if there is no file."""
    try:
        status = ledger.stat()
    except OSError:
        return None
    # The mode, too: it decides whether anything more can be saved.
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode


def etag(ledger: Path) -> str:
    """The signature of a file as HTTP knows it.

    Examples
    --------
    >>> etag(Path("no such file"))
    '"none"'
    """
    seen = signature(ledger)
    return '"none"' if seen is None else f'"{"-".join(format(part, "x") for part in seen)}"'


def report(ledger: Path) -> dict[str, Any]:
    """Read and verify a ledger. A file that cannot be read is a problem to show, not an error.

    Examples
    --------
    >>> path = folder / "ledger.jsonl"
    >>> led = Ledger.open(path, lab="lab_11_roofline", student="student-01")
    >>> _ = led.commit_prediction("act1_bound", "memory", confidence=4)
    >>> said = report(path)
    >>> said["predictions"]["act1_bound"]["value"], said["ok"], said["events"]
    ('memory', True, 2)
    """
    # Here, because it brings numpy along, which a server without labs never needs.
    from mlsys_widgets.labs.student_steps import saved_progress

    exists = ledger.exists()
    try:
        opened = Ledger.open(ledger)
        state, events, verdict = opened.state(), opened.events(), opened.verify()
    except LedgerError as error:
        return {**_NOTHING, "exists": exists, "ok": False, "problem": str(error)}
    last = events[-1] if events else None
    design = state.designs.get(state.lab or "")
    problem = verdict.first_problem
    trouble = problem.sentence if problem else _cannot_be_saved(ledger)
    return {
        "exists": exists,
        "lab": state.lab,
        "student": state.student,
        "events": verdict.events,
        "last": {"kind": last.kind, "id": last.id, "time": last.time} if last else None,
        "ok": verdict.ok and trouble is None,
        "problem": trouble,
        "notices": list(opened.notices),
        "earlier": len(opened.earlier),
        "progress": saved_progress(state, state.lab or ""),
        "predictions": {
            name: {"value": _plain(said.value), "confidence": said.confidence, "time": said.time}
            for name, said in state.predictions.items()
        },
        "reflections": {
            name: {
                "value": _plain(said.value),
                "correct": said.correct,
                "attempts": len(said.attempts),
                "time": said.attempts[-1].time,
            }
            for name, said in state.reflections.items()
        },
        "answers": {
            name: {
                "value": _plain(said.value),
                "unit": said.unit,
                "attempts": said.attempts,
                "time": said.time,
            }
            for name, said in state.answers.items()
        },
        "design": _design(design, design_labels(ledger.parent, design.lab)) if design else None,
    }


_NOTHING: Final[Mapping[str, Any]] = {
    "exists": False,
    "lab": None,
    "student": None,
    "events": 0,
    "last": None,
    "ok": True,
    "problem": None,
    "notices": [],
    "earlier": 0,
    "progress": {},
    "predictions": {},
    "reflections": {},
    "answers": {},
    "design": None,
}


def _cannot_be_saved(ledger: Path) -> str | None:
    """Why nothing more can be saved, in a sentence; `None` if it can."""
    if ledger.exists() and not os.access(ledger, os.R_OK | os.W_OK):
        return f"Nothing can be saved: you may not write to {ledger.name}."
    if not os.access(ledger.parent, os.W_OK | os.X_OK):
        return f"Nothing can be saved: you may not write to the folder {ledger.parent.name}."
    return None


def _design(design: Design, about: Mapping[str, str]) -> dict[str, Any]:
    """The entry with what each field says, in the order of the lab's form."""
    order = [*(name for name in about if name in design), *(n for n in design if n not in about)]
    fields = [
        {"name": name, "about": about.get(name), "value": _plain(design[name])} for name in order
    ]
    return {"lab": design.lab, "time": design.time, "fields": fields}


def _plain(value: Any) -> Any:
    """Turn a state's immutable values back into plain ones."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value


class Reports:
    """Reports, each kept until its file changes. May be asked from several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Path, tuple[Signature | None, dict[str, Any]]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, ledger: Path) -> dict[str, Any]:
        """Return the report of a ledger as it is now."""
        seen = signature(ledger)
        with self._lock:
            before, kept = self._kept.get(ledger, (None, None))
            if kept is not None and seen is not None and seen == before:
                self._kept.move_to_end(ledger)
                return kept
        made = report(ledger)
        # If the file changed while it was read, the report belongs to neither signature.
        if signature(ledger) == seen:
            with self._lock:
                self._kept[ledger] = (seen, made)
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
        return made
