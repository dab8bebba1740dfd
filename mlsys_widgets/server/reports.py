"""Reports of what a ledger says and what of it was handed in, for the panel.

Reading and verifying a long ledger takes a while, so a report is kept until the file or the note
about handing in changes. One ``stat`` of each is enough to see that they have not.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mlsys_widgets.files import TOLD
from mlsys_widgets.ledger import Design, Ledger, LedgerError
from mlsys_widgets.ledger.handed_in import HANDED_IN, HandIn, read_hand_in
from mlsys_widgets.ledger.values import unfrozen
from mlsys_widgets.server.design_labels import DesignLabel, design_labels

if TYPE_CHECKING:
    from mlsys_widgets.labs.student_steps import SavedEntry, StudentStep
    from mlsys_widgets.labs.told import Told

#: What of a report the panel has no use for as it is.
_UNTOLD: Final = ("saved", "handed_in", "covered", "told", "told_tag")
#: How many reports are kept.
KEPT: Final = 256

Signature = tuple[int, ...]


def signature(file: Path) -> Signature | None:
    """Return a value that changes whenever the file does; `None` if there is no file."""
    try:
        status = file.stat()
    except OSError:
        return None
    # The mode, too: it decides whether anything more can be saved.
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode


def etag(ledger: Path) -> str:
    """Return a value, as HTTP knows it, that changes with a ledger and with the notes beside it."""
    parts: list[str | int] = [*(signature(ledger) or ())]
    for sign, name in (("in", HANDED_IN), ("told", TOLD)):
        noted = signature(ledger.parent / name)
        parts += (sign, *noted) if noted else ()
    shown = "-".join(each if isinstance(each, str) else format(each, "x") for each in parts)
    return f'"{shown or "none"}"'


@dataclass(frozen=True)
class LedgerReport:
    """A ledger as the panel shows it. `as_data` is what JSON is written from."""

    exists: bool
    lab: str | None = None
    student: str | None = None
    events: int = 0
    #: Kind, id and time of the last event.
    last: Mapping[str, str] | None = None
    #: Whether it is intact and more can be saved, and a sentence if not.
    ok: bool = True
    problem: str | None = None
    notices: Sequence[str] = ()
    #: How many ledgers lie beside it, from before the lab was restarted.
    earlier: int = 0
    #: What it holds, by name, to tell how far along each step is; not for the panel.
    saved: Mapping[str, SavedEntry] = field(default_factory=dict)
    #: When the lab was last handed in, and the number of the last event that was.
    handed_in: HandIn | None = None
    covered: int | None = None
    #: What the student was told about it, and a value that changes with that.
    told: Told | None = None
    told_tag: str = ""
    predictions: Mapping[str, Any] = field(default_factory=dict)
    reflections: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, Any] = field(default_factory=dict)
    design: Mapping[str, Any] | None = None

    def as_data(self, steps: Sequence[StudentStep]) -> dict[str, Any]:
        """Return the report for the panel; each of the lab's steps gets its state."""
        from mlsys_widgets.labs.student_steps import can_wait, is_newer, last_event, progress

        told = {name: value for name, value in vars(self).items() if name not in _UNTOLD}
        in_file = self.handed_in is not None and self.handed_in.file is not None
        found = [(step, progress(step, self.saved, self.covered, in_file)) for step in steps]
        shown = [
            {
                "kind": step.kind,
                "id": step.name,
                "state": how.state,
                "sign": how.sign,
                "words": how.words,
                "left": how.is_left,
                "can_wait": can_wait(step, self.saved),
                "last": last_event(step, self.saved),
            }
            for step, how in found
        ]
        handed_in: dict[str, Any] | None = None
        if self.handed_in is not None and self.covered is not None:
            said, newer = self.handed_in, is_newer(steps, self.saved, self.covered)
            handed_in = {
                "time": said.time, "course": said.course, "file": said.file, "newer": newer,
            }  # fmt: skip
        results = _results(self.told, self.told_tag) if self.told else None
        return {**told, "steps": shown, "handed_in": handed_in, "results": results}


