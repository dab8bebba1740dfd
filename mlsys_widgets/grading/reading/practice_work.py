"""Whether somebody handed in practice instead of the lab: its notebook, or its ledger."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mlsys_widgets.files import LEDGER
from mlsys_widgets.labs.practice import PRACTICE, WAY, is_practice

#: What must stand in a ledger of practice, whatever else does.
_MARKS: Final = (b'"way"', b'"judged.')


def is_practice_work(files: Mapping[str, bytes], notebook: str) -> bool:
    """Whether the notebook of a submission, or any ledger in it, is of practice."""
    if _about(files.get(notebook, b"")).get(WAY) == PRACTICE:
        return True
    ledgers = (each for name, each in files.items() if name.startswith(LEDGER))
    return any(is_practice(_answers(each)) for each in ledgers)


def _about(content: bytes) -> Mapping[str, Any]:
    if PRACTICE.encode() not in content:  # a notebook is long, and nearly none is of practice
        return {}
    try:
        about = json.loads(content)["metadata"]["mlsys"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return {}
    return about if isinstance(about, dict) else {}


def _answers(ledger: bytes) -> Iterator[str]:
    """Return the names of the answers in a ledger, of all lines that can be read."""
    # Nearly no ledger is of practice, so nearly no line is parsed.
    for line in ledger.splitlines() if any(mark in ledger for mark in _MARKS) else ():
        try:
            entry = json.loads(line)
            if entry["kind"] == "answer" and isinstance(entry["id"], str):
                yield entry["id"]
        except (ValueError, LookupError, TypeError, RecursionError):
            continue
