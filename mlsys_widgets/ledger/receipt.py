"""A receipt beside a ledger: where the ledger ended when it was submitted.

Written by the student's server at the moment of submitting, read by the grader.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mlsys_widgets.files import LEDGER, write_whole
from mlsys_widgets.ledger.events import HASH, LARGEST_SEQ
from mlsys_widgets.ledger.ledger import Ledger
from mlsys_widgets.ledger.verification import Head

#: The file, beside the ledger.
RECEIPT: Final = "ledger_receipt.json"
#: Bytes; a receipt has about 150.
LONGEST_RECEIPT: Final = 2_000


def write_receipt(folder: Path) -> Head | None:
    """Note where the ledger in a folder ends; returns what was noted."""
    head = Ledger.open(folder / LEDGER).head
    write_whole(folder / RECEIPT, receipt_text(head, datetime.now(UTC)))
    return head


def receipt_text(head: Head | None, moment: datetime) -> str:
    """Write a receipt, as its file has it.

    Examples
    --------
    >>> print(receipt_text(Head(3, "ab"), datetime(2026, 11, 15, 10, tzinfo=UTC)), end="")
    {"head": {"seq": 3, "hash": "ab"}, "time": "2026-11-15T10:00:00+00:00"}
    """
    noted = head and {"seq": head.seq, "hash": head.hash}
    time = moment.astimezone(UTC).isoformat(timespec="seconds")
    return json.dumps({"head": noted, "time": time}) + "\n"


def read_receipt(content: bytes) -> Head | None:
    """Read where the ledger ended; `None` if it had no events."""
    try:
        loaded = json.loads(content) if len(content) <= LONGEST_RECEIPT else None
    except (ValueError, RecursionError):
        loaded = None
    match loaded:
        case {"head": None}:
            return None
        case {"head": {"seq": int() as seq, "hash": str() as digest}} if (
            not isinstance(seq, bool) and 0 <= seq <= LARGEST_SEQ and HASH.fullmatch(digest)
        ):
            return Head(seq, digest)
    raise ValueError("The receipt cannot be read")