def report(ledger: Path) -> LedgerReport:
    """Read and verify a ledger. A file that cannot be read is a problem to show, not an error."""
    # Here, because it brings numpy along, which a server without labs never needs.
    from mlsys_widgets.labs.student_steps import saved_progress
    from mlsys_widgets.labs.told import told_beside

    exists = ledger.exists()
    try:
        opened = Ledger.open(ledger)
        state, events, verdict = opened.state(), opened.events(), opened.verify()
    except LedgerError as error:
        return LedgerReport(exists, ok=False, problem=str(error))
    handed_in = read_hand_in(ledger.parent)
    last = events[-1] if events else None
    design = state.designs.get(state.lab or "")
    broken = verdict.first_problem
    problem = broken.sentence if broken else _cannot_be_saved(ledger)
    return LedgerReport(
        exists,
        lab=state.lab,
        student=state.student,
        events=verdict.events,
        last={"kind": last.kind, "id": last.id, "time": last.time} if last else None,
        ok=problem is None,
        problem=problem,
        notices=opened.notices,
        earlier=len(opened.earlier),
        saved=saved_progress(state, state.lab or ""),
        handed_in=handed_in,
        covered=None if handed_in is None else handed_in.covers(events),
        told=told_beside(ledger, state.lab or "", state.student or ""),
        told_tag=repr(signature(ledger.with_name(TOLD))),
        predictions={
            name: _shown(one, "words", "confidence", "time")
            for name, one in state.predictions.items()
        },
        reflections={
            name: _shown(one, "correct", attempts=len(one.attempts), time=one.attempts[-1].time)
            for name, one in state.reflections.items()
        },
        answers={
            name: _shown(one, "unit", "attempts", "time") for name, one in state.answers.items()
        },
        design=_design(design, design_labels(ledger.parent, design.lab)) if design else None,
    )


def _results(told: Told, tag: str) -> dict[str, Any]:
    """Return what the panel shows of what a student was told."""
    again = [name for name, each in told.questions.items() if told.can_take_again(each)]
    return {
        "tag": tag,
        "words": list(told.sentences),
        "questions": list(told.questions),
        "again": again,
        "share": told.share,
        "until": told.until.isoformat() if told.until else None,
    }


def _shown(entry: Any, *names: str, **more: Any) -> dict[str, Any]:
    """Return the value of an entry of the ledger, and some of its other fields."""
    fields = {name: getattr(entry, name) for name in names}
    return {"value": unfrozen(entry.value), **fields, **more}


def _cannot_be_saved(ledger: Path) -> str | None:
    """Say in a sentence why nothing more can be saved; `None` if it can."""
    if ledger.exists() and not os.access(ledger, os.R_OK | os.W_OK):
        return f"Nothing can be saved: you may not write to {ledger.name}."
    if not os.access(ledger.parent, os.W_OK | os.X_OK):
        return f"Nothing can be saved: you may not write to the folder {ledger.parent.name}."
    return None


def _design(design: Design, labels: Mapping[str, DesignLabel]) -> dict[str, Any]:
    """Return the entry with what each field says, in the order of the lab's form."""
    order = [*(name for name in labels if name in design), *(n for n in design if n not in labels)]
    fields = []
    for name in order:
        label, value = labels.get(name), unfrozen(design[name])
        if label and isinstance(value, str):
            value = label.called.get(value, value)
        fields.append({"name": name, "about": label and label.about, "value": value})
    return {"lab": design.lab, "time": design.time, "fields": fields}


class Reports:
    """Reports, each kept until its file changes. May be asked from several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Path, tuple[str, LedgerReport]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, ledger: Path) -> LedgerReport:
        seen = etag(ledger)
        with self._lock:
            before, kept = self._kept.get(ledger, ("", None))
            if kept is not None and kept.exists and seen == before:
                self._kept.move_to_end(ledger)
                return kept
        made = report(ledger)
        # If a file changed while it was read, the report belongs to neither tag.
        if etag(ledger) == seen:
            with self._lock:
                self._kept[ledger] = (seen, made)
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
        return made
