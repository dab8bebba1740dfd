"""A student's record of a lab: append-only, crash-safe, tamper-evident.

It needs only the standard library, and ``jsonschema`` for files that come from elsewhere.

Examples
--------
>>> from mlsys_widgets.ledger import Ledger
>>> path = folder / "ledger.jsonl"
>>> led = Ledger.open(path, lab="lab_11_roofline", student="student-01")
>>> _ = led.record_answer("ridge", 295.2, unit="FLOP/byte")
>>> again = Ledger.open(path)
>>> again.student, again.state().answers["ridge"].value, again.verify().ok
('student-01', 295.2, True)
"""

from mlsys_widgets.ledger.designs import DesignForm, Field, declare, form_of
from mlsys_widgets.ledger.errors import (
    AlreadyCommitted,
    Busy,
    DiskFull,
    ExchangeError,
    LedgerError,
    NewerSchema,
    NotSaved,
    NotYours,
    ReadOnly,
    Replaced,
    Unreadable,
    ValueRefused,
    Vanished,
)
from mlsys_widgets.ledger.events import Event
from mlsys_widgets.ledger.handover import Handover, earlier_design
from mlsys_widgets.ledger.kinds import schema
from mlsys_widgets.ledger.ledger import Ledger
from mlsys_widgets.ledger.state import (
    Answer,
    Attempt,
    CommittedPrediction,
    Design,
    ReflectionAttempts,
    State,
    Use,
)
from mlsys_widgets.ledger.transfer import export_ledgers, import_ledgers
from mlsys_widgets.ledger.verification import Head, Problem, Verification

__all__ = [
    "AlreadyCommitted",
    "Answer",
    "Attempt",
    "Busy",
    "CommittedPrediction",
    "Design",
    "DesignForm",
    "DiskFull",
    "Event",
    "ExchangeError",
    "Field",
    "Handover",
    "Head",
    "Ledger",
    "LedgerError",
    "NewerSchema",
    "NotSaved",
    "NotYours",
    "Problem",
    "ReadOnly",
    "ReflectionAttempts",
    "Replaced",
    "State",
    "Unreadable",
    "Use",
    "ValueRefused",
    "Vanished",
    "Verification",
    "declare",
    "earlier_design",
    "export_ledgers",
    "form_of",
    "import_ledgers",
    "schema",
]
